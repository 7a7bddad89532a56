//! Numbers as reports have them.

use crate::analysis::case_pair::CasePair;
use crate::analysis::case_rows::CaseRow;
use powerband_core::base::humanize;

/// Most candidates that are named.
const MOST_CANDIDATES: usize = 4;

/// A case's median with its uncertainty: `14.6 ms ± 150 %`.
pub(crate) fn median_with_uncertainty(row: &CaseRow) -> Option<String> {
    let median = row.median_text()?;
    Some(match row.uncertainty_text() {
        Some(uncertainty) if uncertainty == humanize::NOT_KNOWN => {
            format!("{median} (95 % interval not known: it reaches beyond ten times either way)")
        }
        Some(uncertainty) => format!("{median} ± {uncertainty}"),
        None => median,
    })
}

/// A case's throughput, in items a second and without the unit.
pub fn rate(row: &CaseRow) -> Option<String> {
    row.throughput_per_s.map(humanize::value)
}

/// A speed-up with its point, its interval and its verdict in a few words. The point is always there: another one has
/// another speed-up.
pub fn gain(pair: &CasePair) -> Option<String> {
    let ratio = pair.ratio.as_ref()?;
    let times = format!("{} at {}", ratio.speed_up_text(), points(pair));
    Some(match ratio.named_interval_text() {
        Some(interval) => format!("{times} ({interval}, {})", pair.verdict.call),
        None => format!("{times} ({})", pair.verdict.call),
    })
}

/// Cases of which one is the best, each with its number: `batch 1 of a (8.06 ms) or batch 2 of b (8.10 ms)`.
pub(crate) fn candidates(rows: &[&CaseRow], number: fn(&CaseRow) -> Option<String>) -> String {
    let named = rows.iter().take(MOST_CANDIDATES).map(|row| {
        let number = number(row).map_or_else(String::new, |number| format!(" ({number})"));
        format!("{} of {}{number}", row.point, row.setup_label)
    });
    let mut named: Vec<String> = named.collect();
    let more = rows.len().saturating_sub(MOST_CANDIDATES);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    humanize::or_list(&named)
}

/// The point of a pair; both where they differ: `batch 1`, `batch 8 against batch 1, by the time of an item`.
fn points(pair: &CasePair) -> String {
    if pair.before_point == pair.after_point {
        return pair.after_point.to_string();
    }
    let points = format!("{} against {}", pair.after_point, pair.before_point);
    if pair.is_per_item() {
        format!("{points}, by the time of an item")
    } else {
        points
    }
}

/// A share: `87.6 %`.
pub fn share(share: f64) -> String {
    humanize::percent(share)
}
