//! The run in progress beside the plan, and the plans that wait for it.

use eframe::egui::{Align, Layout, Ui};

use super::card;
use crate::icon;
use crate::theme::space;
use crate::views::run::{pause, progress_bar, state_words, stop};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, RunAction};
use powerband_app::plan::PlanError;
use powerband_app::run::LiveRun;
use powerband_app::screen::Screen;

/// Least height, so that what is below stays where it is when a run begins.
const HEIGHT: f32 = 104.0;

/// The run in progress in place of the estimate, which stands in the first row too; else the estimate. Then what waits.
pub(super) fn or_estimate(ui: &mut Ui, app: &App, faults: &[PlanError], actions: &mut Vec<Action>) {
    let run = app.bench.run.as_ref();
    let run = run.filter(|run| run.stage.is_going_on());
    card(ui, |ui| {
        ui.set_min_height(HEIGHT);
        match run {
            Some(run) => in_progress(ui, run, actions),
            None => super::cost(ui, app, faults),
        }
        queue(ui, app, actions);
    });
}

fn in_progress(ui: &mut Ui, run: &LiveRun, actions: &mut Vec<Action>) {
    label::card_title(ui, &run.title);
    if let Some(progress) = &run.progress {
        progress_bar(ui, ui.available_width(), progress.share);
    }
    // Two lines at most: the numbers change by the second.
    label::quiet_line_about(ui, &state_words(run), state_words(run));
    ui.horizontal_wrapped(|ui| {
        pause(ui, run, actions);
        stop(ui, actions);
        if button::labelled(ui, None, "Show the run").clicked() {
            actions.push(Action::Go(Screen::Run));
        }
    });
}

/// What waits, in its order.
fn queue(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let waiting = &app.bench.queue;
    if waiting.is_empty() {
        return;
    }
    ui.add_space(space::TINY);
    ui.horizontal(|ui| {
        label::caption(ui, "Next");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if !app.bench.is_running() && button::labelled(ui, None, "Start the next").clicked() {
                actions.push(Action::Run(RunAction::StartNext));
            }
        });
    });
    for (place, queued) in waiting.iter().enumerate() {
        let title = queued.title();
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let name = format!("Take {title} out of the queue");
                if button::small_icon(ui, icon::CLOSE, &name).clicked() {
                    actions.push(Action::Run(RunAction::Unqueue(place)));
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    label::quiet_line(ui, title);
                });
            });
        });
    }
}
