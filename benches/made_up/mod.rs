//! Sessions for the benches: their numbers are made up, with noise that is the same every time.

use std::fs;
use std::path::Path;

use anyhow::Result;

use powerband_core::domain::case::Round;
use powerband_core::domain::event::RunStart;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::{Plan, PresetName};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::{Completion, Session};
use powerband_store::session_file;

/// Fills a library with sessions of two setups at six batch sizes, each begun an hour after the one before.
pub(crate) fn library(folder: &Path, count: usize, rounds: u32, samples: usize) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut session = session("", 2, 6, rounds, samples)?;
    for index in 0..count {
        session.name = format!("run number {index}");
        let (day, hour) = (index / 24, index % 24);
        let (month, day) = (day / 28, day % 28 + 1);
        let (year, month) = (2026 + month / 12, month % 12 + 1);
        session.created = format!("{year}-{month:02}-{day:02}T{hour:02}:00:00Z");
        session.tags = vec![format!("tag{}", index % 30), "nightly".to_owned()];
        session_file::write(&folder.join(format!("{index:04}.ron")), &session)?;
    }
    Ok(())
}

/// A finished session: rounds of so many samples.
pub(crate) fn session(
    name: &str,
    setups: usize,
    batches: usize,
    rounds: u32,
    samples: usize,
) -> Result<Session> {
    let setups: Vec<_> = (0..setups)
        .map(|index| format!("tract:cpu,threads={}", index + 1).parse())
        .collect::<Result<_, _>>()?;
    let powers = batches <= 20;
    let plan = Plan {
        model: "resnet50".to_owned(),
        setups,
        points: (0..batches)
            .map(|n| Point::of_batch(if powers { 1 << n } else { n + 1 }))
            .collect(),
        seed: 1,
        ..Plan::from_preset(PresetName::Quick)
    };
    let mut session = Session::from_start(RunStart {
        name: name.to_owned(),
        created: "2026-01-01T00:00:00Z".to_owned(),
        plan,
        model: ModelRef {
            name: "resnet50".to_owned(),
            file: "resnet50.onnx".to_owned(),
            sha256: "0".repeat(64),
            parameters: 25_557_032,
            macs: Some(4_089_184_256),
            ..ModelRef::default()
        },
        made_up: true,
        ..RunStart::default()
    });
    session.completion = Completion::Complete;
    let mut noise: u64 = 1;
    for case in &mut session.cases {
        case.outcome = Outcome::Finished;
        let base =
            (2_000_000 + 1_000_000 * case.point.batch() as u64) * (case.setup as u64 + 5) / 5;
        for round in 0..rounds {
            let mut sample = || {
                noise = noise
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                base + (noise >> 40) % (base / 20)
            };
            let samples_ns: Vec<u64> = (0..samples).map(|_| sample()).collect();
            case.rounds.push(Round {
                round,
                spent_ns: samples_ns.iter().sum(),
                samples_ns,
                ..Round::default()
            });
        }
    }
    Ok(session)
}
