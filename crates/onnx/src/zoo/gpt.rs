//! GPT-2 after Radford et al., "Language Models are Unsupervised Multitask Learners" (2019).
//!
//! Layers and names are those of `GPT2LMHeadModel` of `transformers`; the head shares its matrix with the
//! table of words. With a past it takes the keys and values of earlier positions and hands on those of all.

use super::draft::Draft;
use super::operators::{Operators, STD};
use super::transformer::{self, Heads, KeyValues};
use super::weights::Fill;

/// What differs between networks of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpt {
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
    /// Whether keys and values of earlier positions go in and out.
    pub has_past: bool,
}

/// The published sizes of the smallest GPT-2.
pub(super) const fn gpt2(has_past: bool) -> Gpt {
    Gpt {
        layers: 12,
        heads: 12,
        width: 768,
        words: 50257,
        positions: 1024,
        has_past,
    }
}

/// As in BERT and its descendants.
const EPSILON: f32 = 1e-5;

/// Plans the network.
pub fn draft(name: &str, plan: Gpt) -> Draft {
    let mut graph = Operators::default();
    let heads = Heads {
        queries: plan.heads,
        keys: plan.heads,
        width: plan.width / plan.heads,
    };
    let inputs = transformer::decoder_inputs(&mut graph, plan.layers, heads, plan.has_past);
    let (wte, wpe) = ("transformer.wte", "transformer.wpe");
    let words = graph.embedding(wte, &inputs.ids, (plan.words, plan.width));
    let places = graph.embedding(wpe, &inputs.positions, (plan.positions, plan.width));
    let mut x = graph.op("Add", "transformer.embeddings", &[&words, &places]);
    let mut caches = Vec::new();
    for layer in 0..plan.layers {
        let past = inputs.past.as_ref().map(|past| &past[layer]);
        let name = format!("transformer.h.{layer}");
        let (next, cache) = block(&mut graph, &name, &x, (past, &inputs.bias), (plan, heads));
        x = next;
        caches.extend(cache);
    }
    let x = graph.layer_norm("transformer.ln_f", &x, plan.width, EPSILON);
    let table = format!("{wte}.weight");
    let sizes = (plan.words, plan.width);
    let logits = transformer::tied_head(&mut graph, "lm_head", &x, &inputs.ids, &table, sizes);
    let dims = ["batch", "sequence", &plan.words.to_string()];
    graph.output(&logits, "logits", &dims);
    for (layer, mut cache) in caches.into_iter().enumerate() {
        transformer::present(&mut graph, layer, heads, &mut cache);
    }
    graph.finish(name)
}

/// One block: attention and two layers, each added to what came in. Gives the cache where there is one.
fn block(
    graph: &mut Operators,
    name: &str,
    x: &str,
    (past, bias): (Option<&KeyValues>, &str),
    (plan, heads): (Gpt, Heads),
) -> (String, Option<KeyValues>) {
    let Gpt { width, layers, .. } = plan;
    // What is added to the residual stream, so that its size does not grow with the number of layers.
    let added = STD / (2.0 * layers as f32).sqrt();
    let normed = graph.layer_norm(&format!("{name}.ln_1"), x, width, EPSILON);
    let attn = format!("{name}.attn");
    let joined = conv1d(
        graph,
        &format!("{attn}.c_attn"),
        &normed,
        (width, 3 * width),
        STD,
    );
    let [q, k, v] = graph.split(&format!("{attn}.split"), &joined, 2, width);
    let mut heads_of = |kind: &str, x: &str| {
        transformer::split_heads(
            graph,
            &format!("{attn}.{kind}"),
            x,
            heads.queries,
            heads.width,
        )
    };
    let queries = heads_of("query", &q);
    let mut seen = KeyValues {
        keys: heads_of("key", &k),
        values: heads_of("value", &v),
    };
    if let Some(past) = past {
        seen = transformer::append(graph, &attn, past, &seen);
    }
    let mixed = transformer::attend(graph, &attn, &queries, &seen, Some(bias), heads);
    let mixed = conv1d(
        graph,
        &format!("{attn}.c_proj"),
        &mixed,
        (width, width),
        added,
    );
    let x = graph.op("Add", &format!("{attn}.residual"), &[&mixed, x]);
    let mlp = format!("{name}.mlp");
    let y = graph.layer_norm(&format!("{name}.ln_2"), &x, width, EPSILON);
    let y = conv1d(graph, &format!("{mlp}.c_fc"), &y, (width, 4 * width), STD);
    let y = transformer::gelu_tanh(graph, &format!("{mlp}.act"), &y);
    let y = conv1d(
        graph,
        &format!("{mlp}.c_proj"),
        &y,
        (4 * width, width),
        added,
    );
    let x = graph.op("Add", &format!("{mlp}.residual"), &[&x, &y]);
    (x, past.is_some().then_some(seen))
}

/// A layer whose matrix PyTorch keeps as ONNX does.
fn conv1d(
    graph: &mut Operators,
    name: &str,
    x: &str,
    (inputs, outputs): (usize, usize),
    std: f32,
) -> String {
    let dims = [inputs, outputs];
    let weight = graph.weight(&format!("{name}.weight"), &dims, Fill::Normal { std });
    let product = graph.op("MatMul", name, &[x, &weight]);
    graph.bias(name, &product, outputs)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_graph, macs_at};
    use super::*;
    use crate::inspect;

    /// Radford et al. call it 117M; `transformers` counts 124,439,808 with the head's matrix once.
    #[test]
    fn parameters_are_the_published_ones() {
        for has_past in [false, true] {
            let plan = draft("gpt2", gpt2(has_past));
            check_graph(plan.clone());
            let summary = inspect::summarize(&plan.outline(), "gpt2");
            assert_eq!(summary.parameters, 124_439_808);
        }
    }

    /// 12 · width² a position for the layers of a block, two products over all positions that are seen, and
    /// the head.
    #[test]
    fn products_follow_the_formula() {
        let formula = |batch: u64, new: u64, past: u64| {
            let (width, words, layers) = (768, 50257, 12);
            let block = 12 * width * width + 2 * (past + new) * width;
            batch * new * (layers * block + words * width)
        };
        let whole = |batch, sequence| {
            let sizes = [("batch", batch), ("sequence", sequence)];
            macs_at(draft("gpt2", gpt2(false)), &sizes)
        };
        assert_eq!(whole(1, 128), formula(1, 128, 0));
        assert_eq!(whole(3, 32), formula(3, 32, 0));
        let step = |batch, new, past| {
            let sizes = [("batch", batch), ("sequence", new), ("past", past)];
            macs_at(draft("gpt2-past", gpt2(true)), &sizes)
        };
        assert_eq!(step(1, 1, 127), formula(1, 1, 127));
        assert_eq!(step(2, 5, 1000), formula(2, 5, 1000));
        assert_eq!(step(1, 16, 0), formula(1, 16, 0));
    }

    #[test]
    fn inputs_and_outputs_are_those_of_transformers() {
        let summary = inspect::summarize(&draft("gpt2-past", gpt2(true)).outline(), "");
        let described = |ports: &[powerband_core::domain::model::Port]| {
            let texts = ports
                .iter()
                .map(|port| format!("{} {}", port.name, port.describe()));
            texts.collect::<Vec<_>>()
        };
        let inputs = described(&summary.inputs);
        assert_eq!(
            inputs[..5],
            [
                "input_ids int64 batch×sequence",
                "attention_mask int64 batch×past + sequence",
                "position_ids int64 batch×sequence",
                "past_key_values.0.key float32 batch×12×past×64",
                "past_key_values.0.value float32 batch×12×past×64",
            ]
        );
        assert_eq!(inputs.len(), 3 + 24);
        let outputs = described(&summary.outputs);
        assert_eq!(
            outputs[..2],
            [
                "logits float32 batch×sequence×50257",
                "present.0.key float32 batch×12×past + sequence×64",
            ]
        );
        assert_eq!(outputs.len(), 1 + 24);
    }
}
