//! Measuring: engines, the child process that times them, device telemetry, and the run that joins them.

pub mod engines;
mod input_specs;
pub mod jobs;
pub mod precision;
pub mod prepare_error;
pub mod roofs;
pub mod runner;
pub mod telemetry;
pub mod transport;
pub mod version;
pub mod worker;
