//! Files of NVIDIA's tools: Nsight, TensorRT, Triton.

pub mod ncu;
pub mod nsys;
pub mod nsys_stats;
pub mod nvprof;
pub mod nvprof_text;
pub mod triton_perf_analyzer;
pub mod trt_explorer;
mod trtexec_graph;
pub mod trtexec_layers;
pub mod trtexec_log;
pub mod trtexec_profile;
pub mod trtexec_summary;
pub mod trtexec_times;
pub mod trtllm_bench;
