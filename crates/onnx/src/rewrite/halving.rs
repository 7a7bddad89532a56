//! Stored floats in 16 bits, which reach from 6e-8 to 65504 only, and what a graph says of types.
//!
//! `fp16` calls it for every tensor that it turns and reports what did not fit.

use crate::pb::attribute_proto::AttributeType;
use crate::pb::tensor_proto::DataType;
use crate::pb::{AttributeProto, NodeProto, TensorProto, ValueInfoProto, type_proto};
use half::f16;

use super::parts::{self, FLOAT, is_op};
use super::{Counts, RewriteError};
use crate::proto;

/// 16-bit floats, as a file writes the type.
pub(crate) const HALF: i32 = DataType::Float16 as i32;

/// A float tensor in 16 bits.
pub(super) fn halved(
    tensor: &TensorProto,
    name: &str,
    counts: &mut Counts,
) -> Result<TensorProto, RewriteError> {
    let values = parts::values(tensor)?;
    let mut bytes = Vec::with_capacity(values.len() * 2);
    for value in values {
        bytes.extend_from_slice(&halve(value, counts).to_le_bytes());
    }
    counts.tensors += 1;
    Ok(TensorProto {
        name: name.to_owned(),
        data_type: HALF,
        dims: tensor.dims.clone(),
        doc_string: tensor.doc_string.clone(),
        raw_data: bytes,
        ..Default::default()
    })
}

/// The nearest 16-bit float that is neither infinite nor zero where the value is not.
fn halve(value: f32, counts: &mut Counts) -> f16 {
    let nearest = f16::from_f32(value);
    if value.is_finite() && value.abs() > f16::MAX.to_f32() {
        counts.clamped += 1;
        return if value > 0.0 { f16::MAX } else { f16::MIN };
    }
    // A divisor or an epsilon that became zero would make infinities.
    if value != 0.0 && nearest.to_f32() == 0.0 {
        counts.raised += 1;
        let tiny = f16::MIN_POSITIVE_SUBNORMAL;
        return if value > 0.0 { tiny } else { -tiny };
    }
    nearest
}

/// Changes the attributes that say which type a node gives.
pub(super) fn retype(node: &mut NodeProto) {
    if is_op(node, "Cast") && proto::int(node, "to") == Some(i64::from(FLOAT)) {
        parts::set(node, parts::int("to", i64::from(HALF)));
    }
    if !is_op(node, "ConstantOfShape") {
        return;
    }
    let given = proto::attribute(node, "value").and_then(|found| found.t.as_ref());
    // Without a value it gives 32-bit zeros.
    let zero = parts::floats("", &[1], &[0.0]);
    let tensor = given.unwrap_or(&zero);
    let mut uncounted = Counts::default();
    if tensor.data_type != FLOAT {
        return;
    }
    if let Ok(tensor) = halved(tensor, &tensor.name, &mut uncounted) {
        let attribute = AttributeProto {
            name: "value".to_owned(),
            r#type: AttributeType::Tensor as i32,
            t: Some(tensor),
            ..Default::default()
        };
        parts::set(node, attribute);
    }
}

/// Changes what a value is said to hold, where that is a float.
pub(super) fn set_element(value: &mut ValueInfoProto, element: i32) {
    let inner = value.r#type.as_mut().and_then(|known| known.value.as_mut());
    if let Some(type_proto::TypeValue::TensorType(tensor)) = inner
        && matches!(tensor.elem_type, FLOAT | HALF)
    {
        tensor.elem_type = element;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_counted() {
        let mut counts = Counts::default();
        let mut bits = |value| halve(value, &mut counts).to_f32();
        assert_eq!(bits(1e6), 65504.0);
        assert_eq!(bits(-65519.0), -65504.0);
        assert_eq!(bits(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert!((bits(-1e-12) + 5.96e-8).abs() < 1e-10);
        assert_eq!([bits(0.0), bits(0.5)], [0.0, 0.5]);
        assert_eq!((counts.clamped, counts.raised), (2, 1));
    }
}
