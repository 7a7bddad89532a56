//! `AIPerf`: its summary in JSON and CSV, and its records, a line a request.

use serde_json::Value;

use crate::benchmarks::request_metrics::{self, Metrics};
use crate::benchmarks::token_stats::{self, NEW, PROMPT, Request};
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "aiperf",
    title: "results of AIPerf",
    tool: "AIPerf",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let has = |keys: &[&str]| keys.iter().all(|key| head.has_key(key));
    let is_summary = has(&["aiperf_version"])
        || has(&["records", "request_latency", "unit"]) && !head.has_key("traceEvents")
        || has(&["request_latency", "input_config", "was_cancelled"]);
    let is_records = has(&["x_request_id", "metrics", "metadata"]);
    // GenAI-Perf has the same table with the high percentiles first.
    let columns = head.columns(',');
    let is_table = columns.first().is_some_and(|name| name == "metric")
        && columns.get(1).is_some_and(|name| name == "avg")
        && columns.last().is_some_and(|name| name == "std");
    !head.is_list() && (is_summary || is_records) || is_table
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    if !text.trim_start().starts_with('{') {
        let metrics = request_metrics::table(&text, source, watch, into)?;
        let failed = metrics.mean("error_request_count");
        request_metrics::note_failed(failed, source, into);
        if !metrics.is_empty() {
            let name = request_metrics::file_title(source);
            into.reported
                .push(request_metrics::result(name, &metrics, None));
        }
        return Ok(());
    }
    let first = text.trim_start().lines().next().unwrap_or_default();
    if json::object(first).is_some_and(|line| line.contains_key("metadata")) {
        return records(&text, source, watch, into);
    }
    let value = source.json(&text, FORMAT.title, into)?;
    watch.tick(source.bytes())?;
    if let Some(object) = value.as_object() {
        summary(object, source, into);
    }
    Ok(())
}

fn summary(object: &Object, source: &ImportSource, into: &mut Imported) {
    if let Some(version) = json::text_of(object, "aiperf_version") {
        into.name_version(version);
    }
    let settings = object.get("input_config").or_else(|| object.get("config"));
    if let Some(command) =
        settings.and_then(|settings| request_metrics::setting(settings, "cli_command", 0))
    {
        into.keep_command(&json::value_text(command));
    }
    let metrics = object
        .get("records")
        .and_then(Value::as_object)
        .unwrap_or(object);
    let metrics = Metrics::from_object(metrics);
    request_metrics::note_failed(metrics.mean("error_request_count"), source, into);
    if metrics.is_empty() {
        into.note(format!(
            "{} has no metrics: no request ended as it should",
            source.name()
        ));
        return;
    }
    let name = request_metrics::model(settings).unwrap_or_else(|| "requests".to_owned());
    let mut reported = request_metrics::result(name, &metrics, settings);
    if let Some(telemetry) = object.get("telemetry_data") {
        request_metrics::readings(telemetry, "", 0, &mut reported);
    }
    if object.get("was_cancelled").and_then(Value::as_bool) == Some(true) {
        reported.objections.push("the run was cancelled".to_owned());
    }
    into.reported.push(reported);
}

/// A line for each request, with the time between its chunks.
fn records(
    text: &str,
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut requests = Vec::new();
    let (mut failed, mut unread) = (0, 0);
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let Some(record) = json::object(line) else {
            unread += 1;
            continue;
        };
        let phase = record
            .get("metadata")
            .and_then(|metadata| metadata.get("credit_phase"));
        match request(&record) {
            _ if phase.and_then(Value::as_str) == Some("warmup") => {}
            Some(found) => requests.push(found),
            None => failed += 1,
        }
    }
    into.note_unread(unread, "line", &source.name());
    request_metrics::note_failed(Some(f64::from(failed)), source, into);
    if requests.is_empty() {
        return Ok(());
    }
    let mut reported = Reported::named("requests");
    let (prompt, new) = token_stats::set_requests(&mut reported, &requests);
    token_stats::set_sizes(&mut reported, &[(PROMPT, prompt), (NEW, new)]);
    if let Some(note) = token_stats::note_of_lengths(&requests) {
        into.note(note);
    }
    if reported.tokens.is_some() {
        into.note("Answers came in chunks, and a chunk may have several tokens: times from token to token are from chunk to chunk");
    }
    into.reported.push(reported);
    Ok(())
}

/// A request that ended as it should.
fn request(record: &Object) -> Option<Request> {
    if record.get("error").is_some_and(|error| !error.is_null()) {
        return None;
    }
    let metrics = record.get("metrics")?.as_object()?;
    let metric = |names: [&str; 2]| {
        names
            .iter()
            .find_map(|name| metrics.get(*name)?.as_object())
    };
    let ns = |value: &Value, unit: f64| {
        let value = json::number(value).and_then(token_stats::plausible)?;
        Some(lines::ns(value, unit))
    };
    let unit = |metric: &Object| {
        json::text_of(metric, "unit")
            .and_then(lines::unit_ns)
            .unwrap_or(1e6)
    };
    let time = |names: [&str; 2]| {
        let metric = metric(names)?;
        ns(metric.get("value")?, unit(metric))
    };
    let count = |names: [&str; 2]| {
        json::number_of(metric(names)?, "value").and_then(token_stats::plausible)
    };
    let chunks = metric(["inter_chunk_latency", "icl"]);
    let later = chunks.and_then(|chunks| {
        let list = chunks.get("value")?.as_array()?;
        Some(
            list.iter()
                .filter_map(|value| ns(value, unit(chunks)))
                .collect(),
        )
    });
    Some(Request {
        latency_ns: time(["request_latency", "latency"])?,
        first_ns: time(["time_to_first_token", "ttft"]),
        later_ns: later.unwrap_or_default(),
        prompt: count(["input_sequence_length", "isl"]),
        new: count(["output_sequence_length", "osl"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const CSV: &str = "aiperf/gpt-oss-20b.csv";
    const JSON: &str = "aiperf/gpt-oss-20b.json";
    const RECORDS: &str = "aiperf/gpt-oss-20b.records.jsonl";

    fn only(file: &str) -> (Reported, Vec<String>) {
        let mut imported = testing::fixture(file);
        assert_eq!(imported.reported.len(), 1, "{file}");
        (imported.reported.remove(0), imported.notes)
    }

    #[test]
    fn the_summary_has_its_times_and_rates() {
        let (one, notes) = only(JSON);
        assert_eq!(one.name, "openai/gpt-oss-20b");
        assert_eq!(
            one.point.unwrap().to_string(),
            "batch 1, concurrency 100, new 243, prompt 550"
        );
        assert_eq!(one.typical_ns, Some(9_097_345_015));
        let stated = one.generation.unwrap();
        assert_eq!(stated.first_token.p95_ns, Some(3_825_277_841.200));
        assert_eq!(stated.per_token.mean_ns, Some(27_763_065.454_471_807));
        assert_eq!(stated.decode_tokens_per_s, Some(36.684_348_532_201_58));
        assert_eq!(stated.output_tokens_per_s, Some(2_320.722_235_040_457_2));
        assert_eq!(stated.requests_per_s, Some(9.551_622_221_540_914));
        let chunks = one
            .figures
            .iter()
            .find(|figure| figure.name == "inter_chunk_latency p99")
            .unwrap();
        assert_eq!((chunks.value, chunks.unit.as_str()), (140.534_294_76, "ms"));
        assert!(notes[0].starts_with("11 requests of"), "{notes:?}");
    }

    #[test]
    fn the_table_says_the_same_in_two_decimals() {
        let ((table, _), (json, _)) = (only(CSV), only(JSON));
        assert_eq!(table.name, "gpt-oss-20b");
        assert_eq!(
            table.point.unwrap().to_string(),
            "batch 1, new 243, prompt 550"
        );
        let (table, json) = (table.generation.unwrap(), json.generation.unwrap());
        for (name, ns) in json.first_token.named() {
            let (_, rounded) = table.first_token.named().find(|one| one.0 == name).unwrap();
            assert!((ns - rounded).abs() <= 5001.0, "{name}: {ns} {rounded}");
        }
        assert_eq!(table.output_tokens_per_s, Some(2320.72));
    }

    #[test]
    fn records_are_requests_with_their_chunks() {
        let (one, notes) = only(RECORDS);
        assert_eq!(one.samples_ns, [7_936_968_269, 8_214_202_336]);
        let tokens = one.tokens.unwrap();
        assert_eq!(tokens.first_token_ns, [1_680_543_782, 3_340_543_979]);
        assert_eq!((tokens.prompt_tokens, tokens.new_tokens), (550, 193));
        assert_eq!(tokens.later_token_ns[..2], [134_440_792, 141_307_763]);
        assert!(
            notes.iter().any(|note| note.starts_with("1 request of")),
            "{notes:?}"
        );
        assert!(notes.iter().any(|note| note.contains("chunk")));
    }

    #[test]
    fn newer_summaries_have_metrics_at_the_top_and_readings_of_devices() {
        let text = r#"{"schema_version": "1.0", "aiperf_version": "0.6.0", "request_throughput": {"unit": "requests/sec", "avg": 2.5},
            "request_latency": {"unit": "ms", "avg": 9.0, "p50": 8.0, "p99": null}, "was_cancelled": true,
            "telemetry_data": {"endpoints": {"host": {"gpus": {"gpu_0": {"metrics": {"gpu_power_usage": {"unit": "W", "avg": 300.5}}}}}}},
            "input_config": {"loadgen": {"request_rate": 3, "concurrency": null}}}"#;
        let imported = testing::imported(text).unwrap();
        let one = &imported.reported[0];
        assert_eq!(
            (one.name.as_str(), one.typical_ns),
            ("requests, 3 requests/s", Some(8_000_000))
        );
        assert_eq!(one.objections, ["the run was cancelled"]);
        let power = one
            .figures
            .iter()
            .find(|figure| figure.name.contains("gpu_power_usage"))
            .unwrap();
        assert_eq!(
            (power.name.as_str(), power.value),
            ("host gpu_0 gpu_power_usage avg", 300.5)
        );
        assert_eq!(imported.tool.version.as_deref(), Some("0.6.0"));
        let none = testing::imported(r#"{"aiperf_version": "0.6.0"}"#).unwrap();
        assert!(none.notes[0].contains("no metrics"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for file in [CSV, JSON, RECORDS] {
            testing::survives(&FORMAT, &testing::raw(file));
        }
        let deep = format!(
            "{{\"aiperf_version\": 1, \"input_config\": {}1{}}}",
            "{\"a\":".repeat(100),
            "}".repeat(100)
        );
        testing::survives(&FORMAT, deep.as_bytes());
    }
}
