//! Merges a normalisation into the convolution before it.
//!
//! In a finished network `BatchNormalization` multiplies and adds per channel, which the weights
//! and the bias of the convolution can do as well. `int8` starts with this: one layer less has to
//! be rounded, and engines run the two as one anyway.

use std::collections::{BTreeMap, BTreeSet};

use crate::pb::{GraphProto, NodeProto, TensorProto};

use super::RewriteError;
use super::parts::{self, FLOAT, LeaveOut, TakenNames, is_op};
use crate::proto;

/// What the standard says where a node does not say.
const EPSILON: f32 = 1e-5;

/// Folds every normalisation that follows a convolution directly, and says how many. Neither of the
/// two is touched where the user wants one of them left alone.
pub(crate) fn norms(graph: &mut GraphProto, leave_out: &LeaveOut<'_>) -> Result<u64, RewriteError> {
    let pairs = pairs(graph, leave_out);
    if pairs.is_empty() {
        return Ok(0);
    }
    let stored: BTreeMap<String, usize> = graph
        .initializer
        .iter()
        .enumerate()
        .map(|(index, tensor)| (tensor.name.clone(), index))
        .collect();
    let mut names = TakenNames::new(graph);
    let mut gone = BTreeSet::new();
    for (conv, norm) in pairs {
        let tensor = |name: &String| stored.get(name).map(|&index| &graph.initializer[index]);
        let Some(folded) = fold(&graph.node[conv], &graph.node[norm], tensor)? else {
            continue;
        };
        let output = graph.node[norm].output[0].clone();
        let node = &mut graph.node[conv];
        let weight = names.fresh(&node.input[1], "folded");
        let bias = names.fresh(&node.input[1], "bias");
        node.input.truncate(1);
        node.input.extend([weight.clone(), bias.clone()]);
        node.output = vec![output];
        let channels = folded.bias.len();
        graph.initializer.extend([
            parts::floats(&weight, &folded.dims, &folded.weight),
            parts::floats(&bias, &[channels], &folded.bias),
        ]);
        gone.insert(norm);
    }
    let mut index = 0;
    graph.node.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    parts::drop_unused(graph);
    Ok(gone.len() as u64)
}

/// Convolutions with the normalisation that alone reads them.
fn pairs(graph: &GraphProto, leave_out: &LeaveOut<'_>) -> Vec<(usize, usize)> {
    let uses = parts::uses(graph);
    let convs: BTreeMap<&str, usize> = graph
        .node
        .iter()
        .enumerate()
        .filter(|(_, node)| is_op(node, "Conv") && !leave_out.contains(node))
        .filter_map(|(index, node)| Some((node.output.first()?.as_str(), index)))
        .filter(|(name, _)| uses.get(*name) == Some(&1))
        .collect();
    let norms = graph.node.iter().enumerate().filter(|(_, node)| {
        is_op(node, "BatchNormalization")
            && !leave_out.contains(node)
            && node.input.len() == 5
            && node.output.iter().filter(|name| !name.is_empty()).count() == 1
            && proto::int(node, "training_mode").unwrap_or(0) == 0
    });
    norms
        .filter_map(|(index, norm)| Some((*convs.get(norm.input[0].as_str())?, index)))
        .collect()
}

/// The weights and the bias of a convolution that normalises as well.
struct Folded {
    dims: Vec<usize>,
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// Does the arithmetic; nothing where a tensor is not stored or does not fit.
fn fold<'a>(
    conv: &NodeProto,
    norm: &NodeProto,
    tensor: impl Fn(&String) -> Option<&'a TensorProto>,
) -> Result<Option<Folded>, RewriteError> {
    let all: Option<Vec<&TensorProto>> = conv.input[1..]
        .iter()
        .filter(|name| !name.is_empty())
        .chain(&norm.input[1..])
        .map(tensor)
        .collect();
    let Some(all) = all.filter(|all| all.iter().all(|tensor| tensor.data_type == FLOAT)) else {
        return Ok(None);
    };
    let values: Result<Vec<Vec<f32>>, RewriteError> =
        all.iter().map(|tensor| parts::values(tensor)).collect();
    let values = values?;
    let (weight, bias, [scale, shift, mean, variance]) = match values.as_slice() {
        [weight, a, b, c, d] => (weight, None, [a, b, c, d]),
        [weight, bias, a, b, c, d] => (weight, Some(bias), [a, b, c, d]),
        _ => return Ok(None),
    };
    let Some(dims) = proto::dims(all[0]) else {
        return Ok(None);
    };
    let channels = dims.first().copied().unwrap_or_default();
    let per_channel = [scale, shift, mean, variance];
    let fits = per_channel
        .into_iter()
        .chain(bias)
        .all(|list| list.len() == channels);
    if channels == 0 || weight.is_empty() || !fits {
        return Ok(None);
    }
    let epsilon = proto::attribute(norm, "epsilon").map_or(EPSILON, |found| found.f());
    let factor = |channel: usize| {
        let deviation = (f64::from(variance[channel]) + f64::from(epsilon)).sqrt();
        f64::from(scale[channel]) / deviation
    };
    let per_filter = weight.len() / channels;
    let folded = weight
        .chunks_exact(per_filter)
        .enumerate()
        .flat_map(|(channel, filter)| {
            let factor = factor(channel);
            filter
                .iter()
                .map(move |&value| (f64::from(value) * factor) as f32)
        });
    let shifted = (0..channels).map(|channel| {
        let before = bias.map_or(0.0, |bias| f64::from(bias[channel]));
        let centred = before - f64::from(mean[channel]);
        (centred * factor(channel) + f64::from(shift[channel])) as f32
    });
    Ok(Some(Folded {
        weight: folded.collect(),
        bias: shifted.collect(),
        dims,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::{TestGraph, attr};

    fn graph() -> GraphProto {
        let mut graph = TestGraph::new(&[("x", &[1, 2, 1, 1])])
            .floats("w", &[1.0, 2.0, 3.0, 4.0])
            .floats("b", &[0.5, -0.5])
            .floats("scale", &[2.0, 1.0])
            .floats("shift", &[0.25, 0.0])
            .floats("mean", &[1.0, -1.0])
            .floats("var", &[4.0, 0.25])
            .node("Conv", "x w b", "c", &[])
            .node("BatchNormalization", "c scale shift mean var", "y", &[])
            .graph;
        graph.initializer[0].dims = vec![2, 2, 1, 1];
        graph
    }

    fn folded(graph: &mut GraphProto) -> u64 {
        norms(graph, &LeaveOut::new(&[])).unwrap()
    }

    #[test]
    fn one_layer_computes_what_two_did() {
        let mut graph = graph();
        assert_eq!(folded(&mut graph), 1);
        let [conv] = graph.node.as_slice() else {
            panic!("{:?}", graph.node);
        };
        assert_eq!((conv.input.len(), conv.output[0].as_str()), (3, "y"));
        let stored = |index: usize| {
            let tensor = graph
                .initializer
                .iter()
                .find(|tensor| tensor.name == conv.input[index]);
            parts::values(tensor.unwrap()).unwrap()
        };
        let (weight, bias) = (stored(1), stored(2));
        let x = [0.7_f32, -1.3];
        for channel in 0..2 {
            let (w, b) = ([[1.0, 2.0], [3.0, 4.0]][channel], [0.5, -0.5][channel]);
            let conv = w[0] * x[0] + w[1] * x[1] + b;
            let [scale, shift, mean, var] =
                [[2.0, 0.25, 1.0, 4.0], [1.0, 0.0, -1.0, 0.25]][channel];
            let expect = (conv - mean) / (var + 1e-5_f32).sqrt() * scale + shift;
            let one = weight[2 * channel] * x[0] + weight[2 * channel + 1] * x[1] + bias[channel];
            assert!((one - expect).abs() < 1e-5, "{one} {expect}");
        }
        assert_eq!(graph.initializer.len(), 2);
    }

    #[test]
    fn what_others_read_stays() {
        let mut read = graph();
        let relu = TestGraph::default().node("Relu", "c", "z", &[]).graph.node;
        read.node.extend(relu);
        assert_eq!(folded(&mut read), 0);
        let mut training = graph();
        training.node[1].attribute.push(attr("training_mode", &[1]));
        assert_eq!(folded(&mut training), 0);
        let words = ["BatchNormalization".to_owned()];
        assert_eq!(norms(&mut graph(), &LeaveOut::new(&words)), Ok(0));
    }
}
