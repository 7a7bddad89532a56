//! Background work for the timeline: reading traces, finding names, and adding up a range.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{OpenTrace, TraceReading};
use crate::backend::{Backend, FileProgress, ReadTimeline};
use crate::doors::ProfileDoor;
use crate::jobs::Outlet;
use crate::screen::Screen;
use crate::sessions::SessionId;
use crate::sessions::work::Opened;
use powerband_core::base::humanize;
use powerband_core::domain::file_set::FileSet;
use powerband_findings::analysis::timeline::Timeline;
use powerband_store::trace_notes;

/// Reads files, those of one process together. One that belongs to another is no trace of its own.
pub(crate) fn read(wanted: &[TraceReading], backend: &dyn Backend, outlet: &Outlet) {
    let files: Vec<PathBuf> = wanted.iter().map(|reading| reading.path.clone()).collect();
    for set in backend.file_sets(&files) {
        let of_set = wanted
            .iter()
            .filter(|one| set.named().any(|file| file == one.path));
        for (place, reading) in of_set.enumerate() {
            let read = match place {
                0 => read_set(reading, &set, backend, outlet),
                _ => Err(None),
            };
            if let Some(read) = read.transpose() {
                let id = reading.id;
                outlet.send_to(move |door: &mut ProfileDoor, shared| {
                    door.trace_read(id, read, shared);
                });
            }
        }
    }
}

/// Reads a set of files. What they hold is opened as a session; its timeline is the answer, where it has one.
fn read_set(
    reading: &TraceReading,
    set: &FileSet,
    backend: &dyn Backend,
    outlet: &Outlet,
) -> Result<Option<Box<OpenTrace>>, Option<String>> {
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
    let all = set.named().chain(set.companions()).map(bytes).sum();
    reading.bytes.store(all, Ordering::Relaxed);
    let progress = FileProgress {
        cancel: reading.cancel.clone(),
        bytes: Some(&reading.progress),
        before: Some(&reading.before),
    };
    if let Some(profile) = reading.profile {
        let read = backend.read_timeline(set, &progress)?;
        let owner = (reading.session, profile);
        let mut open = opened(reading, owner, read);
        if !backend.has_machine() {
            // Notes on it are in no file.
            open.path = None;
            open.kept = Ok(trace_notes::TraceNotes::default());
        }
        return Ok(Some(Box::new(open)));
    }
    let (session, read) = backend.read_session(set, &progress)?;
    if reading.cancel.is_cancelled() {
        return Err(None);
    }
    let screen = if session.profiles.is_empty() {
        Screen::Curves
    } else {
        Screen::Kernels
    };
    let imported = Opened::unsaved(reading.session, session);
    outlet.send(|app| app.shared.opened(imported));
    if read.trace.is_empty() {
        let id = reading.id;
        outlet
            .send_to(move |door: &mut ProfileDoor, shared| door.without_times(id, screen, shared));
        return Ok(None);
    }
    let open = opened(reading, (reading.session, 0), read);
    if reading.cancel.is_cancelled() {
        return Err(None);
    }
    Ok(Some(Box::new(open)))
}

/// A trace made ready.
fn opened(reading: &TraceReading, owner: (SessionId, usize), read: ReadTimeline) -> OpenTrace {
    let ReadTimeline { trace, mut notes } = read;
    let timeline = Timeline::from_trace(&trace);
    if timeline.left_out > 0 {
        notes.push(format!(
            "{} not drawn: more than 64 overlap on one track",
            humanize::pluralised(timeline.left_out as u64, "slice")
        ));
    }
    OpenTrace {
        name: reading.name.clone(),
        path: Some(reading.path.clone()),
        owner: Some(owner),
        notes,
        kept: trace_notes::read(&trace_notes::path(&reading.path)),
        lanes: Vec::new(),
        timeline: Arc::new(timeline),
        trace,
        compared: None,
    }
}
