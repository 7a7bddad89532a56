//! Bars beside names.

use crate::chart::area::Area;

/// For names, as a share of the width.
pub const NAMES: f64 = 0.34;
/// The shortest bar that is drawn.
const SHORTEST: f64 = 1.5;

/// A bar from the left of its room, with its length as a share of it.
pub fn from_left(room: Area, length: f64) -> Area {
    let right = room.left + (room.width() * length).max(SHORTEST);
    Area { right, ..room }
}

/// A bar from the middle of its room to the left or, where its length is above zero, to the right.
pub fn from_middle(room: Area, length: f64) -> Area {
    let middle = f64::midpoint(room.left, room.right);
    let reach = (room.width() / 2.0 * length.abs()).max(SHORTEST);
    let end = middle + reach.copysign(length);
    Area::between((middle, room.top), (end, room.bottom))
}
