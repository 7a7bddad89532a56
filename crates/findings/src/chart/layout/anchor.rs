//! Which part of words is at a place, and their font.

use crate::chart::area::{Area, Position};

/// The font of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Font {
    /// For words.
    Words,
    /// For numbers.
    Numbers,
}

/// Width and height of words.
pub type Size = (f64, f64);

/// The end of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HorizontalAnchor {
    /// Where they begin.
    Start,
    /// Their middle.
    Middle,
    /// Where they end.
    End,
}

/// The edge of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerticalAnchor {
    /// Their upper edge.
    Top,
    /// Their middle.
    Middle,
    /// Their lower edge.
    Bottom,
}

/// A position, and the part of a text that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    pub at: Position,
    /// Which end is there.
    pub side: HorizontalAnchor,
    /// Which height is there.
    pub height: VerticalAnchor,
}

impl Anchor {
    /// Words at a place.
    pub fn new(at: Position, side: HorizontalAnchor, height: VerticalAnchor) -> Self {
        Self { at, side, height }
    }

    /// The area of words of a size.
    pub fn area(self, (width, height): Size) -> Area {
        let (x, y) = self.at;
        let left = match self.side {
            HorizontalAnchor::Start => x,
            HorizontalAnchor::Middle => x - width / 2.0,
            HorizontalAnchor::End => x - width,
        };
        let top = match self.height {
            VerticalAnchor::Top => y,
            VerticalAnchor::Middle => y - height / 2.0,
            VerticalAnchor::Bottom => y - height,
        };
        Area::new(left, top, left + width, top + height)
    }
}
