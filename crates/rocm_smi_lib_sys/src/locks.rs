//! Locks that processes leave behind which end in a call.
//!
//! The library keeps one file for each card in `/dev/shm`, with a lock in it that holds between all
//! processes. Before ROCm 5.5 the library never removes these files, and a lock that a killed process
//! held makes the next start wait for five seconds and then fail, or write a warning to standard output.
//! Newer libraries remove the files that no process has open before they start; this module does the
//! same for older ones.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the locks are.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// What their names begin with.
const PREFIX: &str = "rocm_smi_card";

/// Removes the locks in a folder that none of the processes below `proc` has open. One that belongs to
/// another user stays, as the system has it.
pub fn remove_unused(folder: &Path, proc: &Path) {
    let locks: Vec<PathBuf> = entries(folder)
        .filter(|path| name(path).starts_with(PREFIX))
        .collect();
    if locks.is_empty() || locks.iter().any(|lock| is_used(lock, proc)) {
        return;
    }
    for lock in locks {
        // It may be another user's, or gone already.
        drop(fs::remove_file(lock));
    }
}

/// Whether a process that may be looked into has the file open.
fn is_used(file: &Path, proc: &Path) -> bool {
    entries(proc)
        .filter(|process| name(process).bytes().all(|digit| digit.is_ascii_digit()))
        .flat_map(|process| entries(&process.join("fd")))
        .any(|open| fs::read_link(open).is_ok_and(|target| target == file))
}

/// What is in a folder; nothing where it cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path()))
}

fn name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "files that are open are those of the kernel")]
    fn locks_stay_while_a_process_has_one_open() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for file in ["rocm_smi_card0", "rocm_smi_card1", "other"] {
            fs::write(folder.join(file), "").unwrap();
        }
        let left = || {
            let mut names: Vec<String> = entries(folder).map(|p| name(&p).to_owned()).collect();
            names.sort();
            names
        };
        let used = File::open(folder.join("rocm_smi_card1")).unwrap();
        remove_unused(folder, Path::new("/proc"));
        assert_eq!(left(), ["other", "rocm_smi_card0", "rocm_smi_card1"]);
        drop(used);
        remove_unused(folder, Path::new("/proc"));
        assert_eq!(left(), ["other"]);
        remove_unused(folder, Path::new("/nowhere"));
    }
}
