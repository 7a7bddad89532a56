//! The vision transformer after Dosovitskiy et al., "An Image is Worth 16x16 Words" (2020).
//!
//! Layers and names are those of torchvision's `vit_b_16`: a picture of 224 × 224 as 14 × 14 patches and one
//! place for the class.

use crate::pb::tensor_proto::DataType;

use super::draft::{Draft, integer, integers};
use super::operators::{Operators, STD};
use super::transformer::{self, Heads, KeyValues};
use super::weights::Fill;

const LAYERS: usize = 12;
const WIDTH: usize = 768;
const HEADS: Heads = Heads {
    queries: 12,
    keys: 12,
    width: WIDTH / 12,
};
const SIDE: usize = 224;
const PATCH: usize = 16;
const PATCHES: usize = (SIDE / PATCH) * (SIDE / PATCH);
const CLASSES: usize = 1000;
const EPSILON: f32 = 1e-6;

/// Plans the network.
pub(super) fn draft(name: &str) -> Draft {
    let mut graph = Operators::default();
    let side = SIDE.to_string();
    let image = graph.input("input", DataType::Float, &["batch", "3", &side, &side]);
    let mut x = embeddings(&mut graph, &image);
    for layer in 0..LAYERS {
        x = block(
            &mut graph,
            &format!("encoder.layers.encoder_layer_{layer}"),
            &x,
        );
    }
    let x = graph.layer_norm("encoder.ln", &x, WIDTH, EPSILON);
    let first = graph.int(0);
    let axis = vec![integer("axis", 1)];
    let class = graph.op_with("Gather", "class", &[&x, &first], axis);
    let fill = Fill::Normal { std: STD };
    let head = "heads.head";
    let inputs = [
        class,
        graph.weight(&format!("{head}.weight"), &[CLASSES, WIDTH], fill),
        graph.weight(&format!("{head}.bias"), &[CLASSES], fill),
    ];
    let inputs = inputs.each_ref().map(String::as_str);
    let logits = graph.op_with("Gemm", head, &inputs, vec![integer("transB", 1)]);
    graph.output(&logits, "logits", &["batch", &CLASSES.to_string()]);
    graph.finish(name)
}

/// A vector for each patch, behind that of the class, with places added.
fn embeddings(graph: &mut Operators, image: &str) -> String {
    let fan_in = (3 * PATCH * PATCH) as f32;
    let std = fan_in.sqrt().recip();
    let dims = [WIDTH, 3, PATCH, PATCH];
    let inputs = [
        image.to_owned(),
        graph.weight("conv_proj.weight", &dims, Fill::Normal { std }),
        graph.weight("conv_proj.bias", &[WIDTH], Fill::Normal { std: STD }),
    ];
    let inputs = inputs.each_ref().map(String::as_str);
    let window = vec![
        integers("kernel_shape", &[PATCH; 2]),
        integers("strides", &[PATCH; 2]),
    ];
    let patches = graph.op_with("Conv", "conv_proj", &inputs, window);
    let flat = [0, WIDTH as i64, PATCHES as i64];
    let patches = graph.reshape("patches.flat", &patches, &flat);
    let patches = graph.transpose("patches", &patches, &[0, 2, 1]);
    let fill = Fill::Normal { std: STD };
    let class = graph.weight("class_token", &[1, 1, WIDTH], fill);
    let shape = graph.op("Shape", "batch.shape", &[image]);
    let first = graph.ints(&[0]);
    let batch = graph.op("Gather", "batch", &[&shape, &first]);
    let rest = graph.ints(&[1, WIDTH as i64]);
    let shape = graph.concat("class_token.shape", &[&batch, &rest], 0);
    let class = graph.op("Expand", "class_token.expand", &[&class, &shape]);
    let all = graph.concat("encoder.input", &[&class, &patches], 1);
    let dims = [1, PATCHES + 1, WIDTH];
    let places = graph.weight("encoder.pos_embedding", &dims, fill);
    graph.op("Add", "encoder.places", &[&all, &places])
}

/// One block: attention and two layers, each added to what came in.
fn block(graph: &mut Operators, name: &str, x: &str) -> String {
    let added = STD / (2.0 * LAYERS as f32).sqrt();
    let normed = graph.layer_norm(&format!("{name}.ln_1"), x, WIDTH, EPSILON);
    let attention = format!("{name}.self_attention");
    // PyTorch's attention has its three matrices in one, with names of their own.
    let fill = Fill::Normal { std: STD };
    let weight = graph.weight(
        &format!("{attention}.in_proj_weight.T"),
        &[WIDTH, 3 * WIDTH],
        fill,
    );
    let bias = graph.weight(&format!("{attention}.in_proj_bias"), &[3 * WIDTH], fill);
    let product = graph.op(
        "MatMul",
        &format!("{attention}.in_proj"),
        &[&normed, &weight],
    );
    let all = graph.op(
        "Add",
        &format!("{attention}.in_proj.add"),
        &[&bias, &product],
    );
    let [q, k, v] = graph.split(&format!("{attention}.split"), &all, 2, WIDTH);
    let mut heads_of = |kind: &str, x: &str| {
        let name = format!("{attention}.{kind}");
        transformer::split_heads(graph, &name, x, HEADS.queries, HEADS.width)
    };
    let queries = heads_of("query", &q);
    let seen = KeyValues {
        keys: heads_of("key", &k),
        values: heads_of("value", &v),
    };
    let mixed = transformer::attend(graph, &attention, &queries, &seen, None, HEADS);
    let mixed = graph.linear(
        &format!("{attention}.out_proj"),
        &mixed,
        (WIDTH, WIDTH),
        added,
    );
    let x = graph.op("Add", &format!("{attention}.residual"), &[&mixed, x]);
    let y = graph.layer_norm(&format!("{name}.ln_2"), &x, WIDTH, EPSILON);
    let mlp = format!("{name}.mlp");
    let y = graph.linear(&format!("{mlp}.0"), &y, (WIDTH, 4 * WIDTH), STD);
    let y = transformer::gelu(graph, &format!("{mlp}.1"), &y);
    let y = graph.linear(&format!("{mlp}.3"), &y, (4 * WIDTH, WIDTH), added);
    graph.op("Add", &format!("{mlp}.residual"), &[&x, &y])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_graph, macs_at};
    use super::*;
    use crate::inspect;

    /// As torchvision's documentation states.
    #[test]
    fn parameters_are_the_published_ones() {
        let plan = draft("vit");
        check_graph(plan.clone());
        let summary = inspect::summarize(&plan.outline(), "vit");
        assert_eq!(summary.parameters, 86_567_656);
        assert_eq!(summary.notes, Vec::<String>::new());
    }

    /// The patches, 12 · width² a place for the layers of a block, two products over all places, the head.
    #[test]
    fn products_follow_the_formula() {
        let (width, places) = (768, 197);
        let block = places * (12 * width * width + 2 * places * width);
        let expect = 196 * width * 3 * 16 * 16 + 12 * block + width * 1000;
        let found = |batch| macs_at(draft("vit"), &[("batch", batch)]);
        assert_eq!(found(1), expect);
        assert_eq!(found(5), 5 * expect);
    }
}
