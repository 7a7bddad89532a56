//! Figures as they are shown, to be copied and saved as pictures.

use crate::chart::breakdown as drawn;
use crate::chart::figure::{Bars, Changes, Drawing, Treemap};
use crate::chart::traced::Traced;

use super::kernels::{Found, KernelsState, Shape};
use super::timeline::{OpenTrace, Viewed};

/// A figure as somebody sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The figure, with the options that were chosen.
    pub drawing: Drawing,
    /// Whether the window is dark.
    pub is_dark: bool,
}

/// A picture for the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels from left to right.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
    /// Red, green, blue and opacity of each, row by row.
    pub rgba: Vec<u8>,
}

/// What is seen of a timeline, with all of its tracks.
pub fn of_timeline(open: &OpenTrace, view: &Viewed) -> Traced {
    let title = format!("Timeline of {}", open.name);
    let ready = (&*open.trace, &*open.timeline);
    let mut traced = Traced::of(title, ready, view.stretch, &view.folded);
    traced.lanes.clone_from(&open.lanes);
    traced
}

/// What the screen of kernels draws now.
pub fn of_kernels(state: &KernelsState, found: &Found) -> Drawing {
    let name = |profile: Option<&crate::domain::profile::Profile>| {
        profile.map_or_else(String::new, |profile| profile.name.clone())
    };
    let after = name(found.profile());
    if found.comparison.is_some() {
        let place = found.wanted.before.map(|pick| pick.profile);
        let session = found.before.as_ref();
        let before = session.and_then(|session| session.profiles.get(place?));
        return Drawing::Changes(Box::new(Changes {
            title: format!("{} → {after}", name(before)),
            steps: state.drawn.changes.clone(),
        }));
    }
    let title = format!("Time by {}, {after}", state.level.title());
    match state.shape {
        Shape::Bars => Drawing::Bars(Box::new(Bars {
            title,
            bars: state.drawn.bars.clone(),
        })),
        Shape::Treemap => Drawing::Treemap(Box::new(Treemap {
            title,
            tiles: drawn::tiles(found.at(state.level), &state.drawn.shown),
        })),
    }
}
