//! Times that have a rate beside them, for the checks that compare the two.

use super::{LEEWAY, number, plain, value};
use powerband_core::domain::claim::{Figure, Metric, Placed, Published};
use powerband_core::domain::written::Bounds;

/// A time and a rate of one thing at one batch size.
pub(super) struct Pair {
    /// The time, with where it stands.
    pub latency: Placed,
    /// The rate.
    pub throughput: Figure,
    /// The batch size.
    pub batch: usize,
}

impl Pair {
    /// Items a second that follow from the time.
    pub(crate) fn implied(&self) -> Option<f64> {
        let seconds = value(&self.latency.figure).filter(|seconds| *seconds > 0.0)?;
        Some(self.batch as f64 / seconds)
    }

    /// The rate as stated, over the one that follows.
    pub(super) fn factor(&self) -> Option<f64> {
        Some(value(&self.throughput)? / self.implied()?)
    }

    /// Whether the two can both be right.
    pub(super) fn agrees(&self) -> bool {
        let (Some(time), Some(rate)) = (plain(&self.latency.figure), plain(&self.throughput))
        else {
            return true;
        };
        let batch = Bounds::exactly(self.batch as f64);
        batch.over(time).wider(LEEWAY).meets(rate)
    }

    /// What is stated of both.
    pub(super) fn words(&self) -> String {
        format!(
            "{} and {}",
            self.latency.figure.words(),
            self.throughput.words()
        )
    }

    /// The sum from time to rate.
    pub(super) fn sum(&self) -> String {
        format!(
            "{} ÷ {} = {} {}",
            self.batch,
            self.latency.figure.words(),
            self.implied().map(number).unwrap_or_default(),
            self.throughput.unit
        )
    }
}

/// Every time that has a rate beside it, in one table and of one subject and batch size.
pub(super) fn pairs(published: &Published) -> Vec<Pair> {
    let mut placed = published.placed();
    for change in &published.changes {
        let sides = [("before", &change.before), ("after", &change.after)];
        for (name, side) in sides {
            if let Some(figure) = side.as_ref().filter(|_| change.subject.is_empty()) {
                placed.push(Placed {
                    figure: Figure {
                        subject: name.to_owned(),
                        ..figure.clone()
                    },
                    place: "before and after".to_owned(),
                });
            }
        }
    }
    let is_single = |figure: &Figure| !figure.value.is_range();
    let times = placed
        .iter()
        .filter(|one| one.figure.metric == Metric::Latency && is_single(&one.figure));
    let found = times.filter_map(|latency| {
        let batch = latency.figure.batch.filter(|batch| *batch > 0)?;
        let is_beside = |other: &&Placed| {
            other.figure.metric == Metric::Throughput
                && is_single(&other.figure)
                && other.place == latency.place
                && other.figure.subject == latency.figure.subject
                && other.figure.batch == Some(batch)
        };
        let throughput = placed.iter().find(is_beside)?.figure.clone();
        Some(Pair {
            latency: latency.clone(),
            throughput,
            batch,
        })
    });
    found.collect()
}
