//! Whether a change may go in: what two sides measured, held against a limit for each metric.
//!
//! Of latency, the whole interval counts: it fails where all of it lies beyond the limit, and passes where none of it
//! does. In between it is open, and rounds are added. Other metrics are one number a side and have no interval.

use serde::Serialize;

use super::case_pair::{self, CasePair};
use super::case_rows;
use super::comparison::{self, Better, ComparedMetric, Comparison};
use super::metrics::{self, CLOCKS_SAID};
use super::side::ComparedSide;
use super::verdict::{self, LEAST_FLOOR};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::quantity::Quantity;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio::Estimate;

/// The metric that is held against a limit where none is named.
pub const LATENCY: &str = "latency";
/// The other one that has rounds.
const THROUGHPUT: &str = "throughput";
/// Metrics that rounds may settle; others are one number a side.
const TIMED: [&str; 2] = [LATENCY, THROUGHPUT];
/// With clocks that differ by more than this, times say nothing of what was changed.
const CLOCKS_MOST: f64 = 0.03;

/// By how much a metric may get worse.
#[derive(Clone, Debug, PartialEq)]
pub struct GateLimit {
    /// What the metric is called, in lower case: `latency`, `peak memory`.
    pub metric: String,
    /// In per cent of what it was.
    pub percent: f64,
}

impl GateLimit {
    /// What holds where nothing is said: nothing below 1 % is called a change.
    pub fn usual() -> Self {
        Self {
            metric: LATENCY.to_owned(),
            percent: LEAST_FLOOR * 100.0,
        }
    }
}

/// What came of a metric at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateResult {
    /// It did not get worse by more than its limit.
    Passed,
    /// It got worse by more than its limit.
    Failed,
    /// Not settled.
    Open,
}

impl GateResult {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Open => "open",
        }
    }
}

/// A metric at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateRow {
    pub metric: String,
    /// Nothing for what belongs to no point.
    pub point: Option<String>,
    pub base: Option<String>,
    pub new: Option<String>,
    /// By how much it got worse, in per cent of the base; below zero where it got better.
    pub loss_percent: Option<f64>,
    /// Between what the loss lies, in per cent, however often it was looked at.
    pub loss_interval: Option<[f64; 2]>,
    /// The limit, in per cent.
    pub limit_percent: f64,
    pub result: GateResult,
    /// Why it is open, or what to know of it.
    pub reason: Option<String>,
}

impl GateRow {
    /// A metric that a side lacks, and why.
    fn unmeasured(limit: &GateLimit, point: Option<&Point>, reason: String) -> Self {
        Self {
            metric: limit.metric.clone(),
            point: point.map(Point::to_string),
            base: None,
            new: None,
            loss_percent: None,
            loss_interval: None,
            limit_percent: limit.percent,
            result: GateResult::Open,
            reason: Some(reason),
        }
    }
}

/// A gate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// Failed where one row did, open where one is, else passed.
    pub result: GateResult,
    pub rows: Vec<GateRow>,
    /// What to know of the conditions.
    pub remarks: Vec<String>,
}

/// The gate of the first setup of a session against its second.
pub fn gate(session: &Session, limits: &[GateLimit]) -> Gate {
    let rows = case_rows::case_rows(session);
    let side = |setup| ComparedSide {
        session,
        rows: &rows,
        setup,
        point: None,
    };
    let found = comparison::compare_setups(&side(0), &side(1));
    let mut gate_rows = Vec::new();
    for limit in limits {
        if TIMED.contains(&limit.metric.as_str()) {
            let row = |pair| timed_row(session, pair, limit);
            gate_rows.extend(found.pairs.iter().map(row));
            gate_rows.extend(lone_points(&found, limit));
        } else {
            gate_rows.extend(metric_rows(&found.metrics, limit));
        }
    }
    let has = |wanted| gate_rows.iter().any(|row| row.result == wanted);
    let result = if has(GateResult::Failed) {
        GateResult::Failed
    } else if has(GateResult::Open) || gate_rows.is_empty() {
        GateResult::Open
    } else {
        GateResult::Passed
    };
    Gate {
        result,
        rows: gate_rows,
        remarks: found.pairs.iter().filter_map(clock_remark).collect(),
    }
}

/// Whether a metric of a case that rounds may settle is not settled by those so far.
pub fn is_open(session: &Session, limits: &[GateLimit], case: CaseKey) -> bool {
    let is_timed = |limit: &&GateLimit| TIMED.contains(&limit.metric.as_str());
    let keys = [0, 1].map(|setup| CaseKey { setup, ..case });
    // One that ended badly is not settled by more rounds of the other.
    let is_measured = |key: &CaseKey| {
        let case = session.case(*key);
        case.is_some_and(|case| !case.outcome.is_trouble())
    };
    keys.iter().all(is_measured)
        && limits.iter().filter(is_timed).any(|limit| {
            let estimate = timed_estimate(session, keys, limit);
            estimate.is_none_or(|one| result_of(&one, limit) == GateResult::Open)
        })
}

/// How the times behind a metric compare: medians of rounds for latency, the time of a run with all that is between runs for
/// throughput.
fn timed_estimate(session: &Session, keys: [CaseKey; 2], limit: &GateLimit) -> Option<Estimate> {
    let [before, after] = keys.map(|key| {
        let case = session.case(key)?;
        let mut visits = super::side::case_visits(session, case);
        if limit.metric == THROUGHPUT {
            for (visit, round) in visits.iter_mut().zip(&case.rounds) {
                let runs = visit.samples.len().max(1) as f64;
                visit.samples = vec![round.spent_ns as f64 / runs];
            }
        }
        Some(visits)
    });
    case_pair::interleaved_estimate(session, &before?, &after?)
}

/// The loss of an estimate, as shares of the base: what it may be at least and at most.
fn loss_range(estimate: &Estimate, limit: &GateLimit) -> [f64; 2] {
    let interval = estimate.interval();
    [interval.high, interval.low].map(|ratio| loss(ratio, limit))
}

/// What is lost of the base where it takes so many times the new side's time.
fn loss(ratio: f64, limit: &GateLimit) -> f64 {
    if limit.metric == THROUGHPUT {
        1.0 - ratio
    } else {
        1.0 / ratio - 1.0
    }
}

fn result_of(estimate: &Estimate, limit: &GateLimit) -> GateResult {
    let [least, most] = loss_range(estimate, limit);
    let limit = limit.percent / 100.0;
    if least > limit.max(verdict::noise(estimate).exp_m1()) {
        GateResult::Failed
    } else if most <= limit {
        GateResult::Passed
    } else {
        GateResult::Open
    }
}

fn timed_row(session: &Session, pair: &CasePair, limit: &GateLimit) -> GateRow {
    let is_rate = limit.metric == THROUGHPUT;
    let [base, new] = [&pair.before, &pair.after].map(|row| {
        let latency = row.latency_ns.as_ref()?;
        let time = humanize::duration_ns(latency.median);
        if is_rate { row.rate_text() } else { Some(time) }
    });
    let keys = [&pair.before, &pair.after].map(|row| CaseKey {
        setup: row.setup,
        point: row.point,
    });
    let of_rate = timed_estimate(session, keys, limit).filter(|_| pair.ratio.is_some());
    let estimate = if is_rate {
        of_rate.as_ref()
    } else {
        pair.estimate.as_ref()
    };
    let clocks = clock_difference(pair).filter(|share| share.abs() > CLOCKS_MOST);
    let (result, reason) = match (estimate, clocks) {
        (None, _) => (GateResult::Open, pair.verdict.reason.clone()),
        (Some(_), Some(share)) => (GateResult::Open, Some(clock_text(share))),
        (Some(estimate), None) if has_another_result_in_halves(estimate, limit) => {
            (GateResult::Open, Some(verdict::carry_over_text(estimate)))
        }
        (Some(estimate), None) => {
            let result = result_of(estimate, limit);
            (result, open_reason(estimate, limit, result))
        }
    };
    GateRow {
        metric: limit.metric.clone(),
        point: Some(pair.after_point.to_string()),
        base,
        new,
        loss_percent: if is_rate {
            estimate.map(|one| loss(one.ratio(), limit) * 100.0)
        } else {
            pair.loss_percent()
        },
        loss_interval: estimate.map(|one| loss_range(one, limit).map(|share| share * 100.0)),
        limit_percent: limit.percent,
        result,
        reason,
    }
}

/// Whether the first halves of the visits have another result than the second halves.
fn has_another_result_in_halves(estimate: &Estimate, limit: &GateLimit) -> bool {
    let result = result_of(estimate, limit);
    let ends = [estimate.carry_over / 2.0, -estimate.carry_over / 2.0];
    let of_half = |by: &f64| Estimate {
        ln: estimate.ln + by,
        ..*estimate
    };
    result != GateResult::Open
        && ends
            .iter()
            .any(|by| result_of(&of_half(by), limit) != result)
}

/// Why a metric that rounds may settle is open yet.
fn open_reason(estimate: &Estimate, limit: &GateLimit, result: GateResult) -> Option<String> {
    if result != GateResult::Open {
        return None;
    }
    let [least, most] = loss_range(estimate, limit);
    let rounds = humanize::pluralised(u64::from(estimate.rounds), "round");
    if !estimate.interval().tells_of(estimate.ratio()) {
        let starts = humanize::pluralised(u64::from(estimate.starts), "start");
        return Some(format!(
            "{rounds} of {starts} are too few for an interval; six starts have one"
        ));
    }
    let noise = verdict::noise(estimate).exp_m1();
    if least > limit.percent / 100.0 && least <= noise {
        return Some(format!(
            "after {rounds} it is within {}, by which a side differs from itself here",
            humanize::percent(noise)
        ));
    }
    Some(format!(
        "after {rounds} it may be anything from {} to {}",
        signed_percent(least * 100.0),
        signed_percent(most * 100.0)
    ))
}

/// A change in per cent with its sign: `+3.1 %`.
pub fn signed_percent(percent: f64) -> String {
    let sign = if percent > 0.0 { "+" } else { "" };
    format!("{sign}{percent:.1} %")
}

/// Points that one side alone has.
fn lone_points(found: &Comparison, limit: &GateLimit) -> Vec<GateRow> {
    let lone = |points: &[Point], side: &str| -> Vec<GateRow> {
        let reason = format!("the {side} alone was measured");
        let row = |point: &Point| GateRow::unmeasured(limit, Some(point), reason.clone());
        points.iter().map(row).collect()
    };
    let mut rows = lone(&found.only_before, "base");
    rows.extend(lone(&found.only_after, "new side"));
    rows
}

fn metric_rows(metrics: &[ComparedMetric], limit: &GateLimit) -> Vec<GateRow> {
    let is_meant = |metric: &&ComparedMetric| metric.name.to_lowercase() == limit.metric;
    let rows: Vec<GateRow> = metrics
        .iter()
        .filter(is_meant)
        .map(|metric| metric_row(metric, limit))
        .collect();
    if !rows.is_empty() {
        return rows;
    }
    let mut names: Vec<String> = Vec::new();
    for metric in metrics.iter().filter(|metric| metric.gain.is_some()) {
        let name = metric.name.to_lowercase();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let names = names.join(", ");
    let reason = format!("no such metric was measured; there are {names}");
    vec![GateRow::unmeasured(limit, None, reason)]
}

fn metric_row(metric: &ComparedMetric, limit: &GateLimit) -> GateRow {
    let share = |gain: f64| match metric.better {
        Better::Higher => 1.0 - gain,
        Better::Lower | Better::Neither => 1.0 / gain - 1.0,
    };
    let loss = metric.gain.map(|gain| share(gain) * 100.0);
    let (result, reason) = match loss {
        Some(loss) if loss > limit.percent => (GateResult::Failed, None),
        Some(_) => (GateResult::Passed, None),
        None => {
            let unknown = match (&metric.before, &metric.after) {
                (None, Some(_)) => "the base has no such number",
                (Some(_), None) => "the new side has no such number",
                _ => "it is not known",
            };
            let reason = metric.note.clone().unwrap_or_else(|| unknown.to_owned());
            (GateResult::Open, Some(reason))
        }
    };
    GateRow {
        metric: limit.metric.clone(),
        point: metric.point.map(|point| point.to_string()),
        base: metric.before.clone(),
        new: metric.after.clone(),
        loss_percent: loss,
        loss_interval: None,
        limit_percent: limit.percent,
        result,
        reason,
    }
}

/// By how much the clock of the device was another one on the new side, as a share, where it was read on both.
fn clock_difference(pair: &CasePair) -> Option<f64> {
    let clocks = [&pair.before, &pair.after].map(|row| {
        let mut readings = row.device_readings.iter();
        let clock = readings.find_map(|device| device.extent(Quantity::Clock))?;
        Some(clock.mean)
    });
    let [before, after] = clocks;
    metrics::change((before?, after?))
}

fn clock_text(share: f64) -> String {
    format!(
        "the clock was {} another one on the new side: times do not show what was changed",
        humanize::percent(share.abs())
    )
}

fn clock_remark(pair: &CasePair) -> Option<String> {
    let share = clock_difference(pair).filter(|share| share.abs() > CLOCKS_SAID)?;
    let faster = if share > 0.0 { "higher" } else { "lower" };
    Some(format!(
        "{}: the clock of the device was {} {faster} on the new side.",
        pair.after_point,
        humanize::percent(share.abs())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure, session, spread_over_starts};

    fn limit(metric: &str, percent: f64) -> GateLimit {
        GateLimit {
            metric: metric.to_owned(),
            percent,
        }
    }

    fn measured(before: u64, after: u64) -> Session {
        let mut session = session(&["fake", "fake,threads=2"], &[1]);
        for (setup, micros) in [(0, before), (1, after)] {
            // The rounds of the two sides scatter against each other.
            let rounds = [0, 4, -4, 8, -8].map(|share| {
                let scatter = if setup == 0 { share } else { -share };
                [(micros as i64 * (1_000 + scatter)) as u64; 10]
            });
            let rounds: Vec<&[u64]> = rounds.iter().map(<[u64; 10]>::as_slice).collect();
            measure(&mut session, setup, 1, &rounds);
        }
        spread_over_starts(&mut session);
        session
    }

    #[test]
    fn the_whole_interval_counts_against_the_limit() {
        let slower = measured(1_000, 1_200);
        let found = gate(&slower, &[GateLimit::usual()]);
        assert_eq!(found.result, GateResult::Failed, "{found:#?}");
        let [least, most] = found.rows[0].loss_interval.unwrap();
        assert!(least > 10.0 && most < 30.0 && least < most, "{found:#?}");
        assert_eq!(
            gate(&slower, &[limit(LATENCY, 40.0)]).result,
            GateResult::Passed
        );
        let between = gate(&slower, &[limit(LATENCY, f64::midpoint(least, most))]);
        assert_eq!(between.result, GateResult::Open, "{between:#?}");
        assert!(
            between.rows[0]
                .reason
                .as_ref()
                .unwrap()
                .contains("anything from +")
        );
        assert_eq!(
            gate(&measured(1_200, 1_000), &[GateLimit::usual()]).result,
            GateResult::Passed
        );
    }

    #[test]
    fn a_case_is_open_as_its_row_is() {
        let slower = measured(1_000, 1_200);
        let case = CaseKey {
            setup: 1,
            point: Point::of_batch(1),
        };
        assert!(!is_open(&slower, &[GateLimit::usual()], case));
        assert!(is_open(&slower, &[limit(LATENCY, 20.0)], case));
        let mut unmeasured = slower;
        unmeasured.cases[1].rounds.clear();
        assert!(is_open(&unmeasured, &[GateLimit::usual()], case));
    }

    #[test]
    fn other_metrics_are_held_against_their_limits() {
        let slower = measured(1_000, 1_200);
        let found = gate(
            &slower,
            &[limit("throughput", 5.0), limit("peak memory", 5.0)],
        );
        let results: Vec<GateResult> = found.rows.iter().map(|row| row.result).collect();
        assert_eq!(
            results,
            [GateResult::Failed, GateResult::Open],
            "{found:#?}"
        );
        // A throughput has rounds: an interval of the loss, and more of them where it lies on both sides.
        let rate = &found.rows[0];
        let [least, most] = rate.loss_interval.unwrap();
        let loss = rate.loss_percent.unwrap();
        assert!(least < loss && loss < most, "{rate:#?}");
        assert!((loss - 100.0 / 6.0).abs() < 1.0, "{rate:#?}");
        let case = CaseKey {
            setup: 1,
            point: Point::of_batch(1),
        };
        assert!(is_open(&slower, &[limit(THROUGHPUT, loss)], case));
        assert!(!is_open(&slower, &[limit(THROUGHPUT, 5.0)], case));
        let unknown = gate(&slower, &[limit("latncy", 5.0)]);
        let reason = unknown.rows[0].reason.as_deref().unwrap();
        assert!(
            reason.contains("latency") && reason.contains("throughput"),
            "{reason}"
        );
    }
}
