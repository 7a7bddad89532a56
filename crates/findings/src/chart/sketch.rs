//! Shapes at their places, which the window and the SVG writer paint alike: what figures with a layout of their
//! own are made of.

use super::area::{Area, At};
use super::colours::Fill;
use super::layout::{Anchor, Font};

/// What a shape is painted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// What is selected.
    Accent,
}

/// How thick a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thickness {
    /// A hairline.
    Hair,
    /// Thin.
    Thin,
    /// As other lines.
    Plain,
    /// Thick.
    Thick,
}

impl Thickness {
    /// In widths of a line.
    pub fn times(self) -> f64 {
        match self {
            Self::Hair => 0.5,
            Self::Thin => 0.6,
            Self::Plain => 1.0,
            Self::Thick => 2.0,
        }
    }
}

/// One shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A straight line.
    Line {
        /// Where it begins.
        from: At,
        /// Where it ends.
        to: At,
        /// How thick it is.
        thickness: Thickness,
        /// Whether it is dashed.
        is_dashed: bool,
        /// Its colour.
        ink: Ink,
    },
    /// A filled rectangle.
    Block {
        /// Where it is.
        area: Area,
        /// Its colour.
        fill: Fill,
        /// What a picture says of it under the pointer.
        words: String,
    },
    /// A marker.
    Marker {
        /// Its middle.
        at: At,
        /// The palette index whose shape it has; a ring for none.
        shape: Option<usize>,
        /// Half its width.
        radius: f64,
        /// Its colour.
        ink: Ink,
        /// What a picture says of it under the pointer.
        words: String,
    },
    /// Words on one line.
    Words {
        /// Their place.
        anchor: Anchor,
        /// The words.
        text: String,
        /// Their font.
        font: Font,
        /// Their colour.
        ink: Ink,
        /// By how much they are turned around their place, clockwise, in radians.
        angle: f64,
    },
}

/// Words at a place, as they are mostly written.
pub fn words(anchor: Anchor, text: impl Into<String>, font: Font, ink: Ink) -> Item {
    Item::Words {
        anchor,
        text: text.into(),
        font,
        ink,
        angle: 0.0,
    }
}

/// How much of a marker's colour it has: markers lie over each other.
pub const STRENGTH: f64 = 0.8;
