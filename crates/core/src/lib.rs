//! What everything else stands on: the nouns as plain data, helpers, statistics, the schedule of rounds, the handle
//! that steers a run, and the work of operators.

pub mod base;
pub mod control;
pub mod domain;
pub mod schedule;
pub mod stats;
pub mod work;
