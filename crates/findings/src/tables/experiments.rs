//! Experiments on a case: what was changed, what that cost, and how sure that is.

use super::cell::{Cell, SortKey};
use super::pairs::interval as ratio_interval;
use super::{Column, Table};
use crate::analysis::limits::experiments::{ExperimentRow, TriedExperiments};
use powerband_core::base::humanize;

type ExperimentColumn = Column<ExperimentRow>;

/// Columns of a terminal's table.
pub const ON_TERMINAL: [&str; 6] = [
    "change",
    "median_ms",
    "control_median_ms",
    "cost",
    "cost_interval",
    "verdict",
];

/// The changes that were tried.
pub fn of_tried(tried: &TriedExperiments) -> Table {
    Table::new(COLUMNS, tried.rows.clone())
}

/// The columns of experiments.
pub const COLUMNS: &[ExperimentColumn] = &[
    ExperimentColumn::text("change", "Changed", |row| Some(Cell::text(row.change.title())))
        .help("The one thing that differs from the setup that it is compared with"),
    ExperimentColumn::text("setup", "Setup", |row| Some(Cell::text(&row.setup_spec))).hidden(),
    ExperimentColumn::text("control", "Compared with", |row| Some(Cell::text(&row.control_spec)))
        .help("The case itself, or the case on fewer threads or compiled, where the change needs that")
        .hidden(),
    ExperimentColumn::number("median_ms", "Median", "ms", |row| Some(Cell::time(row.median_ns?)))
        .help("Median time of a run with the change; of twice the batch, of as many items as the case has")
        .why(why),
    ExperimentColumn::number("control_median_ms", "Median without", "ms", |row| {
        Some(Cell::time(row.control_median_ns?).noted(&row.control_spec))
    })
    .help("Median time of a run of the setup that it is compared with: the case itself, or the case on fewer threads or compiled, where the change needs that")
    .why(why),
    ExperimentColumn::number("cost", "Cost", "%", |row| Some(Cell::share(row.cost_share()?)))
        .help("Time with the change over time without it, less 1: the geometric mean over the rounds, which are paired, so that it may differ from the quotient of the two medians; below zero it saves time")
        .why(why),
    ExperimentColumn::number("cost_interval", "95 % interval", "%", |row| {
        let (low, high) = row.cost_interval()?;
        let words = [low, high].map(humanize::percent).join(" to ");
        let cell = Cell::text(words).ranked(SortKey::Number(low));
        Some(cell.for_programs(format!("{low}..{high}")))
    })
    .help("Measured again, the cost would most likely lie within")
    .why(why),
    ExperimentColumn::number("speed_up", "Speed-up", "×", |row| Some(Cell::ratio(row.cost?.speed_up)))
        .help("Time without the change over time with it")
        .why(why)
        .hidden(),
    ExperimentColumn::number("speed_up_interval", "Speed-up, 95 %", "×", |row| ratio_interval(&row.cost?))
        .why(why)
        .hidden(),
    ExperimentColumn::text("verdict", "Verdict", |row| Some(Cell::verdict(row.verdict.as_ref()?)))
        .help("Faster or slower than without the change where the whole interval lies beyond the noise floor, same where it lies within, else inconclusive")
        .why(why),
];

fn why(row: &ExperimentRow) -> String {
    let reason = row.trouble.clone();
    reason.unwrap_or_else(|| "an interval needs two rounds on either side".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::case::CaseKey;
    use powerband_core::domain::experiment::ExperimentChange;
    use powerband_core::domain::point::Point;
    use powerband_core::stats::bootstrap::Interval;

    use crate::analysis::case_pair::Ratio;

    fn row(cost: Option<Ratio>) -> ExperimentRow {
        ExperimentRow {
            change: ExperimentChange::StreamingNeighbour,
            case: CaseKey {
                setup: 2,
                point: Point::of_batch(1),
            },
            control: CaseKey {
                setup: 1,
                point: Point::of_batch(1),
            },
            setup_spec: "ort:cpu,cores=0,neighbour=stream,threads=1".to_owned(),
            control_spec: "ort:cpu,cores=0,threads=1".to_owned(),
            median_ns: Some(14e6),
            control_median_ns: Some(10e6),
            cost,
            effect: None,
            verdict: None,
            trouble: cost.is_none().then(|| "out of memory".to_owned()),
        }
    }

    #[test]
    fn a_cost_stands_with_its_interval_or_its_reason() {
        let ratio = Ratio {
            speed_up: 0.8,
            ci95: Some(Interval {
                low: 0.75,
                high: 0.85,
            }),
            rounds: 5,
            is_apart: false,
        };
        let table = Table::new(COLUMNS, vec![row(Some(ratio)), row(None)]);
        let cell = |row, key| table.cell(row, table.place(key).unwrap());
        assert_eq!(cell(0, "cost").shown_text(), "25.0 %");
        assert_eq!(cell(0, "cost_interval").shown_text(), "17.6 % to 33.3 %");
        assert_eq!(cell(1, "cost").note, "out of memory");
    }
}
