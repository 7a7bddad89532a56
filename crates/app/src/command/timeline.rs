//! About the timeline.

use super::{Command, command};
use crate::action::{Action, Timeline};
use crate::command_guards::{MOVE, SCROLL, ZOOM, hit, scroll, timeline};

/// These commands.
pub(super) const ALL: &[Command] = &[
    command("open-trace", "Open a trace…", "Ctrl+Shift+O", |_| {
        Ok(Action::Timeline(Timeline::Choose))
    }),
    command("timeline-closer", "Timeline: closer", "W", |app| {
        timeline(app, || Timeline::Zoom(1.0 / ZOOM))
    }),
    command("timeline-farther", "Timeline: farther away", "S", |app| {
        timeline(app, || Timeline::Zoom(ZOOM))
    }),
    command("timeline-earlier", "Timeline: earlier", "A", |app| {
        timeline(app, || Timeline::Move(-MOVE))
    }),
    command("timeline-later", "Timeline: later", "D", |app| {
        timeline(app, || Timeline::Move(MOVE))
    }),
    command("timeline-up", "Timeline: tracks above", "PageUp", |app| {
        scroll(app, -SCROLL)
    }),
    command(
        "timeline-down",
        "Timeline: tracks below",
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
        |app| timeline(app, || Timeline::Measuring(!app.timeline.measures)),
    ),
    command(
        "timeline-partner",
        "Timeline: from a launch to its kernel, and back",
        "G",
        |app| {
            timeline(app, || Timeline::Partner)?;
            let partner = app.timeline.partner().ok_or("the selection has no partner");
            partner.map(|_| Action::Timeline(Timeline::Partner))
        },
    ),
    command(
        "timeline-find",
        "Timeline: find a name",
        "Ctrl+Shift+F",
        |app| timeline(app, || Timeline::FocusSearch),
    ),
    command("timeline-next", "Timeline: next hit", "F3", |app| {
        hit(app, true)
    }),
    command(
        "timeline-before",
        "Timeline: hit before",
        "Shift+F3",
        |app| hit(app, false),
    ),
    command("timeline-close", "Timeline: close the trace", "", |app| {
        let shown = app.timeline.shown.ok_or("no trace is open")?;
        Ok(Action::Timeline(Timeline::Close(shown)))
    }),
];
