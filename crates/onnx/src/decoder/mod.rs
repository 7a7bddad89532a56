//! What a decoder with past key/values is fed, so that tokens can be generated with it one by one.
//!
//! A decoder takes tokens and the keys and values of all tokens before them, and gives scores and the keys and
//! values with the new ones behind. Names are those that optimum and transformers export. The protobuf comes
//! from `source`; engines bind inputs and outputs by what is found here.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::inspect;
use super::pb::{GraphProto, ModelProto};
use super::proto;
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::tensor::{ElementType, TensorSpec};

/// What the inputs for keys and values begin with.
const PAST: &str = "past";
/// Longest chain of nodes between an input of indices and the table that they index.
const MOST_STEPS: usize = 8;

/// Name and element type of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FedInput {
    pub name: String,
    pub element: ElementType,
}

/// A dimension of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheDim {
    Batch,
    /// The number of tokens before.
    Length,
    /// A fixed size: heads, values of a head.
    Fixed(usize),
}

/// Keys or values of one layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// The input: those of the tokens before.
    pub past: String,
    /// The output: those with the new tokens behind.
    pub present: String,
    pub element: ElementType,
    /// Their dimensions.
    pub dims: Vec<CacheDim>,
}

impl Cache {
    /// Their sizes for a batch, after so many tokens.
    pub fn sizes(&self, batch: usize, length: usize) -> Vec<usize> {
        let sizes = self.dims.iter().map(|dim| match dim {
            CacheDim::Batch => batch,
            CacheDim::Length => length,
            CacheDim::Fixed(size) => *size,
        });
        sizes.collect()
    }

    /// The place of the dimension that grows.
    pub fn axis(&self) -> usize {
        let is_length = |dim: &CacheDim| *dim == CacheDim::Length;
        self.dims.iter().position(is_length).unwrap_or_default()
    }
}

/// What a decoder with past key/values is fed and gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decoder {
    /// The tokens: batch × sequence.
    pub tokens: FedInput,
    /// Which tokens count, those before among them: batch × (past + sequence).
    pub mask: Option<FedInput>,
    /// Where the tokens stand: batch × sequence.
    pub positions: Option<FedInput>,
    /// Whether there are tokens before: one value.
    pub uses_cache: Option<FedInput>,
    /// Keys and values, layer by layer.
    pub caches: Vec<Cache>,
    /// The output with a score for each token of the vocabulary: batch × sequence × vocabulary.
    pub scores: String,
    /// Tokens of the vocabulary.
    pub vocabulary: usize,
    /// Positions that the network has, where it has a table of them.
    pub most_positions: Option<usize>,
}

/// Why tokens cannot be generated with a network.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum DecoderError {
    /// Nothing to keep keys and values in.
    #[error(
        "task=generate needs past key/values: the network has no inputs called past_key_values…; its inputs are \
         {0}. Export it as a decoder with past (optimum: text-generation-with-past), or leave task= out"
    )]
    NoPast(String),
    /// No tokens.
    #[error(
        "task=generate needs an input input_ids of tokens, batch×sequence; the network has {0}"
    )]
    NoTokens(String),
    /// Keys and values go in and do not come out.
    #[error(
        "task=generate needs an output for each input of keys and values: {0} has no output {1}; export the \
         decoder with its present key/values as outputs"
    )]
    NoPresent(String, String),
    /// The shape of keys or values does not show where they grow.
    #[error(
        "task=generate needs keys and values with two open dimensions, batch and length, and fixed ones beside: \
         {0} is {1}"
    )]
    Shape(String, String),
    /// An input that nothing is known of.
    #[error(
        "task=generate does not know what to feed the input {0} ({1}); it knows input_ids, attention_mask, \
         position_ids, use_cache_branch and past_key_values…"
    )]
    Unknown(String, String),
    /// No scores.
    #[error(
        "task=generate needs an output of scores, batch×sequence×vocabulary in fp32, called logits; the network \
         has {0}"
    )]
    NoScores(String),
    /// The inputs cannot be fed at all.
    #[error(transparent)]
    Inputs(#[from] inspect::InspectError),
}

impl Decoder {
    /// What a network is fed as a decoder; why not where it is none.
    pub fn find(model: &ModelProto) -> Result<Self, DecoderError> {
        let graph = model.graph.as_ref();
        let inputs = inspect::inputs(model)?;
        let outputs = inspect::output_ports(model);
        if !inputs.iter().any(is_past) {
            return Err(DecoderError::NoPast(names(&inputs)));
        }
        let find = |wanted: &str| inputs.iter().find(|port| port.name == wanted);
        let tokens = find("input_ids").filter(|port| is_index(port) && port.dims.len() == 2);
        let tokens = tokens.ok_or_else(|| DecoderError::NoTokens(names(&inputs)))?;
        let scores = scores(&outputs).ok_or_else(|| DecoderError::NoScores(names(&outputs)))?;
        let table = |input: &str| graph.and_then(|graph| table_rows(graph, input));
        let stated = scores.dims.last().and_then(fixed);
        let known = [table(&tokens.name), stated];
        let vocabulary = known.into_iter().flatten().min();
        let vocabulary = vocabulary.ok_or_else(|| DecoderError::NoScores(names(&outputs)))?;
        let mut decoder = Self {
            tokens: fed(tokens),
            mask: None,
            positions: None,
            uses_cache: None,
            caches: Vec::new(),
            scores: scores.name.clone(),
            vocabulary,
            most_positions: table("position_ids"),
        };
        for port in inputs.iter().filter(|port| port.name != tokens.name) {
            let unknown = || DecoderError::Unknown(port.name.clone(), port.describe());
            let rank = port.dims.len();
            match port.name.as_str() {
                "attention_mask" if rank == 2 => decoder.mask = Some(fed(port)),
                "position_ids" if rank == 2 && is_index(port) => {
                    decoder.positions = Some(fed(port));
                }
                "use_cache_branch" if rank == 1 && port.element == ElementType::Bool => {
                    decoder.uses_cache = Some(fed(port));
                }
                _ if is_past(port) => decoder.caches.push(cache(port, &outputs)?),
                _ => return Err(unknown()),
            }
        }
        Ok(decoder)
    }

    /// The inputs of one step: so many tokens of each sequence, behind so many that it has seen.
    pub fn inputs(&self, batch: usize, sequence: usize, past: usize) -> Vec<TensorSpec> {
        let spec = |fed: &FedInput, dims: Vec<usize>| TensorSpec::new(&fed.name, fed.element, dims);
        let mut specs = vec![spec(&self.tokens, vec![batch, sequence])];
        let mask = self.mask.as_ref();
        specs.extend(mask.map(|fed| spec(fed, vec![batch, past + sequence])));
        let positions = self.positions.as_ref();
        specs.extend(positions.map(|fed| spec(fed, vec![batch, sequence])));
        specs.extend(self.uses_cache.as_ref().map(|fed| spec(fed, vec![1])));
        let caches = self.caches.iter();
        specs
            .extend(caches.map(|cache| {
                TensorSpec::new(&cache.past, cache.element, cache.sizes(batch, past))
            }));
        specs
    }

    /// Bytes of all keys and values of a batch after so many tokens.
    pub fn cache_bytes(&self, batch: usize, length: usize) -> u64 {
        let bytes = self.caches.iter().map(|cache| {
            proto::elements(&cache.sizes(batch, length)).saturating_mul(cache.element.size())
        });
        bytes.fold(0, u64::saturating_add)
    }
}

fn fed(port: &Port) -> FedInput {
    FedInput {
        name: port.name.clone(),
        element: port.element,
    }
}

fn names(ports: &[Port]) -> String {
    let named = ports.iter().take(8).map(|port| port.name.as_str());
    let mut named: Vec<&str> = named.collect();
    if ports.len() > named.len() {
        named.push("…");
    }
    named.join(", ")
}

fn fixed(dim: &Dim) -> Option<usize> {
    match dim {
        Dim::Fixed(size) => Some(*size),
        Dim::Named(_) => None,
    }
}

fn is_index(port: &Port) -> bool {
    matches!(port.element, ElementType::I64 | ElementType::I32)
}

fn is_float(element: ElementType) -> bool {
    matches!(
        element,
        ElementType::F32 | ElementType::F16 | ElementType::F64
    )
}

fn is_past(port: &Port) -> bool {
    port.name.starts_with(PAST) && is_float(port.element) && port.dims.len() >= 3
}

/// The output of scores: the one that is called so, or the only one with three dimensions and no cache.
fn scores(outputs: &[Port]) -> Option<&Port> {
    let is_scores = |port: &&Port| is_float(port.element) && port.dims.len() == 3;
    let named = outputs.iter().filter(is_scores);
    named
        .clone()
        .find(|port| port.name == "logits")
        .or_else(|| {
            let mut others = named.filter(|port| !port.name.starts_with("present"));
            others.next().filter(|_| others.next().is_none())
        })
}

/// Keys or values of a layer, with the output in which they come back.
fn cache(port: &Port, outputs: &[Port]) -> Result<Cache, DecoderError> {
    let name = &port.name;
    let wanted = [
        name.replacen("past_key_values", "present", 1),
        name.replacen(PAST, "present", 1),
    ];
    let present = outputs.iter().find(|output| wanted.contains(&output.name));
    let [first, _] = &wanted;
    let present = present.ok_or_else(|| DecoderError::NoPresent(name.clone(), first.clone()))?;
    let open: Vec<usize> = (0..port.dims.len())
        .filter(|place| port.dims.get(*place).and_then(fixed).is_none())
        .collect();
    // Where the batch is written into the file, one dimension is left open, and that is the length.
    let batch = match open[..] {
        [batch, _] => Some(batch),
        [_] => None,
        _ => return Err(DecoderError::Shape(name.clone(), port.describe())),
    };
    let dims = port.dims.iter().enumerate().map(|(place, dim)| match dim {
        Dim::Fixed(size) => CacheDim::Fixed(*size),
        Dim::Named(_) if Some(place) == batch => CacheDim::Batch,
        Dim::Named(_) => CacheDim::Length,
    });
    Ok(Cache {
        past: name.clone(),
        present: present.name.clone(),
        element: port.element,
        dims: dims.collect(),
    })
}

/// Rows of the table that an input indexes, by way of nodes that only change its type or shape.
fn table_rows(graph: &GraphProto, input: &str) -> Option<usize> {
    let mut graphs = vec![graph];
    let mut next = 0;
    // Branches of a merged decoder see the names of the graph around them.
    while let Some(one) = graphs.get(next) {
        let attributes = one.node.iter().flat_map(|node| &node.attribute);
        let inner: Vec<&GraphProto> = attributes.filter_map(|found| found.g.as_ref()).collect();
        graphs.extend(inner);
        next += 1;
    }
    let nodes = || graphs.iter().flat_map(|graph| &graph.node);
    let table = |name: &str| {
        let mut constants = graphs.iter().flat_map(|graph| proto::constants(graph));
        constants.find(|(known, _)| *known == name)
    };
    let mut reached = BTreeSet::from([input]);
    for _ in 0..MOST_STEPS {
        for node in nodes().filter(|node| node.op_type == "Gather") {
            let is_indexed = proto::input(node, 1).is_some_and(|name| reached.contains(name));
            let rows = proto::input(node, 0).filter(|_| is_indexed).and_then(table);
            if let Some((_, tensor)) = rows {
                return proto::dims(tensor)?.first().copied();
            }
        }
        let handed_on = nodes().filter(|node| {
            let hands_on = ["Cast", "Reshape", "Identity", "Unsqueeze", "Squeeze"];
            let is_fed = proto::input(node, 0).is_some_and(|name| reached.contains(name));
            is_fed && hands_on.contains(&node.op_type.as_str())
        });
        let names = handed_on.flat_map(|node| &node.output).map(String::as_str);
        let names: Vec<&str> = names.collect();
        let before = reached.len();
        reached.extend(names);
        if reached.len() == before {
            return None;
        }
    }
    None
}

#[cfg(any(test, feature = "testing"))]
pub mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_is_found_by_the_names_of_its_inputs() {
        let decoder = Decoder::find(&testing::tiny()).unwrap();
        assert_eq!(decoder.vocabulary, testing::VOCABULARY);
        assert_eq!(decoder.most_positions, Some(testing::POSITIONS));
        assert_eq!(decoder.scores, "logits");
        let shapes: Vec<(String, Vec<usize>)> = (decoder.inputs(3, 1, 7).into_iter())
            .map(|spec| (spec.name, spec.dims))
            .collect();
        let named = |name: &str, dims: &[usize]| (name.to_owned(), dims.to_vec());
        assert_eq!(
            shapes[..4],
            [
                named("input_ids", &[3, 1]),
                named("attention_mask", &[3, 8]),
                named("position_ids", &[3, 1]),
                named("past_key_values.0.key", &[3, 2, 7, 4]),
            ]
        );
        // Two layers of keys and values: 2 × 2 × batch × heads × length × values of a head × 4 bytes.
        assert_eq!(decoder.cache_bytes(3, 7), 4 * 3 * 2 * 7 * 4 * 4);
        assert_eq!(decoder.caches[0].axis(), 2);
    }

    #[test]
    fn what_is_missing_is_named() {
        let why = |change: &dyn Fn(&mut GraphProto)| {
            let mut model = testing::tiny();
            change(model.graph.as_mut().unwrap());
            Decoder::find(&model).unwrap_err().to_string()
        };
        let none = why(&|graph| graph.input.retain(|input| !is_past_name(&input.name)));
        assert!(none.contains("no inputs called past_key_values"), "{none}");
        assert!(none.contains("input_ids, attention_mask"), "{none}");
        let lost = why(&|graph| {
            graph
                .output
                .retain(|output| output.name != "present.1.value");
        });
        assert!(
            lost.contains("past_key_values.1.value has no output present.1.value"),
            "{lost}"
        );
        let odd = why(&|graph| "encoder_states".clone_into(&mut graph.input[1].name));
        assert!(odd.contains("encoder_states (int64 batch×total)"), "{odd}");
        let mute = why(&|graph| graph.output.retain(|output| output.name != "logits"));
        assert!(
            mute.contains("called logits; the network has present.0.key"),
            "{mute}"
        );
        let tokens = why(&|graph| "ids".clone_into(&mut graph.input[0].name));
        assert!(tokens.contains("needs an input input_ids"), "{tokens}");
    }

    #[test]
    fn the_file_of_the_integration_tests_is_this_decoder() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/onnx/decoder.onnx"
        );
        let made = prost::Message::encode_to_vec(&testing::tiny());
        if std::env::var_os("POWERBAND_RENEW_NETWORKS").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        assert!(
            std::fs::read(path).unwrap() == made,
            "renew it with POWERBAND_RENEW_NETWORKS=1"
        );
    }

    fn is_past_name(name: &str) -> bool {
        name.starts_with(PAST)
    }
}
