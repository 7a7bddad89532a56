//! The one binary: hands its arguments to the command line, and what is left to the window.

use std::process::ExitCode;
use std::sync::Arc;

use powerband::backend::LocalBackend;
use powerband::cli::{self, CliOutcome};
use powerband_window::{Failure, Started};

fn main() -> ExitCode {
    match cli::main(std::env::args_os()) {
        CliOutcome::Done(status) => status,
        CliOutcome::Window(place, files, warnings, ending) => {
            let started = Started {
                backend: Arc::new(LocalBackend::default()),
                place: *place,
                files,
                warnings,
            };
            match powerband_window::run(started, ending) {
                Ok(()) => ExitCode::SUCCESS,
                Err(Failure::NoWindow(reason)) => cli::without_window(&reason),
                Err(Failure::Lost(sentence)) => cli::window_lost(&sentence),
            }
        }
    }
}
