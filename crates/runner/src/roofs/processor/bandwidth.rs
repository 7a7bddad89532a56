//! Roofs of bandwidth: for each level and access, the best loop with so many threads.
//!
//! What other programs and other virtual machines leave of a memory can change by half within seconds. So memory is
//! visited in several rounds that lie apart; caches, which few share, once.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::caches;
use super::together::{self, BRIEF, CACHED, SHORT, Timing};
use crate::roofs::code::BytesCode;
use crate::roofs::code::block::{Block, STEP};
use powerband_core::base::humanize;
use powerband_core::domain::roofs::{Access, Level, MemoryRoof};

/// Every access, in the order in which they are measured.
pub(super) const ACCESSES: [Access; 3] = [Access::Copy, Access::Read, Access::Write];

/// How much is gone through at least, of all threads together, so that it lies in memory.
const LEAST: u64 = 256 << 20;
/// How many times the last cache that is at least.
const CACHES: u64 = 4;
/// What part of the memory that is available may be taken for it.
const PART: u64 = 4;
/// Where the medians of rounds are further apart than by this factor, it is said.
const CHANGED: f64 = 1.15;

/// `memory copy, 2 threads`.
pub(super) fn title(level: Level, access: Access, count: usize) -> String {
    format!("{level} {access}, {}", threads(count))
}

/// `2 threads`.
pub(super) fn threads(count: usize) -> String {
    humanize::pluralised(count as u64, "thread")
}

/// How much is gone through, and whether that is less than it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footprint {
    pub(super) bytes: u64,
    pub(super) is_short: bool,
}

/// Of memory with a thread on each of these cores, where it may take so many bytes.
pub(super) fn footprint(root: &Path, cores: &[usize], available: Option<u64>) -> Footprint {
    let last = caches::last(root, cores).map(|(_, bytes)| bytes);
    of_sizes(last, available)
}

/// From the size of the last cache and the memory that is available.
fn of_sizes(last_cache: Option<u64>, available: Option<u64>) -> Footprint {
    let wanted = LEAST.max(CACHES * last_cache.unwrap_or(0));
    // There are two blocks of this size.
    let most = available.map_or(u64::MAX, |bytes| bytes / PART / 2);
    Footprint {
        bytes: wanted.min(most),
        is_short: most < wanted,
    }
}

/// What is said where it is short.
pub(super) fn short(footprint: Footprint, count: usize) -> String {
    format!(
        "Memory was measured on {} with {}, less than {CACHES} times the last cache, because more memory is not available.",
        humanize::bytes(footprint.bytes),
        threads(count)
    )
}

/// Two blocks for each thread, near it, between which bytes are moved.
pub(super) struct Blocks {
    cores: Vec<usize>,
    pairs: Vec<Mutex<(Block, Block)>>,
    /// Bytes of one block.
    bytes: usize,
}

impl Blocks {
    /// Of so many bytes each.
    pub(super) fn new(cores: &[usize], bytes: u64) -> io::Result<Self> {
        let bytes = (bytes.max(1) as usize).next_multiple_of(STEP);
        let pairs = together::each(cores, |_| {
            Some(Mutex::new((Block::new(bytes)?, Block::new(bytes)?)))
        })?;
        let pairs: Option<Vec<_>> = pairs.into_iter().collect();
        Ok(Self {
            cores: cores.to_vec(),
            pairs: pairs.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?,
            bytes,
        })
    }

    /// How many threads they are for.
    pub(super) fn threads(&self) -> usize {
        self.cores.len()
    }

    /// For memory, of a footprint that its threads share.
    pub(super) fn of_memory(cores: &[usize], footprint: Footprint) -> io::Result<Self> {
        Self::new(cores, footprint.bytes / cores.len().max(1) as u64)
    }

    /// The two blocks of a thread, locked while it works on them.
    fn pair(&self, index: usize) -> MutexGuard<'_, (Block, Block)> {
        self.pairs[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of a pass of all threads together.
    fn of_a_pass(&self, access: Access) -> usize {
        let moved = if access == Access::Copy { 2 } else { 1 };
        moved * self.bytes * self.cores.len()
    }

    /// Bytes a second of each repetition.
    fn rates(&self, code: &BytesCode, timing: Timing) -> io::Result<Vec<f64>> {
        let bytes = self.bytes;
        let timed = together::timed(&self.cores, timing, |index| {
            let mut pair = self.pair(index);
            move |passes| {
                let (from, to) = &mut *pair;
                for _ in 0..passes {
                    code.run(from, to, bytes);
                }
            }
        })?;
        Ok(timed.rates(self.of_a_pass(code.access) as f64))
    }

    /// The best of several loops for an access.
    fn best(
        &self,
        codes: &[&'static BytesCode],
        access: Access,
    ) -> io::Result<Option<&'static BytesCode>> {
        let codes = codes.iter().copied();
        let codes: Vec<_> = codes.filter(|code| code.access == access).collect();
        together::best_of(&codes, |code| {
            let rates = self.rates(code, BRIEF)?;
            Ok(rates.into_iter().fold(0.0, f64::max))
        })
    }
}

/// A bandwidth of memory that is measured in rounds.
pub(super) struct MemoryVisits {
    access: Access,
    threads: usize,
    code: &'static BytesCode,
    working_set: usize,
    /// Bytes a second of each repetition, by round.
    rounds: Vec<Vec<f64>>,
}

impl MemoryVisits {
    /// Chooses the best loop; nothing where there is none.
    pub(super) fn begin(
        blocks: &Blocks,
        codes: &[&'static BytesCode],
        access: Access,
    ) -> io::Result<Option<Self>> {
        let best = blocks.best(codes, access)?;
        Ok(best.map(|code| Self {
            access,
            threads: blocks.cores.len(),
            code,
            working_set: blocks.of_a_pass(access),
            rounds: Vec::new(),
        }))
    }

    /// Whether it is of this access and number of threads.
    pub(super) fn is_of(&self, access: Access, threads: usize) -> bool {
        self.access == access && self.threads == threads
    }

    /// One more round, on blocks as it began with.
    pub(super) fn visit(&mut self, blocks: &Blocks) -> io::Result<()> {
        let rates = blocks.rates(self.code, SHORT)?;
        self.rounds.push(rates);
        Ok(())
    }

    /// What came of all rounds; the loop's name stands with it.
    pub(super) fn roof(&self) -> MemoryRoof {
        MemoryRoof {
            level: Level::Memory,
            access: self.access,
            threads: self.threads,
            working_set_bytes: self.working_set as u64,
            code: self.code.name.to_owned(),
            per_s: together::faster_half(self.rounds.concat()),
        }
    }

    /// The lowest and the highest median of a round, where they are far apart.
    fn changed(&self) -> Option<(f64, f64)> {
        let rounds = self.rounds.iter().cloned();
        let medians: Vec<f64> = rounds
            .map(|rates| together::faster_half(rates).low)
            .collect();
        let low = medians.iter().copied().reduce(f64::min)?;
        let high = medians.iter().copied().reduce(f64::max)?;
        (high > low * CHANGED).then_some((low, high))
    }
}

/// What is said of the bandwidth that changed most between rounds, where one did.
pub(super) fn unsteady(visits: &[MemoryVisits]) -> Option<String> {
    let changed = visits
        .iter()
        .filter_map(|visit| Some((visit, visit.changed()?)));
    let (visit, (low, high)) = changed
        .max_by(|(_, (low, high)), (_, (low2, high2))| (high / low).total_cmp(&(high2 / low2)))?;
    let gigabytes = |rate: f64| humanize::significant(rate / 1e9, 3);
    Some(format!(
        "The bandwidth of memory changed while it was measured ({}: {} to {} GB/s), as it does where other programs or virtual machines use it too; the figures are from the faster half of the repetitions.",
        title(Level::Memory, visit.access, visit.threads),
        gigabytes(low),
        gigabytes(high)
    ))
}

/// The bandwidth of a cache; nothing where this machine does not list it, or it is hardly larger than the one before.
pub(super) fn of_cache(
    root: &Path,
    cores: &[usize],
    codes: &[&'static BytesCode],
    level: Level,
    access: Access,
) -> io::Result<Option<MemoryRoof>> {
    let number = if level == Level::L2 { 2 } else { 3 };
    let Some(share) = caches::share(root, cores, number) else {
        return Ok(None);
    };
    // A copy goes through both blocks.
    let bytes = if access == Access::Copy {
        share / 2
    } else {
        share
    };
    let blocks = Blocks::new(cores, bytes)?;
    let codes = codes.iter().copied();
    let codes: Vec<_> = codes.filter(|code| !code.bypasses_caches).collect();
    let Some(code) = blocks.best(&codes, access)? else {
        return Ok(None);
    };
    Ok(Some(MemoryRoof {
        level,
        access,
        threads: cores.len(),
        working_set_bytes: blocks.of_a_pass(access) as u64,
        code: code.name.to_owned(),
        per_s: together::faster_half(blocks.rates(code, CACHED)?),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofs::code::bytes_codes;
    use crate::roofs::processor::cores;

    #[test]
    fn memory_is_measured_beyond_the_caches_or_as_far_as_there_is_memory() {
        let of = |cache, available| {
            let found = of_sizes(cache, available);
            (found.bytes, found.is_short)
        };
        assert_eq!(of(None, None), (LEAST, false));
        assert_eq!(of(Some(32 << 20), Some(16 << 30)), (LEAST, false));
        assert_eq!(of(Some(256 << 20), Some(16 << 30)), (1 << 30, false));
        assert_eq!(of(Some(256 << 20), Some(4 << 30)), (512 << 20, true));
        let short = short(of_sizes(None, Some(64 << 20)), 2);
        assert!(short.contains("on 8.00 MiB with 2 threads,"), "{short}");
    }

    #[test]
    fn a_copy_counts_what_is_read_and_what_is_written() {
        let core = [cores::here(Path::new("/"))[0]];
        let blocks = Blocks::new(&core, 1 << 20).unwrap();
        let of = |access| {
            let visits = MemoryVisits::begin(&blocks, &bytes_codes(), access);
            let mut visits = visits.unwrap().unwrap();
            visits.visit(&blocks).unwrap();
            visits.visit(&blocks).unwrap();
            visits.roof()
        };
        let (copy, read) = (of(Access::Copy), of(Access::Read));
        assert_eq!(copy.working_set_bytes, 2 << 20);
        assert_eq!(read.working_set_bytes, 1 << 20);
        assert_eq!((copy.threads, copy.per_s.repetitions), (1, 4));
        assert!(copy.per_s.value > 0.0 && read.per_s.value > 0.0 && !read.code.is_empty());
    }

    #[test]
    fn a_bandwidth_that_changes_is_said() {
        let code = bytes_codes()[0];
        let visits = |rounds: &[&[f64]]| MemoryVisits {
            access: Access::Copy,
            threads: 2,
            code,
            working_set: 1,
            rounds: rounds.iter().map(|rates| rates.to_vec()).collect(),
        };
        let steady = visits(&[&[60e9, 61e9], &[62e9, 30e9]]);
        assert_eq!(unsteady(&[steady]), None);
        let halved = visits(&[&[60e9, 61e9, 60e9, 61e9], &[104e9, 103e9, 104e9, 103e9]]);
        assert_eq!(halved.roof().per_s.low, 103e9);
        let note = unsteady(&[visits(&[&[60e9]]), halved]).unwrap();
        assert!(
            note.contains("memory copy, 2 threads: 61.0 to 104 GB/s"),
            "{note}"
        );
    }

    #[test]
    fn a_cache_that_is_not_listed_has_no_roof() {
        let roof = of_cache(
            Path::new("/nowhere"),
            &[0],
            &bytes_codes(),
            Level::L3,
            Access::Read,
        );
        assert!(roof.unwrap().is_none());
    }
}
