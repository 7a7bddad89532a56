//! The processor's roofs: the parent asks a child process, which measures arithmetic, bandwidth and clock.

mod bandwidth;
mod caches;
pub mod child;
mod clock;
mod compute;
pub(super) mod cores;
pub(super) mod message;
pub(super) mod parent;
mod together;
