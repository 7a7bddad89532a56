//! Which dimensions of an input are time and batch, where a recurrent layer takes it.
//!
//! The operators define their axes: time, batch, features, or batch, time, features with `layout=1`. A walk from
//! an input through nodes that move dimensions and leave them what they are ends at the layer; `batch_axis` takes
//! what is found where no name says which dimension is the batch.

use std::collections::BTreeSet;

use super::graph::ValueGraph;
use crate::infer;
use crate::pb::{ModelProto, NodeProto};
use crate::proto;
use powerband_core::domain::model::{Port, RecurrentAxes};

/// A walk that went through so many values has lost its way.
const MOST_VALUES: usize = 10_000;

/// For each dimension of a value, which dimension of the input it is; nothing for those that are none.
type Origins = Vec<Option<usize>>;

/// States for each input what recurrent layers say of its dimensions.
pub(crate) fn state_axes(model: &ModelProto, ports: &mut [Port]) {
    let Some(whole) = &model.graph else { return };
    let graphs = proto::all_graphs(whole);
    let nodes = graphs.into_iter().flat_map(|graph| &graph.node);
    if !nodes.into_iter().any(is_recurrent) {
        return;
    }
    let graph = ValueGraph::new(whole);
    for port in ports {
        port.recurrent = axes_of(&graph, port);
    }
}

fn is_recurrent(node: &NodeProto) -> bool {
    matches!(node.op_type.as_str(), "LSTM" | "GRU" | "RNN")
}

/// What the first recurrent layer behind an input says of it.
fn axes_of(graph: &ValueGraph<'_>, port: &Port) -> Option<RecurrentAxes> {
    let own: Origins = (0..port.dims.len()).map(Some).collect();
    let mut open = vec![(port.name.as_str(), own)];
    let mut seen = BTreeSet::from([port.name.as_str()]);
    while let Some((value, origins)) = open.pop() {
        let mut behind: Vec<(&str, Origins)> = Vec::new();
        for (node, slot) in graph.users(value) {
            if is_recurrent(node) {
                match layer_axes(node, *slot, &origins) {
                    Some(axes) => return Some(axes),
                    None => continue,
                }
            }
            let moved = moved(graph, node, *slot, &origins);
            let moved = moved.filter(|moved| moved.iter().any(Option::is_some));
            if let Some(moved) = moved {
                let outputs = node.output.iter().filter(|name| !name.is_empty());
                behind.extend(outputs.map(|name| (name.as_str(), moved.clone())));
            }
        }
        // What a branch hands on has the dimensions that it has there.
        behind.extend(outer_names(graph, value).map(|name| (name, origins.clone())));
        for (name, origins) in behind {
            if seen.len() < MOST_VALUES && seen.insert(name) {
                open.push((name, origins));
            }
        }
    }
    None
}

/// What a value at the end of a branch of `If` is called outside of it.
fn outer_names<'a>(graph: &ValueGraph<'a>, value: &str) -> impl Iterator<Item = &'a str> {
    let choices = graph.nodes.iter().filter(|node| node.op_type == "If");
    choices.flat_map(move |node| {
        let branches = node
            .attribute
            .iter()
            .filter_map(|attribute| attribute.g.as_ref());
        branches.flat_map(move |branch| {
            let ends = branch.output.iter().zip(&node.output);
            ends.filter(move |(end, _)| end.name == value)
                .map(|(_, name)| name.as_str())
        })
    })
}

/// What a layer says of the dimensions of one of its inputs: the sequence, the lengths of sequences, or a state.
fn layer_axes(node: &NodeProto, slot: usize, origins: &[Option<usize>]) -> Option<RecurrentAxes> {
    let is_batch_first = proto::int(node, "layout").is_some_and(|layout| layout == 1);
    let at = |axis: usize| origins.get(axis).copied().flatten();
    let (time, batch) = match (slot, is_batch_first) {
        (0, false) => (at(0), at(1)),
        (0, true) => (at(1), at(0)),
        (4, _) | (5 | 6, true) => (None, at(0)),
        (5 | 6, false) => (None, at(1)),
        _ => return None,
    };
    (time.is_some() || batch.is_some()).then(|| RecurrentAxes {
        operator: node.op_type.clone(),
        time,
        batch,
    })
}

/// Where the dimensions of a node's input are in its first output; nothing where that is not known.
fn moved(
    graph: &ValueGraph<'_>,
    node: &NodeProto,
    slot: usize,
    origins: &[Option<usize>],
) -> Option<Origins> {
    let without = |at: usize| {
        let mut dims = origins.to_vec();
        *dims.get_mut(at)? = None;
        Some(dims)
    };
    match (node.op_type.as_str(), slot) {
        ("Transpose" | "Unsqueeze" | "Squeeze" | "Reshape", 0) => rearranged(graph, node, origins),
        ("Gather", 0 | 1) => gathered(graph, node, slot, origins),
        ("MatMul" | "MatMulInteger", 0) => without(origins.len().checked_sub(1)?),
        ("Gemm", 0) if proto::int(node, "transA").unwrap_or(0) == 0 => {
            Some(vec![*origins.first()?, None])
        }
        // Windows join places, and channels are others.
        ("Conv" | "ConvInteger" | "MaxPool" | "AveragePool", 0) => {
            let items = origins.first().copied()?;
            let others = std::iter::repeat_n(None, origins.len() - 1);
            Some(std::iter::once(items).chain(others).collect())
        }
        (name, slot) if joins(name) => {
            // What is wider than the input moves its dimensions.
            let others = node.input.iter().enumerate();
            let others = others.filter(|(other, _)| *other != slot);
            let mut constants = others.filter_map(|(_, name)| graph.constant(name));
            let is_wider = constants.any(|tensor| tensor.dims.len() > origins.len());
            (!is_wider).then(|| origins.to_vec())
        }
        (name, 0) if keeps_dims(name) => Some(origins.to_vec()),
        _ => None,
    }
}

/// The same behind a node that only rearranges dimensions.
fn rearranged(
    graph: &ValueGraph<'_>,
    node: &NodeProto,
    origins: &[Option<usize>],
) -> Option<Origins> {
    let rank = origins.len();
    let ints = |name: &str| {
        let stated = proto::ints(node, name).map(<[i64]>::to_vec);
        stated.or_else(|| proto::int_values(graph.constant(proto::input(node, 1)?)?))
    };
    let indices = |axes: Vec<i64>, rank: usize| -> Option<Vec<usize>> {
        axes.into_iter().map(|at| infer::axis(at, rank)).collect()
    };
    match node.op_type.as_str() {
        "Transpose" => match proto::ints(node, "perm").filter(|order| !order.is_empty()) {
            None => Some(origins.iter().rev().copied().collect()),
            Some(order) => order
                .iter()
                .map(|&from| origins.get(usize::try_from(from).ok()?).copied())
                .collect(),
        },
        "Unsqueeze" => {
            let axes = ints("axes")?;
            let wide = rank + axes.len();
            let new = indices(axes, wide)?;
            let mut old = origins.iter().copied();
            let dims = (0..wide).map(|at| {
                let is_old = !new.contains(&at);
                is_old.then(|| old.next().flatten()).flatten()
            });
            Some(dims.collect())
        }
        "Squeeze" => {
            let gone = indices(ints("axes")?, rank)?;
            let kept = (0..rank).filter(|at| !gone.contains(at));
            Some(kept.map(|at| origins[at]).collect())
        }
        // Zeros of a reshape keep the dimension that stands there.
        _ => {
            let target = ints("shape")?;
            let kept = target.iter().enumerate().map(|(at, &size)| {
                let own = origins.get(at).copied().flatten();
                own.filter(|_| size == 0)
            });
            Some(kept.collect())
        }
    }
}

/// The same behind a lookup: rows of a table in place of their numbers, or some of the input.
fn gathered(
    graph: &ValueGraph<'_>,
    node: &NodeProto,
    slot: usize,
    origins: &[Option<usize>],
) -> Option<Origins> {
    let axis = proto::int(node, "axis").unwrap_or(0);
    if slot == 1 {
        let table = graph.table(proto::input(node, 0)?)?;
        let columns = table.dims.len().checked_sub(1).filter(|_| axis == 0)?;
        let columns = std::iter::repeat_n(None, columns);
        return Some(origins.iter().copied().chain(columns).collect());
    }
    let along = infer::axis(axis, origins.len())?;
    let picked = proto::dims(graph.constant(proto::input(node, 1)?)?)?;
    let mut dims = origins.to_vec();
    dims.splice(along..=along, vec![None; picked.len()]);
    Some(dims)
}

/// Operators of several inputs whose output has the dimensions of all.
fn joins(name: &str) -> bool {
    matches!(
        name,
        "Add" | "Concat" | "Div" | "Max" | "Min" | "Mul" | "Pow" | "Sub" | "Where"
    )
}

/// Operators whose output has the dimensions of their first input, in their order.
fn keeps_dims(name: &str) -> bool {
    infer::keeps_shape(name) || matches!(name, "Dropout" | "Pad" | "Slice" | "Split")
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{TestGraph as Draft, attr, port};
    use crate::pb::tensor_proto::DataType;
    use crate::pb::{AttributeProto, GraphProto};

    fn found(draft: &Draft, input: usize) -> Option<(String, Option<usize>, Option<usize>)> {
        let ports = crate::inspect::inputs(&draft.model()).unwrap();
        let axes = ports[input].recurrent.clone()?;
        Some((axes.operator, axes.time, axes.batch))
    }

    fn with_input(dims: &[&str]) -> Draft {
        let mut draft = Draft::default()
            .weight("w", &[1, 32, 8])
            .weight("r", &[1, 32, 8]);
        draft.graph.input.push(port("x", DataType::Float, dims));
        draft
    }

    #[test]
    fn the_layout_says_which_dimension_is_the_batch() {
        let open = || with_input(&["", "", "8"]);
        let plain = open().node("LSTM", "x w r", "y", &[]);
        assert_eq!(
            found(&plain, 0),
            Some(("LSTM".to_owned(), Some(0), Some(1)))
        );
        let turned = open().node("GRU", "x w r", "y", &[attr("layout", &[1])]);
        assert_eq!(
            found(&turned, 0),
            Some(("GRU".to_owned(), Some(1), Some(0)))
        );
        let mut state = open().node("RNN", "x w r _ lengths h", "y", &[]);
        state
            .graph
            .input
            .push(port("h", DataType::Float, &["1", "", "8"]));
        state
            .graph
            .input
            .push(port("lengths", DataType::Int32, &[""]));
        assert_eq!(found(&state, 1), Some(("RNN".to_owned(), None, Some(1))));
        assert_eq!(found(&state, 2), Some(("RNN".to_owned(), None, Some(0))));
        let none = open().node("MatMul", "x w", "y", &[]);
        assert_eq!(found(&none, 0), None);
    }

    #[test]
    fn dimensions_are_followed_to_the_layer() {
        // As PyTorch exports batch_first, behind an embedding and a convolution.
        let turned = with_input(&["", ""])
            .weight("table", &[100, 8])
            .node("Gather", "table x", "rows", &[])
            .node("Relu", "rows", "more", &[])
            .node("Transpose", "more", "t", &[attr("perm", &[1, 0, 2])])
            .node("LSTM", "t w r", "y", &[]);
        assert_eq!(
            found(&turned, 0),
            Some(("LSTM".to_owned(), Some(1), Some(0)))
        );
        let sound = with_input(&["steps", "576"])
            .ints("one", &[1])
            .weight("k", &[8, 1, 3])
            .node("Unsqueeze", "x one", "wide", &[])
            .node("Conv", "wide k", "c", &[])
            .node("Transpose", "c", "t", &[attr("perm", &[0, 2, 1])])
            .node("LSTM", "t w r", "y", &[]);
        assert_eq!(found(&sound, 0), Some(("LSTM".to_owned(), Some(0), None)));
        let branch = |inner: Draft| AttributeProto {
            name: "then_branch".to_owned(),
            g: Some(GraphProto {
                output: vec![port("end", DataType::Float, &[])],
                ..inner.graph
            }),
            ..Default::default()
        };
        let then = Draft::default().node("Transpose", "x", "end", &[attr("perm", &[1, 0, 2])]);
        let chosen = with_input(&["", "", "8"])
            .node("If", "c", "t", &[branch(then)])
            .node("LSTM", "t w r", "y", &[]);
        assert_eq!(
            found(&chosen, 0),
            Some(("LSTM".to_owned(), Some(1), Some(0)))
        );
        let lost = with_input(&["", ""])
            .ints("shape", &[-1, 1, 8])
            .node("Reshape", "x shape", "t", &[])
            .node("LSTM", "t w r", "y", &[]);
        assert_eq!(found(&lost, 0), None);
    }
}
