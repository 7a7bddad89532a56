//! Which latency and which efficiency of a curve are meant, and shares of the best. Each has a name, and the name is
//! always shown.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::case_rounds::RoundStatistic;

/// Which number stands for a case's latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statistic {
    /// Half of the runs are faster.
    #[default]
    Median,
    /// Arithmetic mean.
    Mean,
    /// 90 of 100 runs are faster; known only with enough samples.
    P90,
    /// 99 of 100 runs are faster; known only with more.
    P99,
}

impl Statistic {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Median, Self::Mean, Self::P90, Self::P99];

    /// The same of a round.
    pub fn round_statistic(self) -> RoundStatistic {
        match self {
            Self::Median => RoundStatistic::Median,
            Self::Mean => RoundStatistic::Mean,
            Self::P90 => RoundStatistic::P90,
            Self::P99 => RoundStatistic::P99,
        }
    }

    /// As it stands in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::P90 => "p90",
            Self::P99 => "p99",
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Median => "Median",
            Self::Mean => "Mean",
            Self::P90 => "p90",
            Self::P99 => "p99",
        })
    }
}

/// Which efficiency is meant. It has a name, and the name is always shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Efficiency {
    /// Against the best throughput of the curve.
    #[default]
    OfBest,
    /// Against a throughput that grows with the batch.
    Scaling,
    /// The share of the time in which the device computed, as it reports.
    Busy,
    /// Operations in a second against the peak that the device's maker publishes.
    OfPeak,
}

impl Efficiency {
    /// Every one, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::OfBest, Self::Scaling, Self::Busy, Self::OfPeak];

    /// The title of a column with it.
    pub fn title(self) -> &'static str {
        match self {
            Self::OfBest => "Of best",
            Self::Scaling => "Scaling",
            Self::Busy => "Utilisation",
            Self::OfPeak => "Of peak",
        }
    }

    /// Its definition in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::OfBest => {
                "Throughput as a share of the best of the setup's batch sizes; nothing where there is one batch size."
            }
            Self::Scaling => {
                "Throughput as a share of batch × throughput at batch 1, or at the smallest batch that was measured."
            }
            Self::Busy => {
                "Utilisation: share of the time in which the device that computes was busy, as it reports; of a processor with several cores, the mean of all."
            }
            Self::OfPeak => {
                "The network's multiplications and additions in a second, as a share of the peak that the card's maker publishes for that precision."
            }
        }
    }
}

impl fmt::Display for Efficiency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OfBest => "of best",
            Self::Scaling => "scaling",
            Self::Busy => "utilisation",
            Self::OfPeak => "of peak",
        })
    }
}

/// Each throughput as a share of the best; nothing where there is none, or no second one to compare it with.
pub(super) fn shares_of_best(rates: &[Option<f64>]) -> Vec<Option<f64>> {
    let known = || rates.iter().flatten();
    let best = known().copied().fold(0.0, f64::max);
    let is_comparable = best > 0.0 && known().count() > 1;
    let share = |rate: &Option<f64>| rate.filter(|_| is_comparable).map(|rate| rate / best);
    rates.iter().map(share).collect()
}
