//! What the machine and its engines reach: `powerband roofs` for real on the processor, and on a card that is not
//! here, with an interpreter that only answers.

use std::fs;
use std::path::{Path, PathBuf};

use powerband_runner::roofs::devices::RoofDevice;
use powerband_store::roofs_file;
use serde_json::Value;

use crate::cards::FakeAmdCards;
use crate::support::{self, Home, ProgramRun};

/// A peak that was measured while something else computed is too low for what an engine reaches afterwards.
const ATTEMPTS: usize = 3;

/// Rows of the first device with this in a column.
fn rows<'a>(document: &'a Value, key: &str, value: &str) -> Vec<&'a Value> {
    let all = document["devices"][0]["roofs"].as_array().expect("roofs");
    all.iter().filter(|row| row[key] == value).collect()
}

fn figure(row: &Value) -> f64 {
    row["figure"].as_f64().expect("a figure")
}

/// The one file that is kept.
fn kept_file(home: &Home) -> PathBuf {
    let files = support::files(&home.path("home/roofs"));
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

/// The program with ONNX Runtime and with no Python that may have PyTorch.
fn measure(home: &Home, library: &Path, args: &[&str]) -> ProgramRun {
    let args = [&["roofs", "--json"], args].concat();
    home.run_with(
        &args,
        &[("ORT_DYLIB_PATH", library), ("PATH", Path::new("/nowhere"))],
    )
}

/// The share of the measured peak that ONNX Runtime's product reaches, with one thread.
fn share_of_peak(document: &Value) -> f64 {
    let is = |row: &&&Value, key: &str, value: &str| row[key] == value;
    let compute = rows(document, "kind", "compute");
    let peak = compute.iter().filter(|row| is(row, "what", "fp32"));
    let peak = peak
        .filter(|row| row["threads"].as_f64() == Some(1.0))
        .map(|row| figure(row));
    let products = rows(document, "kind", "engine GEMM");
    let product = products
        .iter()
        .filter(|row| row["threads"].as_f64() == Some(1.0));
    let product =
        product.filter(|row| row["code"].as_str().unwrap_or_default().starts_with("ort:"));
    let product = product.map(|row| figure(row)).fold(0.0, f64::max);
    product / peak.fold(0.0, f64::max)
}

#[test]
fn roofs_are_measured_once_and_kept() {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let home = Home::new();
    home.run(&["roofs", "--show"])
        .fails_saying(&["no roofs are kept"]);

    // A damaged file is as good as none.
    let unmeasured = RoofDevice::processor().unmeasured();
    roofs_file::write(&home.path("home/roofs"), &unmeasured).expect("roofs");
    let path = kept_file(&home);
    fs::write(&path, "(device: \"cpu\", broken").expect("a broken file");
    home.run(&["roofs", "--show"])
        .fails_saying(&["cannot be used"]);

    let (mut shares, mut n_measured) = (Vec::new(), Value::Null);
    let document = loop {
        let again: &[&str] = if shares.is_empty() { &[] } else { &["--again"] };
        let run = measure(&home, &library, again);
        assert_eq!(run.status, Some(0), "{run:#?}");
        let document = run.json();
        assert!(document["measured_now"].as_u64() > Some(0));
        if shares.is_empty() {
            n_measured = document["measured_now"].clone();
            let notes = document["notes"].to_string();
            assert!(notes.contains("cannot be used"), "{document}");
        }
        let share = share_of_peak(&document);
        shares.push(share);
        if share > 0.0 && share <= 1.05 {
            break document;
        }
        assert!(shares.len() < ATTEMPTS, "shares of the peak: {shares:?}");
    };
    let copies = rows(&document, "kind", "engine copy");
    assert!(!copies.is_empty() && copies.iter().all(|row| figure(row) > 0.0));
    let nodes = rows(&document, "kind", "engine node");
    assert!(nodes.iter().all(|row| figure(row) > 0.0), "{nodes:?}");
    for kind in ["compute", "bandwidth", "engine GEMM"] {
        let rows = rows(&document, "kind", kind);
        assert!(!rows.is_empty(), "{kind}");
        for row in rows {
            // On a busy machine a product may be measured once in its time.
            let has_spread = row["spread_percent"].as_f64() >= Some(0.0);
            assert!(has_spread || row["repetitions"] == 1.0, "{row}");
            assert!(row["low"].as_f64() <= row["high"].as_f64(), "{row}");
        }
    }

    // Read again, and not measured again.
    assert_eq!(kept_file(&home), path);
    let text = fs::read_to_string(&path).expect("the kept file");
    let second = measure(&home, &library, &[]).json();
    assert_eq!(second["measured_now"], 0, "{second}");
    assert_eq!(second["devices"], document["devices"]);
    assert_eq!(fs::read_to_string(&path).ok().as_ref(), Some(&text));
    let shown = home.run(&["roofs", "--show"]);
    assert!(shown.out.contains("engine GEMM"), "{shown:#?}");

    goes_with_runs(&home);
    changes_are_noticed(&home, &path, &text);

    fs::write(&path, &text).expect("the file as it was");
    let again = measure(&home, &library, &["--again"]).json();
    assert_eq!(again["measured_now"], n_measured);
    assert_ne!(
        again["devices"][0]["measured"],
        document["devices"][0]["measured"]
    );
}

/// A session has the roofs that were known when its run began.
fn goes_with_runs(home: &Home) {
    let out = home.path("with-roofs.ron");
    let out_text = out.display().to_string();
    let run = home.run(&[
        "bench",
        "resnet18@cifar",
        "--setup",
        "fake",
        "--batch",
        "1",
        "--rounds",
        "1",
        "--preset",
        "quick",
        "--out",
        &out_text,
    ]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let session = fs::read_to_string(out).expect("the session");
    assert!(session.contains("roofs: ["), "no roofs in the session");
    assert!(
        session.contains("product_per_s"),
        "no engine in the session"
    );
}

/// Roofs of another method or of other threads are not shown, and say why.
fn changes_are_noticed(home: &Home, path: &Path, text: &str) {
    for (from, to, said) in [
        ("method: ", "method: 9", "method"),
        ("threads: ", "threads: 9", "threads"),
    ] {
        let (before, after) = text.split_once("conditions: (").expect("conditions");
        let changed = format!("{before}conditions: ({}", after.replacen(from, to, 1));
        fs::write(path, changed).expect("a changed file");
        home.run(&["roofs", "--show"])
            .fails_saying(&["no longer hold", said]);
    }
}

#[test]
fn what_cannot_be_measured_is_a_sentence() {
    let home = Home::new();
    home.run(&["roofs", "--setup", "nothing"])
        .fails_saying(&["nothing"]);
    home.run(&["roofs", "--setup", "ort,threads=0"])
        .fails_saying(&["threads=0"]);
    home.run(&["roofs", "--show", "--again"])
        .fails_saying(&["--again"]);
}

/// A worker that computes nothing and answers as PyTorch's does: a product of 8192³ takes a millisecond, a copy two,
/// a chain as many microseconds as it has nodes.
const ANSWERS: &str = r#"
case "$1" in
-c) echo "@SITE@"; exit 0 ;;
esac
echo '{"protocol":2,"program":"a test"}'
ns=0
while read -r line; do
    case "$line" in
    *'"Probe"'*) echo '{"Probed":{"version":"PyTorch 0.1","library":null,"devices":["cpu","rocm:0"],"providers":[],"lacks":{}}}' ;;
    *'"Load"'*)
        case "$line" in
        *roof-product*) ns=1000000 ;;
        *roof-copy*) ns=2000000 ;;
        *roof-chain-500*) ns=500000 ;;
        *roof-chain-1000*) ns=1000000 ;;
        esac
        echo '{"Loaded":{"engine":"PyTorch 0.1","library":null,"threads":2,"start_ns":0,"library_ns":0,"load_ns":1,"empty_run_ns":1,"notes":[]}}' ;;
    *'"Open"'*) echo '{"Opened":{"open_ns":1,"first_run_ns":1,"feeding":"","peak_bytes":null}}' ;;
    *'"Measure"'*) echo "{\"Measured\":{\"started_monotonic_ns\":1,\"spent_ns\":$ns,\"samples_ns\":\"$ns $ns $ns $ns $ns\"}}" ;;
    *'"Close"'*) echo '"Closed"' ;;
    esac
done
"#;

/// A home with such an interpreter in its settings, and roofs of the processor in which nothing was measured.
fn home_with_interpreter() -> Home {
    let home = Home::new();
    let site = home.path("site");
    fs::create_dir_all(site.join("torch")).expect("a folder");
    let body = ANSWERS.replace("@SITE@", &site.display().to_string());
    let python = home.script("python-of-a-test", &body);
    fs::create_dir_all(home.path("home")).expect("a folder");
    let settings = format!("(python: \"{}\")", python.display());
    home.write("home/settings.ron", settings);
    let processor = RoofDevice::processor().unmeasured();
    roofs_file::write(&home.path("home/roofs"), &processor).expect("roofs");
    home
}

#[test]
fn a_card_is_measured_through_an_engine_and_kept_by_itself() {
    let (home, cards) = (home_with_interpreter(), FakeAmdCards::new(2));
    let variables = [
        ("POWERBAND_ROOT", cards.root()),
        ("PATH", Path::new("/usr/bin:/bin")),
    ];
    let run = home.run_with(&["roofs", "--json"], &variables);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let document = run.json();
    let devices = document["devices"].as_array().expect("devices");
    let [_, card] = &devices[..] else {
        panic!("the second card has no engine, and so no roofs: {run:#?}");
    };
    assert_eq!(card["device"], "rocm:0", "{card}");
    assert_eq!(card["card"], FakeAmdCards::address(0), "{card}");
    assert_eq!(card["conditions"]["power_limit_w"], 500.0, "{card}");
    assert!(card["temperature_c"].as_f64().is_some(), "{card}");
    let all = card["roofs"].as_array().expect("roofs");
    let one = |kind: &str, what: &str| {
        let found = all
            .iter()
            .find(|row| row["kind"] == kind && row["what"] == what);
        figure(found.unwrap_or_else(|| panic!("no {kind} {what} in {card}")))
    };
    let product = 2.0 * 8192_f64.powi(3) / 1e-3;
    for numbers in ["fp32", "fp16", "bf16"] {
        let share = one("compute", numbers) / product;
        assert!((share - 1.0).abs() < 1e-9, "{numbers}: {share}");
    }
    let copied = one("bandwidth", "memory") * 2e-3 / f64::from(1 << 30);
    assert!((copied - 1.0).abs() < 1e-9, "{copied}");
    assert!((one("engine node", "fp32") - 1000.0).abs() < 1e-6);
    assert!(run.err.contains("rocm:1"), "{}", run.err);

    let files = support::files(&home.path("home/roofs"));
    assert_eq!(files.len(), 2, "{files:?}");
    let second = home.run_with(&["roofs", "--json"], &variables).json();
    assert_eq!(second["measured_now"], 0, "{second}");
}
