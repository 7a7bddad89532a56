//! Networks with several inputs: in other numbers, calibrated and compared on archives of arrays.

use std::fs;
use std::io::Write as _;

use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};
use powerband_onnx::pb::{AttributeProto, ModelProto, NodeProto, attribute_proto};
use powerband_onnx::samples::npy;
use prost::Message as _;
use serde_json::Value;

use crate::models::{self, Dim, FLOAT};
use crate::support::{self, Home, ProgramRun};

/// Tokens of each sequence.
const LENGTH: usize = 12;

/// Whole numbers as an input takes them.
fn integer_tensor(name: &str, rows: usize, length: usize, value: impl Fn(usize) -> i64) -> Tensor {
    Tensor {
        spec: TensorSpec::new(name, ElementType::I64, vec![rows, length]),
        data: TensorData::I64((0..rows * length).map(value).collect()),
    }
}

/// Words, their mask and their kinds for so many sequences, different for each seed.
fn texts(rows: usize, seed: usize) -> Vec<Tensor> {
    let word = move |place: usize| ((place * 7919 + seed * 104_729) % 30_000) as i64;
    vec![
        integer_tensor("input_ids", rows, LENGTH, word),
        integer_tensor("attention_mask", rows, LENGTH, |_| 1),
        integer_tensor("token_type_ids", rows, LENGTH, |place| {
            (place % LENGTH / 8) as i64
        }),
    ]
}

/// An archive as `numpy.savez` writes it.
fn archive(arrays: &[Tensor]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for array in arrays {
        let name = format!("{}.npy", array.spec.name);
        archive.start_file(name, stored).expect("a file in it");
        archive.write_all(&npy::write(array)).expect("its bytes");
    }
    archive.finish().expect("an archive").into_inner()
}

fn bench(home: &Home, setups: &[&str], rest: &[&str]) -> ProgramRun {
    let mut args = vec!["bench", "minilm", "--preset", "quick", "--rounds", "1"];
    args.extend(["--shape", "input_ids=Nx12", "--batch", "2", "--json"]);
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args.extend(rest);
    let library = support::onnxruntime();
    let library = library
        .as_deref()
        .map(|library| ("ORT_DYLIB_PATH", library));
    home.run_with(&args, library.as_slice())
}

fn worst_cosine(document: &Value, setup: usize) -> f64 {
    let accuracy = &document["setups"][setup]["accuracy"];
    let cosine = accuracy["distance"]["worst_cosine"].as_f64();
    cosine.unwrap_or_else(|| panic!("no cosine in {accuracy:#}"))
}

#[test]
fn a_transformer_is_calibrated_and_compared_on_archives() {
    if support::onnxruntime().is_none() {
        return;
    }
    let home = Home::new();
    fs::create_dir(home.path("texts")).expect("a folder");
    for (file, rows) in [("a", 3), ("b", 1), ("c", 4)] {
        let arrays = texts(rows, rows);
        home.write(&format!("texts/{file}.npz"), archive(&arrays));
    }
    let int8 = format!(
        "ort,precision=int8,calibration={}",
        home.path("texts").display()
    );
    let setups = ["ort", "ort,precision=fp16", &int8];
    let run = bench(&home, &setups, &["--samples", "texts"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    for setup in 0..3 {
        let accuracy = &document["setups"][setup]["accuracy"];
        assert_eq!(accuracy["items"], 8, "{accuracy:#}");
        let inputs = accuracy["inputs"].to_string();
        assert!(inputs.contains("8 samples of"), "{inputs}");
    }
    let [float, half, eight] = [0, 1, 2].map(|setup| worst_cosine(&document, setup));
    assert!(float > 0.999_999, "{float}");
    assert!(half > 0.999 && half <= float, "{half} of {float}");
    assert!(eight > 0.99 && eight < half, "{eight} of {half}");
    // What stays in floats is named, with the reason, and again where the file was made before.
    let named = |run: &ProgramRun| {
        let warnings = run.json()["warnings"].to_string();
        let named = "both of their inputs are activations: MatMul (12: encoder.layer.0.attention.self.scores";
        assert!(warnings.contains(named), "{warnings}");
    };
    named(&run);
    named(&bench(&home, &[&int8], &[]));
}

#[test]
fn transformers_keep_their_outputs_in_other_numbers() {
    if support::onnxruntime().is_none() {
        return;
    }
    let home = Home::new();
    let setups = ["ort,precision=fp16", "ort,precision=int8"];
    let run = bench(&home, &setups, &["--accuracy=8"]);
    let document = run.json();
    assert_eq!(run.status, Some(0), "{run:#?}");
    let [half, eight] = [0, 1].map(|setup| worst_cosine(&document, setup));
    assert!(half >= 0.999, "{half}");
    assert!(eight >= 0.99 && eight < half, "{eight}");
    // All but the embeddings go into 8 bits: 36 layers in six blocks, and the pooler.
    let args = ["model", "minilm", "--precision", "int8", "--json"];
    let library = support::onnxruntime().expect("a library");
    let document = home.run_with(&args, &[("ORT_DYLIB_PATH", &library)]).json();
    let count = |operator: &str| document["operators"][operator].as_u64().unwrap_or_default();
    assert!(
        count("DequantizeLinear") - count("QuantizeLinear") >= 37,
        "{document:#}"
    );
}

#[test]
fn archives_that_do_not_fit_the_network_are_sentences() {
    let home = Home::new();
    let mut missing = texts(2, 1);
    missing.pop();
    let mut long = texts(2, 1);
    long[0] = integer_tensor("input_ids", 2, 20, |_| 5);
    let mut floats = texts(2, 1);
    floats[1] = Tensor {
        spec: TensorSpec::new("attention_mask", ElementType::F32, vec![2, LENGTH]),
        data: TensorData::F32(vec![1.0; 2 * LENGTH]),
    };
    let mut uneven = texts(2, 1);
    uneven[2] = integer_tensor("token_type_ids", 3, LENGTH, |_| 0);
    let good = archive(&texts(2, 1));
    let cut = good[..good.len() - 30].to_vec();
    let one = npy::write(&texts(2, 1)[0]);
    let cases: [(&str, Vec<u8>, &[&str]); 7] = [
        (
            "missing.npz",
            archive(&missing),
            &[
                "missing.npz has no array for input \"token_type_ids\"",
                "attention_mask, input_ids",
            ],
        ),
        (
            "long.npz",
            archive(&long),
            &[
                "array \"input_ids\" of",
                "long.npz has the wrong shape: it is 2×20",
                "N×12",
            ],
        ),
        (
            "floats.npz",
            archive(&floats),
            &[
                "array \"attention_mask\" of",
                "holds float32 elements",
                "takes int64",
            ],
        ),
        (
            "uneven.npz",
            archive(&uneven),
            &[
                "uneven.npz are not of equally many inputs",
                "\"token_type_ids\" has 3",
            ],
        ),
        (
            "cut.npz",
            cut,
            &["cut.npz is no intact .npz archive", "write it again"],
        ),
        (
            "few.npz",
            archive(&texts(1, 1)),
            &["1 input, fewer than one batch of 2"],
        ),
        (
            "one.npy",
            one,
            &[
                "3 inputs (input_ids, attention_mask, token_type_ids)",
                ".npz files",
            ],
        ),
    ];
    for (name, bytes, words) in cases {
        home.write(name, bytes);
        let run = bench(&home, &["fake"], &["--samples", name]);
        run.fails_saying(words);
        assert!(!run.err.contains("panicked"), "{run:#?}");
    }
}

#[test]
fn files_for_finding_ranges_that_do_not_fit_are_the_reason_of_their_setup() {
    let home = Home::new();
    let mut missing = texts(2, 1);
    missing.pop();
    home.write("missing.npz", archive(&missing));
    let setup = format!(
        "fake,precision=int8,calibration={}",
        home.path("missing.npz").display()
    );
    let document = bench(&home, &["fake", &setup], &[]).json();
    let reason = document["cases"][1]["reason"].to_string();
    assert!(reason.contains("has no array for input"), "{document:#}");
}

/// One step of a decoder with nothing but its cache: the new key goes behind the past ones, which are weighed.
fn decoder() -> Vec<u8> {
    let key = |length| [Dim::Name("batch"), Dim::Size(2), length, Dim::Size(4)];
    let (new, past) = (key(Dim::Size(1)), key(Dim::Name("past")));
    let axis = AttributeProto {
        name: "axis".to_owned(),
        r#type: attribute_proto::AttributeType::Int as i32,
        i: Some(2),
        ..AttributeProto::default()
    };
    let node = |op: &str, inputs: &[&str], output: &str| NodeProto {
        op_type: op.to_owned(),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    };
    let mut concat = node("Concat", &["past_key_values.0.key", "x"], "present.0.key");
    concat.attribute = vec![axis];
    let nodes = vec![concat, node("Softmax", &["present.0.key"], "y")];
    let inputs = [
        ("x", FLOAT, &new[..]),
        ("past_key_values.0.key", FLOAT, &past[..]),
    ];
    let bytes = models::model(nodes, &inputs, (FLOAT, &key(Dim::Name("total"))));
    let mut model = ModelProto::decode(&bytes[..]).expect("a model");
    let graph = model.graph.as_mut().expect("a graph");
    let mut present = graph.output[0].clone();
    "present.0.key".clone_into(&mut present.name);
    graph.output.push(present);
    model.encode_to_vec()
}

#[test]
fn keys_and_values_of_a_decoder_are_halved_and_its_outputs_compared() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    home.write("decoder.onnx", decoder());
    let shape = "past_key_values.0.key=Nx2x5x4";
    let args = [
        "bench",
        "decoder.onnx",
        "--shape",
        shape,
        "--batch",
        "2",
        "--preset",
        "quick",
    ];
    let rest = ["--rounds", "1", "--accuracy=8", "--json"];
    let setups = ["--setup", "ort,precision=fp16", "--setup", "ort"];
    let run = home.run_with(
        &[&args[..], &setups, &rest].concat(),
        &[("ORT_DYLIB_PATH", &library)],
    );
    let document = run.json();
    // The setup that is first takes 16-bit floats, the network that it is compared with 32-bit ones.
    let [half, float] = [0, 1].map(|setup| worst_cosine(&document, setup));
    assert!(half > 0.999_99 && half < 1.0, "{half}");
    assert!(float > 1.0 - 1e-12 && float > half, "{float}");
    let warnings = document["warnings"].to_string();
    assert!(
        warnings.contains("1 input for past keys and values"),
        "{warnings}"
    );
    let args = ["model", "decoder.onnx", "--precision", "fp16", "--json"];
    let written = home.run(&args).json();
    let types = |ports: &Value| {
        let ports = ports.as_array().expect("ports").iter();
        ports
            .map(|port| port["type"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(types(&written["inputs"]), ["float32", "float16"]);
    assert_eq!(types(&written["outputs"]), ["float32", "float16"]);
}
