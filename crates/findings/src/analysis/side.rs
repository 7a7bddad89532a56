//! One side of a comparison: a setup of a session, with its rows.

use super::batch_curve::{self, Efficiency};
use super::case_rows::{self, CaseRow};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio::Visit;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The session.
    pub session: &'a Session,
    /// Its cases as rows.
    pub rows: &'a [CaseRow],
    /// Which setup, by its index in the plan.
    pub setup: usize,
    /// One batch size; nothing for all.
    pub batch: Option<usize>,
}

impl Side<'_> {
    /// The same session, held to one setup.
    pub(super) fn narrowed(&self, setup: usize) -> Self {
        Self { setup, ..*self }
    }

    /// Rows of this side that were measured and did not end badly, ascending in batch size.
    pub(super) fn measured(&self, batch: Option<usize>) -> Vec<&CaseRow> {
        let mut rows: Vec<&CaseRow> = self
            .rows
            .iter()
            .filter(|row| row.setup == self.setup)
            .filter(|row| row.latency_ns.is_some() && !row.outcome.is_trouble())
            .filter(|row| batch.is_none_or(|batch| row.batch == batch))
            .collect();
        rows.sort_by_key(|row| row.batch);
        rows
    }

    /// The rounds of a case, in nanoseconds.
    pub(super) fn visits(&self, batch: usize) -> Vec<Visit> {
        let key = CaseKey {
            setup: self.setup,
            batch,
        };
        let Some(case) = self.session.case(key) else {
            return Vec::new();
        };
        let numbers = case.rounds.iter().map(|round| round.round).chain(0..);
        let rounds = case_rows::rounds(case).into_iter().zip(numbers);
        rounds
            .map(|(samples, round)| Visit { round, samples })
            .collect()
    }

    /// Scaling at a batch size, and the batch size that it is relative to.
    pub(super) fn scaling(&self, batch: usize) -> Option<(f64, usize)> {
        let rows: Vec<CaseRow> = self
            .rows
            .iter()
            .filter(|row| row.setup == self.setup)
            .cloned()
            .collect();
        let curve = batch_curve::batch_curves(&rows).into_iter().next()?;
        let from = curve.points.first()?.batch;
        let point = curve.points.iter().find(|point| point.batch == batch)?;
        let share = point.efficiency(Efficiency::Scaling)?;
        (from < batch).then_some((share, from))
    }

    /// Why these batch sizes were not measured here, where that is known.
    pub(super) fn failures(&self, batches: &[usize]) -> Vec<String> {
        self.rows
            .iter()
            .filter(|row| row.setup == self.setup && batches.contains(&row.batch))
            .filter_map(|row| {
                let sentence = row.outcome.sentence()?;
                Some(format!(
                    "{} batch {}: {sentence}.",
                    row.setup_label, row.batch
                ))
            })
            .collect()
    }
}
