//! The estimate: how long a plan will take, before it runs.

use std::collections::BTreeSet;
use std::fmt;

use super::past_durations::PastDurations;
use super::step_times::{MachineSpeed, NS_PER_S, StepTimes};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::setup::Setup;
use powerband_core::schedule::forecast::{Forecast, RemainingRounds, forecast};

/// What options call those that compile for minutes: modes of PyTorch, providers of ONNX Runtime.
const COMPILERS: [&str; 3] = ["compile", "tensorrt", "migraphx"];
/// Ends that lie closer together than this are shown as one.
const CLOSE: f64 = 1.5;

/// How much work a plan is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanEstimate {
    /// Setups × batch sizes.
    pub cases: usize,
    /// How many of them were measured here before, or other batch sizes of their setups.
    pub known: usize,
    /// Seconds where everything settles at once and is measured no longer than it must be.
    pub low_s: f64,
    /// Seconds where other programs use the machine as well and every case uses up its time: in 95 of 100 runs it
    /// takes less.
    pub high_s: f64,
    /// Cases that are not known and are compiled before their first run, for as long as that takes.
    pub compiled: usize,
}

impl PlanEstimate {
    /// The estimate and what it does not include.
    pub fn sentence(&self) -> String {
        let compiled = humanize::pluralised(self.compiled as u64, "case");
        let are = if self.compiled == 1 { "is" } else { "are" };
        match self.compiled {
            0 => format!("Takes {self}."),
            _ => format!(
                "Takes {self}; {compiled} {are} compiled first, which can take minutes more each."
            ),
        }
    }
}

/// `1 min 5 s to 3 min`, or `about 2 min`.
impl fmt::Display for PlanEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&range_text(self.low_s, self.high_s))
    }
}

/// How much work a case is. The first case of a setup begins with its worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaseEstimate {
    /// Which.
    pub case: CaseKey,
    /// Whether it was measured here before, or another batch size of its setup.
    pub is_known: bool,
    /// Seconds where everything settles at once and is measured no longer than it must be.
    pub low_s: f64,
    /// Seconds where it uses up its time.
    pub high_s: f64,
    /// Whether it is not known and is compiled first, for as long as that takes.
    pub is_compiled: bool,
}

/// `4 s to 2 min`, or `about 9 s`.
impl fmt::Display for CaseEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&range_text(self.low_s, self.high_s))
    }
}

fn range_text(low_s: f64, high_s: f64) -> String {
    let time = humanize::clock_time;
    if high_s <= low_s * CLOSE {
        return format!("about {}", time(f64::midpoint(low_s, high_s)));
    }
    format!("{} to {}", time(low_s), time(high_s))
}

/// How long the plan will take where some setups, by their places, cannot run.
pub fn plan_estimate(
    plan: &Plan,
    refused: &BTreeSet<usize>,
    experience: &PastDurations,
) -> PlanEstimate {
    let steps = StepTimes::new(plan, experience);
    let cases = case_estimates(plan, refused, experience);
    let count =
        |is_one: fn(&CaseEstimate) -> bool| cases.iter().filter(|case| is_one(case)).count();
    let total_s =
        |machine| forecast_of(plan, refused, &steps, machine).total_ns() as f64 / NS_PER_S;
    PlanEstimate {
        cases: cases.len(),
        known: count(|case| case.is_known),
        low_s: total_s(MachineSpeed::Quick),
        high_s: total_s(MachineSpeed::Loaded),
        compiled: count(|case| case.is_compiled),
    }
}

/// How long each case of the plan takes by itself, without the cases of setups that cannot run.
///
/// Waits, so that its rounds lie apart, are not in it, since other cases fill them. The first case of a setup has the
/// starts of its worker.
pub fn case_estimates(
    plan: &Plan,
    refused: &BTreeSet<usize>,
    experience: &PastDurations,
) -> Vec<CaseEstimate> {
    let steps = StepTimes::new(plan, experience);
    let own_times = [MachineSpeed::Quick, MachineSpeed::Loaded].map(|machine| {
        let starts = forecast_of(plan, refused, &steps, machine).starts;
        (machine, starts)
    });
    let mut started = BTreeSet::new();
    let cases = plan.cases().into_iter();
    cases
        .filter(|case| !refused.contains(&case.setup))
        .map(|case| {
            let is_known = steps.past_times(case).is_some();
            let spec = plan.setups.get(case.setup);
            let is_first = started.insert(case.setup);
            let [low_s, high_s] = own_times.each_ref().map(|(machine, starts)| {
                let starts = starts.get(&case.setup).copied().unwrap_or_default();
                own_time_s(&steps, case, *machine, (starts, is_first))
            });
            CaseEstimate {
                case,
                is_known,
                low_s,
                high_s,
                is_compiled: !is_known && spec.is_some_and(compiles),
            }
        })
        .collect()
}

/// What a run of the plan does on a machine.
fn forecast_of(
    plan: &Plan,
    refused: &BTreeSet<usize>,
    steps: &StepTimes<'_>,
    machine: MachineSpeed,
) -> Forecast {
    let mut ahead = RemainingRounds::for_plan(plan, refused);
    for (case, left) in &mut ahead.left {
        *left = steps.rounds(*case, machine);
    }
    forecast(&ahead, &steps.durations(machine))
}

/// What is done for a case alone, in so many starts; with those of the worker where it is its setup's first.
fn own_time_s(
    steps: &StepTimes<'_>,
    case: CaseKey,
    machine: MachineSpeed,
    (starts, is_first): (u32, bool),
) -> f64 {
    let starts = f64::from(starts);
    let of_starts = if is_first {
        starts * steps.start_s(case.setup, machine)
    } else {
        0.0
    };
    let openings = starts * steps.opening_s(case, machine);
    let later = (starts - 1.0).max(0.0) * steps.later_warm_up_s(case, machine);
    let rounds = f64::from(steps.rounds(case, machine)) * steps.round_s(case, machine);
    of_starts + openings + steps.warm_up_s(case, machine) + later + rounds
}

/// Whether a setup compiles its network for each batch size, by its options.
fn compiles(setup: &Setup) -> bool {
    let words = setup.options.values().flat_map(|value| value.split('+'));
    words.into_iter().any(|word| COMPILERS.contains(&word))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::analysis::testing::{add_round, measure, plan, session};
    use powerband_core::domain::case::{CaseOpening, WarmUp};
    use powerband_core::domain::plan::{MeasureRule, PresetName};
    use powerband_core::domain::session::Session;
    use powerband_core::domain::setup_report::SetupReport;
    use powerband_core::schedule;
    use powerband_core::schedule::starts::{StartCost, begins};
    use powerband_core::schedule::warm_up::visit_warm_up;

    fn fresh_estimate(plan: &Plan) -> PlanEstimate {
        plan_estimate(plan, &BTreeSet::new(), &PastDurations::default())
    }

    #[test]
    fn every_case_counts_and_every_setup_starts() {
        let found = fresh_estimate(&plan(&["ort:cpu", "tract:cpu"], &[1, 2, 4]));
        assert_eq!((found.cases, found.known), (6, 0));
        // Quick: half a second of warm-up and one second of measuring; or ten and five. Three rounds.
        let wake_ups = 6.0 * 0.45;
        assert!((found.low_s - 9.4 - wake_ups).abs() < 1e-6, "{found:?}");
        // The workers take ten seconds at most, and first runs five.
        assert!((found.high_s - 140.0 - wake_ups).abs() < 1e-6, "{found:?}");
        assert_eq!(found.to_string(), "12 s to 2 min 23 s");
        let with_another = plan(&["ort:cpu", "ort:cuda", "tract:cpu"], &[1, 2, 4]);
        let without = plan_estimate(&with_another, &[1].into(), &PastDurations::default());
        assert_eq!(without, found);
        let nothing = fresh_estimate(&plan(&["ort:cpu"], &[]));
        assert_eq!((nothing.cases, nothing.high_s), (0, 0.0));
    }

    #[test]
    fn what_is_compiled_first_is_said() {
        let setups = [
            "torch",
            "torch,mode=channels-last+compile",
            "ort,provider=tensorrt",
        ];
        let found = fresh_estimate(&plan(&setups, &[1, 2]));
        assert_eq!(found.compiled, 4);
        let words = found.sentence();
        assert!(words.starts_with("Takes 12 s to "), "{words}");
        assert!(words.ends_with("4 cases are compiled first, which can take minutes more each."));
        assert_eq!(fresh_estimate(&plan(&["torch"], &[1])).compiled, 0);
    }

    #[test]
    fn what_was_measured_before_takes_as_long_again() {
        let mut session = session(&["ort:cpu"], &[1]);
        measure(&mut session, 0, 1, &[&[50_000_000; 10]]);
        session.cases[0].opening = Some(CaseOpening::default());
        session.cases[0].warm_up = Some(WarmUp {
            spent_ns: 1_000_000_000,
            ..WarmUp::default()
        });
        let mut experience = PastDurations::default();
        experience.add_session(&session);
        let found = plan_estimate(&session.plan, &BTreeSet::new(), &experience);
        assert_eq!(found.known, 1);
        // A second of warm-up, thirty samples of 50 ms, three wake-ups.
        let expected = 1.0 + 1.5 + 3.0 * 0.15;
        assert!((found.low_s - expected).abs() < 1e-6, "{found:?}");
        // Or a warm-up that is given up after sixty runs, and runs of 125 ms.
        let most = 60.0 * 0.125 + 3.0 * (1.25 + 0.15);
        assert!((found.high_s - most).abs() < 1e-6, "{found:?}");
        assert_eq!(found.to_string(), "3 s to 12 s");
    }

    #[test]
    fn waits_between_rounds_are_part_of_the_whole_and_of_no_case() {
        let mut planned = plan(&["ort:cpu"], &[1]);
        planned.measure = MeasureRule::from_preset(PresetName::Quick);
        let found = fresh_estimate(&planned);
        assert!(found.low_s > 15.0, "{found:?}");
        let cases = case_estimates(&planned, &BTreeSet::new(), &PastDurations::default());
        assert!(cases[0].low_s < 8.0, "{cases:?}");
    }

    /// Numbers between 0 and 1, the same for the same seed.
    struct DurationRng(u64);

    impl DurationRng {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33) as f64 / (1_u64 << 31) as f64
        }

        fn within(&mut self, low: f64, high: f64) -> f64 {
            low + (high - low) * self.next()
        }
    }

    /// A machine on which each step takes a time of its own, and which slows down half way through a run.
    struct SimulatedMachine {
        start_s: f64,
        opening_s: f64,
        /// A run of one item.
        item_s: f64,
        slows_by: f64,
    }

    impl SimulatedMachine {
        /// A run of a plan on it, as it was recorded, and how long it took in seconds.
        fn measure(&self, plan: &Plan, dice: &mut DurationRng) -> (Session, f64) {
            let setups: Vec<String> = plan.setups.iter().map(ToString::to_string).collect();
            let setups: Vec<&str> = setups.iter().map(String::as_str).collect();
            let batches: Vec<usize> = plan.points.iter().map(|point| point.batch()).collect();
            let mut session = session(&setups, &batches);
            session.plan = plan.clone();
            let rounds = match plan.measure.target_ci95_rel {
                Some(_) => (f64::from(plan.measure.rounds) * dice.within(1.0, 2.5)) as u32,
                None => plan.measure.rounds,
            };
            let gap_s = plan.measure.gap_ns(rounds).unwrap_or_default() as f64 / 1e9;
            let visits = f64::from(rounds) * session.cases.len() as f64;
            let (mut at_s, mut visit) = (0.0, 0.0);
            let mut began_s: BTreeMap<usize, f64> = BTreeMap::new();
            let mut starts = vec![1; plan.setups.len()];
            for round in 0..rounds {
                let begins = |setup: usize| begins(round, rounds, starts[setup]);
                let mut to_start: BTreeSet<usize> =
                    (0..starts.len()).filter(|s| begins(*s)).collect();
                let starting = to_start.clone();
                for place in 0..session.cases.len() {
                    let slow = if visit >= visits / 2.0 {
                        self.slows_by
                    } else {
                        1.0
                    };
                    let setup = session.cases[place].setup;
                    visit += 1.0;
                    if to_start.remove(&setup) {
                        at_s += self.start(&mut session, setup, slow, dice);
                    }
                    if starting.contains(&setup) {
                        at_s += self.prepare(&mut session, place, slow, dice);
                    }
                    let due_s = began_s.get(&place).map_or(0.0, |began_s| began_s + gap_s);
                    at_s = at_s.max(due_s);
                    began_s.insert(place, at_s);
                    at_s += self.round(&mut session, place, round, slow, dice);
                }
                if round == 0 {
                    for (setup, starts) in starts.iter_mut().enumerate() {
                        let cost = StartCost::measured(&session, setup).unwrap_or_default();
                        *starts = schedule::starts::starts(
                            &plan.measure,
                            rounds,
                            cost,
                            plan.setups.len(),
                        );
                    }
                }
            }
            (session, at_s)
        }

        fn run_s(&self, session: &Session, place: usize) -> f64 {
            self.item_s * session.cases[place].point.batch() as f64
        }

        fn start(
            &self,
            session: &mut Session,
            setup: usize,
            slow: f64,
            dice: &mut DurationRng,
        ) -> f64 {
            let start_s = self.start_s * slow * dice.within(0.8, 1.25);
            session.reports[setup].get_or_insert_with(|| SetupReport {
                load_ns: ns(start_s),
                ..SetupReport::default()
            });
            start_s
        }

        /// Opening and warming up; times that wander settle late or not at all.
        fn prepare(
            &self,
            session: &mut Session,
            place: usize,
            slow: f64,
            dice: &mut DurationRng,
        ) -> f64 {
            let mut step = |seconds: f64| seconds * slow * dice.within(0.8, 1.25);
            let run_s = step(self.run_s(session, place));
            let opening_s = step(self.opening_s) + run_s;
            let is_first = session.cases[place].opening.is_none();
            let (rule, limit) = visit_warm_up(&session.plan, is_first);
            let least_s = (rule.min_time_ms as f64 / 1e3).max(rule.min_runs as f64 * run_s);
            let given_up_s = (limit.least_ns as f64 / 1e9).max(limit.runs as f64 * run_s);
            let most_s = given_up_s.min(rule.max_time_ms as f64 / 1e3).max(run_s);
            let settled = slow < 1.5 && step(1.0) < 1.2;
            let warm_up_s = if settled { least_s.min(most_s) } else { most_s };
            if is_first {
                session.cases[place].opening = Some(CaseOpening {
                    first_run_ns: ns(opening_s),
                    ..CaseOpening::default()
                });
                session.cases[place].warm_up = Some(WarmUp {
                    spent_ns: ns(warm_up_s),
                    runs: 10,
                    settled,
                });
            }
            opening_s + warm_up_s
        }

        fn round(
            &self,
            session: &mut Session,
            place: usize,
            round: u32,
            slow: f64,
            dice: &mut DurationRng,
        ) -> f64 {
            let run_s = self.run_s(session, place) * slow * dice.within(0.8, 1.25);
            let rule = session.plan.measure.clone();
            let rounds = f64::from(rule.rounds);
            let (mut spent_s, mut samples) = (0.0, 0.0);
            let wanted = rule.min_samples as f64 / rounds;
            let (least_s, most_s) = (rule.min_time_ms as f64 / 1e3, rule.max_time_ms as f64 / 1e3);
            while (samples < wanted || spent_s * rounds < least_s) && spent_s * rounds < most_s {
                spent_s += run_s;
                samples += 1.0;
            }
            let case = session.cases[place].key();
            let samples = vec![ns(run_s); samples as usize];
            add_round(session, case.setup, case.point.batch(), round, &samples);
            spent_s + run_s.max(0.15)
        }
    }

    fn ns(seconds: f64) -> u64 {
        (seconds * 1e9) as u64
    }

    #[test]
    fn the_upper_end_holds_on_a_loaded_machine_too() {
        const RUNS: u64 = 400;
        for preset in [PresetName::Quick, PresetName::Standard] {
            let mut planned = plan(&["ort:cpu", "tract:cpu"], &[1, 4]);
            planned.preset = preset;
            // Rounds lie apart, and begin with starts.
            planned.measure = MeasureRule::from_preset(preset);
            for knows in [false, true] {
                let (mut beyond, mut excess) = (0, Vec::new());
                for seed in 1..=RUNS {
                    let mut dice = DurationRng(seed);
                    let mut machine = SimulatedMachine {
                        start_s: dice.within(0.3, 3.0),
                        opening_s: dice.within(0.0, 1.0),
                        item_s: 0.001 * 50_f64.powf(dice.next()),
                        slows_by: 1.0,
                    };
                    let mut past = PastDurations::default();
                    if knows {
                        past.add_session(&machine.measure(&planned, &mut dice).0);
                    }
                    if seed % 2 == 0 {
                        machine.slows_by = dice.within(2.0, 3.0);
                    }
                    let found = plan_estimate(&planned, &BTreeSet::new(), &past);
                    let (_, took_s) = machine.measure(&planned, &mut dice);
                    assert!(found.low_s < found.high_s);
                    beyond += u64::from(took_s > found.high_s);
                    excess.push(found.high_s / took_s);
                }
                let told = format!("{preset}, known: {knows}: {beyond} of {RUNS} beyond");
                assert!(beyond * 20 <= RUNS, "{told}");
                // An upper end that nothing comes near would hold as well.
                excess.sort_by(f64::total_cmp);
                let middle = excess[excess.len() / 2];
                assert!(middle < 12.0, "{told}, {middle} times what it took");
            }
        }
    }
}
