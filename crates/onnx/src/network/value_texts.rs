//! What the picture of a network says of values, constants and settings of a file.

use std::collections::HashMap;

use crate::infer::Shapes;
use crate::pb::attribute_proto::AttributeType;
use crate::pb::{AttributeProto, TensorProto};
use crate::proto;
use powerband_core::base::humanize;
use powerband_core::domain::network::NetworkWeight;

/// Characters of a setting before it is cut.
const LONGEST: usize = 60;
/// Values of a list that are written out.
const LISTED: usize = 8;

/// What is known of values by their names.
pub(super) struct KnownValues {
    pub(super) shapes: Shapes,
    pub(super) bits: HashMap<String, u64>,
}

impl KnownValues {
    pub(super) fn shape(&self, name: &str) -> Option<String> {
        self.shapes.get(name).map(|dims| dims_text(dims))
    }

    pub(super) fn bytes(&self, name: &str) -> Option<u64> {
        let elements = proto::elements(self.shapes.get(name)?);
        let bits = self.bits.get(name).copied().unwrap_or(32);
        Some(elements.saturating_mul(bits).div_ceil(8))
    }
}

pub(super) fn weight(name: &str, tensor: &TensorProto) -> NetworkWeight {
    let dims = proto::dims(tensor).unwrap_or_default();
    let element = proto::type_name(tensor.data_type);
    let shape = if dims.is_empty() {
        format!("{element} scalar")
    } else {
        format!("{element} {}", dims_text(&dims))
    };
    NetworkWeight {
        name: name.to_owned(),
        shape,
        bytes: proto::tensor_bytes(tensor),
    }
}

fn dims_text(dims: &[usize]) -> String {
    let sizes: Vec<String> = dims.iter().map(ToString::to_string).collect();
    if sizes.is_empty() {
        "scalar".to_owned()
    } else {
        sizes.join("×")
    }
}

/// The value of a setting as people read it; nothing for graphs, which are drawn.
pub(super) fn setting_text(attribute: &AttributeProto) -> Option<String> {
    let list = |values: Vec<String>| {
        let n_more = values.len().saturating_sub(LISTED);
        let shown: Vec<String> = values.into_iter().take(LISTED).collect();
        match n_more {
            0 => shown.join(", "),
            _ => format!("{}, {n_more} more", shown.join(", ")),
        }
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let value = match AttributeType::try_from(attribute.r#type).ok()? {
        AttributeType::Float => humanize::value(attribute.f().into()),
        AttributeType::Int => attribute.i().to_string(),
        AttributeType::String => text(attribute.s()),
        AttributeType::Tensor => attribute
            .t
            .as_ref()
            .map(|tensor| weight("", tensor).shape)?,
        AttributeType::Floats => list(
            attribute
                .floats
                .iter()
                .map(|value| humanize::value((*value).into()))
                .collect(),
        ),
        AttributeType::Ints => list(attribute.ints.iter().map(ToString::to_string).collect()),
        AttributeType::Strings => list(attribute.strings.iter().map(|one| text(one)).collect()),
        _ => return None,
    };
    Some(humanize::shorten(&value, LONGEST))
}
