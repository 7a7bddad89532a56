//! Published numbers and the checks of them: on the example sessions, on a document without a fault, and on
//! made-up ones; and the commands that show and check them.

use std::fs;
use std::path::Path;

use powerband_core::domain::claim::Published;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::lint::{
    LintFinding, LintSeverity, lint_findings, published_findings,
};
use powerband_store::session_file;

use crate::support::Home;

const CASE_STUDY: &str = "sessions/published-resnet50-case-study.ron";
const AITEMPLATE: &str = "sessions/published-aitemplate-resnet50.ron";
const TRAINING: &str = "sessions/published-resnet-training-baseline.ron";
const SUITE: &str = "sessions/published-densenet121-suite.ron";
const MEASURED: [&str; 3] = [
    "sessions/resnet50-two-engines.ron",
    "sessions/densenet121-graph-optimisations.ron",
    "tests/fixtures/sessions/v1/outcomes.ron",
];

fn read(file: &str) -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    session_file::read(&path).expect("a session").session
}

/// A document in RON.
pub(crate) fn document(fields: &str) -> Published {
    ron::from_str(&format!("(source: (title: \"made up\"), {fields})")).expect("a document")
}

pub(crate) fn by<'a>(findings: &'a [LintFinding], check: &str) -> Vec<&'a LintFinding> {
    findings
        .iter()
        .filter(|finding| finding.check == check)
        .collect()
}

/// The only finding of a check, as one text.
fn only(findings: &[LintFinding], check: &str) -> String {
    let found = by(findings, check);
    assert_eq!(found.len(), 1, "{check}: {findings:#?}");
    let one = found[0];
    format!(
        "{} | {} | {} | {}",
        one.about, one.claimed, one.follows, one.sum
    )
}

fn assert_contains(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text}");
    }
}

#[test]
fn the_case_study_compares_batch_32_with_batch_1() {
    let findings = lint_findings(&read(CASE_STUDY));
    let batches = only(&findings, "batches");
    assert_contains(
        &batches,
        &[
            "80 img/s → 1,730 img/s at batch 32: 21.6 ×",
            "80 img/s is the rate of batch 1",
            "it is 2.98 ×: 80 → 238 img/s",
            "1 ÷ 12.5 ms = 80.0 img/s; 12.5 ms ÷ 4.2 ms = 2.98 ×",
        ],
    );
    let efficiency = only(&findings, "efficiency");
    assert_contains(
        &efficiency,
        &[
            "85 % at batch 1",
            "98 % at batch 32",
            "scaling would be 100 % at batch 1 and 23 % at batch 32",
            "share of the best rate 14 % and 100 %",
            "1,730 ÷ (32 × 238) = 23 %",
        ],
    );
    assert_eq!(findings.len(), 2, "{findings:#?}");
}

#[test]
fn the_second_half_of_an_mi250_loses_at_batches_2_and_8() {
    let findings = lint_findings(&read(AITEMPLATE));
    let found = by(&findings, "devices");
    let of_setup = |name: &str| {
        let one = found.iter().find(|finding| finding.about.starts_with(name));
        one.unwrap().follows.clone()
    };
    assert_contains(
        &of_setup("AITemplate, 2 × MI250"),
        &[
            "2 devices lose against 1 at batches 2 and 8;",
            "different conditions",
        ],
    );
    assert_contains(
        &of_setup("PyTorch 1.12 eager, 2 × MI250"),
        &["at batches 2 and 4;"],
    );
    assert_eq!((found.len(), findings.len()), (2, 2), "{findings:#?}");
}

#[test]
fn the_training_baseline_contradicts_itself() {
    let findings = lint_findings(&read(TRAINING));
    assert_contains(
        &only(&findings, "rates"),
        &[
            "ResNet-34 at batch 32",
            "42.7 ms and ~804 samples/sec",
            "32 ÷ 42.7 ms = 749 samples/sec",
            "+7.3 %",
        ],
    );
    assert_contains(
        &only(&findings, "phases"),
        &[
            "0.30 ms, 0.96 % of it, are not accounted for",
            "31.3 − (9.5 + 20.8 + 0.7) = 0.30 ms",
        ],
    );
    // 890 MB in one table and 282 MB in another, of one model on one data set.
    let memory = by(&findings, "values");
    assert!(
        memory
            .iter()
            .all(|finding| finding.weight == LintSeverity::Doubt)
    );
    assert_contains(&memory[0].sum, &["282 MB ≠ ~890 MB"]);
    // The numbers of parameters are those for ImageNet.
    let parameters = by(&findings, "networks");
    let told: Vec<&str> = parameters.iter().map(|f| f.follows.as_str()).collect();
    assert_eq!(
        told,
        [
            "resnet18@cifar has 11,173,962; 11.7 M is the count of resnet18, 11,689,512",
            "resnet34@cifar has 21,282,122; 21.8 M is the count of resnet34, 21,797,672",
        ]
    );
    assert_eq!(findings.len(), 4 + memory.len(), "{findings:#?}");
}

#[test]
fn the_suite_prints_one_pair_twice_and_gains_nothing() {
    let findings = lint_findings(&read(SUITE));
    assert_contains(
        &only(&findings, "twins"),
        &["latency 22–665 ms; throughput 22–665 samples/sec"],
    );
    assert_eq!(by(&findings, "best").len(), 0, "the worst says it");
    assert_contains(
        &only(&findings, "worst"),
        &[
            "Channels Last at batch 32, throughput",
            "48 ms (Baseline at batch 32) is the largest latency",
            "no fewer than 667 samples/sec (660 to 674 with rounding): 665 samples/sec is 0.25 % below",
            "32 ÷ 48 ms = 667 samples/sec > 665 samples/sec",
        ],
    );
    let rankings = by(&findings, "rankings");
    let told: Vec<&str> = rankings.iter().map(|f| f.claimed.as_str()).collect();
    assert_eq!(
        told,
        [
            "2. Channels Last, 10–30 % more; 3. torch.compile, 20–40 % more; 4. AMP, 1.5–2 ×",
            "2. Channels Last, 10–30 % more; 3. torch.compile, 20–40 % more; 5. FP16 quantization, 1.5–2 ×",
        ]
    );
    assert_contains(&rankings[0].sum, &["1.30 × < 1.45 ×; 1.41 × < 1.45 ×"]);
    assert_contains(&rankings[0].follows, &["it belongs above rank 2"]);
    let promises = by(&findings, "promises");
    let sums: Vec<&str> = promises
        .iter()
        .map(|finding| finding.sum.as_str())
        .collect();
    assert_contains(&sums.join("\n"), &["40 ms ÷ 22 ms = 1.82 ×", "= 62 % more"]);
    let values = by(&findings, "values");
    let sums: Vec<&str> = values.iter().map(|finding| finding.sum.as_str()).collect();
    assert_eq!(sums, ["875–1411 MB ≠ 875–1419 MB", "22–665 ms ≠ 48 ms"]);
    assert_contains(
        &only(&findings, "accuracy"),
        &["top-1 accuracy 100 %, top-5 accuracy 100 %"],
    );
}

#[test]
fn nothing_is_wrong_where_everything_agrees() {
    let consistent = document(
        r#"
        baseline: Some("before"),
        curves: [
            (setup: "a", hardware: "card", per_s: "img/s", points: [
                (batch: 1, latency_ms: Some("4.2"), throughput: Some("238"), efficiency: Some("100")),
                (batch: 8, latency_ms: Some("6.8"), throughput: Some("1,176"), efficiency: Some("62")),
                (batch: 16),
                (batch: 32, latency_ms: Some("31.3"), throughput: Some("1,023"), efficiency: Some("13")),
            ]),
            (setup: "a", hardware: "card", devices: 2, per_s: "img/s", points: [
                (batch: 8, latency_ms: Some("3.5"), throughput: Some("2,286"), efficiency: Some("100")),
                (batch: 32, throughput: Some("2,290"), efficiency: Some("100")),
            ]),
        ],
        changes: [
            (metric: Latency,
             before: Some((metric: Latency, value: "12.5", unit: "ms", batch: Some(1))),
             after: Some((metric: Latency, value: "4.2", unit: "ms", batch: Some(1))),
             claimed: Some(Times("3.0"))),
            (metric: Memory,
             before: Some((metric: Memory, value: "4.2", unit: "GB")),
             after: Some((metric: Memory, value: "2,100", unit: "MB")),
             claimed: Some(LessBy("50"))),
            (metric: Throughput,
             before: Some((metric: Throughput, value: "80", unit: "img/s", batch: Some(1))),
             after: Some((metric: Throughput, value: "238", unit: "img/s", batch: Some(1))),
             claimed: Some(MoreBy("198"))),
        ],
        steps: [(title: "AMP", changes: [(metric: Memory, claimed: Some(LessBy("30–50")))])],
        shares: [
            (of: "time", is_complete: true, parts: [
                (name: "convolutions", value: "66"), (name: "copies", value: "20"), (name: "rest", value: "15")]),
            (of: "time, expected", parts: [(name: "convolutions", value: "65–75"), (name: "others", value: "10–40")]),
        ],
        phases: [(of: "step", unit: "ms", total: "31.3", parts: [
            (name: "forward", value: "9.5"), (name: "backward", value: "21.0"), (name: "optimiser", value: "0.7")])],
        figures: [
            (metric: Latency, value: "4.2–31.3", unit: "ms"),
            (metric: Latency, subject: "a, card", value: "31.3", unit: "ms", batch: Some(32), extreme: Some(Worst)),
            (metric: Throughput, subject: "a, 2 × card", value: "2,290", unit: "img/s", batch: Some(32), extreme: Some(Best)),
            (metric: Latency, subject: "before", value: "40", unit: "ms", batch: Some(8)),
            (metric: Memory, subject: "before", value: "1,000", unit: "MB"),
            (metric: Memory, subject: "AMP", value: "600", unit: "MB"),
            (metric: Accuracy, subject: "a", value: "76.1", unit: "%", note: "top-1"),
            (metric: Accuracy, subject: "a", value: "92.9", unit: "%", note: "top-5"),
            (metric: Utilisation, value: "0–100", unit: "%"),
            (metric: Efficiency, value: "0–100", unit: "%"),
            (metric: Other("loss"), value: "2.3"),
        ]"#,
    );
    assert_eq!(published_findings(&consistent), []);
    assert_eq!(published_findings(&Published::default()), []);
}

#[test]
fn nothing_is_wrong_in_real_measurements() {
    for text in MEASURED {
        assert_eq!(lint_findings(&read(text)), []);
    }
}

#[test]
fn mixed_up_units_are_named() {
    let table = |latency: &str, throughput: &str| {
        let found = published_findings(&document(&format!(
            "curves: [(setup: \"a\", per_s: \"img/s\", points: [(batch: 8, latency_ms: Some(\"{latency}\"), throughput: Some(\"{throughput}\"))])]"
        )));
        found
            .into_iter()
            .map(|finding| (finding.check, finding.follows))
            .collect::<Vec<_>>()
    };
    for (latency, throughput, check, words) in [
        ("0.0068", "1,176", "units", "seconds where milliseconds"),
        ("6,800", "1,176", "units", "microseconds where milliseconds"),
        ("0.85", "1,176", "units", "that of one item"),
        ("6.8", "147", "units", "counts batches"),
        ("6.8", "1,000", "rates", "1,176 img/s"),
    ] {
        let found = table(latency, throughput);
        assert_eq!(found.len(), 1, "{latency} {throughput}: {found:?}");
        assert_eq!(found[0].0, check);
        assert_contains(&found[0].1, &[words]);
    }
    assert_eq!(table("6.8", "1,176"), []);
    assert_eq!(table("0", "0").len(), 0, "nothing can be said of nothing");
    let of_none = document(
        r#"curves: [(setup: "a", per_s: "/s", points: [(batch: 0, latency_ms: Some("6.8"), throughput: Some("9"), efficiency: Some("7"))])]"#,
    );
    assert_eq!(published_findings(&of_none), []);
}

#[test]
fn stated_gains_have_to_follow() {
    let change = |metric: &str, unit: &str, before: &str, after: &str, claimed: &str| {
        let figure =
            |value: &str| format!("Some((metric: {metric}, value: \"{value}\", unit: \"{unit}\"))");
        published_findings(&document(&format!(
            "changes: [(metric: {metric}, before: {}, after: {}, claimed: Some({claimed}))]",
            figure(before),
            figure(after)
        )))
    };
    assert_contains(
        &only(
            &change("Latency", "ms", "12.5", "4.2", "Times(\"3.2\")"),
            "gains",
        ),
        &["12.5 ms → 4.2 ms: 3.2 ×", "12.5 ms ÷ 4.2 ms = 2.98 ×"],
    );
    assert_contains(
        &only(
            &change("Memory", "GB", "2.1", "4.2", "LessBy(\"50\")"),
            "gains",
        ),
        &["100 % more"],
    );
    assert_contains(
        &only(
            &change("Throughput", "img/s", "100", "120", "MoreBy(\"40\")"),
            "gains",
        ),
        &["20 % more"],
    );
    assert_eq!(
        change("Accuracy", "%", "0", "70", "Times(\"2\")"),
        [],
        "not from nothing"
    );
    assert_eq!(
        change("Latency", "fortnights", "2", "1", "Times(\"9\")"),
        []
    );
    assert_eq!(change("Other(\"x\")", "y", "2", "1", "Times(\"9\")"), []);
}

#[test]
fn openly_unlike_batches_are_told() {
    let found = published_findings(&document(
        r#"changes: [(metric: Throughput,
            before: Some((metric: Throughput, value: "80", unit: "img/s", batch: Some(1))),
            after: Some((metric: Throughput, value: "1,730", unit: "img/s", batch: Some(32))),
            claimed: Some(Times("21.6")))]"#,
    ));
    assert_contains(
        &only(&found, "batches"),
        &["80 img/s at batch 1 → 1,730 img/s at batch 32: 21.6 ×"],
    );
}

#[test]
fn efficiencies_of_any_definition_are_accepted() {
    let column = |efficiencies: [&str; 3]| {
        let rows = [("1", "100"), ("2", "150"), ("4", "200")];
        let points: Vec<String> = rows
            .iter()
            .zip(efficiencies)
            .map(|((batch, rate), efficiency)| {
                format!("(batch: {batch}, throughput: Some(\"{rate}\"), efficiency: Some(\"{efficiency}\"))")
            })
            .collect();
        let points = points.join(", ");
        published_findings(&document(&format!(
            "curves: [(setup: \"a\", per_s: \"/s\", points: [{points}])]"
        )))
        .len()
    };
    assert_eq!(column(["100", "75", "50"]), 0, "scaling");
    assert_eq!(column(["50", "75", "100"]), 0, "of the best");
    assert_eq!(column(["100", "75", "67"]), 0, "over the batch before");
    assert_eq!(column(["20", "30", "40"]), 0, "of a peak of 500");
    assert_eq!(column(["85", "92", "95"]), 1);
}

#[test]
fn sums_of_shares_and_phases() {
    let shares = |is_complete: bool, values: [&str; 2]| {
        published_findings(&document(&format!(
            "shares: [(of: \"time\", is_complete: {is_complete}, parts: [(name: \"a\", value: \"{}\"), (name: \"b\", value: \"{}\")])]",
            values[0], values[1]
        )))
    };
    assert_contains(
        &only(&shares(false, ["65", "40"]), "shares"),
        &["105 %, more than there is", "65 + 40 = 105 %"],
    );
    assert_contains(
        &only(&shares(true, ["65–70", "20"]), "shares"),
        &["85.0 to 90.0 %", "the rest is not stated"],
    );
    assert_eq!(shares(false, ["65", "20"]), []);
    assert_eq!(shares(true, ["33.3", "66.6"]), [], "rounding");
    let over = published_findings(&document(
        r#"phases: [(of: "step", unit: "ms", total: "10.0", parts: [(name: "a", value: "8.0"), (name: "b", value: "3.0")])]"#,
    ));
    assert_contains(
        &only(&over, "phases"),
        &["1.0 ms more than the whole", "10.0 − (8.0 + 3.0) = −1.0 ms"],
    );
}

#[test]
fn a_best_that_is_surely_not_the_best_is_a_contradiction() {
    let found = published_findings(&document(
        r#"figures: [
            (metric: Throughput, subject: "a", value: "600", unit: "img/s", batch: Some(32), extreme: Some(Best)),
            (metric: Throughput, subject: "b", value: "700", unit: "img/s", batch: Some(32)),
        ]"#,
    ));
    assert_eq!(by(&found, "best")[0].weight, LintSeverity::Contradiction);
}

#[test]
fn accuracies_that_cannot_be() {
    let found = published_findings(&document(
        r#"figures: [
            (metric: Accuracy, subject: "a", value: "93", unit: "%", note: "top-1"),
            (metric: Accuracy, subject: "a", value: "76", unit: "%", note: "top-5"),
            (metric: Accuracy, subject: "b", value: "104", unit: "%", note: "top-1"),
        ]"#,
    ));
    let sums: Vec<&str> = by(&found, "accuracy")
        .iter()
        .map(|f| f.sum.as_str())
        .collect();
    assert_eq!(sums, ["104 % > 100 %", "93 % > 76 %"]);
}

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    path.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn check_says_what_it_found_and_ends_accordingly() {
    let home = Home::new();
    let found = home.run(&["check", &file(CASE_STUDY)]);
    assert_eq!(
        (found.status, found.err.as_str()),
        (Some(1), ""),
        "{found:#?}"
    );
    assert_contains(
        &found.out,
        &[
            "published, not measured",
            "1. Like for like: throughput at batch 32 (contradiction)",
            "12.5 ms ÷ 4.2 ms = 2.98 ×",
            "2 contradictions",
        ],
    );
    let clean = home.run(&["check", &file(MEASURED[0])]);
    assert_eq!(clean.status, Some(0), "{clean:#?}");
    assert_contains(&clean.out, &["Nothing was found"]);

    let both = home.run(&["check", &file(TRAINING), &file(MEASURED[0]), "--json"]);
    assert_eq!((both.status, both.err.as_str()), (Some(1), ""));
    let document = both.json();
    let first = &document["sessions"][0];
    assert_eq!(first["findings"][0]["check"], "rates");
    assert!(
        first["findings"][0]["sum"]
            .as_str()
            .unwrap()
            .contains("749")
    );
    assert_eq!(document["sessions"][1]["findings"], serde_json::json!([]));
    assert!(document["checks"].as_array().unwrap().len() > 10);

    home.run(&["check", "nowhere.ron"])
        .fails_saying(&["nowhere.ron"]);
    home.run(&["check"]).fails_saying(&["SESSION"]);

    // One that cannot be read does not keep the others from being checked.
    let mixed = home.run(&["check", "nowhere.ron", &file(CASE_STUDY)]);
    assert_eq!(mixed.status, Some(2), "{mixed:#?}");
    assert_contains(&mixed.err, &["nowhere.ron"]);
    assert_contains(&mixed.out, &["2 contradictions"]);
}

#[test]
fn what_nobody_measured_has_no_table() {
    let home = Home::new();
    home.run(&["export", &file(AITEMPLATE), "--to", "table.csv"])
        .fails_saying(&["no case that was measured", "--chart throughput"]);
    assert!(!home.path("table.csv").exists());
}

#[test]
fn what_is_published_is_shown_and_never_compared() {
    let home = Home::new();
    for name in [CASE_STUDY, AITEMPLATE, TRAINING, SUITE] {
        let shown = home.run(&["show", &file(name)]);
        assert_eq!(
            (shown.status, shown.err.as_str()),
            (Some(0), ""),
            "{shown:#?}"
        );
        assert_contains(
            &shown.out,
            &["published, not measured", "Source", "powerband check"],
        );
        let document = home.run(&["show", &file(name), "--json"]).json();
        assert_eq!(document["cases"], serde_json::json!([]));
        assert!(document["published"]["source"]["title"].is_string());
    }
    let tables = home.run(&["show", &file(AITEMPLATE)]).out;
    assert_contains(
        &tables,
        &[
            "Over the batch size, 2 × MI250 GCD",
            "    1         ",
            "12173.67",
        ],
    );

    let refused = |args: &[&str]| {
        home.run(args)
            .fails_saying(&["published, not measured", "no verdict"]);
    };
    refused(&["compare", &file(AITEMPLATE)]);
    refused(&["compare", &file(MEASURED[0]), &file(AITEMPLATE)]);
    refused(&["journey", &file(CASE_STUDY)]);
    refused(&["history", &file(CASE_STUDY)]);
    refused(&["bench", "--more", &file(CASE_STUDY)]);
}

#[test]
fn published_curves_go_out_alone_and_under_measured_ones() {
    let home = Home::new();
    let alone = [
        "export",
        &file(AITEMPLATE),
        "--chart",
        "throughput",
        "--to",
        "a.csv",
    ];
    let run = home.run(&alone);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let rows = fs::read_to_string(home.path("a.csv")).expect("a table");
    assert_contains(&rows, &["AITemplate, A100-40GB, published", "15444.57"]);

    let under = [
        "export",
        &file(MEASURED[0]),
        "--against",
        &file(AITEMPLATE),
        "--chart",
        "latency",
        "--to",
        "b.svg",
    ];
    let run = home.run(&under);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let picture = fs::read_to_string(home.path("b.svg")).expect("a picture");
    assert_contains(
        &picture,
        &["rten:cpu", "published", "stroke-dasharray=\"3 3\""],
    );
    // A column of the document is no setup of the plan.
    let one = [
        "export",
        &file(AITEMPLATE),
        "--chart",
        "latency",
        "--setup",
        "1",
        "--to",
        "c.svg",
    ];
    assert_eq!(home.run(&one).status, Some(2));
}
