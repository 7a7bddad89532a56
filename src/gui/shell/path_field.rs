//! A field for a path, where the desktop shows no file dialog or the user prefers to type.

use std::path::PathBuf;

use eframe::egui::{self, Id, Modal, Ui};

use crate::gui::dialog_text;
use crate::gui::theme::{self, space};
use crate::gui::widgets::{button, label};
use powerband_app::Ask;

/// The answer to the question.
pub(crate) enum PathAnswer {
    /// This path.
    Path(PathBuf),
    /// The user cancelled.
    None,
}

/// Shows it until there is an answer; `exists` says whether the typed path is a file.
pub(crate) fn show(
    ui: &Ui,
    ask: &Ask,
    typed: &mut String,
    exists: &mut bool,
) -> Option<PathAnswer> {
    let mut answer = None;
    let modal = Modal::new(Id::unique("path"))
        .frame(theme::card(ui).inner_margin(22))
        .show(ui.ctx(), |ui| {
            ui.set_width(520.0);
            label::card_title(ui, dialog_text::title(ask));
            ui.add_space(space::TINY);
            label::quiet(ui, "Type the path; ~ is your home folder.");
            ui.add_space(space::SMALL);
            let field = egui::TextEdit::singleline(typed)
                .desired_width(f32::INFINITY)
                .hint_text(dialog_text::example(ask))
                .font(theme::numbers(12.5))
                .margin(egui::Margin::symmetric(8, 6));
            let response = ui.add(field).accessible_name("Path");
            let enter =
                response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if ui.memory(|memory| memory.focused().is_none()) && !enter {
                response.request_focus();
            }
            let path = dialog_text::absolute_path(ask, typed);
            let saves = matches!(
                ask,
                Ask::SaveSession(..)
                    | Ask::SaveFigure(..)
                    | Ask::SaveTable(..)
                    | Ask::SaveReport(..)
            );
            if response.changed() {
                *exists = path.is_file();
            }
            let replaces = saves && *exists;
            if replaces {
                ui.add_space(space::TINY);
                let words = "A file of this name exists. It would be replaced.";
                ui.colored_label(theme::roles(ui).unsure, words);
            }
            ui.add_space(space::MEDIUM);
            ui.horizontal(|ui| {
                let verb = match (saves, replaces) {
                    (true, true) => "Replace",
                    (true, false) => "Save",
                    (false, _) => "Open",
                };
                let button = button::primary(ui, None, verb);
                // The first Enter replaces nothing; the second one does.
                if enter && replaces {
                    button.request_focus();
                }
                let is_wanted = button.clicked() || (enter && !replaces);
                if is_wanted && !typed.trim().is_empty() {
                    answer = Some(PathAnswer::Path(path.clone()));
                }
                if button::labelled(ui, None, "Cancel").clicked() {
                    answer = Some(PathAnswer::None);
                }
            });
        });
    let escaped = ui.input(|input| input.key_pressed(egui::Key::Escape));
    if modal.backdrop_response.clicked() || escaped {
        answer = Some(PathAnswer::None);
    }
    answer
}
