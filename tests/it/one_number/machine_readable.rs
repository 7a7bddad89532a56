//! What documents say for other programs: cases, pairs, steps and kernels of `--json`, and exported spreadsheets.

use std::collections::BTreeMap;

use powerband_findings::tables::{ColumnHead, Table, cases, pairs, steps};
use serde_json::Value;

use super::facts::{Facts, Said};

/// A value that is not known.
const UNKNOWN: &str = "–";

/// The heads of a table, by their keys.
fn heads(table: &Table) -> BTreeMap<&'static str, ColumnHead> {
    table.heads().iter().map(|head| (head.key, *head)).collect()
}

/// A plain number of a document in the unit of [`shown_number`].
fn number_in_unit(head: &ColumnHead, value: &Value) -> Said {
    let scale = match head.unit {
        "ms" => 1e6,
        "%" | "as % of it" => 0.01,
        _ => 1.0,
    };
    Said::Number(value.as_f64().map(|number| number * scale))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => UNKNOWN.to_owned(),
        other => other.to_string(),
    }
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The sizes of a point as names of a row.
fn point_names(point: &Value) -> String {
    let sizes = point.as_object().into_iter().flatten();
    let names: Vec<String> = sizes
        .map(|(name, size)| match name.as_str() {
            "batch" => format!("Batch {size}"),
            name => format!("{name} {size}"),
        })
        .collect();
    names.join(", ")
}

/// The cases of `show --json` and of an exported document.
pub(super) fn add_cases(
    facts: &mut Facts,
    place: &str,
    labels: &BTreeMap<String, String>,
    document: &Value,
) {
    let table = cases::of_lines(Vec::new());
    let heads = heads(&table);
    let paths = [
        ("median_ms", "/latency_ms/median"),
        ("min_ms", "/latency_ms/min"),
        ("p90_ms", "/latency_ms/p90"),
        ("p99_ms", "/latency_ms/p99"),
        ("throughput_per_s", "/throughput_per_s"),
        ("samples", "/samples"),
        ("peak_memory_bytes", "/memory/peak_bytes"),
        ("energy_j_per_item", "/energy/gross_j_per_item"),
    ];
    for case in list(&document["cases"]) {
        let spec = text(&case["setup"]);
        let row = format!("Setup {}, {}", labels[&spec], point_names(&case["point"]));
        for (key, path) in paths {
            let value = case.pointer(path).unwrap_or(&Value::Null);
            facts.add(
                &row,
                heads[key].title,
                place,
                number_in_unit(&heads[key], value),
            );
        }
        // Shares are from 0 to 1 here and in per cent in a spreadsheet.
        for (key, field) in [
            ("of_best", "of_best"),
            ("utilisation", "busy"),
            ("uncertainty", "ci95_rel"),
        ] {
            let share = Said::Number(case[field].as_f64());
            facts.add(&row, heads[key].title, place, share);
        }
    }
}

/// The pairs of a comparison.
pub(super) fn add_pairs(
    facts: &mut Facts,
    place: &str,
    labels: &BTreeMap<String, String>,
    comparisons: &Value,
) {
    let table = pairs::of_pairs(&[]);
    let heads = heads(&table);
    for pair in list(comparisons).iter().flat_map(|one| list(&one["pairs"])) {
        let label = |side: &str| labels[&text(&pair[side]["setup"])].clone();
        let row = format!(
            "Before {}, After {}, {}",
            label("before"),
            label("after"),
            point_names(&pair["before"]["point"])
        );
        let values = [
            ("speed_up", &pair["speed_up"]),
            ("rounds", &pair["rounds"]),
            ("median_before_ms", &pair["before"]["median_ms"]),
            ("median_after_ms", &pair["after"]["median_ms"]),
        ];
        for (key, value) in values {
            facts.add(
                &row,
                heads[key].title,
                place,
                number_in_unit(&heads[key], value),
            );
        }
        let verdict = Said::Text(text(&pair["verdict"]));
        facts.add(&row, heads["verdict"].title, place, verdict);
    }
}

/// The steps of `steps --json`; alternatives are rows of setups.
pub(super) fn add_steps(facts: &mut Facts, place: &str, document: &Value) {
    let table = steps::of_journey(&Default::default());
    let heads = heads(&table);
    let word = if document["is_ladder"] == true {
        "Step"
    } else {
        "Setup"
    };
    for step in list(&document["steps"]) {
        let row = format!(
            "{word} {}, {}",
            text(&step["title"]),
            point_names(&step["point"])
        );
        let values = [
            ("median_ms", &step["median_ms"]),
            ("throughput_per_s", &step["throughput_per_s"]),
            ("vs_baseline", &step["over_start"]["speed_up"]),
            ("memory_bytes", &step["memory_bytes"]),
            ("setup_time_ms", &step["preparation_ms"]),
        ];
        for (key, value) in values {
            facts.add(
                &row,
                heads[key].title,
                place,
                number_in_unit(&heads[key], value),
            );
        }
    }
}

/// The rows of `kernels --json` by category.
pub(super) fn add_kernels(facts: &mut Facts, place: &str, document: &Value) {
    for row in list(&document["rows"]) {
        let name = format!("Category {}", text(&row["short"]));
        let number = |value: &Value| Said::Number(value.as_f64());
        facts.add(&name, "Share", place, number(&row["share"]));
        facts.add(&name, "Total", place, number(&row["total_ns"]));
        facts.add(&name, "Calls", place, number(&row["calls"]));
    }
}

/// The rows of an exported spreadsheet.
pub(super) fn add_csv(facts: &mut Facts, place: &str, csv: &str) {
    let table = cases::of_lines(Vec::new());
    let heads = heads(&table);
    let mut lines = csv.lines();
    let keys: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    for line in lines {
        let cells = csv_cells(line);
        let cell = |key: &str| {
            let place = keys.iter().position(|known| *known == key);
            place.and_then(|place| cells.get(place)).cloned()
        };
        let dimensions = keys
            .iter()
            .filter(|key| **key == "batch" || !heads.contains_key(*key));
        let sizes: Vec<String> = dimensions
            .map(|key| {
                let name = if *key == "batch" { "Batch" } else { key };
                format!("{name} {}", cell(key).unwrap_or_default())
            })
            .collect();
        let row = format!(
            "Setup {}, {}",
            cell("label").unwrap_or_default(),
            sizes.join(", ")
        );
        for key in [
            "min_ms",
            "median_ms",
            "p90_ms",
            "p99_ms",
            "throughput_per_s",
            "samples",
            "peak_memory_bytes",
        ] {
            let value: Option<f64> = cell(key).and_then(|cell| cell.parse().ok());
            let value = value.map_or(Value::Null, Value::from);
            facts.add(
                &row,
                heads[key].title,
                place,
                number_in_unit(&heads[key], &value),
            );
        }
    }
}

/// Cells of a line, of which some may be quoted.
fn csv_cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().expect("a cell").push(c),
        }
    }
    cells
}

/// A setup's label by its spelling.
pub(super) fn labels_of(document: &Value) -> BTreeMap<String, String> {
    let looks = list(&document["plan"]["looks"]);
    let setups = list(&document["setups"]).iter().enumerate();
    setups
        .map(|(place, setup)| {
            let spec = text(&setup["setup"]);
            let look = looks.get(place).map(|look| &look["label"]);
            let label = look.filter(|label| label.is_string()).map(text);
            (spec.clone(), label.unwrap_or(spec))
        })
        .collect()
}
