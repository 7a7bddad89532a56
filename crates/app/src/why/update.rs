//! Actions on the question why, and what was found.

use super::{WhySubject, work};
use crate::action::{Action, Kernels, Why};
use crate::doors::ProfileDoor;
use crate::kernels::{ProfileRef, SelectedRow};
use crate::parts::layer::Layer;
use crate::screen::{Door, Screen};
use crate::sessions::{SessionId, Snapshot};
use crate::shared::Shared;
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::tables::experiments::of_tried;
use powerband_findings::tables::node_limits::of_nodes;
use powerband_findings::tables::speed_of_light;

fn shows_profiles(shared: &Shared) -> bool {
    let mut screens = Door::Profile.screens().iter();
    screens.any(|screen| shared.shows(*screen))
}

impl ProfileDoor {
    pub(crate) fn why(&mut self, change: &Why, shared: &mut Shared) {
        match change {
            Why::Look(looking) => {
                self.why.looking = Some(*looking);
                self.why.is_chosen = true;
                if let Some(pick) = looking.profile_ref() {
                    self.kernels(Kernels::Look(pick), shared);
                }
                self.find_limits_if_wanted(shared);
            }
            Why::Select(node) => self.select_node(*node, shared),
        }
    }

    pub(crate) fn clear_node(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        let is_selected = layer == Layer::Selection
            && shared.screen == Screen::Why
            && self.why.selected.is_some();
        if is_selected {
            self.select_node(None, shared);
        }
        is_selected
    }

    /// Selects the row of a node on the kernels screen, which lights its slices on the timeline.
    fn select_node(&mut self, node: Option<usize>, shared: &mut Shared) {
        let Some(found) = &self.why.found.result else {
            return;
        };
        let limits = found.limits.as_ref();
        let name = node.and_then(|node| limits?.nodes.get(node).map(|node| node.name.clone()));
        if let (Some(pick), Some(_)) = (found.looking.profile_ref(), &name) {
            if self.kernels.looking != Some(pick) {
                self.kernels(Kernels::Look(pick), shared);
            }
            self.kernels(Kernels::Level(BreakdownLevel::Kernel), shared);
        }
        self.kernels(Kernels::Select(name.map(SelectedRow::Kernel)), shared);
    }

    /// Whether a run that is over had experiments: *Why* is about it then, and is shown in place of the run.
    pub(crate) fn explain_run(&mut self, id: SessionId, shared: &mut Shared) {
        let session = shared.sessions.get(id).map(|open| &open.session);
        let asked = session.and_then(|session| session.plan.experiments.as_ref());
        let Some((session, asked)) = session.zip(asked) else {
            return;
        };
        let is_asked = |case: CaseKey| case == asked.case();
        let mut profiles = session.profiles.iter();
        let profile = profiles.position(|profile| profile.case.is_some_and(is_asked));
        let looking = WhySubject {
            session: id,
            profile,
        };
        self.why(&Why::Look(looking), shared);
        if shared.screen == Screen::Run {
            shared.then(Action::Go(Screen::Why));
        }
    }

    /// Limits are found while a screen of profiles is shown: each says what limits it.
    pub(crate) fn find_limits_if_wanted(&mut self, shared: &mut Shared) {
        let of_trace = self.timeline.current().and_then(|(_, open, _)| open.owner);
        let of_trace = of_trace.map(|(session, profile)| ProfileRef { session, profile });
        let shown = of_trace.filter(|_| shared.screen == Screen::Timeline);
        self.why
            .drop_missing_subject(&shared.sessions, shown.or(self.kernels.looking));
        let wanted = self.why.wanted(&shared.sessions);
        if let Some(key) = wanted.filter(|_| shows_profiles(shared)) {
            let paths = shared.place.paths.clone();
            let work = move |(looking, session): &(WhySubject, Snapshot)| {
                Some(work::find(*looking, &session.0, &paths))
            };
            shared.derive(
                self,
                "why",
                |door| &mut door.why.found,
                key,
                work,
                Self::limits_found,
            );
        }
        if self.why.found.result.is_none() {
            for id in ["limits", "experiments", "light"] {
                shared.tables.remove(id);
            }
        }
        self.mark_node();
        self.read_network_if_wanted(shared);
    }

    /// Other roofs are known: what was found without them is looked for again.
    pub(crate) fn forget_limits(&mut self, shared: &mut Shared) {
        self.why.found.forget();
        self.network.found.outdate();
        self.find_limits_if_wanted(shared);
    }

    fn limits_found(&mut self, shared: &mut Shared) {
        if let Some(found) = &self.why.found.result {
            match &found.limits {
                Some(limits) => shared.tables.set_table("limits", of_nodes(&limits.nodes)),
                None => shared.tables.remove("limits"),
            }
            if found.light.is_empty() {
                shared.tables.remove("light");
            } else {
                shared
                    .tables
                    .set_table("light", speed_of_light::of_rows(&found.light));
            }
            match &found.tried {
                Some(tried) => shared.tables.set_table("experiments", of_tried(tried)),
                None => shared.tables.remove("experiments"),
            }
        }
        self.find_limits_if_wanted(shared);
    }

    /// The node of the kernel that is selected, where the same profile is shown.
    pub(crate) fn mark_node(&mut self) {
        self.mark_item();
        let kernel = self.kernels.selected_kernel();
        let shown = self.kernels.looking;
        let Some(found) = &mut self.why.found.result else {
            self.why.selected = None;
            return;
        };
        let nodes = found.limits.iter().flat_map(|limits| &limits.nodes);
        let is_same = found.looking.profile_ref().is_some() && found.looking.profile_ref() == shown;
        let kernel = kernel.filter(|_| is_same);
        let selected = kernel.and_then(|name| nodes.clone().position(|node| node.name == name));
        self.why.selected = selected;
        found.roofline.selected = selected;
    }
}
