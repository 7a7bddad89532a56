//! The one integration binary: each extra one would link everything again.

mod agreement;
mod bad_input;
mod cli;
mod control;
mod layers;
mod models;
mod session_compat;
mod support;
mod trash;
mod worker_failures;
