//! Session in, findings out. Pure: no I/O, no clock.

pub mod case_rows;
pub mod flags;
