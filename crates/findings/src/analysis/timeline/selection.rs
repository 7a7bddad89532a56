//! What ran in a stretch of time, added up.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Timeline;
use super::stretch::TimeRange;
use powerband_core::domain::trace::SliceKind;

/// Most names listed: a table with more is sorted too slowly.
const MOST_NAMES: usize = 5_000;

/// What ran in a stretch of time. Slices that reach over its edges count with the part within.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelectionStatistics {
    pub slices: u64,
    /// Their times together, in nanoseconds.
    pub sum_ns: f64,
    /// Each kind that occurs, the longest first.
    pub kinds: Vec<KindStatistics>,
    /// Names, the longest first.
    pub names: Vec<NameStatistics>,
    /// How many names there are in all.
    pub distinct: usize,
}

/// Slices of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindStatistics {
    pub kind: SliceKind,
    pub slices: u64,
    /// Their times together.
    pub sum_ns: f64,
    /// Time in which at least one of them ran, on any of the tracks.
    pub busy_ns: f64,
}

/// Slices of one name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameStatistics {
    /// The name, by number.
    pub name: u32,
    /// What they are.
    pub kind: SliceKind,
    pub slices: u64,
    /// Their times together.
    pub sum_ns: f64,
    /// The same without the slices within them on their track.
    pub self_ns: f64,
    pub min_ns: f64,
    pub max_ns: f64,
}

impl NameStatistics {
    fn new(name: u32, kind: SliceKind) -> Self {
        Self {
            name,
            kind,
            slices: 0,
            sum_ns: 0.0,
            self_ns: 0.0,
            min_ns: f64::INFINITY,
            max_ns: 0.0,
        }
    }

    fn add(&mut self, length_ns: f64) {
        self.slices += 1;
        self.sum_ns += length_ns;
        self.self_ns += length_ns;
        self.min_ns = self.min_ns.min(length_ns);
        self.max_ns = self.max_ns.max(length_ns);
    }
}

/// Names as they are added up.
#[derive(Default)]
struct ByName {
    places: FxHashMap<(u32, SliceKind), u32>,
    all: Vec<NameStatistics>,
}

impl ByName {
    fn place(&mut self, name: u32, kind: SliceKind) -> u32 {
        *self.places.entry((name, kind)).or_insert_with(|| {
            self.all.push(NameStatistics::new(name, kind));
            self.all.len() as u32 - 1
        })
    }
}

/// A slice within the stretch, and the place of its name.
#[derive(Clone, Copy)]
struct SlicePart {
    start: f64,
    end: f64,
    name: u32,
}

impl SelectionStatistics {
    /// Adds up what ran in a stretch of time on these rows.
    pub fn from_range(timeline: &Timeline, stretch: TimeRange, rows: &[Range<usize>]) -> Self {
        let mut found = Self::default();
        let mut names = ByName::default();
        let mut spans: Vec<Vec<(f64, f64)>> = vec![Vec::new(); SliceKind::ALL.len()];
        let mut parts = Vec::new();
        for strand in &timeline.tracks {
            parts.clear();
            let is_wanted = |row: &usize| rows.iter().any(|rows| rows.contains(row));
            for row in strand.rows.clone().filter(is_wanted) {
                let row = &timeline.rows[row];
                let from = row.first_after(stretch.from);
                let to = row.first_from(stretch.to, from);
                for at in from..to {
                    let (start, end) = row.times(at);
                    let start = (start as f64).max(stretch.from);
                    let end = (end as f64).min(stretch.to);
                    let kind = row.kind(at);
                    let name = names.place(row.name(at), kind);
                    names.all[name as usize].add(end - start);
                    spans[kind as usize].push((start, end));
                    parts.push(SlicePart { start, end, name });
                }
            }
            if strand.rows.len() > 1 {
                take_nested_off(&mut parts, &mut names.all);
            }
        }
        for (kind, spans) in SliceKind::ALL.into_iter().zip(&mut spans) {
            if spans.is_empty() {
                continue;
            }
            let sum_ns = spans.iter().map(|(start, end)| end - start).sum();
            found.kinds.push(KindStatistics {
                kind,
                slices: spans.len() as u64,
                sum_ns,
                busy_ns: covered(spans),
            });
            found.slices += spans.len() as u64;
            found.sum_ns += sum_ns;
        }
        found.distinct = names.all.len();
        found.names = names.all;
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

/// Takes the time of each slice off that of the innermost one around it.
fn take_nested_off(parts: &mut [SlicePart], names: &mut [NameStatistics]) {
    parts.sort_unstable_by(|one, other| {
        let by_start = one.start.total_cmp(&other.start);
        by_start.then(other.end.total_cmp(&one.end))
    });
    let mut open: Vec<SlicePart> = Vec::new();
    for part in parts.iter() {
        // What overlaps without being nested is beside it.
        open.retain(|outer| outer.end > part.start);
        let mut around = open.iter().rev();
        if let Some(outer) = around.find(|outer| outer.end >= part.end) {
            let outer = &mut names[outer.name as usize];
            outer.self_ns = (outer.self_ns - (part.end - part.start)).max(0.0);
        }
        open.push(*part);
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
