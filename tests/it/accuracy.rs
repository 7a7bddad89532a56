//! Accuracy beside speed: what setups compute against the network in floats, on made-up inputs and on
//! the user's own.

use std::fs;

use image::{Rgb, RgbImage};
use powerband_onnx::pb::{AttributeProto, NodeProto, attribute_proto};
use serde_json::Value;

use crate::models::{self, Dim, FLOAT};
use crate::support::{self, Home, ProgramRun};

/// A short run of the program.
fn bench(home: &Home, model: &str, setups: &[&str], rest: &[&str]) -> ProgramRun {
    home.run(&arguments(model, setups, rest))
}

fn arguments<'a>(model: &'a str, setups: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["bench", model, "--preset", "quick", "--rounds", "1"];
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args.extend(rest);
    args
}

/// What a session says of a setup's outputs.
fn accuracy(document: &Value, setup: usize) -> Value {
    document["setups"][setup]["accuracy"].clone()
}

fn number(document: &Value, pointer: &str) -> f64 {
    let found = document.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number at {pointer} in {document:#}"))
}

#[test]
fn coarser_numbers_are_further_from_the_network_in_floats() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    let setups = ["ort", "ort,precision=fp16", "ort,precision=int8", "rten"];
    let rest = ["--batch", "1", "--accuracy=6", "--out", "a.ron", "--json"];
    let args = arguments("resnet18@cifar", &setups, &rest);
    let run = home.run_with(&args, &[("ORT_DYLIB_PATH", &library)]);
    let document = run.json();
    assert_eq!(run.status, Some(0), "{run:#?}");
    let found: Vec<Value> = (0..4).map(|setup| accuracy(&document, setup)).collect();
    for one in &found {
        assert_eq!(number(one, "/items"), 6.0);
        assert!(
            one["reference"].to_string().contains("ONNX Runtime"),
            "{one:#}"
        );
        assert_eq!(one["inputs"], "6 seeded inputs");
        assert_eq!(number(one, "/same_choice/of"), 6.0);
        let (mean, most) = (
            number(one, "/distance/mean_error"),
            number(one, "/distance/max_error"),
        );
        assert!(mean <= most, "{one:#}");
        assert!(number(one, "/distance/worst_cosine") <= number(one, "/distance/mean_cosine"));
        // Nobody labelled what was made up.
        assert_eq!((&one["top1"], &one["top5"]), (&Value::Null, &Value::Null));
    }
    let error = |setup: usize| number(&found[setup], "/distance/relative_error");
    let [float, half, whole, rten] = [0, 1, 2, 3].map(error);
    assert!(float < 1e-4 && rten < 1e-4, "{float}, {rten}");
    assert!(float < half && half < whole, "{float}, {half}, {whole}");
    assert!(whole > 1e-3 && whole < 0.5, "{whole}");
    let cosine = |setup: usize| number(&found[setup], "/distance/worst_cosine");
    assert!(cosine(1) > 0.9999 && cosine(2) > 0.99 && cosine(2) < cosine(1));
    let shown = home.run(&["show", "a.ron"]);
    for word in [
        "Accuracy on 6 seeded inputs",
        "Worst cosine",
        "float, not optimised",
    ] {
        assert!(shown.out.contains(word), "no \"{word}\" in {shown:#?}");
    }
}

/// A network of six classes that can be foretold: the mean of red, green and blue, and the negatives of
/// these.
fn colours() -> Vec<u8> {
    let node = |op: &str, inputs: &[&str], output: &str| NodeProto {
        op_type: op.to_owned(),
        name: op.to_owned(),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    };
    let axis = AttributeProto {
        name: "axis".to_owned(),
        r#type: attribute_proto::AttributeType::Int as i32,
        i: Some(1),
        ..AttributeProto::default()
    };
    let mut concat = node("Concat", &["means", "negative"], "y");
    concat.attribute = vec![axis];
    let nodes = vec![
        node("GlobalAveragePool", &["x"], "pooled"),
        node("Flatten", &["pooled"], "means"),
        node("Neg", &["means"], "negative"),
        concat,
    ];
    let pictures = [Dim::Name("N"), Dim::Size(3), Dim::Size(32), Dim::Size(32)];
    models::model(
        nodes,
        &[("x", FLOAT, &pictures)],
        (FLOAT, &[Dim::Name("N"), Dim::Size(6)]),
    )
}

/// Writes pictures of one colour into a folder for each class: two of each colour in its own, a green
/// one in the class that it comes second to, a red one in the class that it is furthest from.
fn write_pictures(home: &Home) {
    // None of them is as dark in one channel as it is bright in another.
    let (red, green, blue) = ([250, 110, 100], [110, 250, 100], [110, 110, 250]);
    let pictures = [
        ("0/a", red),
        ("0/b", [240, 115, 105]),
        ("1/a", green),
        ("1/b", [115, 240, 105]),
        ("2/a", blue),
        ("2/b", [120, 115, 240]),
        // After green itself it is least red.
        ("3/second", green),
        // Of six classes it is the sixth.
        ("3/worst", red),
    ];
    for (name, colour) in pictures {
        let path = home.path(&format!("pictures/{name}.png"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let picture = RgbImage::from_pixel(32, 32, Rgb(colour));
        picture.save(&path).expect("a picture");
    }
}

#[test]
fn labelled_pictures_tell_how_often_a_network_is_right() {
    let home = Home::new();
    home.write("colours.onnx", colours());
    write_pictures(&home);
    let mut setups = vec!["rten".to_owned()];
    if let Some(library) = support::onnxruntime() {
        setups.push(format!("ort,runtime={}", library.display()));
    }
    let setups: Vec<&str> = setups.iter().map(String::as_str).collect();
    let rest = ["--batch", "2", "--samples", "pictures", "--json"];
    let run = bench(&home, "colours.onnx", &setups, &rest);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    for setup in 0..setups.len() {
        let found = accuracy(&document, setup);
        assert!(found["inputs"].to_string().contains("8 samples of"));
        assert_eq!(
            found["top1"],
            serde_json::json!({ "hits": 6, "of": 8 }),
            "{found:#}"
        );
        assert_eq!(
            found["top5"],
            serde_json::json!({ "hits": 7, "of": 8 }),
            "{found:#}"
        );
        assert_eq!(number(&found, "/same_choice/hits"), 8.0);
    }
}

/// A network of one node on pictures.
fn on_pictures(op: &str, out: &[Dim]) -> Vec<u8> {
    let pictures = [Dim::Name("N"), Dim::Size(3), Dim::Size(32), Dim::Size(32)];
    models::one_node(op, &[("x", FLOAT, &pictures)], (FLOAT, out))
}

#[test]
fn a_map_chooses_between_no_classes() {
    let home = Home::new();
    write_pictures(&home);
    let map = [Dim::Name("N"), Dim::Size(3), Dim::Size(32), Dim::Size(32)];
    home.write("map.onnx", on_pictures("Relu", &map));
    let rest = [
        "--batch",
        "2",
        "--samples",
        "pictures",
        "--out",
        "m.ron",
        "--json",
    ];
    let run = bench(&home, "map.onnx", &["rten"], &rest);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let found = accuracy(&run.json(), 0);
    for column in ["same_choice", "top1", "top5", "trouble"] {
        assert_eq!(found[column], Value::Null, "{column} of {found:#}");
    }
    assert_eq!(number(&found, "/distance/worst_cosine"), 1.0);
    let why = found["no_choice"].to_string();
    let expect = "is 2×3×32×32, not one row of class scores for each input";
    assert!(why.contains(expect), "{why}");
    let shown = home.run(&["show", "m.ron"]);
    assert!(
        shown
            .out
            .contains("Same choice, top-1 and top-5 are not known")
            && shown.out.contains(expect),
        "{shown:#?}"
    );
    // Dimensions of size 1 do not make a map.
    let row = [Dim::Name("N"), Dim::Size(3), Dim::Size(1), Dim::Size(1)];
    home.write("row.onnx", on_pictures("GlobalAveragePool", &row));
    let rest = ["--batch", "2", "--accuracy=4", "--json"];
    let run = bench(&home, "row.onnx", &["rten"], &rest);
    let found = accuracy(&run.json(), 0);
    assert_eq!(number(&found, "/same_choice/hits"), 4.0);
    assert_eq!(found["no_choice"], Value::Null);
}

#[test]
fn inputs_that_cannot_be_used_are_a_sentence() {
    let home = Home::new();
    let with = |samples: &str| {
        let rest = ["--batch", "2", "--samples", samples, "--json"];
        bench(&home, "resnet18@cifar", &["fake"], &rest)
    };
    with("missing").fails_saying(&["--samples missing", "no such file or folder"]);
    let rest = ["--batch", "2", "--accuracy=0"];
    bench(&home, "resnet18@cifar", &["fake"], &rest).fails_saying(&["--accuracy=0"]);

    fs::create_dir(home.path("empty")).expect("a folder");
    home.write("letter.txt", "Dear reader\n");
    home.write("wrong.npy", array(&[4, 3, 31, 31]));
    home.write("one.npy", array(&[1, 3, 32, 32]));
    let faults: [(&str, &[&str]); 4] = [
        (
            "empty",
            &["empty holds neither pictures nor .npy or .npz files"],
        ),
        ("letter.txt", &["letter.txt holds no inputs"]),
        (
            "wrong.npy",
            &["wrong.npy has the wrong shape", "4×3×31×31", "3×32×32"],
        ),
        ("one.npy", &["1 input, fewer than one batch of 2"]),
    ];
    for (samples, words) in faults {
        let run = with(samples);
        run.fails_saying(words);
        assert!(!run.err.contains("panicked"), "{run:#?}");
    }
}

/// A `NumPy` file of zeros.
fn array(dims: &[usize]) -> Vec<u8> {
    let shape: Vec<String> = dims.iter().map(ToString::to_string).collect();
    let mut header = format!(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}",
        shape.join(", ")
    );
    // Magic, version and length before it, a line's end behind it, and all a multiple of 64.
    let spaces = (64 - (10 + header.len() + 1) % 64) % 64;
    header.push_str(&" ".repeat(spaces));
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a short header");
    let zeros = vec![0; dims.iter().product::<usize>() * 4];
    let magic: &[u8] = b"\x93NUMPY\x01\x00";
    [magic, &length.to_le_bytes(), header.as_bytes(), &zeros].concat()
}

#[test]
fn outputs_that_are_no_numbers_are_not_compared() {
    let home = Home::new();
    let dims = [Dim::Name("N"), Dim::Size(64)];
    // Half of what is made up is below zero.
    home.write(
        "root.onnx",
        models::one_node("Sqrt", &[("x", FLOAT, &dims)], (FLOAT, &dims)),
    );
    let rest = ["--batch", "2", "--accuracy=4", "--out", "n.ron", "--json"];
    let run = bench(&home, "root.onnx", &["rten"], &rest);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let found = accuracy(&run.json(), 0);
    assert_eq!(found["distance"], Value::Null, "{found:#}");
    assert_eq!(found["same_choice"], Value::Null, "{found:#}");
    let trouble = found["trouble"].to_string();
    assert!(trouble.contains("are no finite numbers"), "{trouble}");
    let shown = home.run(&["show", "n.ron"]);
    assert!(shown.out.contains("no finite numbers"), "{shown:#?}");
    for run in [run, shown] {
        assert!(!run.err.contains("panicked"), "{run:#?}");
    }
}
