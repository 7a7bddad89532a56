//! What background threads do for the timeline: read a trace, find names in it, add up what ran.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Measured, OpenTrace, Reading, TraceId};
use crate::inbox::{Message, Opened, SessionMessage, TraceMessage};
use crate::jobs::Outlet;
use crate::screen::Screen;
use crate::sessions::{Findings, SessionId};
use powerband_core::base::humanize;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::timeline::Timeline;
use powerband_findings::analysis::timeline::find::Hits;
use powerband_findings::analysis::timeline::selection::Statistics;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_import::{self as import, ImportError, Imported};
use powerband_measure::runner::importing;

/// Reads files, each with those that belong to it. One that belongs to another is no trace of its own.
pub(crate) fn read(wanted: &[Reading], outlet: &Outlet) {
    let mut taken: Vec<PathBuf> = Vec::new();
    for reading in wanted {
        let read = if taken.contains(&reading.path) {
            Err(None)
        } else {
            let companions = import::companions(&reading.path);
            let read = read_one(reading, &companions, outlet);
            taken.extend(companions);
            read
        };
        outlet.send(match read {
            Ok(Some(open)) => Message::Trace(TraceMessage::Read(reading.id, Ok(open))),
            Ok(None) => continue,
            Err(reason) => Message::Trace(TraceMessage::Read(reading.id, Err(reason))),
        });
    }
}

/// Reads one file. What it holds is opened as a session; its timeline is the answer, where it has one.
fn read_one(
    reading: &Reading,
    companions: &[PathBuf],
    outlet: &Outlet,
) -> Result<Option<Box<OpenTrace>>, Option<String>> {
    let bytes = |path: &PathBuf| fs::metadata(path).map_or(0, |about| about.len());
    let all = bytes(&reading.path) + companions.iter().map(bytes).sum::<u64>();
    reading.bytes.store(all, Ordering::Relaxed);
    let imported = open(reading, companions).map_err(|error| match error {
        ImportError::Cancelled => None,
        error => Some(error.in_window()),
    })?;
    let notes = imported.notes.clone();
    if let Some(profile) = reading.profile {
        let owner = (reading.session, profile);
        return Ok(Some(Box::new(opened(
            reading,
            owner,
            notes,
            imported.trace,
        ))));
    }
    let mut taken = importing::session(vec![(reading.name.clone(), imported)]);
    let trace = taken.traces.pop().unwrap_or_default();
    if reading.cancel.is_cancelled() {
        return Err(None);
    }
    let screen = if taken.session.profiles.is_empty() {
        Screen::Curves
    } else {
        Screen::Kernels
    };
    outlet.send(Message::Session(SessionMessage::Opened(Box::new(Opened {
        id: reading.session,
        findings: Findings::of(&taken.session),
        session: Arc::new(taken.session),
        path: None,
        stamp: None,
        newer: None,
    }))));
    if trace.is_empty() {
        outlet.send(Message::Trace(TraceMessage::WithoutTimes(
            reading.id, screen,
        )));
        return Ok(None);
    }
    let open = opened(reading, (reading.session, 0), notes, trace);
    if reading.cancel.is_cancelled() {
        return Err(None);
    }
    Ok(Some(Box::new(open)))
}

/// A trace made ready.
fn opened(
    reading: &Reading,
    owner: (SessionId, usize),
    mut notes: Vec<String>,
    trace: Trace,
) -> OpenTrace {
    let timeline = Timeline::of(&trace);
    if timeline.left_out > 0 {
        notes.push(format!(
            "{} not drawn: more than 64 lie over each other on one track",
            humanize::of_many(timeline.left_out as u64, "slice")
        ));
    }
    OpenTrace {
        name: reading.name.clone(),
        path: Some(reading.path.clone()),
        owner: Some(owner),
        notes,
        lanes: Vec::new(),
        timeline: Arc::new(timeline),
        trace: Arc::new(trace),
    }
}

fn open(reading: &Reading, companions: &[PathBuf]) -> Result<Imported, ImportError> {
    let watch = ReadProgress {
        cancel: reading.cancel.clone(),
        progress: Some(&reading.progress),
    };
    let limits = Limits::default();
    let mut imported = import::read(&reading.path, limits, &watch)?;
    for path in companions {
        let read = reading.progress.swap(0, Ordering::Relaxed);
        reading.before.fetch_add(read, Ordering::Relaxed);
        match import::add(path, limits, &watch, &mut imported) {
            Ok(()) => {}
            Err(ImportError::Cancelled) => return Err(ImportError::Cancelled),
            Err(error) => imported.note(format!("left out: {}", error.in_window())),
        }
    }
    Ok(imported)
}

/// Looks for names.
pub(crate) fn find(id: TraceId, open: &OpenTrace, text: &str, outlet: &Outlet) {
    let hits = Hits::of(&open.trace, &open.timeline, text);
    outlet.send(Message::Trace(TraceMessage::Found(id, Box::new(hits))));
}

/// Adds up what ran in a stretch of time.
pub(crate) fn sum(id: TraceId, open: &OpenTrace, measured: Measured, outlet: &Outlet) {
    let statistics = Statistics::of(&open.timeline, measured.stretch, measured.rows.clone());
    outlet.send(Message::Trace(TraceMessage::Summed(
        id,
        measured,
        Box::new(statistics),
    )));
}
