//! A run with everything around it: a journal before, the saved session after.
//!
//! Failing to save never loses a run: the session then goes into the library, or stays in its journal.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::run::{self, Observer, PreparedRun};
use powerband_core::base::paths::Paths;
use powerband_core::base::{atomic_file, clock};
use powerband_core::control::Control;
use powerband_core::domain::event::RunStart;
use powerband_core::domain::recorded_run::RecordedRun;
use powerband_core::domain::session::Session;
use powerband_store::journal::{Journal, JournalExtent};
use powerband_store::library::Stamp;
use powerband_store::session_file::WriteError;
use powerband_store::{library, recoverable, session_file, trace_file};

/// Where the session goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    /// A file of its own in the library.
    Library,
    /// A file that the user named.
    File {
        /// The file.
        path: PathBuf,
        /// Whether an older session there may be replaced.
        may_replace: bool,
    },
    /// The file of the session that gets more rounds.
    Again {
        /// The file.
        path: PathBuf,
        /// Its state when it was read: a change that another program made since then is not overwritten.
        stamp: Stamp,
    },
}

impl SessionTarget {
    /// The file that the user named, else one in the library.
    pub fn of_file(path: Option<PathBuf>, may_replace: bool) -> Self {
        path.map_or(Self::Library, |path| Self::File { path, may_replace })
    }

    /// Whether a session can be written there, as far as can be known before the run.
    pub fn check(&self) -> Result<(), WriteError> {
        match self {
            Self::Library | Self::Again { .. } => Ok(()),
            Self::File { path, may_replace } => session_file::check_target(path, *may_replace),
        }
    }
}

/// A run that is about to begin, with its journal.
#[derive(Debug)]
pub struct Recorder {
    journal: Option<Journal>,
    /// Why there is no journal.
    pub note: Option<String>,
    /// Whether a session that can be saved nowhere, and is not in the journal as a whole, goes into the temporary
    /// folder. The window keeps it open instead.
    pub keeps_aside: bool,
}

impl Recorder {
    /// Makes the journal. A run goes on without one, but the user should know before it begins.
    pub fn begin(beginning: &RunStart, paths: &Paths) -> Self {
        let name = format!(
            "{}-{}",
            library::safe(&beginning.name),
            clock::file_stamp(&beginning.created)
        );
        match Journal::create(&library::journals(paths), &name) {
            Ok(journal) => Self {
                journal: Some(journal),
                note: None,
                keeps_aside: false,
            },
            Err(error) => Self {
                journal: None,
                note: Some(format!(
                    "No journal can be kept ({error}); should the program be killed, this run is lost."
                )),
                keeps_aside: false,
            },
        }
    }

    /// Runs to the end and saves.
    pub fn run(
        self,
        request: PreparedRun,
        paths: &Paths,
        target: &SessionTarget,
        control: &Control,
        observer: &mut Observer<'_>,
    ) -> RecordedRun {
        let (mut session, mut journal) = run::run(request, self.journal, control, observer);
        let mut notes: Vec<String> = self.note.into_iter().collect();
        let mut diverted = None;
        let saved = save(&mut session, paths, target, &mut diverted).or_else(|reason| {
            let is_in_journal = journal.as_mut().map(Journal::catch_up) == Some(JournalExtent::All);
            if !self.keeps_aside || is_in_journal {
                return Err(reason);
            }
            let kept = recoverable::keep_aside(&session).map_err(|_no_room_either| reason.clone())?;
            diverted = Some(format!(
                "{reason}; the session waits in the temporary folder, from which powerband recover brings it into the library"
            ));
            Ok(kept)
        });
        let saved = saved.map_err(|reason| format!("{reason}; {}", kept_in(journal.as_mut())));
        if saved.is_ok()
            && let Some(Err(error)) = journal.map(Journal::discard)
        {
            notes.push(format!("The journal could not be removed: {error}"));
        }
        RecordedRun {
            session,
            saved,
            diverted,
            notes,
        }
    }
}

/// Makes a journal, runs to the end, and saves. Blocks until all that is done.
pub fn record(
    request: PreparedRun,
    paths: &Paths,
    target: &SessionTarget,
    control: &Control,
    observer: &mut Observer<'_>,
) -> RecordedRun {
    Recorder::begin(&request.beginning, paths).run(request, paths, target, control, observer)
}

/// Writes the session where it was asked for; failing that, into the library.
fn save(
    session: &mut Session,
    paths: &Paths,
    target: &SessionTarget,
    diverted: &mut Option<String>,
) -> Result<PathBuf, String> {
    let written = match target {
        SessionTarget::Library => None,
        // Checked once more: another run may have written there since.
        SessionTarget::File { path, .. } => {
            let checked = target.check();
            let written = checked.and_then(|()| write_with_traces(session, path));
            let written = written.map_err(|error| error.to_string());
            Some((path, written, "the session"))
        }
        SessionTarget::Again { path, stamp } => {
            let written = if Stamp::read(path).is_ok_and(|now| now == *stamp) {
                write_with_traces(session, path).map_err(|error| error.to_string())
            } else {
                let path = path.display();
                Err(format!("{path} was changed since the run began"))
            };
            Some((path, written, "the session with its new rounds"))
        }
    };
    match written {
        Some((path, Ok(()), _)) => return Ok(path.clone()),
        Some((_, Err(why), what)) => {
            *diverted = Some(format!("{why}; {what} goes into the library instead"));
        }
        None => {}
    }
    let saved = library_path(session, paths).and_then(|path| {
        write_with_traces(session, &path).map_err(|error| error.to_string())?;
        Ok(path)
    });
    saved.map_err(|reason| match diverted.take() {
        Some(before) => format!("{before}; {reason}"),
        None => reason,
    })
}

/// Writes a session, with its timelines beside it. Where that fails, they are where they were.
fn write_with_traces(session: &mut Session, path: &Path) -> Result<(), WriteError> {
    let before: Vec<Option<String>> = session
        .profiles
        .iter()
        .map(|profile| profile.trace_file.clone())
        .collect();
    bring_traces(session, path);
    let written = session_file::write(path, session);
    if written.is_err() {
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        for (profile, before) in session.profiles.iter_mut().zip(before) {
            if let (Some(now), Some(from)) = (&profile.trace_file, &before)
                && now != from
                && move_file(&folder.join(now), Path::new(from)).is_ok()
            {
                profile.trace_file = before;
            }
        }
    }
    written
}

/// Moves timelines to where the session will be. One that cannot be moved stays where it is, and the
/// session says where.
fn bring_traces(session: &mut Session, path: &Path) {
    for (number, profile) in session.profiles.iter_mut().enumerate() {
        let Some(from) = profile.trace_file.clone().map(PathBuf::from) else {
            continue;
        };
        // A session that gets more rounds may come from anyone, and name any file as its timeline.
        if !trace_file::is_waiting(&from)
            || trace_file::found(None, &from.to_string_lossy()).is_none()
        {
            continue;
        }
        let beside = trace_file::path(path, number);
        let moved = move_file(&from, &beside);
        if let (Ok(()), Some(name)) = (moved, beside.file_name()) {
            profile.trace_file = Some(name.to_string_lossy().into_owned());
        }
    }
}

fn library_path(session: &Session, paths: &Paths) -> Result<PathBuf, String> {
    library::new_path(paths, &session.name, &session.created)
        .map_err(|error| format!("cannot make a file in {}: {error}", paths.library.display()))
}

/// Moves a file, also between two disks; a copy that fails leaves nothing.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to).or_else(|_other_disk| {
        let mut source = File::open(from)?;
        atomic_file::write(to, |out| io::copy(&mut source, out).map(drop))?;
        fs::remove_file(from)
    })
}

/// Text about the journal of a run that could not be saved.
fn kept_in(journal: Option<&mut Journal>) -> String {
    let has = match journal.map(|journal| (journal.catch_up(), journal.path().display())) {
        None | Some((JournalExtent::Nothing, _)) => return "the session was not saved".to_owned(),
        Some((JournalExtent::All, path)) => (path, "has it all"),
        Some((JournalExtent::Part, path)) => {
            (path, "has what was measured until it could not be written")
        }
    };
    let (path, has) = has;
    format!(
        "the session was not saved, but its journal {has}: powerband recover {path} --out FILE.ron"
    )
}
