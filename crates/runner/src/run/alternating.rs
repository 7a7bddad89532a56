//! Experiments are measured in turns: a change and its control alternate every few tenths of a second, in one process
//! where the change is a load beside it, over several starts of the workers.

use super::ActiveRun;
use super::measured_round::AskedRound;
use crate::roofs::neighbour::BackgroundLoad;
use crate::schedule;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::experiment::{ExperimentChange, Experiments};
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::schedule::alternation::{self, ChangedCase, LEAST_STARTS, TurnGroup};
use powerband_core::stats::ratio::{self, Estimate, RoundSamples};
use powerband_worker::supervisor::WorkerError;

/// Starts are added up to this many times the planned ones.
const MOST_STARTS_FACTOR: u32 = 4;
/// So many turns are measured however long they take: fewer have no interval.
const LEAST_TURNS: u32 = 2;

/// How far the experiments of a run are.
struct TurnProgress {
    /// The number of the next turn.
    next: u32,
    /// When no further turn begins; nothing where their number alone counts.
    until_ns: Option<u64>,
}

impl ActiveRun<'_, '_> {
    /// Measures rounds, or the turns of experiments.
    pub(super) fn measure_rounds_or_turns(&mut self) {
        match self.request.beginning.plan.experiments.clone() {
            Some(experiments) => self.measure_turns(&experiments),
            None => self.measure_rounds_of_machines(),
        }
    }

    fn measure_turns(&mut self, experiments: &Experiments) {
        let budget_ns = experiments.budget_s.map(|seconds| seconds * 1_000_000_000);
        let mut progress = TurnProgress {
            next: self.rounds.first,
            until_ns: budget_ns.map(|ns| self.now_ns() + ns),
        };
        let mut groups = alternation::turn_groups(experiments);
        if groups.is_empty() {
            // Nothing can be changed: the case by itself is measured all the same.
            groups.push(TurnGroup {
                control: experiments.case(),
                changed: Vec::new(),
            });
        }
        let (telling, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(TurnGroup::tells_limits);
        let batches = [telling].into_iter();
        let batches: Vec<Vec<TurnGroup>> = batches
            .chain(others.into_iter().map(|group| vec![group]))
            .collect();
        for batch in &batches {
            self.measure_groups(batch, &mut progress);
        }
        // What was left out and is wanted again has its turns after the others, however late it is.
        while !self.control.is_cancelled() && !self.control.ends_rounds() {
            self.take_back();
            progress.until_ns = None;
            let groups = batches.iter().flatten();
            let unmeasured: Vec<TurnGroup> = groups
                .filter(|group| {
                    let mut changed = group.changed.iter();
                    changed.any(|tried| self.is_unmeasured(tried.case))
                })
                .cloned()
                .collect();
            self.measure_groups(&unmeasured, &mut progress);
        }
        self.end_unmeasured();
    }

    fn is_unmeasured(&self, case: CaseKey) -> bool {
        let known = self.session.case(case);
        known.is_some_and(|case| !case.outcome.is_final() && case.rounds.is_empty())
    }

    /// Measures groups over starts of their workers until their effects are settled, or time is up.
    fn measure_groups(&mut self, groups: &[TurnGroup], progress: &mut TurnProgress) {
        let count = self.rounds.count();
        let starts = LEAST_STARTS.min(count).max(1);
        for start in 0..starts * MOST_STARTS_FACTOR {
            let is_added = start >= starts;
            if is_added && progress.until_ns.is_none() {
                return;
            }
            let open: Vec<&TurnGroup> = groups
                .iter()
                .filter(|group| self.can_go_on(group))
                .filter(|group| !is_added || !self.is_settled(group))
                .collect();
            if open.is_empty() {
                return;
            }
            for case in open.iter().flat_map(|group| group.order(0)) {
                self.forget_worker(case.setup);
            }
            let block = count * (start + 1) / starts - count * start / starts;
            for group in open {
                if !self.take_block(group, block, progress) {
                    return;
                }
            }
        }
    }

    /// Measures so many turns of a group; whether there is time for more.
    fn take_block(&mut self, group: &TurnGroup, turns: u32, progress: &mut TurnProgress) -> bool {
        let mut load = None;
        for _ in 0..turns {
            let is_late = progress.until_ns.is_some_and(|ns| self.now_ns() >= ns);
            if is_late && progress.next - self.rounds.first >= LEAST_TURNS {
                return false;
            }
            for case in group.order(progress.next) {
                self.rest_if_asked(&mut load, progress);
                if self.control.is_cancelled() {
                    return false;
                }
                self.take_turn_of(case, group.control, progress.next, &mut load);
            }
            progress.next += 1;
        }
        true
    }

    /// Applies requests of the user. While the run rests, so does the load, and no time for experiments passes.
    fn rest_if_asked(&mut self, load: &mut Option<BackgroundLoad>, progress: &mut TurnProgress) {
        let began_ns = self.now_ns();
        if self.control.is_paused() {
            *load = None;
        }
        self.apply_requests();
        let rested_ns = self.now_ns() - began_ns;
        progress.until_ns = progress.until_ns.map(|ns| ns + rested_ns);
    }

    /// One side's turn.
    fn take_turn_of(
        &mut self,
        case: CaseKey,
        control: CaseKey,
        turn: u32,
        load: &mut Option<BackgroundLoad>,
    ) {
        if self.is_over(control) {
            return;
        }
        self.visit_with(case, &mut |run, phase| {
            let tried = run.try_turn(case, control, turn, load, phase);
            if let Err(error) = &tried {
                *load = None;
                // A load has no worker of its own: that of its control is of no use any more.
                if !error.leaves_worker_usable() {
                    run.forget_worker(control.setup);
                }
            }
            tried
        });
    }

    fn try_turn(
        &mut self,
        case: CaseKey,
        control: CaseKey,
        turn: u32,
        load: &mut Option<BackgroundLoad>,
        phase: &mut Phase,
    ) -> Result<(), WorkerError> {
        let kind = self.load_beside(case.setup)?;
        // A load is switched on beside the very process that is its control.
        let by = if kind.is_some() { control } else { case };
        let begins = Some(self.first_phase(by));
        self.tell(RunEvent::VisitBegan { case, begins });
        self.ensure_worker(by.setup, phase)?;
        self.check_loaded_model(by.setup)?;
        *phase = Phase::Open;
        self.ensure_open(by)?;
        *phase = Phase::WarmUp;
        self.ensure_warm(by)?;
        *phase = Phase::Measure;
        if kind.is_some() && load.is_none() {
            *load = Some(self.start_resting_neighbour(case.setup)?);
        }
        let broken = |error: std::io::Error| {
            WorkerError::Start(format!("its neighbour cannot be told anything: {error}"))
        };
        if let Some(load) = load {
            load.switch_to(kind).map_err(broken)?;
        }
        let warm_up = self.session.case(by).and_then(|case| case.warm_up.clone());
        let rule = schedule::turn(&self.request.beginning.plan.measure, warm_up.as_ref());
        let beside = load.as_mut().filter(|_| kind.is_some());
        let asked = AskedRound {
            case,
            by,
            round: turn,
            rule,
            patience_ns: self.patience_ns(),
        };
        self.measure_round(&asked, beside)
    }

    /// How long the next turn may wait for a quiet moment.
    fn patience_ns(&self) -> u64 {
        let experiments = self.request.beginning.plan.experiments.as_ref();
        let budget_s = experiments.and_then(|experiments| experiments.budget_s);
        let rounds = self.session.cases.iter().flat_map(|case| &case.rounds);
        let waited_ns = rounds.map(|round| round.waited_ns).sum();
        alternation::patience_ns(budget_s, waited_ns)
    }

    /// Whether a group has two sides that can be measured.
    fn can_go_on(&self, group: &TurnGroup) -> bool {
        let goes_on = |case: CaseKey| !self.is_over(case);
        let mut changed = group.changed.iter();
        goes_on(group.control)
            && (group.changed.is_empty() || changed.any(|tried| goes_on(tried.case)))
    }

    /// Whether more turns would change nothing about what a group tells.
    fn is_settled(&self, group: &TurnGroup) -> bool {
        let effect = |before: CaseKey, after: CaseKey| -> Option<Estimate> {
            let samples = |case| self.session.case(case).map(turn_samples);
            ratio::paired(&samples(before)?, &samples(after)?)
        };
        let load = |change| {
            let mut changed = group.changed.iter();
            changed.find(|tried: &&ChangedCase| tried.change == change)
        };
        let streams = load(ExperimentChange::StreamingNeighbour);
        let computes = load(ExperimentChange::ComputingNeighbour);
        if let (Some(streams), Some(computes)) = (streams, computes) {
            let beyond = effect(computes.case, streams.case);
            return beyond.is_none_or(|effect| alternation::is_settled(streams.change, &effect));
        }
        group.changed.iter().all(|tried| {
            let effect = effect(group.control, tried.case);
            effect.is_none_or(|effect| alternation::is_settled(tried.change, &effect))
        })
    }

    /// Ends the cases that no time was left for.
    fn end_unmeasured(&mut self) {
        let open: Vec<CaseKey> = self.session.cases.iter().map(Case::key).collect();
        let open = open.into_iter().filter(|case| self.is_unmeasured(*case));
        let open: Vec<CaseKey> = open.collect();
        for case in open {
            let outcome = Outcome::Cancelled;
            self.tell(RunEvent::CaseEnded { case, outcome });
        }
    }
}

/// Times of an item in each turn: a change may be another batch.
fn turn_samples(case: &Case) -> Vec<RoundSamples> {
    let items = case.point.batch() as f64;
    let rounds = case.rounds.iter();
    rounds
        .map(|round| RoundSamples {
            round: round.round,
            start: round.start.unwrap_or_default(),
            samples: round
                .samples_ns
                .iter()
                .map(|&ns| ns as f64 / items)
                .collect(),
        })
        .collect()
}
