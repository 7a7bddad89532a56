//! What inputs are filled with in graphs as exporters write them.

use std::collections::BTreeMap;
use std::fs;

use super::InputValues;
use crate::infer::testing::{TestGraph, attr, port};
use crate::inspect;
use crate::pb::ModelProto;
use crate::pb::tensor_proto::DataType;
use crate::samples::npy;
use crate::shapes::{self, parse_override};
use powerband_core::domain::fill::{Fill, parse_input};
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::point::Point;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorSpec};

/// A graph with these inputs, each `name:type:dims`.
fn graph(inputs: &[&str]) -> TestGraph {
    let mut graph = TestGraph::new(&[]);
    for text in inputs {
        let [name, element, dims] = text.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{text}");
        };
        let element = match element {
            "i64" => DataType::Int64,
            "i32" => DataType::Int32,
            "bool" => DataType::Bool,
            _ => DataType::Float,
        };
        let dims: Vec<&str> = dims.split(',').filter(|dim| !dim.is_empty()).collect();
        graph.graph.input.push(port(name, element, &dims));
    }
    graph
}

/// The fills at batch 2, and what the page of the model says.
struct Filled {
    fills: BTreeMap<String, String>,
    why: BTreeMap<String, String>,
}

fn filled(model: &ModelProto, shapes: &[&str], choices: &[&str]) -> Result<Filled, String> {
    let ports = inspect::inputs(model).unwrap();
    let asked = InputSizes {
        shapes: shapes
            .iter()
            .map(|text| parse_override(text).unwrap())
            .collect(),
        fills: choices
            .iter()
            .map(|text| parse_input(text).unwrap())
            .collect(),
        ..InputSizes::default()
    };
    let specs = shapes::resolve(&ports, Point::of_batch(2), &asked).unwrap();
    let mut values = InputValues::find(model, &ports);
    values
        .choose(&asked.fills)
        .map_err(|error| error.to_string())?;
    let specs = values.fill(specs).map_err(|error| error.to_string())?;
    Ok(Filled {
        fills: specs
            .into_iter()
            .map(|spec| (spec.name, spec.fill.to_string()))
            .collect(),
        why: values.descriptions(),
    })
}

fn fill_of(graph: &TestGraph, shapes: &[&str], input: &str) -> String {
    let filled = filled(&graph.model(), shapes, &[]).unwrap();
    filled.fills[input].clone()
}

/// Embeddings and mask of BERT, as PyTorch exports them: positions are cut out of a constant.
fn bert() -> TestGraph {
    graph(&[
        "input_ids i64 batch,sequence",
        "attention_mask i64 batch,sequence",
        "token_type_ids i64 batch,sequence",
    ])
    .weight("word_embeddings.weight", &[30_522, 4])
    .weight("token_type_embeddings.weight", &[2, 4])
    .weight("position_embeddings.weight", &[512, 4])
    .ints("position_ids", &(0..512).collect::<Vec<i64>>())
    .ints("one", &[1])
    .ints("zero", &[0])
    .floats("onef", &[1.0])
    .floats("lowest", &[-10_000.0])
    .node("Gather", "word_embeddings.weight input_ids", "words", &[])
    .node(
        "Gather",
        "token_type_embeddings.weight token_type_ids",
        "types",
        &[],
    )
    .node("Shape", "input_ids", "shape", &[])
    .node("Gather", "shape one", "length", &[])
    .node("Slice", "position_ids zero length zero", "places", &[])
    .node(
        "Gather",
        "position_embeddings.weight places",
        "positions",
        &[],
    )
    .node("Add", "words types", "sum", &[])
    .node("Add", "sum positions", "y", &[])
    .node("Unsqueeze", "attention_mask one", "wide", &[])
    .node("Cast", "wide", "floats", &[])
    .node("Sub", "onef floats", "hidden", &[])
    .node("Mul", "hidden lowest", "z", &[])
}

#[test]
fn bert_gets_words_ones_and_zeros() {
    let Filled { fills, why } = filled(&bert().model(), &["input_ids=Nx128"], &[]).unwrap();
    assert_eq!(fills["input_ids"], "random:0..30522");
    assert_eq!(fills["attention_mask"], "ones");
    assert_eq!(fills["token_type_ids"], "zeros");
    assert_eq!(
        why["input_ids"],
        "0…30,521: indexes word_embeddings.weight (30,522 rows)"
    );
    assert_eq!(
        why["attention_mask"],
        "ones: a mask that hides nothing, by its name and its use in Mul"
    );
    assert_eq!(
        why["token_type_ids"],
        "zeros: token types; indexes token_type_embeddings.weight (2 rows)"
    );
}

#[test]
fn positions_beyond_their_table_name_the_dimension() {
    let message = filled(&bert().model(), &["input_ids=Nx600"], &[])
        .err()
        .unwrap();
    assert_eq!(
        message,
        "sequence 600 needs 600 rows of position_ids, which has 512: choose a smaller sequence"
    );
    assert!(filled(&bert().model(), &["input_ids=Nx512"], &[]).is_ok());
}

/// Embeddings of GPT-2 with past keys: positions are an input, or worked out.
fn gpt(inputs: &[&str]) -> TestGraph {
    graph(inputs)
        .weight("wte", &[50_257, 4])
        .weight("transformer.wpe.weight", &[1024, 4])
        .node("Gather", "wte input_ids", "words", &[])
}

#[test]
fn a_number_that_is_compared_with_a_constant_gets_it() {
    let voice = graph(&["x f32 batch,512", "sr i64 ", "n i64 1", "list i64 4"])
        .ints("rate", &[16_000])
        .ints("other", &[8_000])
        .ints("minus", &[-3])
        .ints("zero", &[0])
        .ints("one", &[1])
        .node("Reshape", "sr one", "rates", &[])
        .node("Gather", "rates zero", "first", &[])
        .node("Equal", "first rate", "is_fast", &[])
        .node("Equal", "first other", "is_slow", &[])
        .node("Equal", "minus n", "is_it", &[])
        .node("Equal", "list rate", "are", &[]);
    let Filled { fills, why } = filled(&voice.model(), &[], &[]).unwrap();
    assert_eq!(fills["sr"], "16000");
    assert_eq!(why["sr"], "16,000: what it is compared with in Equal");
    assert_eq!(
        (&*fills["n"], &*why["n"]),
        ("-3", "−3: what it is compared with in Equal")
    );
    assert_eq!(fills["list"], "usual");
}

#[test]
fn positions_count_up_from_the_past() {
    let gpt = gpt(&[
        "input_ids i64 batch,sequence",
        "position_ids i64 batch,sequence",
        "attention_mask i64 batch,past+sequence",
        "past_key_values.0.key f32 batch,12,past,64",
    ])
    .node("Cast", "position_ids", "places", &[])
    .node("Gather", "transformer.wpe.weight places", "y", &[]);
    let at = |past: usize, sequence: usize| {
        let shapes = [
            format!("input_ids=Nx{sequence}"),
            format!("past_key_values.0.key=Nx12x{past}x64"),
        ];
        filled(&gpt.model(), &[&shapes[0], &shapes[1]], &[])
    };
    let Filled { fills, why } = at(100, 1).unwrap();
    assert_eq!(fills["position_ids"], "range:100");
    assert_eq!(fills["attention_mask"], "ones");
    assert_eq!(fills["past_key_values.0.key"], "usual");
    assert_eq!(
        why["position_ids"],
        "counts up from past: positions; indexes transformer.wpe.weight (1,024 rows)"
    );
    assert_eq!(
        why["past_key_values.0.key"],
        "normal floats: past keys and values, by its name"
    );
    assert!(at(1_000, 24).is_ok());
    assert_eq!(
        at(1_000, 30).err().unwrap(),
        "past 1,000 + sequence 30 needs 1,030 rows of transformer.wpe.weight, which has 1,024: choose a \
         smaller past or sequence"
    );
}

#[test]
fn positions_that_are_worked_out_are_followed() {
    let from_shapes = gpt(&[
        "input_ids i64 batch,sequence",
        "past_0 f32 2,batch,12,past,64",
    ])
    .ints("one", &[1])
    .ints("three", &[3])
    .node("Shape", "past_0", "past_shape", &[])
    .node("Gather", "past_shape three", "before", &[])
    .node("Shape", "input_ids", "shape", &[])
    .node("Gather", "shape one", "new", &[])
    .node("Add", "before new", "all", &[])
    .node("Range", "before all one", "places", &[])
    .node("Gather", "transformer.wpe.weight places", "y", &[]);
    let shapes = ["input_ids=Nx30", "past_0=2xNx12x1000x64"];
    let message = filled(&from_shapes.model(), &shapes, &[]).err().unwrap();
    assert!(
        message.starts_with("past 1,000 + sequence 30 needs 1,030 rows of transformer.wpe.weight"),
        "{message}"
    );
    // As OPT: counted from the mask, two rows on.
    let from_mask = gpt(&[
        "input_ids i64 batch,sequence",
        "attention_mask i64 batch,sequence",
    ])
    .ints("axis", &[1])
    .ints("one", &[1])
    .ints("two", &[2])
    .node("CumSum", "attention_mask axis", "sums", &[])
    .node("Mul", "sums attention_mask", "kept", &[])
    .node("Sub", "kept one", "before", &[])
    .node("Add", "before two", "places", &[])
    .node("Gather", "transformer.wpe.weight places", "y", &[]);
    let at = |shape: &str| filled(&from_mask.model(), &[shape], &[]);
    assert!(at("input_ids=Nx1022").is_ok());
    let message = at("input_ids=Nx1023").err().unwrap();
    assert!(
        message.starts_with("sequence 1,023 needs 1,025 rows of transformer.wpe.weight"),
        "{message}"
    );
    // A batch is no position.
    let tall = filled(&from_mask.model(), &["input_ids=Nx8"], &[]);
    assert!(tall.is_ok());
}

#[test]
fn tables_are_found_through_conversions() {
    let base = || {
        graph(&["ids i32 batch,4"])
            .ints("shape", &[-1])
            .ints("two", &[2])
    };
    let direct = base()
        .typed("t", DataType::Uint8, &[77, 4])
        .weight("scale", &[1])
        .node("Identity", "t", "a", &[])
        .node("DequantizeLinear", "a scale", "b", &[])
        .node("Cast", "b", "c", &[])
        .node("Cast", "ids", "long", &[])
        .node("Reshape", "long shape", "flat", &[])
        .node("Add", "flat two", "moved", &[])
        .node("Unsqueeze", "moved shape", "wide", &[])
        .node("Gather", "c wide", "y", &[]);
    assert_eq!(fill_of(&direct, &[], "ids"), "random:0..75");
    let turned = base()
        .weight("t", &[4, 77])
        .node("Transpose", "t", "a", &[attr("perm", &[1, 0])])
        .node("GatherElements", "a ids", "y", &[attr("axis", &[-2])]);
    assert_eq!(fill_of(&turned, &[], "ids"), "random:0..77");
    let smaller = base()
        .weight("t", &[77, 4])
        .weight("u", &[50, 4])
        .node("Gather", "t ids", "y", &[])
        .node("Gather", "u ids", "z", &[]);
    assert_eq!(fill_of(&smaller, &[], "ids"), "random:0..50");
    let mut fused = base().weight("t", &[77, 4]).weight("p", &[9, 4]).node(
        "EmbedLayerNormalization",
        "ids _ t p",
        "y",
        &[],
    );
    fused.graph.node[0].domain = "com.microsoft".to_owned();
    assert_eq!(fill_of(&fused, &[], "ids"), "random:0..77");
    let floats = graph(&["x f32 batch,4"])
        .weight("t", &[77, 4])
        .node("Cast", "x", "whole", &[])
        .node("Gather", "t whole", "y", &[]);
    assert_eq!(fill_of(&floats, &[], "x"), "random:0..77");
    let nothing = base().node("Cast", "ids", "y", &[]);
    assert_eq!(fill_of(&nothing, &[], "ids"), "usual");
    // Into a value that is worked out: as large as that is at the point.
    let into = graph(&["x f32 batch,seq", "last i64 batch"])
        .node("Relu", "x", "a", &[])
        .node("Gather", "a last", "y", &[attr("axis", &[1])]);
    assert_eq!(fill_of(&into, &["x=Nx9"], "last"), "random:0..9");
    assert_eq!(fill_of(&into, &["x=Nx1"], "last"), "zeros");
}

#[test]
fn masks_hide_nothing_whichever_way_they_are_read() {
    let base = |inputs: &[&str]| {
        graph(inputs)
            .floats("one", &[1.0])
            .floats("nothing", &[0.0])
            .floats("lowest", &[f32::NEG_INFINITY])
    };
    let ids = "x f32 batch,4";
    let hides = base(&[ids, "key_padding_mask bool batch,4"])
        .node("Unsqueeze", "key_padding_mask one", "a", &[])
        .node("Where", "a lowest x", "y", &[]);
    assert_eq!(fill_of(&hides, &[], "key_padding_mask"), "zeros");
    let keeps = base(&[ids, "flags bool batch,4"]).node("Where", "flags x lowest", "y", &[]);
    assert_eq!(fill_of(&keeps, &[], "flags"), "ones");
    let flipped = base(&[ids, "flags bool batch,4"])
        .node("Not", "flags", "a", &[])
        .node("Where", "a lowest x", "y", &[]);
    assert_eq!(fill_of(&flipped, &[], "flags"), "ones");
    let is_zero = base(&[ids, "input_mask i32 batch,4"])
        .node("Equal", "input_mask nothing", "a", &[])
        .node("Where", "a lowest x", "y", &[]);
    assert_eq!(fill_of(&is_zero, &[], "input_mask"), "ones");
    let sum = base(&[ids, "attention_mask f32 batch,4"]).node("Add", "x attention_mask", "a", &[]);
    assert_eq!(fill_of(&sum, &[], "attention_mask"), "usual");
    let added = sum.node("Softmax", "a", "y", &[]);
    assert_eq!(fill_of(&added, &[], "attention_mask"), "zeros");
    let by_name =
        base(&[ids, "attention_mask i64 batch,4"]).node("Cast", "attention_mask", "y", &[]);
    assert_eq!(fill_of(&by_name, &[], "attention_mask"), "ones");
    // Sums of activations are no masks.
    let residual = base(&[ids, "z f32 batch,4"]).node("Add", "x z", "y", &[]);
    assert_eq!(fill_of(&residual, &[], "z"), "usual");
}

#[test]
fn lengths_are_those_of_the_shapes() {
    let mut with_cache = gpt(&[
        "input_ids i64 batch,sequence",
        "seqlens_k i32 batch",
        "total_sequence_length i32 ",
        "past_key_values.0.key f32 batch,2,past,8",
        "past_key_values.0.value f32 batch,2,past,8",
        "past_sequence_length i32 1",
    ])
    .node("Cast", "past_sequence_length", "z", &[])
    .node(
        "GroupQueryAttention",
        "words words words past_key_values.0.key past_key_values.0.value seqlens_k total_sequence_length",
        "y",
        &[],
    );
    with_cache.graph.node[1].domain = "com.microsoft".to_owned();
    let shapes = ["input_ids=Nx3", "past_key_values.0.key=Nx2x5x8"];
    let Filled { fills, why } = filled(&with_cache.model(), &shapes, &[]).unwrap();
    assert_eq!(fills["seqlens_k"], "7");
    assert_eq!(fills["total_sequence_length"], "8");
    assert_eq!(fills["past_sequence_length"], "5");
    assert_eq!(
        why["seqlens_k"],
        "past + sequence − 1: a length, by its use in GroupQueryAttention"
    );
    let recurrent = graph(&["x f32 time,batch,4", "lens i32 batch"])
        .node("Relu", "x", "a", &[])
        .node("LSTM", "a w r b lens", "y", &[]);
    assert_eq!(fill_of(&recurrent, &["x=9xNx4"], "lens"), "9");
    let speech = graph(&["audio f32 batch,80,frames", "input_lengths i64 batch"]).node(
        "Cast",
        "input_lengths",
        "y",
        &[],
    );
    assert_eq!(fill_of(&speech, &["audio=Nx80x33"], "input_lengths"), "33");
}

#[test]
fn masks_of_another_size_are_refused() {
    let shapes = ["input_ids=Nx8", "attention_mask=Nx9"];
    let message = filled(&bert().model(), &shapes, &[]).err().unwrap();
    assert_eq!(
        message,
        "attention_mask has 9 columns (sequence), and sequence 8 make 8: give it that size, as in --shape \
         attention_mask=Nx8"
    );
    let with_past = gpt(&[
        "input_ids i64 batch,sequence",
        "attention_mask i64 batch,total",
        "past_key_values.0.key f32 batch,12,past,64",
    ]);
    let shapes = [
        "input_ids=Nx2",
        "past_key_values.0.key=Nx12x5x64",
        "attention_mask=Nx6",
    ];
    let message = filled(&with_past.model(), &shapes, &[]).err().unwrap();
    assert_eq!(
        message,
        "attention_mask has 6 columns (total), and past 5 + sequence 2 make 7: give it that size, as in \
         --shape attention_mask=Nx7"
    );
}

#[test]
fn what_the_user_chooses_counts_first() {
    let model = bert().model();
    let with = |choice: &str| filled(&model, &["input_ids=Nx8"], &[choice]);
    let fills = with("attention_mask=zeros").unwrap().fills;
    assert_eq!(fills["attention_mask"], "zeros");
    assert_eq!(fills["input_ids"], "random:0..30522");
    assert_eq!(
        with("input_ids=random:0..40000").err().unwrap(),
        "--input input_ids=random:0..40000 needs 40,000 rows of word_embeddings.weight, which input_ids \
         indexes and which has 30,522: choose numbers below 30,522"
    );
    let unknown = with("ids=ones").err().unwrap();
    assert!(
        unknown.contains(
            "an input \"ids\" that the model does not have; it has input_ids, attention_mask"
        ),
        "{unknown}"
    );
    let broken = with("input_ids=random:0..0.5").err().unwrap();
    assert!(
        broken.contains("it is int64, which holds whole numbers only"),
        "{broken}"
    );
}

#[test]
fn files_are_checked_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, element, dims: &[usize], fill: Fill| {
        let path = folder.path().join(name);
        let spec = TensorSpec {
            fill,
            ..TensorSpec::new("x", element, dims.to_vec())
        };
        fs::write(&path, npy::write(&Tensor::seeded(&spec, 3))).unwrap();
        path.display().to_string()
    };
    let model = bert().model();
    let with = |path: &str| {
        let choice = format!("input_ids={path}");
        filled(&model, &["input_ids=Nx8"], &[&choice])
    };
    let counting = || Fill::Range { from: 100 };
    let fits = write("fits.npy", ElementType::I32, &[1, 8], counting());
    assert_eq!(with(&fits).unwrap().fills["input_ids"], fits);
    let spec = TensorSpec {
        batch_axes: vec![0],
        fill: Fill::File(fits),
        ..TensorSpec::new("input_ids", ElementType::I64, vec![2, 8])
    };
    let values = super::tensor(&spec, 0).unwrap().to_f64();
    let row: Vec<f64> = (100..108).map(f64::from).collect();
    assert_eq!(values, [row.clone(), row].concat());

    let long = write("long.npy", ElementType::I64, &[2, 9], counting());
    let message = with(&long).err().unwrap();
    assert!(
        message.ends_with(
            "the file holds 2×9 for batch×sequence, and this point has 2×8: sequence is 9 in the file and \
             8 here"
        ),
        "{message}"
    );
    let deep = write("deep.npy", ElementType::I64, &[2, 8, 1], counting());
    let message = with(&deep).err().unwrap();
    assert!(
        message.ends_with(
            "the file holds 3 dimensions (2×8×1), and input_ids is int64 batch×sequence"
        ),
        "{message}"
    );
    let floats = write("floats.npy", ElementType::F32, &[2, 8], Fill::Usual);
    let message = with(&floats).err().unwrap();
    assert!(
        message.contains("the file holds float32, and input_ids takes int64"),
        "{message}"
    );
    let large = Fill::Number(40_000.0);
    let beyond = write("beyond.npy", ElementType::I64, &[2, 8], large);
    let message = with(&beyond).err().unwrap();
    assert!(
        message.contains("needs 40,001 rows of word_embeddings.weight"),
        "{message}"
    );
    let missing = with("/nowhere/ids.npy").err().unwrap();
    assert!(
        missing.contains("--input input_ids=/nowhere/ids.npy: cannot read"),
        "{missing}"
    );
}

#[test]
fn built_in_networks_are_fed_by_their_use() {
    let outline = |id: &str| crate::zoo::outline(crate::zoo::find(id).unwrap());
    for network in crate::zoo::ALL {
        let model = outline(network.id);
        let ports = inspect::inputs(&model).unwrap();
        let known = InputValues::find(&model, &ports).descriptions();
        // Pictures are as they were; every integer has a use.
        for port in &ports {
            let is_past = port.name.starts_with("past");
            let is_known = known.contains_key(&port.name);
            assert_eq!(
                is_known,
                is_past || !port.element.is_float(),
                "{}",
                port.name
            );
        }
    }
    let at = |past: usize, sequence: usize| {
        let shapes = [
            format!("input_ids=Nx{sequence}"),
            format!("past_key_values.0.key=Nx12x{past}x64"),
        ];
        filled(&outline("gpt2-past"), &[&shapes[0], &shapes[1]], &[])
    };
    assert_eq!(at(1_000, 24).unwrap().fills["position_ids"], "range:1000");
    let message = at(1_000, 25).err().unwrap();
    assert!(
        message.contains("past 1,000 + sequence 25 needs 1,025 rows"),
        "{message}"
    );
}
