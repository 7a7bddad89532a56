//! `GuideLLM`: its report in JSON, of version 0.1 with every token, and of all later ones with statistics and requests.

use serde_json::Value;

use crate::benchmarks::request_metrics;
use crate::benchmarks::token_stats::{self, CONCURRENCY, NEW, PROMPT, Request};
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::generation::{StatedGeneration, StatedTimes};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "guidellm",
    title: "a report of GuideLLM",
    tool: "GuideLLM",
    name_ends: &[],
    recognises,
    read,
};

/// Distributions that become figures: their names and units.
const FIGURES: [(&str, &str); 2] = [
    ("prompt_tokens_per_second", "tokens/s"),
    ("output_tokens_per_iteration", ""),
];

fn recognises(head: &FileHead) -> bool {
    let has = |keys: &[&str]| keys.iter().all(|key| head.has_key(key));
    let is_new = has(&["guidellm_version"])
        || head
            .json()
            .is_some_and(|text| text.contains("\"generative_benchmark\""));
    let is_old = has(&["benchmarks", "mode", "decode_times", "first_token_time"]);
    !head.is_list() && has(&["benchmarks"]) && (is_new || is_old) || has(&["guidellm_version"])
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let value = source.json(&text, FORMAT.title, into)?;
    if let Some(metadata) = value.get("metadata").and_then(Value::as_object) {
        into.name_version(json::text_of(metadata, "guidellm_version").unwrap_or_default());
        for name in ["python_version", "platform"] {
            into.fact(name, json::text_of(metadata, name).unwrap_or_default());
        }
    }
    let benchmarks = value.get("benchmarks").and_then(Value::as_array);
    for benchmark in benchmarks.into_iter().flatten() {
        watch.tick(source.bytes())?;
        // Up to 0.1 a report has a list of runs, each with a list of benchmarks.
        let inner = benchmark.get("benchmarks").and_then(Value::as_array);
        for old in inner.into_iter().flatten() {
            of_first_version(old, benchmark.get("args"), source, into);
        }
        if let Some(benchmark) = benchmark.as_object().filter(|_| inner.is_none()) {
            of_later_versions(benchmark, &value, source, into);
        }
    }
    if into.reported.is_empty() {
        into.note(format!(
            "{} has no benchmarks: none came to its end",
            source.name()
        ));
    }
    Ok(())
}

/// A number that a measurement can have.
fn number(object: &Object, name: &str) -> Option<f64> {
    json::number_of(object, name).and_then(token_stats::plausible)
}

fn of_later_versions(benchmark: &Object, all: &Value, source: &ImportSource, into: &mut Imported) {
    let settings = [benchmark.get("config"), benchmark.get("args")];
    let strategy = settings.into_iter().flatten().find_map(|settings| {
        settings
            .get("strategy")
            .or_else(|| settings.get("scheduler")?.get("strategy"))?
            .as_object()
    });
    let worker = benchmark
        .get("worker")
        .and_then(|worker| worker.get("backend_model"));
    let model = worker.map(json::value_text).filter(|name| !name.is_empty());
    let model = model
        .or_else(|| request_metrics::model(benchmark.get("config")))
        .or_else(|| request_metrics::model(all.get("config").or_else(|| all.get("args"))));
    let mut reported = Reported::named(model.unwrap_or_else(|| "requests".to_owned()));
    let kind = strategy.and_then(|strategy| json::text_of(strategy, "type_"));
    let of_strategy = |name: &str| strategy.and_then(|strategy| number(strategy, name));
    match (kind, of_strategy("rate")) {
        (Some(kind), Some(rate)) => reported
            .name
            .push_str(&format!(", {kind} {rate:.4} requests/s")),
        // How many streams there are is a dimension.
        (Some("synchronous" | "concurrent") | None, _) => {}
        (Some(kind), None) => reported.name.push_str(&format!(", {kind}")),
    }
    let metrics = benchmark.get("metrics").and_then(Value::as_object);
    let distribution = |name: &str| {
        let all = metrics?.get(name)?;
        all.get("successful").unwrap_or(all).as_object()
    };
    let mean = |name: &str| number(distribution(name)?, "mean");
    let times = |name: &str, unit: f64| {
        distribution(name)
            .map(|found| statistics(found, unit))
            .unwrap_or_default()
    };
    let stated = StatedGeneration {
        first_token: times("time_to_first_token_ms", 1e6),
        // GuideLLM's time per output token counts the first one in; the one after it is what others call so.
        per_token: times("inter_token_latency_ms", 1e6),
        prompt_tokens: mean("prompt_token_count"),
        new_tokens: mean("output_token_count"),
        output_tokens_per_s: mean("output_tokens_per_second"),
        total_tokens_per_s: mean("tokens_per_second"),
        requests_per_s: mean("requests_per_second"),
        concurrency: mean("request_concurrency"),
        ..StatedGeneration::default()
    };
    let streams = match kind {
        Some("synchronous") => Some(1.0),
        _ => of_strategy("streams").or_else(|| of_strategy("max_concurrency")),
    };
    token_stats::set_sizes(
        &mut reported,
        &[
            (PROMPT, stated.prompt_tokens),
            (NEW, stated.new_tokens),
            (CONCURRENCY, streams),
        ],
    );
    samples(benchmark, metrics, &mut reported, source, into);
    token_stats::set_latency(&mut reported, times("request_latency", 1e9));
    token_stats::set_stated(&mut reported, &stated);
    let whole = times("time_per_output_token_ms", 1e6);
    for (name, ns) in whole.named() {
        reported.figure(
            format!("time per token, the first one included, {name}"),
            ns / 1e6,
            "ms",
        );
    }
    for (name, unit) in FIGURES {
        if let Some(value) = mean(name) {
            reported.figure(name, value, unit);
        }
    }
    into.reported.push(reported);
}

/// The statistics of a distribution; its percentiles stand in an object of their own.
fn statistics(distribution: &Object, unit_ns: f64) -> StatedTimes {
    let percentiles = distribution.get("percentiles").and_then(Value::as_object);
    token_stats::times(unit_ns, |name| {
        number(distribution, name).or_else(|| number(percentiles?, name))
    })
}

/// Makes the requests samples where the report has all of them: some alone say less than the statistics do.
fn samples(
    benchmark: &Object,
    metrics: Option<&Object>,
    reported: &mut Reported,
    source: &ImportSource,
    into: &mut Imported,
) {
    let requests = benchmark
        .get("requests")
        .and_then(|requests| requests.get("successful"));
    let requests = requests
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let latencies = requests
        .iter()
        .filter_map(|request| number(request.as_object()?, "request_latency"));
    let latencies: Vec<u64> = latencies.map(|seconds| lines::ns(seconds, 1e9)).collect();
    let totals = metrics
        .and_then(|metrics| metrics.get("request_totals"))
        .or_else(|| benchmark.get("request_totals"))
        .and_then(Value::as_object);
    let count = |name: &str| number(totals?, name).and_then(token_stats::size);
    let failed = count("errored").unwrap_or(0) as u64;
    into.note_some(
        failed,
        "request",
        &source.name(),
        "failed and are in no number",
    );
    let whole = count("successful").unwrap_or(latencies.len());
    if latencies.len() >= whole {
        reported.samples_ns = latencies;
    } else if !latencies.is_empty() {
        into.note(format!(
            "{} keeps {} of {}, so the statistics of all are shown and no samples",
            source.name(),
            latencies.len(),
            humanize::pluralised(whole as u64, "request"),
        ));
    }
}

/// A benchmark of version 0.1: its requests with the time of every token, in seconds.
fn of_first_version(
    benchmark: &Value,
    args: Option<&Value>,
    source: &ImportSource,
    into: &mut Imported,
) {
    let model = request_metrics::model(args).unwrap_or_else(|| "requests".to_owned());
    let mut reported = Reported::named(model);
    let mode = benchmark
        .get("mode")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let rate = benchmark.get("rate").and_then(json::number);
    match (mode, rate) {
        ("synchronous", _) => {}
        (mode, Some(rate)) => reported
            .name
            .push_str(&format!(", {mode} {rate:.4} requests/s")),
        (mode, None) => reported.name.push_str(&format!(", {mode}")),
    }
    let listed = benchmark.get("results").and_then(Value::as_array);
    let requests: Vec<Request> = listed.into_iter().flatten().filter_map(request).collect();
    let errors = benchmark.get("errors").and_then(Value::as_array);
    let failed = errors.map_or(0, Vec::len) as u64;
    into.note_some(
        failed,
        "request",
        &source.name(),
        "failed and are in no number",
    );
    if requests.is_empty() {
        return;
    }
    let (prompt, new) = token_stats::set_requests(&mut reported, &requests);
    let streams = (mode == "synchronous").then_some(1.0);
    token_stats::set_sizes(
        &mut reported,
        &[(PROMPT, prompt), (NEW, new), (CONCURRENCY, streams)],
    );
    if let Some(note) = token_stats::note_of_lengths(&requests) {
        into.note(note);
    }
    into.reported.push(reported);
}

fn request(result: &Value) -> Option<Request> {
    let result = result.as_object()?;
    let ns = |seconds: f64| lines::ns(seconds, 1e9);
    let (start, end) = (number(result, "start_time")?, number(result, "end_time")?);
    let later = result
        .get("decode_times")
        .and_then(|times| times.get("data"))
        .and_then(Value::as_array);
    let later = later.into_iter().flatten().filter_map(json::number);
    Some(Request {
        latency_ns: ns(token_stats::plausible(end - start)?),
        first_ns: number(result, "first_token_time").map(ns),
        later_ns: later.filter_map(token_stats::plausible).map(ns).collect(),
        prompt: number(result, "prompt_token_count"),
        new: number(result, "output_token_count"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const SWEEP: &str = "guidellm/sweep-synchronous.excerpt.json";

    #[test]
    fn statistics_of_a_real_report_are_stated() {
        let imported = testing::fixture(SWEEP);
        let [one] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(one.name, "example_model");
        assert_eq!(
            one.point.unwrap().to_string(),
            "batch 1, concurrency 1, new 128, prompt 257"
        );
        // Of 46 requests one is kept.
        assert_eq!(
            (one.samples_ns.len(), one.typical_ns),
            (0, Some(642_456_532))
        );
        assert!(
            imported.notes[0].contains("1 of 46 requests"),
            "{:?}",
            imported.notes
        );
        let stated = one.generation.unwrap();
        assert_eq!(
            stated.first_token.median_ns.map(f64::round),
            Some(16_380_548.0)
        );
        assert_eq!(
            stated.first_token.p99_ns.map(f64::round),
            Some(21_281_958.0)
        );
        assert_eq!(stated.per_token.mean_ns.map(f64::round), Some(4_941_609.0));
        assert_eq!(stated.output_tokens_per_s, Some(198.133_467_517_881_23));
        assert_eq!(stated.concurrency, Some(0.997_762_745_648_360_4));
    }

    #[test]
    fn reports_of_today_name_the_strategy_and_keep_all_requests() {
        let text = r#"{"metadata": {"version": 2, "guidellm_version": "0.8.1"}, "config": {"backend": {"model": "m"}}, "benchmarks": [
            {"type_": "generative_benchmark", "config": {"strategy": {"type_": "concurrent", "streams": 8}},
             "metrics": {"request_totals": {"successful": 2, "errored": 1}, "inter_token_latency_ms": {"successful": {"mean": 5.0, "percentiles": {"p50": 4.0}}},
                "prompt_token_count": {"successful": {"mean": 100}}},
             "requests": {"successful": [{"request_latency": 0.5}, {"request_latency": 0.75}]}},
            {"type_": "generative_benchmark", "config": {"strategy": {"type_": "poisson", "rate": 2.5}}, "metrics": {}}]}"#;
        let imported = testing::imported(text).unwrap();
        let [one, other] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(
            (one.name.as_str(), other.name.as_str()),
            ("m", "m, poisson 2.5000 requests/s")
        );
        assert_eq!(
            one.point.unwrap().to_string(),
            "batch 1, concurrency 8, prompt 100"
        );
        assert_eq!(one.samples_ns, [500_000_000, 750_000_000]);
        assert_eq!(one.generation.unwrap().per_token.median_ns, Some(4e6));
        assert_eq!(imported.tool.version.as_deref(), Some("0.8.1"));
        assert!(
            imported.notes[0].starts_with("1 request of"),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn the_first_version_has_every_token() {
        let text = r#"{"benchmarks": [{"args": {"model": "m"}, "benchmarks": [{"mode": "synchronous", "rate": null, "results": [
            {"prompt_token_count": 8, "output_token_count": 3, "start_time": 10.0, "end_time": 10.5, "first_token_time": 0.25, "decode_times": {"data": [0.125, 0.0625]}}],
            "errors": [{"message": "gone"}]}]}]}"#;
        let imported = testing::imported(text).unwrap();
        let one = &imported.reported[0];
        assert_eq!(
            (one.name.as_str(), one.samples_ns.as_slice()),
            ("m", [500_000_000].as_slice())
        );
        assert_eq!(
            one.point.unwrap().to_string(),
            "batch 1, concurrency 1, new 3, prompt 8"
        );
        assert_eq!(
            one.tokens.as_ref().unwrap().later_token_ns,
            [125_000_000, 62_500_000]
        );
        assert!(imported.notes[0].starts_with("1 request of"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(SWEEP));
        let none =
            testing::imported(r#"{"metadata": {"guidellm_version": "0.6.0"}, "benchmarks": [5]}"#)
                .unwrap();
        assert!(none.notes[0].contains("no benchmarks"));
    }
}
