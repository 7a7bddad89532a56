//! What follows from sessions: findings, figures of them, reports, and the files that these are exported as.

pub mod analysis;
pub mod chart;
pub mod export;
pub mod report;
pub mod tables;
