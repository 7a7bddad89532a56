//! Sessions as documents for other programs.

pub mod comparison;
pub mod json;
pub mod kernels;
pub mod profile;
