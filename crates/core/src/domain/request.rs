//! A request: what is to be measured, as far as the user says it.

use serde::{Deserialize, Serialize};

use super::experiment::Experiments;
use super::input_sizes::InputSizes;
use super::plan::{
    AccuracyCheck, Load, MeasureRule, Plan, PresetName, Profiler, SetupStyle, TimeLimits,
    WarmUpRule, WorkerLifetime,
};
use super::point::Point;
use super::setup::{MADE_UP_ENGINE, Setup};
use super::spacing::Spacing;

/// Rules that are not those of a preset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// When a case is measured.
    pub measure: MeasureRule,
    /// When a case is warm.
    pub warm_up: WarmUpRule,
    /// When a worker counts as hung.
    pub limits: TimeLimits,
}

/// The trust in the programs of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramTrust {
    /// The user typed the plan, or saw its lines and allowed them: they are remembered.
    Typed,
    /// The user allows whatever it says, for this once.
    Allowed,
    /// The plan is from a file: what was not started from here before is refused.
    #[default]
    File,
}

/// What is to be measured, as far as the user says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRequest {
    /// A network of ours, or the path of a file.
    pub model: String,
    /// Ways to run it; empty for every engine that is here.
    pub setups: Vec<Setup>,
    /// How each setup is to be shown, in the order of `setups`; may be shorter.
    pub looks: Vec<SetupStyle>,
    /// Points of the sweep; without any, the usual batch sizes, or the one that the model fixes.
    pub points: Option<Vec<Point>>,
    /// Whether each setup is a step on the one before, at the first batch size; the last one goes on to
    /// the other batch sizes.
    pub journey: bool,
    /// What is said of the sizes and values of the model's inputs.
    pub sizes: InputSizes,
    /// The preset of the measurement settings.
    pub preset: PresetName,
    /// Rules in place of the preset's.
    pub rules: Option<Rules>,
    /// So many visits to each case, and not more until an interval is narrow.
    pub rounds: Option<u32>,
    /// How far rounds of a case lie apart, instead of the preset's.
    pub spacing: Option<Spacing>,
    /// Whether each case is measured longer before the next has its turn.
    pub blocks: bool,
    /// How long a worker may be silent in any phase, in seconds.
    pub timeout_s: Option<u64>,
    /// Seed of the order of cases and of the input values; without one, the time.
    pub seed: Option<u64>,
    /// When runs start.
    pub load: Load,
    /// How the workers are kept.
    pub keeping: WorkerLifetime,
    /// Whether each case is measured long enough for its energy to be told.
    pub energy: bool,
    /// Whether and on what the setups' outputs are compared.
    pub judging: Option<AccuracyCheck>,
    /// Whether each case is run once more, watched.
    pub profiling: Option<Profiler>,
    /// Starts in which each case is profiled, in turns; nothing for one.
    pub profile_starts: Option<u32>,
    /// Who says that programs and libraries of the setups may run.
    pub programs: ProgramTrust,
    /// The experiments that the setups are.
    pub experiments: Option<Experiments>,
    /// What the session is called; without one, as the model.
    pub name: Option<String>,
}

impl RunRequest {
    /// Every engine that is here, at the usual batch sizes.
    pub fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            ..Self::default()
        }
    }

    /// The request for this plan once more, with the same seed and the same rules.
    pub fn from_plan(plan: &Plan) -> Self {
        let mut planned = Rules {
            measure: plan.measure.clone(),
            warm_up: plan.warm_up.clone(),
            limits: plan.limits.clone(),
        };
        let usual = preset_rules(plan.preset, &plan.setups);
        if plan.experiments.is_none() {
            // Plans of earlier builds do not say it; measured again, they get the preset's.
            let spacing = &mut planned.measure.spacing;
            *spacing = spacing.or(usual.measure.spacing);
        }
        Self {
            setups: plan.setups.clone(),
            looks: plan.looks.clone(),
            points: Some(plan.points.clone()),
            journey: !plan.ladder.is_empty(),
            sizes: plan.input_sizes(),
            preset: plan.preset,
            // Only what the preset does not say, so that another preset then counts as a whole.
            rules: (planned != usual).then_some(planned),
            seed: Some(plan.seed),
            load: plan.load,
            keeping: plan.keeping,
            judging: plan.judging.clone(),
            profiling: plan.profiling,
            profile_starts: plan.profile_starts,
            experiments: plan.experiments.clone(),
            ..Self::new(&plan.model)
        }
    }
}

/// What a preset asks for on these devices.
pub fn preset_rules(preset: PresetName, setups: &[Setup]) -> Rules {
    let on_gpu = setups.iter().any(|setup| setup.device != "cpu");
    let mut measure = MeasureRule::from_preset(preset);
    // Times that are made up are the same in every process and at every moment.
    let is_made_up = |setup: &Setup| setup.engine == MADE_UP_ENGINE;
    if !setups.is_empty() && setups.iter().all(is_made_up) {
        measure.spacing = None;
    }
    Rules {
        measure,
        warm_up: WarmUpRule::for_device(on_gpu),
        limits: TimeLimits::default(),
    }
}
