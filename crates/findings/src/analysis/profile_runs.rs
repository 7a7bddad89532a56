//! How many runs or steps a profile covers, and where that number comes from: profiles of different lengths
//! are compared by it.

use std::collections::BTreeSet;

use powerband_core::base::humanize;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace_steps::{PROFILER_STEP, is_numbered};

/// Where the number of runs comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsFrom {
    /// The profile states it: its file does, or the program counted the runs that it profiled.
    Profile,
    /// The marks of PyTorch's profiler in the file, one for each step.
    Marks,
    /// The user typed it.
    User,
}

/// How many runs or steps a profile covers. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileRuns {
    /// How many.
    pub count: u64,
    /// Where that comes from.
    pub from: RunsFrom,
}

impl ProfileRuns {
    /// What a profile states, else the steps that are marked in it.
    pub fn from_profile(profile: &Profile) -> Option<Self> {
        let stated = profile.runs.filter(|runs| *runs > 0);
        let stated = stated.map(|count| Self {
            count,
            from: RunsFrom::Profile,
        });
        stated.or_else(|| Self::marked(profile))
    }

    /// The same; where neither is there, what the user typed.
    pub fn from_profile_or_user(profile: &Profile, typed: Option<u64>) -> Option<Self> {
        let typed = typed.filter(|runs| *runs > 0).map(|count| Self {
            count,
            from: RunsFrom::User,
        });
        Self::from_profile(profile).or(typed)
    }

    fn marked(profile: &Profile) -> Option<Self> {
        let names = profile.totals.iter().map(|total| total.name.as_str());
        let steps: BTreeSet<&str> = names
            .filter(|name| is_numbered(name, PROFILER_STEP))
            .collect();
        (!steps.is_empty()).then_some(Self {
            count: steps.len() as u64,
            from: RunsFrom::Marks,
        })
    }

    /// What one of them is called.
    pub fn word(self) -> &'static str {
        match self.from {
            RunsFrom::Marks => "step",
            RunsFrom::Profile | RunsFrom::User => "run",
        }
    }

    /// The unit of a time that is divided by them.
    pub fn per(self) -> &'static str {
        match self.from {
            RunsFrom::Marks => "per step",
            RunsFrom::Profile | RunsFrom::User => "per run",
        }
    }

    /// How many, and where that comes from.
    pub fn source(self) -> String {
        let count = humanize::pluralised(self.count, self.word());
        match self.from {
            RunsFrom::Profile => format!("{count}, as the profile states"),
            RunsFrom::Marks => format!("{count}, marked by PyTorch's profiler"),
            RunsFrom::User => format!("{count}, as you typed"),
        }
    }
}

/// What times are shown of a profile that covers several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// Those of a run or a step, where their number is known.
    #[default]
    PerRun,
    /// Those of the whole profile.
    Total,
}

impl Times {
    /// By what times are divided, of these runs.
    pub fn divisor(self, runs: Option<ProfileRuns>) -> f64 {
        match (self, runs) {
            (Self::PerRun, Some(runs)) => runs.count as f64,
            _ => 1.0,
        }
    }

    /// The unit of times, of these runs.
    pub fn unit(self, runs: Option<ProfileRuns>) -> &'static str {
        match (self, runs) {
            (Self::PerRun, Some(runs)) => runs.per(),
            _ => "in total",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::profile::Total;
    use powerband_core::domain::trace::SliceKind;

    fn marked(names: &[&str]) -> Profile {
        let total = |name: &&str| Total {
            work: None,
            kind: SliceKind::Range,
            name: (*name).to_owned(),
            op: String::new(),
            place: String::new(),
            calls: 1,
            total_ns: 0,
            min_ns: None,
            max_ns: None,
        };
        Profile {
            totals: names.iter().map(total).collect(),
            ..Profile::default()
        }
    }

    #[test]
    fn marks_are_counted_once_and_what_the_file_states_comes_first() {
        let mut profile = marked(&["ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#5", "conv"]);
        let runs = ProfileRuns::from_profile(&profile).unwrap();
        assert_eq!((runs.count, runs.per()), (2, "per step"));
        assert_eq!(runs.source(), "2 steps, marked by PyTorch's profiler");
        profile.runs = Some(10);
        let runs = ProfileRuns::from_profile_or_user(&profile, Some(3)).unwrap();
        assert_eq!((runs.count, runs.from), (10, RunsFrom::Profile));
        let unknown = marked(&["ProfilerStep", "ProfilerStep#", "ProfilerStep#x"]);
        assert_eq!(ProfileRuns::from_profile(&unknown), None);
        assert_eq!(ProfileRuns::from_profile_or_user(&unknown, Some(0)), None);
        let typed = ProfileRuns::from_profile_or_user(&unknown, Some(3)).unwrap();
        assert_eq!(typed.source(), "3 runs, as you typed");
        assert_eq!(Times::PerRun.divisor(Some(typed)), 3.0);
        assert_eq!(Times::Total.divisor(Some(typed)), 1.0);
        assert_eq!(Times::PerRun.unit(None), "in total");
    }
}
