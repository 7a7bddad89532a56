//! Which nodes of a file became which, in the graph that ONNX Runtime prepared from it.
//!
//! Two models go in, `Fusions` comes out. What ONNX Runtime does is known only by its result, so
//! that the two graphs are matched by what survives: first the tensors, whose names most fusions
//! keep; then names of nodes, and weights, where a change of layout gave the tensors new ones; then
//! the nodes that must have been swallowed by the one before or the one behind them. Every step is
//! a loop over the nodes, so that a large or damaged graph costs time in proportion and no stack.
//! Subgraphs belong to the node that holds them and are not compared.

mod graph;
mod names;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::pb::{ModelProto, NodeProto};

use graph::FusionGraph;
use names::NameOrigin;
use powerband_core::domain::examination::{Fusions, NamedNode, PreparedNode};

/// Operators that a node can swallow when they come behind it.
const TAILS: [&str; 20] = [
    "Relu",
    "LeakyRelu",
    "Clip",
    "Sigmoid",
    "HardSigmoid",
    "HardSwish",
    "Tanh",
    "Elu",
    "Selu",
    "Softplus",
    "PRelu",
    "Gelu",
    "BatchNormalization",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Sum",
    "QuantizeLinear",
    "ThresholdedRelu",
];

/// How far to look behind a tensor for the node that reads it in another form.
const FORMS: usize = 4;

/// Names the nodes that have none, because a profile identifies nodes by name; whether there were any.
pub fn name_nodes(model: &mut ModelProto) -> bool {
    let nodes = model.graph.iter_mut().flat_map(|graph| &mut graph.node);
    let mut any = false;
    for (index, node) in nodes.enumerate() {
        if node.name.is_empty() {
            node.name = format!("{}_{index}", node.op_type);
            any = true;
        }
    }
    any
}

/// The fate of each node of the file, and the nodes that were added.
pub fn compare(original: &ModelProto, prepared: &ModelProto) -> Fusions {
    let file = FusionGraph::new(original);
    let after = FusionGraph::new(prepared);
    let mut matching = Matching::new(&file, &after);
    matching.match_by_tensors();
    matching.match_by_forms();
    matching.match_by_names();
    matching.match_by_weights();
    matching.match_forwards();
    matching.match_backwards();
    matching.fusions()
}

/// The matching so far.
struct Matching<'a> {
    file: &'a FusionGraph<'a>,
    after: &'a FusionGraph<'a>,
    /// For each node of the file, the node that stands for it.
    owner: Vec<Option<usize>>,
    /// For each prepared node, the last node of the file that it stands for.
    last: Vec<Option<usize>>,
    /// For each prepared node, whether it only brings a value into another form or place.
    carries: Vec<bool>,
    /// Tensors of the prepared graph, and the tensors of the file that they are.
    values: HashMap<&'a str, &'a str>,
}

impl<'a> Matching<'a> {
    fn new(file: &'a FusionGraph<'a>, after: &'a FusionGraph<'a>) -> Self {
        let carries = after.nodes.iter().map(|node| {
            let same = file.named(&node.name);
            let same =
                same.is_some_and(|known| graph::may_be_same_node(&node.op_type, op(file, known)));
            graph::is_carrier(&node.op_type) && !same
        });
        Self {
            file,
            after,
            owner: vec![None; file.nodes.len()],
            last: vec![None; after.nodes.len()],
            carries: carries.collect(),
            values: HashMap::new(),
        }
    }

    /// Assigns a node of the file to a prepared node, unless it has one.
    fn claim(&mut self, node: usize, original: usize) {
        if self.owner[original].is_none() {
            self.owner[original] = Some(node);
            self.last[node] = self.last[node].max(Some(original));
        }
    }

    /// The node of the file that makes a tensor; what does nothing stands for what is before it.
    fn maker(&self, node: usize, tensor: &str) -> Option<usize> {
        let direct = self.file.maker(tensor)?;
        if graph::does_nothing(op(self.file, direct)) && op(self.file, direct) != self.op(node) {
            return self.file.maker(self.file.source(tensor));
        }
        Some(direct)
    }

    /// Whether a prepared node was added to bring what this node of the file makes into another
    /// form, and does not stand for it.
    fn was_added(&self, node: usize, original: usize) -> bool {
        self.carries[node] && !graph::may_be_same_node(self.op(node), op(self.file, original))
    }

    /// Tensors that kept their names: the node that makes one now stands for the node that made it.
    fn match_by_tensors(&mut self) {
        for (index, node) in self.after.nodes.iter().enumerate() {
            for output in node.output.iter().filter(|name| !name.is_empty()) {
                if !self.file.has_tensor(output) {
                    continue;
                }
                self.values.insert(output, output);
                if let Some(original) = self.maker(index, output)
                    && !self.was_added(index, original)
                {
                    self.claim(index, original);
                }
            }
        }
    }

    /// Tensors that are one of the file's in another form: cast, or about to be brought back into
    /// the file's form by a node that was added. From the back, because those come one after another.
    fn match_by_forms(&mut self) {
        for (index, node) in self.after.nodes.iter().enumerate().rev() {
            for output in node.output.iter().filter(|name| !name.is_empty()) {
                let cast = names::uncast(output).filter(|tensor| self.file.has_tensor(tensor));
                let Some(tensor) = self.values.get(output.as_str()).copied().or(cast) else {
                    continue;
                };
                self.values.insert(output, tensor);
                let Some(original) = self.maker(index, tensor) else {
                    continue;
                };
                if let Some(kept) = self.kept_form(index, original) {
                    self.carries[index] = false;
                    self.claim(index, kept);
                }
                if !self.was_added(index, original) {
                    self.claim(index, original);
                } else if let Some(input) = node.input.first()
                    && !self.file.has_tensor(input)
                    && names::uncast(input).is_none_or(|cast| !self.file.has_tensor(cast))
                {
                    self.values.entry(input).or_insert(tensor);
                }
            }
        }
    }

    /// The node of the file that a prepared one stayed, where it now makes the value in a later
    /// form: a `Flatten` between whose numbers and its reader's the file has a quantisation.
    fn kept_form(&self, node: usize, original: usize) -> Option<usize> {
        let mut before = original;
        for _ in 0..FORMS {
            if !self.was_added(node, original) || !graph::is_carrier(op(self.file, before)) {
                return None;
            }
            before = self.file.maker(self.file.nodes[before].input.first()?)?;
            if op(self.file, before) == self.op(node) && self.owner[before].is_none() {
                return Some(before);
            }
        }
        None
    }

    /// Nodes that are named after a node or a tensor of the file.
    fn match_by_names(&mut self) {
        for (index, node) in self.after.nodes.iter().enumerate() {
            let found = names::namesakes(&node.name)
                .into_iter()
                .find_map(|name| match name {
                    NameOrigin::Node(name) => self.file.named(name),
                    NameOrigin::Tensor(tensor) => self.maker(index, tensor),
                });
            if let Some(original) = found
                && !self.was_added(index, original)
            {
                self.claim(index, original);
            }
        }
    }

    /// Nodes that read a weight which one node of the file reads.
    fn match_by_weights(&mut self) {
        for (index, node) in self.after.nodes.iter().enumerate() {
            if self.last[index].is_some() || self.carries[index] {
                continue;
            }
            let mut weights = node.input.iter().filter(|name| self.file.is_stored(name));
            let found = weights.find_map(|weight| self.matching_reader(index, weight));
            if let Some(original) = found {
                self.claim(index, original);
            }
        }
    }

    /// The only node of the file that reads this tensor, in whatever form, where it is of the
    /// prepared node's kind and no node stands for it yet.
    fn matching_reader(&self, node: usize, tensor: &str) -> Option<usize> {
        let mut tensor = tensor;
        for _ in 0..FORMS {
            let [reader] = self.file.readers(tensor) else {
                return None;
            };
            let kind = op(self.file, *reader);
            if self.owner[*reader].is_none() && graph::is_version(self.op(node), kind) {
                return Some(*reader);
            }
            if !graph::is_carrier(kind) {
                return None;
            }
            tensor = self.file.nodes[*reader].output.first()?;
        }
        None
    }

    /// Follows the values through the prepared graph, so that each node takes what came behind it
    /// in the file and is nowhere to be seen.
    fn match_forwards(&mut self) {
        for (index, node) in self.after.nodes.iter().enumerate() {
            let Some(output) = node.output.first() else {
                continue;
            };
            let lost = !self.values.contains_key(output.as_str());
            // What carries a value to a tensor of the file is explained already.
            if self.last[index].is_none() && (lost || !self.carries[index]) {
                let mut inputs = node.input.iter();
                let found = inputs.find_map(|name| self.matching_reader(index, self.value(name)?));
                if let Some(original) = found {
                    self.claim(index, original);
                }
            }
            if !lost {
                continue;
            }
            let value = match self.last[index] {
                Some(original) => self.absorb_followers(index, original),
                None if self.carries[index] => {
                    node.input.first().and_then(|input| self.value(input))
                }
                None => None,
            };
            if let Some(value) = value {
                self.values.insert(output, value);
            }
        }
    }

    /// Takes the nodes of the file behind this one that can only be part of the prepared node:
    /// no other node reads what is before them, and none stands for them. Says what it then makes.
    fn absorb_followers(&mut self, node: usize, original: usize) -> Option<&'a str> {
        let file = self.file;
        let mut tensor = file.nodes[original].output.first()?.as_str();
        while let [reader] = file.readers(tensor) {
            let behind = &file.nodes[*reader];
            let nothing = graph::does_nothing(&behind.op_type);
            let tail =
                TAILS.contains(&behind.op_type.as_str()) && self.can_take(node, *reader, tensor);
            // The order rules out circles, which only damaged files have.
            if self.owner[*reader].is_some() || *reader <= original || !(nothing || tail) {
                break;
            }
            let Some(next) = behind.output.first() else {
                break;
            };
            if next == tensor {
                break;
            }
            if tail {
                self.claim(node, *reader);
            }
            tensor = next;
        }
        Some(tensor)
    }

    /// Whether a prepared node has all that this node of the file needs beside one tensor.
    fn can_take(&self, node: usize, original: usize, beside: &str) -> bool {
        let inputs = self.file.nodes[original].input.iter();
        let mut others = inputs.filter(|name| !name.is_empty() && *name != beside);
        others.all(|other| self.is_fixed(other) || self.reads(node, other))
    }

    /// Whether a tensor is stored in the file, as such or in a node.
    fn is_fixed(&self, tensor: &str) -> bool {
        let constant = |maker: usize| op(self.file, maker) == "Constant";
        self.file.is_stored(tensor) || self.file.maker(tensor).is_some_and(constant)
    }

    /// Whether a prepared node reads this tensor of the file, in whatever form.
    fn reads(&self, node: usize, tensor: &str) -> bool {
        let wanted = self.file.source(tensor);
        let inputs = self.after.nodes[node].input.iter();
        let mut values = inputs.filter_map(|input| self.value(input));
        values.any(|value| self.file.source(value) == wanted)
    }

    /// The tensor of the file that one of the prepared graph is.
    fn value<'t>(&self, tensor: &'t str) -> Option<&'t str>
    where
        'a: 't,
    {
        let known = self.values.get(tensor).copied();
        known.or_else(|| self.file.has_tensor(tensor).then_some(tensor))
    }

    /// From the back: a node for which none stands was merged into the reader of its output, or is gone.
    fn match_backwards(&mut self) {
        let constants = self.file.constants();
        let twins = self.file.duplicate_nodes();
        // The node that stands for what is behind a node, even where the node itself is gone.
        let mut behind: Vec<Option<usize>> = self.owner.clone();
        for original in (0..self.file.nodes.len()).rev() {
            if self.owner[original].is_some() {
                continue;
            }
            let outputs = self.file.nodes[original].output.iter();
            let readers = outputs.flat_map(|output| self.file.readers(output));
            let nearest = readers
                .filter_map(|&reader| Some((behind[reader]?, reader)))
                .min();
            let Some((node, reader)) = nearest else {
                continue;
            };
            behind[original] = Some(node);
            let copied = twins[original].is_some_and(|twin| self.is_alive(twin));
            let gone = copied
                || graph::does_nothing(op(self.file, original))
                || (constants[original] && !self.reads_stored(node, original))
                || self.is_idle(node, original, reader);
            if !gone {
                self.owner[original] = Some(node);
            }
        }
    }

    /// Whether what a node of the file makes is made under its own name still.
    fn is_alive(&self, original: usize) -> bool {
        let mut outputs = self.file.nodes[original].output.iter();
        outputs.any(|output| self.after.maker(output).is_some())
    }

    /// Whether a prepared node reads a stored tensor that this node of the file reads, which then
    /// was not worked out beforehand.
    fn reads_stored(&self, node: usize, original: usize) -> bool {
        let inputs = self.file.nodes[original].input.iter();
        let mut stored = inputs.filter(|input| self.file.is_stored(input));
        stored.any(|input| self.after.nodes[node].input.contains(input))
    }

    /// Whether a change of form was dropped as needless: its reader stayed what it is, and reads
    /// what was before the change.
    fn is_idle(&self, node: usize, original: usize, reader: usize) -> bool {
        let kind = op(self.file, original);
        let changes = graph::is_view(kind) || kind == "Cast";
        let kept = op(self.file, reader);
        changes
            && kept == self.op(node)
            && !graph::may_be_same_node(kept, kind)
            && self.file.nodes[original]
                .input
                .first()
                .is_some_and(|input| self.reads(node, input))
    }

    /// The fusions in the order of the two graphs.
    fn fusions(&self) -> Fusions {
        let mut from: Vec<Vec<NamedNode>> = vec![Vec::new(); self.after.nodes.len()];
        let mut told = Fusions::default();
        for (node, owner) in self.file.nodes.iter().zip(&self.owner) {
            match owner {
                Some(owner) => from[*owner].push(origin(node)),
                None => told.gone.push(origin(node)),
            }
        }
        for (node, from) in self.after.nodes.iter().zip(from) {
            let NamedNode { name, op } = origin(node);
            if from.is_empty() {
                told.added.push(NamedNode { name, op });
            } else {
                let node = name;
                told.became.push(PreparedNode { node, op, from });
            }
        }
        told
    }

    fn op(&self, node: usize) -> &'a str {
        op(self.after, node)
    }
}

fn op<'a>(graph: &FusionGraph<'a>, node: usize) -> &'a str {
    &graph.nodes[node].op_type
}

/// A node by name and operator.
fn origin(node: &NodeProto) -> NamedNode {
    let unnamed = || node.output.first().cloned().unwrap_or_default();
    let name = Some(node.name.clone()).filter(|name| !name.is_empty());
    NamedNode {
        name: name.unwrap_or_else(unnamed),
        op: operator_title(node),
    }
}

/// The operator as people say it: with the layout, where a domain or an attribute of ONNX Runtime's
/// stands for one, and without the usual domains.
fn operator_title(node: &NodeProto) -> String {
    let op = &node.op_type;
    let channels_last = crate::proto::int(node, "channels_last") == Some(1);
    match node.domain.as_str() {
        "com.microsoft.nchwc" if !op.starts_with("Reorder") => format!("{op} (NCHWc)"),
        "com.ms.internal.nhwc" => format!("{op} (NHWC)"),
        "com.microsoft" if channels_last => format!("{op} (NHWC)"),
        "" | "ai.onnx" | "com.microsoft" | "com.microsoft.nchwc" => op.clone(),
        domain => format!("{domain}.{op}"),
    }
}
