//! What is made of the records of any format: slices, sums, and what no run can have.

pub mod clamp_implausible;
pub mod nesting;
pub mod reported_stats;
pub mod slice_buffer;
pub mod summary;
