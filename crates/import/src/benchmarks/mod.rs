//! Results of benchmark programs, and tables of timings.

pub mod aiperf;
pub mod airspeed_velocity;
pub mod aitemplate;
pub mod common;
pub mod criterion;
pub mod deepspeed;
pub mod genai_perf;
pub mod google_benchmark;
pub mod guidellm;
pub mod hpctraining;
pub mod hyperfine;
pub mod jmh;
pub mod llama_bench;
pub mod loadgen;
pub mod openvino_counters;
pub mod openvino_log;
pub mod openvino_report;
pub mod optimum_benchmark;
pub mod ort_perf_test;
pub mod pytest_benchmark;
pub mod request_metrics;
pub mod stats_json;
pub mod tflite;
pub mod timings;
pub mod token_stats;
pub mod vllm_bench;
