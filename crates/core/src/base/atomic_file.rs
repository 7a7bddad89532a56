//! Whole files or none: written beside the target, flushed to the disk, then renamed over it.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use tempfile::TempPath;

/// Writes a file through `fill` so that a crash leaves the old file or the new one, never half.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    fill_beside(path, fill)?
        .persist(path)
        .map_err(|refused| refused.error)?;
    flush_folder(path);
    Ok(())
}

/// The same for a file that must not be there yet; one that is there is left alone.
pub fn write_new(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    fill_beside(path, fill)?
        .persist_noclobber(path)
        .map_err(|refused| refused.error)?;
    flush_folder(path);
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn fill_beside(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<TempPath> {
    let beside = tempfile::Builder::new()
        .prefix(".powerband-")
        .suffix(".part")
        .tempfile_in(folder_of(path))?;
    let (file, beside) = beside.into_parts();
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    fill(&mut writer)?;
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    make_readable(&file);
    file.sync_all()?;
    Ok(beside)
}

/// The rename itself must survive a power cut too; not every file system can promise it.
fn flush_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        drop(folder.sync_all());
    }
}

/// Writes bytes the same way.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, |out| out.write_all(bytes))
}

/// Temporary files are private; what they become is an ordinary file. Where a file system has no such permissions, the
/// file has those that all have there.
#[cfg(unix)]
pub fn make_readable(file: &File) {
    use std::os::unix::fs::PermissionsExt as _;
    drop(file.set_permissions(std::fs::Permissions::from_mode(0o644)));
}

/// Nothing has to be done here.
#[cfg(not(unix))]
pub fn make_readable(_file: &File) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_bytes(&path, b"old").unwrap();
        let failed = write(&path, |out| {
            out.write_all(b"half of the ne")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_new(&path, |out| out.write_all(b"first")).unwrap();
        let second = write_new(&path, |out| out.write_all(b"second"));
        assert_eq!(second.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
