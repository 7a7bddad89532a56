//! Results of airspeed velocity (`asv`), as it keeps them below `results/MACHINE/`.
//!
//! A benchmark has one list of values over all combinations of its parameters; here each combination is a result.

use serde_json::{Map, Value};

use crate::benchmarks::stats_json::{self, Layout, NOWHERE, Unit};
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

/// More combinations than this are no parameters.
const MOST_COMBINATIONS: usize = 100_000;

pub(crate) const FORMAT: Format = Format {
    id: "airspeed-velocity",
    title: "results of airspeed velocity",
    tool: "airspeed velocity",
    name_ends: &[],
    recognises,
    read,
};

/// Of what is made of each combination.
const LAYOUT: Layout = Layout {
    entries: "/entries",
    name: "/name",
    samples: "/samples",
    unit: Unit::Is("s"),
    statistics: &[
        ("/result", "median"),
        ("/stats_ci_99_a", "median at least"),
        ("/stats_ci_99_b", "median at most"),
        ("/stats_q_25", "q1"),
        ("/stats_q_75", "q3"),
    ],
    figures: &[
        ("/stats_number", "iterations", ""),
        ("/stats_repeat", "repetitions", ""),
    ],
    facts: &[
        ("/commit_hash", "commit"),
        ("/env_name", "environment"),
        ("/params/machine", "machine"),
        ("/params/cpu", "CPU"),
        ("/params/os", "system"),
    ],
    sample_note: "each sample of airspeed velocity is the mean of its iterations",
    ..NOWHERE
};

fn recognises(head: &FileHead) -> bool {
    !head.is_list()
        && head.has_key("commit_hash")
        && head.has_key("env_name")
        && head.has_key("results")
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut document = source.json(&text, FORMAT.title, into)?;
    let columns: Vec<String> = match document.get("result_columns").and_then(Value::as_array) {
        Some(columns) => columns.iter().map(json::value_text).collect(),
        // Before 2022 a benchmark was an object, or a number.
        None => Vec::new(),
    };
    let results = document.get("results").and_then(Value::as_object).cloned();
    let mut entries = Vec::new();
    for (name, result) in results.into_iter().flatten() {
        watch.tick(source.bytes())?;
        let fields = fields(result, &columns);
        if is_time(&name) {
            entries.extend(combinations(&name, &fields));
        } else {
            into.reported.extend(other_values(&name, &fields));
        }
    }
    let (timed, failed): (Vec<Value>, Vec<Value>) = entries
        .into_iter()
        .partition(|entry| entry.get("result").is_some_and(Value::is_number));
    for entry in &failed {
        let name = entry.get("name").map(json::value_text);
        let mut reported = Reported::named(name.unwrap_or_default());
        reported
            .objections
            .push("the benchmark failed or was skipped".to_owned());
        into.reported.push(reported);
    }
    if let Some(members) = document.as_object_mut() {
        members.insert("entries".to_owned(), Value::Array(timed));
    }
    stats_json::read_document(&LAYOUT, &document, "", source, watch, into)
}

/// What kind a benchmark is shows in the last part of its name.
fn is_time(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.to_lowercase().starts_with("time")
}

/// A benchmark's columns by their names.
fn fields(result: Value, columns: &[String]) -> Map<String, Value> {
    match result {
        Value::Array(values) => columns.iter().cloned().zip(values).collect(),
        Value::Object(fields) => fields,
        other => [("result".to_owned(), other)].into_iter().collect(),
    }
}

/// The values of each parameter, of which results have every combination, the last one fastest.
fn parameters(fields: &Map<String, Value>) -> Vec<Vec<String>> {
    let lists = fields.get("params").and_then(Value::as_array);
    let list = |values: &Value| -> Vec<String> {
        let values = values.as_array().into_iter().flatten();
        values
            .map(|value| json::value_text(value).trim_matches('\'').to_owned())
            .collect()
    };
    lists.into_iter().flatten().map(list).collect()
}

/// A name and the place of each combination.
fn places(name: &str, parameters: &[Vec<String>]) -> Vec<String> {
    let mut names = vec![String::new()];
    for values in parameters {
        if names.len().saturating_mul(values.len()) > MOST_COMBINATIONS {
            break;
        }
        names = names
            .iter()
            .flat_map(|before| {
                let glue = if before.is_empty() { "" } else { ", " };
                values
                    .iter()
                    .map(move |value| format!("{before}{glue}{value}"))
            })
            .collect();
    }
    let with = |combination: &String| match combination.as_str() {
        "" => name.to_owned(),
        combination => format!("{name}({combination})"),
    };
    names.iter().map(with).collect()
}

/// The value of a combination in a column.
fn value_at<'a>(fields: &'a Map<String, Value>, column: &str, place: usize) -> Option<&'a Value> {
    match fields.get(column)? {
        Value::Array(values) => values.get(place),
        // Without parameters older files have the value itself.
        other if place == 0 => Some(other),
        _ => None,
    }
}

/// An entry for each combination of a benchmark of times.
fn combinations(name: &str, fields: &Map<String, Value>) -> Vec<Value> {
    let names = places(name, &parameters(fields));
    let entry = |(place, name): (usize, String)| {
        let mut entry = Map::new();
        entry.insert("name".to_owned(), Value::String(name));
        let columns = ["result", "samples"].into_iter().chain(LAYOUT_COLUMNS);
        for column in columns {
            let value = value_at(fields, column, place).cloned();
            entry.insert(column.to_owned(), value.unwrap_or_default());
        }
        Value::Object(entry)
    };
    names.into_iter().enumerate().map(entry).collect()
}

/// Columns that an entry takes over beside result and samples.
const LAYOUT_COLUMNS: [&str; 6] = [
    "stats_ci_99_a",
    "stats_ci_99_b",
    "stats_q_25",
    "stats_q_75",
    "stats_number",
    "stats_repeat",
];

/// What was measured in bytes or counted.
fn other_values(name: &str, fields: &Map<String, Value>) -> Vec<Reported> {
    let last = name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let (figure, unit) = if last.starts_with("peakmem") {
        ("most memory", "B")
    } else if last.starts_with("mem") {
        ("size", "B")
    } else {
        ("value", "")
    };
    let names = places(name, &parameters(fields));
    let reported = names.into_iter().enumerate().filter_map(|(place, name)| {
        let value = json::number(value_at(fields, "result", place)?)?;
        let mut reported = Reported::named(name);
        reported.figure(figure, value, unit);
        Some(reported)
    });
    reported.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "airspeed-velocity/numpy-linear.json";

    #[test]
    fn each_combination_of_a_real_file_is_a_result() {
        let imported = testing::fixture(FILE);
        let names: Vec<&str> = imported
            .reported
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert!(
            names.contains(&"nets.Linear.time_forward(16, float64)"),
            "{names:?}"
        );
        let find = |name: &str| {
            imported
                .reported
                .iter()
                .find(|one| one.name == name)
                .unwrap()
        };
        let forward = find("nets.Linear.time_forward(1, float32)");
        assert_eq!(forward.samples_ns.len(), 16);
        assert_eq!(forward.samples_ns[0], 8_207);
        assert_eq!(find("nets.time_broken").objections.len(), 1);
        let figure = |name: &str| {
            (
                find(name).figures[0].value,
                find(name).figures[0].unit.as_str(),
            )
        };
        assert_eq!(
            figure("nets.Linear.peakmem_forward(1, float32)"),
            (36_610_048.0, "B")
        );
        assert_eq!(figure("nets.track_parameters"), (65_536.0, ""));
        assert!(
            imported
                .facts
                .contains(&("machine".into(), "laptop".into()))
        );
    }

    #[test]
    fn old_files_have_objects_and_plain_numbers() {
        let text = r#"{"commit_hash": "a", "env_name": "e", "results": {"b.time_x": 0.25,
            "b.time_y": {"result": [0.5, null], "params": [["1", "2"]]}}}"#;
        let imported = testing::imported(text).unwrap();
        let typical = |name: &str| {
            let found = imported.reported.iter().find(|one| one.name == name);
            found.and_then(|one| one.typical_ns)
        };
        assert_eq!(typical("b.time_x"), Some(250_000_000));
        assert_eq!(
            (typical("b.time_y(1)"), typical("b.time_y(2)")),
            (Some(500_000_000), None)
        );
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        assert_eq!(
            places("a", &vec![vec!["1".to_owned(); 1000]; 9]).len(),
            1000
        );
    }
}
