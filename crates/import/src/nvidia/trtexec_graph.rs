//! The graph of a TensorRT engine, from the layers of `trtexec --exportLayerInfo`: a tensor leads from the layer that
//! has it among its outputs to those that have it among their inputs. Times come from `trtexec_profile`, by name.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::reading::json;
use crate::reading::json::Object;
use crate::records::tensor_size::tensor_bytes;
use powerband_core::base::humanize;
use powerband_core::domain::network::{
    Network, NetworkEdge, NetworkNode, NetworkWeight, NodeKind, shape_text,
};

/// Characters of a setting before it is cut.
const LONGEST: usize = 60;
/// Layers that write parts of one tensor and are joined with each that reads it.
const WRITERS: usize = 64;
/// What a layer has that is no setting of it.
const NO_SETTINGS: [&str; 6] = ["Name", "LayerType", "Inputs", "Outputs", "Weights", "Bias"];

/// The graph of an engine's layers; nothing where there are none.
pub(crate) fn network(layers: &[Value], bindings: &[&str]) -> Option<Network> {
    let layers: Vec<EngineLayer<'_>> = layers.iter().filter_map(EngineLayer::new).collect();
    if layers.is_empty() {
        return None;
    }
    if layers.iter().all(|layer| layer.outputs.is_empty()) {
        let nodes = layers.iter().map(EngineLayer::node);
        return Some(Network::in_order(nodes.collect()));
    }
    let mut drawn = EngineGraph::default();
    drawn.inputs(&layers);
    for layer in &layers {
        drawn.layer(layer);
    }
    drawn.outputs(&layers, bindings);
    Some(drawn.network)
}

/// A layer as the file has it.
struct EngineLayer<'a> {
    name: &'a str,
    settings: Option<&'a Object>,
    inputs: Vec<EngineTensor<'a>>,
    outputs: Vec<EngineTensor<'a>>,
}

/// A tensor that a layer reads or writes.
struct EngineTensor<'a> {
    name: &'a str,
    dims: Option<Vec<u64>>,
    format: &'a str,
}

impl<'a> EngineTensor<'a> {
    fn new(tensor: &'a Value) -> Option<Self> {
        let tensor = tensor.as_object()?;
        let dims = tensor.get("Dimensions").and_then(Value::as_array);
        let dims = dims.and_then(|dims| dims.iter().map(Value::as_u64).collect());
        Some(Self {
            name: json::text_of(tensor, "Name")?,
            dims,
            format: json::text_of(tensor, "Format/Datatype").unwrap_or_default(),
        })
    }

    fn shape(&self) -> Option<String> {
        self.dims.as_deref().map(shape_text)
    }

    fn port(&self, kind: NodeKind) -> NetworkNode {
        NetworkNode {
            kind,
            name: self.name.to_owned(),
            is_named: true,
            outputs: self.shape().into_iter().collect(),
            ..NetworkNode::default()
        }
    }
}

impl<'a> EngineLayer<'a> {
    fn new(value: &'a Value) -> Option<Self> {
        let layer = value.as_object();
        let tensors = |key: &str| {
            let list = layer?.get(key)?.as_array()?;
            Some(list.iter().filter_map(EngineTensor::new).collect())
        };
        Some(Self {
            name: match layer {
                Some(layer) => json::text_of(layer, "Name")?,
                None => value.as_str()?,
            },
            settings: layer,
            inputs: tensors("Inputs").unwrap_or_default(),
            outputs: tensors("Outputs").unwrap_or_default(),
        })
    }

    fn node(&self) -> NetworkNode {
        let settings = self.settings.into_iter().flatten();
        let settings = settings.filter(|(key, _)| !NO_SETTINGS.contains(&key.as_str()));
        let mut attributes: Vec<(String, String)> = settings
            .map(|(key, value)| {
                (
                    key.clone(),
                    humanize::shorten(&json::value_text(value), LONGEST),
                )
            })
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let format = self.outputs.first().map_or("", |tensor| tensor.format);
        if !format.is_empty() {
            attributes.insert(0, ("format".to_owned(), format.to_owned()));
        }
        let kind = self
            .settings
            .and_then(|layer| json::text_of(layer, "LayerType"));
        NetworkNode {
            name: self.name.to_owned(),
            is_named: has_scopes(self.name),
            op: kind.unwrap_or_default().to_owned(),
            attributes,
            outputs: self
                .outputs
                .iter()
                .filter_map(EngineTensor::shape)
                .collect(),
            weights: ["Weights", "Bias"]
                .iter()
                .filter_map(|key| self.weight(key))
                .collect(),
            ..NetworkNode::default()
        }
    }

    /// `"Weights": {"Type": "Half", "Count": 9408}`.
    fn weight(&self, key: &str) -> Option<NetworkWeight> {
        let weight = self.settings?.get(key)?.as_object()?;
        let count = weight.get("Count")?.as_u64().filter(|count| *count > 0)?;
        let kind = json::text_of(weight, "Type").unwrap_or_default();
        Some(NetworkWeight {
            name: key.to_owned(),
            shape: format!("{kind} {count}").trim().to_owned(),
            bytes: tensor_bytes(&[count], kind)?,
        })
    }
}

/// Whether the parts of a name are scopes of the network: `/conv/Conv + /relu/Relu` and `Conv_0 + Relu_1`, and no name
/// that TensorRT made up, such as `Reformatting CopyNode for Input Tensor 0 to /conv/Conv`.
fn has_scopes(name: &str) -> bool {
    let first = name.split(" + ").next().unwrap_or_default();
    !first.contains([' ', '(', '{', '['])
}

#[derive(Default)]
struct EngineGraph<'a> {
    network: Network,
    /// The nodes that write a tensor so far.
    writers: HashMap<&'a str, Vec<usize>>,
}

impl<'a> EngineGraph<'a> {
    /// What is read and no layer writes.
    fn inputs(&mut self, layers: &[EngineLayer<'a>]) {
        let written = layers.iter().flat_map(|layer| &layer.outputs);
        let written: HashSet<&str> = written.map(|tensor| tensor.name).collect();
        for tensor in layers.iter().flat_map(|layer| &layer.inputs) {
            if !written.contains(tensor.name) && !self.writers.contains_key(tensor.name) {
                let place = self.network.nodes.len();
                self.writers.insert(tensor.name, vec![place]);
                self.network.nodes.push(tensor.port(NodeKind::Input));
            }
        }
    }

    fn layer(&mut self, layer: &EngineLayer<'a>) {
        let place = self.network.nodes.len();
        self.network.nodes.push(layer.node());
        let mut read: HashSet<&str> = HashSet::new();
        for tensor in layer
            .inputs
            .iter()
            .filter(|tensor| read.insert(tensor.name))
        {
            self.edges(tensor, place);
        }
        for tensor in &layer.outputs {
            self.writers.entry(tensor.name).or_default().push(place);
        }
    }

    /// The bindings that layers write.
    fn outputs(&mut self, layers: &[EngineLayer<'a>], bindings: &[&str]) {
        let written = layers.iter().flat_map(|layer| &layer.outputs);
        let mut written: HashMap<&str, &EngineTensor<'a>> =
            written.map(|tensor| (tensor.name, tensor)).collect();
        for name in bindings {
            if let Some(tensor) = written.remove(name) {
                let place = self.network.nodes.len();
                self.network.nodes.push(tensor.port(NodeKind::Output));
                self.edges(tensor, place);
            }
        }
    }

    fn edges(&mut self, tensor: &EngineTensor<'a>, to: usize) {
        let writers = self.writers.get(tensor.name).into_iter().flatten();
        for from in writers.rev().take(WRITERS) {
            let dims = tensor.dims.as_deref();
            self.network.edges.push(NetworkEdge {
                from: *from,
                to,
                tensor: tensor.name.to_owned(),
                shape: tensor.shape(),
                bytes: dims.and_then(|dims| tensor_bytes(dims, tensor.format)),
            });
        }
    }
}
