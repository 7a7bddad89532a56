//! A machine that is ready for workers: connected, with this program there, described, its libraries found.

use std::path::{Path, PathBuf};

use super::files::{self, ModelFiles, UploadedFile, Uploads};
use super::folder::{self, MachineFacts};
use super::link::Link;
use super::sampling::RemoteSampler;
use super::serve::Located;
use super::{Described, RemoteError, RemoteEvent, UploadProgress, advice_for, program};
use crate::process::{self, Finished};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::process_spec::{ProcessSpec, RemoteOutput};
use powerband_core::domain::fill::Fill;
use powerband_core::domain::machine::{ClockOffset, RemoteMachine};
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::TensorSpec;
use powerband_planning::transport::script::{last_line, quoted};
use powerband_planning::transport::{self, SetupMachine};

/// A machine that is ready.
#[derive(Debug)]
pub struct Reached {
    /// What the session calls it.
    pub name: String,
    link: Link,
    facts: MachineFacts,
    /// This program over there.
    program: String,
    described: Described,
    /// How its clock compares with ours.
    pub clock: ClockOffset,
    sendings: Uploads,
}

impl Reached {
    /// Connects, and brings the program there; `told` hears how far it is.
    pub fn reach(
        machine: &SetupMachine,
        own_program: &Path,
        cancel: &CancelToken,
        told: &mut dyn FnMut(RemoteEvent),
    ) -> Result<Self, RemoteError> {
        let name = match &machine.remote_program {
            Some(_) => String::new(),
            None => program::name(own_program)?,
        };
        let mut link = Link::open(machine, cancel, &mut |state| {
            told(RemoteEvent::Queued(state));
        })?;
        let facts = folder::ask_machine(&link, &name, cancel)?;
        let program = program::bring(&link, &facts, own_program, &name, cancel, &mut |progress| {
            told(RemoteEvent::Sending(progress));
        })?;
        let (described, clock) = program::describe(&link, &program, &facts, cancel)?;
        link.held_by(&program)?;
        Ok(Self {
            name: machine.name.clone(),
            link,
            facts,
            program,
            described,
            clock,
            sendings: Uploads::default(),
        })
    }

    /// What it says of itself.
    pub fn described(&self) -> &Described {
        &self.described
    }

    /// The program over there.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Folders over there that could not be used, and why.
    pub fn passed_over(&self) -> &[String] {
        &self.facts.passed_over
    }

    /// The folder over there that our files are in, where there is one.
    pub fn folder(&self) -> Option<&str> {
        self.facts.folder.as_deref()
    }

    /// The machine for the session, with the setups that run on it.
    pub fn record(&self, setups: Vec<usize>) -> RemoteMachine {
        RemoteMachine {
            name: self.name.clone(),
            host: self.described.host.clone(),
            user: self.described.user.clone(),
            setups,
            environment: self.described.environment.clone(),
            clock: self.clock,
            roofs: Vec::new(),
        }
    }

    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Connects again where the connection is gone.
    pub fn again(&mut self, cancel: &CancelToken) -> Result<(), RemoteError> {
        let Some(reason) = self.link.broke(cancel) else {
            return Ok(());
        };
        // A machine of a scheduler was for this run, and the next one may be another.
        if self.link.is_allocated() {
            return Err(reason);
        }
        self.link = Link::open(&self.link.machine, cancel, &mut |_| ())?;
        // It may have been restarted, and its clock with it.
        let (described, clock) = program::describe(&self.link, &self.program, &self.facts, cancel)?;
        if described.host != self.described.host {
            return Err(RemoteError::Unfit(format!(
                "another machine answers now: {}, and {} before",
                described.host, self.described.host
            )));
        }
        self.clock = clock;
        self.link.held_by(&self.program)
    }

    /// Begins to read its devices, so many times a second.
    pub fn sample(&self, rate_hz: f64) -> Result<RemoteSampler, RemoteError> {
        let line = format!(
            "exec {} remote watch --rate {rate_hz}",
            quoted(&self.program)
        );
        let to = (self.name.as_str(), &self.link.machine);
        RemoteSampler::start(to, &self.link.command(&line), self.clock)
    }

    /// What setups run on over there, in their order.
    pub fn locate(
        &self,
        setups: &[Setup],
        cancel: &CancelToken,
    ) -> Result<Vec<Located>, RemoteError> {
        let program = quoted(&self.program);
        let line = format!("{program} remote locate -- {}", spelled_there(setups));
        let finished = self.link.run(&line, cancel)?;
        let located: Result<Vec<Located>, _> = serde_json::from_str(finished.stdout.trim());
        let machine = &self.link.machine;
        let advised = |located: Vec<Located>| {
            let each = located.into_iter();
            each.map(|one| one.map_err(|reason| advice_for(machine, &reason)))
                .collect()
        };
        located.map(advised).map_err(|error| {
            let said = match last_line(&finished.stderr) {
                "" => error.to_string(),
                line => line.to_owned(),
            };
            RemoteError::Unfit(format!(
                "the program over there did not say what setups run on: {said}"
            ))
        })
    }

    /// The worker of a setup over there.
    pub fn worker(&self, setup: &Setup, runtime: Option<&Path>) -> ProcessSpec {
        let setup = transport::over_there(setup);
        let mut line = format!(
            "exec {} remote worker --setup {}",
            quoted(&self.program),
            quoted(&setup.to_string())
        );
        if let Some(runtime) = runtime {
            let runtime = quoted(&runtime.display().to_string());
            line.push_str(&format!(" --runtime {runtime}"));
        }
        guarded(self.link.command(&line))
    }

    /// What the devices of setups reach, as it is kept over there; empty if it does not answer.
    pub fn roofs(&self, setups: &[Setup], cancel: &CancelToken) -> Vec<Roofs> {
        let program = quoted(&self.program);
        let line = format!("{program} remote roofs -- {}", spelled_there(setups));
        let finished = self.link.run(&line, cancel);
        let said = finished.map(|finished| finished.stdout);
        serde_json::from_str(said.unwrap_or_default().trim()).unwrap_or_default()
    }

    /// The program over there as an agent of a run.
    pub fn agent(&self) -> ProcessSpec {
        let program = quoted(&self.program);
        guarded(self.link.command(&format!("exec {program} remote agent")))
    }

    /// A model over there; sent where it is not.
    pub fn model(
        &mut self,
        model: &ModelFiles,
        cancel: &CancelToken,
        told: &mut dyn FnMut(UploadProgress),
    ) -> Result<PathBuf, RemoteError> {
        let folder = self.own_folder()?;
        self.sendings
            .model(&self.link, &folder, model, cancel, told)
    }

    /// Inputs whose files are over there; sent where they are not.
    pub fn inputs(
        &mut self,
        mut inputs: Vec<TensorSpec>,
        cancel: &CancelToken,
        told: &mut dyn FnMut(UploadProgress),
    ) -> Result<Vec<TensorSpec>, RemoteError> {
        for input in &mut inputs {
            if let Fill::File(file) = &input.fill {
                let folder = self.own_folder()?;
                let path = self
                    .sendings
                    .input(&self.link, &folder, file, cancel, told)?;
                input.fill = Fill::File(path);
            }
        }
        Ok(inputs)
    }

    fn own_folder(&self) -> Result<String, RemoteError> {
        self.facts.folder.clone().ok_or_else(|| {
            RemoteError::Unfit(format!(
                "there is no folder over there in which models can be kept ({})",
                self.facts.passed_over.join("; ")
            ))
        })
    }

    /// Runs one of the program's own commands over there, line by line as it writes; it ends with the connection.
    pub fn run(
        &self,
        arguments: &[&str],
        limit: std::time::Duration,
        cancel: &CancelToken,
        watcher: &mut dyn FnMut(&str),
    ) -> Result<Finished, RemoteError> {
        let words: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
        let program = quoted(&self.program);
        let line = format!("exec {program} remote command -- {}", words.join(" "));
        process::run_watched(&guarded(self.link.command(&line)), limit, cancel, watcher)
            .map_err(|error| RemoteError::Lost(error.to_string()))
    }

    /// What was sent to a machine; removed, where that is wanted.
    pub fn left(
        machine: &SetupMachine,
        removes: bool,
        cancel: &CancelToken,
    ) -> Result<Vec<UploadedFile>, RemoteError> {
        let link = Link::open(machine, cancel, &mut |_| ())?;
        files::left(&link, removes, cancel)
    }
}

/// Setups as they are spelled on their machine, as words of a shell.
fn spelled_there(setups: &[Setup]) -> String {
    let words = setups
        .iter()
        .map(|setup| quoted(&transport::over_there(setup).to_string()));
    words.collect::<Vec<String>>().join(" ")
}

/// A command that a guard over there runs: its standard input stays open for as long as it is wanted.
fn guarded(spec: ProcessSpec) -> ProcessSpec {
    let remote = spec.remote.map(|remote| RemoteOutput {
        is_guarded: true,
        ..remote
    });
    ProcessSpec { remote, ..spec }
}
