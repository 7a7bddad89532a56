//! The nouns: plain data that every other layer speaks in. No I/O, no clock, no threads.

pub mod accuracy;
pub mod case;
pub mod claim;
pub mod device;
pub mod environment;
pub mod event;
pub mod examination;
pub mod input_sizes;
pub mod model;
pub mod names;
pub mod outcome;
pub mod plan;
pub mod profile;
pub mod quantity;
pub mod reported;
pub mod session;
mod session_fold;
pub mod session_name;
pub mod setup;
pub mod setup_report;
pub mod slice_args;
pub mod spelling;
pub mod telemetry;
pub mod tensor;
pub mod trace;
pub mod written;
