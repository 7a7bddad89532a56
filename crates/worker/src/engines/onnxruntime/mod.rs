//! The engine `ort`: ONNX Runtime, through the `ort` crate, from a library found at run time.
//!
//! A process can load one such library, once; that is one reason why each setup has its own worker.
//! What a setup may say is in `options`, what computes in `providers` and `plugin`.

mod drivers;
mod examine;
mod generate;
mod interface;
mod options;
mod plugin;
mod providers;
mod values;
mod vendor_libraries;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use ort::environment::Environment;
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};
use ort::session::builder::SessionBuilder;
use ort::session::{IoBinding, Session};

use rustix::thread::{CpuSet, sched_setaffinity};

use self::generate::OrtDecoder;

use self::values::{from_ort, to_ort};
use super::generate::{Generate, RequestRunnable};
use super::runtimes;
use super::{
    Engine, EngineError, EngineInfo, EngineProfile, LoadRequest, LoadedInfo, LoadedModel,
    Requirement, Runnable,
};
use powerband_core::domain::examination::Examination;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::Tensor;
use powerband_planning::engine_options::onnxruntime::providers as offered_providers;
use powerband_planning::engine_options::onnxruntime::{OnnxRuntime, OrtOptions, ProviderChoice};

impl Engine for OnnxRuntime {
    fn needs(&self) -> Requirement {
        Requirement::OnnxRuntime
    }

    fn probe(&self, runtime: Option<&Path>) -> Result<EngineInfo, EngineError> {
        let (_environment, _) = environment(runtime)?;
        Ok(EngineInfo {
            version: title(runtime),
            library: runtime.map(Path::to_path_buf),
            devices: vec!["cpu".to_owned()],
            providers: providers(),
            usual_providers: offered_providers::default_providers(),
            lacks: missing_options(),
        })
    }

    fn examines(&self) -> bool {
        true
    }

    fn examine(
        &self,
        request: &LoadRequest<'_>,
        inputs: &[Tensor],
    ) -> Result<Examination, EngineError> {
        examine::examine(request, inputs)
    }

    fn profiles(&self) -> bool {
        true
    }

    fn profile(
        &self,
        request: &LoadRequest<'_>,
        inputs: &[Tensor],
        folder: &Path,
    ) -> Result<EngineProfile, EngineError> {
        examine::profile(request, inputs, folder)
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError> {
        let (environment, library_ns) = environment(request.runtime)?;
        let options = OrtOptions::from_setup(request.setup).map_err(EngineError::Unsupported)?;
        let (builder, notes) = builder(&environment, request, &options)?;
        let session = commit(builder, request.model)?;
        pin_this_thread(&options).map_err(EngineError::Unsupported)?;
        Ok(Box::new(OrtModel {
            session: Rc::new(RefCell::new(session)),
            device: request.setup.device.clone(),
            loaded: LoadedInfo {
                engine: title(request.runtime),
                library: request.runtime.map(|path| path.display().to_string()),
                threads: options.threads,
                library_ns,
                check_ns: 0,
                feeding: feeding(request.setup),
                notes,
            },
        }))
    }
}

struct OrtModel {
    session: Rc<RefCell<Session>>,
    device: String,
    loaded: LoadedInfo,
}

impl LoadedModel for OrtModel {
    fn loaded(&self) -> &LoadedInfo {
        &self.loaded
    }

    fn open(&mut self, inputs: &[Tensor], _batch: usize) -> Result<Box<dyn Runnable>, EngineError> {
        let binding = bind(&self.session.borrow(), inputs).map_err(|error| explain(&error))?;
        Ok(Box::new(OrtRunnable {
            session: Rc::clone(&self.session),
            binding,
        }))
    }

    fn open_requests(
        &mut self,
        generate: &Generate,
        seed: u64,
    ) -> Result<Box<dyn Runnable>, EngineError> {
        let steps = OrtDecoder::new(&self.session, generate, &self.device)?;
        Ok(Box::new(RequestRunnable::new(steps, generate, seed)?))
    }

    fn feeding_of_requests(&self) -> &'static str {
        generate::FEEDING
    }
}

struct OrtRunnable {
    session: Rc<RefCell<Session>>,
    binding: IoBinding,
}

impl Runnable for OrtRunnable {
    fn run(&mut self) -> Result<(), EngineError> {
        self.session
            .borrow_mut()
            .run_binding(&self.binding)
            .map(drop)
            .map_err(|error| explain(&error))
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError> {
        let mut session = self.session.borrow_mut();
        let outputs = session
            .run_binding(&self.binding)
            .map_err(|error| explain(&error))?;
        outputs
            .iter()
            .map(|(name, value)| from_ort(name, &value))
            .collect()
    }
}

fn environment(runtime: Option<&Path>) -> Result<(Environment, u64), EngineError> {
    let start = Instant::now();
    let path = runtime.ok_or_else(|| {
        EngineError::Unsupported(
            "no ONNX Runtime library was found; `powerband engines install onnxruntime` fetches one".to_owned(),
        )
    })?;
    let choose = |reason: String| {
        EngineError::Unsupported(format!(
            "{reason}; choose another with runtime=, or install one with `powerband engines install onnxruntime`"
        ))
    };
    let _loaded = interface::load_library(path).map_err(choose)?;
    let environment = ort::init_from(path)
        .map_err(|error| choose(error.to_string()))?
        .with_name("powerband")
        .with_telemetry(false)
        .build()
        .map_err(|error| explain(&error))?;
    Ok((environment, start.elapsed().as_nanos() as u64))
}

/// A session with every option of its setup, and what the user should know of that.
fn builder(
    environment: &Environment,
    request: &LoadRequest<'_>,
    options: &OrtOptions,
) -> Result<(SessionBuilder, Vec<String>), EngineError> {
    let setup = request.setup;
    let builder = Session::builder(environment).map_err(|error| explain(&error))?;
    let mut builder = options::apply(options, builder).map_err(|error| explain(&error))?;
    let mut notes = Vec::new();
    if let (Some("cuda"), Some(runtime)) = (setup.device.split(':').next(), request.runtime) {
        vendor_libraries::preload(runtime);
    }
    match ProviderChoice::from_setup(setup).map_err(EngineError::Unsupported)? {
        ProviderChoice::BuiltIn(provider, wanted) => {
            providers::register(provider, &mut builder, &wanted)?;
        }
        ProviderChoice::PlugIn {
            library,
            name,
            wanted,
        } => {
            let runtime = request.runtime.unwrap_or_else(|| Path::new(""));
            let place = (setup.device.as_str(), &wanted);
            let name = name.as_deref();
            let said = plugin::register(environment, &mut builder, runtime, &library, name, place)?;
            notes.push(format!("computes with {said} of {library}"));
        }
    }
    if options.strict {
        builder = builder
            .with_disable_cpu_fallback()
            .map_err(|error| explain(&error))?;
    }
    Ok((builder, notes))
}

/// Keeps the thread that calls ONNX Runtime on its processor, where threads are pinned. Its pool was started
/// before, and has processors of its own.
fn pin_this_thread(options: &OrtOptions) -> Result<(), String> {
    let Some(&first) = options::pinned_cores(options)?.first() else {
        return Ok(());
    };
    let mut set = CpuSet::new();
    set.set(first);
    sched_setaffinity(None, &set).map_err(|error| {
        format!("pinning=on: this thread cannot stay on processor {first}: {error}")
    })
}

fn commit(mut builder: SessionBuilder, model: &Path) -> Result<Session, EngineError> {
    builder.commit_from_file(model).map_err(|error| {
        let text = error.to_string();
        if text.contains("fallback to CPU EP has been explicitly disabled") {
            return EngineError::Unsupported(
                "the provider cannot run every node of this model, and strict=true forbids to leave any to the CPU; leave strict out to see which nodes".to_owned(),
            );
        }
        explain(&error)
    })
}

/// Who is to run a setup, as people write it.
fn provider_title(setup: &Setup) -> String {
    match ProviderChoice::from_setup(setup) {
        Ok(ProviderChoice::BuiltIn(provider, _)) => provider.title.to_owned(),
        Ok(ProviderChoice::PlugIn { name, library, .. }) => {
            name.unwrap_or_else(|| plugin::stem(&library))
        }
        Err(_unreadable) => String::new(),
    }
}

/// How inputs and outputs travel.
fn feeding(setup: &Setup) -> &'static str {
    if setup.device == "cpu" {
        "inputs bound once (IoBinding); outputs are left with the engine"
    } else {
        "inputs copied to the device once (IoBinding); outputs come back to the host in each run"
    }
}

fn bind(session: &Session, inputs: &[Tensor]) -> ort::Result<IoBinding> {
    let mut binding = session.create_binding()?;
    for input in inputs {
        binding.bind_input(input.spec.name.as_str(), &to_ort(input)?)?;
    }
    let memory = MemoryInfo::new(
        AllocationDevice::CPU,
        0,
        AllocatorType::Device,
        MemoryType::CPUOutput,
    )?;
    for output in session.outputs() {
        binding.bind_output_to_device(output.name(), &memory)?;
    }
    Ok(binding)
}

/// Name and version. The library's own build information does not always name its version, its
/// file name does.
fn title(runtime: Option<&Path>) -> String {
    let resolved = runtime.and_then(|path| path.canonicalize().ok());
    resolved
        .and_then(|path| runtimes::file_version(&path))
        .map_or_else(
            || "ONNX Runtime".to_owned(),
            |version| format!("ONNX Runtime {version}"),
        )
}

fn providers() -> Vec<String> {
    let built_in = offered_providers::ALL
        .iter()
        .filter(|provider| providers::is_built_in(provider));
    built_in.map(|provider| provider.title.to_owned()).collect()
}

/// What setups of this library cannot ask for, and why.
fn missing_options() -> BTreeMap<String, String> {
    let all = offered_providers::ALL.iter();
    let (built_in, missing): (Vec<_>, Vec<_>) =
        all.partition(|provider| providers::is_built_in(provider));
    let without = missing.into_iter().map(|provider| {
        (
            format!("provider={}", provider.word),
            provider.missing_reason(),
        )
    });
    without
        .chain(drivers::missing(built_in.into_iter()))
        .collect()
}

/// Separates running out of memory and missing operators from other failures, by the words that ONNX
/// Runtime uses; its codes are the same for all.
fn explain<R>(error: &ort::Error<R>) -> EngineError {
    let text = error.to_string();
    let lower = text.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if any(&[
        "bad_alloc",
        "failed to allocate memory",
        "out of memory",
        "bad allocation",
    ]) {
        return EngineError::OutOfMemory(text);
    }
    if any(&[
        "not implemented",
        "no op registered for",
        "not_implemented",
        "is not a registered function/op",
        "could not find an implementation",
        "no opset import for domain",
    ]) {
        return EngineError::Unsupported(format!("ONNX Runtime cannot run this model: {text}"));
    }
    EngineError::Failed(text)
}
