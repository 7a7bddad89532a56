//! The report of `OpenVINO`'s `benchmark_app`: `benchmark_report.csv`, or the JSON of `-json_stats`,
//! whose numbers are all texts.

use serde_json::Value;

use crate::benchmarks::common;
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "openvino-report",
    title: "a report of benchmark_app",
    tool: "benchmark_app",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let is_json = !head.is_list()
        && (head.has_key("execution_results")
            || head.has_key("cmd_options") && head.has_key("configuration_setup"));
    let is_table = head.first_line().is_some_and(|line| {
        let line = line.trim().trim_end_matches(';');
        line == "Command line parameters" || line == "Configuration setup"
    });
    is_json || is_table
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut report = Report::default();
    if text.trim_start().starts_with('{') {
        let value = source.json(&text, FORMAT.title, into)?;
        let parts = [
            ("cmd_options", ReportBlock::Command),
            ("configuration_setup", ReportBlock::Setup),
            ("execution_results", ReportBlock::Results),
        ];
        for (key, part) in parts {
            let members = value.get(key).and_then(Value::as_object);
            for (name, value) in members.into_iter().flatten() {
                report.take(part, name, &json::value_text(value), into);
            }
        }
    } else {
        let mut part = ReportBlock::Other;
        for line in text.lines().map(str::trim) {
            watch.tick(source.bytes())?;
            match (line.trim_end_matches(';'), line.split_once(';')) {
                ("Command line parameters", _) => part = ReportBlock::Command,
                ("Configuration setup", _) => part = ReportBlock::Setup,
                ("Execution results", _) => part = ReportBlock::Results,
                (_, Some((name, value))) => report.take(part, name, value, into),
                ("", None) => {}
                // A block that is not known here; its rows are no results.
                (_, None) => part = ReportBlock::Other,
            }
        }
    }
    report.finish(source, into);
    Ok(())
}

/// Block of the report, by its heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportBlock {
    Command,
    Setup,
    Results,
    Other,
}

/// A report, as far as it was read.
#[derive(Debug, Default)]
struct Report {
    result: Reported,
    command: Vec<String>,
    median_ms: Option<f64>,
    mean_ms: Option<f64>,
}

impl Report {
    fn take(&mut self, part: ReportBlock, name: &str, value: &str, into: &mut Imported) {
        let (name, value) = (name.trim(), value.trim().trim_end_matches(';'));
        match part {
            ReportBlock::Command => {
                let words = [name, value].into_iter().filter(|word| !word.is_empty());
                self.command.extend(words.map(str::to_owned));
            }
            ReportBlock::Setup => {
                into.fact(name, value);
                match name {
                    "batch size" => self.result.set_batch(common::batch(value)),
                    "topology" => value.clone_into(&mut self.result.name),
                    _ => {}
                }
            }
            ReportBlock::Results => self.number(name, value),
            ReportBlock::Other => {}
        }
    }

    /// Latencies are in milliseconds even where the name has no unit.
    fn number(&mut self, name: &str, value: &str) {
        let Some(number) = lines::number(value) else {
            return;
        };
        let lower = name.to_lowercase();
        let (bare, unit) = common::unit_of(name);
        let is_time = lines::unit_ns(unit).is_some();
        let unit = match unit {
            unit if is_time => unit,
            _ if lower.contains("latency") => "ms",
            _ if lower.contains("throughput") => "FPS",
            _ => "",
        };
        match lower.as_str() {
            "latency (ms)" => self.median_ms = Some(number),
            "avg latency" => self.mean_ms = Some(number),
            _ => {}
        }
        let name = if is_time { bare } else { name };
        self.result.figure(name, number, unit);
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        if !self.command.is_empty() {
            into.keep_command(&format!("benchmark_app {}", self.command.join(" ")));
        }
        if self.result.figures.is_empty() {
            into.note(format!(
                "{} has no results: the run did not come to its end",
                source.name()
            ));
            return;
        }
        if self.result.name.is_empty() {
            "benchmark_app".clone_into(&mut self.result.name);
        }
        self.result.typical_ns = self.median_ms.or(self.mean_ms).and_then(common::ms);
        into.reported.push(self.result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const TABLE: &str = "openvino/resnet50-benchmark_report.csv";
    const JSON: &str = "openvino/resnet50-benchmark_report.json";

    fn figure(reported: &Reported, name: &str) -> Option<(f64, String)> {
        let found = reported.figures.iter().find(|figure| figure.name == name);
        found.map(|figure| (figure.value, figure.unit.clone()))
    }

    #[test]
    fn the_table_has_its_figures() {
        let imported = testing::fixture(TABLE);
        let result = &imported.reported[0];
        assert_eq!((result.name.as_str(), result.batch()), ("Model1", Some(1)));
        assert_eq!(result.typical_ns, Some(29_110_000));
        let expected = [
            ("total number of iterations", 105.0, ""),
            ("total execution time", 3048.09, "ms"),
            ("latency", 29.11, "ms"),
            ("avg latency", 28.81, "ms"),
            ("min latency", 19.28, "ms"),
            ("max latency", 38.29, "ms"),
            ("throughput", 34.45, "FPS"),
            ("first inference time", 37.80, "ms"),
        ];
        for (name, value, unit) in expected {
            assert_eq!(
                figure(result, name),
                Some((value, unit.to_owned())),
                "{name}"
            );
        }
        let command = imported.tool.command.unwrap();
        assert!(
            command.starts_with("benchmark_app -m light_resnet50.onnx -d CPU -t 3"),
            "{command}"
        );
        assert!(
            imported
                .facts
                .contains(&("target device".into(), "CPU".into()))
        );
    }

    #[test]
    fn texts_of_the_json_are_numbers() {
        let imported = testing::fixture(JSON);
        let result = &imported.reported[0];
        assert_eq!(
            figure(result, "total number of iterations"),
            Some((5.0, String::new()))
        );
        assert_eq!(
            figure(result, "total execution time"),
            Some((160.54, "ms".to_owned()))
        );
        assert_eq!(
            (result.typical_ns, result.batch()),
            (Some(29_810_000), Some(1))
        );
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(TABLE));
        testing::survives(&FORMAT, &testing::raw(JSON));
        let empty = testing::imported("Command line parameters\n").unwrap();
        assert!(empty.notes[0].contains("has no results"));
    }
}
