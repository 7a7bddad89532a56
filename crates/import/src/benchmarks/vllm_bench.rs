//! `vllm bench`: the JSON of `serve`, with every request where it was told to save them, of `latency` and of
//! `throughput`; and of the scripts of earlier versions.

use serde_json::Value;

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
    id: "vllm-bench",
    title: "results of vllm bench",
    tool: "vLLM",
    name_ends: &[],
    recognises,
    read,
};

/// Numbers that have a place of their own, beside everything of the four times.
const TAKEN: [&str; 12] = [
    "num_prompts",
    "request_rate",
    "max_concurrency",
    "completed",
    "failed",
    "request_throughput",
    "output_throughput",
    "total_token_throughput",
    "requests_per_second",
    "tokens_per_second",
    "avg_latency",
    "burstiness",
];
/// The four times, as the keys of their statistics end.
const TIMES: [&str; 4] = ["ttft", "tpot", "itl", "e2el"];

fn recognises(head: &FileHead) -> bool {
    let has = |keys: &[&str]| keys.iter().all(|key| head.has_key(key));
    !head.is_list()
        && (has(&["model_id", "tokenizer_id", "num_prompts"])
            || has(&["avg_latency", "latencies", "percentiles"])
            || has(&["num_requests", "total_num_tokens", "requests_per_second"]))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    // With --append-result several results follow each other.
    let mut results: Vec<Object> = Vec::new();
    let mut rest = text.as_str();
    loop {
        watch.tick(source.bytes())?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let Some(Ok(Value::Object(result))) = values.next() else {
            break;
        };
        rest = rest.get(values.byte_offset()..).unwrap_or_default();
        results.push(result);
    }
    if !rest.trim().is_empty() {
        let value = source.json(rest, FORMAT.title, into);
        match value {
            Ok(Value::Object(result)) => results.push(result),
            Ok(_) => into.note_unread(1, "result", &source.name()),
            Err(error) if results.is_empty() => return Err(error),
            Err(_) => into.note_cut(&source.name()),
        }
    }
    for result in &results {
        watch.tick(source.bytes())?;
        let reported = if result.contains_key("latencies") && result.contains_key("avg_latency") {
            latency(result)
        } else if result.contains_key("requests_per_second") {
            throughput(result)
        } else {
            serving(result, source, into)
        };
        into.reported.push(reported);
    }
    Ok(())
}

/// A number that a measurement can have.
fn number(result: &Object, key: &str) -> Option<f64> {
    json::number_of(result, key).and_then(token_stats::plausible)
}

/// `vllm bench serve`.
fn serving(result: &Object, source: &ImportSource, into: &mut Imported) -> Reported {
    let mut reported = Reported::named(json::text_of(result, "model_id").unwrap_or("requests"));
    if let Some(label) = json::text_of(result, "label") {
        reported.name.push_str(&format!(", {label}"));
    }
    // Without a limit it is the text `inf`.
    if let Some(rate) = number(result, "request_rate") {
        reported.name.push_str(&format!(", {rate} requests/s"));
    }
    let requests = requests(result);
    let (prompt, new) = token_stats::set_requests(&mut reported, &requests);
    let completed = number(result, "completed").filter(|count| *count > 0.0);
    let mean = |key: &str| Some(number(result, key)? / completed?);
    let (prompt, new) = (
        prompt.or_else(|| mean("total_input_tokens")),
        new.or_else(|| mean("total_output_tokens")),
    );
    token_stats::set_sizes(
        &mut reported,
        &[
            (PROMPT, prompt),
            (NEW, new),
            (CONCURRENCY, number(result, "max_concurrency")),
        ],
    );
    if let Some(note) = token_stats::note_of_lengths(&requests) {
        into.note(note);
    }
    token_stats::set_latency(&mut reported, statistics(result, "e2el"));
    token_stats::set_stated(
        &mut reported,
        &StatedGeneration {
            first_token: statistics(result, "ttft"),
            per_token: statistics(result, "tpot"),
            between_tokens: statistics(result, "itl"),
            prompt_tokens: prompt,
            new_tokens: new,
            output_tokens_per_s: number(result, "output_throughput"),
            total_tokens_per_s: number(result, "total_token_throughput"),
            requests_per_s: number(result, "request_throughput"),
            ..StatedGeneration::default()
        },
    );
    take_other_fields(result, &mut reported, into);
    let asked = number(result, "num_prompts");
    let failed = number(result, "failed").or_else(|| Some(asked? - completed.unwrap_or(0.0)));
    if let Some(failed) = failed
        .and_then(token_stats::size)
        .filter(|count| *count > 0)
    {
        into.note(format!(
            "{} of {} failed and are in no number",
            humanize::pluralised(failed as u64, "request"),
            source.name()
        ));
    }
    reported
}

/// `mean_ttft_ms`, `median_ttft_ms`, `p99_ttft_ms`.
fn statistics(result: &Object, of: &str) -> StatedTimes {
    token_stats::times(1e6, |name| number(result, &format!("{name}_{of}_ms")))
}

/// Requests one by one, where they were saved; those that failed are left out.
fn requests(result: &Object) -> Vec<Request> {
    let list = |key: &str| result.get(key).and_then(Value::as_array).map(Vec::as_slice);
    let (Some(first), Some(later)) = (list("ttfts"), list("itls")) else {
        return Vec::new();
    };
    let at = |key: &str, place: usize| {
        let value = json::number(list(key)?.get(place)?)?;
        token_stats::plausible(value)
    };
    let ns = |value: f64| lines::ns(value, 1e9);
    let pairs = first.iter().zip(later).enumerate();
    let request = |(place, (first, later)): (usize, (&Value, &Value))| {
        let error = list("errors").and_then(|errors| errors.get(place)?.as_str());
        let first = json::number(first).and_then(token_stats::plausible)?;
        let new = at("output_lens", place);
        if error.is_some_and(|error| !error.is_empty()) || new == Some(0.0) || first <= 0.0 {
            return None;
        }
        let later = later.as_array()?.iter().filter_map(json::number);
        let later: Vec<f64> = later.filter_map(token_stats::plausible).collect();
        let latency = at("latencies", place).unwrap_or_else(|| first + later.iter().sum::<f64>());
        Some(Request {
            latency_ns: ns(latency),
            first_ns: Some(ns(first)),
            later_ns: later.into_iter().map(ns).collect(),
            prompt: at("input_lens", place),
            new,
        })
    };
    pairs.filter_map(request).collect()
}

/// `vllm bench latency`: batches of one size, one after the other.
fn latency(result: &Object) -> Reported {
    let mut reported = Reported::named("batches");
    let values = result.get("latencies").and_then(Value::as_array);
    let values = values.into_iter().flatten().filter_map(json::number);
    let values = values.filter_map(token_stats::plausible);
    reported.samples_ns = values.map(|value| lines::ns(value, 1e9)).collect();
    let percentiles = result.get("percentiles").and_then(Value::as_object);
    let times = token_stats::times(1e9, |name| match name.strip_prefix('p') {
        Some(percent) => number(percentiles?, percent),
        None if name == "mean" => number(result, "avg_latency"),
        None => None,
    });
    token_stats::set_latency(&mut reported, times);
    reported
}

/// `vllm bench throughput`: as many requests as fit at once.
fn throughput(result: &Object) -> Reported {
    let mut reported = Reported::named("requests");
    for (key, unit) in [
        ("elapsed_time", "s"),
        ("num_requests", ""),
        ("total_num_tokens", ""),
    ] {
        if let Some(value) = number(result, key) {
            reported.figure(key, value, unit);
        }
    }
    reported.set_batch(Some(1));
    token_stats::set_stated(
        &mut reported,
        &StatedGeneration {
            total_tokens_per_s: number(result, "tokens_per_second"),
            requests_per_s: number(result, "requests_per_second"),
            ..StatedGeneration::default()
        },
    );
    reported
}

/// Every other number is a figure, and every other text a fact.
fn take_other_fields(result: &Object, reported: &mut Reported, into: &mut Imported) {
    for (key, value) in result {
        let key = key.trim_end_matches(':');
        let is_time = TIMES.iter().any(|time| {
            key.strip_suffix("_ms")
                .and_then(|key| key.strip_suffix(time))
                .is_some_and(|stem| !stem.starts_with("std"))
        });
        if TAKEN.contains(&key) || is_time {
            continue;
        }
        match value {
            Value::Number(_) => {
                let unit = match key {
                    "duration" => "s",
                    "request_goodput" => "requests/s",
                    "max_output_tokens_per_s" => "tokens/s",
                    _ if key.ends_with("_ms") => "ms",
                    _ => "",
                };
                if let Some(value) = json::number(value) {
                    reported.figure(key, value, unit);
                }
            }
            Value::String(text) if key != "model_id" => into.fact(key, text.trim()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const SERVE: &str = "vllm-bench/serve.json";
    const DETAILED: &str = "vllm-bench/serve-detailed.json";

    fn stated(reported: &Reported) -> StatedGeneration {
        reported.generation.unwrap()
    }

    #[test]
    fn a_server_has_its_times_rates_and_lengths() {
        let imported = testing::fixture(SERVE);
        let [one] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        let stated = stated(one);
        assert!(one.name.ends_with("requests/s"), "{}", one.name);
        assert!(one.samples_ns.is_empty() && one.tokens.is_none());
        assert!(stated.first_token.p99_ns > stated.first_token.median_ns);
        assert!(stated.per_token.mean_ns.is_some() && stated.between_tokens.p99_ns.is_some());
        assert!(stated.output_tokens_per_s < stated.total_tokens_per_s);
        let figures: Vec<&str> = one
            .figures
            .iter()
            .map(|figure| figure.name.as_str())
            .collect();
        assert!(figures.contains(&"std_ttft_ms") && !figures.contains(&"mean_ttft_ms"));
    }

    #[test]
    fn saved_requests_are_samples_with_their_tokens() {
        let imported = testing::fixture(DETAILED);
        let [one] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        let tokens = one.tokens.as_ref().unwrap();
        assert_eq!(tokens.first_token_ns.len(), one.samples_ns.len());
        let sum: u64 = tokens
            .first_token_ns
            .iter()
            .chain(&tokens.later_token_ns)
            .sum();
        let samples: u64 = one.samples_ns.iter().sum();
        // The client's own time lies between the last token and the end.
        assert!(
            sum <= samples && samples - sum < samples / 10,
            "{sum} of {samples}"
        );
    }

    #[test]
    fn requests_that_failed_are_left_out_and_counted() {
        let text = r#"{"date": "x", "model_id": "m", "tokenizer_id": "m", "num_prompts": 3, "request_rate": "inf",
            "max_concurrency": 2, "completed": 1, "ttfts": [0.01, 0.0, "NaN"], "itls": [[0.002, 0.003], [], 5],
            "input_lens": [16, 16, 16], "output_lens": [3, 0, 3], "errors": ["", "gone", ""]}
            {"model_id": "m", "tokenizer_id": "m", "num_prompts": 1, "completed": 1, "total_input_tokens": 7, "mean_e2el_ms": 5}"#;
        let imported = testing::imported(text).unwrap();
        let [one, other] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(
            (one.name.as_str(), one.samples_ns.as_slice()),
            ("m", [15_000_000].as_slice())
        );
        assert_eq!(
            one.point.unwrap().to_string(),
            "batch 1, concurrency 2, new 3, prompt 16"
        );
        assert_eq!(
            one.tokens.as_ref().unwrap().later_token_ns,
            [2_000_000, 3_000_000]
        );
        assert_eq!(other.typical_ns, Some(5_000_000));
        assert_eq!(other.point.unwrap().to_string(), "batch 1, prompt 7");
        assert!(
            imported.notes[0].starts_with("2 requests of"),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn latency_and_throughput_are_read() {
        let text = r#"{"avg_latency": 0.5, "latencies": [0.25, 0.75], "percentiles": {"50": 0.5, "99": 0.75}}"#;
        let one = testing::imported(text).unwrap().reported.remove(0);
        assert_eq!(one.samples_ns, [250_000_000, 750_000_000]);
        let p99 = one
            .figures
            .iter()
            .find(|figure| figure.name == "latency p99")
            .unwrap();
        assert_eq!((p99.value, p99.unit.as_str()), (750.0, "ms"));
        let text = r#"{"elapsed_time": 2.0, "num_requests": 8, "total_num_tokens": 2048, "requests_per_second": 4.0, "tokens_per_second": 1024.0}"#;
        let one = testing::imported(text).unwrap().reported.remove(0);
        assert_eq!(stated(&one).total_tokens_per_s, Some(1024.0));
        assert_eq!(stated(&one).requests_per_s, Some(4.0));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for file in [SERVE, DETAILED] {
            testing::survives(&FORMAT, &testing::raw(file));
        }
        testing::survives(
            &FORMAT,
            br#"{"avg_latency": 0.5, "latencies": [0.25, 0.75], "percentiles": {"50": 0.5}}"#,
        );
    }
}
