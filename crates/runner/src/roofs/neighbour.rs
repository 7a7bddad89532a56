//! Neighbours: processes that keep cores, or the memory, busy while something else is measured.
//!
//! A neighbour is a child process behind the hidden subcommand `worker neighbour`. Each line of its standard input says
//! what it does from then on: stream, compute, or rest. It ends when its standard input closes, which it does when it
//! is dropped and when this process ends in whatever way.

use std::io::{self, BufRead};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::code::block::Block;
use super::code::{self, BytesCode, ComputeCode};
use super::processor::cores;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::roofs::Access;
use powerband_core::domain::work::NumberFormat;
use powerband_worker::cpu_contention;
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

    /// The command on the child's standard input that starts it.
    fn name(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::Computing => "computing",
        }
    }

    /// The one of this name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a child writes once its threads are there.
const READY: &str = "ready";
/// The command that stops the load.
const REST: &str = "rest";
/// How long it may take to be there.
const START_LIMIT: Duration = Duration::from_secs(20);
/// What each thread copies from, and to, in bytes.
const STREAMED: usize = 64 << 20;
/// What is copied between two looks whether it is time to stop, in bytes.
const PIECE: usize = 1 << 20;
/// What is computed between two looks, in passes.
const PASSES: u64 = 20_000;

/// A child process that loads memory or cores on command; dropping it ends it.
#[derive(Debug)]
pub struct BackgroundLoad {
    process: ChildProcess,
}

impl BackgroundLoad {
    /// Has it do this from now on, or rest.
    pub fn switch_to(&mut self, kind: Option<BackgroundLoadKind>) -> io::Result<()> {
        self.process
            .send(kind.map_or(REST, BackgroundLoadKind::name))
    }

    /// Processor time that it used so far, in nanoseconds, where the system tells.
    pub fn used_ns(&self) -> Option<u64> {
        cpu_contention::used_ns(self.process.id())
    }

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

/// Starts a neighbour with a thread on each of these logical processors, and waits until it is ready. It rests until
/// it is switched to something.
///
/// `program` is Powerband's own.
pub fn start(program: &Path, cores: &[usize]) -> io::Result<BackgroundLoad> {
    let spec = ProcessSpec::new(program)
        .args(["worker", "neighbour"])
        .args(cores.iter().map(ToString::to_string));
    let mut process = ChildProcess::start(&spec, 1 << 10)?;
    match process.next(START_LIMIT) {
        Incoming::Line(line) if line == READY => Ok(BackgroundLoad { process }),
        Incoming::End | Incoming::Torn(_) => Err(io::Error::other(format!(
            "the neighbour ended at once: {}",
            process.end()
        ))),
        other => {
            process.kill();
            Err(io::Error::other(format!(
                "the neighbour did not begin: {other:?}"
            )))
        }
    }
}

/// The child's side: does on these cores what its standard input says, until that closes.
pub fn run(cores: &[usize]) -> io::Result<()> {
    std::fs::write("/proc/self/oom_score_adj", "1000").unwrap_or_default();
    work_until_closed(cores, &mut io::stdin().lock(), &mut io::stdout())
}

/// What the threads of a child are to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Rest,
    Work(BackgroundLoadKind),
    End,
}

/// The order that holds now.
struct Orders {
    now: Mutex<Order>,
    changed: Condvar,
}

impl Orders {
    fn give(&self, order: Order) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = order;
        self.changed.notify_all();
    }

    fn now(&self) -> Order {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next order that is not to rest.
    fn wait_for_work(&self) -> Order {
        let guard = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let is_resting = |order: &mut Order| *order == Order::Rest;
        let guard = self.changed.wait_while(guard, is_resting);
        *guard.unwrap_or_else(PoisonError::into_inner)
    }
}

fn work_until_closed(
    cores: &[usize],
    input: &mut dyn BufRead,
    output: &mut dyn io::Write,
) -> io::Result<()> {
    // A load that streams nothing would speak against memory.
    if StreamWork::new().is_none() {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let orders = Orders {
        now: Mutex::new(Order::Rest),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        let works: io::Result<()> = cores.iter().try_for_each(|&core| {
            let orders = &orders;
            thread::Builder::new()
                .name(format!("neighbour-{core}"))
                .spawn_scoped(scope, move || {
                    cores::pin(core);
                    follow(orders);
                })
                .map(drop)
        });
        let told = works.and_then(|()| {
            writeln!(output, "{READY}")?;
            output.flush()?;
            for line in input.lines() {
                let kind = BackgroundLoadKind::named(line?.trim());
                orders.give(kind.map_or(Order::Rest, Order::Work));
            }
            Ok(())
        });
        orders.give(Order::End);
        told
    })
}

/// A thread of the child.
fn follow(orders: &Orders) {
    let Some(mut stream) = StreamWork::new() else {
        return;
    };
    let codes = code::compute_codes().into_iter();
    let codes = codes.filter(|code: &&ComputeCode| code.numbers == NumberFormat::F32);
    let compute = codes.max_by_key(|code| code.vector_bits);
    loop {
        let order = orders.wait_for_work();
        let Order::Work(kind) = order else {
            return;
        };
        while orders.now() == order {
            match (kind, compute) {
                (BackgroundLoadKind::Streaming, _) => stream.copy_a_piece(),
                (BackgroundLoadKind::Computing, Some(code)) => code.run(PASSES),
                (BackgroundLoadKind::Computing, None) => std::hint::spin_loop(),
            }
        }
    }
}

/// Two blocks of memory, one copied to the other piece by piece.
struct StreamWork {
    from: Block,
    to: Block,
    code: &'static BytesCode,
    at: usize,
}

impl StreamWork {
    /// Nothing where there is no memory for it.
    fn new() -> Option<Self> {
        let plain = |code: &&BytesCode| code.access == Access::Copy && !code.bypasses_caches;
        Some(Self {
            code: code::bytes_codes().into_iter().find(plain)?,
            from: Block::new(STREAMED)?,
            to: Block::new(STREAMED)?,
            at: 0,
        })
    }

    fn copy_a_piece(&mut self) {
        self.code.run_at(&self.from, &mut self.to, self.at, PIECE);
        self.at = (self.at + PIECE) % STREAMED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_works_and_rests_as_it_is_told_and_ends_with_its_input() {
        let lines = b"streaming\nrest\ncomputing\nwhatever\nstreaming\n";
        let mut said = Vec::new();
        work_until_closed(&[0], &mut &lines[..], &mut said).unwrap();
        assert_eq!(said, b"ready\n");

        let (reader, writer) = io::pipe().unwrap();
        let child = thread::Builder::new()
            .name("neighbour-test".to_owned())
            .spawn(move || {
                work_until_closed(&[0], &mut io::BufReader::new(reader), &mut io::sink())
            })
            .unwrap();
        thread::sleep(Duration::from_millis(50));
        assert!(!child.is_finished());
        drop(writer);
        child.join().unwrap().unwrap();
    }

    #[test]
    fn a_program_that_is_none_is_an_error() {
        assert!(start(Path::new("/nowhere/at-all"), &[0]).is_err());
        let other = start(Path::new("/bin/false"), &[0]).unwrap_err();
        assert!(other.to_string().contains("exit status 1"), "{other}");
        assert_eq!(
            BackgroundLoadKind::named("streaming"),
            Some(BackgroundLoadKind::Streaming)
        );
        assert_eq!(BackgroundLoadKind::named("loud"), None);
    }
}
