//! Profiles made by hand against roofs made by hand: figures that a reader can check in the head.

use super::*;
use crate::analysis::testing::{measure_near, session};
use powerband_core::domain::roofs::PROCESSOR;
use powerband_core::domain::roofs::{
    Access, ComputeRoof, EngineRoof, Level, MeasuredValue, MemoryRoof, RoofConditions,
};
use powerband_core::domain::trace::SliceKind;

const GIGA: f64 = 1e9;

fn measured(value: f64, spread: f64) -> MeasuredValue {
    MeasuredValue {
        value,
        low: value * (1.0 - spread),
        high: value,
        repetitions: 5,
    }
}

/// A processor of 100 GOP/s, whose engine reaches 80, with 20 GB/s of memory and 1 µs for a node.
pub(super) fn roofs(spread: f64) -> Roofs {
    Roofs {
        device: PROCESSOR.to_owned(),
        name: session(&["ort:cpu"], &[1]).environment.cpu.model,
        card: None,
        measured: "2026-01-01T00:00:00Z".to_owned(),
        conditions: RoofConditions::default(),
        clock_mhz: None,
        temperature_c: None,
        compute: vec![ComputeRoof {
            numbers: NumberFormat::F32,
            threads: 1,
            vector_bits: 256,
            code: "AVX2".to_owned(),
            per_s: measured(100.0 * GIGA, 0.01),
        }],
        memory: vec![
            MemoryRoof {
                level: Level::Memory,
                access: Access::Copy,
                threads: 1,
                working_set_bytes: 1 << 30,
                code: String::new(),
                per_s: measured(20.0 * GIGA, spread),
            },
            MemoryRoof {
                level: Level::L3,
                access: Access::Copy,
                threads: 1,
                working_set_bytes: 1 << 20,
                code: String::new(),
                per_s: measured(200.0 * GIGA, 0.01),
            },
        ],
        engines: vec![EngineRoof {
            engine: "ort".to_owned(),
            version: "ONNX Runtime 1.31.0".to_owned(),
            setup: "ort:cpu,threads=1".to_owned(),
            threads: 1,
            numbers: NumberFormat::F32,
            product_per_s: Some(measured(80.0 * GIGA, 0.01)),
            copy_per_s: None,
            launch_ns: Some(measured(1000.0, 0.01)),
        }],
        notes: Vec::new(),
    }
}

pub(super) fn node(name: &str, total_ns: u64, operations: u64, bytes: (u64, u64)) -> Total {
    Total {
        work: Some(Work {
            operations,
            numbers: NumberFormat::F32,
            low_bytes: bytes.0,
            high_bytes: bytes.1,
        }),
        kind: SliceKind::Kernel,
        name: name.to_owned(),
        op: name.to_owned(),
        place: "CPU".to_owned(),
        calls: 1,
        total_ns,
        min_ns: None,
        max_ns: None,
    }
}

fn limits_of(totals: Vec<Total>, span_ns: u64, roofs: &[Roofs]) -> Limits {
    let mut session = session(&["ort:cpu,threads=1"], &[1]);
    session.profiles = vec![Profile {
        name: "a profile".to_owned(),
        case: Some(session.cases[0].key()),
        runs: Some(1),
        totals,
        span_ns: Some(span_ns),
        ..Profile::default()
    }];
    profile_limits(&session, 0, roofs)
}

#[test]
fn each_node_is_held_against_its_own_line() {
    let limits = limits_of(
        vec![
            // 80 MOP at 80 GOP/s are 1 ms of the 1.25 ms.
            node("product", 1_250_000, 80_000_000, (2_000_000, 3_000_000)),
            // 40 MB at 20 GB/s are 2 ms of the 2.5 ms.
            node("add", 2_500_000, 5_000_000, (40_000_000, 40_000_000)),
            // Half a megabyte fits the third cache: 2.5 µs of 50.
            node("small", 50_000, 125_000, (500_000, 500_000)),
        ],
        4_000_000,
        &[roofs(0.01)],
    );
    let bounds: Vec<_> = limits
        .nodes
        .iter()
        .map(|node| (node.name.as_str(), node.bound.clone(), node.share_of_floor))
        .collect();
    assert_eq!(
        bounds,
        [
            ("add", Ok(Bound::Memory), Some(0.8)),
            ("product", Ok(Bound::Compute), Some(0.8)),
            ("small", Ok(Bound::Neither), Some(0.05)),
        ]
    );
    let add = &limits.nodes[0];
    assert_eq!(add.at_most_here, Some(1.25));
    // 4 ms of wall, of which half a millisecond can go.
    assert_eq!(add.at_most_overall, Some(4.0 / 3.5));
    assert!(
        add.line.contains("copy of memory, 1 thread"),
        "{}",
        add.line
    );
    assert!(
        add.formula.contains("40.0 MB ÷ 20.0 GB/s"),
        "{}",
        add.formula
    );
    let product = &limits.nodes[1];
    assert!(
        product.line.contains("ONNX Runtime 1.31.0"),
        "{}",
        product.line
    );
    let (floors, times) = limits.floors_ns();
    assert!(floors <= times, "{floors} {times}");
    assert_eq!(limits.findings[0].bound, Some(Bound::Memory));
    assert_eq!(limits.abstained, [] as [String; 0]);
}

#[test]
fn what_took_less_than_its_floor_is_shown_as_such() {
    let limits = limits_of(
        // Beyond what a convolution may be faster than a roof that is too low.
        vec![node("Conv", 600_000, 80_000_000, (2_000_000, 2_000_000))],
        700_000,
        &[roofs(0.01)],
    );
    let node = &limits.nodes[0];
    assert_eq!(node.bound, Ok(Bound::ModelWrong));
    assert!(node.share_of_floor.is_some_and(|share| share > 1.25));
    assert_eq!(node.at_most_here, None);
    assert_eq!(limits.floors_ns(), (0.0, 0.0));
}

#[test]
fn what_was_faster_than_a_roof_raises_it() {
    let limits = limits_of(
        vec![
            // 80 MOP in 0.6 ms are 133 GOP/s, where the engine's product reached 80.
            node("MatMul", 600_000, 80_000_000, (2_000_000, 2_000_000)),
            node("Conv", 1_200_000, 80_000_000, (2_000_000, 2_000_000)),
            // 133 GOP/s in 3 µs are an error of the clock.
            node("Gemm", 3_000, 400_000_000, (0, 0)),
        ],
        2_000_000,
        &[roofs(0.01)],
    );
    let of = |name: &str| {
        let node = limits.nodes.iter().find(|node| node.name == name).unwrap();
        (node.bound.clone(), node.share_of_floor.unwrap())
    };
    let (bound, share) = of("MatMul");
    assert!(
        bound == Ok(Bound::Compute) && (share - 1.0).abs() < 1e-9,
        "{share}"
    );
    let (bound, share) = of("Conv");
    assert!(
        bound == Ok(Bound::Compute) && (share - 0.5).abs() < 1e-9,
        "{share}"
    );
    assert_eq!(of("Gemm").0, Ok(Bound::ModelWrong));
    let line = &limits
        .nodes
        .iter()
        .find(|node| node.name == "Conv")
        .unwrap()
        .line;
    assert!(
        line.contains("raised to what MatMul reached (133 GFLOP/s)"),
        "{line}"
    );
    assert!(
        limits
            .abstained
            .iter()
            .any(|note| note.contains("faster than 1 roof")),
        "{limits:?}"
    );
    // A roof that is noisy stays so, however fast a node was: it is named where it decides.
    let mut restless = roofs(0.01);
    restless.compute[0].per_s = measured(100.0 * GIGA, 2.5);
    restless.engines[0].product_per_s = Some(measured(80.0 * GIGA, 2.5));
    let noisy = limits_of(
        vec![node("MatMul", 600_000, 80_000_000, (2_000_000, 2_000_000))],
        700_000,
        &[restless],
    );
    assert!(
        noisy.nodes[0]
            .bound
            .as_ref()
            .is_err_and(|reason| reason.contains("varies by"))
    );
}

#[test]
fn a_noisy_roof_of_all_threads_is_not_replaced_by_one_thread() {
    let mut session = session(&["ort:cpu,threads=2"], &[1]);
    session.profiles = vec![Profile {
        name: "a profile".to_owned(),
        case: Some(session.cases[0].key()),
        runs: Some(1),
        totals: vec![node("add", 2_500_000, 5_000_000, (40_000_000, 40_000_000))],
        span_ns: Some(2_600_000),
        ..Profile::default()
    }];
    let mut both = roofs(0.01);
    let two = |roof: &MemoryRoof| MemoryRoof {
        threads: 2,
        per_s: measured(roof.per_s.value * 1.5, 0.3),
        ..roof.clone()
    };
    let more: Vec<MemoryRoof> = both.memory.iter().map(two).collect();
    both.memory.extend(more);
    let limits = profile_limits(&session, 0, &[both]);
    let node = &limits.nodes[0];
    assert!(node.line.contains("2 threads"), "{}", node.line);
    // It may be higher, and the node is limited by memory all the same.
    assert_eq!(node.bound, Ok(Bound::Memory));
}

#[test]
fn what_is_not_known_is_said_and_not_guessed() {
    let known = || node("product", 1_250_000, 80_000_000, (2_000_000, 3_000_000));
    let reasons = |limits: &Limits| limits.abstained.join(" ");
    let unknown = Total {
        work: None,
        ..known()
    };
    let limits = limits_of(vec![unknown, known()], 3_000_000, &[roofs(0.01)]);
    assert!(
        reasons(&limits).contains("1 node with 50.0 %"),
        "{limits:?}"
    );
    assert!((limits.classified_share() - 0.5).abs() < 1e-9);
    let without = limits_of(vec![known()], 2_000_000, &[]);
    assert!(reasons(&without).contains("powerband roofs"), "{without:?}");
    assert_eq!(without.nodes[0].floor, None);
    let elsewhere = Roofs {
        name: "another processor".to_owned(),
        ..roofs(0.01)
    };
    let other = limits_of(vec![known()], 2_000_000, &[elsewhere]);
    assert!(reasons(&other).contains("another processor"), "{other:?}");
    let moves = node("add", 2_500_000, 5_000_000, (40_000_000, 40_000_000));
    let noisy = limits_of(vec![moves], 4_000_000, &[roofs(1.6)]);
    assert!(reasons(&noisy).contains("varies by 160 %"), "{noisy:?}");
    let timeless = node("gone", 0, 1000, (10, 10));
    let limits = limits_of(vec![timeless], 1_000_000, &[roofs(0.01)]);
    assert!(reasons(&limits).contains("no time"), "{limits:?}");
    assert_eq!(limits.nodes[0].share_of_floor, None);
}

#[test]
fn nodes_that_take_longer_than_their_run_are_no_bar() {
    let limits = limits_of(
        vec![node(
            "product",
            1_250_000,
            80_000_000,
            (2_000_000, 3_000_000),
        )],
        1_000_000,
        &[roofs(0.01)],
    );
    assert!(
        limits
            .wall
            .is_err_and(|reason| reason.contains("side by side"))
    );
}

#[test]
fn the_bar_adds_up() {
    let limits = limits_of(
        vec![node(
            "product",
            1_250_000,
            80_000_000,
            (2_000_000, 3_000_000),
        )],
        2_000_000,
        &[roofs(0.01)],
    );
    let wall = limits.wall.unwrap();
    let parts: f64 = wall.parts.iter().map(|part| part.ns).sum();
    assert_eq!((wall.wall_ns, parts), (2e6, 2e6));
    assert_eq!(wall.parts[1].share, 0.375);
}

#[test]
fn starting_nodes_is_named_where_it_takes_the_time() {
    // 500 additions of 16 numbers: 0.4 µs each, and 0.8 µs between them.
    let adds = Total {
        calls: 500,
        ..node("add", 200_000, 500 * 16, (500 * 192, 500 * 192))
    };
    let limits = limits_of(vec![adds], 600_000, &[roofs(0.01)]);
    let node = &limits.nodes[0];
    assert_eq!(node.bound, Ok(Bound::Launch), "{node:?}");
    // 500 starts of 1 µs are five sixths of the 600 µs.
    assert!((node.share_of_floor.unwrap() - 5.0 / 6.0).abs() < 1e-9);
    assert_eq!(node.at_most_here, Some(1.2));
    let whole = limits
        .findings
        .iter()
        .find(|finding| !finding.nodes.is_empty());
    assert_eq!(whole.unwrap().bound, Some(Bound::Launch));
    let (floors, times) = limits.floors_ns();
    assert!(floors <= times);
}

#[test]
fn no_single_cause_is_named_where_none_leads_by_ten_points() {
    let limits = |add_ns| {
        limits_of(
            vec![
                node("product", 1_250_000, 80_000_000, (2_000_000, 3_000_000)),
                node("add", add_ns, 2_500_000, (20_000_000, 20_000_000)),
            ],
            1_250_000 + add_ns,
            &[roofs(0.01)],
        )
    };
    let whole = |limits: &Limits| {
        let found = limits
            .findings
            .iter()
            .find(|finding| finding.nodes.len() == 2);
        found.cloned().unwrap()
    };
    let close = whole(&limits(1_150_000));
    assert_eq!(close.bound, None);
    assert!(close.sentence.starts_with("No single cause"), "{close:?}");
    let apart = whole(&limits(1_700_000));
    assert_eq!(apart.bound, Some(Bound::Memory), "{apart:?}");
}

#[test]
fn floors_are_never_above_the_time_whatever_a_profile_says() {
    // A generator of numbers that is the same everywhere: xorshift.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    // Of any magnitude up to so many bits.
    let mut wide = |bits: u64| {
        let magnitude = random(bits);
        random(1 << magnitude)
    };
    for turn in 0..300 {
        let count = 1 + turn % 9;
        let totals: Vec<Total> = (0..count)
            .map(|place| {
                let low = wide(34);
                let bytes = (low, low + wide(34));
                let made = node(&format!("node {place}"), wide(26), wide(34), bytes);
                Total {
                    calls: wide(6),
                    work: made.work.filter(|_| wide(4) > 0),
                    ..made
                }
            })
            .collect();
        let summed: u64 = totals.iter().map(|total| total.total_ns).sum();
        let span = summed * (80 + turn % 100) / 100;
        let limits = limits_of(totals, span, &[roofs(0.01)]);
        let (floors, times) = limits.floors_ns();
        assert!(
            floors <= times && times <= summed as f64 * 1.000_001,
            "{limits:?}"
        );
        if let Ok(wall) = &limits.wall {
            let parts: f64 = wall.parts.iter().map(|part| part.ns).sum();
            assert!(
                (parts - wall.wall_ns).abs() <= 1e-6 * wall.wall_ns,
                "{wall:?}"
            );
        }
        for node in &limits.nodes {
            let numbers = [node.at_most_here, node.at_most_overall];
            let holds = |times: &f64| times.is_finite() && *times >= 1.0;
            assert!(numbers.iter().flatten().all(holds), "{node:?}");
            let is_wrong = node.bound == Ok(Bound::ModelWrong);
            let above = node
                .share_of_floor
                .is_some_and(|share| share > node::WRONG_ABOVE);
            assert!(!above || is_wrong || node.bound.is_err(), "{node:?}");
            assert!(!is_wrong || node.at_most_here.is_none(), "{node:?}");
        }
        for finding in &limits.findings {
            assert!(!finding.full_text().contains("NaN") && !finding.full_text().contains("inf "));
        }
    }
}

#[test]
fn a_profile_without_shapes_or_times_gives_sentences_and_no_numbers() {
    let bare = Total {
        work: None,
        ..node("product", 1_250_000, 0, (0, 0))
    };
    let limits = limits_of(vec![bare], 2_000_000, &[roofs(0.01)]);
    assert_eq!(limits.abstained.len(), 1);
    assert!(limits.abstained[0].contains("shapes"), "{limits:?}");
    assert!(
        limits
            .nodes
            .iter()
            .all(|node| node.floor.is_none() && node.at_most_here.is_none())
    );
    let nothing = limits_of(Vec::new(), 0, &[roofs(0.01)]);
    assert!(nothing.wall.is_err() && nothing.findings.is_empty());
    assert!(!nothing.abstained.is_empty());
    assert!(
        !profile_limits(&session(&["ort:cpu"], &[1]), 3, &[])
            .abstained
            .is_empty()
    );
}

#[test]
fn starts_of_nodes_on_a_card_are_not_judged() {
    let started = Total {
        place: "CUDAExecutionProvider".to_owned(),
        ..node("product", 1_250_000, 80_000_000, (2_000_000, 3_000_000))
    };
    let limits = limits_of(vec![started], 5_000_000, &[roofs(0.01)]);
    assert!(limits.nodes.is_empty() && limits.findings.is_empty());
    assert!(
        limits
            .wall
            .is_err_and(|reason| reason.contains("starting nodes"))
    );
}

#[test]
fn nodes_that_do_not_fit_into_their_run_are_not_judged() {
    let long = node("product", 5_000_000, 80_000_000, (2_000_000, 3_000_000));
    let limits = limits_of(vec![long], 1_000_000, &[roofs(0.01)]);
    assert!(
        limits.nodes[0]
            .bound
            .as_ref()
            .is_err_and(|reason| reason.contains("5.00 ms"))
    );
    assert!(limits.findings.is_empty(), "{:?}", limits.findings);
}

#[test]
fn a_trace_of_a_known_card_is_held_against_what_is_published() {
    let mut session = session(&["ort:cpu"], &[1]);
    // 62.5 TOP/s are published of an A10: 62.5 GOP are 1 ms of the 1.25.
    let kernel = node("sgemm", 1_250_000, 62_500_000_000, (2_000_000, 3_000_000));
    session.profiles = vec![Profile {
        name: "a trace".to_owned(),
        totals: vec![kernel],
        facts: vec![("device".to_owned(), "NVIDIA A10".to_owned())],
        span_ns: Some(2_000_000),
        ..Profile::default()
    }];
    let limits = profile_limits(&session, 0, &[]);
    let node = &limits.nodes[0];
    assert_eq!(
        (node.bound.clone(), node.share_of_floor),
        (Ok(Bound::Compute), Some(0.8))
    );
    assert!(
        node.line.contains("published fp32 peak of A10"),
        "{}",
        node.line
    );
    session.profiles[0].facts.clear();
    let unknown = profile_limits(&session, 0, &[]);
    assert!(
        unknown.abstained[0].contains("no roofs are known"),
        "{unknown:?}"
    );
}

#[test]
fn a_profiler_that_takes_longer_than_the_nodes_judges_none() {
    let mut session = session(&["ort:cpu,threads=1"], &[1]);
    measure_near(&mut session, 0, 1, 24);
    session.profiles = vec![Profile {
        name: "a profile".to_owned(),
        case: Some(session.cases[0].key()),
        runs: Some(1),
        totals: vec![Total {
            calls: 20,
            ..node("adds", 200_000, 320, (2_560, 2_560))
        }],
        span_ns: Some(300_000),
        ..Profile::default()
    }];
    let limits = profile_limits(&session, 0, &[roofs(0.01)]);
    let reason = limits.nodes[0].bound.as_ref().unwrap_err();
    assert!(
        reason.contains("300 µs with the profiler and 24.0 µs without"),
        "{reason}"
    );
    // 20 nodes of a microsecond each, in 24 µs.
    let bounds: Vec<_> = limits.findings.iter().map(|found| found.bound).collect();
    assert_eq!(bounds, [Some(Bound::Launch)]);
}

#[test]
fn nodes_that_are_alike_are_one_point_of_the_roofline() {
    let conv = |name: &str, us: u64| node(name, us * 1_000, 100_000_000, (100_000, 100_000));
    let alike = |name: &str, us: u64| Total {
        op: "Conv".to_owned(),
        ..conv(name, us)
    };
    let totals = vec![
        alike("first", 2_000),
        alike("second", 1_600),
        conv("Gemm", 1_800),
    ];
    let limits = limits_of(totals, 6_000_000, &[roofs(0.01)]);
    let chart = crate::chart::figure::roofline_chart(&limits);
    let names: Vec<&str> = chart.dots.iter().map(|dot| dot.name.as_str()).collect();
    assert_eq!(names, ["first × 2", "Gemm"]);
    let [both, one] = &chart.dots[..] else {
        panic!("two points");
    };
    assert!((both.share / one.share - 2.0).abs() < 1e-6);
    // The operations of both in the time of both.
    assert!(
        (both.per_s / (200e6 / 3.6e-3) - 1.0).abs() < 1e-6,
        "{both:?}"
    );
    assert_eq!(both.held_against, Some(80.0 * GIGA));
    assert_eq!(chart.drawn_as(both.nodes[1]), Some(both.nodes[0]));
}

#[test]
fn a_node_has_the_range_of_its_calls_where_both_ends_are_known() {
    let mut total = node("conv", 1_000_000, 80_000, (1000, 1000));
    (total.min_ns, total.max_ns) = (Some(90), Some(110));
    let shortest_alone = Total {
        name: "gemm".to_owned(),
        max_ns: None,
        ..total.clone()
    };
    let found = limits_of(vec![total, shortest_alone], 3_000_000, &[roofs(0.01)]);
    let ranges: Vec<_> = found.nodes.iter().map(|node| node.call_range_ns).collect();
    assert_eq!(ranges, [Some((90, 110)), None]);
}
