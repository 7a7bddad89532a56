//! A timeline beside its session: a packed Chrome trace, which Perfetto and `chrome://tracing` open too.
//!
//! A session may come from anyone, so what it calls its timeline is a name and not a path: the file is looked
//! for beside the session, and nowhere else.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read as _, Write};
use std::path::{Component, Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};

use super::packed_parts::pack_parts;
use super::trace_lines::{SliceLines, push_time};
use super::trace_notes;
use powerband_core::base::{atomic_file, regular_file};
use powerband_core::domain::trace::{MemoryEvent, Trace};

/// What the files are called behind the session's name.
const END: &str = "trace.json.gz";

/// A trace may unpack to so many bytes, as `import` has it.
const MOST_UNPACKED: u64 = 4_000_000_000;
/// The folder of timelines whose run has no file yet, below the cache.
const WAITING: &str = "traces";
/// Slices that are packed together.
const SLICES: usize = 1 << 13;
/// Letters of the name of a run's own folder in it.
const RUN_LETTERS: usize = 16;

/// Where the trace of one of a session's profiles belongs: `run.ron` has `run.1.trace.json.gz`.
pub fn path(session: &Path, number: usize) -> PathBuf {
    let stem = session.with_extension("");
    let mut name = stem.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.{END}", number + 1));
    session.with_file_name(name)
}

/// The file of a timeline, by what its session calls it; nothing where it is not there, or may not be read.
///
/// It lies beside the session, also where links lead to both, or in the folder of a run that was not saved yet.
pub fn found(session: Option<&Path>, name: &str) -> Option<PathBuf> {
    let named = Path::new(name);
    if is_waiting(named) {
        return fs::symlink_metadata(named)
            .is_ok_and(|about| about.is_file())
            .then(|| named.to_path_buf());
    }
    let session = session?;
    let mut parts = named.components();
    let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) else {
        return None;
    };
    let beside = session.with_file_name(named);
    let real = fs::canonicalize(&beside).ok()?;
    let folder = session
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let own = fs::canonicalize(session).ok();
    let homes = [
        fs::canonicalize(folder.unwrap_or_else(|| Path::new("."))).ok(),
        own.and_then(|own| own.parent().map(Path::to_path_buf)),
    ];
    let is_beside = homes
        .iter()
        .flatten()
        .any(|home| real.parent() == Some(home));
    (is_beside && real.is_file()).then_some(beside)
}

/// Whether a path is one that a run gives to a timeline until its session is saved:
/// `CACHE/traces/0123456789abcdef/0-batch1.trace.json.gz`.
pub fn is_waiting(path: &Path) -> bool {
    let name = |path: Option<&Path>| {
        let name = path.and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::RootDir);
    let run = name(path.parent());
    path.is_absolute()
        && path.components().all(is_plain)
        && name(Some(path)).ends_with(&format!(".{END}"))
        && run.len() == RUN_LETTERS
        && run.bytes().all(|letter| letter.is_ascii_hexdigit())
        && name(path.parent().and_then(Path::parent)) == WAITING
}

/// The traces that lie beside a session, whether it still knows them or not, with the notes on them.
pub fn traces_of_session(session: &Path) -> Vec<PathBuf> {
    let stem = session.file_stem().unwrap_or_default().to_string_lossy();
    let is_its = |name: &str| {
        let name = trace_notes::trace_of(Path::new(name)).unwrap_or(name);
        name.strip_prefix(&*stem)
            .and_then(|rest| rest.strip_prefix('.')?.strip_suffix(END)?.strip_suffix('.'))
            .is_some_and(|number| number.parse::<usize>().is_ok())
    };
    let files = session.parent().map(fs::read_dir).into_iter().flatten();
    let mut found: Vec<PathBuf> = files
        .flatten()
        .filter_map(Result::ok)
        .filter(|file| file.file_name().to_str().is_some_and(is_its))
        .map(|file| file.path())
        .collect();
    found.sort();
    found
}

/// A timeline that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the timeline cannot be written to {}: {source}", path.display())]
pub struct TraceWriteError {
    path: PathBuf,
    source: io::Error,
}

/// Puts a timeline where it belongs, and returns what the session calls it.
pub fn put_beside(
    session: &Path,
    number: usize,
    put: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<String, TraceWriteError> {
    let path = path(session, number);
    match put(&path) {
        Ok(()) => Ok(name_of(session, number)),
        Err(source) => Err(TraceWriteError { path, source }),
    }
}

/// What a session calls the timeline of one of its profiles.
pub fn name_of(session: &Path, number: usize) -> String {
    let path = path(session, number);
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Writes a trace, beside its place and then moved there.
pub fn write(path: &Path, trace: &Trace) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::NamedTempFile::new_in(folder.unwrap_or_else(|| Path::new(".")))?;
    let file = write_events(BufWriter::new(file), trace)?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    let file: File = file.persist(path).map_err(|error| error.error)?;
    atomic_file::make_readable(&file);
    drop(file);
    Ok(())
}

/// Copies a trace to a file of the user, unpacked unless its name ends as packed files do.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut packed = regular_file::open(from)?;
    atomic_file::write(to, |out| {
        let is_packed = to.extension().is_some_and(|ending| ending == "gz");
        if is_packed {
            io::copy(&mut packed, out)?;
        } else {
            let unpacked = MultiGzDecoder::new(BufReader::new(packed));
            if io::copy(&mut unpacked.take(MOST_UNPACKED), out)? == MOST_UNPACKED {
                let why = format!("it unpacks to more than {} MB", MOST_UNPACKED / 1_000_000);
                return Err(io::Error::other(why));
            }
        }
        Ok(())
    })
}

/// Writes the events packed: their parts are packed side by side, and one stream of them all.
fn write_events<W: Write>(out: W, trace: &Trace) -> io::Result<W> {
    let groups = groups(trace);
    let processes: Vec<usize> = trace
        .tracks
        .iter()
        .map(|track| groups.iter().position(|group| *group == track.group))
        .map(Option::unwrap_or_default)
        .collect();
    let beginning = beginning(trace, &groups, &processes);
    let has_described = !groups.is_empty();
    let parts = trace.len().div_ceil(SLICES);
    pack_parts(out, parts + 2, |part| {
        let Some(part) = part.checked_sub(1) else {
            return beginning.clone();
        };
        let from = part * SLICES;
        let mut text = String::new();
        if part == parts {
            for event in &trace.memory {
                text.push_str(&memory_line(event, &processes));
            }
            text.push_str("\n]}\n");
        } else {
            let to = trace.len().min(from + SLICES);
            SliceLines::new(trace, &processes, from).write(from..to, &mut text);
        }
        if from == 0 && !has_described {
            text = text.strip_prefix(",\n").unwrap_or(&text).to_owned();
        }
        text
    })
}

/// The beginning of the file, with what its processes and threads are called.
fn beginning(trace: &Trace, groups: &[&str], processes: &[usize]) -> String {
    let names = groups.iter().enumerate();
    let names = names.map(|(number, group)| described("process_name", number, 0, group));
    let tracks = trace.tracks.iter().zip(processes).enumerate();
    let tracks = tracks
        .map(|(number, (track, process))| described("thread_name", *process, number, &track.name));
    let lines: Vec<String> = names.chain(tracks).map(|line| line.to_string()).collect();
    format!(
        "{{\"powerband\": 1, \"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{}",
        lines.join(",\n")
    )
}

/// Devices and processes in words, each once.
fn groups(trace: &Trace) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for track in &trace.tracks {
        if !groups.contains(&track.group.as_str()) {
            groups.push(&track.group);
        }
    }
    groups
}

fn described(what: &str, process: usize, thread: usize, name: &str) -> Value {
    json!({"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}})
}

/// Memory as PyTorch writes it, which viewers know.
fn memory(event: &MemoryEvent) -> Value {
    json!({
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "s": "t",
        "args": {
            "Bytes": event.change,
            "Total Allocated": event.total,
            "Device Type": i32::from(event.device.is_some()),
            "Device Id": event.device,
        },
    })
}

/// The line of a change of memory, behind the end of the line before.
fn memory_line(event: &MemoryEvent, processes: &[usize]) -> String {
    let mut fields = memory(event);
    if let (Some(track), Some(fields)) = (event.track, fields.as_object_mut()) {
        let process = processes.get(track as usize).copied();
        fields.insert("pid".to_owned(), json!(process.unwrap_or_default()));
        fields.insert("tid".to_owned(), json!(track));
    }
    let mut line = ",\n{".to_owned();
    push_time(&mut line, "ts", event.at_ns);
    line.push_str(fields.to_string().trim_start_matches('{'));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_lie_beside_their_session() {
        let path = path(Path::new("/a/run.2.ron"), 0);
        assert_eq!(path, Path::new("/a/run.2.1.trace.json.gz"));
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let its = ["a.1.trace.json.gz", "a.1.trace.json.gz.notes.ron"].map(at);
        for path in its
            .iter()
            .chain(&["b.1.trace.json.gz", "a.notes.ron"].map(at))
        {
            fs::write(path, "").unwrap();
        }
        assert_eq!(
            traces_of_session(&at("a.ron")),
            its,
            "notes on a trace go with it"
        );
    }

    #[test]
    fn a_session_names_no_file_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("in/deeper")).unwrap();
        let waiting = at("traces/0123456789abcdef");
        fs::create_dir_all(&waiting).unwrap();
        for file in [
            "secret",
            "in/a.1.trace.json.gz",
            "in/deeper/a",
            "traces/0123456789abcdef/0-batch1.trace.json.gz",
        ] {
            fs::write(at(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(at("secret"), at("in/link")).unwrap();
        std::os::unix::fs::symlink(at("secret"), waiting.join("1.trace.json.gz")).unwrap();
        let session = at("in/a.ron");
        let is_found = |name: &str| found(Some(&session), name).is_some();
        assert!(is_found("a.1.trace.json.gz"));
        let secret = at("secret").display().to_string();
        for name in [
            "../secret",
            "link",
            "deeper/a",
            "",
            ".",
            "..",
            "none",
            &secret,
        ] {
            assert!(!is_found(name), "{name}");
        }
        let own = |name: &str| waiting.join(name).display().to_string();
        assert!(is_found(&own("0-batch1.trace.json.gz")));
        assert!(!is_found(&own("1.trace.json.gz")), "a link leads elsewhere");
        assert!(!is_waiting(&at(
            "traces/0123456789abcdef/../a.trace.json.gz"
        )));
        assert!(!is_waiting(&at("traces/0123/a.trace.json.gz")));
        // A library whose files are links, as downloads are kept.
        fs::create_dir(at("links")).unwrap();
        for name in ["a.ron", "a.1.trace.json.gz"] {
            fs::write(at("in").join("a.ron"), "").unwrap();
            std::os::unix::fs::symlink(at("in").join(name), at("links").join(name)).unwrap();
        }
        assert!(found(Some(&at("links/a.ron")), "a.1.trace.json.gz").is_some());
    }

    #[test]
    fn times_are_exact_however_large() {
        let mut text = String::new();
        push_time(&mut text, "ts", 1_753_000_000_123_456_789);
        push_time(&mut text, "dur", -1);
        assert_eq!(text, "\"ts\":1753000000123456.789,\"dur\":-0.001,");
    }
}
