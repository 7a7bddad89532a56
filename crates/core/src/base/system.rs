//! What the operating system says: clocks, memory, names, and what a file is.
//!
//! Where there is no such system, as in a page of a browser, little is known: the clocks are those of the page, and no
//! file is anything but a file or a folder.

pub use own::*;

#[cfg(unix)]
mod own {
    use std::fs::{File, FileType, Metadata, OpenOptions};
    use std::io;
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
    use std::path::Path;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
    use rustix::time::{ClockId, clock_gettime};

    /// Whether there are files.
    pub const HAS_FILES: bool = true;

    fn clock_ns(clock: ClockId) -> u64 {
        let time = clock_gettime(clock);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    /// The monotonic clock in nanoseconds, which every process of this machine shares.
    pub fn monotonic_ns() -> u64 {
        clock_ns(ClockId::Monotonic)
    }

    /// The time since 1970, by the clock on the wall.
    pub fn since_1970() -> Duration {
        let now = SystemTime::now();
        now.duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    /// The clock that also goes on while the machine is suspended, in nanoseconds; nothing where there is none.
    pub fn since_start_ns() -> Option<u64> {
        #[cfg(target_os = "linux")]
        return Some(clock_ns(ClockId::Boottime));
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Time of the processor that this process has used, in nanoseconds.
    pub fn used_by_process_ns() -> u64 {
        clock_ns(ClockId::ProcessCPUTime)
    }

    /// Bytes of memory that this machine has.
    pub fn memory() -> u64 {
        let about = rustix::system::sysinfo();
        about.totalram.saturating_mul(u64::from(about.mem_unit))
    }

    /// The name of this machine.
    pub fn machine_name() -> String {
        let name = rustix::system::uname();
        name.nodename().to_string_lossy().into_owned()
    }

    /// Whether a file or folder belongs to the user of this process.
    pub fn is_own(about: &Metadata) -> bool {
        about.uid() == rustix::process::geteuid().as_raw()
    }

    /// What a file is that is neither a regular one nor a folder, with its article.
    pub fn special_file(kind: FileType) -> &'static str {
        if kind.is_fifo() {
            "a pipe"
        } else if kind.is_socket() {
            "a socket"
        } else {
            "a device"
        }
    }

    /// Opens a file for reading. Should a pipe stand there, it does not wait for a writer.
    pub fn open_at_once(path: &Path) -> io::Result<File> {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        OpenOptions::new().read(true).custom_flags(flags).open(path)
    }

    /// What changes with a file: device, number, size, and when it and what is known of it were changed.
    pub fn file_state(about: &Metadata) -> [i64; 7] {
        [
            about.dev().cast_signed(),
            about.ino().cast_signed(),
            about.size().cast_signed(),
            about.mtime(),
            about.mtime_nsec(),
            about.ctime(),
            about.ctime_nsec(),
        ]
    }

    /// Renames a file and replaces no other.
    pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
        Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
    }
}

#[cfg(not(unix))]
mod own {
    use std::fs::{File, FileType, Metadata};
    use std::io;
    use std::path::Path;
    use std::sync::LazyLock;
    use std::time::Duration;

    use web_time::{Instant, SystemTime, UNIX_EPOCH};

    /// Whether there are files: a page of a browser has none, and what would read them is left out of it.
    pub const HAS_FILES: bool = cfg!(not(target_arch = "wasm32"));

    /// Memory where nothing says how much there is: what a page of a browser may use.
    const USUAL_MEMORY: u64 = 4 << 30;

    /// The monotonic clock of this process in nanoseconds, from when it was first read.
    pub fn monotonic_ns() -> u64 {
        static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGAN.elapsed().as_nanos() as u64
    }

    /// The time since 1970, by the clock on the wall.
    pub fn since_1970() -> Duration {
        let now = SystemTime::now();
        now.duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    /// There is no clock that goes on while the machine is suspended.
    pub fn since_start_ns() -> Option<u64> {
        None
    }

    /// Processor time is not known.
    pub fn used_by_process_ns() -> u64 {
        0
    }

    /// Bytes of memory that a program may count on.
    pub fn memory() -> u64 {
        USUAL_MEMORY
    }

    /// The machine has no name.
    pub fn machine_name() -> String {
        String::new()
    }

    /// There are no users.
    pub fn is_own(_: &Metadata) -> bool {
        true
    }

    /// What a file is that is neither a regular one nor a folder.
    pub fn special_file(_: FileType) -> &'static str {
        "a device"
    }

    /// Opens a file for reading.
    pub fn open_at_once(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    /// What changes with a file: its size.
    pub fn file_state(about: &Metadata) -> [i64; 7] {
        [0, 0, about.len().cast_signed(), 0, 0, 0, 0]
    }

    /// Renames a file and replaces no other.
    pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
        if to.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        std::fs::rename(from, to)
    }
}
