//! Slices whose name, operator or arguments have a text in them.

use super::detail::TimelineView;
use super::{SlicePosition, SliceRow, Timeline};
use powerband_core::domain::slice_args::SliceMatches;
use powerband_core::domain::trace::Trace;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchHits {
    /// The text.
    pub text: String,
    /// Where they are, the earliest first.
    pub all: Vec<SlicePosition>,
    /// How many were found by their arguments alone.
    pub by_arguments: usize,
    /// Positions in each row that has any.
    rows: Vec<(u32, Vec<u32>)>,
}

impl SearchHits {
    /// Slices with the text in their names, in those of their operators or in their arguments, in whichever
    /// case. In quotation marks it is a whole name.
    pub fn search(trace: &Trace, timeline: &Timeline, text: &str) -> Self {
        let wanted = text.trim().to_lowercase();
        let mut hits = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        if wanted.is_empty() {
            return hits;
        }
        let whole = text.trim().strip_prefix('"');
        let whole = whole.and_then(|text| text.strip_suffix('"'));
        let whole = whole.filter(|name| !name.is_empty());
        let names = 0..trace.names.len() as u32;
        let has: Vec<bool> = match whole {
            Some(name) => names
                .map(|number| trace.names.get(number) == name)
                .collect(),
            None => names
                .map(|name| trace.names.get(name).to_lowercase().contains(&wanted))
                .collect(),
        };
        let by_arguments = match whole {
            Some(_) => SliceMatches::default(),
            None => trace.args().find(&wanted),
        };
        let is_any_argument = by_arguments.is_any();
        if !has.contains(&true) && !is_any_argument {
            return hits;
        }
        let has = |name: u32| has.get(name as usize).copied().unwrap_or_default();
        let by_name = |row: &SliceRow, at: usize| {
            has(row.name(at)) || whole.is_none() && has(trace.op(row.slice(at)))
        };
        let mut timed: Vec<(i64, SlicePosition)> = Vec::new();
        for (number, row) in timeline.rows.iter().enumerate() {
            let mut found: Vec<u32> = Vec::new();
            for at in 0..row.len() {
                let is_named = by_name(row, at);
                let is_argument =
                    !is_named && is_any_argument && by_arguments.contains(row.slice(at));
                hits.by_arguments += usize::from(is_argument);
                if is_named || is_argument {
                    found.push(at as u32);
                }
            }
            let row_number = number as u32;
            timed.extend(found.iter().map(|at| {
                let place = SlicePosition {
                    row: row_number,
                    at: *at,
                };
                (row.times(*at as usize).0, place)
            }));
            if !found.is_empty() {
                hits.rows.push((row_number, found));
            }
        }
        timed.sort_unstable();
        hits.all = timed.into_iter().map(|(_, place)| place).collect();
        hits
    }

    /// Whether anything was found: only then are all other slices dimmed.
    pub fn has_hits(&self) -> bool {
        !self.all.is_empty()
    }

    /// Where hits of a row are to be drawn, in pixels from left to right with their positions, none closer
    /// than a pixel to the previous one.
    pub fn visible(
        &self,
        timeline: &Timeline,
        row: usize,
        look: TimelineView,
        marks: &mut Vec<(f32, f32, usize)>,
    ) {
        marks.clear();
        let place = self
            .rows
            .binary_search_by_key(&(row as u32), |(row, _)| *row);
        let (Ok(place), Some(row)) = (place, timeline.rows.get(row)) else {
            return;
        };
        let found = &self.rows[place].1;
        let mut next =
            found.partition_point(|at| row.end[*at as usize] as f64 <= look.stretch.from);
        while let Some(&at) = found.get(next) {
            let (start, end) = row.times(at as usize);
            if start as f64 >= look.stretch.to {
                break;
            }
            let left = look.x(start as f64).max(0.0);
            let right = look
                .x(end as f64)
                .clamp(left + 1.0, f64::from(look.pixels) + 1.0);
            marks.push((left as f32, right as f32, at as usize));
            // What begins before the mark ends is indistinguishable from it.
            let from = row.first_from(look.time(right), at as usize) as i64;
            let found_from = next;
            let positions = &found[found_from..];
            let step = positions.partition_point(|at| i64::from(*at) < from);
            next = found_from + step.max(1);
        }
    }

    /// The hit after a time, or before it; the first or the last where there is none further on.
    pub fn nearest(&self, timeline: &Timeline, time_ns: f64, forward: bool) -> Option<usize> {
        let starts =
            |place: &SlicePosition| timeline.times(*place).map_or(0.0, |times| times.0 as f64);
        let count = self.all.len();
        if forward {
            let next = self.all.partition_point(|place| starts(place) < time_ns);
            return (count > 0).then(|| next % count);
        }
        let before = self.all.partition_point(|place| starts(place) <= time_ns);
        (count > 0).then(|| (before + count - 1) % count)
    }
}
