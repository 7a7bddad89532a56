//! The journal of a run that is going on: one event a line, so that a crash loses at most the round
//! in flight.
//!
//! A running program holds a lock on its journal. A journal that nobody holds is the trace of a run
//! that was cut short, and can be made into a session.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::base::{humanize, regular_file};
use crate::domain::event::{Beginning, RunEvent, Stamped};
use crate::domain::session::Session;

/// How often what was written is forced to the disk, for power cuts; crashes of the program need none.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// Characters of a run's name that are told: it may stand in a strip of one line.
const NAME: usize = 40;

/// A journal that this program writes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    synced: Instant,
    /// Set by the first write that fails; from then on nothing is written, so that no later line
    /// follows a torn one.
    broken: bool,
}

/// Why a journal gives no session.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It does not begin with the beginning of a run.
    #[error("{path} holds no run: its first line is missing or damaged; powerband recover --discard {path} throws it away", path = .0.display())]
    NoBeginning(PathBuf),
    /// It is something else.
    #[error("{} is not the journal of a run (a .jsonl file), and is left alone", .0.display())]
    NotAJournal(PathBuf),
    /// Its run is still going on.
    #[error("the run of {} is still going on", .0.display())]
    InUse(PathBuf),
}

impl Journal {
    /// A new journal in the folder, which is made if need be.
    pub fn create(folder: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut number = 1;
        loop {
            let path = folder.join(if number == 1 {
                format!("{name}.jsonl")
            } else {
                format!("{name}-{number}.jsonl")
            });
            match OpenOptions::new().create_new(true).append(true).open(&path) {
                Ok(file) => {
                    file.lock()?;
                    return Ok(Self {
                        path,
                        file,
                        synced: Instant::now(),
                        broken: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                    number += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether every event so far is in it.
    pub fn is_whole(&self) -> bool {
        !self.broken
    }

    /// Writes one event. After a failure, which is reported once, it writes nothing more.
    pub fn append(&mut self, event: &Stamped) -> io::Result<()> {
        if self.broken {
            return Ok(());
        }
        let written = self.try_append(event);
        self.broken = written.is_err();
        written
    }

    fn try_append(&mut self, event: &Stamped) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        let worth_it = matches!(
            event.event,
            RunEvent::RoundFinished { .. } | RunEvent::Ended { .. }
        );
        if worth_it && self.synced.elapsed() >= SYNC_EVERY {
            self.file.sync_data()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Removes it, once its session is saved elsewhere.
    pub fn discard(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Journals in the folder, oldest first.
fn journals(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    found.sort();
    found
}

/// Journals in the folder whose program is gone, oldest first.
pub fn abandoned(folder: &Path) -> Vec<PathBuf> {
    let mut found = journals(folder);
    found.retain(|path| regular_file::open(path).is_ok_and(|file| file.try_lock_shared().is_ok()));
    found
}

/// A run that a program is measuring now, as its journal tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Living {
    /// Its journal.
    pub path: PathBuf,
    /// What its session is called.
    pub name: String,
    /// When its session was made, RFC 3339 in UTC.
    pub created: String,
    /// When this run of it began, RFC 3339 in UTC.
    pub since: String,
}

impl Living {
    /// Whether it is the run of this session.
    pub fn is_of(&self, session: &Session) -> bool {
        self.name == session.name && self.created == session.created
    }
}

/// Runs in the folder whose program lives, oldest first. Of those that are known already only the lock is
/// looked at.
pub fn living(folder: &Path, known: &[Living]) -> Vec<Living> {
    let is_held = |path: &PathBuf| {
        regular_file::open(path)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    };
    let described = |path: PathBuf| {
        let known = known.iter().find(|known| known.path == path);
        known.cloned().or_else(|| describe(path))
    };
    let held = journals(folder).into_iter().filter(is_held);
    held.filter_map(described).collect()
}

/// What the first line of a journal tells; nothing where it is not written yet.
fn describe(path: PathBuf) -> Option<Living> {
    let mut line = Vec::new();
    let mut file = BufReader::new(regular_file::open(&path).ok()?);
    file.read_until(b'\n', &mut line).ok()?;
    let first: Stamped = serde_json::from_slice(&line).ok()?;
    let (name, created, since) = match first.event {
        RunEvent::Began(beginning) => {
            let Beginning { name, created, .. } = *beginning;
            (name, created.clone(), created)
        }
        RunEvent::WentOn { session, at } => {
            let Session { name, created, .. } = *session;
            (name, created, at)
        }
        _ => return None,
    };
    Some(Living {
        path,
        name,
        created,
        since,
    })
}

/// What other programs measure, in a sentence without its full stop; nothing where nobody measures.
pub fn in_words(runs: &[Living]) -> Option<String> {
    let since = |run: &Living| {
        let name = humanize::shorten(&run.name, NAME);
        format!("{name}, since {}", humanize::short_moment(&run.since))
    };
    match runs {
        [] => None,
        [one] => Some(format!("Another Powerband is measuring {}", since(one))),
        several => {
            let all: Vec<String> = several.iter().map(since).collect();
            Some(format!("Other Powerbands are measuring {}", all.join("; ")))
        }
    }
}

/// Refuses to throw away what is not a journal, or is one that a living run is writing.
pub fn check_discardable(path: &Path) -> Result<(), JournalError> {
    if path
        .extension()
        .is_none_or(|extension| extension != "jsonl")
    {
        return Err(JournalError::NotAJournal(path.to_path_buf()));
    }
    open_abandoned(path).map(drop)
}

/// A journal that nobody is writing.
fn open_abandoned(path: &Path) -> Result<File, JournalError> {
    let file = regular_file::open(path).map_err(|source| JournalError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    match file.try_lock_shared() {
        Ok(()) => Ok(file),
        Err(_held) => Err(JournalError::InUse(path.to_path_buf())),
    }
}

/// The session of an abandoned journal, with every case closed; a last line that was cut off is passed over.
pub fn recover(path: &Path) -> Result<Session, JournalError> {
    let io_error = |source| JournalError::Io {
        path: path.to_path_buf(),
        source,
    };
    let file = open_abandoned(path)?;
    let mut events: Vec<Stamped> = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        match serde_json::from_slice(&line.map_err(io_error)?) {
            Ok(event) => events.push(event),
            Err(_) => break,
        }
    }
    let ended = events
        .iter()
        .any(|stamped| matches!(stamped.event, RunEvent::Ended { .. }));
    let mut session = Session::from_events(events)
        .ok_or_else(|| JournalError::NoBeginning(path.to_path_buf()))?;
    if !ended {
        session.close_interrupted();
    }
    Ok(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str) -> Living {
        Living {
            path: name.into(),
            name: name.to_owned(),
            created: "2026-11-21T06:02:03Z".to_owned(),
            since: "2026-11-21T07:12:03Z".to_owned(),
        }
    }

    #[test]
    fn runs_of_others_are_named_with_their_beginning() {
        assert_eq!(in_words(&[]), None);
        let since = humanize::short_moment(&run("").since);
        assert_eq!(
            in_words(&[run("resnet50")]).unwrap(),
            format!("Another Powerband is measuring resnet50, since {since}")
        );
        assert_eq!(
            in_words(&[run("one"), run("two")]).unwrap(),
            format!("Other Powerbands are measuring one, since {since}; two, since {since}")
        );
    }
}
