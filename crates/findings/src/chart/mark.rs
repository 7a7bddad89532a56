//! What is on a chart beside its series, as values.

use std::borrow::Cow;

use super::series_id::SeriesId;
use crate::analysis::limits::lines::LineKind;

/// Something on the chart that is not a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A hollow mark on the x axis: a case that failed, with its reason.
    Failed {
        /// Coordinate along x.
        x: f64,
        /// Whose case.
        series: SeriesId,
        /// Its palette index.
        colour: usize,
        /// Which batch and why.
        reason: String,
    },
    /// A dashed vertical from a point down to the axis, with words at its foot: a knee.
    Drop {
        /// Coordinates of the point.
        at: (f64, f64),
        series: SeriesId,
        text: String,
        /// A name to go before the words where there is room for both.
        name: Option<String>,
        /// What the legend says where the words have no room.
        legend: Option<String>,
    },
    /// A ring in the accent colour around a point: the best one within a limit.
    Ring {
        /// Coordinates of the point.
        at: (f64, f64),
        series: SeriesId,
    },
    /// A wider ring in the colour of words around a point: the pinned one.
    Pin {
        /// Coordinates of the point.
        at: (f64, f64),
        series: SeriesId,
    },
    /// A thin vertical across the chart: where a round begins.
    Divider {
        /// Coordinate along x.
        x: f64,
    },
    /// A thin line in no series' colour, behind all points: a front.
    Edge {
        /// Coordinates of its corners.
        through: Vec<(f64, f64)>,
    },
    /// Words beside a point, where there is room for them: its name.
    Name {
        /// Coordinates of the point.
        at: (f64, f64),
        series: SeriesId,
        text: String,
    },
    /// A thin dashed horizontal with words: a median.
    Level {
        /// Coordinate along y.
        y: f64,
        text: String,
    },
    /// A horizontal with words that a rate cannot pass: a peak, or what an engine reaches.
    Roof {
        /// Coordinate along y.
        y: f64,
        text: String,
        /// Where it comes from, which says how it is drawn.
        kind: LineKind,
    },
    /// A number above a point, where there is room.
    Value {
        /// Coordinates of the point.
        at: (f64, f64),
        /// The number.
        text: String,
    },
}

impl Mark {
    /// Where along x it stands; nothing where it goes all the way.
    pub(super) fn x(&self) -> Option<f64> {
        match self {
            Self::Failed { x, .. } | Self::Divider { x } => Some(*x),
            Self::Drop { at, .. }
            | Self::Ring { at, .. }
            | Self::Pin { at, .. }
            | Self::Name { at, .. }
            | Self::Value { at, .. } => Some(at.0),
            Self::Edge { .. } | Self::Level { .. } | Self::Roof { .. } => None,
        }
    }
}

/// The words of a [`Mark::Drop`], the best first: with its name, and without.
pub fn drop_words<'t>(
    name: Option<&str>,
    text: &'t str,
) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
    let whole = name.map(|name| Cow::Owned(format!("{name}: {text}")));
    whole.into_iter().chain([Cow::Borrowed(text)])
}
