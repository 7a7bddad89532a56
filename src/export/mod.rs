//! Sessions as documents for other programs.

pub mod json;
