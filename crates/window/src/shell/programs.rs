//! The question before a plan runs programs that were not started from here before. It shows them to the letter.

use eframe::egui::{Id, Modal, RichText, ScrollArea, Ui};

use crate::theme::{self, space, text};
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, RunAction};
use powerband_core::base::plain_text::harmless;

/// Height of the list; more can be scrolled to.
const LIST: f32 = 240.0;

/// Shows it while it is open.
pub(crate) fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(question) = &app.bench.programs else {
        return;
    };
    let frame = theme::card(ui).inner_margin(22);
    let modal = Modal::new(Id::unique("programs")).frame(frame).show(ui.ctx(), |ui| {
        ui.set_width(620.0);
        label::card_title(ui, "This plan runs programs");
        ui.add_space(space::TINY);
        label::quiet(
            ui,
            "It starts these commands, or loads these libraries and modules, with all your rights. Run them only if \
             you know what they do: a plan from someone else can name anything.",
        );
        ui.add_space(space::SMALL);
        ScrollArea::vertical()
            .id_salt("programs-lines")
            .max_height(LIST)
            .show(ui, |ui| {
                for line in &question.lines {
                    let shown = RichText::new(harmless(line)).font(theme::numbers(text::BODY));
                    label::copyable(ui, shown);
                    ui.add_space(space::TINY);
                }
            });
        label::quiet(ui, &format!("From the folder {}", question.folder));
        ui.add_space(space::MEDIUM);
        ui.horizontal(|ui| {
            if button::primary(ui, None, "Do not run").clicked() {
                actions.push(Action::Run(RunAction::AllowPrograms(false)));
            }
            if button::labelled(ui, None, "Run them").clicked() {
                actions.push(Action::Run(RunAction::AllowPrograms(true)));
            }
        });
    });
    if modal.backdrop_response.clicked() {
        actions.push(Action::Run(RunAction::AllowPrograms(false)));
    }
}
