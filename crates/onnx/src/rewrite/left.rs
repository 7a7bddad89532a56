//! What a rewrite leaves in 32-bit floats, and why, in sentences.
//!
//! The rewrites report each node that they leave; the sentences go with the rewritten network into its file, so
//! that they are there whenever it is used.

use std::collections::BTreeMap;

use crate::pb::{ModelProto, NodeProto, StringStringEntryProto};

/// Under which key a file keeps the sentences.
const KEY: &str = "powerband.rewrite";
/// Nodes of one operator that are named.
const NAMED: usize = 3;

/// Why a node stays in 32-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// The user wants it so.
    Asked,
    /// A product of two computed values.
    Activations,
    /// A layer whose weights are not stored as layers have them.
    Weights,
    /// A table whose rows are looked up.
    Table,
    /// An operator that 8 bits are too coarse for, or that engines have no such kernel of.
    Coarse,
    /// An operator that would take 8 bits or only moves values, and gets floats.
    Surrounded,
    /// The standard or the engines have it in 32 bits only.
    Standard,
    /// An operator of another set, whose types are not known.
    Foreign,
    /// Numbers that count, and what is computed of them alone.
    Counted,
    /// Squares and their mean.
    Squares,
}

impl Reason {
    fn text(self) -> &'static str {
        match self {
            Self::Asked => "because keep_float names them",
            Self::Activations => "because both of their inputs are activations",
            Self::Weights => "because their weights are not stored in a form with output channels",
            Self::Table => "because they look rows of a table up and compute nothing",
            Self::Coarse => {
                "because 8 bits are too coarse for them or engines have no such kernels"
            }
            Self::Surrounded => "because not all of their inputs are in 8 bits anyway",
            Self::Standard => "because the standard or engines have them in 32 bits only",
            Self::Foreign => "because their operators are not ONNX's own",
            Self::Counted => "because 16 bits do not hold positions and their angles exactly",
            Self::Squares => "because squares of large values exceed 16 bits",
        }
    }
}

/// Nodes that stay in 32-bit floats, by reason and operator.
#[derive(Debug, Default)]
pub(super) struct NodesKept {
    nodes: BTreeMap<Reason, BTreeMap<String, Vec<String>>>,
}

impl NodesKept {
    /// Takes a node in.
    pub(super) fn add(&mut self, node: &NodeProto, reason: Reason) {
        let name = [Some(&node.name), node.output.first()];
        let name = name.into_iter().flatten().find(|name| !name.is_empty());
        let of_reason = self.nodes.entry(reason).or_default();
        let of_operator = of_reason.entry(node.op_type.clone()).or_default();
        of_operator.push(name.cloned().unwrap_or_default());
    }

    /// A sentence for each reason.
    pub(super) fn notes(&self) -> Vec<String> {
        let sentence = |(reason, operators): (&Reason, &BTreeMap<String, Vec<String>>)| {
            let each: Vec<String> = operators
                .iter()
                .map(|(operator, names)| {
                    let mut named = names.iter().take(NAMED).cloned().collect::<Vec<_>>();
                    if names.len() > NAMED {
                        named.push("…".to_owned());
                    }
                    format!("{operator} ({}: {})", names.len(), named.join(", "))
                })
                .collect();
            format!("In 32-bit floats {}: {}", reason.text(), each.join("; "))
        };
        self.nodes.iter().map(sentence).collect()
    }
}

/// Writes the sentences into a network.
pub fn keep_notes(model: &mut ModelProto, notes: &[String]) {
    model.metadata_props.retain(|entry| entry.key != KEY);
    if !notes.is_empty() {
        model.metadata_props.push(StringStringEntryProto {
            key: KEY.to_owned(),
            value: notes.join("\n"),
        });
    }
}

/// The sentences that a rewritten network brings along; none for others.
pub fn kept_notes(model: &ModelProto) -> Vec<String> {
    let entry = model.metadata_props.iter().find(|entry| entry.key == KEY);
    let lines = entry.into_iter().flat_map(|entry| entry.value.lines());
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_counted_and_some_named() {
        let node = |op: &str, name: &str, output: &str| NodeProto {
            op_type: op.to_owned(),
            name: name.to_owned(),
            output: vec![output.to_owned()],
            ..Default::default()
        };
        let mut left = NodesKept::default();
        left.add(&node("Softmax", "", "s"), Reason::Coarse);
        for layer in 0..5 {
            left.add(
                &node("MatMul", &format!("h.{layer}"), "m"),
                Reason::Activations,
            );
        }
        left.add(&node("Erf", "e", "x"), Reason::Coarse);
        let notes = left.notes();
        assert_eq!(
            notes,
            [
                "In 32-bit floats because both of their inputs are activations: MatMul (5: h.0, h.1, h.2, …)",
                "In 32-bit floats because 8 bits are too coarse for them or engines have no such kernels: \
                 Erf (1: e); Softmax (1: s)"
            ]
        );
        let mut model = ModelProto::default();
        keep_notes(&mut model, &notes);
        keep_notes(&mut model, &notes);
        assert_eq!(kept_notes(&model), notes);
        assert_eq!(model.metadata_props.len(), 1);
        keep_notes(&mut model, &[]);
        assert_eq!(model.metadata_props, []);
    }
}
