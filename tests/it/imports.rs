//! Files of other tools from the command line, and profiles of our own runs.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use powerband_core::domain::telemetry::Quantity;
use powerband_findings::chart::lanes;
use powerband_store::session_file;

use crate::support::{self, Home, ProgramRun};

/// Where a file of another tool lies.
fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    path.join(name).display().to_string()
}

fn import(home: &Home, files: &[&str], rest: &[&str]) -> ProgramRun {
    let files: Vec<String> = files.iter().map(|name| fixture(name)).collect();
    let mut args = vec!["import", "--json"];
    args.extend(files.iter().map(String::as_str));
    args.extend(rest);
    home.run(&args)
}

fn number(document: &Value, pointer: &str) -> u64 {
    let found = document.pointer(pointer).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no {pointer} in {document:#}"))
}

/// Format, calls of kernels and their time.
fn kernels(document: &Value) -> (String, u64, u64) {
    let list = document["kernels"].as_array().cloned().unwrap_or_default();
    let calls = list.iter().map(|kernel| number(kernel, "/calls")).sum();
    let summed: u64 = list.iter().map(|kernel| number(kernel, "/total_ns")).sum();
    assert_eq!(summed, number(document, "/summed_ns"));
    let format = document["format"].as_str().unwrap_or_default();
    (format.to_owned(), calls, summed)
}

#[test]
fn kernels_of_every_profiler_add_up() {
    let home = Home::new();
    for (file, format, calls, summed) in [
        (
            "kineto/alexnet-cuda.trace.json.gz",
            "pytorch",
            79,
            10_692_000,
        ),
        ("kineto/cpu-only-rank_non_gpu.json.gz", "pytorch", 0, 0),
        (
            "onnxruntime/resnet50-cpu-ort1.31.json",
            "onnxruntime",
            590,
            790_029_000,
        ),
        (
            "rocprof-v1/llamacpp-results.csv",
            "rocprof-dispatches",
            1963,
            662_138_329,
        ),
        (
            "rocprof-v1/llamacpp-results.stats.csv",
            "rocprof-stats",
            1963,
            662_138_329,
        ),
        (
            "rocprofv3/docs-kernel_trace.csv",
            "rocprofv3-kernels",
            9,
            96_160,
        ),
        (
            "rocprofv3/fsdp-908_results.json.gz",
            "rocprofv3-json",
            43_915,
            4_441_741_378,
        ),
        ("nsys/nvfuser-matmul-2024.6.sqlite", "nsys", 19, 393_539),
        ("derived/rocpd-v3-first3000.db", "rocpd", 3000, 900_869_261),
        (
            "derived/nvfuser_cuda_gpu_kern_sum.csv",
            "nsys-stats",
            19,
            393_539,
        ),
    ] {
        let run = import(&home, &[file], &[]);
        assert_eq!(run.status, Some(0), "{file}: {run:#?}");
        let document = run.json();
        assert_eq!(
            kernels(&document),
            (format.to_owned(), calls, summed),
            "{file}"
        );
        let busy = document["kernels_ns"].as_u64();
        assert!(busy.is_none_or(|busy| busy <= summed), "{file}: {busy:?}");
    }
}

#[test]
fn what_benchmarks_report_becomes_cases() {
    let home = Home::new();
    let ait = "derived/resnet50_ait_benchmark_dev_0.txt";
    let run = import(&home, &[ait], &["--out", "ait.ron"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let shown = home.run(&["show", "--json", "ait.ron"]).json();
    let cases = shown["cases"].as_array().cloned().unwrap_or_default();
    assert_eq!(cases.len(), 9);
    let last = cases
        .iter()
        .find(|case| case["batch"] == 256)
        .expect("batch 256");
    assert_eq!(last["latency_ms"]["median"].as_f64(), Some(29.62));
    let text = home.run(&["show", "ait.ron"]).out;
    assert!(text.contains("Powerband measured none of it"), "{text}");
}

#[test]
fn what_a_file_states_is_kept_with_its_case() {
    let home = Home::new();
    let log = "tensorrt/trtexec-resnet50-summary-sanitised.log";
    import(&home, &[log], &["--out", "trt.ron"]);
    let shown = home.run(&["show", "--json", "trt.ron"]).json();
    let cases = shown["cases"].as_array().cloned().unwrap_or_default();
    assert_eq!(cases.len(), 2);
    for case in &cases {
        assert_eq!(case["throughput_per_s"].as_f64(), Some(32_000.0));
        assert_eq!(number(case, "/samples"), 0);
        assert!(case["latency_ms"]["q1"].is_null(), "{case:#}");
        assert!(case["flags"].as_array().is_some_and(Vec::is_empty));
    }
    let latency = &cases[0]["latency_ms"];
    assert_eq!(latency["min"].as_f64(), Some(1.9));
    assert_eq!(latency["max"].as_f64(), Some(2.1));
}

/// A file, the point of its first case, and numbers at some places of that.
type OfLanguageModel = (&'static str, &'static str, &'static [(&'static str, f64)]);

#[test]
fn benchmarks_of_language_models_have_times_to_tokens_and_points() {
    let home = Home::new();
    let files: [OfLanguageModel; 5] = [
        (
            "llama-bench/qwen2-depth.md",
            r#"{"batch":1,"past":0,"prompt":512}"#,
            &[("/requests/prefill_tokens_per_s", 7_340.2)],
        ),
        (
            "vllm-bench/serve-detailed.json",
            r#"{"batch":1,"concurrency":4,"new":12,"prompt":128}"#,
            &[
                ("/samples", 8.0),
                ("/requests/count", 8.0),
                ("/requests/token_ms/n", 88.0),
            ],
        ),
        (
            "aiperf/gpt-oss-20b.json",
            r#"{"batch":1,"concurrency":100,"new":243,"prompt":550}"#,
            &[
                ("/requests/first_token_ms/median", 2_369.317_693),
                ("/requests/stated/output_tokens_per_s", 2_320.722),
                ("/requests/stated/requests_per_s", 9.551_6),
            ],
        ),
        (
            "genai-perf/summary.csv",
            r#"{"batch":1,"new":174,"prompt":3000}"#,
            &[("/requests/token_ms/p99", 35.23)],
        ),
        (
            "guidellm/sweep-synchronous.excerpt.json",
            r#"{"batch":1,"concurrency":1,"new":128,"prompt":257}"#,
            &[("/requests/first_token_ms/p90", 18.505)],
        ),
    ];
    for (file, point, numbers) in files {
        let run = import(&home, &[file], &["--out", "lm.ron", "--force"]);
        assert_eq!(run.status, Some(0), "{run:#?}");
        let shown = home.run(&["show", "--json", "lm.ron"]).json();
        let case = &shown["cases"][0];
        assert_eq!(case["point"].to_string(), point, "{file}");
        for (place, expected) in numbers {
            let found = case.pointer(place).and_then(Value::as_f64);
            let is_near = found.is_some_and(|found| (found - expected).abs() <= expected * 1e-4);
            assert!(is_near, "{file}{place}: {found:?}, not {expected}");
        }
        let text = home.run(&["show", "lm.ron"]).out;
        assert!(text.contains("First token"), "{file}: {text}");
    }
}

#[test]
fn a_session_keeps_its_timeline_beside_it() {
    let home = Home::new();
    let file = "kineto/mi250-minitoy-train-rocm62.json.gz";
    let first = import(&home, &[file], &["--out", "s.ron"]).json();
    let beside = home.path("s.1.trace.json.gz");
    assert!(beside.is_file());
    let path = beside.display().to_string();
    let again = home.run(&["import", "--json", &path]).json();
    assert_eq!(again["format"], "powerband-trace");
    for key in ["kernels", "busy_ns", "launches", "devices"] {
        assert_eq!(first[key], again[key], "{key}");
    }
    assert!(number(&first, "/launches/count") > 0);
}

#[test]
fn files_of_one_process_become_one_profile() {
    let home = Home::new();
    for name in ["decode_kernel_trace.csv", "decode_hip_api_trace.csv"] {
        let content = fs::read(fixture(&format!("rocprofv3/llamacpp-{name}"))).expect("a fixture");
        home.write(name, content);
    }
    let one = home.run(&["import", "decode_kernel_trace.csv", "--json"]);
    assert!(
        one.err.contains("decode_hip_api_trace.csv lies beside it"),
        "{one:#?}"
    );
    let files = [
        "import",
        "decode_kernel_trace.csv",
        "decode_hip_api_trace.csv",
        "--json",
    ];
    let both = home.run(&files).json();
    assert_eq!(kernels(&both).1, 144);
    let calls = both["totals"].as_array().cloned().unwrap_or_default();
    assert!(calls.iter().any(|total| total["kind"] == "call"));
}

#[test]
fn columns_of_a_plain_table_are_named_by_the_user() {
    let home = Home::new();
    home.write("t.csv", "case;n;took (us)\na;4;1500\na;4;1700\nb;4;900\n");
    let columns = "time=took (us),batch=n,name=case";
    let run = home.run(&["import", "t.csv", "--columns", columns, "--json"]);
    let reported = run.json()["reported"].clone();
    assert_eq!(number(&reported, "/0/samples"), 2);
    assert_eq!(number(&reported, "/0/batch"), 4);
    home.run(&["import", "t.csv"])
        .fails_saying(&["of no format", "--columns"]);
    home.run(&["import", "t.csv", "--columns", "batch=n"])
        .fails_saying(&["time="]);
}

#[test]
fn bad_files_are_sentences() {
    let home = Home::new();
    home.write("empty.json", "");
    home.write(
        "pointer.db",
        "version https://git-lfs.github.com/spec/v1\noid x\nsize 1\n",
    );
    home.write("noise.bin", [0_u8, 255, 254, 0, 1]);
    fs::create_dir(home.path("folder")).expect("a folder");
    let packed = fs::File::create(home.path("bomb.json.gz")).expect("a file");
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packed
        .write_all(b"{\"traceEvents\": [")
        .expect("it is written");
    packed
        .write_all(&vec![b' '; 3_000_000])
        .expect("it is written");
    packed.finish().expect("it is written");
    for (file, words) in [
        ("empty.json", "is empty"),
        ("pointer.db", "git lfs pull"),
        ("noise.bin", "of no format"),
        ("folder", "is a folder"),
        ("gone.json", "cannot read"),
    ] {
        home.run(&["import", file]).fails_saying(&[file, words]);
    }
    home.run(&["import", "bomb.json.gz", "--unpack-limit", "1"])
        .fails_saying(&["more than 1 MB", "--unpack-limit"]);
}

#[test]
fn what_is_cut_off_is_read_up_to_the_cut() {
    let home = Home::new();
    let whole = fs::read(fixture("onnxruntime/squeezenet-cpu-ort1.31.json")).expect("a fixture");
    home.write("cut.json", &whole[..whole.len() / 2]);
    let run = home.run(&["import", "cut.json", "--json"]);
    let document = run.json();
    assert!(kernels(&document).1 > 20);
    assert!(
        document["warnings"][0]
            .as_str()
            .is_some_and(|text| text.contains("cut off"))
    );
}

/// A session whose cases were profiled.
fn profiled(home: &Home, setup: &str, more: &[(&str, &Path)]) -> Value {
    let args = [
        "bench",
        "resnet18@cifar",
        "--setup",
        setup,
        "--batch",
        "1",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--profile",
        "--out",
        "p.ron",
    ];
    let run = home.run_with(&args, more);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(run.err.contains("profiled: "), "{run:#?}");
    assert!(home.path("p.1.trace.json.gz").is_file());
    is_tied_to_its_session(home);
    let trace = home.path("p.1.trace.json.gz").display().to_string();
    home.run(&["import", "--json", &trace]).json()
}

/// The timeline lies within the run, after what was measured, and the machine was watched meanwhile.
fn is_tied_to_its_session(home: &Home) {
    let session = session_file::read(&home.path("p.ron"))
        .expect("a session")
        .session;
    let profile = &session.profiles[0];
    let began_ns = profile.began_ns.expect("a clock in common");
    let length_ns = profile.span_ns.expect("times");
    let rounds = session.cases.iter().flat_map(|case| &case.rounds);
    let measured_ns = rounds.map(|round| round.started_ns + round.spent_ns).max();
    assert!(Some(began_ns) > measured_ns, "{began_ns} {measured_ns:?}");
    assert!(began_ns + length_ns < session.elapsed_ns);
    let host = &session.telemetry.tracks[0];
    let last = host.times_ns.last().expect("readings");
    assert!(*last > began_ns, "{last} {began_ns}");
    let lanes = lanes::of_profile(&session, profile, length_ns);
    let busy = lanes.iter().find(|lane| lane.quantity == Quantity::Busy);
    let points = &busy.expect("how busy the machine was").points;
    assert!(points.first().is_some_and(|(at, _)| *at < length_ns as f64));
    assert!(points.last().is_some_and(|(at, _)| *at > 0.0), "{points:?}");
}

/// The share of whole runs that the nodes of a profile make up.
fn share_of_runs(profile: &Value) -> f64 {
    let totals = profile["totals"].as_array().cloned().unwrap_or_default();
    let runs = totals.iter().find(|total| total["name"] == "model_run");
    let runs = runs.unwrap_or_else(|| panic!("no runs in {totals:#?}"));
    assert_eq!(number(runs, "/calls"), 10);
    number(profile, "/summed_ns") as f64 / number(runs, "/total_ns") as f64
}

#[test]
fn nodes_of_rten_are_timed_one_by_one() {
    nodes_are_timed_one_by_one("rten");
}

fn nodes_are_timed_one_by_one(setup: &str) {
    let profile = profiled(&Home::new(), setup, &[]);
    assert_eq!(kernels(&profile).1 % 10, 0);
    let timed = profile["kernels"].as_array().cloned().unwrap_or_default();
    let convolutions = timed.iter().filter(|kernel| kernel["op"] == "Conv");
    let spent: u64 = convolutions.map(|kernel| number(kernel, "/total_ns")).sum();
    let summed = number(&profile, "/summed_ns");
    assert!(spent > summed / 2, "{spent} of {summed} in convolutions");
    let share = share_of_runs(&profile);
    assert!((0.5..=1.0).contains(&share), "{share}");
}

#[test]
fn nodes_of_onnx_runtime_are_its_own_profile() {
    let Some(library) = support::component(support::onnxruntime(), "ONNX Runtime") else {
        return;
    };
    let library: PathBuf = library;
    let profile = profiled(&Home::new(), "ort", &[("ORT_DYLIB_PATH", &library)]);
    let share = share_of_runs(&profile);
    assert!((0.5..=1.0).contains(&share), "{share}");
    let kernels = profile["kernels"].as_array().cloned().unwrap_or_default();
    assert!(kernels.iter().any(|kernel| kernel["op"] == "Conv"));
    assert!(number(&profile, "/memory/0/peak_bytes") > 0);
}

#[test]
fn operators_of_pytorch_come_from_its_profiler() {
    let Some(python) = support::component(support::torch_python(), "PyTorch") else {
        return;
    };
    let home = Home::new();
    let profile = profiled(&home, "torch,task=train", &[("POWERBAND_PYTHON", &python)]);
    let totals = profile["totals"].as_array().cloned().unwrap_or_default();
    let calls = |name: &str| {
        let found = totals.iter().find(|total| total["name"] == name);
        found.map(|total| number(total, "/calls"))
    };
    // Ten of them, or fewer where they take seconds.
    let runs = calls("forward").unwrap_or(0);
    assert!((2..=10).contains(&runs), "{runs} runs");
    for phase in ["backward", "optimiser"] {
        assert_eq!(calls(phase), Some(runs), "{phase}");
    }
    assert!(calls("aten::convolution").is_some_and(|calls| calls >= 20 * runs));
    assert!(number(&profile, "/memory/0/peak_bytes") > 0);
}
