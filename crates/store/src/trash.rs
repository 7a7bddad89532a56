//! Discarding a session so that it can be had back: into the desktop's trash, or into a folder of ours.
//!
//! Nothing is ever deleted outright, and nothing is overwritten on the way back.

#[cfg(unix)]
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use powerband_core::base::paths::Paths;
use powerband_core::base::{atomic_file, system};

use super::trace_file;

/// How many discarded files of one name our own trash takes.
const MOST_OF_ONE_NAME: u32 = 1000;

/// A session that was discarded, and where it is now.
#[derive(Clone, Debug)]
pub struct Discarded {
    session: MovedFile,
    /// The timelines that lay beside it.
    traces: Vec<MovedFile>,
}

/// A file that was discarded.
#[derive(Clone, Debug)]
struct MovedFile {
    original: PathBuf,
    now: TrashPlace,
}

#[derive(Clone, Debug)]
#[cfg_attr(not(unix), expect(dead_code, reason = "there is no desktop"))]
enum TrashPlace {
    /// In the desktop's trash, under this note of where it came from.
    Desktop { note: PathBuf },
    /// In the desktop's trash, which does not say where.
    Somewhere,
    /// In our own trash.
    Own { path: PathBuf },
}

impl Discarded {
    /// Where the session was, and will be again.
    pub fn original(&self) -> &Path {
        &self.session.original
    }

    /// Whether it is in the desktop's trash, where the user may look for it; else it is in our own.
    pub fn in_desktop_trash(&self) -> bool {
        !matches!(self.session.now, TrashPlace::Own { .. })
    }
}

/// Where files go that the desktop's trash does not take: beside the library.
fn own_trash(paths: &Paths) -> PathBuf {
    paths.library.with_file_name("trash")
}

/// Moves a session and its timelines into the desktop's trash; where there is none that takes them, into
/// our own. A timeline that cannot be moved stays where it is, and the session finds it there again.
pub fn discard(paths: &Paths, path: &Path) -> Result<Discarded, String> {
    let session = discard_file(paths, path)?;
    let traces = trace_file::traces_of_session(&session.original).into_iter();
    let traces = traces.filter_map(|trace| discard_file(paths, &trace).ok());
    Ok(Discarded {
        traces: traces.collect(),
        session,
    })
}

fn discard_file(paths: &Paths, path: &Path) -> Result<MovedFile, String> {
    let original = resolved_path(path)
        .map_err(|error| format!("cannot discard {}: {error}", path.display()))?;
    match discard_to_desktop(&original) {
        Ok(now) => Ok(MovedFile { original, now }),
        Err(refusal) if original.symlink_metadata().is_ok() => {
            discard_to(&own_trash(paths), &original).map_err(|error| {
                format!(
                    "cannot discard {}: the desktop's trash does not take it ({refusal}), and neither does our own ({error})",
                    path.display()
                )
            })
        }
        Err(refusal) => Err(format!(
            "{} is gone, and the desktop's trash did not say where ({refusal})",
            path.display()
        )),
    }
}

/// The path of a file with its folder's links resolved, as the trash notes it.
fn resolved_path(path: &Path) -> io::Result<PathBuf> {
    path.symlink_metadata()?;
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(fs::canonicalize(folder)?.join(name)),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

#[cfg(unix)]
fn discard_to_desktop(original: &Path) -> Result<TrashPlace, String> {
    let before = notes_of(original)?;
    trash::delete(original).map_err(|error| error.to_string())?;
    // Whatever goes wrong from here on, the file is in the trash.
    let after = notes_of(original).unwrap_or_default();
    Ok(after
        .difference(&before)
        .next()
        .map_or(TrashPlace::Somewhere, |note| TrashPlace::Desktop {
            note: PathBuf::from(note),
        }))
}

/// There is no desktop.
#[cfg(not(unix))]
fn discard_to_desktop(_: &Path) -> Result<TrashPlace, String> {
    Err("there is none".to_owned())
}

/// What the desktop's trash has of files that were here.
#[cfg(unix)]
fn notes_of(original: &Path) -> Result<BTreeSet<OsString>, String> {
    let items = trash::os_limited::list().map_err(|error| error.to_string())?;
    Ok(items
        .into_iter()
        .filter(|item| item.original_path() == original)
        .map(|item| item.id)
        .collect())
}

fn discard_to(trash: &Path, original: &Path) -> io::Result<MovedFile> {
    fs::create_dir_all(trash)?;
    let name = original.file_name().unwrap_or_default();
    let mut number = 1;
    loop {
        let path = match number {
            1 => trash.join(name),
            more => {
                let mut numbered = OsString::from(format!("{more}-"));
                numbered.push(name);
                trash.join(numbered)
            }
        };
        match move_file(original, &path) {
            Ok(()) => {
                return Ok(MovedFile {
                    original: original.to_path_buf(),
                    now: TrashPlace::Own { path },
                });
            }
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && number < MOST_OF_ONE_NAME =>
            {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Brings a session back to where it was, with its timelines. What is there now is not overwritten. Where
/// the session is back and a timeline is not, the reason is given.
pub fn restore(discarded: &Discarded) -> Result<Option<String>, String> {
    restore_file(&discarded.session)?;
    // One that does not come back keeps no other from it.
    let traces = discarded.traces.iter().map(restore_file);
    let failed: Vec<String> = traces.filter_map(Result::err).collect();
    Ok(failed.into_iter().next())
}

fn restore_file(moved: &MovedFile) -> Result<(), String> {
    let original = &moved.original;
    let (from, note) = match &moved.now {
        TrashPlace::Own { path } => (path.clone(), None),
        TrashPlace::Desktop { note } => {
            let file = file_of(note).ok_or_else(|| {
                format!(
                    "{} is in the desktop's trash, but not where it should be; bring it back from there",
                    original.display()
                )
            })?;
            (file, Some(note))
        }
        TrashPlace::Somewhere => {
            return Err(format!(
                "{} is in the desktop's trash, which does not say where; bring it back from there",
                original.display()
            ));
        }
    };
    let put_back = || {
        if let Some(folder) = original.parent() {
            fs::create_dir_all(folder)?;
        }
        move_file(&from, original)
    };
    put_back().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!(
            "{} is there again and is not overwritten; move it away, or take the discarded one from {}",
            original.display(),
            from.display()
        ),
        io::ErrorKind::NotFound => format!(
            "{} cannot be brought back: it is no longer in the trash",
            original.display()
        ),
        _ => format!(
            "{} cannot be brought back from {}: {error}",
            original.display(),
            from.display()
        ),
    })?;
    // A note without its file does no harm.
    if let Some(note) = note {
        drop(fs::remove_file(note));
    }
    Ok(())
}

/// The file that a note in the desktop's trash is about: `files/a.ron` for `info/a.ron.trashinfo`.
fn file_of(note: &Path) -> Option<PathBuf> {
    let name = note.file_stem()?;
    Some(note.parent()?.parent()?.join("files").join(name))
}

/// Moves a file without replacing another, across file systems too.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    let moved = system::rename_new(from, to);
    match moved {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
            ) =>
        {
            let mut source = File::open(from)?;
            atomic_file::write_new(to, |out| io::copy(&mut source, out).map(drop))?;
            fs::remove_file(from)
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A home with a file in it, and our own trash.
    fn home() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::under(folder.path());
        fs::create_dir_all(&paths.library).unwrap();
        let path = paths.library.join("a.ron");
        fs::write(&path, "one").unwrap();
        (folder, path, own_trash(&paths))
    }

    #[test]
    fn what_is_discarded_comes_back() {
        let (_folder, path, trash) = home();
        let first = discard_to(&trash, &path).unwrap();
        assert!(!path.exists() && trash.join("a.ron").exists());
        assert!(matches!(first.now, TrashPlace::Own { .. }));
        fs::write(&path, "two").unwrap();
        let second = discard_to(&trash, &path).unwrap();
        restore_file(&first).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        let refused = restore_file(&second).unwrap_err();
        assert!(refused.contains("not overwritten"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        restore_file(&second).unwrap();
        assert_eq!(fs::read_to_string(&second.original).unwrap(), "two");
        let gone = restore_file(&first).unwrap_err();
        assert!(
            gone.contains("not overwritten") || gone.contains("no longer"),
            "{gone}"
        );
        assert_eq!(fs::read_dir(&trash).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let (folder, _path, trash) = home();
        let missing = folder.path().join("missing.ron");
        assert!(discard_to(&trash, &missing).is_err());
        let refused = discard(&Paths::under(folder.path()), &missing).unwrap_err();
        assert!(refused.contains("missing.ron"), "{refused}");
    }

    #[test]
    fn notes_lead_to_their_files() {
        assert_eq!(
            file_of(Path::new("/home/a/Trash/info/b.ron.2.trashinfo")),
            Some(PathBuf::from("/home/a/Trash/files/b.ron.2"))
        );
    }
}
