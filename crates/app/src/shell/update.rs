//! Actions on the window itself: changing the screen, closing what is open, and closing the window.

use std::path::PathBuf;
use std::sync::Arc;

use super::settings::ZOOM_STEPS;
use crate::WindowRequest;
use crate::action::{Action, Closing, RunAction, Sessions, Shell};
use crate::doors::BenchDoor;
use crate::notices::NoticeLevel;
use crate::parts::layer::Layer;
use crate::screen::{Door, Screen};
use crate::shared::Shared;

impl Shared {
    /// The screen that a door leads to: the one that was last shown behind it, and the run while it measures.
    pub fn screen_behind(&self, door: Door) -> Screen {
        if door == Door::Bench && self.is_running {
            return Screen::Run;
        }
        let last = self.trail.last_behind(door);
        let mut known = self.shown_screens().chain(last);
        let known = known.find(|screen| screen.door() == door);
        known.unwrap_or_else(|| door.screens()[0])
    }

    pub(crate) fn shell(&mut self, shell: Shell) {
        match shell {
            Shell::Palette(open) => self.window.palette_open = open,
            Shell::Guide(open) => self.window.guide_open = open,
            Shell::Log(open) => self.window.log_open = open,
            Shell::ToggleLibrary => {
                self.show_library(!self.shows_library());
            }
            Shell::Theme(theme) => self.remembered.theme = theme,
            Shell::NextTheme => self.remembered.theme = self.remembered.theme.next(),
            Shell::Watching(watching) => self.remembered.watching = watching,
            Shell::Pane(pane, screen) => self.show_in_pane(pane, screen),
            Shell::Resize(id, size) => self.resize(&id, size),
            Shell::RailIconsOnly(is_alone) => self.remembered.rail_icons_only = is_alone,
            Shell::Zoom(0) => self.remembered.zoom_steps = 0,
            Shell::Zoom(by) => {
                let steps = self.remembered.zoom_steps.saturating_add(by);
                self.remembered.zoom_steps = steps.clamp(*ZOOM_STEPS.start(), *ZOOM_STEPS.end());
            }
            Shell::Shortcut(id, keys) => {
                self.remembered.shortcuts.insert(id.to_owned(), keys);
            }
            Shell::ResetShortcuts => self.remembered.shortcuts.clear(),
            Shell::Dismiss(id) => self.notices.dismiss(id),
            Shell::DismissNewest => {
                if let Some(id) = self.notices.newest_up() {
                    self.notices.dismiss(id);
                }
            }
            Shell::Copy(text) => {
                self.outputs.push(WindowRequest::Copy(text));
                self.notify(NoticeLevel::Done, "Copied to the clipboard");
            }
            Shell::Hint(place) => self.remembered.hint = place,
            Shell::OpenFile(path) => self.open_file(path),
            Shell::Cursor(field) => self.outputs.push(WindowRequest::Cursor(field)),
            Shell::AskClose if self.is_running => self.window.closing = true,
            Shell::AskClose => self.outputs.push(WindowRequest::Close),
            // Others know what each screen showed, and the run.
            Shell::Earlier | Shell::Later | Shell::Close(_) => {}
        }
    }

    /// Sessions open here, everything else where the desktop opens it.
    fn open_file(&mut self, path: PathBuf) {
        if path.extension().is_some_and(|ending| ending == "ron") {
            return self.then(Action::Sessions(Sessions::Open(vec![path])));
        }
        let backend = Arc::clone(&self.backend);
        self.jobs.spawn("open-file", move |outlet| {
            if let Err(error) = backend.open_file(&path) {
                let path = path.display();
                outlet.failed(format!("{path} was not opened: {error}"));
            }
        });
    }

    /// Takes in whether the window has room for screen and library.
    pub fn fit(&mut self, is_narrow: bool) {
        if is_narrow != self.window.library_in_narrow.is_some() {
            self.window.library_in_narrow = is_narrow.then_some(false);
        }
    }

    /// Closes what lies over the window, then the log, then the newest notice.
    pub(crate) fn close_overlay(&mut self, layer: Layer) -> bool {
        let open = match layer {
            Layer::Overlay if self.window.palette_open => &mut self.window.palette_open,
            Layer::Overlay if self.window.guide_open => &mut self.window.guide_open,
            Layer::Overlay if self.window.page_offer.is_some() => {
                self.window.page_offer = None;
                return true;
            }
            Layer::Overlay => &mut self.window.closing,
            Layer::Messages if self.window.log_open => &mut self.window.log_open,
            Layer::Messages => {
                let newest = self.notices.newest_up();
                if let Some(id) = newest {
                    self.notices.dismiss(id);
                }
                return newest.is_some();
            }
            _ => return false,
        };
        std::mem::take(open)
    }

    /// Whether the library stands beside the screen.
    pub fn shows_library(&self) -> bool {
        self.has_machine()
            && self
                .window
                .library_in_narrow
                .unwrap_or(!self.remembered.library_folded)
    }

    /// Shows the library beside the screen or folds it; in a narrow window for as long as it is narrow.
    pub(crate) fn show_library(&mut self, shown: bool) {
        match &mut self.window.library_in_narrow {
            Some(in_narrow) => *in_narrow = shown,
            None => self.remembered.library_folded = !shown,
        }
    }
}

impl BenchDoor {
    /// What happens to a run whose window closes.
    pub(crate) fn close(&mut self, closing: Closing, shared: &mut Shared) {
        shared.window.closing = false;
        if closing == Closing::Stay {
            return;
        }
        let Some(run) = self.run_in_progress() else {
            shared.outputs.push(WindowRequest::Close);
            return;
        };
        run.close_after = true;
        if closing == Closing::Finish {
            run.control.resume();
            shared.outputs.push(WindowRequest::Hide);
        } else {
            self.run(&RunAction::Stop, shared);
        }
    }
}
