//! Words at a place on a chart.

use super::{Anchor, Font, Height, Plot, Side, Size};
use crate::chart::area::{Area, At};
use crate::chart::spec::SeriesId;
use powerband_core::base::humanize;

/// Characters of words on a chart at most.
const LONGEST: usize = 60;
/// How far words may reach over the side of a chart.
pub(super) const OVER_SIDE: f64 = 6.0;

/// What words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A number above a point.
    Value,
    /// Of a knee or a level.
    Note,
    /// The name of a point or a curve.
    Name,
    /// Of the limit.
    Limit,
}

impl What {
    /// The font that they are in.
    pub fn font(self) -> Font {
        match self {
            Self::Value => Font::Numbers,
            Self::Note | Self::Name | Self::Limit => Font::Words,
        }
    }
}

/// Words at their place.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// The words, shortened.
    pub text: String,
    /// What they are.
    pub what: What,
    /// Whose they are, where they step back with a series.
    pub series: Option<SeriesId>,
    /// Their place.
    pub anchor: Anchor,
    /// The area that they cover.
    pub area: Area,
}

impl Words {
    /// The ground on which they stand: what is drawn there shines through, less readable than they are.
    pub fn ground(&self) -> Option<Area> {
        match self.what {
            What::Value => None,
            What::Note | What::Name => Some(self.area),
            What::Limit => Some(self.area.grown(2.0)),
        }
    }
}

/// Words that found no room, for the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Whose they are.
    pub series: Option<SeriesId>,
    /// What the legend says: `knee 16`.
    pub text: String,
}

/// Words that look for a place.
pub(super) struct Text {
    text: String,
    what: What,
    series: Option<SeriesId>,
    pub(super) size: Size,
}

impl Text {
    pub(super) fn new(plot: &dyn Plot, text: &str, what: What, series: Option<SeriesId>) -> Self {
        let text = humanize::shorten(text, LONGEST);
        Self {
            size: plot.size(&text, what.font()),
            text,
            what,
            series,
        }
    }

    pub(super) fn at(&self, at: At, side: Side, height: Height) -> Words {
        let anchor = Anchor::new(at, side, height);
        Words {
            text: self.text.clone(),
            what: self.what,
            series: self.series,
            anchor,
            area: anchor.area(self.size),
        }
    }
}
