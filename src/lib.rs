//! Powerband: how fast a neural network runs on this machine, why, and what changed.
//!
//! The library behind the one binary. Data flows one way: plan → worker → events → session →
//! analysis → text. ARCHITECTURE.md has the picture and the table of who may use whom.

pub mod analysis;
pub mod app;
pub mod base;
pub mod chart;
pub mod cli;
pub mod domain;
pub mod engines;
pub mod export;
pub mod gui;
pub mod import;
pub mod onnx;
pub mod report;
pub mod runner;
pub mod samples;
pub mod stats;
pub mod store;
pub mod telemetry;
pub mod worker;
