//! Densely connected networks after Huang et al., "Densely Connected Convolutional Networks" (2016).
//!
//! `zoo` says which data; layers go to `builder`. The layout is torchvision's DenseNet-121: every
//! layer adds 32 channels to all that came before it, and a transition between two blocks halves
//! channels and size.

use super::builder::{Conv, FeatureMap, GraphBuilder};
use super::draft::Draft;
use super::{DataSet, stem};

/// Channels that each layer adds.
const GROWTH: usize = 32;

/// The 1 × 1 convolution in front of a layer makes so many times the growth.
const BOTTLENECK: usize = 4;

/// Layers in each of the four blocks.
const BLOCKS: [usize; 4] = [6, 12, 24, 16];

/// Plans the network.
pub(super) fn draft(name: &str, data: DataSet) -> Draft {
    let mut graph = GraphBuilder::default();
    let names = [
        "features.conv0",
        "features.norm0",
        "features.relu0",
        "features.pool0",
    ];
    let mut x = stem(&mut graph, data, names);
    for (index, &layers) in BLOCKS.iter().enumerate() {
        let number = index + 1;
        for layer in 1..=layers {
            x = dense_layer(
                &mut graph,
                &format!("features.denseblock{number}.denselayer{layer}"),
                &x,
            );
        }
        if number < BLOCKS.len() {
            x = transition(&mut graph, &format!("features.transition{number}"), &x);
        }
    }
    x = graph.batch_norm("features.norm5", &x, 1.0);
    x = graph.relu("features.relu5", &x);
    let logits = graph.classify("classifier", &x, data.classes());
    graph.draft(name, data.side(), &logits)
}

/// One layer: everything so far goes in, 32 channels more come out.
fn dense_layer(graph: &mut GraphBuilder, name: &str, x: &FeatureMap) -> FeatureMap {
    let squeeze = Conv {
        channels: BOTTLENECK * GROWTH,
        kernel: 1,
        stride: 1,
    };
    let grow = Conv {
        channels: GROWTH,
        kernel: 3,
        stride: 1,
    };
    let mut new = x.clone();
    for (number, conv) in [(1, squeeze), (2, grow)] {
        new = graph.batch_norm(&format!("{name}.norm{number}"), &new, 1.0);
        new = graph.relu(&format!("{name}.relu{number}"), &new);
        new = graph.conv(&format!("{name}.conv{number}"), &new, conv);
    }
    graph.concat(&format!("{name}.concat"), x, &new)
}

/// Between two blocks: half the channels, half the size.
fn transition(graph: &mut GraphBuilder, name: &str, x: &FeatureMap) -> FeatureMap {
    let x = graph.batch_norm(&format!("{name}.norm"), x, 1.0);
    let x = graph.relu(&format!("{name}.relu"), &x);
    let half = Conv {
        channels: x.channels / 2,
        kernel: 1,
        stride: 1,
    };
    let x = graph.conv(&format!("{name}.conv"), &x, half);
    graph.average_pool(&format!("{name}.pool"), &x)
}

#[cfg(test)]
mod tests {
    use crate::{inspect, zoo};

    #[test]
    fn operators() {
        let model = zoo::build(zoo::find("densenet121").unwrap());
        let operators = inspect::summarize(&model, "densenet121").operators;
        let expect = [
            ("AveragePool", 3),
            ("BatchNormalization", 121),
            ("Concat", 58),
            ("Conv", 120),
            ("Flatten", 1),
            ("Gemm", 1),
            ("GlobalAveragePool", 1),
            ("MaxPool", 1),
            ("Relu", 121),
        ];
        let found: Vec<_> = operators
            .iter()
            .map(|(op, &count)| (op.as_str(), count))
            .collect();
        assert_eq!(found, expect);
    }
}
