//! Times that have a rate beside them, for the checks that compare the two.

use super::{LEEWAY, base_bounds, base_value, number};
use powerband_core::domain::claim::{ClaimMetric, ClaimedFigure, PlacedFigure, Published};
use powerband_core::domain::written::WrittenBounds;

/// A time and a rate of one thing at one batch size.
pub(super) struct TimeAndRate {
    /// The time, with where it stands.
    pub latency: PlacedFigure,
    /// The rate.
    pub throughput: ClaimedFigure,
    /// The batch size.
    pub batch: usize,
}

impl TimeAndRate {
    /// Items a second that follow from the time.
    pub(crate) fn implied(&self) -> Option<f64> {
        let seconds = base_value(&self.latency.figure).filter(|seconds| *seconds > 0.0)?;
        Some(self.batch as f64 / seconds)
    }

    /// The rate as stated, over the one that follows.
    pub(super) fn factor(&self) -> Option<f64> {
        Some(base_value(&self.throughput)? / self.implied()?)
    }

    /// Whether the two can both be right.
    pub(super) fn is_consistent(&self) -> bool {
        let (Some(time), Some(rate)) = (
            base_bounds(&self.latency.figure),
            base_bounds(&self.throughput),
        ) else {
            return true;
        };
        let batch = WrittenBounds::exactly(self.batch as f64);
        batch.over(time).wider(LEEWAY).meets(rate)
    }

    /// What is stated of both.
    pub(super) fn stated_text(&self) -> String {
        format!(
            "{} and {}",
            self.latency.figure.value_text(),
            self.throughput.value_text()
        )
    }

    /// The sum from time to rate.
    pub(super) fn sum(&self) -> String {
        format!(
            "{} ÷ {} = {} {}",
            self.batch,
            self.latency.figure.value_text(),
            self.implied().map(number).unwrap_or_default(),
            self.throughput.unit
        )
    }
}

/// Every time that has a rate beside it, in one table and of one subject and batch size.
pub(super) fn times_with_rates(published: &Published) -> Vec<TimeAndRate> {
    let mut placed = published.placed_figures();
    for change in &published.changes {
        let sides = [("before", &change.before), ("after", &change.after)];
        for (name, side) in sides {
            if let Some(figure) = side.as_ref().filter(|_| change.subject.is_empty()) {
                placed.push(PlacedFigure {
                    figure: ClaimedFigure {
                        subject: name.to_owned(),
                        ..figure.clone()
                    },
                    place: "before and after".to_owned(),
                });
            }
        }
    }
    let is_single = |figure: &ClaimedFigure| !figure.value.is_range();
    let times = placed
        .iter()
        .filter(|one| one.figure.metric == ClaimMetric::Latency && is_single(&one.figure));
    let found = times.filter_map(|latency| {
        let batch = latency.figure.batch.filter(|batch| *batch > 0)?;
        let is_beside = |other: &&PlacedFigure| {
            other.figure.metric == ClaimMetric::Throughput
                && is_single(&other.figure)
                && other.place == latency.place
                && other.figure.subject == latency.figure.subject
                && other.figure.batch == Some(batch)
        };
        let throughput = placed.iter().find(is_beside)?.figure.clone();
        Some(TimeAndRate {
            latency: latency.clone(),
            throughput,
            batch,
        })
    });
    found.collect()
}
