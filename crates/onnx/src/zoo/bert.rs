//! BERT after Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), and `MiniLM`
//! after Wang et al., "`MiniLM`: Deep Self-Attention Distillation" (2020), which is a smaller one.
//!
//! Layers and names are those of `BertModel` of `transformers`, with its pooler.

use crate::pb::tensor_proto::DataType;

use super::draft::{Draft, integer};
use super::operators::{Operators, STD};
use super::transformer::{self, Heads, KeyValues};
use super::weights::Fill;

/// What differs between networks of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bert {
    /// Blocks.
    pub layers: usize,
    /// Heads of each attention.
    pub heads: usize,
    /// Numbers per position.
    pub width: usize,
    /// Words that it knows.
    pub words: usize,
    /// Positions that it knows.
    pub positions: usize,
}

/// The published sizes of bert-base-uncased.
pub(super) const BASE: Bert = Bert {
    layers: 12,
    heads: 12,
    width: 768,
    words: 30522,
    positions: 512,
};

/// The published sizes of all-MiniLM-L6-v2.
pub(super) const MINI: Bert = Bert {
    layers: 6,
    width: 384,
    ..BASE
};

/// First and second text of a pair.
const KINDS: usize = 2;

const EPSILON: f32 = 1e-12;

/// Plans the network.
pub fn draft(name: &str, plan: Bert) -> Draft {
    let mut graph = Operators::default();
    let of_sequence = ["batch", "sequence"];
    let mut input = |name| graph.input(name, DataType::Int64, &of_sequence);
    let (ids, mask) = (input("input_ids"), input("attention_mask"));
    let kinds = input("token_type_ids");
    let heads = Heads {
        queries: plan.heads,
        keys: plan.heads,
        width: plan.width / plan.heads,
    };
    let mut x = embeddings(&mut graph, plan, &ids, &kinds);
    let bias = padding_bias(&mut graph, &mask);
    for layer in 0..plan.layers {
        let name = format!("encoder.layer.{layer}");
        x = block(&mut graph, &name, &x, &bias, (plan, heads));
    }
    let dims = ["batch", "sequence", &plan.width.to_string()];
    graph.output(&x, "last_hidden_state", &dims);
    let first = graph.int(0);
    let axis = vec![integer("axis", 1)];
    let first = graph.op_with(
        "Gather",
        "pooler.first",
        &["last_hidden_state", &first],
        axis,
    );
    let sizes = (plan.width, plan.width);
    let pooled = graph.linear("pooler.dense", &first, sizes, STD);
    let pooled = graph.op("Tanh", "pooler.activation", &[&pooled]);
    graph.output(&pooled, "pooler_output", &["batch", dims[2]]);
    graph.finish(name)
}

/// Word, kind and place, added up and normalised.
fn embeddings(graph: &mut Operators, plan: Bert, ids: &str, kinds: &str) -> String {
    let width = plan.width;
    let name = "embeddings.word_embeddings";
    let words = graph.embedding(name, ids, (plan.words, width));
    let name = "embeddings.token_type_embeddings";
    let kinds = graph.embedding(name, kinds, (KINDS, width));
    let sum = graph.op("Add", "embeddings.kinds", &[&words, &kinds]);
    let name = "embeddings.position_embeddings";
    let fill = Fill::Normal { std: STD };
    let table = graph.weight(&format!("{name}.weight"), &[plan.positions, width], fill);
    // The rows of the first positions, as many as the text has.
    let (first, end) = (graph.ints(&[0]), graph.ints(&[1]));
    let shape = graph.op("Shape", "embeddings.shape", &[ids]);
    let length = graph.op("Gather", "embeddings.length", &[&shape, &end]);
    let places = graph.op("Slice", name, &[&table, &first, &length, &first]);
    let sum = graph.op("Add", "embeddings.places", &[&sum, &places]);
    graph.layer_norm("embeddings.LayerNorm", &sum, width, EPSILON)
}

/// Zero where there is a word, and a large negative number where there is padding.
fn padding_bias(graph: &mut Operators, mask: &str) -> String {
    let mask = graph.unsqueeze("mask.heads", mask, &[1, 2]);
    let mask = graph.cast("mask.float", &mask, DataType::Float);
    let (one, masked) = (graph.float(1.0), graph.float(transformer::MASKED));
    let padding = graph.op("Sub", "mask.padding", &[&one, &mask]);
    graph.op("Mul", "mask.bias", &[&padding, &masked])
}

/// One block: attention and two layers, each added to what came in and normalised.
fn block(
    graph: &mut Operators,
    name: &str,
    x: &str,
    bias: &str,
    (plan, heads): (Bert, Heads),
) -> String {
    let width = plan.width;
    let attention = format!("{name}.attention.self");
    let mut heads_of = |kind: &str| {
        let name = format!("{attention}.{kind}");
        let projected = graph.linear(&name, x, (width, width), STD);
        transformer::split_heads(graph, &name, &projected, heads.queries, heads.width)
    };
    let queries = heads_of("query");
    let seen = KeyValues {
        keys: heads_of("key"),
        values: heads_of("value"),
    };
    let mixed = transformer::attend(graph, &attention, &queries, &seen, Some(bias), heads);
    let output = format!("{name}.attention.output");
    let mixed = graph.linear(&format!("{output}.dense"), &mixed, (width, width), STD);
    let sum = graph.op("Add", &format!("{output}.residual"), &[&mixed, x]);
    let x = graph.layer_norm(&format!("{output}.LayerNorm"), &sum, width, EPSILON);
    let inner = format!("{name}.intermediate");
    let y = graph.linear(&format!("{inner}.dense"), &x, (width, 4 * width), STD);
    let y = transformer::gelu(graph, &format!("{inner}.act"), &y);
    let output = format!("{name}.output");
    let y = graph.linear(&format!("{output}.dense"), &y, (4 * width, width), STD);
    let sum = graph.op("Add", &format!("{output}.residual"), &[&y, &x]);
    graph.layer_norm(&format!("{output}.LayerNorm"), &sum, width, EPSILON)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_graph, macs_at};
    use super::*;
    use crate::inspect;

    /// As `transformers` counts `BertModel` with its pooler.
    #[test]
    fn parameters_are_the_published_ones() {
        for (plan, parameters) in [(BASE, 109_482_240), (MINI, 22_713_216)] {
            let plan = draft("bert", plan);
            check_graph(plan.clone());
            let summary = inspect::summarize(&plan.outline(), "bert");
            assert_eq!(summary.parameters, parameters);
        }
    }

    /// 12 · width² a position for the layers of a block, two products over all positions, and the pooler.
    #[test]
    fn products_follow_the_formula() {
        for (plan, batch, sequence) in [(BASE, 1, 128), (BASE, 8, 32), (MINI, 2, 512)] {
            let found = macs_at(
                draft("bert", plan),
                &[("batch", batch), ("sequence", sequence)],
            );
            let (width, places) = (plan.width as u64, (batch * sequence) as u64);
            let block = 12 * width * width + 2 * sequence as u64 * width;
            let expect = places * plan.layers as u64 * block + batch as u64 * width * width;
            assert_eq!(found, expect, "{plan:?} {batch} {sequence}");
        }
    }
}
