//! Sessions for tests.

use powerband_core::domain::event::RunStart;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::plan::PresetName;
use powerband_core::domain::point::Point;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_planning::plans;

/// A session that nothing is measured of yet.
pub(crate) fn session(name: &str, model: &str, setups: &[&str], batches: &[usize]) -> Session {
    let setups: Vec<Setup> = setups.iter().map(|spec| spec.parse().unwrap()).collect();
    let request = RunRequest {
        points: Some(batches.iter().copied().map(Point::of_batch).collect()),
        preset: PresetName::Quick,
        ..RunRequest::new(model)
    };
    Session::from_start(RunStart {
        name: name.to_owned(),
        // Of another run than each other session.
        created: name.to_owned(),
        plan: plans::plan(request, setups, &[], 10.0),
        model: ModelRef {
            name: model.to_owned(),
            file: model.to_owned(),
            sha256: model.to_owned(),
            parameters: 1,
            ..ModelRef::default()
        },
        made_up: true,
        ..RunStart::default()
    })
}
