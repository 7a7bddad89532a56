//! What a list of sessions shows of each, read from the head of its file alone.
//!
//! A session's name, notes, plan and model stand before its environment; the samples, which may be
//! megabytes, stand behind. Whatever cannot be read so is read whole.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::migrate;
use super::session_file::{self, ReadError};
use super::version::{self, VersionStatus};
use powerband_core::base::regular_file;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::setup::Setup;

/// How much of a file is read; a head that is longer is no head.
const HEAD_BYTES: u64 = 64 << 10;
/// How much of its end is looked at.
const TAIL_BYTES: u64 = 64;
/// The line that the head ends before. Text in a session has no line breaks of its own, so no note
/// can look like it; in a file edited by hand one could, and then what is cut off here is not valid.
const END_OF_HEAD: &[u8] = b"\n    environment: (";
/// The line that the environment ends with.
const END_OF_ENVIRONMENT: &[u8] = b"\n    ),";

/// A file that is larger is not read whole for knowing how long a plan takes.
const QUICKLY_READ_BYTES: u64 = 4 << 20;

/// Size and time of a file, by which a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    modified: SystemTime,
    bytes: u64,
}

impl Stamp {
    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The state of a file as it is now.
    pub fn read(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self {
            modified: metadata.modified()?,
            bytes: metadata.len(),
        })
    }
}

/// A session as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionEntry {
    /// Its file.
    pub path: PathBuf,
    /// What the user calls it.
    pub name: String,
    /// When the run began, RFC 3339 in UTC.
    pub created: String,
    /// How far the run came.
    pub completion: Completion,
    /// Whether any number in it is made up.
    pub made_up: bool,
    /// Whether it has published numbers.
    pub is_published: bool,
    /// Whether its plan was run here.
    pub is_run: bool,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The user's own words.
    pub notes: String,
    /// Name of the model.
    pub model: String,
    /// The engines of its setups, each once.
    pub engines: Vec<String>,
    /// The machines that it was measured on: the graphics processors of the one that Powerband ran on, else its
    /// processor, and the names of others; empty where the head of the file does not say it.
    pub machine: String,
    /// How its setups are called.
    pub setups: Vec<String>,
    /// Points of the plan's sweep.
    pub points: Vec<Point>,
    /// The state of the file that this was read from.
    pub stamp: Stamp,
}

impl SessionEntry {
    /// How its run ended, or that its numbers are made up.
    pub fn state_name(&self) -> &'static str {
        if self.made_up {
            "made up"
        } else {
            self.completion.title()
        }
    }

    /// Whether it holds published numbers and nothing that was measured.
    pub fn is_published_only(&self) -> bool {
        self.is_published && self.setups.is_empty()
    }

    /// Whether its plan may have measured a network, by its name or by its file.
    pub fn may_be_of(&self, model: &str) -> bool {
        let stem = Path::new(model).file_stem().and_then(|stem| stem.to_str());
        self.is_run && (self.model == model || stem == Some(&self.model))
    }

    /// Whether it is small enough to be read for knowing how long a plan takes.
    pub fn is_quickly_read(&self) -> bool {
        self.stamp.bytes() <= QUICKLY_READ_BYTES
    }

    /// When it was measured; nothing for published numbers.
    pub fn measured(&self) -> Option<&str> {
        (!self.is_published_only()).then_some(self.created.as_str())
    }

    /// Whether there is a plan to run again, or why not.
    pub fn can_run_again(&self) -> Result<(), &'static str> {
        if self.is_run {
            return Ok(());
        }
        Err("Powerband did not measure its numbers: there is no plan to run again")
    }
}

/// The list entry of a session's file, read without its measurements.
pub fn entry(path: &Path) -> Result<SessionEntry, ReadError> {
    let unreadable = |source| ReadError::Io {
        path: path.to_path_buf(),
        source,
    };
    // Taken first: a change while it is read then shows as one.
    let stamp = Stamp::read(path).map_err(unreadable)?;
    let head = match quick_head(path).map_err(unreadable)? {
        Some(head) => head,
        None => SessionHead::from_session(session_file::read(path)?.session),
    };
    Ok(head.into_entry(path, stamp))
}

#[derive(Deserialize)]
struct Document {
    session: SessionHead,
}

/// The fields of a session that an entry is made from.
#[derive(Deserialize)]
struct SessionHead {
    name: String,
    created: String,
    completion: Completion,
    made_up: bool,
    notes: String,
    #[serde(default)]
    tags: Vec<String>,
    plan: Plan,
    model: ModelRef,
    #[serde(default)]
    published: Option<IgnoredAny>,
    /// Read from the lines behind the head.
    #[serde(skip)]
    machine: String,
}

impl SessionHead {
    fn from_session(session: Session) -> Self {
        Self {
            name: session.name,
            created: session.created,
            completion: session.completion,
            made_up: session.made_up,
            notes: session.notes,
            tags: session.tags,
            plan: session.plan,
            model: session.model,
            published: session.published.map(|_| IgnoredAny),
            machine: machine_words(&session.environment),
        }
        .with_others()
    }

    /// With the machines that setups ask for. Nothing is said of this machine where no setup ran on it.
    fn with_others(mut self) -> Self {
        let asked = self.plan.setups.iter().map(Setup::machine_asked_for);
        let asked: Vec<Option<&str>> = asked.collect();
        let mut names: Vec<&str> = Vec::new();
        if asked.is_empty() || asked.contains(&None) {
            names.push(&self.machine);
        }
        for name in asked.into_iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.retain(|name| !name.is_empty());
        self.machine = names.join(", ");
        self
    }

    fn into_entry(self, path: &Path, stamp: Stamp) -> SessionEntry {
        let setups = 0..self.plan.setups.len();
        SessionEntry {
            path: path.to_path_buf(),
            name: self.name,
            created: self.created,
            completion: self.completion,
            made_up: self.made_up,
            is_published: self.published.is_some(),
            is_run: self.plan.can_run(),
            tags: self.tags,
            notes: self.notes,
            model: self.model.name,
            engines: engines(&self.plan),
            machine: self.machine,
            setups: setups.filter_map(|setup| self.plan.label(setup)).collect(),
            points: self.plan.points,
            stamp,
        }
    }
}

/// The head alone; nothing where the file must be read whole to be understood, or to say what is wrong
/// with it.
fn quick_head(path: &Path) -> io::Result<Option<SessionHead>> {
    head_of(&mut regular_file::open(path)?)
}

fn head_of(file: &mut (impl Read + Seek)) -> io::Result<Option<SessionHead>> {
    let mut bytes = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut bytes)?;
    let Some(end) = bytes
        .windows(END_OF_HEAD.len())
        .position(|window| window == END_OF_HEAD)
    else {
        return Ok(None);
    };
    let environment = environment_of(&bytes[end..]);
    bytes.truncate(end);
    // A file that was cut off has a good head too.
    if !is_closed(file)? {
        return Ok(None);
    }
    let head = String::from_utf8(bytes).ok().and_then(|text| parse(&text));
    Ok(head.map(|head| {
        SessionHead {
            machine: environment.map_or_else(String::new, |found| machine_words(&found)),
            ..head
        }
        .with_others()
    }))
}

/// The environment that stands behind the head, where it is whole in what was read.
fn environment_of(bytes: &[u8]) -> Option<Environment> {
    let end = bytes
        .windows(END_OF_ENVIRONMENT.len())
        .position(|window| window == END_OF_ENVIRONMENT)?;
    let text = std::str::from_utf8(bytes.get(END_OF_HEAD.len() - 1..end)?).ok()?;
    ron::from_str(&format!("{text})")).ok()
}

/// The graphics processors of a machine, each model once, else its processor.
fn machine_words(environment: &Environment) -> String {
    let mut names: Vec<&str> = Vec::new();
    for gpu in &environment.gpus {
        if !names.contains(&gpu.name.as_str()) {
            names.push(&gpu.name);
        }
    }
    if names.is_empty() {
        return environment.cpu.model.clone();
    }
    names.join(", ")
}

/// The engines of a plan, each once.
fn engines(plan: &Plan) -> Vec<String> {
    let mut engines: Vec<String> = Vec::new();
    for setup in &plan.setups {
        if !engines.contains(&setup.engine) {
            engines.push(setup.engine.clone());
        }
    }
    engines
}

fn parse(text: &str) -> Option<SessionHead> {
    let text = match version::version_status(text)? {
        VersionStatus::Current => text.to_owned(),
        VersionStatus::Older(from) => migrate::migrate(text, from).ok()?,
        VersionStatus::Newer(_) => return None,
    };
    let closed = format!("{text}\n  )\n)");
    ron::from_str::<Document>(&closed)
        .ok()
        .map(|document| document.session)
}

/// Whether the last thing in a file is a closing parenthesis.
fn is_closed(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    Ok(tail.trim_ascii_end().ends_with(b")"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::super::testing;
    use super::*;

    fn written(session: &Session) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ron");
        session_file::write(&path, session).unwrap();
        (folder, path)
    }

    fn entry_of_full_file(path: &Path) -> SessionEntry {
        let session = session_file::read(path).unwrap().session;
        SessionHead::from_session(session).into_entry(path, Stamp::read(path).unwrap())
    }

    /// A file that counts what is read of it.
    struct CountingFile {
        file: File,
        read: u64,
    }

    impl Read for CountingFile {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.file.read(buffer)?;
            self.read += read as u64;
            Ok(read)
        }
    }

    impl Seek for CountingFile {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    #[test]
    fn of_a_large_session_the_head_alone_is_read() {
        let mut session = testing::session();
        session.cases[0].rounds[0].samples_ns = vec![123_456_789; 2 << 20];
        let (_folder, path) = written(&session);
        let whole_bytes = fs::metadata(&path).unwrap().len();
        let mut counted = CountingFile {
            file: File::open(&path).unwrap(),
            read: 0,
        };
        assert!(head_of(&mut counted).unwrap().is_some());
        assert!(counted.read <= HEAD_BYTES + TAIL_BYTES, "{}", counted.read);
        assert!(whole_bytes > 100 * counted.read, "{whole_bytes}");
        let entry = entry(&path).unwrap();
        assert_eq!(entry, entry_of_full_file(&path));
        assert_eq!(
            (entry.model.as_str(), entry.points.as_slice()),
            ("resnet18@cifar", [1, 2].map(Point::of_batch).as_slice())
        );
        assert_eq!(entry.setups, ["quick one", "fake:cpu,noise=2"]);
    }

    #[test]
    fn machines_of_setups_are_named_in_the_entry() {
        let mut session = testing::session();
        session.environment.gpus.clear();
        session.environment.cpu.model = "Example 7313P".to_owned();
        let entry_with = |session: &Session| {
            let (_folder, path) = written(session);
            let entry = entry(&path).unwrap();
            assert_eq!(entry, entry_of_full_file(&path));
            entry.machine
        };
        assert_eq!(entry_with(&session), "Example 7313P");
        session.plan.setups[1] = "fake:cpu,where=rack".parse().unwrap();
        assert_eq!(entry_with(&session), "Example 7313P, rack");
        session.plan.setups[0] = "fake:cpu,where=shelf".parse().unwrap();
        assert_eq!(entry_with(&session), "shelf, rack");
    }

    #[test]
    fn what_was_published_is_told_from_the_head() {
        for example in crate::examples::ALL {
            let session = example.open().unwrap().session;
            let (_folder, path) = written(&session);
            assert!(quick_head(&path).unwrap().is_some(), "{}", example.file);
            let entry = entry(&path).unwrap();
            assert_eq!(entry, entry_of_full_file(&path));
            assert_eq!(entry.is_published, session.published.is_some());
            let is_measured = !entry.is_published_only();
            assert_eq!(entry.measured().is_some(), is_measured);
            assert_eq!(entry.can_run_again().is_ok(), is_measured);
        }
    }

    #[test]
    fn notes_that_look_like_a_session_confuse_nothing() {
        let mut session = testing::session();
        session.notes = "first\n    environment: (\n  ),\n)\n\"quoted\" \\ //".to_owned();
        session.name = "(version: 9, session: (".to_owned();
        let (_folder, path) = written(&session);
        assert!(quick_head(&path).unwrap().is_some());
        assert_eq!(entry(&path).unwrap(), entry_of_full_file(&path));
        assert_eq!(entry(&path).unwrap().notes, session.notes);

        // As a person would write it, with a line break in the text.
        let text = session_file::to_text(&session).unwrap();
        let by_hand = text.replace(
            "first\\n    environment: (\\n",
            "first\n    environment: (\n",
        );
        assert_ne!(by_hand, text);
        fs::write(&path, by_hand).unwrap();
        assert!(quick_head(&path).unwrap().is_none());
        assert_eq!(entry(&path).unwrap(), entry_of_full_file(&path));
        assert_eq!(entry(&path).unwrap().notes, session.notes);
    }

    #[test]
    fn long_notes_are_read_whole() {
        let mut session = testing::session();
        session.notes = "ä".repeat(100_000);
        let (_folder, path) = written(&session);
        assert_eq!(entry(&path).unwrap(), entry_of_full_file(&path));
    }

    #[test]
    fn broken_files_are_errors() {
        let text = session_file::to_text(&testing::session()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ron");
        let refused = |text: &str| {
            fs::write(&path, text).unwrap();
            entry(&path).unwrap_err().to_string()
        };
        assert!(refused("").contains("empty"));
        assert!(refused("{}").contains("not a Powerband session"));
        let end = text.len() / 2;
        assert!(refused(&text[..end]).contains("damaged"));
        assert!(refused(&text.replace("made_up: true", "made_up: perhaps")).contains("damaged"));
        assert!(
            refused(
                &text
                    .replace("version: 2,", "version: 99,")
                    .replace("plan: (", "plans: (")
            )
            .contains("newer Powerband")
        );
        assert!(entry(Path::new("/nowhere/a.ron")).is_err());
    }
}
