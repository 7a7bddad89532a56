//! Columns of efficiency that fit no definition of it.

use super::{LintCheck, LintFinding, percent};
use powerband_core::domain::claim::{ClaimedCurve, Published};
use powerband_core::domain::written::WrittenBounds;

/// A column of efficiencies against the usual definitions.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "efficiency",
    title: "Efficiency",
    sentence: "A column of efficiencies is scaling, gain over the batch before, a share of the best, or a share of some fixed peak.",
    find,
};

/// What an efficiency may be off by beside its digits, as a share of one.
const POINT: f64 = 0.01;

/// One row with everything that is needed.
struct EfficiencyRow {
    batch: f64,
    rate: WrittenBounds,
    rate_value: f64,
    rate_words: String,
    stated: WrittenBounds,
    stated_words: String,
}

fn find(published: &Published) -> Vec<LintFinding> {
    published.curves.iter().filter_map(finding).collect()
}

fn rows(curve: &ClaimedCurve) -> Vec<EfficiencyRow> {
    let rows = curve.points.iter().filter_map(|point| {
        let (rate, efficiency) = (point.throughput.as_ref()?, point.efficiency.as_ref()?);
        let stated = efficiency.bounds().times(0.01);
        (point.batch > 0 && rate.value() > 0.0).then(|| EfficiencyRow {
            batch: point.batch as f64,
            rate: rate.bounds(),
            rate_value: rate.value(),
            rate_words: rate.to_string(),
            stated: WrittenBounds {
                low: stated.low - POINT,
                high: stated.high + POINT,
            },
            stated_words: format!("{efficiency} % at batch {}", point.batch),
        })
    });
    let mut rows: Vec<EfficiencyRow> = rows.collect();
    rows.sort_by(|a, b| a.batch.total_cmp(&b.batch));
    rows
}

fn finding(curve: &ClaimedCurve) -> Option<LintFinding> {
    let rows = rows(curve);
    let (first, last) = (rows.first()?, rows.last()?);
    let best = rows
        .iter()
        .max_by(|a, b| a.rate_value.total_cmp(&b.rate_value))?;
    let fits_scaling = rows.iter().all(|row| {
        let ideal = first.rate.times(row.batch / first.batch);
        row.rate.over(ideal).meets(row.stated)
    });
    let fits_best = rows
        .iter()
        .all(|row| row.rate.over(best.rate).meets(row.stated));
    let fits_step = rows.windows(2).all(|pair| {
        let ideal = pair[0].rate.times(pair[1].batch / pair[0].batch);
        pair[1].rate.over(ideal).meets(pair[1].stated)
    });
    if rows.len() < 2 || fits_scaling || fits_best || fits_step || fits_a_peak(&rows) {
        return None;
    }
    let scaling =
        |row: &EfficiencyRow| row.rate_value / (first.rate_value * row.batch / first.batch);
    let share = |row: &EfficiencyRow| row.rate_value / best.rate_value;
    let stated: Vec<&str> = rows.iter().map(|row| row.stated_words.as_str()).collect();
    Some(
        LintFinding::contradiction(curve.label())
            .claimed(stated.join(", "))
            .follows(format!(
                "scaling would be {} at batch {} and {} at batch {}, and the share of the best rate {} and {}; it is no fixed peak's share either",
                percent(scaling(first)),
                first.batch,
                percent(scaling(last)),
                last.batch,
                percent(share(first)),
                percent(share(last)),
            ))
            .sum(format!(
                "{} ÷ ({} × {}) = {}; {} ÷ {} = {}",
                last.rate_words,
                number_of_batches(last.batch / first.batch),
                first.rate_words,
                percent(scaling(last)),
                first.rate_words,
                best.rate_words,
                percent(share(first)),
            )),
    )
}

fn number_of_batches(times: f64) -> String {
    powerband_core::base::humanize::significant(times, 3)
        .trim_end_matches(".0")
        .trim_end_matches(".00")
        .to_owned()
}

/// Whether one peak explains every row: what each rate is a share of may then be the same number.
fn fits_a_peak(rows: &[EfficiencyRow]) -> bool {
    let peaks = rows.iter().map(|row| row.rate.over(row.stated));
    let common = peaks.fold((0.0, f64::INFINITY), |(low, high): (f64, f64), peak| {
        (low.max(peak.low), high.min(peak.high))
    });
    common.0 <= common.1
}
