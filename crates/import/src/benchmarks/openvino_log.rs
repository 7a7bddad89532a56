//! What `OpenVINO`'s `benchmark_app` prints, the one of Python and the one of C++.

use crate::benchmarks::common;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "openvino-log",
    title: "an output of benchmark_app",
    tool: "benchmark_app",
    name_ends: &[],
    recognises: |head: &FileHead| {
        head.any_text()
            .is_some_and(|text| text.contains("[Step 1/11] Parsing and validating input arguments"))
    },
    read,
};

/// Properties of the compiled network that are worth a line.
const FACTS: [&str; 6] = [
    "NUM_STREAMS",
    "INFERENCE_NUM_THREADS",
    "INFERENCE_PRECISION_HINT",
    "PERFORMANCE_HINT",
    "OPTIMAL_NUMBER_OF_INFER_REQUESTS",
    "EXECUTION_DEVICES",
];

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut runs = vec![BenchmarkLog::default()];
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?.trim();
        if line.starts_with("[Step 1/") && runs.last().is_some_and(|run| run.has_begun) {
            runs.push(BenchmarkLog::default());
        }
        if let Some(run) = runs.last_mut() {
            run.line(line, into);
        }
    }
    for run in runs {
        run.finish(source, into);
    }
    Ok(())
}

/// Log of one run, as far as it was read.
#[derive(Debug, Default)]
struct BenchmarkLog {
    has_begun: bool,
    /// Whether the statistics have begun.
    in_report: bool,
    result: Reported,
    median_ns: Option<f64>,
    mean_ns: Option<f64>,
}

impl BenchmarkLog {
    fn line(&mut self, line: &str, into: &mut Imported) {
        if line.starts_with("[Step ") {
            self.has_begun = true;
            self.in_report = line.contains("Dumping statistics report");
            return;
        }
        let line = line.strip_prefix("[ INFO ]").unwrap_or(line).trim();
        if let Some(build) = line.strip_prefix("Build ") {
            into.name_version(build.trim_start_matches(['.', ' ']));
        } else if let Some((name, took)) = line.split_once(" took ") {
            if let Some((value, unit)) = number_and_unit(took) {
                self.result.figure(name, value, unit);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            self.member(name.trim(), value.trim(), into);
        }
    }

    fn member(&mut self, name: &str, value: &str, into: &mut Imported) {
        match name {
            "Model batch size" | "Network batch size" => {
                self.result.set_batch(common::batch(value));
            }
            "NETWORK_NAME" => value.clone_into(&mut self.result.name),
            "Execution Devices" => into.fact("target device", value.trim_matches(['[', ']', '\''])),
            _ if FACTS.contains(&name) => into.fact(name, value),
            _ if self.in_report => self.statistic(name, value),
            _ => {}
        }
    }

    /// `Median:  291.41 us`; older versions print `Latency:` with the median alone.
    fn statistic(&mut self, name: &str, value: &str) {
        let Some((number, unit)) = number_and_unit(value) else {
            return;
        };
        let ns = lines::unit_ns(unit).map(|scale| number * scale);
        let percentile = name
            .strip_suffix(" percentile")
            .map(|p| format!("latency p{p}"));
        let name = match name {
            "Median" | "Latency" => {
                self.median_ns = self.median_ns.or(ns);
                "latency median"
            }
            "Average" | "AVG" => {
                self.mean_ns = ns;
                "latency mean"
            }
            "Min" | "MIN" => "latency min",
            "Max" | "MAX" => "latency max",
            other => percentile.as_deref().unwrap_or(other),
        };
        self.result.figure(name, number, unit);
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        self.result.typical_ns = self.median_ns.or(self.mean_ns).map(|ns| lines::ns(ns, 1.0));
        if !self
            .result
            .figures
            .iter()
            .any(|figure| figure.name == "Throughput")
        {
            into.note(format!("{} ends before the results", source.name()));
            return;
        }
        if self.result.name.is_empty() {
            "benchmark_app".clone_into(&mut self.result.name);
        }
        into.reported.push(self.result);
    }
}

/// `4760 iterations`, `19030.04 FPS`.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let (number, unit) = text
        .trim()
        .split_once(' ')
        .unwrap_or_else(|| (text.trim(), ""));
    let unit = unit.trim();
    Some((
        lines::number(number)?,
        if unit == "iterations" { "" } else { unit },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "openvino/conv-benchmark_app.log";

    fn figure<'a>(reported: &'a Reported, name: &str) -> Option<(f64, &'a str)> {
        let found = reported.figures.iter().find(|figure| figure.name == name)?;
        Some((found.value, found.unit.as_str()))
    }

    #[test]
    fn a_real_run_has_its_figures() {
        let imported = testing::fixture(FILE);
        let [one] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!((one.typical_ns, one.batch()), (Some(291_410), Some(4)));
        assert_eq!(figure(one, "Throughput"), Some((19_030.04, "FPS")));
        assert_eq!(figure(one, "Count"), Some((4_760.0, "")));
        assert_eq!(figure(one, "latency max"), Some((8_953.66, "us")));
        assert_eq!(figure(one, "Compile model"), Some((91.40, "ms")));
        assert!(
            imported
                .facts
                .contains(&("target device".into(), "CPU".into()))
        );
        let version = imported.tool.version.unwrap();
        assert!(version.starts_with("2026.4.1-"), "{version}");
    }

    #[test]
    fn other_percentiles_and_a_run_without_end_are_read() {
        let head = "[Step 1/11] Parsing and validating input arguments\n";
        let report = "[Step 11/11] Dumping statistics report\nCount:      50 iterations\n\
            Latency:\n\t99 percentile:     4160.07 us\n    AVG:      2.00 ms\nThroughput: 5.5 FPS\n";
        let imported = testing::imported(format!("{head}{report}{head}")).unwrap();
        let one = &imported.reported[0];
        assert_eq!(
            (imported.reported.len(), one.typical_ns),
            (1, Some(2_000_000))
        );
        assert_eq!(figure(one, "latency p99"), Some((4_160.07, "us")));
        assert!(imported.notes[0].contains("ends before the results"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
    }
}
