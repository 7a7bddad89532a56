//! The same network with more outputs: every value whose range `int8` has to know.
//!
//! The caller runs it on typical inputs and gathers what comes out with `ranges`.

use std::collections::BTreeSet;

use crate::pb::tensor_proto::DataType;
use crate::pb::{ModelProto, TypeProto, ValueInfoProto, type_proto};

use super::int8::Int8Options;
use super::parts::{self, LeaveOut};
use super::{RewriteError, placing};
use crate::proto;

/// Adds the outputs. Inputs of the network whose range is needed are not among them: the caller
/// has those already. The options must be those of the rewrite.
pub fn outputs(model: &ModelProto, options: &Int8Options) -> Result<ModelProto, RewriteError> {
    let wanted = names(model, options)?;
    let mut model = model.clone();
    let ranks = parts::ranks(&model);
    let Some(graph) = &mut model.graph else {
        return Err(RewriteError::NoGraph);
    };
    let known: BTreeSet<String> = parts::outputs(graph)
        .into_iter()
        .chain(graph.input.iter().map(|value| value.name.clone()))
        .collect();
    for name in wanted.difference(&known) {
        let stated = graph.value_info.iter().find(|value| value.name == *name);
        let value = stated
            .filter(|value| proto::stated_dims(value).is_some())
            .cloned()
            .unwrap_or_else(|| float(name, ranks.get(name).map_or(0, Vec::len)));
        graph.output.push(value);
    }
    graph
        .value_info
        .retain(|value| !wanted.contains(&value.name));
    Ok(model)
}

/// The values whose range the rewrite needs, inputs of the network among them.
pub fn names(model: &ModelProto, options: &Int8Options) -> Result<BTreeSet<String>, RewriteError> {
    let leave_out = LeaveOut::new(&options.leave_out);
    let placing = placing::place(model, &leave_out)?;
    Ok(placing
        .range_sources()
        .into_iter()
        .map(str::to_owned)
        .collect())
}

/// A float value of that many open dimensions.
fn float(name: &str, rank: usize) -> ValueInfoProto {
    let tensor = type_proto::Tensor {
        elem_type: DataType::Float as i32,
        shape: (rank > 0).then(|| crate::pb::TensorShapeProto {
            dim: vec![Default::default(); rank],
        }),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            value: Some(type_proto::TypeValue::TensorType(tensor)),
            ..Default::default()
        }),
        ..Default::default()
    }
}
