//! The menu of a thing: by the right button, by the menu key and by Shift+F10 on what has the focus.

use eframe::egui::{
    Context, Id, Key, Modifiers, Popup, PopupAnchor, PopupCloseBehavior, Pos2, Response,
    SetOpenCommand, Ui,
};

use super::button;
use crate::theme::space;
use powerband_app::App;
use powerband_app::action::Action;
use powerband_app::items::{self, MenuTarget};
use powerband_app::palette_entries::{Groups, Offered};

/// Width of a menu: the longest of our titles fits.
const WIDTH: f32 = 216.0;

/// Position of the open menu.
#[derive(Clone, Copy)]
struct OpenMenu {
    at: Pos2,
    /// Whether the keyboard opened it, and its first entry is to have the focus.
    by_key: bool,
}

/// The menu of an item, on the widget that shows it.
pub(crate) fn of_item(
    response: &Response,
    app: &App,
    item: &MenuTarget,
    actions: &mut Vec<Action>,
) {
    on(response, actions, || items::menu(app, item));
}

/// The same where a widget shows many items: the one that the pointer was on keeps its menu while that is
/// open. The menu key means the one that is selected.
pub(crate) fn of_hovered(
    response: &Response,
    app: &App,
    hovered: Option<MenuTarget>,
    selected: Option<MenuTarget>,
    actions: &mut Vec<Action>,
) {
    let memory = response.id.with("menu-item");
    if response.secondary_clicked() {
        response
            .ctx
            .data_mut(|data| data.insert_temp(memory, hovered));
    } else if !is_open(response) {
        response
            .ctx
            .data_mut(|data| data.insert_temp(memory, selected));
    }
    let meant: Option<Option<MenuTarget>> = response.ctx.data(|data| data.get_temp(memory));
    if let Some(item) = meant.flatten() {
        of_item(response, app, &item, actions);
    }
}

/// A menu of these entries on a widget.
pub(crate) fn on(response: &Response, actions: &mut Vec<Action>, groups: impl FnOnce() -> Groups) {
    opened_on(response, |ui| entries(ui, &groups(), actions));
}

/// A menu with this content on a widget; it is made only while the menu is open.
pub(crate) fn opened_on(response: &Response, content: impl FnOnce(&mut Ui)) {
    let ctx = &response.ctx;
    let popup = id(response);
    let memory = popup.with("opened");
    let by_key = response.has_focus() && !Popup::is_id_open(ctx, popup) && asks_by_key(ctx);
    let set = if response.secondary_clicked() || by_key {
        let pointer = response.interact_pointer_pos().filter(|_| !by_key);
        let at = pointer.unwrap_or_else(|| response.rect.left_bottom());
        ctx.data_mut(|data| data.insert_temp(memory, OpenMenu { at, by_key }));
        Some(SetOpenCommand::Bool(true))
    } else if response.clicked() {
        Some(SetOpenCommand::Bool(false))
    } else {
        None
    };
    let opened: Option<OpenMenu> = ctx.data(|data| data.get_temp(memory));
    let Some(OpenMenu { at, by_key }) = opened else {
        return;
    };
    let shown = Popup::menu(response)
        .id(popup)
        .open_memory(set)
        .anchor(PopupAnchor::Position(at))
        .close_behavior(PopupCloseBehavior::CloseOnClick)
        .show(|ui| {
            ui.set_min_width(WIDTH);
            let first = ui.next_auto_id();
            content(ui);
            if by_key {
                focus_first(ui, first, memory, at);
            }
        });
    if shown.is_none() {
        ctx.data_mut(|data| data.remove::<OpenMenu>(memory));
    }
}

/// Whether the menu of a widget is open, so that a tip over it would cover its entries.
pub(crate) fn is_open(response: &Response) -> bool {
    Popup::is_id_open(&response.ctx, id(response))
}

/// A tip of the same widget has egui's own id.
fn id(response: &Response) -> Id {
    response.id.with("menu")
}

/// Gives the first entry the focus, once.
fn focus_first(ui: &Ui, first: Id, memory: Id, at: Pos2) {
    ui.memory_mut(|focus| focus.request_focus(first));
    let by_key = false;
    ui.data_mut(|data| data.insert_temp(memory, OpenMenu { at, by_key }));
}

/// Whether the menu key or Shift+F10 was pressed.
fn asks_by_key(ctx: &Context) -> bool {
    ctx.input_mut(|input| {
        input.consume_key(Modifiers::NONE, Key::Menu)
            || input.consume_key(Modifiers::SHIFT, Key::F10)
    })
}

/// The entries, with a line between two groups; what cannot be done is greyed with its reason.
pub(crate) fn entries(ui: &mut Ui, groups: &[Vec<Offered>], actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = space::TINY / 2.0;
    let groups = groups.iter().filter(|group| !group.is_empty());
    for (place, group) in groups.enumerate() {
        if place > 0 {
            ui.separator();
        }
        for offered in group {
            let allowed = offered.why_not.as_deref().map_or(Ok(()), Err);
            if button::plain_if(ui, allowed, None, &offered.title).clicked() {
                actions.extend(offered.actions.iter().cloned());
                ui.close();
            }
        }
    }
}
