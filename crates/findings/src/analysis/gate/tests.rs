//! What a gate says of sessions whose numbers are known.

use super::*;
use crate::analysis::kernel_fixtures::total;
use crate::analysis::testing::{self, measure, session, spread_over_starts};
use powerband_core::domain::accuracy::{Accuracy, HitCount};
use powerband_core::domain::case::{CaseOpening, CaseStart};
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::domain::telemetry::DeviceKind;
use powerband_core::domain::trace::SliceKind;

fn limit(metric: &str, percent: f64) -> GateLimit {
    GateLimit {
        metric: metric.to_owned(),
        percent,
    }
}

fn measured(before: u64, after: u64) -> Session {
    let mut session = session(&["fake", "fake,threads=2"], &[1]);
    for (setup, micros) in [(0, before), (1, after)] {
        // The rounds of the two sides scatter against each other.
        let rounds = [0, 4, -4, 8, -8].map(|share| {
            let scatter = if setup == 0 { share } else { -share };
            [(micros as i64 * (1_000 + scatter)) as u64; 10]
        });
        let rounds: Vec<&[u64]> = rounds.iter().map(<[u64; 10]>::as_slice).collect();
        measure(&mut session, setup, 1, &rounds);
    }
    spread_over_starts(&mut session);
    session
}

#[test]
fn the_whole_interval_counts_against_the_limit() {
    let slower = measured(1_000, 1_200);
    let found = gate(&slower, &[GateLimit::usual()]);
    assert_eq!(found.result, GateResult::Failed, "{found:#?}");
    let [least, most] = found.rows[0].loss_interval.unwrap();
    assert!(least > 10.0 && most < 30.0 && least < most, "{found:#?}");
    assert_eq!(
        gate(&slower, &[limit(LATENCY, 40.0)]).result,
        GateResult::Passed
    );
    let between = gate(&slower, &[limit(LATENCY, f64::midpoint(least, most))]);
    assert_eq!(between.result, GateResult::Open, "{between:#?}");
    assert!(
        between.rows[0]
            .reason
            .as_ref()
            .unwrap()
            .contains("anything from +")
    );
    assert_eq!(
        gate(&measured(1_200, 1_000), &[GateLimit::usual()]).result,
        GateResult::Passed
    );
}

#[test]
fn a_case_is_open_as_its_row_is() {
    let slower = measured(1_000, 1_200);
    let case = CaseKey {
        setup: 1,
        point: Point::of_batch(1),
    };
    assert!(!is_open(&slower, &[GateLimit::usual()], case));
    assert!(is_open(&slower, &[limit(LATENCY, 20.0)], case));
    let mut unmeasured = slower;
    unmeasured.cases[1].rounds.clear();
    assert!(is_open(&unmeasured, &[GateLimit::usual()], case));
}

#[test]
fn other_metrics_are_held_against_their_limits() {
    let slower = measured(1_000, 1_200);
    let found = gate(
        &slower,
        &[limit("throughput", 5.0), limit("peak memory", 5.0)],
    );
    let results: Vec<GateResult> = found.rows.iter().map(|row| row.result).collect();
    assert_eq!(
        results,
        [GateResult::Failed, GateResult::Open],
        "{found:#?}"
    );
    // A throughput has rounds: an interval of the loss, and more of them where it lies on both sides.
    let rate = &found.rows[0];
    let [least, most] = rate.loss_interval.unwrap();
    let loss = rate.loss_percent.unwrap();
    assert!(least < loss && loss < most, "{rate:#?}");
    assert!((loss - 100.0 / 6.0).abs() < 1.0, "{rate:#?}");
    let case = CaseKey {
        setup: 1,
        point: Point::of_batch(1),
    };
    assert!(is_open(&slower, &[limit("throughput", loss)], case));
    assert!(!is_open(&slower, &[limit("throughput", 5.0)], case));
    let unknown = gate(&slower, &[limit("latncy", 5.0)]);
    let reason = unknown.rows[0].reason.as_deref().unwrap();
    assert!(
        reason.contains("latency") && reason.contains("throughput"),
        "{reason}"
    );
}

/// The same with what each start of a worker cost: the set-up in milliseconds, and the memory in bytes.
fn started(set_up_ms: [u64; 2], peak_bytes: [u64; 2]) -> Session {
    let mut session = measured(1_000, 1_000);
    for (setup, (ms, bytes)) in set_up_ms.into_iter().zip(peak_bytes).enumerate() {
        let cost = |round: u64| {
            // A start in two takes a hundredth longer.
            let first_run_ns = 1_000_000 + round % 2 * ms * 10_000;
            (ms * 1_000_000 - 2_000_000, 1_000_000, first_run_ns)
        };
        let (load_ns, open_ns, first_run_ns) = cost(0);
        session.reports[setup] = Some(SetupReport {
            load_ns,
            ..SetupReport::default()
        });
        session.cases[setup].opening = Some(CaseOpening {
            open_ns,
            first_run_ns,
            peak_bytes: Some(bytes),
            ..CaseOpening::default()
        });
        for (number, round) in session.cases[setup].rounds.iter_mut().enumerate().skip(1) {
            let (load_ns, open_ns, first_run_ns) = cost(number as u64);
            round.case_start = Some(Box::new(CaseStart {
                load_ns,
                open_ns,
                first_run_ns,
                peak_bytes: Some(bytes),
            }));
        }
    }
    session
}

#[test]
fn what_each_start_has_is_held_against_its_limit_with_an_interval() {
    const MIB: u64 = 1 << 20;
    let found = gate(
        &started([100, 130], [100 * MIB, 102 * MIB]),
        &[limit("set-up time", 10.0), limit("peak memory", 5.0)],
    );
    let [time, memory] = &found.rows[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(time.result, GateResult::Failed, "{time:#?}");
    let [least, most] = time.loss_interval.unwrap();
    assert!(least < 30.5 && 29.5 < most, "{time:#?}");
    assert_eq!(time.base.as_deref(), Some("100 ms"));
    assert_eq!(memory.result, GateResult::Passed, "{memory:#?}");
    assert!((memory.loss_percent.unwrap() - 2.0).abs() < 1e-9);
    let case = CaseKey {
        setup: 1,
        point: Point::of_batch(1),
    };
    let fails = [limit("set-up time", 10.0)];
    assert!(!is_open(&started([100, 130], [MIB; 2]), &fails, case));
    let close = [limit("set-up time", 30.0)];
    assert!(is_open(&started([100, 130], [MIB; 2]), &close, case));
    // Rounds of one start bring no further ones, so that nothing is waited for.
    let mut one_start = started([100, 130], [MIB; 2]);
    for case in &mut one_start.cases {
        for round in &mut case.rounds {
            (round.start, round.case_start) = (Some(0), None);
        }
    }
    assert!(!is_open(&one_start, &close, case));
    let found = gate(&one_start, &close);
    assert_eq!(found.rows[0].loss_interval, None, "{found:#?}");
}

#[test]
fn the_energy_of_an_item_has_a_number_for_each_round() {
    const SECOND: u64 = 1_000_000_000;
    let mut session = session(&["ort:rocm:0", "ort:rocm:0,threads=2"], &[1]);
    for setup in [0, 1] {
        let samples = [SECOND / 2; 4];
        measure(&mut session, setup, 1, &[samples.as_slice(); 6]);
    }
    spread_over_starts(&mut session);
    for round in &mut session.cases[1].rounds {
        round.started_ns += 2 * SECOND;
    }
    testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 24.0, |at_s| {
        let is_new = at_s % 4.0 >= 2.0;
        let drift = 1.0 + 0.01 * (at_s / 4.0).floor().rem_euclid(2.0);
        let watts = if is_new { 240.0 } else { 200.0 * drift };
        vec![(Quantity::Power, watts)]
    });
    let found = gate(&session, &[limit("energy per item", 5.0)]);
    let row = &found.rows[0];
    assert_eq!(row.result, GateResult::Failed, "{found:#?}");
    let [least, most] = row.loss_interval.unwrap();
    assert!(5.0 < least && least < 19.5 && 18.5 < most, "{row:#?}");
    session.telemetry = Default::default();
    let found = gate(&session, &[limit("energy per item", 5.0)]);
    let reason = found.rows[0].reason.as_deref();
    assert_eq!(reason, Some("no device was watched"), "{found:#?}");
}

/// Profiles of both sides in which a kernel's calls took so long, and the shortest of them so long.
fn profiled(base: (u64, u64), new: (u64, u64)) -> Session {
    let mut session = measured(1_000, 1_000);
    for (setup, (mean_ns, least_ns)) in [base, new].into_iter().enumerate() {
        let kernel = |name: &str, op: &str| Total {
            min_ns: Some(least_ns),
            ..total(SliceKind::Kernel, name, op, 20, 20 * mean_ns)
        };
        session.profiles.push(Profile {
            case: Some(session.cases[setup].key()),
            runs: Some(10),
            totals: vec![
                kernel("conv1", "Conv"),
                kernel("conv2", "Conv"),
                kernel("fc", "Gemm"),
            ],
            ..Profile::default()
        });
    }
    session
}

#[test]
fn a_kernel_is_worse_where_all_its_calls_and_the_shortest_say_so() {
    let conv = [limit("kernel conv", 10.0)];
    let result = |new: (u64, u64), limits: &[GateLimit]| {
        let found = gate(&profiled((1_000, 900), new), limits);
        found.rows[0].clone()
    };
    let worse = result((1_200, 1_080), &conv);
    assert_eq!(worse.result, GateResult::Failed, "{worse:#?}");
    assert_eq!(
        worse.base.as_deref(),
        Some("4.00 µs"),
        "two of two calls a run"
    );
    assert_eq!(result((1_050, 930), &conv).result, GateResult::Passed);
    let disturbed = result((1_400, 905), &conv);
    assert_eq!(disturbed.result, GateResult::Open, "{disturbed:#?}");
    let reason = disturbed.reason.unwrap();
    assert!(
        reason.contains("+40.0 %") && reason.contains("+0.6 %"),
        "{reason}"
    );
    // One profile may differ from the next by more than a narrow limit.
    let narrow = result((1_040, 936), &[limit("kernel conv", 1.0)]);
    assert_eq!(narrow.result, GateResult::Open, "{narrow:#?}");
    let unknown = result((1_000, 900), &[limit("kernel softmax", 1.0)]);
    let reason = unknown.reason.unwrap();
    assert!(reason.contains("no kernel of that name"), "{reason}");
}

#[test]
fn what_limits_need_is_measured_besides() {
    let needs = |metric: &str| GateNeeds::of_limits(&[limit(metric, 1.0)]);
    assert_eq!(needs("latency"), GateNeeds::default());
    assert!(needs("energy per item").energy && !needs("energy per item").profile);
    assert!(needs("same choice").accuracy);
    assert!(needs("kernel conv").profile);
}

/// How close the outputs of a side are.
fn judged(share: u64) -> Accuracy {
    Accuracy {
        same_choice: Some(HitCount {
            hits: share,
            of: 64,
        }),
        ..Accuracy::default()
    }
}

#[test]
fn outputs_that_agree_nowhere_fail_and_are_no_unknown() {
    let mut session = measured(1_000, 1_000);
    for (setup, hits) in [(0, 64), (1, 0)] {
        session.accuracies.insert(setup, judged(hits));
    }
    let found = gate(&session, &[limit("same choice", 1.0)]);
    let row = &found.rows[0];
    assert_eq!(row.result, GateResult::Failed, "{found:#?}");
    assert_eq!(row.loss_percent, Some(100.0));
    session.accuracies.insert(1, judged(64));
    let found = gate(&session, &[limit("same choice", 1.0)]);
    assert_eq!(found.result, GateResult::Passed, "{found:#?}");
    session.accuracies.clear();
    let found = gate(&session, &[limit("same choice", 1.0)]);
    let reason = found.rows[0].reason.as_deref();
    assert_eq!(reason, Some("the outputs of both sides were not compared"));
}

#[test]
fn nothing_is_settled_before_the_planned_rounds_of_a_pair() {
    let mut slower = measured(1_000, 2_000);
    slower.plan.measure.rounds = 6;
    for metric in [LATENCY, "throughput", "kernel conv", "first run"] {
        let found = gate(&slower, &[limit(metric, 1.0)]);
        assert_eq!(found.result, GateResult::Open, "{found:#?}");
    }
    let found = gate(&slower, &[GateLimit::usual()]);
    let reason = found.rows[0].reason.as_deref();
    assert_eq!(reason, Some("5 of 6 planned rounds were measured"));
}

#[test]
fn energies_of_different_devices_are_not_compared() {
    let mut session = session(&["ort:cpu", "ort:rocm:0"], &[1]);
    for setup in [0, 1] {
        measure(&mut session, setup, 1, &[[3_000_000_000; 1].as_slice(); 5]);
    }
    spread_over_starts(&mut session);
    for (kind, watts) in [(DeviceKind::Package, 100.0), (DeviceKind::Amd, 300.0)] {
        testing::add_telemetry(&mut session, kind, 10.0, 24.0, |_| {
            vec![(Quantity::Power, watts)]
        });
    }
    let found = gate(&session, &[limit("energy per item", 5.0)]);
    let row = &found.rows[0];
    assert_eq!(row.result, GateResult::Open, "{found:#?}");
    let reason = row.reason.as_deref().unwrap();
    assert!(reason.contains("different devices"), "{reason}");
}

#[test]
fn a_change_has_its_sign_and_zero_has_none() {
    let texts = [3.12, 0.04, -0.04, -3.17].map(signed_percent);
    assert_eq!(texts, ["+3.1 %", "0.0 %", "0.0 %", "-3.2 %"]);
}
