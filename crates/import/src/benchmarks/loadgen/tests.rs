//! Summaries and logs of real and made-up runs.

use super::*;
use crate::testing;

fn figure(reported: &Reported, name: &str) -> Option<(f64, String)> {
    let found = reported.figures.iter().find(|figure| figure.name == name);
    found.map(|figure| (figure.value, figure.unit.clone()))
}

/// A figure in nanoseconds.
fn nanoseconds(value: f64) -> (f64, String) {
    (value, "ns".to_owned())
}

#[test]
fn a_valid_server_run_has_its_rates_and_latencies() {
    let imported =
        testing::fixture("mlperf-loadgen/mi300x-llama2-server-valid.mlperf_log_summary.txt");
    let result = &imported.reported[0];
    assert_eq!(
        (imported.reported.len(), result.name.as_str()),
        (1, "PySUT Server")
    );
    assert!(result.objections.is_empty(), "{:?}", result.objections);
    let rate = figure(result, "Completed samples per second");
    assert_eq!(rate, Some((29.41, "samples/s".into())));
    let tokens = figure(result, "Completed tokens per second");
    assert_eq!(tokens, Some((8840.42, "tokens/s".into())));
    assert_eq!(
        figure(result, "Mean latency"),
        Some(nanoseconds(9_716_742_157.0))
    );
    assert_eq!(
        figure(result, "99.00 percentile latency"),
        Some(nanoseconds(30_354_675_329.0))
    );
    assert_eq!(
        figure(result, "Mean First Token latency"),
        Some(nanoseconds(201_330_486.0))
    );
    assert_eq!(result.typical_ns, Some(8_609_970_750));
    let seed = (
        "sample_index_rng_seed".to_owned(),
        "14771362308971278857".to_owned(),
    );
    assert!(imported.facts.contains(&seed));
    assert!(
        imported
            .facts
            .contains(&("Mode".into(), "PerformanceOnly".into()))
    );
}

#[test]
fn an_invalid_run_says_why() {
    let imported =
        testing::fixture("mlperf-loadgen/local-singlestream-invalid.mlperf_log_summary.txt");
    let result = &imported.reported[0];
    let objections = result.objections.join("\n");
    assert!(objections.starts_with(
        "the result is INVALID\nMin duration satisfied: NO\nEarly stopping satisfied: NO"
    ));
    assert!(objections.contains("Only processed 60 queries."));
    assert_eq!(
        figure(result, "90.0th percentile latency"),
        Some(nanoseconds(9_552_921.0))
    );
    assert_eq!(
        figure(result, "Mean latency"),
        Some(nanoseconds(6_268_791.0))
    );
    assert_eq!(
        figure(result, "QPS w/o loadgen overhead"),
        Some((159.52, "queries/s".into()))
    );
    assert_eq!(result.typical_ns, Some(6_374_964));
    assert!(
        imported
            .notes
            .iter()
            .any(|note| note.contains("1 ERROR encountered"))
    );
}

#[test]
fn an_offline_run_has_a_rate_and_no_typical_latency() {
    let imported = testing::fixture("mlperf-loadgen/local-offline.mlperf_log_summary.txt");
    let result = &imported.reported[0];
    assert_eq!(
        figure(result, "Samples per second"),
        Some((151.75, "samples/s".into()))
    );
    assert_eq!(
        figure(result, "Mean latency"),
        Some(nanoseconds(169_671_449.0))
    );
    assert_eq!(
        figure(result, "99.00 percentile latency"),
        Some(nanoseconds(329_489_335.0))
    );
    assert_eq!((result.typical_ns, result.objections.len()), (None, 3));
    assert!(imported.notes[0].contains("offline"));
}

const DETAIL: &str = r#":::MLLOG {"key": "loadgen_version", "value": "5.1.1 @ abc", "time_ms": 0.1, "metadata": {"is_error": false, "is_warning": false}}
:::MLLOG {"key": "effective_scenario", "value": "SingleStream", "time_ms": 0.1, "metadata": {}}
:::MLLOG {"key": "result_validity", "value": "INVALID", "time_ms": 2, "metadata": {}}
:::MLLOG {"key": "result_min_queries_met", "value": false, "time_ms": 2, "metadata": {}}
:::MLLOG {"key": "result_mean_latency_ns", "value": 31329862, "time_ms": 2, "metadata": {}}
:::MLLOG {"key": "result_90.00_percentile_latency_ns", "value": 41013900, "time_ms": 2, "metadata": {}}
:::MLLOG {"key": "error_runtime", "value": "bad", "time_ms": 3, "metadata": {"is_error": true}}
:::MLLOG {"key": "resu"#;

#[test]
fn the_detailed_log_has_results_too() {
    let imported = testing::imported(DETAIL).unwrap();
    let result = &imported.reported[0];
    assert_eq!(
        (result.name.as_str(), result.typical_ns),
        ("SingleStream", Some(31_329_862))
    );
    assert_eq!(
        result.objections,
        ["the result is INVALID", "result_min_queries_met: false"]
    );
    assert_eq!(
        figure(result, "result_90.00_percentile_latency_ns"),
        Some(nanoseconds(41_013_900.0))
    );
    assert_eq!(imported.tool.version.as_deref(), Some("5.1.1"));
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("error_runtime: bad") && notes.contains("1 line of"),
        "{notes}"
    );
}

#[test]
fn a_run_of_accuracy_has_no_figures() {
    let imported = testing::imported("No warnings encountered during test.\n").unwrap();
    assert!(imported.reported.is_empty() && imported.notes[0].contains("accuracy"));
}

#[test]
fn no_damage_makes_it_panic() {
    for name in [
        "local-offline",
        "local-singlestream-invalid",
        "mi300x-llama2-server-valid",
    ] {
        let name = format!("mlperf-loadgen/{name}.mlperf_log_summary.txt");
        testing::survives(&FORMAT, &testing::raw(&name));
    }
    testing::survives(&FORMAT, DETAIL.as_bytes());
}
