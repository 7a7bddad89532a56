//! Roofs: what this machine's devices reach, measured here, and kept for later runs.
//!
//! [`measure_processor`] measures the processor with loops of our own, in a child process; the loops are in `code/`,
//! what is done with them in `processor/`. `neighbour.rs` keeps cores busy while something else is measured.

mod code;
pub mod devices;
pub mod kept;
pub mod neighbour;
mod processor;

pub use processor::child;
pub use processor::message::RoofProgress;
pub use processor::parent::{RoofError, measure_processor};
