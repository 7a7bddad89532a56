//! Tensors of ours as ONNX Runtime's, and back.

use ort::value::{DynValue, Tensor as OrtTensor, ValueRef};

use crate::engines::EngineError;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

/// As a value that a session takes.
pub(crate) fn to_ort(tensor: &Tensor) -> ort::Result<DynValue> {
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

/// A value that a session gave.
pub(crate) fn from_ort(name: &str, value: &ValueRef<'_>) -> Result<Tensor, EngineError> {
    macro_rules! read_back {
        ($($element:ident: $native:ty),*) => {
            $(if let Ok((shape, data)) = value.try_extract_tensor::<$native>() {
                let dims = shape.iter().map(|&dim| dim as usize).collect();
                let spec = TensorSpec::new(name, ElementType::$element, dims);
                return Ok(Tensor { spec, data: TensorData::$element(data.to_vec()) });
            })*
        };
    }
    read_back!(F32: f32, F16: half::f16, F64: f64, I64: i64, I32: i32, I16: i16, I8: i8, U8: u8, Bool: bool);
    Err(EngineError::Unsupported(format!(
        "the output {name} is of a type that is not read back"
    )))
}
