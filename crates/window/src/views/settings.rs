//! Settings: theme, interface size, and every shortcut.

use eframe::egui::{Align, Context, Id, Label, Layout, Rect, RichText, Ui, vec2};

use crate::icon;
use crate::keyboard;
use crate::theme::{self, space, text};
use crate::widgets::{button, field, label, segmented};
use powerband_app::App;
use powerband_app::action::{Action, MachineAction, Shell};
use powerband_app::command::{self, Command};
use powerband_app::machine::PathSetting;
use powerband_app::screen::Screen;
use powerband_app::shell::settings::{ReadingRate, Theme};
use powerband_core::base::humanize;

/// Most width of the cards.
const WIDTH: f32 = 820.0;
/// Width of the names of settings, and their share of a narrow row.
const NAME: f32 = 200.0;
const NAME_SHARE: f32 = 0.42;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let kept = if app.shared.has_machine() {
        "Saved between starts"
    } else {
        "Kept while the page is open"
    };
    label::screen_title(ui, "Settings", kept);
    ui.add_space(space::MEDIUM);
    super::scrolled(ui, |ui| {
        ui.set_max_width(ui.available_width().min(WIDTH));
        super::card(ui, |ui| looks(ui, app, actions));
        ui.add_space(space::MEDIUM);
        #[cfg(unix)]
        if app.shared.has_machine() {
            super::card(ui, |ui| measuring(ui, app, actions));
            ui.add_space(space::MEDIUM);
            super::card(ui, |ui| engines(ui, app, actions));
            ui.add_space(space::MEDIUM);
        }
        super::card(ui, |ui| shortcuts(ui, app, actions));
    });
}

fn looks(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    label::card_title(ui, "Appearance");
    row(ui, "Theme", |ui| {
        let choices = Theme::ALL.map(|theme| (theme, theme.title().to_owned(), ""));
        let taken = segmented::show(ui, "Theme", app.shared.remembered.theme, &choices);
        actions.extend(taken.map(|theme| Action::Shell(Shell::Theme(theme))));
    });
    row(ui, "Interface size", |ui| {
        let mut buttons = Rect::NOTHING;
        let mut step = |ui: &mut Ui, name: &str, by: i8| {
            let button = button::labelled(ui, None, name);
            buttons |= button.rect;
            if button.clicked() {
                actions.push(Action::Shell(Shell::Zoom(by)));
            }
        };
        step(ui, "Smaller", -1);
        let percent = app.shared.remembered.zoom() * 100.0;
        label::number(ui, &format!("{percent:>3.0} %"), text::BODY);
        step(ui, "Larger", 1);
        step(ui, "Reset size", 0);
        let is_held = ui.rect_contains_pointer(buttons);
        ui.data_mut(|data| data.insert_temp(held_id(), is_held));
        if is_held {
            label::faint(ui, "Applies once the pointer leaves");
        }
    });
}

fn held_id() -> Id {
    Id::unique("interface-size-is-held")
}

/// Whether the pointer is on the buttons that change the size of everything: they stay below it until it leaves.
pub(crate) fn holds_size(ctx: &Context, app: &App) -> bool {
    let is_held = ctx.data(|data| data.get_temp(held_id()));
    is_held.unwrap_or(false) && app.shared.shows(Screen::Settings)
}

#[cfg(unix)]
fn measuring(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    label::card_title(ui, "Measuring");
    row(ui, "Device readings", |ui| {
        let choices = ReadingRate::ALL.map(|watching| (watching, watching.title().to_owned(), ""));
        let taken = segmented::show(
            ui,
            "Device readings",
            app.shared.remembered.watching,
            &choices,
        );
        actions.extend(taken.map(|watching| Action::Shell(Shell::Watching(watching))));
        label::faint(ui, "Applies from the next run");
    });
    row(ui, "Roofs", |ui| {
        super::home_roofs::buttons(ui, app, actions);
        let kept = app.settings.roofs.kept.iter().flatten().next();
        let words = kept.map_or_else(
            || "Never measured".to_owned(),
            |roofs| format!("Measured {}", humanize::moment(&roofs.measured)),
        );
        label::faint(ui, &words);
    });
}

/// Locations of ONNX Runtime and Python.
#[cfg(unix)]
fn engines(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    label::card_title(ui, "Engines");
    for pointed in PathSetting::ALL {
        row(ui, pointed.title(), |ui| {
            let choose = format!("Choose {}…", pointed.title());
            if button::labelled(ui, None, "Choose…")
                .accessible_name(choose)
                .clicked()
            {
                actions.push(Action::Machine(MachineAction::Choose(pointed)));
            }
            let Some(path) = pointed.chosen(&app.shared.place) else {
                let words = app.shared.machine.used_path(pointed).map_or_else(
                    || "The first one found".to_owned(),
                    |path| format!("Found: {}", path.display()),
                );
                label::faint(ui, &words);
                return;
            };
            let find = format!("Use the first {} found", pointed.title());
            if button::labelled(ui, None, "Use the first found")
                .accessible_name(find)
                .clicked()
            {
                actions.push(Action::Machine(MachineAction::Point(pointed, None)));
            }
            label::quiet_line(ui, &path.display().to_string());
        });
    }
}

fn row(ui: &mut Ui, name: &str, content: impl FnOnce(&mut Ui)) {
    ui.horizontal_wrapped(|ui| {
        let room = vec2((ui.available_width() * NAME_SHARE).min(NAME), 36.0);
        let (rect, _) = ui.allocate_exact_size(room, eframe::egui::Sense::hover());
        let color = theme::roles(ui).quiet;
        crate::widgets::table::paint_words(ui, rect.left_center(), name, text::BODY, color);
        content(ui);
    });
}

fn shortcuts(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let filter_id = Id::unique("shortcut-filter");
    let filter = ui
        .data_mut(|data| data.get_temp::<String>(filter_id))
        .unwrap_or_default();
    ui.horizontal(|ui| {
        label::card_title(ui, "Shortcuts");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let changed = if app.shared.remembered.shortcuts.is_empty() {
                Err("all shortcuts have their defaults")
            } else {
                Ok(())
            };
            if button::plain_if(ui, changed, Some(icon::UNDO), "Reset all").clicked() {
                actions.push(Action::Shell(Shell::ResetShortcuts));
            }
            let (_, typed) = field::search(ui, "Find a shortcut", &filter, "Find", 180.0);
            if let Some(typed) = typed {
                ui.data_mut(|data| data.insert_temp(filter_id, typed));
            }
        });
    });
    label::quiet(
        ui,
        "Click a shortcut and press new keys; Backspace removes it.",
    );
    ui.add_space(space::SMALL);
    let found = command::find(&filter).into_iter();
    for command in found.filter(|command| command.is_offered(&app.shared)) {
        shortcut(ui, app, command, actions);
    }
}

fn shortcut(ui: &mut Ui, app: &App, command: &'static Command, actions: &mut Vec<Action>) {
    let waiting_id = keyboard::waiting_id();
    let waiting = ui.data_mut(|data| data.get_temp::<&'static str>(waiting_id));
    let is_waiting = waiting == Some(command.id);
    ui.horizontal(|ui| {
        let roles = theme::roles(ui);
        ui.add(Label::new(RichText::new(command.title).color(roles.text)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let keys = app.shared.keys_of(command.id);
            let words = match (is_waiting, keys.as_str()) {
                (true, _) => "Press keys…",
                (false, "") => "None",
                (false, keys) => keys,
            };
            let words = RichText::new(words).font(theme::numbers(12.0));
            let response = ui
                .button(words)
                .accessible_name(format!("Keys of {}", command.title));
            if response.clicked() {
                ui.data_mut(|data| data.insert_temp(waiting_id, command.id));
            }
        });
    });
    if !is_waiting {
        return;
    }
    let Some(pressed) = keyboard::pressed(ui.ctx()) else {
        return;
    };
    ui.data_mut(|data| data.remove::<&'static str>(waiting_id));
    let is_bare = !pressed.ctrl && !pressed.alt && !pressed.shift;
    let keys = match (pressed.key.as_str(), is_bare) {
        ("Escape", true) => return,
        ("Backspace" | "Delete", true) => None,
        _ => Some(pressed),
    };
    // Keys have one command: another command with these keys loses them.
    if let Some(other) = keys
        .as_ref()
        .and_then(|keys| command::holder(keys, &app.shared.remembered.shortcuts))
    {
        actions.push(Action::Shell(Shell::Shortcut(other.id, None)));
    }
    actions.push(Action::Shell(Shell::Shortcut(command.id, keys)));
}
