//! Shared code of benchmark results.

use std::collections::HashMap;

use crate::reading::lines;
use powerband_core::domain::profile::Total;

/// Milliseconds as nanoseconds; nothing for what is no number, and zero below zero.
pub fn ms(value: f64) -> Option<u64> {
    value.is_finite().then(|| lines::ns(value, 1e6))
}

/// Seconds as nanoseconds; nothing for what is no number, and zero below zero.
pub fn seconds(value: f64) -> Option<u64> {
    value.is_finite().then(|| lines::ns(value, 1e9))
}

/// A name and the unit in brackets at its end: `latency (ms)`, `Time per mini-batch`.
pub fn unit_of(key: &str) -> (&str, &str) {
    let key = key.trim();
    let parts = key
        .strip_suffix([')', ']'])
        .and_then(|inner| inner.rsplit_once(['(', '[']));
    match parts {
        Some((name, unit)) if !name.trim().is_empty() => (name.trim(), unit.trim()),
        _ => (key, ""),
    }
}

/// Whether a name speaks of items in a run: `batch`, `batch_size`, `bs`.
pub fn is_batch(name: &str) -> bool {
    let letters: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    matches!(
        letters.to_lowercase().as_str(),
        "batch" | "batchsize" | "bs"
    )
}

/// Items in a run, where a text is a sensible count of them.
pub fn batch(text: &str) -> Option<usize> {
    text.trim().parse().ok().filter(|count| *count > 0)
}

/// The items that a text speaks of: `batch 4`, `batch_size: 16`, `batch=8`.
pub(crate) fn batch_in(text: &str) -> Option<usize> {
    let lower = text.to_lowercase();
    lower.match_indices("batch").find_map(|(at, word)| {
        let after = lower.get(at + word.len()..)?;
        let after = after.trim_start_matches(['_', '-', ' ']);
        let after = after.strip_prefix("size").unwrap_or(after);
        let after = after.trim_start_matches([' ', ':', '=']);
        let digits = after.find(|c: char| !c.is_ascii_digit());
        batch(after.get(..digits.unwrap_or(after.len()))?)
    })
}

/// Sums by name, each name once.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    list: Vec<Total>,
    places: HashMap<(String, String, String), usize>,
}

impl Sums {
    /// Takes a sum in, or adds it to the one of its kind that has its name.
    pub(crate) fn add(&mut self, total: Total) {
        let key = (
            format!("{}{}", total.kind.title(), total.name),
            total.op.clone(),
            total.place.clone(),
        );
        let place = *self.places.entry(key).or_insert(self.list.len());
        match self.list.get_mut(place) {
            Some(known) => {
                known.calls = known.calls.saturating_add(total.calls);
                known.total_ns = known.total_ns.saturating_add(total.total_ns);
            }
            None => self.list.push(total),
        }
    }

    /// All of them, in the order in which their names came.
    pub(crate) fn into_list(self) -> Vec<Total> {
        self.list
    }
}

/// The middle of some numbers; nothing where there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(half.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

/// The mean of some numbers; nothing where there are none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::reading::source::{ImportSource, Limits};
    use crate::{ALL, testing};

    /// Real files, and whose they are.
    const OWN: [(&str, &str); 47] = [
        ("tensorrt/resnet-a100-fp16.timing.json", "trtexec-times"),
        ("tensorrt/resnet-a100-fp16.profile.json", "trtexec-profile"),
        ("tensorrt/resnet-a100-fp16.graph.json", "trtexec-layers"),
        (
            "tensorrt/resnet-a100-fp16.profile.metadata.json",
            "trt-engine-explorer",
        ),
        (
            "tensorrt/trtexec-resnet50-summary-sanitised.log",
            "trtexec-log",
        ),
        ("tensorrt/trtexec-yolo-int8-orin.excerpt.log", "trtexec-log"),
        (
            "migraphx/simple_graph-perf-legacy.txt",
            "migraphx-driver-perf",
        ),
        ("openvino/resnet50-benchmark_report.csv", "openvino-report"),
        ("openvino/resnet50-benchmark_report.json", "openvino-report"),
        (
            "openvino/resnet50-benchmark_average_counters_report.csv",
            "openvino-counters",
        ),
        (
            "openvino/resnet50-benchmark_average_counters_report.json",
            "openvino-counters",
        ),
        (
            "triton-perf-analyzer/inception-concurrency.csv",
            "triton-perf-analyzer",
        ),
        (
            "optimum-benchmark/tei_bert-benchmark.json",
            "optimum-benchmark",
        ),
        ("torch-text/key_averages-torch113.txt", "torch-key-averages"),
        (
            "torch-text/torch_utils_benchmark-torch113.txt",
            "torch-utils-benchmark",
        ),
        ("hyperfine/python-sum.json", "hyperfine"),
        ("google-benchmark/numpy-dot-relu.json", "google-benchmark"),
        (
            "mlperf-loadgen/local-offline.mlperf_log_summary.txt",
            "mlperf-loadgen",
        ),
        (
            "mlperf-loadgen/local-singlestream-invalid.mlperf_log_summary.txt",
            "mlperf-loadgen",
        ),
        (
            "mlperf-loadgen/mi300x-llama2-server-valid.mlperf_log_summary.txt",
            "mlperf-loadgen",
        ),
        (
            "amd-hpctraining/train_cifar_100-mi300x.stdout.txt",
            "amd-hpctraining",
        ),
        ("derived/resnet50_ait_benchmark_dev_0.txt", "aitemplate"),
        (
            "optimum-benchmark/gpt2-tiny-benchmark.json",
            "optimum-benchmark",
        ),
        ("llama-bench/qwen2-rtx4080.json", "llama-bench"),
        ("llama-bench/qwen2-rtx4080.csv", "llama-bench"),
        ("llama-bench/qwen2-depth.md", "llama-bench"),
        ("llama-bench/llama2-threads.md", "llama-bench"),
        ("vllm-bench/serve.json", "vllm-bench"),
        ("vllm-bench/serve-detailed.json", "vllm-bench"),
        ("aiperf/gpt-oss-20b.csv", "aiperf"),
        ("aiperf/gpt-oss-20b.json", "aiperf"),
        ("aiperf/gpt-oss-20b.records.jsonl", "aiperf"),
        ("genai-perf/summary.csv", "genai-perf"),
        ("genai-perf/summary.json", "genai-perf"),
        ("genai-perf/profile_export.json", "genai-perf"),
        ("guidellm/sweep-synchronous.excerpt.json", "guidellm"),
        ("pytest-benchmark/numpy-linear.json", "pytest-benchmark"),
        ("jmh/hello-world.json", "jmh"),
        ("airspeed-velocity/numpy-linear.json", "airspeed-velocity"),
        ("trtllm-bench/llama-8b-throughput.txt", "trtllm-bench"),
        ("trtllm-bench/qwen2-vl-requests.txt", "trtllm-bench"),
        ("tflite/mobilenet-v1-profile.txt", "tflite-benchmark"),
        ("deepspeed/bert-large-a100.txt", "deepspeed-flops"),
        ("openvino/conv-benchmark_app.log", "openvino-log"),
        ("nvprof/vector-add.summary.txt", "nvprof-text"),
        ("nvprof/vector-add.summary.csv", "nvprof-text"),
        ("nvprof/vector-add.gpu-trace.txt", "nvprof-text"),
    ];

    #[test]
    fn real_files_are_recognised_by_their_own_importer_alone() {
        let ours: Vec<&str> = OWN.iter().map(|own| own.1).collect();
        let root = testing::path("");
        let mut seen = 0;
        let within = |folder: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(folder).unwrap();
            entries.map(|entry| entry.unwrap().path()).collect()
        };
        for folder in within(&root).iter().filter(|path| path.is_dir()) {
            for path in within(folder).into_iter().filter(|path| path.is_file()) {
                let source = ImportSource::open(&path, Limits::default()).unwrap();
                let head = source.read_head().unwrap();
                let who = ALL.iter().filter(|format| (format.recognises)(&head));
                let who: Vec<&str> = who.map(|format| format.id).collect();
                match OWN.iter().find(|own| path == root.join(own.0)) {
                    Some((_, id)) => {
                        assert_eq!(who, [*id], "{}", path.display());
                        seen += 1;
                    }
                    None => assert!(
                        !who.iter().any(|id| ours.contains(id)),
                        "{}: {who:?}",
                        path.display()
                    ),
                }
            }
        }
        assert_eq!(seen, OWN.len());
    }

    #[test]
    fn units_stand_in_brackets() {
        assert_eq!(unit_of("latency (ms)"), ("latency", "ms"));
        assert_eq!(
            unit_of("Mini batch size [img] "),
            ("Mini batch size", "img")
        );
        assert_eq!(unit_of("(ms)"), ("(ms)", ""));
        assert_eq!(unit_of("throughput"), ("throughput", ""));
    }

    #[test]
    fn items_are_found_in_words() {
        assert_eq!(batch_in("conv net: batch 4"), Some(4));
        assert_eq!(batch_in("batched mm, Batch_Size=16 x"), Some(16));
        assert_eq!(batch_in("batch norm"), None);
        assert_eq!(batch_in("batch 0"), None);
        assert!(is_batch("batch_size") && is_batch("BS") && !is_batch("batches"));
    }

    #[test]
    fn the_middle_of_nothing_is_nothing() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!((median(&[]), mean(&[])), (None, None));
    }
}
