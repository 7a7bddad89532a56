//! What everything else stands on: the nouns as plain data, helpers, and statistics.

pub mod base;
pub mod domain;
pub mod stats;
