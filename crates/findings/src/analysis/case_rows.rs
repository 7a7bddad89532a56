//! A session's cases as rows: what every table, document and chart of cases is made from.

use std::collections::BTreeMap;

use super::case_outliers::{self, CaseOutliers};
use super::case_rounds::CaseRounds;
use super::curve_figures;
use super::device_readings::{self, CaseReadings};
use super::energy::{self, Energy};
use super::flags::{self, Flag};
use super::generation::{self, RequestFigures};
use super::memory::{self, MemoryNeed};
use super::peak;
use super::reported_stats;
use powerband_core::base::humanize;
use powerband_core::domain::case::{Case, CaseKey, Round};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::Point;
use powerband_core::domain::reported::Stated;
use powerband_core::domain::session::Session;
use powerband_core::stats::bootstrap::{self, Interval};
use powerband_core::stats::summary::Summary;

/// Resamples behind a reported interval.
const RESAMPLES: usize = 2_000;
/// Seed of the resampling, so that the same session always shows the same interval.
const SEED: u64 = 0x706f_7765;

/// One case in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRow {
    /// Index into the plan's setups.
    pub setup: usize,
    pub setup_label: String,
    /// How the setup is spelled, for machines.
    pub setup_spec: String,
    /// Batch size.
    pub point: Point,
    pub outcome: Outcome,
    /// How many rounds were measured, or results reported by another program.
    pub rounds: usize,
    pub samples: u64,
    /// The samples in a few numbers, in nanoseconds, or what another program states in their place;
    /// nothing where there is neither.
    pub latency_ns: Option<Summary>,
    /// What another program states of it; nothing where it was measured here.
    pub stated: Option<Stated>,
    /// 95 % interval of the median, in nanoseconds; nothing for fewer than two rounds.
    pub ci95_ns: Option<Interval>,
    /// Items done over time spent, or the rate that the program states that measured it.
    pub throughput_per_s: Option<f64>,
    /// Batch size over median time: what the throughput would be without pauses and outliers. Nothing
    /// where runs may have overlapped.
    pub throughput_by_median: Option<f64>,
    /// Throughput as a share of the best of the setup's batch sizes; nothing where there is one.
    pub of_best: Option<f64>,
    pub outliers: CaseOutliers,
    pub flags: Vec<Flag>,
    /// The readings of the devices during the case.
    pub device_readings: Vec<CaseReadings>,
    /// Utilisation of the device that it ran on, as it reports.
    pub busy: Option<f64>,
    /// Operations of the network in a second as a share of what its devices can do at most, where both
    /// are known.
    pub of_peak: Option<f64>,
    /// What it cost in energy, or why that is not known.
    pub energy: Result<Energy, String>,
    /// The most memory that it needed, where it was reported.
    pub memory: Option<MemoryNeed>,
    /// Its runs as requests to a language model, where they are.
    pub requests: Option<RequestFigures>,
    /// Its rounds in a few numbers, by which it is compared with several other cases at once.
    pub by_round: CaseRounds,
}

impl CaseRow {
    /// Whether it has no samples, and what is known of its times is what another program states.
    pub(crate) fn is_stated_only(&self) -> bool {
        self.samples == 0 && self.stated.is_some()
    }

    /// The shortest run, in nanoseconds, where it is known.
    pub fn min_ns(&self) -> Option<f64> {
        self.known(|times| times.min, |stated| stated.min_ns)
    }

    /// The mean, in nanoseconds, where it is known.
    pub fn mean_ns(&self) -> Option<f64> {
        self.known(|times| times.mean, |stated| stated.mean_ns)
    }

    /// The longest run, in nanoseconds, where it is known.
    pub fn max_ns(&self) -> Option<f64> {
        self.known(|times| times.max, |stated| stated.max_ns)
    }

    fn known(
        &self,
        of_samples: fn(&Summary) -> f64,
        of_stated: fn(&Stated) -> Option<f64>,
    ) -> Option<f64> {
        match &self.stated {
            Some(stated) if self.samples == 0 => of_stated(stated),
            _ => self.latency_ns.as_ref().map(of_samples),
        }
    }

    /// The median in words.
    pub fn median_text(&self) -> Option<String> {
        let median = self.latency_ns.as_ref()?.median;
        Some(humanize::duration_ns(median))
    }

    /// The uncertainty of the median as text: half its 95 % interval as a share of it; not known where
    /// the interval reaches beyond ten times either way.
    pub fn uncertainty_text(&self) -> Option<String> {
        let (median, share) = (self.latency_ns.as_ref()?.median, self.ci95_rel()?);
        let is_known = self.ci95_ns?.tells_of(median);
        Some(if is_known {
            humanize::uncertainty(share)
        } else {
            humanize::NOT_KNOWN.to_owned()
        })
    }

    /// The throughput in words.
    pub fn rate_text(&self) -> Option<String> {
        self.throughput_per_s.map(humanize::rate)
    }

    /// Half the 95 % interval of the median as a share of it.
    pub fn ci95_rel(&self) -> Option<f64> {
        let (interval, latency) = (self.ci95_ns?, self.latency_ns.as_ref()?);
        (latency.median > 0.0).then(|| (interval.high - interval.low) / 2.0 / latency.median)
    }
}

/// Every case of the session, in the plan's order.
pub fn case_rows(session: &Session) -> Vec<CaseRow> {
    let mut rows: Vec<CaseRow> = session
        .cases
        .iter()
        .map(|case| row(session, case))
        .collect();
    set_shares_of_best(&mut rows);
    rows
}

/// Updates the row of one case, and the numbers of its setup that are relative to it, during a run.
pub fn update_row(session: &Session, rows: &mut Vec<CaseRow>, key: CaseKey) {
    if rows.len() != session.cases.len() {
        *rows = case_rows(session);
        return;
    }
    for (slot, case) in rows.iter_mut().zip(&session.cases) {
        if case.key() == key {
            *slot = row(session, case);
        }
    }
    set_shares_of_best(rows);
}

/// What each row is in relation to the best batch size of its setup at the same sizes otherwise.
fn set_shares_of_best(rows: &mut [CaseRow]) {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter_mut().enumerate() {
        row.of_best = None;
        if !row.outcome.is_trouble() {
            let group: (usize, Vec<(&str, usize)>) = (row.setup, row.point.others().collect());
            groups.entry(group).or_default().push(place);
        }
    }
    for places in groups.into_values() {
        let rates: Vec<Option<f64>> = places
            .iter()
            .map(|place| rows[*place].throughput_per_s)
            .collect();
        for (place, share) in places
            .into_iter()
            .zip(curve_figures::shares_of_best(&rates))
        {
            rows[place].of_best = share;
        }
    }
}

/// The times of each round; of a case without samples each time that was reported is one.
pub(super) fn round_times(case: &Case) -> Vec<Vec<f64>> {
    if case.rounds.is_empty() {
        let reported = case.stated.iter().filter_map(|one| one.typical_ns);
        return reported.map(|ns| vec![ns]).collect();
    }
    let times =
        |round: &Round| -> Vec<f64> { round.samples_ns.iter().map(|&ns| ns as f64).collect() };
    case.rounds.iter().map(times).collect()
}

/// The times in groups that are independent of each other: those of each start of the worker where there are several.
fn independent_times(session: &Session, case: &Case) -> Vec<Vec<f64>> {
    if case.rounds.is_empty() {
        return round_times(case);
    }
    case.independent_samples(&session.starts(case))
}

fn row(session: &Session, case: &Case) -> CaseRow {
    let stated = reported_stats::reported_by_case(case);
    let latency_ns = Summary::from_values(case.samples_ns().map(|ns| ns as f64))
        .map(|summary| reported_stats::with_stated_percentiles(summary, stated.as_ref()))
        .or_else(|| reported_stats::summary(stated.as_ref()?));
    let rounds = round_times(case);
    let stated_rate = stated.as_ref().and_then(|stated| stated.throughput_per_s);
    let items = case.n_samples() as f64 * case.point.batch() as f64;
    let spent_s = case.spent_ns() as f64 / 1e9;
    let watched = device_readings::case_readings(session, case);
    let throughput_per_s = stated_rate.or_else(|| (spent_s > 0.0).then(|| items / spent_s));
    CaseRow {
        setup: case.setup,
        setup_label: session.setup_label(case.setup),
        setup_spec: session.setup_spec(case.setup),
        point: case.point,
        outcome: case.outcome.clone(),
        rounds: rounds.len(),
        samples: case.n_samples(),
        ci95_ns: bootstrap::median_interval(&independent_times(session, case), RESAMPLES, SEED),
        throughput_per_s,
        throughput_by_median: latency_ns
            .as_ref()
            .filter(|s| s.n > 0 && s.median > 0.0 && stated_rate.is_none())
            .map(|s| case.point.batch() as f64 * 1e9 / s.median),
        of_best: None,
        outliers: case_outliers::case_outliers(case),
        flags: latency_ns
            .as_ref()
            .map(|summary| flags::case_flags(session, case, summary))
            .unwrap_or_default(),
        latency_ns,
        stated,
        busy: device_readings::busy_share(session, case.setup, &watched),
        of_peak: throughput_per_s.and_then(|rate| peak::share_of_peak(session, case.setup, rate)),
        energy: energy::case_energy(session, case),
        memory: memory::case_memory(session, case, &watched),
        requests: generation::case_requests(session, case),
        by_round: CaseRounds::of_case(session, case, &rounds),
        device_readings: watched,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure_near, session};

    #[test]
    fn a_share_of_the_best_needs_two_batch_sizes_and_other_sizes_alike() {
        let mut session = session(&["a", "b"], &[1, 8]);
        measure_near(&mut session, 0, 1, 1_000);
        measure_near(&mut session, 0, 8, 4_000);
        measure_near(&mut session, 1, 1, 1_000);
        let shares = |session: &Session| -> Vec<Option<f64>> {
            let rows = case_rows(session);
            let shares = rows.iter().map(|row| row.of_best);
            shares
                .map(|share| share.map(|share| (share * 100.0).round()))
                .collect()
        };
        assert_eq!(shares(&session), [Some(50.0), Some(100.0), None, None]);
        // One curve for each length: neither length is a share of the other.
        for case in session.cases.iter_mut().filter(|case| case.setup == 0) {
            case.point = Point::of_batch(1).with("seq", case.point.batch());
        }
        assert_eq!(shares(&session), [None; 4]);
    }
}
