//! Whether a change may go in: what two sides measured, held against a limit for each metric.
//!
//! Of a metric that has rounds or starts, the whole interval counts: it fails where all of it lies beyond the limit, and
//! passes where none of it does. In between it is open, and rounds are added. Other metrics are one number a side and have
//! no interval.

mod kernel;
mod limit;
mod repeated;

use serde::Serialize;

pub use limit::{GateLimit, GateNeeds, LATENCY, PEAK_MEMORY, check_name, is_kernel};
use repeated::RepeatedMetric;

use super::case_pair::CasePair;
use super::case_rows::{self, CaseRow};
use super::comparison::{self, Better, ComparedMetric, Comparison};
use super::comparison_warnings;
use super::metrics::{self, CLOCKS_SAID};
use super::remarks::flagged_cases;
use super::side::ComparedSide;
use super::verdict;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::quantity::Quantity;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio::Estimate;

/// The flag of a case with few samples.
const TOO_FEW: &str = "too-few-samples";
/// Why a metric that usually has an interval has none.
const ONE_NUMBER: &str = "too few starts have it for an interval, so that it is one number a side";
/// With clocks that differ by more than this, times say nothing of what was changed.
const CLOCKS_MOST: f64 = 0.03;

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
    /// The numbers of a metric, with nothing said of them yet.
    fn of_metric(metric: &ComparedMetric, limit: &GateLimit) -> Self {
        Self {
            base: metric.before.clone(),
            new: metric.after.clone(),
            reason: None,
            ..Self::unmeasured(limit, metric.point.as_ref(), String::new())
        }
    }

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
        gate_rows.extend(rows_of_limit(session, &found, limit));
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
        remarks: remarks(&found.pairs, &rows),
    }
}

/// Whether a metric of a case that rounds may settle is not settled by those so far.
pub fn is_open(session: &Session, limits: &[GateLimit], case: CaseKey) -> bool {
    let keys = [0, 1].map(|setup| CaseKey { setup, ..case });
    // One that ended badly is not settled by more rounds of the other.
    let is_measured = |key: &CaseKey| {
        let case = session.case(*key);
        case.is_some_and(|case| !case.outcome.is_trouble())
    };
    keys.iter().all(is_measured)
        && limits.iter().any(|limit| {
            let metric = RepeatedMetric::from_name(&limit.metric);
            let metric = metric.filter(|metric| metric.is_compared_at(session, case.point));
            metric.is_some_and(|metric| match metric.estimate(session, keys) {
                // Which starts tell it depends on the order of the points, so that none is waited for.
                Some(estimate) if metric.is_one_number(&estimate) => false,
                Some(estimate) => result_of(&estimate, metric, limit) == GateResult::Open,
                None => metric.may_have_estimate(session, keys),
            })
        })
}

/// Every row of a limit: one for each point, or one for the setups as a whole.
fn rows_of_limit(session: &Session, found: &Comparison, limit: &GateLimit) -> Vec<GateRow> {
    if let Some(name) = limit::kernel_name(&limit.metric) {
        let rows = found.pairs.iter();
        return rows
            .map(|pair| {
                let row = kernel::kernel_row(session, pair, limit, name);
                open_if_early(session, Some(pair), row)
            })
            .collect();
    }
    let metric = RepeatedMetric::from_name(&limit.metric);
    let is_meant = |one: &&ComparedMetric| one.name.to_lowercase() == limit.metric;
    let mut rows: Vec<GateRow> = found
        .metrics
        .iter()
        .filter(is_meant)
        .map(|compared| {
            let is_own = |pair: &&CasePair| Some(pair.before_point) == compared.point;
            let pair = found.pairs.iter().find(is_own);
            let row = row_of_metric(session, metric.zip(pair), compared, limit);
            open_if_early(session, pair.or_else(|| found.pairs.first()), row)
        })
        .collect();
    if metric.is_some_and(RepeatedMetric::has_every_case) {
        rows.extend(unmeasured_points(session, found, limit));
    }
    if rows.is_empty() {
        rows.push(GateRow::unmeasured(limit, None, why_unknown(found, limit)));
    }
    rows
}

/// The row of a metric: with an interval where it has numbers enough for one, else one number a side.
fn row_of_metric(
    session: &Session,
    repeated: Option<(RepeatedMetric, &CasePair)>,
    compared: &ComparedMetric,
    limit: &GateLimit,
) -> GateRow {
    let Some((metric, pair)) = repeated else {
        return single_row(compared, limit);
    };
    // What must not be compared has its numbers side by side, and its note says why.
    let may_compare = compared.gain.is_some() || metric.has_every_case();
    let repeated = repeated_row(session, metric, (pair, compared), limit);
    repeated.filter(|_| may_compare).unwrap_or_else(|| {
        let row = single_row(compared, limit);
        let is_short = may_compare && metric.has_numbers(session, keys_of(pair));
        GateRow {
            reason: row
                .reason
                .or_else(|| is_short.then(|| ONE_NUMBER.to_owned())),
            ..row
        }
    })
}

/// A row of cases whose planned rounds were not all measured is open: the rule allows for no look before.
fn open_if_early(session: &Session, pair: Option<&CasePair>, row: GateRow) -> GateRow {
    let planned = session.plan.measure.rounds as usize;
    let rounds = pair.map_or(planned, |pair| pair.before.rounds.min(pair.after.rounds));
    if rounds >= planned {
        return row;
    }
    GateRow {
        result: GateResult::Open,
        reason: Some(format!(
            "{rounds} of {planned} planned rounds were measured"
        )),
        ..row
    }
}

/// The two cases of a pair.
fn keys_of(pair: &CasePair) -> [CaseKey; 2] {
    [&pair.before, &pair.after].map(|row| CaseKey {
        setup: row.setup,
        point: row.point,
    })
}

/// The loss of an estimate, as shares of the base: what it may be at least and at most.
fn loss_range(estimate: &Estimate, metric: RepeatedMetric) -> [f64; 2] {
    let interval = estimate.interval();
    [interval.high, interval.low].map(|ratio| metric.loss(ratio))
}

fn result_of(estimate: &Estimate, metric: RepeatedMetric, limit: &GateLimit) -> GateResult {
    let [least, most] = loss_range(estimate, metric);
    let limit = limit.percent / 100.0;
    if least > limit.max(verdict::noise(estimate).exp_m1()) {
        GateResult::Failed
    } else if most <= limit {
        GateResult::Passed
    } else {
        GateResult::Open
    }
}

/// The row of a metric that has rounds or starts; nothing where it has one number a side here.
fn repeated_row(
    session: &Session,
    metric: RepeatedMetric,
    (pair, compared): (&CasePair, &ComparedMetric),
    limit: &GateLimit,
) -> Option<GateRow> {
    let keys = keys_of(pair);
    // Cases that must not be compared have no estimate.
    let estimate = metric
        .estimate(session, keys)
        .filter(|_| pair.ratio.is_some());
    if !metric.has_every_case()
        && estimate
            .as_ref()
            .is_none_or(|one| metric.is_one_number(one))
    {
        return None;
    }
    let clocks = clock_difference(pair).filter(|share| share.abs() > CLOCKS_MOST);
    let (result, reason) = match (&estimate, clocks) {
        (None, _) => (GateResult::Open, pair.verdict.reason.clone()),
        (Some(_), Some(share)) if metric.follows_clock() => {
            (GateResult::Open, Some(clock_text(share)))
        }
        (Some(estimate), _) if has_another_result_in_halves(estimate, metric, limit) => {
            (GateResult::Open, Some(verdict::carry_over_text(estimate)))
        }
        (Some(estimate), _) => {
            let result = result_of(estimate, metric, limit);
            (result, open_reason(estimate, metric, limit, result))
        }
    };
    let loss = estimate
        .as_ref()
        .map(|one| metric.loss(one.ratio()) * 100.0);
    let range = estimate.as_ref().map(|one| loss_range(one, metric));
    let [base, new] = metric.middle_texts(session, keys);
    Some(GateRow {
        base: base.or_else(|| compared.before.clone()),
        new: new.or_else(|| compared.after.clone()),
        loss_percent: loss.or_else(|| loss_of_gain(compared)),
        loss_interval: range.map(|range| range.map(|share| share * 100.0)),
        result,
        reason,
        ..GateRow::of_metric(compared, limit)
    })
}

/// Whether the first halves of the visits have another result than the second halves.
fn has_another_result_in_halves(
    estimate: &Estimate,
    metric: RepeatedMetric,
    limit: &GateLimit,
) -> bool {
    let result = result_of(estimate, metric, limit);
    let ends = [estimate.carry_over / 2.0, -estimate.carry_over / 2.0];
    let of_half = |by: &f64| Estimate {
        ln: estimate.ln + by,
        ..*estimate
    };
    result != GateResult::Open
        && ends
            .iter()
            .any(|by| result_of(&of_half(by), metric, limit) != result)
}

/// Why a metric that rounds may settle is open yet.
fn open_reason(
    estimate: &Estimate,
    metric: RepeatedMetric,
    limit: &GateLimit,
    result: GateResult,
) -> Option<String> {
    if result != GateResult::Open {
        return None;
    }
    let [least, most] = loss_range(estimate, metric);
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
    // What rounds to zero has no sign.
    let shown = (percent * 10.0).round() / 10.0 + 0.0;
    let sign = if shown > 0.0 { "+" } else { "" };
    format!("{sign}{shown:.1} %")
}

/// Points that one side lacks, or both, with why.
fn unmeasured_points(session: &Session, found: &Comparison, limit: &GateLimit) -> Vec<GateRow> {
    let why = |setup: usize, point: Point| {
        let case = session.case(CaseKey { setup, point });
        case.and_then(|case| case.outcome.sentence())
    };
    let is_measured = |point: &Point| found.pairs.iter().any(|pair| pair.before_point == *point);
    let points = session
        .plan
        .points
        .iter()
        .filter(|point| !is_measured(point));
    let reason = |point: &Point| {
        let who = if found.only_before.contains(point) {
            "the base alone was measured"
        } else if found.only_after.contains(point) {
            "the new side alone was measured"
        } else {
            "neither side was measured"
        };
        let why = [0, 1].into_iter().find_map(|setup| why(setup, *point));
        why.map_or_else(|| who.to_owned(), |why| format!("{who}: {why}"))
    };
    points
        .map(|point| GateRow::unmeasured(limit, Some(point), reason(point)))
        .collect()
}

/// Why a metric was not measured; of a name that no comparison has, which ones there are.
fn why_unknown(found: &Comparison, limit: &GateLimit) -> String {
    let is_of_outputs = metrics::OF_ACCURACY
        .iter()
        .any(|name| name.to_lowercase() == limit.metric);
    if is_of_outputs {
        return "the outputs of both sides were not compared".to_owned();
    }
    let is_of_energy = metrics::OF_ENERGY
        .iter()
        .any(|name| name.to_lowercase() == limit.metric);
    let mut rows = found
        .pairs
        .iter()
        .flat_map(|pair| [&pair.before, &pair.after]);
    let why_no_energy = rows.find_map(|row| row.energy.as_ref().err());
    if let Some(reason) = why_no_energy.filter(|_| is_of_energy) {
        return reason.clone();
    }
    let mut names: Vec<String> = Vec::new();
    for metric in found.metrics.iter().filter(|metric| metric.gain.is_some()) {
        let name = metric.name.to_lowercase();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    format!(
        "no such metric was measured; there are {}",
        names.join(", ")
    )
}

/// What was lost of a metric, in per cent of the base.
fn loss_of_gain(metric: &ComparedMetric) -> Option<f64> {
    let gain = metric.gain?;
    let share = match metric.better {
        Better::Higher => 1.0 - gain,
        Better::Lower | Better::Neither => 1.0 / gain - 1.0,
    };
    Some(share * 100.0)
}

/// The row of a metric that is one number a side.
fn single_row(metric: &ComparedMetric, limit: &GateLimit) -> GateRow {
    let loss = loss_of_gain(metric);
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
        loss_percent: loss,
        result,
        reason,
        ..GateRow::of_metric(metric, limit)
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

/// What to know of the conditions.
fn remarks(pairs: &[CasePair], rows: &[CaseRow]) -> Vec<String> {
    let clocks = pairs.iter().filter_map(clock_remark);
    let lags = pairs.iter().filter_map(comparison_warnings::lag_warning);
    let flags = flagged_cases(rows);
    // How many samples it takes is the gate's affair.
    let flags = flags.iter().filter(|flag| flag.name != TOO_FEW);
    let flags = flags.map(|flag| format!("{}.", flag.summary_text()));
    clocks.chain(lags).chain(flags).collect()
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
mod tests;
