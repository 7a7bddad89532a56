//! Where the difference of the wall time of two profiles went: computing, copies, communication, gaps.

use serde::Serialize;

use crate::analysis::limits::wall::{WallKind, WallTime};
use powerband_core::domain::profile::Profile;

/// A part of the wall time on both sides; the differences of all parts add up to that of the wall time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WallChange {
    pub kind: WallKind,
    pub before_ns: f64,
    pub after_ns: f64,
}

impl WallChange {
    pub fn difference_ns(&self) -> f64 {
        self.after_ns - self.before_ns
    }
}

/// The parts that either side has; none where the wall time of one cannot be taken apart.
pub(super) fn wall_changes(profiles: [&Profile; 2], runs: [f64; 2]) -> Vec<WallChange> {
    let walls = [0, 1].map(|side| WallTime::from_profile(profiles[side], runs[side]));
    let [Ok(before), Ok(after)] = walls else {
        return Vec::new();
    };
    let time = |wall: &WallTime, kind: WallKind| -> f64 {
        let parts = wall.parts.iter().filter(|part| part.kind == kind);
        parts.map(|part| part.ns).sum()
    };
    let changes = WallKind::ALL.map(|kind| WallChange {
        kind,
        before_ns: time(&before, kind),
        after_ns: time(&after, kind),
    });
    let is_there = |change: &WallChange| change.before_ns > 0.0 || change.after_ns > 0.0;
    changes.into_iter().filter(is_there).collect()
}
