//! Measuring in a child process: engines, what the two sides say, what the child does, and how the parent keeps it.

pub mod child;
mod command;
pub mod cpu_contention;
pub mod desktop;
mod ending;
pub mod engines;
pub mod fetch;
mod lines;
pub mod measure;
pub mod probe;
pub mod process;
pub mod profilers;
pub mod protocol;
pub mod relay;
pub mod remote;
pub mod share;
pub mod slurm;
pub mod stops;
mod streams;
pub mod supervisor;
pub mod worker_group;
