//! The graph of a file as plain data: what is drawn of it.
//!
//! The protobuf comes from `outline` or `source`, shapes from `infer`; `findings` adds times and lays it out. Bodies of
//! `If`, `Loop` and `Scan` are nodes that belong to the node that holds them. Every step is a loop over nodes, so
//! that a large or damaged file takes time in proportion and no stack.

use std::collections::HashMap;
use std::path::Path;

use crate::cost::work;
use crate::infer::{self, Shapes};
use crate::pb::attribute_proto::AttributeType;
use crate::pb::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto};
use crate::{proto, shapes, source, zoo};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::network::{Network, NetworkEdge, NetworkNode, NetworkWeight, NodeKind};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::domain::tensor::TensorSpec;

/// Characters of a setting before it is cut.
const LONGEST: usize = 60;
/// Values of a list that are written out.
const LISTED: usize = 8;
/// Graphs inside graphs that are opened.
const DEEPEST: usize = 32;

/// The graph of the network that a profile of a session is of, with the shapes of its case.
///
/// # Errors
///
/// Where the profile is of no case, or the file that the case ran is gone or another one now.
pub fn of_profile(session: &Session, profile: usize, cache: &Path) -> Result<Network, String> {
    let profile = session
        .profiles
        .get(profile)
        .ok_or("there is no such profile")?;
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
    // A file of the user's may have the name of a built-in network.
    let built_in = zoo::find(&model.name);
    if let Some(built_in) = built_in.filter(|one| source::is_made(one, &model.file)) {
        return Ok(zoo::outline(built_in));
    }
    let again = "put it back to see its graph";
    if !Path::new(&model.file).exists() {
        return Err(format!(
            "the file of {} is gone: {}; {again}",
            model.name, model.file
        ));
    }
    let file = source::open(&model.file, cache).map_err(|error| error.to_string())?;
    if file.sha256 != model.sha256 {
        return Err(format!(
            "{} is another file now than the one that was measured; {again}",
            model.file
        ));
    }
    Ok(file.proto)
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
    let mut building = Building {
        network,
        values,
        n_unopened: 0,
    };
    building.graph(graph);
    building.network.notes.extend(building.unopened_note());
    building.network
}

/// What is known of values by their names.
struct KnownValues {
    shapes: Shapes,
    bits: HashMap<String, u64>,
}

impl KnownValues {
    fn shape(&self, name: &str) -> Option<String> {
        self.shapes.get(name).map(|dims| dims_text(dims))
    }

    fn bytes(&self, name: &str) -> Option<u64> {
        let elements = proto::elements(self.shapes.get(name)?);
        let bits = self.bits.get(name).copied().unwrap_or(32);
        Some(elements.saturating_mul(bits).div_ceil(8))
    }
}

struct Building {
    network: Network,
    values: KnownValues,
    /// Bodies that lie too deep.
    n_unopened: u64,
}

/// A graph of which nodes are still to be added: its place among them, and the body that it is.
struct Frame<'a> {
    graph: &'a GraphProto,
    next: usize,
    /// The bodies of the next node that are still to be added, last first; nothing where they were not begun.
    bodies: Option<Vec<(String, &'a GraphProto)>>,
    /// The body that it is; the place of the node that holds it comes once that node is added.
    owner: Option<(usize, String)>,
    /// The nodes that make the values of this graph, by their names.
    made: HashMap<&'a str, usize>,
    constants: HashMap<&'a str, &'a TensorProto>,
    /// Its nodes.
    nodes: Vec<usize>,
    /// Nodes of bodies of the next node, which have to know its place.
    waiting: Vec<usize>,
    /// What those bodies return, by the nodes that make it.
    returned: Vec<(usize, String)>,
}

impl<'a> Frame<'a> {
    fn new(graph: &'a GraphProto, owner: Option<(usize, String)>) -> Self {
        Self {
            graph,
            next: 0,
            bodies: None,
            owner,
            made: HashMap::new(),
            constants: proto::constants(graph).collect(),
            nodes: Vec::new(),
            waiting: Vec::new(),
            returned: Vec::new(),
        }
    }
}

impl Building {
    fn graph(&mut self, graph: &GraphProto) {
        let mut outermost = Frame::new(graph, None);
        for value in &graph.input {
            if outermost.constants.contains_key(value.name.as_str()) {
                continue;
            }
            let place = self.port(NodeKind::Input, &value.name, None);
            outermost.made.insert(&value.name, place);
        }
        let mut frames = vec![outermost];
        while let Some(frame) = frames.last_mut() {
            let Some(node) = frame.graph.node.get(frame.next) else {
                let Some(done) = frames.pop() else { break };
                self.leave(&done, &mut frames);
                continue;
            };
            let index = frame.next;
            if node.op_type == "Constant" {
                // It is listed with the nodes that read it.
                frame.next += 1;
                continue;
            }
            let bodies = frame.bodies.get_or_insert_with(|| bodies_of(node));
            if let Some((name, body)) = bodies.pop() {
                if frames.len() < DEEPEST {
                    let frame = self.body(body, name);
                    frames.push(frame);
                } else {
                    self.n_unopened += 1;
                }
                continue;
            }
            let place = self.node(node, index, &frames);
            if let Some(frame) = frames.last_mut() {
                for inner in frame.waiting.drain(..) {
                    if let Some((owner, _)) = &mut self.network.nodes[inner].body {
                        *owner = place;
                    }
                }
                for (from, tensor) in frame.returned.drain(..) {
                    self.edge(from, place, &tensor);
                }
                frame.nodes.push(place);
                frame
                    .made
                    .extend(node.output.iter().map(|name| (name.as_str(), place)));
                frame.next += 1;
                frame.bodies = None;
            }
        }
    }

    /// A body with its own inputs, of which the node that holds it gives each a value.
    fn body<'a>(&mut self, graph: &'a GraphProto, name: String) -> Frame<'a> {
        let mut frame = Frame::new(graph, Some((0, name)));
        for value in &graph.input {
            let place = self.port(NodeKind::Input, &value.name, frame.owner.clone());
            frame.made.insert(&value.name, place);
            frame.nodes.push(place);
        }
        frame
    }

    /// A graph is over: what a body returns goes to the node that holds it, what the outermost returns is its outputs.
    fn leave(&mut self, done: &Frame<'_>, around: &mut [Frame<'_>]) {
        for value in &done.graph.output {
            let name = value.name.as_str();
            let outer = around.iter().rev().map(|frame| &frame.made);
            let mut made = std::iter::once(&done.made).chain(outer);
            let from = made.find_map(|made| made.get(name)).copied();
            match (around.last_mut(), from) {
                (Some(outer), Some(from)) => outer.returned.push((from, name.to_owned())),
                (Some(_), None) => {}
                (None, from) => {
                    let place = self.port(NodeKind::Output, name, None);
                    if let Some(from) = from {
                        self.edge(from, place, name);
                    }
                }
            }
        }
        if let Some(outer) = around.last_mut() {
            outer.waiting.extend(&done.nodes);
        }
    }

    fn port(&mut self, kind: NodeKind, name: &str, body: Option<(usize, String)>) -> usize {
        self.network.nodes.push(NetworkNode {
            kind,
            name: name.to_owned(),
            is_named: true,
            op: String::new(),
            attributes: Vec::new(),
            outputs: self.values.shape(name).into_iter().collect(),
            weights: Vec::new(),
            body,
        });
        self.network.nodes.len() - 1
    }

    /// Adds a node; the frames are the graphs around it, whose values it can read.
    fn node(&mut self, node: &NodeProto, index: usize, frames: &[Frame<'_>]) -> usize {
        let place = self.network.nodes.len();
        let mut weights = Vec::new();
        let mut edges = Vec::new();
        for name in node.input.iter().filter(|name| !name.is_empty()) {
            let name = name.as_str();
            let made = frames.iter().rev().find_map(|frame| frame.made.get(name));
            let constant = frames
                .iter()
                .rev()
                .find_map(|frame| frame.constants.get(name));
            match (made, constant) {
                (Some(from), None) => edges.push((*from, name)),
                (_, Some(tensor)) => weights.push(weight(name, tensor)),
                (None, None) => {}
            }
        }
        let owner = frames.last().and_then(|frame| frame.owner.clone());
        let outputs = node.output.iter();
        self.network.nodes.push(NetworkNode {
            kind: NodeKind::Operator,
            // As engines and profiles know it.
            name: if node.name.is_empty() {
                format!("{}_{index}", node.op_type)
            } else {
                node.name.clone()
            },
            is_named: !node.name.is_empty(),
            op: node.op_type.clone(),
            attributes: node.attribute.iter().filter_map(setting).collect(),
            outputs: outputs.filter_map(|name| self.values.shape(name)).collect(),
            weights,
            body: owner,
        });
        for (from, name) in edges {
            self.edge(from, place, name);
        }
        place
    }

    fn edge(&mut self, from: usize, to: usize, tensor: &str) {
        self.network.edges.push(NetworkEdge {
            from,
            to,
            tensor: tensor.to_owned(),
            shape: self.values.shape(tensor),
            bytes: self.values.bytes(tensor),
        });
    }

    fn unopened_note(&self) -> Option<String> {
        (self.n_unopened > 0).then(|| {
            format!(
                "{} inside more than {DEEPEST} others are not drawn",
                humanize::pluralised(self.n_unopened, "body")
            )
        })
    }
}

/// The graphs that a node holds, last first, with the names of their settings.
fn bodies_of(node: &NodeProto) -> Vec<(String, &GraphProto)> {
    let settings = node.attribute.iter().rev();
    let graphs = settings.flat_map(|setting| {
        let graphs = setting.graphs.iter().rev().chain(&setting.g);
        graphs.map(|graph| (setting.name.clone(), graph))
    });
    graphs.collect()
}

fn weight(name: &str, tensor: &TensorProto) -> NetworkWeight {
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

/// A setting as people read it; nothing for graphs, which are drawn.
fn setting(attribute: &AttributeProto) -> Option<(String, String)> {
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
    Some((attribute.name.clone(), humanize::shorten(&value, LONGEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(name: &str) -> Network {
        let model = zoo::outline(zoo::find(name).unwrap());
        at_point(&model, name, Point::of_batch(1), &InputSizes::default())
    }

    #[test]
    fn a_network_has_its_nodes_edges_shapes_and_weights() {
        let network = drawn("resnet18");
        let ops = |op: &str| network.nodes.iter().filter(|node| node.op == op).count();
        assert_eq!((ops("Conv"), ops("Add"), ops("Gemm")), (20, 8, 1));
        assert_eq!(network.nodes[0].kind, NodeKind::Input);
        assert_eq!(network.nodes.last().unwrap().kind, NodeKind::Output);
        let conv = network.nodes.iter().position(|node| node.op == "Conv");
        let conv = &network.nodes[conv.unwrap()];
        assert_eq!(conv.outputs, ["1×64×112×112"]);
        assert_eq!(conv.weights[0].shape, "float 64×3×7×7");
        assert_eq!(conv.weights[0].bytes, 64 * 3 * 49 * 4);
        assert!(conv.attributes.contains(&("strides".into(), "2, 2".into())));
        // Every edge runs forward, and has its size.
        assert!(network.edges.iter().all(|edge| edge.from < edge.to));
        let first = &network.edges[0];
        assert_eq!(first.shape.as_deref(), Some("1×3×224×224"));
        assert_eq!(first.bytes, Some(3 * 224 * 224 * 4));
        assert!(network.notes.is_empty(), "{:?}", network.notes);
    }

    #[test]
    fn bodies_belong_to_the_node_that_holds_them() {
        let node = |op: &str, inputs: &[&str], output: &str| NodeProto {
            op_type: op.to_owned(),
            input: inputs.iter().map(ToString::to_string).collect(),
            output: vec![output.to_owned()],
            ..NodeProto::default()
        };
        let value = |name: &str| crate::pb::ValueInfoProto {
            name: name.to_owned(),
            ..Default::default()
        };
        let body = GraphProto {
            node: vec![node("Neg", &["x"], "inner")],
            output: vec![value("inner")],
            ..GraphProto::default()
        };
        let mut choice = node("If", &["is_it"], "y");
        choice.attribute.push(AttributeProto {
            name: "then_branch".to_owned(),
            r#type: AttributeType::Graph as i32,
            g: Some(body),
            ..AttributeProto::default()
        });
        let model = ModelProto {
            graph: Some(GraphProto {
                node: vec![node("Relu", &["in"], "x"), choice],
                input: vec![value("in"), value("is_it")],
                output: vec![value("y")],
                ..GraphProto::default()
            }),
            ..ModelProto::default()
        };
        let network = with_shapes(&model, "choice", &[]);
        let ops: Vec<&str> = network.nodes.iter().map(|node| node.op.as_str()).collect();
        assert_eq!(ops, ["", "", "Relu", "Neg", "If", ""]);
        assert_eq!(network.nodes[3].body, Some((4, "then_branch".to_owned())));
        let edges: Vec<(usize, usize)> = network
            .edges
            .iter()
            .map(|edge| (edge.from, edge.to))
            .collect();
        // The body reads a value from outside of it, and returns its own to the node around it.
        assert_eq!(edges, [(0, 2), (2, 3), (1, 4), (3, 4), (4, 5)]);
    }

    #[test]
    fn a_file_without_a_graph_says_so() {
        let network = with_shapes(&ModelProto::default(), "empty", &[]);
        assert_eq!(network.notes, ["The file has no graph"]);
    }
}
