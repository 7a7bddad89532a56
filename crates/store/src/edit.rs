//! Changes to sessions that are on disk: their name, tags and notes, and copies of them.
//!
//! Every change goes through [`edit`], which refuses rather than lose what another program wrote.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::head::Stamp;
use super::session_file::{self, ReadError, WriteError};
use super::trace_file;
use powerband_core::domain::session::Session;

/// How many copies a session may have beside it.
const MOST_COPIES: u32 = 1000;

/// Why a session was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It holds things that this program would lose.
    #[error("{} was written by a newer Powerband (session version {version}) and is not changed; update Powerband to change it", path.display())]
    Newer {
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The file is write-protected.
    #[error("{} is read-only and is not changed; make it writable, or duplicate it and change the copy", path.display())]
    ReadOnly { path: PathBuf },
    /// It is not as it was when it was last looked at.
    #[error("{} was changed by another program meanwhile and is not overwritten; look at it again, then change it", path.display())]
    Changed { path: PathBuf },
    /// A timeline of a copy cannot be written.
    #[error(transparent)]
    Trace(#[from] trace_file::TraceWriteError),
    /// A name of nothing but spaces.
    #[error("a session needs a name; write at least one letter")]
    NoName,
}

/// Changes a session in its file, whole or not at all. With `expected`, only where the file is still in
/// that state. Gives the file's new state.
pub fn edit(
    path: &Path,
    expected: Option<Stamp>,
    change: impl FnOnce(&mut Session),
) -> Result<Stamp, EditError> {
    let unreadable = |source| ReadError::Io {
        path: path.to_path_buf(),
        source,
    };
    // The file that a link leads to is changed; the link stays one.
    let file = fs::canonicalize(path).map_err(unreadable)?;
    let metadata = fs::metadata(&file).map_err(unreadable)?;
    if metadata.permissions().readonly() {
        return Err(EditError::ReadOnly {
            path: path.to_path_buf(),
        });
    }
    let before = Stamp::read(&file).map_err(unreadable)?;
    let as_it_was = |state: Option<Stamp>| {
        if state == Some(before) {
            Ok(())
        } else {
            Err(EditError::Changed {
                path: path.to_path_buf(),
            })
        }
    };
    as_it_was(expected.or(Some(before)))?;
    let mut session = read_for_change(path)?;
    change(&mut session);
    // Once more, because reading takes a while.
    as_it_was(Stamp::read(&file).ok())?;
    session_file::write(&file, &session)?;
    Ok(Stamp::read(&file).map_err(unreadable)?)
}

/// Gives a session another name. The name in the document is what people see; the file keeps its own,
/// so that nothing that points to it breaks.
pub fn rename(path: &Path, expected: Option<Stamp>, name: &str) -> Result<Stamp, EditError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(EditError::NoName);
    }
    edit(path, expected, |session| name.clone_into(&mut session.name))
}

/// Tags as a session keeps them: trimmed, each once, in this order.
pub fn unique_tags(tags: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| tag.trim()) {
        if !tag.is_empty() && !kept.iter().any(|other| other == tag) {
            kept.push(tag.to_owned());
        }
    }
    kept
}

/// Tags as they are typed, with spaces or commas between: `cifar, #nightly`.
pub fn typed_tags(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    let tags = words.map(|word| word.trim_start_matches('#').to_owned());
    unique_tags(&tags.collect::<Vec<_>>())
}

/// Writes a copy beside a session, with "(copy)" behind its name and with timelines of its own.
pub fn duplicate(path: &Path) -> Result<PathBuf, EditError> {
    let mut session = read_for_change(path)?;
    session.name.push_str(" (copy)");
    let mut traces = Vec::new();
    for (number, profile) in session.profiles.iter().enumerate() {
        let file = profile.trace_file.as_ref();
        let lies = file.and_then(|name| trace_file::found(Some(path), name));
        traces.extend(lies.map(|file| (number, file)));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut number = 1;
    loop {
        let copy = path.with_file_name(match number {
            1 => format!("{stem}-copy.ron"),
            more => format!("{stem}-copy-{more}.ron"),
        });
        for (number, _) in &traces {
            session.profiles[*number].trace_file = Some(trace_file::name_of(&copy, *number));
        }
        match session_file::write_new(&copy, &session) {
            Ok(()) => {
                return match copy_traces(&traces, &copy) {
                    Ok(()) => Ok(copy),
                    Err(error) => {
                        drop(fs::remove_file(&copy));
                        Err(error.into())
                    }
                };
            }
            Err(WriteError::Io { source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists && number < MOST_COPIES =>
            {
                number += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn copy_traces(
    traces: &[(usize, PathBuf)],
    session: &Path,
) -> Result<(), trace_file::TraceWriteError> {
    for (number, from) in traces {
        trace_file::put_beside(session, *number, |to| fs::copy(from, to).map(drop))?;
    }
    Ok(())
}

/// A session that may be written again: one that this program understands wholly.
fn read_for_change(path: &Path) -> Result<Session, EditError> {
    let opened = session_file::read(path)?;
    match opened.newer {
        Some(version) => Err(EditError::Newer {
            path: path.to_path_buf(),
            version,
        }),
        None => Ok(opened.session),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use powerband_core::domain::profile::Profile;

    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ron");
        session_file::write(&path, &testing::session()).unwrap();
        (folder, path)
    }

    fn read(path: &Path) -> Session {
        session_file::read(path).unwrap().session
    }

    #[test]
    fn tags_are_typed_with_spaces_or_commas_between() {
        let typed = "cifar, #nightly,,  cifar\tcpu ,";
        assert_eq!(typed_tags(typed), ["cifar", "nightly", "cpu"]);
        assert!(typed_tags(" , # ").is_empty());
    }

    #[test]
    fn name_tags_and_notes_are_changed_and_nothing_else() {
        let (_folder, path) = written();
        let stamp = rename(&path, Stamp::read(&path).ok(), "  another name ").unwrap();
        let tags = [" a ", "b", "", "a"].map(str::to_owned);
        let change = |session: &mut Session| {
            session.tags = unique_tags(&tags);
            "two\nlines".clone_into(&mut session.notes);
        };
        let stamp = edit(&path, Some(stamp), change).unwrap();
        assert_eq!(Stamp::read(&path).unwrap(), stamp);
        let expected = Session {
            name: "another name".to_owned(),
            tags: vec!["a".to_owned(), "b".to_owned()],
            notes: "two\nlines".to_owned(),
            ..testing::session()
        };
        assert_eq!(read(&path), expected);
        assert!(matches!(rename(&path, None, " "), Err(EditError::NoName)));
    }

    #[test]
    fn what_another_program_wrote_is_not_lost() {
        let (_folder, path) = written();
        let seen = Stamp::read(&path).ok();
        let text = fs::read_to_string(&path).unwrap() + "\n";
        fs::write(&path, &text).unwrap();
        assert!(matches!(
            rename(&path, seen, "x"),
            Err(EditError::Changed { .. })
        ));
        let meanwhile = edit(&path, None, |_session| {
            fs::write(&path, text.clone() + "\n").unwrap();
        });
        assert!(matches!(meanwhile, Err(EditError::Changed { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), text + "\n");
        assert_eq!(read(&path), testing::session());
    }

    #[test]
    fn newer_and_protected_sessions_stay() {
        let (_folder, path) = written();
        let text = fs::read_to_string(&path).unwrap();
        let newer = text.replacen("version: 2,", "version: 99,", 1);
        fs::write(&path, &newer).unwrap();
        assert!(matches!(
            rename(&path, None, "x"),
            Err(EditError::Newer { version: 99, .. })
        ));
        assert!(matches!(
            duplicate(&path),
            Err(EditError::Newer { version: 99, .. })
        ));
        fs::write(&path, &text).unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert!(matches!(
            rename(&path, None, "x"),
            Err(EditError::ReadOnly { .. })
        ));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert!(matches!(
            rename(Path::new("/nowhere/a.ron"), None, "x"),
            Err(EditError::Read(_))
        ));
    }

    #[test]
    fn a_link_stays_a_link() {
        let (folder, path) = written();
        let link = folder.path().join("link.ron");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        rename(&link, None, "through the link").unwrap();
        assert!(link.is_symlink());
        assert_eq!(read(&path).name, "through the link");
    }

    #[test]
    fn copies_stand_beside_and_replace_nothing() {
        let (folder, path) = written();
        let first = duplicate(&path).unwrap();
        let second = duplicate(&path).unwrap();
        assert_eq!(first, folder.path().join("a-copy.ron"));
        assert_eq!(second, folder.path().join("a-copy-2.ron"));
        let expected = Session {
            name: "a run (copy)".to_owned(),
            ..testing::session()
        };
        assert_eq!(read(&second), expected);
        assert_eq!(read(&path), testing::session());
    }

    #[test]
    fn a_copy_has_timelines_of_its_own() {
        let (folder, path) = written();
        let profile = |file: &str| Profile {
            name: file.to_owned(),
            trace_file: Some(file.to_owned()),
            ..Profile::default()
        };
        fs::write(folder.path().join("a.2.trace.json.gz"), "two").unwrap();
        let profiles = vec![profile("lost.gz"), profile("a.2.trace.json.gz")];
        edit(&path, None, |session| session.profiles = profiles).unwrap();
        let copy = duplicate(&path).unwrap();
        let files: Vec<_> = read(&copy)
            .profiles
            .into_iter()
            .filter_map(|profile| profile.trace_file)
            .collect();
        assert_eq!(files, ["lost.gz", "a-copy.2.trace.json.gz"]);
        let own = folder.path().join(&files[1]);
        assert_eq!(fs::read_to_string(own).unwrap(), "two");
    }
}
