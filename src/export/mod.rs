//! Sessions as documents for other programs, and figures as pictures.

pub mod claims;
pub mod comparison;
pub mod json;
pub mod junit;
pub mod kernels;
mod letters;
pub mod profile;
pub mod style;
pub mod svg;
pub mod tree;
