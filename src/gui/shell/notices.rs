//! Notices at the foot of the screen: what happened, what can be done about it, and the words to copy.

use eframe::egui::text::LayoutJob;
use eframe::egui::{Align, Align2, Area, Id, Label, Layout, Order, TextStyle, Ui, vec2};

use crate::app::App;
use crate::app::action::{Action, Shell};
use crate::app::notices::{Notice, Weight};
use crate::app::screen::Screen;
use crate::base::humanize;
use crate::gui::icon;
use crate::gui::theme::{self, size, space};
use crate::gui::widgets::button;

/// Most notices at one time; the log has them all.
const MOST: usize = 3;
/// Most lines of one; the rest is on hover and in the log.
const MOST_LINES: usize = 6;

/// Shows those that are up, above what stands so high at the foot of the window.
pub fn show(ui: &Ui, app: &App, foot: f32, wishes: &mut Vec<Action>) {
    let up: Vec<&Notice> = app.notices.up().collect();
    if up.is_empty() {
        return;
    }
    // What is done with a session stands at the right of the library, and must not be covered.
    let (corner, x) = if app.screen == Screen::Library {
        (Align2::LEFT_BOTTOM, size::RAIL + space::LARGE)
    } else {
        (Align2::RIGHT_BOTTOM, -space::LARGE)
    };
    Area::new(Id::unique("notices"))
        .order(Order::Foreground)
        .anchor(corner, vec2(x, -(foot + space::MEDIUM)))
        .show(ui.ctx(), |ui| {
            ui.spacing_mut().item_spacing.y = space::SMALL;
            let older = up.len().saturating_sub(MOST);
            if older > 0 {
                more(ui, older, wishes);
            }
            for notice in up.into_iter().skip(older) {
                show_one(ui, app, notice, wishes);
            }
        });
}

/// Says how many others there are, and leads to them.
fn more(ui: &mut Ui, number: usize, wishes: &mut Vec<Action>) {
    let words = format!("{} more in the log", humanize::count(number as u64));
    let frame = theme::card(ui).inner_margin(4);
    frame.show(ui, |ui| {
        if button::plain(ui, None, &words).clicked() {
            wishes.push(Action::Shell(Shell::Log(true)));
        }
    });
}

/// The words of a notice, over no more lines than leave the screen in sight.
fn words(ui: &Ui, notice: &Notice) -> LayoutJob {
    let font = TextStyle::Body.resolve(ui.style());
    let color = ui.visuals().text_color();
    let mut job = LayoutJob::simple(notice.text.clone(), font, color, f32::INFINITY);
    job.wrap.max_rows = MOST_LINES;
    job
}

fn show_one(ui: &mut Ui, app: &App, notice: &Notice, wishes: &mut Vec<Action>) {
    let (glyph, color) = look(ui, notice.weight);
    let frame = theme::card(ui).inner_margin(10);
    frame.show(ui, |ui| {
        ui.set_width(380.0);
        ui.horizontal_top(|ui| {
            ui.label(button::glyph(glyph).color(color));
            ui.with_layout(Layout::right_to_left(Align::TOP), |ui| {
                let mut close = button::small_icon(ui, icon::CLOSE, "Dismiss");
                let keys = app.keys_of("back");
                if app.notices.newest_up() == Some(notice.id) && !keys.is_empty() {
                    close = close.on_hover_text(format!("{keys} does it too"));
                }
                if close.clicked() {
                    wishes.push(Action::Shell(Shell::Dismiss(notice.id)));
                }
                if button::small_icon(ui, icon::COPY, "Copy these words").clicked() {
                    wishes.push(Action::Shell(Shell::Copy(notice.text.clone())));
                }
                ui.with_layout(Layout::top_down(Align::LEFT), |ui| {
                    let words = words(ui, notice);
                    ui.add(Label::new(words).wrap().selectable(true));
                    offer(ui, notice, wishes);
                });
            });
        });
    });
}

/// The button of what can be done about it.
pub fn offer(ui: &mut Ui, notice: &Notice, wishes: &mut Vec<Action>) {
    if let Some((name, action)) = &notice.offer
        && button::plain(ui, None, name).clicked()
    {
        wishes.push(Action::Shell(Shell::Dismiss(notice.id)));
        wishes.push(action.clone());
    }
}

/// The sign and the colour of a weight.
pub fn look(ui: &Ui, weight: Weight) -> (icon::Icon, eframe::egui::Color32) {
    let roles = theme::roles(ui);
    match weight {
        Weight::Done => (icon::GOOD, roles.good),
        Weight::Info => (icon::INFO, roles.quiet),
        Weight::Trouble => (icon::WARNING, roles.bad),
        Weight::Question => (icon::INFO, roles.text),
    }
}
