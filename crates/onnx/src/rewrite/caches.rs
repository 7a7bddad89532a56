//! Finds the inputs for past keys and values of a decoder, with the outputs in which they come back.
//!
//! `fp16` makes both 16-bit floats: what comes out of one run is bound as input of the next as it is, and takes
//! half the memory.

use std::collections::BTreeSet;

use crate::pb::{GraphProto, ValueInfoProto};

use super::parts::FLOAT;
use crate::proto;

/// What the inputs for keys and values begin with.
const PAST: &str = "past";
/// What stands in its place in the names of outputs.
const PRESENT: &str = "present";

/// The names of both, where each input has its output.
pub(super) fn find(graph: &GraphProto) -> BTreeSet<String> {
    let pairs = graph
        .input
        .iter()
        .filter(|input| is_cache(input))
        .map(|input| {
            let name = &input.name;
            let wanted = ["past_key_values", PAST].map(|word| name.replacen(word, PRESENT, 1));
            let mut outputs = graph.output.iter();
            let output = outputs.find(|output| wanted.contains(&output.name) && is_float(output));
            Some([name.clone(), output?.name.clone()])
        });
    // One that does not come back would have to be converted in every step after all.
    let pairs: Option<Vec<[String; 2]>> = pairs.collect();
    pairs.into_iter().flatten().flatten().collect()
}

fn is_cache(input: &ValueInfoProto) -> bool {
    let rank = proto::tensor_type(input)
        .and_then(|tensor| tensor.shape.as_ref())
        .map_or(0, |shape| shape.dim.len());
    input.name.starts_with(PAST) && is_float(input) && rank >= 3
}

fn is_float(value: &ValueInfoProto) -> bool {
    proto::tensor_type(value).is_some_and(|tensor| tensor.elem_type == FLOAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::port;
    use crate::pb::tensor_proto::DataType;

    #[test]
    fn caches_are_pairs() {
        let value = |name: &str| port(name, DataType::Float, &["batch", "2", "past", "4"]);
        let mut graph = GraphProto {
            input: vec![value("x"), value("past_key_values.0.key")],
            output: vec![value("y"), value("present.0.key")],
            ..Default::default()
        };
        let found: Vec<String> = find(&graph).into_iter().collect();
        assert_eq!(found, ["past_key_values.0.key", "present.0.key"]);
        graph.input.push(value("past.1.key"));
        assert!(find(&graph).is_empty());
        graph.output.push(value("present.1.key"));
        assert_eq!(find(&graph).len(), 4);
    }
}
