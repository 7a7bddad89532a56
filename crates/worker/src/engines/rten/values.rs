//! Values of ours and of rten, and the types that it lacks.

use rten::Value;
use rten_tensor::prelude::{AsView as _, Layout as _};

use crate::engines::EngineError;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};
use powerband_onnx::pb::{GraphProto, ModelProto, NodeProto};
use powerband_onnx::proto;

/// What a file says of a network's outputs, in order.
pub(super) struct Outputs(Vec<(String, Option<ElementType>)>);

impl Outputs {
    pub(super) fn from_model(model: &ModelProto) -> Self {
        let outputs = model.graph.iter().flat_map(|graph| &graph.output);
        let stated = outputs.map(|output| {
            let element = proto::tensor_type(output).map(|tensor| tensor.elem_type);
            (output.name.clone(), element.and_then(proto::element_type))
        });
        Self(stated.collect())
    }

    /// Name and type of one of them.
    pub(super) fn name_and_type(&self, place: usize) -> (&str, Option<ElementType>) {
        let known = self.0.get(place);
        known.map_or(("", None), |(name, element)| (name, *element))
    }
}

/// What of a graph rten cannot hold; nothing where it can hold everything.
pub(super) fn refused(graph: &GraphProto) -> Option<String> {
    if let Some(sparse) = graph.sparse_initializer.first() {
        let name = sparse.values.as_ref().map_or("", |values| &values.name);
        return Some(format!(
            "the weight \"{name}\" is sparse, and rten has dense ones only"
        ));
    }
    let weights = proto::constants(graph);
    let weights = weights.map(|(name, tensor)| ("weight", name, tensor.data_type));
    let inputs = graph.input.iter().filter_map(|input| {
        let element = proto::tensor_type(input)?.elem_type;
        Some(("input", input.name.as_str(), element))
    });
    let casts = graph.node.iter().filter_map(cast);
    let mut all = inputs.chain(weights).chain(casts);
    let foreign = all.find(|(_, _, element)| !is_known(*element));
    let foreign = foreign.map(|(what, name, element)| {
        let element = proto::type_name(element);
        format!("the {what} \"{name}\" is {element}, which rten does not compute in")
    });
    foreign.or_else(|| {
        let attributes = graph.node.iter().flat_map(|node| &node.attribute);
        let mut bodies = attributes.filter_map(|attribute| attribute.g.as_ref());
        bodies.find_map(refused)
    })
}

/// What a conversion makes.
fn cast(node: &NodeProto) -> Option<(&'static str, &str, i32)> {
    let element = (node.op_type == "Cast").then(|| proto::int(node, "to"))??;
    let name = node.output.first().map_or("", String::as_str);
    Some(("value", name, i32::try_from(element).ok()?))
}

/// Whether values of a type keep their meaning. What no type is known of is left to rten.
fn is_known(data_type: i32) -> bool {
    match proto::element_type(data_type) {
        Some(element) => !matches!(element, ElementType::F16 | ElementType::I16),
        None => data_type == 0,
    }
}

pub(super) fn to_rten(tensor: &Tensor) -> Result<Value, EngineError> {
    let dims = &tensor.spec.dims;
    let failed = |error: &dyn std::error::Error| EngineError::Failed(error.to_string());
    match &tensor.data {
        TensorData::F32(v) => Value::from_shape(dims, v.clone()).map_err(|e| failed(&e)),
        TensorData::F64(v) => {
            let floats: Vec<f32> = v.iter().map(|&value| value as f32).collect();
            Value::from_shape(dims, floats).map_err(|e| failed(&e))
        }
        TensorData::I8(v) => Value::from_shape(dims, v.clone()).map_err(|e| failed(&e)),
        TensorData::U8(v) => Value::from_shape(dims, v.clone()).map_err(|e| failed(&e)),
        TensorData::I32(v) => Value::from_shape(dims, v.clone()).map_err(|e| failed(&e)),
        TensorData::I64(v) => {
            let narrow: Result<Vec<i32>, _> = v.iter().map(|&value| i32::try_from(value)).collect();
            let narrow = narrow.map_err(|_large| {
                EngineError::Unsupported(format!(
                    "the input \"{}\" has values beyond 32 bits, and rten has no larger integers",
                    tensor.spec.name
                ))
            })?;
            Value::from_shape(dims, narrow).map_err(|e| failed(&e))
        }
        TensorData::Bool(v) => {
            let flags: Vec<i32> = v.iter().map(|&value| i32::from(value)).collect();
            Value::from_shape(dims, flags).map_err(|e| failed(&e))
        }
        TensorData::F16(_) | TensorData::I16(_) => Err(EngineError::Unsupported(format!(
            "the input \"{}\" is {}, which rten does not compute in",
            tensor.spec.name, tensor.spec.element
        ))),
    }
}

/// A value as the file types it; as rten types it where the file does not say.
pub(super) fn from_rten(
    name: &str,
    element: Option<ElementType>,
    value: Value,
) -> Result<Tensor, EngineError> {
    let dims = value.shape().to_vec();
    let data = match value {
        Value::FloatTensor(tensor) if element == Some(ElementType::F64) => {
            TensorData::F64(tensor.to_vec().into_iter().map(f64::from).collect())
        }
        Value::FloatTensor(tensor) => TensorData::F32(tensor.to_vec()),
        Value::Int32Tensor(tensor) => integers(element, tensor.to_vec()),
        Value::Int8Tensor(tensor) => TensorData::I8(tensor.to_vec()),
        Value::UInt8Tensor(tensor) => TensorData::U8(tensor.to_vec()),
        _ => {
            return Err(EngineError::Unsupported(format!(
                "the output \"{name}\" is a sequence, and only tensors are read back"
            )));
        }
    };
    let spec = TensorSpec::new(name, element_of(&data), dims);
    Ok(Tensor { spec, data })
}

fn integers(element: Option<ElementType>, values: Vec<i32>) -> TensorData {
    match element {
        Some(ElementType::I64) => TensorData::I64(values.into_iter().map(i64::from).collect()),
        Some(ElementType::Bool) => {
            TensorData::Bool(values.into_iter().map(|value| value != 0).collect())
        }
        _ => TensorData::I32(values),
    }
}

fn element_of(data: &TensorData) -> ElementType {
    match data {
        TensorData::F32(_) => ElementType::F32,
        TensorData::F64(_) => ElementType::F64,
        TensorData::F16(_) => ElementType::F16,
        TensorData::I8(_) => ElementType::I8,
        TensorData::I16(_) => ElementType::I16,
        TensorData::I32(_) => ElementType::I32,
        TensorData::I64(_) => ElementType::I64,
        TensorData::U8(_) => ElementType::U8,
        TensorData::Bool(_) => ElementType::Bool,
    }
}
