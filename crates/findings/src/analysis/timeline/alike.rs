//! Slices of one name: how many there are, and which comes before and after another.

use super::{SlicePosition, Timeline};
use powerband_core::domain::trace::Trace;

/// Slices of one name on all tracks in order of their start, seen from one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SameNameSlices {
    /// How many there are, itself included.
    pub count: usize,
    /// How many come before it.
    pub before: usize,
    /// The one before it, by the trace's index.
    pub previous: Option<usize>,
    /// The one after it.
    pub next: Option<usize>,
}

impl SameNameSlices {
    /// Scans all slices once; a million take about a millisecond.
    pub fn find(timeline: &Timeline, trace: &Trace, slice: usize) -> Self {
        let mut found = Self::default();
        let Some(own) = timeline.place(slice) else {
            return found;
        };
        let name = trace.slice(slice).name;
        let key = |place: SlicePosition| timeline.times(place).map(|(start, _)| (start, place));
        let Some(own) = key(own) else {
            return found;
        };
        let (mut previous, mut next) = (None, None);
        for (number, row) in timeline.rows.iter().enumerate() {
            let same = row.name.iter().enumerate();
            for (at, _) in same.filter(|(_, other)| **other == name) {
                let place = SlicePosition {
                    row: number as u32,
                    at: at as u32,
                };
                let other = (row.start[at], place);
                found.count += 1;
                if other < own {
                    found.before += 1;
                    previous = previous.max(Some(other));
                } else if other > own && next.is_none_or(|next| other < next) {
                    next = Some(other);
                }
            }
        }
        let index = |found: Option<(i64, SlicePosition)>| {
            found.and_then(|(_, place)| timeline.slice(place))
        };
        found.previous = index(previous);
        found.next = index(next);
        found
    }
}
