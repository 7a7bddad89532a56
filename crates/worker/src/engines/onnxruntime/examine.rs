//! What ONNX Runtime makes of a network: its optimised graph beside the file's, and which provider ran
//! which node for how long.
//!
//! Watching every node costs time, so this is a session of its own, in a process that measures nothing.

use std::path::{Path, PathBuf};

use ort::environment::Environment;
use ort::session::Session;

use super::{bind, builder, commit, environment, explain, provider_title};
use crate::engines::{EngineError, EngineProfile, LoadRequest, PROFILE_RUNS, PROFILE_WARM_UP};
use powerband_core::base::clock;
use powerband_core::domain::examination::{Examination, Fusions, only_starts_nodes};
use powerband_core::domain::tensor::Tensor;
use powerband_onnx::{external, file, fusion, inspect, ort_profile};
use powerband_planning::engine_options::onnxruntime::OrtOptions;

/// Runs that are watched; the first ones, which warm up, do not count.
const RUNS: u32 = 5;
const WARM_UP_RUNS: u32 = 2;

/// Loads the model once more and watches a few runs of it.
pub(super) fn examine(
    request: &LoadRequest<'_>,
    inputs: &[Tensor],
) -> Result<Examination, EngineError> {
    let told = |error: &dyn std::fmt::Display| EngineError::Failed(error.to_string());
    let folder = tempfile::tempdir().map_err(|error| told(&error))?;
    let mut original = file::load(request.model).map_err(|error| told(&error))?;
    let mut model = request.model.to_path_buf();
    if fusion::name_nodes(&mut original) {
        // Weights beside the file are not beside the renamed one.
        external::fill(&mut original, request.model).map_err(|error| told(&error))?;
        model = folder.path().join("named.onnx");
        file::save(&model, &original).map_err(|error| told(&error))?;
    }
    let (environment, _) = environment(request.runtime)?;
    let options = OrtOptions::from_setup(request.setup).map_err(EngineError::Unsupported)?;
    let prepared = folder.path().join("prepared.onnx");
    let load = |keep| {
        profiling_session(
            &environment,
            request,
            &options,
            &model,
            (folder.path(), keep),
        )
    };
    // A provider that compiles parts of the graph leaves nothing that could be written as a file.
    let mut session = load(Some(prepared.as_path())).or_else(|_compiled| load(None))?;
    run(&mut session, inputs, u64::from(WARM_UP_RUNS + RUNS), |_| ())?;
    let profile = session.end_profiling().map_err(|error| explain(&error))?;
    let profile =
        ort_profile::read(Path::new(&profile), WARM_UP_RUNS).map_err(|error| told(&error))?;
    let mut notes = profile.notes;
    let fusions = if prepared.is_file() {
        let prepared = file::load(&prepared).map_err(|error| told(&error))?;
        fusion::compare(&original, &prepared)
    } else {
        notes.push(
            "the provider compiles parts of the graph, so that it cannot be told which nodes became which".to_owned(),
        );
        Fusions::default()
    };
    if profile
        .nodes
        .iter()
        .any(|node| only_starts_nodes(&node.provider))
    {
        notes.push(
            "the times of nodes on a card are the host's, for starting them: the card computes later"
                .to_owned(),
        );
    }
    Ok(Examination {
        asked: provider_title(request.setup),
        runs: profile.runs,
        before: inspect::operators(&original),
        nodes: profile.nodes,
        fusions,
        notes,
    })
}

/// Loads the model once more and keeps the profile of a few runs.
pub(super) fn profile(
    request: &LoadRequest<'_>,
    inputs: &[Tensor],
    folder: &Path,
) -> Result<EngineProfile, EngineError> {
    let (environment, _) = environment(request.runtime)?;
    let options = OrtOptions::from_setup(request.setup).map_err(EngineError::Unsupported)?;
    let model = request.model;
    let mut session = profiling_session(&environment, request, &options, model, (folder, None))?;
    let mut began_ns = 0;
    run(&mut session, inputs, PROFILE_RUNS, |number| {
        if number == PROFILE_WARM_UP {
            began_ns = clock::monotonic_ns();
        }
    })?;
    let profile = session.end_profiling().map_err(|error| explain(&error))?;
    Ok(EngineProfile {
        files: vec![PathBuf::from(profile)],
        began_ns,
    })
}

/// A session that keeps a profile, and its optimised graph where that is wanted.
fn profiling_session(
    environment: &Environment,
    request: &LoadRequest<'_>,
    options: &OrtOptions,
    model: &Path,
    (folder, keep): (&Path, Option<&Path>),
) -> Result<Session, EngineError> {
    let (builder, _) = builder(environment, request, options)?;
    let mut builder = builder
        .with_profiling(folder.join("profile"))
        .map_err(|error| explain(&error))?;
    if let Some(path) = keep {
        builder = builder
            .with_optimized_model_path(path)
            .map_err(|error| explain(&error))?;
    }
    commit(builder, model)
}

/// Runs it a few times, and calls back with the number of each run before it.
fn run(
    session: &mut Session,
    inputs: &[Tensor],
    runs: u64,
    mut before: impl FnMut(u64),
) -> Result<(), EngineError> {
    let binding = bind(session, inputs).map_err(|error| explain(&error))?;
    for number in 0..runs {
        before(number);
        session
            .run_binding(&binding)
            .map_err(|error| explain(&error))?;
    }
    Ok(())
}
