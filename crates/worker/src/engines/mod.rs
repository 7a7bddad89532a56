//! The engines that run a network, behind one trait, and the list of them.
//!
//! Only a worker process loads an engine; the rest of the program asks here which there are, which
//! options they take, and how their worker is started. To add one: a file here and a line in [`ALL`].

pub mod command;
pub mod fake;
pub mod generate;
pub mod install;
mod node_events;
pub mod onnxruntime;
pub mod pytorch;
pub mod rten;
pub mod runtimes;
pub mod watched_runs;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use generate::Generate;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::examination::Examination;
use powerband_core::domain::generation::Generation;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::Tensor;
use powerband_planning::engine_options::command::CommandEngine;
use powerband_planning::engine_options::onnxruntime::OnnxRuntime;
use powerband_planning::engine_options::pytorch::PyTorch;
use powerband_planning::engine_options::rten::Rten;
use powerband_planning::engine_options::{self, CheckError, EngineInfo, EngineOptions, Fake};
use watched_runs::WatchedRuns;

/// Every engine, in the order of their options.
pub const ALL: &[&dyn Engine] = &[&OnnxRuntime, &Rten, &PyTorch, &CommandEngine, &Fake];

/// Why an engine cannot do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum EngineError {
    /// The engine, its library or the device cannot do this.
    #[error("{0}")]
    Unsupported(String),
    /// Memory ran out.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// Anything else, in the engine's words.
    #[error("{0}")]
    Failed(String),
}

/// What an engine needs that is not a part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Nothing.
    Nothing,
    /// The library of ONNX Runtime.
    OnnxRuntime,
    /// A Python with a package.
    Python {
        /// The package, as it is imported.
        package: &'static str,
    },
}

/// What a worker is to load.
#[derive(Clone, Debug)]
pub struct LoadRequest<'a> {
    /// How the model is to run.
    pub setup: &'a Setup,
    /// The ONNX file.
    pub model: &'a Path,
    /// The engine's library, for engines that have one.
    pub runtime: Option<&'a Path>,
}

/// What a loaded model says of itself.
#[derive(Clone, Debug, Default)]
pub struct LoadedInfo {
    /// Engine and version.
    pub engine: String,
    /// The engine's library.
    pub library: Option<String>,
    /// Threads it computes with, where known.
    pub threads: Option<usize>,
    /// Loading the engine's own library, in nanoseconds.
    pub library_ns: u64,
    /// Looking the file over before the engine reads it, in nanoseconds; no part of loading.
    pub check_ns: u64,
    /// How inputs reach the model and whether outputs are read back.
    pub feeding: &'static str,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// An engine: how it is found, started and loaded; what a setup may say of it is its options.
pub trait Engine: EngineOptions {
    /// What has to be found on the machine first.
    fn needs(&self) -> Requirement {
        Requirement::Nothing
    }

    /// The worker to start for a setup, with what was found; nothing for our own executable.
    fn worker(&self, _setup: &Setup, _runtime: Option<&Path>) -> Option<ProcessSpec> {
        None
    }

    /// The command that runs the network, for an engine that loads nothing. Called in a worker.
    fn outside(&self, _request: &LoadRequest<'_>) -> Option<Result<command::Outside, EngineError>> {
        None
    }

    /// Loads no model, only the engine, and says what it is. Called in a worker.
    fn probe(&self, runtime: Option<&Path>) -> Result<EngineInfo, EngineError>;

    /// Whether it can say which nodes it made of a network's and where they ran.
    fn examines(&self) -> bool {
        false
    }

    /// Runs a model a few times and says what it made of it. Called in a worker that measures nothing.
    fn examine(
        &self,
        _request: &LoadRequest<'_>,
        _inputs: &[Tensor],
    ) -> Result<Examination, EngineError> {
        Err(EngineError::Unsupported(format!(
            "{} does not tell what it makes of a network",
            self.title()
        )))
    }

    /// Whether it can watch where the time of a run goes.
    fn profiles(&self) -> bool {
        false
    }

    /// What is said to have watched, where the files are in the format of another program.
    fn watcher(&self) -> Option<&'static str> {
        None
    }

    /// Runs a model a few times, watched, and leaves what was seen in a folder: files that importers
    /// know. The first `PROFILE_WARM_UP` runs of those that are seen warm up. Called in a worker that
    /// measures nothing.
    fn profile(
        &self,
        _request: &LoadRequest<'_>,
        _inputs: &[Tensor],
        _folder: &Path,
    ) -> Result<EngineProfile, EngineError> {
        Err(EngineError::Unsupported(format!(
            "{} does not tell where its time goes",
            self.title()
        )))
    }

    /// Loads a model. Called in a worker.
    fn load(&self, request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError>;
}

/// The profile that an engine wrote of its own runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineProfile {
    /// Files that importers know.
    pub files: Vec<PathBuf>,
    pub runs: WatchedRuns,
}

/// A model that an engine has loaded.
pub trait LoadedModel {
    /// What it says of itself.
    fn loaded(&self) -> &LoadedInfo;

    /// Binds inputs once; the result runs as often as wanted.
    fn open(&mut self, inputs: &[Tensor], batch: usize) -> Result<Box<dyn Runnable>, EngineError>;

    /// Whether it takes the inputs that it is given.
    fn feeds(&self) -> bool {
        true
    }

    /// Makes ready for requests to a language model, with seeded prompts: each run of the result is one.
    fn open_requests(
        &mut self,
        _generate: &Generate,
        _seed: u64,
    ) -> Result<Box<dyn Runnable>, EngineError> {
        Err(EngineError::Unsupported(format!(
            "{} does not generate tokens; ort, rten and torch take task=generate",
            self.loaded().engine
        )))
    }

    /// How tokens, and keys and values, travel in requests.
    fn feeding_of_requests(&self) -> &'static str {
        ""
    }
}

/// A model with its inputs bound.
pub trait Runnable {
    /// Runs once and waits for the end.
    fn run(&mut self) -> Result<(), EngineError>;

    /// Runs once and says how long it took, in nanoseconds. What is timed is the run and the clock,
    /// nothing else; [`fake`] alone gives another time.
    fn timed_run(&mut self) -> Result<u64, EngineError> {
        let start = Instant::now();
        self.run()?;
        Ok(start.elapsed().as_nanos() as u64)
    }

    /// Whether runs need a warm-up before they count.
    fn needs_warm_up(&self) -> bool {
        true
    }

    /// Whether times are reported by the command instead of measured here.
    fn reports_own_times(&self) -> bool {
        false
    }

    /// What the requests since the last call took, token by token, where each run is one to a language model.
    fn take_generation(&mut self) -> Option<Generation> {
        None
    }

    /// Runs once and reads the outputs back, in the model's order.
    fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError>;
}

/// The engine of a setup, which is looked over before anything is started.
pub fn check(setup: &Setup) -> Result<&'static dyn Engine, CheckError> {
    let options = engine_options::check(setup)?;
    let own = find(options.id());
    own.ok_or_else(|| CheckError::Value {
        setup: setup.to_string(),
        reason: format!("{} cannot be started here", options.title()),
    })
}

/// The engine that a setup names.
pub fn find(id: &str) -> Option<&'static dyn Engine> {
    ALL.iter().copied().find(|engine| engine.id() == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_with_options_can_be_started() {
        let mine = ALL.iter().map(|engine| engine.id());
        let described = engine_options::ALL.iter().map(|engine| engine.id());
        assert!(mine.eq(described));
    }
}
