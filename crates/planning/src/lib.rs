//! What can be asked: a plan as it is typed, the options of engines, the ways to machines, and the plan that a request
//! becomes. Reads no file and starts nothing.

pub mod default_benchmark;
pub mod engine_options;
pub mod form;
pub mod ladders;
pub mod lengths;
pub mod plan_check;
pub mod plans;
pub mod transport;
