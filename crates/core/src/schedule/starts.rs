//! How many starts of a setup's worker its rounds are spread over, and which rounds begin with one.
//!
//! A process is one draw: its place in memory, its threads on the cores, the second in which it ran. So each round
//! is a start of its own where starts are cheap. Where they are not (compiling, a large model), there are fewer.

use crate::domain::case::Case;
use crate::domain::plan::{MeasureRule, Plan};
use crate::domain::session::Session;
use crate::domain::setup::Setup;
use crate::schedule::warm_up;
use crate::stats::summary::median;

/// A setup whose start takes less than this, in nanoseconds, has this many starts however little it measures.
const CHEAP_NS: u64 = 10_000_000_000;
const FEWEST_CHEAP: u32 = 3;

/// What a start of a setup takes, and what is measured after it, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartCost {
    /// Starting the worker and loading the model, and of each of its cases the opening, first run and warm-up.
    pub start_ns: u64,
    /// A round of all its cases.
    pub round_ns: u64,
}

impl StartCost {
    /// What a start of a setup took in a session; nothing before its first round.
    pub fn measured(session: &Session, setup: usize) -> Option<Self> {
        let mut cost = Self {
            start_ns: session.start_ns(setup),
            round_ns: 0,
        };
        let own = session.cases.iter().filter(|case| case.setup == setup);
        for case in own.filter(|case| !case.outcome.is_trouble()) {
            let rounds: Vec<f64> = case
                .rounds
                .iter()
                .map(|round| round.spent_ns as f64)
                .collect();
            let Some(round_ns) = median(&rounds) else {
                continue;
            };
            cost.start_ns += preparing_ns(&session.plan, case);
            cost.round_ns += round_ns as u64;
        }
        (cost.round_ns > 0).then_some(cost)
    }
}

/// What it takes to make a case ready in a worker that was started again: as much as the first time, with a warm-up
/// that is over sooner.
pub fn preparing_ns(plan: &Plan, case: &Case) -> u64 {
    let rounds = case.rounds.iter().map(|round| round.spent_ns);
    let opening = case.opening.as_ref();
    let opening = opening.map_or(0, |opening| opening.open_ns + opening.first_run_ns);
    let warm_up = case.warm_up.as_ref().map_or(0, |warm_up| warm_up.spent_ns);
    let most = warm_up::longest_ns(plan, rounds.max().unwrap_or_default());
    opening + warm_up.min(most)
}

/// Why a setup is never started again; nothing where it may be.
pub fn why_one_start(setup: &Setup) -> Option<&'static str> {
    if setup.is_python_loop() {
        return Some("the loop stays in its Python program");
    }
    let trains = setup
        .options
        .get("task")
        .is_some_and(|task| task == "train");
    trains.then_some("training goes on from round to round")
}

/// Over how many starts so many rounds of a setup are spread, by the cost of one.
///
/// Starts may take as long as all that the setup measures, and its share of the time that passes anyway while rounds
/// lie apart.
pub fn starts(rule: &MeasureRule, rounds: u32, cost: StartCost, n_setups: usize) -> u32 {
    let Some(spacing) = rule.spacing.filter(|spacing| spacing.is_apart()) else {
        return 1;
    };
    let passes_anyway = spacing.span_ns(rounds) / n_setups.max(1) as u64;
    let allowed = passes_anyway + u64::from(rounds) * cost.round_ns;
    let affordable = allowed / cost.start_ns.max(1);
    let fewest = if cost.start_ns < CHEAP_NS {
        FEWEST_CHEAP
    } else {
        1
    };
    let most = u64::from(rounds.max(1));
    affordable.max(u64::from(fewest)).min(most) as u32
}

/// Whether a round, counted from 0, begins with a start, where so many rounds are spread over so many starts.
/// Rounds beyond those go on in the same way.
pub fn begins(round: u32, rounds: u32, starts: u32) -> bool {
    let (rounds, starts) = (u64::from(rounds.max(1)), u64::from(starts));
    let start_of = |round: u64| round * starts / rounds;
    round == 0 || start_of(u64::from(round)) > start_of(u64::from(round) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::case::{CaseOpening, Round, WarmUp};
    use crate::domain::plan::PresetName;
    use crate::domain::setup_report::SetupReport;
    use crate::domain::spacing::Spacing;
    use crate::schedule::testing::{plan, session};

    const SECOND: u64 = 1_000_000_000;

    fn cost(start_s: f64, round_s: f64) -> StartCost {
        StartCost {
            start_ns: (start_s * 1e9) as u64,
            round_ns: (round_s * 1e9) as u64,
        }
    }

    #[test]
    fn cheap_starts_are_made_in_every_round() {
        for preset in PresetName::ALL {
            let rule = MeasureRule::from_preset(preset);
            let found = |start_s| starts(&rule, rule.rounds, cost(start_s, 0.2), 1);
            assert_eq!(found(0.7), rule.rounds, "{preset}");
            assert_eq!(found(2.5), rule.rounds, "{preset}: that time passes anyway");
        }
    }

    #[test]
    fn expensive_starts_are_fewer_the_more_they_cost() {
        let rule = MeasureRule::from_preset(PresetName::Quick);
        let quick = |start_s, n_setups| starts(&rule, 5, cost(start_s, 0.2), n_setups);
        assert_eq!(quick(6.0, 1), 3, "at least three below ten seconds");
        assert_eq!(quick(9.0, 8), 3);
        assert_eq!(quick(41.0, 1), 1);
        let standard = MeasureRule::from_preset(PresetName::Standard);
        assert_eq!(starts(&standard, 5, cost(41.0, 20.0), 1), 2);
        let publish = MeasureRule::from_preset(PresetName::Publish);
        assert_eq!(starts(&publish, 6, cost(41.0, 20.0), 1), 3);
        let mut last = u32::MAX;
        for seconds in 0..200 {
            let now = quick(f64::from(seconds), 1);
            assert!((1..=5).contains(&now) && now <= last, "{seconds} s: {now}");
            last = now;
        }
    }

    #[test]
    fn rounds_that_follow_one_another_are_of_one_start() {
        for spacing in [None, Some(Spacing::default())] {
            let rule = MeasureRule {
                spacing,
                ..MeasureRule::from_preset(PresetName::Quick)
            };
            assert_eq!(starts(&rule, 5, cost(0.1, 0.2), 1), 1);
        }
    }

    #[test]
    fn starts_are_spread_evenly_over_the_rounds() {
        let first_rounds = |rounds, starts| -> Vec<u32> {
            (0..rounds)
                .filter(|&round| begins(round, rounds, starts))
                .collect()
        };
        assert_eq!(first_rounds(5, 5), [0, 1, 2, 3, 4]);
        assert_eq!(first_rounds(5, 3), [0, 2, 4]);
        assert_eq!(first_rounds(5, 2), [0, 3]);
        assert_eq!(first_rounds(6, 1), [0]);
        assert!(begins(7, 5, 5) && begins(6, 5, 3) == begins(1, 5, 3));
        for rounds in 1..12 {
            for starts in 1..=rounds {
                assert_eq!(first_rounds(rounds, starts).len() as u32, starts);
            }
        }
    }

    #[test]
    fn training_goes_on_from_round_to_round() {
        let setup = |text: &str| text.parse::<Setup>().unwrap();
        let why = |text: &str| why_one_start(&setup(text)).unwrap_or_default();
        assert!(why("torch,task=train").contains("training goes on"));
        assert!(why("command,loop=mine").contains("Python program"));
        assert_eq!((why("torch,task=generate"), why("ort")), ("", ""));
    }

    #[test]
    fn the_cost_of_a_start_is_that_of_all_cases_of_the_setup() {
        let mut session = session(plan(PresetName::Quick, &["ort"], &[1, 2]));
        assert_eq!(StartCost::measured(&session, 0), None);
        session.reports[0] = Some(SetupReport {
            start_ns: SECOND,
            load_ns: 2 * SECOND,
            ..SetupReport::default()
        });
        assert_eq!(StartCost::measured(&session, 0), None, "no round yet");
        for case in &mut session.cases {
            case.opening = Some(CaseOpening {
                open_ns: 3,
                first_run_ns: 4,
                ..CaseOpening::default()
            });
            case.warm_up = Some(WarmUp {
                spent_ns: 9 * SECOND,
                ..WarmUp::default()
            });
            case.rounds = vec![Round {
                spent_ns: SECOND / 5,
                ..Round::default()
            }];
        }
        let found = StartCost::measured(&session, 0).unwrap();
        // A later warm-up takes half as long as the round at most.
        assert_eq!(found.start_ns, 3 * SECOND + 2 * (7 + SECOND / 10));
        assert_eq!(found.round_ns, 2 * SECOND / 5);
    }
}
