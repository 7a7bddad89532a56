//! A plan: what is to be measured and how carefully. Saved in the session, so that a run can be repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The samples that a 99th percentile needs, as a literal that help texts can have within them;
/// `stats::percentiles` has what it follows from.
#[macro_export]
macro_rules! p99_samples {
    () => {
        662
    };
}
pub use crate::p99_samples;

use super::case::CaseKey;
use super::experiment::Experiments;
use super::fill::Fill;
use super::input_sizes::{InputAxis, InputSizes, NamedDim};
use super::point::Point;
use super::setup::Setup;
use super::spacing::Spacing;

/// Time before the first sample of a visit.
///
/// Threads that slept through the others' turns often wake up
/// on one core, and Linux was seen to take 60 to 120 ms until it had spread them again; till then each
/// run took more than twice its time.
pub const WAKE_UP_MS: u64 = 150;
/// Rounds are added until the interval is narrow enough, but never more than this many times the plan's.
pub const MOST_ROUNDS_FACTOR: u32 = 4;

/// How carefully a case is measured, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PresetName {
    /// A first look: a second or so a case.
    Quick,
    /// The default: tight enough to decide by.
    #[default]
    Standard,
    /// For numbers that leave the house: a minute or more a case, percentiles up to p99.
    Publish,
}

impl PresetName {
    /// Every preset, least careful first.
    pub const ALL: [Self; 3] = [Self::Quick, Self::Standard, Self::Publish];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Publish => "publish",
        }
    }
}

impl fmt::Display for PresetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PresetName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.to_string() == text)
            .ok_or_else(|| {
                format!("\"{text}\" is no preset; there are quick, standard and publish")
            })
    }
}

/// When a case counts as measured. All amounts are per case, over all its rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureRule {
    /// Planned visits to each case.
    pub rounds: u32,
    /// At least this many samples.
    pub min_samples: u64,
    /// At least this much measured time, in milliseconds, unless `max_samples` come first.
    pub min_time_ms: u64,
    /// No round starts once this much time was measured, in milliseconds.
    pub max_time_ms: u64,
    /// Samples beyond which a case of very short runs is not measured longer.
    pub max_samples: u64,
    /// After the planned rounds, more are added until the 95 % interval of the median is within
    /// this share of it, or the time is used up.
    pub target_ci95_rel: Option<f64>,
    /// How far its rounds lie apart; plans of earlier builds do not say it, and their rounds follow one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing: Option<Spacing>,
    /// Whether rounds are added beyond the planned ones until comparisons are settled: they are looked at after each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_settled: bool,
}

/// When a case counts as warm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUpRule {
    /// At least this many runs.
    pub min_runs: u64,
    /// At least this much time, in milliseconds.
    pub min_time_ms: u64,
    /// Give up waiting for steadiness after this long, in milliseconds.
    pub max_time_ms: u64,
    /// How many windows in a row must agree.
    pub windows: u32,
    /// Medians of those windows lie within this share of each other.
    pub agree_within: f64,
}

/// When runs start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Load {
    /// Each as soon as the one before is over: a closed loop, which measures the service time.
    #[default]
    Closed,
    /// Requests arrive at even distances, whether the one before is over or not.
    Constant {
        /// Requests a second.
        per_s: f64,
    },
    /// Requests arrive at random, independently of each other.
    Poisson {
        /// Requests a second, on average.
        per_s: f64,
    },
}

impl Load {
    /// Requests a second: one in a hundred seconds.
    const MOST_SELDOM: f64 = 0.01;
    /// Requests a second that the clock cannot separate any more.
    const MOST_OFTEN: f64 = 1e6;

    /// So many requests a second, at random or at even distances; or how many there may be.
    pub fn arriving(per_s: f64, at_random: bool) -> Result<Self, String> {
        if !(Self::MOST_SELDOM..=Self::MOST_OFTEN).contains(&per_s) {
            return Err(format!(
                "takes requests a second, from {} to {}",
                Self::MOST_SELDOM,
                Self::MOST_OFTEN
            ));
        }
        Ok(if at_random {
            Self::Poisson { per_s }
        } else {
            Self::Constant { per_s }
        })
    }

    /// Whether requests arrive by themselves, so that times are counted from the intended start.
    pub fn is_open(self) -> bool {
        self.offered_per_s().is_some()
    }

    /// Whether requests arrive at random.
    pub fn is_random(self) -> bool {
        matches!(self, Self::Poisson { .. })
    }

    /// Requests a second that arrive; nothing for a closed loop.
    pub fn offered_per_s(self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Constant { per_s } | Self::Poisson { per_s } => Some(per_s),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed loop"),
            Self::Constant { per_s } => write!(f, "{per_s} requests/s at even distances"),
            Self::Poisson { per_s } => write!(f, "{per_s} requests/s at random"),
        }
    }
}

/// Whether the workers of all setups live at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerLifetime {
    /// All alive while memory allows; a worker that is not measured sleeps.
    #[default]
    Together,
    /// One at a time: a setup's worker is started again for each of its visits after another's.
    OneAtATime,
    /// Together, and up to so many machines are measured at the same time.
    MachinesAtOnce(u32),
}

impl WorkerLifetime {
    /// Of two the one under which workers disturb each other less.
    #[must_use]
    pub fn more_apart(self, other: Self) -> Self {
        match (self, other) {
            (Self::OneAtATime, _) | (_, Self::OneAtATime) => Self::OneAtATime,
            (Self::MachinesAtOnce(one), Self::MachinesAtOnce(other)) => {
                Self::MachinesAtOnce(one.min(other))
            }
            _ => Self::Together,
        }
    }
}

/// How long a worker may stay silent in each phase before it counts as hung, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeLimits {
    /// Start and handshake.
    pub start_ms: u64,
    /// Loading, optimising and compiling the model, and the first run.
    pub load_ms: u64,
    /// Warming up, beyond what the rule itself allows.
    pub warm_up_ms: u64,
    /// One round, beyond what the rule itself allows.
    pub measure_ms: u64,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            start_ms: 20_000,
            load_ms: 900_000,
            warm_up_ms: 120_000,
            measure_ms: 120_000,
        }
    }
}

/// Label and colour of a setup. They change no measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupStyle {
    /// The user's name for it.
    pub label: Option<String>,
    /// The series colour that the user chose, counted from 0.
    pub colour: Option<usize>,
}

/// On which inputs the setups' outputs are compared with the network's own in floats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccuracyCheck {
    /// So many inputs, or all samples where there are fewer.
    pub inputs: u64,
    /// A folder, list or file of the user's own inputs; nothing for made-up ones.
    pub samples: Option<String>,
}

impl AccuracyCheck {
    /// Inputs by default.
    pub const USUAL: u64 = 64;
}

/// Who watches when a case is run once more to see where its time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profiler {
    /// The engine's own.
    Engine,
    /// AMD's, of today.
    Rocprofv3,
    /// AMD's, of ROCm up to 6.
    Rocprof,
    /// NVIDIA's.
    Nsys,
}

impl Profiler {
    /// Every one, the engine's own first.
    pub const ALL: [Self; 4] = [Self::Engine, Self::Rocprofv3, Self::Rocprof, Self::Nsys];

    /// What it is called: where it is a program of its own, the name of that.
    pub fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Rocprofv3 => "rocprofv3",
            Self::Rocprof => "rocprof",
            Self::Nsys => "nsys",
        }
    }
}

impl FromStr for Profiler {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|profiler| profiler.name() == text)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("\"{text}\" is no profiler that is known here; there are {names}")
            })
    }
}

/// A step of a ladder: one case, and what it adds to the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptimisationStep {
    /// What it is called: `Mixed precision`.
    pub title: String,
    /// The case.
    pub case: CaseKey,
}

/// Setups × points of the sweep × rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The model as the user named it.
    pub model: String,
    /// Ways to run it.
    pub setups: Vec<Setup>,
    /// How the user wants each setup shown, in the order of `setups`; may be shorter.
    #[serde(default)]
    pub looks: Vec<SetupStyle>,
    /// Points of the sweep, ascending.
    pub points: Vec<Point>,
    /// Steps that lead from a start to an end; where there are any, only their cases are measured.
    #[serde(default)]
    pub ladder: Vec<OptimisationStep>,
    /// Whole shapes that the user gave for inputs whose dimensions the model leaves open; 0 stands for
    /// the batch.
    pub shapes: BTreeMap<String, Vec<usize>>,
    /// Which dimensions are the batch, where the user said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batch_axis: Vec<InputAxis>,
    /// What the sweep calls dimensions that the model calls otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dims: Vec<NamedDim>,
    /// What inputs are filled with, where the user said so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Fill>,
    /// The preset that `measure` and `warm_up` started from.
    pub preset: PresetName,
    /// When a case is measured.
    pub measure: MeasureRule,
    /// When a case is warm.
    pub warm_up: WarmUpRule,
    /// When a worker counts as hung.
    pub limits: TimeLimits,
    /// Seed of the order of cases and of the input values.
    pub seed: u64,
    /// When runs start.
    #[serde(default)]
    pub load: Load,
    /// How the workers are kept.
    #[serde(default)]
    pub keeping: WorkerLifetime,
    /// Whether and on what the setups' outputs are compared.
    #[serde(default)]
    pub judging: Option<AccuracyCheck>,
    /// Whether each case is run once more, watched, after everything was measured.
    #[serde(default)]
    pub profiling: Option<Profiler>,
    /// Starts in which each case is profiled, in turns; nothing for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_starts: Option<u32>,
    /// The experiments that the setups are, where the plan asks why a case takes its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiments: Option<Experiments>,
}

/// A case is profiled in no more starts.
pub const MOST_PROFILE_STARTS: u32 = 100;

impl Plan {
    /// A plan without setups and points, with the rules of a preset on the processor.
    pub fn from_preset(preset: PresetName) -> Self {
        Self {
            preset,
            measure: MeasureRule::from_preset(preset),
            ..Self::default()
        }
    }

    /// What it says of the sizes and values of the model's inputs.
    pub fn input_sizes(&self) -> InputSizes {
        InputSizes {
            shapes: self.shapes.clone(),
            batch_axis: self.batch_axis.clone(),
            dims: self.dims.clone(),
            fills: self.inputs.clone(),
        }
    }

    /// The number of machines that its setups ask for.
    pub fn machine_count(&self) -> usize {
        let machines: BTreeSet<_> = self.setups.iter().map(Setup::machine_options).collect();
        machines.len()
    }

    /// Up to how many of its machines are measured at the same time, where that is more than one.
    pub fn machines_at_once(&self) -> Option<u32> {
        match self.keeping {
            WorkerLifetime::MachinesAtOnce(machines) if self.machine_count() > 1 => Some(machines),
            _ => None,
        }
    }

    /// The device of setups whose times another program reported.
    pub const ELSEWHERE: &str = "imported";

    /// Whether anything in it can be run: what was imported or published has no such setup.
    pub fn can_run(&self) -> bool {
        self.setups
            .iter()
            .any(|setup| setup.device != Self::ELSEWHERE)
    }

    /// The smallest point; batch 1 where there is none.
    pub fn first_point(&self) -> Point {
        let first = self.points.first();
        first.copied().unwrap_or_else(|| Point::of_batch(1))
    }

    /// How a setup is called: the user's name for it, else its spelling.
    pub fn label(&self, setup: usize) -> Option<String> {
        let named = self.looks.get(setup).and_then(|look| look.label.clone());
        named.or_else(|| self.setups.get(setup).map(ToString::to_string))
    }

    /// Every case, setup by setup: all points of each, or those of the ladder or of the experiments.
    pub fn cases(&self) -> Vec<CaseKey> {
        let is_wanted = |case: &CaseKey| {
            let takes_part = |asked: &Experiments| asked.has_case(*case);
            let is_step =
                self.ladder.is_empty() || self.ladder.iter().any(|step| step.case == *case);
            is_step && self.experiments.as_ref().is_none_or(takes_part)
        };
        (0..self.setups.len())
            .flat_map(|setup| {
                self.points
                    .iter()
                    .map(move |&point| CaseKey { setup, point })
            })
            .filter(is_wanted)
            .collect()
    }
}

impl Default for MeasureRule {
    fn default() -> Self {
        Self::from_preset(PresetName::default())
    }
}

impl MeasureRule {
    /// Time that a case has to be watched before its energy can be measured, in milliseconds, and readings
    /// that it takes; with a little more for rounds whose readings have a gap.
    const FOR_ENERGY: (f64, f64) = (12_000.0, 24.0);
    /// Visits of blocks are so many times as long.
    const TIMES_IN_BLOCKS: u64 = 5;
    /// Very short runs come in large numbers before that time is over.
    const SAMPLES_FOR_ENERGY: u64 = 1_000_000;

    /// Measures each case for so long that its energy can be measured, where devices are read so often.
    pub fn allow_for_energy(&mut self, rate_hz: f64) {
        let (least_ms, readings) = Self::FOR_ENERGY;
        let least_ms = least_ms.max(readings * 1e3 / rate_hz.max(1.0)) as u64;
        self.min_time_ms = self.min_time_ms.max(least_ms);
        self.max_time_ms = self.max_time_ms.max(2 * least_ms);
        self.max_samples = self.max_samples.max(Self::SAMPLES_FOR_ENERGY);
    }

    /// Measures each case longer before the next has its turn.
    pub fn lengthen_visits(&mut self) {
        self.min_samples *= Self::TIMES_IN_BLOCKS;
        self.min_time_ms *= Self::TIMES_IN_BLOCKS;
        self.max_time_ms *= Self::TIMES_IN_BLOCKS;
        self.max_samples *= Self::TIMES_IN_BLOCKS;
    }

    /// The same for another number of rounds, each as long as before.
    pub fn for_rounds(&self, rounds: u32) -> Self {
        let share =
            |of_all: u64| of_all.div_ceil(u64::from(self.rounds.max(1))) * u64::from(rounds);
        Self {
            rounds,
            min_samples: share(self.min_samples),
            min_time_ms: share(self.min_time_ms),
            max_time_ms: share(self.max_time_ms),
            max_samples: share(self.max_samples),
            target_ci95_rel: None,
            spacing: self.spacing,
            until_settled: false,
        }
    }

    /// From the beginning of a round of a case to that of its next, where there are so many, in nanoseconds; nothing
    /// where they follow one another.
    pub fn gap_ns(&self, rounds: u32) -> Option<u64> {
        let spacing = self.spacing.filter(|spacing| spacing.is_apart())?;
        Some(spacing.gap_ns(rounds))
    }

    /// The rule of a preset.
    pub fn from_preset(preset: PresetName) -> Self {
        match preset {
            PresetName::Quick => Self {
                rounds: 5,
                min_samples: 30,
                min_time_ms: 1_000,
                max_time_ms: 5_000,
                max_samples: 20_000,
                target_ci95_rel: None,
                spacing: Some(Spacing::USUAL),
                until_settled: false,
            },
            PresetName::Standard => Self {
                rounds: 5,
                min_samples: 100,
                min_time_ms: 5_000,
                max_time_ms: 30_000,
                max_samples: 20_000,
                target_ci95_rel: Some(0.01),
                spacing: Some(Spacing::USUAL),
                until_settled: false,
            },
            PresetName::Publish => Self {
                rounds: 6,
                min_samples: p99_samples!(),
                min_time_ms: 60_000,
                max_time_ms: 600_000,
                max_samples: 100_000,
                target_ci95_rel: Some(0.01),
                spacing: Some(Spacing::USUAL),
                until_settled: false,
            },
        }
    }
}

impl Default for WarmUpRule {
    fn default() -> Self {
        Self::for_device(false)
    }
}

impl WarmUpRule {
    /// The default: a GPU, which clocks up slowly, is given longer.
    pub fn for_device(on_gpu: bool) -> Self {
        Self {
            min_runs: 10,
            min_time_ms: if on_gpu { 2_000 } else { 500 },
            max_time_ms: 30_000,
            windows: 3,
            agree_within: 0.05,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_lie_apart_and_span_some_time_in_every_preset() {
        for preset in PresetName::ALL {
            let rule = MeasureRule::from_preset(preset);
            let gap_ns = rule.gap_ns(rule.rounds).unwrap();
            assert!(gap_ns >= 3_000_000_000, "{preset}");
            assert!(
                gap_ns * u64::from(rule.rounds - 1) >= 15_000_000_000,
                "{preset}"
            );
        }
    }

    #[test]
    fn a_rule_of_an_earlier_build_has_no_spacing() {
        let old = r#"{"rounds":3,"min_samples":30,"min_time_ms":1000,"max_time_ms":5000,"max_samples":20000,"target_ci95_rel":null}"#;
        let rule: MeasureRule = serde_json::from_str(old).unwrap();
        assert_eq!((rule.spacing, rule.gap_ns(3)), (None, None));
    }

    #[test]
    fn presets_are_read_back() {
        for preset in PresetName::ALL {
            assert_eq!(preset.to_string().parse(), Ok(preset));
        }
        assert!(
            "fast"
                .parse::<PresetName>()
                .unwrap_err()
                .contains("quick, standard")
        );
    }
}
