//! Halves the floats of a network: 32-bit ones become 16-bit ones.
//!
//! A model comes in and a model goes out, through `parts` and `types`. Inputs and outputs of the
//! network stay as they are unless the caller says otherwise, except what `caches` finds. Operators
//! whose inputs the standard wants as 32-bit floats, and those that lose their point in 16 bits, which
//! `islands` finds, stay as they are as well, with `Cast` nodes around them.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::{GraphProto, ModelProto, NodeProto};

use super::halving::{HALF, halved, retype, set_element};
use super::left::{NodesKept, Reason};
use super::parts::{self, FLOAT, LeaveOut, TakenNames, is_op};
use super::types::{self, Types};
use super::{Counts, RewriteError, Rewritten, caches, islands};
use crate::proto;
use powerband_core::base::humanize;

/// The operator set in which operators stopped differing in ways that matter here.
const OLDEST: i64 = 7;

/// What the caller may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fp16Options {
    /// Inputs and outputs of the network stay 32-bit floats.
    pub keep_io: bool,
    /// Operator types and node names that stay in 32-bit floats.
    pub leave_out: Vec<String>,
}

impl Default for Fp16Options {
    fn default() -> Self {
        Self {
            keep_io: true,
            leave_out: Vec::new(),
        }
    }
}

/// Rewrites a network to 16-bit floats.
pub fn rewrite(model: &ModelProto, options: &Fp16Options) -> Result<Rewritten, RewriteError> {
    let found = parts::opset(model);
    if found < OLDEST {
        return Err(RewriteError::Opset {
            found,
            needed: OLDEST,
        });
    }
    let mut model = model.clone();
    let graph = parts::prepare(&mut model)?;
    // Floats there are scales, and engines would not find their pattern again.
    if let Some(node) = graph.node.iter().find(|node| parts::is_quantised(node)) {
        let operator = node.op_type.clone();
        return Err(RewriteError::Quantised { operator });
    }
    let leave_out = LeaveOut::new(&options.leave_out);
    let mut notes = leave_out.unmatched_words(&graph.node);
    let plan = HalvingPlan::new(graph, options.keep_io, &leave_out);
    let mut counts = Counts::default();
    notes.extend(plan.left.notes());
    plan.halve_stored(graph, &mut counts)?;
    plan.halve_stated(graph);
    plan.connect(graph, &mut counts);
    parts::drop_unused(graph);
    let caches = plan.ends.caches.len() as u64 / 2;
    if caches > 0 {
        notes.push(format!(
            "{} for past keys and values and the outputs in which they come back are 16-bit floats too",
            humanize::pluralised(caches, "input")
        ));
    }
    if counts.rewritten == 0 {
        notes.push("The network holds no 32-bit floats that could be halved".to_owned());
    }
    if counts.clamped > 0 {
        notes.push(format!(
            "{} stored values lie outside the range of 16-bit floats and became ±65504",
            counts.clamped
        ));
    }
    if counts.raised > 0 {
        notes.push(format!(
            "{} stored values are too small for 16-bit floats and became ±6e-8 instead of zero",
            counts.raised
        ));
    }
    Ok(Rewritten {
        model,
        notes,
        counts,
    })
}

/// One of the two kinds of float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FloatKind {
    Float,
    Half,
}

impl FloatKind {
    fn element(self) -> i32 {
        match self {
            Self::Float => FLOAT,
            Self::Half => HALF,
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Float => Self::Half,
            Self::Half => Self::Float,
        }
    }
}

/// A value that was a 32-bit float.
#[derive(Clone, Debug)]
struct HalvedValue {
    /// Precision that its node computes it in.
    home: FloatKind,
    /// The name of what it is made as.
    name: String,
    /// The name of its copy in the other precision, where a node reads that.
    other: Option<String>,
}

impl HalvedValue {
    fn named(&self, kind: FloatKind) -> &str {
        match &self.other {
            Some(other) if kind != self.home => other,
            _ => &self.name,
        }
    }
}

/// What the inputs and outputs of the network are.
struct EndKinds {
    kind: FloatKind,
    /// Those that are halved in any case.
    caches: BTreeSet<String>,
}

impl EndKinds {
    fn kind_of(&self, name: &str) -> FloatKind {
        if self.caches.contains(name) {
            FloatKind::Half
        } else {
            self.kind
        }
    }
}

/// What each node and value is rewritten to.
struct HalvingPlan {
    stays: Vec<bool>,
    values: BTreeMap<String, HalvedValue>,
    ends: EndKinds,
    left: NodesKept,
}

impl HalvingPlan {
    fn new(graph: &GraphProto, keep_io: bool, leave_out: &LeaveOut<'_>) -> Self {
        let types = types::follow(graph);
        let ends = EndKinds {
            kind: if keep_io {
                FloatKind::Float
            } else {
                FloatKind::Half
            },
            caches: caches::find(graph),
        };
        let islands = islands::find(graph, &types);
        let mut left = NodesKept::default();
        let mut stays = Vec::with_capacity(graph.node.len());
        for (index, node) in graph.node.iter().enumerate() {
            let asked = leave_out.contains(node).then_some(Reason::Asked);
            let island = islands.get(&index).copied();
            let reason = asked.or_else(|| islands::must_stay(node)).or(island);
            stays.push(reason.is_some());
            let names = || node.input.iter().chain(&node.output);
            let has_floats = names().any(|name| types.get(name) == Some(&FLOAT));
            if let Some(reason) = reason.filter(|_| has_floats) {
                left.add(node, reason);
            }
        }
        let mut wanted: BTreeMap<&str, BTreeSet<FloatKind>> = BTreeMap::new();
        for value in &graph.output {
            let kind = ends.kind_of(&value.name);
            wanted.entry(&value.name).or_default().insert(kind);
        }
        // Readers come before what they read, so that a cast knows which nodes read its result.
        for (node, stays) in graph.node.iter().zip(&mut stays).rev() {
            *stays |= is_op(node, "Cast")
                && proto::int(node, "to") == Some(i64::from(FLOAT))
                && wanted
                    .get(node.output.first().map_or("", String::as_str))
                    .is_some_and(|kinds| !kinds.contains(&FloatKind::Half));
            for (index, name) in node.input.iter().enumerate() {
                let kind = if *stays || islands::is_float_slot(node, index) {
                    FloatKind::Float
                } else {
                    FloatKind::Half
                };
                wanted.entry(name).or_default().insert(kind);
            }
        }
        let values = named_values(graph, &types, &stays, &wanted, &ends);
        Self {
            stays,
            values,
            ends,
            left,
        }
    }

    /// Converts the stored tensors to 16-bit floats.
    fn halve_stored(
        &self,
        graph: &mut GraphProto,
        counts: &mut Counts,
    ) -> Result<(), RewriteError> {
        let mut copies = Vec::new();
        for tensor in &mut graph.initializer {
            let Some(value) = self.values.get(&tensor.name) else {
                continue;
            };
            if value.home == FloatKind::Half {
                *tensor = halved(tensor, &value.name, counts)?;
            } else if let Some(other) = &value.other {
                copies.push(halved(tensor, other, counts)?);
                tensor.name.clone_from(&value.name);
            }
        }
        graph.initializer.extend(copies);
        Ok(())
    }

    /// Converts the element types that the graph states of its values.
    fn halve_stated(&self, graph: &mut GraphProto) {
        for value in graph.input.iter_mut().chain(&mut graph.output) {
            if self.values.contains_key(&value.name) {
                set_element(value, self.ends.kind_of(&value.name).element());
            }
        }
        let outputs = parts::outputs(graph);
        for value in &mut graph.value_info {
            if let Some(known) = self.values.get(&value.name) {
                let end = outputs.contains(&value.name);
                let kind = if end {
                    self.ends.kind_of(&value.name)
                } else {
                    known.home
                };
                set_element(value, kind.element());
            }
        }
    }

    /// Renames what the nodes read and write, and puts casts in between.
    fn connect(&self, graph: &mut GraphProto, counts: &mut Counts) {
        let mut nodes = Vec::new();
        let inputs = graph.input.iter().map(|value| &value.name);
        let sparse = graph
            .sparse_initializer
            .iter()
            .filter_map(|sparse| Some(&sparse.values.as_ref()?.name));
        nodes.extend(inputs.chain(sparse).filter_map(|name| self.cast(name)));
        for (mut node, &stays) in std::mem::take(&mut graph.node).into_iter().zip(&self.stays) {
            let touched = self.rename(&mut node, stays);
            if stays {
                counts.left += u64::from(touched);
            } else {
                counts.rewritten += u64::from(touched);
                retype(&mut node);
            }
            let written = node.output.clone();
            for name in &mut node.output {
                if let Some(value) = self.values.get(name) {
                    name.clone_from(&value.name);
                }
            }
            nodes.push(node);
            nodes.extend(written.iter().filter_map(|name| self.cast(name)));
        }
        let casts = nodes.len() as u64 - self.stays.len() as u64;
        counts.added += casts;
        graph.node = nodes;
    }

    /// Lets a node read values of the kind that it wants. Says whether floats are involved at all.
    fn rename(&self, node: &mut NodeProto, stays: bool) -> bool {
        let mut touched = node
            .output
            .iter()
            .any(|name| self.values.contains_key(name));
        for index in 0..node.input.len() {
            let kind = if stays || islands::is_float_slot(node, index) {
                FloatKind::Float
            } else {
                FloatKind::Half
            };
            if let Some(value) = self.values.get(&node.input[index]) {
                value.named(kind).clone_into(&mut node.input[index]);
                touched = true;
            }
        }
        touched
    }

    /// The cast to the other precision, where a node reads that.
    fn cast(&self, name: &str) -> Option<NodeProto> {
        let value = self.values.get(name)?;
        let other = value.other.as_ref()?;
        let to = parts::int("to", i64::from(value.home.other().element()));
        Some(parts::node(
            "Cast",
            vec![value.name.clone()],
            other,
            vec![to],
        ))
    }
}

/// Decides what every float value is made as and what it is called.
fn named_values(
    graph: &GraphProto,
    types: &Types,
    stays: &[bool],
    wanted: &BTreeMap<&str, BTreeSet<FloatKind>>,
    ends: &EndKinds,
) -> BTreeMap<String, HalvedValue> {
    let mut names = TakenNames::new(graph);
    let outputs = parts::outputs(graph);
    let only_half = |name: &str| {
        let kinds = wanted.get(name);
        kinds.is_some_and(|kinds| !kinds.contains(&FloatKind::Float))
    };
    let stored = graph.initializer.iter().map(|tensor| {
        // A stored tensor that is wanted as both keeps all its digits and gets a copy.
        let home = if only_half(&tensor.name) {
            FloatKind::Half
        } else {
            FloatKind::Float
        };
        (&tensor.name, home)
    });
    let sparse = graph
        .sparse_initializer
        .iter()
        .filter_map(|sparse| Some((&sparse.values.as_ref()?.name, FloatKind::Float)));
    let inputs = graph.input.iter();
    let inputs = inputs.map(|value| (&value.name, ends.kind_of(&value.name)));
    let made = graph.node.iter().zip(stays).flat_map(|(node, &stays)| {
        let home = if stays {
            FloatKind::Float
        } else {
            FloatKind::Half
        };
        node.output.iter().map(move |name| (name, home))
    });
    let mut values = BTreeMap::new();
    for (name, home) in stored.chain(sparse).chain(inputs).chain(made) {
        if types.get(name) != Some(&FLOAT) {
            continue;
        }
        let both = wanted
            .get(name.as_str())
            .is_some_and(|kinds| kinds.contains(&home.other()));
        let mut own = name.clone();
        let mut other = None;
        if both {
            let suffix = match home {
                FloatKind::Float => ["float", "fp16"],
                FloatKind::Half => ["fp16", "float"],
            };
            // The outside knows an output by its name, whichever kind it is made as.
            if outputs.contains(name) && home != ends.kind_of(name) {
                own = names.fresh(name, suffix[0]);
                other = Some(name.clone());
            } else {
                other = Some(names.fresh(name, suffix[1]));
            }
        }
        values.insert(
            name.clone(),
            HalvedValue {
                home,
                name: own,
                other,
            },
        );
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr, port};
    use crate::pb::tensor_proto::DataType;
    use crate::pb::{OperatorSetIdProto, ValueInfoProto};

    fn model(graph: &TestGraph) -> ModelProto {
        let mut model = graph.model();
        model.opset_import.push(OperatorSetIdProto {
            domain: String::new(),
            version: 17,
        });
        let graph = model.graph.as_mut().unwrap();
        let last = graph.node.last().unwrap().output[0].clone();
        graph.output.push(port(&last, DataType::Float, &["n"]));
        model
    }

    /// Each node as `Op in in > out`.
    fn lines(model: &ModelProto) -> Vec<String> {
        let line = |node: &NodeProto| {
            let (from, to) = (node.input.join(" "), node.output.join(" "));
            format!("{} {from} > {to}", node.op_type)
        };
        proto::nodes(model).iter().map(line).collect()
    }

    fn elements(values: &[ValueInfoProto]) -> Vec<i32> {
        let of = |value| proto::tensor_type(value).unwrap().elem_type;
        values.iter().map(of).collect()
    }

    #[test]
    fn casts_are_at_the_edges() {
        let graph = TestGraph::new(&[("x", &[2])])
            .floats("b", &[1.0, 2.0])
            .node("Add", "x b", "a", &[])
            .stated("a", &["2"])
            .node("Relu", "a", "y", &[]);
        let done = rewrite(&model(&graph), &Fp16Options::default()).unwrap();
        assert_eq!(
            lines(&done.model),
            [
                "Cast x > x/fp16",
                "Add x/fp16 b > a",
                "Relu a > y/fp16",
                "Cast y/fp16 > y"
            ]
        );
        let new = done.model.graph.unwrap();
        assert_eq!(elements(&new.input), [FLOAT]);
        assert_eq!(elements(&new.output), [FLOAT]);
        assert_eq!(elements(&new.value_info), [HALF]);
        assert_eq!(new.initializer[0].raw_data, [0x00, 0x3c, 0x00, 0x40]);
        assert_eq!((done.counts.added, done.counts.rewritten), (2, 2));
        let all = Fp16Options {
            keep_io: false,
            ..Default::default()
        };
        let done = rewrite(&model(&graph), &all).unwrap();
        assert_eq!(lines(&done.model), ["Add x b > a", "Relu a > y"]);
        let new = done.model.graph.unwrap();
        assert_eq!(
            [elements(&new.input), elements(&new.output)],
            [[HALF], [HALF]]
        );
    }

    #[test]
    fn some_operators_and_inputs_stay() {
        let graph = TestGraph::new(&[("x", &[1, 1, 2, 2])])
            .floats("s", &[1.0, 1.0, 2.0, 2.0])
            .node("Resize", "x _ s", "a", &[])
            .node("Mul", "a s", "b", &[])
            .node("TopK", "b k", "c i", &[])
            .node("Relu", "c", "d", &[])
            .node("Relu", "d", "y", &[]);
        let mut made = model(&graph);
        made.graph.as_mut().unwrap().node[4].name = "last".to_owned();
        let options = Fp16Options {
            leave_out: vec!["last".to_owned(), "Reluu".to_owned()],
            ..Default::default()
        };
        let done = rewrite(&made, &options).unwrap();
        assert_eq!(
            lines(&done.model),
            [
                "Cast x > x/fp16",
                "Resize x/fp16  s > a",
                "Mul a s/fp16 > b",
                "Cast b > b/float",
                "TopK b/float k > c i",
                "Cast c > c/fp16",
                "Relu c/fp16 > d",
                "Cast d > d/float",
                "Relu d/float > y"
            ]
        );
        assert!(done.notes[0].contains("\"Reluu\""), "{:?}", done.notes);
        assert_eq!(done.counts.left, 2);
    }

    #[test]
    fn casts_of_the_network_give_what_is_wanted() {
        let graph = TestGraph::new(&[("x", &[2])])
            .node("Shape", "x", "n", &[])
            .node("Cast", "n", "a", &[attr("to", &[1])])
            .node("Mul", "x a", "b", &[])
            .node("Cast", "n", "c", &[attr("to", &[1])])
            .node("Range", "c c c", "d", &[])
            .node("Add", "b d", "y", &[]);
        let done = rewrite(&model(&graph), &Fp16Options::default()).unwrap();
        let nodes = proto::nodes(&done.model);
        let to = |output: &str| {
            let node = nodes.iter().find(|node| node.output[0] == output);
            proto::int(node.unwrap(), "to").unwrap() as i32
        };
        assert_eq!([to("a"), to("c"), to("d/fp16")], [HALF, FLOAT, HALF]);
    }

    #[test]
    fn what_cannot_be_rewritten_is_said() {
        let graph = TestGraph::new(&[("x", &[2])]).node("Relu", "x", "y", &[]);
        let refusal = |model: &ModelProto| {
            let result = rewrite(model, &Fp16Options::default());
            result.unwrap_err().to_string()
        };
        let mut old = model(&graph);
        old.opset_import[0].version = 6;
        assert!(refusal(&old).contains("operator set 6"));
        let mut branch = attr("then_branch", &[]);
        branch.g = Some(GraphProto::default());
        let branches = model(&graph.clone().node("If", "x", "z", &[branch]));
        assert!(refusal(&branches).contains("If \"z\" holds a graph"));
        let scaled = model(&graph.clone().node("DequantizeLinear", "q s", "z", &[]));
        assert!(refusal(&scaled).contains("holds DequantizeLinear"));
        let mut far = model(&graph.weight("w", &[2]).node("Add", "x w", "z", &[]));
        assert!(refusal(&far).contains("\"w\" does not hold"));
        far.graph.as_mut().unwrap().initializer[0].data_location = Some(1);
        assert!(refusal(&far).contains("file next to the model"));
        assert_eq!(
            refusal(&ModelProto::default()),
            refusal(&old).replace('6', "1")
        );
    }

    #[test]
    fn caches_are_halved_with_what_comes_back() {
        let graph = TestGraph::new(&[("x", &[1, 2, 1, 4]), ("past.0.key", &[1, 2, 3, 4])]);
        let mut made = graph.node(
            "Concat",
            "past.0.key x",
            "present.0.key",
            &[attr("axis", &[2])],
        );
        made = made.node("Relu", "present.0.key", "y", &[]);
        let mut model = model(&made);
        let present = port("present.0.key", DataType::Float, &["b", "2", "n", "4"]);
        model.graph.as_mut().unwrap().output.push(present);
        let done = rewrite(&model, &Fp16Options::default()).unwrap();
        let new = done.model.graph.as_ref().unwrap();
        assert_eq!(elements(&new.input), [FLOAT, HALF]);
        assert_eq!(elements(&new.output), [FLOAT, HALF]);
        assert_eq!(
            lines(&done.model)[..2],
            [
                "Cast x > x/fp16",
                "Concat past.0.key x/fp16 > present.0.key"
            ]
        );
        assert!(
            done.notes[0].contains("1 input for past keys and values"),
            "{:?}",
            done.notes
        );
    }
}
