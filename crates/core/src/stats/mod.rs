//! Numbers in, numbers out: no session, no I/O, no clock.

pub mod bootstrap;
pub mod closeness;
pub mod downsample;
pub mod fit;
pub mod histogram;
pub mod integral;
pub mod joint;
pub mod levels;
pub mod modes;
pub mod outliers;
pub mod pareto;
pub mod percentiles;
pub mod prediction;
pub mod ranking;
pub mod ratio;
pub mod sequential;
pub mod session_spread;
pub mod share;
pub mod signed_rank;
pub mod student;
pub mod summary;
