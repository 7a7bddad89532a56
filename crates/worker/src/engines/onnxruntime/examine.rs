//! What ONNX Runtime makes of a network: its optimised graph beside the file's, and which provider ran
//! which node for how long.
//!
//! Watching every node costs time, so this is a session of its own, in a process that measures nothing.

use std::path::{Path, PathBuf};

use ort::environment::Environment;
use ort::session::Session;

use super::{bind, builder, commit, environment, explain, provider_title};
use crate::engines::watched_runs::{self, WATCHED_RUNS, WATCHED_WARM_UP, WatchedRuns};
use crate::engines::{EngineError, EngineProfile, LoadRequest};
use powerband_core::domain::examination::{Examination, Fusions, only_starts_nodes};
use powerband_core::domain::tensor::Tensor;
use powerband_onnx::{external, file, fusion, inspect, ort_profile};
use powerband_planning::engine_options::onnxruntime::OrtOptions;

/// Runs that are watched; the first ones, which warm up, do not count.
const RUNS: u64 = 5;
const WARM_UP_RUNS: u64 = 2;

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
    let watched = watch(&mut session, inputs, WARM_UP_RUNS, RUNS)?;
    let profile = session.end_profiling().map_err(|error| explain(&error))?;
    let profile = ort_profile::read(Path::new(&profile), watched.warm_up as u32)
        .map_err(|error| told(&error))?;
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
    let runs = watch(&mut session, inputs, WATCHED_WARM_UP, WATCHED_RUNS)?;
    let profile = session.end_profiling().map_err(|error| explain(&error))?;
    Ok(EngineProfile {
        files: vec![PathBuf::from(profile)],
        runs,
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

/// Runs it at most so often, of which the first runs warm up.
fn watch(
    session: &mut Session,
    inputs: &[Tensor],
    warm_up: u64,
    runs: u64,
) -> Result<WatchedRuns, EngineError> {
    let binding = bind(session, inputs).map_err(|error| explain(&error))?;
    watched_runs::watch_at_most(warm_up, runs, || {
        let ran = session.run_binding(&binding);
        ran.map(|_| ()).map_err(|error| explain(&error))
    })
}
