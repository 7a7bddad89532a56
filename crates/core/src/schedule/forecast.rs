//! What a plan does, played through with given durations: its visits, starts and waits.

use std::collections::{BTreeMap, BTreeSet};

use super::starts::{self, StartCost};
use super::turns;
use crate::domain::case::CaseKey;
use crate::domain::plan::{Plan, WorkerLifetime};
use crate::domain::setup::Setup;

/// What the steps of a case take, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseDurations {
    /// Opening it in a worker that has loaded the model: binding inputs and the first run.
    pub open_ns: u64,
    /// Its warm-up in the first start.
    pub warm_up_ns: u64,
    /// Its warm-up in a later start.
    pub later_warm_up_ns: u64,
    /// A round, with what wakes it up.
    pub round_ns: u64,
}

/// What the steps of a plan take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// Starting the worker of each setup and loading its model, in nanoseconds.
    pub start_ns: Vec<u64>,
    /// Each case.
    pub cases: BTreeMap<CaseKey, CaseDurations>,
}

/// Rounds of a plan that are still to be measured.
#[derive(Clone, Debug)]
pub struct RemainingRounds<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Planned rounds of this run; fewer than those of its session where rounds are added to one.
    pub rounds: u32,
    /// Rounds that each case still gets. Cases that are over are not in it.
    pub left: BTreeMap<CaseKey, u32>,
    /// How long ago the last round of a case in this run began, in nanoseconds.
    pub since_ns: BTreeMap<CaseKey, u64>,
}

impl<'a> RemainingRounds<'a> {
    /// The whole plan, without the cases of setups that cannot run.
    pub fn for_plan(plan: &'a Plan, refused: &BTreeSet<usize>) -> Self {
        let cases = plan.cases().into_iter();
        let cases = cases.filter(|case| !refused.contains(&case.setup));
        Self {
            plan,
            rounds: plan.measure.rounds,
            left: cases.map(|case| (case, plan.measure.rounds)).collect(),
            since_ns: BTreeMap::new(),
        }
    }

    /// The rounds of each machine, in the order of its first setup. Setups that are reached in the same way count as of
    /// one machine.
    fn by_machine(&self) -> Vec<Self> {
        let place = |case: &CaseKey| {
            let setup = self.plan.setups.get(case.setup);
            setup.map(Setup::machine_options).unwrap_or_default()
        };
        let mut places: Vec<Vec<(&str, &str)>> = Vec::new();
        for own in self.left.keys().map(place) {
            if !places.contains(&own) {
                places.push(own);
            }
        }
        let at = places.into_iter().map(|asked| {
            let mut own = self.clone();
            own.left.retain(|case, _| place(case) == asked);
            own.since_ns.retain(|case, _| place(case) == asked);
            own
        });
        at.collect()
    }

    /// Rounds of this run that a case has.
    fn done(&self, case: CaseKey) -> u32 {
        let left = self.left.get(&case).copied().unwrap_or_default();
        self.rounds.saturating_sub(left)
    }

    /// Whether a case gets a round, counted from 0.
    fn wants(&self, case: CaseKey, round: u32) -> bool {
        let left = self.left.get(&case).copied().unwrap_or_default();
        (self.done(case)..self.done(case) + left).contains(&round)
    }
}

/// What a run does, in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Rounds of all cases.
    pub visits: u64,
    /// Starts of each setup.
    pub starts: BTreeMap<usize, u32>,
    /// Measuring, in nanoseconds.
    pub measuring_ns: u64,
    /// Starting workers, opening and warming up cases, in nanoseconds.
    pub preparing_ns: u64,
    /// Waiting, so that rounds of a case lie apart, in nanoseconds.
    pub waiting_ns: u64,
}

impl Forecast {
    /// All of it, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.measuring_ns + self.preparing_ns + self.waiting_ns
    }
}

/// Simulates a run with given durations.
pub fn forecast(ahead: &RemainingRounds<'_>, durations: &Durations) -> Forecast {
    let machines = ahead.by_machine();
    match ahead.plan.machines_at_once() {
        Some(at_once) if machines.len() > 1 => {
            let of_machines = machines.iter().map(|own| forecast_in_turns(own, durations));
            at_the_same_time(of_machines, at_once as usize)
        }
        _ => forecast_in_turns(ahead, durations),
    }
}

/// The forecast of machines of which so many are measured at the same time, each after those before it are done: what
/// the one that is done last takes.
fn at_the_same_time(machines: impl Iterator<Item = Forecast>, at_once: usize) -> Forecast {
    let mut threads = vec![Forecast::default(); at_once.max(1)];
    for machine in machines {
        if let Some(first_free) = threads.iter_mut().min_by_key(|one| one.total_ns()) {
            first_free.add(machine);
        }
    }
    let visits = threads.iter().map(|one| one.visits).sum();
    let starts = threads.iter().flat_map(|one| one.starts.clone()).collect();
    let longest = threads.into_iter().max_by_key(Forecast::total_ns);
    Forecast {
        visits,
        starts,
        ..longest.unwrap_or_default()
    }
}

fn forecast_in_turns(ahead: &RemainingRounds<'_>, durations: &Durations) -> Forecast {
    let mut play = ForecastRun::new(ahead, durations);
    let ends = ahead
        .left
        .iter()
        .map(|(case, left)| ahead.done(*case) + left);
    let first = ahead.left.keys().map(|case| ahead.done(*case)).min();
    for round in first.unwrap_or_default()..ends.max().unwrap_or_default() {
        play.round(round);
    }
    play.forecast.within_budget(ahead.plan)
}

impl Forecast {
    /// Adds what is done after it.
    fn add(&mut self, later: Self) {
        self.visits += later.visits;
        self.starts.extend(later.starts);
        self.measuring_ns += later.measuring_ns;
        self.preparing_ns += later.preparing_ns;
        self.waiting_ns += later.waiting_ns;
    }

    /// Experiments end when their time is over, but for what began before.
    fn within_budget(mut self, plan: &Plan) -> Self {
        let experiments = plan.experiments.as_ref();
        let budget_s = experiments.and_then(|experiments| experiments.budget_s);
        if let Some(budget_ns) = budget_s.map(|seconds| seconds * 1_000_000_000) {
            self.preparing_ns = self.preparing_ns.min(budget_ns);
            self.measuring_ns = self.measuring_ns.min(budget_ns - self.preparing_ns);
        }
        self
    }
}

/// State of a simulated run.
struct ForecastRun<'a> {
    ahead: &'a RemainingRounds<'a>,
    durations: &'a Durations,
    forecast: Forecast,
    now_ns: u64,
    /// From the begin of one round of a case to that of its next.
    gap_ns: u64,
    /// When the last round of each case began.
    began_ns: BTreeMap<CaseKey, u64>,
    /// How many starts the rounds of each setup are spread over.
    planned_starts: BTreeMap<usize, u32>,
    /// Setups whose worker lives.
    living: BTreeSet<usize>,
    /// Cases that their living worker has warmed up.
    ready: BTreeSet<CaseKey>,
    /// Cases that had a first start.
    known: BTreeSet<CaseKey>,
    is_alone: bool,
}

impl<'a> ForecastRun<'a> {
    fn new(ahead: &'a RemainingRounds<'a>, durations: &'a Durations) -> Self {
        let plan = ahead.plan;
        // Early enough for every round that has begun before.
        let now_ns = ahead.since_ns.values().copied().max().unwrap_or_default();
        let since = ahead.since_ns.iter();
        let known: BTreeSet<CaseKey> = ahead.since_ns.keys().copied().collect();
        let own: BTreeSet<usize> = ahead.left.keys().map(|case| case.setup).collect();
        // Setups of other machines take no turns with these.
        let n_setups = match plan.machines_at_once() {
            Some(_) => own.len(),
            None => plan.setups.len(),
        };
        let mut play = Self {
            ahead,
            durations,
            forecast: Forecast::default(),
            now_ns,
            gap_ns: plan.measure.gap_ns(ahead.rounds).unwrap_or_default(),
            began_ns: since.map(|(case, since)| (*case, now_ns - since)).collect(),
            planned_starts: BTreeMap::new(),
            living: known.iter().map(|case| case.setup).collect(),
            ready: known.clone(),
            known,
            is_alone: plan.keeping == WorkerLifetime::OneAtATime && n_setups > 1,
        };
        for (setup, spec) in plan.setups.iter().enumerate() {
            let starts = if starts::why_one_start(spec).is_none() {
                starts::starts(&plan.measure, ahead.rounds, play.cost(setup), n_setups)
            } else {
                1
            };
            play.planned_starts.insert(setup, starts);
        }
        play
    }

    fn case_durations(&self, case: CaseKey) -> CaseDurations {
        self.durations.cases.get(&case).copied().unwrap_or_default()
    }

    fn start_ns(&self, setup: usize) -> u64 {
        self.durations
            .start_ns
            .get(setup)
            .copied()
            .unwrap_or_default()
    }

    /// What a later start of a setup costs.
    fn cost(&self, setup: usize) -> StartCost {
        let mut cost = StartCost {
            start_ns: self.start_ns(setup),
            round_ns: 0,
        };
        for case in self.ahead.left.keys().filter(|case| case.setup == setup) {
            let own = self.case_durations(*case);
            cost.start_ns += own.open_ns + own.later_warm_up_ns;
            cost.round_ns += own.round_ns;
        }
        cost
    }

    fn round(&mut self, round: u32) {
        self.end_workers_before(round);
        let cases = self.ahead.left.keys().copied();
        let wanting = cases.filter(|case| self.ahead.wants(*case, round));
        let mut turns = turns::by_point(wanting);
        while !turns.is_empty() {
            let due = turns.iter().map(|turn| self.due_ns(turn));
            let Some((place, due_ns)) = turns::next_turn(due, self.now_ns) else {
                return;
            };
            self.wait_until(due_ns);
            let turn = turns.remove(place);
            if !self.is_alone {
                for case in &turn {
                    self.prepare(*case);
                }
            }
            for case in turn {
                self.measure(case);
            }
        }
    }

    /// Ends the workers whose setups start again with this round. Those of which it has measured a case did so.
    fn end_workers_before(&mut self, round: u32) {
        for (&setup, &starts) in &self.planned_starts {
            let mut own = self.ahead.left.keys().filter(|case| case.setup == setup);
            let has_begun = own.any(|case| self.ahead.done(*case) > round);
            if !has_begun && starts::begins(round, self.ahead.rounds, starts) {
                self.living.remove(&setup);
                self.ready.retain(|case| case.setup != setup);
            }
        }
    }

    /// When a turn has to be begun, so that its cases are ready when they are due.
    fn due_ns(&self, turn: &[CaseKey]) -> u64 {
        let due = turn.iter().filter_map(|case| self.began_ns.get(case));
        let due = due
            .max()
            .map_or(0, |began_ns| began_ns.saturating_add(self.gap_ns));
        let mut to_start = BTreeSet::new();
        let preparing = turn.iter().filter(|case| !self.ready.contains(case));
        let preparing = preparing.map(|case| {
            let starts = !self.living.contains(&case.setup) && to_start.insert(case.setup);
            let start_ns = if starts { self.start_ns(case.setup) } else { 0 };
            start_ns + self.preparing_ns(*case)
        });
        due.saturating_sub(preparing.sum())
    }

    /// Opening and warming up a case.
    fn preparing_ns(&self, case: CaseKey) -> u64 {
        let own = self.case_durations(case);
        own.open_ns
            + if self.known.contains(&case) {
                own.later_warm_up_ns
            } else {
                own.warm_up_ns
            }
    }

    fn prepare(&mut self, case: CaseKey) {
        if self.ready.contains(&case) {
            return;
        }
        let mut spent_ns = self.preparing_ns(case);
        if !self.living.contains(&case.setup) {
            if self.is_alone {
                self.living.clear();
                self.ready.clear();
            }
            spent_ns += self.start_ns(case.setup);
            *self.forecast.starts.entry(case.setup).or_default() += 1;
            self.living.insert(case.setup);
        }
        self.ready.insert(case);
        self.known.insert(case);
        self.forecast.preparing_ns += spent_ns;
        self.now_ns += spent_ns;
    }

    fn measure(&mut self, case: CaseKey) {
        self.prepare(case);
        let began_ns = self.began_ns.get(&case);
        self.wait_until(began_ns.map_or(0, |began_ns| began_ns.saturating_add(self.gap_ns)));
        self.began_ns.insert(case, self.now_ns);
        let round_ns = self.case_durations(case).round_ns;
        self.forecast.visits += 1;
        self.forecast.measuring_ns += round_ns;
        self.now_ns += round_ns;
    }

    fn wait_until(&mut self, due_ns: u64) {
        let waiting_ns = due_ns.saturating_sub(self.now_ns);
        self.forecast.waiting_ns += waiting_ns;
        self.now_ns += waiting_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::experiment::Experiments;
    use crate::domain::plan::PresetName;
    use crate::domain::point::Point;
    use crate::domain::spacing::Spacing;
    use crate::schedule::testing::plan;

    const MS: u64 = 1_000_000;

    fn durations(plan: &Plan) -> Durations {
        let case = CaseDurations {
            open_ns: 50 * MS,
            warm_up_ns: 600 * MS,
            later_warm_up_ns: 150 * MS,
            round_ns: 350 * MS,
        };
        Durations {
            start_ns: vec![400 * MS; plan.setups.len()],
            cases: plan.cases().into_iter().map(|key| (key, case)).collect(),
        }
    }

    fn forecast_of(plan: &Plan) -> Forecast {
        forecast(
            &RemainingRounds::for_plan(plan, &BTreeSet::new()),
            &durations(plan),
        )
    }

    #[test]
    fn a_budget_of_experiments_ends_what_they_measure() {
        let forecast = Forecast {
            measuring_ns: 90_000_000_000,
            preparing_ns: 5_000_000_000,
            ..Forecast::default()
        };
        let mut asked = plan(PresetName::Quick, &["ort"], &[1]);
        assert_eq!(forecast.clone().within_budget(&asked), forecast);
        asked.experiments = Some(Experiments {
            setup: 0,
            point: Point::of_batch(1),
            tried: Vec::new(),
            untried: Vec::new(),
            budget_s: Some(20),
        });
        assert_eq!(forecast.within_budget(&asked).total_ns(), 20_000_000_000);
    }

    #[test]
    fn machines_at_once_take_as_long_as_the_one_that_is_done_last() {
        let places = ["ort,where=ssh:a", "ort,where=ssh:b", "ort,where=ssh:c"];
        let one = forecast_of(&plan(PresetName::Quick, &places[..1], &[1, 2]));
        let mut several = plan(PresetName::Quick, &places, &[1, 2]);
        let in_turns = forecast_of(&several);
        let all_at_once = |several: &mut Plan, at_once| {
            several.keeping = WorkerLifetime::MachinesAtOnce(at_once);
            forecast_of(several)
        };
        let found = [3, 2, 1].map(|at_once| all_at_once(&mut several, at_once));
        let whole = [1, 2, 3].map(|times| one.total_ns() * times);
        assert_eq!(found.clone().map(|one| one.total_ns()), whole);
        assert!(found.iter().all(|one| one.visits == in_turns.visits));
        assert!(found.iter().all(|one| one.starts.len() == 3));
    }

    #[test]
    fn one_quick_case_waits_and_ten_fill_the_gaps_of_each_other() {
        let one = forecast_of(&plan(PresetName::Quick, &["ort"], &[1]));
        assert_eq!((one.visits, one.starts.get(&0)), (5, Some(&5)));
        // A start, four gaps, and the last round.
        assert_eq!(one.total_ns(), (1_050 + 15_000 + 350) * MS);
        let ten = forecast_of(&plan(
            PresetName::Quick,
            &["ort", "rten"],
            &[1, 2, 4, 8, 16],
        ));
        assert_eq!((ten.visits, ten.waiting_ns), (50, 0));
        assert_eq!(ten.starts, [(0, 5), (1, 5)].into());
        assert_eq!(ten.measuring_ns, 50 * 350 * MS);
        assert_eq!(
            ten.preparing_ns,
            (10 * 400 + 50 * 50 + 10 * 600 + 40 * 150) * MS
        );
    }

    #[test]
    fn rounds_that_follow_one_another_neither_wait_nor_start_again() {
        let mut plan = plan(PresetName::Quick, &["ort"], &[1, 2]);
        for spacing in [None, Some(Spacing::default())] {
            plan.measure.spacing = spacing;
            let found = forecast_of(&plan);
            assert_eq!((found.visits, found.waiting_ns), (10, 0));
            assert_eq!(found.starts, [(0, 1)].into());
        }
        plan.setups.push("rten".parse().unwrap());
        plan.keeping = WorkerLifetime::OneAtATime;
        let found = forecast_of(&plan);
        assert_eq!(found.starts.values().sum::<u32>(), 20);
    }

    #[test]
    fn a_run_that_goes_on_takes_what_is_left() {
        let plan = plan(PresetName::Quick, &["ort"], &[1]);
        let durations = durations(&plan);
        let mut ahead = RemainingRounds::for_plan(&plan, &BTreeSet::new());
        let key = plan.cases()[0];
        let mut last = forecast(&ahead, &durations).total_ns();
        for left in (0..5).rev() {
            ahead.left.insert(key, left);
            ahead.since_ns.insert(key, 350 * MS);
            let found = forecast(&ahead, &durations);
            assert_eq!(found.visits, u64::from(left));
            assert!(found.total_ns() < last);
            last = found.total_ns();
        }
        assert_eq!(last, 0);
        // Two rounds more than planned: they lie apart as the others do.
        ahead.left.insert(key, 2);
        let found = forecast(&ahead, &durations);
        assert_eq!(found.total_ns(), (3_750 - 350 + 3_750 + 350) * MS);
    }

    #[test]
    fn fewer_starts_are_forecast_where_they_are_expensive() {
        let plan = plan(PresetName::Quick, &["torch"], &[1]);
        let mut durations = durations(&plan);
        durations.start_ns[0] = 41_000 * MS;
        let found = forecast(
            &RemainingRounds::for_plan(&plan, &BTreeSet::new()),
            &durations,
        );
        assert_eq!(found.starts, [(0, 1)].into());
    }
}
