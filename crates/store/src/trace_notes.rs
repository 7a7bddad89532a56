//! Notes on a trace, and which of its tracks are pinned and hidden: a small RON file beside the trace that
//! people can read. The trace itself is never written to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};

use super::ron_keys::options;
use powerband_core::base::system::HAS_FILES;
use powerband_core::base::{atomic_file, regular_file};

/// What the files are called behind the name of the trace.
const END: &str = ".notes.ron";
/// The newest version that this program reads and writes.
const VERSION: u32 = 1;

/// A note on a moment or a stretch of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// When it begins, in nanoseconds from the start of the timeline, as on its ruler.
    pub at_ns: i64,
    /// When it ends; nothing for a moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<i64>,
    /// What it says.
    pub text: String,
}

impl Note {
    /// From when to when.
    pub fn times(&self) -> (f64, f64) {
        let to_ns = self.to_ns.unwrap_or(self.at_ns).max(self.at_ns);
        (self.at_ns as f64, to_ns as f64)
    }
}

/// A track by its names: numbers of tracks are the trace's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrackName {
    /// The device or the process.
    pub group: String,
    /// The stream or the thread.
    pub name: String,
}

/// What is kept beside a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceNotes {
    /// The version of the file.
    pub version: u32,
    /// Notes, the earliest first.
    pub notes: Vec<Note>,
    /// Tracks that stay in sight.
    pub pinned: Vec<TrackName>,
    /// Tracks that are hidden.
    pub hidden: Vec<TrackName>,
}

impl TraceNotes {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.pinned.is_empty() && self.hidden.is_empty()
    }
}

/// Where the notes on a trace belong: `run.json.gz` has `run.json.gz.notes.ron`.
pub fn path(trace: &Path) -> PathBuf {
    let mut name = trace.file_name().unwrap_or_default().to_os_string();
    name.push(END);
    trace.with_file_name(name)
}

/// Whether a file is called as notes are: it is no session then.
pub fn is_notes(path: &Path) -> bool {
    trace_of(path).is_some()
}

/// The name of the trace that notes belong to.
pub(crate) fn trace_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(END)
}

/// Reads the notes on a trace; a missing file has none. The error says what is to be done.
pub fn read(path: &Path) -> Result<TraceNotes, String> {
    if !HAS_FILES {
        return Ok(TraceNotes::default());
    }
    let cannot = |why: String| format!("the notes in {} {why}", path.display());
    let text = match regular_file::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(TraceNotes::default()),
        Err(error) => return Err(cannot(format!("cannot be read: {error}"))),
    };
    let notes: TraceNotes = options()
        .from_str(&text)
        .map_err(|error| cannot(format!("are damaged: {error}; mend or remove the file")))?;
    if notes.version > VERSION {
        return Err(cannot(
            "are of a newer Powerband; update to change them".to_owned(),
        ));
    }
    Ok(notes)
}

/// Writes the notes on a trace, whole or not at all. Where there are none the file goes.
pub fn write(path: &Path, notes: &TraceNotes) -> Result<(), String> {
    if !HAS_FILES {
        return Ok(());
    }
    let written = if notes.is_empty() {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    } else {
        let config = PrettyConfig::new().indentor("  ").struct_names(false);
        let notes = TraceNotes {
            version: VERSION,
            ..notes.clone()
        };
        let text = options()
            .to_string_pretty(&notes, config)
            .map_err(|error| format!("the notes cannot be written as text: {error}"))?;
        let head = "// Notes of Powerband. Times are nanoseconds from the start of the timeline.";
        atomic_file::write_bytes(path, format!("{head}\n{text}\n").as_bytes())
    };
    written.map_err(|error| {
        let folder = path.parent().unwrap_or_else(|| Path::new(".")).display();
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => format!(
                "the folder {folder} is read-only: the notes stay until the timeline is closed; copy the trace to another folder to keep them"
            ),
            _ => format!("the notes cannot be written to {}: {error}", path.display()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes() -> TraceNotes {
        TraceNotes {
            version: VERSION,
            notes: vec![
                Note {
                    at_ns: 5,
                    to_ns: None,
                    text: "a \"moment\"\nin two lines".to_owned(),
                },
                Note {
                    at_ns: 7,
                    to_ns: Some(9_000_000_000),
                    text: "größer".to_owned(),
                },
            ],
            pinned: vec![TrackName {
                group: "GPU 0".to_owned(),
                name: "stream 7".to_owned(),
            }],
            hidden: Vec::new(),
        }
    }

    #[test]
    fn notes_come_back_and_the_file_goes_with_the_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(&folder.path().join("run.json.gz"));
        assert!(path.ends_with("run.json.gz.notes.ron"));
        assert!(is_notes(&path) && !is_notes(Path::new("run.ron")));
        assert_eq!(trace_of(&path), Some("run.json.gz"));
        assert_eq!(read(&path), Ok(TraceNotes::default()));
        write(&path, &notes()).unwrap();
        assert_eq!(read(&path), Ok(notes()));
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("at_ns: 7,\n") && text.contains("to_ns: 9000000000"),
            "{text}"
        );
        write(&path, &TraceNotes::default()).unwrap();
        assert!(!path.exists());
        write(&path, &TraceNotes::default()).unwrap();
    }

    #[test]
    fn damaged_and_newer_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.notes.ron");
        for (text, why) in [("(version: 99)", "newer"), ("(notes: [", "damaged")] {
            fs::write(&path, text).unwrap();
            assert!(read(&path).unwrap_err().contains(why), "{text}");
        }
        let gone = write(&folder.path().join("gone/a.notes.ron"), &notes());
        assert!(gone.unwrap_err().contains("cannot be written"));
    }
}
