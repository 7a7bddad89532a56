//! The part of a row that a screen can show: long slices one by one, short ones together.

use std::ops::Range;

use super::stretch::TimeRange;
use super::{SliceRow, Timeline};
use powerband_core::domain::trace::SliceKind;

/// Levels of utilisation in a block.
pub const LEVELS: u8 = 4;

/// The visible time range and its width in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineView {
    pub stretch: TimeRange,
    /// The width that it is drawn over.
    pub pixels: f32,
}

impl TimelineView {
    /// How many pixels a nanosecond has.
    pub fn scale(&self) -> f64 {
        f64::from(self.pixels) / self.stretch.length().max(1e-9)
    }

    /// Where a time is, in pixels from the left.
    pub fn x(&self, time_ns: f64) -> f64 {
        (time_ns - self.stretch.from) * self.scale()
    }

    /// The time at a place, in pixels from the left.
    pub fn time(&self, x: f64) -> f64 {
        self.stretch.from + x / self.scale()
    }
}

/// Something to be drawn, from left to right in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its left edge; not before 0.
    pub left: f32,
    /// Its right edge; not after the last pixel.
    pub right: f32,
    pub what: PieceKind,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A slice, by its position in the row.
    Slice(u32),
    /// Slices that are narrower than a pixel.
    Block {
        /// The kind with the most time.
        kind: SliceKind,
        /// How much of the time they ran: 1 for little, up to [`LEVELS`].
        level: u8,
    },
}

impl Timeline {
    /// What is to be drawn of a row. Takes as long as there are pixels, whatever is in the row.
    pub fn visible(&self, row: usize, look: TimelineView, pieces: &mut Vec<Piece>) {
        pieces.clear();
        let Some(row) = self.rows.get(row) else {
            return;
        };
        let (scale, pixel_ns) = (look.scale(), 1.0 / look.scale());
        let last = f64::from(look.pixels);
        let x = |time_ns: i64| (time_ns as f64 - look.stretch.from) * scale;
        let is_wide = |at: usize| row.end[at].abs_diff(row.start[at]) as f64 >= pixel_ns;
        let mut at = row.first_after(look.stretch.from);
        while at < row.len() && (row.start[at] as f64) < look.stretch.to {
            let left = x(row.start[at]).max(0.0);
            if is_wide(at) {
                pieces.push(Piece {
                    left: left as f32,
                    right: x(row.end[at]).min(last) as f32,
                    what: PieceKind::Slice(at as u32),
                });
                at += 1;
                continue;
            }
            // Not below zero, and so as good as rounded down.
            let pixel = left as u32;
            let limit = look.stretch.from + f64::from(pixel + 1) * pixel_ns;
            let mut next = row.first_from(limit, at).max(at + 1);
            // Of those that begin in a pixel only the last can be longer than it.
            if next - at > 1 && is_wide(next - 1) {
                next -= 1;
            }
            push_block(row, at..next, pixel as f32, scale, pieces);
            at = next;
        }
    }

    /// Which slices are at a time of a row: the one that runs then, else those that are no further away
    /// than `reach_ns`.
    pub fn slices_at(&self, row: usize, time_ns: f64, reach_ns: f64) -> Range<usize> {
        let Some(row) = self.rows.get(row) else {
            return 0..0;
        };
        let after = row.first_after(time_ns);
        let runs = row
            .start
            .get(after)
            .is_some_and(|start| *start as f64 <= time_ns);
        let is_wide = |at: usize| row.end[at].abs_diff(row.start[at]) as f64 >= reach_ns;
        if runs && is_wide(after) {
            return after..after + 1;
        }
        let from = row.first_after(time_ns - reach_ns);
        let to = row.first_from(time_ns + reach_ns, from);
        // A wide neighbour is chosen beside the pointer only where there is nothing else.
        let narrow = (from..to).filter(|at| !is_wide(*at));
        let (first, last) = (narrow.clone().next(), narrow.clone().next_back());
        match (first, last) {
            (Some(first), Some(last)) => first..last + 1,
            _ => from..to.min(from + 1),
        }
    }
}

/// Adds slices that are together narrower than a pixel, to the block at the left where that looks alike.
fn push_block(
    row: &SliceRow,
    range: Range<usize>,
    pixel: f32,
    scale: f64,
    pieces: &mut Vec<Piece>,
) {
    let kind = row.dominant(range.clone());
    let share = row.busy_ns(range) as f64 * scale;
    let level = (share * f64::from(LEVELS))
        .ceil()
        .clamp(1.0, f64::from(LEVELS)) as u8;
    let what = PieceKind::Block { kind, level };
    if let Some(last) = pieces.last_mut()
        && last.what == what
        && last.right >= pixel
    {
        last.right = pixel + 1.0;
        return;
    }
    pieces.push(Piece {
        left: pixel,
        right: pixel + 1.0,
        what,
    });
}

/// The first position from `from` on that is not before what is looked for, in steps that grow: near
/// ones are found at once.
pub(super) fn gallop(sorted: &[i64], from: usize, is_before: impl Fn(i64) -> bool) -> usize {
    let mut step = 1;
    let mut low = from;
    while low + step <= sorted.len() && is_before(sorted[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(sorted.len());
    low + sorted[low.min(high)..high].partition_point(|value| is_before(*value))
}
