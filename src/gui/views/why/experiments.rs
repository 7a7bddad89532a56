//! What experiments say: the conclusion with its rule, what each change cost, and what was not tried.

use eframe::egui::{Label, RichText, Ui};

use super::nodes::sign;
use crate::gui::icon;
use crate::gui::theme::{self, space, text};
use crate::gui::views::rows_card;
use crate::gui::widgets::data_table::{self, DataTable};
use crate::gui::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::Action;
use powerband_core::base::humanize;
use powerband_findings::analysis::limits::experiments::ExperimentAnswer;

/// Most height of the table.
const HEIGHT: f32 = 360.0;

/// Shows it.
pub(super) fn card(ui: &mut Ui, app: &App, answer: &ExperimentAnswer, actions: &mut Vec<Action>) {
    rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "By experiment").on_hover_text(
                "The case in turns with itself, one thing changed at a time. A cost is the time with the change over the time without it, less 1.",
            );
        };
        let has_rows = data_table::tools(ui, app, "experiments", actions, title);
        conclusion(ui, answer);
        if has_rows {
            let table = DataTable {
                id: "experiments",
                height: HEIGHT,
                ..DataTable::default()
            };
            table.show(ui, app, actions);
        }
        untried(ui, answer);
    });
}

fn conclusion(ui: &mut Ui, answer: &ExperimentAnswer) {
    let roles = theme::roles(ui);
    ui.horizontal_top(|ui| {
        ui.add_space(10.0);
        match &answer.conclusion {
            Ok(found) => {
                sign(ui, Some(found.bound));
                let words = RichText::new(&found.sentence).color(roles.text);
                let response = ui.add(Label::new(words).wrap());
                response.on_hover_text(format!("The rule: {}", found.rule));
            }
            Err(reason) => {
                sign(ui, None);
                let words = format!("Not settled: {reason}.");
                ui.add(Label::new(RichText::new(words).color(roles.quiet)).wrap());
            }
        }
    });
    ui.add_space(space::SMALL);
}

fn untried(ui: &mut Ui, answer: &ExperimentAnswer) {
    if answer.untried.is_empty() {
        return;
    }
    ui.add_space(space::SMALL);
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        label::caption(ui, "Not tried");
    });
    for untried in &answer.untried {
        ui.horizontal_top(|ui| {
            ui.add_space(10.0);
            let glyph = button::glyph(icon::INFO)
                .size(13.0)
                .color(theme::roles(ui).faint);
            ui.label(glyph);
            let change = humanize::capitalised(untried.change.title());
            let words = RichText::new(format!("{change}: {}", untried.reason));
            let words = words.size(text::BODY).color(theme::roles(ui).quiet);
            ui.add(Label::new(words).wrap());
        });
    }
    ui.add_space(space::TINY);
}
