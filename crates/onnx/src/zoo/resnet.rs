//! Residual networks after He et al., "Deep Residual Learning for Image Recognition" (2015).
//!
//! `zoo` says which depth and which data; layers go to `builder`. The layout is torchvision's: the
//! stride of a bottleneck sits on its 3 × 3 convolution (known as v1.5), and a shortcut that
//! changes shape is a 1 × 1 convolution with batch normalisation.

use super::builder::{Conv, FeatureMap, GraphBuilder};
use super::draft::Draft;
use super::{DataSet, stem};

/// Scale of the last batch normalisation of each residual branch. Branch and shortcut add up, so
/// that with 1 the values would more than double in variance at every block: sixteen blocks later
/// they would be hundreds of times as large, and half precision would overflow in a network that
/// has nothing wrong with it. With a quarter, a block adds about a sixth.
const BRANCH_GAMMA: f32 = 0.25;

/// What differs between residual networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resnet {
    /// Three convolutions per block, four times as wide at the end, instead of two.
    pub bottleneck: bool,
    /// Blocks in each of the four stages.
    pub blocks: [usize; 4],
}

/// Plans the network.
pub(super) fn draft(name: &str, plan: Resnet, data: DataSet) -> Draft {
    let mut graph = GraphBuilder::default();
    let mut x = stem(&mut graph, data, ["conv1", "bn1", "relu", "maxpool"]);
    for (stage, &blocks) in plan.blocks.iter().enumerate() {
        let width = 64 << stage;
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("layer{}.{block}", stage + 1);
            x = residual(&mut graph, &name, &x, plan.bottleneck, (width, stride));
        }
    }
    let logits = graph.classify("fc", &x, data.classes());
    graph.draft(name, data.side(), &logits)
}

/// One block: a branch of convolutions, added to what came in.
fn residual(
    graph: &mut GraphBuilder,
    name: &str,
    x: &FeatureMap,
    bottleneck: bool,
    (width, stride): (usize, usize),
) -> FeatureMap {
    // Channels, kernel and stride of each convolution of the branch.
    let layers = if bottleneck {
        vec![(width, 1, 1), (width, 3, stride), (width * 4, 1, 1)]
    } else {
        vec![(width, 3, stride), (width, 3, 1)]
    };
    let mut branch = x.clone();
    for (index, &(channels, kernel, stride)) in layers.iter().enumerate() {
        let number = index + 1;
        let last = number == layers.len();
        let conv = Conv {
            channels,
            kernel,
            stride,
        };
        branch = graph.conv(&format!("{name}.conv{number}"), &branch, conv);
        let gamma = if last { BRANCH_GAMMA } else { 1.0 };
        branch = graph.batch_norm(&format!("{name}.bn{number}"), &branch, gamma);
        if !last {
            branch = graph.relu(&format!("{name}.relu{number}"), &branch);
        }
    }
    let shortcut = if stride != 1 || x.channels != branch.channels {
        let conv = Conv {
            channels: branch.channels,
            kernel: 1,
            stride,
        };
        let projected = graph.conv(&format!("{name}.downsample.0"), x, conv);
        graph.batch_norm(&format!("{name}.downsample.1"), &projected, 1.0)
    } else {
        x.clone()
    };
    let sum = graph.add(&format!("{name}.add"), &branch, &shortcut);
    graph.relu(&format!("{name}.relu"), &sum)
}

#[cfg(test)]
mod tests {
    use crate::{inspect, zoo};

    #[track_caller]
    fn check(id: &str, operators: &[(&str, u64)]) {
        let model = zoo::build(zoo::find(id).unwrap());
        let summary = inspect::summarize(&model, id);
        for (op, count) in operators {
            assert_eq!(summary.operators.get(*op), Some(count), "{id} {op}");
        }
        assert_eq!(summary.operators.len(), operators.len(), "{id}");
    }

    #[test]
    fn operators_of_each_depth() {
        let common = [
            ("MaxPool", 1),
            ("GlobalAveragePool", 1),
            ("Flatten", 1),
            ("Gemm", 1),
        ];
        let with = |convs, relus, adds| {
            let own = [
                ("Conv", convs),
                ("BatchNormalization", convs),
                ("Relu", relus),
                ("Add", adds),
            ];
            [&own[..], &common[..]].concat()
        };
        check("resnet18", &with(20, 17, 8));
        check("resnet34", &with(36, 33, 16));
        check("resnet50", &with(53, 49, 16));
    }
}
