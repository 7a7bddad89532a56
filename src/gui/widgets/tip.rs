//! Words about what is under the hand, beside the hand: charts are too large for words at their edge.

use eframe::egui::{Popup, PopupKind, Response, Ui};

use super::chart::Touched;
use crate::chart::spec::ChartSpec;

/// Between the hand and the words.
const GAP: f32 = 14.0;

/// Shows words.
pub fn words(response: &Response, words: impl Into<String>) {
    let words = words.into();
    show(response, |ui| {
        ui.label(words);
    });
}

/// Shows what the point under the hand says, or what failed there.
pub fn of_point(touched: &Touched, spec: &ChartSpec) {
    let point = touched.hovered;
    let point = point.and_then(|(series, tag)| spec.words_of(series, tag));
    if let Some(told) = point.or_else(|| touched.failed.clone()) {
        words(&touched.response, told);
    }
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
