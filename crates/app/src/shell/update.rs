//! Actions on the window itself: changing the screen, closing what is open, and closing the window.

use std::path::PathBuf;

use super::settings::ZOOM_STEPS;
use crate::action::{Action, Closing, RunAction, Sessions, Shell};
use crate::notices::NoticeLevel;
use crate::parts::part::Layer;
use crate::screen::Screen;
use crate::{App, WindowRequest};
use powerband_measure::worker::desktop;

impl App {
    pub(crate) fn go(&mut self, screen: Screen) {
        self.screen = screen;
        self.refresh_shown();
    }

    /// Closes what lies over the window, then the log, then the newest notice.
    pub(crate) fn close_overlay(&mut self, layer: Layer) -> bool {
        let open = match layer {
            Layer::Overlay if self.palette_open => &mut self.palette_open,
            Layer::Overlay => &mut self.closing,
            Layer::Messages if self.log_open => &mut self.log_open,
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

    pub(crate) fn shell(&mut self, shell: Shell) {
        match shell {
            Shell::Palette(open) => self.palette_open = open,
            Shell::Log(open) => self.log_open = open,
            Shell::ToggleLibrary => {
                self.show_library(!self.shows_library());
            }
            Shell::Theme(theme) => self.remembered.theme = theme,
            Shell::NextTheme => self.remembered.theme = self.remembered.theme.next(),
            Shell::Watching(watching) => self.remembered.watching = watching,
            Shell::Earlier => self.go_back(),
            Shell::Later => self.go_forward(),
            Shell::Divide(right) => self.divide(right),
            Shell::SwapScreens => self.swap_screens(),
            Shell::Resize(id, size) => self.resize(&id, size),
            Shell::RailLabels(shown) => self.remembered.rail_labels = shown,
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
            Shell::AskClose if self.is_running() => self.closing = true,
            Shell::AskClose => self.outputs.push(WindowRequest::Close),
            Shell::Close(closing) => self.close(closing),
        }
    }

    /// Sessions open here, everything else where the desktop opens it.
    fn open_file(&mut self, path: PathBuf) {
        if path.extension().is_some_and(|ending| ending == "ron") {
            return self.act(Action::Sessions(Sessions::Open(vec![path])));
        }
        self.jobs.spawn("open-file", move |outlet| {
            if let Err(error) = desktop::open_file(&path) {
                let path = path.display();
                outlet.failed(format!("{path} was not opened: {error}"));
            }
        });
    }

    fn close(&mut self, closing: Closing) {
        self.closing = false;
        if closing == Closing::Stay {
            return;
        }
        let Some(run) = self.run.as_mut().filter(|run| run.stage.is_going_on()) else {
            self.outputs.push(WindowRequest::Close);
            return;
        };
        run.close_after = true;
        if closing == Closing::Finish {
            run.control.resume();
            self.outputs.push(WindowRequest::Hide);
        } else {
            self.run(&RunAction::Stop);
        }
    }

    /// Whether the library stands beside the screen.
    pub fn shows_library(&self) -> bool {
        self.library_in_narrow
            .unwrap_or(!self.remembered.library_folded)
    }

    /// Shows the library beside the screen or folds it; in a narrow window for as long as it is narrow.
    pub(crate) fn show_library(&mut self, shown: bool) {
        match &mut self.library_in_narrow {
            Some(in_narrow) => *in_narrow = shown,
            None => self.remembered.library_folded = !shown,
        }
    }

    /// Takes in whether the window has room for screen and library.
    pub fn fit(&mut self, is_narrow: bool) {
        if is_narrow != self.library_in_narrow.is_some() {
            self.library_in_narrow = is_narrow.then_some(false);
        }
    }
}
