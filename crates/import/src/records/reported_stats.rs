//! Statistics that a program states and Powerband also computes, found among its figures by their names.

use crate::reading::lines;
use powerband_core::domain::reported::{Reported, ReportedFigure, Stated};

/// What programs call the rate at which items or runs were done; the first that a file has counts.
const RATES: [&str; 17] = [
    "request throughput",
    "throughput of items",
    "throughput",
    "inferences/second",
    "completed samples per second",
    "result_completed_samples_per_sec",
    "samples per second",
    "result_samples_per_second",
    "qps w/ loadgen overhead",
    "result_qps_with_loadgen_overhead",
    "iterations a second, from first to last",
    "number of inferences per second",
    "rate",
    "images a second",
    "items_per_second",
    "img_per_s",
    "samples/second",
];
/// Names of the shortest run.
const MIN: [&str; 4] = ["min", "min latency", "latency min", "result_min_latency_ns"];
/// Names of the longest run.
const MAX: [&str; 4] = ["max", "max latency", "latency max", "result_max_latency_ns"];
/// Names of the mean.
const MEAN: [&str; 5] = [
    "mean",
    "mean latency",
    "avg latency",
    "latency mean",
    "result_mean_latency_ns",
];

/// What is stated of a result.
pub fn stated(reported: &Reported) -> Stated {
    let named = |names: &'static [&'static str]| time(reported, |name: &str| names.contains(&name));
    let percentile = |percent: u8| {
        let names = percentile_names(percent);
        time(reported, |name: &str| names.iter().any(|one| one == name))
    };
    let typical = reported
        .typical_ns
        .filter(|_| reported.samples_ns.is_empty());
    let has_times = typical.is_some() || !reported.samples_ns.is_empty();
    if !has_times && reported.generation.is_none() {
        // Without a time of a run, other times are those of something else: of samples that wait for each other.
        return Stated {
            throughput_per_s: rate(reported),
            objections: reported.objections.clone(),
            ..Stated::default()
        };
    }
    Stated {
        typical_ns: typical.map(|ns| ns as f64),
        min_ns: named(&MIN),
        max_ns: named(&MAX),
        mean_ns: named(&MEAN),
        p90_ns: percentile(90),
        p95_ns: percentile(95),
        p99_ns: percentile(99),
        throughput_per_s: rate(reported),
        objections: reported.objections.clone(),
        generation: reported.generation,
    }
}

/// What programs call a percentile.
fn percentile_names(percent: u8) -> [String; 8] {
    [
        format!("p{percent} latency"),
        format!("latency p{percent}"),
        format!("p{percent}"),
        format!("percentile({percent}%)"),
        format!("{percent}.00 percentile latency"),
        format!("{percent}.0 percentile latency"),
        format!("{percent}.0th percentile latency"),
        format!("result_{percent}.00_percentile_latency_ns"),
    ]
}

/// The first time of such a name, in nanoseconds.
fn time(reported: &Reported, is_named: impl Fn(&str) -> bool) -> Option<f64> {
    let named = |figure: &&ReportedFigure| is_named(&figure.name.to_lowercase());
    reported.figures.iter().filter(named).find_map(|figure| {
        let ns = figure.value * lines::unit_ns(&figure.unit)?;
        (ns.is_finite() && ns >= 0.0).then_some(ns)
    })
}

/// Items a second. Where runs are counted, each has as many items as the batch.
fn rate(reported: &Reported) -> Option<f64> {
    RATES.iter().find_map(|name| {
        let mut figures = reported.figures.iter();
        let figure = figures.find(|figure| figure.name.to_lowercase() == *name)?;
        let items = match figure.unit.as_str() {
            "items/s" | "requests/s" | "samples/s" | "inferences/s" | "FPS" | "" => 1,
            "qps" | "queries/s" | "/s" => reported.batch().unwrap_or(1),
            _ => return None,
        };
        let rate = figure.value * items as f64;
        (rate.is_finite() && rate > 0.0).then_some(rate)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn stated_of_file(file: &str) -> Vec<Stated> {
        testing::fixture(file).reported.iter().map(stated).collect()
    }

    #[test]
    fn rates_of_every_program_are_those_of_its_file() {
        for (file, rates) in [
            (
                "triton-perf-analyzer/inception-concurrency.csv",
                vec![69.2, 87.2, 84.2, 84.2],
            ),
            (
                "mlperf-loadgen/mi300x-llama2-server-valid.mlperf_log_summary.txt",
                vec![29.41],
            ),
            (
                "mlperf-loadgen/local-singlestream-invalid.mlperf_log_summary.txt",
                vec![159.96],
            ),
            ("openvino/resnet50-benchmark_report.csv", vec![34.45]),
            ("openvino/conv-benchmark_app.log", vec![19_030.04]),
            ("deepspeed/bert-large-a100.txt", vec![433.07]),
        ] {
            let found: Vec<f64> = stated_of_file(file)
                .iter()
                .filter_map(|one| one.throughput_per_s)
                .collect();
            assert_eq!(found, rates, "{file}");
        }
        let log = "tensorrt/trtexec-resnet50-summary-sanitised.log";
        let rates: Vec<Option<f64>> = stated_of_file(log)
            .iter()
            .map(|one| one.throughput_per_s)
            .collect();
        assert_eq!(rates.len(), 2);
        assert!(
            rates
                .iter()
                .all(|rate| rate.is_some_and(|rate| rate > 31_000.0)),
            "{rates:?}"
        );
    }

    #[test]
    fn statistics_keep_their_places() {
        let run =
            &stated_of_file("mlperf-loadgen/local-singlestream-invalid.mlperf_log_summary.txt")[0];
        assert_eq!(run.typical_ns, Some(6_374_964.0));
        assert_eq!(
            (run.min_ns, run.max_ns, run.mean_ns),
            (Some(3_251_858.0), Some(13_005_217.0), Some(6_268_791.0))
        );
        assert_eq!(
            (run.p90_ns, run.p95_ns, run.p99_ns),
            (Some(9_552_921.0), Some(11_426_664.0), Some(13_005_217.0))
        );
        assert!(run.objections[0].contains("INVALID"));
        let load = &stated_of_file("triton-perf-analyzer/inception-concurrency.csv")[0];
        assert_eq!(load.p99_ns, Some(21_018_000.0));
        assert_eq!((load.min_ns, load.mean_ns), (None, None));
    }

    #[test]
    fn an_offline_run_states_its_rate_and_no_time_of_a_run() {
        let run = &stated_of_file("mlperf-loadgen/local-offline.mlperf_log_summary.txt")[0];
        assert_eq!(run.throughput_per_s, Some(151.75));
        assert!(!run.states_spread() && run.mean_ns.is_none(), "{run:?}");
        assert!(run.objections[0].contains("INVALID"));
    }

    #[test]
    fn what_counts_no_items_is_no_rate() {
        let mut tokens = Reported::named("decode");
        tokens.figure("throughput", 900.0, "tokens/s");
        tokens.figure("min", 12.0, "items/s");
        assert_eq!(stated(&tokens), Stated::default());
        let mut runs = Reported::named("runs");
        runs.set_batch(Some(8));
        runs.figure("Throughput", 100.0, "qps");
        assert_eq!(stated(&runs).throughput_per_s, Some(800.0));
    }
}
