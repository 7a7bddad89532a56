//! Reports of PyTorch and Triton, but for traces, which are Chrome traces.

pub mod memory_snapshot;
pub mod proton;
pub mod torch_benchmark;
pub mod torch_table;
pub mod torch_trace;
