//! Words in the tiles of a treemap.

use crate::chart::area::Area;

/// In sizes of type: from a tile's edge to its words, aside and above; the smallest room; a line.
const ASIDE: f64 = 0.6;
const ABOVE: f64 = 0.4;
const LEAST: (f64, f64) = (3.1, 1.2);
const LINE: f64 = 1.3;
/// Lines that name and share need.
const BOTH: f64 = 2.1;
/// Lines of a name at most.
const MOST: usize = 3;

/// Where the words of a tile stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines {
    /// The area for them.
    pub room: Area,
    /// The height of a line.
    pub line: f64,
    /// Lines of the name at most.
    pub of_name: usize,
    /// Whether the share has a line below the name.
    pub has_share: bool,
}

/// Where words of a size of type stand in a tile; nothing where it is too small.
pub fn lines(tile: Area, size: f64) -> Option<Lines> {
    let room = Area::new(
        tile.left + size * ASIDE,
        tile.top + size * ABOVE,
        tile.right - size * ASIDE,
        tile.bottom - size * ABOVE,
    );
    if room.width() < size * LEAST.0 || room.height() < size * LEAST.1 {
        return None;
    }
    let line = size * LINE;
    let has_share = room.height() >= line * BOTH;
    let for_name = room.height() - if has_share { line } else { 0.0 };
    Some(Lines {
        room,
        line,
        of_name: ((for_name / line) as usize).clamp(1, MOST),
        has_share,
    })
}
