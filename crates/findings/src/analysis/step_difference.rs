//! What kernels and nodes take in each step of a timeline, and whether that differs between two timelines by more than
//! the steps differ among themselves.
//!
//! The steps of a timeline are those of one start of one program: how the next start would differ is not in it. A verdict
//! therefore is one of these two timelines, and no replacement for a benchmark.

use std::collections::BTreeMap;

use super::breakdown::Scope;
use super::instances;
use super::verdict::{Call, LEAST_FLOOR};
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace::Trace;
use powerband_core::stats::student;

/// The first of so many steps or more is left out: it still warms up.
const FEWEST_WITHOUT_FIRST: usize = 4;
/// How often a verdict may be wrong of all that are given together.
const WRONG: f64 = 0.05;
/// More steps are not suggested.
const MOST_STEPS: f64 = 10_000.0;

/// What each name takes in each step of a timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepTimes {
    n_steps: usize,
    /// In nanoseconds, by step.
    by_name: BTreeMap<String, Vec<f64>>,
}

impl StepTimes {
    /// Those of a profile by its timeline.
    ///
    /// # Errors
    ///
    /// Where there is no timeline, or it marks no steps.
    pub fn of_profile(profile: &Profile, trace: Result<&Trace, String>) -> Result<Self, String> {
        let found = Self::from_trace(trace?, Scope::from_profile(profile));
        found.ok_or_else(|| format!("the timeline of {} marks no steps", profile.name))
    }

    /// Those of a timeline; nothing where it marks no steps.
    pub fn from_trace(trace: &Trace, scope: Scope) -> Option<Self> {
        let (n_steps, sums) = instances::sums_by_step(trace, scope)?;
        let from = usize::from(n_steps >= FEWEST_WITHOUT_FIRST);
        let by_name = sums.into_iter().map(|(name, sums)| {
            let name = trace.names.get(name).to_owned();
            (name, sums[from..].to_vec())
        });
        Some(Self {
            n_steps: n_steps - from,
            by_name: by_name.collect(),
        })
    }

    /// Times of these names in each step.
    #[cfg(test)]
    pub(crate) fn from_steps<const N: usize>(names: &[&str; N], steps: &[[u64; N]]) -> Self {
        let by_name = names.iter().enumerate().map(|(place, name)| {
            let times = steps.iter().map(|step| step[place] as f64);
            ((*name).to_owned(), times.collect())
        });
        Self {
            n_steps: steps.len(),
            by_name: by_name.collect(),
        }
    }

    /// What some names take together in each step; nothing where one is not in the timeline.
    pub(crate) fn sums(&self, names: &[String]) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; self.n_steps];
        for name in names {
            let own = self.by_name.get(name)?;
            for (sum, own) in sums.iter_mut().zip(own) {
                *sum += own;
            }
        }
        (!names.is_empty()).then_some(sums)
    }
}

/// How the times of the steps after differ from those before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepDifference {
    pub call: Call,
    /// Time after over time before.
    pub ratio: f64,
    /// The interval of the ratio, so wide that of all that are made together, one of twenty times one is wrong.
    pub interval: (f64, f64),
    /// Steps of each timeline that would settle it, where more would.
    pub steps_needed: Option<u64>,
}

impl StepDifference {
    /// Compares times of steps, one of so many comparisons; nothing where a side has fewer than two steps, or a step
    /// takes no time.
    pub fn new(before: &[f64], after: &[f64], n_compared: usize) -> Option<Self> {
        let logarithms = |times: &[f64]| {
            let times = times.iter().filter(|time| **time > 0.0);
            times.map(|time| time.ln()).collect::<Vec<f64>>()
        };
        let sides = [logarithms(before), logarithms(after)];
        if sides[0].len() < before.len() || sides[1].len() < after.len() {
            return None;
        }
        let outside = WRONG / n_compared.max(1) as f64;
        let (difference, half) = student::difference(&sides[0], &sides[1], outside)?;
        let floor = LEAST_FLOOR.ln_1p();
        let call = if difference - half > floor {
            Call::Slower
        } else if difference + half < -floor {
            Call::Faster
        } else if difference.abs() + half <= floor {
            Call::Same
        } else {
            Call::Inconclusive
        };
        let beyond = (difference.abs() - floor).abs();
        let n_steps = before.len().min(after.len()) as f64 * (half / beyond).powi(2);
        let needs_more = call == Call::Inconclusive && n_steps <= MOST_STEPS;
        Some(Self {
            call,
            ratio: difference.exp(),
            interval: ((difference - half).exp(), (difference + half).exp()),
            steps_needed: needs_more.then(|| n_steps.ceil() as u64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::stats::joint;

    #[test]
    fn five_per_cent_are_found_and_nothing_else() {
        let n_operators = 40;
        let mut n_right = 0;
        for trial in 0..100 {
            // Twenty steps of each side with a noise of 2 %.
            let seeds = trial * 100..(trial + 1) * 100;
            let noise = seeds.flat_map(joint::normals).take(40 * n_operators);
            let noise: Vec<f64> = noise.collect();
            let sides = noise.chunks(20);
            let sides: Vec<&[f64]> = sides.collect();
            let calls = sides.chunks(2).enumerate().map(|(operator, sides)| {
                let by = if operator == 7 { 1.05 } else { 1.0 };
                let steps = |noise: &[f64], time_ns: f64| {
                    let steps = noise.iter().map(|one| time_ns * (1.0 + 0.02 * one));
                    steps.collect::<Vec<f64>>()
                };
                let (before, after) = (steps(sides[0], 1e5), steps(sides[1], 1e5 * by));
                let found = StepDifference::new(&before, &after, n_operators);
                found.expect("a difference").call
            });
            let coloured: Vec<usize> = calls
                .enumerate()
                .filter(|(_, call)| matches!(call, Call::Slower | Call::Faster))
                .map(|(operator, _)| operator)
                .collect();
            n_right += u32::from(coloured == [7]);
        }
        assert!(n_right >= 95, "{n_right} of 100");
    }

    #[test]
    fn more_steps_are_named_where_they_would_settle_it() {
        let found = StepDifference::new(&[100.0, 104.0, 97.0], &[106.0, 110.0, 103.0], 1).unwrap();
        assert_eq!(found.call, Call::Inconclusive);
        assert!(found.steps_needed.is_some_and(|steps| steps > 3));
        assert!(found.interval.0 < found.ratio && found.ratio < found.interval.1);
        assert_eq!(StepDifference::new(&[1.0], &[1.0, 2.0], 1), None);
        assert_eq!(StepDifference::new(&[0.0, 1.0], &[1.0, 2.0], 1), None);
    }
}
