//! The knee of a curve and its best point within a latency limit, stated where joint draws agree.

use powerband_core::base::humanize;
use powerband_core::stats::joint::{DRAWS, RankedValue, Statement, highest};

/// The knee is where the throughput reaches this share of the best.
const KNEE_SHARE: f64 = 0.9;
/// With fewer points a curve has no shape.
pub const FEWEST_POINTS: usize = 3;

/// The smallest size that reaches 90 % of the best rate of its curve: `None` among the values is one beyond the
/// largest size, because only that reaches it.
pub type Knee = Statement<Option<usize>>;

/// The knee of rates by size, ascending; nothing for too few of them.
pub(super) fn knee(points: &[(usize, RankedValue)]) -> Option<Knee> {
    if points.len() < FEWEST_POINTS {
        return None;
    }
    let shown: Vec<f64> = points.iter().map(|(_, rate)| rate.shown.ln()).collect();
    let shown = knee_of(points, |place| shown[place]);
    let draws: Option<Vec<&Vec<f64>>> =
        points.iter().map(|(_, rate)| rate.draws.as_ref()).collect();
    let Some(draws) = draws else {
        return Some(Statement::NotSettled(vec![shown]));
    };
    let votes = (0..DRAWS).map(|draw| knee_of(points, |place| draws[place][draw]));
    Some(Statement::of_votes(votes, shown))
}

/// The knee of logarithms of rates.
fn knee_of(points: &[(usize, RankedValue)], ln: impl Fn(usize) -> f64) -> Option<usize> {
    let best = (0..points.len()).map(&ln).fold(f64::NEG_INFINITY, f64::max);
    let enough = best + KNEE_SHARE.ln();
    // Where the largest batch is the first to get there, the one before is at least 10 % slower.
    let mut smaller = 0..points.len().saturating_sub(1);
    let place = smaller.find(|place| ln(*place) >= enough)?;
    Some(points[place].0)
}

/// Knees as they are listed: `batch 16, 32 or beyond the largest`.
pub fn knees_text(knees: &[Option<usize>]) -> String {
    let mut sizes: Vec<usize> = knees.iter().copied().flatten().collect();
    sizes.sort_unstable();
    let mut names: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    if let Some(first) = names.first_mut() {
        *first = format!("batch {first}");
    }
    if knees.contains(&None) {
        names.push("beyond the largest".to_owned());
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    humanize::or_list(&names)
}

/// A point under a limit.
#[derive(Clone, Debug)]
pub(super) struct LimitedPoint {
    /// Its latency as it is shown, in nanoseconds, where it is known.
    pub(super) latency_ns: Option<f64>,
    /// Upper end of its 95 % interval, in nanoseconds; `None` where that is not known.
    pub(super) end_ns: Option<f64>,
    pub(super) rate: RankedValue,
}

/// The best point under a latency limit, as indices into the points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BestUnderLimit {
    /// The highest rate among the points that are within the limit with 95 % confidence; nothing where none is.
    pub(super) best: Option<Statement<usize>>,
    /// Points that would be better and may be within the limit: their latency is, the end of its interval is not.
    pub(super) perhaps: Vec<usize>,
}

/// Finds the best point under a latency limit.
pub(super) fn best_under_limit(points: &[LimitedPoint], limit_ns: f64) -> BestUnderLimit {
    let is_below = |ns: Option<f64>| ns.is_some_and(|ns| ns <= limit_ns);
    let shown = (0..points.len()).filter(|place| is_below(points[*place].latency_ns));
    let (sure, open): (Vec<usize>, Vec<usize>) =
        shown.partition(|place| is_below(points[*place].end_ns));
    let rates: Vec<RankedValue> = sure
        .iter()
        .map(|place| points[*place].rate.clone())
        .collect();
    let best = highest(&rates).map(|best| best.map(|place| sure[place]));
    let rate = |place: usize| points[place].rate.shown;
    let reached = best.iter().flat_map(Statement::candidates);
    let reached = reached
        .map(|place| rate(*place))
        .fold(f64::NEG_INFINITY, f64::max);
    let mut perhaps: Vec<usize> = open
        .into_iter()
        .filter(|place| rate(*place) > reached)
        .collect();
    perhaps.sort_by(|a, b| rate(*b).total_cmp(&rate(*a)));
    BestUnderLimit { best, perhaps }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rate whose draws are so far apart, each of two kinds.
    fn rate(shown: f64, half: f64) -> RankedValue {
        let draw = |draw: usize| shown.ln() + if draw.is_multiple_of(2) { half } else { -half };
        RankedValue {
            shown,
            draws: Some((0..DRAWS).map(draw).collect()),
        }
    }

    #[test]
    fn a_knee_is_stated_where_draws_agree() {
        let points = |middle: f64, half: f64| {
            [
                (1, rate(50.0, half)),
                (2, rate(middle, 0.0)),
                (4, rate(100.0, 0.0)),
                (8, rate(99.0, 0.0)),
            ]
        };
        assert_eq!(knee(&points(95.0, 0.0)), Some(Statement::Settled(Some(2))));
        assert_eq!(knee(&points(80.0, 0.0)), Some(Statement::Settled(Some(4))));
        // The first reaches 90 % of the best in every other draw.
        let open = knee(&points(80.0, 0.7)).unwrap();
        assert_eq!(open.candidates().len(), 2, "{open:?}");
        assert!(open.settled().is_none() && open.candidates().contains(&Some(1)));
        assert_eq!(knees_text(open.candidates()), "batch 1 or 4");
        assert_eq!(
            knees_text(&[None, Some(8), Some(4)]),
            "batch 4, 8 or beyond the largest"
        );
        let rising = [
            (1, rate(10.0, 0.0)),
            (2, rate(20.0, 0.0)),
            (4, rate(40.0, 0.0)),
        ];
        assert_eq!(knee(&rising), Some(Statement::Settled(None)));
        assert_eq!(knee(&rising[..2]), None);
        let mut unknown = points(95.0, 0.0);
        unknown[3].1.draws = None;
        assert_eq!(knee(&unknown), Some(Statement::NotSettled(vec![Some(2)])));
    }

    #[test]
    fn within_a_limit_is_what_is_below_it_to_its_end() {
        let point = |latency: f64, end: Option<f64>, rate: RankedValue| LimitedPoint {
            latency_ns: Some(latency),
            end_ns: end,
            rate,
        };
        let points = [
            point(10.0, Some(11.0), rate(100.0, 0.0)),
            point(20.0, Some(22.0), rate(150.0, 0.0)),
            // Within by its median, and up to three times as long.
            point(96.0, Some(300.0), rate(200.0, 0.0)),
            point(96.0, None, rate(90.0, 0.0)),
            point(150.0, Some(151.0), rate(300.0, 0.0)),
        ];
        let found = best_under_limit(&points, 96.2);
        assert_eq!(found.best, Some(Statement::Settled(1)));
        assert_eq!(found.perhaps, [2]);
        let none = best_under_limit(&points[2..], 96.2);
        assert_eq!((none.best, none.perhaps), (None, vec![0, 1]));
        let near = [
            point(10.0, Some(11.0), rate(100.0, 0.02)),
            point(20.0, Some(22.0), rate(101.0, 0.0)),
        ];
        let found = best_under_limit(&near, 50.0).best.unwrap();
        assert_eq!(found.candidates().len(), 2, "{found:?}");
    }
}
