//! Measuring: engines, the child process that times them, device telemetry, and the run that joins them.

pub mod engines;
pub mod jobs;
pub mod roofs;
pub mod runner;
pub mod telemetry;
pub mod version;
pub mod worker;
