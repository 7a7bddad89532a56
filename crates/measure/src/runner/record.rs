//! A run with everything around it: a journal before, the saved session after.
//!
//! Failing to save never loses a run: the session then goes into the library, or stays in its journal.

use std::fs;
use std::path::{Path, PathBuf};

use super::control::Control;
use super::run::{self, Observer, PreparedRun};
use powerband_core::base::clock;
use powerband_core::base::paths::Paths;
use powerband_core::domain::event::Beginning;
use powerband_core::domain::session::Session;
use powerband_store::journal::Journal;
use powerband_store::library::Stamp;
use powerband_store::session_file::WriteError;
use powerband_store::{library, session_file, trace_file};

/// Where the session goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
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

impl Target {
    /// Whether a session can be written there, as far as can be known before the run.
    pub fn check(&self) -> Result<(), WriteError> {
        match self {
            Self::Library | Self::Again { .. } => Ok(()),
            Self::File { path, may_replace } => session_file::check_target(path, *may_replace),
        }
    }
}

/// A run that is over.
#[derive(Debug)]
pub struct Recorded {
    /// What was measured.
    pub session: Session,
    /// The session's file; or why there is none, and where its journal is.
    pub saved: Result<PathBuf, String>,
    /// Why the session is not where it was wanted, but in the library.
    pub diverted: Option<String>,
    /// What else went wrong without doing harm, a sentence each.
    pub notes: Vec<String>,
}

/// A run that is about to begin, with its journal.
#[derive(Debug)]
pub struct Recorder {
    journal: Option<Journal>,
    /// Why there is no journal.
    pub note: Option<String>,
}

impl Recorder {
    /// Makes the journal. A run goes on without one, but the user should know before it begins.
    pub fn begin(beginning: &Beginning, paths: &Paths) -> Self {
        let name = format!(
            "{}-{}",
            library::safe(&beginning.name),
            clock::file_stamp(&beginning.created)
        );
        match Journal::create(&library::journals(paths), &name) {
            Ok(journal) => Self {
                journal: Some(journal),
                note: None,
            },
            Err(error) => Self {
                journal: None,
                note: Some(format!(
                    "No journal can be kept ({error}); should the program be killed, this run is lost."
                )),
            },
        }
    }

    /// Runs to the end and saves.
    pub fn run(
        self,
        request: PreparedRun,
        paths: &Paths,
        target: &Target,
        control: &Control,
        observer: &mut Observer<'_>,
    ) -> Recorded {
        let (mut session, journal) = run::run(request, self.journal, control, observer);
        let mut notes: Vec<String> = self.note.into_iter().collect();
        let mut diverted = None;
        let saved = save(&mut session, paths, target, &mut diverted);
        let saved = saved.map_err(|reason| format!("{}: {reason}", kept_in(journal.as_ref())));
        if saved.is_ok()
            && let Some(Err(error)) = journal.map(Journal::discard)
        {
            notes.push(format!("The journal could not be removed: {error}"));
        }
        Recorded {
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
    target: &Target,
    control: &Control,
    observer: &mut Observer<'_>,
) -> Recorded {
    Recorder::begin(&request.beginning, paths).run(request, paths, target, control, observer)
}

/// Writes the session where it was asked for; failing that, into the library, so that nothing is lost.
fn save(
    session: &mut Session,
    paths: &Paths,
    target: &Target,
    diverted: &mut Option<String>,
) -> Result<PathBuf, String> {
    if let Target::File { path, .. } = target {
        // Checked once more: another run may have written there meanwhile.
        let written = target.check().and_then(|()| {
            bring_traces(session, path);
            session_file::write(path, session)
        });
        match written {
            Ok(()) => return Ok(path.clone()),
            Err(error) => {
                *diverted = Some(format!(
                    "{error}; the session goes into the library instead"
                ));
            }
        }
    }
    if let Target::Again { path, stamp } = target {
        if Stamp::of(path).is_ok_and(|now| now == *stamp) {
            bring_traces(session, path);
            match session_file::write(path, session) {
                Ok(()) => return Ok(path.clone()),
                Err(error) => *diverted = Some(error.to_string()),
            }
        } else {
            *diverted = Some(format!("{} was changed meanwhile", path.display()));
        }
        let why = diverted.take().unwrap_or_default();
        *diverted = Some(format!(
            "{why}; the session with its new rounds goes into the library instead"
        ));
    }
    let path = library_path(session, paths)?;
    bring_traces(session, &path);
    session_file::write(&path, session).map_err(|error| error.to_string())?;
    Ok(path)
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
        // Folders of two disks cannot be moved between.
        let moved = fs::rename(&from, &beside)
            .or_else(|_| fs::copy(&from, &beside).and_then(|_| fs::remove_file(&from)));
        if let (Ok(()), Some(name)) = (moved, beside.file_name()) {
            profile.trace_file = Some(name.to_string_lossy().into_owned());
        }
    }
}

fn library_path(session: &Session, paths: &Paths) -> Result<PathBuf, String> {
    library::new_path(paths, &session.name, &session.created)
        .map_err(|error| format!("cannot make a file in {}: {error}", paths.library.display()))
}

fn kept_in(journal: Option<&Journal>) -> String {
    journal.filter(|journal| journal.is_whole()).map_or_else(
        || "the session was not saved".to_owned(),
        |journal| kept_at(journal.path()),
    )
}

fn kept_at(path: &Path) -> String {
    let path = path.display();
    format!(
        "the session was not saved, but its journal has it all: powerband recover {path} --out FILE.ron"
    )
}
