//! Notes on the trace that is shown: added, edited, removed, gone to, and written beside the trace.

use crate::doors::ProfileDoor;
use crate::shared::Shared;
use std::path::PathBuf;
use std::sync::Arc;

use super::notebook::NOTE;
use super::{OpenTrace, TimelineSelection, TraceId, TraceView};
use crate::WindowRequest;
use crate::notices::NoticeLevel;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_store::trace_notes::{self, Note, TraceNotes, TrackName};

impl ProfileDoor {
    /// Adds a note on what is selected, else on the time under the pointer, else in the middle of what is
    /// visible.
    pub(crate) fn add_note(&mut self, shared: &mut Shared) {
        let hand = self.timeline.hand_ns;
        let Some((id, open, view)) = self.timeline.current() else {
            return;
        };
        let (at, to) = match &view.selected {
            Some(TimelineSelection::Span(measured)) => {
                (measured.stretch.from, Some(measured.stretch.to))
            }
            Some(TimelineSelection::Slice(slice)) => {
                let place = open.timeline.place(*slice);
                let times = place.and_then(|place| open.timeline.times(place));
                let middle = || (view.stretch.middle(), None);
                times.map_or_else(middle, |(from, to)| (from as f64, Some(to as f64)))
            }
            None => (hand.unwrap_or_else(|| view.stretch.middle()), None),
        };
        let note = Note {
            at_ns: at.round() as i64,
            to_ns: to.map(|to| to.round() as i64),
            text: String::new(),
        };
        let place = self.timeline.notebooks.entry(id).or_default().add(note);
        self.edit_note(Some(place), shared);
        self.keep_notes(id, shared);
    }

    /// Puts the cursor into a note's text, or takes it out.
    pub(crate) fn edit_note(&mut self, place: Option<usize>, shared: &mut Shared) {
        let Some(book) = self.timeline.notebook_mut() else {
            return;
        };
        book.editing = place.filter(|place| *place < book.notes.len());
        if book.editing.is_some() {
            shared.outputs.push(WindowRequest::Cursor(NOTE.to_owned()));
        }
    }

    /// Changes a note's text.
    pub(crate) fn write_note(&mut self, place: usize, text: String, shared: &Shared) {
        let shown = self.timeline.shown;
        let book = self.timeline.notebook_mut();
        let note = book.and_then(|book| book.notes.get_mut(place));
        if let (Some(note), Some(id)) = (note, shown) {
            note.text = text;
            self.keep_notes(id, shared);
        }
    }

    /// Removes a note.
    pub(crate) fn remove_note(&mut self, place: usize, shared: &Shared) {
        let Some(book) = self.timeline.notebook_mut() else {
            return;
        };
        if place < book.notes.len() {
            book.notes.remove(place);
            book.editing = None;
            if let Some(id) = self.timeline.shown {
                self.keep_notes(id, shared);
            }
        }
    }

    /// Looks at a note: a moment comes to the middle, a stretch fills the view.
    pub(crate) fn go_to_note(&mut self, place: usize) {
        let Some((from, to)) = self
            .timeline
            .notebook()
            .and_then(|book| book.notes.get(place))
            .map(Note::times)
        else {
            return;
        };
        let Some((_, _, view)) = self.timeline.current() else {
            return;
        };
        let half = view.stretch.length() / 2.0;
        let looked = if to > from {
            TimeRange::new(from, to).with_room()
        } else {
            TimeRange::new(from - half, from + half)
        };
        self.timeline.show_range(looked);
    }

    /// Writes notes and the arrangement of tracks beside their trace, in the background.
    pub(crate) fn keep_notes(&mut self, id: TraceId, shared: &Shared) {
        let kept = self
            .timeline
            .traces
            .get(&id)
            .zip(self.timeline.views.get(&id));
        let Some((open, view)) = kept else {
            return;
        };
        let book = self.timeline.notebooks.entry(id).or_default();
        let Some(path) = book.path.clone() else {
            book.trouble = Some(
                "this timeline has no file of its own: notes stay until it is closed".to_owned(),
            );
            return;
        };
        if book.is_sealed {
            return;
        }
        if book.is_writing {
            book.is_changed = true;
            return;
        }
        book.is_writing = true;
        book.is_changed = false;
        let kept = kept_of(book.notes.clone(), open, view);
        let work = move || trace_notes::write(&path, &kept);
        shared.jobs.spawn_for(
            "trace-notes",
            work,
            move |door: &mut Self, written, shared| {
                door.notes_written(id, written, shared);
            },
        );
    }

    /// What was typed since the last write began, before the notebook of a trace is closed.
    pub(crate) fn flush_notes(&self, id: TraceId, shared: &Shared) {
        if let Some((path, kept)) = self.unwritten_notes(id) {
            shared.jobs.spawn("trace-notes", move |outlet| {
                if let Err(reason) = trace_notes::write(&path, &kept) {
                    outlet.failed(format!("Notes are not saved: {reason}."));
                }
            });
        }
    }

    /// The same at the end of the program, which waits for it.
    pub(crate) fn flush_all_notes(&self) {
        let ids = self.timeline.notebooks.keys();
        for (path, kept) in ids.filter_map(|id| self.unwritten_notes(*id)) {
            // The window is closing: no message would be seen.
            drop(trace_notes::write(&path, &kept));
        }
    }

    fn unwritten_notes(&self, id: TraceId) -> Option<(PathBuf, TraceNotes)> {
        let book = self.timeline.notebooks.get(&id)?;
        let path = book.path.clone()?;
        if book.is_sealed || !(book.is_changed || book.is_writing) {
            return None;
        }
        let open = self.timeline.traces.get(&id)?;
        let view = self.timeline.views.get(&id)?;
        Some((path, kept_of(book.notes.clone(), open, view)))
    }

    /// Notes were written, or not.
    fn notes_written(&mut self, id: TraceId, written: Result<(), String>, shared: &mut Shared) {
        let Some(book) = self.timeline.notebooks.get_mut(&id) else {
            return;
        };
        book.is_writing = false;
        let is_news = written.as_ref().err() != book.trouble.as_ref();
        book.trouble = written.err();
        let trouble = book.trouble.clone().filter(|_| is_news);
        let is_changed = book.is_changed;
        if let Some(why) = trouble {
            shared.notify(NoticeLevel::Trouble, format!("Notes are not saved: {why}."));
        }
        if is_changed {
            self.keep_notes(id, shared);
        }
    }
}

/// What is written.
fn kept_of(notes: Vec<Note>, open: &Arc<OpenTrace>, view: &TraceView) -> TraceNotes {
    let names = |tracks: &std::collections::BTreeSet<u32>| -> Vec<TrackName> {
        let tracks = tracks
            .iter()
            .filter_map(|track| open.trace.tracks.get(*track as usize));
        tracks
            .map(|track| TrackName {
                group: track.group.clone(),
                name: track.name.clone(),
            })
            .collect()
    };
    TraceNotes {
        notes,
        pinned: names(&view.pinned),
        hidden: names(&view.hidden),
        ..TraceNotes::default()
    }
}
