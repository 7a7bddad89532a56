//! The U-Net after Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image Segmentation" (2015).
//!
//! Layers go to `builder` and `layers`. The variant that is common today: convolutions are padded, so that
//! the picture keeps its size, and each is followed by batch normalisation; ways up are transposed
//! convolutions. 64 to 1024 channels, three in, two classes out.

use super::builder::{Conv, FeatureMap, GraphBuilder};
use super::draft::Draft;

/// Channels of the first level; each further one has twice as many.
const FIRST: usize = 64;

/// Times that the picture is halved.
const LEVELS: usize = 4;

/// Height and width of the picture.
const SIDE: usize = 256;

const CLASSES: usize = 2;

/// Plans the network.
pub(super) fn draft(name: &str) -> Draft {
    let mut graph = GraphBuilder::default();
    let mut x = twice(&mut graph, "inc", &GraphBuilder::image(), FIRST);
    let mut skipped = Vec::new();
    for level in 1..=LEVELS {
        skipped.push(x.clone());
        let name = format!("down{level}.maxpool_conv");
        let half = graph.halve(&format!("{name}.0"), &x);
        x = twice(&mut graph, &format!("{name}.1"), &half, FIRST << level);
    }
    for (number, beside) in (1..).zip(skipped.iter().rev()) {
        let name = format!("up{number}");
        let up = graph.double_size(&format!("{name}.up"), &x, beside.channels);
        let both = graph.concat(&format!("{name}.concat"), beside, &up);
        x = twice(&mut graph, &format!("{name}.conv"), &both, beside.channels);
    }
    let logits = graph.mix("outc.conv", &x, CLASSES);
    let side = SIDE.to_string();
    graph.draft_with(name, SIDE, &logits, &[&side, &side])
}

/// Two convolutions, each with its norm and rectifier.
fn twice(graph: &mut GraphBuilder, name: &str, x: &FeatureMap, channels: usize) -> FeatureMap {
    let mut x = x.clone();
    for first in [0, 3] {
        let layer = |number: usize| format!("{name}.double_conv.{}", first + number);
        let conv = Conv {
            channels,
            kernel: 3,
            stride: 1,
        };
        x = graph.conv(&layer(0), &x, conv);
        x = graph.batch_norm(&layer(1), &x, 1.0);
        x = graph.relu(&layer(2), &x);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_graph, macs_at};
    use super::*;
    use crate::inspect;

    /// Two convolutions of nine weights a pair of channels and their norms at each of nine places, four ways up
    /// of four weights a pair and a bias, and the last layer: 31,037,698.
    #[test]
    fn parameters_are_the_published_ones() {
        let plan = draft("unet");
        check_graph(plan.clone());
        let summary = inspect::summarize(&plan.outline(), "unet");
        let block = |inputs: u64, outputs: u64| 9 * outputs * (inputs + outputs) + 4 * outputs;
        let down = block(64, 128) + block(128, 256) + block(256, 512) + block(512, 1024);
        let up: u64 = [512, 256, 128, 64]
            .map(|channels| block(2 * channels, channels) + 4 * 2 * channels * channels + channels)
            .iter()
            .sum();
        let expect = block(3, 64) + down + up + 64 * 2 + 2;
        assert_eq!((summary.parameters, expect), (31_037_698, 31_037_698));
        assert_eq!(summary.notes, Vec::<String>::new());
    }

    #[test]
    fn products_follow_the_formula() {
        let places = |level: u32| 256 * 256 / 4_u64.pow(level);
        let block =
            |level, inputs: u64, outputs: u64| places(level) * 9 * outputs * (inputs + outputs);
        let mut expect = block(0, 3, 64) + places(0) * 64 * 2;
        for level in 1..=4 {
            let (above, here) = (32 << level, 64 << level);
            expect += block(level, above, here);
            // The way up from here, and the block above that joins it with what was kept.
            expect += places(level) * here * above * 4 + block(level - 1, here, above);
        }
        assert_eq!(macs_at(draft("unet"), &[("batch", 1)]), expect);
        assert_eq!(macs_at(draft("unet"), &[("batch", 3)]), 3 * expect);
    }

    #[test]
    fn pictures_keep_their_size() {
        let summary = inspect::summarize(&draft("unet").outline(), "");
        assert_eq!(summary.inputs[0].describe(), "float32 batch×3×256×256");
        assert_eq!(summary.outputs[0].describe(), "float32 batch×2×256×256");
    }
}
