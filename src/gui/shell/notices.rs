//! Notices at the foot of the screen: what happened, what can be done about it, and the words to copy.

use eframe::egui::{Align, Align2, Area, Id, Label, Layout, Order, RichText, Ui, vec2};

use crate::app::App;
use crate::app::action::{Action, Shell};
use crate::app::notices::{Notice, Weight};
use crate::gui::icon;
use crate::gui::theme::{self, size, space};
use crate::gui::widgets::button;

/// Most notices at one time; the log has them all.
const MOST: usize = 4;

/// Shows those that are up.
pub fn show(ui: &Ui, app: &App, wishes: &mut Vec<Action>) {
    let up: Vec<&Notice> = app.notices.up().collect();
    if up.is_empty() {
        return;
    }
    Area::new(Id::unique("notices"))
        .order(Order::Foreground)
        .anchor(
            Align2::RIGHT_BOTTOM,
            vec2(-space::LARGE, -(size::STRIP + space::MEDIUM)),
        )
        .show(ui.ctx(), |ui| {
            ui.spacing_mut().item_spacing.y = space::SMALL;
            for notice in up.into_iter().rev().take(MOST).rev() {
                show_one(ui, notice, wishes);
            }
        });
}

fn show_one(ui: &mut Ui, notice: &Notice, wishes: &mut Vec<Action>) {
    let (glyph, color) = look(ui, notice.weight);
    let frame = theme::card(ui).inner_margin(10);
    frame.show(ui, |ui| {
        ui.set_width(380.0);
        ui.horizontal_top(|ui| {
            ui.label(button::glyph(glyph).color(color));
            ui.with_layout(Layout::right_to_left(Align::TOP), |ui| {
                if button::small_icon(ui, icon::CLOSE, "Dismiss").clicked() {
                    wishes.push(Action::Shell(Shell::Dismiss(notice.id)));
                }
                if button::small_icon(ui, icon::COPY, "Copy these words").clicked() {
                    wishes.push(Action::Shell(Shell::Copy(notice.text.clone())));
                }
                ui.with_layout(Layout::top_down(Align::LEFT), |ui| {
                    let words = RichText::new(&notice.text);
                    ui.add(Label::new(words).wrap().selectable(true));
                    if let Some((name, action)) = &notice.offer
                        && button::plain(ui, None, name).clicked()
                    {
                        wishes.push(Action::Shell(Shell::Dismiss(notice.id)));
                        wishes.push(action.clone());
                    }
                });
            });
        });
    });
}

/// The sign and the colour of a weight.
pub fn look(ui: &Ui, weight: Weight) -> (icon::Icon, eframe::egui::Color32) {
    let roles = theme::roles(ui);
    match weight {
        Weight::Done => (icon::GOOD, roles.good),
        Weight::Info => (icon::INFO, roles.quiet),
        Weight::Trouble => (icon::WARNING, roles.bad),
    }
}
