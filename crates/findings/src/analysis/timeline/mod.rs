//! A trace made ready for looking at: tracks in their order, slices in rows in which none overlaps
//! another, and answers at any zoom in a time that depends on the pixels and not on the slices.
//!
//! Times are counted from the first slice or memory event, in nanoseconds.

pub mod alike;
mod build;
pub mod detail;
pub mod find;
pub mod line;
pub mod selection;
pub mod slice_facts;
pub mod stretch;

use std::ops::Range;

use line::MemoryLine;
use powerband_core::domain::trace::{SliceKind, Trace};
use stretch::TimeRange;

/// Slices after which times by kind are added up anew.
const MIX_EVERY: usize = 32;

/// Shades that distinguish names of one kind.
pub const SHADES: u8 = 4;
/// So many slices of one link are looked at.
const MOST_LINKED: usize = 1000;
/// Parts of the overview.
const PARTS: usize = 1024;

/// Where a slice is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlicePosition {
    pub row: u32,
    /// Index in the row, from left to right.
    pub at: u32,
}

/// Slices side by side, sorted by their start; none begins before the one at its left ends.
#[derive(Clone, Debug, Default)]
pub struct SliceRow {
    start: Vec<i64>,
    end: Vec<i64>,
    slice: Vec<u32>,
    name: Vec<u32>,
    kind: Vec<SliceKind>,
    /// Time of all slices before each one, and at last of all.
    before: Vec<u64>,
    /// Kinds that occur.
    kinds: Vec<SliceKind>,
    /// The time of each of them before every 32nd slice, where there are several.
    mix: Vec<u64>,
}

impl SliceRow {
    pub fn len(&self) -> usize {
        self.start.len()
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// From when to when the slice at a position runs.
    pub fn times(&self, at: usize) -> (i64, i64) {
        (self.start[at], self.end[at])
    }

    /// The trace's index of the slice at a position.
    pub fn slice(&self, at: usize) -> usize {
        self.slice[at] as usize
    }

    /// The name of the slice at a position, by number.
    pub fn name(&self, at: usize) -> u32 {
        self.name[at]
    }

    /// What the slice at a position is.
    pub fn kind(&self, at: usize) -> SliceKind {
        self.kind[at]
    }

    /// Time of the slices at these positions.
    pub fn busy_ns(&self, range: Range<usize>) -> u64 {
        self.before[range.end] - self.before[range.start]
    }

    /// The kind that takes most of the time of these slices; of the first one where none takes any.
    pub fn dominant(&self, range: Range<usize>) -> SliceKind {
        if self.kinds.len() == 1 || range.len() == 1 {
            return self.kind[range.start];
        }
        let mut times = [0_u64; SliceKind::ALL.len()];
        let mut walk = |range: Range<usize>| {
            for at in range {
                times[self.kind[at] as usize] += self.end[at].abs_diff(self.start[at]);
            }
        };
        let first = range.start.div_ceil(MIX_EVERY);
        let last = range.end / MIX_EVERY;
        if first < last {
            walk(range.start..first * MIX_EVERY);
            walk(last * MIX_EVERY..range.end);
            let of = |block: usize, kind: usize| self.mix[block * self.kinds.len() + kind];
            for (place, kind) in self.kinds.iter().enumerate() {
                times[*kind as usize] += of(last, place) - of(first, place);
            }
        } else {
            walk(range.clone());
        }
        let longest = self.kinds.iter().max_by_key(|kind| times[**kind as usize]);
        longest
            .copied()
            .filter(|kind| times[*kind as usize] > 0)
            .unwrap_or(self.kind[range.start])
    }

    /// The first position whose slice ends after a time.
    pub(crate) fn first_after(&self, time_ns: f64) -> usize {
        self.end.partition_point(|end| *end as f64 <= time_ns)
    }

    /// The first position whose slice begins at a time or later, at `from` or after it.
    pub(crate) fn first_from(&self, time_ns: f64, from: usize) -> usize {
        detail::gallop(&self.start, from, |start| (start as f64) < time_ns)
    }
}

/// A track and its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineTrack {
    /// The trace's index of the track.
    pub track: u32,
    /// Its rows, the outermost slices first; what only describes the work of a device comes last.
    pub rows: Range<usize>,
    pub slices: usize,
    /// Time in which at least one of them ran that keeps the track busy.
    pub busy_ns: u64,
}

/// A trace made ready for looking at.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Where time is counted from, as the file counts.
    pub origin_ns: i64,
    /// From the first start to the last end.
    pub length_ns: u64,
    /// Tracks: devices first, then threads, the busy ones above.
    pub tracks: Vec<TimelineTrack>,
    /// Rows of all tracks.
    pub rows: Vec<SliceRow>,
    /// What changes over time besides slices: memory in use.
    pub lines: Vec<MemoryLine>,
    /// How busy it is in equal parts of its length, from 0 to 255: the busiest device, or the busiest
    /// thread where there is no device.
    pub overview: Vec<u8>,
    /// Slices that are in no row, because too many lie over each other.
    pub left_out: usize,
    /// One of a few shades for each name, the same in every trace.
    shades: Vec<u8>,
    /// The row of each slice of the trace, and its position there; a row that is not there for none.
    places: Vec<SlicePosition>,
    /// Slices with a link, by link.
    links: Vec<(u64, u32)>,
}

impl Timeline {
    /// Makes a trace ready. For a million slices that takes a third of a second.
    pub fn from_trace(trace: &Trace) -> Self {
        build::build(trace)
    }

    /// All of it.
    pub fn full_range(&self) -> TimeRange {
        TimeRange::new(0.0, (self.length_ns as f64).max(1.0))
    }

    /// Where a slice of the trace is drawn; nothing for one that is left out.
    pub fn place(&self, slice: usize) -> Option<SlicePosition> {
        let place = *self.places.get(slice)?;
        ((place.row as usize) < self.rows.len()).then_some(place)
    }

    /// The trace's index of the slice at a place.
    pub fn slice(&self, place: SlicePosition) -> Option<usize> {
        let row = self.rows.get(place.row as usize)?;
        row.slice
            .get(place.at as usize)
            .map(|slice| *slice as usize)
    }

    /// The time of a slice.
    pub fn times(&self, place: SlicePosition) -> Option<(i64, i64)> {
        let row = self.rows.get(place.row as usize)?;
        let at = place.at as usize;
        Some((*row.start.get(at)?, *row.end.get(at)?))
    }

    /// Kinds that occur, row by row.
    pub fn kinds(&self) -> impl Iterator<Item = &SliceKind> {
        self.rows.iter().flat_map(|row| &row.kinds)
    }

    /// The shade of a name, below [`SHADES`].
    pub fn shade(&self, name: u32) -> u8 {
        self.shades.get(name as usize).copied().unwrap_or_default()
    }

    /// The track that a row belongs to.
    pub fn track_of_row(&self, row: usize) -> Option<usize> {
        let after = self.tracks.partition_point(|strand| strand.rows.end <= row);
        (after < self.tracks.len()).then_some(after)
    }

    /// What a slice launched, or what launched it: the work of the same link for a call, the calls for
    /// work.
    pub fn partners(&self, trace: &Trace, slice: usize) -> Vec<usize> {
        let own = trace.slice(slice);
        if own.link == 0 {
            return Vec::new();
        }
        let from = self.links.partition_point(|(link, _)| *link < own.link);
        let same = self.links[from..]
            .iter()
            .take_while(|(link, _)| *link == own.link)
            .take(MOST_LINKED);
        let others = same
            .map(|(_, index)| *index as usize)
            .filter(|index| *index != slice);
        let (across, beside): (Vec<usize>, Vec<usize>) =
            others.partition(|index| trace.kinds()[*index].is_work() != own.kind.is_work());
        if across.is_empty() { beside } else { across }
    }
}

#[cfg(test)]
mod tests;
