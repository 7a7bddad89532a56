//! One process, as `/proc` tells of it.

use std::fs;
use std::path::Path;

/// The most memory that a process ever had resident, in bytes; nothing where the system does not tell.
pub fn peak_bytes(pid: u32) -> Option<u64> {
    peak_bytes_under(Path::new("/proc"), pid)
}

fn peak_bytes_under(root: &Path, pid: u32) -> Option<u64> {
    let status = fs::read_to_string(root.join(pid.to_string()).join("status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("7")).unwrap();
        fs::write(
            root.path().join("7/status"),
            "Name:\tpowerband\nVmPeak:\t  900 kB\nVmHWM:\t  512 kB\n",
        )
        .unwrap();
        assert_eq!(peak_bytes_under(root.path(), 7), Some(512 * 1024));
        assert_eq!(peak_bytes_under(root.path(), 8), None);
        assert!(peak_bytes(std::process::id()).is_some_and(|bytes| bytes > 100_000));
    }
}
