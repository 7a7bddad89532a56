//! A network of another engine's own, written as an ONNX file, so that all engines can run the same one.

use std::path::Path;
use std::time::Duration;

use crate::input_specs;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::Setup;
use powerband_onnx::inspect;
use powerband_onnx::source::ModelFile;
use powerband_store::installation::Installation;
use powerband_worker::engines;
use powerband_worker::probe;
use powerband_worker::protocol::{ExportedModel, Reply, Request};
use powerband_worker::supervisor::Worker;

/// Writing a network and running it once takes no longer.
const LIMIT: Duration = Duration::from_mins(10);

/// Has the engine of a setup write its network, with the weights of `model` where they fit.
pub fn export(
    place: &Installation,
    setup: &Setup,
    name: &str,
    model: &ModelFile,
    to: &Path,
) -> Result<ExportedModel, String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let engine = engines::check(setup).map_err(|error| told(&error))?;
    let places = probe::places(
        &place.paths,
        place.onnxruntime.clone(),
        place.python.as_deref(),
    );
    let runtime = probe::runtime_for(engine, setup, &places)?.map(|found| found.path);
    let ports = inspect::inputs(&model.proto).map_err(|error| told(&error))?;
    let inputs = input_specs::of_model(
        &model.proto,
        &ports,
        Point::of_batch(1),
        &InputSizes::default(),
    )?;
    let cancel = CancelToken::default();
    let mut worker = Worker::start(setup, runtime.as_deref(), &place.program, LIMIT, &cancel)
        .map_err(|error| told(&error))?;
    let request = Request::Export {
        setup: setup.clone(),
        name: name.to_owned(),
        model: model.path.clone(),
        inputs,
        to: to.to_path_buf(),
    };
    match worker.ask(&request, LIMIT, &cancel) {
        Ok(Reply::Exported(exported)) => {
            worker.end();
            Ok(exported)
        }
        Ok(other) => Err(worker.confused(&other).to_string()),
        Err(error) => Err(told(&error)),
    }
}
