//! Actions on the question why, and what was found.

use super::{WhySubject, work};
use crate::App;
use crate::action::{Kernels, Why};
use crate::kernels::SelectedRow;
use crate::parts::part::Layer;
use crate::screen::Screen;
use crate::sessions::{SessionId, Snapshot};
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::tables::experiments::of_answer;
use powerband_findings::tables::node_limits::of_nodes;
use powerband_findings::tables::speed_of_light;

impl App {
    pub(crate) fn why(&mut self, change: &Why) {
        match change {
            Why::Look(looking) => {
                self.profile.why.looking = Some(*looking);
                self.profile.why.is_chosen = true;
                if let Some(pick) = looking.profile_ref() {
                    self.kernels(Kernels::Look(pick));
                }
                self.find_limits_if_wanted();
            }
            Why::Select(node) => self.select_node(*node),
        }
    }

    pub(crate) fn clear_node(&mut self, layer: Layer) -> bool {
        let is_selected = layer == Layer::Selection
            && self.shared.screen == Screen::Why
            && self.profile.why.selected.is_some();
        if is_selected {
            self.select_node(None);
        }
        is_selected
    }

    /// Selects the row of a node on the kernels screen, which lights its slices on the timeline.
    fn select_node(&mut self, node: Option<usize>) {
        let Some(found) = &self.profile.why.found.result else {
            return;
        };
        let limits = found.limits.as_ref();
        let name = node.and_then(|node| limits?.nodes.get(node).map(|node| node.name.clone()));
        if let (Some(pick), Some(_)) = (found.looking.profile_ref(), &name) {
            if self.profile.kernels.looking != Some(pick) {
                self.kernels(Kernels::Look(pick));
            }
            self.kernels(Kernels::Level(BreakdownLevel::Kernel));
        }
        self.kernels(Kernels::Select(name.map(SelectedRow::Kernel)));
    }

    /// Whether a run that is over had experiments: *Why* is about it then, and is shown in place of the run.
    pub(crate) fn explains_run(&mut self, id: SessionId) -> bool {
        let Some(open) = self.shared.sessions.get(id) else {
            return false;
        };
        let Some(asked) = &open.session.plan.experiments else {
            return false;
        };
        let is_asked = |case: CaseKey| (case.setup, case.point) == (asked.setup, asked.point);
        let mut profiles = open.session.profiles.iter();
        let profile = profiles.position(|profile| profile.case.is_some_and(is_asked));
        let looking = WhySubject {
            session: id,
            profile,
        };
        self.why(&Why::Look(looking));
        if self.shared.screen == Screen::Run {
            self.go(Screen::Why);
        }
        true
    }

    /// Limits are found while their screen is shown.
    pub(crate) fn find_limits_if_wanted(&mut self) {
        self.profile
            .why
            .drop_missing_subject(&self.shared.sessions, self.profile.kernels.looking);
        let wanted = self.profile.why.wanted(&self.shared.sessions);
        if let Some(key) = wanted.filter(|_| self.shows(Screen::Why)) {
            let paths = self.shared.place.paths.clone();
            let work = move |(looking, session): &(WhySubject, Snapshot)| {
                Some(work::find(*looking, &session.0, &paths))
            };
            self.derive(
                "why",
                |app| &mut app.profile.why.found,
                key,
                work,
                Self::limits_found,
            );
        }
        if self.profile.why.found.result.is_none() {
            for id in ["limits", "experiments", "light"] {
                self.shared.tables.remove(id);
            }
        }
        self.mark_node();
    }

    fn limits_found(&mut self) {
        if let Some(found) = &self.profile.why.found.result {
            match &found.limits {
                Some(limits) => self
                    .shared
                    .tables
                    .set_table("limits", of_nodes(&limits.nodes)),
                None => self.shared.tables.remove("limits"),
            }
            if found.light.is_empty() {
                self.shared.tables.remove("light");
            } else {
                self.shared
                    .tables
                    .set_table("light", speed_of_light::of_rows(&found.light));
            }
            match &found.answer {
                Some(answer) => self
                    .shared
                    .tables
                    .set_table("experiments", of_answer(answer)),
                None => self.shared.tables.remove("experiments"),
            }
        }
        self.find_limits_if_wanted();
    }

    /// The node of the kernel that is selected, where the same profile is shown.
    pub(crate) fn mark_node(&mut self) {
        let kernel = self.profile.kernels.selected_kernel();
        let shown = self.profile.kernels.looking;
        let Some(found) = &mut self.profile.why.found.result else {
            self.profile.why.selected = None;
            return;
        };
        let nodes = found.limits.iter().flat_map(|limits| &limits.nodes);
        let is_same = found.looking.profile_ref().is_some() && found.looking.profile_ref() == shown;
        let kernel = kernel.filter(|_| is_same);
        let selected = kernel.and_then(|name| nodes.clone().position(|node| node.name == name));
        self.profile.why.selected = selected;
        found.roofline.selected = selected;
    }
}
