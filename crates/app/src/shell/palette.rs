//! In the command palette: notices, and how the window behaves.

use super::layout::{self, Pane};
use super::settings::ReadingRate;
use crate::App;
use crate::action::{Action, Shell};
use crate::command;
use crate::notices::Notice;
use crate::palette_entries::entry::{Offered, anywhere, seen_on, typed_on};
use crate::screen::Screen;
use powerband_core::base::humanize;

/// Letters of a notice.
const WORDS: usize = 60;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let notices = app.shared.notices.on_screen().flat_map(notice);
    let find = typed_on(
        Screen::Settings,
        "Settings: find a shortcut",
        "Find a shortcut",
    );
    notices
        .chain(watching(app))
        .chain(keys(app))
        .chain(divided(app))
        .chain(sizes(app))
        .chain([find])
        .collect()
}

/// What its buttons do.
fn notice(notice: &Notice) -> Vec<Offered> {
    let words = humanize::shorten(&notice.text, WORDS);
    let request = |doing: &str, request| anywhere(format!("Notice: {doing} “{words}”"), request);
    let answer = notice.offer.iter();
    let mut offered: Vec<Offered> = answer
        .map(|(title, action)| request(&format!("{title},"), action.clone()))
        .collect();
    offered.push(request(
        "copy",
        Action::Shell(Shell::Copy(notice.text.clone())),
    ));
    offered.push(request("dismiss", Action::Shell(Shell::Dismiss(notice.id))));
    offered
}

fn watching(app: &App) -> impl Iterator<Item = Offered> {
    let others = ReadingRate::ALL
        .into_iter()
        .filter(|watching| *watching != app.shared.remembered.watching);
    others.map(|watching| {
        let title = match watching {
            ReadingRate::Off => "devices are not read during runs".to_owned(),
            _ => format!("devices are read at {}", watching.title()),
        };
        let change = Action::Shell(Shell::Watching(watching));
        seen_on(Screen::Settings, format!("Settings: {title}"), change)
    })
}

/// Screens that can be shown in another pane.
fn divided(app: &App) -> impl Iterator<Item = Offered> {
    let others = Screen::ALL
        .into_iter()
        .filter(|other| !app.shared.shows(*other));
    let panes = [Pane::Right, Pane::Below].into_iter();
    let panes: Vec<Pane> = panes
        .filter(|pane| app.shared.has_room_for(*pane))
        .collect();
    others.flat_map(move |screen| {
        let panes = panes.clone().into_iter();
        panes.map(move |pane| {
            let title = format!("Show {} {}", screen.title(), pane.place());
            anywhere(title, Action::Shell(Shell::Pane(pane, Some(screen))))
        })
    })
}

/// The sizes of the parts of the window.
fn sizes(app: &App) -> impl Iterator<Item = Offered> {
    const STEP: f32 = 40.0;
    layout::ALL.iter().flat_map(|part| {
        let now = app.shared.size_of(part);
        let offer = |what: &str, size| {
            let resize = Shell::Resize(part.id.to_owned(), size);
            anywhere(format!("{what}: {}", part.title), Action::Shell(resize))
        };
        [
            offer("Larger", Some(now + STEP)),
            offer("Smaller", Some(now - STEP)),
            offer("Usual size", None),
        ]
    })
}

/// Commands with changed keys, to reset.
fn keys(app: &App) -> impl Iterator<Item = Offered> {
    let changed = app.shared.remembered.shortcuts.keys();
    let commands = changed.filter_map(|id| command::ALL.iter().find(|command| command.id == *id));
    commands.map(|command| {
        let title = format!("Settings: the usual keys for {}", command.title);
        let keys = command.keys.parse().ok();
        let change = Action::Shell(Shell::Shortcut(command.id, keys));
        seen_on(Screen::Settings, title, change)
    })
}
