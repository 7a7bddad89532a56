//! `powerband kernels` on sessions with the profiles of real training.

use powerband_core::domain::profile::{DeviceTime, Profile, Total};
use powerband_core::domain::trace::SliceKind;
use powerband_store::session_file;

use crate::support::{Home, ProgramRun};

const V100: &str = include_str!("../fixtures/kernels/resnet50-v100.tsv");
const MI210: &str = include_str!("../fixtures/kernels/resnet-mi210.tsv");
const VIT: &str = include_str!("../fixtures/kernels/vit-mi300.tsv");

/// The names of a fixture with their times.
pub(crate) fn totals(fixture: &str) -> Vec<Total> {
    let line = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let mut kinds = SliceKind::ALL.into_iter();
        Total {
            work: None,
            kind: kinds.find(|kind| kind.title() == cells[0]).expect("a kind"),
            calls: cells[1].parse().expect("calls"),
            total_ns: cells[2].parse().expect("a time"),
            min_ns: cells[3].parse().ok(),
            max_ns: cells[4].parse().ok(),
            op: cells[5].to_owned(),
            name: cells[6].to_owned(),
            place: "GPU 0".to_owned(),
        }
    };
    fixture.lines().skip(1).map(line).collect()
}

fn profile(name: &str, fixture: &str) -> Profile {
    Profile {
        name: name.to_owned(),
        totals: totals(fixture),
        runs: Some(6),
        devices: vec![DeviceTime {
            device: "GPU 0".to_owned(),
            kernels_ns: 0,
            busy_ns: 600_000_000,
            span_ns: 800_000_000,
            gaps: vec![(1_000_000, 90_000_000), (2_000_000, 40_000_000)],
            not_computing: None,
        }],
        ..Profile::default()
    }
}

/// A home with a session of three profiles and one without.
fn home() -> Home {
    let home = Home::new();
    let measured = [
        "bench",
        "resnet18@cifar",
        "--preset",
        "quick",
        "--rounds",
        "1",
        "--setup",
        "fake",
        "--batch",
        "1",
        "--out",
        "none.ron",
    ];
    let run = home.run(&measured);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let mut session = session_file::read(&home.path("none.ron"))
        .expect("a session")
        .session;
    session.profiles = vec![
        profile("V100", V100),
        profile("MI210", MI210),
        profile("ViT", VIT),
    ];
    session_file::write(&home.path("some.ron"), &session).expect("it works");
    home
}

fn answer(home: &Home, args: &[&str]) -> ProgramRun {
    let mut all = vec!["kernels", "some.ron"];
    all.extend(args);
    let run = home.run(&all);
    assert_eq!(run.status, Some(0), "{run:#?}");
    run
}

#[test]
fn questions_are_answered_in_text() {
    let home = home();
    let text = answer(&home, &[]).out;
    for words in [
        "V100",
        "convolution",
        "batch normalisation",
        "copies",
        "idle 25.0 %",
        "90.0 ms at 1.00 ms on GPU 0",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let text = answer(
        &home,
        &["--profile", "ViT", "--by", "operator", "--top", "10"],
    )
    .out;
    assert!(
        text.contains("aten::addmm") && text.contains("aten::_flash_attention_forward"),
        "{text}"
    );
    let text = answer(
        &home,
        &["--by", "kernel", "--filter", "wgrad alg0", "--over", "1%"],
    )
    .out;
    assert!(
        text.contains("wgrad_alg0_engine<") && text.contains("left out"),
        "{text}"
    );
    assert!(!text.contains("dgrad"), "{text}");
    let text = answer(&home, &["--filter", "nosuchkernel*"]).out;
    assert!(
        text.contains("Nothing matches the filter") && !text.contains("those above"),
        "{text}"
    );
}

#[test]
fn documents_and_comparisons_add_up() {
    let home = home();
    let document = answer(&home, &["--json"]).json();
    let rows = document["rows"].as_array().unwrap();
    let shares: f64 = rows.iter().map(|row| row["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    assert_eq!(document["idle_share"], 0.25);
    let args = [
        "--profile",
        "2",
        "--against",
        "some.ron",
        "--against-profile",
        "V100",
        "--json",
    ];
    let document = answer(&home, &args).json();
    let rows = document["rows"].as_array().unwrap();
    let sum: f64 = rows
        .iter()
        .map(|row| row["difference_ns"].as_f64().unwrap())
        .sum();
    assert!((sum - document["difference_ns"].as_f64().unwrap()).abs() < 1.0);
    assert_eq!(document["per_run"], true);
    let text = answer(&home, &["--profile", "2", "--against", "some.ron"]).out;
    assert!(
        text.contains("V100 → MI210") && text.contains("Removed: "),
        "{text}"
    );
}

#[test]
fn rules_of_the_settings_come_first() {
    let home = home();
    let rows = |home: &Home| answer(home, &["--json"]).json()["rows"].clone();
    let share = |home: &Home| {
        let rows = rows(home);
        let mut rows = rows.as_array().unwrap().iter();
        let row = rows.find(|row| row["category"] == "gemm");
        row.map_or(0.0, |row| row["share"].as_f64().unwrap())
    };
    assert!(share(&home) < 0.01);
    home.write(
        "home/settings.ron",
        "(categories: [(\"gemm\", \"*sgemm*\"), (\"nonsense\", \"x\")])",
    );
    assert!(share(&home) > 0.05);
    let said = answer(&home, &[]).err;
    assert!(said.contains("there is no category nonsense"), "{said}");
}

#[test]
fn launches_that_were_counted_and_not_timed_have_no_time() {
    let home = Home::new();
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import/rocprofv3/rocm62-docs-counter_collection.csv");
    let file = file.display().to_string();
    let imported = home.run(&["import", &file, "--out", "counted.ron", "--json"]);
    assert!(imported.json()["summed_ns"].is_null(), "{imported:#?}");
    let printed = home.run(&["import", &file]);
    assert!(printed.out.contains("SQ_WAVES"), "{printed:#?}");
    let run = home.run(&["kernels", "counted.ron"]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert!(
        run.out
            .contains("Kernel time (sum)  – (the profile has no times)"),
        "{run:#?}"
    );
    assert!(
        !run.out.contains("0 ns") && !run.out.contains("0 calls"),
        "{run:#?}"
    );
    assert!(!run.out.contains("Category"), "{run:#?}");
    for words in [
        "Kernel",
        "Counter",
        "Launches",
        "Sum",
        "Per launch",
        "SQ_WAVES",
    ] {
        assert!(run.out.contains(words), "no {words} in {run:#?}");
    }
    let one = home.run(&["kernels", "counted.ron", "--top", "1"]);
    assert!(
        !one.out.contains("SQ_WAVES") || one.out.contains("left out"),
        "{one:#?}"
    );
    let none = home.run(&["kernels", "counted.ron", "--filter", "nothing_so_called"]);
    assert!(!none.out.contains("SQ_WAVES"), "{none:#?}");
    let document = home.run(&["kernels", "counted.ron", "--json"]).json();
    assert!(document["summed_ns"].is_null(), "{document:#}");
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(0));
    assert!(
        document["counters"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    );
    let compared = home.run(&["kernels", "counted.ron", "--against", "counted.ron"]);
    assert!(compared.out.contains("– → –, –"), "{compared:#?}");
    assert!(
        compared
            .out
            .contains("has no times, so there is nothing to compare"),
        "{compared:#?}"
    );
    let report = home.run(&["report", "counted.ron", "--to", "report.md"]);
    assert_eq!(report.status, Some(0), "{report:#?}");
    let written = std::fs::read_to_string(home.path("report.md")).expect("a report");
    assert!(
        written.contains("it has no times") && written.contains("SQ\\_WAVES"),
        "{written}"
    );
    assert!(!written.contains("0 ns"), "{written}");
}

#[test]
fn what_is_not_there_is_a_sentence() {
    let home = home();
    home.run(&["kernels", "none.ron"])
        .fails_saying(&["has no profile", "powerband import"]);
    home.run(&["kernels", "some.ron", "--profile", "9"])
        .fails_saying(&["no profile 9", "1 V100"]);
    home.run(&["kernels", "some.ron", "--over", "2"])
        .fails_saying(&["from 0% to 100%"]);
}

#[test]
fn against_and_by_have_a_row_for_each_of_the_level() {
    let home = home();
    let rows = |by: &[&str]| {
        let args = ["kernels", "some.ron", "--profile", "2", "--json"];
        let against = ["--against", "some.ron"];
        let document = home.run(&[&args[..], &against, by].concat()).json();
        let rows = document["rows"].as_array().expect("rows").clone();
        let matched: std::collections::BTreeSet<String> = rows
            .iter()
            .map(|row| row["matched_by"].as_str().unwrap_or_default().to_owned())
            .collect();
        (rows.len(), matched)
    };
    let (categories, by_category) = rows(&["--by", "category"]);
    let (kernels, by_kernel) = rows(&["--by", "kernel"]);
    assert!(categories < kernels, "{categories} {kernels}");
    assert!(by_category.contains("category") && !by_category.contains("name"));
    assert!(!by_kernel.contains("category") && !by_kernel.contains("base name"));
    // Without a level, names that differ are matched by what they have in common.
    let steps = ["base name", "operator", "category"];
    assert!(
        rows(&[])
            .1
            .iter()
            .any(|matched| steps.contains(&matched.as_str()))
    );
}

#[test]
fn compare_of_two_profiles_names_the_command_for_kernels() {
    let home = home();
    for name in ["a", "b"] {
        std::fs::copy(
            "tests/fixtures/import/kineto/alexnet-cuda.trace.json.gz",
            home.path(&format!("{name}.json.gz")),
        )
        .expect("a copy");
        let file = format!("{name}.json.gz");
        let run = home.run(&["import", &file, "--out", &format!("{name}.ron")]);
        assert_eq!(run.status, Some(0), "{run:#?}");
    }
    home.run(&["compare", "a.ron", "b.ron"])
        .fails_saying(&["powerband kernels b.ron --against a.ron"]);
}
