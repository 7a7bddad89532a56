//! From a request to one ordered stream of events and a saved session: which case is measured when, by
//! which worker.

pub mod again;
pub mod agent;
mod case_inputs;
pub mod experiments;
pub mod exporting;
pub mod generating;
mod input_specs;
pub mod jobs;
pub mod plan_check;
pub mod precision;
pub mod prepare;
pub mod prepare_error;
pub mod programs;
#[cfg(test)]
mod ready_plan_tests;
pub mod record;
pub mod roofs;
pub mod run;
pub mod schedule;
pub mod shape_trial;
#[cfg(test)]
mod testing;
mod variants;
mod watched;
pub mod watching;
mod worker_memory_budget;
