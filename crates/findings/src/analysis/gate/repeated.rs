//! Metrics that have a number for each round or each start of a side, so that rounds may settle them.

use super::super::case_pair;
use super::super::energy;
use super::super::memory::{self, MemoryKind};
use super::super::side;
use powerband_core::base::humanize;
use powerband_core::domain::case::{Case, CaseKey, CaseStart};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio::{Estimate, RoundSamples};
use powerband_core::stats::summary::median;

/// A metric that rounds or starts may settle; others are one number a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepeatedMetric {
    /// The medians of rounds.
    Latency,
    /// The time of a run of each round, with all that is between runs.
    Throughput,
    /// The joules of an item in each round.
    EnergyPerItem,
    /// Until a case was ready, in each start.
    SetUpTime,
    /// The most memory of the worker until then, in each start.
    PeakMemory,
}

impl RepeatedMetric {
    /// Every one with what a limit calls it, which is what comparisons call it.
    const NAMES: [(&'static str, Self); 5] = [
        (super::LATENCY, Self::Latency),
        ("throughput", Self::Throughput),
        ("energy per item", Self::EnergyPerItem),
        ("set-up time", Self::SetUpTime),
        ("peak memory", Self::PeakMemory),
    ];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, metric)| *metric)
    }

    /// Whether each case that was measured has it.
    pub(super) fn has_every_case(self) -> bool {
        matches!(self, Self::Latency | Self::Throughput)
    }

    /// Whether too few starts tell it, as of memory those do in which no larger batch was opened before.
    pub(super) fn is_one_number(self, estimate: &Estimate) -> bool {
        self == Self::PeakMemory && !estimate.interval().tells_of(estimate.ratio())
    }

    /// Whether another clock makes it another one, whatever was changed.
    pub(super) fn follows_clock(self) -> bool {
        self != Self::PeakMemory
    }

    /// What is lost of the base where the base's cost is so many times the new side's.
    pub(super) fn loss(self, ratio: f64) -> f64 {
        if self == Self::Throughput {
            1.0 - ratio
        } else {
            1.0 / ratio - 1.0
        }
    }

    /// What the sides have of it in the middle of their starts; nothing where a comparison shows that already.
    pub(super) fn middle_texts(self, session: &Session, keys: [CaseKey; 2]) -> [Option<String>; 2] {
        let text: fn(f64) -> String = match self {
            Self::Latency | Self::Throughput | Self::EnergyPerItem => return [None, None],
            Self::SetUpTime => humanize::duration_ns,
            Self::PeakMemory => |bytes| humanize::bytes(bytes as u64),
        };
        keys.map(|key| {
            let visits = self.visits(session, session.case(key)?)?;
            let values: Vec<f64> = visits.into_iter().flat_map(|visit| visit.samples).collect();
            median(&values).map(text)
        })
    }

    /// How the two sides compare, where the metric has numbers enough for that.
    pub(super) fn estimate(self, session: &Session, keys: [CaseKey; 2]) -> Option<Estimate> {
        let [before, after] = keys.map(|key| self.visits(session, session.case(key)?));
        case_pair::interleaved_estimate(session, &before?, &after?)
    }

    /// Whether it is compared at a point; the set-up time is compared at the smallest point alone.
    pub(super) fn is_compared_at(self, session: &Session, point: Point) -> bool {
        self != Self::SetUpTime || session.plan.points.iter().min() == Some(&point)
    }

    /// Whether both sides have numbers of their starts or rounds, however few.
    pub(super) fn has_numbers(self, session: &Session, keys: [CaseKey; 2]) -> bool {
        keys.iter().all(|key| {
            let visits = session
                .case(*key)
                .and_then(|case| self.visits(session, case));
            visits.is_some_and(|visits| !visits.is_empty())
        })
    }

    /// Whether more rounds may bring numbers enough.
    pub(super) fn may_have_estimate(self, session: &Session, keys: [CaseKey; 2]) -> bool {
        if self.has_every_case() {
            return true;
        }
        // Where the planned rounds share a start, the numbers of a second one are not waited for.
        let is_added =
            |key: &CaseKey| self == Self::EnergyPerItem || session.starts_of(key.setup) > 1;
        keys.iter().all(is_added) && self.has_numbers(session, keys)
    }

    /// What each round of a case has of it; less is better.
    fn visits(self, session: &Session, case: &Case) -> Option<Vec<RoundSamples>> {
        let visits = side::case_visits(session, case);
        let with = |values: Vec<Option<f64>>| -> Vec<RoundSamples> {
            let both = visits.iter().zip(values);
            both.filter_map(|(visit, value)| {
                Some(RoundSamples {
                    samples: vec![value?],
                    ..*visit
                })
            })
            .collect()
        };
        Some(match self {
            Self::Latency => visits,
            Self::Throughput => with(run_times_ns(case)),
            Self::EnergyPerItem => with(energy::joules_of_item_by_round(session, case)),
            Self::SetUpTime => with(by_start(session, case, |start| Some(start.set_up_ns()))),
            Self::PeakMemory if is_of_worker(session, case) => {
                with(by_start(session, case, |start| start.peak_bytes))
            }
            Self::PeakMemory => return None,
        })
    }
}

/// The time of a run of each round, with all that is between runs.
fn run_times_ns(case: &Case) -> Vec<Option<f64>> {
    let rounds = case.rounds.iter();
    let time = |runs: usize, spent_ns: u64| spent_ns as f64 / runs.max(1) as f64;
    rounds
        .map(|round| Some(time(round.samples_ns.len(), round.spent_ns)))
        .collect()
}

/// What each start of a case's worker cost, at the round that is the first in it.
fn by_start(
    session: &Session,
    case: &Case,
    pick: impl Fn(&CaseStart) -> Option<u64>,
) -> Vec<Option<f64>> {
    let report = session.reports.get(case.setup).and_then(Option::as_ref);
    let first = report.zip(case.opening.as_ref());
    let first = first.map(|(report, opening)| CaseStart::of_first(report, opening));
    let later = case
        .rounds
        .iter()
        .skip(1)
        .map(|round| round.case_start.as_deref().copied());
    let starts = [first].into_iter().chain(later);
    starts.map(|start| Some(pick(&start?)? as f64)).collect()
}

/// Whether its memory is what its worker had, and not that of a card.
fn is_of_worker(session: &Session, case: &Case) -> bool {
    let need = memory::case_memory(session, case, &[]);
    need.is_some_and(|need| need.kind == MemoryKind::Worker)
}
