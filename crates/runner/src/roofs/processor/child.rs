//! The child's side: measures everything, behind the hidden subcommand `worker processor`, and writes what it finds.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use super::bandwidth::{self, Blocks, MemoryVisits};
use super::compute::ComputeVisits;
use super::message::{Message, RoofProgress};
use super::{clock, compute, cores};
use crate::roofs::code::block::Block;
use crate::roofs::code::{self, BytesCode, ComputeCode};
use powerband_core::domain::roofs::{Access, Level};
use powerband_core::domain::work::NumberFormat;
use powerband_devices::{host, machine};
use powerband_worker::cpu_contention::Counters;

/// The caches that have roofs.
const CACHES: [Level; 2] = [Level::L3, Level::L2];
/// How often arithmetic and memory are visited.
const ROUNDS: usize = 3;
/// How long is looked at what others use, before anything is measured and after.
const LOOK: Duration = Duration::from_millis(300);

/// Measures, without instructions of these names, and writes a line for each thing found.
///
/// With `only`, steps whose titles begin otherwise are left out.
pub fn run(without: &[String], only: Option<&str>) -> io::Result<()> {
    // Should the parent die by SIGKILL, the kernel takes this process along.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap_or_default();
    std::fs::write("/proc/self/oom_score_adj", "1000").unwrap_or_default();
    let root = Path::new("/");
    let mut measuring = Measuring {
        out: File::from(rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?),
        root,
        only,
        computing: without_named(code::compute_codes(), |code| code.name, without),
        moving: without_named(code::bytes_codes(), |code| code.name, without),
        cores: cores::here(root),
        blocks: Vec::new(),
        visits: Vec::new(),
        computed: Vec::new(),
        done: 0,
        of: 0,
    };
    measuring.try_codes()?;
    measuring.all()
}

struct Measuring<'a> {
    out: File,
    root: &'a Path,
    only: Option<&'a str>,
    computing: Vec<&'static ComputeCode>,
    moving: Vec<&'static BytesCode>,
    cores: Vec<usize>,
    /// Memory for each number of threads, kept between rounds: a virtual machine that gives memory back takes long to
    /// have it again.
    blocks: Vec<Blocks>,
    visits: Vec<MemoryVisits>,
    computed: Vec<ComputeVisits>,
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

    /// Says what is measured next; false where it is left out.
    fn step(&mut self, what: String) -> io::Result<bool> {
        let done = self.done;
        self.done += 1;
        if self.only.is_some_and(|only| !what.starts_with(only)) {
            return Ok(false);
        }
        let of = self.of;
        self.say(&Message::Progress(RoofProgress { done, of, what }))?;
        Ok(true)
    }

    /// Runs every loop once, so that instructions that are refused end this process at its beginning.
    fn try_codes(&mut self) -> io::Result<()> {
        for code in self.computing.clone() {
            self.say(&Message::Trying(Some(code.name.to_owned())))?;
            code.run(1);
        }
        let blocks = Block::new(1).zip(Block::new(1));
        let (from, mut to) = blocks.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        for code in self.moving.clone() {
            self.say(&Message::Trying(Some(code.name.to_owned())))?;
            code.run(&from, &mut to, from.bytes());
        }
        self.say(&Message::Trying(None))
    }

    fn all(&mut self) -> io::Result<()> {
        let counts = cores::thread_counts(self.root, &self.cores);
        let kinds = compute::kinds(&self.computing);
        let visits = (ROUNDS + CACHES.len()) * bandwidth::ACCESSES.len();
        self.of = counts.len() * (ROUNDS * kinds.len() + visits) + 1;
        if kinds.is_empty() {
            self.note("Arithmetic was not measured: there is no loop for this kind of processor.")?;
        }
        if !self.cores.iter().all(|&core| pinned(core)) {
            self.note("Threads could not be kept on their cores.")?;
        }
        for note in code::refused() {
            self.note(note)?;
        }
        let before = self.others_alone();
        let begun = Counters::on(&self.cores);
        // Rounds lie apart: what others leave of cores and memory changes by the second.
        self.memory(&counts, true)?;
        self.arithmetic(&kinds, &counts)?;
        self.clock()?;
        for round in 1..ROUNDS {
            self.memory(&counts, false)?;
            self.arithmetic(&kinds, &counts)?;
            if round == 1 {
                for &count in &counts {
                    self.caches(count)?;
                }
            }
        }
        for roof in self
            .computed
            .iter()
            .filter_map(ComputeVisits::roof)
            .collect::<Vec<_>>()
        {
            self.say(&Message::Compute(roof))?;
        }
        self.memory_roofs()?;
        let during = begun.and_then(|begun| cores_of_others(&begun));
        let after = self.others_alone();
        if let Some(cores) = constant_others(before, during, after) {
            self.say(&Message::Others {
                cores,
                usable: self.cores.len(),
            })?;
        }
        self.say(&Message::Done {
            threads: self.cores.len(),
        })
    }

    /// Cores that others use while nothing is measured.
    fn others_alone(&self) -> Option<f64> {
        // A part alone is looked at without waiting.
        let begun = Counters::on(&self.cores).filter(|_| self.only.is_none())?;
        std::thread::sleep(LOOK);
        cores_of_others(&begun)
    }

    /// A stretch of each kind of numbers with each number of threads; the first chooses the loops.
    fn arithmetic(&mut self, kinds: &[NumberFormat], counts: &[usize]) -> io::Result<()> {
        for &count in counts {
            for &numbers in kinds {
                if !self.step(compute::title(numbers, count))? {
                    continue;
                }
                let is_this = |visits: &ComputeVisits| visits.is_of(numbers, count);
                if !self.computed.iter().any(is_this) {
                    let cores = &self.cores[..count];
                    let begun = ComputeVisits::begin(&self.computing, numbers, cores)?;
                    self.computed.extend(begun);
                }
                let mut computed = self.computed.iter_mut();
                if let Some(visits) = computed.find(|visits| is_this(visits)) {
                    visits.visit()?;
                }
            }
        }
        Ok(())
    }

    fn clock(&mut self) -> io::Result<()> {
        if !self.step("clock while computing".to_owned())? {
            return Ok(());
        }
        let widest = self.computing.iter().copied();
        let widest = widest.filter(|code| code.numbers == NumberFormat::F32);
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

    /// A round of memory with each number of threads; the first makes room and chooses the loops.
    fn memory(&mut self, counts: &[usize], is_first: bool) -> io::Result<()> {
        for &count in counts {
            for access in bandwidth::ACCESSES {
                if self.step(bandwidth::title(Level::Memory, access, count))?
                    && let Err(error) = self.visit(counts, count, access, is_first)
                {
                    let title = bandwidth::title(Level::Memory, access, count);
                    self.note(format!("Not measured: {title}: {error}."))?;
                }
            }
        }
        Ok(())
    }

    fn visit(
        &mut self,
        counts: &[usize],
        count: usize,
        access: Access,
        is_first: bool,
    ) -> io::Result<()> {
        let is_this = |blocks: &Blocks| blocks.threads() == count;
        if is_first && !self.blocks.iter().any(is_this) {
            let cores = self.cores[..count].to_vec();
            let available = machine::memory().map(|memory| memory.available_bytes);
            // Each number of threads has its part.
            let part = available.map(|bytes| bytes / counts.len() as u64);
            let footprint = bandwidth::footprint(self.root, &cores, part);
            if footprint.is_short {
                self.note(bandwidth::short(footprint, count))?;
            }
            self.blocks.push(Blocks::of_memory(&cores, footprint)?);
        }
        let Some(blocks) = self.blocks.iter().find(|blocks| is_this(blocks)) else {
            return Ok(());
        };
        if is_first {
            self.visits
                .extend(MemoryVisits::begin(blocks, &self.moving, access)?);
        }
        let is_this = |visits: &&mut MemoryVisits| visits.is_of(access, count);
        match self.visits.iter_mut().find(is_this) {
            Some(visits) => visits.visit(blocks),
            None => Ok(()),
        }
    }

    fn memory_roofs(&mut self) -> io::Result<()> {
        let roofs: Vec<_> = self.visits.iter().map(MemoryVisits::roof).collect();
        for roof in roofs {
            self.say(&Message::Memory(roof))?;
        }
        match bandwidth::unsteady(&self.visits) {
            Some(note) => self.note(note),
            None => Ok(()),
        }
    }

    fn caches(&mut self, count: usize) -> io::Result<()> {
        let cores = self.cores[..count].to_vec();
        for level in CACHES {
            for access in bandwidth::ACCESSES {
                if !self.step(bandwidth::title(level, access, count))? {
                    continue;
                }
                let roof = bandwidth::of_cache(self.root, &cores, &self.moving, level, access)?;
                match roof {
                    Some(roof) => self.say(&Message::Memory(roof))?,
                    None if access == Access::Copy => {
                        self.note(missing_cache_note(level, count))?;
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }
}

/// Cores that others used since then, other machines on this processor among them.
fn cores_of_others(begun: &Counters) -> Option<f64> {
    let since = begun.since()?;
    let used = since.others_ns + since.stolen_ns;
    Some(used as f64 / since.counted_ns.max(1) as f64)
}

/// Cores that others used all the time: what was seen during the measuring, and at least half of what they used
/// before it and after it, since they take turns with what is measured.
fn constant_others(before: Option<f64>, during: Option<f64>, after: Option<f64>) -> Option<f64> {
    let around = before.zip(after);
    let around = around.map(|(before, after)| before.min(after) / 2.0);
    [during, around].into_iter().flatten().reduce(f64::max)
}

/// Codes without those of some names.
fn without_named<C>(
    mut codes: Vec<&'static C>,
    name: impl Fn(&C) -> &'static str,
    without: &[String],
) -> Vec<&'static C> {
    codes.retain(|code| !without.iter().any(|other| other == name(code)));
    codes
}

/// Whether a thread can be kept on this core; asked on a thread of its own, which stays there.
fn pinned(core: usize) -> bool {
    let asked = std::thread::Builder::new()
        .name("roof-pin".to_owned())
        .spawn(move || cores::pin(core));
    asked.is_ok_and(|thread| thread.join().unwrap_or(false))
}

fn missing_cache_note(level: Level, count: usize) -> String {
    let threads = bandwidth::threads(count);
    format!(
        "The {level} was not measured with {threads}: the system does not list its size, or it is hardly larger than the cache before it."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_use_all_the_time_is_seen() {
        assert_eq!(constant_others(None, None, None), None);
        // A burst before or after is no constant load.
        assert_eq!(constant_others(Some(1.0), Some(0.0), Some(0.1)), Some(0.05));
        assert_eq!(constant_others(Some(1.0), Some(0.2), Some(0.8)), Some(0.4));
        assert_eq!(constant_others(Some(1.0), Some(0.6), Some(0.9)), Some(0.6));
        assert_eq!(constant_others(None, Some(0.2), Some(0.9)), Some(0.2));
    }

    #[test]
    fn what_is_left_out_is_not_run() {
        let all = code::compute_codes();
        if let Some(first) = all.first() {
            let rest = without_named(all.clone(), |code| code.name, &[first.name.to_owned()]);
            assert!(rest.len() < all.len() && rest.iter().all(|code| code.name != first.name));
        }
    }
}
