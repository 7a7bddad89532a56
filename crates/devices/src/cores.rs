//! The processors that this process may use, and which of them are hardware threads of one core.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;

use rustix::thread::{CpuSet, sched_getaffinity};

/// The processors that this process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores {
    /// Each core with the numbers of its hardware threads, ascending.
    cores: Vec<Vec<usize>>,
    /// How many threads may run at the same time; fewer where a container has a quota.
    usable: usize,
}

impl Cores {
    /// Those of this machine.
    pub fn here() -> Self {
        let usable = thread::available_parallelism().map_or(1, usize::from);
        let allowed = sched_getaffinity(None).map_or_else(
            |_unknown| (0..usable).collect(),
            |set| {
                (0..CpuSet::MAX_CPU)
                    .filter(|core| set.is_set(*core))
                    .collect()
            },
        );
        Self::under(Path::new("/"), allowed, usable)
    }

    /// The same for these processors, as `/sys` below a folder describes them.
    pub fn under(root: &Path, allowed: Vec<usize>, usable: usize) -> Self {
        let mut cores: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for processor in allowed {
            let file =
                format!("sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
            let siblings = fs::read_to_string(root.join(file)).ok();
            // What is not known is a core of its own.
            let name = siblings.unwrap_or_else(|| processor.to_string());
            cores
                .entry(name.trim().to_owned())
                .or_default()
                .push(processor);
        }
        let mut cores: Vec<Vec<usize>> = cores.into_values().collect();
        cores.sort_unstable();
        Self { cores, usable }
    }

    /// How many cores.
    pub fn physical(&self) -> usize {
        self.cores.len().min(self.usable)
    }

    /// How many threads may run at the same time.
    pub fn usable(&self) -> usize {
        self.usable
    }

    /// The numbers of the processors: one of each core, then the second of each, and so on.
    pub fn one_by_one(&self) -> Vec<usize> {
        let most = self.cores.iter().map(Vec::len).max().unwrap_or(0);
        let nth = |place: usize| {
            self.cores
                .iter()
                .filter_map(move |core| core.get(place).copied())
        };
        (0..most).flat_map(nth).collect()
    }

    /// Processors for so many threads that leave at least one whole core; nothing where that cannot be.
    pub fn place(&self, threads: usize) -> Option<Vec<usize>> {
        if threads == 0 || threads >= self.usable {
            return None;
        }
        let kept = self.cores.len().checked_sub(1)?;
        let mut place = if threads <= kept {
            self.one_by_one().into_iter().take(threads).collect()
        } else {
            // Cores are filled up, so that one of them stays free.
            let all: Vec<usize> = self.cores.iter().take(kept).flatten().copied().collect();
            all.get(..threads)?.to_vec()
        };
        place.sort_unstable();
        Some(place)
    }

    /// One processor of each core of which none is taken.
    pub fn idle_beside(&self, taken: &[usize]) -> Vec<usize> {
        let is_free = |core: &&Vec<usize>| !core.iter().any(|one| taken.contains(one));
        let free = self.cores.iter().filter(is_free);
        let left = self.usable.saturating_sub(taken.len());
        free.filter_map(|core| core.first().copied())
            .take(left)
            .collect()
    }
}

/// Numbers of processors as a setup spells them: `0-3+6`.
pub fn spelled(processors: &[usize]) -> String {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for &one in processors {
        match stretches.last_mut() {
            Some((_, last)) if *last + 1 == one => *last = one,
            _ => stretches.push((one, one)),
        }
    }
    let spelled = stretches.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    spelled.collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four cores of two hardware threads each: 0 and 4, 1 and 5, and so on.
    fn paired(allowed: Vec<usize>, usable: usize) -> Cores {
        let root = tempfile::tempdir().unwrap();
        for processor in 0..8 {
            let folder = format!("sys/devices/system/cpu/cpu{processor}/topology");
            let folder = root.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            let first = processor % 4;
            fs::write(
                folder.join("thread_siblings_list"),
                format!("{first},{}\n", first + 4),
            )
            .unwrap();
        }
        Cores::under(root.path(), allowed, usable)
    }

    #[test]
    fn a_worker_and_its_neighbour_share_no_core() {
        let cores = paired((0..8).collect(), 8);
        assert_eq!((cores.physical(), cores.usable()), (4, 8));
        assert_eq!(cores.one_by_one(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(cores.place(2), Some(vec![0, 1]));
        assert_eq!(cores.idle_beside(&[0, 1]), [2, 3]);
        assert_eq!(
            cores.place(4),
            Some(vec![0, 1, 4, 5]),
            "three cores have six threads"
        );
        assert_eq!(cores.idle_beside(&[0, 1, 4, 5]), [2, 3]);
        assert_eq!(cores.place(7), None);
        assert_eq!(cores.place(0), None);
    }

    #[test]
    fn what_this_process_may_not_use_is_not_there() {
        assert_eq!(paired(vec![1, 5], 2).place(1), None, "one core");
        let two = paired(vec![2, 3], 2);
        assert_eq!((two.place(1), two.place(2)), (Some(vec![2]), None));
        let quota = paired((0..8).collect(), 2);
        assert_eq!((quota.physical(), quota.place(1)), (2, Some(vec![0])));
        assert_eq!(quota.idle_beside(&[0]), [1]);
        let bare = tempfile::tempdir().unwrap();
        let unknown = Cores::under(bare.path(), vec![0, 1], 2);
        assert_eq!(unknown.physical(), 2);
        assert!(Cores::here().usable() >= 1 && !Cores::here().one_by_one().is_empty());
    }

    #[test]
    fn processors_are_spelled_short() {
        assert_eq!(spelled(&[0, 1, 2, 5]), "0-2+5");
        assert_eq!(spelled(&[3]), "3");
    }
}
