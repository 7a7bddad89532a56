//! One process, from `/proc`.

use std::fs;
use std::path::Path;

use super::files;

/// What a process has of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMemory {
    /// What is resident now, in bytes.
    pub resident_bytes: u64,
    /// The most that ever was, in bytes.
    pub peak_bytes: u64,
}

/// The memory of a process; nothing where the system does not report it, or it is gone.
pub fn memory(root: &Path, pid: u32) -> Option<ProcessMemory> {
    let status = fs::read_to_string(root.join(format!("proc/{pid}/status"))).ok()?;
    Some(ProcessMemory {
        resident_bytes: files::kibibytes(&status, "VmRSS")?,
        peak_bytes: files::kibibytes(&status, "VmHWM")?,
    })
}

/// The most memory that a process of this machine ever had resident, in bytes.
pub fn peak_bytes(pid: u32) -> Option<u64> {
    memory(Path::new("/"), pid).map(|memory| memory.peak_bytes)
}

/// Lets a process of this user begin its peak anew from what it has now; whether that could be done.
pub fn forget_peak(pid: u32) -> bool {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok()
}

/// How often the threads of a process, by its folder in `/proc`, were interrupted for others.
pub fn forced_switches(process: &Path) -> Option<u64> {
    let threads = files::entries(&process.join("task"));
    let counts = threads.iter().filter_map(|thread| {
        let status = fs::read_to_string(thread.join("status")).ok()?;
        files::field(&status, "nonvoluntary_ctxt_switches")?
            .parse::<u64>()
            .ok()
    });
    counts.reduce(|sum, count| sum + count)
}

/// Whether a process is one of these, or was started by one of them, or by one that it started.
pub(crate) fn descends_from(root: &Path, pid: u32, ancestors: &[u32]) -> bool {
    let mut chain = std::iter::successors(Some(pid), |pid| parent(root, *pid));
    // A chain is short; one that goes on and on is read while its processes come and go.
    chain.by_ref().take(64).any(|pid| ancestors.contains(&pid))
}

fn parent(root: &Path, pid: u32) -> Option<u32> {
    let status = fs::read_to_string(root.join(format!("proc/{pid}/status"))).ok()?;
    files::field(&status, "PPid")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_switches_are_read() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "proc/7/status",
            "Name:\tpowerband\nVmPeak:\t  900 kB\nVmHWM:\t  512 kB\nVmRSS:\t  256 kB\n",
        );
        write("proc/7/task/7/status", "nonvoluntary_ctxt_switches:\t3\n");
        write("proc/7/task/8/status", "nonvoluntary_ctxt_switches:\t4\n");
        let memory = memory(root.path(), 7).unwrap();
        assert_eq!(
            (memory.resident_bytes, memory.peak_bytes),
            (256 * 1024, 512 * 1024)
        );
        assert_eq!(forced_switches(&root.path().join("proc/7")), Some(7));
        assert_eq!(forced_switches(&root.path().join("proc/8")), None);
        assert!(peak_bytes(std::process::id()).is_some_and(|bytes| bytes > 100_000));
        assert_eq!(peak_bytes(u32::MAX), None);
    }

    #[test]
    fn a_program_that_a_worker_started_descends_from_it() {
        let root = tempfile::tempdir().unwrap();
        for (pid, parent) in [(1, 0), (5, 1), (7, 5), (8, 7), (9, 1)] {
            let folder = root.path().join(format!("proc/{pid}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(
                folder.join("status"),
                format!("Name:\tx\nPPid:\t{parent}\n"),
            )
            .unwrap();
        }
        let descends = |pid, from: &[u32]| descends_from(root.path(), pid, from);
        assert!(descends(8, &[5]) && descends(8, &[3, 7]) && descends(7, &[7]));
        assert!(!descends(9, &[5]) && !descends(8, &[9]) && !descends(1000, &[5]));
    }
}
