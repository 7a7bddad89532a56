//! A tooltip at the pointer: charts are too large for one at their edge.

use eframe::egui::{Popup, PopupKind, RectAlign, Response, Tooltip, Ui};

use super::chart::ChartInput;
use powerband_core::base::humanize;
use powerband_findings::chart::spec::ChartSpec;

/// Between the pointer and the text.
const GAP: f32 = 14.0;

/// Shows a text as the tooltip.
pub(crate) fn show_text(response: &Response, words: impl Into<String>) {
    let words = words.into();
    show(response, |ui| {
        ui.label(words);
    });
}

/// Shows the text of the point under the pointer, or the failures there.
pub(crate) fn of_point(touched: &ChartInput, spec: &ChartSpec) {
    let point = touched.hovered;
    let point = point.and_then(|(series, tag)| spec.point_text(series, tag));
    if let Some(told) = point.or_else(|| touched.failed.clone()) {
        show_text(&touched.response, told);
    }
}

/// A tooltip this far to the right of its control, which covers nothing above or below it.
pub(crate) fn at_the_right(response: Response, words: &str, gap: f32) -> Response {
    const PLACES: [RectAlign; 2] = [RectAlign::RIGHT_START, RectAlign::RIGHT_END];
    response.ctx.accesskit_node_builder(response.id, |node| {
        node.set_description(words);
    });
    let mut tooltip = Tooltip::for_enabled(&response).gap(gap);
    let popup = tooltip.popup.align(RectAlign::RIGHT);
    tooltip.popup = popup.align_alternatives(&PLACES);
    tooltip.show(|ui| {
        ui.set_max_width(ui.spacing().tooltip_width);
        ui.label(words);
    });
    response
}

/// Shows any content as the tooltip.
pub(crate) fn show(response: &Response, content: impl FnOnce(&mut Ui)) {
    Popup::from_response(response)
        .kind(PopupKind::Tooltip)
        .at_pointer()
        .gap(GAP)
        .width(response.ctx.global_style().spacing.tooltip_width)
        .show(content);
}

/// A control that cannot be used, with the reason for eyes and for screen readers.
pub(crate) fn why_not(response: Response, reason: Option<&str>) -> Response {
    let Some(reason) = reason else {
        return response;
    };
    let reason = humanize::capitalised(reason);
    response.ctx.accesskit_node_builder(response.id, |node| {
        node.set_description(reason.clone());
    });
    response.on_disabled_hover_text(reason)
}
