//! A description of a process, as plain data.
//!
//! Engines and importers describe what should be started; only `worker/process.rs` starts it.

use std::ffi::OsString;
use std::path::PathBuf;

/// What to start, with what, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessSpec {
    /// The program: a path, or a name to look up on `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables set on top of our own environment.
    pub env: Vec<(String, OsString)>,
    /// A script of ours, which is put into a folder whose path comes after the arguments.
    pub script: Option<Script>,
    /// The processors that it and all its threads may use, by number; empty for those that we may use.
    pub cores: Vec<usize>,
    /// Whether our own program starts it, so that it ends with this program also where that is killed by SIGKILL.
    pub ends_with_parent: bool,
    /// How its output is to be read, where what is started only leads to another machine.
    pub remote: Option<RemoteOutput>,
}

/// How the output of a process is read that runs on another machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteOutput {
    /// The line after which the program itself speaks: what came before is a greeting or an error.
    pub begins_after: String,
    /// Whether our own program guards the process over there and says how it ended.
    pub is_guarded: bool,
}

/// A script that an interpreter is to run: a folder of files, as Python runs one with a `__main__.py`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    /// What its folder is called.
    pub name: &'static str,
    /// Name and text of each file.
    pub files: &'static [(&'static str, &'static str)],
}

impl ProcessSpec {
    /// A program without arguments yet.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            ..Self::default()
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I: IntoIterator<Item = S>, S: Into<OsString>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets one variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Has the program run a script of ours.
    #[must_use]
    pub fn script(mut self, script: Script) -> Self {
        self.script = Some(script);
        self
    }

    /// Has it and all its threads stay on these processors.
    #[must_use]
    pub fn on_cores(mut self, cores: Vec<usize>) -> Self {
        self.cores = cores;
        self
    }

    /// The command line as a person would type it, for messages.
    pub fn command_line(&self) -> String {
        let mut words = vec![self.program.display().to_string()];
        for arg in &self.args {
            let arg = arg.to_string_lossy();
            if arg.contains([' ', '"', '\'', ';', '(']) {
                words.push(format!("'{}'", arg.replace('\'', r"'\''")));
            } else {
                words.push(arg.into_owned());
            }
        }
        words.extend(self.script.as_ref().map(|script| script.name.to_owned()));
        words.join(" ")
    }
}
