//! Pairs of cases: before and after, how much faster, how sure, and the verdict.

use super::cell::{Cell, SortKey};
use super::{Column, Table};
use crate::analysis::case_pair::{CasePair, Ratio};
use powerband_core::base::humanize;

type PairColumn = Column<CasePair>;

/// The pairs as a table.
pub fn of_pairs<'a>(pairs: impl IntoIterator<Item = &'a CasePair>) -> Table {
    let pairs: Vec<CasePair> = pairs.into_iter().cloned().collect();
    let points = pairs.iter().map(|pair| pair.before_point).collect();
    Table::new(COLUMNS, pairs).with_points(points)
}

/// The interval of a ratio as a cell that sorts by its lower end.
pub(super) fn interval(ratio: &Ratio) -> Option<Cell> {
    let (low, high) = (ratio.ci95?.low, ratio.ci95?.high);
    let cell = Cell::text(ratio.interval_text()?).ranked(SortKey::Number(low));
    Some(if cell.shown_text() == humanize::NOT_KNOWN {
        cell.noted("the interval reaches beyond 10 × either way")
    } else {
        let cell = cell.for_programs(format!("{low}..{high}"));
        if ratio.is_apart {
            cell.noted("the 99 % interval, because the two were not interleaved")
        } else {
            cell
        }
    })
}

/// The columns of pairs.
pub const COLUMNS: &[PairColumn] = &[
    PairColumn::text("before", "Before", |pair| Some(Cell::text(&pair.before.setup_label))),
    PairColumn::text("after", "After", |pair| Some(Cell::text(&pair.after.setup_label))),
    PairColumn::number("batch", "Batch", "", |pair| {
        Some(if pair.is_per_item() {
            let sizes = [pair.before_point, pair.after_point].map(|point| humanize::count(point.batch() as u64));
            Cell::text(sizes.join(" → ")).noted("different batch sizes are compared by the time of an item")
        } else {
            Cell::count(pair.before_point.batch() as u64)
        })
    }),
    PairColumn::number("median_before_ms", "Median before", "ms", |pair| {
        Some(Cell::time(pair.before.latency_ns.as_ref()?.median).flagged(&pair.before.flags))
    })
    .why(|_| "not measured".to_owned()),
    PairColumn::number("median_after_ms", "Median after", "ms", |pair| {
        Some(Cell::time(pair.after.latency_ns.as_ref()?.median).flagged(&pair.after.flags))
    })
    .why(|_| "not measured".to_owned()),
    PairColumn::number("speed_up", "Speed-up", "×", |pair| Some(Cell::ratio(pair.ratio?.speed_up)))
        .help("Latency before divided by latency after, above 1 is faster: the geometric mean over the rounds, start by start, which are paired where the two were interleaved, so that it may differ from the quotient of the two medians")
        .why(why_no_ratio),
    PairColumn::number("interval", "Interval", "×", |pair| interval(&pair.ratio?))
        .help("Measured again, the ratio would most likely lie within: Student's interval of the logarithms of the starts' ratios; as wide as sessions differ, at 99 %, where the two were not interleaved")
        .why(|pair| match pair.ratio {
            Some(_) => "an interval needs two rounds on either side".to_owned(),
            None => why_no_ratio(pair),
        }),
    PairColumn::number("rounds", "Rounds", "", |pair| {
        Some(Cell::count(u64::from(pair.ratio?.rounds)))
    })
    .help("Rounds that the interval rests on")
    .why(why_no_ratio),
    PairColumn::text("verdict", "Verdict", |pair| Some(Cell::verdict(&pair.verdict)))
        .help("Faster or slower where the whole interval lies beyond the noise floor, same where it lies within, else inconclusive"),
];

fn why_no_ratio(pair: &CasePair) -> String {
    let reason = pair.verdict.reason.clone();
    reason.unwrap_or_else(|| "these numbers must not be compared".to_owned())
}
