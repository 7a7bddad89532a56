//! Model files: reading them, describing them, working out shapes and cost, and making networks.
//!
//! A name or a path goes in through `source`; what comes out is the decoded protobuf, which
//! `inspect`, `shapes`, `infer` and `cost` turn into the plain data of `domain`. Nothing here runs
//! a network: that is the engines' work.

pub mod agreement;
pub mod batch_axis;
pub mod cost;
pub mod decoder;
mod dim_expression;
pub mod external;
pub mod facts;
pub mod file;
pub mod fitting_shapes;
pub mod fusion;
pub mod infer;
pub mod input_values;
pub mod inspect;
mod known_sizes;
pub mod network;
pub mod ort_profile;
pub mod outline;
mod parameters;
pub mod pb;
pub mod proto;
pub mod rewrite;
pub mod samples;
pub mod seen_file;
pub mod shape_error;
mod shape_examples;
pub mod shapes;
pub mod source;
pub mod zoo;
