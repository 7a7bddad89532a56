//! Results of benchmark programs, and tables of timings.

pub mod aitemplate;
pub mod common;
pub mod google_benchmark;
pub mod hpctraining;
pub mod hyperfine;
pub mod loadgen;
pub mod openvino_counters;
pub mod openvino_report;
pub mod optimum_benchmark;
pub mod ort_perf_test;
pub mod timings;
