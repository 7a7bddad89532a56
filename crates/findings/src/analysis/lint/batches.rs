//! Speed-ups that compare one batch size with another.

use super::{LintCheck, LintFinding, base_bounds, base_value, number};
use powerband_core::domain::claim::{ClaimMetric, ClaimedChange, ClaimedFigure, Published};
use powerband_core::domain::written::WrittenBounds;

/// Before and after at one batch size, or at two.
pub(crate) const CHECK: LintCheck = LintCheck {
    id: "batches",
    title: "Like for like",
    sentence: "A speed-up compares two numbers at one batch size.",
    find,
};

fn find(published: &Published) -> Vec<LintFinding> {
    let changes = published.all_changes();
    let open = changes.iter().filter_map(stated_mismatch);
    let hidden = changes.iter().filter_map(|change| {
        changes
            .iter()
            .find_map(|times| hidden_mismatch(published, change, times))
    });
    open.chain(hidden).collect()
}

fn sides(change: &ClaimedChange) -> Option<(&ClaimedFigure, &ClaimedFigure)> {
    Some((change.before.as_ref()?, change.after.as_ref()?))
}

/// The two sides are said to be at different batch sizes.
fn stated_mismatch(change: &ClaimedChange) -> Option<LintFinding> {
    let (before, after) = sides(change)?;
    let (first, second) = (before.batch?, after.batch?);
    let claimed = change
        .claimed
        .as_ref()
        .filter(|_| change.metric.is_speed())?;
    (first != second).then(|| {
        LintFinding::doubt(change.metric.title())
            .claimed(format!(
                "{} at batch {first} → {} at batch {second}: {}",
                before.value_text(),
                after.value_text(),
                claimed.gain_text()
            ))
            .follows("it includes the gain of the larger batch, and that share is not known")
            .sum(format!("batch {first} against batch {second}"))
    })
}

/// The rate before is said to be of a large batch, and is that of another one by the time before.
fn hidden_mismatch(
    published: &Published,
    rates: &ClaimedChange,
    times: &ClaimedChange,
) -> Option<LintFinding> {
    let (rate_before, rate_after) = sides(rates)?;
    let (time_before, time_after) = sides(times)?;
    let is_such_a_pair = rates.metric == ClaimMetric::Throughput
        && times.metric == ClaimMetric::Latency
        && rates.subject == times.subject;
    let (stated, other) = (rate_before.batch?, time_before.batch?);
    let seconds = base_value(time_before).filter(|seconds| *seconds > 0.0)?;
    if !is_such_a_pair || stated == other || time_after.batch != Some(other) {
        return None;
    }
    let exact = WrittenBounds::exactly(other as f64);
    let of_other = exact.over(base_bounds(time_before)?);
    if !base_bounds(rate_before)?.meets(of_other) {
        return None;
    }
    let like = seconds / base_value(time_after).filter(|seconds| *seconds > 0.0)?;
    let said = rates
        .claimed
        .as_ref()
        .map_or_else(String::new, |claimed| format!(": {}", claimed.gain_text()));
    let rate = rate_at(published, other).unwrap_or_else(|| {
        let implied = base_value(time_after).map(|seconds| other as f64 / seconds);
        number(implied.unwrap_or(f64::NAN))
    });
    Some(
        LintFinding::contradiction(format!("throughput at batch {stated}"))
            .claimed(format!(
                "{} → {} at batch {stated}{said}",
                rate_before.value_text(),
                rate_after.value_text()
            ))
            .follows(format!(
                "{} is the rate of batch {other}, from {} at batch {other}: either a batch of {stated} gained nothing at all before, or batch {stated} is compared with batch {other}. Like for like, at batch {other}, it is {} ×: {} → {rate} {}",
                rate_before.value_text(),
                time_before.value_text(),
                number(like),
                rate_before.value,
                rate_after.unit,
            ))
            .sum(format!(
                "{other} ÷ {} = {} {}; {} ÷ {} = {} ×",
                time_before.value_text(),
                number(other as f64 / seconds),
                rate_before.unit,
                time_before.value_text(),
                time_after.value_text(),
                number(like),
            )),
    )
}

/// The rate at a batch size, where one table alone states it.
fn rate_at(published: &Published, batch: usize) -> Option<String> {
    let [curve] = published.curves.as_slice() else {
        return None;
    };
    let mut points = curve.points.iter();
    let point = points.find(|point| point.batch == batch)?;
    point.throughput.as_ref().map(ToString::to_string)
}
