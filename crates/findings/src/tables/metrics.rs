//! Every number of a comparison on both sides.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::metrics::{Better, ComparedMetric};

type MetricColumn = Column<ComparedMetric>;

/// The metrics as a table.
pub fn of_metrics(metrics: &[ComparedMetric]) -> Table {
    Table::new(COLUMNS, metrics.to_vec())
}

fn value(value: Option<&String>, metric: &ComparedMetric) -> Option<Cell> {
    Some(Cell::text(value?).noted(metric.note.clone().unwrap_or_default()))
}

fn improvement(metric: &ComparedMetric) -> Option<Cell> {
    let cell = value(metric.change.as_ref(), metric)?;
    Some(Cell {
        number: metric.gain,
        ..cell
    })
}

fn why(metric: &ComparedMetric, why: &str) -> String {
    metric.note.clone().unwrap_or_else(|| why.to_owned())
}

/// The columns of metrics.
pub const COLUMNS: &[MetricColumn] = &[
    MetricColumn::text("metric", "Metric", |metric| Some(Cell::text(metric.title()))),
    MetricColumn::number("before", "Before", "", |metric| value(metric.before.as_ref(), metric))
        .why(|metric| why(metric, "not measured before")),
    MetricColumn::number("after", "After", "", |metric| value(metric.after.as_ref(), metric))
        .why(|metric| why(metric, "not measured after")),
    MetricColumn::number("improvement", "Improvement", "×", improvement)
        .help("Before and after as a ratio that is above 1 where after is better: for latency the ratio of the medians over all samples, which is not the speed-up above")
        .why(|metric| match (&metric.before, &metric.after) {
            (Some(_), Some(_)) => why(
                metric,
                "the metric has no better direction, or the sides must not be compared",
            ),
            _ => why(metric, "a change takes numbers on both sides"),
        }),
    MetricColumn::text("better", "Better is", |metric| match metric.better {
        Better::Lower => Some(Cell::text("lower")),
        Better::Higher => Some(Cell::text("higher")),
        Better::Neither => None,
    })
    .why(|_| "neither is better".to_owned()),
];
