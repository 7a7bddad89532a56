//! One number, one name: every number that two places show of a session is the same in both. The places are `show`,
//! `compare`, `steps` and `kernels` with and without `--json`, reports in HTML and Markdown, exported files; the
//! window's are in `ui::one_number`.
//!
//! A number is known by what stands above it and by the names in its row, so that a new table is held without a line
//! here.

pub(crate) mod documents;
mod facts;
mod machine_readable;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Home, ProgramRun};
use documents::{WrittenTable, of_html, of_markdown, of_terminal};
use facts::Facts;
use machine_readable::{add_cases, add_csv, add_kernels, add_pairs, add_steps, labels_of, list};

/// What is written of a session, place by place.
pub(crate) struct Written {
    pub facts: Facts,
    /// Every text that people read, by its place.
    pub texts: Vec<(String, String)>,
    pub is_ladder: bool,
    /// Whether its numbers were published, and none was measured.
    pub is_published: bool,
}

impl Written {
    fn add_sheets(&mut self, place: &str, sheets: &[WrittenTable]) {
        if self.is_published {
            self.facts.add_published(place, sheets);
        } else {
            self.facts.add_sheets(place, sheets);
        }
    }
}

fn answered(run: &ProgramRun) -> Option<&str> {
    (run.status == Some(0)).then_some(run.out.as_str())
}

/// The commands that print a session.
const COMMANDS: [&str; 4] = ["show", "compare", "steps", "kernels"];

/// What the program prints of a session.
pub(crate) fn printed(home: &Home, file: &str) -> Written {
    let document = home.run(&["show", file, "--json"]).json();
    let mut written = Written {
        facts: Facts::default(),
        texts: Vec::new(),
        is_ladder: !list(&document["plan"]["ladder"]).is_empty(),
        is_published: list(&document["cases"]).is_empty() && document["published"].is_object(),
    };
    for command in COMMANDS {
        let shown = home.run(&[command, file]);
        if let Some(text) = answered(&shown) {
            written.add_sheets(command, &of_terminal(text));
            written.texts.push((command.to_owned(), text.to_owned()));
        }
    }
    written
}

/// Everything that the program writes of a session.
fn written(home: &Home, file: &str) -> Written {
    let mut written = printed(home, file);
    let labels = labels_of(&home.run(&["show", file, "--json"]).json());
    let commands: Vec<String> = written
        .texts
        .iter()
        .map(|(place, _)| place.clone())
        .collect();
    add_documents(&mut written.facts, home, file, &labels, &commands);
    add_exports(&mut written.facts, home, file, &labels);
    add_reports(&mut written, home, file);
    written
}

/// The documents of the commands that know the session.
fn add_documents(
    facts: &mut Facts,
    home: &Home,
    file: &str,
    labels: &BTreeMap<String, String>,
    commands: &[String],
) {
    for command in commands {
        let place = format!("{command} --json");
        let document = home.run(&[command, file, "--json"]).json();
        match command.as_str() {
            "show" => add_cases(facts, &place, labels, &document),
            "steps" => add_steps(facts, &place, &document),
            "kernels" => add_kernels(facts, &place, &document),
            _ => {}
        }
        if command != "kernels" {
            add_pairs(facts, &place, labels, &document["comparisons"]);
        }
    }
}

/// The exported spreadsheet and document.
fn add_exports(facts: &mut Facts, home: &Home, file: &str, labels: &BTreeMap<String, String>) {
    for ending in ["csv", "json"] {
        let to = format!("exported.{ending}");
        if home.run(&["export", file, "--to", &to]).status != Some(0) {
            continue;
        }
        let exported = fs::read_to_string(home.path(&to)).expect("an exported file");
        if ending == "csv" {
            add_csv(facts, &to, &exported);
        } else {
            let document: Value = serde_json::from_str(&exported).expect("a document");
            add_cases(facts, &to, labels, &document);
        }
    }
}

/// Reports of both kinds.
fn add_reports(written: &mut Written, home: &Home, file: &str) {
    for layout in ["full", "case-study"] {
        for ending in ["md", "html"] {
            let to = format!("{layout}.{ending}");
            let run = home.run(&["report", file, "--layout", layout, "--to", &to]);
            // A layout refuses what it has nothing to say of.
            if run.status != Some(0) && layout != "full" {
                continue;
            }
            assert_eq!(run.status, Some(0), "{run:#?}");
            let report = fs::read_to_string(home.path(&to)).expect("a report");
            if ending == "md" {
                written.add_sheets(&to, &of_markdown(&report));
                written.texts.push((to, report));
            } else {
                written.add_sheets(&to, &of_html(&report));
            }
        }
    }
}

/// Ten sessions and more: the examples, an early one, profiles of a processor and of a card, a ladder, one batch size, a grid.
pub(crate) fn sessions(home: &Home) -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut files = crate::support::files(&root.join("sessions"));
    files.push(root.join("tests/fixtures/sessions/v1/outcomes.ron"));
    for (from, to) in [
        ("onnxruntime/squeezenet-cpu-ort1.31.json", "processor.ron"),
        ("kineto/alexnet-cuda.trace.json.gz", "card.ron"),
    ] {
        let from = root.join("tests/fixtures/import").join(from);
        let run = home.run(&["import", &from.to_string_lossy(), "--out", to]);
        assert_eq!(run.status, Some(0), "{run:#?}");
        files.push(home.path(to));
    }
    let measure = |to: &str, rest: &[&str]| {
        let fixed = [
            "bench",
            "resnet18@cifar",
            "--preset",
            "quick",
            "--rounds",
            "3",
            "--out",
            to,
        ];
        let setups = ["--setup", "fake", "--setup", "fake,fixed=300"];
        let run = home.run(&[&fixed, &setups[..], rest].concat());
        assert_eq!(run.status, Some(0), "{run:#?}");
        home.path(to)
    };
    files.push(measure("ladder.ron", &["--journey", "--batch", "1,4"]));
    files.push(measure("one-batch.ron", &["--batch", "2"]));
    let grid = home.path("grid.ron");
    let session = crate::ui::shapes::session("grid", "2026-10-01T08:00:00Z", false);
    powerband_store::session_file::write(&grid, &session).expect("a session's file");
    files.push(grid);
    files
}

/// The sections of a report in which ratios stand alone, without a table.
fn prose(report: &str) -> String {
    let is_prose = |section: &&str| {
        ["Summary", "Key findings", "Key takeaways", "Overview"]
            .iter()
            .any(|title| section.starts_with(title))
    };
    report.split("\n## ").filter(is_prose).collect()
}

/// Ratios of a text that do not say of which point they are, and are no mean of several.
fn nowhere(text: &str) -> Vec<&str> {
    let sentences = text.split(['\n', ';']);
    sentences
        .filter(|sentence| {
            let ratios = sentence.match_indices(" ×");
            let said = ratios.filter(|(at, _)| {
                let rest = &sentence[at + " ×".len()..];
                let is_number = sentence[..*at].ends_with(|c: char| c.is_ascii_digit());
                // The formula of a line and the sides of a grid are no ratios.
                let is_product = rest.starts_with(" batch")
                    || rest
                        .strip_prefix(' ')
                        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
                is_number && !rest.starts_with(" at ") && !is_product
            });
            said.count() > 0 && !sentence.to_lowercase().contains("geometric mean")
        })
        .collect()
}

/// What a text must not say, with why.
fn slips(written: &Written) -> Vec<String> {
    let mut found = Vec::new();
    for (place, text) in &written.texts {
        let mut never = vec!["atch batch"];
        if !written.is_published {
            never.extend(["| Efficiency |", "± not known"]);
        }
        if !written.is_ladder && !written.is_published {
            never.extend([
                "All steps",
                "Break-even",
                "vs. previous",
                "The largest step",
                "Step 1: ",
            ]);
        }
        for word in never {
            if text.contains(word) {
                found.push(format!("{place} says {word:?}"));
            }
        }
        if Path::new(&place)
            .extension()
            .is_some_and(|kind| kind == "md")
        {
            let prose = prose(text);
            found.extend(
                nowhere(&prose)
                    .into_iter()
                    .map(|sentence| format!("{place} has a ratio without its point: {sentence}")),
            );
        }
    }
    found
}

#[test]
fn every_number_is_the_same_wherever_it_stands() {
    let home = Home::new();
    let mut shared = 0;
    let mut wrong = Vec::new();
    let files = sessions(&home);
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let file = file.to_string_lossy().into_owned();
        let written = written(&home, &file);
        shared += written.facts.shared();
        let contradictions = written.facts.contradictions();
        let said = contradictions.into_iter().chain(slips(&written));
        wrong.extend(said.map(|contradiction| format!("{file}: {contradiction}")));
    }
    assert!(
        wrong.is_empty(),
        "{} contradictions:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    // The test looks at something: hundreds of numbers stand in two places.
    assert!(shared > 300, "{shared}");
}

#[test]
fn busy_and_idle_are_those_of_the_device_that_ran_it() {
    let home = Home::new();
    let files = sessions(&home);
    let kernels = |name: &str| {
        let is_it = |file: &&PathBuf| file.ends_with(name);
        let file = files
            .iter()
            .find(is_it)
            .expect("the session")
            .to_string_lossy();
        home.run(&["kernels", &file]).out
    };
    for name in ["processor.ron", "resnet50-what-limits-it.ron"] {
        let text = kernels(name);
        assert!(
            text.contains("CPU busy") && text.contains("CPU idle"),
            "{text}"
        );
        assert!(!text.contains("GPU"), "{text}");
    }
    let text = kernels("card.ron");
    assert!(
        text.contains("GPU busy") && text.contains("GPU idle"),
        "{text}"
    );
}

#[test]
fn a_ratio_without_its_point_is_found() {
    assert_eq!(
        nowhere("1.68 × (95 % interval 1.623 to 1.737, faster)").len(),
        1
    );
    assert!(nowhere("1.68 × at batch 1 (faster); latency ≈ 1 ms × batch").is_empty());
}
