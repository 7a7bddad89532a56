//! Exports of `hyperfine`: `--export-json` with every run, `--export-csv` with statistics alone.

use serde_json::Value;

use crate::benchmarks::common;
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

/// Statistics, all in seconds.
const SECONDS: [&str; 7] = ["mean", "stddev", "median", "user", "system", "min", "max"];

pub(crate) const FORMAT: Format = Format {
    id: "hyperfine",
    title: "results of hyperfine",
    tool: "hyperfine",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let is_json = !head.is_list()
        && head.has_key("results")
        && head.has_key("command")
        && (head.has_key("times") || head.has_key("mean"));
    is_json || head.has_columns(',', &["command", "mean", "stddev", "user", "system"])
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    if !text.trim_start().starts_with('{') {
        return table(&text, source, watch, into);
    }
    let value = source.json(&text, FORMAT.title, into)?;
    let results = value.get("results").and_then(Value::as_array);
    for result in results.into_iter().flatten().filter_map(Value::as_object) {
        watch.tick(source.bytes())?;
        if let Some(reported) = reported(result, into) {
            into.reported.push(reported);
        }
    }
    Ok(())
}

fn reported(result: &Object, into: &mut Imported) -> Option<Reported> {
    let mut reported = Reported::named(json::text_of(result, "command")?);
    let times = result.get("times").and_then(Value::as_array);
    let times = times.into_iter().flatten().filter_map(json::number);
    reported.samples_ns = times.filter_map(common::seconds).collect();
    for name in SECONDS {
        if let Some(value) = json::number_of(result, name) {
            reported.figure(name, value, "s");
        }
    }
    if reported.samples_ns.is_empty() {
        let typical = json::number_of(result, "median").or_else(|| json::number_of(result, "mean"));
        reported.typical_ns = Some(common::seconds(typical?)?);
    }
    let parameters = result.get("parameters").and_then(Value::as_object);
    for (name, value) in parameters.into_iter().flatten() {
        parameter(&mut reported, name, &json::value_text(value), into);
    }
    let memory = result.get("memory_usage_byte").and_then(Value::as_array);
    let memory: Vec<f64> = memory
        .into_iter()
        .flatten()
        .filter_map(json::number)
        .collect();
    if let Some(most) = memory.iter().copied().reduce(f64::max) {
        reported.figure("most memory", most, "B");
    }
    let codes = result.get("exit_codes").and_then(Value::as_array);
    let all = codes.map_or(0, Vec::len);
    let failed = codes
        .into_iter()
        .flatten()
        .filter(|code| code.as_i64() != Some(0))
        .count();
    if failed > 0 {
        reported.objections.push(format!(
            "{failed} of {all} runs ended with an exit code other than 0"
        ));
    }
    Some(reported)
}

/// A parameter of a scan: items in a run, a number, or words.
pub(crate) fn parameter(reported: &mut Reported, name: &str, value: &str, into: &mut Imported) {
    if common::is_batch(name) && reported.batch().is_none() {
        reported.set_batch(common::batch(value));
    }
    match lines::number(value) {
        Some(number) => {
            reported.figure(format!("parameter {name}"), number, "");
        }
        None => into.fact(&format!("parameter {name} of {}", reported.name), value),
    }
}

/// The table: one row a command.
fn table(
    text: &str,
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut rows = text.lines().filter(|line| !line.trim().is_empty());
    let columns = lines::fields(rows.next().unwrap_or_default(), ',');
    let mut unread = 0;
    for row in rows {
        watch.tick(source.bytes())?;
        let cells = lines::fields(row, ',');
        let of = |name: &str| {
            let place = columns
                .iter()
                .position(|column| column.eq_ignore_ascii_case(name))?;
            cells.get(place).map(String::as_str)
        };
        let number = |name: &str| of(name).and_then(lines::number);
        let typical = number("median").or_else(|| number("mean"));
        let (Some(command), Some(typical), true) =
            (of("command"), typical, cells.len() == columns.len())
        else {
            unread += 1;
            continue;
        };
        let mut reported = Reported::named(command);
        reported.typical_ns = common::seconds(typical);
        for name in SECONDS {
            if let Some(value) = number(name) {
                reported.figure(name, value, "s");
            }
        }
        for (column, cell) in columns.iter().zip(&cells) {
            if let Some(name) = column.strip_prefix("parameter_") {
                parameter(&mut reported, name, cell, into);
            }
        }
        into.reported.push(reported);
    }
    into.note_unread(unread, "row", &source.name());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "hyperfine/python-sum.json";

    fn figure(reported: &Reported, name: &str) -> Option<f64> {
        let found = reported.figures.iter().find(|figure| figure.name == name);
        found.map(|figure| figure.value)
    }

    #[test]
    fn every_run_of_a_real_file_comes_in() {
        let imported = testing::fixture(FILE);
        let [one, two] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!((one.name.as_str(), one.samples_ns.len()), ("py-1", 8));
        assert_eq!(one.samples_ns[0], 296_376_077);
        assert_eq!(figure(one, "mean"), Some(0.305_096_644_330_000_06));
        assert_eq!(figure(one, "stddev"), Some(0.036_989_022_836_657_94));
        assert_eq!(figure(two, "mean"), Some(0.279_021_971_955));
        assert_eq!(
            (figure(one, "parameter n"), figure(two, "parameter n")),
            (Some(1.0), Some(2.0))
        );
        assert!(one.objections.is_empty() && imported.notes.is_empty());
    }

    #[test]
    fn failed_runs_and_batches_are_told() {
        let text = r#"{"results": [{"command": "x", "mean": 1.5, "stddev": null, "times": [1.5],
            "exit_codes": [1], "parameters": {"batch_size": "16", "mode": "fast"}}, {"mean": 1}"#;
        let imported = testing::imported(text).unwrap();
        assert_eq!(imported.reported.len(), 1);
        let one = &imported.reported[0];
        assert_eq!(one.batch(), Some(16));
        assert_eq!(
            one.objections,
            ["1 of 1 runs ended with an exit code other than 0"]
        );
        assert!(
            imported
                .facts
                .contains(&("parameter mode of x".into(), "fast".into()))
        );
        assert!(imported.notes[0].contains("cut off"));
    }

    #[test]
    fn the_table_has_the_median() {
        let text = "command,mean,stddev,median,user,system,min,max,parameter_bs\r\n\
            \"sleep, 1\",1.1,0.1,1.0,0.2,0.1,0.9,1.3,8\r\nx,2.0,,2.0,0,0,2,2,x\r\ny,2";
        let imported = testing::imported(text).unwrap();
        let one = &imported.reported[0];
        assert_eq!((one.name.as_str(), one.batch()), ("sleep, 1", Some(8)));
        assert_eq!(one.typical_ns, Some(1_000_000_000));
        assert_eq!(figure(&imported.reported[1], "stddev"), None);
        assert!(imported.notes[0].starts_with("1 row of"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        testing::survives(&FORMAT, b"command,mean,stddev,user,system\nx,1,2,3,4\n");
        let empty = testing::imported("command,mean,stddev,user,system\n").unwrap();
        assert!(empty.notes[0].contains("holds nothing"));
    }
}
