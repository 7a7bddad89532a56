//! Detached runs: jobs of Slurm that measure without the program that submitted them, their records, and collecting
//! what they measured.
//!
//! `submit` lays the program and the model down and asks for the jobs, `work` is what happens in one, `state` says how
//! far they are, `collect` makes one session of them.

pub mod collect;
pub mod record;
mod rounds_before;
pub mod shared_folder;
pub mod state;
pub mod submit;
pub mod work;
