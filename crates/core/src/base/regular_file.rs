//! The one place that opens files which the user names: regular files alone are read.
//!
//! Opening a pipe waits for a writer, a device may never end, and a folder has no bytes. The error says which
//! of them it is; the caller adds the path.

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::path::Path;

use super::system;

/// What stands where a regular file is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is {what}, and only regular files are read; {}", self.advice())]
pub struct NotRegular {
    /// What it is, with its article: `a pipe`.
    pub what: &'static str,
}

impl NotRegular {
    /// What a file of this type is in place of a regular one; nothing where it is one.
    fn from_file_type(kind: FileType) -> Option<Self> {
        let what = if kind.is_file() {
            return None;
        } else if kind.is_dir() {
            "a folder"
        } else {
            system::special_file(kind)
        };
        Some(Self { what })
    }

    /// What an error of this module is about; nothing for any other error.
    pub fn in_error(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }

    /// What helps.
    fn advice(self) -> &'static str {
        if self.what == "a folder" {
            "name a file in it"
        } else {
            "save what it holds to a file and name that"
        }
    }
}

/// More than so many bytes are never read into memory at once, on any machine.
const MOST_BYTES: u64 = 4_000_000_000;

/// A file that is larger than what is read into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {} MB, which is as much as is read into memory here", most / 1_000_000)]
pub struct TooLarge {
    /// How many bytes are read at most.
    pub most: u64,
}

/// How many bytes are read into memory at most: half of what this machine has, and no more than 4 GB.
pub fn most_bytes() -> u64 {
    (system::memory() / 2).min(MOST_BYTES)
}

/// Opens a regular file for reading. Never waits for another program.
pub fn open(path: &Path) -> io::Result<File> {
    if let Some(refused) = NotRegular::from_file_type(fs::metadata(path)?.file_type()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, refused));
    }
    // Should a pipe take its place meanwhile, opening does not wait either.
    system::open_at_once(path)
}

/// All bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, most_bytes())
}

/// All bytes of a regular file that has no more than `most`.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, TooLarge { most });
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    if file.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
        return Err(too_large());
    }
    Ok(bytes)
}

/// All of a regular file, which is text.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    #[test]
    fn no_file_takes_all_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_at_most(&path, 5).unwrap(), b"12345");
        assert!(read_at_most(&path, 4).is_err());
        // A terabyte that takes no room on the disk.
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("it has more than"), "{error}");
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "text").unwrap();
        mkfifoat(CWD, path("pipe"), Mode::RWXU).unwrap();
        let _listener = UnixListener::bind(path("socket")).unwrap();
        std::os::unix::fs::symlink(path("pipe"), path("link")).unwrap();
        assert_eq!(read_to_string(&path("file")).unwrap(), "text");
        let cases = [
            (path("pipe"), "a pipe"),
            (path("link"), "a pipe"),
            (path("socket"), "a socket"),
            (path("/dev/null"), "a device"),
            (folder.path().to_owned(), "a folder"),
        ];
        for (path, what) in cases {
            let error = read(&path).unwrap_err();
            assert_eq!(NotRegular::in_error(&error), Some(NotRegular { what }));
            assert!(error.to_string().contains(what), "{error}");
        }
        let missing = open(&path("none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert_eq!(NotRegular::in_error(&missing), None);
    }
}
