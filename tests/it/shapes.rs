//! Sizes of inputs: which dimension is the batch, what is given for the others, and what is suggested.

use powerband_core::base::paths::Paths;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_measure::runner::installation::Installation;
use powerband_measure::runner::prepare::prepare;
use powerband_measure::runner::prepare_error::PrepareError;
use powerband_measure::runner::programs::Origin;
use powerband_measure::runner::request::RunRequest;
use powerband_onnx::pb::{AttributeProto, NodeProto};
use powerband_onnx::shapes::parse_override;
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
        programs: Origin::Typed,
        setups: vec!["fake".parse().expect("a setup")],
        shapes: shape
            .iter()
            .map(|text| parse_override(text).expect("a shape"))
            .collect(),
        points: batches.map(|sizes| sizes.iter().copied().map(Point::of_batch).collect()),
        batch_axis: axis
            .iter()
            .map(|text| text.parse().expect("an axis"))
            .collect(),
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
