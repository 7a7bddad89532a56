//! The one binary: hands its arguments to the command line, and what is left to the window.

use std::process::ExitCode;

use powerband::cli::{self, CliOutcome};
use powerband::gui::{self, Failure, Started};

fn main() -> ExitCode {
    match cli::main(std::env::args_os()) {
        CliOutcome::Done(status) => status,
        CliOutcome::Window(place, files, warnings, ending) => {
            let started = Started {
                place: *place,
                files,
                warnings,
            };
            match gui::run(started, ending) {
                Ok(()) => ExitCode::SUCCESS,
                Err(Failure::NoWindow(reason)) => cli::without_window(&reason),
                Err(Failure::Lost(sentence)) => cli::window_lost(&sentence),
            }
        }
    }
}
