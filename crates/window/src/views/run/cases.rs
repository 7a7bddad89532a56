//! The cases of a run: which of them are listed, and buttons to leave one out or take it back.

use std::cell::RefCell;

use eframe::egui::{Align, Layout, Ui};

use crate::icon;
use crate::shell::strip;
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{button, label, marker, segmented};
use powerband_app::App;
use powerband_app::action::{Action, RunAction};
use powerband_app::run::LiveRun;
use powerband_app::run::states::CaseFilter;
use powerband_core::base::humanize;

pub(super) fn show(ui: &mut Ui, app: &App, run: &LiveRun, actions: &mut Vec<Action>) {
    if run.session.is_none() {
        label::card_title(ui, "Cases");
        strip::progress_bar(ui, 0.0);
        return;
    }
    let title = |ui: &mut Ui| {
        label::card_title(ui, "Cases");
    };
    let has_rows = data_table::tools(ui, app, "run", actions, title);
    choices(ui, run, actions);
    if has_rows {
        rows(ui, app, run, actions);
    } else if run.filter != CaseFilter::All && app.shared.tables.filter_text("run").is_empty() {
        label::quiet(ui, &format!("No case is {}.", run.filter));
    }
}

/// Which cases are listed, and a button to follow the active one.
fn choices(ui: &mut Ui, run: &LiveRun, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let choices = CaseFilter::ALL.map(|filter| {
            let count = humanize::count(run.count(filter) as u64);
            (filter, format!("{filter} {count}"), help(filter))
        });
        if let Some(filter) = segmented::show(ui, "Cases", run.filter, &choices) {
            actions.push(Action::Run(RunAction::List(filter)));
        }
        if !run.follows && run.stage.is_going_on() {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let response = button::labelled(ui, Some(icon::FIT), "Follow");
                if response
                    .on_hover_text("Keeps the active case in view")
                    .clicked()
                {
                    actions.push(Action::Run(RunAction::Follow(true)));
                }
            });
        }
    });
}

fn help(filter: CaseFilter) -> &'static str {
    match filter {
        CaseFilter::All => "",
        CaseFilter::Failed => "Cases that could not run",
        CaseFilter::Finished => "Cases that are measured",
        CaseFilter::Waiting => "Cases whose next round is still to come",
        CaseFilter::Skipped => "Cases that were skipped, by you or because the run was stopped",
    }
}

fn rows(ui: &mut Ui, app: &App, run: &LiveRun, actions: &mut Vec<Action>) {
    let Some(session) = &run.session else {
        return;
    };
    // Both the table and its rows may return actions.
    let asked = RefCell::new(Vec::new());
    let lead = |ui: &mut Ui, row: usize| {
        if let Some(case) = run.case_of_row(row) {
            marker::inline(ui, run.colour(case.setup));
        }
    };
    let tail = |ui: &mut Ui, row: usize| {
        let Some(case) = run.case_of_row(row) else {
            return;
        };
        let named = format!("{} {}", session.setup_label(case.setup), case.point);
        let (glyph, name, act) = if run.can_skip(case) {
            (
                icon::SKIP,
                format!("Skip {named}"),
                RunAction::Skip(case.key()),
            )
        } else if run.can_take_back(case) {
            let name = format!("Take {named} back");
            (icon::UNDO, name, RunAction::Unskip(case.key()))
        } else {
            return;
        };
        if button::small_icon(ui, glyph, &name).clicked() {
            asked.borrow_mut().push(Action::Run(act));
        }
    };
    let active = run.current_case().and_then(|case| run.row_of_case(case));
    let table = DataTable {
        id: "run",
        height: (ui.ctx().content_rect().height() * 0.6).max(320.0),
        selected: active,
        lead: Some(&lead),
        tail: Some(&tail),
        ..DataTable::default()
    };
    let follows = run.follows && run.stage.is_going_on();
    let touched = table.show_with(ui, app, active.filter(|_| follows), actions);
    if touched.is_scrolled && follows {
        actions.push(Action::Run(RunAction::Follow(false)));
    }
    actions.append(&mut asked.borrow_mut());
}
