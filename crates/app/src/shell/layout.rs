//! How the window is divided: two screens side by side, and sizes that the user dragged.

use crate::App;
use crate::screen::Screen;
use crate::shared::Shared;

/// A window at least this wide has room for two screens.
pub const ROOM_FOR_TWO: f32 = 1_200.0;

/// A part of the window whose size can be changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutPart {
    /// Names it in the settings; never changed.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its usual size.
    pub usual: f32,
    /// Its least size, and its most.
    pub range: (f32, f32),
}

/// Width of the library beside the screen.
pub const LIBRARY: LayoutPart = part("library", "the library", 248.0, (180.0, 520.0));
/// Height of the log.
pub const LOG: LayoutPart = part("log", "the log", 220.0, (96.0, 560.0));
/// Width of the cards at the right of a screen.
pub const SIDE: LayoutPart = part("side", "the cards at the right", 328.0, (240.0, 560.0));
/// What the right screen of two has of the room for both, in thousandths.
pub const RIGHT: LayoutPart = part("right-screen", "the right screen", 500.0, (300.0, 700.0));

/// Every part.
pub const ALL: [LayoutPart; 4] = [LIBRARY, LOG, SIDE, RIGHT];

const fn part(id: &'static str, title: &'static str, usual: f32, range: (f32, f32)) -> LayoutPart {
    LayoutPart {
        id,
        title,
        usual,
        range,
    }
}

impl LayoutPart {
    /// A size within its range.
    pub fn fitted(&self, size: f32) -> f32 {
        size.clamp(self.range.0, self.range.1)
    }
}

impl Shared {
    /// The size of a part: what the user chose, else the usual one.
    pub fn size_of(&self, part: &LayoutPart) -> f32 {
        let chosen = self.remembered.sizes.get(part.id).copied();
        part.fitted(chosen.filter(|size| size.is_finite()).unwrap_or(part.usual))
    }

    /// The screen at the right, where the window is divided and has room for two.
    pub fn right_screen(&self) -> Option<Screen> {
        let right = self.remembered.right_screen?;
        (self.window.has_room_for_two && right != self.screen).then_some(right)
    }

    /// Whether a screen is shown, alone or beside another.
    pub fn shows(&self, screen: Screen) -> bool {
        self.screen == screen || self.right_screen() == Some(screen)
    }
}

impl App {
    /// Updates the layout for the window's width.
    pub fn fit_two(&mut self, width: f32) {
        let had = self.shared.right_screen();
        self.shared.window.has_room_for_two = width >= ROOM_FOR_TWO;
        if self.shared.right_screen() != had {
            self.refresh_shown();
        }
    }

    /// Shows a screen at the right, or one screen alone.
    pub(crate) fn divide(&mut self, right: Option<Screen>) {
        self.shared.remembered.right_screen = right;
        self.refresh_shown();
    }

    /// Changes the two screens of a divided window.
    pub(crate) fn swap_screens(&mut self) {
        if let Some(right) = self.shared.right_screen() {
            self.shared.remembered.right_screen = Some(self.shared.screen);
            self.go(right);
        }
    }

    pub(crate) fn resize(&mut self, id: &str, size: Option<f32>) {
        match size.filter(|size| size.is_finite()) {
            Some(size) => {
                let part = ALL.iter().find(|part| part.id == id);
                let size = part.map_or(size, |part| part.fitted(size));
                self.shared.remembered.sizes.insert(id.to_owned(), size);
            }
            None => {
                self.shared.remembered.sizes.remove(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_stays_within_its_range() {
        assert_eq!(LIBRARY.fitted(2_000.0), 520.0);
        assert_eq!(LIBRARY.fitted(0.0), 180.0);
        for part in ALL {
            assert_eq!(part.fitted(part.usual), part.usual, "{}", part.id);
        }
    }
}
