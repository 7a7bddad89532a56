//! What the tests of the networks share: a network at given sizes, and what holds for all of them.
//!
//! Compiled for tests only. Weights are left out, since none of this depends on their values.

use std::collections::BTreeSet;

use powerband_core::domain::model::Dim;
use powerband_core::domain::tensor::TensorSpec;

use super::draft::Draft;
use crate::infer::Shapes;
use crate::pb::ModelProto;
use crate::{cost, dim_expression, infer, inspect};

/// The shapes of all values where the named dimensions have these sizes.
pub(crate) fn shapes_at(model: &ModelProto, sizes: &[(&str, usize)]) -> Shapes {
    let by_name = |name: &str| sizes.iter().find(|(known, _)| *known == name).map(|s| s.1);
    let size = |dim: Dim| match dim {
        Dim::Fixed(size) => size,
        Dim::Named(text) => dim_expression::evaluate(&text, &by_name).expect("a size"),
    };
    let ports = inspect::inputs(model).expect("inputs");
    let specs: Vec<TensorSpec> = ports
        .into_iter()
        .map(|port| {
            let dims = port.dims.into_iter().map(size).collect();
            TensorSpec::new(port.name, port.element, dims)
        })
        .collect();
    infer::infer(model, &specs)
}

/// Multiply-accumulates there. Every shape must be known, and every output the one that the file states.
#[track_caller]
pub(super) fn macs_at(draft: Draft, sizes: &[(&str, usize)]) -> u64 {
    let model = draft.outline();
    let shapes = shapes_at(&model, sizes);
    assert_eq!(infer::unfollowed(&model, &shapes), [].into());
    assert_eq!(cost::uncounted(&model, &shapes), [].into());
    let by_name = |name: &str| sizes.iter().find(|(known, _)| *known == name).map(|s| s.1);
    for port in inspect::summarize(&model, "").outputs {
        let stated = port.dims.iter().map(|dim| match dim {
            Dim::Fixed(size) => Some(*size),
            Dim::Named(text) => dim_expression::evaluate(text, &by_name),
        });
        let stated: Option<Vec<usize>> = stated.collect();
        assert_eq!(shapes.get(&port.name), stated.as_ref(), "{}", port.name);
    }
    cost::macs(&model, &shapes).0
}

/// Names are used once, everything that is read was written before, and everything written is read.
#[track_caller]
pub(super) fn check_graph(draft: Draft) {
    let graph = draft.outline().graph.expect("a graph");
    let given = graph.initializer.iter().map(|tensor| &tensor.name);
    let mut known: BTreeSet<&String> = BTreeSet::new();
    for name in given.chain(graph.input.iter().map(|input| &input.name)) {
        assert!(known.insert(name), "{name} twice");
    }
    let (mut nodes, mut read) = (BTreeSet::new(), BTreeSet::new());
    for node in &graph.node {
        assert!(nodes.insert(&node.name), "node {} twice", node.name);
        for input in &node.input {
            assert!(known.contains(input), "{} reads {input}", node.name);
            read.insert(input);
        }
        for output in &node.output {
            assert!(known.insert(output), "{output} twice");
        }
    }
    read.extend(graph.output.iter().map(|output| &output.name));
    let unread: Vec<_> = known.difference(&read).collect();
    assert!(unread.is_empty(), "{unread:?}");
}
