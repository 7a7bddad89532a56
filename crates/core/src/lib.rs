//! What everything else stands on: the nouns as plain data, helpers, statistics, the schedule of rounds, and the
//! work of operators.

pub mod base;
pub mod domain;
pub mod schedule;
pub mod stats;
pub mod work;
