//! Results of benchmark programs, and tables of timings.

pub mod aiperf;
pub mod aitemplate;
pub mod common;
pub mod genai_perf;
pub mod google_benchmark;
pub mod guidellm;
pub mod hpctraining;
pub mod hyperfine;
pub mod llama_bench;
pub mod loadgen;
pub mod openvino_counters;
pub mod openvino_report;
pub mod optimum_benchmark;
pub mod ort_perf_test;
pub mod request_metrics;
pub mod timings;
pub mod token_stats;
pub mod vllm_bench;
