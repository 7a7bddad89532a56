//! Notices at the foot of the screen: a message, its button, and a button to copy it. They have room of
//! their own and never cover a control.

use eframe::egui::text::LayoutJob;
use eframe::egui::{Align, Frame, Id, Label, Layout, Margin, Panel, TextStyle, Ui, vec2};

use crate::icon;
use crate::theme::{self, space};
use crate::widgets::button;
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::notices::{Notice, NoticeLevel};
use powerband_core::base::humanize;

/// Most notices at one time; the log has them all.
const MOST: usize = 3;
/// In a window that is lower than this there is one at a time, so that the screen stays in sight.
const LOW: f32 = 600.0;
/// Most lines of one; the rest is on hover and in the log.
const MOST_LINES: usize = 3;
/// Height of a line with the buttons of a notice.
const LINE: f32 = 28.0;

/// Shows those that are up, in a strip of their own at the foot of what room there is.
pub(crate) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let up: Vec<&Notice> = app.shared.notices.on_screen().collect();
    if up.is_empty() {
        return;
    }
    let is_low = ui.ctx().content_rect().height() < LOW;
    let most = if is_low { 1 } else { MOST };
    let margin = Margin {
        left: space::LARGE as i8,
        right: (space::LARGE + space::EDGE) as i8,
        top: 0,
        bottom: space::SMALL as i8,
    };
    let frame = Frame::new()
        .fill(theme::roles(ui).ground)
        .inner_margin(margin);
    let shown = Panel::bottom("notices")
        .resizable(false)
        .show_separator_line(false)
        .frame(frame)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::TINY;
            let older = up.len().saturating_sub(most);
            if older > 0 {
                more(ui, older, actions);
            }
            for notice in up.into_iter().skip(older) {
                show_one(ui, app, notice, actions);
            }
        });
    reserve(ui, shown.response.rect.height());
}

/// The panel is as high as it was last time; where its notices need another height, the frame is laid out
/// once more.
fn reserve(ui: &Ui, height: f32) {
    let id = Id::unique("height-of-notices");
    let before = ui.data_mut(|data| data.get_temp::<f32>(id));
    if before.is_none_or(|before| (before - height).abs() > 0.5) {
        ui.data_mut(|data| data.insert_temp(id, height));
        ui.ctx().request_discard("the notices have another height");
    }
}

/// The number of further notices, as a button to the log.
fn more(ui: &mut Ui, number: usize, actions: &mut Vec<Action>) {
    let words = format!("{} more in the log", humanize::count(number as u64));
    if button::labelled(ui, None, &words).clicked() {
        actions.push(Action::Shell(Shell::Log(true)));
    }
}

/// The text of a notice, on as many lines as leave the screen visible.
fn notice_text(ui: &Ui, notice: &Notice) -> LayoutJob {
    let font = TextStyle::Body.resolve(ui.style());
    let color = ui.visuals().text_color();
    let mut job = LayoutJob::simple(notice.text.clone(), font, color, f32::INFINITY);
    job.wrap.max_rows = MOST_LINES;
    job
}

fn show_one(ui: &mut Ui, app: &App, notice: &Notice, actions: &mut Vec<Action>) {
    let (glyph, color) = weight_style(ui, notice.weight);
    theme::card(ui)
        .inner_margin(Margin::symmetric(10, 4))
        .show(ui, |ui| {
            let room = vec2(ui.available_width(), LINE);
            // What stands at the right first, so that the words know how much room they have.
            ui.allocate_ui_with_layout(room, Layout::right_to_left(Align::Min), |ui| {
                ui.set_min_height(LINE);
                ui.spacing_mut().item_spacing.x = space::TINY;
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.set_max_height(LINE);
                    buttons(ui, app, notice, actions);
                });
                // One line of words stands as high as the buttons.
                let height = ui.text_style_height(&TextStyle::Body);
                let above = ((LINE - height) / 2.0).max(0.0) as i8;
                let frame = Frame::new().inner_margin(Margin::symmetric(0, above));
                frame.show(ui, |ui| {
                    ui.with_layout(Layout::left_to_right(Align::Min), |ui| {
                        ui.spacing_mut().item_spacing.x = space::SMALL;
                        ui.label(button::glyph(glyph).color(color));
                        let words = notice_text(ui, notice);
                        ui.add(Label::new(words).wrap().selectable(true));
                    });
                });
            });
        });
}

/// From right to left: buttons to dismiss it, copy it, and act on it.
fn buttons(ui: &mut Ui, app: &App, notice: &Notice, actions: &mut Vec<Action>) {
    let mut close = button::small_icon(ui, icon::CLOSE, "Dismiss");
    let keys = app.shared.keys_of("back");
    if app.shared.notices.newest_up() == Some(notice.id) && !keys.is_empty() {
        close = close.on_hover_text(format!("{keys} does it too"));
    }
    if close.clicked() {
        actions.push(Action::Shell(Shell::Dismiss(notice.id)));
    }
    if button::small_icon(ui, icon::COPY, "Copy this message").clicked() {
        actions.push(Action::Shell(Shell::Copy(notice.text.clone())));
    }
    offer(ui, notice, actions);
}

/// The button of its action.
pub(crate) fn offer(ui: &mut Ui, notice: &Notice, actions: &mut Vec<Action>) {
    if let Some((name, action)) = &notice.offer
        && button::labelled(ui, None, name).clicked()
    {
        actions.push(Action::Shell(Shell::Dismiss(notice.id)));
        actions.push(action.clone());
    }
}

/// Icon and colour of a notice's level.
pub(crate) fn weight_style(ui: &Ui, weight: NoticeLevel) -> (icon::Icon, eframe::egui::Color32) {
    let roles = theme::roles(ui);
    match weight {
        NoticeLevel::Done => (icon::GOOD, roles.good),
        NoticeLevel::Info => (icon::INFO, roles.quiet),
        NoticeLevel::Trouble => (icon::WARNING, roles.bad),
        NoticeLevel::Question => (icon::INFO, roles.text),
    }
}
