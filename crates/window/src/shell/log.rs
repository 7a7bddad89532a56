//! The log: every notice since the window opened, and every event of the run.

use eframe::egui::{Align, Label, Layout, RichText, ScrollArea, Ui};

use crate::icon;
use crate::theme::{self, text};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::notices::NoticeLevel;
use powerband_core::base::humanize;

pub(crate) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        label::card_title(ui, "Log");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::icon(ui, icon::CLOSE, "Close the log").clicked() {
                actions.push(Action::Shell(Shell::Log(false)));
            }
            if button::icon(ui, icon::COPY, "Copy the log").clicked() {
                actions.push(Action::Shell(Shell::Copy(app.bench.log_text(&app.shared))));
            }
        });
    });
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .stick_to_bottom(true)
        .show(ui, |ui| {
            for notice in app.shared.notices.all() {
                let (glyph, color) = super::notices::weight_style(ui, notice.weight);
                ui.horizontal(|ui| {
                    ui.label(button::glyph(glyph).size(12.0).color(color));
                    // A dismissed question can still be answered.
                    if notice.weight == NoticeLevel::Question && !notice.is_up {
                        super::notices::offer(ui, notice, actions);
                    }
                    ui.add(Label::new(&notice.text).wrap().selectable(true));
                });
            }
            for line in app.bench.run.iter().flat_map(|run| &run.log) {
                run_line(ui, line.at_ns, &line.text, line.is_trouble);
            }
            if app.shared.notices.all().is_empty() && app.bench.run.is_none() {
                label::quiet(ui, "The log is empty.");
            }
        });
}

/// A line of a run's log.
pub(crate) fn run_line(ui: &mut Ui, at_ns: u64, words: &str, is_trouble: bool) {
    let roles = theme::roles(ui);
    ui.spacing_mut().interact_size.y = 16.0;
    ui.horizontal(|ui| {
        let time = humanize::stopwatch(at_ns as f64 / 1e9);
        ui.label(
            RichText::new(format!("{time:>5}"))
                .font(theme::numbers(text::CAPTION))
                .color(roles.faint),
        );
        let color = if is_trouble { roles.bad } else { roles.quiet };
        ui.add(
            Label::new(RichText::new(words).color(color))
                .truncate()
                .selectable(true),
        );
    });
}
