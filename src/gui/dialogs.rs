//! File dialogs: the desktop's own where its portal answers, else a field for the path.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui::{Align2, Area, Context, Id, Order, Ui, vec2};

use super::dialog_text::{proposed, title};
use super::portal;
use super::shell::path_field::{self, Answer};
use super::theme::{self, size, space};
use super::widgets::{button, label};
use powerband_app::Ask;
use powerband_app::action::{Action, Figures, Machine, Sessions};
use powerband_app::plan::PlanEdit;
use powerband_app::tables::action::Change;

/// A dialog that closes faster than this was never shown.
const TOO_FAST: Duration = Duration::from_millis(600);
/// Time after which a desktop has shown its dialog.
const SHOWN_BY: Duration = Duration::from_secs(2);

/// The open question, if any.
#[derive(Default)]
pub(crate) struct Dialogs {
    asking: Option<Asking>,
    /// Never ask the desktop.
    is_alone: bool,
}

struct Asking {
    ask: Ask,
    since: Instant,
    /// The answer of the desktop's dialog; `None` where there is no dialog.
    desktop: Option<Receiver<Reply>>,
    typed: String,
    /// Whether a file of this name exists, checked when the name changes and not at every frame.
    exists: bool,
}

/// The answer of the desktop's dialog: the paths, empty where the user closed it; `None` where there was
/// no dialog.
type Reply = Option<Vec<PathBuf>>;

impl Dialogs {
    /// Dialogs that never ask the desktop.
    pub(crate) fn without_desktop() -> Self {
        Self {
            is_alone: true,
            ..Self::default()
        }
    }

    /// Asks. A second question replaces the first.
    pub(super) fn ask(&mut self, ask: Ask, ctx: &Context) {
        let typed = proposed(&ask).map_or_else(String::new, |path| path.display().to_string());
        let desktop = (!self.is_alone && portal::has_session_bus())
            .then(|| desktop(ask.clone(), ctx.clone()))
            .flatten();
        self.asking = Some(Asking {
            since: Instant::now(),
            desktop,
            exists: proposed(&ask).is_some_and(Path::is_file),
            ask,
            typed,
        });
    }

    /// Whether the field for a path is on the screen.
    pub(crate) fn is_field_up(&self) -> bool {
        self.asking
            .as_ref()
            .is_some_and(|asking| asking.desktop.is_none())
    }

    /// Shows the field where it is needed, and turns an answer into its action.
    pub(super) fn show(&mut self, ui: &Ui, actions: &mut Vec<Action>) {
        let Some(asking) = &mut self.asking else {
            return;
        };
        if let Some(desktop) = &asking.desktop {
            match desktop.try_recv() {
                Ok(Some(paths)) => {
                    actions.extend(wanted(&asking.ask, paths));
                    self.asking = None;
                    return;
                }
                // A thread that ended without an answer had no dialog either.
                Ok(None) | Err(TryRecvError::Disconnected) => asking.desktop = None,
                Err(TryRecvError::Empty) => {
                    if waiting(ui, asking.since) {
                        asking.desktop = None;
                    }
                    return;
                }
            }
        }
        let field = path_field::show(ui, &asking.ask, &mut asking.typed, &mut asking.exists);
        if let Some(answer) = field {
            let paths = match answer {
                Answer::Path(path) => vec![path],
                Answer::None => Vec::new(),
            };
            actions.extend(wanted(&asking.ask, paths));
            self.asking = None;
        }
    }
}

/// Shows that the desktop was asked, once its dialog should be there, and returns whether the user
/// prefers the field: a portal that hangs fails after half a minute, if ever.
fn waiting(ui: &Ui, since: Instant) -> bool {
    let left = SHOWN_BY.saturating_sub(since.elapsed());
    if !left.is_zero() {
        ui.ctx().request_repaint_after(left);
        return false;
    }
    let foot = vec2(0.0, -(size::STRIP + space::MEDIUM));
    Area::new(Id::unique("waiting-for-dialog"))
        .order(Order::Foreground)
        .anchor(Align2::CENTER_BOTTOM, foot)
        .show(ui.ctx(), |ui| {
            let frame = theme::card(ui).inner_margin(10);
            frame.show(ui, says_wait).inner
        })
        .inner
}

fn says_wait(ui: &mut Ui) -> bool {
    ui.set_width(440.0);
    ui.horizontal(|ui| {
        label::quiet_line(ui, "Waiting for the desktop's file dialog.");
        button::plain(ui, None, "Type the path instead").clicked()
    })
    .inner
}

fn wanted(ask: &Ask, paths: Vec<PathBuf>) -> Option<Action> {
    let first = paths.first().cloned()?;
    Some(match ask {
        Ask::Open => Action::Sessions(Sessions::Open(paths)),
        Ask::Model => Action::Plan(PlanEdit::Model(first.display().to_string())),
        Ask::KeyFile(setup, key) | Ask::KeyFolder(setup, key) => {
            let path = first.display().to_string();
            Action::Plan(PlanEdit::Key(*setup, key.clone(), path))
        }
        Ask::Trace => Action::OpenTrace(first),
        Ask::Point(pointed) => Action::Machine(Machine::Point(*pointed, Some(first))),
        Ask::SaveSession(id, _) => Action::Sessions(Sessions::SaveAs(*id, Some(first))),
        Ask::SaveFigure(shown, _) => Action::Figures(Figures::Save(Arc::clone(shown), Some(first))),
        Ask::SaveReport(subject, _) => Action::Report(*subject, Some(first)),
        Ask::SaveTable(id, _) => Action::Table(id, Change::Export(Some(first))),
    })
}

fn desktop(ask: Ask, ctx: Context) -> Option<Receiver<Reply>> {
    let (sender, receiver) = sync_channel(1);
    let started = thread::Builder::new()
        .name("file-dialog".to_owned())
        .spawn(move || {
            let since = Instant::now();
            let reply = pick(&ask).or_else(|| {
                was_closed(since.elapsed(), portal::has_file_dialogs, has_zenity).then(Vec::new)
            });
            // The answer is dropped if the window closed before the dialog did.
            if sender.send(reply).is_ok() {
                ctx.request_repaint();
            }
        });
    started.is_ok().then_some(receiver)
}

/// Shows the desktop's dialog. `None` where the user closed it, and where there is none.
fn pick(ask: &Ask) -> Option<Vec<PathBuf>> {
    let dialog = rfd::FileDialog::new().set_title(title(ask));
    let picked = match ask {
        Ask::Open => {
            return dialog
                .add_filter("Sessions and models", &["ron", "onnx"])
                .add_filter("Everything, with traces of profilers", &["*"])
                .pick_files();
        }
        Ask::Model => dialog.add_filter("ONNX", &["onnx"]).pick_file(),
        Ask::KeyFolder(..) => dialog.pick_folder(),
        Ask::KeyFile(..) | Ask::Trace | Ask::Point(_) => dialog.pick_file(),
        Ask::SaveFigure(_, path) => at(path, dialog)
            .add_filter("Pictures and tables", &["png", "svg", "pdf", "csv", "json"])
            .save_file(),
        Ask::SaveReport(_, path) => at(path, dialog)
            .add_filter("Report", &["html", "md"])
            .save_file(),
        Ask::SaveTable(_, path) => at(path, dialog)
            .add_filter("Table", &["csv", "tsv", "json"])
            .save_file(),
        Ask::SaveSession(_, path) => at(path, dialog).add_filter("Session", &["ron"]).save_file(),
    };
    picked.map(|path| vec![path])
}

/// A dialog that begins at a path.
fn at(path: &Path, dialog: rfd::FileDialog) -> rfd::FileDialog {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let dialog = dialog.set_file_name(name);
    match path.parent() {
        Some(folder) => dialog.set_directory(folder),
        None => dialog,
    }
}

/// Whether a dialog without a path was shown and closed by the user. It was not shown where no program
/// could show it, or where it ended too fast for a user.
fn was_closed(
    took: Duration,
    has_portal: impl FnOnce() -> bool,
    has_zenity: impl FnOnce() -> bool,
) -> bool {
    took >= TOO_FAST && (has_portal() || has_zenity())
}

/// Where no portal answers, the dialogs' crate starts this program, if it is installed.
fn has_zenity() -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join("zenity").is_file())
}

#[cfg(test)]
mod tests {
    use eframe::egui::RawInput;

    use super::*;

    #[test]
    fn a_dialog_was_closed_only_where_one_could_be_shown_and_seen() {
        let late = Duration::from_secs(25);
        for (took, has_portal, has_zenity, wanted) in [
            (late, true, false, true),
            (late, true, true, true),
            // A portal that failed at last, or was never there.
            (late, false, false, false),
            (TOO_FAST, false, false, false),
            // Zenity takes the place of the portal.
            (TOO_FAST, false, true, true),
            (TOO_FAST, true, false, true),
            // No user is so fast, whatever program is there.
            (TOO_FAST / 2, true, true, false),
            (Duration::ZERO, true, false, false),
            (Duration::ZERO, false, false, false),
        ] {
            assert_eq!(
                was_closed(took, || has_portal, || has_zenity),
                wanted,
                "{took:?}, portal {has_portal}, zenity {has_zenity}"
            );
        }
    }

    /// A question whose dialog said this, if anything, and whose thread is gone.
    fn asked(said: &[Reply]) -> Dialogs {
        let (sender, receiver) = sync_channel(1);
        for reply in said {
            sender.send(reply.clone()).unwrap();
        }
        Dialogs {
            asking: Some(Asking {
                ask: Ask::Open,
                since: Instant::now(),
                desktop: Some(receiver),
                typed: String::new(),
                exists: false,
            }),
            is_alone: false,
        }
    }

    #[test]
    fn the_field_comes_where_there_was_no_dialog() {
        let path = PathBuf::from("/a.ron");
        for (said, is_field, n_actions) in [
            (vec![Some(vec![path])], false, 1),
            // Closed by the user.
            (vec![Some(Vec::new())], false, 0),
            // There was none.
            (vec![None], true, 0),
            // It failed without a word.
            (Vec::new(), true, 0),
        ] {
            let mut dialogs = asked(&said);
            let mut actions = Vec::new();
            let ctx = Context::default();
            theme::install(&ctx);
            let output = ctx.run_ui(RawInput::default(), |ui| dialogs.show(ui, &mut actions));
            output.drop_without_applying_deltas();
            assert_eq!(dialogs.is_field_up(), is_field, "{said:?}");
            assert_eq!(actions.len(), n_actions, "{said:?}");
            assert_eq!(dialogs.asking.is_some(), is_field, "{said:?}");
        }
    }
}
