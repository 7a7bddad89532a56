//! Powerband: how fast a neural network runs on this machine, why, and what changed.
//!
//! The window and the command line. What they show and do is in the crates below crates/; data flows one way: plan → worker → events → session → analysis → chart or text. ARCHITECTURE.md
//! has the picture, and the table of who may use whom.

pub mod backend;
pub mod cli;
mod page_contents;
pub mod result_page;
mod secret;
