//! Graphs built by hand, graphs that ONNX Runtime prepared, and random ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::pb::{GraphProto, TensorProto, ValueInfoProto};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::*;
use crate::{file, ort_profile};

/// A node: its operator with the domain, its name, its inputs and its outputs, by spaces.
fn node(op: &str, name: &str, inputs: &str, outputs: &str) -> NodeProto {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let (domain, op_type) = op.rsplit_once('.').unwrap_or(("", op));
    NodeProto {
        op_type: op_type.to_owned(),
        domain: domain.to_owned(),
        name: name.to_owned(),
        input: words(inputs),
        output: words(outputs),
        ..Default::default()
    }
}

/// A model of those nodes; what starts with `w` is stored.
fn model(nodes: Vec<NodeProto>) -> ModelProto {
    let read: BTreeSet<&String> = nodes.iter().flat_map(|node| &node.input).collect();
    let stored = read.into_iter().filter(|name| name.starts_with('w'));
    let stored = stored.map(|name| TensorProto {
        name: name.clone(),
        ..Default::default()
    });
    let graph = GraphProto {
        initializer: stored.collect(),
        node: nodes,
        ..Default::default()
    };
    ModelProto {
        graph: Some(graph),
        ..Default::default()
    }
}

/// `FusedConv c <- c b`, one line for each node that stands for others, then what is gone and added.
fn lines(fusions: &Fusions) -> Vec<String> {
    let names = |origins: &[NamedNode]| {
        let names: Vec<&str> = origins.iter().map(|origin| origin.name.as_str()).collect();
        names.join(" ")
    };
    let mut lines: Vec<String> = fusions
        .became
        .iter()
        .map(|became| format!("{} {} <- {}", became.op, became.node, names(&became.from)))
        .collect();
    lines.push(format!("gone: {}", names(&fusions.gone)));
    lines.push(format!("added: {}", names(&fusions.added)));
    lines
}

fn compared(original: Vec<NodeProto>, prepared: Vec<NodeProto>) -> Vec<String> {
    lines(&compare(&model(original), &model(prepared)))
}

fn conv_relu() -> Vec<NodeProto> {
    vec![
        node("Conv", "c", "x w1", "c.out"),
        node("BatchNormalization", "b", "c.out w2 w3 w4 w5", "b.out"),
        node("Relu", "r", "b.out", "r.out"),
        node("Softmax", "s", "r.out", "s.out"),
    ]
}

#[test]
fn a_graph_that_stays_is_unchanged() {
    let graph = model(conv_relu());
    let fusions = compare(&graph, &graph);
    assert_eq!(fusions.unchanged(), 4);
    assert_eq!(fusions.patterns(), []);
}

#[test]
fn what_is_folded_in_takes_the_last_name() {
    let told = compared(
        conv_relu(),
        vec![
            node("com.microsoft.FusedConv", "c", "x w6 w7", "r.out"),
            node("Softmax", "s", "r.out", "s.out"),
        ],
    );
    let expect = [
        "FusedConv c <- c b r",
        "Softmax s <- s",
        "gone: ",
        "added: ",
    ];
    assert_eq!(told, expect);
}

#[test]
fn blocks_of_channels_are_seen_through_new_names_of_tensors() {
    let told = compared(
        vec![
            node("Conv", "c", "x w1", "c.out"),
            node("Conv", "d", "x w2", "d.out"),
            node("Add", "a", "d.out c.out", "a.out"),
            node("Relu", "r", "a.out", "r.out"),
            node("Conv", "e", "r.out w3", "e.out"),
        ],
        vec![
            node(
                "com.microsoft.nchwc.Conv",
                "c.out_nchwc",
                "x w4",
                "reorder_0",
            ),
            node(
                "com.microsoft.nchwc.Conv",
                "d.out_nchwc",
                "x w5 w6 reorder_0",
                "reorder_1",
            ),
            node(
                "com.microsoft.nchwc.Conv",
                "e.out_nchwc",
                "reorder_1 w7",
                "reorder_2",
            ),
            node(
                "com.microsoft.nchwc.ReorderOutput",
                "o",
                "reorder_2",
                "e.out",
            ),
        ],
    );
    let expect = [
        "Conv (NCHWc) c.out_nchwc <- c",
        "Conv (NCHWc) d.out_nchwc <- d a r",
        "Conv (NCHWc) e.out_nchwc <- e",
        "gone: ",
        "added: o",
    ];
    assert_eq!(told, expect);
}

#[test]
fn what_does_nothing_and_what_is_known_beforehand_is_gone() {
    let told = compared(
        vec![
            node("Shape", "shape", "x", "shape.out"),
            node("Gather", "gather", "shape.out w1", "gather.out"),
            node("Identity", "i", "x", "i.out"),
            node("Reshape", "v", "i.out gather.out", "v.out"),
            node("Dropout", "d", "v.out", "d.out"),
            node("Relu", "r", "d.out", "r.out"),
            node("Transpose", "t", "w2", "t.out"),
            node("MatMul", "m", "r.out t.out", "m.out"),
            node("Identity", "last", "m.out", "last.out"),
        ],
        vec![
            node("Reshape", "v", "x w9", "v.out"),
            node("Relu", "r", "v.out", "r.out"),
            node("MatMul", "m", "r.out w8", "last.out"),
        ],
    );
    let expect = [
        "Reshape v <- v",
        "Relu r <- r",
        "MatMul m <- m",
        "gone: shape gather i d t last",
        "added: ",
    ];
    assert_eq!(told, expect);
}

#[test]
fn a_second_copy_is_gone_and_a_needless_view_too() {
    let told = compared(
        vec![
            node("Relu", "r1", "x", "r1.out"),
            node("Relu", "r2", "x", "r2.out"),
            node("Reshape", "v", "r2.out w1", "v.out"),
            node("MatMul", "m1", "r1.out w2", "m1.out"),
            node("MatMul", "m2", "v.out w3", "m2.out"),
        ],
        vec![
            node("Relu", "r1", "x", "r1.out"),
            node("MatMul", "m1", "r1.out w2", "m1.out"),
            node("MatMul", "m2", "r1.out w3", "m2.out"),
        ],
    );
    // The view reads the copy, which goes by another name now; it is counted to its reader.
    assert_eq!(told[3..], ["gone: r2", "added: "]);
    let told = compared(
        vec![
            node("Reshape", "v", "x w1", "v.out"),
            node("MatMul", "m", "v.out w2", "m.out"),
        ],
        vec![node("MatMul", "m", "x w2", "m.out")],
    );
    assert_eq!(told, ["MatMul m <- m", "gone: v", "added: "]);
}

#[test]
fn nodes_without_names_are_told_by_their_outputs() {
    let told = compared(
        vec![node("Conv", "", "x w1", "a"), node("Relu", "", "a", "b")],
        vec![node("FusedConv", "", "x w1", "b")],
    );
    assert_eq!(told, ["FusedConv b <- a b", "gone: ", "added: "]);
}

#[test]
fn empty_and_damaged_graphs_are_compared() {
    let nothing = ModelProto::default();
    assert_eq!(compare(&nothing, &nothing), Fusions::default());
    let circle = || {
        model(vec![
            node("Identity", "a", "q", "p"),
            node("Identity", "b", "p", "q"),
            node("Relu", "c", "q", "c.out"),
            node("Relu", "c", "c.out", "c.out"),
            node("Sink", "", "", ""),
        ])
    };
    assert_eq!(accounted(&compare(&circle(), &model(conv_relu()))), 5);
    assert_eq!(accounted(&compare(&model(conv_relu()), &circle())), 4);
    assert_eq!(accounted(&compare(&circle(), &circle())), 5);
}

/// How many nodes of the file the result speaks of.
fn accounted(fusions: &Fusions) -> usize {
    let became: usize = fusions.became.iter().map(|became| became.from.len()).sum();
    became + fusions.gone.len()
}

/// What the patterns say of a file of `tests/fixtures/ort/`, which ONNX Runtime prepared.
fn told_of(original: &str, prepared: &str) -> (Vec<String>, Fusions) {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ort");
    let load = |name: &str| file::load(&folder.join(name)).unwrap();
    let original = load(original);
    let fusions = compare(&original, &load(prepared));
    assert_eq!(accounted(&fusions), proto_nodes(&original));
    let told = fusions.patterns().iter().map(ToString::to_string).collect();
    (told, fusions)
}

fn proto_nodes(model: &ModelProto) -> usize {
    crate::proto::nodes(model).len()
}

#[test]
fn real_block_in_floats() {
    let (told, _) = told_of("block.onnx", "block.extended.onnx");
    let expect = [
        "3 × Conv + BatchNormalization + Relu → FusedConv",
        "1 × Conv + BatchNormalization → Conv",
        "1 × Dropout → nothing",
    ];
    assert_eq!(told, expect);
    let (told, fusions) = told_of("block.onnx", "block.all.onnx");
    let expect = [
        "3 × Conv + BatchNormalization + Relu → Conv (NCHWc)",
        "1 × Conv + BatchNormalization + Add + Relu → Conv (NCHWc)",
        "1 × Dropout → nothing",
        "1 × GlobalAveragePool → GlobalAveragePool (NCHWc)",
        "1 × MaxPool → MaxPool (NCHWc)",
    ];
    assert_eq!(told, expect);
    assert_eq!(fusions.unchanged(), 2);
    assert_eq!(fusions.added_by_op()["ReorderOutput"], 1);
}

#[test]
fn a_profile_calls_nodes_what_the_prepared_graph_does() {
    let (_, fusions) = told_of("block.onnx", "block.all.onnx");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ort");
    let profile = ort_profile::read(&folder.join("block.profile.json"), 0).unwrap();
    let became = fusions.became.iter().map(|became| &became.node);
    let added = fusions.added.iter().map(|origin| &origin.name);
    let known: BTreeSet<&String> = became.chain(added).collect();
    let ran: BTreeSet<&String> = profile.nodes.iter().map(|node| &node.name).collect();
    assert_eq!(ran, known);
}

#[test]
fn real_block_in_integers() {
    let (told, fusions) = told_of("block_int8.onnx", "block_int8.all.onnx");
    let expect = [
        "4 × DequantizeLinear + Conv + QuantizeLinear → QLinearConv (NHWC)",
        "1 × DequantizeLinear + Flatten + QuantizeLinear → Flatten",
        "1 × DequantizeLinear + Gemm → QGemm",
        "1 × DequantizeLinear + GlobalAveragePool + QuantizeLinear → QLinearGlobalAveragePool (NHWC)",
        "1 × DequantizeLinear + MaxPool + QuantizeLinear → NhwcMaxPool",
        "1 × DequantizeLinear + QuantizeLinear + Add → QLinearAdd",
        "1 × Dropout → nothing",
    ];
    assert_eq!(told, expect);
    assert_eq!(fusions.added_by_op()["Transpose"], 2);
    let (told, _) = told_of("block_int8.onnx", "block_int8.extended.onnx");
    assert_eq!(
        told[0],
        "4 × DequantizeLinear + Conv + QuantizeLinear → QLinearConv"
    );
}

#[test]
fn real_encoder() {
    let (told, fusions) = told_of("encoder.onnx", "encoder.all.onnx");
    let expect = [
        "6 × MatMul + Add → Gemm",
        "2 × Add + ReduceMean + Sub + Pow + Sqrt + Div + Mul → SkipLayerNormalization",
        "2 × Identity → nothing",
        "1 × Div + Erf + Add + Mul → Gelu",
        "1 × MatMul + Div → FusedMatMul",
    ];
    assert_eq!(told, expect);
    assert_eq!(fusions.added_by_op()["Reshape"], 8);
}

#[test]
fn a_real_encoder_without_names_of_nodes_reads_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ort");
    let compared = |strip: bool| {
        let load = |name: &str| {
            let mut model = file::load(&folder.join(name)).unwrap();
            for node in &mut model.graph.as_mut().unwrap().node {
                if strip {
                    node.name.clear();
                }
            }
            model
        };
        let fusions = compare(&load("encoder.onnx"), &load("encoder.all.onnx"));
        (fusions.patterns(), fusions.added_by_op())
    };
    assert_eq!(compared(true), compared(false));
}

/// A network of random nodes, each reading tensors that are there already.
fn random_nodes(random: &mut Xoshiro256PlusPlus, count: usize) -> Vec<NodeProto> {
    const OPS: [&str; 12] = [
        "Conv",
        "Relu",
        "Add",
        "Identity",
        "Cast",
        "Transpose",
        "Shape",
        "Constant",
        "QuantizeLinear",
        "DequantizeLinear",
        "BatchNormalization",
        "Concat",
    ];
    let mut tensors = vec!["x".to_owned(), "w1".to_owned(), "w2".to_owned()];
    let mut nodes = Vec::new();
    for index in 0..count {
        let op = OPS[below(random, OPS.len())];
        let inputs = if op == "Constant" {
            0
        } else {
            1 + below(random, 3)
        };
        let mut read = Vec::new();
        for _ in 0..inputs {
            // Near ones mostly, so that there are chains.
            let near = tensors.len() - 1 - below(random, tensors.len().min(4));
            let far = below(random, tensors.len());
            let place = if below(random, 4) == 0 { far } else { near };
            read.push(tensors[place].clone());
        }
        let output = format!("t{index}");
        nodes.push(node(op, &format!("n{index}"), &read.join(" "), &output));
        tensors.push(output);
    }
    nodes
}

/// Does to nodes what an engine might: leaves some out, renames some, adds some, forgets names.
fn mangled(random: &mut Xoshiro256PlusPlus, nodes: &[NodeProto]) -> Vec<NodeProto> {
    let mut renamed: HashMap<String, String> = HashMap::new();
    let mut left = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let mut node = node.clone();
        for input in &mut node.input {
            if let Some(name) = renamed.get(input.as_str()) {
                input.clone_from(name);
            }
        }
        let output = node.output[0].clone();
        match below(random, 7) {
            0 if !node.input.is_empty() => {
                renamed.insert(output, node.input[0].clone());
                continue;
            }
            1 => {
                let lost = format!("reorder_{index}");
                node.output[0].clone_from(&lost);
                node.name = format!("{output}_nchwc");
                renamed.insert(output, lost);
            }
            2 => node.name.clear(),
            3 => {
                let lost = format!("lost_{index}");
                node.output[0].clone_from(&lost);
                let mut back = NodeProto {
                    op_type: "Transpose".to_owned(),
                    ..Default::default()
                };
                back.input.push(lost);
                back.output.push(output);
                left.push(node);
                left.push(back);
                continue;
            }
            4 => node.name = format!("n{}_token_{index}", below(random, nodes.len())),
            _ => {}
        }
        left.push(node);
    }
    left
}

fn below(random: &mut Xoshiro256PlusPlus, limit: usize) -> usize {
    (random.next_u64() % limit as u64) as usize
}

#[test]
fn every_node_is_accounted_for_exactly_once_whatever_happened() {
    for seed in 0..300 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let count = 1 + below(&mut random, 80);
        let nodes = random_nodes(&mut random, count);
        let prepared = mangled(&mut random, &nodes);
        let (before, after) = (nodes.len(), prepared.len());
        let fusions = compare(&model(nodes), &model(prepared));
        let became = fusions.became.iter().flat_map(|became| &became.from);
        let names: BTreeSet<&str> = became
            .chain(&fusions.gone)
            .map(|origin| origin.name.as_str())
            .collect();
        assert_eq!(accounted(&fusions), before, "seed {seed}");
        assert_eq!(names.len(), before, "seed {seed}: one was told twice");
        assert_eq!(fusions.became.len() + fusions.added.len(), after);
        assert!(fusions.became.iter().all(|became| !became.from.is_empty()));
    }
}

#[test]
fn long_chains_cost_neither_stack_nor_patience() {
    const NODES: usize = 20_000;
    let chain = |op: &str| {
        let nodes = (0..NODES).map(|index| {
            let input = format!("t{index}");
            node(op, &format!("n{index}"), &input, &format!("t{}", index + 1))
        });
        nodes.collect::<Vec<_>>()
    };
    let last = format!("t{NODES}");
    for op in ["Identity", "Relu", "Cast", "Shape", "QuantizeLinear"] {
        let prepared = vec![node("Fused", "", "t0", &last)];
        assert_eq!(
            accounted(&compare(&model(chain(op)), &model(prepared))),
            NODES
        );
    }
    // All in one wide node, and a node that all others read.
    let wide = |op: &str| {
        let inputs: Vec<String> = (1..=NODES).map(|index| format!("t{index}")).collect();
        let mut nodes: Vec<NodeProto> = (1..=NODES)
            .map(|index| node(op, "", "t0", &format!("t{index}")))
            .collect();
        nodes.push(node("Concat", "all", &inputs.join(" "), "y"));
        model(nodes)
    };
    let prepared = model(vec![node("Fused", "", "t0", "y")]);
    assert_eq!(accounted(&compare(&wide("Relu"), &prepared)), NODES + 1);
}

/// A subgraph reads what is around it, so that what it reads is not taken for unused.
#[test]
fn what_a_subgraph_reads_is_read_by_its_node() {
    let mut branch = node("If", "if", "x", "y");
    let inner = GraphProto {
        node: vec![node("Relu", "inner", "a.out", "inner.out")],
        output: vec![ValueInfoProto {
            name: "inner.out".to_owned(),
            ..Default::default()
        }],
        ..Default::default()
    };
    branch.attribute.push(crate::pb::AttributeProto {
        name: "then_branch".to_owned(),
        g: Some(inner),
        ..Default::default()
    });
    let before = vec![node("Abs", "a", "x", "a.out"), branch];
    let after = vec![node("Fused", "fused", "x", "y")];
    assert_eq!(
        compared(before, after),
        ["Fused fused <- a if", "gone: ", "added: "]
    );
}
