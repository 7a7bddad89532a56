//! Where the user has been: back and forward, as in a browser.

use std::path::PathBuf;

use crate::compare::SideChoice;
use crate::history::Following;
use crate::kernels::ProfileRef;
use crate::screen::{Door, Screen};
use crate::sessions::Pin;
use crate::timeline::TraceId;
use crate::why::WhySubject;

/// Most places that are kept.
const KEPT: usize = 100;

/// A screen, and what it showed when it was left.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TrailEntry {
    pub(super) screen: Screen,
    pub(super) subject: Option<TrailSubject>,
}

/// What a screen is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TrailSubject {
    Case(Pin),
    Sides(SideChoice, SideChoice),
    Following(Following),
    Profile(ProfileRef),
    Limits(WhySubject),
    Trace(TraceId),
    File(PathBuf),
}

/// The places before and after the present one, the nearest last.
#[derive(Debug, Default)]
pub struct Trail {
    pub(super) past: Vec<TrailEntry>,
    pub(super) future: Vec<TrailEntry>,
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

    pub(super) fn push_past(&mut self, place: TrailEntry) {
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
