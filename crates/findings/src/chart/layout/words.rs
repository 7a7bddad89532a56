//! Words at a place on a chart.

use super::{Anchor, Font, HorizontalAnchor, PlotSurface, Size, VerticalAnchor};
use crate::chart::area::{Area, Position};
use crate::chart::spec::SeriesId;
use powerband_core::base::humanize;

/// Characters of words on a chart at most.
const LONGEST: usize = 60;
/// How far words may reach over the side of a chart.
pub(super) const OVER_SIDE: f64 = 6.0;

/// The kind of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// A number above a point.
    Value,
    /// Of a knee or a level.
    Note,
    /// The name of a point or a curve.
    Name,
    /// Of the limit.
    Limit,
}

impl LabelKind {
    /// The font that they are in.
    pub fn font(self) -> Font {
        match self {
            Self::Value => Font::Numbers,
            Self::Note | Self::Name | Self::Limit => Font::Words,
        }
    }
}

/// A label with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedLabel {
    /// The words, shortened.
    pub text: String,
    /// What they are.
    pub what: LabelKind,
    /// The series that it belongs to, with which it is dimmed.
    pub series: Option<SeriesId>,
    pub anchor: Anchor,
    /// The area that they cover.
    pub area: Area,
}

impl PlacedLabel {
    /// The ground on which they stand: what is drawn there shines through, less readable than they are.
    pub fn ground(&self) -> Option<Area> {
        match self.what {
            LabelKind::Value => None,
            LabelKind::Note | LabelKind::Name => Some(self.area),
            LabelKind::Limit => Some(self.area.expanded(2.0)),
        }
    }
}

/// A label without room on the chart, for the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedLabel {
    /// Whose they are.
    pub series: Option<SeriesId>,
    /// What the legend says: `knee 16`.
    pub text: String,
}

/// A label with its size, not yet placed.
pub(super) struct MeasuredLabel {
    text: String,
    what: LabelKind,
    series: Option<SeriesId>,
    pub(super) size: Size,
}

impl MeasuredLabel {
    pub(super) fn new(
        plot: &dyn PlotSurface,
        text: &str,
        what: LabelKind,
        series: Option<SeriesId>,
    ) -> Self {
        let text = humanize::shorten(text, LONGEST);
        Self {
            size: plot.size(&text, what.font()),
            text,
            what,
            series,
        }
    }

    pub(super) fn placed_at(
        &self,
        at: Position,
        side: HorizontalAnchor,
        height: VerticalAnchor,
    ) -> PlacedLabel {
        let anchor = Anchor::new(at, side, height);
        PlacedLabel {
            text: self.text.clone(),
            what: self.what,
            series: self.series,
            anchor,
            area: anchor.area(self.size),
        }
    }
}
