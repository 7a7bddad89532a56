//! Rows below each other under the names of their groups, and what stands over lanes of time.

use super::{Anchor, Height, Side, ticks};
use crate::chart::area::Area;
use crate::chart::lanes::{Lanes, Stretch};
use crate::chart::spec::Tick;

/// Between the words of two cases.
const BETWEEN: f64 = 4.0;

/// The place of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Where the name of its group stands, where it is the first of it.
    pub head: Option<f64>,
    /// Where it begins.
    pub top: f64,
}

/// Puts rows of a group and a height below each other, with room for a name above the first row of each group.
/// The second part is where the last one ends.
pub fn stacked<G: PartialEq>(
    rows: impl IntoIterator<Item = (G, f64)>,
    head_height: f64,
) -> (Vec<Row>, f64) {
    let mut y = 0.0;
    let mut above = None;
    let rows = rows.into_iter().map(|(group, height)| {
        let is_first = above.as_ref() != Some(&group);
        above = Some(group);
        let head = is_first.then_some(y);
        let top = if is_first { y + head_height } else { y };
        y = top + height;
        Row { head, top }
    });
    (rows.collect(), y)
}

/// A case over the lanes, or a divider.
#[derive(Clone, Copy, Debug)]
pub struct CasePlace<'a> {
    /// The case.
    pub stretch: &'a Stretch,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Whether its words have room.
    pub has_words: bool,
}

impl CasePlace<'_> {
    /// Whether it is a divider: it has no length.
    pub fn is_divider(&self) -> bool {
        self.stretch.from >= self.stretch.to
    }
}

/// Lanes in an area.
#[derive(Clone, Copy, Debug)]
pub struct Strip<'a> {
    /// The lanes.
    pub shown: &'a Lanes,
    /// Where their times and values are.
    pub plot: Area,
}

impl<'a> Strip<'a> {
    /// Where a time is.
    pub fn x(self, at: f64) -> f64 {
        self.plot.left + self.shown.x.share(at) * self.plot.width()
    }

    /// The cases, with words where these fit and touch none before.
    pub fn cases(self, width: impl Fn(&str) -> f64) -> Vec<CasePlace<'a>> {
        let mut free_from = f64::NEG_INFINITY;
        let places = self.shown.stretches.iter().map(|stretch| {
            let [from, to] = [stretch.from, stretch.to].map(|at| self.x(at));
            let width = width(&stretch.text);
            let has_words = stretch.from < stretch.to && to - from >= width && from >= free_from;
            if has_words {
                free_from = from + width + BETWEEN;
            }
            CasePlace {
                stretch,
                from,
                to,
                has_words,
            }
        });
        places.collect()
    }

    /// The ticks below that have room, each with its middle.
    pub fn ticks(self, width: impl Fn(&str) -> f64) -> Vec<(f64, &'a str)> {
        let ticks = &self.shown.x.ticks;
        let place = |tick: &Tick| (self.x(tick.at), width(&tick.text));
        let places: Vec<(f64, f64)> = ticks.iter().map(place).collect();
        let with_room = ticks::with_room(&places, (self.plot.left, self.plot.right));
        let found = with_room.into_iter();
        found
            .map(|index| (places[index].0, ticks[index].text.as_str()))
            .collect()
    }

    /// Where the words of a device that stopped responding stand: on the side of its line where there is more
    /// room; and how much that is.
    pub fn cut_words(self, x: f64) -> (Anchor, f64) {
        let plot = self.plot;
        let (side, shift, room) = if x > f64::midpoint(plot.left, plot.right) {
            (Side::End, -5.0, x - plot.left)
        } else {
            (Side::Start, 5.0, plot.right - x)
        };
        let at = (x + shift, plot.top + 2.0);
        (Anchor::new(at, side, Height::Top), room - 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_group_stand_below_its_name() {
        let rows = [("a", 5.0), ("a", 5.0), ("b", 3.0), ("a", 1.0)];
        let (rows, end) = stacked(rows, 2.0);
        let rows: Vec<_> = rows.iter().map(|row| (row.head, row.top)).collect();
        assert_eq!(
            rows,
            [
                (Some(0.0), 2.0),
                (None, 7.0),
                (Some(12.0), 14.0),
                (Some(17.0), 19.0)
            ]
        );
        assert_eq!(end, 20.0);
    }
}
