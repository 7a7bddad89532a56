//! The benchmark that most tests of other machines run, and a run that is left while it goes on.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use super::server::Server;
use crate::support::Home;

/// Quick rounds of these setups on a small network, as JSON.
pub(super) fn bench<'a>(
    rounds: &'a str,
    setups: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let mut args = vec!["bench", "resnet18@cifar", "--batch", "1"];
    args.extend(["--preset", "quick", "--rounds", rounds, "--json"]);
    for setup in setups {
        args.extend(["--setup", setup]);
    }
    args
}

/// Starts the program, and waits until it says a line; and what else it says.
pub(super) fn begun(
    server: &Server,
    home: &Home,
    args: &[&str],
    is_wanted: impl Fn(&str) -> bool,
) -> (Child, BufReader<ChildStderr>) {
    let mut command = server.command(home, args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
    let deadline = Instant::now() + Duration::from_mins(2);
    let mut line = String::new();
    while !is_wanted(&line) {
        line.clear();
        assert!(errors.read_line(&mut line).expect("text") > 0, "it ended");
        assert!(Instant::now() < deadline, "no such line");
    }
    (child, errors)
}
