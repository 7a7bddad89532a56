//! Files of AMD's tools: ROCm's profilers and MIGraphX.

pub mod common;
pub mod event_table;
pub mod migraphx_perf;
pub mod rocpd;
pub mod rocprof_db;
pub mod rocprof_dispatches;
pub mod rocprof_input;
pub mod rocprof_json;
pub(crate) mod rocprof_perfetto;
pub mod rocprof_stats;
pub mod rocprofv3_agents;
pub mod rocprofv3_api;
pub mod rocprofv3_counters;
pub mod rocprofv3_json;
pub mod rocprofv3_kernels;
pub mod rocprofv3_memory;
pub mod rocprofv3_summary;
pub mod rpd;
