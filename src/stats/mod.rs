//! Numbers in, numbers out: no session, no I/O, no clock.

pub mod bootstrap;
pub mod downsample;
pub mod fit;
pub mod histogram;
pub mod integral;
pub mod outliers;
pub mod percentiles;
pub mod ratio;
pub mod student;
pub mod summary;
