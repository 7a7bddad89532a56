//! Real traces compared with versions of them that are made here, by renaming, splitting, dropping, inserting and
//! reordering operators, and exported as one timeline.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use super::support::Home;
use powerband_core::domain::trace::{Slice, SliceKind, Trace};
use powerband_core::domain::trace_nesting::{each_within, is_operator_or_call};
use powerband_core::domain::trace_operators::TraceOperators;
use powerband_core::domain::trace_steps::trace_steps;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::timeline_comparison::{TimelineComparison, WorkMatchedBy};
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;

/// A training without modules, in one step of which layers recur; an inference with modules; nodes of a runtime.
const TRACES: [&str; 3] = [
    "kineto/resnet50-v100-train.pt.trace.json.gz",
    "kineto/mi300-vit-nsfw-inference.json.gz",
    "onnxruntime/squeezenet-cpu-ort1.31.json",
];

fn fixture(name: &str) -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(name);
    let read = powerband_import::read(&path, Limits::default(), &ReadProgress::default());
    read.expect("a trace").trace
}

/// What becomes of an operator.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Kept,
    /// Other kernels carry it out.
    OtherKernels,
    /// Each of its kernels becomes two.
    Split,
    /// The framework calls it something else.
    Renamed,
    Dropped,
    /// Another operator stands behind it.
    Followed,
}

/// What hash says of an operator in a trial, so that each trial changes other operators.
fn hash(operator: u64, seed: u64) -> u64 {
    let hash = (operator + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(seed);
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// The place of a kernel that no operator launched begins here.
const FIRST_NODE: u64 = 1 << 32;

/// The operator that each slice belongs to, by its place; a node of a runtime stands for itself.
fn places(trace: &Trace, operators: &TraceOperators) -> BTreeMap<u32, u64> {
    let own: BTreeMap<u32, u64> = (0..)
        .zip(&operators.operators)
        .map(|(place, operator)| (operator.slice, place))
        .collect();
    let mut places: BTreeMap<u32, u64> = BTreeMap::new();
    each_within(
        trace,
        is_operator_or_call,
        |index, outer: Option<&Option<u64>>| {
            let outermost = outer.copied().flatten();
            let place = outermost.or_else(|| own.get(&index).copied());
            places.extend(place.map(|place| (index, place)));
            place
        },
    );
    for (index, slice) in (0..).zip(trace.slices()) {
        let call = operators
            .launch_call(slice.link)
            .filter(|_| slice.kind.is_work());
        let operator = call.and_then(|call| call.operator).map(u64::from);
        let node = (slice.kind == SliceKind::Kernel).then(|| FIRST_NODE + u64::from(index));
        let place = operator.or(node);
        places.extend(place.map(|place| (index, place)));
    }
    places
}

/// When an operator ran on the host and its kernels on the device.
#[derive(Clone, Debug)]
struct Extent {
    /// Its name and its shapes.
    kind: (u32, String),
    modules: String,
    step: usize,
    /// On the host and on the device.
    times: [Option<Range<i64>>; 2],
}

/// Each operator's extent, in the order in which they ran.
fn extents(trace: &Trace, operators: &TraceOperators) -> Vec<(u64, Extent)> {
    let steps = trace_steps(trace);
    let mut found: BTreeMap<u64, Extent> = BTreeMap::new();
    for (index, place) in places(trace, operators) {
        let slice = trace.slice(index as usize);
        let operator = operators.operators.get(place as usize);
        let outermost = operator.map_or(slice, |one| trace.slice(one.slice as usize));
        let extent = found.entry(place).or_insert_with(|| Extent {
            kind: (outermost.name, trace.shapes(outermost.shapes).to_owned()),
            modules: operator.map_or_else(String::new, |one| operators.modules(one).to_owned()),
            step: steps.partition_point(|step| step.start_ns <= slice.start_ns),
            times: [None, None],
        });
        let times = &mut extent.times[usize::from(slice.kind.is_work())];
        let known = times
            .clone()
            .unwrap_or_else(|| slice.start_ns..slice.end_ns());
        *times = Some(known.start.min(slice.start_ns)..known.end.max(slice.end_ns()));
    }
    let mut found: Vec<(u64, Extent)> = found.into_iter().collect();
    found.sort_by_key(|(_, extent)| {
        let [host, device] = extent.times.clone();
        host.or(device).map(|times| times.start)
    });
    found
}

/// By how much the times of some operators that follow each other move where the first one runs last; nothing where
/// they do not follow each other.
fn first_to_the_end(group: &[(u64, Extent)]) -> Option<Vec<(u64, [i64; 2])>> {
    let (_, first) = group.first()?;
    let is_beside = |extent: &Extent| extent.modules == first.modules && extent.step == first.step;
    // The trace does not show which of two operators with one name and shapes moved.
    let kinds: BTreeSet<&(u32, String)> = group.iter().map(|(_, one)| &one.kind).collect();
    if kinds.len() < group.len() || !group.iter().all(|(_, extent)| is_beside(extent)) {
        return None;
    }
    let mut moved: Vec<(u64, [i64; 2])> = Vec::new();
    moved.extend(group.iter().map(|(place, _)| (*place, [0, 0])));
    for side in 0..2 {
        let times = |place: usize| group[place].1.times[side].clone();
        let has_times = (0..group.len()).filter(|place| times(*place).is_some());
        let has_times: Vec<usize> = has_times.collect();
        let (Some(0), [_, second, ..]) = (has_times.first(), has_times.as_slice()) else {
            continue;
        };
        let all: Vec<Range<i64>> = has_times.iter().filter_map(|place| times(*place)).collect();
        if !all.is_sorted_by(|one, two| one.end <= two.start) {
            return None;
        }
        let end = all.last()?.end;
        let back = times(*second)?.start - all[0].start;
        for place in &has_times {
            moved[*place].1[side] = if *place == 0 { end - all[0].end } else { -back };
        }
    }
    Some(moved)
}

/// The same slices, of which some operators run after one to three that stand behind them. Says how many.
fn reordered(before: &Trace, seed: u64) -> (Trace, usize) {
    let operators = TraceOperators::read(before, None);
    let extents = extents(before, &operators);
    let mut moved: BTreeMap<u64, [i64; 2]> = BTreeMap::new();
    let (mut next, mut n_moved) = (0, 0);
    while next < extents.len() {
        let chance = hash(extents[next].0, !seed);
        let group = extents[next..].iter().take(2 + chance as usize % 3);
        let group: Vec<(u64, Extent)> = group.cloned().collect();
        match first_to_the_end(&group).filter(|_| group.len() > 1 && chance >> 57 < 3) {
            Some(times) => {
                next += times.len();
                n_moved += 1;
                moved.extend(times);
            }
            None => next += 1,
        }
    }
    let places = places(before, &operators);
    let mut after = Trace::default();
    after.names = before.names.clone();
    after.tracks.clone_from(&before.tracks);
    for (index, slice) in (0..).zip(before.slices()) {
        let by = places.get(&index).and_then(|place| moved.get(place));
        let by_ns = by.map_or(0, |by| by[usize::from(slice.kind.is_work())]);
        let shapes = after.shapes_number(before.shapes(slice.shapes));
        after.push(Slice {
            shapes,
            start_ns: slice.start_ns + by_ns,
            ..slice
        });
    }
    (after, n_moved)
}

/// A trace whose operators are changed, and the slice before of each of its slices.
struct ChangedTrace {
    trace: Trace,
    origin: Vec<Option<u32>>,
}

impl ChangedTrace {
    fn new(before: &Trace, seed: u64) -> Self {
        let operators = TraceOperators::read(before, None);
        let change = |operator: u64| match hash(operator, seed) >> 57 {
            0..=2 => Change::Dropped,
            3..=5 => Change::Renamed,
            6..=11 => Change::Split,
            12..=14 => Change::Followed,
            15..=70 => Change::OtherKernels,
            _ => Change::Kept,
        };
        let own: BTreeSet<u32> = operators.operators.iter().map(|one| one.slice).collect();
        let places = places(before, &operators);
        let mut changed = Self {
            trace: Trace::default(),
            origin: Vec::new(),
        };
        changed.trace.names = before.names.clone();
        changed.trace.tracks.clone_from(&before.tracks);
        for (index, slice) in (0..).zip(before.slices()) {
            let is_within = !slice.kind.is_work() && !own.contains(&index);
            let change = match places.get(&index) {
                // What is within an operator goes with it, and else stays as it is.
                Some(place) if is_within && change(*place) != Change::Dropped => Change::Kept,
                Some(place) => change(*place),
                None => Change::Kept,
            };
            let shapes = changed.trace.shapes_number(before.shapes(slice.shapes));
            changed.take(Slice { shapes, ..slice }, index, change);
        }
        changed
    }

    fn take(&mut self, slice: Slice, index: u32, change: Change) {
        let is_kernel = slice.kind == SliceKind::Kernel;
        match change {
            Change::Dropped => return,
            Change::OtherKernels if is_kernel && slice.link != 0 => {
                let name = format!("miopen_{}", slice.name % 97);
                let name = self.trace.names.number(&name);
                return self.push(Slice { name, ..slice }, Some(index));
            }
            Change::Renamed if slice.kind == SliceKind::Operator => {
                let name = format!("{}_v2", self.trace.names.get(slice.name));
                let name = self.trace.names.number(&name);
                return self.push(Slice { name, ..slice }, Some(index));
            }
            Change::Split if is_kernel && slice.duration_ns > 1 => {
                let half = slice.duration_ns / 2;
                self.push(
                    Slice {
                        duration_ns: half,
                        ..slice
                    },
                    Some(index),
                );
                let rest = Slice {
                    start_ns: slice.start_ns + half as i64,
                    duration_ns: slice.duration_ns - half,
                    ..slice
                };
                return self.push(rest, Some(index));
            }
            Change::Followed if is_kernel && slice.link == 0 => {
                self.push(slice, Some(index));
                let name = self.trace.names.number("inserted");
                return self.push(
                    Slice {
                        name,
                        op: name,
                        start_ns: slice.end_ns(),
                        ..slice
                    },
                    None,
                );
            }
            _ => {}
        }
        self.push(slice, Some(index));
    }

    fn push(&mut self, slice: Slice, origin: Option<u32>) {
        self.trace.push(slice);
        self.origin.push(origin);
    }
}

#[test]
fn operators_are_matched_and_none_wrongly_in_silence() {
    let rules = Rules::default();
    for name in TRACES {
        let before = fixture(name);
        let (mut n_right, mut n_true, mut n_moved) = (0, 0, 0);
        for seed in 0..8 {
            let (moved, n) = reordered(&before, seed);
            n_moved += n;
            let changed = ChangedTrace::new(&moved, seed);
            let comparison = TimelineComparison::new(&before, &changed.trace, &rules);
            let sum: i64 = comparison.rows.iter().map(|row| row.difference_ns()).sum();
            assert_eq!(sum, comparison.difference_ns(), "{name}, {seed}");
            let origin = |slice: u32| changed.origin[slice as usize];
            let of_before: Vec<u32> = comparison
                .rows
                .iter()
                .filter_map(|row| row.before.as_ref().map(|work| work.slice))
                .collect();
            let mut seen: BTreeSet<u32> = BTreeSet::new();
            for row in &comparison.rows {
                let truth = row.after.as_ref().and_then(|work| origin(work.slice));
                // A node that became two can be matched by one of them.
                let is_new =
                    truth.is_some_and(|slice| of_before.contains(&slice) && seen.insert(slice));
                n_true += usize::from(is_new);
                let (Some(one), Some(_)) = (&row.before, &row.after) else {
                    continue;
                };
                let is_uncertain = row.matched_by == Some(WorkMatchedBy::Order);
                if truth == Some(one.slice) {
                    n_right += 1;
                } else {
                    assert!(
                        is_uncertain,
                        "{name}, {seed}: {} is {truth:?}, not {}",
                        row.title, one.slice
                    );
                }
            }
        }
        assert!(n_moved >= 8, "{name}: {n_moved} operators moved");
        assert!(
            n_right as f64 >= 0.98 * n_true as f64,
            "{name}: {n_right} of {n_true}, {n_moved} moved"
        );
    }
}

#[test]
fn two_timelines_are_exported_as_one() {
    let home = Home::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let trace = fixtures.join(TRACES[1]);
    let session = home.path("vit.ron");
    let words = [&trace, &session].map(|path| path.display().to_string());
    home.run(&["import", &words[0], "--out", &words[1]]);
    let out = home.path("compared.json");
    let export = |to: &Path, more: &[&str]| {
        let to = to.display().to_string();
        let mut args = vec!["export", &words[1], "--chart", "timeline"];
        args.extend(["--against-profile", "1", "--to", &to]);
        args.extend(more);
        let run = home.run(&args);
        assert_eq!(run.status, Some(0), "{run:?}");
    };
    export(&out, &["--aligned"]);
    let document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&out).expect("a file")).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 150);
    assert!(
        rows.iter()
            .all(|row| row["difference_ns"] == 0.0 && row["matched_by"] == "modules")
    );
    let picture = home.path("compared.svg");
    export(&picture, &[]);
    let text = std::fs::read_to_string(&picture).expect("a file");
    for words in [
        "before · GPU 2",
        "after · GPU 2",
        "Sum",
        "Slower above, faster below",
    ] {
        assert!(text.contains(words), "{words}");
    }
}
