//! Sessions as documents for other programs, and figures as pictures.

pub mod claims;
pub mod comparison;
pub mod csv;
pub mod figure_data;
pub mod figure_file;
pub mod json;
pub mod junit;
pub mod kernels;
mod letters;
pub mod profile;
pub mod session_table;
pub mod style;
pub mod svg;
pub mod tree;
