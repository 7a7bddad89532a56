//! Where the user has been: back and forward, as in a browser.

use std::path::PathBuf;

use crate::App;
use crate::action::{Action, Compare, Curves, History, Kernels, Library, Timeline, Why};
use crate::compare;
use crate::history::Following;
use crate::kernels;
use crate::screen::Screen;
use crate::sessions::{Pin, SessionId};
use crate::timeline::TraceId;
use crate::why::Looking;

/// Most places that are kept.
const KEPT: usize = 100;

/// A screen, and what it showed when it was left.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    screen: Screen,
    subject: Option<Subject>,
}

/// What a screen is about.
#[derive(Clone, Debug, PartialEq)]
enum Subject {
    Case(Pin),
    Sides(compare::Pick, compare::Pick),
    Following(Following),
    Profile(kernels::Pick),
    Limits(Looking),
    Trace(TraceId),
    File(PathBuf),
}

/// The places before and after the present one, the nearest last.
#[derive(Debug, Default)]
pub struct Trail {
    past: Vec<Place>,
    future: Vec<Place>,
}

impl Trail {
    /// Whether there is a place to go back to.
    pub fn has_past(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether there is a place to go forward to.
    pub fn has_future(&self) -> bool {
        !self.future.is_empty()
    }

    fn left(&mut self, place: Place) {
        // An action that takes another one leaves its place once.
        if self.past.last() != Some(&place) {
            self.past.push(place);
        }
        self.future.clear();
        if self.past.len() > KEPT {
            self.past.remove(0);
        }
    }
}

impl App {
    /// Does something, and remembers the place where that leaves the screen.
    pub(crate) fn on_the_trail(&mut self, change: impl FnOnce(&mut Self)) {
        let place = self.place();
        change(self);
        if self.screen != place.screen {
            self.trail.left(place);
        }
    }

    /// Goes to the place before.
    pub(crate) fn go_back(&mut self) {
        if let Some(to) = self.trail.past.pop() {
            self.trail.future.push(self.place());
            self.return_to(to);
        }
    }

    /// Goes to the place after.
    pub(crate) fn go_forward(&mut self) {
        if let Some(to) = self.trail.future.pop() {
            self.trail.past.push(self.place());
            self.return_to(to);
        }
    }

    fn place(&self) -> Place {
        Place {
            screen: self.screen,
            subject: self.subject(),
        }
    }

    fn subject(&self) -> Option<Subject> {
        match self.screen {
            Screen::Curves => self.curves.pin.map(Subject::Case),
            Screen::Compare => {
                let sides = self.compare.before.zip(self.compare.after);
                sides.map(|(before, after)| Subject::Sides(before, after))
            }
            Screen::History => self.history.following.map(Subject::Following),
            Screen::Kernels => self.kernels.looking.map(Subject::Profile),
            Screen::Why => self.why.looking.map(Subject::Limits),
            Screen::Timeline => self.timeline.shown.map(Subject::Trace),
            Screen::Library => self.library.selected.clone().map(Subject::File),
            _ => None,
        }
    }

    /// What was closed since is left out; the screen shows what it has then.
    fn return_to(&mut self, place: Place) {
        self.go(place.screen);
        let is_open = |id: SessionId| self.sessions.get(id).is_some();
        let actions = match place.subject {
            Some(Subject::Case(pin)) if is_open(pin.session) => {
                vec![Action::Curves(Curves::Pin(Some(pin)))]
            }
            Some(Subject::Sides(before, after))
                if is_open(before.session) && is_open(after.session) =>
            {
                [Compare::Before(before), Compare::After(after)]
                    .map(Action::Compare)
                    .to_vec()
            }
            Some(Subject::Following(following)) if is_open(following.session) => {
                vec![Action::History(History::Follow(following))]
            }
            Some(Subject::Profile(pick)) if is_open(pick.session) => {
                vec![Action::Kernels(Kernels::Look(pick))]
            }
            Some(Subject::Limits(looking)) if is_open(looking.session) => {
                vec![Action::Why(Why::Look(looking))]
            }
            Some(Subject::Trace(id)) if self.timeline.traces.contains_key(&id) => {
                vec![Action::Timeline(Timeline::Show(id))]
            }
            Some(Subject::File(path)) if self.library.found.contains_key(&path) => {
                vec![Action::Library(Library::Select(Some(path)))]
            }
            _ => Vec::new(),
        };
        for action in actions {
            self.apply(action);
        }
    }
}
