//! What the child that measures the processor says, a line of JSON each.

use serde::{Deserialize, Serialize};

use powerband_core::domain::roofs::{ComputeRoof, MemoryRoof};

/// How far the measuring is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoofProgress {
    /// Steps that are done.
    pub done: usize,
    /// Steps in all.
    pub of: usize,
    /// What is measured now: `memory copy, 2 threads`.
    pub what: String,
}

/// A line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Message {
    /// A step begins.
    Progress(RoofProgress),
    /// Instructions are about to be run for the first time, by the name of their code; nothing once all were tried.
    Trying(Option<String>),
    /// A roof of arithmetic.
    Compute(ComputeRoof),
    /// A roof of bandwidth.
    Memory(MemoryRoof),
    /// The clock while computing, in MHz.
    Clock(f64),
    /// The temperature after computing, in °C.
    Temperature(f64),
    /// What could not be measured, or how something was.
    Note(String),
    /// What other programs used of the cores all the time.
    Others {
        /// How many cores' time.
        cores: f64,
        /// How many cores this process may use.
        usable: usize,
    },
    /// The rest of the roofs: threads that this process may use.
    Done {
        /// How many.
        threads: usize,
    },
}
