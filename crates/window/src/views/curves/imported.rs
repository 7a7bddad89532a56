//! The card of imported sessions: the program that measured, and remarks on its results.

use eframe::egui::Ui;

use crate::theme::space;
use crate::widgets::label;
use powerband_app::App;
use powerband_core::base::humanize;
use powerband_core::domain::profile::Tool;

/// Most remarks shown for a session, because the charts are below.
const MOST: usize = 4;

/// Shows it, for each such session that is open.
pub(super) fn show(ui: &mut Ui, app: &App) {
    for open in app.shared.sessions.iter() {
        if let Some(tool) = &open.session.imported {
            let session = &open.session;
            super::super::card(ui, |ui| remarks(ui, tool, &session.name, &session.warnings));
            ui.add_space(space::MEDIUM);
        }
    }
}

fn remarks(ui: &mut Ui, tool: &Tool, name: &str, warnings: &[String]) {
    label::card_title(ui, &format!("{name} was not measured here"));
    let of: &str = if tool.name.is_empty() {
        "another program"
    } else {
        &tool.name
    };
    label::faint(
        ui,
        &format!("Imported from files of {of}: its numbers are as the files state them"),
    );
    for warning in warnings.iter().take(MOST) {
        label::quiet(ui, warning);
    }
    let rest = warnings.get(MOST..).unwrap_or_default();
    if !rest.is_empty() {
        let words = humanize::pluralised(rest.len() as u64, "more remark");
        label::faint(ui, &words).on_hover_text(rest.join("\n\n"));
    }
}
