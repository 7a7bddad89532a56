//! What was tried: what each change cost, and what was not tried.

use eframe::egui::{Label, RichText, Ui};

use crate::icon;
use crate::theme::{self, space, text};
use crate::views::rows_card;
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, RunAction};
use powerband_app::plan::PlanEdit;
use powerband_app::why;
use powerband_core::base::humanize;
use powerband_core::domain::experiment::ExperimentChange;
use powerband_findings::analysis::limits::experiments::TriedExperiments;

/// Most height of the table.
const HEIGHT: f32 = 360.0;

/// Shows it.
pub(super) fn card(ui: &mut Ui, app: &App, tried: &TriedExperiments, actions: &mut Vec<Action>) {
    rows_card(ui, |ui| {
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "Tried").on_hover_text(
                "The case in turns with itself, one thing changed at a time. A cost is the time with the change over the time without it, less 1.",
            );
        };
        let has_rows = data_table::tools(ui, app, "experiments", actions, title);
        if has_rows {
            let table = DataTable {
                id: "experiments",
                height: HEIGHT,
                ..DataTable::default()
            };
            table.show(ui, app, actions);
        }
        untried(ui, app, tried, actions);
    });
}

fn untried(ui: &mut Ui, app: &App, tried: &TriedExperiments, actions: &mut Vec<Action>) {
    if tried.untried.is_empty() {
        return;
    }
    ui.add_space(space::SMALL);
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        label::caption(ui, "Not tried");
    });
    for untried in &tried.untried {
        let can_be_tried = tried.possible.contains(&untried.change);
        let row = |ui: &mut Ui| {
            ui.add_space(10.0);
            if can_be_tried {
                try_button(ui, app, untried.change, actions);
            } else {
                let glyph = button::glyph(icon::INFO)
                    .size(13.0)
                    .color(theme::roles(ui).faint);
                ui.label(glyph);
            }
            let change = humanize::capitalised(untried.change.title());
            let words = RichText::new(format!("{change}: {}", untried.reason));
            let words = words.size(text::BODY).color(theme::roles(ui).quiet);
            ui.add(Label::new(words).wrap());
        };
        if can_be_tried {
            ui.horizontal(row);
        } else {
            ui.horizontal_top(row);
        }
    }
    if let Ok(pin) = why::case_to_ask(app)
        && app.shared.has_machine()
    {
        ui.horizontal(|ui| {
            ui.add_space(10.0);
            if button::labelled(ui, Some(icon::PLAN), "Plan it").clicked() {
                actions.push(Action::Plan(PlanEdit::LargerBatches(pin)));
            }
            let words = "Larger batches: measured beside each other, they show what each item costs, and become evidence";
            let words = RichText::new(words).size(text::BODY);
            ui.add(Label::new(words.color(theme::roles(ui).quiet)).wrap());
        });
    }
    ui.add_space(space::TINY);
}

/// Measures one change in turns with the case, with a verdict.
fn try_button(ui: &mut Ui, app: &App, change: ExperimentChange, actions: &mut Vec<Action>) {
    if !app.shared.has_machine() {
        return;
    }
    let pin = why::case_to_ask(app);
    let allowed = pin.map(|_| ());
    let name = format!("Try {}", change.title());
    let response = button::plain_if(ui, allowed, Some(icon::RUN), "Try it").accessible_name(name);
    let response = match allowed {
        Ok(()) => response.on_hover_text(
            "Measure the case in turns with itself with this one change, for half a minute",
        ),
        Err(_) => response,
    };
    if let (true, Ok(pin)) = (response.clicked(), pin) {
        actions.push(Action::Run(RunAction::Why(pin, Some(change))));
    }
}
