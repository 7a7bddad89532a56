//! Decoders after Touvron et al., "LLaMA: Open and Efficient Foundation Language Models" (2023).
//!
//! What language models of today are made of: norms by the root mean square (Zhang and Sennrich, 2019),
//! positions as rotations (Su et al., "RoFormer", 2021), several queries on one key (Ainslie et al., "GQA",
//! 2023), gated layers (Shazeer, "GLU Variants Improve Transformer", 2020). Layers and names are those of
//! `LlamaForCausalLM` of `transformers`; the head shares its matrix with the table of words.

use crate::pb::tensor_proto::DataType;

use super::draft::{Draft, integer, signed};
use super::operators::{Operators, STD};
use super::transformer::{self, Heads, KeyValues};

/// What differs between networks of this kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Llama {
    /// Blocks.
    pub layers: usize,
    /// Heads of each attention.
    pub heads: usize,
    /// Keys and values that these share.
    pub key_heads: usize,
    /// Numbers per position.
    pub width: usize,
    /// Numbers per position inside the gated layers.
    pub inner: usize,
    /// Words that it knows.
    pub words: usize,
    /// Whether keys and values of earlier positions go in and out.
    pub has_past: bool,
}

/// The published sizes of SmolLM-135M.
pub(super) const fn tiny(has_past: bool) -> Llama {
    Llama {
        layers: 30,
        heads: 9,
        key_heads: 3,
        width: 576,
        inner: 1536,
        words: 49152,
        has_past,
    }
}

const EPSILON: f32 = 1e-5;

/// The slowest rotation takes so many positions for a radian.
const THETA: f32 = 10_000.0;

/// By how much the halves of a head turn at each position.
struct Rotation {
    /// Batch × 1 × sequence × half a head.
    cosine: String,
    /// The same.
    sine: String,
}

/// Plans the network.
pub fn draft(name: &str, plan: Llama) -> Draft {
    let mut graph = Operators::default();
    let heads = Heads {
        queries: plan.heads,
        keys: plan.key_heads,
        width: plan.width / plan.heads,
    };
    let inputs = transformer::decoder_inputs(&mut graph, plan.layers, heads, plan.has_past);
    let rotation = rotation(&mut graph, &inputs.positions, heads.width);
    let words = "model.embed_tokens";
    let mut x = graph.embedding(words, &inputs.ids, (plan.words, plan.width));
    let mut caches = Vec::new();
    for layer in 0..plan.layers {
        let name = format!("model.layers.{layer}");
        let mut attention = Attention {
            graph: &mut graph,
            heads,
            rotation: &rotation,
            bias: &inputs.bias,
            past: inputs.past.as_ref().map(|past| &past[layer]),
        };
        let (mixed, cache) = attention.add(&name, &x, plan);
        caches.extend(cache);
        x = gated(&mut graph, &name, &mixed, plan);
    }
    let x = rms_norm(&mut graph, "model.norm", &x, plan.width);
    let table = format!("{words}.weight");
    let sizes = (plan.words, plan.width);
    let logits = transformer::tied_head(&mut graph, "lm_head", &x, &inputs.ids, &table, sizes);
    let dims = ["batch", "sequence", &plan.words.to_string()];
    graph.output(&logits, "logits", &dims);
    for (layer, mut cache) in caches.into_iter().enumerate() {
        transformer::present(&mut graph, layer, heads, &mut cache);
    }
    graph.finish(name)
}

/// Angle = position ÷ θ^(2i ÷ width), for each pair i of a head.
fn rotation(graph: &mut Operators, positions: &str, width: usize) -> Rotation {
    let speed = |pair: usize| THETA.powf(-2.0 * pair as f32 / width as f32);
    let speeds: Vec<f32> = (0..width / 2).map(speed).collect();
    let speeds = graph.settings("rotary.speeds", &speeds);
    let positions = graph.cast("rotary.positions", positions, DataType::Float);
    let positions = graph.unsqueeze("rotary.positions.heads", &positions, &[1, 3]);
    let angles = graph.op("Mul", "rotary.angles", &[&positions, &speeds]);
    Rotation {
        cosine: graph.op("Cos", "rotary.cosine", &[&angles]),
        sine: graph.op("Sin", "rotary.sine", &[&angles]),
    }
}

/// Turns the first half of each head against its second half.
fn rotate(graph: &mut Operators, name: &str, x: &str, rotation: &Rotation, width: usize) -> String {
    let [first, second] = graph.split(&format!("{name}.halves"), x, 3, width / 2);
    let mut times = |part: &str, x: &str, by: &str| {
        let name = format!("{name}.{part}");
        graph.op("Mul", &name, &[x, by])
    };
    let first_cosine = times("first.cosine", &first, &rotation.cosine);
    let first_sine = times("first.sine", &first, &rotation.sine);
    let second_cosine = times("second.cosine", &second, &rotation.cosine);
    let second_sine = times("second.sine", &second, &rotation.sine);
    let first = graph.op(
        "Sub",
        &format!("{name}.first"),
        &[&first_cosine, &second_sine],
    );
    let second = graph.op(
        "Add",
        &format!("{name}.second"),
        &[&second_cosine, &first_sine],
    );
    graph.concat(&format!("{name}.rotated"), &[&first, &second], 3)
}

/// What the attention of a layer is made with.
struct Attention<'a> {
    graph: &'a mut Operators,
    heads: Heads,
    rotation: &'a Rotation,
    bias: &'a str,
    past: Option<&'a KeyValues>,
}

impl Attention<'_> {
    /// Attention, added to what came in. Gives the cache where there is one.
    fn add(&mut self, name: &str, x: &str, plan: Llama) -> (String, Option<KeyValues>) {
        let normed = format!("{name}.input_layernorm");
        let normed = rms_norm(self.graph, &normed, x, plan.width);
        let name = format!("{name}.self_attn");
        let queries = self.project(&name, "q_proj", &normed, self.heads.queries, plan);
        let keys = self.project(&name, "k_proj", &normed, self.heads.keys, plan);
        let width = self.heads.width;
        let queries = rotate(
            self.graph,
            &format!("{name}.query"),
            &queries,
            self.rotation,
            width,
        );
        let mut seen = KeyValues {
            keys: rotate(
                self.graph,
                &format!("{name}.key"),
                &keys,
                self.rotation,
                width,
            ),
            values: self.project(&name, "v_proj", &normed, self.heads.keys, plan),
        };
        if let Some(past) = self.past {
            seen = transformer::append(self.graph, &name, past, &seen);
        }
        let bias = Some(self.bias);
        let mixed = transformer::attend(self.graph, &name, &queries, &seen, bias, self.heads);
        let sizes = (self.heads.queries * width, plan.width);
        let output = format!("{name}.o_proj");
        let mixed = self.graph.matmul(&output, &mixed, sizes, added(plan));
        let sum = self
            .graph
            .op("Add", &format!("{name}.residual"), &[x, &mixed]);
        (sum, self.past.is_some().then_some(seen))
    }

    /// Batch × heads × sequence × width.
    fn project(&mut self, name: &str, kind: &str, x: &str, heads: usize, plan: Llama) -> String {
        let name = format!("{name}.{kind}");
        let sizes = (plan.width, heads * self.heads.width);
        let projected = self.graph.matmul(&name, x, sizes, STD);
        transformer::split_heads(self.graph, &name, &projected, heads, self.heads.width)
    }
}

/// Standard deviation of what is added to the residual stream, so that its size does not grow with the
/// number of layers.
fn added(plan: Llama) -> f32 {
    STD / (2.0 * plan.layers as f32).sqrt()
}

/// The gated layers of a block, added to what came in: down(silu(gate(x)) · up(x)).
fn gated(graph: &mut Operators, name: &str, x: &str, plan: Llama) -> String {
    let Llama { width, inner, .. } = plan;
    let normed = format!("{name}.post_attention_layernorm");
    let normed = rms_norm(graph, &normed, x, width);
    let name = format!("{name}.mlp");
    let gate = graph.matmul(&format!("{name}.gate_proj"), &normed, (width, inner), STD);
    let open = graph.op("Sigmoid", &format!("{name}.sigmoid"), &[&gate]);
    let gate = graph.op("Mul", &format!("{name}.act_fn"), &[&gate, &open]);
    let up = graph.matmul(&format!("{name}.up_proj"), &normed, (width, inner), STD);
    let both = graph.op("Mul", &format!("{name}.gated"), &[&gate, &up]);
    let down = format!("{name}.down_proj");
    let down = graph.matmul(&down, &both, (inner, width), added(plan));
    graph.op("Add", &format!("{name}.residual"), &[x, &down])
}

/// x ÷ √(mean of x² + ε), times a scale.
fn rms_norm(graph: &mut Operators, name: &str, x: &str, width: usize) -> String {
    let scale = graph.scale(name, width);
    let (two, epsilon) = (graph.float(2.0), graph.float(EPSILON));
    let square = graph.op("Pow", &format!("{name}.square"), &[x, &two]);
    let last = vec![signed("axes", &[-1]), integer("keepdims", 1)];
    let mean = graph.op_with("ReduceMean", &format!("{name}.mean"), &[&square], last);
    let mean = graph.op("Add", &format!("{name}.epsilon"), &[&mean, &epsilon]);
    let root = graph.op("Sqrt", &format!("{name}.root"), &[&mean]);
    let normed = graph.op("Div", &format!("{name}.normed"), &[x, &root]);
    graph.op("Mul", name, &[&normed, &scale])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_graph, macs_at};
    use super::*;
    use crate::inspect;

    /// As its publisher states for SmolLM-135M: 134,515,008 with the head's matrix once.
    #[test]
    fn parameters_are_the_published_ones() {
        for has_past in [false, true] {
            let plan = draft("llama", tiny(has_past));
            check_graph(plan.clone());
            let summary = inspect::summarize(&plan.outline(), "llama");
            assert_eq!(summary.parameters, 134_515_008);
        }
    }

    /// Projections of queries, keys, values and output, three gated layers, two products over all positions
    /// that are seen, and the head. Shared keys make the products no cheaper.
    #[test]
    fn products_follow_the_formula() {
        let formula = |batch: u64, new: u64, past: u64| {
            let (width, keys, inner) = (576, 3 * 64, 1536);
            let projections = 2 * width * width + 2 * width * keys;
            let block = projections + 3 * width * inner + 2 * (past + new) * width;
            batch * new * (30 * block + 49152 * width)
        };
        let step = |batch, new, past| {
            let sizes = [("batch", batch), ("sequence", new), ("past", past)];
            macs_at(draft("llama", tiny(true)), &sizes)
        };
        assert_eq!(step(1, 1, 127), formula(1, 1, 127));
        assert_eq!(step(2, 5, 1000), formula(2, 5, 1000));
        assert_eq!(step(1, 16, 0), formula(1, 16, 0));
        let sizes = [("batch", 4), ("sequence", 32)];
        let whole = macs_at(draft("llama", tiny(false)), &sizes);
        assert_eq!(whole, formula(4, 32, 0));
    }

    #[test]
    fn caches_have_the_heads_of_keys() {
        let summary = inspect::summarize(&draft("llama", tiny(true)).outline(), "");
        assert_eq!(summary.inputs[3].describe(), "float32 batch×3×past×64");
        assert_eq!(summary.inputs.len(), 3 + 60);
        let present = summary.outputs[1].describe();
        assert_eq!(present, "float32 batch×3×past + sequence×64");
    }
}
