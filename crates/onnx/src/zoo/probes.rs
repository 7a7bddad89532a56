//! Networks that are built to be limited by one thing: what tells the causes of slowness apart is tried on
//! them.
//!
//! They are found by name and stand in no list for people, since nobody wants to know how fast they run. Each
//! is one operator, or a few, in three sizes. Sizes are such that what streams memory does not fit into the
//! caches of usual processors, and what computes has a multiple of the operations per byte that any processor
//! needs to be busy.

use crate::pb::tensor_proto::DataType;

use super::draft::{Draft, integer, integers};
use super::operators::{Operators, STD};
use super::weights::Fill;
use super::{ZooModel, ZooNetwork};

/// What limits a network by its construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeLimit {
    /// Arithmetic.
    Compute,
    /// Moving bytes from and to memory.
    Memory,
    /// Starting nodes.
    Launch,
    /// None of them: each step waits for the one before, and a step is small.
    Neither,
}

impl ProbeLimit {
    /// The name for machines: `compute`, `memory`, `launch`, `neither`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Launch => "launch",
            Self::Neither => "neither",
        }
    }
}

/// Which network, with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeKind {
    /// Sum of two inputs of 1024 × so many elements.
    Add(usize),
    /// Square matrices of so many rows, one of them weights.
    Product(usize),
    /// So many sums of 16 elements, each of which needs the one before.
    Chain(usize),
    /// Windows of 3 × 3 over so many channels of so many rows and columns, each channel for itself.
    Depthwise(usize, usize),
    /// A row times a square matrix of weights.
    Vector(usize),
    /// So many rows of 65,536 elements.
    Softmax(usize),
    /// The first two dimensions swapped of so many × 512 × 64 elements, as between the parts of attention.
    Transpose(usize),
    /// So many steps of an LSTM with 32 hidden values.
    Lstm(usize),
}

/// A network for trying.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// The network: its name is `model.id`.
    pub model: ZooModel,
    /// `s`, `m` or `l`.
    pub size: &'static str,
    /// What limits it, by its construction, on an engine that runs node after node.
    pub bound: ProbeLimit,
}

/// Every one: three sizes of each.
///
/// * `probe-add`: 12 bytes move for one operation. 132, 264 and 528 MB in all.
/// * `probe-product`: n³ multiply-accumulates over 12 n² bytes: 85, 171 and 256 of them per byte.
/// * `probe-chain`: a node moves 192 bytes. Every second sum adds another input, so that no two sums can be
///   made one beforehand.
/// * `probe-depthwise`: 18 operations for 8 bytes, which is less than processors and cards need to be busy.
/// * `probe-vector`: two operations for each weight of 4 bytes: 67, 105 and 151 MB of weights.
/// * `probe-softmax`: a few operations for 8 bytes, more where an engine reads the rows more than once.
/// * `probe-transpose`: no operation at all; runs of 64 elements stay together.
/// * `probe-lstm`: 8,192 multiply-accumulates a step, whose weights stay in the first cache, and each step
///   needs the one before.
pub const PROBES: &[Probe] = &[
    probe("probe-add-s", "s", ProbeKind::Add(10_752)),
    probe("probe-add-m", "m", ProbeKind::Add(21_504)),
    probe("probe-add-l", "l", ProbeKind::Add(43_008)),
    probe("probe-product-s", "s", ProbeKind::Product(1024)),
    probe("probe-product-m", "m", ProbeKind::Product(2048)),
    probe("probe-product-l", "l", ProbeKind::Product(3072)),
    probe("probe-chain-s", "s", ProbeKind::Chain(100)),
    probe("probe-chain-m", "m", ProbeKind::Chain(500)),
    probe("probe-chain-l", "l", ProbeKind::Chain(1000)),
    probe("probe-depthwise-s", "s", ProbeKind::Depthwise(64, 448)),
    probe("probe-depthwise-m", "m", ProbeKind::Depthwise(128, 448)),
    probe("probe-depthwise-l", "l", ProbeKind::Depthwise(256, 448)),
    probe("probe-vector-s", "s", ProbeKind::Vector(4096)),
    probe("probe-vector-m", "m", ProbeKind::Vector(5120)),
    probe("probe-vector-l", "l", ProbeKind::Vector(6144)),
    probe("probe-softmax-s", "s", ProbeKind::Softmax(256)),
    probe("probe-softmax-m", "m", ProbeKind::Softmax(512)),
    probe("probe-softmax-l", "l", ProbeKind::Softmax(1024)),
    probe("probe-transpose-s", "s", ProbeKind::Transpose(512)),
    probe("probe-transpose-m", "m", ProbeKind::Transpose(1024)),
    probe("probe-transpose-l", "l", ProbeKind::Transpose(2048)),
    probe("probe-lstm-s", "s", ProbeKind::Lstm(500)),
    probe("probe-lstm-m", "m", ProbeKind::Lstm(1000)),
    probe("probe-lstm-l", "l", ProbeKind::Lstm(2000)),
];

const fn probe(id: &'static str, size: &'static str, kind: ProbeKind) -> Probe {
    let (title, bound) = match kind {
        ProbeKind::Add(_) => (
            "Sum of two inputs, built to be memory-bound",
            ProbeLimit::Memory,
        ),
        ProbeKind::Product(_) => (
            "Matrix product, built to be compute-bound",
            ProbeLimit::Compute,
        ),
        ProbeKind::Chain(_) => (
            "Small sums in a row, built to be launch-bound",
            ProbeLimit::Launch,
        ),
        ProbeKind::Depthwise(..) => (
            "Depthwise convolution, built to be memory-bound",
            ProbeLimit::Memory,
        ),
        ProbeKind::Vector(_) => (
            "Matrix × vector, built to be memory-bound",
            ProbeLimit::Memory,
        ),
        ProbeKind::Softmax(_) => (
            "Softmax over long rows, built to be memory-bound",
            ProbeLimit::Memory,
        ),
        ProbeKind::Transpose(_) => ("Transpose, built to be memory-bound", ProbeLimit::Memory),
        ProbeKind::Lstm(_) => (
            "LSTM step by step, built to wait for itself",
            ProbeLimit::Neither,
        ),
    };
    Probe {
        model: ZooModel {
            id,
            title,
            network: ZooNetwork::Probe(kind),
        },
        size,
        bound,
    }
}

/// Elements of a row of the softmax.
const ROW: usize = 65_536;
/// Elements that stay together in the transpose, and rows of them.
const TOGETHER: [usize; 2] = [512, 64];
/// Values that the LSTM keeps, and values of a step of its input.
const HIDDEN: usize = 32;

/// Plans the network.
pub(super) fn draft(name: &str, kind: ProbeKind) -> Draft {
    let mut graph = Operators::default();
    match kind {
        ProbeKind::Add(width) => {
            let dims = ["batch", "1024", &width.to_string()];
            let [x, y] = ["x", "y"].map(|name| graph.input(name, DataType::Float, &dims));
            let sum = graph.op("Add", "add", &[&x, &y]);
            graph.output(&sum, "sum", &dims);
        }
        ProbeKind::Product(rows) => product(&mut graph, rows, rows),
        ProbeKind::Vector(rows) => product(&mut graph, 1, rows),
        ProbeKind::Chain(length) => chain(&mut graph, length),
        ProbeKind::Depthwise(channels, side) => depthwise(&mut graph, channels, side),
        ProbeKind::Softmax(rows) => {
            let dims = ["batch", &rows.to_string(), &ROW.to_string()];
            let x = graph.input("x", DataType::Float, &dims);
            let axis = vec![integer("axis", -1)];
            let shares = graph.op_with("Softmax", "softmax", &[&x], axis);
            graph.output(&shares, "shares", &dims);
        }
        ProbeKind::Transpose(rows) => {
            let [rows, middle, inner] = [rows, TOGETHER[0], TOGETHER[1]].map(|dim| dim.to_string());
            let dims = ["batch", rows.as_str(), &middle, &inner];
            let x = graph.input("x", DataType::Float, &dims);
            let swapped = graph.transpose("transpose", &x, &[0, 2, 1, 3]);
            graph.output(&swapped, "swapped", &["batch", &middle, &rows, &inner]);
        }
        ProbeKind::Lstm(steps) => lstm(&mut graph, steps),
    }
    graph.finish(name)
}

fn product(graph: &mut Operators, rows: usize, size: usize) {
    let dims = ["batch", &rows.to_string(), &size.to_string()];
    let x = graph.input("x", DataType::Float, &dims);
    let weight = graph.weight("weight", &[size, size], Fill::Normal { std: STD });
    let product = graph.op("MatMul", "product", &[&x, &weight]);
    graph.output(&product, "product", &dims);
}

fn chain(graph: &mut Operators, length: usize) {
    let dims = ["batch", "16"];
    let inputs = ["x", "even", "odd"].map(|name| graph.input(name, DataType::Float, &dims));
    let [mut x, even, odd] = inputs;
    for step in 0..length {
        let other = if step % 2 == 0 { &even } else { &odd };
        x = graph.op("Add", &format!("add.{step}"), &[&x, other]);
    }
    graph.output(&x, "sum", &dims);
}

fn depthwise(graph: &mut Operators, channels: usize, side: usize) {
    let [width, side] = [channels, side].map(|dim| dim.to_string());
    let dims = ["batch", width.as_str(), &side, &side];
    let x = graph.input("x", DataType::Float, &dims);
    let fill = Fill::Normal { std: 1.0 / 3.0 };
    let weight = graph.weight("weight", &[channels, 1, 3, 3], fill);
    let attributes = vec![
        integers("kernel_shape", &[3; 2]),
        integers("pads", &[1; 4]),
        integer("group", channels as i64),
    ];
    let y = graph.op_with("Conv", "depthwise", &[&x, &weight], attributes);
    graph.output(&y, "y", &dims);
}

fn lstm(graph: &mut Operators, steps: usize) {
    let [count, hidden] = [steps, HIDDEN].map(|dim| dim.to_string());
    let x = graph.input("x", DataType::Float, &["batch", &count, &hidden]);
    let x = graph.transpose("steps", &x, &[1, 0, 2]);
    let fill = Fill::Normal { std: 0.1 };
    let dims = [1, 4 * HIDDEN, HIDDEN];
    let [weight, again] = ["weight", "recurrence"].map(|name| graph.weight(name, &dims, fill));
    let all = graph.op_with(
        "LSTM",
        "lstm",
        &[&x, &weight, &again],
        vec![integer("hidden_size", HIDDEN as i64)],
    );
    graph.output(&all, "hidden", &[&count, "1", "batch", &hidden]);
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_graph;
    use super::super::{find, outline};
    use super::*;
    use crate::inspect;

    #[test]
    fn each_is_found_by_name_in_three_sizes_and_stands_in_no_list() {
        for family in PROBES.chunks(3) {
            let sizes: Vec<&str> = family.iter().map(|probe| probe.size).collect();
            assert_eq!(sizes, ["s", "m", "l"]);
            for probe in family {
                let (name, size) = probe.model.id.rsplit_once('-').unwrap();
                assert_eq!((name, size), (name, probe.size));
                assert_eq!(probe.bound, family[0].bound);
                assert_eq!(find(probe.model.id), Some(&probe.model));
                assert!(probe.model.is_probe());
                let listed = super::super::ALL.iter();
                assert!(listed.clone().all(|model| model.id != probe.model.id));
            }
        }
    }

    #[test]
    fn graphs_are_whole_and_their_cost_is_known() {
        for probe in PROBES {
            let ZooNetwork::Probe(kind) = probe.model.network else {
                panic!("{}", probe.model.id);
            };
            check_graph(draft(probe.model.id, kind));
            let summary = inspect::summarize(&outline(&probe.model), probe.model.id);
            // Multiply-accumulates of networks are those of convolutions and products alone.
            let is_lstm = matches!(kind, ProbeKind::Lstm(_));
            assert_eq!(summary.macs.is_none(), is_lstm, "{:?}", summary.notes);
            assert_eq!(summary.notes.is_empty(), !is_lstm, "{:?}", summary.notes);
        }
    }
}
