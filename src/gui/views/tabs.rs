//! The screens behind one door, by name, in the first row of each of them.

use eframe::egui::{Align, Layout, Rect, Ui, UiBuilder, vec2};

use crate::gui::icon;
use crate::gui::theme::space;
use crate::gui::widgets::{button, segmented};
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::screen::Screen;

/// Height of the row.
const HEIGHT: f32 = 32.0;

/// Shows them at the left of the row, where there is more than one. The screen leaves room for the row, or has its
/// buttons at the right of it.
pub(super) fn show(ui: &mut Ui, app: &App, screen: Screen, actions: &mut Vec<Action>) {
    let door = screen.door();
    if door.screens().len() < 2 {
        return;
    }
    let choices: Vec<(Screen, String, &str)> = door
        .screens()
        .iter()
        .map(|screen| (*screen, screen.title().to_owned(), screen.purpose()))
        .collect();
    let row = Rect::from_min_size(ui.cursor().min, vec2(ui.available_width(), HEIGHT));
    let layout = Layout::left_to_right(Align::Center);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(row).layout(layout));
    let is_right = app.shared.right_screen() == Some(screen);
    if let Some(taken) = segmented::show(&mut ui, door.title(), screen, &choices) {
        actions.push(if is_right {
            Action::Shell(Shell::Divide(Some(taken)))
        } else {
            Action::Go(taken)
        });
    }
    pane_button(&mut ui, app, screen, is_right, actions);
}

/// Opens another screen of the door at the right, or closes the one that is there.
fn pane_button(ui: &mut Ui, app: &App, screen: Screen, is_right: bool, actions: &mut Vec<Action>) {
    if is_right {
        let name = format!("Close {}", screen.title());
        if button::icon(ui, icon::CLOSE, &name).clicked() {
            actions.push(Action::Shell(Shell::Divide(None)));
        }
        return;
    }
    if app.shared.right_screen().is_some() || !app.shared.window.has_room_for_two {
        return;
    }
    let mut others = screen.door().screens().iter();
    if let Some(other) = others.find(|other| **other != screen) {
        let name = format!("Show {} at the right", other.title());
        if button::icon(ui, icon::COLUMNS, &name).clicked() {
            actions.push(Action::Shell(Shell::Divide(Some(*other))));
        }
    }
}

/// Leaves room for the row.
pub(super) fn leave_room(ui: &mut Ui) {
    ui.allocate_space(vec2(0.0, HEIGHT));
}

/// The row with the buttons of a screen at its right, or below it up to a width of `narrow`.
///
/// `doing` orders the buttons with [`super::in_order`], because a row at the right fills from its end.
pub(super) fn with_buttons(ui: &mut Ui, narrow: f32, doing: impl FnOnce(&mut Ui)) {
    let width = ui.available_width() - super::EDGE;
    if width <= narrow {
        leave_room(ui);
        ui.add_space(space::TINY);
        ui.horizontal_wrapped(doing);
        return;
    }
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(vec2(width, HEIGHT), layout, |ui| {
        ui.set_min_height(HEIGHT);
        doing(ui);
    });
}
