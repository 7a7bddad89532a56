//! What ran in a stretch of time, added up.

use std::collections::HashMap;
use std::ops::Range;

use super::Timeline;
use super::stretch::Stretch;
use powerband_core::domain::trace::SliceKind;

/// Most names listed.
const MOST_NAMES: usize = 40;

/// What ran in a stretch of time. Slices that reach over its edges count with the part within.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// How many slices.
    pub slices: u64,
    /// Their times together, in nanoseconds.
    pub sum_ns: f64,
    /// Each kind that occurs, the longest first.
    pub kinds: Vec<OfKind>,
    /// Names, the longest first.
    pub names: Vec<OfName>,
    /// How many names there are in all.
    pub distinct: usize,
}

/// Slices of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfKind {
    /// Which.
    pub kind: SliceKind,
    /// How many.
    pub slices: u64,
    /// Their times together.
    pub sum_ns: f64,
    /// Time in which at least one of them ran, on any of the tracks.
    pub busy_ns: f64,
}

/// Slices of one name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfName {
    /// The name, by number.
    pub name: u32,
    /// What they are.
    pub kind: SliceKind,
    /// How many.
    pub slices: u64,
    /// Their times together.
    pub sum_ns: f64,
}

impl Statistics {
    /// Adds up what ran in a stretch of time on these rows.
    pub fn of(timeline: &Timeline, stretch: Stretch, rows: Range<usize>) -> Self {
        let mut found = Self::default();
        let mut names: HashMap<(u32, SliceKind), (u64, f64)> = HashMap::new();
        let mut spans: Vec<Vec<(f64, f64)>> = vec![Vec::new(); SliceKind::ALL.len()];
        let rows = rows.start.min(timeline.rows.len())..rows.end.min(timeline.rows.len());
        for row in &timeline.rows[rows] {
            let from = row.first_after(stretch.from);
            let to = row.first_from(stretch.to, from);
            for at in from..to {
                let (start, end) = row.times(at);
                let (start, end) = (
                    (start as f64).max(stretch.from),
                    (end as f64).min(stretch.to),
                );
                let kind = row.kind(at);
                let entry = names.entry((row.name(at), kind)).or_default();
                entry.0 += 1;
                entry.1 += end - start;
                spans[kind as usize].push((start, end));
            }
        }
        for (kind, spans) in SliceKind::ALL.into_iter().zip(&mut spans) {
            if spans.is_empty() {
                continue;
            }
            let sum_ns = spans.iter().map(|(start, end)| end - start).sum();
            found.kinds.push(OfKind {
                kind,
                slices: spans.len() as u64,
                sum_ns,
                busy_ns: covered(spans),
            });
            found.slices += spans.len() as u64;
            found.sum_ns += sum_ns;
        }
        found.distinct = names.len();
        let names = names.into_iter();
        found.names = names
            .map(|((name, kind), (slices, sum_ns))| OfName {
                name,
                kind,
                slices,
                sum_ns,
            })
            .collect();
        found.names.sort_by(|one, other| {
            let by_time = other.sum_ns.total_cmp(&one.sum_ns);
            by_time.then((one.name, one.kind).cmp(&(other.name, other.kind)))
        });
        found.names.truncate(MOST_NAMES);
        found
            .kinds
            .sort_by(|one, other| other.busy_ns.total_cmp(&one.busy_ns));
        found
    }
}

/// The time that spans cover, where they overlap only once.
fn covered(spans: &mut [(f64, f64)]) -> f64 {
    spans.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let mut covered = 0.0;
    let mut until = f64::NEG_INFINITY;
    for (start, end) in spans.iter().copied() {
        if end > until {
            covered += end - start.max(until);
            until = end;
        }
    }
    covered
}
