//! Shared code of `AIPerf` and GenAI-Perf: metrics of requests, each with its unit and statistics, in JSON and CSV.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::ImportError;
use crate::Imported;
use crate::benchmarks::common;
use crate::benchmarks::token_stats::{self, CONCURRENCY, NEW, PROMPT};
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use powerband_core::base::humanize;
use powerband_core::domain::generation::{StatedGeneration, StatedTimes};
use powerband_core::domain::reported::Reported;

/// Deeper than this no settings and no readings of devices lie.
const DEEPEST: usize = 8;
/// Metrics that have a place of their own.
const TAKEN: [&str; 10] = [
    "request_latency",
    "time_to_first_token",
    "inter_token_latency",
    "input_sequence_length",
    "output_sequence_length",
    "output_token_throughput",
    "output_token_throughput_per_user",
    "prefill_throughput_per_user",
    "request_throughput",
    "total_token_throughput",
];
/// Statistics that such a metric has beside those that are taken over.
const NAMED: [&str; 9] = [
    "avg", "min", "max", "p50", "p90", "p95", "p99", "value", "count",
];

/// A metric: its unit, and its statistics by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestMetric {
    pub(crate) unit: String,
    pub(crate) statistics: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics(BTreeMap<String, RequestMetric>);

/// A metric's name as both programs write it in JSON: `Time To First Token` is `time_to_first_token`.
fn metric_key(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let name = words.join("_");
    match name.as_str() {
        "ttft" => "time_to_first_token".to_owned(),
        "isl" => "input_sequence_length".to_owned(),
        "osl" => "output_sequence_length".to_owned(),
        _ => name,
    }
}

impl Metrics {
    pub(crate) fn add(&mut self, name: &str, metric: RequestMetric) {
        if !metric.statistics.is_empty() {
            self.0.insert(metric_key(name), metric);
        }
    }

    /// The metrics that are members of an object.
    pub(crate) fn from_object(object: &Object) -> Self {
        let mut metrics = Self::default();
        for (name, value) in object {
            if let Some(metric) = value.as_object().and_then(metric) {
                metrics.add(name, metric);
            }
        }
        metrics
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn statistic(&self, name: &str, statistic: &str) -> Option<f64> {
        let found = self.0.get(name)?.statistics.get(statistic)?;
        token_stats::plausible(*found)
    }

    /// The mean of a metric, or its only number.
    pub(crate) fn mean(&self, name: &str) -> Option<f64> {
        self.statistic(name, "avg")
            .or_else(|| self.statistic(name, "value"))
    }

    fn times(&self, name: &str) -> StatedTimes {
        let unit = self.0.get(name).and_then(|one| lines::unit_ns(&one.unit));
        token_stats::times(unit.unwrap_or(1e6), |stat| self.statistic(name, stat))
    }

    /// What is stated of the requests.
    fn stated(&self) -> StatedGeneration {
        StatedGeneration {
            first_token: self.times("time_to_first_token"),
            // Both programs divide what a request takes after its first token by the tokens that follow.
            per_token: self.times("inter_token_latency"),
            prompt_tokens: self.mean("input_sequence_length"),
            new_tokens: self.mean("output_sequence_length"),
            prefill_tokens_per_s: self.mean("prefill_throughput_per_user"),
            decode_tokens_per_s: self.mean("output_token_throughput_per_user"),
            output_tokens_per_s: self.mean("output_token_throughput"),
            total_tokens_per_s: self.mean("total_token_throughput"),
            requests_per_s: self.mean("request_throughput"),
            ..StatedGeneration::default()
        }
    }
}

/// `{"unit": "ms", "avg": 2.5, "p99": 3.0}`.
fn metric(object: &Object) -> Option<RequestMetric> {
    let unit = json::text_of(object, "unit")?.to_owned();
    let statistics = object.iter().filter_map(|(name, value)| {
        let value = value.as_number().and_then(serde_json::Number::as_f64)?;
        Some((name.clone(), value))
    });
    Some(RequestMetric {
        unit,
        statistics: statistics.collect(),
    })
}

/// The metrics of a table in CSV: sections with a head each, `Metric,avg,min,…`, `Metric,Value`, `Metric,GPU,avg,…`.
pub(crate) fn table(
    text: &str,
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<Metrics, ImportError> {
    let mut metrics = Metrics::default();
    let mut head: Vec<String> = Vec::new();
    let mut unread = 0;
    for line in source.progress_reader(text.lines(), watch) {
        let cells = lines::fields(line?, ',');
        match cells.first().map(String::as_str) {
            Some("") if cells.len() == 1 => continue,
            Some("Metric") => {
                head = cells.iter().map(|cell| cell.to_lowercase()).collect();
                continue;
            }
            _ if cells.len() != head.len() => {
                unread += 1;
                continue;
            }
            _ => {}
        }
        let title = cells.first().map(String::as_str).unwrap_or_default();
        let (name, unit) = common::unit_of(title);
        let mut name = name.to_owned();
        let mut metric = RequestMetric {
            unit: unit.to_owned(),
            ..RequestMetric::default()
        };
        for (column, cell) in head.iter().zip(&cells).skip(1) {
            match lines::number(cell) {
                _ if column == "gpu" => name.push_str(&format!(" of GPU {cell}")),
                Some(value) => {
                    metric.statistics.insert(column.clone(), value);
                }
                None => {}
            }
        }
        metrics.add(&name, metric);
    }
    into.note_unread(unread, "row", &source.name());
    Ok(metrics)
}

/// The first value with this name in nested settings.
pub(crate) fn setting<'a>(value: &'a Value, name: &str, depth: usize) -> Option<&'a Value> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::Object(object) => match object.get(name) {
            Some(found) if !found.is_null() && !found.is_object() => Some(found),
            _ => object
                .values()
                .find_map(|inner| setting(inner, name, depth + 1)),
        },
        Value::Array(list) => list
            .iter()
            .find_map(|inner| setting(inner, name, depth + 1)),
        _ => None,
    }
}

/// A number among settings.
fn number_setting(settings: Option<&Value>, name: &str) -> Option<f64> {
    json::number(setting(settings?, name, 0)?).and_then(token_stats::plausible)
}

/// The model's name among settings.
pub(crate) fn model(settings: Option<&Value>) -> Option<String> {
    let names = ["model_names", "model_name", "formatted_model_name", "model"];
    let found = names.iter().find_map(|name| setting(settings?, name, 0))?;
    let name = json::value_text(found);
    (!name.is_empty()).then_some(name)
}

/// A run of either program as a result.
pub(crate) fn result(name: String, metrics: &Metrics, settings: Option<&Value>) -> Reported {
    let mut reported = Reported::named(name);
    if let Some(rate) = number_setting(settings, "request_rate") {
        reported.name.push_str(&format!(", {rate} requests/s"));
    }
    let stated = metrics.stated();
    token_stats::set_sizes(
        &mut reported,
        &[
            (PROMPT, stated.prompt_tokens),
            (NEW, stated.new_tokens),
            (CONCURRENCY, number_setting(settings, "concurrency")),
        ],
    );
    token_stats::set_latency(&mut reported, metrics.times("request_latency"));
    token_stats::set_stated(&mut reported, &stated);
    for (name, metric) in &metrics.0 {
        let is_taken = TAKEN.contains(&name.as_str());
        for (statistic, value) in &metric.statistics {
            let is_count = statistic == "count" || statistic == "sum";
            if is_count || is_taken && NAMED.contains(&statistic.as_str()) {
                continue;
            }
            let title = match statistic.as_str() {
                "value" => name.clone(),
                "avg" if metric.statistics.len() <= 2 => name.clone(),
                statistic => format!("{name} {statistic}"),
            };
            reported.figure(title, *value, &metric.unit);
        }
    }
    reported
}

/// Readings of devices, wherever they lie: everything that has a unit and a mean, named by where it lies.
pub(crate) fn readings(value: &Value, path: &str, depth: usize, reported: &mut Reported) {
    let Some(object) = value.as_object().filter(|_| depth <= DEEPEST) else {
        return;
    };
    let unit = json::text_of(object, "unit");
    for (name, inner) in object {
        if let (Some(unit), "avg" | "max", Some(value)) = (unit, name.as_str(), json::number(inner))
        {
            reported.figure(format!("{path} {name}"), value, unit);
        }
        let is_list_of_places = matches!(name.as_str(), "endpoints" | "gpus" | "metrics");
        let below = match (path.is_empty(), is_list_of_places) {
            (_, true) => path.to_owned(),
            (true, false) => name.clone(),
            (false, false) => format!("{path} {name}"),
        };
        // A unit may stand beside the devices that it is of: `{"unit": "W", "gpu0": {"avg": 9}}`.
        if let (Some(unit), Some(of_device)) = (unit, inner.as_object()) {
            for statistic in ["avg", "max"] {
                if let Some(value) = json::number_of(of_device, statistic) {
                    reported.figure(format!("{below} {statistic}"), value, unit);
                }
            }
        } else {
            readings(inner, &below, depth + 1, reported);
        }
    }
}

/// Says how many requests failed.
pub(crate) fn note_failed(count: Option<f64>, source: &ImportSource, into: &mut Imported) {
    let count = count.and_then(token_stats::size).unwrap_or(0) as u64;
    if count > 0 {
        into.note(format!(
            "{} of {} failed or were cancelled and are in no number",
            humanize::pluralised(count, "request"),
            source.name()
        ));
    }
}

/// What a run in CSV is called: its file, since the table names no model.
pub(crate) fn file_title(source: &ImportSource) -> String {
    let name = source.name();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".csv").unwrap_or(name).to_owned()
}
