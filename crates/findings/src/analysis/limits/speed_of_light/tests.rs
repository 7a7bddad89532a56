//! Steps whose least times can be checked in the head.

use super::*;
use crate::analysis::limits::tests::roofs;
use crate::analysis::testing::{measure_near, session};
use powerband_core::domain::roofs::ComputeRoof;

fn measured() -> (Session, Roofs) {
    let mut session = session(
        &["ort:cpu,threads=1", "ort:cpu,opt=none,threads=1"],
        &[1, 2, 4],
    );
    session.environment.cpu.threads = 2;
    session.model.macs = Some(40_000_000);
    session.model.parameters = 1_000_000;
    for (batch, micros) in [(1, 2_000), (2, 3_600), (4, 6_800)] {
        measure_near(&mut session, 0, batch, micros);
        measure_near(&mut session, 1, batch, 2 * micros);
    }
    let mut roofs = roofs(0.01);
    let of = |numbers, threads, per_s: f64| ComputeRoof {
        numbers,
        threads,
        per_s: powerband_core::domain::roofs::MeasuredValue {
            value: per_s,
            low: per_s,
            high: per_s,
            repetitions: 5,
        },
        ..roofs.compute[0].clone()
    };
    let more = [
        of(NumberFormat::Int8, 1, 320e9),
        of(NumberFormat::F32, 2, 160e9),
    ];
    roofs.compute.extend(more);
    (session, roofs)
}

#[test]
fn each_step_has_its_floor_and_what_it_can_bring() {
    let (session, roofs) = measured();
    let rows = light_rows(&session, &[roofs]);
    assert_eq!(rows.len(), 2 + LightStep::TO_TAKE.len());
    // 80 MOP at 80 GOP/s are 1 ms of the 2; weights of 4 MB are 0.2 ms at 20 GB/s.
    let first = &rows[0];
    assert!((first.floor_ns.unwrap() - 1e6).abs() < 1.0, "{first:?}");
    assert!((first.can_bring_ns.unwrap() / 1e6 - 1.0).abs() < 0.01);
    assert_eq!(first.is_within_noise, Some(false));
    let of = |step| rows.iter().find(|row| row.step == step).unwrap();
    // A quarter of the floor, at half of the line as now.
    let int8 = of(LightStep::Int8);
    assert!(
        (int8.can_bring_ns.unwrap() / 1.5e6 - 1.0).abs() < 0.01,
        "{int8:?}"
    );
    let threads = of(LightStep::Threads);
    assert!(
        (threads.can_bring_ns.unwrap() / 1e6 - 1.0).abs() < 0.01,
        "{threads:?}"
    );
    assert!((of(LightStep::Batch).can_bring_ns.unwrap() / 4e5 - 1.0).abs() < 0.05);
    let half = of(LightStep::HalfPrecision);
    assert!(
        half.reason.as_ref().unwrap().contains("no roof for"),
        "{half:?}"
    );
    assert!(
        of(LightStep::Fuse)
            .reason
            .as_ref()
            .unwrap()
            .contains("no profile")
    );
}

#[test]
fn what_is_not_known_is_a_reason() {
    let (mut session, roofs) = measured();
    let all = light_rows(&session, &[]);
    assert!(
        all.iter()
            .all(|row| row.floor_ns.is_none() && row.reason.is_some()),
        "{all:?}"
    );
    session.model.macs = Some(400_000_000);
    let wrong = &light_rows(&session, std::slice::from_ref(&roofs))[0];
    assert!(wrong.share_of_floor.unwrap() > 4.0 && wrong.can_bring_ns.is_none());
    session.model.macs = None;
    let unknown = &light_rows(&session, &[roofs])[0];
    assert!(
        unknown
            .reason
            .as_ref()
            .unwrap()
            .contains("operations are not known")
    );
    assert!(light_rows(&crate::analysis::testing::session(&["ort:cpu"], &[1]), &[]).is_empty());
}

#[test]
fn a_step_that_was_measured_and_is_slower_is_taken_all_the_same() {
    let half = |specs: &[&str]| {
        let mut session = session(specs, &[1]);
        session.model.macs = Some(40_000_000);
        measure_near(&mut session, 0, 1, 2_000);
        measure_near(&mut session, 1, 1, 3_000);
        let rows = light_rows(&session, &[]);
        let row = rows
            .into_iter()
            .find(|row| row.step == LightStep::HalfPrecision);
        row.unwrap()
    };
    let slower = half(&["ort:cpu", "ort:cpu,precision=fp16"]);
    assert!(slower.is_taken);
    let reason = slower.reason.unwrap();
    assert!(
        reason.contains("measured as ort:cpu,precision=fp16"),
        "{reason}"
    );
    let other = half(&["rten:cpu", "ort:cpu,precision=fp16"]);
    assert_eq!(
        (other.title.as_str(), other.is_taken),
        ("half precision with rten", false)
    );
    assert!(!half(&["rten:cpu", "ort:cpu"]).is_taken);
}
