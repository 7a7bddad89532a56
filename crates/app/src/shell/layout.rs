//! How the window is divided: up to three screens in panes, and sizes that the user dragged.

pub use super::pane::Pane;
use crate::screen::Screen;
use crate::shared::{FollowUp, Shared};

/// A window at least this wide has room for two screens side by side.
pub const ROOM_FOR_TWO: f32 = 1_200.0;
/// A window at least this high has room for a screen below the others.
pub const ROOM_BELOW: f32 = 720.0;

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
/// What the screen below has of the height for all, in thousandths.
pub const BELOW: LayoutPart = part("below-screen", "the screen below", 420.0, (250.0, 700.0));

/// Every part.
pub const ALL: [LayoutPart; 5] = [LIBRARY, LOG, SIDE, RIGHT, BELOW];

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

    /// The screen in a pane, where the window has room for it. A screen is in one pane alone.
    pub fn screen_in(&self, pane: Pane) -> Option<Screen> {
        let wanted = match pane {
            Pane::Main => return Some(self.screen),
            Pane::Right => self.remembered.right_screen?,
            Pane::Below => self.remembered.below_screen?,
        };
        let is_elsewhere = wanted == self.screen
            || (pane == Pane::Below && self.screen_in(Pane::Right) == Some(wanted));
        (self.has_room_for(pane) && !is_elsewhere).then_some(wanted)
    }

    /// Whether the window is wide, or high, enough for a pane.
    pub fn has_room_for(&self, pane: Pane) -> bool {
        let [width, height] = self.window.room;
        match pane {
            Pane::Main => true,
            Pane::Right => width >= ROOM_FOR_TWO,
            Pane::Below => height >= ROOM_BELOW,
        }
    }

    /// The screens that are shown.
    pub fn shown_screens(&self) -> impl Iterator<Item = Screen> {
        Pane::ALL
            .into_iter()
            .filter_map(|pane| self.screen_in(pane))
    }

    /// The pane of a screen that is shown.
    pub fn pane_of(&self, screen: Screen) -> Option<Pane> {
        let mut panes = Pane::ALL.into_iter();
        panes.find(|pane| self.screen_in(*pane) == Some(screen))
    }

    /// Whether a screen is shown, alone or beside others.
    pub fn shows(&self, screen: Screen) -> bool {
        self.pane_of(screen).is_some()
    }

    /// Shows a screen in a pane, or closes the pane. Where the screen is in another pane, the two change places.
    pub(crate) fn show_in_pane(&mut self, pane: Pane, screen: Option<Screen>) {
        let displaced = self.screen_in(pane);
        let from = screen.and_then(|screen| self.pane_of(screen));
        match from.filter(|from| *from != pane) {
            // The main pane is never empty.
            Some(Pane::Main) if displaced.is_none() => return,
            Some(from) => self.put_in_pane(from, displaced),
            None => {}
        }
        self.put_in_pane(pane, screen);
        self.follow_ups.push_back(FollowUp::ScreenShown);
    }

    fn put_in_pane(&mut self, pane: Pane, screen: Option<Screen>) {
        match pane {
            Pane::Main => self.screen = screen.unwrap_or(self.screen),
            Pane::Right => self.remembered.right_screen = screen,
            Pane::Below => self.remembered.below_screen = screen,
        }
    }

    pub(crate) fn resize(&mut self, id: &str, size: Option<f32>) {
        match size.filter(|size| size.is_finite()) {
            Some(size) => {
                let part = ALL.iter().find(|part| part.id == id);
                let size = part.map_or(size, |part| part.fitted(size));
                self.remembered.sizes.insert(id.to_owned(), size);
            }
            None => {
                self.remembered.sizes.remove(id);
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
