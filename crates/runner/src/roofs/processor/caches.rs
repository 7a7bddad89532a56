//! Sizes of the caches, as the kernel reports them, and how much is gone through to measure each level.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::cores;

/// A cache for data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cache {
    /// 1 to 4.
    pub(super) level: u32,
    /// Its size.
    pub(super) bytes: u64,
    /// Logical processors that share it.
    sharers: Vec<usize>,
}

/// The caches of one logical processor for data, the first level first; empty where the kernel does not list them.
pub(super) fn of_core(root: &Path, core: usize) -> Vec<Cache> {
    let folder = format!("sys/devices/system/cpu/cpu{core}/cache");
    let read = |index: usize, file: &str| {
        fs::read_to_string(root.join(format!("{folder}/index{index}/{file}"))).ok()
    };
    let mut caches: Vec<Cache> = (0..8)
        .filter(|&index| {
            let kind = read(index, "type");
            kind.is_some_and(|kind| matches!(kind.trim(), "Data" | "Unified"))
        })
        .filter_map(|index| {
            let sharers = cores::list(root, core, &format!("cache/index{index}/shared_cpu_list"));
            Some(Cache {
                level: read(index, "level")?.trim().parse().ok()?,
                bytes: parse_size(&read(index, "size")?)?,
                sharers: sharers.unwrap_or_else(|| vec![core]),
            })
        })
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// Reads `1024K`.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(factor).filter(|&bytes| bytes > 0)
}

/// The size of a level as so many cores have it together: each cache once.
pub(super) fn total(root: &Path, cores: &[usize], level: u32) -> Option<u64> {
    let caches = cores.iter().flat_map(|&core| of_core(root, core));
    let distinct: BTreeSet<(Vec<usize>, u64)> = caches
        .filter(|cache| cache.level == level)
        .map(|cache| (cache.sharers, cache.bytes))
        .collect();
    let sum = distinct.iter().map(|(_, bytes)| bytes).sum();
    (sum > 0).then_some(sum)
}

/// The last level of any of these cores, and its size of all together.
pub(super) fn last(root: &Path, cores: &[usize]) -> Option<(u32, u64)> {
    let caches = cores.iter().flat_map(|&core| of_core(root, core));
    let level = caches.map(|cache| cache.level).max()?;
    Some((level, total(root, cores, level)?))
}

/// How much each thread goes through so that it lies in one level and not in the level before; nothing where the
/// level is not listed or hardly larger than the one before.
pub(super) fn share(root: &Path, cores: &[usize], level: u32) -> Option<u64> {
    let threads = cores.len().max(1) as u64;
    // Half of it, so that what else lies there has room.
    let share = total(root, cores, level)? / 2 / threads;
    let before = total(root, cores, level - 1)? / threads;
    (share >= before * 3 / 2).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(root: &Path, caches: &[(&str, &str, &str, &str)]) {
        for core in 0..4 {
            for (index, (level, kind, size, sharers)) in caches.iter().enumerate() {
                let path = format!("sys/devices/system/cpu/cpu{core}/cache/index{index}");
                let folder = root.join(path);
                fs::create_dir_all(&folder).unwrap();
                let own = core.to_string();
                let pair = if core < 2 { "0-1" } else { "2-3" };
                let sharers = sharers.replace("own", &own).replace("pair", pair);
                for (file, text) in [
                    ("level", *level),
                    ("type", kind),
                    ("size", size),
                    ("shared_cpu_list", sharers.as_str()),
                ] {
                    fs::write(folder.join(file), format!("{text}\n")).unwrap();
                }
            }
        }
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("48K\n"), Some(48 << 10));
        assert_eq!(parse_size("32M"), Some(32 << 20));
        assert_eq!(parse_size("4096"), Some(4096));
        for wrong in ["", "K", "0K", "12Q", "-3K", "99999999999999G"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_cache_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let caches = [
            ("1", "Data", "48K", "own"),
            ("1", "Instruction", "32K", "own"),
            ("2", "Unified", "1024K", "own"),
            ("3", "Unified", "32M", "pair"),
        ];
        machine(root, &caches);
        assert_eq!(of_core(root, 1).len(), 3);
        assert_eq!(total(root, &[0, 1], 2), Some(2 << 20));
        assert_eq!(total(root, &[0, 1], 3), Some(32 << 20));
        assert_eq!(last(root, &[0, 1, 2]), Some((3, 64 << 20)));
        assert_eq!(share(root, &[0], 2), Some(512 << 10));
        assert_eq!(share(root, &[0, 1, 2, 3], 3), Some(8 << 20));
        assert_eq!(total(root, &[0], 4), None);
    }

    #[test]
    fn a_level_that_is_hardly_larger_than_the_one_before_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let caches = [
            ("1", "Data", "48K", "own"),
            ("2", "Unified", "2048K", "own"),
            ("3", "Unified", "5M", "pair"),
        ];
        machine(folder.path(), &caches);
        assert_eq!(share(folder.path(), &[0, 1], 3), None);
        assert_eq!(share(Path::new("/nowhere"), &[0], 2), None);
        assert_eq!(last(Path::new("/nowhere"), &[0]), None);
    }
}
