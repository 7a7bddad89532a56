//! Several devices that do less than one.

use super::{LintCheck, LintFinding};
use powerband_core::domain::claim::{ClaimedCurve, ClaimedPoint, Published};
use powerband_core::domain::written::WrittenBounds;

/// More devices against fewer of the same.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "devices",
    title: "Several devices",
    sentence: "Several devices do more than one of them.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let curves = &published.curves;
    let pairs = curves.iter().flat_map(|few| {
        let is_more = move |many: &&ClaimedCurve| {
            many.devices > few.devices && many.setup == few.setup && many.hardware == few.hardware
        };
        curves.iter().filter(is_more).map(move |many| (few, many))
    });
    pairs.filter_map(|(few, many)| finding(few, many)).collect()
}

/// Items a second, and in the document's own words.
fn rate(point: &ClaimedPoint) -> Option<(WrittenBounds, f64, String)> {
    if let Some(rate) = &point.throughput {
        return Some((rate.bounds(), rate.value(), rate.to_string()));
    }
    let time = point.latency_ms.as_ref().filter(|time| time.low() > 0.0)?;
    let batch = WrittenBounds::exactly(point.batch as f64);
    let seconds = time.bounds().times(1e-3);
    Some((
        batch.over(seconds),
        point.batch as f64 / (time.value() * 1e-3),
        format!("{} in {time} ms", point.batch),
    ))
}

fn finding(few: &ClaimedCurve, many: &ClaimedCurve) -> Option<LintFinding> {
    let shared = many.points.iter().filter_map(|point| {
        let other = few.points.iter().find(|other| other.batch == point.batch)?;
        let (own, own_value, own_words) = rate(point)?;
        let (single, single_value, single_words) = rate(other)?;
        (own.high < single.low).then(|| {
            let loss = (1.0 - own_value / single_value) * 100.0;
            (
                point.batch.to_string(),
                format!("batch {}: {single_words} → {own_words}", point.batch),
                format!(
                    "{own_words} ÷ {single_words} = {:.3}, {loss:.1} % less",
                    own_value / single_value
                ),
            )
        })
    });
    let lost: Vec<(String, String, String)> = shared.collect();
    if lost.is_empty() {
        return None;
    }
    let pick = |of: fn(&(String, String, String)) -> &str, between: &str| {
        lost.iter().map(of).collect::<Vec<_>>().join(between)
    };
    let word = if lost.len() == 1 { "batch" } else { "batches" };
    let differ = few.conditions != many.conditions;
    let unlike = if differ {
        "; the two were measured under different conditions, so it may be those"
    } else {
        ""
    };
    Some(
        LintFinding::doubt(many.label())
            .claimed(
                format!(
                    "{} {} from {} to {} devices, {}",
                    many.per_s,
                    "",
                    few.devices,
                    many.devices,
                    pick(|one| &one.1, ", ")
                )
                .replace("  ", " "),
            )
            .follows(format!(
                "{} devices lose against {} at {word} {}{unlike}",
                many.devices,
                few.devices,
                pick(|one| &one.0, " and ")
            ))
            .sum(pick(|one| &one.2, "; ")),
    )
}
