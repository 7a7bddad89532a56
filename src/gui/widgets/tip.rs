//! Tooltips at the pointer, as charts are too large for one at their edge, and tooltips of long texts, which are cut.

use eframe::egui::text::LayoutJob;
use eframe::egui::{
    Context, Id, Label, LayerId, Popup, PopupKind, Pos2, RectAlign, Response, ScrollArea,
    TextStyle, Tooltip, Ui,
};

use super::chart::ChartInput;
use powerband_core::base::humanize;
use powerband_findings::chart::spec::ChartSpec;

/// Between the pointer and the text.
const GAP: f32 = 14.0;
/// Most height of a tooltip, with the button for the rest of its text.
const MOST_HEIGHT: f32 = 240.0;
/// Height of that button.
const BUTTON: f32 = 36.0;
/// Part of the window's height that a whole text may have.
const WHOLE: f32 = 0.6;

/// The whole text of a tooltip that was cut, where it was asked for.
#[derive(Clone)]
struct WholeText {
    words: String,
    at: Pos2,
}

/// A text as the tooltip. Of a long one the beginning, with a button that shows all of it.
pub(crate) fn text(response: Response, words: &str) -> Response {
    response.on_hover_ui(|ui| beginning(ui, words))
}

fn beginning(ui: &mut Ui, words: &str) {
    let font = TextStyle::Body.resolve(ui.style());
    let width = ui.spacing().tooltip_width;
    let mut job = LayoutJob::simple(words.to_owned(), font, ui.visuals().text_color(), width);
    job.wrap.max_rows = ((MOST_HEIGHT - BUTTON) / ui.text_style_height(&TextStyle::Body)) as usize;
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    let is_cut = galley.elided;
    let shown = ui.label(galley);
    if is_cut && ui.button("Show all of it").clicked() {
        let words = words.to_owned();
        let at = shown.rect.left_top();
        ui.data_mut(|data| data.insert_temp(whole_id(), WholeText { words, at }));
        Popup::open_id(ui.ctx(), whole_id());
    }
}

fn whole_id() -> Id {
    Id::unique("whole-text-of-a-tooltip")
}

/// Shows the whole text that was asked for, until Escape or a click beside it.
pub(crate) fn show_whole_text(ctx: &Context) {
    let Some(WholeText { words, at }) = ctx.data(|data| data.get_temp(whole_id())) else {
        return;
    };
    let height = ctx.content_rect().height() * WHOLE;
    Popup::new(whole_id(), ctx.clone(), at, LayerId::background())
        .open_memory(None)
        .width(ctx.global_style().spacing.tooltip_width)
        .show(|ui| {
            ScrollArea::vertical().max_height(height).show(ui, |ui| {
                ui.add(Label::new(words).wrap().selectable(true));
            });
        });
}

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
