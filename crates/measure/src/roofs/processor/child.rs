//! The child's side: measures everything, behind the hidden subcommand `worker processor`, and writes what it finds.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::process::Signal;

use super::message::{Message, RoofProgress};
use super::{bandwidth, clock, compute, cores};
use crate::roofs::code::ComputeCode;
use crate::telemetry::{host, machine};
use powerband_core::domain::roofs::Level;
use powerband_core::domain::work::Numbers;

/// Measures, without instructions of these names, and writes a line for each thing found.
pub fn run(without: &[String]) -> io::Result<()> {
    // Should the parent die by SIGKILL, the kernel takes this process along.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap_or_default();
    std::fs::write("/proc/self/oom_score_adj", "1000").unwrap_or_default();
    let root = Path::new("/");
    let mut measuring = Measuring {
        out: File::from(rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?),
        root,
        codes: compute::codes(without),
        cores: cores::in_order(root),
        done: 0,
        of: 0,
    };
    measuring.try_codes()?;
    measuring.all()
}

struct Measuring<'a> {
    out: File,
    root: &'a Path,
    codes: Vec<&'static ComputeCode>,
    cores: Vec<usize>,
    /// Steps that are done, and in all.
    done: usize,
    of: usize,
}

impl Measuring<'_> {
    fn say(&mut self, message: &Message) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.out.write_all(&line)
    }

    fn note(&mut self, note: impl Into<String>) -> io::Result<()> {
        self.say(&Message::Note(note.into()))
    }

    fn step(&mut self, what: String) -> io::Result<()> {
        let progress = RoofProgress {
            done: self.done,
            of: self.of,
            what,
        };
        self.done += 1;
        self.say(&Message::Progress(progress))
    }

    /// Runs every loop once, so that instructions that are refused end this process at its beginning.
    fn try_codes(&mut self) -> io::Result<()> {
        for code in self.codes.clone() {
            self.say(&Message::Trying(Some(code.name.to_owned())))?;
            code.run(1);
        }
        self.say(&Message::Trying(None))
    }

    fn all(&mut self) -> io::Result<()> {
        let counts = cores::thread_counts(self.root, &self.cores);
        let kinds = compute::kinds(&self.codes);
        self.of = counts.len() * (kinds.len() + bandwidth::KINDS.len()) + 1;
        if kinds.is_empty() {
            self.note("Arithmetic was not measured: there is no loop for this kind of processor.")?;
        }
        if !self.cores.iter().all(|&core| pinned(core)) {
            self.note("Threads could not be kept on their cores.")?;
        }
        for &count in &counts {
            self.arithmetic(&kinds, count)?;
        }
        self.clock()?;
        for &count in &counts {
            self.bandwidth(count)?;
        }
        self.say(&Message::Done {
            threads: self.cores.len(),
        })
    }

    fn arithmetic(&mut self, kinds: &[Numbers], count: usize) -> io::Result<()> {
        for &numbers in kinds {
            self.step(compute::title(numbers, count))?;
            if let Some(roof) = compute::roof(&self.codes, numbers, &self.cores[..count])? {
                self.say(&Message::Compute(roof))?;
            }
        }
        Ok(())
    }

    fn clock(&mut self) -> io::Result<()> {
        self.step("clock while computing".to_owned())?;
        let widest = self.codes.iter().copied();
        let widest = widest.filter(|code| code.numbers == Numbers::F32);
        if let Some(code) = widest.max_by_key(|code| code.vector_bits) {
            if let Some(clock) = clock::while_computing(self.root, code, &self.cores)? {
                self.say(&Message::Clock(clock.mhz))?;
                if let Some(note) = clock.note {
                    self.note(note)?;
                }
            }
            if let Some(celsius) = host::temperature_c(self.root) {
                self.say(&Message::Temperature(celsius))?;
            }
        }
        Ok(())
    }

    fn bandwidth(&mut self, count: usize) -> io::Result<()> {
        let cores = self.cores[..count].to_vec();
        let available = machine::memory().map(|memory| memory.available_bytes);
        let (blocks, short) = match bandwidth::Blocks::new(self.root, &cores, available) {
            Ok(made) => made,
            Err(error) => {
                self.done += bandwidth::KINDS.len();
                let threads = bandwidth::threads(count);
                return self.note(format!(
                    "Bandwidth was not measured with {threads}: {error}."
                ));
            }
        };
        if let Some(note) = short {
            self.note(note)?;
        }
        for (level, access) in bandwidth::KINDS {
            self.step(bandwidth::title(level, access, count))?;
            match blocks.roof(self.root, &cores, level, access)? {
                Some(roof) => self.say(&Message::Memory(roof))?,
                None if access == bandwidth::KINDS[0].1 => self.note(absent(level, count))?,
                None => {}
            }
        }
        Ok(())
    }
}

/// Whether a thread can be kept on this core; asked on a thread of its own, which stays there.
fn pinned(core: usize) -> bool {
    let asked = std::thread::Builder::new()
        .name("roof-pin".to_owned())
        .spawn(move || cores::pin(core));
    asked.is_ok_and(|thread| thread.join().unwrap_or(false))
}

fn absent(level: Level, count: usize) -> String {
    let threads = bandwidth::threads(count);
    format!(
        "The {level} was not measured with {threads}: the system does not list its size, or it is hardly larger than the cache before it."
    )
}
