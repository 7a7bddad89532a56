//! Turns keys into commands, and commands into shortcuts as text.

use eframe::egui::{Context, Event, Id, Key, Modifiers, Popup};

use crate::shell::palette;
use powerband_app::App;
use powerband_app::action::Action;
use powerband_app::command;
use powerband_app::keys::{self, Shortcut};
use powerband_app::screen::Screen;

/// Keys that egui knows by these names too, and calls by others.
const NAMES: [(&str, Key); 4] = [
    ("ArrowLeft", Key::ArrowLeft),
    ("ArrowRight", Key::ArrowRight),
    ("ArrowUp", Key::ArrowUp),
    ("ArrowDown", Key::ArrowDown),
];

/// Commands of the pressed keys. The keys are consumed, so that no widget sees them too.
///
/// egui handles Escape in a text field before a frame begins, so the state of the previous frame says
/// whether there was one.
pub(super) fn read(ctx: &Context, app: &App, was_typing: bool, actions: &mut Vec<Action>) {
    // The settings screen waits for keys: they trigger no command while it is visible.
    let is_waiting = ctx
        .data(|data| data.get_temp::<&'static str>(waiting_id()))
        .is_some();
    if is_waiting && app.shared.screen == Screen::Settings && !app.shared.window.palette_open {
        return;
    }
    ctx.data_mut(|data| data.remove::<&'static str>(waiting_id()));
    let is_typing = ctx.text_edit_focused();
    for command in command::offered(&app.shared) {
        let changed = &app.shared.remembered.shortcuts;
        let more = command::more_keys(command, changed);
        for keys in command::keys(command, changed).into_iter().chain(more) {
            // Escape first clears a search and leaves a text field, and letters in it are letters.
            let is_for_text = (is_typing && (keys.is_typing() || edits_text(&keys)))
                || (was_typing && keys.key == "Escape");
            // An open list closes by itself; Escape does no more.
            if keys.key == "Escape" && Popup::is_any_open(ctx) {
                continue;
            }
            let closes_palette =
                keys.key == "Escape" && app.shared.window.palette_open && !palette::has_words(ctx);
            if is_for_text && !closes_palette {
                continue;
            }
            let Some(key) = Key::from_name(&keys.key) else {
                continue;
            };
            // A key whose command cannot be given stays with what has the focus.
            if let Ok(action) = (command.act)(app)
                && ctx.input_mut(|input| consume(input, modifiers(&keys), key))
            {
                actions.push(action);
            }
        }
    }
}

/// Where the settings screen notes that it is waiting for keys.
pub(crate) fn waiting_id() -> Id {
    Id::unique("waiting-for-keys")
}

/// Keys that every text field understands.
fn edits_text(keys: &Shortcut) -> bool {
    const OF_TEXT: [&str; 13] = [
        "Home",
        "Ctrl+Z",
        "Ctrl+Shift+Z",
        "Ctrl+C",
        "Ctrl+V",
        "Ctrl+X",
        "Ctrl+A",
        "Ctrl+ArrowLeft",
        "Ctrl+ArrowRight",
        "Ctrl+ArrowUp",
        "Ctrl+ArrowDown",
        "Ctrl+W",
        "Ctrl+Delete",
    ];
    OF_TEXT.contains(&keys.to_string().as_str())
}

/// Exactly these modifiers: Ctrl+S is not Ctrl+Shift+S. Plus may need Shift.
fn consume(input: &mut eframe::egui::InputState, wanted: Modifiers, key: Key) -> bool {
    let mut found = false;
    input.events.retain(|event| {
        let Event::Key {
            key: pressed,
            pressed: true,
            modifiers,
            ..
        } = event
        else {
            return true;
        };
        let is_it = match (*pressed, key) {
            (Key::Plus | Key::Equals, Key::Plus) => {
                modifiers.command == wanted.command && !modifiers.alt
            }
            (pressed, key) => pressed == key && modifiers.matches_exact(wanted),
        };
        found |= is_it;
        !is_it
    });
    found
}

fn modifiers(keys: &Shortcut) -> Modifiers {
    let mut modifiers = Modifiers::NONE;
    if keys.ctrl {
        modifiers = modifiers.plus(Modifiers::COMMAND);
    }
    if keys.shift {
        modifiers = modifiers.plus(Modifiers::SHIFT);
    }
    if keys.alt {
        modifiers = modifiers.plus(Modifiers::ALT);
    }
    modifiers
}

/// The pressed shortcut, for the settings screen. Modifiers are keys too, and come before the key they
/// modify.
pub(crate) fn pressed(ctx: &Context) -> Option<Shortcut> {
    ctx.input_mut(|input| {
        let place = input.events.iter().position(|event| {
            matches!(event, Event::Key { key, pressed: true, .. } if !keys::is_held(key.name()))
        })?;
        let Event::Key { key, modifiers, .. } = input.events.remove(place) else {
            return None;
        };
        let own = NAMES
            .iter()
            .find(|(_, named)| *named == key)
            .map(|(name, _)| (*name).to_owned());
        Some(Shortcut {
            ctrl: modifiers.command,
            shift: modifiers.shift,
            alt: modifiers.alt,
            key: own.unwrap_or_else(|| key.name().to_owned()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delivered_key_exists() {
        for command in command::ALL
            .iter()
            .filter(|command| !command.keys.is_empty())
        {
            let keys: Shortcut = command.keys.parse().unwrap();
            assert!(Key::from_name(&keys.key).is_some(), "{}", command.keys);
        }
    }

    #[test]
    fn keys_that_are_held_are_known_by_their_names() {
        for key in Key::ALL {
            let name = format!("{key:?}");
            let sides = ["Left", "Right"];
            let is_held = ["Shift", "Control", "Alt", "Super"]
                .iter()
                .any(|held| sides.iter().any(|side| name == format!("{held}{side}")));
            assert_eq!(keys::is_held(key.name()), is_held, "{name}");
        }
    }
}
