//! The engine `tract`: pure Rust, always there, on the processor.
//!
//! A network is optimised anew for each batch size, because tract does its best work on fixed shapes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use half::f16;
use serde_json::{Value, json};
use tract_linalg::multithread::{Executor, multithread_tract_scope};
use tract_onnx::prelude::{
    DatumType, Framework as _, InferenceFact, InferenceModel, InferenceModelExt as _,
    IntoRunnable as _, TValue, Tensor as TractTensor, TractError, TractResult, TypedRunnableModel,
};
use tract_onnx::tract_core::plan;

use super::{
    Engine, EngineError, EngineInfo, Key, LoadRequest, Loaded, LoadedModel, Runnable, THREADS,
    Watched, check_cpu_alone, node_events, positive,
};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};
use powerband_onnx::{agreement, file, inspect};

/// Version of the crate that is compiled in; a test compares it with the lock file.
const VERSION: &str = "0.23.9";

/// The engine.
pub struct Tract;

impl Engine for Tract {
    fn id(&self) -> &'static str {
        "tract"
    }

    fn title(&self) -> &'static str {
        "tract"
    }

    fn keys(&self) -> &'static [Key] {
        &[THREADS]
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        check_cpu_alone(setup)
    }

    fn probe(&self, _runtime: Option<&Path>) -> Result<EngineInfo, EngineError> {
        Ok(EngineInfo::on_cpu(format!("tract {VERSION}")))
    }

    fn profiles(&self) -> bool {
        true
    }

    fn watcher(&self) -> Option<&'static str> {
        Some("tract")
    }

    fn profile(
        &self,
        request: &LoadRequest<'_>,
        inputs: &[Tensor],
        folder: &Path,
    ) -> Result<Watched, EngineError> {
        let executor = executor(threads(request.setup)?);
        let (plan, ordered) = optimised(request.model, inputs).map_err(|error| explain(&error))?;
        let values = ordered
            .into_iter()
            .map(|input| to_tract(input).map(Into::into))
            .collect::<TractResult<Vec<TValue>>>()
            .map_err(|error| explain(&error))?;
        let mut watched = Recorder::begin();
        let began_ns = node_events::profile(|| {
            multithread_tract_scope(executor.clone(), || watched.run(&plan, &values))
                .map_err(|error| explain(&error))
        })?;
        watched.name_operators(&Origins::of(request.model));
        Ok(Watched {
            files: vec![node_events::write(folder, watched.events)?],
            began_ns,
        })
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError> {
        let threads = threads(request.setup)?;
        // Reads and parses the file, so that a broken one is a failure to load; shapes come later.
        parse(request.model, None).map_err(|error| explain(&error))?;
        Ok(Box::new(Model {
            path: request.model.to_path_buf(),
            executor: executor(threads),
            loaded: Loaded {
                engine: format!("tract {VERSION}"),
                threads: Some(threads),
                feeding: "inputs made once and shared with every run; outputs are left with the engine",
                ..Loaded::default()
            },
        }))
    }
}

/// Threads that share the work.
fn threads(setup: &Setup) -> Result<usize, EngineError> {
    let wanted = positive(setup, "threads").map_err(EngineError::Unsupported)?;
    Ok(wanted.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)))
}

fn executor(threads: usize) -> Executor {
    if threads > 1 {
        Executor::multithread(threads)
    } else {
        Executor::SingleThread
    }
}

/// Runs whose nodes are timed one by one, as events of the kind that ONNX Runtime writes.
struct Recorder {
    began: Instant,
    events: Vec<Value>,
}

impl Recorder {
    fn begin() -> Self {
        Self {
            began: Instant::now(),
            events: Vec::new(),
        }
    }

    fn run(&mut self, plan: &Arc<TypedRunnableModel>, inputs: &[TValue]) -> TractResult<()> {
        let inputs = inputs.iter().cloned().collect();
        let began = Instant::now();
        let mut state = plan.spawn()?;
        state.run_plan_with_eval(inputs, |context, state, node, inputs| {
            let begun = Instant::now();
            let outputs = plan::eval(context, state, node, inputs);
            let took = begun.elapsed();
            let event = node_events::node("tract", &node.name, &node.op.name());
            self.events
                .push(node_events::at(event, begun - self.began, took));
            outputs
        })?;
        let event = node_events::run();
        self.events
            .push(node_events::at(event, began - self.began, began.elapsed()));
        Ok(())
    }

    /// Names nodes by the operator of the file that they carry out, as the other engines do: what tract
    /// calls a matrix product may be a convolution.
    fn name_operators(&mut self, origins: &Origins) {
        for event in &mut self.events {
            let name = event["name"].as_str().unwrap_or_default();
            let node = name
                .strip_suffix(node_events::KERNEL_TIME)
                .unwrap_or_default();
            if let Some(operator) = origins.operator(node) {
                event["args"]["op_name"] = json!(operator);
            }
        }
    }
}

/// The operators of a file, by what tract calls their nodes.
struct Origins {
    operators: HashMap<String, String>,
}

impl Origins {
    /// Empty for a file that cannot be read; nodes keep tract's words then.
    fn of(model: &Path) -> Self {
        let graph = file::load(model).ok().and_then(|model| model.graph);
        let nodes = graph.map(|graph| graph.node).unwrap_or_default();
        let operators = nodes.into_iter().filter_map(|node| {
            let name = Some(node.name).filter(|name| !name.is_empty());
            let name = name.or_else(|| node.output.into_iter().next())?;
            Some((name, node.op_type))
        });
        Self {
            operators: operators.collect(),
        }
    }

    /// `conv1.im2col` and `conv1.matmatmul` are parts of `conv1`.
    fn operator(&self, node: &str) -> Option<&str> {
        let parents = node.rmatch_indices('.').map(|(at, _)| &node[..at]);
        let mut names = std::iter::once(node).chain(parents);
        names.find_map(|name| self.operators.get(name).map(String::as_str))
    }
}

struct Model {
    path: PathBuf,
    executor: Executor,
    loaded: Loaded,
}

impl LoadedModel for Model {
    fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    fn open(&mut self, inputs: &[Tensor], _batch: usize) -> Result<Box<dyn Runnable>, EngineError> {
        let (plan, ordered) = optimised(&self.path, inputs).map_err(|error| explain(&error))?;
        let values = ordered
            .into_iter()
            .map(|input| to_tract(input).map(Into::into))
            .collect::<TractResult<Vec<TValue>>>();
        Ok(Box::new(Bound {
            path: self.path.clone(),
            plan,
            inputs: values.map_err(|error| explain(&error))?,
            executor: self.executor.clone(),
        }))
    }
}

struct Bound {
    path: PathBuf,
    plan: Arc<TypedRunnableModel>,
    inputs: Vec<TValue>,
    executor: Executor,
}

impl Bound {
    fn run_for_outputs(&self) -> Result<Vec<TValue>, EngineError> {
        let inputs = self.inputs.iter().cloned().collect();
        multithread_tract_scope(self.executor.clone(), || self.plan.run(inputs))
            .map(|outputs| outputs.into_iter().collect())
            .map_err(|error| explain(&error))
    }
}

impl Runnable for Bound {
    fn run(&mut self) -> Result<(), EngineError> {
        self.run_for_outputs().map(drop)
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError> {
        let outputs = self.run_for_outputs()?;
        // tract calls its outlets after nodes; the file knows what its outputs are called.
        let names = file::load(&self.path)
            .map(|model| inspect::outputs(&model))
            .unwrap_or_default();
        let named = outputs.iter().enumerate();
        named
            .map(|(index, value)| {
                let unnamed = || format!("output {index}");
                let name = names.get(index).cloned().unwrap_or_else(unnamed);
                from_tract(&name, value)
            })
            .collect()
    }
}

/// Reads a file without what it says of inner values that is not so with these inputs: tract believes a dimension
/// with a name to be open, and a number to hold for every batch. Without inputs nothing of it is believed.
fn parse(path: &Path, inputs: Option<&[Tensor]>) -> TractResult<InferenceModel> {
    let tract = tract_onnx::onnx();
    let mut proto = tract.proto_model_for_path(path)?;
    if let Some(graph) = proto
        .graph
        .as_mut()
        .filter(|graph| !graph.value_info.is_empty())
    {
        let kept = inputs.and_then(|inputs| {
            let specs: Vec<TensorSpec> = inputs.iter().map(|input| input.spec.clone()).collect();
            // A file that only tract can read is left to it, without anything that may be wrong.
            let model = file::load(path).ok()?;
            Some(agreement::agreeing(model, &specs))
        });
        let kept = kept.unwrap_or_default();
        graph.value_info.retain(|value| kept.contains(&value.name));
    }
    let folder = path.parent().and_then(Path::to_str);
    let parsed = tract.parse(&proto, folder)?;
    if let Some(first) = parsed.unresolved_inputs.first() {
        return Err(TractError::msg(format!(
            "the network reads {first:?}, which nothing makes"
        )));
    }
    Ok(parsed.model)
}

/// The network for these shapes, and the inputs in the order in which it takes them.
fn optimised<'a>(
    path: &Path,
    inputs: &'a [Tensor],
) -> TractResult<(Arc<TypedRunnableModel>, Vec<&'a Tensor>)> {
    let mut model = parse(path, Some(inputs))?;
    let names: Vec<String> = model
        .input_outlets()?
        .iter()
        .map(|outlet| model.node(outlet.node).name.clone())
        .collect();
    let mut ordered = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        if let Some(input) = inputs.iter().find(|input| input.spec.name == *name) {
            let fact = InferenceFact::dt_shape(datum_type(input.spec.element), &input.spec.dims);
            model = model.with_input_fact(index, fact)?;
            ordered.push(input);
        }
    }
    Ok((model.into_optimized()?.into_runnable()?, ordered))
}

fn datum_type(element: ElementType) -> DatumType {
    match element {
        ElementType::F32 => DatumType::F32,
        ElementType::F64 => DatumType::F64,
        ElementType::F16 => DatumType::F16,
        ElementType::I8 => DatumType::I8,
        ElementType::I16 => DatumType::I16,
        ElementType::I32 => DatumType::I32,
        ElementType::I64 => DatumType::I64,
        ElementType::U8 => DatumType::U8,
        ElementType::Bool => DatumType::Bool,
    }
}

fn to_tract(tensor: &Tensor) -> TractResult<TractTensor> {
    let dims = &tensor.spec.dims;
    match &tensor.data {
        TensorData::F32(v) => TractTensor::from_shape(dims, v),
        TensorData::F64(v) => TractTensor::from_shape(dims, v),
        TensorData::F16(v) => TractTensor::from_shape(dims, v),
        TensorData::I8(v) => TractTensor::from_shape(dims, v),
        TensorData::I16(v) => TractTensor::from_shape(dims, v),
        TensorData::I32(v) => TractTensor::from_shape(dims, v),
        TensorData::I64(v) => TractTensor::from_shape(dims, v),
        TensorData::U8(v) => TractTensor::from_shape(dims, v),
        TensorData::Bool(v) => TractTensor::from_shape(dims, v),
    }
}

fn from_tract(name: &str, value: &TractTensor) -> Result<Tensor, EngineError> {
    let failed = |error| explain(&error);
    let (element, data) = match value.datum_type() {
        DatumType::F16 => {
            let halves: Vec<f16> = value
                .try_as_plain_ram()
                .and_then(|v| v.as_slice::<f16>().map(<[f16]>::to_vec))
                .map_err(failed)?;
            (ElementType::F16, TensorData::F16(halves))
        }
        DatumType::I64 => {
            let whole = value
                .try_as_plain_ram()
                .and_then(|v| v.as_slice::<i64>().map(<[i64]>::to_vec))
                .map_err(failed)?;
            (ElementType::I64, TensorData::I64(whole))
        }
        _ => {
            let cast = value.cast_to::<f32>().map_err(failed)?;
            let floats = cast
                .try_as_plain_ram()
                .and_then(|v| v.as_slice::<f32>().map(<[f32]>::to_vec))
                .map_err(failed)?;
            (ElementType::F32, TensorData::F32(floats))
        }
    };
    let spec = TensorSpec::new(name, element, value.shape().to_vec());
    Ok(Tensor { spec, data })
}

/// Tells an operator that tract lacks from a real failure, and keeps the innermost cause.
fn explain(error: &tract_onnx::prelude::TractError) -> EngineError {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    let text = chain.join(": ");
    let lacks = [
        "Unimplemented",
        "unimplemented",
        "not supported",
        "Unsupported",
        "No implementation",
    ];
    if lacks.iter().any(|word| text.contains(word)) {
        return EngineError::Unsupported(format!("tract cannot run this model: {text}"));
    }
    EngineError::Failed(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_node_carry_out_its_operator() {
        let operators = [("layer1.conv1", "Conv"), ("layer1", "Relu")];
        let operators = operators.map(|(name, op)| (name.to_owned(), op.to_owned()));
        let origins = Origins {
            operators: operators.into(),
        };
        for (node, wanted) in [
            ("layer1.conv1.matmatmul", Some("Conv")),
            ("layer1.conv1", Some("Conv")),
            ("layer1.conv1.pad.x", Some("Conv")),
            ("layer1.low", Some("Relu")),
            ("layer12", None),
        ] {
            assert_eq!(origins.operator(node), wanted, "{node}");
        }
    }

    #[test]
    fn the_version_is_the_one_compiled_in() {
        let lock = include_str!("../../../../Cargo.lock");
        let entry = format!("name = \"tract-onnx\"\nversion = \"{VERSION}\"");
        assert!(lock.contains(&entry));
    }
}
