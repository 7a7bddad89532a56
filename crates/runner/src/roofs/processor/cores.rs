//! Which logical processors this process may use, in which order threads are put on them, and how many threads are
//! tried.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::thread::{CpuSet, sched_setaffinity};

use powerband_devices::cores::Cores;

/// The logical processors of this process in the order in which threads are put on them.
pub(crate) fn here(root: &Path) -> Vec<usize> {
    let found = Cores::here();
    let mut cores = in_order(root, found.one_by_one());
    // What a container may use of the time of its processors can be less than these.
    cores.truncate(found.usable().max(1));
    cores
}

/// At first one of each core, and of these at first one of each third cache, so that few threads have as much to
/// themselves as they can.
fn in_order(root: &Path, mut cores: Vec<usize>) -> Vec<usize> {
    let mut of_core: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    let mut of_cache: BTreeMap<(usize, Vec<usize>), usize> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for &core in &cores {
        let siblings = list(root, core, "topology/thread_siblings_list");
        let sibling = take(&mut of_core, siblings.unwrap_or_else(|| vec![core]));
        let sharers = list(root, core, "cache/index3/shared_cpu_list");
        let place = take(&mut of_cache, (sibling, sharers.unwrap_or_default()));
        places.insert(core, (sibling, place));
    }
    cores.sort_by_key(|core| (places.get(core).copied().unwrap_or_default(), *core));
    cores
}

/// How many came before, and counts this one.
fn take<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K) -> usize {
    let count = counts.entry(key).or_default();
    *count += 1;
    *count - 1
}

/// How many threads are tried: powers of two, one a core, and all.
pub(crate) fn thread_counts(root: &Path, cores: &[usize]) -> Vec<usize> {
    let mut siblings: Vec<Vec<usize>> = cores
        .iter()
        .map(|&core| {
            list(root, core, "topology/thread_siblings_list").unwrap_or_else(|| vec![core])
        })
        .collect();
    siblings.sort_unstable();
    siblings.dedup();
    let powers = (0..).map(|power| 1 << power);
    let mut counts: Vec<usize> = powers.take_while(|&count| count < cores.len()).collect();
    counts.extend([siblings.len(), cores.len()]);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// A list of logical processors in a file of one of them.
pub(super) fn list(root: &Path, core: usize, file: &str) -> Option<Vec<usize>> {
    let folder = root.join(format!("sys/devices/system/cpu/cpu{core}"));
    parse_list(&fs::read_to_string(folder.join(file)).ok()?)
}

/// Reads `0-3,8`.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let (first, last) = (number(first)?, number(last)?);
        all.extend(first..=last);
    }
    Some(all)
}

/// Keeps this thread on one logical processor; false where the system does not let it.
pub(crate) fn pin(core: usize) -> bool {
    let mut set = CpuSet::new();
    if core >= CpuSet::MAX_CPU {
        return false;
    }
    set.set(core);
    sched_setaffinity(None, &set).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        assert_eq!(parse_list("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(parse_list(" 5 "), Some(vec![5]));
        assert_eq!(parse_list(""), None);
        assert_eq!(parse_list("a-b"), None);
    }

    #[test]
    fn threads_are_spread_over_caches_and_cores_first() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |core: usize, file: &str, text: &str| {
            let path = root.join(format!("sys/devices/system/cpu/cpu{core}/{file}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        // Four cores of two threads each: cores of processors 0 to 3, caches of two cores each.
        for core in 0..8 {
            let first = core % 4;
            write(
                core,
                "topology/thread_siblings_list",
                &format!("{first},{}\n", first + 4),
            );
            let cache = if first < 2 { "0-1,4-5\n" } else { "2-3,6-7\n" };
            write(core, "cache/index3/shared_cpu_list", cache);
        }
        let order = in_order(root, (0..8).collect());
        assert_eq!(order, [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(thread_counts(root, &order), [1, 2, 4, 8]);
        assert_eq!(thread_counts(root, &[0, 2, 1, 4, 6, 5]), [1, 2, 3, 4, 6]);
        let nowhere = Path::new("/nowhere");
        assert_eq!(thread_counts(nowhere, &[0, 1, 2]), [1, 2, 3]);
        assert_eq!(in_order(nowhere, vec![3, 1]), [3, 1]);
        assert!(!here(nowhere).is_empty() && pin(here(nowhere)[0]));
        assert!(!pin(usize::MAX));
    }
}
