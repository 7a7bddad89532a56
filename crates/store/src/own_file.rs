//! Small files that the program writes and people edit: settings, the window's state, programs that may run.
//!
//! Such a file may be a folder, a link, damaged, or written by another version. It is never replaced where it could
//! not be read: it is renamed first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use powerband_core::base::atomic_file;
use powerband_core::base::regular_file::{self, NotRegular};

/// None of these files has more; what is larger is something else.
const MOST_BYTES: u64 = 16_000_000;
/// So many links are followed, as the kernel does.
const MOST_LINKS: usize = 40;
/// So many files are set aside; after that the user has to look at them.
const MOST_ASIDE: usize = 100;

/// The text of such a file; nothing where there is none, or an empty one.
pub fn read(path: &Path) -> Result<Option<String>, String> {
    let bytes = match regular_file::read_at_most(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(NotRegular::in_error(&error).map_or_else(
                || error.to_string(),
                |found| format!("it is {}, not a file", found.what),
            ));
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(error) => Err(format!("it is not text: {}", error.utf8_error())),
    }
}

/// Writes it whole or not at all, and makes its folder if need be. A link stays, and what it leads to is written.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    atomic_file::write_bytes(&end_of_links(path), text.as_bytes())
}

/// Renames what stands there if it cannot be read, or `is_ours` does not know it, and returns its new path.
pub fn set_aside(path: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<Option<PathBuf>> {
    if read(path).is_ok_and(|text| text.is_none_or(|text| is_ours(&text))) {
        return Ok(None);
    }
    let Some(aside) = aside(path) else {
        let reason =
            format!("it cannot be read, and {MOST_ASIDE} such files are set aside already");
        return Err(io::Error::other(reason));
    };
    fs::rename(path, &aside)?;
    Ok(Some(aside))
}

/// Where a file is set aside: the first name that is free.
pub fn aside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (1..=MOST_ASIDE)
        .map(|number| path.with_file_name(aside_name(&name, number)))
        .find(|aside| fs::symlink_metadata(aside).is_err())
}

/// What a file is called once it is set aside.
fn aside_name(name: &str, number: usize) -> String {
    match number {
        1 => format!("{name}.unreadable"),
        _ => format!("{name}.unreadable-{number}"),
    }
}

/// What a path leads to, also where nothing is there yet.
fn end_of_links(path: &Path) -> PathBuf {
    let mut end = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&end) else {
            break;
        };
        end = match end.parent() {
            Some(folder) => folder.join(target),
            None => target,
        };
    }
    end
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn what_cannot_be_read_is_said_and_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.ron");
        let sparse = || fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let cases: [(&str, &dyn Fn()); 4] = [
            ("a folder", &|| fs::create_dir(&path).unwrap()),
            ("more than 16 MB", &sparse),
            ("not text", &|| fs::write(&path, [0xff, 0xfe]).unwrap()),
            ("symbolic links", &|| symlink(&path, &path).unwrap()),
        ];
        for (number, (words, make)) in cases.into_iter().enumerate() {
            make();
            let error = read(&path).unwrap_err();
            assert!(error.contains(words), "{error}");
            let aside = folder.path().join(aside_name("window.ron", number + 1));
            let set_aside = set_aside(&path, |_| true).unwrap();
            assert_eq!(set_aside.as_ref(), Some(&aside), "{words}");
            assert!(fs::symlink_metadata(&aside).is_ok() && read(&path) == Ok(None));
        }
        fs::write(&path, " \n").unwrap();
        assert_eq!(
            (read(&path), set_aside(&path, |_| false).unwrap()),
            (Ok(None), None)
        );
        write(&path, "(a: 3)").unwrap();
        assert_eq!(set_aside(&path, |_| true).unwrap(), None);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
        assert!(set_aside(&path, |_| false).unwrap().is_some());
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("second", path("first")).unwrap();
        symlink(path("real"), path("second")).unwrap();
        for text in ["(a: 1)", "(a: 2)"] {
            write(&path("first"), text).unwrap();
            assert!(path("first").is_symlink() && path("second").is_symlink());
            assert_eq!(fs::read_to_string(path("real")).unwrap(), text);
        }
        symlink("nowhere/file", path("lost")).unwrap();
        assert!(write(&path("lost"), "()").is_err());
        assert!(path("lost").is_symlink());
    }
}
