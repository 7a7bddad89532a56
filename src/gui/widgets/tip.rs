//! Words about what is under the hand, beside the hand: charts are too large for words at their edge.

use eframe::egui::{Popup, PopupKind, Response, Ui};

/// Between the hand and the words.
const GAP: f32 = 14.0;

/// Shows words.
pub fn words(response: &Response, words: impl Into<String>) {
    let words = words.into();
    show(response, |ui| {
        ui.label(words);
    });
}

/// Shows anything.
pub fn show(response: &Response, content: impl FnOnce(&mut Ui)) {
    Popup::from_response(response)
        .kind(PopupKind::Tooltip)
        .at_pointer()
        .gap(GAP)
        .width(response.ctx.global_style().spacing.tooltip_width)
        .show(content);
}
