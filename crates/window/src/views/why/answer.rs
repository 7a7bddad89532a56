//! The answer: what limits the case in one sentence, how sure that is, and what it rests on.

use super::evidence;
use eframe::egui::{Label, RichText, Sense, Ui, vec2};

use crate::theme::{self, space, text};
use crate::views::{self, answer::two_columns};
use crate::widgets::label;
use powerband_core::base::humanize;
use powerband_findings::analysis::limits::answer::CaseAnswer;
use powerband_findings::report::experiments as texts;

/// Limits whose certainty is shown.
const LIMITS: usize = 4;
/// Less certainty than this is not shown.
const LEAST: f64 = 0.005;
/// Width of the names of limits, and of a whole bar.
const NAME: f32 = 76.0;
const BAR: f32 = 120.0;

/// Shows it: the sentence with how sure it is, and beside it what it rests on.
pub(super) fn cards(ui: &mut Ui, answer: &CaseAnswer) {
    two_columns(ui, |ui, width| {
        let part = |ui: &mut Ui, content: &dyn Fn(&mut Ui)| {
            ui.allocate_ui(vec2(width, 0.0), |ui| {
                ui.vertical(|ui| views::card(ui, content));
            });
        };
        part(ui, &|ui| {
            ui.horizontal(|ui| {
                let color = theme::roles(ui).text;
                let title = RichText::new(answer.title())
                    .size(text::SCREEN)
                    .color(color);
                let title = ui.add(Label::new(title));
                let help: Vec<&str> = answer.limits.iter().map(|limit| limit.help()).collect();
                if !help.is_empty() {
                    title.on_hover_text(help.join("\n"));
                }
                if answer.is_settled() {
                    label::quiet(ui, &answer.certainty_text());
                }
            });
            let color = theme::roles(ui).text;
            let sentence = RichText::new(answer.reason()).color(color);
            ui.add(Label::new(sentence).wrap());
            for part in texts::part_texts(answer) {
                label::quiet(ui, &part);
            }
            ui.add_space(space::SMALL);
            ui.spacing_mut().item_spacing.y = space::HAIR;
            let likely = answer.weights.iter().take(LIMITS);
            for one in likely.filter(|one| one.weight >= LEAST) {
                certainty(ui, one.limit.title(), one.weight);
            }
        });
        part(ui, &|ui| {
            label::card_title(ui, "What it rests on");
            for line in &answer.evidence {
                ui.add_space(space::TINY);
                evidence::row(ui, line);
            }
        });
    });
}

/// How sure one limit is, as a bar and a number.
fn certainty(ui: &mut Ui, name: &str, weight: f64) {
    ui.horizontal(|ui| {
        let roles = theme::roles(ui);
        let (rect, _) = ui.allocate_exact_size(vec2(NAME, 16.0), Sense::hover());
        let mut names = ui.new_child(eframe::egui::UiBuilder::new().max_rect(rect));
        label::quiet(&mut names, name);
        let (rect, _) = ui.allocate_exact_size(vec2(BAR, 8.0), Sense::hover());
        ui.painter().rect_filled(rect, 2.0, roles.line);
        let mut part = rect;
        part.set_width(rect.width() * weight as f32);
        ui.painter().rect_filled(part, 2.0, roles.accent);
        label::quiet(ui, &humanize::percent(weight));
    });
}
