//! Pairs of cases: before and after, how much faster, how sure, and the verdict.

use super::cell::{Cell, Rank};
use super::{Column, Table};
use crate::analysis::case_pair::{Pair, Ratio};
use powerband_core::base::humanize;

type Of = Column<Pair>;

/// The pairs as a table.
pub fn of_pairs<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> Table {
    let pairs: Vec<Pair> = pairs.into_iter().cloned().collect();
    let points = pairs.iter().map(|pair| pair.before_point).collect();
    Table::new(COLUMNS, pairs).with_points(points)
}

/// The 95 % interval of a ratio as a cell that sorts by its lower end.
pub(super) fn interval(ratio: &Ratio) -> Option<Cell> {
    let (low, high) = (ratio.ci95?.low, ratio.ci95?.high);
    let cell = Cell::words(ratio.interval_words()?).ranked(Rank::Number(low));
    Some(if cell.shown_text() == humanize::NOT_KNOWN {
        cell.noted("the interval reaches beyond 10 × either way")
    } else {
        cell.for_programs(format!("{low}..{high}"))
    })
}

/// The columns of pairs.
pub const COLUMNS: &[Of] = &[
    Of::words("before", "Before", |pair| Some(Cell::words(&pair.before.setup_label))),
    Of::words("after", "After", |pair| Some(Cell::words(&pair.after.setup_label))),
    Of::number("batch", "Batch", "", |pair| {
        Some(if pair.is_per_item() {
            let sizes = [pair.before_point, pair.after_point].map(|point| humanize::count(point.batch() as u64));
            Cell::words(sizes.join(" → ")).noted("different batch sizes are compared by the time of an item")
        } else {
            Cell::count(pair.before_point.batch() as u64)
        })
    }),
    Of::number("median_before_ms", "Median before", "ms", |pair| {
        Some(Cell::time(pair.before.latency_ns.as_ref()?.median).flagged(&pair.before.flags))
    })
    .why(|_| "not measured".to_owned()),
    Of::number("median_after_ms", "Median after", "ms", |pair| {
        Some(Cell::time(pair.after.latency_ns.as_ref()?.median).flagged(&pair.after.flags))
    })
    .why(|_| "not measured".to_owned()),
    Of::number("speed_up", "Speed-up", "×", |pair| Some(Cell::ratio(pair.ratio?.speed_up)))
        .help("Latency before divided by latency after, above 1 is faster: the geometric mean over the rounds, start by start, which are paired where the two were interleaved, so that it may differ from the quotient of the two medians")
        .why(why_no_ratio),
    Of::number("interval", "95 % interval", "×", |pair| interval(&pair.ratio?))
        .help("Measured again, the ratio would most likely lie within: Student's interval of the logarithms of the starts' ratios; as wide as sessions differ, at 99 %, where the two were not interleaved")
        .why(|pair| match pair.ratio {
            Some(_) => "an interval needs two rounds on either side".to_owned(),
            None => why_no_ratio(pair),
        }),
    Of::number("rounds", "Rounds", "", |pair| {
        Some(Cell::count(u64::from(pair.ratio?.rounds)))
    })
    .help("Rounds that the interval rests on")
    .why(why_no_ratio),
    Of::words("verdict", "Verdict", |pair| Some(Cell::verdict(&pair.verdict)))
        .help("Faster or slower where the whole interval lies beyond the noise floor, same where it lies within, else inconclusive"),
];

fn why_no_ratio(pair: &Pair) -> String {
    let reason = pair.verdict.reason.clone();
    reason.unwrap_or_else(|| "these numbers must not be compared".to_owned())
}
