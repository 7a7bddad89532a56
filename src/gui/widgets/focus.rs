//! The focus ring: the same for every control.

use eframe::egui::{CornerRadius, Stroke, StrokeKind, Ui};

use crate::gui::theme::{self, CONTROL_RADIUS, size};

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
