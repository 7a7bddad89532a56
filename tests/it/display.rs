//! A screen that nobody looks at: an X server of its own, for the windows that tests and benches open.

use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// An Xvfb, ended with its owner.
pub(crate) struct Display {
    /// The server.
    pub(crate) server: Child,
    name: String,
}

impl Display {
    /// Starts one on a number that nobody has, which the server itself chooses.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is the user, who starts programs"
    )]
    pub(crate) fn start(width: u32, height: u32) -> io::Result<Self> {
        let screen = format!("{width}x{height}x24");
        // Without -noreset the server begins anew whenever its last window closes.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &screen])
            .args(["-noreset", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut number = String::new();
        if let Some(said) = server.stdout.take() {
            BufReader::new(said).read_line(&mut number)?;
        }
        let display = Self {
            server,
            name: format!(":{}", number.trim()),
        };
        if number.trim().is_empty() {
            return Err(io::Error::other("Xvfb ended before it had a number"));
        }
        Ok(display)
    }

    /// What `DISPLAY` has to be.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing left to end.
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// Whether all of these programs are on the path.
pub(crate) fn are_installed(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there =
        |program: &&str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    programs.iter().all(is_there)
}
