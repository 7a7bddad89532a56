//! When something of one trace would run in the time of another one, by the work that both have.

use crate::analysis::alignment::uncrossed;

/// Moments of one trace and the moments of the other that stand for them, rising in both; straight lines between, and
/// time that passes equally before and after.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeMap {
    points: Vec<(i64, i64)>,
}

impl TimeMap {
    /// Moves all times alike, so that one moment becomes another one.
    pub fn moved(from_ns: i64, to_ns: i64) -> Self {
        Self {
            points: vec![(from_ns, to_ns)],
        }
    }

    /// Through pairs of moments in any order; those that would make time run backwards are left out.
    pub fn through(points: &[(i64, i64)]) -> Self {
        Self {
            points: uncrossed(points),
        }
    }

    /// The moment that stands for a moment.
    pub fn moment(&self, time_ns: i64) -> i64 {
        let after = self.points.partition_point(|(from, _)| *from <= time_ns);
        let before = after.checked_sub(1).map(|place| self.points[place]);
        match (before, self.points.get(after)) {
            (Some((from, to)), Some((next_from, next_to))) => {
                let share = time_ns.abs_diff(from) as f64 / next_from.abs_diff(from) as f64;
                to + (share * next_to.abs_diff(to) as f64).round() as i64
            }
            (Some((from, to)), None) => to.saturating_add(time_ns.saturating_sub(from)),
            (None, Some((from, to))) => to.saturating_sub(from.saturating_sub(time_ns)),
            (None, None) => time_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matched_moments_stand_above_each_other_and_time_never_runs_backwards() {
        let map = TimeMap::through(&[(100, 1000), (200, 1050), (150, 2000), (300, 1500)]);
        assert_eq!(
            [50, 100, 150, 200, 250, 300, 310].map(|time| map.moment(time)),
            [950, 1000, 1025, 1050, 1275, 1500, 1510]
        );
        let times: Vec<i64> = (0..400).map(|time| map.moment(time)).collect();
        assert!(times.is_sorted());
        assert_eq!(TimeMap::moved(10, 30).moment(-5), 15);
        assert_eq!(TimeMap::default().moment(7), 7);
    }
}
