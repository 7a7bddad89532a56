//! Who runs a network's nodes: what ONNX Runtime makes of a network, its execution providers, and what
//! is said of those that are not here.

use serde_json::Value;

use crate::support::{self, Home, ProgramRun};

/// A short run on a small network.
fn bench(home: &Home, setups: &[&str]) -> ProgramRun {
    let mut args = vec![
        "bench",
        "resnet18@cifar",
        "--batch",
        "1",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--json",
    ];
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    home.run(&args)
}

fn examination(run: &ProgramRun, setup: usize) -> Value {
    let found = run.json()["setups"][setup]["examination"].clone();
    assert!(found.is_object(), "nothing was looked at: {run:#?}");
    found
}

fn total(nodes: &Value) -> u64 {
    let nodes = nodes.as_object().expect("operators");
    nodes.values().filter_map(Value::as_u64).sum()
}

#[test]
fn what_onnx_runtime_makes_of_a_network_is_looked_at() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    let setup = |rest: &str| format!("ort,runtime={}{rest}", library.display());
    let setups = [setup(""), setup(",opt=none")];
    let run = bench(&home, &[&setups[0], &setups[1], "rten"]);
    let (all, none) = (examination(&run, 0), examination(&run, 1));
    for found in [&all, &none] {
        assert_eq!(found["asked"], "CPU");
        assert_eq!(found["nodes_before"]["Conv"], 20, "{found:#}");
        assert_eq!(found["nodes_before"]["BatchNormalization"], 20);
        assert_eq!(found["providers"].as_array().map(Vec::len), Some(1));
        let only = &found["providers"][0];
        assert_eq!(only["provider"], "CPU");
        assert_eq!(only["nodes"].as_u64(), Some(total(&found["nodes_after"])));
        assert_eq!(only["share_of_nodes"], 1.0);
        assert_eq!(only["share_of_time"], 1.0);
        assert_eq!(found["fallback"], Value::Null);
    }
    let patterns = all["became"].as_array().expect("patterns");
    let folds = |pattern: &&Value| {
        let from = pattern["from"].as_array().expect("operators");
        from.starts_with(&[Value::from("Conv"), Value::from("BatchNormalization")])
    };
    let folded: u64 = patterns
        .iter()
        .filter(folds)
        .filter_map(|pattern| pattern["count"].as_u64())
        .sum();
    assert_eq!(folded, 20, "{all:#}");
    assert_eq!(all["nodes_after"]["BatchNormalization"], Value::Null);
    assert!(total(&all["nodes_after"]) < total(&all["nodes_before"]));
    assert_eq!(none["nodes_before"], none["nodes_after"]);
    assert_eq!(none["became"], Value::Array(Vec::new()), "{none:#}");
    let document = run.json();
    assert_eq!(document["setups"][2]["examination"], Value::Null);
    // Looking is a run of its own: what was measured is measured without it.
    assert_eq!(document["cases"][0]["outcome"], "finished");
    let told = home.run(&["show", &saved(&run), "--verbose"]).out;
    assert!(
        told.contains("Conv + BatchNormalization + Relu →"),
        "{told}"
    );
    assert!(
        told.contains("68 nodes, none of them fused, all on CPU"),
        "{told}"
    );
}

/// Where a run was saved.
fn saved(run: &ProgramRun) -> String {
    let line = run
        .err
        .lines()
        .find_map(|line| line.strip_prefix("Saved to "));
    line.unwrap_or_else(|| panic!("not saved: {run:#?}"))
        .to_owned()
}

#[test]
fn a_provider_that_the_library_lacks_says_how_to_get_it() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    let setup = |rest: &str| format!("ort{rest},runtime={}", library.display());
    let setups = [
        "fake".to_owned(),
        setup(":rocm:0,provider=migraphx"),
        setup(":cpu,provider=xnnpack"),
        setup(":cpu,library=/no/such/plugin.so"),
    ];
    let setups = setups.each_ref().map(String::as_str);
    let run = bench(&home, &setups);
    assert_eq!(run.status, Some(2), "{run:#?}");
    let document = run.json();
    let cases = document["cases"].as_array().expect("cases");
    assert_eq!(cases[0]["outcome"], "finished", "{run:#?}");
    let words: [&[&str]; 3] = [
        &[
            "built without MIGraphX",
            "powerband engines install onnxruntime --flavor migraphx",
        ],
        &["built without XNNPACK"],
        &["/no/such/plugin.so cannot be registered"],
    ];
    for (case, words) in cases[1..].iter().zip(words) {
        assert_eq!(case["outcome"], "unsupported", "{case:#}");
        let reason = case["reason"].to_string();
        for word in words {
            assert!(reason.contains(word), "no \"{word}\" in {reason}");
        }
    }
    // No package of it can be fetched, so no command is made up.
    assert!(!cases[2]["reason"].to_string().contains("--flavor"));
    assert!(!run.err.contains("panicked"), "{run:#?}");
}

#[test]
fn mistakes_in_devices_and_providers_are_said_before_anything_is_started() {
    let home = Home::new();
    let faults: [(&str, &[&str]); 9] = [
        ("ort:openvino", &["ort:cpu,provider=openvino"]),
        ("ort:tpu", &["no device tpu", "cpu, cuda"]),
        ("ort:cpu:1", &["one device"]),
        ("ort:cuda:x", &["cuda:0"]),
        ("ort,provider=abacus", &["provider=abacus", "migraphx"]),
        (
            "ort:cuda:0,provider=openvino",
            &["not on cuda", "ort:cpu,provider=openvino"],
        ),
        ("ort,strict=true", &["another provider than cpu"]),
        ("ort,ep.device_type=CPU", &["ep.device_type", "provider="]),
        ("ort,inter_threads=2", &["parallel=on"]),
    ];
    for (setup, words) in faults {
        bench(&home, &["fake", setup]).fails_saying(words);
    }
    assert!(support::files(&home.path("home/sessions")).is_empty());
}

#[test]
fn openvino_runs_the_nodes_that_it_is_given() {
    let Some(library) = support::openvino() else {
        return;
    };
    let home = Home::new();
    let setup = format!(
        "ort,provider=openvino,strict=true,runtime={}",
        library.display()
    );
    let run = bench(&home, &[&setup]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let found = examination(&run, 0);
    assert_eq!(found["asked"], "OpenVINO");
    assert_eq!(found["providers"][0]["provider"], "OpenVINO", "{found:#}");
    assert_eq!(found["providers"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["nodes_before"]["Conv"], 20);
    assert_eq!(found["fallback"], Value::Null);
    assert!(found["notes"].to_string().contains("compiles parts"));
    let flags = run.json()["cases"][0]["flags"].to_string();
    assert!(!flags.contains("fallback"), "{flags}");
}
