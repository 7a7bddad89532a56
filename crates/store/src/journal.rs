//! The journal of a run that is going on: one event a line, so that a crash loses at most the round
//! in flight.
//!
//! A running program holds a lock on its journal. A journal without a lock is the trace of a run
//! that was cut short, and can be made into a session.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use powerband_core::base::{humanize, regular_file};
use powerband_core::domain::event::{RunEvent, RunStart, TimedEvent};
use powerband_core::domain::session::Session;

/// How often what was written is forced to the disk, for power cuts; crashes of the program need none.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// Characters of a run's name that are shown: it may stand in a strip of one line.
const NAME: usize = 40;

/// A journal that this program writes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    synced: Instant,
    /// Bytes of the lines that are in the file whole.
    whole_bytes: u64,
    /// Lines that could not be written yet.
    unwritten: Vec<u8>,
    /// Whether the last attempt failed.
    is_failing: bool,
}

/// Result of appending an event to the journal.
#[derive(Debug)]
pub enum AppendOutcome {
    /// It is in the file, with all before it.
    Written,
    /// It is in the file, with those that could not be written before.
    CaughtUp,
    /// It is kept in memory, as those before it. The first time with the reason.
    Kept(Option<io::Error>),
    /// It is in the file, and that could not be forced to the disk. The first time with the reason.
    Unsynced(Option<io::Error>),
}

/// How much of a run a journal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalExtent {
    /// Every event.
    All,
    /// The events up to a failure.
    Part,
    /// Not even the first.
    Nothing,
}

/// Why a journal gives no session.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It does not begin with the beginning of a run.
    #[error("{path} holds no run: its first line is missing or damaged; powerband recover --discard {path} throws it away", path = .0.display())]
    NoBeginning(PathBuf),
    /// A line is whole, and is no event that this program knows.
    #[error("{} was written by another version of Powerband ({version}; this one is {}): its line {line} is not known here. It is left alone; powerband recover of that version makes a session of it", path.display(), env!("CARGO_PKG_VERSION"))]
    OtherVersion {
        path: PathBuf,
        /// The program that wrote it.
        version: String,
        /// Which line, from 1.
        line: usize,
    },
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
                    if let Err(error) = file.lock() {
                        // Without a lock another program would take it for that of a run cut short.
                        drop(fs::remove_file(&path));
                        return Err(error);
                    }
                    return Ok(Self {
                        path,
                        file,
                        synced: Instant::now(),
                        whole_bytes: 0,
                        unwritten: Vec::new(),
                        is_failing: false,
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

    /// How much of the run is in it.
    pub fn extent(&self) -> JournalExtent {
        if self.unwritten.is_empty() {
            JournalExtent::All
        } else if self.whole_bytes > 0 {
            JournalExtent::Part
        } else {
            JournalExtent::Nothing
        }
    }

    /// Writes one event. One that cannot be written is kept and tried again with the next: a disk that is full may get
    /// room again.
    pub fn append(&mut self, event: &TimedEvent) -> AppendOutcome {
        match serde_json::to_vec(event) {
            Ok(mut line) => {
                line.push(b'\n');
                self.unwritten.append(&mut line);
            }
            Err(error) => return AppendOutcome::Kept(Some(error.into())),
        }
        if let Err(error) = self.write_all() {
            let is_first = !std::mem::replace(&mut self.is_failing, true);
            return AppendOutcome::Kept(is_first.then_some(error));
        }
        let is_worth_it = matches!(
            event.event,
            RunEvent::RoundFinished { .. } | RunEvent::Ended { .. }
        );
        if is_worth_it && self.synced.elapsed() >= SYNC_EVERY {
            if let Err(error) = self.file.sync_data() {
                let is_first = !std::mem::replace(&mut self.is_failing, true);
                return AppendOutcome::Unsynced(is_first.then_some(error));
            }
            self.synced = Instant::now();
        }
        if std::mem::take(&mut self.is_failing) {
            AppendOutcome::CaughtUp
        } else {
            AppendOutcome::Written
        }
    }

    /// Tries once more to write what could not be written.
    pub fn catch_up(&mut self) -> JournalExtent {
        // A failure shows in what comes back.
        drop(self.write_all());
        self.extent()
    }

    /// Writes what waits, so that no line follows a torn one: what was written of it is cut off again.
    fn write_all(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        if self.is_failing {
            self.file.set_len(self.whole_bytes)?;
        }
        self.file.write_all(&self.unwritten)?;
        self.whole_bytes += self.unwritten.len() as u64;
        self.unwritten.clear();
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
                && path.is_file()
        })
        .collect();
    found.sort();
    found
}

/// Journals in the folder whose program is gone, oldest first. One that cannot be opened is among them, because what is
/// done with it says why.
pub fn abandoned(folder: &Path) -> Vec<PathBuf> {
    let mut found = journals(folder);
    found.retain(|path| !matches!(open_abandoned(path), Err(JournalError::InUse(_))));
    found
}

/// A run that a program is measuring now, from its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalledRun {
    /// Its journal.
    pub path: PathBuf,
    /// What its session is called.
    pub name: String,
    /// When its session was made, RFC 3339 in UTC.
    pub created: String,
    /// When this run of it began, RFC 3339 in UTC.
    pub since: String,
}

impl JournalledRun {
    /// Whether it is the run of this session.
    pub fn is_of(&self, session: &Session) -> bool {
        self.name == session.name && self.created == session.created
    }
}

/// Runs in the folder whose program lives, oldest first. Of those that are known already only the lock is
/// looked at.
pub fn live_runs(folder: &Path, known: &[JournalledRun]) -> Vec<JournalledRun> {
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

/// What the first line of a journal says; nothing where it is not written yet.
fn describe(path: PathBuf) -> Option<JournalledRun> {
    let mut line = Vec::new();
    let mut file = BufReader::new(regular_file::open(&path).ok()?);
    file.read_until(b'\n', &mut line).ok()?;
    let first: TimedEvent = serde_json::from_slice(&line).ok()?;
    let (name, created, since) = match first.event {
        RunEvent::Began(beginning) => {
            let RunStart { name, created, .. } = *beginning;
            (name, created.clone(), created)
        }
        RunEvent::WentOn { session, at } => {
            let Session { name, created, .. } = *session;
            (name, created, at)
        }
        _ => return None,
    };
    Some(JournalledRun {
        path,
        name,
        created,
        since,
    })
}

/// What other programs measure, in a sentence without its full stop; nothing where none measures.
pub fn in_words(runs: &[JournalledRun]) -> Option<String> {
    let since = |run: &JournalledRun| {
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

/// A journal that no program is writing.
fn open_abandoned(path: &Path) -> Result<File, JournalError> {
    let io_error = |source| JournalError::Io {
        path: path.to_path_buf(),
        source,
    };
    let file = regular_file::open(path).map_err(io_error)?;
    match file.try_lock_shared() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse(path.to_path_buf())),
        Err(TryLockError::Error(source)) => Err(io_error(source)),
    }
}

/// The session of an abandoned journal, with every case closed; a last line that was cut off is passed over.
pub fn recover(path: &Path) -> Result<Session, JournalError> {
    let io_error = |source| JournalError::Io {
        path: path.to_path_buf(),
        source,
    };
    let file = open_abandoned(path)?;
    let mut events: Vec<TimedEvent> = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(file).split(b'\n')) {
        let text = line.map_err(io_error)?;
        match serde_json::from_slice(&text) {
            Ok(event) => events.push(event),
            // A session of the lines before would lose those after it.
            Err(_) if is_whole_object(&text) => {
                return Err(JournalError::OtherVersion {
                    path: path.to_path_buf(),
                    version: writer(events.first()),
                    line: number,
                });
            }
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

fn is_whole_object(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|value| value.is_object())
}

/// The program that began a run, from its first event.
fn writer(first: Option<&TimedEvent>) -> String {
    let environment = match first.map(|stamped| &stamped.event) {
        Some(RunEvent::Began(beginning)) => Some(&beginning.environment),
        Some(RunEvent::WentOn { session, .. }) => Some(&session.environment),
        _ => None,
    };
    let program = environment.map(|environment| environment.program.clone());
    program
        .filter(|program| !program.is_empty())
        .unwrap_or_else(|| "which one it does not say".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str) -> JournalledRun {
        JournalledRun {
            path: name.into(),
            name: name.to_owned(),
            created: "2026-11-21T06:02:03Z".to_owned(),
            since: "2026-11-21T07:12:03Z".to_owned(),
        }
    }

    #[test]
    fn a_journal_with_a_line_of_another_version_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let session = crate::testing::session();
        let mut environment = session.environment;
        environment.program = "9.8.7".to_owned();
        let event = RunEvent::Began(Box::new(RunStart {
            name: session.name,
            created: session.created,
            plan: session.plan,
            model: session.model,
            environment,
            made_up: true,
            ..RunStart::default()
        }));
        let first = serde_json::to_string(&TimedEvent { at_ns: 0, event }).unwrap();
        let path = folder.path().join("run.jsonl");
        let text = format!("{first}\n{{\"at_ns\":1,\"event\":{{\"Dreamt\":3}}}}\n{{\"at_ns\":2");
        fs::write(&path, &text).unwrap();
        let refused = recover(&path).unwrap_err().to_string();
        for word in ["run.jsonl", "9.8.7", "line 2"] {
            assert!(refused.contains(word), "{refused}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        fs::write(&path, format!("{first}\n{{\"at_ns\":1,\"ev")).unwrap();
        assert!(recover(&path).is_ok(), "a torn line is no other version's");
        fs::write(&path, "{\"later\":1}\n").unwrap();
        let refused = recover(&path).unwrap_err().to_string();
        assert!(refused.contains("line 1"), "{refused}");
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
