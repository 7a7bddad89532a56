//! GenAI-Perf: its summary in JSON and CSV, and the profile of `perf_analyzer` with the time of every response.

use serde_json::Value;

use crate::benchmarks::request_metrics::{self, Metrics};
use crate::benchmarks::token_stats::{self, CONCURRENCY, NEW, Request};
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "genai-perf",
    title: "results of GenAI-Perf",
    tool: "GenAI-Perf",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let has = |keys: &[&str]| keys.iter().all(|key| head.has_key(key));
    let is_summary = has(&["request_latency", "unit", "input_config"])
        && !head.has_key("records")
        && !head.has_key("was_cancelled")
        && !head.has_key("aiperf_version");
    let is_profile = has(&["experiments", "response_timestamps"]);
    let columns = head.columns(',');
    let is_table = columns.first().is_some_and(|name| name == "metric")
        && columns.get(1).is_some_and(|name| name == "avg")
        && columns.get(4).is_some_and(|name| name == "p99");
    !head.is_list() && (is_summary || is_profile) || is_table
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    if !text.trim_start().starts_with('{') {
        let metrics = request_metrics::table(&text, source, watch, into)?;
        if !metrics.is_empty() {
            let name = request_metrics::file_title(source);
            into.reported
                .push(request_metrics::result(name, &metrics, None));
        }
        return Ok(());
    }
    let value = source.json(&text, FORMAT.title, into)?;
    watch.tick(source.bytes())?;
    if let Some(experiments) = value.get("experiments").and_then(Value::as_array) {
        for experiment in experiments {
            watch.tick(source.bytes())?;
            profile(experiment, &value, source, into);
        }
    } else if let Some(object) = value.as_object() {
        summary(object, into);
    }
    Ok(())
}

fn summary(object: &Object, into: &mut Imported) {
    let settings = object.get("input_config");
    let name = request_metrics::model(settings).unwrap_or_else(|| "requests".to_owned());
    let metrics = Metrics::from_object(object);
    let mut reported = request_metrics::result(name, &metrics, settings);
    if let Some(telemetry) = object.get("telemetry_stats") {
        request_metrics::readings(telemetry, "", 0, &mut reported);
    }
    for name in ["service_kind", "backend", "endpoint_type"] {
        let setting = settings.and_then(|settings| request_metrics::setting(settings, name, 0));
        into.fact(name, setting.map(json::value_text).unwrap_or_default());
    }
    into.reported.push(reported);
}

/// The requests of one load.
fn profile(experiment: &Value, all: &Value, source: &ImportSource, into: &mut Imported) {
    let load = experiment.get("experiment").and_then(Value::as_object);
    let mode = load
        .and_then(|load| json::text_of(load, "mode"))
        .unwrap_or("requests");
    let value = load.and_then(|load| json::number_of(load, "value"));
    let listed = experiment.get("requests").and_then(Value::as_array);
    let listed = listed.map(Vec::as_slice).unwrap_or_default();
    let requests: Vec<Request> = listed.iter().filter_map(request).collect();
    into.note_some(
        (listed.len() - requests.len()) as u64,
        "request",
        &source.name(),
        "had no response and is in no number",
    );
    if requests.is_empty() {
        return;
    }
    let mut reported = Reported::named("requests");
    if let (false, Some(value)) = (mode == "concurrency", value) {
        reported
            .name
            .push_str(&format!(", {} {value}", mode.replace('_', " ")));
    }
    let (_, new) = token_stats::set_requests(&mut reported, &requests);
    let concurrency = value.filter(|_| mode == "concurrency");
    token_stats::set_sizes(&mut reported, &[(NEW, new), (CONCURRENCY, concurrency)]);
    if let Some(note) = token_stats::note_of_lengths(&requests) {
        into.note(note);
    }
    if reported.tokens.is_some() {
        into.note("Answers came in responses, and a response may have several tokens: each counts as one here");
    }
    for name in ["service_kind", "endpoint", "version"] {
        into.fact(
            name,
            all.get(name).map(json::value_text).unwrap_or_default(),
        );
    }
    into.reported.push(reported);
}

/// A request with the times of its responses, in nanoseconds; those without a text at the end are none.
fn request(request: &Value) -> Option<Request> {
    let start = request.get("timestamp")?.as_u64()?;
    let times = request.get("response_timestamps")?.as_array()?;
    let outputs = request.get("response_outputs").and_then(Value::as_array);
    let has_text =
        |place: usize| outputs.is_none_or(|outputs| outputs.get(place).is_none_or(has_text));
    let listed: Vec<u64> = times.iter().map_while(Value::as_u64).collect();
    let end = listed.iter().copied().max()?;
    let mut tokens: Vec<u64> = (0_usize..)
        .zip(&listed)
        .filter(|(place, _)| has_text(*place))
        .map(|(_, time)| *time)
        .collect();
    if tokens.is_empty() {
        tokens.clone_from(&listed);
    }
    let first = tokens.first()?.checked_sub(start)?;
    let pairs = tokens.windows(2);
    Some(Request {
        latency_ns: tokens.last().copied().unwrap_or(end).checked_sub(start)?,
        first_ns: Some(first),
        later_ns: pairs.map(|pair| pair[1].saturating_sub(pair[0])).collect(),
        prompt: None,
        new: Some(tokens.len() as f64),
    })
}

/// Whether a response has a text of the answer: not the first one, which has a role alone, and not the mark of
/// the end.
fn has_text(output: &Value) -> bool {
    if let Some(text) = output.as_str() {
        return !text.is_empty();
    }
    if let Some(text) = output.get("text_output") {
        return text.as_str().is_none_or(|text| !text.is_empty());
    }
    let Some(response) = output.get("response").and_then(Value::as_str) else {
        return true;
    };
    let mut events = response
        .lines()
        .map(|line| line.trim_start_matches("data:").trim())
        .filter(|event| !event.is_empty());
    events.any(|event| match json::object(event) {
        None => event != "[DONE]",
        Some(event) => {
            let choice = event.get("choices").and_then(|choices| choices.get(0));
            let delta =
                choice.and_then(|choice| choice.get("delta").or_else(|| choice.get("message")));
            let text = choice.and_then(|choice| choice.get("text"));
            let content = delta.and_then(|delta| delta.get("content")).or(text);
            content
                .and_then(Value::as_str)
                .is_some_and(|text| !text.is_empty())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const CSV: &str = "genai-perf/summary.csv";
    const JSON: &str = "genai-perf/summary.json";
    const PROFILE: &str = "genai-perf/profile_export.json";

    fn only(file: &str) -> Reported {
        let mut imported = testing::fixture(file);
        assert_eq!(imported.reported.len(), 1, "{file}: {:?}", imported.notes);
        imported.reported.remove(0)
    }

    #[test]
    fn json_and_csv_have_the_same_run() {
        let (json, csv) = (only(JSON), only(CSV));
        assert_eq!(
            (json.name.as_str(), csv.name.as_str()),
            ("example_model", "summary")
        );
        assert_eq!(
            json.point.unwrap().to_string(),
            "batch 1, concurrency 10, new 174, prompt 3000"
        );
        assert_eq!(
            csv.point.unwrap().to_string(),
            "batch 1, new 174, prompt 3000"
        );
        // Numbers of the table have commas between thousands.
        assert_eq!(
            (json.typical_ns, csv.typical_ns),
            (Some(5_690_230_000), Some(5_690_230_000))
        );
        let (json, csv) = (json.generation.unwrap(), csv.generation.unwrap());
        assert_eq!(json.first_token.p99_ns, Some(3_457_970_000.0));
        assert_eq!(json.per_token.median_ns, Some(30_130_000.0));
        assert_eq!(csv, json);
    }

    #[test]
    fn responses_are_tokens_but_for_those_without_text() {
        let imported = testing::fixture(PROFILE);
        let [one, rate] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(
            (rate.name.as_str(), rate.samples_ns.as_slice()),
            (
                "requests, request rate 2",
                [13_000_000, 8_000_000].as_slice()
            )
        );
        assert_eq!(one.samples_ns, [7_000_000, 9_000_000]);
        assert_eq!(
            one.point.unwrap().to_string(),
            "batch 1, concurrency 10, new 3"
        );
        let tokens = one.tokens.as_ref().unwrap();
        assert_eq!(tokens.first_token_ns, [2_000_000, 2_000_000]);
        assert_eq!(
            tokens.later_token_ns,
            [2_000_000, 3_000_000, 3_000_000, 4_000_000]
        );
        let chat = r#"{"experiments": [{"experiment": {"mode": "request_rate", "value": 2.5}, "requests": [
            {"timestamp": 10, "response_timestamps": [12, 15, 19, 30], "response_outputs": [
                {"response": "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},
                {"response": "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"},
                {"response": "data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"},
                {"response": "data: [DONE]\n\n"}]},
            {"timestamp": 10, "response_timestamps": []}, {"timestamp": 10, "response_timestamps": [3]}]}]}"#;
        let imported = testing::imported(chat).unwrap();
        let one = &imported.reported[0];
        assert_eq!(
            (one.name.as_str(), one.samples_ns.as_slice()),
            ("requests, request rate 2.5", [9].as_slice())
        );
        assert_eq!(one.tokens.as_ref().unwrap().first_token_ns, [5]);
        assert!(
            imported.notes[0].starts_with("2 requests of"),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for file in [CSV, JSON, PROFILE] {
            testing::survives(&FORMAT, &testing::raw(file));
        }
        testing::survives(&FORMAT, b"Metric,avg,min,max,p99\nRequest Latency (ms),1,1,1,1\n\nMetric,GPU,avg\nPower (W),0,5\n");
    }
}
