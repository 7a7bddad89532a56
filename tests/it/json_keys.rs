//! The keys of JSON documents, which other programs read: those of example sessions stay as the fixture lists them.

use std::collections::BTreeSet;

use crate::support::Home;
use serde_json::Value;

const COMMANDS: [&[&str]; 5] = [
    &["show", "--json"],
    &["check", "--json"],
    &["compare", "--json"],
    &["journey", "--json"],
    &["kernels", "--json", "--by", "kernel"],
];
const SESSIONS: [&str; 4] = [
    "sessions/densenet121-graph-optimisations",
    "sessions/published-resnet50-case-study",
    "tests/fixtures/sessions/v2/tract-and-onnxruntime",
    "sessions/resnet50-what-limits-it",
];

#[test]
fn documents_keep_their_keys() {
    let home = Home::new();
    let mut found = BTreeSet::new();
    for command in COMMANDS {
        for session in SESSIONS {
            let root = env!("CARGO_MANIFEST_DIR");
            let path = format!("{root}/{session}.ron");
            let run = home.run(&[command, &[path.as_str()]].concat());
            // A session without a profile has no kernels, and one of published numbers no comparison.
            if !run.out.is_empty() {
                add_keys(&run.json(), command[0], &mut found);
            }
        }
    }
    let known: BTreeSet<String> = include_str!("../fixtures/json_keys.txt")
        .lines()
        .map(str::to_owned)
        .collect();
    let differences: Vec<&String> = known.symmetric_difference(&found).collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

fn add_keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = format!("{path}.{key}");
                add_keys(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(values) => {
            for value in values {
                add_keys(value, &format!("{path}[]"), found);
            }
        }
        _ => {}
    }
}
