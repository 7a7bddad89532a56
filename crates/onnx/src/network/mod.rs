//! The graph of a file as plain data: what is drawn of it.
//!
//! The protobuf comes from `outline` or `source`, shapes from `infer`; `findings` adds times and lays it out. `builder`
//! goes through the nodes, `value_texts` says what is in them, `weight_values` reads constants.

mod builder;
mod measured_file;
mod value_texts;
pub mod weight_values;

use std::path::Path;

use crate::cost::work;
use crate::infer;
use crate::pb::ModelProto;
use crate::{shapes, zoo};
use builder::NetworkBuilder;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::network::Network;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::domain::tensor::TensorSpec;
use value_texts::KnownValues;

/// The graph of the network that a profile of a session is of: its own, else that of the file with the shapes of its
/// case.
///
/// # Errors
///
/// Where the profile has no graph and is of no case, or the file that the case ran is gone or another one now.
pub fn of_profile(session: &Session, profile: usize, cache: &Path) -> Result<Network, String> {
    let profile = session
        .profiles
        .get(profile)
        .ok_or("there is no such profile")?;
    if let Some(network) = &profile.network {
        let mut network = network.clone().without_loose_ends();
        if network.name.is_empty() {
            network.name.clone_from(&profile.name);
        }
        return Ok(network);
    }
    let case = profile.case.ok_or_else(|| {
        format!(
            "{} is of no case of this session, so the file of its network is not known",
            profile.name
        )
    })?;
    of_case(session, case, cache)
}

/// The graph of the network of a case.
///
/// # Errors
///
/// Where the file that it ran is gone or another one now.
pub fn of_case(session: &Session, case: CaseKey, cache: &Path) -> Result<Network, String> {
    let model = session.model_of(case.setup);
    let proto = graph_of(model, cache)?;
    let sizes = session.plan.input_sizes();
    Ok(at_point(&proto, &model.name, case.point, &sizes))
}

/// The graph that a session's model has.
fn graph_of(model: &ModelRef, cache: &Path) -> Result<ModelProto, String> {
    if let Some(built_in) = measured_file::built_in(model) {
        return Ok(zoo::outline(built_in));
    }
    Ok(measured_file::open(model, cache)?.proto)
}

/// The graph of a file with the shapes of a point, where the sizes of its inputs can be worked out.
pub fn at_point(model: &ModelProto, name: &str, point: Point, asked: &InputSizes) -> Network {
    let inputs = crate::inspect::inputs(model).map_err(|error| error.to_string());
    let specs = inputs
        .and_then(|ports| shapes::resolve(&ports, point, asked).map_err(|error| error.to_string()));
    match specs {
        Ok(specs) => with_shapes(model, name, &specs),
        Err(reason) => {
            let mut network = with_shapes(model, name, &[]);
            network
                .notes
                .push(format!("Shapes are not known: {reason}"));
            network
        }
    }
}

/// The graph of a file with the shapes that follow from those of its inputs.
pub fn with_shapes(model: &ModelProto, name: &str, inputs: &[TensorSpec]) -> Network {
    let mut network = Network {
        name: name.to_owned(),
        ..Network::default()
    };
    let Some(graph) = &model.graph else {
        network.notes.push("The file has no graph".to_owned());
        return network;
    };
    let values = KnownValues {
        shapes: infer::infer(model, inputs),
        bits: work::elements(model)
            .into_iter()
            .map(|(name, element)| (name.to_owned(), element.bits))
            .collect(),
    };
    NetworkBuilder::new(model, network, values).build(graph)
}

#[cfg(test)]
mod tests;
