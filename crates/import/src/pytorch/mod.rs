//! Reports of PyTorch, but for its traces, which are Chrome traces.

pub mod torch_benchmark;
pub mod torch_table;
