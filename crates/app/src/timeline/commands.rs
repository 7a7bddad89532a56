//! Commands about the timeline.

use crate::App;
use crate::action::{Action, Timeline};
use crate::command::entry::{Command, command};
use crate::screen::Screen;

/// Zoom factor of one step.
const ZOOM: f64 = 1.25;

/// Share of the visible range that one step moves.
const MOVE: f64 = 0.12;

/// How far the tracks scroll in one step, in points.
const SCROLL: f32 = 240.0;

pub(crate) const ALL: &[Command] = &[
    command("open-trace", "Open a trace…", "Ctrl+Shift+O", |_| {
        Ok(Action::Timeline(Timeline::Choose))
    })
    .on_machine(),
    command("timeline-closer", "Timeline: zoom in", "W", |app| {
        timeline(app, || Timeline::Zoom(1.0 / ZOOM))
    }),
    command("timeline-farther", "Timeline: zoom out", "S", |app| {
        timeline(app, || Timeline::Zoom(ZOOM))
    }),
    command("timeline-earlier", "Timeline: earlier", "A", |app| {
        timeline(app, || Timeline::Move(-MOVE))
    }),
    command("timeline-later", "Timeline: later", "D", |app| {
        timeline(app, || Timeline::Move(MOVE))
    }),
    command("timeline-up", "Timeline: scroll up", "PageUp", |app| {
        scroll(app, -SCROLL)
    }),
    command(
        "timeline-down",
        "Timeline: scroll down",
        "PageDown",
        |app| scroll(app, SCROLL),
    ),
    command("timeline-fit", "Timeline: fit the selection", "F", |app| {
        timeline(app, || Timeline::Fit)
    }),
    command(
        "timeline-whole",
        "Timeline: show everything",
        "Home",
        |app| timeline(app, || Timeline::Whole),
    ),
    command(
        "timeline-measure",
        "Timeline: measure by dragging",
        "M",
        |app| timeline(app, || Timeline::Measuring(!app.profile.timeline.measures)),
    ),
    command(
        "timeline-partner",
        "Timeline: from a launch to its kernel, and back",
        "G",
        |app| {
            // Where there is no partner, it says so.
            let selected = app.profile.timeline.selected_slice();
            selected.ok_or("no slice is selected")?;
            timeline(app, || Timeline::Partner)
        },
    ),
    command(
        "timeline-next-alike",
        "Timeline: next of the same name",
        "N",
        |app| alike(app, true),
    ),
    command(
        "timeline-previous-alike",
        "Timeline: previous of the same name",
        "Shift+N",
        |app| alike(app, false),
    ),
    command(
        "timeline-copy-arguments",
        "Timeline: copy the arguments of the slice",
        "",
        |app| {
            let action = timeline(app, || Timeline::CopyArguments)?;
            let facts = app
                .profile
                .timeline
                .current()
                .and_then(|(_, _, view)| view.facts.clone());
            let facts = facts.ok_or("no slice is selected")?;
            if facts.arguments.is_empty() {
                return Err("the file has no arguments of this slice");
            }
            Ok(action)
        },
    ),
    command(
        "timeline-find",
        "Timeline: find a name or an argument",
        "Ctrl+Shift+F",
        |app| timeline(app, || Timeline::FocusSearch),
    ),
    command("timeline-next", "Timeline: next hit", "F3", |app| {
        hit(app, true)
    }),
    command(
        "timeline-before",
        "Timeline: previous hit",
        "Shift+F3",
        |app| hit(app, false),
    ),
    command("timeline-note", "Timeline: add a note", "B", |app| {
        timeline(app, || Timeline::AddNote)
    }),
    command(
        "timeline-next-note",
        "Timeline: next note",
        "Shift+B",
        |app| note(app, true),
    ),
    command(
        "timeline-previous-note",
        "Timeline: previous note",
        "",
        |app| note(app, false),
    ),
    command(
        "timeline-all-tracks",
        "Timeline: show all tracks",
        "",
        |app| {
            let action = timeline(app, || Timeline::ShowAllTracks)?;
            let current = app.profile.timeline.current();
            let is_partial = current.is_some_and(|(_, open, view)| {
                let shown = view.shown_tracks(open);
                shown.is_partial()
            });
            is_partial.then_some(action).ok_or("all tracks are shown")
        },
    ),
    command(
        "timeline-compare",
        "Timeline: compare with the trace opened last",
        "",
        |app| {
            let others = app.profile.timeline.comparable();
            let known = app.profile.timeline.comparison().map(|one| one.sides[0]);
            let other = others.iter().find(|(id, _)| Some(*id) != known);
            // The same two again where there is no third one.
            let (before, _) = other
                .or_else(|| others.first())
                .ok_or("no other trace is open")?;
            timeline(app, || Timeline::CompareWith(*before))
        },
    ),
    command(
        "timeline-align",
        "Timeline: matched operators above each other, or not",
        "",
        |app| {
            let compared = app.profile.timeline.comparison();
            let compared = compared.ok_or("no two traces are compared")?;
            timeline(app, || Timeline::Align(!compared.is_aligned))
        },
    ),
    command("timeline-close", "Timeline: close the trace", "", |app| {
        let shown = app.profile.timeline.shown.ok_or("no trace is open")?;
        Ok(Action::Timeline(Timeline::Close(shown)))
    }),
];

/// On the timeline only: on other screens letters have no or another meaning.
fn timeline(app: &App, change: impl Fn() -> Timeline) -> Result<Action, &'static str> {
    if app.shared.screen != Screen::Timeline {
        return Err("the timeline is not on the screen");
    }
    app.profile.timeline.shown.ok_or("no trace is open")?;
    Ok(Action::Timeline(change()))
}

fn note(app: &App, forward: bool) -> Result<Action, &'static str> {
    let action = timeline(app, || Timeline::NextNote(forward))?;
    app.profile
        .timeline
        .next_note(forward)
        .ok_or("there is no note")?;
    Ok(action)
}

fn alike(app: &App, forward: bool) -> Result<Action, &'static str> {
    let action = timeline(app, || Timeline::Alike(forward))?;
    app.profile
        .timeline
        .selected_slice()
        .ok_or("no slice is selected")?;
    let found = app.profile.timeline.neighbour_of_same_name(forward);
    found.ok_or("there is no further slice of this name")?;
    Ok(action)
}

fn hit(app: &App, forward: bool) -> Result<Action, &'static str> {
    let action = timeline(app, || Timeline::NextHit(forward))?;
    app.profile
        .timeline
        .next_hit(forward)
        .ok_or("nothing was found")?;
    Ok(action)
}

/// Scrolls the tracks of the timeline up or down.
fn scroll(app: &App, by: f32) -> Result<Action, &'static str> {
    let from = app
        .profile
        .timeline
        .current()
        .map_or(0.0, |(_, _, view)| view.scroll);
    timeline(app, || Timeline::Scroll((from + by).max(0.0)))
}
