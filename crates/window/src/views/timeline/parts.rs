//! Pieces of the card at the side: a colour with its word, and a line with a number.

use eframe::egui::{self, Align, Label, Layout, RichText, Sense, TextStyle, Ui, vec2};

use crate::theme::{self, text};
use powerband_core::domain::trace::SliceKind;
use powerband_findings::chart::timeline_figure::series;

/// A colour, a name and a number, with more of it on hover.
pub(super) fn line(ui: &mut Ui, kind: SliceKind, name: &str, value: &str, help: &str) {
    let roles = theme::roles(ui);
    ui.spacing_mut().interact_size.y = 18.0;
    let response = ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let value = RichText::new(value).font(theme::numbers(text::CAPTION));
            ui.label(value.color(roles.quiet));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                swatch(ui, kind, name);
            });
        });
    });
    response.response.on_hover_text(help);
}

/// A colour and its word.
pub(super) fn swatch(ui: &mut Ui, kind: SliceKind, words: &str) {
    let roles = theme::roles(ui);
    // As high as the word, so that the two align.
    let high = ui.text_style_height(&TextStyle::Body);
    let (room, _) = ui.allocate_exact_size(vec2(10.0, high), Sense::hover());
    let rect = egui::Rect::from_center_size(room.center(), vec2(10.0, 10.0));
    let color = roles.tone(series(kind), 0.8);
    ui.painter().rect_filled(rect, 2.0, color);
    ui.add(Label::new(RichText::new(words).color(roles.text)).truncate());
}
