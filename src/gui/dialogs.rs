//! File dialogs: the desktop's own where its portal answers, a field for the path where not.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui::{Context, Ui};

use super::shell::path_field::{self, Answer};
use crate::app::Ask;
use crate::app::action::{Action, Figures, Sessions};
use crate::app::plan::PlanEdit;

/// Nobody cancels a dialog faster than this: it was never there.
const TOO_FAST: Duration = Duration::from_millis(600);

/// What a dialog is called.
pub fn title(ask: &Ask) -> &'static str {
    match ask {
        Ask::Open => "Open sessions or an ONNX file",
        Ask::Model => "Choose an ONNX file",
        Ask::Trace => "Open a trace of a profiler",
        Ask::SaveSession(..) => "Save the session as",
        Ask::SaveFigure(..) => "Save the figure as .svg, .png, .pdf, .csv or .json",
        Ask::SaveReport(..) => "Write the report to a .html or .md file",
    }
}

/// `~` and `~/…` stand for the user's home folder.
pub fn expand_home(path: &str) -> PathBuf {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(path),
    }
}

/// The question that is being asked, if any.
#[derive(Default)]
pub struct Dialogs {
    asking: Option<Asking>,
    /// Never ask the desktop.
    is_alone: bool,
}

struct Asking {
    ask: Ask,
    since: Instant,
    /// The desktop's dialog; nothing once it turned out that there is none.
    desktop: Option<Receiver<Option<Vec<PathBuf>>>>,
    typed: String,
    /// Whether there is a file of that name, looked for when it changes and not at every frame.
    exists: bool,
}

impl Dialogs {
    /// Dialogs that never ask the desktop.
    pub fn without_desktop() -> Self {
        Self {
            is_alone: true,
            ..Self::default()
        }
    }

    /// Asks. A second question waits for nobody: it takes the place of the first.
    pub fn ask(&mut self, ask: Ask, ctx: &Context) {
        let typed = match &ask {
            Ask::SaveSession(_, name) | Ask::SaveFigure(_, name) | Ask::SaveReport(_, name) => {
                name.clone()
            }
            _ => String::new(),
        };
        let desktop = (!self.is_alone && has_session_bus())
            .then(|| desktop(ask.clone(), ctx.clone()))
            .flatten();
        self.asking = Some(Asking {
            ask,
            since: Instant::now(),
            desktop,
            exists: expand_home(&typed).is_file(),
            typed,
        });
    }

    /// Whether the field for a path is on the screen.
    pub fn is_field_up(&self) -> bool {
        self.asking
            .as_ref()
            .is_some_and(|asking| asking.desktop.is_none())
    }

    /// Shows the field where it is needed, and turns an answer into what was wanted with it.
    pub fn show(&mut self, ui: &Ui, wishes: &mut Vec<Action>) {
        let Some(asking) = &mut self.asking else {
            return;
        };
        let answer = match &asking.desktop {
            Some(desktop) => match desktop.try_recv() {
                Ok(Some(paths)) => Some(paths),
                Ok(None) | Err(TryRecvError::Disconnected) if asking.since.elapsed() < TOO_FAST => {
                    asking.desktop = None;
                    None
                }
                Ok(None) | Err(TryRecvError::Disconnected) => Some(Vec::new()),
                Err(TryRecvError::Empty) => None,
            },
            None => path_field::show(ui, &asking.ask, &mut asking.typed, &mut asking.exists).map(
                |answer| match answer {
                    Answer::Path(path) => vec![path],
                    Answer::None => Vec::new(),
                },
            ),
        };
        if let Some(paths) = answer {
            wishes.extend(wanted(&asking.ask, paths));
            self.asking = None;
        }
    }
}

fn wanted(ask: &Ask, paths: Vec<PathBuf>) -> Option<Action> {
    let first = paths.first().cloned()?;
    Some(match ask {
        Ask::Open => Action::Sessions(Sessions::Open(paths)),
        Ask::Model => Action::Plan(PlanEdit::Model(first.display().to_string())),
        Ask::Trace => Action::OpenTrace(first),
        Ask::SaveSession(id, _) => Action::Sessions(Sessions::SaveAs(*id, Some(first))),
        Ask::SaveFigure(shown, _) => Action::Figures(Figures::Save(Arc::clone(shown), Some(first))),
        Ask::SaveReport(subject, _) => Action::Report(*subject, Some(first)),
    })
}

/// The portal is reached over the session bus; without one, waiting for it would be a dead button.
fn has_session_bus() -> bool {
    let named =
        std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let usual = std::env::var_os("XDG_RUNTIME_DIR")
        .is_some_and(|folder| Path::new(&folder).join("bus").exists());
    named || usual
}

fn desktop(ask: Ask, ctx: Context) -> Option<Receiver<Option<Vec<PathBuf>>>> {
    let (sender, receiver) = sync_channel(1);
    let started = thread::Builder::new()
        .name("file-dialog".to_owned())
        .spawn(move || {
            let dialog = rfd::FileDialog::new().set_title(title(&ask));
            let picked = match &ask {
                Ask::Open => dialog
                    .add_filter("Sessions and models", &["ron", "onnx"])
                    .add_filter("Everything, with traces of profilers", &["*"])
                    .pick_files(),
                Ask::Model => dialog
                    .add_filter("ONNX", &["onnx"])
                    .pick_file()
                    .map(|path| vec![path]),
                Ask::Trace => dialog.pick_file().map(|path| vec![path]),
                Ask::SaveFigure(_, name) => dialog
                    .add_filter("Pictures and tables", &["png", "svg", "pdf", "csv", "json"])
                    .set_file_name(name)
                    .save_file()
                    .map(|path| vec![path]),
                Ask::SaveReport(_, name) => dialog
                    .add_filter("Report", &["html", "md"])
                    .set_file_name(name)
                    .save_file()
                    .map(|path| vec![path]),
                Ask::SaveSession(_, name) => dialog
                    .add_filter("Session", &["ron"])
                    .set_file_name(name)
                    .save_file()
                    .map(|path| vec![path]),
            };
            // The window may have gone meanwhile; then nobody wants the answer.
            if sender.send(picked).is_ok() {
                ctx.request_repaint();
            }
        });
    started.is_ok().then_some(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_is_expanded_and_nothing_else() {
        let home = directories::BaseDirs::new()
            .unwrap()
            .home_dir()
            .to_path_buf();
        assert_eq!(expand_home("~/a.ron"), home.join("a.ron"));
        assert_eq!(expand_home("~"), home);
        assert_eq!(expand_home("/a/~b"), PathBuf::from("/a/~b"));
        assert_eq!(expand_home("~b"), PathBuf::from("~b"));
    }
}
