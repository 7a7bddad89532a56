//! What is selected on one screen is selected on the others too, where they can show it.

use crate::App;
use crate::action::Timeline;
use crate::compare::profiles::profile_of_case;
use crate::doors::{CompareDoor, ProfileDoor};
use crate::history::Following;
use crate::kernels::menu::exact_search;
use crate::kernels::{ProfileRef, SelectedRow};
use crate::sessions::{LIVE, Pin};
use crate::shared::Shared;
use powerband_findings::analysis::breakdown::BreakdownLevel;

/// The pair of the comparison that the pinned case is on a side of, by its row.
pub fn pinned_pair(app: &App) -> Option<usize> {
    let pin = app.curves.pin?;
    let (_, _, comparison) = app.compare.sides.found.result.as_ref()?;
    (0..comparison.pairs.len()).find(|row| super::pair(app, *row).contains(&pin))
}

impl CompareDoor {
    /// A case was pinned: *History* follows it. *Curves* and *Compare* read the pin itself.
    pub(crate) fn case_pinned(&mut self, pin: Pin, shared: &mut Shared) {
        let open = shared.sessions.get(pin.session);
        if open.is_some_and(|open| open.id != LIVE) {
            self.history.following = Some(Following {
                session: pin.session,
                setup: pin.case.setup,
                point: pin.case.point,
            });
            self.follow_if_wanted(shared);
        }
    }
}

impl ProfileDoor {
    /// A case was pinned: *Kernels* shows its profile.
    pub(crate) fn case_pinned(&mut self, pin: Pin, shared: &mut Shared) {
        let open = shared.sessions.get(pin.session);
        let profile = open.and_then(|open| profile_of_case(open, pin.case));
        if let Some(pick) = profile.filter(|pick| self.kernels.looking != Some(*pick)) {
            self.kernels.looking = Some(pick);
            self.kernels.is_chosen = true;
            self.add_up_if_wanted(shared);
        }
    }

    /// A kernel was selected: its slices are lit on the timeline of the profile, where that is shown.
    pub(crate) fn kernel_selected(&mut self, shared: &mut Shared) {
        let owner = self
            .kernels
            .looking
            .map(|pick| (pick.session, pick.profile));
        let current = self.timeline.current().and_then(|(_, open, _)| open.owner);
        if owner.is_none() || owner != current {
            return;
        }
        if let Some(name) = self.kernels.selected_kernel() {
            let search = exact_search(name);
            self.timeline(Timeline::Search(search), shared);
        }
    }

    /// A slice was selected: its row is selected among the kernels of the profile.
    pub(crate) fn slice_selected(&mut self, shared: &mut Shared) {
        let Some((_, open, _)) = self.timeline.current() else {
            return;
        };
        let slice = self.timeline.selected_slice();
        let slice = slice.filter(|slice| *slice < open.trace.len());
        let (Some(slice), Some((session, profile))) = (slice, open.owner) else {
            return;
        };
        let name = open.trace.names.get(open.trace.slice(slice).name);
        let is_row = self.kernels.found.result.as_ref().is_some_and(|found| {
            let pick = ProfileRef { session, profile };
            let kernels = &found.breakdown(BreakdownLevel::Kernel).rows;
            found.wanted.after == pick && kernels.iter().any(|row| row.name == name)
        });
        if is_row {
            let row = SelectedRow::Kernel(name.to_owned());
            self.kernels.choose(row);
            self.add_up_if_wanted(shared);
        }
    }
}
