//! Places and rectangles, in whatever unit the caller draws in; y grows downwards.

/// A position: x, y.
pub type Position = (f64, f64);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    /// A rectangle; an end before its beginning is moved to the beginning.
    pub fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self {
            left,
            top,
            right: right.max(left),
            bottom: bottom.max(top),
        }
    }

    /// The square around a centre, given half its side.
    pub fn square_around((x, y): Position, half: f64) -> Self {
        Self::new(x - half, y - half, x + half, y + half)
    }

    /// The rectangle between two opposite corners, in any order.
    pub fn between(a: Position, b: Position) -> Self {
        Self::new(a.0.min(b.0), a.1.min(b.1), a.0.max(b.0), a.1.max(b.1))
    }

    /// The rectangle enlarged by so much on every side.
    pub fn expanded(self, by: f64) -> Self {
        Self::new(
            self.left - by,
            self.top - by,
            self.right + by,
            self.bottom + by,
        )
    }

    pub fn width(self) -> f64 {
        self.right - self.left
    }

    pub fn height(self) -> f64 {
        self.bottom - self.top
    }

    /// Whether the two share anything.
    pub fn overlaps(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether all of a second one is inside.
    pub fn contains_area(self, other: Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    /// Whether the place is inside.
    pub fn contains(self, (x, y): Position) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// Whether any part of a straight line is inside.
    pub fn crosses_line(self, (from, to): (Position, Position)) -> bool {
        let by = (to.0 - from.0, to.1 - from.1);
        // The part of the line, as shares of it, that is between the two edges of an axis.
        let within = |at: f64, by: f64, low: f64, high: f64| {
            if by == 0.0 {
                return (low..=high).contains(&at).then_some((0.0, 1.0));
            }
            let ends = ((low - at) / by, (high - at) / by);
            Some((ends.0.min(ends.1), ends.0.max(ends.1)))
        };
        let along = within(from.0, by.0, self.left, self.right);
        let across = within(from.1, by.1, self.top, self.bottom);
        let (Some(along), Some(across)) = (along, across) else {
            return false;
        };
        along.0.max(across.0).max(0.0) <= along.1.min(across.1).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_meets_what_it_crosses_and_not_what_it_passes() {
        let area = Area::new(10.0, 10.0, 20.0, 15.0);
        assert!(
            area.crosses_line(((0.0, 12.0), (30.0, 12.0))),
            "straight through"
        );
        assert!(area.crosses_line(((15.0, 0.0), (15.0, 30.0))), "from above");
        assert!(
            area.crosses_line(((12.0, 11.0), (13.0, 12.0))),
            "all of it inside"
        );
        assert!(area.crosses_line(((14.0, 12.0), (14.0, 12.0))), "a point");
        assert!(
            !area.crosses_line(((0.0, 12.0), (9.0, 12.0))),
            "ends before"
        );
        assert!(
            !area.crosses_line(((0.0, 0.0), (30.0, 5.0))),
            "passes above"
        );
        assert!(
            !area.crosses_line(((18.0, 5.0), (30.0, 14.0))),
            "round the corner"
        );
    }
}
