//! Numbers as reports have them.

use crate::analysis::case_pair::Pair;
use crate::analysis::case_rows::CaseRow;
use powerband_core::base::humanize;

/// A case's median with its uncertainty: `14.6 ms ± 150 %`.
pub(crate) fn median_with_uncertainty(row: &CaseRow) -> Option<String> {
    let median = row.median_words()?;
    Some(match row.uncertainty_words() {
        Some(uncertainty) => format!("{median} ± {uncertainty}"),
        None => median,
    })
}

/// A case's throughput, in items a second and without the unit.
pub fn rate(row: &CaseRow) -> Option<String> {
    row.throughput_per_s.map(humanize::value)
}

/// A speed-up with its interval and verdict in a few words.
pub fn gain(pair: &Pair) -> Option<String> {
    let ratio = pair.ratio.as_ref()?;
    let times = ratio.words();
    Some(match ratio.interval_words() {
        Some(interval) => format!("{times} (95 % interval {interval}, {})", pair.verdict.call),
        None => format!("{times} ({})", pair.verdict.call),
    })
}

/// A share: `87.6 %`.
pub fn share(share: f64) -> String {
    humanize::percent(share)
}
