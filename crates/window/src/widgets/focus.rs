//! The focus ring: the same for every control.

use eframe::egui::{Context, CornerRadius, Event, Id, Key, Stroke, StrokeKind, Ui};

use crate::theme::{self, CONTROL_RADIUS, size};

/// Where Tab begins when nothing has the focus: at the content of the screen, not at the rail.
fn content() -> Id {
    Id::unique("content")
}

/// Before anything is shown: takes the first Tab for the content.
pub(crate) fn begin(ctx: &Context) {
    let is_tab = |event: &Event| {
        matches!(
            event,
            Event::Key { key: Key::Tab, pressed: true, modifiers, .. } if !modifiers.any()
        )
    };
    let has_tab = ctx.input(|input| input.events.iter().any(is_tab));
    if has_tab && ctx.memory(|memory| memory.focused().is_none()) {
        ctx.memory_mut(|memory| memory.request_focus(content()));
    }
}

/// The content begins here.
pub(crate) fn content_begins(ui: &Ui) {
    let layer = ui.layer_id();
    ui.memory_mut(|memory| memory.interested_in_focus(content(), layer));
}

/// Paints it after the frame, off the edge of the control, because the control can have any colour. A text
/// field has its cursor and its own edge.
pub(crate) fn show(ui: &Ui) {
    let ctx = ui.ctx();
    let Some(id) = ctx.memory(|memory| memory.focused()) else {
        return;
    };
    if ctx.text_edit_focused() || !ctx.input(|input| input.focused) {
        return;
    }
    // Of this frame only: a removed control has no place.
    let control = ctx.viewport(|viewport| viewport.this_pass.widgets.get(id).copied());
    let Some(control) = control.filter(|control| control.interact_rect.is_positive()) else {
        return;
    };
    let around = control.interact_rect.expand(size::FOCUS_GAP);
    let radius = CornerRadius::same(CONTROL_RADIUS);
    let edge = Stroke::new(size::FOCUS, theme::roles(ui).text);
    ctx.layer_painter(control.layer_id)
        .rect_stroke(around, radius, edge, StrokeKind::Outside);
}
