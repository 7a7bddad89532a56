//! File dialogs: the desktop's own where its portal answers, else a field for the path.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use eframe::egui::{Align2, Area, Context, Id, Order, Ui, vec2};

use super::desktop::{self, DesktopDialog, DialogKind, DialogRequest};
use super::dialog_text::{proposed, title};
use super::shell::path_field::{self, PathAnswer};
use super::theme::{self, size, space};
use super::widgets::{button, label};
use powerband_app::Ask;
use powerband_app::action::{Action, FigureAction, MachineAction, PageAction, Sessions};
use powerband_app::plan::{PlanEdit, PlanField};
use powerband_app::reports::ReportTarget;
use powerband_app::tables::action::TableChange;
use powerband_core::base::clock;

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
    /// When it was asked, on the monotonic clock.
    since_ns: u64,
    /// The answer of the desktop's dialog; `None` where there is no dialog.
    desktop: Option<DesktopDialog>,
    typed: String,
    /// Whether a file of this name exists, checked when the name changes and not at every frame.
    exists: bool,
}

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
        let desktop = (!self.is_alone && desktop::has_session_bus())
            .then(|| desktop::open_dialog(dialog_of(&ask), ctx.clone()))
            .flatten();
        if let Some(before) = self.asking.take().and_then(|asking| asking.desktop) {
            (before.close)();
        }
        self.asking = Some(Asking {
            since_ns: clock::monotonic_ns(),
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
            match desktop.replies.try_recv() {
                Ok(Some(paths)) => {
                    actions.extend(wanted(&asking.ask, paths));
                    self.asking = None;
                    return;
                }
                // A thread that ended without an answer had no dialog either.
                Ok(None) | Err(TryRecvError::Disconnected) => asking.desktop = None,
                Err(TryRecvError::Empty) => {
                    if waiting(ui, asking.since_ns) {
                        (desktop.close)();
                        asking.desktop = None;
                    }
                    return;
                }
            }
        }
        let field = path_field::show(ui, &asking.ask, &mut asking.typed, &mut asking.exists);
        if let Some(answer) = field {
            let paths = match answer {
                PathAnswer::Path(path) => vec![path],
                PathAnswer::None => Vec::new(),
            };
            actions.extend(wanted(&asking.ask, paths));
            self.asking = None;
        }
    }
}

/// Shows that the desktop was asked, once its dialog should be there, and returns whether the user
/// prefers the field: a portal that hangs fails after half a minute, if ever.
fn waiting(ui: &Ui, since_ns: u64) -> bool {
    let left = SHOWN_BY.saturating_sub(Duration::from_nanos(clock::monotonic_ns() - since_ns));
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
        button::labelled(ui, None, "Type the path instead").clicked()
    })
    .inner
}

fn wanted(ask: &Ask, paths: Vec<PathBuf>) -> Option<Action> {
    let first = paths.first().cloned()?;
    Some(match ask {
        Ask::Open => Action::Sessions(Sessions::Open(paths)),
        Ask::Model => {
            let model = first.display().to_string();
            Action::Plan(PlanEdit::Text(PlanField::Model, model))
        }
        Ask::KeyFile(setup, key) | Ask::KeyFolder(setup, key) => {
            let path = first.display().to_string();
            Action::Plan(PlanEdit::Key(*setup, key.clone(), path))
        }
        Ask::Trace => Action::OpenTrace(first),
        Ask::Point(pointed) => Action::Machine(MachineAction::Point(*pointed, Some(first))),
        Ask::SaveSession(id, _) => Action::Sessions(Sessions::SaveAs(*id, Some(first))),
        Ask::SaveFigure(shown, _) => {
            Action::Figures(FigureAction::Save(Arc::clone(shown), Some(first)))
        }
        Ask::SaveReport(subject, _) => Action::Report(*subject, ReportTarget::File(first)),
        Ask::SavePage(offer, _) => Action::Page(PageAction::Write(offer.clone(), first)),
        Ask::SaveTable(id, _) => Action::Table(id, TableChange::Export(Some(first))),
    })
}

/// The dialog for a question.
fn dialog_of(ask: &Ask) -> DialogRequest {
    let (kind, filters) = match ask {
        Ask::Open => (
            DialogKind::Files,
            vec![
                ("Sessions and models", vec!["ron", "onnx"]),
                ("Everything, with traces of profilers", vec!["*"]),
            ],
        ),
        Ask::Model => (DialogKind::File, vec![("ONNX", vec!["onnx"])]),
        Ask::KeyFolder(..) => (DialogKind::Folder, Vec::new()),
        Ask::KeyFile(..) | Ask::Trace | Ask::Point(_) => (DialogKind::File, Vec::new()),
        Ask::SaveFigure(_, path) => (
            DialogKind::Save(path.clone()),
            vec![(
                "Pictures and tables",
                vec!["png", "svg", "pdf", "csv", "json"],
            )],
        ),
        Ask::SaveReport(_, path) => (
            DialogKind::Save(path.clone()),
            vec![("Report", vec!["html", "md"])],
        ),
        Ask::SavePage(_, path) => (DialogKind::Save(path.clone()), vec![("Page", vec!["html"])]),
        Ask::SaveTable(_, path) => (
            DialogKind::Save(path.clone()),
            vec![("Table", vec!["csv", "tsv", "json"])],
        ),
        Ask::SaveSession(_, path) => (
            DialogKind::Save(path.clone()),
            vec![("Session", vec!["ron"])],
        ),
    };
    DialogRequest {
        title: title(ask),
        kind,
        filters,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use eframe::egui::RawInput;

    use super::*;
    use crate::desktop::dialog_request::Chosen;

    /// A question whose dialog said this, if anything, and whose thread is gone.
    fn asked(said: &[Chosen]) -> Dialogs {
        let (sender, replies) = sync_channel(1);
        for reply in said {
            sender.send(reply.clone()).unwrap();
        }
        Dialogs {
            asking: Some(Asking {
                ask: Ask::Open,
                since_ns: clock::monotonic_ns(),
                desktop: Some(DesktopDialog {
                    replies,
                    close: Box::new(|| {}),
                }),
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
