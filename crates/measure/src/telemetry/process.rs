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
pub(crate) fn forget_peak(pid: u32) -> bool {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok()
}

/// How often the threads of a process, by its folder in `/proc`, were interrupted for others.
pub(crate) fn forced_switches(process: &Path) -> Option<u64> {
    let threads = files::entries(&process.join("task"));
    let counts = threads.iter().filter_map(|thread| {
        let status = fs::read_to_string(thread.join("status")).ok()?;
        files::field(&status, "nonvoluntary_ctxt_switches")?
            .parse::<u64>()
            .ok()
    });
    counts.reduce(|sum, count| sum + count)
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
}
