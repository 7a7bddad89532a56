//! Roofs: what this machine's devices reach, measured here, and kept for later runs.
//!
//! [`measure_processor`] measures the processor with loops of our own, in a child process; the loops are in `code/`,
//! what is done with them in `processor/`. `engines.rs` measures what an engine reaches, through its own worker.
//! `measuring.rs` does all that is missing. `neighbour.rs` keeps cores busy while something else is measured.

mod cards;
mod clpeak;
mod code;
mod contention;
pub mod devices;
pub mod engines;
pub mod kept;
pub mod measuring;
pub mod neighbour;
mod processor;
mod readings;

pub use processor::child;
pub use processor::message::RoofProgress;
pub use processor::parent::{RoofError, measure_processor};
