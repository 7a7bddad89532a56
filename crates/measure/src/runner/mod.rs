//! From a wish to one ordered stream of events and a saved session: who is measured when, and by whom.

pub mod batches;
pub mod control;
pub mod default_benchmark;
pub mod exporting;
pub mod importing;
pub mod installation;
pub mod ladders;
pub mod precision;
pub mod prepare;
pub mod prepare_error;
pub mod record;
pub mod run;
pub mod schedule;
mod shape_trial;
mod variants;
pub mod visit;
pub mod watching;
pub mod wish;
mod worker_memory_budget;
