//! The engines that run a network, behind one trait, and the list of them.
//!
//! Only a worker process loads an engine; the rest of the program asks here which there are, which
//! options they take, and how their worker is started. To add one: a file here and a line in [`ALL`].

mod check;
pub mod command;
mod common;
pub mod fake;
pub mod generate;
pub mod install;
mod key;
mod node_events;
pub mod onnxruntime;
mod programs;
pub mod pytorch;
pub mod rten;
pub mod runtimes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use check::{CheckError, check, key_conflict, keys_of, why_not_value};
pub(crate) use common::memory_limit;
pub use common::{
    BackgroundWork, COMMON_KEYS, background_work, copies, cores, devices, rewrite_recipe, streams,
};
use common::{TASK, check_cpu_alone, check_task, positive};
use generate::Generate;
pub use key::{Key, Takes};
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::examination::Examination;
use powerband_core::domain::generation::Generation;
pub use powerband_core::domain::setup::MODEL_KEY;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::Tensor;
pub use programs::programs;

/// Every engine. Help, `--setup` and the engines page read this list.
pub const ALL: &[&dyn Engine] = &[
    &onnxruntime::OnnxRuntime,
    &self::rten::Rten,
    &pytorch::PyTorch,
    &command::CommandEngine,
    &fake::Fake,
];

/// More workers or threads than this are a slip of the finger.
const MOST_COPIES: usize = 64;

/// The key with which a setup says whose clock times its runs.
pub(crate) const CLOCK_KEY: &str = "clock";

/// The key with which a setup asks for several workers.
pub(crate) const COPIES_KEY: &str = "copies";

/// The key with which a setup names the devices of its copies.
pub(crate) const DEVICES_KEY: &str = "devices";

/// The key with which a setup asks for several threads in one worker.
pub(crate) const STREAMS_KEY: &str = "streams";

/// The key with which a setup says what its runs are.
pub(crate) const TASK_KEY: &str = "task";

/// The key with which a setup asks for other numbers.
pub(crate) const PRECISION_KEY: &str = "precision";

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

/// What an engine says of itself once it is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineInfo {
    /// Name and version.
    pub version: String,
    /// The library behind it, where it is one that was found at run time.
    pub library: Option<PathBuf>,
    /// Devices that a setup may name.
    pub devices: Vec<String>,
    /// Ways to execute that the library was built with.
    pub providers: Vec<String>,
    /// Which of them computes on a kind of device where a setup names none; for engines that have several.
    #[serde(default)]
    pub usual_providers: BTreeMap<String, String>,
    /// What a setup cannot ask for here, as `key=value`, and why.
    #[serde(default)]
    pub lacks: BTreeMap<String, String>,
}

impl EngineInfo {
    /// An engine that runs on the processor alone.
    pub(crate) fn on_cpu(version: String) -> Self {
        Self {
            version,
            devices: vec!["cpu".to_owned()],
            ..Self::default()
        }
    }

    /// Why it cannot run a setup, as far as it can be known before it is tried; nothing where it may.
    pub fn missing_reason(&self, setup: &Setup) -> Option<String> {
        let kind = setup.device.split(':').next().unwrap_or_default();
        let device = format!("device={kind}");
        let options = setup.options.iter().flat_map(|(key, value)| {
            value
                .split('+')
                .map(move |word| format!("{key}={}", word.trim()))
        });
        // A setup that names its provider, or the library of one, does not ask for the usual one.
        let names_one = |key: &str| setup.options.contains_key(key);
        let usual = self.usual_providers.get(kind);
        let usual = usual.filter(|_| !names_one("provider") && !names_one("library"));
        let usual = usual.map(|word| format!("provider={word}"));
        let mut asked = options.chain([device]).chain(usual);
        asked.find_map(|asked| self.lacks.get(&asked).cloned())
    }
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

/// Runs that are watched for a profile, and how many of them come first and only warm up.
pub const PROFILE_RUNS: u64 = 13;
/// See [`PROFILE_RUNS`].
pub const PROFILE_WARM_UP: u64 = 3;

/// An engine: its name, the options that it takes, how it is loaded.
pub trait Engine: Sync {
    /// What a setup calls it.
    fn id(&self) -> &'static str;

    /// What people call it.
    fn title(&self) -> &'static str;

    /// Options beyond [`COMMON_KEYS`].
    fn keys(&self) -> &'static [Key];

    /// Whether users see it in lists; numbers of an engine that is not offered are made up.
    fn is_offered(&self) -> bool {
        true
    }

    /// Whether it can run a network by its name alone, without further options.
    fn stands_alone(&self) -> bool {
        true
    }

    /// Whether it can run any ONNX file, and not only networks that it knows by name.
    fn takes_files(&self) -> bool {
        true
    }

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

    /// Refuses options that make no sense, before anything is started.
    fn check(&self, setup: &Setup) -> Result<(), String>;

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
    /// When the first run that does not only warm up began, on the machine's monotonic clock, in nanoseconds.
    pub began_ns: u64,
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

/// The engine that a setup names.
pub fn find(id: &str) -> Option<&'static dyn Engine> {
    ALL.iter().copied().find(|engine| engine.id() == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = ALL.iter().map(|engine| engine.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ALL.len());
    }

    #[test]
    fn copies_and_their_devices_are_read() {
        let of = |spec: &str| copies(&spec.parse().unwrap());
        assert_eq!(of("ort"), Ok(1));
        assert_eq!(of("ort,copies=2"), Ok(2));
        assert_eq!(of("torch:cuda,devices=0+1"), Ok(2));
        assert_eq!(of("torch:cuda,devices=\"0,1\",copies=4"), Ok(4));
        assert!(
            of("torch:cuda,devices=0+1,copies=3")
                .unwrap_err()
                .contains("evenly")
        );
        assert!(of("torch:cuda,devices=0+x").unwrap_err().contains("\"x\""));
        assert!(of("ort,devices=0+1").unwrap_err().contains("copies="));
        assert!(of("ort,copies=65").unwrap_err().contains("64"));
        let of = |spec: &str| streams(&spec.parse().unwrap());
        assert_eq!(of("ort,streams=4"), Ok(4));
        assert!(
            of("ort,streams=2,copies=2")
                .unwrap_err()
                .contains("exclude")
        );
        assert!(of("torch,streams=2").unwrap_err().contains("copies="));
    }

    #[test]
    fn what_is_not_here_is_known_before_it_is_tried() {
        let lack = |key: &str| (key.to_owned(), format!("no {key}"));
        let info = EngineInfo {
            lacks: [
                lack("mode=compile"),
                lack("device=cuda"),
                lack("provider=openvino"),
            ]
            .into(),
            ..EngineInfo::default()
        };
        let of = |spec: &str| info.missing_reason(&spec.parse().unwrap());
        assert_eq!(of("torch:cpu,mode=amp-bf16"), None);
        assert_eq!(
            of("torch:cpu,mode=channels-last+compile").as_deref(),
            Some("no mode=compile")
        );
        assert_eq!(of("torch:cuda:1").as_deref(), Some("no device=cuda"));
        assert_eq!(
            of("ort,provider=openvino").as_deref(),
            Some("no provider=openvino")
        );
    }

    #[test]
    fn a_device_without_its_usual_provider_is_not_here() {
        let info = EngineInfo {
            usual_providers: [("cuda".to_owned(), "cuda".to_owned())].into(),
            lacks: [("provider=cuda".to_owned(), "no CUDA".to_owned())].into(),
            ..EngineInfo::default()
        };
        let of = |spec: &str| info.missing_reason(&spec.parse().unwrap());
        assert_eq!(of("ort:cuda").as_deref(), Some("no CUDA"));
        assert_eq!(of("ort:cuda:1,threads=2").as_deref(), Some("no CUDA"));
        assert_eq!(of("ort:cpu"), None);
        assert_eq!(of("ort:cuda,provider=tensorrt"), None);
        assert_eq!(of("ort:cuda,library=plugin.so"), None);
    }

    #[test]
    fn a_key_without_effect_says_why() {
        let of = |spec: &str, name: &str| {
            let setup: Setup = spec.parse().unwrap();
            let engine = find(&setup.engine).unwrap();
            let key = keys_of(engine).find(|key| key.name == name).unwrap();
            key_conflict(&setup, key)
        };
        for (spec, name, words) in [
            ("ort:cpu", "inter_threads", "parallel=on"),
            ("ort:cpu", "calibration", "precision=int8"),
            ("ort:cpu,copies=2", "streams", "exclude each other"),
            ("torch:cpu", "precision", "mode= has fp16"),
            ("torch:cpu", "lr", "task=train"),
        ] {
            let why = of(spec, name).unwrap_or_default();
            assert!(why.contains(words), "{spec} {name}: {why}");
        }
        assert_eq!(of("ort:cpu,parallel=on", "inter_threads"), None);
        assert_eq!(of("ort:cpu,precision=int8", "calibration"), None);
        assert_eq!(of("rten:cpu", "threads"), None);
        let setup = "ort:cpu".parse().unwrap();
        let why = why_not_value(&setup, "provider", "cuda").unwrap_or_default();
        assert!(why.contains("runs on cuda"), "{why}");
    }

    #[test]
    fn every_default_of_a_list_is_in_it_and_every_key_can_be_tried() {
        for engine in ALL {
            for key in keys_of(*engine) {
                let words = key.choices();
                let is_word = !key.default.is_empty() && !key.default.contains(' ');
                let is_listed = words.is_empty() || !is_word || words.contains(&key.default);
                assert!(is_listed, "{}: {}", key.name, key.default);
                assert!(!key.example().is_empty(), "{}", key.name);
                assert_ne!(key.example(), key.default, "{}", key.name);
            }
        }
    }

    #[test]
    fn faults_of_a_setup_are_named() {
        let fault = |spec: &str| {
            check(&spec.parse().unwrap())
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default()
        };
        assert_eq!(fault("rten:cpu,threads=2,memory=4GiB"), "");
        let unknown = fault("caffe");
        assert!(unknown.contains("there are ort, rten, torch"), "{unknown}");
        assert!(!unknown.contains("fake"));
        assert!(fault("rtem").ends_with("did you mean rten?"));
        assert!(
            fault("rten,speed=11")
                .contains("it knows threads, opt, task, memory, precision, keep_float"),
            "{}",
            fault("rten,speed=11")
        );
        let slip = fault("ort,precison=fp16");
        assert!(slip.ends_with("did you mean precision?"), "{slip}");
        assert!(fault("ort,opt=extendd").ends_with("did you mean extended?"));
        assert!(fault("ort,parallel=onn").ends_with("did you mean on?"));
        assert_eq!(fault("ort,precision=float16,spinning=yes"), "");
        assert!(fault("rten,threads=0").contains("threads=0"));
        assert!(fault("ort,opt=most").contains("opt=most"));
        assert!(fault("rten,memory=lots").contains("4GiB"));
        assert!(fault("rten:cuda:0").contains("cpu"));
    }
}
