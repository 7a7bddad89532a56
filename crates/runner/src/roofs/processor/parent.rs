//! The parent's side: starts the child, passes its progress on, and makes roofs of what it says.
//!
//! Instructions that the processor refuses end the child; it is then started again without them, which is noted.

use std::path::Path;
use std::time::{Duration, Instant};

use super::message::{Message, RoofProgress};
use crate::roofs::contention;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::base::humanize;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::roofs::{METHOD, PROCESSOR, RoofConditions, Roofs};
use powerband_devices::machine;
use powerband_worker::process::{ChildProcess, Incoming};

/// How often the cancel token is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// A child that says nothing for so long is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// No line of it is longer, in bytes.
const LONGEST_LINE: usize = 1 << 16;
/// How many kinds of instructions are left out before the measuring is given up.
const MOST_REFUSED: usize = 4;
/// How much of a line is quoted in a message.
const QUOTED: usize = 80;

/// Why the processor was not measured.
#[derive(Debug, thiserror::Error)]
pub enum RoofError {
    /// The child could not be started.
    #[error("the process that measures the processor could not be started: {0}")]
    Start(#[source] std::io::Error),
    /// It is gone before it was done.
    #[error("the process that measures the processor ended early: {0}")]
    Died(String),
    /// It said nothing for long, and was ended.
    #[error("the process that measures the processor said nothing for {} s", SILENCE.as_secs())]
    Silent,
    /// It said something else.
    #[error("the process that measures the processor wrote what is not a message: {0}")]
    Garbled(String),
    /// The user wants to stop; it was ended.
    #[error("cancelled")]
    Cancelled,
}

/// Measures arithmetic and bandwidth of the processor in a child process, which takes some seconds.
///
/// `program` is Powerband's own. What engines reach is left empty.
pub fn measure_processor(
    program: &Path,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(RoofProgress),
) -> Result<Roofs, RoofError> {
    let mut refused: Vec<(String, String)> = Vec::new();
    loop {
        let without = refused.iter().map(|(code, _)| code.as_str());
        match attempt(program, without, cancel, progress)? {
            Attempt::Done(mut roofs) => {
                let note = |(code, how): &(String, String)| {
                    format!("{code} was left out: running it ended the process ({how}).")
                };
                roofs.notes.extend(refused.iter().map(note));
                return Ok(*roofs);
            }
            Attempt::Refused { code, how } if refused.len() == MOST_REFUSED => {
                return Err(RoofError::Died(format!("{how}, while it tried {code}")));
            }
            Attempt::Refused { code, how } => refused.push((code, how)),
        }
    }
}

/// How one child ended.
enum Attempt {
    Done(Box<Roofs>),
    /// While it tried instructions.
    Refused {
        code: String,
        how: String,
    },
}

fn attempt<'a>(
    program: &Path,
    without: impl Iterator<Item = &'a str>,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(RoofProgress),
) -> Result<Attempt, RoofError> {
    let mut spec = ProcessSpec::new(program).args(["worker", "processor"]);
    for code in without {
        spec = spec.args(["--without", code]);
    }
    let mut process = ChildProcess::start(&spec, LONGEST_LINE).map_err(RoofError::Start)?;
    let mut roofs = beginning();
    let mut tried = None;
    let mut heard = Instant::now();
    loop {
        if cancel.is_cancelled() {
            process.kill();
            return Err(RoofError::Cancelled);
        }
        let line = match process.next(LOOK) {
            Incoming::Line(line) => line,
            Incoming::Silence if heard.elapsed() < SILENCE => continue,
            Incoming::Silence => {
                process.kill();
                return Err(RoofError::Silent);
            }
            Incoming::Garbled(what) => return Err(RoofError::Garbled(what)),
            Incoming::Torn(_) | Incoming::End => {
                let ending = process.end();
                return match tried {
                    Some(code) if ending.is_failure => Ok(Attempt::Refused {
                        code,
                        how: ending.how,
                    }),
                    _ => Err(RoofError::Died(ending.to_string())),
                };
            }
        };
        heard = Instant::now();
        let message = serde_json::from_str(&line).map_err(|error| {
            RoofError::Garbled(format!("{} ({error})", humanize::shorten(&line, QUOTED)))
        })?;
        match message {
            Message::Progress(now) => progress(now),
            Message::Trying(code) => tried = code,
            Message::Compute(roof) => roofs.compute.push(roof),
            Message::Memory(roof) => roofs.memory.push(roof),
            Message::Clock(mhz) => roofs.clock_mhz = Some(mhz),
            Message::Temperature(celsius) => roofs.temperature_c = Some(celsius),
            Message::Note(note) => roofs.notes.push(note),
            Message::Others { cores, usable } => {
                contention::mark_contended(&mut roofs, cores, usable);
            }
            Message::Done { threads } => {
                roofs.conditions.threads = threads;
                process.end();
                return Ok(Attempt::Done(Box::new(roofs)));
            }
        }
    }
}

fn beginning() -> Roofs {
    Roofs {
        device: PROCESSOR.to_owned(),
        name: machine::cpu(Path::new("/")).model,
        card: None,
        measured: clock::now_utc(),
        conditions: RoofConditions {
            method: METHOD,
            ..RoofConditions::default()
        },
        clock_mhz: None,
        temperature_c: None,
        compute: Vec::new(),
        memory: Vec::new(),
        engines: Vec::new(),
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use super::*;

    /// A program that does what a script says.
    fn program(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("program");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn measured(script: &str) -> Result<Roofs, RoofError> {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), script);
        measure_processor(&program, &CancelToken::default(), &mut |_| {})
    }

    #[test]
    fn refused_instructions_are_left_out_and_noted() {
        let script = r#"
            case "$*" in
                *"--without WIDE"*) ;;
                *) echo '{"Trying":"WIDE"}'; kill -ILL $$;;
            esac
            echo '{"Trying":null}'
            echo '{"Progress":{"done":0,"of":1,"what":"f32, 1 thread"}}'
            echo '{"Clock":3000.0}'
            echo '{"Others":{"cores":0.01,"usable":3}}'
            echo '{"Done":{"threads":3}}'"#;
        let roofs = measured(script).unwrap();
        assert_eq!(
            (roofs.conditions.threads, roofs.clock_mhz),
            (3, Some(3000.0))
        );
        let [note] = roofs.notes.as_slice() else {
            panic!("{:?}", roofs.notes);
        };
        assert!(note.starts_with("WIDE was left out"), "{note}");
        assert!(note.contains("signal 4 (SIGILL)"), "{note}");
    }

    #[test]
    fn a_child_that_dies_is_a_sentence() {
        let died = measured("echo '{\"Trying\":null}'; echo oh >&2; kill -SEGV $$").unwrap_err();
        let text = died.to_string();
        assert!(
            text.contains("signal 11 (SIGSEGV)") && text.ends_with("oh"),
            "{text}"
        );
        let always = measured("echo '{\"Trying\":\"ANY\"}'; kill -ILL $$").unwrap_err();
        assert!(
            always.to_string().contains("while it tried ANY"),
            "{always}"
        );
        let garbled = measured("echo hello").unwrap_err().to_string();
        assert!(garbled.contains("not a message: hello"), "{garbled}");
        let missing = Path::new("/nowhere/at-all");
        let start = measure_processor(missing, &CancelToken::default(), &mut |_| {}).unwrap_err();
        assert!(matches!(start, RoofError::Start(_)), "{start}");
    }

    #[test]
    fn cancelling_ends_the_child() {
        let folder = tempfile::tempdir().unwrap();
        let script = r#"echo '{"Progress":{"done":0,"of":1,"what":"'$$'"}}'; sleep 300"#;
        let program = program(folder.path(), script);
        let cancel = CancelToken::default();
        let mut pid = String::new();
        let ended = measure_processor(&program, &cancel, &mut |progress| {
            pid = progress.what;
            cancel.cancel();
        });
        assert!(matches!(ended, Err(RoofError::Cancelled)), "{ended:?}");
        assert!(!pid.is_empty() && !Path::new("/proc").join(&pid).exists());
    }
}
