//! Networks that an engine's roofs are measured with: a large product, a copy, and nodes that do next to nothing.
//!
//! They are built like those of the zoo, and are not in its list: they are no benchmark.

use crate::pb::ModelProto;
use crate::pb::tensor_proto::DataType;

use super::operators::Operators;
use super::weights::Fill;

/// The input of each.
pub const INPUT: &str = "x";

/// Rows times weights: `side`³ multiplications and as many additions. The second factor is a weight, as in
/// networks, so that an engine may arrange it once.
pub fn product(side: usize) -> ModelProto {
    let mut graph = Operators::default();
    let size = side.to_string();
    let dims = [size.as_str(), size.as_str()];
    let x = graph.input(INPUT, DataType::Float, &dims);
    let spread = Fill::Uniform {
        low: -0.5,
        high: 0.5,
    };
    let weight = graph.weight("weight", &[side, side], spread);
    let y = graph.op("MatMul", "product", &[&x, &weight]);
    graph.output(&y, "y", &dims);
    graph.finish("product").fill()
}

/// Reads so many floats and writes as many: the sum with one number. Engines leave a node away that copies
/// alone.
pub fn copy(elements: usize) -> ModelProto {
    let mut graph = Operators::default();
    let size = elements.to_string();
    let x = graph.input(INPUT, DataType::Float, &[&size]);
    let one = graph.weight("one", &[], Fill::Constant(1.0));
    let y = graph.op("Add", "copy", &[&x, &one]);
    graph.output(&y, "y", &[&size]);
    graph.finish("copy").fill()
}

/// So many sums of 16 floats, each of which needs the one before. The second summand is the input: a constant
/// would let an engine join two sums.
pub fn chain(nodes: usize) -> ModelProto {
    let mut graph = Operators::default();
    let x = graph.input(INPUT, DataType::Float, &["16"]);
    let mut y = x.clone();
    for place in 0..nodes {
        y = graph.op("Add", &format!("sum{place}"), &[&y, &x]);
    }
    graph.output(&y, "y", &["16"]);
    graph.finish("chain").fill()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect;

    #[test]
    fn they_are_what_they_are_counted_as() {
        let facts = inspect::summarize(&product(64), "product");
        assert_eq!(facts.macs, Some(64 * 64 * 64));
        assert_eq!(facts.parameters, 64 * 64);
        let nodes = |model: &ModelProto| model.graph.as_ref().unwrap().node.len();
        assert_eq!(nodes(&chain(7)), 7);
        assert_eq!(nodes(&copy(1 << 20)), 1);
        let output = inspect::outputs(&chain(3));
        assert_eq!(output, ["y"]);
    }
}
