//! `--benchmark_format=json` of Google Benchmark: repetitions of each benchmark, and their statistics.

use std::collections::HashMap;

use serde_json::Value;

use crate::benchmarks::common;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

/// Members that are no counters of the user.
const OWN: [&str; 24] = [
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "aggregate_name",
    "aggregate_unit",
    "label",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "cpu_coefficient",
    "real_coefficient",
    "big_o",
    "rms",
    "complexity_n",
];

pub(crate) const FORMAT: Format = Format {
    id: "google-benchmark",
    title: "results of Google Benchmark",
    tool: "Google Benchmark",
    name_ends: &[],
    recognises: |head| {
        !head.is_list()
            && head.has_key("context")
            && (head.has_key("benchmarks") || head.has_key("library_build_type"))
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let value = source.json(&text, FORMAT.title, into)?;
    if let Some(context) = value.get("context").and_then(Value::as_object) {
        take_context(context, into);
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut results: Vec<Reported> = Vec::new();
    let (mut unread, mut repeats) = (0, false);
    let entries = value.get("benchmarks").and_then(Value::as_array);
    for entry in entries.into_iter().flatten() {
        watch.tick(source.bytes())?;
        let Some((entry, run)) = entry
            .as_object()
            .and_then(|entry| Some((entry, benchmark_name(entry)?)))
        else {
            unread += 1;
            continue;
        };
        let place = *places.entry(run.name.clone()).or_insert(results.len());
        if place == results.len() {
            results.push(Reported::named(run.name));
        }
        if let Some(result) = results.get_mut(place) {
            take(result, entry, run.aggregate.as_deref());
            repeats |= result.samples_ns.len() > 1;
        }
    }
    for result in &mut results {
        set_typical(result);
    }
    if repeats {
        into.note("each sample is the mean of a repetition: Google Benchmark keeps no single runs");
    }
    into.note_unread(unread, "benchmark", &source.name());
    into.reported.extend(results);
    Ok(())
}

/// Adds the facts about the machine and the library.
fn take_context(context: &Object, into: &mut Imported) {
    for (name, value) in context {
        match name.as_str() {
            "executable" => into.keep_command(&json::value_text(value)),
            "library_version" => into.name_version(&json::value_text(value)),
            "caches" | "load_avg" | "json_schema_version" => {}
            _ => into.fact(name, json::value_text(value)),
        }
    }
    if context.get("library_build_type").and_then(Value::as_str) == Some("debug") {
        into.note(
            "the library of Google Benchmark was built for debugging, which makes times longer",
        );
    }
}

/// Name of an entry's benchmark, and of its statistic where it is one.
#[derive(Debug)]
struct BenchmarkName {
    name: String,
    aggregate: Option<String>,
}

/// Old files lack `run_type`: there, the end of the name shows it.
fn benchmark_name(entry: &Object) -> Option<BenchmarkName> {
    let name = json::text_of(entry, "name")?;
    let aggregate = json::text_of(entry, "aggregate_name").filter(|name| !name.is_empty());
    if let Some(aggregate) = aggregate {
        let end = format!("_{aggregate}");
        let bare = name.strip_suffix(end.as_str()).unwrap_or(name);
        return Some(BenchmarkName {
            name: json::text_of(entry, "run_name").unwrap_or(bare).to_owned(),
            aggregate: Some(aggregate.to_owned()),
        });
    }
    if !entry.contains_key("run_type") {
        for aggregate in ["mean", "median", "stddev", "cv", "BigO", "RMS"] {
            let bare = name
                .strip_suffix(aggregate)
                .and_then(|rest| rest.strip_suffix('_'));
            if let Some(bare) = bare {
                return Some(BenchmarkName {
                    name: bare.to_owned(),
                    aggregate: Some(aggregate.to_owned()),
                });
            }
        }
    }
    Some(BenchmarkName {
        name: json::text_of(entry, "run_name").unwrap_or(name).to_owned(),
        aggregate: None,
    })
}

/// Adds an entry to the benchmark that it is of.
fn take(result: &mut Reported, entry: &Object, aggregate: Option<&str>) {
    let is_error = entry.get("error_occurred").and_then(Value::as_bool) == Some(true);
    let skipped = entry
        .get("skipped")
        .is_some_and(|value| json::value_text(value) != "false");
    if is_error || skipped {
        let why =
            json::text_of(entry, "error_message").or_else(|| json::text_of(entry, "skip_message"));
        let why = format!(
            "the benchmark gave up: {}",
            why.unwrap_or("without a reason")
        );
        if !result.objections.contains(&why) {
            result.objections.push(why);
        }
        return;
    }
    let unit = json::text_of(entry, "time_unit").unwrap_or("ns");
    let is_share = json::text_of(entry, "aggregate_unit") == Some("percentage")
        || matches!(aggregate, Some("cv" | "RMS"));
    let number = |key: &str| json::number_of(entry, key);
    match aggregate {
        None => {
            let scale = lines::unit_ns(unit);
            if let (Some(time), Some(scale)) = (number("real_time"), scale) {
                result.samples_ns.push(lines::ns(time, scale));
                if result.samples_ns.len() == 1 {
                    result.figure("real time", time, unit);
                }
            }
            if result.samples_ns.len() <= 1 {
                let also = [
                    ("cpu time", "cpu_time", unit),
                    ("iterations", "iterations", ""),
                ];
                for (name, key, unit) in also {
                    if let Some(value) = number(key) {
                        result.figure(name, value, unit);
                    }
                }
            }
        }
        Some(aggregate) => {
            let keys = [
                ("", "real_time"),
                ("cpu ", "cpu_time"),
                ("", "real_coefficient"),
                ("cpu ", "cpu_coefficient"),
                ("", "rms"),
            ];
            for (before, key) in keys {
                let Some(value) = number(key) else {
                    continue;
                };
                let (value, unit) = if is_share {
                    (value * 100.0, "%")
                } else {
                    (value, unit)
                };
                result.figure(format!("{before}{aggregate}"), value, unit);
            }
        }
    }
    counters(result, entry, aggregate);
}

/// Counters that the user added, such as `bytes_per_second`; of repetitions only those of the first.
fn counters(result: &mut Reported, entry: &Object, aggregate: Option<&str>) {
    if aggregate.is_none() && result.samples_ns.len() > 1 {
        return;
    }
    for (name, value) in entry {
        let (false, Some(number)) = (OWN.contains(&name.as_str()), value.as_f64()) else {
            continue;
        };
        if common::is_batch(name) && result.batch().is_none() {
            result.set_batch(common::batch(&json::value_text(value)));
        }
        let unit = match name.as_str() {
            "bytes_per_second" => "B/s",
            "items_per_second" => "items/s",
            _ => "",
        };
        match aggregate {
            Some(aggregate) => result.figure(format!("{name} {aggregate}"), number, unit),
            None => result.figure(name, number, unit),
        };
    }
}

/// Sets the typical time: a single repetition is a mean of many runs and no sample.
fn set_typical(result: &mut Reported) {
    if let [only] = result.samples_ns.as_slice() {
        result.typical_ns = Some(*only);
        result.samples_ns.clear();
    }
    if result.samples_ns.is_empty() && result.typical_ns.is_none() {
        let of = |name: &str| result.figures.iter().find(|figure| figure.name == name);
        let told = of("median").or_else(|| of("mean"));
        result.typical_ns =
            told.and_then(|figure| Some(lines::ns(figure.value, lines::unit_ns(&figure.unit)?)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "google-benchmark/numpy-dot-relu.json";

    fn figure<'a>(imported: &'a Imported, of: &str, name: &str) -> Option<(f64, &'a str)> {
        let result = imported.reported.iter().find(|result| result.name == of)?;
        let found = result.figures.iter().find(|figure| figure.name == name)?;
        Some((found.value, found.unit.as_str()))
    }

    #[test]
    fn repetitions_are_samples_and_aggregates_are_figures() {
        let imported = testing::fixture(FILE);
        assert_eq!(imported.reported.len(), 3);
        let samples: usize = imported
            .reported
            .iter()
            .map(|result| result.samples_ns.len())
            .sum();
        assert_eq!(samples, 9);
        assert_eq!(imported.reported[0].samples_ns, [12_310, 11_367, 11_147]);
        let (median, unit) = figure(&imported, "dot_64", "median").unwrap();
        assert_eq!(((median * 10.0).round() / 10.0, unit), (11_366.7, "ns"));
        let (mean, _) = figure(&imported, "relu/65536", "mean").unwrap();
        assert_eq!((mean * 10.0).round() / 10.0, 47_300.3);
        for result in &imported.reported {
            assert_eq!(figure(&imported, &result.name, "cv").unwrap().1, "%");
        }
        assert_eq!(imported.tool.version.as_deref(), Some("1.9.5"));
        assert!(imported.facts.contains(&("num_cpus".into(), "2".into())));
    }

    #[test]
    fn old_files_errors_and_counters_are_read() {
        let text = r#"{"context": {"library_build_type": "debug"}, "benchmarks": [
            {"name": "a/8", "iterations": 5, "real_time": 2, "cpu_time": 1, "time_unit": "us",
             "bytes_per_second": 1.5e3, "batch_size": 4},
            {"name": "b_mean", "real_time": 3, "time_unit": "ms"},
            {"name": "b_median", "real_time": 4, "time_unit": "ms"},
            {"name": "b_cv", "real_time": 0.25, "time_unit": "ms"},
            {"name": "c", "run_type": "iteration", "error_occurred": true, "error_message": "no"},
            5]}"#;
        let imported = testing::imported(text).unwrap();
        let [a, b, c] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(
            (a.typical_ns, a.batch(), a.samples_ns.len()),
            (Some(2_000), Some(4), 0)
        );
        assert_eq!(b.typical_ns, Some(4_000_000));
        assert_eq!(figure(&imported, "b", "cv"), Some((25.0, "%")));
        assert_eq!(
            figure(&imported, "a/8", "bytes_per_second"),
            Some((1500.0, "B/s"))
        );
        assert_eq!(c.objections, ["the benchmark gave up: no"]);
        assert_eq!(imported.notes.len(), 2, "{:?}", imported.notes);
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        let empty = testing::imported(r#"{"context": {}, "benchmarks": []}"#).unwrap();
        assert!(empty.notes[0].contains("holds nothing"));
    }
}
