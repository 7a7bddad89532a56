//! Brings this program to another machine, where it is not there yet, and hears from it what the machine is.

use std::path::Path;
use std::time::{Duration, Instant};

use super::folder::MachineFacts;
use super::link::{ASK_LIMIT, Link};
use super::sending::{self, UploadArchive};
use super::{Described, RemoteError, UploadProgress};
use crate::process::{ChildProcess, Incoming};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::base::humanize;
use powerband_core::domain::event::UploadKind;
use powerband_core::domain::machine::ClockOffset;
use powerband_planning::transport::script::{before_failure, last_line, quoted};

/// How many times the other clock is asked; the quickest answer counts.
const PINGS: usize = 9;

/// What the program is called over there: two versions stand side by side.
pub(crate) fn name(program: &Path) -> Result<String, RemoteError> {
    let hash = sending::sha256(program).map_err(|error| {
        RemoteError::Unfit(format!("{} cannot be read: {error}", program.display()))
    })?;
    Ok(format!("powerband-{}", hash.get(..16).unwrap_or(&hash)))
}

/// Where the program is over there; sends it where it is not there yet.
pub(crate) fn bring(
    link: &Link,
    facts: &MachineFacts,
    program: &Path,
    name: &str,
    cancel: &CancelToken,
    told: &mut dyn FnMut(UploadProgress),
) -> Result<String, RemoteError> {
    if let Some(own) = &link.machine.remote_program {
        return Ok(own.clone());
    }
    let help = "put a Powerband for it there, and name it with remote_program=PATH";
    let here = std::env::consts::ARCH;
    if facts.system != "Linux" || facts.arch != here {
        return Err(RemoteError::Unfit(format!(
            "it is {} on {}, and this program is for Linux on {here}; {help}",
            facts.system, facts.arch
        )));
    }
    let Some(folder) = &facts.folder else {
        return Err(RemoteError::Unfit(format!(
            "there is no folder over there in which a program can be kept and started ({}); set XDG_CACHE_HOME to one in the line before, or {help}",
            facts.passed_over.join("; ")
        )));
    };
    let path = format!("{folder}/{name}");
    if facts.has_program {
        return Ok(path);
    }
    let size = program.metadata().map_or(0, |program| program.len());
    if let Some(free) = facts.free_bytes.filter(|free| *free < size) {
        return Err(RemoteError::Unfit(format!(
            "there is no space for the program in {folder} over there: it needs {}, and {} are free; powerband machines clean {} removes what was sent before",
            humanize::bytes(size),
            humanize::bytes(free),
            link.machine.name
        )));
    }
    let parcel = UploadArchive {
        file: program,
        folder,
        name,
        is_program: true,
        what: UploadKind::Program,
    };
    sending::send(link, &parcel, cancel, told)?;
    Ok(path)
}

/// Shakes hands with the program over there, and compares the clocks.
pub(crate) fn describe(
    link: &Link,
    path: &str,
    facts: &MachineFacts,
    cancel: &CancelToken,
) -> Result<(Described, ClockOffset), RemoteError> {
    let spec = link.command(&format!("exec {} remote describe", quoted(path)));
    let mut process = ChildProcess::start(&spec, 1 << 20)
        .map_err(|error| RemoteError::Lost(error.to_string()))?;
    let first = next(&process, cancel)?;
    let Some(described) = first.and_then(|line| serde_json::from_str::<Described>(&line).ok())
    else {
        let ending = process.end();
        return Err(why_not(link, path, facts, &ending.stderr));
    };
    if let Some(misfit) = described.misfit() {
        return Err(RemoteError::Unfit(misfit));
    }
    let mut best = ClockOffset {
        ahead_ns: 0,
        round_trip_ns: u64::MAX,
    };
    for _ in 0..PINGS {
        let asked_ns = clock::monotonic_ns();
        process
            .send("")
            .map_err(|error| RemoteError::Lost(error.to_string()))?;
        let there = next(&process, cancel)?.and_then(|line| line.trim().parse::<i64>().ok());
        let round_trip_ns = clock::monotonic_ns().saturating_sub(asked_ns);
        let Some(there) = there else {
            return Err(RemoteError::Lost("its clock does not answer".to_owned()));
        };
        if round_trip_ns < best.round_trip_ns {
            let middle_ns = (asked_ns + round_trip_ns / 2) as i64;
            best = ClockOffset {
                ahead_ns: there.saturating_sub(middle_ns),
                round_trip_ns,
            };
        }
    }
    process.end();
    Ok((described, best))
}

fn next(process: &ChildProcess, cancel: &CancelToken) -> Result<Option<String>, RemoteError> {
    let deadline = Instant::now() + ASK_LIMIT;
    loop {
        match process.next(Duration::from_millis(100)) {
            Incoming::Line(line) => return Ok(Some(line)),
            Incoming::Silence if cancel.is_cancelled() => return Err(RemoteError::Cancelled),
            Incoming::Silence if Instant::now() < deadline => {}
            _ => return Ok(None),
        }
    }
}

/// Why the program does not run over there, and what helps.
fn why_not(link: &Link, path: &str, facts: &MachineFacts, stderr: &str) -> RemoteError {
    if before_failure(stderr).is_some() {
        return link.lost(stderr);
    }
    let says = |words: &str| {
        stderr
            .lines()
            .map(str::trim)
            .find(|line| line.contains(words))
    };
    let help =
        "put a Powerband that runs there on the machine, and name it with remote_program=PATH";
    if let Some(line) = says("GLIBC_").or_else(|| says("GLIBCXX_")) {
        let libc = if facts.libc.is_empty() {
            "unknown"
        } else {
            &facts.libc
        };
        return RemoteError::Unfit(format!(
            "this program needs a newer C library than the machine has, whose is {libc} ({line}); the packages of Powerband run on glibc 2.28 and newer: use one of these here, or {help}"
        ));
    }
    if says("xec format error").is_some() {
        return RemoteError::Unfit(format!(
            "{path} is not for the processors of the machine, which are {}; {help}",
            facts.arch
        ));
    }
    if let Some(line) = says("not found").or_else(|| says("No such file")) {
        return RemoteError::Unfit(format!(
            "{path} cannot be started over there: {line}; {help}"
        ));
    }
    if let Some(line) = says("ermission denied").filter(|line| line.contains(path)) {
        return RemoteError::Unfit(format!(
            "{path} may not be started over there, its file system may be mounted noexec: {line}; {help}"
        ));
    }
    if let Some(line) = says("unrecognized subcommand") {
        return RemoteError::Unfit(format!(
            "{path} is another version of Powerband ({line}); install this version there, or leave remote_program= out so that this one is sent"
        ));
    }
    match last_line(stderr) {
        "" => RemoteError::Unfit(format!("{path} does not answer over there")),
        _ => link.lost(stderr),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_planning::transport::SetupMachine;

    #[test]
    fn what_does_not_start_over_there_says_why_and_what_helps() {
        let machine = SetupMachine::of_setup(&"fake,via=env".parse().unwrap(), &[]);
        let link = Link::open(
            &machine.unwrap().unwrap(),
            &CancelToken::default(),
            &mut |_| (),
        )
        .unwrap();
        let facts = MachineFacts {
            libc: "glibc 2.17".to_owned(),
            arch: "aarch64".to_owned(),
            ..MachineFacts::default()
        };
        for (stderr, words) in [
            (
                "/c/pb: /lib64/libc.so.6: version `GLIBC_2.34' not found",
                "glibc 2.17",
            ),
            ("sh: 1: /c/pb: Exec format error", "aarch64"),
            ("sh: 1: exec: /c/pb: not found", "remote_program="),
            ("sh: 1: exec: /c/pb: Permission denied", "noexec"),
            ("error: unrecognized subcommand 'remote'", "another version"),
        ] {
            let told = why_not(&link, "/c/pb", &facts, stderr).to_string();
            assert!(told.contains(words), "{stderr}: {told}");
        }
    }

    #[test]
    fn a_machine_of_another_kind_gets_no_program() {
        let machine = SetupMachine::of_setup(&"fake,via=env".parse().unwrap(), &[]);
        let link = Link::open(
            &machine.unwrap().unwrap(),
            &CancelToken::default(),
            &mut |_| (),
        )
        .unwrap();
        let bring = |facts: &MachineFacts| {
            let program = Path::new("/proc/self/exe");
            let cancel = CancelToken::default();
            bring(&link, facts, program, "pb", &cancel, &mut |_| ())
                .unwrap_err()
                .to_string()
        };
        let facts = MachineFacts {
            system: "Linux".to_owned(),
            arch: "riscv64".to_owned(),
            ..MachineFacts::default()
        };
        assert!(bring(&facts).contains("riscv64"));
        let homeless = MachineFacts {
            arch: std::env::consts::ARCH.to_owned(),
            passed_over: vec!["/home/me: Read-only file system".to_owned()],
            ..facts
        };
        assert!(bring(&homeless).contains("Read-only"));
    }
}
