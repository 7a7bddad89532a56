//! A session as a RON file: `(version: 2, session: (…))`, written whole or not at all.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};

use super::migrate;
use super::version::{self, CURRENT, VersionStatus};
use powerband_core::base::system::HAS_FILES;
use powerband_core::base::{atomic_file, regular_file};
use powerband_core::domain::plan::Plan;
use powerband_core::domain::session::Session;

/// The version of a session stands within its first so many bytes.
const HEAD_BYTES: u64 = 4096;

/// A larger file has results, or is none of a run that failed.
const MOST_WITHOUT_RESULT: u64 = 8_000_000;

/// Why a session cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all.
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The file is something else.
    #[error("{} is not a Powerband session: {reason}", path.display())]
    NotASession {
        path: PathBuf,
        /// What it looks like instead.
        reason: String,
    },
    /// The file begins as a session and does not go on as one.
    #[error("{} is damaged, most likely cut off or edited by hand: {reason}. An older copy, or the journal of the run, may still have it: powerband recover --list", path.display())]
    Damaged {
        path: PathBuf,
        /// Where and what.
        reason: String,
    },
    /// The file is from a later program and has changed too much.
    #[error("{} was written by a newer Powerband (session version {version}, this program knows {CURRENT}); update Powerband to open it", path.display())]
    TooNew {
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// Why a session was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// What is there must not be replaced.
    #[error("{} {reason}", path.display())]
    Protected {
        path: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
    /// The session has something that RON cannot say.
    #[error("the session cannot be put into words: {0}")]
    Encode(#[from] ron::Error),
}

/// A session and what is to be known of its file.
#[derive(Debug)]
pub struct OpenedSession {
    /// The session.
    pub session: Session,
    /// The version of a file that is newer than this program, and so must not be written.
    pub newer: Option<u32>,
}

#[derive(Serialize)]
struct DocumentRef<'a> {
    version: u32,
    session: &'a Session,
}

#[derive(Deserialize)]
struct Document {
    #[expect(dead_code, reason = "read before, from the head of the text")]
    version: u32,
    session: Session,
}

/// Reads a session of any version that this program can read.
pub fn read(path: &Path) -> Result<OpenedSession, ReadError> {
    let bytes = regular_file::read(path).map_err(|source| ReadError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    let not_a_session = |reason: &str| ReadError::NotASession {
        path: path.to_path_buf(),
        reason: reason.to_owned(),
    };
    if bytes.is_empty() {
        return Err(not_a_session("the file is empty"));
    }
    let text = String::from_utf8(bytes).map_err(|_not_text| not_a_session("it is not text"))?;
    from_text(path, &text)
}

/// Makes a session of a file's text; the path is for words about it.
pub fn from_text(path: &Path, text: &str) -> Result<OpenedSession, ReadError> {
    if !HAS_FILES {
        return Err(ReadError::NotASession {
            path: path.to_path_buf(),
            reason: "no files are read here".to_owned(),
        });
    }
    let standing = version::version_status(text).ok_or_else(|| ReadError::NotASession {
        path: path.to_path_buf(),
        reason: "it does not begin with (version: …".to_owned(),
    })?;
    let damaged = |reason: String| ReadError::Damaged {
        path: path.to_path_buf(),
        reason,
    };
    match standing {
        VersionStatus::Current => Ok(OpenedSession {
            session: parse(text).map_err(damaged)?,
            newer: None,
        }),
        VersionStatus::Older(from) => {
            let current = migrate::migrate(text, from).map_err(damaged)?;
            Ok(OpenedSession {
                session: parse(&current).map_err(damaged)?,
                newer: None,
            })
        }
        VersionStatus::Newer(version) => parse(text)
            .map(|session| OpenedSession {
                session,
                newer: Some(version),
            })
            .map_err(|_changed| ReadError::TooNew {
                path: path.to_path_buf(),
                version,
            }),
    }
}

/// Writes a session whole or not at all.
pub fn write(path: &Path, session: &Session) -> Result<(), WriteError> {
    check_target(path, true)?;
    let text = to_text(session)?;
    atomic_file::write(path, |out| out.write_all(text.as_bytes())).map_err(|source| {
        WriteError::Io {
            path: path.to_path_buf(),
            source,
        }
    })
}

/// Writes a session to a file that must not be there yet; one that is there is left alone.
pub fn write_new(path: &Path, session: &Session) -> Result<(), WriteError> {
    let text = to_text(session)?;
    atomic_file::write_new(path, |out| out.write_all(text.as_bytes())).map_err(|source| {
        WriteError::Io {
            path: path.to_path_buf(),
            source,
        }
    })
}

/// The text of a session file.
pub fn to_text(session: &Session) -> Result<String, ron::Error> {
    let mut text = String::from("// A Powerband session. `powerband show` reads it.\n");
    ron::ser::to_writer_pretty(
        &mut text,
        &DocumentRef {
            version: CURRENT,
            session,
        },
        pretty_config(),
    )?;
    text.push('\n');
    Ok(text)
}

/// The text of a plan alone, as it stands in a session file.
pub fn plan_text(plan: &Plan) -> Result<String, ron::Error> {
    ron::ser::to_string_pretty(plan, pretty_config())
}

fn pretty_config() -> PrettyConfig {
    PrettyConfig::new()
        .depth_limit(64)
        .indentor("  ")
        .struct_names(false)
        // A point stands on one line.
        .compact_maps(true)
}

/// Whether a session may be written there, as far as can be known before the work is done.
pub fn check_target(path: &Path, may_replace: bool) -> Result<(), WriteError> {
    let protected = |reason: &str| WriteError::Protected {
        path: path.to_path_buf(),
        reason: reason.to_owned(),
    };
    let Ok(metadata) = fs::metadata(path) else {
        return check_folder(path);
    };
    if !metadata.is_file() {
        return Err(protected(
            "is not an ordinary file; name a file to write the session to",
        ));
    }
    // A run that measured nothing keeps its name from no other.
    if !may_replace && !is_without_result(path, metadata.len()) {
        return Err(protected(
            "exists already; choose another name, or --force to replace it",
        ));
    }
    match version::version_status(&read_beginning(path)) {
        Some(VersionStatus::Newer(_)) => Err(protected(
            "was written by a newer Powerband and is not replaced; choose another name",
        )),
        _ => check_folder(path),
    }
}

/// Whether a session is there in which nothing was measured.
fn is_without_result(path: &Path, bytes: u64) -> bool {
    bytes <= MOST_WITHOUT_RESULT
        && read(path)
            .is_ok_and(|opened| opened.newer.is_none() && opened.session.is_without_result())
}

/// The beginning of a file, where a session's version stands; empty where it cannot be read.
fn read_beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read =
        regular_file::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut bytes));
    read.map_or_else(
        |_unreadable| String::new(),
        |_length| String::from_utf8_lossy(&bytes).into_owned(),
    )
}

/// Tries the folder with a file that is gone again at once.
fn check_folder(path: &Path) -> Result<(), WriteError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    tempfile::tempfile_in(folder)
        .map(drop)
        .map_err(|source| WriteError::Io {
            path: path.to_path_buf(),
            source,
        })
}

fn parse(text: &str) -> Result<Session, String> {
    ron::from_str::<Document>(text)
        .map(|document| document.session)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn a_run_that_measured_nothing_keeps_its_name_from_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ron");
        let check = |change: &dyn Fn(&mut Session)| {
            let mut session = testing::session();
            session.tags.clear();
            session.cases[0].rounds.clear();
            change(&mut session);
            write(&path, &session).unwrap();
            check_target(&path, false).map_err(|error| error.to_string())
        };
        assert_eq!(check(&|_| {}), Ok(()));
        let rounds = testing::session().cases[0].rounds.clone();
        let changes: [&dyn Fn(&mut Session); 2] = [
            &|session| session.cases[0].rounds.clone_from(&rounds),
            &|session| "why it failed".clone_into(&mut session.notes),
        ];
        for change in changes {
            let refused = check(change).unwrap_err();
            assert!(refused.contains("exists already"), "{refused}");
        }
    }
}
