//! Back and forward along the trail, to what each screen showed.

use super::trail::{TrailEntry, TrailSubject};
use crate::App;
use crate::action::{Action, Compare, Curves, History, Kernels, Library, Timeline, Why};
use crate::screen::Screen;
use crate::sessions::SessionId;

impl App {
    /// Does something, and remembers the place where that leaves the screen.
    pub(crate) fn with_trail(&mut self, change: impl FnOnce(&mut Self)) {
        let place = self.place();
        change(self);
        if self.shared.screen != place.screen {
            self.shared.trail.push_past(place);
        }
    }

    /// Goes to the place before.
    pub(crate) fn go_back(&mut self) {
        if let Some(to) = self.shared.trail.past.pop() {
            self.shared.trail.future.push(self.place());
            self.return_to(to);
        }
    }

    /// Goes to the place after.
    pub(crate) fn go_forward(&mut self) {
        if let Some(to) = self.shared.trail.future.pop() {
            self.shared.trail.past.push(self.place());
            self.return_to(to);
        }
    }

    fn place(&self) -> TrailEntry {
        TrailEntry {
            screen: self.shared.screen,
            subject: self.subject(),
        }
    }

    fn subject(&self) -> Option<TrailSubject> {
        match self.shared.screen {
            Screen::Curves => self.curves.pin.map(TrailSubject::Case),
            Screen::Compare => {
                let sides = self.compare.sides.before.zip(self.compare.sides.after);
                sides.map(|(before, after)| TrailSubject::Sides(before, after))
            }
            Screen::History => self.compare.history.following.map(TrailSubject::Following),
            Screen::Kernels => self.profile.kernels.looking.map(TrailSubject::Profile),
            Screen::Network | Screen::Why => self.profile.why.looking.map(TrailSubject::Limits),
            Screen::Timeline => self.profile.timeline.shown.map(TrailSubject::Trace),
            Screen::Library => self.library.selected.clone().map(TrailSubject::File),
            _ => None,
        }
    }

    /// What was closed since is left out; the screen shows what it has then.
    fn return_to(&mut self, place: TrailEntry) {
        self.apply(Action::Go(place.screen));
        let is_open = |id: SessionId| self.shared.sessions.get(id).is_some();
        let actions = match place.subject {
            Some(TrailSubject::Case(pin)) if is_open(pin.session) => {
                vec![Action::Curves(Curves::Pin(Some(pin)))]
            }
            Some(TrailSubject::Sides(before, after))
                if is_open(before.session) && is_open(after.session) =>
            {
                [Compare::Before(before), Compare::After(after)]
                    .map(Action::Compare)
                    .to_vec()
            }
            Some(TrailSubject::Following(following)) if is_open(following.session) => {
                vec![Action::History(History::Follow(following))]
            }
            Some(TrailSubject::Profile(pick)) if is_open(pick.session) => {
                vec![Action::Kernels(Kernels::Look(pick))]
            }
            Some(TrailSubject::Limits(looking)) if is_open(looking.session) => {
                vec![Action::Why(Why::Look(looking))]
            }
            Some(TrailSubject::Trace(id)) if self.profile.timeline.traces.contains_key(&id) => {
                vec![Action::Timeline(Timeline::Show(id))]
            }
            Some(TrailSubject::File(path)) if self.library.found.contains_key(&path) => {
                vec![Action::Library(Library::Select(Some(path)))]
            }
            _ => Vec::new(),
        };
        for action in actions {
            self.apply(action);
        }
    }
}
