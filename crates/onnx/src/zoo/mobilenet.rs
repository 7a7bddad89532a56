//! MobileNetV2 after Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018).
//!
//! Layers go to `builder` and `layers`. The layout and the names are those of torchvision's `mobilenet_v2`.

use super::DataSet;
use super::builder::{Conv, FeatureMap, GraphBuilder};
use super::draft::Draft;

/// Of each stage: how much wider a block is inside, channels, blocks, stride of the first.
const STAGES: [(usize, usize, usize, usize); 7] = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
];

/// Channels of the last convolution.
const LAST: usize = 1280;

/// Scale of the last batch normalisation of a residual branch, as in `resnet`.
const BRANCH_GAMMA: f32 = 0.25;

/// Plans the network.
pub(super) fn draft(name: &str) -> Draft {
    let data = DataSet::ImageNet;
    let mut graph = GraphBuilder::default();
    let mut x = widen(&mut graph, "features.0", &GraphBuilder::image(), 32, (3, 2));
    let mut number = 1;
    for (wider, channels, blocks, stride) in STAGES {
        for block in 0..blocks {
            let stride = if block == 0 { stride } else { 1 };
            x = inverted(&mut graph, number, &x, (wider, channels, stride));
            number += 1;
        }
    }
    x = widen(&mut graph, &format!("features.{number}"), &x, LAST, (1, 1));
    let logits = graph.classify("classifier.1", &x, data.classes());
    graph.draft(name, data.side(), &logits)
}

/// A convolution with its norm and rectifier.
fn widen(
    graph: &mut GraphBuilder,
    name: &str,
    x: &FeatureMap,
    channels: usize,
    (kernel, stride): (usize, usize),
) -> FeatureMap {
    let conv = Conv {
        channels,
        kernel,
        stride,
    };
    let x = graph.conv_norm(name, x, conv);
    graph.relu6(&format!("{name}.2"), &x)
}

/// One block: wider, channel by channel, narrow again; added to what came in where that fits.
fn inverted(
    graph: &mut GraphBuilder,
    number: usize,
    x: &FeatureMap,
    (wider, channels, stride): (usize, usize, usize),
) -> FeatureMap {
    let name = format!("features.{number}.conv");
    let is_residual = stride == 1 && x.channels == channels;
    let mut layer = 0;
    let mut y = x.clone();
    if wider != 1 {
        y = widen(graph, &format!("{name}.0"), x, x.channels * wider, (1, 1));
        layer += 1;
    }
    let own = format!("{name}.{layer}");
    y = graph.depthwise(&format!("{own}.0"), &y, 3, stride);
    y = graph.batch_norm(&format!("{own}.1"), &y, 1.0);
    y = graph.relu6(&format!("{own}.2"), &y);
    let conv = Conv {
        channels,
        kernel: 1,
        stride: 1,
    };
    y = graph.conv(&format!("{name}.{}", layer + 1), &y, conv);
    let gamma = if is_residual { BRANCH_GAMMA } else { 1.0 };
    y = graph.batch_norm(&format!("{name}.{}", layer + 2), &y, gamma);
    if is_residual {
        y = graph.add(&format!("{name}.add"), x, &y);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_graph, macs_at};
    use super::*;
    use crate::inspect;

    /// As torchvision's documentation states.
    #[test]
    fn parameters_are_the_published_ones() {
        let plan = draft("mobilenet");
        check_graph(plan.clone());
        let summary = inspect::summarize(&plan.outline(), "mobilenet");
        assert_eq!(summary.parameters, 3_504_872);
        assert_eq!(summary.notes, Vec::<String>::new());
    }

    /// A block of t times the width on h × h places: t·c·h² · (inputs at its entry, 9, and outputs at its exit).
    #[test]
    fn products_follow_the_formula() {
        let (mut side, mut channels) = (112, 32);
        let mut expect = 112 * 112 * 27 * 32;
        for (wider, out, blocks, stride) in STAGES {
            for block in 0..blocks {
                let inner = channels * wider;
                let entry = if wider == 1 {
                    0
                } else {
                    channels * inner * side * side
                };
                side /= if block == 0 { stride } else { 1 };
                expect += entry + side * side * inner * (9 + out);
                channels = out;
            }
        }
        expect += side * side * channels * LAST + LAST * 1000;
        assert_eq!((expect, side), (300_774_272, 7));
        assert_eq!(macs_at(draft("m"), &[("batch", 1)]), expect as u64);
        assert_eq!(macs_at(draft("m"), &[("batch", 8)]), 8 * expect as u64);
    }
}
