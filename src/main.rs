//! The one binary: hands its arguments to the command line.

fn main() -> std::process::ExitCode {
    powerband::cli::main(std::env::args_os())
}
