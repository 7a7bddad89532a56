//! One side of a comparison: a setup of a session, with its rows.

use std::collections::BTreeMap;
use std::iter::repeat;

use super::batch_curve::{self, Efficiency};
use super::case_rows::{self, CaseRow};
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio::RoundSamples;
use powerband_core::stats::summary::median;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct ComparedSide<'a> {
    pub session: &'a Session,
    /// Its cases as rows.
    pub rows: &'a [CaseRow],
    /// Which setup, by its index in the plan.
    pub setup: usize,
    /// One point of the sweep; nothing for all.
    pub point: Option<Point>,
}

impl<'a> ComparedSide<'a> {
    /// Rows of this side that were measured and did not end badly, ascending by point.
    pub(super) fn measured(&self, point: Option<Point>) -> Vec<&'a CaseRow> {
        let mut rows: Vec<&CaseRow> = self
            .rows
            .iter()
            .filter(|row| row.setup == self.setup)
            .filter(|row| row.latency_ns.is_some() && !row.outcome.is_trouble())
            .filter(|row| point.is_none_or(|point| row.point == point))
            .collect();
        rows.sort_by_key(|row| row.point);
        rows
    }
}

impl ComparedSide<'_> {
    /// The same session, held to one setup.
    pub(super) fn with_setup(&self, setup: usize) -> Self {
        Self { setup, ..*self }
    }

    /// The rounds of a case, in nanoseconds.
    pub(super) fn visits(&self, point: Point) -> Vec<RoundSamples> {
        let key = CaseKey {
            setup: self.setup,
            point,
        };
        let case = self.session.case(key);
        case.map_or_else(Vec::new, |case| case_visits(self.session, case))
    }

    /// How long a round of the session takes, in seconds: from its begin to that of the next, whatever is between.
    pub(super) fn round_s(&self) -> Option<f64> {
        let mut begins: BTreeMap<u32, u64> = BTreeMap::new();
        for round in self.session.cases.iter().flat_map(|case| &case.rounds) {
            let begin = begins.entry(round.round).or_insert(round.started_ns);
            *begin = round.started_ns.min(*begin);
        }
        let begins: Vec<u64> = begins.into_values().collect();
        let lengths = begins.windows(2).filter_map(|pair| match pair {
            // Rounds that were added in another run begin anew.
            [begin, next] => Some(next.checked_sub(*begin)? as f64 / 1e9),
            _ => None,
        });
        median(&lengths.collect::<Vec<_>>()).filter(|seconds| *seconds > 0.0)
    }

    /// Scaling with the batch at a point, and the batch size that it is relative to.
    pub(super) fn scaling(&self, point: Point) -> Option<(f64, usize)> {
        let rows: Vec<CaseRow> = self
            .rows
            .iter()
            .filter(|row| row.setup == self.setup)
            .filter(|row| row.point.others().eq(point.others()))
            .cloned()
            .collect();
        let curve = batch_curve::batch_curves(&rows).into_iter().next()?;
        let from = curve.points.first()?.point.batch();
        let share = curve
            .points
            .iter()
            .find(|other| other.point == point)
            .and_then(|found| found.efficiency(Efficiency::Scaling))?;
        (from < point.batch()).then_some((share, from))
    }

    /// Why these points were not measured here, where that is known.
    pub(super) fn failures(&self, points: &[Point]) -> Vec<String> {
        self.rows
            .iter()
            .filter(|row| row.setup == self.setup && points.contains(&row.point))
            .filter_map(|row| {
                let sentence = row.outcome.sentence()?;
                Some(format!("{} {}: {sentence}.", row.setup_label, row.point))
            })
            .collect()
    }
}

/// The rounds of a case, in nanoseconds. Times that another program reports are rounds of one start.
pub(super) fn case_visits(session: &Session, case: &Case) -> Vec<RoundSamples> {
    let starts = session.starts(case).into_iter().chain(repeat(0));
    let numbers = case.rounds.iter().map(|round| round.round).chain(0..);
    let rounds = case_rows::round_times(case).into_iter().zip(numbers);
    let visits = rounds
        .zip(starts)
        .map(|((samples, round), start)| RoundSamples {
            round,
            start,
            samples,
        });
    visits.collect()
}
