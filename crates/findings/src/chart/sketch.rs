//! Shapes at their places, which the window and the SVG writer paint alike: what figures with a layout of their
//! own are made of.

use super::area::{Area, Position};
use super::colours::{Colours, Fill, Rgb};
use super::heat_map::{ScaleKind, colours};
use super::layout::anchor::{Anchor, Font};
use super::series_id::SeriesId;

/// The colour of a shape, by its use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ink {
    /// The colour of a series.
    Series(usize),
    /// The colour of words.
    Text,
    /// That of words that matter less.
    Quiet,
    /// That of words that only help.
    Faint,
    /// That of lines between things.
    Hairline,
    /// That of lines across a chart.
    Divider,
    /// What is selected.
    Accent,
    /// Better.
    Good,
    /// Worse, failed.
    Bad,
    /// The ground of the figure.
    Panel,
    /// A ground that is set apart from it.
    Raised,
    /// So much of the colour of a series, or of grey, on the ground.
    Pale(Option<usize>, f64),
    /// The colour of a block or a tile.
    Fill(Fill),
    /// A share of a scale of colours.
    Scale(ScaleKind, f64),
    /// What can be read on that share.
    OnScale(ScaleKind, f64),
}

impl Ink {
    /// Its colour in a theme.
    pub fn rgb(self, of: &Colours) -> Rgb {
        match self {
            Self::Series(index) => of.series(index),
            Self::Text => of.text,
            Self::Quiet => of.quiet,
            Self::Faint => of.faint,
            Self::Hairline => of.line,
            Self::Divider => of.line.towards(of.faint, 0.45),
            Self::Accent => of.accent,
            Self::Good => of.good,
            Self::Bad => of.bad,
            Self::Panel => of.panel,
            Self::Raised => of.raised,
            Self::Pale(series, strength) => {
                let colour = series.map_or(of.faint, |index| of.series(index));
                of.panel.towards(colour, strength)
            }
            Self::Fill(fill) => of.fill(fill),
            Self::Scale(kind, share) => colours::share_colour(of, kind, share),
            Self::OnScale(kind, share) => colours::ink(colours::share_colour(of, kind, share)),
        }
    }
}

/// Thickness of a hairline, in widths of a line.
pub const HAIR: f64 = 0.5;

/// A shape at its position, which every painter draws alike.
#[derive(Clone, Debug, PartialEq)]
pub enum SketchShape {
    /// A straight line.
    Line {
        from: Position,
        to: Position,
        /// In widths of a line.
        thickness: f64,
        /// Lengths of dashes and gaps, in turns; none for an unbroken line.
        dashes: &'static [f64],
        ink: Ink,
        /// What programs know it by that read the picture.
        class: &'static str,
    },
    /// A rectangle that differs from others by its hue, on paper by its hatching.
    Block {
        /// Where it is.
        area: Area,
        fill: Fill,
    },
    /// A filled rectangle.
    Ground {
        /// Where it is.
        area: Area,
        ink: Ink,
        /// How much of that colour it has.
        strength: f64,
        /// Radius of its corners.
        radius: f64,
    },
    /// The edge of a rectangle.
    Edge {
        /// The rectangle.
        area: Area,
        /// In widths of a line.
        thickness: f64,
        ink: Ink,
        /// Radius of its corners.
        radius: f64,
    },
    /// A rectangle in a pale hue with an edge, as ground for words.
    Tile {
        /// Where it is.
        area: Area,
        fill: Fill,
    },
    /// Ground for words on a tile, where tiles are hatched.
    Clearing(Area),
    /// Hatching in place of a value.
    Hatched(Area),
    /// A line through points.
    Path {
        /// The points.
        points: Vec<Position>,
        /// In widths of a line.
        thickness: f64,
        ink: Ink,
        /// What programs know it by that read the picture.
        class: &'static str,
    },
    /// What is between a line from left to right and a level below it.
    Under {
        /// The points of the line.
        points: Vec<Position>,
        foot: f64,
        ink: Ink,
    },
    /// A filled circle.
    Dot {
        /// Its middle.
        at: Position,
        /// Half its width.
        radius: f64,
        ink: Ink,
    },
    /// The edge of a circle.
    Ring {
        /// Its middle.
        at: Position,
        radius: f64,
        /// What it is filled with.
        ground: Option<Ink>,
        /// In widths of a line.
        thickness: f64,
        ink: Ink,
        /// What programs know it by that read the picture.
        class: &'static str,
    },
    /// A marker.
    Marker {
        /// Its middle.
        at: Position,
        /// The palette index whose shape it has.
        shape: usize,
        /// Half its width.
        radius: f64,
        ink: Ink,
        /// How much of that colour it has.
        strength: f64,
    },
    /// A text on one line.
    Text {
        anchor: Anchor,
        text: String,
        font: Font,
        /// Of its type.
        size: f64,
        ink: Ink,
        /// Clockwise rotation around its position, in radians.
        angle: f64,
        /// What programs know them by that read the picture.
        class: &'static str,
    },
    /// Shapes that fade while another series is under the pointer.
    OfSeries {
        series: Option<SeriesId>,
        items: Vec<Self>,
    },
    /// Shapes that belong together.
    Group {
        /// What programs know it by that read the picture.
        class: &'static str,
        /// The tooltip in an exported picture.
        tooltip: String,
        /// Its shapes, first at the back.
        items: Vec<Self>,
    },
}

impl SketchShape {
    /// A line as it is mostly drawn.
    pub fn line((from, to): (Position, Position), thickness: f64, ink: Ink) -> Self {
        Self::Line {
            from,
            to,
            thickness,
            dashes: &[],
            ink,
            class: "",
        }
    }

    /// The same line with dashes.
    #[must_use]
    pub fn dashed(mut self, lengths: &'static [f64]) -> Self {
        if let Self::Line { dashes, .. } = &mut self {
            *dashes = lengths;
        }
        self
    }

    /// Shapes that say something under the pointer.
    pub fn group(class: &'static str, tooltip: impl Into<String>, items: Vec<Self>) -> Self {
        let tooltip = tooltip.into();
        Self::Group {
            class,
            tooltip,
            items,
        }
    }

    /// What fades while another series is under the pointer.
    #[must_use]
    pub fn of_series(self, series: SeriesId) -> Self {
        Self::OfSeries {
            series: Some(series),
            items: vec![self],
        }
    }

    /// The same line, words or group by another class.
    #[must_use]
    pub fn class(mut self, name: &'static str) -> Self {
        match &mut self {
            Self::Line { class, .. } | Self::Text { class, .. } | Self::Group { class, .. } => {
                *class = name;
            }
            _ => {}
        }
        self
    }
}

/// How much of a point's colour it has: points lie over each other.
pub const STRENGTH: f64 = 0.8;
