//! Sizes of inputs: which dimension is the batch, what is given for the others, and what is suggested.

use powerband_core::base::paths::Paths;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::point::Point;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_onnx::pb::{AttributeProto, NodeProto};
use powerband_onnx::shapes::parse_override;
use powerband_runner::prepare::prepare;
use powerband_runner::prepare_error::PrepareError;
use powerband_store::installation::Installation;
use powerband_store::settings::Settings;

use crate::models::{self, BOOL, Dim, FLOAT};
use crate::support::{self, Home};

/// A network whose input is a step a row, as recurrent ones have it.
fn recurrent(first: Dim, second: Dim) -> Vec<u8> {
    let output = [Dim::Name("a"), Dim::Name("b"), Dim::Size(64)];
    models::one_node(
        "Relu",
        &[("x", FLOAT, &[first, second, Dim::Size(64)])],
        (FLOAT, &output),
    )
}

/// The shape that is measured at the largest batch size, the batch sizes, and what is said.
type Planned = (Vec<usize>, Vec<usize>, Vec<String>);

/// What a plan makes of a shape, batch sizes and a batch axis.
fn planned(
    home: &Home,
    shape: Option<&str>,
    batches: Option<&[usize]>,
    axis: &[&str],
) -> Result<Planned, PrepareError> {
    let place = Installation::new(
        Paths::under(&home.path("folders")),
        &Settings::default(),
        "powerband".into(),
    );
    let request = RunRequest {
        programs: ProgramTrust::Typed,
        setups: vec!["fake".parse().expect("a setup")],
        sizes: InputSizes {
            shapes: shape
                .iter()
                .map(|text| parse_override(text).expect("a shape"))
                .collect(),
            batch_axis: axis
                .iter()
                .map(|text| text.parse().expect("an axis"))
                .collect(),
            ..InputSizes::default()
        },
        points: batches.map(|sizes| sizes.iter().copied().map(Point::of_batch).collect()),
        ..RunRequest::new(&home.path("net.onnx").display().to_string())
    };
    let request = prepare(&place, &request)?;
    let points = request.beginning.plan.points.clone();
    let case = CaseKey {
        setup: 0,
        point: *points.last().expect("points"),
    };
    let inputs = request.inputs[&case].as_ref().expect("inputs");
    let batches = points.into_iter().map(Point::batch).collect();
    Ok((inputs[0].dims.clone(), batches, request.beginning.warnings))
}

#[test]
fn the_batch_is_where_it_is_called_so() {
    let home = Home::new();
    home.write("net.onnx", recurrent(Dim::Name("time"), Dim::Name("batch")));
    let (dims, batches, warnings) = planned(&home, Some("x=50x1x64"), None, &[]).unwrap();
    assert_eq!(dims, [50, 16, 64]);
    assert_eq!(batches, [1, 2, 4, 8, 16]);
    assert!(
        !warnings.iter().any(|text| text.contains("taken for")),
        "{warnings:?}"
    );
    let (dims, _, _) = planned(&home, Some("x=50x1x64"), Some(&[1]), &[]).unwrap();
    assert_eq!(dims, [50, 1, 64]);
}

#[test]
fn the_first_dimension_is_taken_aloud_and_never_for_a_size_that_was_given() {
    let home = Home::new();
    home.write("net.onnx", recurrent(Dim::Name("time"), Dim::Name("rows")));
    // The one size that is given is the batch size.
    let (dims, batches, warnings) = planned(&home, Some("x=50x1x64"), None, &[]).unwrap();
    assert_eq!((dims, batches), (vec![50, 1, 64], vec![50]));
    let said = "the first one (time) of input x is taken for it";
    assert!(
        warnings.iter().any(|text| text.contains(said)),
        "{warnings:?}"
    );
    let refused = planned(&home, Some("x=50x1x64"), Some(&[1, 2]), &[]).unwrap_err();
    let refused = refused.to_string();
    assert!(refused.contains("gives 50 for dimension 1") && refused.contains("--batch-axis"));
    for axis in ["rows", "x=1"] {
        let (dims, _, warnings) = planned(&home, Some("x=50xNx64"), Some(&[4]), &[axis]).unwrap();
        assert_eq!(dims, [50, 4, 64], "{axis}");
        assert!(!warnings.iter().any(|text| text.contains("taken for")));
    }
    let refused = planned(&home, None, None, &["columns"])
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("\"columns\" that no input has"),
        "{refused}"
    );
}

#[test]
fn the_command_line_takes_a_batch_axis() {
    let home = Home::new();
    home.write("net.onnx", recurrent(Dim::Name("time"), Dim::Name("rows")));
    let bench = |axis: &str| {
        home.run(&[
            "bench",
            "net.onnx",
            "--setup",
            "fake",
            "--batch",
            "2",
            "--shape",
            "x=50xNx64",
            "--batch-axis",
            axis,
            "--preset",
            "quick",
            "--rounds",
            "1",
            "--json",
        ])
    };
    let made = bench("rows");
    assert_eq!(made.status, Some(0), "{made:#?}");
    assert!(!made.err.contains("taken for"), "{made:#?}");
    bench("x=9").fails_saying(&["x=9", "counted from 0"]);
    bench("x=").fails_saying(&["batch axis"]);
}

#[test]
fn a_batch_that_is_fixed_in_a_setup_stays_where_it_was() {
    let home = Home::new();
    let Some(library) = support::component(support::onnxruntime(), "ONNX Runtime") else {
        return;
    };
    home.write("net.onnx", recurrent(Dim::Name("time"), Dim::Name("batch")));
    let setup = format!("ort,fixed_batch=4,runtime={}", library.display());
    let made = home.run(&[
        "bench",
        "net.onnx",
        "--setup",
        &setup,
        "--batch",
        "4",
        "--shape",
        "x=50xNx64",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--json",
    ]);
    assert_eq!(made.json()["cases"][0]["outcome"], "finished", "{made:#?}");
}

/// Old and new rows under a mask that is as long as both together.
fn decoder() -> Vec<u8> {
    let node = |op: &str, inputs: &[&str], output: &str| NodeProto {
        op_type: op.to_owned(),
        input: inputs.iter().map(|name| (*name).to_owned()).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    };
    let mut joined = node("Concat", &["past", "new"], "rows");
    joined.attribute.push(AttributeProto {
        name: "axis".to_owned(),
        r#type: 2,
        i: Some(1),
        ..AttributeProto::default()
    });
    models::model(
        vec![joined, node("Where", &["mask", "rows", "rows"], "y")],
        &[
            (
                "new",
                FLOAT,
                &[
                    Dim::Name("batch_size"),
                    Dim::Name("sequence_length"),
                    Dim::Size(8),
                ],
            ),
            (
                "mask",
                BOOL,
                &[
                    Dim::Name("batch_size"),
                    Dim::Name("total_sequence_length"),
                    Dim::Size(1),
                ],
            ),
            (
                "past",
                FLOAT,
                &[
                    Dim::Name("batch_size"),
                    Dim::Name("past_sequence_length"),
                    Dim::Size(8),
                ],
            ),
        ],
        (
            FLOAT,
            &[Dim::Name("batch_size"), Dim::Name("rows"), Dim::Size(8)],
        ),
    )
}

#[test]
fn the_shapes_that_are_suggested_for_a_decoder_run() {
    let home = Home::new();
    let Some(library) = support::component(support::onnxruntime(), "ONNX Runtime") else {
        return;
    };
    home.write("net.onnx", decoder());
    let setup = format!("ort,runtime={}", library.display());
    let start = [
        "bench", "net.onnx", "--setup", &setup, "--batch", "1,2", "--preset", "quick", "--rounds",
        "1",
    ];
    let refused = home.run(&start);
    refused.fails_saying(&[
        "leaves 3 sizes open",
        "past_sequence_length of past",
        "(the model was run with these once)",
    ]);
    let options = refused.err.split("Choose with ").nth(1).unwrap();
    let options = options.split(" (").next().unwrap();
    let options: Vec<&str> = options.split_whitespace().collect();
    let made = home.run(&[&start[..], &options[..], &["--json"]].concat());
    let outcomes: Vec<String> = made.outcomes().into_iter().map(|(_, _, how)| how).collect();
    assert_eq!(outcomes, ["finished", "finished"], "{options:?} {made:#?}");
}

#[test]
fn an_input_that_cannot_be_fed_is_named_where_the_inputs_are() {
    const STRING: i32 = 8;
    let home = Home::new();
    home.write(
        "net.onnx",
        models::one_node(
            "Identity",
            &[("words", STRING, &[Dim::Name("N")])],
            (STRING, &[Dim::Name("N")]),
        ),
    );
    let made = home.run(&["model", "net.onnx"]);
    let inputs = made
        .out
        .split("Inputs")
        .nth(1)
        .unwrap()
        .split("Outputs")
        .next()
        .unwrap();
    assert!(
        inputs.contains("input \"words\" holds string elements"),
        "{made:#?}"
    );
    assert_eq!(made.out.matches("\"words\"").count(), 1, "{made:#?}");
}

/// What `model` says of a file, as JSON.
fn described(home: &Home, file: &std::path::Path, more: &[&str]) -> serde_json::Value {
    let mut args = vec!["model", file.to_str().expect("UTF-8"), "--json"];
    args.extend(more);
    home.run(&args).json()
}

/// The options that a text suggests.
fn suggested(text: &str) -> Vec<String> {
    let (_, options) = text.split_once("Choose with ").expect(text);
    let words = options.split_whitespace();
    let ends = |word: &&str| word.starts_with("--shape") || word.contains('=');
    words.take_while(ends).map(str::to_owned).collect()
}

/// A reader of lines: pictures of 48 rows, whose height is pooled and squeezed away.
fn reader() -> Vec<u8> {
    let ints = |name: &str, values: &[i64]| AttributeProto {
        name: name.to_owned(),
        r#type: 7,
        ints: values.to_vec(),
        ..AttributeProto::default()
    };
    let pool = NodeProto {
        op_type: "MaxPool".to_owned(),
        input: vec!["x".to_owned()],
        output: vec!["flat".to_owned()],
        attribute: vec![ints("kernel_shape", &[48, 4]), ints("strides", &[48, 4])],
        ..NodeProto::default()
    };
    let squeeze = NodeProto {
        op_type: "Squeeze".to_owned(),
        input: vec!["flat".to_owned(), "two".to_owned()],
        output: vec!["y".to_owned()],
        ..NodeProto::default()
    };
    let two = NodeProto {
        op_type: "Constant".to_owned(),
        output: vec!["two".to_owned()],
        attribute: vec![ints("value_ints", &[2])],
        ..NodeProto::default()
    };
    let dims = [Dim::Name("n"), Dim::Size(3), Dim::Name("h"), Dim::Name("w")];
    let output = [Dim::Name("n"), Dim::Size(3), Dim::Name("v")];
    models::model(
        vec![two, pool, squeeze],
        &[("x", FLOAT, &dims)],
        (FLOAT, &output),
    )
}

#[test]
fn model_and_bench_suggest_the_same_sizes_which_run_and_both_take_them() {
    let home = Home::new();
    let file = home.write("reader.onnx", reader());
    let name = file.to_str().expect("UTF-8");
    let notes = described(&home, &file, &[])["notes"].to_string();
    let by_model = suggested(&notes.replace('"', " "));
    assert_eq!(by_model, ["--shape", "x=Nx3x48x320"]);
    let bench = ["bench", name, "--setup", "fake", "--preset", "quick"];
    let refused = home.run(&bench);
    assert_eq!(suggested(&refused.err), by_model);
    let options: Vec<&str> = by_model.iter().map(String::as_str).collect();
    let known = described(&home, &file, &options);
    assert_eq!(known["macs"], 0, "{known}");
    let ran = home.run(&[&bench[..], &options, &["--batch", "1", "--json"]].concat());
    assert_eq!(ran.outcomes()[0].2, "finished");
    home.run(&["model", name, "--shape", "z=Nx1"])
        .fails_saying(&["--shape names an input \"z\""]);
    home.run(&["model", name, "--input", "z=ones"])
        .fails_saying(&["--input names an input \"z\""]);
}

/// Exports a Swin of torchvision with an open batch; its MACs are those of its parts.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test is the user, who starts programs"
)]
fn a_swin_with_an_open_batch_has_its_cost() {
    let Some(python) = support::component(support::torch_python(), "PyTorch with torchvision")
    else {
        return;
    };
    let home = Home::new();
    let file = home.path("swin.onnx");
    let script = "import sys, torch, torchvision\n\
        x = torch.randn(2, 3, 224, 224)\n\
        m = torchvision.models.swin_t(weights=None).eval()\n\
        torch.onnx.export(m, (x,), sys.argv[1], dynamo=False, opset_version=17,\n\
            input_names=['x'], output_names=['y'], dynamic_axes={'x': {0: 'batch'}})\n";
    let made = std::process::Command::new(python)
        .args(["-c", script])
        .arg(&file)
        .output()
        .expect("a Python");
    if !made.status.success() {
        support::skipped("an export of torchvision's Swin");
        return;
    }
    let known = described(&home, &file, &[]);
    let macs = known["macs"].as_u64();
    let macs = macs.unwrap_or_else(|| panic!("no cost: {}", known["notes"]));
    assert!((4_300_000_000..4_600_000_000).contains(&macs), "{macs}");
}

/// The voice detector that the package silero-vad brings, where that is installed beside PyTorch.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test is the user, who starts programs"
)]
fn a_voice_detector_is_described_and_its_suggestion_runs() {
    let found = support::torch_python().and_then(|python| {
        let place = "import importlib.util as u; print(u.find_spec('silero_vad').submodule_search_locations[0])";
        let asked = std::process::Command::new(python).args(["-c", place]).output().ok()?;
        let folder = String::from_utf8(asked.stdout).ok()?;
        let file = std::path::Path::new(folder.trim()).join("data/silero_vad.onnx");
        file.exists().then_some(file)
    });
    let Some(file) = found else {
        support::skipped("the Python package silero-vad");
        return;
    };
    let home = Home::new();
    let known = described(&home, &file, &[]);
    assert!(
        known["parameters"].as_u64().expect("a count") > 500_000,
        "{known}"
    );
    let rate = known["inputs"].as_array().expect("inputs").iter();
    let rate: Vec<&serde_json::Value> = rate.filter(|input| input["name"] == "sr").collect();
    assert!(
        rate[0]["filled_with"].to_string().contains("16,000"),
        "{rate:?}"
    );
    let name = file.to_str().expect("UTF-8");
    let options = suggested(&known["notes"].to_string().replace('"', " "));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let bench = [
        "bench", name, "--preset", "quick", "--rounds", "1", "--batch", "1", "--json",
    ];
    let ran = home.run(&[&bench[..], &options].concat());
    assert!(
        ran.outcomes().iter().any(|outcome| outcome.2 == "finished"),
        "{}",
        ran.err
    );
}
