//! The ranks of a job, and who the others wait for.

use eframe::egui::Ui;

use crate::theme::space;
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::label;
use powerband_app::App;
use powerband_app::action::Action;
use powerband_core::domain::ranks::JobTimes;
use powerband_findings::analysis::last_rank;

pub(super) fn show(ui: &mut Ui, app: &App, job: &JobTimes, actions: &mut Vec<Action>) {
    super::super::card(ui, |ui| {
        card_table(ui, app, "ranks", "Ranks", actions);
        for sentence in last_rank::job_sentences(job) {
            label::quiet(ui, &sentence);
        }
        if !job.collectives.is_empty() {
            ui.add_space(space::MEDIUM);
            card_table(ui, app, "collectives", "Collectives", actions);
        }
    });
}

fn card_table(ui: &mut Ui, app: &App, id: &'static str, title: &str, actions: &mut Vec<Action>) {
    let title = |ui: &mut Ui| {
        label::card_title(ui, title);
    };
    if data_table::tools(ui, app, id, actions, title) {
        let table = DataTable {
            id,
            height: 260.0,
            ..DataTable::default()
        };
        table.show(ui, app, actions);
    }
}
