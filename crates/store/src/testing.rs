//! A small session for the tests of this crate.

use powerband_core::domain::case::Round;
use powerband_core::domain::event::RunStart;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::plan::{Plan, PresetName, SetupStyle};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::{Completion, Session};

/// Two setups at two batch sizes, one round of one case measured.
pub(crate) fn session() -> Session {
    let mut session = Session::from_start(RunStart {
        name: "a run".to_owned(),
        created: "2026-11-21T06:02:03Z".to_owned(),
        plan: Plan {
            model: "resnet18@cifar".to_owned(),
            setups: vec!["fake".parse().unwrap(), "fake,noise=2".parse().unwrap()],
            looks: vec![SetupStyle {
                label: Some("quick one".to_owned()),
                colour: None,
            }],
            points: [1, 2].map(Point::of_batch).to_vec(),
            seed: 7,
            ..Plan::from_preset(PresetName::Quick)
        },
        model: ModelRef {
            name: "resnet18@cifar".to_owned(),
            file: "/models/resnet18@cifar.onnx".to_owned(),
            sha256: "0".repeat(64),
            parameters: 11_173_962,
            ..ModelRef::default()
        },
        made_up: true,
        ..RunStart::default()
    });
    session.completion = Completion::Complete;
    session.tags = vec!["first".to_owned()];
    session.cases[0].rounds.push(Round {
        round: 0,
        spent_ns: 3_000,
        samples_ns: vec![1_000, 1_100, 900],
        ..Round::default()
    });
    session
}
