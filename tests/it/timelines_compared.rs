//! Real traces compared with versions of them that are made here, by renaming, splitting, dropping and inserting
//! operators, and exported as one timeline.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::support::Home;
use powerband_core::domain::trace::{Slice, SliceKind, Trace};
use powerband_core::domain::trace_nesting::{each_within, is_operator_or_call};
use powerband_core::domain::trace_operators::TraceOperators;
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

/// A trace whose operators are changed, and the slice before of each of its slices.
struct ChangedTrace {
    trace: Trace,
    origin: Vec<Option<u32>>,
}

impl ChangedTrace {
    fn new(before: &Trace, seed: u64) -> Self {
        let operators = TraceOperators::read(before, None);
        let change = |operator: u64| {
            // A hash of both, so that each trial changes other operators.
            let hash = (operator + 1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .wrapping_add(seed);
            match (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 57 {
                0..=2 => Change::Dropped,
                3..=5 => Change::Renamed,
                6..=11 => Change::Split,
                12..=14 => Change::Followed,
                15..=70 => Change::OtherKernels,
                _ => Change::Kept,
            }
        };
        let own: BTreeMap<u32, u64> = (0..)
            .zip(&operators.operators)
            .map(|(place, operator)| (operator.slice, place))
            .collect();
        // The outermost operator that each operator and call lies in.
        let mut outermost: BTreeMap<u32, u64> = BTreeMap::new();
        each_within(
            before,
            is_operator_or_call,
            |index, outer: Option<&Option<u64>>| {
                let place = outer
                    .copied()
                    .flatten()
                    .or_else(|| own.get(&index).copied());
                outermost.extend(place.map(|place| (index, place)));
                place
            },
        );
        let mut changed = Self {
            trace: Trace::default(),
            origin: Vec::new(),
        };
        changed.trace.names = before.names.clone();
        changed.trace.tracks.clone_from(&before.tracks);
        for (index, slice) in (0..).zip(before.slices()) {
            let call = operators
                .launch_call(slice.link)
                .filter(|_| slice.kind.is_work());
            let place = call.and_then(|call| call.operator).map(u64::from);
            let is_within = !slice.kind.is_work() && !own.contains_key(&index);
            let change = match place.or_else(|| outermost.get(&index).copied()) {
                // What is within an operator goes with it, and else stays as it is.
                Some(place) if is_within && change(place) != Change::Dropped => Change::Kept,
                Some(place) => change(place),
                // A node of a runtime stands for itself.
                None if slice.kind == SliceKind::Kernel => change(index.into()),
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
        let (mut n_right, mut n_true) = (0, 0);
        for seed in 0..8 {
            let changed = ChangedTrace::new(&before, seed);
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
        assert!(
            n_right as f64 >= 0.98 * n_true as f64,
            "{name}: {n_right} of {n_true}"
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
