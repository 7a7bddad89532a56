//! Neighbours: processes that keep cores, or the memory, busy while something else is measured.
//!
//! A neighbour is a child process behind the hidden subcommand `worker neighbour`. It works until its standard input
//! closes, which it does when it is dropped and when this process ends in whatever way.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::code::block::Block;
use super::code::{self, BytesCode, ComputeCode};
use super::processor::cores;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::roofs::Access;
use powerband_core::domain::work::NumberFormat;
use powerband_worker::process::{ChildProcess, Incoming};

/// The resource that a background load uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundLoadKind {
    /// Copies memory, far more than caches hold.
    Streaming,
    /// Computes from registers, and leaves memory alone.
    Computing,
}

impl BackgroundLoadKind {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::Streaming, Self::Computing];

    /// What it is called on the command line of the child.
    fn name(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::Computing => "computing",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for BackgroundLoadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a child writes once it works.
const READY: &str = "working";
/// How long it may take to be there.
const START_LIMIT: Duration = Duration::from_secs(20);
/// What each thread copies from, and to, in bytes.
const STREAMED: usize = 64 << 20;
/// What is copied between two looks whether it is time to stop, in bytes.
const PIECE: usize = 1 << 20;
/// What is computed between two looks, in passes.
const PASSES: u64 = 20_000;

/// A child process that loads memory or cores; dropping it ends it.
#[derive(Debug)]
pub struct BackgroundLoad {
    process: ChildProcess,
}

impl BackgroundLoad {
    /// Whether it still works: it may have been killed for the memory that it takes.
    pub fn is_working(&mut self) -> bool {
        self.process.ended_by_itself().is_none() && !self.process.is_over()
    }
}

impl Drop for BackgroundLoad {
    fn drop(&mut self) {
        self.process.kill();
    }
}

/// Starts a neighbour with a thread on each of these logical processors, and waits until it works.
///
/// `program` is Powerband's own.
pub fn start(
    program: &Path,
    kind: BackgroundLoadKind,
    cores: &[usize],
) -> io::Result<BackgroundLoad> {
    let spec = ProcessSpec::new(program)
        .args(["worker", "neighbour", kind.name()])
        .args(cores.iter().map(ToString::to_string));
    let mut process = ChildProcess::start(&spec, 1 << 10)?;
    match process.next(START_LIMIT) {
        Incoming::Line(line) if line == READY => Ok(BackgroundLoad { process }),
        Incoming::End | Incoming::Torn(_) => Err(io::Error::other(format!(
            "the {kind} neighbour ended at once: {}",
            process.end()
        ))),
        other => {
            process.kill();
            Err(io::Error::other(format!(
                "the {kind} neighbour did not begin: {other:?}"
            )))
        }
    }
}

/// The child's side: works on these cores until standard input closes.
pub fn run(kind: BackgroundLoadKind, cores: &[usize]) -> io::Result<()> {
    std::fs::write("/proc/self/oom_score_adj", "1000").unwrap_or_default();
    work_until_closed(kind, cores, &mut io::stdin().lock(), &mut io::stdout())
}

fn work_until_closed(
    kind: BackgroundLoadKind,
    cores: &[usize],
    input: &mut dyn io::Read,
    output: &mut dyn io::Write,
) -> io::Result<()> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let works: io::Result<()> = cores.iter().try_for_each(|&core| {
            let is_over = &is_over;
            thread::Builder::new()
                .name(format!("neighbour-{core}"))
                .spawn_scoped(scope, move || {
                    cores::pin(core);
                    match kind {
                        BackgroundLoadKind::Streaming => stream(is_over),
                        BackgroundLoadKind::Computing => compute(is_over),
                    }
                })
                .map(drop)
        });
        let told = works.and_then(|()| {
            writeln!(output, "{READY}")?;
            output.flush()?;
            io::copy(input, &mut io::sink()).map(drop)
        });
        is_over.store(true, Ordering::Relaxed);
        told
    })
}

fn compute(is_over: &AtomicBool) {
    let codes = code::compute_codes().into_iter();
    let codes = codes.filter(|code: &&ComputeCode| code.numbers == NumberFormat::F32);
    let code = codes.max_by_key(|code| code.vector_bits);
    while !is_over.load(Ordering::Relaxed) {
        match code {
            Some(code) => code.run(PASSES),
            None => std::hint::spin_loop(),
        }
    }
}

fn stream(is_over: &AtomicBool) {
    let plain = |code: &&BytesCode| code.access == Access::Copy && !code.bypasses_caches;
    let code = code::bytes_codes().into_iter().find(plain);
    let (Some(from), Some(mut to), Some(code)) = (Block::new(STREAMED), Block::new(STREAMED), code)
    else {
        return;
    };
    while !is_over.load(Ordering::Relaxed) {
        let mut at = 0;
        while at < STREAMED && !is_over.load(Ordering::Relaxed) {
            code.run_at(&from, &mut to, at, PIECE);
            at += PIECE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_its_input_ends_it() {
        for kind in BackgroundLoadKind::ALL {
            let (reader, writer) = io::pipe().unwrap();
            let child = thread::Builder::new()
                .name("neighbour-test".to_owned())
                .spawn(move || {
                    let mut said = Vec::new();
                    let mut reader = reader;
                    work_until_closed(kind, &[0], &mut reader, &mut said).map(|()| said)
                })
                .unwrap();
            thread::sleep(Duration::from_millis(50));
            assert!(!child.is_finished(), "{kind}");
            drop(writer);
            assert_eq!(child.join().unwrap().unwrap(), b"working\n");
        }
    }

    #[test]
    fn a_program_that_is_none_is_an_error() {
        let missing = start(
            Path::new("/nowhere/at-all"),
            BackgroundLoadKind::Computing,
            &[0],
        );
        assert!(missing.is_err());
        let other =
            start(Path::new("/bin/false"), BackgroundLoadKind::Streaming, &[0]).unwrap_err();
        assert!(other.to_string().contains("exit status 1"), "{other}");
        assert_eq!(
            BackgroundLoadKind::named("streaming"),
            Some(BackgroundLoadKind::Streaming)
        );
        assert_eq!(BackgroundLoadKind::named("loud"), None);
    }
}
