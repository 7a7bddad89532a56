//! Two made-up traces: other vendors, planted differences, and what has no steps.

use super::*;
use powerband_core::domain::trace::{Slice, Track};

/// Operators of one step of a trace: each one's name, its kernels, and their times.
type Operators<'a> = &'a [(&'a str, &'a [(&'a str, u64)])];

/// A trace with steps on a host and a device.
struct MadeTrace {
    trace: Trace,
    now_ns: i64,
    steps: u32,
    links: u64,
}

impl MadeTrace {
    fn new() -> Self {
        let mut trace = Trace::default();
        trace.track(Track {
            device: None,
            group: "python".to_owned(),
            name: "thread 1".to_owned(),
        });
        trace.track(Track {
            device: Some(0),
            group: "GPU 0".to_owned(),
            name: "stream 7".to_owned(),
        });
        Self {
            trace,
            now_ns: 1_000,
            steps: 0,
            links: 0,
        }
    }

    fn step(&mut self, operators: Operators<'_>) {
        let start_ns = self.now_ns;
        for (op, kernels) in operators {
            let begin_ns = self.now_ns;
            for (kernel, time_ns) in *kernels {
                self.links += 1;
                let call = Slice::new(SliceKind::Call, self.name("launch"), 0, self.now_ns + 1, 2);
                let kernel = Slice::new(
                    SliceKind::Kernel,
                    self.name(kernel),
                    1,
                    self.now_ns + 4,
                    *time_ns,
                );
                for slice in [call, kernel] {
                    let link = self.links;
                    self.trace.push(Slice { link, ..slice });
                }
                self.now_ns += *time_ns as i64 + 5;
            }
            let length = self.now_ns.abs_diff(begin_ns);
            let op = self.name(op);
            self.trace
                .push(Slice::new(SliceKind::Operator, op, 0, begin_ns, length));
            self.now_ns += 1;
        }
        self.steps += 1;
        let name = format!("ProfilerStep#{}", self.steps);
        let name = self.name(&name);
        let length = self.now_ns.abs_diff(start_ns);
        self.trace
            .push(Slice::new(SliceKind::Range, name, 0, start_ns, length));
    }

    fn name(&mut self, name: &str) -> u32 {
        self.trace.names.number(name)
    }
}

fn trace(operators: Operators<'_>) -> Trace {
    let mut made = MadeTrace::new();
    made.step(operators);
    made.trace
}

const BEFORE: Operators<'_> = &[
    (
        "aten::conv2d",
        &[("cudnn_pad", 10), ("implicit_gemm_fprop_64x64", 100)],
    ),
    ("aten::relu", &[("vectorized_relu", 20)]),
    ("aten::dropout", &[("fused_dropout", 15)]),
    ("aten::linear", &[("ampere_sgemm_128x64", 80)]),
    ("aten::softmax", &[("softmax_warp", 12)]),
];
const AFTER: Operators<'_> = &[
    ("aten::conv2d", &[("miopen_winograd_fwd", 90)]),
    ("aten::relu", &[("vectorized_relu", 22)]),
    ("aten::linear", &[("Cijk_Ailk_Bljk_SB_MT64x64", 95)]),
    ("aten::softmax", &[("softmax_warp_rocm", 9)]),
    ("aten::argmax", &[("reduce_argmax", 7)]),
];

fn lines(comparison: &TimelineComparison) -> Vec<String> {
    let rows = comparison.rows.iter();
    let line = |row: &WorkPair| {
        format!(
            "{} {} {}",
            row.title,
            row.difference_ns(),
            row.match_title()
        )
    };
    rows.map(line).collect()
}

fn says(comparison: &TimelineComparison, words: &str) -> bool {
    comparison.notes.iter().any(|note| note.contains(words))
}

#[test]
fn operators_of_two_vendors_are_matched_and_differences_add_up() {
    let comparison = TimelineComparison::new(&trace(BEFORE), &trace(AFTER), &Rules::default());
    let expected = [
        "aten::conv2d -20 operator",
        "aten::relu 2 operator",
        "aten::dropout -15 removed",
        "aten::linear 15 operator",
        "aten::softmax -3 operator",
        "aten::argmax 7 added",
    ];
    assert_eq!(lines(&comparison), expected);
    let sum: i64 = comparison.rows.iter().map(WorkPair::difference_ns).sum();
    assert_eq!((sum, comparison.difference_ns()), (-14, -14));
    assert!(!comparison.has_steps());
    assert!(
        says(&comparison, "before has one step"),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn both_traces_become_one_timeline_in_which_matched_work_stands_above_each_other() {
    let (before, after) = (trace(BEFORE), trace(AFTER));
    let merged = MergedTraces::new(&before, &after, &Rules::default());
    assert_eq!(merged.trace.len(), before.len() + after.len());
    let groups: Vec<&str> = merged
        .linear
        .tracks
        .iter()
        .map(|track| merged.trace.tracks[track.track as usize].group.as_str())
        .collect();
    assert_eq!(
        groups,
        [
            "before · GPU 0",
            "after · GPU 0",
            "before · python",
            "after · python"
        ]
    );
    let softmax = (0..after.len()).find(|slice| {
        merged.trace.names.get(merged.trace.slice(*slice).name) == "softmax_warp_rocm"
    });
    let softmax = softmax.unwrap();
    let counterparts = merged.counterparts(softmax);
    assert_eq!(counterparts.len(), 1);
    let times = |is_aligned: bool, slice: usize| {
        let timeline = merged.timeline(is_aligned);
        timeline.times(timeline.place(slice).unwrap()).unwrap()
    };
    assert_eq!(times(true, softmax), times(true, counterparts[0]));
    let [ours, theirs] = [softmax, counterparts[0]].map(|slice| times(false, slice));
    assert_eq!((ours.1 - ours.0, theirs.1 - theirs.0), (9, 12));
    // A slice keeps its own length, however it is drawn.
    assert_eq!(merged.trace.slice(counterparts[0]).duration_ns, 12);
    let row = merged.row(softmax).unwrap();
    assert_eq!(merged.comparison.rows[row].title, "aten::softmax");
    assert!(merged.is_before(counterparts[0]) && !merged.is_before(softmax));
    let removed = merged
        .comparison
        .rows
        .iter()
        .position(|row| row.title == "aten::dropout");
    let extent = merged.extent(removed.unwrap(), true).unwrap();
    assert!(merged.steps_range(true).contains(extent.from));
}

#[test]
fn a_planted_difference_is_beyond_the_steps_and_nothing_else_is() {
    let normals = |seed: u64| powerband_core::stats::joint::normals(seed);
    let names: Vec<String> = (0..40).map(|n| format!("aten::op{n}")).collect();
    let kernels: Vec<String> = (0..40).map(|n| format!("gemm_{n}")).collect();
    let recorded = |seed: u64, slower: Option<usize>| {
        let mut made = MadeTrace::new();
        for step in 0..20 {
            let noise: Vec<f64> = normals(seed * 100 + step).into_iter().take(40).collect();
            let times: Vec<[(&str, u64); 1]> = (0..40)
                .map(|op| {
                    let by = if slower == Some(op) { 1.05 } else { 1.0 };
                    let time_ns = 1e6 * by * (1.0 + 0.02 * noise[op]);
                    [(kernels[op].as_str(), time_ns as u64)]
                })
                .collect();
            let operators: Vec<(&str, &[(&str, u64)])> = (0..40)
                .map(|op| (names[op].as_str(), times[op].as_slice()))
                .collect();
            made.step(&operators);
        }
        made.trace
    };
    let mut n_right = 0;
    for trial in 0..100 {
        let (before, after) = (recorded(2 * trial, None), recorded(2 * trial + 1, Some(7)));
        let comparison = TimelineComparison::new(&before, &after, &Rules::default());
        let beyond = comparison
            .rows
            .iter()
            .filter(|row| row.steps.is_some_and(|steps| steps.recorded.is_change()));
        let beyond: Vec<&str> = beyond.map(|row| row.title.as_str()).collect();
        n_right += u32::from(beyond == ["aten::op7"]);
        // 5 % are no change between two starts.
        assert!(
            comparison
                .rows
                .iter()
                .all(|row| !row.steps.unwrap().is_beyond_starts)
        );
    }
    assert!(n_right >= 95, "{n_right} of 100");
}

#[test]
fn bad_traces_are_compared_with_what_they_have() {
    let empty = Trace::default();
    let comparison = TimelineComparison::new(&empty, &trace(AFTER), &Rules::default());
    assert_eq!(comparison.rows.len(), 5);
    assert!(
        comparison
            .rows
            .iter()
            .all(|row| row.match_title() == "added")
    );
    assert!(says(&comparison, "Nothing ran"), "{:?}", comparison.notes);
    let none = MergedTraces::new(&empty, &empty, &Rules::default());
    assert!(none.comparison.rows.is_empty() && none.row(0).is_none());
    // Kernels without launches and operators stand for themselves.
    let mut kernels = Trace::default();
    let stream = kernels.track(Track {
        device: Some(0),
        ..Track::default()
    });
    for (start, name) in [(50, "sgemm"), (10, "relu"), (90, "sgemm")] {
        let name = kernels.names.number(name);
        kernels.push(Slice::new(SliceKind::Kernel, name, stream, start, 5));
    }
    let comparison = TimelineComparison::new(&kernels, &kernels, &Rules::default());
    assert_eq!(
        lines(&comparison),
        ["relu 0 kernel", "sgemm 0 kernel", "sgemm 0 kernel"]
    );
    assert_eq!(comparison.matched_shares(), [1.0, 1.0]);
}

#[test]
fn nothing_in_common_stands_side_by_side() {
    let mut before = trace(&[("aten::embedding", &[("gather", 5)])]);
    let far_ns = 1_700_000_000_000_000_000;
    before.map_times(0..before.len(), &|time_ns| time_ns + far_ns);
    let merged = MergedTraces::new(&before, &trace(AFTER), &Rules::default());
    assert!(merged.comparison.rows.iter().all(WorkPair::is_one_sided));
    for is_aligned in [false, true] {
        assert!(merged.steps_range(is_aligned).length() < 1_000.0);
        assert!(merged.timeline(is_aligned).length_ns < 1_000);
    }
    assert!(says(&merged.comparison, "0 % of the time before"));
}

#[test]
fn an_operator_recurs_whichever_of_its_kernels_takes_longest() {
    let recorded = |faster: u64| {
        let mut made = MadeTrace::new();
        for step in 0..10 {
            let (pad, product) = if step % 2 == 0 { (51, 50) } else { (50, 51) };
            made.step(&[("aten::mm", &[("pad", pad), ("gemm", product - faster)])]);
        }
        made.trace
    };
    let comparison = TimelineComparison::new(&recorded(0), &recorded(20), &Rules::default());
    let steps = comparison.rows[0].steps.unwrap().recorded;
    assert!(steps.is_change(), "{steps:?}");
    // All steps are in it: they differ by nothing, so the interval is a point.
    assert!(steps.interval.1 - steps.interval.0 < 1e-9, "{steps:?}");
}

#[test]
fn operators_beyond_those_that_are_aligned_are_not_called_one_sided() {
    let mut kernels = Trace::default();
    let stream = kernels.track(Track {
        device: Some(3_000_000_000),
        ..Track::default()
    });
    let relu = kernels.names.number("relu");
    for start in 0..MOST_WORK as i64 + 5 {
        kernels.push(Slice::new(SliceKind::Kernel, relu, stream, 10 * start, 5));
    }
    let merged = MergedTraces::new(&kernels, &kernels, &Rules::default());
    let further = merged
        .comparison
        .rows
        .iter()
        .filter(|row| row.matched_by.is_none());
    let titles: Vec<&str> = further.map(WorkPair::match_title).collect();
    assert_eq!(titles, ["not aligned", "not aligned"]);
    assert_eq!(merged.comparison.difference_ns(), 0);
}

#[test]
fn kernels_of_a_graph_are_matched_by_their_own_names() {
    let graph = |kernels: &[(&str, u64)]| {
        let mut made = MadeTrace::new();
        let (link, op) = (1, made.name("in attention"));
        let call = made.name("cudaGraphLaunch");
        let call = Slice::new(SliceKind::Call, call, 0, made.now_ns, 2);
        made.trace.push(Slice { link, ..call });
        for (name, time_ns) in kernels {
            made.now_ns += 5;
            let name = made.name(name);
            let kernel = Slice::new(SliceKind::Kernel, name, 1, made.now_ns, *time_ns);
            made.trace.push(Slice { link, op, ..kernel });
            made.now_ns += *time_ns as i64;
        }
        made.trace
    };
    let layer = [("sgemm_128x64", 80), ("norm", 30), ("relu", 20)];
    let before = [layer, layer, layer].concat();
    let mut after = before.clone();
    after.remove(4);
    let comparison = TimelineComparison::new(&graph(&before), &graph(&after), &Rules::default());
    let expected = [
        "sgemm_128x64 0 kernel",
        "norm 0 kernel",
        "relu 0 kernel",
        "sgemm_128x64 0 kernel",
        "norm -30 removed",
        "relu 0 kernel",
        "sgemm_128x64 0 kernel",
        "norm 0 kernel",
        "relu 0 kernel",
    ];
    assert_eq!(lines(&comparison), expected);
}
