//! Finding out what there is: Python environments, ONNX Runtime libraries, what an engine says of itself.
//!
//! Everything that could crash or hang happens in a child process with a time limit.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::process;
use super::protocol::{Reply, Request};
use super::supervisor::Worker;
use crate::engines::runtimes::{self, FoundRuntime, RuntimePlaces};
use crate::engines::{self, Engine, Requirement};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::base::paths::Paths;
use powerband_core::domain::setup::{Setup, SetupError};
use powerband_planning::engine_options::EngineInfo;
use powerband_planning::engine_options::OfferedEnvironment;

/// A Python that takes longer to name its folders is passed over.
const PYTHON_LIMIT: Duration = Duration::from_secs(10);
/// A library that takes longer to load is set aside.
const ENGINE_LIMIT: Duration = Duration::from_secs(30);

/// So many engines are asked at once.
const AT_ONCE: usize = 4;
/// Stands in place of an answer until there is one.
const NOT_ASKED: &str = "it was not asked, because no thread could be started";

/// Everywhere that an ONNX Runtime may be, the folders of the user's Pythons among them.
pub fn places(paths: &Paths, onnxruntime: Option<PathBuf>, python: Option<&Path>) -> RuntimePlaces {
    let mut places = RuntimePlaces::new(paths, onnxruntime);
    let cancel = CancelToken::default();
    let pythons: Vec<PathBuf> = python
        .map(Path::to_path_buf)
        .into_iter()
        .chain(runtimes::python_candidates())
        .collect();
    let asked: Vec<_> = pythons
        .iter()
        .map(|python| runtimes::site_packages_query(python))
        .collect();
    // Interpreters are slow to start, so all are asked at once.
    let answers: Vec<Vec<PathBuf>> = thread::scope(|scope| {
        let waiting: Vec<_> = asked
            .iter()
            .map(|query| {
                let cancel = &cancel;
                thread::Builder::new()
                    .name("ask-python".to_owned())
                    .spawn_scoped(scope, move || {
                        process::run_to_end(query, PYTHON_LIMIT, cancel)
                    })
            })
            .collect();
        waiting
            .into_iter()
            .map(|answer| answer.ok()?.join().ok()?.ok())
            .map(|finished| finished.filter(|finished| finished.success))
            .map(|finished| {
                let told = finished.map(|finished| runtimes::parse_site_packages(&finished.stdout));
                told.unwrap_or_default()
            })
            .collect()
    });
    places.add_pythons(pythons.into_iter().zip(answers));
    places
}

/// The library for a setup: nothing for an engine that needs none.
pub fn runtime_for(
    engine: &dyn Engine,
    setup: &Setup,
    places: &RuntimePlaces,
) -> Result<Option<FoundRuntime>, String> {
    let option = |key: &str| setup.options.get(key).map(String::as_str);
    let found = match engine.needs() {
        Requirement::Nothing => return Ok(None),
        Requirement::OnnxRuntime => runtimes::choose(option("runtime"), places),
        Requirement::Python { package } => {
            runtimes::choose_python(package, option("python"), places)
        }
    };
    found.map(Some).map_err(|error| error.to_string())
}

/// The result of probing an engine: available with its library, or why not.
#[derive(Clone)]
pub struct EngineProbe {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Its library, for an engine that has one.
    pub runtime: Option<FoundRuntime>,
    /// What it says of itself, or what is missing.
    pub answer: Result<EngineInfo, String>,
    /// Environments that have it and were not searched, the likeliest first; none where it runs.
    pub offers: Vec<OfferedEnvironment>,
}

/// Asks every offered engine, and every library of those that have several; takes a second or more.
pub fn survey(
    paths: &Paths,
    onnxruntime: Option<PathBuf>,
    python: Option<&Path>,
    program: &Path,
    roots: &EnvironmentRoots,
) -> Vec<EngineProbe> {
    let places = places(paths, onnxruntime, python);
    let mut asked: Vec<EngineProbe> = Vec::new();
    let mut add = |engine, runtime, answer| {
        asked.push(EngineProbe {
            engine,
            runtime,
            answer,
            offers: Vec::new(),
        });
    };
    let offered = engines::ALL
        .iter()
        .filter(|engine| engine.is_offered() && engine.stands_alone());
    for &engine in offered {
        let libraries = match engine.needs() {
            Requirement::Nothing => {
                add(engine, None, Err(NOT_ASKED.to_owned()));
                continue;
            }
            Requirement::OnnxRuntime => runtimes::find_all(&places),
            Requirement::Python { package } => runtimes::pythons_with(package, &places),
        };
        if libraries.is_empty() {
            let missing = bare(engine).and_then(|setup| runtime_for(engine, &setup, &places));
            add(engine, None, Err(missing.err().unwrap_or_default()));
        }
        for library in libraries {
            add(engine, Some(library), Err(NOT_ASKED.to_owned()));
        }
    }
    let mut found = answers(asked, program);
    add_offers(&mut found, roots, &places);
    found
}

/// Asks the engines that were not asked yet, a few at a time: a library that hangs delays the others no longer than
/// the limit.
fn answers(mut all: Vec<EngineProbe>, program: &Path) -> Vec<EngineProbe> {
    let mut waiting = all
        .iter_mut()
        .filter(|one| one.answer.as_ref().is_err_and(|reason| reason == NOT_ASKED))
        .collect::<Vec<_>>();
    for few in waiting.chunks_mut(AT_ONCE) {
        thread::scope(|scope| {
            for one in few {
                let ask = || {
                    let library = one.runtime.as_ref().map(|found| found.path.as_path());
                    one.answer = self::engine(program, one.engine, library);
                };
                let started = thread::Builder::new()
                    .name("ask-engine".to_owned())
                    .spawn_scoped(scope, ask);
                // Without a thread it stays as it is: not asked.
                drop(started);
            }
        });
    }
    all
}

/// Names the environments that have an engine which runs from nowhere else, with the first copy of it that was found.
fn add_offers(found: &mut [EngineProbe], roots: &EnvironmentRoots, searched: &RuntimePlaces) {
    for &engine in engines::ALL {
        let is_this = |one: &&mut EngineProbe| one.engine.id() == engine.id();
        let mut own: Vec<&mut EngineProbe> = found.iter_mut().filter(is_this).collect();
        let runs = own.iter().any(|one| one.answer.is_ok());
        if let Some(first) = own.first_mut().filter(|_| !runs) {
            first.offers = runtimes::offers(engine.needs(), roots, searched);
        }
    }
}

/// What an engine says of itself, asked in a worker.
pub fn engine(
    program: &Path,
    engine: &dyn Engine,
    runtime: Option<&Path>,
) -> Result<EngineInfo, String> {
    let cancel = CancelToken::default();
    let setup = bare(engine)?;
    let mut worker = Worker::start(&setup, runtime, program, ENGINE_LIMIT, &cancel)
        .map_err(|error| error.to_string())?;
    let request = Request::Probe {
        engine: engine.id().to_owned(),
        runtime: runtime.map(Path::to_path_buf),
    };
    let answer = match worker.ask(&request, ENGINE_LIMIT, &cancel) {
        Ok(Reply::Probed(info)) => Ok(info),
        Ok(other) => Err(worker.confused(&other).to_string()),
        Err(error) => Err(error.to_string()),
    };
    worker.end();
    answer
}

/// The setup that says nothing but the engine.
fn bare(engine: &dyn Engine) -> Result<Setup, String> {
    engine
        .id()
        .parse()
        .map_err(|error: SetupError| error.to_string())
}
