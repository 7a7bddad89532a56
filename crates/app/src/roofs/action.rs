//! Actions on the roofs of this machine.

/// Actions on the roofs of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roofs {
    /// Measures what is missing or no longer holds.
    Measure,
    /// Measures everything again.
    Again,
    /// Ends the measuring.
    Stop,
}
