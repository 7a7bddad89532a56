//! Operations and bytes of every node of a graph, and of groups of nodes that an engine runs as one.
//!
//! The formulas are those of `powerband_core::work`; here nodes, shapes and element types are brought together.
//! A group reads what comes from outside it and writes what is read outside it, each once: that is the least
//! that it moves. The most is what its nodes move one by one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use powerband_core::domain::work::{NumberFormat, Work};
use powerband_core::work::operators::{self, Attributes, OperatorCall};
use powerband_core::work::{Cost, Element, Operand};

use crate::infer::Shapes;
use crate::pb::{ModelProto, NodeProto};
use crate::proto;

/// Domains whose operators are known: those of ONNX and of ONNX Runtime.
const DOMAINS: [&str; 5] = [
    "",
    "ai.onnx",
    "com.microsoft",
    "com.microsoft.nchwc",
    "com.ms.internal.nhwc",
];

/// A node with what it costs.
#[derive(Clone, Debug)]
struct NodeEntry {
    name: String,
    op: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    cost: Option<Cost>,
}

/// The work of a graph's nodes.
#[derive(Clone, Debug, Default)]
pub struct GraphWork {
    entries: Vec<NodeEntry>,
    /// Nodes by name and by first output; nothing where several share one.
    by_name: HashMap<String, Option<usize>>,
    /// Nodes that read a tensor.
    readers: HashMap<String, Vec<usize>>,
    /// Tensors that the graph gives to its caller.
    given: BTreeSet<String>,
}

impl GraphWork {
    /// The work of a model's outermost graph where its values have these shapes.
    pub fn new(model: &ModelProto, shapes: &Shapes) -> Self {
        let elements = elements(model);
        let mut work = Self::default();
        if let Some(graph) = &model.graph {
            let given = graph.output.iter().map(|output| output.name.clone());
            work.given = given.collect();
        }
        let known = TensorFacts {
            model,
            shapes,
            elements: &elements,
        };
        // A constant is there before anything runs.
        let nodes = proto::nodes(model).iter();
        for node in nodes.filter(|node| node.op_type != "Constant") {
            let index = work.entries.len();
            let entry = NodeEntry {
                name: super::label(node),
                op: node.op_type.clone(),
                inputs: node.input.clone(),
                outputs: node.output.clone(),
                cost: known.cost(node),
            };
            let mut names = vec![entry.name.clone()];
            names.extend(entry.outputs.first().cloned());
            names.dedup();
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                let place = work.by_name.entry(name).or_insert(Some(index));
                if *place != Some(index) {
                    *place = None;
                }
            }
            for input in node.input.iter().filter(|name| !name.is_empty()) {
                let readers = work.readers.entry(input.clone()).or_default();
                readers.push(index);
            }
            work.entries.push(entry);
        }
        work
    }

    /// Each node in the order of the file: its name, its operator, and its work where that is known.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &str, Option<Work>)> {
        self.entries.iter().map(|entry| {
            let work = entry.cost.as_ref().map(Cost::work);
            (entry.name.as_str(), entry.op.as_str(), work)
        })
    }

    /// Operators of nodes whose work is not known, and how many nodes each.
    pub fn unknown(&self) -> BTreeMap<&str, u64> {
        let mut unknown = BTreeMap::new();
        let entries = self.entries.iter().filter(|entry| entry.cost.is_none());
        for entry in entries {
            *unknown.entry(entry.op.as_str()).or_insert(0) += 1;
        }
        unknown
    }

    /// The work of the node with this name or this first output.
    pub fn node(&self, name: &str) -> Option<Work> {
        self.group(&[name], None)
    }

    /// The operator of the node with this name or this first output.
    pub fn op(&self, name: &str) -> Option<&str> {
        let index = (*self.by_name.get(name)?)?;
        Some(&self.entries.get(index)?.op)
    }

    /// The work of nodes that an engine runs as one. `numbers` is what it computes with, where that is not what
    /// the nodes say. Nothing where one of them is not there, or its work is not known.
    pub fn group(&self, names: &[&str], numbers: Option<NumberFormat>) -> Option<Work> {
        let members: Option<BTreeSet<usize>> = names
            .iter()
            .map(|name| self.by_name.get(*name).copied().flatten())
            .collect();
        let members = members?;
        let costs: Option<Vec<(&NodeEntry, &Cost)>> = members
            .iter()
            .map(|&index| {
                let entry = self.entries.get(index)?;
                Some((entry, entry.cost.as_ref()?))
            })
            .collect();
        let costs = costs?;
        let works = costs.iter().map(|(_, cost)| cost.work());
        let main = works.clone().max_by_key(|work| work.operations)?;
        let sum = |each: fn(&Work) -> u64| {
            let each = works.clone().map(|work| each(&work));
            each.fold(0, u64::saturating_add)
        };
        let high_bytes = sum(|work| work.high_bytes);
        let low_bytes = if let [(_, only)] = costs[..] {
            only.work().low_bytes
        } else if costs.iter().all(|(_, cost)| cost.is_view) {
            0
        } else {
            self.crossing(&members, &costs)
        };
        Some(Work {
            operations: sum(|work| work.operations),
            numbers: numbers.unwrap_or(main.numbers),
            low_bytes: low_bytes.min(high_bytes),
            high_bytes,
        })
    }

    /// Bytes of what goes into a group and comes out of it, each tensor once.
    fn crossing(&self, members: &BTreeSet<usize>, costs: &[(&NodeEntry, &Cost)]) -> u64 {
        let made = costs.iter().flat_map(|(entry, _)| &entry.outputs);
        let made: BTreeSet<&str> = made.map(String::as_str).collect();
        let mut moved: BTreeMap<&str, u64> = BTreeMap::new();
        for (entry, cost) in costs {
            for (name, &bytes) in entry.inputs.iter().zip(&cost.reads) {
                if !name.is_empty() && !made.contains(name.as_str()) {
                    let known = moved.entry(name).or_insert(0);
                    *known = bytes.max(*known);
                }
            }
            for (name, &bytes) in entry.outputs.iter().zip(&cost.writes) {
                let readers = self.readers.get(name).map_or(&[][..], Vec::as_slice);
                let is_read = readers.iter().any(|reader| !members.contains(reader));
                if is_read || self.given.contains(name) {
                    moved.insert(name, bytes);
                }
            }
        }
        moved
            .values()
            .fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }
}

/// Shapes and element types of the model's tensors.
struct TensorFacts<'a> {
    model: &'a ModelProto,
    shapes: &'a Shapes,
    elements: &'a BTreeMap<&'a str, Element>,
}

impl TensorFacts<'_> {
    fn operand(&self, name: &str) -> Option<Operand> {
        Some(Operand {
            dims: self.shapes.get(name)?.clone(),
            element: *self.elements.get(name)?,
        })
    }

    fn cost(&self, node: &NodeProto) -> Option<Cost> {
        let is_known = DOMAINS.contains(&node.domain.as_str());
        if !is_known || super::is_local(self.model, node) {
            return None;
        }
        let inputs: Option<Vec<Option<Operand>>> = node
            .input
            .iter()
            .map(|name| match name.as_str() {
                "" => Some(None),
                // Sizes that are computed while it runs are a handful of numbers.
                name => self.operand(name).map(Some).or_else(|| {
                    let is_whole = self.elements.get(name)?.numbers.is_none();
                    is_whole.then_some(None)
                }),
            })
            .collect();
        let inputs = inputs?;
        let outputs: Vec<Option<Operand>> =
            node.output.iter().map(|name| self.operand(name)).collect();
        if outputs.iter().all(Option::is_none) {
            return None;
        }
        operators::cost(&OperatorCall {
            op: &node.op_type,
            attributes: &NodeAttributes(node),
            inputs: &inputs,
            outputs: &outputs,
        })
    }
}

/// The attributes of a node in a file.
struct NodeAttributes<'a>(&'a NodeProto);

impl Attributes for NodeAttributes<'_> {
    fn are_known(&self) -> bool {
        true
    }

    fn int(&self, name: &str) -> Option<i64> {
        proto::int(self.0, name)
    }

    fn ints(&self, name: &str) -> Option<&[i64]> {
        proto::ints(self.0, name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        proto::text(self.0, name)
    }
}

/// What the elements of a type are.
fn element(data_type: i32) -> Option<Element> {
    Element::named(&proto::type_name(data_type)).or_else(|| {
        let bits = proto::element_bits(data_type)?;
        Some(Element {
            bits,
            numbers: None,
        })
    })
}

/// What each value consists of: as stated for inputs, constants and inner values, and otherwise followed through
/// the operators.
pub(crate) fn elements(model: &ModelProto) -> BTreeMap<&str, Element> {
    let mut known = BTreeMap::new();
    let Some(graph) = &model.graph else {
        return known;
    };
    let stated = graph.value_info.iter().chain(&graph.output);
    for value in graph.input.iter().chain(stated) {
        let tensor = proto::tensor_type(value);
        if let Some(element) = tensor.and_then(|tensor| element(tensor.elem_type)) {
            known.insert(value.name.as_str(), element);
        }
    }
    for (name, tensor) in proto::constants(graph) {
        if let Some(element) = element(tensor.data_type) {
            known.insert(name, element);
        }
    }
    for node in &graph.node {
        let of = |index| proto::input(node, index).and_then(|name| known.get(name).copied());
        let made = outputs_of(node, &of);
        for (index, output) in node.output.iter().enumerate() {
            let made = made.get(index).or_else(|| made.first());
            if let Some(Some(element)) = made
                && !known.contains_key(output.as_str())
            {
                known.insert(output, *element);
            }
        }
    }
    known
}

/// What a node's outputs consist of; the last one stands for all behind it.
fn outputs_of(node: &NodeProto, of: &dyn Fn(usize) -> Option<Element>) -> Vec<Option<Element>> {
    let named = Element::named;
    let typed = |name: &str| proto::int(node, name).and_then(|to| element(to as i32));
    match node.op_type.as_str() {
        "QuantizeLinear" => {
            let stated = of(2).or_else(|| typed("output_dtype"));
            vec![stated.or_else(|| named("uint8"))]
        }
        "DynamicQuantizeLinear" => vec![named("uint8"), of(0), named("uint8")],
        "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Not" | "And" | "Or"
        | "Xor" | "IsNaN" | "IsInf" => vec![named("bool")],
        "Cast" => vec![typed("to")],
        "ConvInteger" | "MatMulInteger" => vec![named("int32")],
        "DequantizeLinear" | "Where" | "CastLike" => vec![of(1)],
        "EmbedLayerNormalization" => vec![of(2), named("int32")],
        "OneHot" | "MatMulIntegerToFloat" => vec![of(2)],
        "Shape" | "Size" | "ArgMax" | "ArgMin" | "NonZero" | "NonMaxSuppression" => {
            vec![named("int64")]
        }
        "TopK" | "MaxPool" => vec![of(0), named("int64")],
        "ConstantOfShape" => {
            let value = proto::attribute(node, "value").and_then(|value| value.t.as_ref());
            vec![value.map_or(Some(Element::F32), |tensor| element(tensor.data_type))]
        }
        "Constant" => {
            let has = |name| proto::attribute(node, name).is_some();
            let is_whole = has("value_int") || has("value_ints");
            vec![if is_whole {
                named("int64")
            } else {
                Some(Element::F32)
            }]
        }
        _ => vec![of(0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr};
    use crate::zoo::testing::shapes_at;
    use crate::zoo::{self, ZooModel, probes::PROBES};

    /// Sizes for every name that the zoo uses.
    fn sizes_of(network: &ZooModel) -> [(&'static str, usize); 3] {
        let past = if network.id.ends_with("past") { 16 } else { 0 };
        [("batch", 2), ("sequence", 24), ("past", past)]
    }

    fn work_of(network: &ZooModel) -> GraphWork {
        let model = zoo::outline(network);
        let shapes = shapes_at(&model, &sizes_of(network));
        GraphWork::new(&model, &shapes)
    }

    #[test]
    fn each_node_of_each_built_in_network_has_work() {
        let probes = PROBES.iter().map(|probe| &probe.model);
        for network in zoo::ALL.iter().chain(probes) {
            let work = work_of(network);
            assert_eq!(work.unknown(), BTreeMap::new(), "{}", network.id);
            for (name, _, work) in work.nodes() {
                let work = work.unwrap();
                assert!(work.low_bytes <= work.high_bytes, "{}: {name}", network.id);
            }
        }
    }

    /// Two operations for each of the multiply-accumulates that the literature counts, and a little more for
    /// what it leaves out: sums of biases, norms, rectifiers.
    #[test]
    fn operations_are_twice_the_published_products_and_a_little() {
        for (id, most) in [("resnet50", 1.02), ("bert-base", 1.03), ("gpt2", 1.03)] {
            let network = zoo::find(id).unwrap();
            let model = zoo::outline(network);
            let shapes = shapes_at(&model, &sizes_of(network));
            let macs = super::super::macs(&model, &shapes).0;
            let work = GraphWork::new(&model, &shapes);
            let operations: u64 = work.nodes().map(|node| node.2.unwrap().operations).sum();
            let ratio = operations as f64 / (2 * macs) as f64;
            assert!((1.0..most).contains(&ratio), "{id}: {ratio}");
        }
    }

    fn block() -> (TestGraph, GraphWork) {
        let graph = TestGraph::new(&[("x", &[1, 4, 8, 8])])
            .weight("w", &[6, 4, 1, 1])
            .weight("s", &[6])
            .weight("b", &[6])
            .weight("m", &[6])
            .weight("v", &[6])
            .node("Conv", "x w", "c", &[])
            .node("BatchNormalization", "c s b m v", "n", &[])
            .node("Relu", "n", "y", &[])
            .node("Flatten", "y", "f", &[attr("axis", &[1])]);
        let work = GraphWork::new(&graph.model(), &graph.shapes());
        (graph, work)
    }

    /// Convolution: 6 × 64 places of 4 products. Norm: 2 each. Rectifier: 1 each. In a group the values between
    /// them do not move.
    #[test]
    fn a_group_moves_what_crosses_its_border() {
        let (_, work) = block();
        let group = work.group(&["c", "n", "y"], None).unwrap();
        let made = 6 * 64;
        assert_eq!(group.operations, made * (2 * 4 + 2 + 1));
        let once = 4 * (4 * 64 + 6 * 4 + 4 * 6 + made);
        // The values between convolution and norm, and norm and rectifier, are written and read.
        assert_eq!(
            (group.low_bytes, group.high_bytes),
            (once, once + 4 * 4 * made)
        );
        let parts = ["c", "n", "y"].map(|name| work.node(name).unwrap());
        let high: u64 = parts.iter().map(|part| part.high_bytes).sum();
        assert_eq!(group.high_bytes, high);
        assert_eq!(work.node("f").unwrap().low_bytes, 0);
        let quantised = work.group(&["c"], Some(NumberFormat::Int8)).unwrap();
        assert_eq!(quantised.numbers, NumberFormat::Int8);
        assert_eq!(work.group(&["c", "nowhere"], None), None);
    }

    #[test]
    fn what_has_no_rule_is_named_and_not_guessed() {
        let graph = TestGraph::new(&[("x", &[2, 3])])
            .node("Mystery", "x", "y", &[])
            .node("Relu", "y", "z", &[])
            .node("If", "x", "i", &[])
            .node("Relu", "x", "out", &[]);
        let work = GraphWork::new(&graph.model(), &graph.shapes());
        let unknown: Vec<_> = work.unknown().into_iter().collect();
        // The rectifier behind what is not known has no shape.
        assert_eq!(unknown, [("If", 1), ("Mystery", 1), ("Relu", 1)]);
        assert_eq!(work.node("out").unwrap().operations, 6);
        let foreign = TestGraph::new(&[("x", &[2, 3])]).node("Relu", "x", "y", &[]);
        let mut model = foreign.model();
        let nodes = model.graph.iter_mut().flat_map(|graph| &mut graph.node);
        nodes.for_each(|node| "somebody".clone_into(&mut node.domain));
        let work = GraphWork::new(&model, &foreign.shapes());
        assert_eq!(work.node("y"), None);
    }
}
