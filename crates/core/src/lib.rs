//! What everything else stands on: the nouns as plain data, helpers, statistics, and the work of operators.

pub mod base;
pub mod domain;
pub mod stats;
pub mod work;
