//! When the rounds of a plan are measured: how far they lie apart, which of them begin with a new start of their
//! setup's worker, how long they warm up, and what all of that takes.
//!
//! Pure: the run does what is decided here, and an estimate plays it through without running anything.

pub mod alternation;
pub mod forecast;
pub mod starts;
#[cfg(test)]
mod testing;
pub mod turns;
pub mod warm_up;
