//! What tools of the operating system and of drivers report of processors and cards.

pub mod perf_script;
pub mod smi;
