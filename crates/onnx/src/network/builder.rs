//! Goes through the nodes of a file, and through those inside of them: bodies of `If`, `Loop` and `Scan`, and the
//! functions of the file that a node calls.
//!
//! Each node stands after the nodes inside of it. Every step is a loop over nodes, so that a large or damaged file takes
//! time in proportion and no stack; functions are opened only up to a number of nodes, because two calls of the next one
//! in each double them.

use std::collections::HashMap;

use super::value_texts::{KnownValues, setting_text, weight};
use crate::pb::{AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto};
use crate::proto;
use powerband_core::base::humanize;
use powerband_core::domain::network::{Network, NetworkEdge, NetworkNode, NodeKind};

/// Graphs inside graphs that are opened.
const DEEPEST: usize = 32;
/// Nodes of functions that are drawn at most, each as often as it is called.
const MOST_IN_FUNCTIONS: usize = 100_000;

pub(super) struct NetworkBuilder<'a> {
    network: Network,
    values: KnownValues,
    /// The functions of the file by domain, name and overload.
    functions: HashMap<(&'a str, &'a str, &'a str), &'a FunctionProto>,
    n_in_functions: usize,
    /// Bodies that lie too deep.
    n_too_deep: u64,
    /// Calls of functions that are being opened.
    n_recursive: u64,
    /// Calls of functions beyond the most nodes.
    n_beyond_most: u64,
}

/// What is inside of a node.
enum NodeInside<'a> {
    /// A body, with the name of its setting.
    Body(&'a str, &'a GraphProto),
    Function(&'a FunctionProto),
}

/// Nodes that are still to be added.
struct Frame<'a> {
    remaining: &'a [NodeProto],
    n_done: usize,
    /// What is inside of the next node and still to be added, last first; nothing where it was not begun.
    inside: Option<Vec<NodeInside<'a>>>,
    /// What it is inside of; the place of that node comes once it is added.
    owner: Option<(usize, String)>,
    /// The call that it is, where it is a function.
    call: Option<FunctionCall<'a>>,
    /// The nodes that make its values, by their names.
    made: HashMap<&'a str, usize>,
    /// Constants with the names that they have outside of functions.
    constants: HashMap<&'a str, (&'a str, &'a TensorProto)>,
    outputs: Vec<&'a str>,
    /// Its nodes.
    nodes: Vec<usize>,
    /// Nodes inside of the next node, which have to know its place.
    waiting: Vec<usize>,
    /// What is returned there, by the nodes that make it.
    returned: Vec<(usize, ValueName<'a>)>,
}

/// A function as one node calls it.
struct FunctionCall<'a> {
    function: &'a FunctionProto,
    /// What its inputs and outputs are called in the main graph.
    outer_names: HashMap<&'a str, &'a str>,
    settings: HashMap<&'a str, &'a AttributeProto>,
}

/// A value by its name, and by that in the main graph, under which its shape is known.
#[derive(Clone, Copy)]
struct ValueName<'a> {
    own: &'a str,
    outer: Option<&'a str>,
}

/// Where a value comes from.
enum ValueSource<'a> {
    Node(usize),
    Constant(&'a str, &'a TensorProto),
}

impl<'a> Frame<'a> {
    fn new(nodes: &'a [NodeProto], owner: Option<(usize, String)>) -> Self {
        let constants = proto::constant_nodes(nodes);
        Self {
            remaining: nodes,
            n_done: 0,
            inside: None,
            owner,
            call: None,
            made: HashMap::new(),
            constants: constants
                .map(|(name, tensor)| (name, (name, tensor)))
                .collect(),
            outputs: Vec::new(),
            nodes: Vec::new(),
            waiting: Vec::new(),
            returned: Vec::new(),
        }
    }

    fn of_graph(graph: &'a GraphProto, owner: Option<(usize, String)>) -> Self {
        let mut frame = Self::new(&graph.node, owner);
        for (name, tensor) in proto::constants(graph) {
            frame.constants.insert(name, (name, tensor));
        }
        let outputs = graph.output.iter();
        frame.outputs = outputs.map(|value| value.name.as_str()).collect();
        frame
    }

    /// A function with the values that a node in these frames gives it.
    fn of_call(function: &'a FunctionProto, node: &'a NodeProto, frames: &[Self]) -> Self {
        let scope = scope(frames);
        let name = function.name().to_owned();
        let mut frame = Self::new(&function.node, Some((0, name)));
        let inputs = function.input.iter().zip(&node.input);
        for (own, given) in inputs.clone() {
            match source_of_value(scope, given) {
                Some(ValueSource::Node(from)) => drop(frame.made.insert(own, from)),
                Some(ValueSource::Constant(name, tensor)) => {
                    frame.constants.insert(own, (name, tensor));
                }
                None => {}
            }
        }
        let outputs = function.output.iter().zip(&node.output);
        frame.outputs = outputs.clone().map(|(own, _)| own.as_str()).collect();
        let outer_names = inputs.chain(outputs).filter_map(|(own, given)| {
            let outer = value_name(scope, given).outer?;
            Some((own.as_str(), outer))
        });
        let settings = function.attribute_proto.iter().chain(&node.attribute);
        let settings = settings.filter_map(|setting| {
            let value = setting_value(scope, setting)?;
            Some((setting.name.as_str(), value))
        });
        frame.call = Some(FunctionCall {
            function,
            outer_names: outer_names.collect(),
            settings: settings.collect(),
        });
        frame
    }
}

/// The frames whose values can be read in the last: a function reads only what it is given.
fn scope<'f, 'a>(frames: &'f [Frame<'a>]) -> &'f [Frame<'a>] {
    let function = frames.iter().rposition(|frame| frame.call.is_some());
    &frames[function.unwrap_or(0)..]
}

fn source_of_value<'a>(scope: &[Frame<'a>], name: &str) -> Option<ValueSource<'a>> {
    let mut frames = scope.iter().rev();
    let constant = frames.clone().find_map(|frame| frame.constants.get(name));
    if let Some((name, tensor)) = constant {
        return Some(ValueSource::Constant(name, tensor));
    }
    let made = frames.find_map(|frame| frame.made.get(name));
    made.map(|from| ValueSource::Node(*from))
}

fn value_name<'a>(scope: &[Frame<'a>], own: &'a str) -> ValueName<'a> {
    let call = scope.first().and_then(|frame| frame.call.as_ref());
    let outer = match call {
        Some(call) => call.outer_names.get(own).copied(),
        None => Some(own),
    };
    ValueName { own, outer }
}

/// The setting that has the value of one: in a function it may be one of the node that calls it.
fn setting_value<'a>(
    scope: &[Frame<'a>],
    setting: &'a AttributeProto,
) -> Option<&'a AttributeProto> {
    if setting.ref_attr_name.is_empty() {
        return Some(setting);
    }
    let call = scope.first()?.call.as_ref()?;
    let value = call.settings.get(setting.ref_attr_name.as_str());
    value.copied()
}

impl<'a> NetworkBuilder<'a> {
    pub(super) fn new(model: &'a ModelProto, network: Network, values: KnownValues) -> Self {
        let functions = model.functions.iter().map(|function| {
            let key = (
                own_domain(function.domain()),
                function.name(),
                function.overload(),
            );
            (key, function)
        });
        Self {
            network,
            values,
            functions: functions.collect(),
            n_in_functions: 0,
            n_too_deep: 0,
            n_recursive: 0,
            n_beyond_most: 0,
        }
    }

    /// The network with the nodes of a graph.
    pub(super) fn build(mut self, graph: &'a GraphProto) -> Network {
        let mut outermost = Frame::of_graph(graph, None);
        for value in &graph.input {
            if outermost.constants.contains_key(value.name.as_str()) {
                continue;
            }
            let name = value_name(&[], &value.name);
            let place = self.port(NodeKind::Input, name, None);
            outermost.made.insert(&value.name, place);
        }
        let mut frames = vec![outermost];
        while let Some(frame) = frames.last_mut() {
            let Some((node, after)) = frame.remaining.split_first() else {
                let Some(done) = frames.pop() else { break };
                self.leave(&done, &mut frames);
                continue;
            };
            if node.op_type == "Constant" {
                // It is listed with the nodes that read it.
                (frame.remaining, frame.n_done) = (after, frame.n_done + 1);
                continue;
            }
            let inside = frame.inside.get_or_insert_with(|| self.inside(node));
            if let Some(inside) = inside.pop() {
                if self.may_open(&inside, &frames) {
                    let frame = match inside {
                        NodeInside::Body(name, body) => self.body(body, name, &frames),
                        NodeInside::Function(function) => Frame::of_call(function, node, &frames),
                    };
                    frames.push(frame);
                }
                continue;
            }
            self.add(node, after, &mut frames);
        }
        self.network.notes.extend(closed_notes(&self));
        self.network
    }

    /// What is inside of a node, last first.
    fn inside(&self, node: &'a NodeProto) -> Vec<NodeInside<'a>> {
        let key = (
            own_domain(&node.domain),
            node.op_type.as_str(),
            node.overload.as_str(),
        );
        if let Some(function) = self.functions.get(&key) {
            return vec![NodeInside::Function(function)];
        }
        let settings = node.attribute.iter().rev();
        let bodies = settings.flat_map(|setting| {
            let graphs = setting.graphs.iter().rev().chain(&setting.g);
            graphs.map(|graph| NodeInside::Body(&setting.name, graph))
        });
        bodies.collect()
    }

    fn may_open(&mut self, inside: &NodeInside<'_>, frames: &[Frame<'_>]) -> bool {
        let mut calls = frames.iter().filter_map(|frame| frame.call.as_ref());
        let (is_in_function, is_recursive, size) = match inside {
            NodeInside::Body(_, body) => {
                let values = body.input.len() + body.output.len() + body.initializer.len();
                (calls.next().is_some(), false, body.node.len() + values)
            }
            NodeInside::Function(function) => {
                let is_open = calls.any(|call| std::ptr::eq(call.function, *function));
                let size = function.node.len() + function.attribute_proto.len();
                (true, is_open, size)
            }
        };
        let is_beyond_most = is_in_function && self.n_in_functions + size > MOST_IN_FUNCTIONS;
        let closed = if is_recursive {
            &mut self.n_recursive
        } else if frames.len() >= DEEPEST {
            &mut self.n_too_deep
        } else if is_beyond_most {
            &mut self.n_beyond_most
        } else {
            self.n_in_functions += if is_in_function { size } else { 0 };
            return true;
        };
        *closed += 1;
        false
    }

    /// A body with its own inputs, of which the node that holds it gives each a value.
    fn body(&mut self, graph: &'a GraphProto, name: &str, frames: &[Frame<'a>]) -> Frame<'a> {
        let mut frame = Frame::of_graph(graph, Some((0, name.to_owned())));
        for value in &graph.input {
            let name = value_name(scope(frames), &value.name);
            let place = self.port(NodeKind::Input, name, frame.owner.clone());
            frame.made.insert(&value.name, place);
            frame.nodes.push(place);
        }
        frame
    }

    /// All nodes of a frame are added: what it returns goes to the node that it is inside of, what the outermost returns is
    /// the outputs.
    fn leave(&mut self, done: &Frame<'a>, frames: &mut [Frame<'a>]) {
        for own in &done.outputs {
            let (name, from) = if done.call.is_some() {
                let inside = std::slice::from_ref(done);
                (value_name(inside, own), done.made.get(own))
            } else {
                let outer = scope(frames);
                let mut made = std::iter::once(done).chain(outer.iter().rev());
                let from = made.find_map(|frame| frame.made.get(own));
                (value_name(outer, own), from)
            };
            let from = from.copied();
            match (frames.last_mut(), from) {
                (Some(outer), Some(from)) => outer.returned.push((from, name)),
                (Some(_), None) => {}
                (None, from) => {
                    let place = self.port(NodeKind::Output, name, None);
                    if let Some(from) = from {
                        self.edge(from, place, name);
                    }
                }
            }
        }
        if let Some(outer) = frames.last_mut() {
            outer.waiting.extend(&done.nodes);
        }
    }

    fn port(
        &mut self,
        kind: NodeKind,
        name: ValueName<'_>,
        body: Option<(usize, String)>,
    ) -> usize {
        let shape = name.outer.and_then(|name| self.values.shape(name));
        self.network.nodes.push(NetworkNode {
            kind,
            name: name.own.to_owned(),
            is_named: true,
            op: String::new(),
            attributes: Vec::new(),
            outputs: shape.into_iter().collect(),
            weights: Vec::new(),
            body,
            time_ns: None,
        });
        self.network.nodes.len() - 1
    }

    /// Adds the next node of the last frame, once everything inside of it is added.
    fn add(&mut self, node: &'a NodeProto, after: &'a [NodeProto], frames: &mut [Frame<'a>]) {
        let place = self.node(node, frames);
        let Some(frame) = frames.last_mut() else {
            return;
        };
        for inner in frame.waiting.drain(..) {
            if let Some((owner, _)) = &mut self.network.nodes[inner].body {
                *owner = place;
            }
        }
        for (from, name) in frame.returned.drain(..) {
            self.edge(from, place, name);
        }
        frame.nodes.push(place);
        let outputs = node.output.iter();
        frame
            .made
            .extend(outputs.map(|name| (name.as_str(), place)));
        (frame.remaining, frame.n_done) = (after, frame.n_done + 1);
        frame.inside = None;
    }

    /// Adds a node alone, with the edges to it.
    fn node(&mut self, node: &'a NodeProto, frames: &[Frame<'a>]) -> usize {
        let place = self.network.nodes.len();
        let scope = scope(frames);
        let frame = frames.last();
        let mut weights = Vec::new();
        let mut edges = Vec::new();
        for name in node.input.iter().filter(|name| !name.is_empty()) {
            match source_of_value(scope, name) {
                Some(ValueSource::Node(from)) => edges.push((from, value_name(scope, name))),
                Some(ValueSource::Constant(name, tensor)) => weights.push(weight(name, tensor)),
                None => {}
            }
        }
        let settings = node.attribute.iter().filter_map(|setting| {
            let text = setting_text(setting_value(scope, setting)?)?;
            Some((setting.name.clone(), text))
        });
        let shapes = node.output.iter().filter_map(|name| {
            let outer = value_name(scope, name).outer?;
            self.values.shape(outer)
        });
        let node = NetworkNode {
            kind: NodeKind::Operator,
            // As engines and profiles know it.
            name: if node.name.is_empty() {
                let index = frame.map_or(0, |frame| frame.n_done);
                format!("{}_{index}", node.op_type)
            } else {
                node.name.clone()
            },
            is_named: !node.name.is_empty(),
            op: node.op_type.clone(),
            attributes: settings.collect(),
            outputs: shapes.collect(),
            weights,
            body: frame.and_then(|frame| frame.owner.clone()),
            time_ns: None,
        };
        self.network.nodes.push(node);
        for (from, name) in edges {
            self.edge(from, place, name);
        }
        place
    }

    fn edge(&mut self, from: usize, to: usize, name: ValueName<'_>) {
        self.network.edges.push(NetworkEdge {
            from,
            to,
            tensor: name.outer.unwrap_or(name.own).to_owned(),
            shape: name.outer.and_then(|name| self.values.shape(name)),
            bytes: name.outer.and_then(|name| self.values.bytes(name)),
        });
    }
}

/// Operators of ONNX itself have no domain, or its name.
fn own_domain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

/// What was not opened, and why.
fn closed_notes(builder: &NetworkBuilder<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if builder.n_too_deep > 0 {
        let bodies = humanize::pluralised(builder.n_too_deep, "body");
        notes.push(format!(
            "{bodies} inside more than {DEEPEST} others are not drawn"
        ));
    }
    if builder.n_recursive > 0 {
        let calls = humanize::pluralised(builder.n_recursive, "call");
        notes.push(format!(
            "{calls} of functions inside of themselves are not opened"
        ));
    }
    if builder.n_beyond_most > 0 {
        let calls = humanize::pluralised(builder.n_beyond_most, "call");
        let most = humanize::count(MOST_IN_FUNCTIONS as u64);
        notes.push(format!(
            "Functions are opened up to {most} nodes: {calls} are not"
        ));
    }
    notes
}
