//! How much sessions of one case differ, where nothing was changed: what a difference between two sessions that were
//! not interleaved has to exceed.
//!
//! A session is a draw: the machine is in another state each time, and rounds within a session do not show it.
//! The spread is therefore taken from sessions, as far as there are enough: the standard deviation of the means of
//! earlier ones. Assumes that sessions could be exchanged.

use super::summary::{mean, standard_deviation};

/// The fewest earlier sessions whose differences say how much sessions differ.
pub const FEWEST_SESSIONS: usize = 5;
/// The standard deviation of a session's mean that is assumed where there are fewer.
///
/// Provisional: with it, of the pairs of 44 sessions of which one round was taken from each of five starts over 17 s, at most 1.5 % were judged
/// wrong on a shared machine; `cargo bench --bench verdict -- simulated` prints at which spreads that holds.
const ASSUMED_DEVIATION: f64 = 0.05;
/// What two sessions differ by is no change below this ratio where the rounds of a side come from one stretch.
///
/// Three standard deviations of the difference of two such sessions (12 % each, seen in 44 on a shared machine).
pub const NARROW_RATIO: f64 = 1.7;
/// With so many degrees of freedom Student's t is normal.
const AS_NORMAL: f64 = 1e6;

/// How much sessions of one case differ. Deviations are of natural logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SessionSpread {
    /// Known from earlier sessions.
    Known {
        /// Standard deviation of their means.
        deviation: f64,
        /// How many there are.
        sessions: u32,
    },
    /// Not known; the rounds of both sides are spread over starts and seconds.
    Assumed,
    /// Less than what the rounds of the two sides differ by among themselves, which counts then.
    Exceeded,
    /// Not known; the rounds of a side come from one stretch and do not show how its next ones would differ.
    Narrow,
}

impl SessionSpread {
    /// The spread of the means of earlier sessions; nothing for fewer than `FEWEST_SESSIONS`.
    pub fn of_means(means: &[f64]) -> Option<Self> {
        if means.len() < FEWEST_SESSIONS {
            return None;
        }
        Some(Self::Known {
            deviation: standard_deviation(means, mean(means)?)?,
            sessions: means.len() as u32,
        })
    }

    /// The standard deviation of a session's mean.
    pub fn deviation(self) -> f64 {
        match self {
            Self::Known { deviation, .. } => deviation,
            Self::Assumed | Self::Exceeded | Self::Narrow => ASSUMED_DEVIATION,
        }
    }

    /// The degrees of freedom of the deviation.
    pub(super) fn freedom(self) -> f64 {
        match self {
            Self::Known { sessions, .. } => f64::from(sessions) - 1.0,
            Self::Assumed | Self::Exceeded | Self::Narrow => AS_NORMAL,
        }
    }

    /// An interval between sessions is at least so wide either way.
    pub(super) fn least_half_width(self) -> f64 {
        match self {
            Self::Narrow => NARROW_RATIO.ln(),
            Self::Known { .. } | Self::Assumed | Self::Exceeded => 0.0,
        }
    }
}
