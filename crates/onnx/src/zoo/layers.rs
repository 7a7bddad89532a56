//! Layers of the smaller networks for pictures: convolutions channel by channel, gates, ways back up.
//!
//! `mobilenet`, `efficientnet` and `unet` call them; what all networks for pictures share is in `builder`.

use crate::pb::TensorProto;
use crate::pb::tensor_proto::DataType;

use super::builder::{Conv, FeatureMap, GraphBuilder};
use super::draft::integers;
use super::weights::Fill;

impl GraphBuilder {
    /// A convolution and its norm, as torchvision numbers them within `name`.
    pub(super) fn conv_norm(&mut self, name: &str, x: &FeatureMap, conv: Conv) -> FeatureMap {
        let x = self.conv(&format!("{name}.0"), x, conv);
        self.batch_norm(&format!("{name}.1"), &x, 1.0)
    }

    /// A convolution in which each channel has its own kernel and sees no other.
    pub(super) fn depthwise(
        &mut self,
        name: &str,
        x: &FeatureMap,
        kernel: usize,
        stride: usize,
    ) -> FeatureMap {
        let conv = Conv {
            channels: x.channels,
            kernel,
            stride,
        };
        self.convolve(name, x, conv, x.channels, false)
    }

    /// A 1 × 1 convolution with a bias.
    pub(super) fn mix(&mut self, name: &str, x: &FeatureMap, channels: usize) -> FeatureMap {
        let conv = Conv {
            channels,
            kernel: 1,
            stride: 1,
        };
        self.convolve(name, x, conv, 1, true)
    }

    /// A transposed convolution with a bias that makes 2 × 2 places of each.
    pub(super) fn double_size(
        &mut self,
        name: &str,
        x: &FeatureMap,
        channels: usize,
    ) -> FeatureMap {
        // Each place comes from one place, so all that adds up are the channels.
        let std = (x.channels as f32).sqrt().recip();
        let dims = vec![x.channels, channels, 2, 2];
        let weight = self.tensor(name, "weight", dims, Fill::Normal { std });
        let bias = self.tensor(name, "bias", vec![channels], Fill::Normal { std: 0.01 });
        let attributes = vec![
            integers("kernel_shape", &[2; 2]),
            integers("strides", &[2; 2]),
        ];
        let inputs = vec![x.name().to_owned(), weight, bias];
        self.node("ConvTranspose", name, inputs, attributes, channels)
    }

    /// Maximum over 2 × 2, which halves the size.
    pub(super) fn halve(&mut self, name: &str, x: &FeatureMap) -> FeatureMap {
        let attributes = vec![
            integers("kernel_shape", &[2; 2]),
            integers("strides", &[2; 2]),
        ];
        self.node(
            "MaxPool",
            name,
            vec![x.name().to_owned()],
            attributes,
            x.channels,
        )
    }

    /// Mean of each channel.
    pub(super) fn global_mean(&mut self, name: &str, x: &FeatureMap) -> FeatureMap {
        let inputs = vec![x.name().to_owned()];
        self.node("GlobalAveragePool", name, inputs, vec![], x.channels)
    }

    /// Rectifier that ends at 6.
    pub(super) fn relu6(&mut self, name: &str, x: &FeatureMap) -> FeatureMap {
        let limits = [0.0, 6.0].map(|limit| self.scalar(limit));
        let inputs = [vec![x.name().to_owned()], limits.to_vec()].concat();
        self.node("Clip", name, inputs, vec![], x.channels)
    }

    /// 1 ÷ (1 + e⁻ˣ).
    pub(super) fn sigmoid(&mut self, name: &str, x: &FeatureMap) -> FeatureMap {
        self.node(
            "Sigmoid",
            name,
            vec![x.name().to_owned()],
            vec![],
            x.channels,
        )
    }

    /// x · sigmoid(x).
    pub(super) fn silu(&mut self, name: &str, x: &FeatureMap) -> FeatureMap {
        let gate = self.sigmoid(&format!("{name}.sigmoid"), x);
        self.multiply(name, x, &gate)
    }

    /// Product of two; the second may be one number a channel.
    pub(super) fn multiply(&mut self, name: &str, x: &FeatureMap, gate: &FeatureMap) -> FeatureMap {
        let inputs = vec![x.name().to_owned(), gate.name().to_owned()];
        self.node("Mul", name, inputs, vec![], x.channels)
    }

    /// A number without a dimension, kept once.
    fn scalar(&mut self, value: f32) -> String {
        let name = format!("float.{value}");
        if self.constants.iter().all(|known| known.name != name) {
            self.constants.push(TensorProto {
                name: name.clone(),
                data_type: DataType::Float as i32,
                raw_data: value.to_le_bytes().to_vec(),
                ..Default::default()
            });
        }
        name
    }
}
