//! The limit of a kernel by its name: what one profile a side says of it.
//!
//! A profile is one start, and has no rounds. So a kernel is worse where both all its calls and the shortest of them say
//! so, beyond what one start may differ by from the next; where only one of them does, it is open.

use std::collections::BTreeMap;

use super::super::breakdown::Scope;
use super::super::case_pair::CasePair;
use super::super::case_rows::CaseRow;
use super::super::kernel_name::KernelName;
use super::super::profile_runs::ProfileRuns;
use super::super::verdict::ONE_START_FLOOR;
use super::{GateLimit, GateResult, GateRow, signed_percent};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::session::Session;

/// So many kernels are named where one is not there.
const MOST_NAMED: usize = 8;

/// What a kernel took in a run, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct KernelTime {
    /// All its calls.
    mean_ns: f64,
    /// If each had been as short as the shortest; nothing where the profile does not have that.
    least_ns: Option<f64>,
}

/// The row of a kernel at a point.
pub(super) fn kernel_row(
    session: &Session,
    pair: &CasePair,
    limit: &GateLimit,
    name: &str,
) -> GateRow {
    let unknown = |reason: String| GateRow::unmeasured(limit, Some(&pair.after_point), reason);
    let [before, after] = [("base", &pair.before), ("new side", &pair.after)]
        .map(|(side, row)| kernel_time(session, row, name, side));
    let (before, after) = match (before, after) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(reason), _) | (_, Err(reason)) => return unknown(reason),
    };
    let mean = after.mean_ns / before.mean_ns - 1.0;
    let least = before.least_ns.zip(after.least_ns);
    let least = least.map_or(mean, |(before, after)| after / before - 1.0);
    let (result, reason) = result_of(mean, least, limit.percent / 100.0);
    GateRow {
        base: Some(humanize::duration_ns(before.mean_ns)),
        new: Some(humanize::duration_ns(after.mean_ns)),
        loss_percent: Some(mean * 100.0),
        result,
        reason,
        ..unknown(String::new())
    }
}

/// What follows from the loss of all calls and of the shortest ones.
fn result_of(mean: f64, least: f64, limit: f64) -> (GateResult, Option<String>) {
    if mean.max(least) <= limit {
        return (GateResult::Passed, None);
    }
    let noise = humanize::percent(ONE_START_FLOOR);
    if mean.min(least) > limit.max(ONE_START_FLOOR) {
        return (GateResult::Failed, None);
    }
    let reason = if mean.min(least) > limit {
        format!("it is within {noise}, by which one profile may differ from the next")
    } else {
        format!(
            "all its calls are {}, the shortest of them {}",
            signed_percent(mean * 100.0),
            signed_percent(least * 100.0)
        )
    };
    (GateResult::Open, Some(reason))
}

/// What a kernel took in a run of a case, or why that is not known.
fn kernel_time(
    session: &Session,
    row: &CaseRow,
    name: &str,
    side: &str,
) -> Result<KernelTime, String> {
    let key = CaseKey {
        setup: row.setup,
        point: row.point,
    };
    let mut profiles = session.profiles.iter();
    let profile = profiles.find(|profile| profile.case == Some(key));
    let profile = profile.ok_or_else(|| format!("the {side} has no profile"))?;
    let runs = ProfileRuns::from_profile(profile);
    let runs = runs.ok_or_else(|| format!("the profile of the {side} counts no runs"))?;
    let totals = totals_of(profile, name);
    if totals.is_empty() {
        return Err(format!(
            "the {side} has no kernel of that name; there are {}",
            largest(profile).join(", ")
        ));
    }
    let sum = |ns: &dyn Fn(&Total) -> Option<u64>| -> Option<f64> {
        let ns: Option<u64> = totals.iter().map(|total| ns(total)).sum();
        Some(ns? as f64 / runs.count as f64)
    };
    let mean_ns = sum(&|total| Some(total.total_ns)).filter(|ns| *ns > 0.0);
    Ok(KernelTime {
        mean_ns: mean_ns.ok_or_else(|| format!("the profile of the {side} has no times"))?,
        least_ns: sum(&|total| Some(total.min_ns? * total.calls)).filter(|ns| *ns > 0.0),
    })
}

/// The operators, or the kernels where these are not known, that take most of a profile's time.
fn largest(profile: &Profile) -> Vec<String> {
    let scope = Scope::from_profile(profile);
    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    for total in profile
        .totals
        .iter()
        .filter(|total| scope.includes(total.kind))
    {
        let name = if total.op.is_empty() {
            KernelName::parse(&total.name).family()
        } else {
            total.op.clone()
        };
        *times.entry(name.to_lowercase()).or_default() += total.total_ns;
    }
    let mut names: Vec<(String, u64)> = times.into_iter().collect();
    names.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    names
        .into_iter()
        .take(MOST_NAMED)
        .map(|(name, _)| name)
        .collect()
}

/// Everything of a profile with that name: by its whole name, without sizes and types, or by its operator.
fn totals_of<'a>(profile: &'a Profile, name: &str) -> Vec<&'a Total> {
    let scope = Scope::from_profile(profile);
    let is_meant = |total: &&Total| {
        let names = [
            total.name.clone(),
            KernelName::parse(&total.name).family(),
            total.op.clone(),
        ];
        scope.includes(total.kind) && names.iter().any(|one| one.to_lowercase() == name)
    };
    profile.totals.iter().filter(is_meant).collect()
}
