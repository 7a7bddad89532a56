//! A session: one saved document, and the fold of a run's events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::accuracy::Accuracy;
use super::case::{Case, CaseKey};
use super::claim::Published;
use super::environment::Environment;
use super::examination::Examination;
use super::machine::RemoteMachine;
use super::model::{ModelRef, PlannedNetwork};
use super::outcome::Outcome;
use super::plan::{Plan, WorkerLifetime};
use super::profile::{Profile, Tool};
use super::reported::Reported;
use super::roofs::Roofs;
use super::setup_report::SetupReport;
use super::telemetry::{DeviceTelemetry, Telemetry};

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Completion {
    /// Events are still coming, or stopped coming without a word.
    Interrupted,
    /// The user stopped it.
    Cancelled,
    /// Everything in the plan has its outcome.
    Complete,
}

impl Completion {
    /// What people read: `stopped`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Cancelled => "stopped",
            Self::Complete => "complete",
        }
    }
}

/// One saved document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// What the user calls it.
    pub name: String,
    /// When the run began, RFC 3339 in UTC.
    pub created: String,
    /// How far the run came.
    pub completion: Completion,
    /// Whether any number in it is made up (by the `fake` engine).
    pub made_up: bool,
    /// The user's own words.
    pub notes: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What was to be measured.
    pub plan: Plan,
    /// The model.
    pub model: ModelRef,
    /// What a document publishes; never among what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// The circumstances.
    pub environment: Environment,
    /// What each setup's engine said of itself, in the plan's order.
    pub reports: Vec<Option<SetupReport>>,
    /// Every case of the plan, in its order.
    pub cases: Vec<Case>,
    /// How long the run took, in nanoseconds.
    pub elapsed_ns: u64,
    /// What the user should know, in the order in which it was noticed.
    pub warnings: Vec<String>,
    /// For each setup that has a model of its own, that model, by its place in the plan.
    #[serde(default)]
    pub variants: BTreeMap<usize, ModelRef>,
    /// What the engines made of their models, by the setup's place in the plan.
    #[serde(default)]
    pub examinations: BTreeMap<usize, Examination>,
    /// How close what the setups compute is to the reference, by their places in the plan.
    #[serde(default)]
    pub accuracies: BTreeMap<usize, Accuracy>,
    /// Where the time went: of this session's cases, or of what was imported.
    #[serde(default)]
    pub profiles: Vec<Profile>,
    /// What other programs measured, as they reported it.
    #[serde(default)]
    pub reported: Vec<Reported>,
    /// The program whose files this session was made of; nothing where it was measured here.
    #[serde(default)]
    pub imported: Option<Tool>,
    /// The profiler that was attached, whose cost is in every number.
    #[serde(default)]
    pub profiler: Option<String>,
    /// Later sittings, in which rounds were added.
    #[serde(default)]
    pub sittings: Vec<AddedRun>,
    /// What the machine's devices said meanwhile.
    #[serde(default)]
    pub telemetry: Telemetry,
    /// What the machine's devices were measured to reach, as known when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roofs: Vec<Roofs>,
    /// Other machines that setups ran on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<RemoteMachine>,
}

/// A later run that added rounds to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedRun {
    /// When it began, RFC 3339 in UTC.
    pub created: String,
    /// Number of its first round, from 0.
    pub first_round: u32,
}

impl Session {
    /// The same without its samples: enough for a curve that is still growing.
    pub fn without_samples(&self) -> Self {
        let cases = self.cases.iter().map(|case| Case {
            rounds: Vec::new(),
            opening: case.opening.clone(),
            warm_up: case.warm_up.clone(),
            outcome: case.outcome.clone(),
            stated: case.stated.clone(),
            ..*case
        });
        Self {
            cases: cases.collect(),
            name: self.name.clone(),
            created: self.created.clone(),
            notes: self.notes.clone(),
            tags: self.tags.clone(),
            plan: self.plan.clone(),
            model: self.model.clone(),
            published: self.published.clone(),
            environment: self.environment.clone(),
            reports: self.reports.clone(),
            warnings: self.warnings.clone(),
            variants: self.variants.clone(),
            examinations: self.examinations.clone(),
            accuracies: self.accuracies.clone(),
            profiles: self.profiles.clone(),
            reported: self.reported.clone(),
            imported: self.imported.clone(),
            profiler: self.profiler.clone(),
            sittings: self.sittings.clone(),
            telemetry: Telemetry::default(),
            roofs: self.roofs.clone(),
            machines: self.machines.clone(),
            ..*self
        }
    }

    /// The beginning of a sitting that adds rounds to this session: every case that was measured, or
    /// that something outside it ended, is open again.
    pub fn reopened(mut self, created: &str) -> Self {
        let first_round = self.next_round();
        for case in &mut self.cases {
            if case.outcome.is_reopened() {
                case.outcome = Outcome::Pending;
            }
        }
        self.completion = Completion::Interrupted;
        self.sittings.push(AddedRun {
            created: created.to_owned(),
            first_round,
        });
        self
    }

    /// Opens the cases again that ended badly and may end otherwise; how many. How they ended stays as a warning.
    pub fn retry_failed(&mut self) -> usize {
        let failed = |case: &&Case| case.outcome.may_be_retried();
        let warnings = self.cases.iter().filter(failed).map(|case| {
            let label = self.setup_label(case.setup);
            let cause = case.outcome.short_cause();
            format!(
                "{label}, {}: tried again; it had ended before ({cause}).",
                case.point
            )
        });
        let warnings: Vec<String> = warnings.collect();
        for case in &mut self.cases {
            if case.outcome.may_be_retried() {
                case.outcome = Outcome::Pending;
            }
        }
        let retried = warnings.len();
        self.warnings.extend(warnings);
        retried
    }

    /// For each round of a case the start of its setup's worker, numbered from 0.
    pub fn starts(&self, case: &Case) -> Vec<u32> {
        let first_rounds: Vec<u32> = self.sittings.iter().map(|one| one.first_round).collect();
        // Several setups that live one at a time end each other's workers at every visit.
        let is_restarted =
            self.plan.keeping == WorkerLifetime::OneAtATime && self.plan.setups.len() > 1;
        case.starts(&first_rounds, is_restarted)
    }

    /// The number that the next round would have.
    pub fn next_round(&self) -> u32 {
        let rounds = self.cases.iter().flat_map(|case| &case.rounds);
        rounds.map(|round| round.round + 1).max().unwrap_or(0)
    }

    /// Starting a setup's worker and loading its model, the first time, in nanoseconds.
    pub fn start_ns(&self, setup: usize) -> u64 {
        let report = self.reports.get(setup).and_then(Option::as_ref);
        report.map_or(0, |report| report.start_ns + report.load_ns)
    }

    /// How many starts of a setup's worker its rounds come from. Rounds that do not say it are of one start.
    pub fn starts_of(&self, setup: usize) -> u32 {
        let own = self.cases.iter().filter(|case| case.setup == setup);
        let rounds = own.flat_map(|case| &case.rounds);
        let starts = rounds.map(|round| round.start.unwrap_or_default() + 1);
        starts.max().unwrap_or_default()
    }

    /// Whether it holds published numbers, and nothing that was measured.
    pub fn is_published_only(&self) -> bool {
        self.published.is_some() && self.cases.is_empty()
    }

    /// Whether a run left nothing in it but its plan and why its cases failed, and the user wrote nothing into it.
    pub fn is_without_result(&self) -> bool {
        let mut cases = self.cases.iter();
        self.imported.is_none()
            && self.published.is_none()
            && self.profiles.is_empty()
            && self.accuracies.is_empty()
            && self.notes.is_empty()
            && self.tags.is_empty()
            && cases.all(|case| case.rounds.is_empty() && case.stated.is_empty())
    }

    /// The model that a setup runs.
    pub fn model_of(&self, setup: usize) -> &ModelRef {
        self.variants.get(&setup).unwrap_or(&self.model)
    }

    /// The machine that a setup ran on, where that was not this one.
    pub fn machine_of(&self, setup: usize) -> Option<&RemoteMachine> {
        let mut machines = self.machines.iter();
        machines.find(|machine| machine.setups.contains(&setup))
    }

    /// The devices of the machine that a setup ran on, by their places in the telemetry.
    pub fn devices_beside(
        &self,
        setup: usize,
    ) -> impl Iterator<Item = (usize, &DeviceTelemetry)> + '_ {
        let machine = self.machine_of(setup).map(|machine| machine.name.as_str());
        let tracks = self.telemetry.tracks.iter().enumerate();
        tracks.filter(move |(_, track)| track.device.machine.as_deref() == machine)
    }

    /// The roofs of a setup's machine: those of that machine where it is another one, else those of this machine.
    pub fn roofs_of<'a>(&'a self, setup: usize, here: &'a [Roofs]) -> &'a [Roofs] {
        self.machine_of(setup)
            .map_or(here, |machine| machine.roofs.as_slice())
    }

    /// The circumstances of a setup's machine.
    pub fn environment_of(&self, setup: usize) -> &Environment {
        self.machine_of(setup)
            .map_or(&self.environment, |machine| &machine.environment)
    }

    /// The networks that its setups run.
    pub fn networks(&self) -> Vec<PlannedNetwork<'_>> {
        PlannedNetwork::all(&self.plan.setups, &self.model, &self.variants)
    }

    /// A case by its key.
    pub fn case(&self, key: CaseKey) -> Option<&Case> {
        self.cases.iter().find(|case| case.key() == key)
    }

    /// How a setup is called; a dash for an index that the plan does not have.
    pub fn setup_label(&self, setup: usize) -> String {
        self.plan.label(setup).unwrap_or_else(|| "–".to_owned())
    }

    /// Whether the two hold cases of one run, which took turns. Runs may begin in the same second, so the
    /// seed counts as well, which differs for each run unless the user sets it. What was imported has no
    /// seed, and several files may be imported in one second.
    pub fn is_of_one_run_with(&self, other: &Self) -> bool {
        let is_measured = || self.imported.is_none() && other.imported.is_none();
        let is_one_import = || self.model == other.model && self.reported == other.reported;
        self.created == other.created
            && self.plan.seed == other.plan.seed
            && (is_measured() || is_one_import())
    }

    /// The setup that a text means: by its spelling, its label, or its number from 1.
    pub fn find_setup(&self, wanted: &str) -> Option<usize> {
        let setups = 0..self.plan.setups.len();
        let spelled = wanted
            .parse()
            .map(|setup: super::setup::Setup| setup.to_string());
        setups
            .clone()
            .find(|&setup| Ok(self.setup_spec(setup)) == spelled)
            .or_else(|| {
                setups
                    .clone()
                    .find(|&setup| self.setup_label(setup) == wanted)
            })
            .or_else(|| {
                let number: usize = wanted.parse().ok()?;
                number.checked_sub(1).filter(|setup| setups.contains(setup))
            })
    }

    /// How a setup is spelled, whatever the user calls it; a dash for an index that the plan does not have.
    pub fn setup_spec(&self, setup: usize) -> String {
        let setup = self.plan.setups.get(setup);
        setup.map_or_else(|| "–".to_owned(), ToString::to_string)
    }

    /// Ends what an interrupted run left open, so that every case has an outcome.
    pub fn close_interrupted(&mut self) {
        let mut open = 0;
        for case in &mut self.cases {
            if !case.outcome.is_final() {
                case.outcome = Outcome::Cancelled;
                open += 1;
            }
        }
        self.warnings.push(format!(
            "Recovered from the journal of a run that was interrupted; {open} of {} cases were not measured in full.",
            self.cases.len()
        ));
    }
}
