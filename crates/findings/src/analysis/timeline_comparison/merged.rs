//! Two traces as one: the step of the trace before begins where that of the trace after does, and both keep their
//! lengths. Whatever looks at a timeline can so look at both.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::TimelineComparison;
use crate::analysis::category::Rules;
use crate::analysis::timeline::Timeline;
use crate::analysis::timeline::stretch::TimeRange;
use powerband_core::domain::trace::Trace;

/// What names of devices and processes begin with, of the trace before and of the one after.
const SIDES: [&str; 2] = ["before · ", "after · "];
/// The number that sets links of the trace before apart; ranks of a job have small ones.
const LINKS_BEFORE: u64 = 1 << 32;
/// A slice of no row.
const NO_ROW: u32 = u32::MAX;

/// Two traces as one, with what is different.
#[derive(Clone, Debug, Default)]
pub struct MergedTraces {
    pub comparison: TimelineComparison,
    pub trace: Arc<Trace>,
    /// In the time of the trace after; what ran before only begins with it.
    pub linear: Arc<Timeline>,
    /// The same; what ran before is stretched so that matched operators stand above each other.
    pub aligned: Arc<Timeline>,
    /// Slices of the trace after; those behind them are of the trace before.
    n_after: usize,
    /// The row of the comparison that each slice belongs to.
    row_of: Vec<u32>,
}

impl MergedTraces {
    /// Compares two traces and makes one of them. For a million slices each that takes two seconds.
    pub fn new(before: &Trace, after: &Trace, rules: &Rules) -> Self {
        let comparison = TimelineComparison::new(before, after, rules);
        let shift_ns = comparison.linear.moment(0);
        let mut merged = of_side(after, 1);
        let mut moved = of_side(before, 0);
        moved.map_times(0..before.len(), &|time_ns| {
            comparison.linear.moment(time_ns)
        });
        moved.set_links_apart(LINKS_BEFORE);
        merged.append(moved);
        let mut aligned = merged.clone();
        let time = |time_ns: i64| comparison.aligned.moment(time_ns.saturating_sub(shift_ns));
        aligned.map_times(after.len()..merged.len(), &time);
        let mut found = Self {
            n_after: after.len(),
            row_of: vec![NO_ROW; merged.len()],
            linear: Arc::new(Timeline::from_trace(&merged)),
            aligned: Arc::new(Timeline::from_trace(&aligned)),
            trace: Arc::new(merged),
            comparison,
        };
        found.find_rows();
        found
    }

    fn find_rows(&mut self) {
        for (place, row) in (0..).zip(&self.comparison.rows) {
            let sides = [
                (&row.before, &self.comparison.before, self.n_after),
                (&row.after, &self.comparison.after, 0),
            ];
            for (work, step, first) in sides {
                let Some(work) = work else {
                    continue;
                };
                let kernels = step.kernels[work.kernels.clone()].iter();
                for slice in kernels.chain([&work.slice]) {
                    self.row_of[first + *slice as usize] = place;
                }
            }
        }
    }

    pub fn timeline(&self, is_aligned: bool) -> &Arc<Timeline> {
        if is_aligned {
            &self.aligned
        } else {
            &self.linear
        }
    }

    /// The row of the comparison that a slice belongs to.
    pub fn row(&self, slice: usize) -> Option<usize> {
        let row = self.row_of.get(slice).copied();
        row.filter(|row| *row != NO_ROW).map(|row| row as usize)
    }

    /// Whether a slice is of the trace before.
    pub fn is_before(&self, slice: usize) -> bool {
        slice >= self.n_after
    }

    /// The slice that a row is called after, on the side after or, where it was removed, before.
    pub fn slice_of_row(&self, row: usize) -> Option<usize> {
        let row = self.comparison.rows.get(row)?;
        let after = row.after.as_ref().map(|work| work.slice as usize);
        let before = row
            .before
            .as_ref()
            .map(|work| self.n_after + work.slice as usize);
        after.or(before)
    }

    /// Slices that ran for the same on the other side; for work the kernels, else the operator.
    pub fn counterparts(&self, slice: usize) -> Vec<usize> {
        let Some(row) = self
            .row(slice)
            .and_then(|row| self.comparison.rows.get(row))
        else {
            return Vec::new();
        };
        let (work, step, first) = if self.is_before(slice) {
            (&row.after, &self.comparison.after, 0)
        } else {
            (&row.before, &self.comparison.before, self.n_after)
        };
        let Some(work) = work else {
            return Vec::new();
        };
        if self.trace.kinds()[slice].is_work() {
            let kernels = step.kernels[work.kernels.clone()].iter();
            kernels.map(|slice| first + *slice as usize).collect()
        } else {
            vec![first + work.slice as usize]
        }
    }

    /// From when to when a row ran, in the merged timeline: on the side after, or where it was removed.
    pub fn extent(&self, row: usize, is_aligned: bool) -> Option<TimeRange> {
        let row = self.comparison.rows.get(row)?;
        let origin_ns = self.timeline(is_aligned).origin_ns;
        let map = self.comparison.time_map(is_aligned);
        let (from, to) = match (&row.after, &row.before) {
            (Some(work), _) => (work.start_ns, work.end_ns),
            (None, Some(work)) => (map.moment(work.start_ns), map.moment(work.end_ns)),
            (None, None) => return None,
        };
        let place = |time_ns: i64| time_ns.saturating_sub(origin_ns) as f64;
        Some(TimeRange::new(place(from), place(to)))
    }

    /// The part of the merged timeline that the two steps take.
    pub fn steps_range(&self, is_aligned: bool) -> TimeRange {
        let origin_ns = self.timeline(is_aligned).origin_ns;
        let map = self.comparison.time_map(is_aligned);
        let (before, after) = (&self.comparison.before, &self.comparison.after);
        let from = after.start_ns.min(map.moment(before.start_ns));
        let to = after.end_ns.max(map.moment(before.end_ns));
        let place = |time_ns: i64| time_ns.saturating_sub(origin_ns) as f64;
        TimeRange::new(place(from), place(to).max(place(from) + 1.0))
    }
}

/// A trace with tracks that say which side they are of; devices of both sides stand above each other.
fn of_side(trace: &Trace, side: usize) -> Trace {
    let mut own = trace.clone();
    let devices: BTreeSet<u32> = own.tracks.iter().filter_map(|track| track.device).collect();
    for track in &mut own.tracks {
        track.group.insert_str(0, SIDES[side]);
        // Numbers may be anything; the first devices of both sides stand above each other.
        track.device = track
            .device
            .map(|device| 2 * devices.range(..device).count() as u32 + side as u32);
    }
    // Curves of memory have no track that would say which side they are of.
    own.memory.clear();
    own
}
