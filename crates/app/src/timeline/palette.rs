//! In the command palette: open traces, and the tracks of the one that is shown.

use super::notebook::NOTE;
use super::tracks::FILTER;
use crate::App;
use crate::action::{Action, Timeline};
use crate::palette_entries::entry::{Offered, seen_on, typed_on};
use crate::screen::Screen;
use powerband_core::base::humanize;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    [traces(app), shown(app), notes(app), tracks(app)].concat()
}

fn offer(title: &str, change: Timeline) -> Offered {
    seen_on(
        Screen::Timeline,
        format!("Timeline: {title}"),
        Action::Timeline(change),
    )
}

/// Traces that are open, and those that are being read. Two files may be called the same.
fn traces(app: &App) -> Vec<Offered> {
    let state = &app.profile.timeline;
    let mut offered = Vec::new();
    for (place, (id, open)) in state.traces.iter().enumerate() {
        let trace = format!("trace {}, {}", place + 1, open.name);
        if state.shown != Some(*id) {
            offered.push(offer(&format!("show {trace}"), Timeline::Show(*id)));
        }
        offered.push(offer(&format!("close {trace}"), Timeline::Close(*id)));
    }
    for (id, name) in state.comparable() {
        offered.push(offer(
            &format!("compare with {name}"),
            Timeline::CompareWith(id),
        ));
    }
    for (place, reading) in state.reading.iter().enumerate() {
        let title = format!("stop reading file {}, {}", place + 1, reading.name);
        offered.push(offer(&title, Timeline::StopReading(reading.id)));
    }
    offered
}

/// Notes on the trace that is shown.
fn notes(app: &App) -> Vec<Offered> {
    let Some(book) = app.profile.timeline.notebook() else {
        return Vec::new();
    };
    let mut offered = Vec::new();
    for (place, note) in book.notes.iter().enumerate() {
        let text = humanize::shorten(note.text.trim(), 40);
        let of = format!("note {}, {text}", place + 1);
        let of = of.trim_end_matches([',', ' ']);
        offered.extend([
            offer(&format!("go to {of}"), Timeline::GoToNote(place)),
            offer(&format!("edit {of}"), Timeline::EditNote(Some(place))),
            offer(&format!("remove {of}"), Timeline::RemoveNote(place)),
        ]);
    }
    if book.editing.is_some() {
        offered.push(typed_on(Screen::Timeline, "Timeline: write the note", NOTE));
    }
    offered
}

/// Tracks of the trace that is shown, to be pinned and hidden.
fn tracks(app: &App) -> Vec<Offered> {
    let Some((_, open, view)) = app.profile.timeline.current() else {
        return Vec::new();
    };
    let filter = "Timeline: filter the tracks";
    let mut offered = vec![typed_on(Screen::Timeline, filter, FILTER)];
    for (place, strand) in open.timeline.tracks.iter().enumerate() {
        let track = open.trace.tracks.get(strand.track as usize);
        let name = track.map_or_else(String::new, |track| {
            format!("{} of {}", track.name, track.group)
        });
        let of = format!("track {}, {}", place + 1, humanize::shorten(&name, 60));
        let pin = if view.pinned.contains(&strand.track) {
            "unpin"
        } else {
            "pin"
        };
        let hide = if view.hidden.contains(&strand.track) {
            "show"
        } else {
            "hide"
        };
        offered.extend([
            offer(&format!("{pin} {of}"), Timeline::Pin(strand.track)),
            offer(&format!("{hide} {of}"), Timeline::Hide(strand.track)),
        ]);
    }
    offered
}

fn shown(app: &App) -> Vec<Offered> {
    let Some((_, open, view)) = app.profile.timeline.current() else {
        return Vec::new();
    };
    let strands = &open.timeline.tracks;
    let rows = open.timeline.rows.len();
    let sum = offer(
        "add up the visible range",
        Timeline::Measure(view.stretch, std::iter::once(0..rows).collect()),
    );
    let several: Vec<_> = strands
        .iter()
        .enumerate()
        .filter(|(_, strand)| strand.rows.len() > 1)
        .collect();
    let folds = view.folded.is_empty();
    let all = (!several.is_empty()).then(|| {
        let title = if folds {
            "fold all tracks"
        } else {
            "unfold all tracks"
        };
        offer(title, Timeline::FoldAll(folds))
    });
    let each = several.iter().map(|(place, strand)| {
        let doing = if view.folded.contains(&strand.track) {
            "unfold"
        } else {
            "fold"
        };
        let track = open.trace.tracks.get(strand.track as usize);
        let name = track.map_or("", |track| track.name.as_str());
        let title = format!("{doing} track {}, {name}", place + 1);
        offer(&title, Timeline::Fold(strand.track))
    });
    std::iter::once(sum).chain(all).chain(each).collect()
}
