//! What is selected on one screen is selected on the others too, where they can show it.

use crate::App;
use crate::curves::menu::profile_of_case;
use crate::history::Following;
use crate::sessions::{LIVE, Pin};

impl App {
    /// A case was pinned: *Kernels* shows its profile, *History* follows it. *Curves* and *Compare* read the
    /// pin itself.
    pub(crate) fn case_selected(&mut self, pin: Pin) {
        let Some(open) = self.sessions.get(pin.session) else {
            return;
        };
        let profile = profile_of_case(open, pin.case);
        if open.id != LIVE {
            self.history.following = Some(Following {
                session: pin.session,
                setup: pin.case.setup,
                batch: pin.case.batch,
            });
            self.follow_if_wanted();
        }
        if let Some(pick) = profile.filter(|pick| self.kernels.looking != Some(*pick)) {
            self.kernels.looking = Some(pick);
            self.kernels.is_chosen = true;
            self.add_up_if_wanted();
        }
    }

    /// The pair of the comparison that the pinned case is on a side of, by its row.
    pub fn pinned_pair(&self) -> Option<usize> {
        let pin = self.curves.pin?;
        let (_, _, comparison) = self.compare.result.as_ref()?;
        (0..comparison.pairs.len()).find(|row| super::pair(self, *row).contains(&pin))
    }
}
