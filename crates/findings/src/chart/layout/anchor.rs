//! Which part of words is at a place.

use crate::chart::area::{Area, At};

/// Width and height of words.
pub type Size = (f64, f64);

/// Which end of words is at their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where they begin.
    Start,
    /// Their middle.
    Middle,
    /// Where they end.
    End,
}

/// Which height of words is at their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Height {
    /// Their upper edge.
    Top,
    /// Their middle.
    Middle,
    /// Their lower edge.
    Bottom,
}

/// A place and which part of words is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// The place.
    pub at: At,
    /// Which end is there.
    pub side: Side,
    /// Which height is there.
    pub height: Height,
}

impl Anchor {
    /// Words at a place.
    pub fn new(at: At, side: Side, height: Height) -> Self {
        Self { at, side, height }
    }

    /// The area of words of a size.
    pub fn area(self, (width, height): Size) -> Area {
        let (x, y) = self.at;
        let left = match self.side {
            Side::Start => x,
            Side::Middle => x - width / 2.0,
            Side::End => x - width,
        };
        let top = match self.height {
            Height::Top => y,
            Height::Middle => y - height / 2.0,
            Height::Bottom => y - height,
        };
        Area::new(left, top, left + width, top + height)
    }
}
