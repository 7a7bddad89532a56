//! The screens behind one door, by name, in the first row of each of them.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align, CursorIcon, DragAndDrop, Layout, Popup, Rect, Sense, Stroke, StrokeKind, Ui, UiBuilder,
    WidgetInfo, vec2,
};

use crate::icon;
use crate::theme::{self, space};
use crate::widgets::{button, segmented};
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::screen::Screen;
use powerband_app::shell::layout::Pane;

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
    let pane = app.shared.pane_of(screen).unwrap_or(Pane::Main);
    if let Some(taken) = segmented::show(&mut ui, door.title(), screen, &choices) {
        actions.push(match pane {
            Pane::Main if !app.shared.shows(taken) => Action::Go(taken),
            pane => Action::Shell(Shell::Pane(pane, Some(taken))),
        });
    }
    pane_buttons(&mut ui, app, screen, pane, actions);
    grip(&ui, app, screen, pane);
}

/// The rest of the row is what the pane is dragged by, where there are several.
fn grip(ui: &Ui, app: &App, screen: Screen, pane: Pane) {
    if app.shared.shown_screens().count() < 2 {
        return;
    }
    let grip = ui.interact(
        ui.available_rect_before_wrap(),
        ui.scope_id().with("grip"),
        Sense::drag(),
    );
    grip.widget_info(|| WidgetInfo::labeled(Role::Pane, true, format!("Move {}", screen.title())));
    grip.dnd_set_drag_payload(pane);
    if grip.hovered() {
        ui.set_cursor_icon(CursorIcon::Grab);
    }
}

/// A pane that is dragged here changes places with the one here.
pub(crate) fn take_dropped(ui: &Ui, app: &App, pane: Pane, at: Rect, actions: &mut Vec<Action>) {
    let dragged = DragAndDrop::payload::<Pane>(ui);
    let dragged = dragged
        .map(|dragged| *dragged)
        .filter(|dragged| *dragged != pane);
    let Some(screen) = dragged.and_then(|dragged| app.shared.screen_in(dragged)) else {
        return;
    };
    if !ui.rect_contains_pointer(at) {
        return;
    }
    let edge = Stroke::new(1.5, theme::roles(ui).accent);
    ui.painter().rect_stroke(at, 0.0, edge, StrokeKind::Inside);
    if ui.input(|input| input.pointer.any_released()) {
        DragAndDrop::clear_payload(ui);
        actions.push(Action::Shell(Shell::Pane(pane, Some(screen))));
    }
}

/// Opens other screens of the door in panes that are free, or closes the pane.
fn pane_buttons(ui: &mut Ui, app: &App, screen: Screen, pane: Pane, actions: &mut Vec<Action>) {
    let show = |pane, screen| Action::Shell(Shell::Pane(pane, screen));
    if pane != Pane::Main {
        let name = format!("Close {}", screen.title());
        if button::icon(ui, icon::CLOSE, &name).clicked() {
            actions.push(show(pane, None));
        }
        return;
    }
    let is_free =
        |pane: &Pane| app.shared.screen_in(*pane).is_none() && app.shared.has_room_for(*pane);
    let mut free = [Pane::Right, Pane::Below]
        .into_iter()
        .filter(is_free)
        .peekable();
    let others = screen.door().screens().iter();
    let others: Vec<Screen> = others
        .copied()
        .filter(|other| !app.shared.shows(*other))
        .collect();
    if free.peek().is_none() || others.is_empty() {
        return;
    }
    let button = button::icon(ui, icon::ADD, "Show another screen beside this one");
    Popup::menu(&button).show(|ui| {
        for pane in free {
            for other in &others {
                let name = format!("Show {} {}", other.title(), pane.place());
                if ui.button(name).clicked() {
                    actions.push(show(pane, Some(*other)));
                }
            }
        }
    });
}

/// Leaves room for the row.
pub(super) fn leave_room(ui: &mut Ui) {
    ui.allocate_space(vec2(0.0, HEIGHT));
}

/// The row with the buttons of a screen at its right, or below it up to a width of `narrow`.
///
/// `doing` orders the buttons with [`super::in_order`], because a row at the right fills from its end.
pub(super) fn with_buttons(ui: &mut Ui, narrow: f32, doing: impl FnOnce(&mut Ui)) {
    let width = ui.available_width() - space::EDGE;
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
