//! The same network in other numbers: what it computes, and that setups can ask for it.

use powerband_core::domain::point::Point;
use std::path::Path;

use powerband_core::domain::input_sizes::InputSizes;
use powerband_onnx::{inspect, shapes, source};

use crate::agreement::{self, BATCH};
use crate::models::{self, Dim, FLOAT};
use crate::support::{self, Home};

/// What a network computes on ONNX Runtime.
fn outputs(model: &Path, library: &Path) -> Vec<f64> {
    let cache = tempfile::tempdir().expect("a folder");
    let opened = source::open(&model.display().to_string(), cache.path()).expect("a model");
    let ports = inspect::inputs(&opened.proto).expect("inputs");
    let inputs =
        shapes::resolve(&ports, Point::of_batch(BATCH), &InputSizes::default()).expect("shapes");
    agreement::outputs("ort:cpu", Some(library.to_path_buf()), model, &inputs)
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn a_network_in_other_numbers_computes_nearly_the_same() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    let write = |file: &str, precision: &str| {
        let args = [
            "model",
            "resnet18@cifar",
            "--write",
            file,
            "--precision",
            precision,
            "--json",
        ];
        let mut command = home.command(&args);
        let output = command.env("ORT_DYLIB_PATH", &library).output();
        let run = support::ProgramRun::from_output(&output.expect("the program starts"));
        assert_eq!(run.status, Some(0), "{run:#?}");
        run.json()
    };
    let float = write("float.onnx", "float");
    let half = write("half.onnx", "fp16");
    let whole = write("whole.onnx", "int8");
    let bytes = |document: &serde_json::Value| document["constant_bytes"].as_f64().expect("bytes");
    assert!(
        (bytes(&half) / bytes(&float) - 0.5).abs() < 0.01,
        "{half:#}"
    );
    assert!(
        whole["operators"]["QuantizeLinear"].as_u64() > Some(10),
        "{whole:#}"
    );
    let reference = outputs(&home.path("float.onnx"), &library);
    let by_half = outputs(&home.path("half.onnx"), &library);
    let by_whole = outputs(&home.path("whole.onnx"), &library);
    assert_eq!(
        (by_half.len(), by_whole.len()),
        (reference.len(), reference.len())
    );
    assert_ne!(reference, by_half);
    let (half, whole) = (cosine(&reference, &by_half), cosine(&reference, &by_whole));
    assert!(half > 0.9999, "{half}");
    assert!(whole > 0.998 && whole < half, "{whole}");
}

#[test]
fn setups_ask_for_numbers_and_take_turns() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    let args = [
        "bench",
        "resnet18@cifar",
        "--setup",
        "ort",
        "--setup",
        "ort,precision=int8",
        "--setup",
        "rten,precision=fp16",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--rounds",
        "2",
        "--json",
    ];
    let output = home.command(&args).env("ORT_DYLIB_PATH", &library).output();
    let run = support::ProgramRun::from_output(&output.expect("the program starts"));
    let document = run.json();
    let cases = document["cases"].as_array().expect("cases");
    assert_eq!(cases[0]["outcome"], "finished", "{run:#?}");
    assert_eq!(cases[1]["outcome"], "finished", "{run:#?}");
    // Whether an engine can run it is its own affair; that it is told is ours.
    assert!(
        cases[2]["outcome"] == "finished" || !cases[2]["reason"].is_null(),
        "{cases:#?}"
    );
    let setups = document["plan"]["setups"].to_string();
    assert!(
        setups.contains("int8") && setups.contains("fp16"),
        "{setups}"
    );
}

#[test]
fn what_cannot_be_rewritten_says_why_and_holds_nobody_up() {
    let home = Home::new();
    home.run(&["bench", "resnet18@cifar", "--setup", "rten,precision=int4"])
        .fails_saying(&["precision", "int4", "fp16 or int8"]);
    let shape = [Dim::Name("batch"), Dim::Size(4)];
    let nothing = models::one_node("Relu", &[("x", FLOAT, &shape)], (FLOAT, &shape));
    let path = home.write("relu.onnx", nothing).display().to_string();
    let args = [
        "bench",
        &path,
        "--setup",
        "fake",
        "--setup",
        "fake,precision=int8",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--json",
    ];
    let run = home.run(&args);
    let document = run.json();
    let cases = document["cases"].as_array().expect("cases");
    assert_eq!(cases[0]["outcome"], "finished", "{run:#?}");
    assert_eq!(cases[1]["outcome"], "unsupported", "{run:#?}");
    assert!(
        cases[1]["reason"]
            .to_string()
            .contains("cannot be rewritten to int8"),
        "{run:#?}"
    );
}

/// Networks that PyTorch's exporters write, with random weights: `NAME-old.onnx` in one file, `NAME-new.onnx` with
/// its weights beside it, as its default is.
const EXPORT: &str = r#"
import sys, warnings
import torch, torchvision
warnings.filterwarnings("ignore")
torch.manual_seed(0)
net = torchvision.models.mobilenet_v2(weights=None).eval()
x = torch.randn(2, 3, 64, 64)
names = {"input_names": ["input"], "output_names": ["output"]}
torch.onnx.export(net, (x,), "old.onnx", dynamo=False, opset_version=12,
                  dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}}, **names)
torch.onnx.export(net, (x,), "new.onnx", dynamo=True,
                  dynamic_shapes=({0: torch.export.Dim("batch")},), **names)
"#;

#[test]
fn what_pytorch_exports_is_converted_whole_and_runs_in_every_engine() {
    let (Some(python), Some(library)) = (support::torch_python(), support::onnxruntime()) else {
        return;
    };
    let home = Home::new();
    let exported = home.command_of(&python, &["-c", EXPORT]).output();
    let exported = exported.expect("Python starts");
    assert!(exported.status.success(), "{exported:#?}");
    assert!(home.path("new.onnx.data").is_file());
    for (file, value) in [("old.onnx", "old"), ("new.onnx", "new")] {
        let path = home.path(file).display().to_string();
        let target = format!("{value}-int8.onnx");
        let args = [
            "model",
            &path,
            "--precision",
            "int8",
            "--write",
            &target,
            "--json",
        ];
        let mut command = home.command(&args);
        let output = command.env("ORT_DYLIB_PATH", &library).output();
        let run = support::ProgramRun::from_output(&output.expect("the program starts"));
        assert_eq!(run.status, Some(0), "{run:#?}");
        let document = run.json();
        let operators = &document["operators"];
        // The weights of all 52 convolutions and of the last layer at least, and no constant read by a detour. The
        // new exporter leaves out biases of zero.
        let from_stored = operators["DequantizeLinear"].as_u64().expect("a count")
            - operators["QuantizeLinear"].as_u64().expect("a count");
        assert!([53, 106].contains(&from_stored), "{file} {operators:#}");
        let notes = document["notes"].to_string();
        assert!(!notes.contains("Conv ("), "{notes}");
        assert!(operators["Identity"].is_null(), "{file} {operators:#}");
        let outputs = |model: &Path| outputs(model, &library);
        let close = cosine(&outputs(&home.path(file)), &outputs(&home.path(&target)));
        assert!(close > 0.99, "{file} {close}");
        let args = [
            "bench", &path, "--setup", "rten", "--batch", "1,2", "--preset", "quick", "--rounds",
            "1", "--json",
        ];
        let document = home.run(&args).json();
        for case in document["cases"].as_array().expect("cases") {
            assert_eq!(case["outcome"], "finished", "{file} {case:#}");
        }
    }
}
