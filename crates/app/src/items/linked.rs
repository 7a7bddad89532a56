//! What is selected on one screen is selected on the others too, where they can show it.

use crate::App;
use crate::action::Timeline;
use crate::compare::profiles::profile_of_case;
use crate::doors::ProfileDoor;
use crate::history::Following;
use crate::kernels::menu::exact_search;
use crate::kernels::{ProfileRef, SelectedRow};
use crate::sessions::{LIVE, Pin};
use crate::shared::Shared;
use powerband_findings::analysis::breakdown::BreakdownLevel;

impl App {
    /// A case was pinned: *Kernels* shows its profile, *History* follows it. *Curves* and *Compare* read the
    /// pin itself.
    pub(crate) fn case_selected(&mut self, pin: Pin) {
        let Some(open) = self.shared.sessions.get(pin.session) else {
            return;
        };
        let profile = profile_of_case(open, pin.case);
        if open.id != LIVE {
            self.compare.history.following = Some(Following {
                session: pin.session,
                setup: pin.case.setup,
                point: pin.case.point,
            });
            self.compare.follow_if_wanted(&mut self.shared);
        }
        if let Some(pick) = profile.filter(|pick| self.profile.kernels.looking != Some(*pick)) {
            self.profile.kernels.looking = Some(pick);
            self.profile.kernels.is_chosen = true;
            self.profile.add_up_if_wanted(&mut self.shared);
        }
    }

    /// The pair of the comparison that the pinned case is on a side of, by its row.
    pub fn pinned_pair(&self) -> Option<usize> {
        let pin = self.curves.pin?;
        let (_, _, comparison) = self.compare.sides.found.result.as_ref()?;
        (0..comparison.pairs.len()).find(|row| super::pair(self, *row).contains(&pin))
    }
}

impl ProfileDoor {
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
