//! From a plan to one ordered stream of events: who is measured when, and by whom.

pub mod run;
pub mod schedule;
