//! Raises the operator set of a network: operators of sets 11 and 12 are written as set 13 has them, with the
//! same meaning, or named where there is no such way.
//!
//! `placing` starts with this, because a scale per channel is new in set 13. Everything that changed in between
//! is in `node`; operators that only took more types, or settings whose default is what they did before, stay.

use std::collections::BTreeMap;

use crate::pb::tensor_proto::DataType;
use crate::pb::{ModelProto, NodeProto, TensorProto};

use super::RewriteError;
use super::parts::{self, TakenNames, is_own};
use crate::infer::Shapes;
use crate::proto;

/// The operator set that this writes.
pub(super) const NEEDED: i64 = 13;

/// The oldest operator set that can be raised.
const RAISABLE: i64 = 11;

/// Raises a prepared network to the needed operator set; newer ones stay as they are.
pub(super) fn raise(model: &mut ModelProto) -> Result<(), RewriteError> {
    let (found, needed) = (parts::opset(model), NEEDED);
    if found >= needed {
        return Ok(());
    }
    if found < RAISABLE {
        return Err(RewriteError::Opset { found, needed });
    }
    // A function names sets of its own, and the inside of it is not looked at.
    if let Some(function) = model.functions.first() {
        return Err(refused(found, function.name.as_deref().unwrap_or_default()));
    }
    let shapes = parts::ranks(model);
    let Some(graph) = &mut model.graph else {
        return Err(RewriteError::NoGraph);
    };
    let mut work = Raise {
        names: TakenNames::new(graph),
        uses: parts::uses(graph),
        shapes,
        found,
        tensors: Vec::new(),
    };
    for node in std::mem::take(&mut graph.node) {
        if is_own(&node.domain) {
            let written = work.node(node)?;
            graph.node.extend(written);
        } else {
            graph.node.push(node);
        }
    }
    graph.initializer.extend(work.tensors);
    for set in &mut model.opset_import {
        if is_own(&set.domain) {
            set.version = needed;
        }
    }
    Ok(())
}

fn refused(found: i64, operator: &str) -> RewriteError {
    RewriteError::Raise {
        found,
        needed: NEEDED,
        operator: operator.to_owned(),
    }
}

struct Raise {
    names: TakenNames,
    uses: BTreeMap<String, usize>,
    /// Of which the number of dimensions holds.
    shapes: Shapes,
    found: i64,
    tensors: Vec<TensorProto>,
}

impl Raise {
    /// What a node is rewritten to.
    fn node(&mut self, mut node: NodeProto) -> Result<Vec<NodeProto>, RewriteError> {
        match node.op_type.as_str() {
            "Squeeze" | "Unsqueeze" | "ReduceSum" => self.list(&mut node, "axes"),
            "Split" => self.list(&mut node, "split"),
            "Dropout" => self.dropout(&mut node)?,
            "Softmax" | "LogSoftmax" | "Hardmax" => return Ok(self.softmax(node)),
            // Set 13 no longer has this way to place the samples.
            "Resize"
                if proto::text(&node, "coordinate_transformation_mode")
                    == Some("tf_half_pixel_for_nn") =>
            {
                return Err(refused(self.found, &node.op_type));
            }
            _ => {}
        }
        Ok(vec![node])
    }

    /// A list of integers that was a setting and is the second input now.
    fn list(&mut self, node: &mut NodeProto, name: &str) {
        let Some(list) = proto::ints(node, name).map(<[i64]>::to_vec) else {
            return;
        };
        node.attribute.retain(|known| known.name != name);
        if list.is_empty() {
            return;
        }
        let base = node.output.first().map_or("", String::as_str);
        let input = self.names.fresh(base, name);
        let bytes = list.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensor = parts::raw(&input, DataType::Int64, &[list.len()], bytes);
        self.tensors.push(tensor);
        node.input.truncate(1);
        node.input.push(input);
    }

    /// The share that is dropped in training is an input now. What the mask holds where nothing is dropped is
    /// said since set 12 only, so that one that is read cannot be kept.
    fn dropout(&mut self, node: &mut NodeProto) -> Result<(), RewriteError> {
        if self.found >= 12 {
            return Ok(());
        }
        let mask = node.output.get(1).filter(|name| !name.is_empty());
        if mask.is_some_and(|name| self.uses.contains_key(name)) {
            return Err(refused(self.found, &node.op_type));
        }
        node.output.truncate(1);
        let ratio = proto::attribute(node, "ratio").map(|found| found.f());
        node.attribute.retain(|known| known.name != "ratio");
        if let Some(ratio) = ratio {
            let base = node.output.first().map_or("", String::as_str);
            let input = self.names.fresh(base, "ratio");
            self.tensors.push(parts::floats(&input, &[], &[ratio]));
            node.input.truncate(1);
            node.input.push(input);
        }
        Ok(())
    }

    /// Before set 13, all dimensions from the axis on were one; since, the axis alone is meant. The two are the
    /// same for the last axis, and elsewhere the dimensions are made one and taken apart again.
    fn softmax(&mut self, mut node: NodeProto) -> Vec<NodeProto> {
        let axis = proto::int(&node, "axis").unwrap_or(1);
        let (Some(input), Some(output)) = (
            proto::input(&node, 0).map(str::to_owned),
            node.output.first().cloned(),
        ) else {
            return vec![node];
        };
        let rank = self.shapes.get(&input).map(|dims| dims.len() as i64);
        if axis == -1 || rank.is_some_and(|rank| axis == rank - 1) {
            parts::set(&mut node, parts::int("axis", axis));
            return vec![node];
        }
        let mut fresh = |suffix| self.names.fresh(&output, suffix);
        let (shape, flat, done) = (fresh("shape"), fresh("flat"), fresh("done"));
        let flatten = vec![parts::int("axis", axis)];
        let before = [
            parts::node("Shape", vec![input.clone()], &shape, vec![]),
            parts::node("Flatten", vec![input], &flat, flatten),
        ];
        node.input[0] = flat;
        node.output[0].clone_from(&done);
        parts::set(&mut node, parts::int("axis", 1));
        let after = parts::node("Reshape", vec![done, shape], &output, vec![]);
        before.into_iter().chain([node, after]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr, attr_text};
    use crate::pb::{AttributeProto, OperatorSetIdProto};

    fn raised(graph: &TestGraph, version: i64) -> Result<ModelProto, RewriteError> {
        let mut model = graph.model();
        model.opset_import.push(OperatorSetIdProto {
            version,
            ..Default::default()
        });
        raise(&mut model).map(|()| model)
    }

    /// Each node with its inputs, its output and the names and numbers of its settings.
    fn lines(model: &ModelProto) -> Vec<String> {
        let line = |node: &NodeProto| {
            let settings: Vec<String> = node
                .attribute
                .iter()
                .map(|known| format!(" {}={}", known.name, known.i()))
                .collect();
            let (from, to) = (node.input.join(" "), node.output.join(" "));
            format!("{} {from} > {to}{}", node.op_type, settings.concat())
        };
        proto::nodes(model).iter().map(line).collect()
    }

    fn ratio() -> AttributeProto {
        AttributeProto {
            name: "ratio".to_owned(),
            f: Some(0.25),
            ..Default::default()
        }
    }

    #[test]
    fn settings_become_inputs() {
        let graph = TestGraph::new(&[("x", &[1, 4, 1])])
            .node("Squeeze", "x", "a", &[attr("axes", &[0, 2])])
            .node("Unsqueeze", "a", "b", &[attr("axes", &[-1])])
            .node(
                "ReduceSum",
                "b",
                "c",
                &[attr("axes", &[1]), attr("keepdims", &[0])],
            )
            .node("ReduceSum", "b", "d", &[attr("axes", &[])])
            .node("Squeeze", "d", "e", &[])
            .node(
                "Split",
                "x",
                "f g",
                &[attr("axis", &[1]), attr("split", &[1, 3])],
            )
            .node("Dropout", "f", "h", &[ratio()]);
        let model = raised(&graph, 11).unwrap();
        assert_eq!(
            lines(&model),
            [
                "Squeeze x a/axes > a",
                "Unsqueeze a b/axes > b",
                "ReduceSum b c/axes > c keepdims=0",
                "ReduceSum b > d",
                "Squeeze d > e",
                "Split x f/split > f g axis=1",
                "Dropout f h/ratio > h",
            ]
        );
        assert_eq!(parts::opset(&model), 13);
        let stored = &model.graph.as_ref().unwrap().initializer;
        assert_eq!(proto::int_values(&stored[0]), Some(vec![0, 2]));
        assert_eq!(proto::int_values(&stored[3]), Some(vec![1, 3]));
        assert_eq!(proto::float_values(&stored[4]), Some(vec![0.25]));
        let newer = raised(&TestGraph::new(&[]).node("Dropout", "x r", "y", &[]), 12);
        assert_eq!(lines(&newer.unwrap()), ["Dropout x r > y"]);
    }

    #[test]
    fn a_softmax_over_several_dimensions_goes_through_one() {
        let graph = TestGraph::new(&[("x", &[2, 3, 4])])
            .node("Softmax", "x", "a", &[])
            .node("LogSoftmax", "x", "b", &[attr("axis", &[2])])
            .node("Hardmax", "x", "c", &[attr("axis", &[-2])])
            .node("Flatten", "x", "d", &[])
            .node("Softmax", "d", "y", &[]);
        assert_eq!(
            lines(&raised(&graph, 12).unwrap()),
            [
                "Shape x > a/shape",
                "Flatten x > a/flat axis=1",
                "Softmax a/flat > a/done axis=1",
                "Reshape a/done a/shape > a",
                "LogSoftmax x > b axis=2",
                "Shape x > c/shape",
                "Flatten x > c/flat axis=-2",
                "Hardmax c/flat > c/done axis=1",
                "Reshape c/done c/shape > c",
                "Flatten x > d",
                "Softmax d > y axis=1",
            ]
        );
        let unknown = TestGraph::new(&[]).node("Softmax", "x", "y", &[attr("axis", &[1])]);
        assert_eq!(lines(&raised(&unknown, 12).unwrap()).len(), 4);
    }

    #[test]
    fn what_has_no_equal_is_named() {
        let mode = |name| attr_text("coordinate_transformation_mode", name);
        let resize = |name| TestGraph::new(&[]).node("Resize", "x r s", "y", &[mode(name)]);
        let says = |graph: &TestGraph, version| raised(graph, version).unwrap_err().to_string();
        assert!(says(&resize("tf_half_pixel_for_nn"), 11).contains("Resize has another form"));
        assert!(raised(&resize("asymmetric"), 11).is_ok());
        let masked = TestGraph::new(&[])
            .node("Dropout", "x", "y m", &[ratio()])
            .node("Not", "m", "z", &[]);
        assert!(says(&masked, 11).contains("Dropout has another form"));
        assert!(raised(&masked, 12).is_ok());
        assert!(says(&resize("asymmetric"), 10).contains("operator set 10"));
    }
}
