//! The blocks that all transformers are made of: attention over heads, with and without a cache of
//! keys and values, and the functions between the layers.
//!
//! After Vaswani et al., "Attention Is All You Need" (2017). Reshapes keep batch and sequence as they are,
//! so that one graph serves every size.

use crate::pb::tensor_proto::DataType;

use super::draft::integer;
use super::operators::Operators;

/// What is added to scores that must not count. The largest number of half precision with a minus: small
/// enough that a softmax makes nothing of it, and still a number after a conversion to half precision.
pub(super) const MASKED: f32 = -65504.0;

/// Heads of an attention, and how wide each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heads {
    /// Heads of the queries.
    pub queries: usize,
    /// Heads of keys and values: as many, or fewer where several queries share one.
    pub keys: usize,
    /// Numbers per head.
    pub width: usize,
}

/// Keys and values of a layer.
#[derive(Debug)]
pub(super) struct KeyValues {
    /// Batch × heads × positions × width.
    pub keys: String,
    /// The same of the values.
    pub values: String,
}

/// The inputs that every decoder has.
#[derive(Debug)]
pub(super) struct DecoderInputs {
    /// Batch × sequence.
    pub ids: String,
    /// Which position each of them has.
    pub positions: String,
    /// Keys and values of what went before, layer by layer; nothing for networks without a cache.
    pub past: Option<Vec<KeyValues>>,
    /// What is added to the scores: batch × 1 × sequence × (past + sequence).
    pub bias: String,
}

/// The name of everything that was seen and is seen now.
const TOTAL: &str = "past + sequence";

/// Declares the inputs of a decoder as `transformers` exports them, and masks what a position must not see.
pub(super) fn decoder_inputs(
    graph: &mut Operators,
    layers: usize,
    heads: Heads,
    has_past: bool,
) -> DecoderInputs {
    let of_sequence = ["batch", "sequence"];
    let total = if has_past { TOTAL } else { "sequence" };
    let ids = graph.input("input_ids", DataType::Int64, &of_sequence);
    let mask = graph.input("attention_mask", DataType::Int64, &["batch", total]);
    let positions = graph.input("position_ids", DataType::Int64, &of_sequence);
    let past = has_past.then(|| {
        let layers = 0..layers;
        layers.map(|layer| past_of(graph, layer, heads)).collect()
    });
    let before = past
        .as_ref()
        .and_then(|past: &Vec<KeyValues>| past.first())
        .map(|first| first.keys.clone());
    let bias = causal_bias(graph, &ids, &mask, before.as_deref());
    DecoderInputs {
        ids,
        positions,
        past,
        bias,
    }
}

/// The cache of one layer.
fn past_of(graph: &mut Operators, layer: usize, heads: Heads) -> KeyValues {
    let (count, width) = (heads.keys.to_string(), heads.width.to_string());
    let mut input = |kind: &str| {
        let name = format!("past_key_values.{layer}.{kind}");
        graph.input(&name, DataType::Float, &["batch", &count, "past", &width])
    };
    KeyValues {
        keys: input("key"),
        values: input("value"),
    }
}

/// The cache of one layer after this run.
pub(super) fn present(graph: &mut Operators, layer: usize, heads: Heads, now: &mut KeyValues) {
    let (count, width) = (heads.keys.to_string(), heads.width.to_string());
    let dims = ["batch", &count, TOTAL, &width];
    for (kind, value) in [("key", &mut now.keys), ("value", &mut now.values)] {
        let name = format!("present.{layer}.{kind}");
        graph.output(value, &name, &dims);
        *value = name;
    }
}

/// Zero where a position sees another, and a large negative number where that comes later or is padding.
fn causal_bias(graph: &mut Operators, ids: &str, mask: &str, past: Option<&str>) -> String {
    let sequence = graph.size("mask.sequence", ids, 1);
    let (first, total) = match past {
        Some(past) => {
            let first = graph.size("mask.past", past, 2);
            let total = graph.op("Add", "mask.total", &[&first, &sequence]);
            (first, total)
        }
        None => (graph.int(0), sequence),
    };
    let (zero, one) = (graph.int(0), graph.int(1));
    let seeing = graph.op("Range", "mask.queries", &[&first, &total, &one]);
    let seeing = graph.unsqueeze("mask.queries.column", &seeing, &[1]);
    let seen = graph.op("Range", "mask.keys", &[&zero, &total, &one]);
    let causal = graph.op("LessOrEqual", "mask.causal", &[&seen, &seeing]);
    let real = graph.cast("mask.real", mask, DataType::Bool);
    let real = graph.unsqueeze("mask.real.heads", &real, &[1, 2]);
    let both = graph.op("And", "mask.both", &[&real, &causal]);
    let (open, shut) = (graph.float(0.0), graph.float(MASKED));
    graph.op("Where", "mask.bias", &[&both, &open, &shut])
}

/// Batch × sequence × (heads · width) as batch × heads × sequence × width.
pub(super) fn split_heads(
    graph: &mut Operators,
    name: &str,
    x: &str,
    heads: usize,
    width: usize,
) -> String {
    let shape = [0, 0, heads as i64, width as i64];
    let x = graph.reshape(&format!("{name}.heads"), x, &shape);
    graph.transpose(&format!("{name}.transpose"), &x, &[0, 2, 1, 3])
}

/// Keys and values of the past, and behind them those of now.
pub(super) fn append(
    graph: &mut Operators,
    name: &str,
    past: &KeyValues,
    now: &KeyValues,
) -> KeyValues {
    let mut join = |kind: &str, past: &str, now: &str| {
        graph.concat(&format!("{name}.{kind}.cache"), &[past, now], 2)
    };
    KeyValues {
        keys: join("key", &past.keys, &now.keys),
        values: join("value", &past.values, &now.values),
    }
}

/// Scaled dot-product attention of queries over keys and values, with the heads joined again. Where
/// several queries share a key, they go through the products as one more dimension, and nothing is copied.
pub(super) fn attend(
    graph: &mut Operators,
    name: &str,
    queries: &str,
    seen: &KeyValues,
    bias: Option<&str>,
    heads: Heads,
) -> String {
    let Heads {
        queries: count,
        keys,
        width,
    } = heads;
    let is_shared = count != keys;
    let (mut queries, mut values) = (queries.to_owned(), seen.values.clone());
    let mut turned = graph.transpose(&format!("{name}.key.columns"), &seen.keys, &[0, 1, 3, 2]);
    let mut bias = bias.map(str::to_owned);
    if is_shared {
        let shape = [0, keys as i64, (count / keys) as i64, -1, width as i64];
        queries = graph.reshape(&format!("{name}.query.groups"), &queries, &shape);
        turned = graph.unsqueeze(&format!("{name}.key.shared"), &turned, &[2]);
        values = graph.unsqueeze(&format!("{name}.value.shared"), &values, &[2]);
        bias = bias.map(|bias| graph.unsqueeze(&format!("{name}.mask.groups"), &bias, &[1]));
    }
    let scores = graph.op("MatMul", &format!("{name}.scores"), &[&queries, &turned]);
    let root = graph.float((width as f32).sqrt());
    let mut scores = graph.op("Div", &format!("{name}.scaled"), &[&scores, &root]);
    if let Some(bias) = bias {
        scores = graph.op("Add", &format!("{name}.masked"), &[&scores, &bias]);
    }
    let axis = vec![integer("axis", -1)];
    let shares = graph.op_with("Softmax", &format!("{name}.softmax"), &[&scores], axis);
    let mut mixed = graph.op("MatMul", &format!("{name}.mixed"), &[&shares, &values]);
    if is_shared {
        let shape = [0, count as i64, -1, width as i64];
        mixed = graph.reshape(&format!("{name}.mixed.heads"), &mixed, &shape);
    }
    let mixed = graph.transpose(&format!("{name}.mixed.transpose"), &mixed, &[0, 2, 1, 3]);
    let whole = (count * width) as i64;
    graph.reshape(&format!("{name}.joined"), &mixed, &[0, 0, whole])
}

/// The logits of a decoder: its own table of words once more, so that the file holds it once.
pub(super) fn tied_head(
    graph: &mut Operators,
    name: &str,
    x: &str,
    ids: &str,
    table: &str,
    (words, width): (usize, usize),
) -> String {
    let rows = graph.reshape(&format!("{name}.rows"), x, &[-1, width as i64]);
    let scores = graph.op_with("Gemm", name, &[&rows, table], vec![integer("transB", 1)]);
    let shape = graph.op("Shape", &format!("{name}.shape"), &[ids]);
    let words = graph.ints(&[words as i64]);
    let shape = graph.concat(&format!("{name}.target"), &[&shape, &words], 0);
    graph.op("Reshape", &format!("{name}.logits"), &[&scores, &shape])
}

/// The Gaussian error linear unit after Hendrycks and Gimpel (2016): x · Φ(x).
pub(super) fn gelu(graph: &mut Operators, name: &str, x: &str) -> String {
    let root = graph.float(std::f32::consts::SQRT_2);
    let (one, half) = (graph.float(1.0), graph.float(0.5));
    let scaled = graph.op("Div", &format!("{name}.scaled"), &[x, &root]);
    let erf = graph.op("Erf", &format!("{name}.erf"), &[&scaled]);
    let above = graph.op("Add", &format!("{name}.above"), &[&erf, &one]);
    let double = graph.op("Mul", &format!("{name}.double"), &[x, &above]);
    graph.op("Mul", name, &[&double, &half])
}

/// The same by the tangent that GPT-2 approximates it with: ½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))).
pub(super) fn gelu_tanh(graph: &mut Operators, name: &str, x: &str) -> String {
    let (three, one, half) = (graph.float(3.0), graph.float(1.0), graph.float(0.5));
    let (small, root) = (
        graph.float(0.044_715),
        graph.float((2.0 / std::f32::consts::PI).sqrt()),
    );
    let cube = graph.op("Pow", &format!("{name}.cube"), &[x, &three]);
    let cube = graph.op("Mul", &format!("{name}.small"), &[&cube, &small]);
    let sum = graph.op("Add", &format!("{name}.sum"), &[x, &cube]);
    let scaled = graph.op("Mul", &format!("{name}.scaled"), &[&sum, &root]);
    let tanh = graph.op("Tanh", &format!("{name}.tanh"), &[&scaled]);
    let above = graph.op("Add", &format!("{name}.above"), &[&tanh, &one]);
    let halved = graph.op("Mul", &format!("{name}.half"), &[x, &half]);
    graph.op("Mul", name, &[&halved, &above])
}
