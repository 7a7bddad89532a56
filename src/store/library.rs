//! The folder in which sessions are kept that were not given a place of their own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::base::clock;
use crate::base::paths::Paths;

/// Where journals of runs are kept.
pub fn journals(paths: &Paths) -> PathBuf {
    paths.library.join("journals")
}

/// A name for a new session's file that is not taken: `resnet50-20261121-060203.ron`.
pub fn new_path(paths: &Paths, name: &str, created: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(&paths.library)?;
    let stem = format!("{}-{}", safe(name), clock::file_stamp(created));
    let candidates = (1..1000).map(|number| match number {
        1 => paths.library.join(format!("{stem}.ron")),
        more => paths.library.join(format!("{stem}-{more}.ron")),
    });
    candidates
        .into_iter()
        .find(|path| !path.exists())
        .ok_or_else(|| {
            io::Error::other("a thousand sessions of this name were made in this second")
        })
}

/// Sessions in the library, newest first.
pub fn list(paths: &Paths) -> Vec<PathBuf> {
    let modified = |path: &Path| {
        fs::metadata(path)
            .and_then(|metadata| metadata.modified())
            .ok()
    };
    let mut sessions: Vec<PathBuf> = fs::read_dir(&paths.library)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .collect();
    sessions.sort_by_key(|path| std::cmp::Reverse(modified(path)));
    sessions
}

/// A name without anything that a file system or a shell stumbles over.
pub fn safe(name: &str) -> String {
    let kept: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '-' | '_' | '@' | '.') {
                c
            } else {
                '-'
            }
        })
        .take(60)
        .collect();
    let trimmed = kept.trim_matches(['-', '.']);
    if trimmed.is_empty() {
        "session".to_owned()
    } else {
        trimmed.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_file_names() {
        assert_eq!(safe("resnet18@cifar"), "resnet18@cifar");
        assert_eq!(safe("../../etc/pass wd"), "etc-pass-wd");
        assert_eq!(safe("///"), "session");
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::under(folder.path());
        let first = new_path(&paths, "a", "2026-11-21T06:02:03Z").unwrap();
        fs::write(&first, "").unwrap();
        let second = new_path(&paths, "a", "2026-11-21T06:02:03Z").unwrap();
        assert!(second.ends_with("a-20261121-060203-2.ron"), "{second:?}");
        assert_eq!(list(&paths), [first]);
    }
}
