//! Where the user has been: back and forward, as in a browser.

use std::path::PathBuf;

use crate::App;
use crate::action::{Action, Compare, Curves, History, Kernels, Library, Timeline, Why};
use crate::compare;
use crate::history::Following;
use crate::kernels;
use crate::screen::{Door, Screen};
use crate::sessions::{Pin, SessionId};
use crate::timeline::TraceId;
use crate::why::WhySubject;

/// Most places that are kept.
const KEPT: usize = 100;

/// A screen, and what it showed when it was left.
#[derive(Clone, Debug, PartialEq)]
struct TrailEntry {
    screen: Screen,
    subject: Option<TrailSubject>,
}

/// What a screen is about.
#[derive(Clone, Debug, PartialEq)]
enum TrailSubject {
    Case(Pin),
    Sides(compare::SideChoice, compare::SideChoice),
    Following(Following),
    Profile(kernels::ProfileRef),
    Limits(WhySubject),
    Trace(TraceId),
    File(PathBuf),
}

/// The places before and after the present one, the nearest last.
#[derive(Debug, Default)]
pub struct Trail {
    past: Vec<TrailEntry>,
    future: Vec<TrailEntry>,
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

    /// The screen behind a door that was left last.
    pub(crate) fn last_behind(&self, door: Door) -> Option<Screen> {
        let past = self.past.iter().rev().chain(&self.future);
        let mut screens = past.map(|place| place.screen);
        screens.find(|screen| screen.door() == door)
    }

    fn push_past(&mut self, place: TrailEntry) {
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
