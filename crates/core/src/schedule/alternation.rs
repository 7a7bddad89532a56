//! Experiments in turns: which sides alternate, for how long each time, over how many starts, and when an effect is
//! settled.
//!
//! A change and its control take turns every few tenths of a second, so that what drifts over seconds is in both. A
//! process is one draw of where its memory lies, so that turns are spread over starts of the workers.

use crate::domain::case::CaseKey;
use crate::domain::experiment::{ExperimentChange, Experiments};
use crate::domain::plan::{MeasureRule, PresetName, WarmUpRule};
use crate::stats::ratio::Estimate;
use crate::stats::student;

/// Turns are spread over at least so many starts of the workers.
pub const LEAST_STARTS: u32 = 3;
/// After a switch the system needs about so long to spread threads over the cores again; this much is not measured.
pub const SWITCH_MS: u64 = 120;
/// A turn measures at least so many runs and so long, but no longer than the last of these.
const TURN_RUNS: u64 = 6;
const TURN_MS: u64 = 100;
const LONGEST_TURN_MS: u64 = 1_000;
/// A turn is measured anew for so long at most, and all turns together for this part of the time for experiments.
const LONGEST_WAIT_NS: u64 = 3_000_000_000;
const WAITED_PART: u64 = 2;
/// Effects differ by about so much from start to start, as a logarithm; this counts as so many starts.
const STARTS_DIFFER: f64 = 0.05;
const KNOWN_AS_STARTS: f64 = 3.0;
/// An effect is absent where its whole interval is within this share of none.
const ABSENT_WITHIN: f64 = 0.1;
/// Work that is shared among threads takes at least so many times as long on half of them, work that is not at most
/// so many times, and work of which a part is lies between these.
const SHARED: f64 = 1.5;
const UNSHARED: f64 = 1.15;
const PARTLY_SHARED: (f64, f64) = (1.15, 1.6);

/// How long a preset measures experiments at most, in seconds.
pub fn budget_s(preset: PresetName) -> u64 {
    match preset {
        PresetName::Quick => 20,
        PresetName::Standard => 120,
        PresetName::Publish => 600,
    }
}

/// How long the next turn may be measured anew while other programs work, in nanoseconds; `waited_ns` is how long earlier
/// turns were.
pub fn patience_ns(budget_s: Option<u64>, waited_ns: u64) -> u64 {
    let all_ns = budget_s.unwrap_or(0) * 1_000_000_000 / WAITED_PART;
    all_ns.saturating_sub(waited_ns).min(LONGEST_WAIT_NS)
}

/// The rule of turns: each is a round of the cases that take part.
pub fn turn_rule(preset: PresetName, turns: Option<u32>, usual: &MeasureRule) -> MeasureRule {
    // Few for each start: what differs most is one start from the next.
    let turns = turns.unwrap_or(match preset {
        PresetName::Quick => 6,
        PresetName::Standard => 18,
        PresetName::Publish => 36,
    });
    let all = u64::from(turns.max(1));
    MeasureRule {
        rounds: turns,
        min_samples: TURN_RUNS * all,
        min_time_ms: TURN_MS * all,
        max_time_ms: LONGEST_TURN_MS * all,
        target_ci95_rel: None,
        spacing: None,
        ..usual.clone()
    }
}

/// The rule of warm-ups: turns begin with runs that are not measured, so that a short one is enough.
pub fn turn_warm_up(usual: &WarmUpRule) -> WarmUpRule {
    WarmUpRule {
        min_runs: usual.min_runs.min(3),
        min_time_ms: usual.min_time_ms / 2,
        max_time_ms: usual.min_time_ms * 2,
        windows: usual.windows.min(2),
        ..usual.clone()
    }
}

/// Cases that take turns: a control, and what is compared with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnGroup {
    /// The case without a change.
    pub control: CaseKey,
    /// The changes that take turns with it.
    pub changed: Vec<ChangedCase>,
}

/// A case with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedCase {
    pub change: ExperimentChange,
    pub case: CaseKey,
}

impl TurnGroup {
    /// The cases in the order of a turn, which is turned round each time.
    pub fn order(&self, turn: u32) -> Vec<CaseKey> {
        let changed = self.changed.iter().map(|tried| tried.case);
        let mut order: Vec<CaseKey> = [self.control].into_iter().chain(changed).collect();
        if turn % 2 == 1 {
            order.reverse();
        }
        order
    }

    /// Whether it tells what limits the case.
    pub fn tells_limits(&self) -> bool {
        self.changed.iter().any(|tried| tried.change.tells_limits())
    }
}

/// What takes turns with what, the most telling first. Loads share their turns, because the one is held against the
/// other.
pub fn turn_groups(experiments: &Experiments) -> Vec<TurnGroup> {
    let is_load = |change: ExperimentChange| {
        matches!(
            change,
            ExperimentChange::StreamingNeighbour | ExperimentChange::ComputingNeighbour
        )
    };
    let mut groups: Vec<TurnGroup> = Vec::new();
    for tried in &experiments.tried {
        let control = experiments.case_of(tried.control);
        let changed = ChangedCase {
            change: tried.change,
            case: experiments.changed_case(tried),
        };
        let same = groups.iter_mut().find(|group| {
            group.control == control
                && is_load(tried.change)
                && group.changed.iter().all(|other| is_load(other.change))
        });
        match same {
            Some(group) => group.changed.push(changed),
            None => groups.push(TurnGroup {
                control,
                changed: vec![changed],
            }),
        }
    }
    groups.sort_by_key(|group| !group.tells_limits());
    groups
}

/// Half the 95 % interval of an effect, as a logarithm. Few starts say little about how much starts differ, so a prior of
/// that variance is added to what they show.
pub fn half_width(effect: &Estimate) -> f64 {
    let is_of_starts = effect.starts > 1;
    let units = f64::from(if is_of_starts {
        effect.starts
    } else {
        effect.rounds
    });
    let seen = effect.error.powi(2) * units;
    let freedom = effect.freedom + KNOWN_AS_STARTS;
    let usual = KNOWN_AS_STARTS * STARTS_DIFFER.powi(2);
    let variance = (effect.freedom * seen + usual) / freedom;
    // Rounds of one start say nothing of how the next one would differ.
    let unseen = if is_of_starts {
        0.0
    } else {
        STARTS_DIFFER.powi(2)
    };
    student::t975(freedom) * (variance / units + unseen).sqrt()
}

/// Whether more turns would change nothing about what an effect tells: it is absent, or clear of what it is held
/// against on one side.
pub fn is_settled(change: ExperimentChange, effect: &Estimate) -> bool {
    let half = half_width(effect);
    let ln = match change {
        // Held against each other as the larger number of threads against the smaller one.
        ExperimentChange::TwiceThreads => effect.ln,
        _ => -effect.ln,
    };
    let (low, high) = ((ln - half).exp(), (ln + half).exp());
    let is_of_threads = matches!(
        change,
        ExperimentChange::HalfThreads | ExperimentChange::TwiceThreads
    );
    if is_of_threads {
        let is_partly_shared = low >= PARTLY_SHARED.0 && high <= PARTLY_SHARED.1;
        return high <= UNSHARED || low >= SHARED || is_partly_shared;
    }
    // Loads and other changes cost or bring something, or nothing.
    let is_absent = high <= 1.0 + ABSENT_WITHIN && low >= 1.0 - ABSENT_WITHIN;
    is_absent || low >= 1.0 + ABSENT_WITHIN || high <= 1.0 - ABSENT_WITHIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::experiment::Experiment;
    use crate::domain::point::Point;
    use crate::stats::ratio::{RoundSamples, paired};

    fn tried(change: ExperimentChange, setup: usize, control: usize) -> Experiment {
        Experiment {
            change,
            setup,
            control,
            point: None,
        }
    }

    #[test]
    fn loads_share_their_turns_and_what_tells_most_comes_first() {
        let experiments = Experiments {
            setup: 0,
            point: Point::of_batch(1),
            tried: vec![
                tried(ExperimentChange::OptimisationOff, 4, 0),
                tried(ExperimentChange::HalfThreads, 1, 0),
                tried(ExperimentChange::StreamingNeighbour, 2, 1),
                tried(ExperimentChange::ComputingNeighbour, 3, 1),
            ],
            untried: Vec::new(),
            budget_s: None,
        };
        let groups = turn_groups(&experiments);
        let setups =
            |order: Vec<CaseKey>| -> Vec<usize> { order.iter().map(|case| case.setup).collect() };
        let orders = groups.iter().map(|group| setups(group.order(0)));
        let orders: Vec<Vec<usize>> = orders.collect();
        assert_eq!(orders, [vec![0, 1], vec![1, 2, 3], vec![0, 4]]);
        assert_eq!(setups(groups[1].order(1)), [3, 2, 1]);
        assert!(groups[1].tells_limits() && !groups[2].tells_limits());
    }

    #[test]
    fn an_effect_is_settled_clear_of_its_threshold_or_absent() {
        let settled = |change, factors: &[f64]| {
            let rounds = |times: Vec<f64>| -> Vec<RoundSamples> {
                let each = (0..).zip(times);
                each.map(|(round, time)| RoundSamples {
                    round,
                    start: round,
                    samples: vec![time],
                })
                .collect()
            };
            let control = rounds(vec![10.0; factors.len()]);
            let changed = rounds(factors.iter().map(|factor| 10.0 * factor).collect());
            is_settled(change, &paired(&control, &changed).unwrap())
        };
        let threads = ExperimentChange::HalfThreads;
        assert!(settled(threads, &[1.9, 1.88, 1.92]));
        assert!(settled(threads, &[1.01, 1.0, 0.99]));
        assert!(settled(threads, &[0.9, 0.8, 0.85]));
        assert!(settled(threads, &[1.4, 1.38, 1.36]));
        assert!(!settled(threads, &[1.3, 1.9, 1.6]));
        let load = ExperimentChange::StreamingNeighbour;
        assert!(settled(load, &[1.3, 1.32, 1.28]));
        assert!(!settled(load, &[1.0, 1.2, 1.1]));
        assert!(settled(ExperimentChange::TwiceThreads, &[0.5, 0.52, 0.51]));
    }

    #[test]
    fn turns_are_short_and_long_runs_have_one_each() {
        let usual = MeasureRule::from_preset(PresetName::Quick);
        let rule = turn_rule(PresetName::Quick, None, &usual);
        assert_eq!(
            (rule.rounds, rule.min_time_ms, rule.spacing),
            (6, 600, None)
        );
        assert_eq!(turn_rule(PresetName::Quick, Some(2), &usual).rounds, 2);
    }

    #[test]
    fn a_turn_waits_for_others_within_half_of_the_time() {
        let second = 1_000_000_000;
        assert_eq!(patience_ns(Some(20), 0), 3 * second);
        assert_eq!(patience_ns(Some(20), 9 * second), second);
        assert_eq!(patience_ns(Some(20), 12 * second), 0);
        assert_eq!(patience_ns(None, 0), 0);
    }

    #[test]
    fn few_starts_take_in_what_starts_usually_differ_by() {
        let estimate = |times: &[(u32, f64)]| {
            let rounds = |times: Vec<(u32, f64)>| -> Vec<RoundSamples> {
                let each = (0..).zip(times);
                each.map(|(round, (start, time))| RoundSamples {
                    round,
                    start,
                    samples: vec![time],
                })
                .collect()
            };
            let control = rounds(times.iter().map(|(start, _)| (*start, 10.0)).collect());
            paired(&control, &rounds(times.to_vec())).unwrap()
        };
        let three = estimate(&[(0, 13.0), (1, 14.5), (2, 16.0)]);
        assert!(half_width(&three) < 0.5 * three.half_width(), "{three:?}");
        let alike = estimate(&[(0, 15.0), (1, 15.0), (2, 15.001)]);
        assert!(
            half_width(&alike) > alike.half_width(),
            "nothing is that sure"
        );
        let one_start = estimate(&[(0, 13.0), (0, 14.0)]);
        let half = half_width(&one_start);
        assert!((0.1..0.25).contains(&half), "{half}");
    }
}
