//! Rows, pieces, hits and sums, on traces small enough to be drawn on paper and on random ones.

use super::detail::{PieceKind, TimelineView, gallop};
use super::find::SearchHits;
use super::line::LineStep;
use super::selection::SelectionStatistics;
use super::stretch::TimeRange;
use super::*;
use powerband_core::domain::slice_args::ArgsText;
use powerband_core::domain::trace::{MemoryEvent, Slice, Track};

fn track(trace: &mut Trace, device: Option<u32>, group: &str, name: &str) -> u32 {
    trace.track(Track {
        device,
        group: group.to_owned(),
        name: name.to_owned(),
    })
}

fn push(trace: &mut Trace, kind: SliceKind, name: &str, track: u32, from: i64, to: i64) {
    let name = trace.names.number(name);
    trace.push(Slice::new(kind, name, track, from, to.abs_diff(from)));
}

/// Rows of a trace with one track, as starts and ends.
fn rows_of(slices: &[(i64, i64)]) -> Vec<Vec<(i64, i64)>> {
    let mut trace = Trace::default();
    let thread = track(&mut trace, None, "python", "main");
    for (from, to) in slices {
        push(&mut trace, SliceKind::Operator, "op", thread, *from, *to);
    }
    let timeline = Timeline::from_trace(&trace);
    let rows = timeline.rows.iter();
    rows.map(|row| (0..row.len()).map(|at| row.times(at)).collect())
        .collect()
}

/// A trace whose times are the same every time.
fn noise(slices: usize, kinds: &[SliceKind]) -> Trace {
    let mut trace = Trace::default();
    let stream = track(&mut trace, Some(0), "GPU 0", "stream 7");
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut at = 0_i64;
    for _ in 0..slices {
        at += random(400) as i64;
        let length = if random(50) == 0 {
            random(60_000)
        } else {
            random(300)
        };
        let kind = kinds[random(kinds.len() as u64) as usize];
        push(&mut trace, kind, "k", stream, at, at + length as i64);
        at += length as i64;
    }
    trace
}

#[test]
fn nesting_becomes_rows() {
    assert_eq!(
        rows_of(&[(0, 100), (10, 40), (40, 90), (15, 20), (100, 120)]),
        [
            vec![(0, 100), (100, 120)],
            vec![(10, 40), (40, 90)],
            vec![(15, 20)]
        ]
    );
}

#[test]
fn what_overlaps_without_being_nested_gets_a_row_of_its_own() {
    assert_eq!(
        rows_of(&[(0, 50), (30, 80), (60, 70)]),
        [vec![(0, 50)], vec![(30, 80)], vec![(60, 70)]]
    );
    let of_no_length = rows_of(&[(0, 0), (0, 0), (0, 4)]);
    assert_eq!(of_no_length, [vec![(0, 4)], vec![(0, 0), (0, 0)]]);
}

#[test]
fn hopeless_overlaps_are_counted() {
    let slices: Vec<(i64, i64)> = (0..200).map(|n| (n, 1000 + n)).collect();
    let mut trace = Trace::default();
    let thread = track(&mut trace, None, "python", "main");
    for (from, to) in slices {
        push(&mut trace, SliceKind::Range, "async", thread, from, to);
    }
    let timeline = Timeline::from_trace(&trace);
    assert_eq!((timeline.rows.len(), timeline.left_out), (64, 136));
    assert!(timeline.place(0).is_some() && timeline.place(199).is_none());
}

#[test]
fn devices_come_first_and_the_busy_ones_above() {
    let mut trace = Trace::default();
    let idle = track(&mut trace, None, "python", "idle");
    let main = track(&mut trace, None, "python", "main");
    let second = track(&mut trace, Some(1), "GPU 1", "stream 7");
    let copies = track(&mut trace, Some(0), "GPU 0", "copies");
    let first = track(&mut trace, Some(0), "GPU 0", "stream 7");
    track(&mut trace, Some(0), "GPU 0", "nothing on it");
    for (on, length) in [
        (idle, 5),
        (main, 90),
        (second, 99),
        (copies, 3),
        (first, 30),
    ] {
        push(&mut trace, SliceKind::Kernel, "k", on, 1000, 1000 + length);
    }
    let timeline = Timeline::from_trace(&trace);
    let order: Vec<u32> = timeline.tracks.iter().map(|strand| strand.track).collect();
    assert_eq!(order, [first, copies, second, main, idle]);
    assert_eq!((timeline.origin_ns, timeline.length_ns), (1000, 99));
    assert_eq!(timeline.track_of_row(3), Some(3));
    assert_eq!(timeline.track_of_row(5), None);
}

#[test]
fn what_describes_work_is_none() {
    let mut trace = Trace::default();
    let stream = track(&mut trace, Some(0), "GPU 0", "stream 0");
    let main = track(&mut trace, None, "python", "main");
    push(
        &mut trace,
        SliceKind::Range,
        "ProfilerStep#6",
        stream,
        0,
        1024,
    );
    push(&mut trace, SliceKind::Kernel, "gemm", stream, 0, 128);
    push(&mut trace, SliceKind::Copy, "copy", stream, 64, 256);
    push(
        &mut trace,
        SliceKind::Range,
        "ProfilerStep#6",
        main,
        0,
        1024,
    );
    push(&mut trace, SliceKind::Call, "launch", main, 0, 16);
    let timeline = Timeline::from_trace(&trace);
    let [device, host] = [0, 1].map(|strand| timeline.tracks[strand].clone());
    assert_eq!((device.track, device.busy_ns), (stream, 256));
    assert_eq!((host.track, host.busy_ns), (main, 16));
    assert_eq!(timeline.overview[..256], [255; 256]);
    assert_eq!(timeline.overview[256..], [0; PARTS - 256]);
    // Work comes first, and below it what describes it.
    let row = |row: usize| timeline.rows[row].kind(0);
    assert_eq!(row(device.rows.start), SliceKind::Kernel);
    assert_eq!(row(device.rows.end - 1), SliceKind::Range);
    assert_eq!(row(host.rows.start), SliceKind::Range);
}

/// Every pixel on which a slice lies is drawn, and no other one; wide slices are drawn as they are.
#[test]
fn pieces_are_what_is_there() {
    let kinds = [SliceKind::Kernel, SliceKind::Copy, SliceKind::Set];
    let trace = noise(5_000, &kinds);
    let timeline = Timeline::from_trace(&trace);
    let row = &timeline.rows[0];
    let whole = timeline.full_range();
    let mut pieces = Vec::new();
    for zoom in [1.0, 0.3, 0.02, 0.001, 0.000_01] {
        let stretch = whole.zoomed(whole.length() * 0.37, zoom);
        let look = TimelineView {
            stretch,
            pixels: 800.0,
        };
        timeline.visible(0, look, &mut pieces);
        assert!(pieces.len() <= 1700, "{} at {zoom}", pieces.len());
        assert!(pieces.is_sorted_by(|one, other| one.left <= other.left));
        let scale = look.scale();
        let wide: Vec<u32> = (0..row.len())
            .filter(|at| {
                let (from, to) = row.times(*at);
                to as f64 > stretch.from && (from as f64) < stretch.to
            })
            .filter(|at| {
                let (from, to) = row.times(*at);
                (to - from) as f64 * scale >= 1.0
            })
            .map(|at| at as u32)
            .collect();
        let drawn: Vec<u32> = pieces
            .iter()
            .filter_map(|piece| match piece.what {
                PieceKind::Slice(at) => Some(at),
                PieceKind::Block { .. } => None,
            })
            .collect();
        assert_eq!(drawn, wide, "at {zoom}");
        for at in 0..row.len() {
            let (from, to) = row.times(at);
            let x = look.x(from as f64);
            if to as f64 <= stretch.from || !(0.0..800.0).contains(&x) {
                continue;
            }
            let covers = |piece: &&super::detail::Piece| {
                f64::from(piece.left) <= x + 0.01 && f64::from(piece.right) >= x - 0.01
            };
            assert!(pieces.iter().any(|piece| covers(&piece)), "{at} at {zoom}");
        }
    }
}

#[test]
fn the_kind_of_a_block_is_the_one_with_the_most_time() {
    let kinds = [SliceKind::Kernel, SliceKind::Copy, SliceKind::Set];
    let trace = noise(3_000, &kinds);
    let timeline = Timeline::from_trace(&trace);
    let row = &timeline.rows[0];
    for (from, to) in [
        (0, 3_000),
        (5, 90),
        (31, 64),
        (64, 128),
        (7, 8),
        (100, 2_999),
    ] {
        let mut times = [0_u64; 10];
        for at in from..to {
            times[row.kind(at) as usize] += row.busy_ns(at..at + 1);
        }
        let found = row.dominant(from..to);
        let most = times.iter().max().unwrap();
        assert_eq!(times[found as usize], *most, "{from}..{to}");
    }
}

#[test]
fn a_hand_finds_the_slice_under_it_or_those_near_it() {
    let mut trace = Trace::default();
    let stream = track(&mut trace, Some(0), "GPU 0", "stream 7");
    for (from, to) in [(0, 1000), (1002, 1003), (1004, 1005), (5000, 9000)] {
        push(&mut trace, SliceKind::Kernel, "k", stream, from, to);
    }
    let timeline = Timeline::from_trace(&trace);
    assert_eq!(timeline.slices_at(0, 500.0, 10.0), 0..1);
    assert_eq!(timeline.slices_at(0, 1003.5, 10.0), 1..3);
    assert!(timeline.slices_at(0, 3000.0, 10.0).is_empty());
    assert_eq!(timeline.slices_at(0, 4995.0, 10.0), 3..4);
    assert_eq!(timeline.slices_at(7, 0.0, 10.0), 0..0);
}

#[test]
fn names_are_found_in_order_of_time() {
    let mut trace = Trace::default();
    let main = track(&mut trace, None, "python", "main");
    let stream = track(&mut trace, Some(0), "GPU 0", "stream 7");
    push(
        &mut trace,
        SliceKind::Operator,
        "aten::Conv2d",
        main,
        50,
        90,
    );
    push(
        &mut trace,
        SliceKind::Kernel,
        "implicit_convolve",
        stream,
        10,
        20,
    );
    push(&mut trace, SliceKind::Kernel, "gemm", stream, 20, 30);
    let op = trace.names.number("Conv_7");
    trace.set_op(2, op);
    let timeline = Timeline::from_trace(&trace);
    let hits = SearchHits::search(&trace, &timeline, " conv ");
    let found: Vec<usize> = hits
        .all
        .iter()
        .filter_map(|place| timeline.slice(*place))
        .collect();
    assert_eq!(found, [1, 2, 0]);
    assert_eq!(hits.nearest(&timeline, 5.0, true), Some(1));
    assert_eq!(hits.nearest(&timeline, 60.0, true), Some(0), "round again");
    assert_eq!(hits.nearest(&timeline, -5.0, false), Some(2));
    assert!(hits.has_hits() && !SearchHits::search(&trace, &timeline, "relu").has_hits());
    assert!(SearchHits::search(&trace, &timeline, "  ").all.is_empty());
    let mut marks = Vec::new();
    let look = TimelineView {
        stretch: timeline.full_range(),
        pixels: 80.0,
    };
    hits.visible(&timeline, 0, look, &mut marks);
    assert_eq!(marks, [(0.0, 10.0, 0), (10.0, 20.0, 1)]);
}

#[test]
fn sums_are_cut_at_the_edges_and_never_count_twice() {
    let mut trace = Trace::default();
    let main = track(&mut trace, None, "python", "main");
    let one = track(&mut trace, Some(0), "GPU 0", "stream 7");
    let other = track(&mut trace, Some(0), "GPU 0", "stream 8");
    push(&mut trace, SliceKind::Kernel, "gemm", one, 0, 100);
    push(&mut trace, SliceKind::Kernel, "gemm", other, 50, 150);
    push(&mut trace, SliceKind::Copy, "copy", one, 200, 230);
    push(&mut trace, SliceKind::Call, "launch", main, 0, 5);
    let timeline = Timeline::from_trace(&trace);
    let rows = [0..1, 1..timeline.rows.len()];
    let found = SelectionStatistics::from_range(&timeline, TimeRange::new(10.0, 210.0), &rows);
    assert_eq!((found.slices, found.sum_ns), (3, 200.0));
    let kernels = found.kinds[0];
    assert_eq!((kernels.sum_ns, kernels.busy_ns), (190.0, 140.0));
    assert_eq!(trace.names.get(found.names[0].name), "gemm");
    assert_eq!(found.distinct, 2);
    let nothing = SelectionStatistics::from_range(&timeline, TimeRange::new(160.0, 190.0), &rows);
    assert_eq!(nothing, SelectionStatistics::default());
}

#[test]
fn each_name_has_its_times_and_those_without_what_lies_within() {
    let mut trace = Trace::default();
    let main = track(&mut trace, None, "python", "main");
    push(&mut trace, SliceKind::Operator, "conv", main, 0, 100);
    push(&mut trace, SliceKind::Operator, "inner", main, 10, 40);
    push(&mut trace, SliceKind::Call, "launch", main, 20, 25);
    push(&mut trace, SliceKind::Operator, "inner", main, 50, 60);
    push(&mut trace, SliceKind::Operator, "conv", main, 100, 300);
    let timeline = Timeline::from_trace(&trace);
    let rows = std::iter::once(0..timeline.rows.len()).collect::<Vec<_>>();
    let found = SelectionStatistics::from_range(&timeline, TimeRange::new(0.0, 200.0), &rows);
    let of = |name: &str| {
        let mut names = found.names.iter();
        let found = names.find(|of| trace.names.get(of.name) == name).unwrap();
        (
            found.slices,
            [found.sum_ns, found.self_ns, found.min_ns, found.max_ns],
        )
    };
    assert_eq!(of("conv"), (2, [200.0, 160.0, 100.0, 100.0]));
    assert_eq!(of("inner"), (2, [40.0, 35.0, 10.0, 30.0]));
    assert_eq!(of("launch"), (1, [5.0, 5.0, 5.0, 5.0]));
}

#[test]
fn arguments_are_searched_and_marks_mean_a_whole_name() {
    let mut trace = Trace::default();
    let main = track(&mut trace, None, "python", "main");
    for (name, kernel) in [("launch", "gemm"), ("gemm", ""), ("gemm_2", "")] {
        let name = trace.names.number(name);
        let mut args = ArgsText::default();
        args.add("kernel", kernel);
        let start = trace.len() as i64 * 10;
        trace.push_with(Slice::new(SliceKind::Call, name, main, start, 5), &args);
    }
    let timeline = Timeline::from_trace(&trace);
    let found = |text: &str| {
        let hits = SearchHits::search(&trace, &timeline, text);
        (hits.all.len(), hits.by_arguments)
    };
    assert_eq!(found("gemm"), (3, 1));
    assert_eq!(found("Kernel GEMM"), (1, 1));
    assert_eq!(found("\"gemm\""), (1, 0));
    assert_eq!(found("\"gem\""), (0, 0));
}

#[test]
fn launches_and_kernels_find_each_other() {
    let mut trace = Trace::default();
    let main = track(&mut trace, None, "python", "main");
    let stream = track(&mut trace, Some(0), "GPU 0", "stream 7");
    let mut linked = |kind, on, from, link| {
        trace.push(Slice {
            link,
            ..Slice::new(kind, 0, on, from, 5)
        });
    };
    linked(SliceKind::Call, main, 0, 9);
    linked(SliceKind::Kernel, stream, 10, 9);
    linked(SliceKind::Kernel, stream, 20, 9);
    linked(SliceKind::Call, main, 30, 4);
    linked(SliceKind::Call, main, 40, 0);
    let timeline = Timeline::from_trace(&trace);
    assert_eq!(timeline.partners(&trace, 0), [1, 2]);
    assert_eq!(timeline.partners(&trace, 2), [0]);
    assert!(timeline.partners(&trace, 3).is_empty());
    assert!(timeline.partners(&trace, 4).is_empty());
}

#[test]
fn memory_is_a_line_of_peaks() {
    let mut trace = Trace::default();
    let event = |at_ns, device, change, total| MemoryEvent {
        at_ns,
        device,
        change,
        total,
        track: None,
        op: 0,
    };
    trace.memory = vec![
        event(100, None, 7, None),
        event(100, Some(0), 0, Some(1000)),
        event(190, Some(0), -600, None),
        event(191, Some(0), 4000, None),
        event(192, Some(0), -4000, None),
        event(200, Some(0), 0, Some(400)),
    ];
    let timeline = Timeline::from_trace(&trace);
    assert_eq!(timeline.lines.len(), 2);
    let line = &timeline.lines[0];
    assert_eq!((line.title.as_str(), line.highest), ("GPU 0", 4400));
    assert_eq!(line.value_at(95.0), Some(400));
    assert_eq!(line.value_at(-1.0), None);
    let mut steps = Vec::new();
    let look = TimelineView {
        stretch: TimeRange::new(0.0, 100.0),
        pixels: 10.0,
    };
    line.visible(look, &mut steps);
    let step = |left, right, value| LineStep { left, right, value };
    assert_eq!(steps, [step(0.0, 9.0, 1000), step(9.0, 10.0, 4400)]);
}

#[test]
fn an_empty_trace_is_an_empty_timeline() {
    let timeline = Timeline::from_trace(&Trace::default());
    assert!(timeline.tracks.is_empty() && timeline.lines.is_empty());
    assert!(timeline.full_range().length() > 0.0);
}

#[test]
fn galloping_finds_what_a_search_finds() {
    let sorted: Vec<i64> = (0..1000).map(|n| n * n / 7).collect();
    for from in [0, 3, 500, 999, 1000] {
        for wanted in [-1, 0, 5, 40_000, 142_571, 200_000] {
            let expected = from.max(sorted.partition_point(|value| *value < wanted));
            let found = gallop(&sorted, from, |value| value < wanted);
            assert_eq!(found, expected, "{from}, {wanted}");
        }
    }
}
