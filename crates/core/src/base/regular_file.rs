//! The one place that opens files which the user names: regular files alone are read.
//!
//! Opening a pipe waits for a writer, a device may never end, and a folder has no bytes. The error says which
//! of them it is; the caller adds the path.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// What stands where a regular file is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is {what}, and only regular files are read; {}", self.advice())]
pub struct NotRegular {
    /// What it is, with its article: `a pipe`.
    pub what: &'static str,
}

impl NotRegular {
    /// What a file of this type is in place of a regular one; nothing where it is one.
    fn of(kind: FileType) -> Option<Self> {
        let what = if kind.is_file() {
            return None;
        } else if kind.is_dir() {
            "a folder"
        } else if kind.is_fifo() {
            "a pipe"
        } else if kind.is_socket() {
            "a socket"
        } else {
            "a device"
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

/// Opens a regular file for reading. Never waits for another program.
pub fn open(path: &Path) -> io::Result<File> {
    if let Some(refused) = NotRegular::of(fs::metadata(path)?.file_type()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, refused));
    }
    // Should a pipe take its place meanwhile, opening does not wait either.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// All bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All of a regular file, which is text.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

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
