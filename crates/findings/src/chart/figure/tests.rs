//! Every figure of sessions that have much, little and nothing.

use std::collections::BTreeSet;

use super::*;
use crate::analysis::testing::{end_case, make_ladder, measure_near, out_of_memory, session};
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::trace::SliceKind;

fn profile(name: &str, times: &[(&str, u64)]) -> Profile {
    let totals = times.iter().map(|(name, total_ns)| Total {
        work: None,
        kind: SliceKind::Kernel,
        name: (*name).to_owned(),
        op: "Conv".to_owned(),
        place: String::new(),
        calls: 3,
        total_ns: *total_ns,
        min_ns: None,
        max_ns: None,
    });
    Profile {
        name: name.to_owned(),
        totals: totals.collect(),
        ..Profile::default()
    }
}

fn measured() -> Session {
    let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2, 4]);
    for batch in [1, 2, 4] {
        measure_near(&mut session, 0, batch, 1_000 + 500 * batch as u64);
        measure_near(&mut session, 1, batch, 4_000 * batch as u64);
    }
    session
}

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<&str> = ALL.iter().map(|figure| figure.name).collect();
    assert_eq!(names.len(), ALL.len());
    assert_eq!(find("latency").unwrap().title, "Latency");
    let error = find("latencies").unwrap_err();
    assert!(error.contains("\"latencies\"") && error.contains("throughput"));
}

#[test]
fn a_measured_session_has_its_curves() {
    let mut session = measured();
    let steps = |session: &Session| find("journey").unwrap().make(&FigureInputs::new(session));
    let alternatives = steps(&session).unwrap_err();
    assert!(alternatives.contains("are alternatives"), "{alternatives}");
    make_ladder(&mut session);
    let material = FigureInputs::new(&session);
    for name in [
        "latency",
        "throughput",
        "efficiency",
        "samples",
        "distribution",
        "journey",
        "journey-start",
        "comparison",
        "history",
    ] {
        let drawing = find(name).unwrap().make(&material).unwrap();
        assert!(!drawing.is_empty(), "{name}");
    }
    let both = FigureInputs::new(&session).against(&session);
    let Drawing::Chart(spec) = find("latency").unwrap().make(&both).unwrap() else {
        panic!("no chart");
    };
    let ids: BTreeSet<u64> = spec.series.iter().map(|series| series.id.0).collect();
    let colours: BTreeSet<usize> = spec.series.iter().map(|series| series.colour).collect();
    assert_eq!((ids.len(), colours.len()), (4, 4));
}

#[test]
fn what_is_not_known_is_said_in_a_sentence() {
    let session = measured();
    let material = FigureInputs::new(&session);
    for (name, says) in [
        ("energy", "no energy is known"),
        ("telemetry", "no readings of devices"),
        ("breakdown", "has no profile"),
        ("changes", "has no profile"),
        ("trade-off", "outputs compared"),
    ] {
        let error = find(name).unwrap().make(&material).unwrap_err();
        assert!(error.contains(says), "{name}: {error}");
    }
    let mut failed = crate::analysis::testing::session(&["ort:cpu"], &[1]);
    end_case(&mut failed, 0, 1, out_of_memory());
    let nothing = crate::analysis::testing::session(&[], &[]);
    for session in [&failed, &nothing] {
        for figure in ALL {
            let error = figure.make(&FigureInputs::new(session)).unwrap_err();
            assert!(error.len() > 20, "{}: {error}", figure.name);
        }
    }
    let error = find("latency").unwrap().make(&FigureInputs::new(&failed));
    assert!(error.unwrap_err().contains("no room"));
}

#[test]
fn a_case_that_is_not_there_is_named() {
    let session = measured();
    let mut material = FigureInputs::new(&session);
    (material.setup, material.point) = (Some(1), Some(Point::of_batch(64)));
    let error = find("samples").unwrap().make(&material).unwrap_err();
    assert_eq!(error, "test has no case of tract:cpu at batch 64");
}

#[test]
fn profiles_are_bars_areas_and_changes() {
    let mut session = measured();
    fn made(session: &Session, name: &str) -> Result<Drawing, String> {
        find(name).unwrap().make(&FigureInputs::new(session))
    }
    session
        .profiles
        .push(profile("first", &[("conv_a", 700), ("gemm_b", 300)]));
    let one = made(&session, "changes");
    assert!(one.unwrap_err().contains("one profile"));
    session
        .profiles
        .push(profile("second", &[("conv_a", 400), ("gemm_b", 300)]));
    let Drawing::Bars(bars) = made(&session, "kernels").unwrap() else {
        panic!("no bars");
    };
    assert_eq!((bars.bars.len(), bars.bars[0].share), (2, 0.7));
    let Drawing::Treemap(map) = made(&session, "treemap").unwrap() else {
        panic!("no tiles");
    };
    let names = map.regions.iter().flat_map(|region| &region.tiles);
    let names: Vec<&str> = names.map(|tile| tile.name.as_str()).collect();
    assert_eq!(names, ["conv_a", "gemm_b"]);
    let Drawing::Changes(changes) = made(&session, "changes").unwrap() else {
        panic!("no changes");
    };
    assert_eq!(changes.title, "first → second");
    assert_eq!(changes.steps[0].ns, -300.0);
}

/// A profiled run on a processor whose roofs are known: a product that computes, a copy that does not.
fn profiled_with_roofs() -> Session {
    use powerband_core::domain::roofs::{
        Access, ComputeRoof, Level, MeasuredValue, MemoryRoof, RoofConditions, Roofs,
    };
    use powerband_core::domain::work::{NumberFormat, Work};

    let mut session = measured();
    session.environment.cpu.threads = 1;
    // The profile is of no measured run, which would be shorter.
    for case in &mut session.cases {
        case.rounds.clear();
    }
    let mut profile = profile("one run", &[("conv", 8_000_000), ("add", 2_000_000)]);
    for total in &mut profile.totals {
        total.kind = SliceKind::Operator;
        total.calls = 1;
    }
    profile.totals[0].work = Some(Work {
        operations: 700_000_000,
        numbers: NumberFormat::F32,
        low_bytes: 1_000_000,
        high_bytes: 2_000_000,
    });
    profile.totals[1].work = Some(Work {
        operations: 2_000_000,
        numbers: NumberFormat::F32,
        low_bytes: 18_000_000,
        high_bytes: 18_000_000,
    });
    profile.span_ns = Some(10_500_000);
    profile.case = session.cases.first().map(|case| case.key());
    session.profiles = vec![profile];
    let exactly = |value| MeasuredValue {
        value,
        low: value,
        high: value,
        repetitions: 3,
    };
    session.roofs = vec![Roofs {
        device: "cpu".to_owned(),
        name: session.environment.cpu.model.clone(),
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
            per_s: exactly(1e11),
        }],
        memory: vec![MemoryRoof {
            level: Level::Memory,
            access: Access::Copy,
            threads: 1,
            working_set_bytes: 1 << 28,
            code: String::new(),
            per_s: exactly(1e10),
        }],
        engines: Vec::new(),
        notes: Vec::new(),
    }];
    session
}

#[test]
fn nodes_stand_on_a_roofline_and_the_wall_time_adds_up() {
    let session = profiled_with_roofs();
    let material = FigureInputs::new(&session);
    let Drawing::Roofline(chart) = find("roofline").unwrap().make(&material).unwrap() else {
        panic!("no roofline");
    };
    let names: Vec<&str> = chart.dots.iter().map(|dot| dot.name.as_str()).collect();
    assert_eq!(names, ["conv", "add"], "most time first");
    let classes: Vec<&str> = chart.classes.iter().map(|one| one.title.as_str()).collect();
    assert_eq!(classes, ["compute", "memory"], "{chart:?}");
    assert!((chart.dots[0].intensity.0 - 350.0).abs() < 1e-6);
    assert!(chart.roofs.len() >= 2 && chart.note.is_empty(), "{chart:?}");
    let Drawing::WallTime(bar) = find("wall-time").unwrap().make(&material).unwrap() else {
        panic!("no bar");
    };
    assert!((bar.covered() - 1.0).abs() < 1e-9, "{bar:?}");
    assert_eq!(bar.parts.len(), 2, "{bar:?}");
    let mut bare = session.clone();
    bare.roofs.clear();
    let error = find("roofline").unwrap().make(&FigureInputs::new(&bare));
    assert!(error.is_ok() || error.unwrap_err().contains("roofs"));
}
