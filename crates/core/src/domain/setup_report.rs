//! What an engine says of itself.

use serde::{Deserialize, Serialize};

/// What an engine said of itself once it had loaded the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupReport {
    /// Engine and version: `ONNX Runtime 1.31.0`.
    pub engine: String,
    /// The library that was loaded, where there is one.
    pub library: Option<String>,
    /// Threads it computes with, where known.
    pub threads: Option<usize>,
    /// From starting the worker to its handshake, in nanoseconds.
    pub start_ns: u64,
    /// Loading the engine's own library, in nanoseconds.
    pub library_ns: u64,
    /// Loading and optimising the model, in nanoseconds.
    pub load_ns: u64,
    /// Time of an empty run through the same loop, in nanoseconds: what measuring itself costs.
    pub empty_run_ns: u64,
    /// Time of reading the clock once, in nanoseconds: it is read twice a run.
    #[serde(default)]
    pub clock_ns: u64,
    /// Whether the network has weights of its own, so that its outputs are not the model's.
    #[serde(default)]
    pub own_weights: bool,
    /// What the user should know: a provider that was not there, an option that had no effect.
    pub notes: Vec<String>,
}
