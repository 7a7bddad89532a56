//! What nodes and kernels take in each profiled start.
//!
//! The steps of one start say nothing of how the next start would differ: memory lies elsewhere, another program comes
//! and goes. A verdict therefore needs profiles of several starts, which took turns.

use std::collections::BTreeMap;

use powerband_core::domain::profile::Profile;

/// What each name takes in each profiled start, in nanoseconds per run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartTimes {
    n_starts: usize,
    /// Nothing for a start that does not have the name.
    by_name: BTreeMap<String, Vec<Option<f64>>>,
}

impl StartTimes {
    /// Those of a profile.
    ///
    /// # Errors
    ///
    /// Where it was taken in one start.
    pub fn of_profile(profile: &Profile) -> Result<Self, String> {
        let n_starts = profile.starts.len();
        if n_starts < 2 {
            return Err(format!(
                "{} was profiled in one start, and the next one may differ: profile several starts of both",
                profile.name
            ));
        }
        let mut by_name: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
        for (place, start) in profile.starts.iter().enumerate() {
            for (name, total_ns) in &start.totals {
                let times = by_name
                    .entry(name.clone())
                    .or_insert_with(|| vec![None; n_starts]);
                let own = *total_ns as f64 / start.runs.max(1) as f64;
                times[place] = Some(times[place].unwrap_or_default() + own);
            }
        }
        Ok(Self { n_starts, by_name })
    }

    /// What some names take together in each start; nothing where a start does not have one of them.
    pub(crate) fn sums(&self, names: &[String]) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; self.n_starts];
        for name in names {
            let own = self.by_name.get(name)?;
            for (sum, own) in sums.iter_mut().zip(own) {
                *sum += (*own)?;
            }
        }
        (!names.is_empty()).then_some(sums)
    }
}
