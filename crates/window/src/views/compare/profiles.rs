//! Two profiles compared: all their time, what changed, and their kernels side by side.

use eframe::egui::Ui;

use super::{answer, tables};
use crate::icon;
use crate::theme::space;
use crate::widgets::{button, label, waiting};
use powerband_app::App;
use powerband_app::action::{Action, Kernels};
use powerband_app::screen::Screen;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let sides = &app.compare.sides;
    if sides.profile_sides(&app.shared.sessions).is_none() {
        return label::empty(
            ui,
            icon::KERNELS,
            "One side has no profile",
            "A profile is compared with a profile: choose one, or profile a run of the setup.",
        );
    }
    let Some(found) = &sides.profiles.result else {
        return waiting::show(ui, "Comparing…");
    };
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::MEDIUM;
        answer::show(ui, &found.headline, |ui| {
            ui.add_space(space::SMALL);
            let open = button::labelled(ui, Some(icon::KERNELS), "Show in Kernels");
            if open
                .on_hover_text("With bars, filters and the instances of each kernel")
                .clicked()
            {
                let [before, after] = found.sides;
                actions.extend([
                    Action::Kernels(Kernels::Look(after)),
                    Action::Kernels(Kernels::Before(Some(before))),
                    Action::Go(Screen::Kernels),
                ]);
            }
        });
        tables::profiles(ui, app, actions);
    });
}
