//! Runs in jobs of Slurm: how far they are, and buttons to collect and cancel them.

use eframe::egui::Ui;

use crate::icon;
use crate::theme::space;
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Detached};
use powerband_app::detached::DetachedRun;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.set_width(ui.available_width());
    label::card_title(ui, "Detached runs");
    if let Some(trouble) = &app.settings.detached.trouble {
        label::trouble(ui, trouble);
    }
    let allowed = if app.settings.detached.is_busy {
        Err("Slurm is being asked")
    } else {
        Ok(())
    };
    for run in &app.settings.detached.runs {
        ui.add_space(space::SMALL);
        detached_row(ui, run, allowed, actions);
    }
    ui.add_space(space::SMALL);
    if button::plain_if(ui, allowed, Some(icon::AGAIN), "Look again").clicked() {
        actions.push(Action::Detached(Detached::Look));
    }
}

fn detached_row(
    ui: &mut Ui,
    run: &DetachedRun,
    allowed: Result<(), &'static str>,
    actions: &mut Vec<Action>,
) {
    let (done, all) = run.rounds;
    label::quiet_line(ui, &format!("{} {}", run.id, run.name));
    label::quiet(ui, &format!("{done} of {all} rounds, {}", run.state));
    let (name, sign, act) = if run.is_alive {
        ("Cancel", icon::STOP, Detached::Cancel(run.id.clone()))
    } else {
        ("Collect", icon::OPEN, Detached::Collect(run.id.clone()))
    };
    let name = format!("{name} {}", run.id);
    if button::plain_if(ui, allowed, Some(sign), &name).clicked() {
        actions.push(Action::Detached(act));
    }
}
