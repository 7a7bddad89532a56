//! The one integration binary: each extra one would link everything again.

mod accuracy;
mod agreement;
mod amd;
mod bad_input;
mod cards;
mod cli;
mod commands;
mod control;
mod display;
mod fake_nvml;
mod journeys;
mod kernels;
mod layers;
mod models;
mod nvml;
mod precision;
mod providers;
mod pytorch;
mod real_window;
mod session_compat;
mod support;
mod telemetry;
mod trash;
mod ui;
mod verdicts;
mod worker_failures;
