//! Profiles made by hand against roofs made by hand: figures that a reader can check in the head.

use super::*;
use crate::analysis::testing::session;
use powerband_core::domain::roofs::{
    Access, ComputeRoof, EngineRoof, Level, Measured, MemoryRoof, RoofConditions,
};
use powerband_core::domain::trace::SliceKind;

const GIGA: f64 = 1e9;

fn measured(value: f64, spread: f64) -> Measured {
    Measured {
        value,
        low: value * (1.0 - spread),
        high: value,
        repetitions: 5,
    }
}

/// A processor of 100 GOP/s, whose engine reaches 80, with 20 GB/s of memory and 1 µs for a node.
fn roofs(spread: f64) -> Roofs {
    Roofs {
        device: PROCESSOR.to_owned(),
        name: session(&["ort:cpu"], &[1]).environment.cpu.model,
        card: None,
        measured: "2026-01-01T00:00:00Z".to_owned(),
        conditions: RoofConditions::default(),
        clock_mhz: None,
        temperature_c: None,
        compute: vec![ComputeRoof {
            numbers: Numbers::F32,
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
            numbers: Numbers::F32,
            product_per_s: Some(measured(80.0 * GIGA, 0.01)),
            copy_per_s: None,
            launch_ns: Some(measured(1000.0, 0.01)),
        }],
        notes: Vec::new(),
    }
}

fn node(name: &str, total_ns: u64, operations: u64, bytes: (u64, u64)) -> Total {
    Total {
        work: Some(Work {
            operations,
            numbers: Numbers::F32,
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
    of_profile(&session, 0, roofs)
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
        vec![node("product", 900_000, 80_000_000, (2_000_000, 2_000_000))],
        1_000_000,
        &[roofs(0.01)],
    );
    let node = &limits.nodes[0];
    assert_eq!(node.bound, Ok(Bound::ModelWrong));
    assert!(node.share_of_floor.is_some_and(|share| share > 1.1));
    assert_eq!(node.at_most_here, None);
    assert_eq!(limits.floors_ns(), (0.0, 0.0));
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
    let noisy = limits_of(vec![known()], 2_000_000, &[roofs(0.2)]);
    assert!(reasons(&noisy).contains("varies by 20.0 %"), "{noisy:?}");
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
