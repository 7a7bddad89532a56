//! A field for a path, where the desktop shows no file dialog or the user prefers to type.

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::{self, Context, Id, Modal, Ui};

use crate::dialog_text;
use crate::theme::{self, space};
use crate::widgets::{button, completing, label};
use powerband_app::Ask;
use powerband_app::plan::{Alternative, Completion};

/// The answer to the question.
pub(crate) enum PathAnswer {
    /// This path.
    Path(PathBuf),
    /// The user cancelled.
    None,
}

/// Most names that are listed.
const MOST: usize = 12;

/// The names in the folder that is typed, each with whether it is a folder.
type FolderNames = (PathBuf, Arc<Vec<(String, bool)>>);

fn writes(ask: &Ask) -> bool {
    matches!(
        ask,
        Ask::SaveSession(..)
            | Ask::SaveFigure(..)
            | Ask::SaveTable(..)
            | Ask::SaveReport(..)
            | Ask::SavePage(..)
    )
}

/// What a typed path may go on with: the folders and files that begin like its last part; where a file is written, the
/// folders alone. Hidden ones are listed where a dot is typed.
fn names_in_folder(ctx: &Context, ask: &Ask, typed: &str) -> Option<Completion> {
    let start = typed.rfind('/')? + 1;
    let (folder, begun) = typed.split_at(start);
    let folder = dialog_text::absolute_path(ask, folder);
    let fits = |(name, is_folder): &&(String, bool)| {
        let is_wanted = *is_folder || !writes(ask);
        let is_seen = begun.starts_with('.') || !name.starts_with('.');
        is_wanted && is_seen && name.starts_with(begun) && name != begun
    };
    let names = folder_names(ctx, folder);
    let proposals = names.iter().filter(fits).take(MOST);
    let proposals = proposals.map(|(name, is_folder)| {
        let value = format!("{name}{}", if *is_folder { "/" } else { "" });
        Alternative {
            title: value.clone(),
            value,
            help: String::new(),
            why_not: None,
        }
    });
    let proposals: Vec<Alternative> = proposals.collect();
    (!proposals.is_empty()).then_some(Completion {
        range: start..typed.len(),
        proposals,
    })
}

/// The names in a folder in their order, read when another folder is typed and not for each frame.
fn folder_names(ctx: &Context, folder: PathBuf) -> Arc<Vec<(String, bool)>> {
    let id = Id::unique("path-names");
    let known: Option<FolderNames> = ctx.data(|data| data.get_temp(id));
    if let Some((_, names)) = known.filter(|(of, _)| *of == folder) {
        return names;
    }
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut names: Vec<(String, bool)> = entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, entry.path().is_dir())
        })
        .collect();
    names.sort();
    let names = Arc::new(names);
    ctx.data_mut(|data| data.insert_temp(id, (folder, Arc::clone(&names))));
    names
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
            label::quiet(
                ui,
                "Type the path; Tab completes it, and ~ is your home folder.",
            );
            ui.add_space(space::SMALL);
            let hint = dialog_text::example(ask);
            let ctx = ui.ctx().clone();
            let propose = |text: &str, _| names_in_folder(&ctx, ask, text);
            let (response, news) = completing::show(ui, "Path", typed, hint, propose);
            let is_changed = news.is_some();
            *typed = news.unwrap_or_else(|| std::mem::take(typed));
            let enter =
                response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if ui.memory(|memory| memory.focused().is_none()) && !enter {
                response.request_focus();
            }
            let path = dialog_text::absolute_path(ask, typed);
            let saves = writes(ask);
            if is_changed {
                *exists = path.is_file();
            }
            // A wrong path stays to be mended.
            let missing = Id::unique("path-missing");
            if ui.data(|data| data.get_temp(missing)).as_ref() == Some(typed) {
                ui.add_space(space::TINY);
                label::trouble(ui, &format!("There is no {}.", path.display()));
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
                    // Others say themselves what is wrong with a path, or may be of another machine.
                    if !matches!(ask, Ask::Open | Ask::Trace) || path.exists() {
                        answer = Some(PathAnswer::Path(path.clone()));
                    } else {
                        ui.data_mut(|data| data.insert_temp(missing, typed.clone()));
                        response.request_focus();
                    }
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
