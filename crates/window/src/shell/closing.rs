//! The question on closing the window during a run. The run continues while it is shown.

use eframe::egui::{Id, Modal, Ui};

use crate::theme::{self, space};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Closing, Shell};

/// Shows it while it is open.
pub(crate) fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    if !app.shared.window.closing {
        return;
    }
    let modal = Modal::new(Id::unique("closing")).frame(theme::card(ui).inner_margin(22)).show(ui.ctx(), |ui| {
        ui.set_width(440.0);
        label::card_title(ui, "A run is in progress");
        ui.add_space(space::TINY);
        label::quiet(
            ui,
            "It can continue without the window and be saved at its end, or stop now. Measurements are saved either way.",
        );
        ui.add_space(space::MEDIUM);
        ui.horizontal(|ui| {
            for (name, closing) in [
                ("Stay", Closing::Stay),
                ("Continue without the window", Closing::Finish),
                ("Stop and close", Closing::Stop),
            ] {
                let response = if closing == Closing::Stay {
                    button::primary(ui, None, name)
                } else {
                    button::labelled(ui, None, name)
                };
                if response.clicked() {
                    actions.push(Action::Shell(Shell::Close(closing)));
                }
            }
        });
    });
    if modal.backdrop_response.clicked() {
        actions.push(Action::Shell(Shell::Close(Closing::Stay)));
    }
}
