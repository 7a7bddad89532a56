//! A stretch of time that is looked at: moved, zoomed, and kept near what there is.

/// The shortest stretch that can be looked at, in nanoseconds.
const SHORTEST_NS: f64 = 50.0;
/// What can be seen before the beginning and after the end, as a share of the stretch.
const BEYOND: f64 = 0.3;

/// From when to when, in nanoseconds since the first slice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeRange {
    pub from: f64,
    pub to: f64,
}

impl TimeRange {
    /// Between two times, in whichever order.
    pub fn new(one: f64, other: f64) -> Self {
        Self {
            from: one.min(other),
            to: one.max(other),
        }
    }

    pub fn length(self) -> f64 {
        self.to - self.from
    }

    pub fn middle(self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    /// Whether a time is in it.
    pub fn contains(self, time_ns: f64) -> bool {
        (self.from..=self.to).contains(&time_ns)
    }

    /// So many times as long, with one time where it was.
    #[must_use]
    pub fn zoomed(self, at_ns: f64, times: f64) -> Self {
        let times = times.max(SHORTEST_NS / self.length().max(1e-9));
        Self {
            from: at_ns - (at_ns - self.from) * times,
            to: at_ns + (self.to - at_ns) * times,
        }
    }

    /// Later by a share of its length.
    #[must_use]
    pub fn moved(self, share: f64) -> Self {
        let by = self.length() * share;
        Self {
            from: self.from + by,
            to: self.to + by,
        }
    }

    /// With some room at both sides.
    #[must_use]
    pub fn with_room(self) -> Self {
        let length = self.length().max(SHORTEST_NS / 2.0);
        let middle = self.middle();
        Self {
            from: middle - length * 0.6,
            to: middle + length * 0.6,
        }
    }

    /// No longer than all there is with some room, and not away from it.
    #[must_use]
    pub fn within(self, whole: Self) -> Self {
        let most = whole.length() * (1.0 + 2.0 * BEYOND);
        let length = self.length().clamp(SHORTEST_NS.min(most), most);
        let middle = self.middle();
        let mut from = middle - length / 2.0;
        from = from.min(whole.to - length * BEYOND);
        from = from.max(whole.from - length * BEYOND);
        if !from.is_finite() {
            return whole;
        }
        Self {
            from,
            to: from + length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: TimeRange = TimeRange { from: 0.0, to: 1e6 };

    #[test]
    fn what_is_under_the_hand_stays_there() {
        let zoomed = WHOLE.zoomed(250_000.0, 0.5);
        assert_eq!((zoomed.from, zoomed.to), (125_000.0, 625_000.0));
        let back = zoomed.zoomed(250_000.0, 2.0);
        assert_eq!((back.from, back.to), (0.0, 1e6));
        let closest = WHOLE.zoomed(10.0, 1e-12);
        assert!((closest.length() - SHORTEST_NS).abs() < 1e-6);
    }

    #[test]
    fn nobody_gets_lost() {
        let far = TimeRange::new(5e9, 5.1e9).within(WHOLE);
        assert!(far.from < WHOLE.to && far.length() <= 1.7e6);
        let before = TimeRange::new(-5e9, -4.9e9).within(WHOLE);
        assert!(before.to > WHOLE.from);
        let inside = TimeRange::new(100.0, 2_000.0);
        assert_eq!(inside.within(WHOLE), inside);
        let broken = TimeRange::new(f64::NAN, 1.0).within(WHOLE);
        assert!(broken.length().is_finite());
    }
}
