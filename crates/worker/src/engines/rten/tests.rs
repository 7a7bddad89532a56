//! Tests of the engine: what it refuses, what comes back, and what it prints.

use super::*;
use powerband_core::domain::tensor::{ElementType, TensorData, TensorSpec};
use powerband_onnx::infer::testing::{TestGraph, attr, port};
use powerband_onnx::pb::AttributeProto;
use powerband_onnx::pb::tensor_proto::DataType;
use powerband_planning::engine_options::EngineOptions as _;

fn loaded(graph: &TestGraph, file_name: &str) -> Result<Box<dyn LoadedModel>, EngineError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file_name);
    file::save(&path, &graph.model()).unwrap();
    let setup = "rten,threads=1".parse().unwrap();
    Rten.load(&LoadRequest {
        setup: &setup,
        model: &path,
        runtime: None,
    })
}

fn refusal(graph: &TestGraph) -> String {
    match loaded(graph, "net.onnx").err() {
        Some(EngineError::Unsupported(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

fn tensor(name: &str, element: ElementType, data: TensorData) -> Tensor {
    let spec = TensorSpec::new(name, element, vec![2, 2]);
    Tensor { spec, data }
}

#[test]
fn the_version_is_the_one_compiled_in() {
    let lock = include_str!("../../../../../Cargo.lock");
    assert!(lock.contains(&format!("name = \"rten\"\nversion = \"{VERSION}\"")));
}

#[test]
fn what_rten_lacks_is_unsupported_and_named() {
    let one = || TestGraph::new(&[("x", &[2, 2])]);
    let operator = refusal(&one().node("Mystery", "x", "y", &[]));
    assert!(operator.contains("Mystery"), "{operator}");
    for (data_type, word) in [
        (DataType::Float16, "float16"),
        (DataType::Bfloat16, "bfloat16"),
    ] {
        let weight = one()
            .typed("w", data_type, &[2, 2])
            .node("Cast", "w", "f", &[to(DataType::Float)])
            .node("Add", "x f", "y", &[]);
        let reason = refusal(&weight);
        assert!(
            reason.contains(&format!("\"w\" is {word}")),
            "{word}: {reason}"
        );
    }
    let halved = refusal(&one().node("Cast", "x", "y", &[to(DataType::Float16)]));
    assert!(halved.contains("\"y\" is float16"), "{halved}");
    let mut input = one().node("Relu", "x", "y", &[]);
    input.graph.input[0] = port("x", DataType::Float16, &["2", "2"]);
    assert!(refusal(&input).contains("\"x\" is float16"));
    let reason = match loaded(&one().node("Relu", "x", "y", &[]), "net.bin").err() {
        Some(EngineError::Unsupported(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(reason.contains(".onnx"), "{reason}");
}

fn to(data_type: DataType) -> AttributeProto {
    attr("to", &[data_type as i64])
}

#[test]
fn integers_and_truths_come_back_as_the_file_types_them() {
    let types = [
        (
            DataType::Int64,
            ElementType::I64,
            TensorData::I64(vec![1, -2, 3, 1 << 30]),
        ),
        (
            DataType::Bool,
            ElementType::Bool,
            TensorData::Bool(vec![true, false, true, true]),
        ),
        (
            DataType::Double,
            ElementType::F64,
            TensorData::F64(vec![0.5, -1.0, 2.0, 0.0]),
        ),
        (
            DataType::Int8,
            ElementType::I8,
            TensorData::I8(vec![1, -2, 3, 127]),
        ),
    ];
    for (data_type, element, data) in types {
        let mut graph = TestGraph::new(&[("x", &[2, 2])]).node("Identity", "x", "y", &[]);
        graph.graph.input[0] = port("x", data_type, &["2", "2"]);
        graph.graph.output = vec![port("y", data_type, &["2", "2"])];
        let mut model = loaded(&graph, "net.onnx").unwrap();
        let input = tensor("x", element, data);
        let mut bound = model.open(std::slice::from_ref(&input), 2).unwrap();
        bound.run().unwrap();
        let outputs = bound.outputs().unwrap();
        assert_eq!(outputs.len(), 1);
        assert_eq!(outputs[0].data, input.data);
        assert_eq!(
            (outputs[0].spec.name.as_str(), &outputs[0].spec.dims),
            ("y", &vec![2, 2])
        );
    }
}

/// The product of an input of 2×2 and a weight, in a file that states wrong shapes for it.
fn misstated(weight: [i64; 2]) -> Result<Vec<Tensor>, EngineError> {
    let values = vec![0.5; (weight[0] * weight[1]) as usize];
    let mut graph = TestGraph::new(&[("x", &[2, 2])])
        .floats("w", &values)
        .node("MatMul", "x w", "a", &[])
        .node("Relu", "a", "y", &[])
        .stated("a", &["2", "3", "3"]);
    graph.graph.initializer[0].dims = weight.to_vec();
    graph.graph.output = vec![port("y", DataType::Float, &["2", "7"])];
    let mut model = loaded(&graph, "net.onnx")?;
    let input = tensor("x", ElementType::F32, TensorData::F32(vec![1.0; 4]));
    let mut bound = model.open(std::slice::from_ref(&input), 2)?;
    bound.run()?;
    bound.outputs()
}

#[test]
fn shapes_are_what_rten_computes_and_not_what_the_file_states() {
    let outputs = misstated([2, 5]).unwrap();
    assert_eq!(outputs[0].spec.dims, [2, 5]);
    assert!(matches!(&outputs[0].data, TensorData::F32(values) if *values == [1.0; 10]));
}

#[test]
fn shapes_that_do_not_fit_are_a_failure_that_gives_both() {
    let Err(EngineError::Failed(reason)) = misstated([3, 5]) else {
        panic!("it ran");
    };
    for word in ["without a name", "[2, 2]", "[3, 5]"] {
        assert!(reason.contains(word), "{reason}");
    }
}

#[test]
fn integers_beyond_32_bits_are_not_cut() {
    let large = TensorData::I64(vec![1, 2, 3, 1 << 40]);
    match to_rten(&tensor("x", ElementType::I64, large)) {
        Err(EngineError::Unsupported(reason)) => assert!(reason.contains("\"x\""), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_panic_is_a_failure() {
    let broken = catch_panic::<()>(|| panic!("no such axis"));
    assert_eq!(
        broken,
        Err(EngineError::Failed(
            "rten broke off: no such axis".to_owned()
        ))
    );
}

#[test]
fn what_rten_prints_of_its_nodes_is_read() {
    let report = "#0 Conv (conv1)\n  input 0: x (tensor(f32) [1, 3])\n  input 2: (b) (tensor(i32) [])\n  output 0: a ([1, 8])\n  time: 1.250ms\n\
                  #0 Relu (within)\n  output 0: w ([1])\n  time: 0.100ms\n\
                  #1 If (branch)\n  output 0: b ([1, 8])\n  time: 0.150ms\n\
                  #2 Add ()\n  output 0: sum (of two) ([1, 8])\n  time: 0.002ms\n\
                  3 ops evaluated in 1.352ms\nPool allocs 1 hits 0\n\nConv  1.25ms (92%)\n";
    let nodes = node_times(report);
    let read: Vec<(&str, &str, u128)> = nodes
        .iter()
        .map(|node| {
            let took = node.took.as_micros();
            (node.operator.as_str(), node.name.as_str(), took)
        })
        .collect();
    assert_eq!(
        read,
        [
            ("Conv", "conv1", 1250),
            ("Relu", "within", 100),
            ("Add", "sum (of two)", 2),
        ]
    );
    // The second input is left out, and what comes out has the type of what goes in.
    let conv = &nodes[0];
    let bias = Some(("int32", vec![]));
    assert_eq!(conv.inputs, [Some(("float", vec![1, 3])), None, bias]);
    assert_eq!(conv.outputs, [Some(("float", vec![1, 8]))]);
}

fn decoder(batch: usize, prompt: usize, new: usize) -> Generate {
    let model = powerband_onnx::decoder::testing::tiny();
    Generate {
        batch,
        prompt,
        new,
        decoder: Some(powerband_onnx::decoder::Decoder::find(&model).unwrap()),
    }
}

/// The tokens that come out where each one is made of all tokens before it, without any cache.
fn without_cache(model: &mut dyn LoadedModel, generate: &Generate, seed: u64) -> Vec<i64> {
    let decoder = generate.decoder.clone().unwrap();
    let prompt = generate.prompt_tokens(seed, decoder.vocabulary);
    let mut made = Vec::new();
    for sequence in prompt.chunks(generate.prompt) {
        let mut tokens = sequence.to_vec();
        for _ in 0..generate.new {
            let mut inputs = super::super::generate::token_inputs(&decoder, 1, &tokens, 0);
            let specs = decoder.inputs(1, tokens.len(), 0);
            let caches = specs.iter().skip(inputs.len());
            inputs.extend(caches.map(|spec| Tensor::seeded(spec, 0)));
            let outputs = model.open(&inputs, 1).unwrap().outputs().unwrap();
            let TensorData::F32(scores) = &outputs[0].data else {
                panic!("scores are floats")
            };
            let last = &scores[scores.len() - decoder.vocabulary..];
            let best = (0..last.len()).max_by(|&a, &b| last[a].total_cmp(&last[b]).then(b.cmp(&a)));
            tokens.push(best.unwrap() as i64);
        }
        made.extend_from_slice(&tokens[generate.prompt..]);
    }
    made
}

#[test]
fn tokens_are_those_that_come_out_without_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decoder.onnx");
    file::save(&path, &powerband_onnx::decoder::testing::tiny()).unwrap();
    let setup = "rten,threads=1,task=generate".parse().unwrap();
    assert_eq!(Rten.check(&setup), Ok(()));
    let request = LoadRequest {
        setup: &setup,
        model: &path,
        runtime: None,
    };
    let mut model = Rten.load(&request).unwrap();
    for (batch, prompt, new) in [(1, 5, 12), (3, 7, 9), (2, 1, 1)] {
        let generate = decoder(batch, prompt, new);
        let mut requests = model.open_requests(&generate, 11).unwrap();
        let made = requests.outputs().unwrap().remove(0);
        let expected = TensorData::I64(without_cache(model.as_mut(), &generate, 11));
        assert_eq!(made.data, expected, "batch {batch}");
        // The memory of the first request serves the second.
        assert_eq!(requests.outputs().unwrap().remove(0).data, expected);
        let seen = requests.take_generation().unwrap();
        assert_eq!(seen.first_token_ns.len(), 2);
        assert_eq!(seen.later_token_ns.len(), 2 * (new - 1));
        assert_eq!(seen.new_tokens, (batch * new) as u64);
    }
    let shared = "rten,task=generate,copies=2".parse().unwrap();
    assert!(Rten.check(&shared).unwrap_err().contains("copies="));
}
