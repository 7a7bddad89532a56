//! Words and numbers in their roles.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align, Color32, CornerRadius, FontId, Galley, Label, Layout, Response, RichText, Sense,
    TextStyle, TextWrapMode, Ui, WidgetInfo, WidgetText, vec2,
};

use super::long_tip;
use crate::theme::{self, space, text};
use powerband_core::base::humanize;

/// How large the unit of a large number is beside it, and how far from it.
const UNIT_SHARE: f32 = 0.6;
const UNIT_GAP: f32 = 0.16;
/// The part of its row that the name of a pair has at most.
const NAME_SHARE: f32 = 0.6;

/// The title of a screen with the sentence below it.
pub(crate) fn screen_title(ui: &mut Ui, title: &str, sentence: &str) {
    let roles = theme::roles(ui);
    titled(ui, title, |ui| {
        ui.add(Label::new(RichText::new(sentence).color(roles.quiet)).truncate());
    });
}

/// The title of a screen, and something else in place of the sentence below it.
pub(crate) fn titled(ui: &mut Ui, title: &str, below: impl FnOnce(&mut Ui)) {
    let roles = theme::roles(ui);
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::HAIR;
        // A head has one line for it.
        let words = RichText::new(title).size(text::SCREEN).color(roles.text);
        ui.add(Label::new(words.family(theme::semibold())).truncate());
        below(ui);
    });
}

/// The title of a card.
pub(crate) fn card_title(ui: &mut Ui, title: &str) -> Response {
    let roles = theme::roles(ui);
    strong(ui, title, text::CARD, roles.text)
}

/// A caption over a group.
pub(crate) fn caption(ui: &mut Ui, words: &str) -> Response {
    let roles = theme::roles(ui);
    strong(ui, words, text::CAPTION, roles.faint)
}

/// In a row it is cut where the row ends, with the whole text on hover; below others it wraps.
fn strong(ui: &mut Ui, words: &str, size: f32, color: Color32) -> Response {
    let words = RichText::new(words).size(size).color(color);
    let label = Label::new(words.family(theme::semibold()));
    let is_in_row = ui.layout().is_horizontal() && !ui.layout().main_wrap();
    ui.add(if is_in_row { label.truncate() } else { label })
}

/// Words that matter less.
pub(crate) fn quiet(ui: &mut Ui, words: &str) -> Response {
    let roles = theme::roles(ui);
    ui.add(Label::new(RichText::new(words).color(roles.quiet)).wrap())
}

/// Text in the middle of an empty place of this height. Its lines are not stretched.
pub(crate) fn in_the_middle(ui: &mut Ui, height: f32, words: &str) -> Response {
    let size = vec2(ui.available_width(), height);
    let layout = Layout::top_down(Align::Center);
    let placed = ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_height(height);
        let text = WidgetText::from(words);
        let style = TextStyle::Body;
        let lines = text.into_galley(ui, Some(TextWrapMode::Wrap), size.x, style);
        ui.add_space(0.5 * (height - lines.size().y).max(0.0));
        quiet(ui, words)
    });
    placed.inner
}

/// A problem, as text that can be selected and copied for a search.
pub(crate) fn trouble(ui: &mut Ui, words: &str) -> Response {
    let color = theme::roles(ui).bad;
    copyable(ui, RichText::new(words).color(color))
}

/// Text that can be selected and copied, on as many lines as it needs.
pub(crate) fn copyable(ui: &mut Ui, words: RichText) -> Response {
    ui.add(Label::new(words).wrap().selectable(true))
}

/// Quiet text on one line, cut where it does not fit; the whole text on hover.
pub(crate) fn quiet_line(ui: &mut Ui, words: &str) -> Response {
    let roles = theme::roles(ui);
    ui.add(Label::new(RichText::new(words).color(roles.quiet)).truncate())
}

/// The same with another text on hover, which includes the cut part.
pub(crate) fn quiet_line_about(ui: &mut Ui, words: &str, hover: impl Into<String>) -> Response {
    let words = RichText::new(words).color(theme::roles(ui).quiet);
    let label = Label::new(words).truncate();
    let shown = ui.add(label.show_tooltip_when_elided(false));
    long_tip::on_hover(shown, &hover.into())
}

/// Fewest letters of a name that is cut.
const FEWEST: usize = 8;

/// A name that fits into this width, cut in its middle: names often differ at their end.
pub(crate) fn fitted(ui: &Ui, name: &str, width: f32) -> String {
    let measured = |shown: &str| {
        let font = theme::text_font(text::BODY);
        let galley = ui
            .painter()
            .layout_no_wrap(shown.to_owned(), font, Color32::PLACEHOLDER);
        galley.size().x
    };
    let whole = measured(name);
    if whole <= width {
        return name.to_owned();
    }
    let mut letters = (name.chars().count() as f32 * width / whole) as usize;
    loop {
        let short = humanize::shorten_middle(name, letters);
        if letters <= FEWEST || measured(&short) <= width {
            return short;
        }
        letters -= 1;
    }
}

/// Small words that only help.
pub(crate) fn faint(ui: &mut Ui, words: &str) -> Response {
    let roles = theme::roles(ui);
    ui.add(Label::new(RichText::new(words).size(text::CAPTION).color(roles.faint)).truncate())
}

/// A number with its unit: `8.57 ms`. A large one has its unit smaller and quieter beside it.
pub(crate) fn number(ui: &mut Ui, value: &str, size: f32) -> Response {
    match figure_and_unit(value) {
        Some((figure, unit)) if size > text::SCREEN => large(ui, value, figure, unit, size),
        _ => {
            let color = theme::roles(ui).text;
            ui.label(RichText::new(value).font(theme::numbers(size)).color(color))
        }
    }
}

/// A number and the one word after it, if the text has that form.
fn figure_and_unit(value: &str) -> Option<(&str, &str)> {
    let (figure, unit) = value.split_once(' ')?;
    let is_one = figure.starts_with(|first: char| first.is_ascii_digit()) && !unit.contains(' ');
    is_one.then_some((figure, unit))
}

fn large(ui: &mut Ui, value: &str, figure: &str, unit: &str, size: f32) -> Response {
    let roles = theme::roles(ui);
    let laid_out = |words: &str, size: f32, color: Color32| {
        let font = theme::numbers(size);
        ui.painter().layout_no_wrap(words.to_owned(), font, color)
    };
    let figure = laid_out(figure, size, roles.text);
    let unit = laid_out(unit, size * UNIT_SHARE, roles.quiet);
    let gap = size * UNIT_GAP;
    let room = vec2(figure.size().x + gap + unit.size().x, figure.size().y);
    let (rect, response) = ui.allocate_exact_size(room, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, value));
    let beside = vec2(figure.size().x + gap, baseline(&figure) - baseline(&unit));
    ui.painter().galley(rect.min, figure, roles.text);
    ui.painter().galley(rect.min + beside, unit, roles.quiet);
    response
}

/// How far below its top the letters of a line stand.
fn baseline(line: &Galley) -> f32 {
    let first = line.rows.first().and_then(|row| row.glyphs.first());
    first.map_or(0.0, |glyph| glyph.pos.y)
}

/// A word in a rounded box of its colour.
pub(crate) fn pill(ui: &mut Ui, word: &str, color: Color32) -> Response {
    let font = FontId::new(text::CAPTION, theme::semibold());
    let galley = ui.painter().layout_no_wrap(word.to_owned(), font, color);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(18.0, 6.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, word));
    let radius = CornerRadius::same((rect.height() / 2.0) as u8);
    ui.painter()
        .rect_filled(rect, radius, color.gamma_multiply(theme::PILL));
    let at = rect.center() - galley.size() / 2.0;
    ui.painter().galley(at, galley, color);
    response
}

/// A name on the left and what it is on the right.
pub(crate) fn pair(ui: &mut Ui, name: &str, value: &str) {
    let roles = theme::roles(ui);
    ui.spacing_mut().interact_size.y = 18.0;
    ui.horizontal(|ui| {
        let most = ui.available_width() * NAME_SHARE;
        ui.scope(|ui| {
            ui.set_max_width(most);
            ui.add(Label::new(RichText::new(name).color(roles.quiet)).truncate());
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add(Label::new(RichText::new(value).font(theme::numbers(12.0))).truncate());
        });
    });
}

/// Text and buttons of an empty place.
pub(crate) fn empty(ui: &mut Ui, icon: crate::icon::Icon, title: &str, sentence: &str) {
    let roles = theme::roles(ui);
    ui.label(
        RichText::new(icon)
            .font(eframe::egui::FontId::new(30.0, theme::icons()))
            .color(roles.faint),
    );
    ui.add_space(space::SMALL);
    ui.label(
        RichText::new(title)
            .size(text::CARD)
            .family(theme::semibold())
            .color(roles.text),
    );
    ui.label(RichText::new(sentence).color(roles.quiet));
    ui.add_space(space::MEDIUM);
}
