//! The engine `ort`: ONNX Runtime, through the `ort` crate, from a library found at run time.
//!
//! A process can load one such library, once; that is one reason why each setup has its own worker.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use ort::environment::Environment;
use ort::ep::{self, ExecutionProvider as _};
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{IoBinding, Session};
use ort::value::{DynValue, Tensor as OrtTensor};

use super::runtimes;
use super::{
    Engine, EngineError, EngineInfo, Key, LoadRequest, Loaded, LoadedModel, Runnable, positive,
};
use crate::domain::setup::Setup;
use crate::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

const OPTIMISATION_LEVELS: [&str; 4] = ["none", "basic", "extended", "all"];

/// The engine.
pub struct OnnxRuntime;

impl Engine for OnnxRuntime {
    fn id(&self) -> &'static str {
        "ort"
    }

    fn title(&self) -> &'static str {
        "ONNX Runtime"
    }

    fn keys(&self) -> &'static [Key] {
        &[
            Key {
                name: "opt",
                values: "none, basic, extended, all",
                help: "graph optimisation (default: all)",
            },
            Key {
                name: "threads",
                values: "1 to 4096",
                help: "threads within an operator (default: ONNX Runtime's choice, the physical cores)",
            },
            Key {
                name: "runtime",
                values: "a version or a path",
                help: "which ONNX Runtime library, of several",
            },
        ]
    }

    fn needs_runtime(&self) -> bool {
        true
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        if setup.device != "cpu" {
            return Err(format!(
                "this version runs ONNX Runtime on the cpu alone, not on {}",
                setup.device
            ));
        }
        optimisation(setup)?;
        positive(setup, "threads").map(drop)
    }

    fn probe(&self, runtime: Option<&Path>) -> Result<EngineInfo, EngineError> {
        let (_environment, _) = environment(runtime)?;
        Ok(EngineInfo {
            version: title(runtime),
            library: runtime.map(Path::to_path_buf),
            devices: vec!["cpu".to_owned()],
            providers: providers(),
        })
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError> {
        let (environment, library_ns) = environment(request.runtime)?;
        let threads = positive(request.setup, "threads").map_err(EngineError::Unsupported)?;
        let level = optimisation(request.setup).map_err(EngineError::Unsupported)?;
        let session = session(&environment, level, threads, request.model)
            .map_err(|error| explain(&error))?;
        Ok(Box::new(Model {
            session: Rc::new(RefCell::new(session)),
            loaded: Loaded {
                engine: title(request.runtime),
                library: request.runtime.map(|path| path.display().to_string()),
                threads,
                library_ns,
                feeding: "inputs bound once (IoBinding); outputs are left with the engine",
                ..Loaded::default()
            },
        }))
    }
}

struct Model {
    session: Rc<RefCell<Session>>,
    loaded: Loaded,
}

impl LoadedModel for Model {
    fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    fn open(&mut self, inputs: &[Tensor], _batch: usize) -> Result<Box<dyn Runnable>, EngineError> {
        let binding = bind(&self.session.borrow(), inputs).map_err(|error| explain(&error))?;
        Ok(Box::new(Bound {
            session: Rc::clone(&self.session),
            binding,
        }))
    }
}

struct Bound {
    session: Rc<RefCell<Session>>,
    binding: IoBinding,
}

impl Runnable for Bound {
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
    let environment = ort::init_from(path)
        .map_err(|error| EngineError::Unsupported(format!("{error}; choose another with runtime=, or install one with `powerband engines install onnxruntime`")))?
        .with_name("powerband")
        .with_telemetry(false)
        .build()
        .map_err(|error| explain(&error))?;
    Ok((environment, start.elapsed().as_nanos() as u64))
}

fn session(
    environment: &Environment,
    level: GraphOptimizationLevel,
    threads: Option<usize>,
    model: &Path,
) -> ort::Result<Session> {
    let mut builder: SessionBuilder =
        Session::builder(environment)?.with_optimization_level(level)?;
    if let Some(threads) = threads {
        builder = builder.with_intra_threads(threads)?;
    }
    builder.commit_from_file(model)
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

fn optimisation(setup: &Setup) -> Result<GraphOptimizationLevel, String> {
    match setup.options.get("opt").map_or("all", String::as_str) {
        "none" => Ok(GraphOptimizationLevel::Disable),
        "basic" => Ok(GraphOptimizationLevel::Level1),
        "extended" => Ok(GraphOptimizationLevel::Level2),
        "all" => Ok(GraphOptimizationLevel::All),
        other => Err(format!(
            "opt={other} is no level of optimisation; there are {}",
            OPTIMISATION_LEVELS.join(", ")
        )),
    }
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
    let known = [
        ("CPU", ep::CPU::is_available()),
        ("CUDA", ep::CUDA::is_available()),
        ("TensorRT", ep::TensorRT::is_available()),
        ("ROCm", ep::ROCm::is_available()),
        ("MIGraphX", ep::MIGraphX::is_available()),
        ("OpenVINO", ep::OpenVINO::is_available()),
        ("DirectML", ep::DirectML::is_available()),
        ("CoreML", ep::CoreML::is_available()),
        ("WebGPU", ep::WebGPU::is_available()),
        ("XNNPACK", ep::XNNPACK::is_available()),
    ];
    known
        .into_iter()
        .filter(|(_, there)| matches!(there, Ok(true)))
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn to_ort(tensor: &Tensor) -> ort::Result<DynValue> {
    let dims: Vec<i64> = tensor.spec.dims.iter().map(|&dim| dim as i64).collect();
    Ok(match tensor.data.clone() {
        TensorData::F32(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
        TensorData::F64(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
        TensorData::F16(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
        TensorData::I8(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
        TensorData::I16(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
        TensorData::I32(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
        TensorData::I64(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
        TensorData::U8(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
        TensorData::Bool(v) => OrtTensor::from_array((dims, v))?.into_dyn(),
    })
}

fn from_ort(name: &str, value: &ort::value::ValueRef<'_>) -> Result<Tensor, EngineError> {
    macro_rules! read_back {
        ($($element:ident: $native:ty),*) => {
            $(if let Ok((shape, data)) = value.try_extract_tensor::<$native>() {
                let dims = shape.iter().map(|&dim| dim as usize).collect();
                let spec = TensorSpec { name: name.to_owned(), element: ElementType::$element, dims };
                return Ok(Tensor { spec, data: TensorData::$element(data.to_vec()) });
            })*
        };
    }
    read_back!(F32: f32, F16: half::f16, F64: f64, I64: i64, I32: i32, I16: i16, I8: i8, U8: u8, Bool: bool);
    Err(EngineError::Unsupported(format!(
        "the output {name} is of a type that is not read back"
    )))
}

/// Tells running out of memory and operators that are missing from other failures, by the words
/// that ONNX Runtime uses; its codes do not tell them apart.
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
