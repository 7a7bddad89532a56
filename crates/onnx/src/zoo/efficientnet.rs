//! EfficientNet-B0 after Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural
//! Networks" (2019).
//!
//! Layers go to `builder` and `layers`. The layout and the names are those of torchvision's `efficientnet_b0`.

use super::DataSet;
use super::builder::{Conv, FeatureMap, GraphBuilder};
use super::draft::Draft;

/// A stage of blocks that look alike.
struct Stage {
    /// How much wider a block is inside.
    wider: usize,
    /// Height and width of the kernel.
    kernel: usize,
    /// Of the first block.
    stride: usize,
    /// Channels that come out.
    channels: usize,
    /// Blocks.
    blocks: usize,
}

const fn stage(sizes: [usize; 5]) -> Stage {
    let [wider, kernel, stride, channels, blocks] = sizes;
    Stage {
        wider,
        kernel,
        stride,
        channels,
        blocks,
    }
}

const STAGES: [Stage; 7] = [
    stage([1, 3, 1, 16, 1]),
    stage([6, 3, 2, 24, 2]),
    stage([6, 5, 2, 40, 2]),
    stage([6, 3, 2, 80, 3]),
    stage([6, 5, 1, 112, 3]),
    stage([6, 5, 2, 192, 4]),
    stage([6, 3, 1, 320, 1]),
];

/// Channels of the last convolution.
const LAST: usize = 1280;

/// A gate looks at so many times fewer channels than the block takes.
const SQUEEZE: usize = 4;

/// Scale of the last batch normalisation of a residual branch, as in `resnet`.
const BRANCH_GAMMA: f32 = 0.25;

/// Plans the network.
pub(super) fn draft(name: &str) -> Draft {
    let data = DataSet::ImageNet;
    let mut graph = GraphBuilder::default();
    let mut x = widen(&mut graph, "features.0", &GraphBuilder::image(), 32, (3, 2));
    for (number, stage) in (1..).zip(&STAGES) {
        for block in 0..stage.blocks {
            let stride = if block == 0 { stage.stride } else { 1 };
            let name = format!("features.{number}.{block}");
            x = inverted(&mut graph, &name, &x, stage, stride);
        }
    }
    let last = format!("features.{}", STAGES.len() + 1);
    x = widen(&mut graph, &last, &x, LAST, (1, 1));
    let logits = graph.classify("classifier.1", &x, data.classes());
    graph.draft(name, data.side(), &logits)
}

/// A convolution with its norm and activation.
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
    graph.silu(&format!("{name}.2"), &x)
}

/// One block: wider, channel by channel, gated, narrow again; added to what came in where that fits.
fn inverted(
    graph: &mut GraphBuilder,
    name: &str,
    x: &FeatureMap,
    stage: &Stage,
    stride: usize,
) -> FeatureMap {
    let is_residual = stride == 1 && x.channels == stage.channels;
    let mut layer = 0;
    let mut y = x.clone();
    if stage.wider != 1 {
        let inner = x.channels * stage.wider;
        y = widen(graph, &format!("{name}.block.0"), x, inner, (1, 1));
        layer += 1;
    }
    let own = format!("{name}.block.{layer}");
    y = graph.depthwise(&format!("{own}.0"), &y, stage.kernel, stride);
    y = graph.batch_norm(&format!("{own}.1"), &y, 1.0);
    y = graph.silu(&format!("{own}.2"), &y);
    let own = format!("{name}.block.{}", layer + 1);
    y = gated(graph, &own, &y, x.channels / SQUEEZE);
    let own = format!("{name}.block.{}", layer + 2);
    let conv = Conv {
        channels: stage.channels,
        kernel: 1,
        stride: 1,
    };
    y = graph.conv(&format!("{own}.0"), &y, conv);
    let gamma = if is_residual { BRANCH_GAMMA } else { 1.0 };
    y = graph.batch_norm(&format!("{own}.1"), &y, gamma);
    if is_residual {
        y = graph.add(&format!("{name}.add"), &y, x);
    }
    y
}

/// Each channel times a number between 0 and 1 that comes from the means of all.
fn gated(graph: &mut GraphBuilder, name: &str, x: &FeatureMap, squeezed: usize) -> FeatureMap {
    let means = graph.global_mean(&format!("{name}.avgpool"), x);
    let few = graph.mix(&format!("{name}.fc1"), &means, squeezed);
    let few = graph.silu(&format!("{name}.activation"), &few);
    let all = graph.mix(&format!("{name}.fc2"), &few, x.channels);
    let gate = graph.sigmoid(&format!("{name}.scale_activation"), &all);
    graph.multiply(&format!("{name}.scaled"), x, &gate)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_graph, macs_at};
    use super::*;
    use crate::inspect;

    /// As torchvision's documentation states.
    #[test]
    fn parameters_are_the_published_ones() {
        let plan = draft("efficientnet");
        check_graph(plan.clone());
        let summary = inspect::summarize(&plan.outline(), "efficientnet");
        assert_eq!(summary.parameters, 5_288_548);
        assert_eq!(summary.notes, Vec::<String>::new());
    }

    /// As in a block of MobileNetV2, and for the gate two products of channels once a picture.
    #[test]
    fn products_follow_the_formula() {
        let (mut side, mut channels) = (112, 32);
        let mut expect = 112 * 112 * 27 * 32;
        for stage in &STAGES {
            for block in 0..stage.blocks {
                let inner = channels * stage.wider;
                let entry = if stage.wider == 1 {
                    0
                } else {
                    channels * inner * side * side
                };
                side /= if block == 0 { stage.stride } else { 1 };
                let gate = 2 * inner * (channels / 4);
                let window = stage.kernel * stage.kernel;
                expect += entry + side * side * inner * (window + stage.channels) + gate;
                channels = stage.channels;
            }
        }
        expect += side * side * channels * LAST + LAST * 1000;
        assert_eq!(side, 7);
        // torchvision's documentation has 0.39 G.
        assert!((380_000_000..400_000_000).contains(&expect), "{expect}");
        assert_eq!(macs_at(draft("e"), &[("batch", 1)]), expect as u64);
        assert_eq!(macs_at(draft("e"), &[("batch", 8)]), 8 * expect as u64);
    }
}
