//! Sessions made in a few lines, for the unit tests of this folder and of the charts. Compiled for
//! tests only.

use powerband_core::domain::case::{CaseKey, Round};
use powerband_core::domain::event::RunStart;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::plan::{MeasureRule, OptimisationStep, Plan, PresetName};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{DeviceKind, DeviceReading, Quantity, WatchedDevice};

/// A plan with the quick preset, of three rounds that follow one another.
pub fn plan(setups: &[&str], batches: &[usize]) -> Plan {
    Plan {
        model: "tiny".to_owned(),
        setups: setups
            .iter()
            .map(|spec| spec.parse().expect("a setup"))
            .collect(),
        points: batches.iter().copied().map(Point::of_batch).collect(),
        measure: MeasureRule {
            rounds: 3,
            spacing: None,
            ..MeasureRule::from_preset(PresetName::Quick)
        },
        seed: 1,
        ..Plan::from_preset(PresetName::Quick)
    }
}

/// Makes optimisation steps of the setups, at the first point.
pub fn make_ladder(session: &mut Session) {
    let point = session.plan.first_point();
    let step = |setup| OptimisationStep {
        title: session.setup_label(setup),
        case: CaseKey { setup, point },
    };
    session.plan.ladder = (0..session.plan.setups.len()).map(step).collect();
}

/// A session of which nothing was measured yet.
pub fn session(setups: &[&str], batches: &[usize]) -> Session {
    Session::from_start(RunStart {
        name: "test".to_owned(),
        created: "2030-01-02T03:04:05Z".to_owned(),
        plan: plan(setups, batches),
        model: ModelRef {
            name: "tiny".to_owned(),
            file: "tiny.onnx".to_owned(),
            sha256: "0123456789abcdef".to_owned(),
            parameters: 1,
            ..ModelRef::default()
        },
        ..RunStart::default()
    })
}

/// Gives a case its rounds, a second apart, and calls it finished.
pub fn measure(session: &mut Session, setup: usize, batch: usize, rounds: &[&[u64]]) {
    for (number, samples) in (0..).zip(rounds) {
        add_round(session, setup, batch, number, samples);
    }
    end_case(session, setup, batch, Outcome::Finished);
}

/// Gives a case three rounds of ten samples near a time in microseconds, and calls it finished.
pub fn measure_near(session: &mut Session, setup: usize, batch: usize, micros: u64) {
    let samples: Vec<u64> = (0..10).map(|i| micros * 1_000 + (i % 3)).collect();
    measure(session, setup, batch, &[&samples, &samples, &samples]);
}

/// Has every round measured by a start of its own, four seconds after the one before.
pub fn spread_over_starts(session: &mut Session) {
    for round in session.cases.iter_mut().flat_map(|case| &mut case.rounds) {
        round.start = Some(round.round);
        round.started_ns = u64::from(round.round) * 4_000_000_000;
    }
}

/// Gives a case one more round.
pub fn add_round(session: &mut Session, setup: usize, batch: usize, round: u32, samples: &[u64]) {
    let case = session.cases.iter_mut().find(|case| {
        case.key()
            == CaseKey {
                setup,
                point: Point::of_batch(batch),
            }
    });
    case.expect("a case of the plan").rounds.push(Round {
        round,
        started_ns: u64::from(round) * 1_000_000_000,
        spent_ns: samples.iter().sum(),
        samples_ns: samples.to_vec(),
        ..Round::default()
    });
}

/// Ends a case.
pub fn end_case(session: &mut Session, setup: usize, batch: usize, outcome: Outcome) {
    let case = session.cases.iter_mut().find(|case| {
        case.key()
            == CaseKey {
                setup,
                point: Point::of_batch(batch),
            }
    });
    case.expect("a case of the plan").outcome = outcome;
}

/// The outcome of a case that did not fit into memory.
pub fn out_of_memory() -> Outcome {
    Outcome::OutOfMemory {
        reason: "no room".to_owned(),
    }
}

/// The outcome of a case whose engine failed.
pub fn failed() -> Outcome {
    Outcome::Failed {
        phase: Phase::Open,
        reason: "no such kernel".to_owned(),
    }
}

/// Watches one more device from the beginning on, for so many seconds.
pub fn add_telemetry(
    session: &mut Session,
    kind: DeviceKind,
    rate_hz: f64,
    seconds: f64,
    read: impl Fn(f64) -> Vec<(Quantity, f64)>,
) {
    let place = session.telemetry.tracks.len();
    let id = format!("{kind:?}-{place}");
    let mut devices: Vec<WatchedDevice> = session
        .telemetry
        .tracks
        .iter()
        .map(|track| track.device.clone())
        .collect();
    devices.push(WatchedDevice::new("test", kind, 0, &id, "Test device"));
    session.telemetry.watch(0, rate_hz, devices, Vec::new());
    let readings: Vec<DeviceReading> = (0..=(seconds * rate_hz) as u32)
        .map(|index| f64::from(index) / rate_hz)
        .map(|at_s| DeviceReading {
            device: place,
            at_ns: (at_s * 1e9) as u64,
            values: read(at_s),
        })
        .collect();
    session.telemetry.take(&readings);
}
