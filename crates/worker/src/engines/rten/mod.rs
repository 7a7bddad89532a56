//! The engine `rten`: pure Rust, always there, on the processor.
//!
//! rten computes in 32-bit floats and 32-bit integers: what a file has in 64 bits is narrowed, and what it has in
//! 16-bit floats is refused, because its times would be those of another precision.

mod generate;
mod report;
mod values;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rten::{LoadError, LoadErrorKind, ModelOptions, NodeId, RunOptions, ThreadPool, Value};

use self::generate::RtenDecoder;
use self::report::node_times;
use self::values::{Outputs, from_rten, refused, to_rten};
use super::generate::{Generate, RequestRunnable};
use super::watched_runs::watch_runs;
use super::{
    Engine, EngineError, EngineInfo, EngineProfile, LoadRequest, LoadedInfo, LoadedModel, Runnable,
    node_events,
};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::Tensor;
use powerband_onnx::{file, proto};
use powerband_planning::engine_options::positive;
use powerband_planning::engine_options::rten::{Rten, optimises};

/// Version of the crate that is compiled in; a test compares it with the lock file.
const VERSION: &str = "0.27.0";

impl Engine for Rten {
    fn probe(&self, _runtime: Option<&Path>) -> Result<EngineInfo, EngineError> {
        Ok(EngineInfo::on_cpu(format!("rten {VERSION}")))
    }

    fn profiles(&self) -> bool {
        true
    }

    fn watcher(&self) -> Option<&'static str> {
        Some("rten")
    }

    fn profile(
        &self,
        request: &LoadRequest<'_>,
        inputs: &[Tensor],
        folder: &Path,
    ) -> Result<EngineProfile, EngineError> {
        let network = Rc::new(RtenNetwork::load(request, threads(request.setup)?)?);
        let mut bound = RtenRunnable::new(&network, inputs)?;
        bound.options.verbose = true;
        let start = Instant::now();
        let mut events = Vec::new();
        let runs = watch_runs(|| {
            let began = start.elapsed();
            let report = capture_stdout(folder, || bound.run())?;
            let mut took = Duration::ZERO;
            for node in node_times(&report) {
                let event = node_events::node("rten", &node.name, &node.operator);
                let event = node_events::with_shapes(event, &node.inputs, &node.outputs);
                events.push(node_events::timed_event(event, began + took, node.took));
                took += node.took;
            }
            events.push(node_events::timed_event(node_events::run(), began, took));
            Ok(())
        })?;
        Ok(EngineProfile {
            files: vec![node_events::write(folder, events)?],
            runs,
        })
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError> {
        let threads = threads(request.setup)?;
        let network = RtenNetwork::load(request, threads)?;
        let loaded = LoadedInfo {
            engine: format!("rten {VERSION}"),
            threads: Some(threads),
            check_ns: network.check_ns,
            feeding: "inputs made once and shared with every run; outputs are left with the engine",
            ..LoadedInfo::default()
        };
        Ok(Box::new(RtenModel {
            network: Rc::new(network),
            loaded,
        }))
    }
}

/// Threads that share the work. Two on one core would only be in each other's way.
fn threads(setup: &Setup) -> Result<usize, EngineError> {
    let wanted = positive(setup, "threads").map_err(EngineError::Unsupported)?;
    let usable = || thread::available_parallelism().map_or(1, usize::from);
    Ok(wanted.unwrap_or_else(|| usable().min(num_cpus::get_physical()).max(1)))
}

/// Whether the graph is optimised first.
/// A network that was read, and what its file says of its outputs.
struct RtenNetwork {
    model: rten::Model,
    outputs: Outputs,
    pool: Arc<ThreadPool>,
    check_ns: u64,
}

impl RtenNetwork {
    fn load(request: &LoadRequest<'_>, threads: usize) -> Result<Self, EngineError> {
        let began = Instant::now();
        let outputs = check_types(request.model)?;
        let check_ns = began.elapsed().as_nanos() as u64;
        let optimises = optimises(request.setup).map_err(EngineError::Unsupported)?;
        let model = catch_panic(|| {
            let mut options = ModelOptions::with_all_ops();
            options.enable_optimization(optimises);
            let loaded = options.load_file(request.model);
            loaded.map_err(|error| explain_load(&error, request.model))
        })?;
        Ok(Self {
            model,
            outputs,
            pool: Arc::new(ThreadPool::with_num_threads(threads)),
            check_ns,
        })
    }
}

/// Refuses a file with types that rten lacks or would change unasked.
fn check_types(path: &Path) -> Result<Outputs, EngineError> {
    let model = file::load(path).map_err(|error| EngineError::Failed(error.to_string()))?;
    match model.graph.as_ref().and_then(refused) {
        Some(what) => Err(EngineError::Unsupported(format!(
            "rten cannot run this model: {what}"
        ))),
        None => Ok(Outputs::from_model(&model)),
    }
}

struct RtenModel {
    network: Rc<RtenNetwork>,
    loaded: LoadedInfo,
}

impl LoadedModel for RtenModel {
    fn loaded(&self) -> &LoadedInfo {
        &self.loaded
    }

    fn open(&mut self, inputs: &[Tensor], _batch: usize) -> Result<Box<dyn Runnable>, EngineError> {
        Ok(Box::new(RtenRunnable::new(&self.network, inputs)?))
    }

    fn open_requests(
        &mut self,
        generate: &Generate,
        seed: u64,
    ) -> Result<Box<dyn Runnable>, EngineError> {
        let steps = RtenDecoder::new(&self.network, generate)?;
        Ok(Box::new(RequestRunnable::new(steps, generate, seed)?))
    }

    fn feeding_of_requests(&self) -> &'static str {
        generate::FEEDING
    }
}

struct RtenRunnable {
    network: Rc<RtenNetwork>,
    inputs: Vec<(NodeId, Value)>,
    options: RunOptions,
}

impl RtenRunnable {
    fn new(network: &Rc<RtenNetwork>, inputs: &[Tensor]) -> Result<Self, EngineError> {
        let inputs = inputs.iter().map(|input| {
            let id = network.model.node_id(&input.spec.name);
            let id = id.map_err(|error| EngineError::Failed(error.to_string()))?;
            Ok((id, to_rten(input)?))
        });
        Ok(Self {
            network: Rc::clone(network),
            inputs: inputs.collect::<Result<_, EngineError>>()?,
            options: RunOptions::default().with_thread_pool(Some(Arc::clone(&network.pool))),
        })
    }

    fn run_for_outputs(&self) -> Result<Vec<Value>, EngineError> {
        let model = &self.network.model;
        let inputs = self.inputs.iter().map(|(id, value)| (*id, value.into()));
        let inputs = inputs.collect();
        catch_panic(|| {
            let outputs = model.run(inputs, model.output_ids(), Some(self.options.clone()));
            outputs.map_err(|error| explain(&error.to_string()))
        })
    }
}

impl Runnable for RtenRunnable {
    fn run(&mut self) -> Result<(), EngineError> {
        self.run_for_outputs().map(drop)
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError> {
        let values = self.run_for_outputs()?.into_iter().enumerate();
        let named = values.map(|(place, value)| {
            let (name, element) = self.network.outputs.name_and_type(place);
            from_rten(name, element, value)
        });
        named.collect()
    }
}

/// Makes a failure of what rten gives up with a panic.
fn catch_panic<T>(act: impl FnOnce() -> Result<T, EngineError>) -> Result<T, EngineError> {
    panic::catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("it does not say why");
        Err(EngineError::Failed(format!("rten broke off: {text}")))
    })
}

/// Names the operator, where rten names no more than the node.
fn explain_load(error: &LoadError, path: &Path) -> EngineError {
    let text = error.to_string();
    match error.kind() {
        LoadErrorKind::OperatorInvalid => {
            let operator = error.node().and_then(|node| operator_of(path, node));
            let operator = operator.map(|operator| format!("{operator}: "));
            EngineError::Unsupported(format!(
                "rten cannot run this model: {}{text}",
                operator.unwrap_or_default()
            ))
        }
        LoadErrorKind::UnknownFileType => EngineError::Unsupported(
            "rten takes a file whose name ends in .onnx; rename this one".to_owned(),
        ),
        _ => explain(&text),
    }
}

fn operator_of(path: &Path, node: &str) -> Option<String> {
    let model = file::load(path).ok()?;
    let found = proto::nodes(&model).iter().find(|one| one.name == node)?;
    Some(found.op_type.clone())
}

/// Tells what rten lacks from a real failure, by the words that it uses.
fn explain(text: &str) -> EngineError {
    let lacks = [
        "unsupported",
        "not supported",
        "disallowed path",
        "missing external data",
    ];
    if lacks.iter().any(|words| text.contains(words)) {
        return EngineError::Unsupported(format!("rten cannot run this model: {text}"));
    }
    EngineError::Failed(text.replace("operator \"\"", "an operator without a name"))
}

/// What a run prints on standard output, which goes into a file meanwhile: rten has no other way to say how long
/// its nodes took.
fn capture_stdout(
    folder: &Path,
    run: impl FnOnce() -> Result<(), EngineError>,
) -> Result<String, EngineError> {
    let failed = |error: io::Error| {
        EngineError::Failed(format!("rten's timings cannot be taken down: {error}"))
    };
    let path = folder.join("printed");
    let file = File::create(&path).map_err(failed)?;
    let before = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3).map_err(|e| failed(e.into()))?;
    rustix::stdio::dup2_stdout(file).map_err(|e| failed(e.into()))?;
    let ran = run();
    let flushed = io::stdout().flush();
    rustix::stdio::dup2_stdout(before).map_err(|e| failed(e.into()))?;
    ran?;
    flushed.map_err(failed)?;
    fs::read_to_string(&path).map_err(failed)
}

#[cfg(test)]
mod tests;
