//! Numbers in, numbers out: no session, no I/O, no clock.

pub mod bootstrap;
pub mod percentiles;
pub mod summary;
