//! Files of optimum-benchmark: `benchmark.json` with its configuration, `benchmark_report.json`
//! without, and the tables of inference of before 2024.
//!
//! Of a language model, `prefill` ends with the first token and `decode` makes the others; `per_token` has each of
//! these by itself.

use serde_json::Value;

use crate::benchmarks::common;
use crate::benchmarks::token_stats;
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

mod phases;

/// What a run takes in and makes, where the file has it.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    batch: Option<usize>,
    prompt: Option<f64>,
    new: Option<f64>,
}

/// Parts of the configuration that identify a run.
const FACTS: [(&str, &[&str]); 5] = [
    ("", &["name"]),
    (
        "backend",
        &[
            "name",
            "version",
            "task",
            "library",
            "model",
            "device",
            "torch_dtype",
            "dtype",
            "provider",
            "torch_compile",
        ],
    ),
    (
        "scenario",
        &[
            "name",
            "iterations",
            "duration",
            "warmup_runs",
            "input_shapes",
        ],
    ),
    ("launcher", &["name"]),
    (
        "environment",
        &[
            "cpu",
            "cpu_count",
            "gpu",
            "gpu_count",
            "platform",
            "python_version",
            "transformers_version",
            "optimum_version",
        ],
    ),
];

pub(crate) const FORMAT: Format = Format {
    id: "optimum-benchmark",
    title: "results of optimum-benchmark",
    tool: "optimum-benchmark",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let is_json = !head.is_list()
        && !head.has_key("traceEvents")
        && (head.has_key("report") && head.has_key("config")
            || head.has_key("latency") && head.has_key("values") && head.has_key("unit")
            || head.has_key("optimum_benchmark_version"));
    let is_table = head
        .columns(',')
        .iter()
        .any(|column| column == "forward.latency(s)" || column == "generate.latency(s)");
    is_json || is_table
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    if !text.trim_start().starts_with('{') {
        table(&text, source, into);
        return Ok(());
    }
    let value = source.json(&text, FORMAT.title, into)?;
    watch.tick(source.bytes())?;
    let sizes = value.get("config").map(|config| take_config(config, into));
    let sizes = sizes.unwrap_or_default();
    let report = value.get("report").unwrap_or(&value);
    let phases = report.as_object().into_iter().flatten();
    let mut results: Vec<Reported> = phases
        .filter_map(|(name, phase)| Some(reported(name, phase.as_object()?)))
        .collect();
    for result in &mut results {
        // Loading a model takes no items in, and is no run of it; nor is the run that compiles it.
        result.is_preparation =
            result.name.starts_with("load") || result.name.starts_with("first_");
        if !result.is_preparation {
            result.set_batch(sizes.batch);
        }
        phases::set_sizes(result, sizes);
    }
    phases::put_together(&mut results, sizes, into);
    let has_something = |result: &Reported| {
        result.typical_ns.is_some() || !result.samples_ns.is_empty() || !result.figures.is_empty()
    };
    into.reported
        .extend(results.into_iter().filter(has_something));
    if into.reported.is_empty() {
        into.note(format!(
            "{} has no results: the run did not come to its end",
            source.name()
        ));
    }
    Ok(())
}

/// Adds the configuration as facts; returns the sizes of a run.
fn take_config(config: &Value, into: &mut Imported) -> Sizes {
    for (part, names) in FACTS {
        let Some(members) = (if part.is_empty() {
            Some(config)
        } else {
            config.get(part)
        }) else {
            continue;
        };
        for name in names {
            if let Some(value) = members.get(name) {
                let title = if part.is_empty() {
                    (*name).to_owned()
                } else {
                    format!("{part} {name}")
                };
                into.fact(&title, json::value_text(value));
            }
        }
    }
    let environment = config.get("environment");
    let version = environment.and_then(|environment| environment.get("optimum_benchmark_version"));
    if let Some(version) = version {
        into.name_version(&json::value_text(version));
    }
    let Some(scenario) = config.get("scenario").or_else(|| config.get("benchmark")) else {
        return Sizes::default();
    };
    let shapes = scenario.get("input_shapes");
    let shape = |name: &str| shapes.and_then(|shapes| shapes.get(name));
    let new = scenario
        .get("generate_kwargs")
        .and_then(|given| given.get("max_new_tokens"));
    let new = new.or_else(|| scenario.get("new_tokens"));
    Sizes {
        batch: shape("batch_size").and_then(|size| common::batch(&json::value_text(size))),
        prompt: shape("sequence_length")
            .and_then(json::number)
            .and_then(token_stats::plausible),
        new: new.and_then(json::number).and_then(token_stats::plausible),
    }
}

/// A phase: `load`, `forward`, `prefill`, `decode`.
fn reported(name: &str, phase: &Object) -> Reported {
    let mut result = Reported::named(name);
    if let Some(latency) = phase.get("latency").and_then(Value::as_object) {
        let unit = json::text_of(latency, "unit").unwrap_or("s");
        let scale = lines::unit_ns(unit).unwrap_or(1e9);
        let values = latency.get("values").and_then(Value::as_array);
        let values = values.into_iter().flatten().filter_map(json::number);
        result.samples_ns = values.map(|value| lines::ns(value, scale)).collect();
        let typical = json::number_of(latency, "p50").or_else(|| json::number_of(latency, "mean"));
        if result.samples_ns.is_empty() {
            result.typical_ns = typical.map(|value| lines::ns(value, scale));
        }
        for (key, value) in latency {
            let unit = match key.as_str() {
                "count" => "",
                "stdev_" => "%",
                _ => unit,
            };
            if let Some(value) = json::number(value) {
                let key = if key == "stdev_" {
                    "stdev of the mean"
                } else {
                    key
                };
                result.figure(format!("latency {key}"), value, unit);
            }
        }
    }
    for key in ["throughput", "memory", "energy", "efficiency"] {
        let Some(part) = phase.get(key).and_then(Value::as_object) else {
            continue;
        };
        let unit = json::text_of(part, "unit").unwrap_or_default();
        for (name, value) in part {
            if let Some(value) = json::number(value) {
                let title = if name == "value" {
                    key.to_owned()
                } else {
                    format!("{key} {name}")
                };
                result.figure(title, value, unit);
            }
        }
    }
    result
}

/// The tables of before 2024: one column for each figure of each phase, `forward.latency(s)`.
fn table(text: &str, source: &ImportSource, into: &mut Imported) {
    let mut rows = text.lines().filter(|line| !line.trim().is_empty());
    let columns = lines::fields(rows.next().unwrap_or_default(), ',');
    let mut unread = 0;
    for (nth, row) in rows.enumerate() {
        let cells = lines::fields(row, ',');
        if cells.len() < columns.len() {
            unread += 1;
            continue;
        }
        let mut phases: Vec<Reported> = Vec::new();
        let mut sizes = Sizes::default();
        let mut experiment = None;
        for (column, cell) in columns.iter().zip(&cells) {
            let (bare, unit) = common::unit_of(column);
            let figure = bare.split_once('.').filter(|(phase, _)| {
                matches!(*phase, "forward" | "generate" | "prefill" | "decode")
            });
            if let (Some((phase, name)), Some(value)) = (figure, lines::number(cell)) {
                let place = phases.iter().position(|known| known.name == phase);
                let place = place.unwrap_or_else(|| {
                    phases.push(Reported::named(phase));
                    phases.len() - 1
                });
                if let Some(result) = phases.get_mut(place) {
                    if name == "latency" {
                        result.typical_ns =
                            lines::unit_ns(unit).map(|scale| lines::ns(value, scale));
                    }
                    result.figure(name, value, unit);
                }
            } else if bare.rsplit('.').next().is_some_and(common::is_batch) {
                sizes.batch = sizes.batch.or_else(|| common::batch(cell));
            } else if bare.ends_with("input_shapes.sequence_length") {
                sizes.prompt = lines::number(cell).and_then(token_stats::plausible);
            } else if bare.ends_with("max_new_tokens") {
                sizes.new = lines::number(cell).and_then(token_stats::plausible);
            } else if bare == "experiment_name" && !cell.is_empty() {
                experiment = Some(cell);
            } else if !bare.is_empty() && !bare.starts_with("Unnamed") && nth == 0 {
                into.fact(bare, cell.as_str());
            }
        }
        for mut result in phases {
            result.set_batch(sizes.batch);
            phases::set_of_table(&mut result, sizes);
            if let Some(experiment) = experiment {
                result.name = format!("{experiment}, {}", result.name);
            }
            into.reported.push(result);
        }
    }
    into.note_unread(unread, "row", &source.name());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "optimum-benchmark/tei_bert-benchmark.json";

    fn figure(reported: &Reported, name: &str) -> Option<(f64, String)> {
        let found = reported.figures.iter().find(|figure| figure.name == name);
        found.map(|figure| (figure.value, figure.unit.clone()))
    }

    fn result_named<'a>(imported: &'a Imported, name: &str) -> &'a Reported {
        imported
            .reported
            .iter()
            .find(|result| result.name == name)
            .unwrap()
    }

    #[test]
    fn phases_of_a_real_file_have_their_values() {
        let imported = testing::fixture(FILE);
        let (load, forward) = (
            result_named(&imported, "load"),
            result_named(&imported, "forward"),
        );
        assert_eq!(
            (load.samples_ns.as_slice(), load.batch()),
            ([15_598_862_323].as_slice(), None)
        );
        assert_eq!(
            figure(load, "latency mean"),
            Some((15.598_862_323_095_09, "s".into()))
        );
        assert_eq!((forward.samples_ns.len(), forward.batch()), (10, Some(64)));
        assert_eq!(
            figure(forward, "latency mean"),
            Some((11.329_571_039_485_746, "s".into()))
        );
        assert_eq!(
            figure(forward, "latency p50"),
            Some((11.300_766_840_518_918, "s".into()))
        );
        assert_eq!(
            figure(forward, "latency p99"),
            Some((11.547_694_239_768_898, "s".into()))
        );
        let throughput = figure(forward, "throughput");
        assert_eq!(
            throughput,
            Some((5.648_934_083_819_028, "samples/s".into()))
        );
        for fact in [
            ("backend model", "BAAI/bge-base-en-v1.5"),
            ("backend name", "py-txi"),
            ("backend device", "cpu"),
        ] {
            assert!(
                imported.facts.contains(&(fact.0.into(), fact.1.into())),
                "{fact:?}"
            );
        }
        assert_eq!(imported.tool.version.as_deref(), Some("0.5.0.dev0"));
    }

    #[test]
    fn the_report_alone_is_enough() {
        let text = r#"{"decode": {"memory": {"unit": "MB", "max_ram": 5.5, "max_vram": null},
            "latency": {"unit": "s", "values": [0.5, 1.5], "mean": 1.0}, "throughput": null},
            "forward": {"latency": {"unit": "s", "values": [], "mean": 0.25}}}"#;
        let imported = testing::imported(text).unwrap();
        assert_eq!(
            result_named(&imported, "decode").samples_ns,
            [500_000_000, 1_500_000_000]
        );
        let memory = figure(result_named(&imported, "decode"), "memory max_ram");
        assert_eq!(memory, Some((5.5, "MB".into())));
        assert_eq!(
            result_named(&imported, "forward").typical_ns,
            Some(250_000_000)
        );
    }

    #[test]
    fn old_tables_have_a_column_for_each_figure() {
        let text = ",model,benchmark.input_shapes.batch_size,forward.latency(s),forward.throughput(samples/s),generate.latency(s)\n\
            0,bert,4,0.0125,320,0.5\n1,cut\n";
        let imported = testing::imported(text).unwrap();
        let forward = result_named(&imported, "forward");
        assert_eq!(
            (forward.typical_ns, forward.batch()),
            (Some(12_500_000), Some(4))
        );
        assert_eq!(
            figure(forward, "throughput"),
            Some((320.0, "samples/s".into()))
        );
        assert_eq!(
            result_named(&imported, "generate").typical_ns,
            Some(500_000_000)
        );
        assert!(imported.notes[0].starts_with("1 row of"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
        testing::survives(&FORMAT, b"a,forward.latency(s)\nx,0.5\n");
        let empty = testing::imported(r#"{"config": {}, "report": {}}"#).unwrap();
        assert!(empty.notes[0].contains("has no results"));
    }
}
