//! The folder in which sessions are kept that were not given a place of their own, and what can be
//! done with the sessions in it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use powerband_core::base::clock;
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;

pub use super::edit::{duplicate, edit, rename, typed_tags, unique_tags};
pub use super::head::{SessionEntry, Stamp, entry};
use super::{session_file, trace_notes};

/// So many earlier sessions are read at most: enough for knowing how they differ, and read in a moment.
const MOST_EARLIER: usize = 40;

/// A file of the library as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedFile {
    /// The state in which it was read.
    pub stamp: Stamp,
    /// What it says; or why it says nothing.
    pub entry: Result<SessionEntry, String>,
}

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
    let mut sessions: Vec<PathBuf> = session_files(&paths.library).collect();
    sessions.sort_by_key(|path| std::cmp::Reverse(modified(path)));
    sessions
}

/// Every session of a folder. What is known and has not changed is not read again.
pub fn scan(
    folder: &Path,
    known: &BTreeMap<PathBuf, ScannedFile>,
) -> BTreeMap<PathBuf, ScannedFile> {
    session_files(folder)
        .filter_map(|path| {
            // What is gone again by now is not there.
            let stamp = Stamp::read(&path).ok()?;
            let scanned = known.get(&path).filter(|known| known.stamp == stamp);
            let scanned = scanned.cloned().unwrap_or_else(|| ScannedFile {
                stamp,
                entry: entry(&path).map_err(|error| error.to_string()),
            });
            Some((path, scanned))
        })
        .collect()
}

/// Sessions of a folder that show by how much sessions differ here, newest first and not too many.
///
/// They began before the later one of two, and their heads say that they may have their cases. None where the two took
/// turns. What is known and has not changed is not looked at again; what cannot be read is passed over.
pub fn earlier_sessions(
    folder: &Path,
    known: &BTreeMap<PathBuf, ScannedFile>,
    before: &Session,
    after: &Session,
) -> Vec<Session> {
    if before.is_of_one_run_with(after) {
        return Vec::new();
    }
    let last = before.created.as_str().max(&after.created);
    let is_meant = |entry: &SessionEntry| {
        let has = |session: &Session| {
            let mut points = session.plan.points.iter();
            entry.model == session.model.name && points.any(|point| entry.points.contains(point))
        };
        entry.created.as_str() < last && (has(before) || has(after))
    };
    let found = scan(folder, known).into_values();
    let mut entries: Vec<SessionEntry> = found
        .filter_map(|scanned| scanned.entry.ok().filter(is_meant))
        .collect();
    entries.sort_by(|one, other| other.created.cmp(&one.created));
    entries.truncate(MOST_EARLIER);
    let read = entries.iter().filter_map(|entry| {
        let opened = session_file::read(&entry.path).ok()?;
        Some(opened.session)
    });
    read.collect()
}

fn session_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .filter(|path| !trace_notes::is_notes(path))
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
    use super::super::testing;
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

    #[test]
    fn earlier_sessions_are_those_that_may_have_the_cases() {
        let folder = tempfile::tempdir().unwrap();
        let made = |created: &str, change: fn(&mut Session)| {
            let mut session = testing::session();
            session.created = created.to_owned();
            change(&mut session);
            session
        };
        let write = |name: &str, session: &Session| {
            session_file::write(&folder.path().join(name), session).unwrap();
        };
        write("old.ron", &made("2026-01-01T00:00:00Z", |_| ()));
        write("newer.ron", &made("2026-01-02T00:00:00Z", |_| ()));
        write("later.ron", &made("2026-01-09T00:00:00Z", |_| ()));
        write(
            "other.ron",
            &made("2026-01-03T00:00:00Z", |one| {
                one.model.name = "other".into();
            }),
        );
        fs::write(folder.path().join("broken.ron"), "rubbish").unwrap();
        let (before, after) = (
            made("2026-01-05T00:00:00Z", |_| ()),
            made("2026-01-08T00:00:00Z", |_| ()),
        );
        let created = |before: &Session, after: &Session| -> Vec<String> {
            let found = earlier_sessions(folder.path(), &BTreeMap::new(), before, after);
            found.into_iter().map(|one| one.created).collect()
        };
        let both = ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"];
        assert_eq!(created(&before, &after), both);
        assert_eq!(created(&after, &before), both);
        assert!(created(&before, &before).is_empty(), "they took turns");
    }

    #[test]
    fn only_what_changed_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a.ron", "b.ron"] {
            session_file::write(&at(name), &testing::session()).unwrap();
        }
        fs::write(at("broken.ron"), "rubbish").unwrap();
        fs::write(at("other.txt"), "text").unwrap();
        // Notes on a trace end as sessions do, and are none.
        fs::write(at("a.1.trace.json.gz.notes.ron"), "()").unwrap();
        let mut found = scan(folder.path(), &BTreeMap::new());
        assert_eq!(
            found.keys().cloned().collect::<Vec<_>>(),
            [at("a.ron"), at("b.ron"), at("broken.ron")]
        );
        let reason = found[&at("broken.ron")].entry.clone().unwrap_err();
        assert!(reason.contains("not a Powerband session"), "{reason}");
        // A mark in what is known shows where it came from.
        for scanned in found.values_mut() {
            if let Ok(entry) = &mut scanned.entry {
                entry.name = "known".to_owned();
            }
        }
        rename(&at("b.ron"), None, "another name").unwrap();
        fs::remove_file(at("broken.ron")).unwrap();
        let again = scan(folder.path(), &found);
        let names: Vec<_> = again
            .values()
            .map(|scanned| scanned.entry.clone().unwrap().name)
            .collect();
        assert_eq!(names, ["known", "another name"]);
        assert!(scan(&at("nowhere"), &again).is_empty());
    }
}
