//! What inputs are filled with, in real engines: indices below their tables, masks of ones, positions that
//! count up, the user's own choices and files, and what cannot work.

use std::fs;

use powerband_core::base::paths::Paths;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::fill::{Fill, parse_input};
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::point::Point;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorSpec};
use powerband_onnx::pb::attribute_proto::AttributeType;
use powerband_onnx::pb::{AttributeProto, NodeProto, TensorProto};
use powerband_onnx::samples::npy;
use powerband_onnx::shapes::parse_override;
use powerband_runner::prepare::prepare;
use powerband_store::installation::Installation;
use powerband_store::session_file;
use powerband_store::settings::Settings;

use crate::agreement::{BATCH, outputs};
use crate::models::{self, Dim, FLOAT, INT64};
use crate::support::{self, Home, ProgramRun};

/// Rows of words and of positions.
const ROWS: (usize, usize) = (500, 40);
/// Tokens that are fed, and those before them.
const SEQUENCE: usize = 6;
const PAST: usize = 10;

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: kind as i32,
        ..AttributeProto::default()
    }
}

fn node(op: &str, inputs: &[&str], output: &str, attributes: &[AttributeProto]) -> NodeProto {
    NodeProto {
        op_type: op.to_owned(),
        input: inputs.iter().map(|name| (*name).to_owned()).collect(),
        output: vec![output.to_owned()],
        attribute: attributes.to_vec(),
        ..NodeProto::default()
    }
}

/// A table of two columns, whose rows are their numbers.
fn table(name: &str, rows: usize) -> NodeProto {
    let values = (0..rows).flat_map(|row| [row as f32, 0.0]).collect();
    let value = AttributeProto {
        t: Some(TensorProto {
            data_type: FLOAT,
            dims: vec![rows as i64, 2],
            float_data: values,
            ..TensorProto::default()
        }),
        ..attribute("value", AttributeType::Tensor)
    };
    node("Constant", &[], name, &[value])
}

/// A decoder without layers: it gives back what it looked up, side by side, with its mask and a column of the
/// past.
pub(crate) fn decoder() -> Vec<u8> {
    let float = AttributeProto {
        i: Some(i64::from(FLOAT)),
        ..attribute("to", AttributeType::Int)
    };
    let axis = AttributeProto {
        i: Some(1),
        ..attribute("axis", AttributeType::Int)
    };
    let axes = AttributeProto {
        ints: vec![2],
        ..attribute("axes", AttributeType::Ints)
    };
    let keep = AttributeProto {
        i: Some(0),
        ..attribute("keepdims", AttributeType::Int)
    };
    let size = |size| Dim::Size(size);
    let (batch, sequence) = (|| Dim::Name("batch"), || Dim::Name("sequence"));
    models::model(
        vec![
            table("wte.weight", ROWS.0),
            table("wpe.weight", ROWS.1),
            node("Gather", &["wte.weight", "input_ids"], "words", &[]),
            node("Gather", &["wpe.weight", "position_ids"], "places", &[]),
            node(
                "ReduceMax",
                &["words"],
                "word",
                &[axes.clone(), keep.clone()],
            ),
            node(
                "ReduceMax",
                &["places"],
                "place",
                &[axes.clone(), keep.clone()],
            ),
            node("Cast", &["attention_mask"], "mask", &[float]),
            node(
                "ReduceMax",
                &["past_key_values.0.key"],
                "key",
                &[axes, keep],
            ),
            node("Concat", &["word", "place", "mask", "key"], "y", &[axis]),
        ],
        &[
            ("input_ids", INT64, &[batch(), sequence()]),
            ("position_ids", INT64, &[batch(), sequence()]),
            (
                "attention_mask",
                INT64,
                &[batch(), Dim::Name("past + sequence")],
            ),
            (
                "past_key_values.0.key",
                FLOAT,
                &[batch(), Dim::Name("past"), size(2)],
            ),
        ],
        (FLOAT, &[batch(), Dim::Name("all")]),
    )
}

/// The inputs of the decoder at a point.
fn inputs(home: &Home, choices: &[&str]) -> Vec<TensorSpec> {
    home.write("net.onnx", decoder());
    let place = Installation::new(
        Paths::under(&home.path("folders")),
        &Settings::default(),
        "powerband".into(),
    );
    let shapes = [
        format!("input_ids=Nx{SEQUENCE}"),
        format!("past_key_values.0.key=Nx{PAST}x2"),
    ];
    let request = RunRequest {
        programs: ProgramTrust::Typed,
        setups: vec!["fake".parse().expect("a setup")],
        sizes: InputSizes {
            shapes: shapes
                .iter()
                .map(|text| parse_override(text).expect("a shape"))
                .collect(),
            fills: choices
                .iter()
                .map(|text| parse_input(text).expect("a choice"))
                .collect(),
            ..InputSizes::default()
        },
        points: Some(vec![Point::of_batch(BATCH)]),
        ..RunRequest::new(&home.path("net.onnx").display().to_string())
    };
    let request = prepare(&place, &request).expect("a run");
    let case = CaseKey {
        setup: 0,
        point: Point::of_batch(BATCH),
    };
    request.inputs[&case].clone().expect("inputs")
}

/// What a row of the decoder's output says: words, places, mask.
fn row(values: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let part = |from: usize, count: usize| values[from..from + count].to_vec();
    (
        part(0, SEQUENCE),
        part(SEQUENCE, SEQUENCE),
        part(2 * SEQUENCE, PAST + SEQUENCE),
    )
}

#[test]
fn engines_are_fed_what_inputs_are_for() {
    let home = Home::new();
    let specs = inputs(&home, &[]);
    let mut engines = vec![("rten", None)];
    if let Some(library) = support::onnxruntime() {
        engines.push(("ort:cpu", Some(library)));
    }
    let mut words = Vec::new();
    for (setup, runtime) in engines {
        let values = outputs(setup, runtime, &home.path("net.onnx"), &specs);
        let width = values.len() / BATCH;
        for values in values.chunks(width) {
            let (ids, places, mask) = row(values);
            assert!(
                ids.iter().all(|id| (0.0..ROWS.0 as f64).contains(id)),
                "{ids:?}"
            );
            let expect: Vec<f64> = (PAST..PAST + SEQUENCE).map(|place| place as f64).collect();
            assert_eq!(places, expect, "{setup}");
            assert!(mask.iter().all(|one| *one == 1.0), "{setup}: {mask:?}");
            words.extend(ids);
        }
    }
    // They are spread over the table, and the same in every engine.
    assert!(words.iter().any(|word| *word > 250.0) && words.iter().any(|word| *word < 250.0));
    let first = &words[..BATCH * SEQUENCE];
    assert!(words.chunks(BATCH * SEQUENCE).all(|engine| engine == first));
}

#[test]
fn choices_and_files_reach_the_engine() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    let spec = TensorSpec {
        fill: Fill::Range { from: 7 },
        ..TensorSpec::new("ids", ElementType::I32, vec![1, SEQUENCE])
    };
    let file = home.write("ids.npy", npy::write(&Tensor::seeded(&spec, 1)));
    let ids = format!("input_ids={}", file.display());
    let specs = inputs(&home, &[&ids, "position_ids=3", "attention_mask=zeros"]);
    let values = outputs("ort:cpu", Some(library), &home.path("net.onnx"), &specs);
    for values in values.chunks(values.len() / BATCH) {
        let (ids, places, mask) = row(values);
        // The one row of the file is repeated for the batch.
        assert_eq!(ids, [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
        assert!(places.iter().all(|place| *place == 3.0));
        assert!(mask.iter().all(|one| *one == 0.0));
    }
}

fn bench(home: &Home, rest: &[&str]) -> ProgramRun {
    home.write("net.onnx", decoder());
    let mut args = vec!["bench", "net.onnx", "--preset", "quick", "--rounds", "1"];
    if !rest.contains(&"--batch") {
        args.extend(["--batch", "2"]);
    }
    args.extend(["--setup", "rten", "--json"]);
    args.extend(rest);
    home.run(&args)
}

#[test]
fn a_session_says_what_inputs_were_filled_with_and_repeats_it() {
    let home = Home::new();
    let spec = TensorSpec::new("ids", ElementType::I64, vec![2, SEQUENCE]);
    home.write("ids.npy", npy::write(&Tensor::seeded(&spec, 1)));
    // The length of the sequence is that of the file, whose name is taken from where the program was started.
    let rest = [
        "--shape",
        "past_key_values.0.key=Nx10x2",
        "--input",
        "input_ids=ids.npy",
        "--input",
        "attention_mask=random:0..2",
        "--out",
        "a.ron",
    ];
    let run = bench(&home, &rest);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let session = session_file::read(&home.path("a.ron"))
        .expect("a session")
        .session;
    let opening = session.cases[0].opening.as_ref().expect("an opening");
    assert!(
        opening
            .feeding
            .ends_with("; input_ids ids.npy, position_ids counts up from 10, attention_mask 0…1"),
        "{}",
        opening.feeding
    );
    let kept = &session.plan.inputs["input_ids"];
    assert_eq!(
        *kept,
        Fill::File(home.path("ids.npy").display().to_string())
    );
    let again = RunRequest::from_plan(&session.plan);
    assert_eq!(again.sizes.fills, session.plan.inputs);
}

#[test]
fn what_cannot_be_fed_names_inputs_and_dimensions() {
    let home = Home::new();
    let at = |past: usize, sequence: usize, rest: &[&str]| {
        let shapes = [
            format!("input_ids=Nx{sequence}"),
            format!("past_key_values.0.key=Nx{past}x2"),
        ];
        let shapes = ["--shape", &shapes[0], "--shape", &shapes[1]];
        bench(&home, &[&shapes, rest].concat())
    };
    at(38, 6, &[]).fails_saying(&[
        "past 38 + sequence 6 needs 44 rows of wpe.weight, which has 40",
        "choose a smaller past or sequence",
    ]);
    assert_eq!(at(34, 6, &[]).status, Some(0));
    at(10, 6, &["--shape", "attention_mask=Nx9"]).fails_saying(&[
        "attention_mask has 9 columns",
        "past 10 + sequence 6 make 16",
        "--shape attention_mask=Nx16",
    ]);
    at(10, 6, &["--input", "words=ones"]).fails_saying(&["\"words\"", "input_ids, position_ids"]);
    at(10, 6, &["--input", "input_ids=many"]).fails_saying(&["\"many\"", "random:LOW..HIGH"]);
    at(10, 6, &["--input", "input_ids=random:0..501"])
        .fails_saying(&["needs 501 rows of wte.weight", "choose numbers below 500"]);
    at(10, 6, &["--input", "input_ids=nowhere.npy"]).fails_saying(&["nowhere.npy", "cannot read"]);
    let write = |name: &str, dims: &[usize]| {
        let spec = TensorSpec::new("x", ElementType::I64, dims.to_vec());
        fs::write(home.path(name), npy::write(&Tensor::seeded(&spec, 1))).expect("a file");
    };
    write("long.npy", &[2, 7]);
    write("flat.npy", &[12]);
    at(10, 6, &["--input", "input_ids=long.npy"]).fails_saying(&[
        "long.npy",
        "batch×sequence",
        "sequence is 7 in the file and 6 here",
    ]);
    at(10, 6, &["--input", "input_ids=flat.npy"])
        .fails_saying(&["1 dimension (12)", "input_ids is int64 batch×sequence"]);
    // A mask in a file, for another number of positions.
    write("mask.npy", &[2, 9]);
    at(10, 6, &["--input", "attention_mask=mask.npy"]).fails_saying(&[
        "mask.npy",
        "batch×past + sequence",
        "past + sequence is 9 in the file and 16 here",
    ]);
}

#[test]
fn a_point_beyond_the_position_table_is_the_outcome_of_that_point() {
    let home = Home::new();
    let sweep = [
        "--sweep",
        "past=34,38",
        "--sweep",
        "sequence=6",
        "--out",
        "a.ron",
    ];
    let run = bench(&home, &sweep);
    assert_eq!(run.status, Some(2), "{run:#?}");
    let outcomes: Vec<String> = run.outcomes().into_iter().map(|case| case.2).collect();
    assert_eq!(outcomes, ["finished", "unsupported"]);
    let reason = run.json()["cases"][1]["reason"].to_string();
    assert!(
        reason.contains("past 38 + sequence 6 needs 44 rows of wpe.weight, which has 40"),
        "{reason}"
    );
    let session = session_file::read(&home.path("a.ron"))
        .expect("a session")
        .session;
    let feeding = &session.cases[0]
        .opening
        .as_ref()
        .expect("an opening")
        .feeding;
    assert!(
        feeding.contains("position_ids counts up from 34"),
        "{feeding}"
    );
}

#[test]
fn the_page_of_a_model_says_what_inputs_are_filled_with() {
    let home = Home::new();
    home.write("net.onnx", decoder());
    let text = home.run(&["model", "net.onnx"]).out;
    for line in [
        "input_ids  int64 batch×sequence · 0…499: indexes wte.weight (500 rows)",
        "position_ids  int64 batch×sequence · counts up from past: positions; indexes wpe.weight (40 rows)",
        "attention_mask  int64 batch×past + sequence · ones: a mask that hides nothing, by its name",
        "past_key_values.0.key  float32 batch×past×2 · normal floats: past keys and values, by its name",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let document = home.run(&["model", "net.onnx", "--json"]).json();
    let filled = &document["inputs"][0]["filled_with"];
    assert_eq!(*filled, "0…499: indexes wte.weight (500 rows)");
}

/// A network that refuses what embeddings do not see: two rows alone, or a mask with holes.
const WORDS: &str = "
import torch

class Words(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Embedding(500, 4)

    def forward(self, ids, places, mask, past):
        assert int(ids.max()) > 1 and ids.dtype == torch.int64, ids
        assert places[0].tolist() == [10, 11, 12, 13, 14, 15], places
        assert bool((mask == 1).all()), mask
        assert ids.shape == places.shape
        return self.layer(ids).sum(dim=(1, 2)) + past.sum(dim=(1, 2))

def network():
    return Words()
";

#[test]
fn pytorch_is_fed_the_same_way() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    home.write("net.onnx", decoder());
    home.write("words.py", WORDS);
    let setup = format!(
        "torch,threads=1,python={},module=words:network",
        python.display()
    );
    let run = home.run(&[
        "bench",
        "net.onnx",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--batch",
        "2",
        "--setup",
        &setup,
        "--shape",
        "input_ids=Nx6",
        "--shape",
        "past_key_values.0.key=Nx10x2",
        "--json",
        "--out",
        "a.ron",
    ]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let session = session_file::read(&home.path("a.ron"))
        .expect("a session")
        .session;
    let opening = session.cases[0].opening.as_ref().expect("an opening");
    assert!(
        opening
            .feeding
            .ends_with("; input_ids 0…499, position_ids counts up from 10, attention_mask ones"),
        "{}",
        opening.feeding
    );
}
