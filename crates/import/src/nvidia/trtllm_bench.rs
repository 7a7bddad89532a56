//! `trtllm-bench` of TensorRT-LLM: what it prints, and the JSON of `--report_json`; and what its predecessors
//! `gptManagerBenchmark` and `gptSessionBenchmark` print.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::benchmarks::token_stats::{self, CONCURRENCY, NEW, PROMPT};
use crate::reading::head::FileHead;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::{json, lines};
use crate::{Format, ImportError, Imported};
use powerband_core::domain::generation::{StatedGeneration, StatedTimes};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "trtllm-bench",
    title: "results of TensorRT-LLM's benchmark",
    tool: "trtllm-bench",
    name_ends: &[],
    recognises,
    read,
};

/// What a figure is called here, and all that it is called in prints and in JSON.
const FIGURES: &[(&str, &[&str])] = &[
    (
        "requests",
        &["Number of requests", "num_requests", "num_samples"],
    ),
    (
        "concurrency",
        &[
            "Number of concurrent requests",
            "avg_num_concurrent_requests",
        ],
    ),
    (
        "prompt",
        &[
            "Average Input Length (tokens)",
            "avg_input_length",
            "input_length",
        ],
    ),
    (
        "new",
        &[
            "Average Output Length (tokens)",
            "avg_output_length",
            "output_length",
        ],
    ),
    (
        "requests_per_s",
        &[
            "Request Throughput (req/sec)",
            "request_throughput_req_s",
            "seq_throughput(seq/sec)",
        ],
    ),
    (
        "output_per_s",
        &[
            "Total Output Throughput (tokens/sec)",
            "Token Throughput (tokens/sec)",
            "system_output_throughput_tok_s",
            "token_throughput(token/sec)",
            "tokensPerSec",
        ],
    ),
    (
        "total_per_s",
        &[
            "Total Token Throughput (tokens/sec)",
            "system_total_throughput_tok_s",
        ],
    ),
    (
        "decode_per_s",
        &[
            "Per User Output Speed [1/TPOT] (tps/user)",
            "token_output_speed_tok_s",
        ],
    ),
    (
        "latency",
        &[
            "Average request latency (ms)",
            "avg_request_latency_ms",
            "avg_sequence_latency(ms)",
            "latency(ms)",
        ],
    ),
    (
        "first_token",
        &[
            "Average time-to-first-token [TTFT] (ms)",
            "avg_ttft_ms",
            "avg_time_to_first_token(ms)",
        ],
    ),
    (
        "per_token",
        &["Average time-per-output-token [TPOT] (ms)", "avg_tpot_ms"],
    ),
    (
        "duration",
        &[
            "Total Latency (ms)",
            "total_latency_ms",
            "total_latency(ms)",
        ],
    ),
    ("failed", &["num_error_samples"]),
    ("batch", &["batch_size"]),
];

/// Titles of settings in prints, with the keys of the JSON.
const FACTS: &[(&str, &[&str])] = &[
    ("dtype", &["Dtype", "dtype"]),
    ("KV cache dtype", &["KV Cache Dtype", "kv_cache_dtype"]),
    ("quantization", &["Quantization", "quantization"]),
    ("tensor parallel", &["TP Size", "tp_size"]),
    ("pipeline parallel", &["PP Size", "pp_size"]),
    ("backend", &["backend"]),
];

fn recognises(head: &FileHead) -> bool {
    let is_report = !head.is_list() && head.has_key("request_info") && head.has_key("performance");
    is_report
        || head.any_text().is_some_and(|text| {
            text.contains("= PERFORMANCE OVERVIEW")
                || text.contains("[BENCHMARK] batch_size ")
                || text.contains("[BENCHMARK] num_samples")
        })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut runs = Vec::new();
    if text.trim_start().starts_with('{') {
        let document = source.json(&text, FORMAT.title, into)?;
        let mut run = TrtllmResult::default();
        run.members(&document, 0);
        runs.push(run);
    } else {
        let mut run = TrtllmResult::default();
        for line in source.progress_reader(text.lines(), watch) {
            let line = line?.trim();
            if run.begins_anew(line) {
                runs.push(std::mem::take(&mut run));
            }
            run.line(line);
        }
        runs.push(run);
    }
    runs.retain(|run| !run.numbers.is_empty());
    if runs.is_empty() {
        into.note(format!("{} ends before the results", source.name()));
    }
    for run in runs {
        run.finish(into);
    }
    Ok(())
}

/// One run of the benchmark, as far as it was read.
#[derive(Debug, Default)]
struct TrtllmResult {
    model: String,
    version: String,
    facts: Vec<(&'static str, String)>,
    /// By the names of `FIGURES`.
    numbers: BTreeMap<&'static str, f64>,
    /// Statistics in milliseconds, by what they are of and their name.
    statistics: BTreeMap<(&'static str, String), f64>,
}

impl TrtllmResult {
    /// Whether a line begins the results of the next run.
    fn begins_anew(&self, line: &str) -> bool {
        let is_head = line.starts_with("Model:")
            || line.starts_with("[BENCHMARK] batch_size ")
            || line.starts_with("[BENCHMARK] num_samples") && self.numbers.contains_key("duration");
        is_head && !self.numbers.is_empty()
    }

    fn line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("[BENCHMARK] ") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            for pair in words.chunks(2) {
                if let [name, value] = pair {
                    self.number(name, value);
                    self.sequence_statistic(name, value);
                }
            }
        } else if let Some((of, statistic)) = bracketed(line) {
            let (name, value) = statistic.split_once(':').unwrap_or((statistic, ""));
            self.statistic(of, name, value);
        } else if let Some((name, value)) = line.split_once(": ") {
            self.setting(name.trim(), value.trim());
            self.number(name.trim(), value);
        }
    }

    /// `p99_sequence_latency(ms)`.
    fn sequence_statistic(&mut self, name: &str, value: &str) {
        if let Some(statistic) = name.strip_suffix("_sequence_latency(ms)") {
            self.statistic("Latency", statistic, value);
        }
    }

    fn setting(&mut self, name: &str, value: &str) {
        match name {
            "Model" | "model" => value.clone_into(&mut self.model),
            "TensorRT-LLM Version" | "version" => value.clone_into(&mut self.version),
            _ => {}
        }
        let known = FACTS.iter().find(|(_, names)| names.contains(&name));
        if let Some((title, _)) = known {
            self.facts.push((*title, value.to_owned()));
        }
    }

    fn number(&mut self, name: &str, value: &str) {
        let known = FIGURES.iter().find(|(_, names)| names.contains(&name));
        let value = lines::number(value).and_then(token_stats::plausible);
        if let (Some((key, _)), Some(value)) = (known, value) {
            self.numbers.entry(*key).or_insert(value);
        }
    }

    fn statistic(&mut self, of: &str, name: &str, value: &str) {
        let of = match of.to_lowercase().as_str() {
            "latency" => "latency",
            "ttft" => "first_token",
            "tpot" => "per_token",
            _ => return,
        };
        let name = match name.trim().to_lowercase().as_str() {
            "average" | "avg" => "mean".to_owned(),
            "minimum" => "min".to_owned(),
            "maximum" => "max".to_owned(),
            other => other.to_owned(),
        };
        if let Some(value) = lines::number(value).and_then(token_stats::plausible) {
            self.statistics.insert((of, name), value);
        }
    }

    /// The members of the JSON, whatever object they stand in.
    fn members(&mut self, value: &Value, depth: usize) {
        let members = value.as_object().filter(|_| depth < 4);
        for (name, value) in members.into_iter().flatten() {
            let of = match name.as_str() {
                "request_latency_percentiles_ms" => "Latency",
                "ttft_percentiles" => "TTFT",
                "tpot_percentiles" => "TPOT",
                _ => "",
            };
            if !of.is_empty() {
                for (statistic, value) in value.as_object().into_iter().flatten() {
                    self.statistic(of, statistic, &json::value_text(value));
                }
            } else if value.is_object() {
                self.members(value, depth + 1);
            } else if !value.is_null() {
                let text = json::value_text(value);
                self.setting(name, &text);
                self.number(name, &text);
            }
        }
    }

    fn times(&self, of: &'static str) -> StatedTimes {
        token_stats::times(1e6, |name| {
            let known = self.statistics.get(&(of, name.to_owned())).copied();
            known.or_else(|| match name {
                "mean" => self.numbers.get(of).copied(),
                _ => None,
            })
        })
    }

    fn finish(self, into: &mut Imported) {
        into.name_version(&self.version);
        for (name, value) in &self.facts {
            into.fact(name, value.clone());
        }
        let number = |name: &str| self.numbers.get(name).copied();
        let mut reported = Reported::named(match self.model.as_str() {
            "" => "requests",
            model => model,
        });
        reported.set_batch(
            number("batch")
                .and_then(token_stats::size)
                .filter(|size| *size > 0),
        );
        token_stats::set_sizes(
            &mut reported,
            &[
                (PROMPT, number("prompt")),
                (NEW, number("new")),
                (CONCURRENCY, number("concurrency")),
            ],
        );
        if let Some(duration) = number("duration") {
            reported.figure("duration", duration, "ms");
        }
        if let Some(requests) = number("requests") {
            reported.figure("requests", requests, "");
        }
        token_stats::set_latency(&mut reported, self.times("latency"));
        token_stats::set_stated(
            &mut reported,
            &StatedGeneration {
                first_token: self.times("first_token"),
                per_token: self.times("per_token"),
                prompt_tokens: number("prompt"),
                new_tokens: number("new"),
                decode_tokens_per_s: number("decode_per_s"),
                output_tokens_per_s: number("output_per_s"),
                total_tokens_per_s: number("total_per_s"),
                requests_per_s: number("requests_per_s"),
                concurrency: number("concurrency"),
                ..StatedGeneration::default()
            },
        );
        if let Some(failed) = number("failed").filter(|failed| *failed > 0.0) {
            reported
                .objections
                .push(format!("{failed} requests failed"));
        }
        into.reported.push(reported);
    }
}

/// `[Latency] P50    : 3936.3022`: what it is of, and the rest.
fn bracketed(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('[')?.split_once("] ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const THROUGHPUT: &str = "trtllm-bench/llama-8b-throughput.txt";
    const REQUESTS: &str = "trtllm-bench/qwen2-vl-requests.txt";

    #[test]
    fn a_real_throughput_run_has_its_rates_and_lengths() {
        let imported = testing::fixture(THROUGHPUT);
        let [one] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!(one.name, "meta-llama/Llama-3.1-8B");
        let stated = one.generation.unwrap();
        assert_eq!(stated.output_tokens_per_s, Some(28_390.426_5));
        assert_eq!(stated.requests_per_s, Some(221.800_2));
        assert_eq!(
            (stated.prompt_tokens, stated.new_tokens),
            (Some(128.0), Some(128.0))
        );
        assert_eq!(one.typical_ns, None);
        assert_eq!(imported.tool.version.as_deref(), Some("0.17.0"));
        assert!(
            imported
                .facts
                .contains(&("quantization".into(), "FP8".into()))
        );
    }

    #[test]
    fn latencies_of_a_real_run_are_its_time() {
        let imported = testing::fixture(REQUESTS);
        let one = &imported.reported[0];
        assert_eq!(one.typical_ns, Some(3_936_302_200));
        let figure = one
            .figures
            .iter()
            .find(|figure| figure.name == "latency p99")
            .unwrap();
        assert_eq!((figure.value, figure.unit.as_str()), (5514.4701, "ms"));
        assert_eq!(one.generation.unwrap().total_tokens_per_s, Some(780.160_7));
        assert_eq!(one.point.unwrap().get(PROMPT), Some(412));
    }

    #[test]
    fn json_and_older_programs_are_read() {
        let report = r#"{"engine": {"model": "m", "version": "1.0"}, "request_info": {"num_requests": 8,
            "avg_input_length": 16, "avg_output_length": 4}, "performance": {"total_latency_ms": 10.0,
            "avg_request_latency_ms": 2.5, "request_throughput_req_s": 800.0,
            "request_latency_percentiles_ms": {"p50": 2.0, "maximum": 4.0}},
            "streaming_metrics": {"avg_ttft_ms": 1.5}}"#;
        let imported = testing::imported(report).unwrap();
        let one = &imported.reported[0];
        assert_eq!((one.name.as_str(), one.typical_ns), ("m", Some(2_000_000)));
        assert_eq!(one.generation.unwrap().first_token.mean_ns, Some(1.5e6));
        let log = "[BENCHMARK] num_samples 5\n[BENCHMARK] num_error_samples 1\n\n[BENCHMARK] num_samples 5\n\
            [BENCHMARK] total_latency(ms) 20.0\n[BENCHMARK] token_throughput(token/sec) 70.5\n\
            [BENCHMARK] avg_sequence_latency(ms) 4.0\n[BENCHMARK] p50_sequence_latency(ms) 3.5\n";
        let imported = testing::imported(log).unwrap();
        let [one] = imported.reported.as_slice() else {
            panic!("{:?}", imported.reported);
        };
        assert_eq!((one.typical_ns, one.objections.len()), (Some(3_500_000), 1));
        let line = "[BENCHMARK] batch_size 8 input_length 60 output_length 20 latency(ms) 39.47 tokensPerSec 506.69\n";
        let imported = testing::imported(line).unwrap();
        let one = &imported.reported[0];
        assert_eq!((one.batch(), one.typical_ns), (Some(8), Some(39_470_000)));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(THROUGHPUT));
        testing::survives(&FORMAT, &testing::raw(REQUESTS));
    }
}
