//! Optimisation steps from a baseline to an end, what each one gained, and what that cost.
//!
//! The steps are those of the plan's ladder. Without one, the setups are alternatives at one point: each is compared
//! with the first, because its neighbour in the plan is not what it came from. Gains are comparisons of two cases like
//! any other, so they have intervals and verdicts.

use super::break_even::{pays_after, preparation_ns};
use super::case_rows::CaseRow;
use super::comparison::{self, CasePair, ComparedSide};
use super::memory::MemoryNeed;
use super::ranks::gain_ranks;
use powerband_core::domain::accuracy::Accuracy;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::OptimisationStep;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::stats::joint::Statement;

/// The reason of a step that is still to be measured.
const NOT_YET: &str = "not measured yet";
/// What setups are where the plan has no ladder.
const ALTERNATIVES: &str = "The setups are alternatives, so each is compared with the first one. In a plan whose setups are optimisation steps, each is compared with the previous one too.";

/// So many steps are named in a sentence.
const MOST_NAMED: usize = 8;

/// Steps in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journey {
    /// Whether the plan says that they are steps; else they are alternatives.
    pub is_ladder: bool,
    pub steps: Vec<StepResult>,
    /// Warnings about the gains.
    pub remarks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StepResult {
    pub title: String,
    pub case: CaseKey,
    /// The case in numbers, where it was measured.
    pub row: Option<CaseRow>,
    /// Why it was not measured, where it was not.
    pub why_not_measured: Option<String>,
    /// Against the last step before it that was measured; nothing of alternatives.
    pub vs_previous: Option<CasePair>,
    /// Against the first step, where that was measured.
    pub vs_baseline: Option<CasePair>,
    /// Its rank among the gains whose verdict holds, 1 for the largest.
    pub rank: Option<Statement<usize>>,
    /// Set-up time, break-even and memory.
    pub cost: Cost,
    /// The accuracy of its outputs, where they were compared.
    pub accuracy: Option<Accuracy>,
}

impl StepResult {
    /// What its verdict is about: the gain over the previous step, of alternatives that over the first.
    pub fn gain(&self) -> Option<&CasePair> {
        self.vs_previous.as_ref().or(self.vs_baseline.as_ref())
    }

    /// Its rank as text: `2`, and `1–2` where draws do not agree.
    pub fn rank_text(&self) -> Option<String> {
        let candidates = self.rank.as_ref()?.candidates();
        let (first, last) = (candidates.iter().min()?, candidates.iter().max()?);
        Some(if first == last {
            first.to_string()
        } else {
            format!("{first}–{last}")
        })
    }

    /// Whether it is still to be measured.
    pub fn is_waiting(&self) -> bool {
        self.why_not_measured.as_deref() == Some(NOT_YET)
    }
}

/// Set-up time, break-even and memory of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Loading, compiling and the first run, in nanoseconds.
    pub preparation_ns: Option<f64>,
    /// Break-even against the previous step, in runs; nothing where it never comes, or the set-up takes
    /// no longer.
    pub break_even_runs: Option<f64>,
    /// The most memory that it needed.
    pub memory: Option<MemoryNeed>,
}

/// The optimisation steps of a session; at `point` where the plan has no ladder.
pub fn compare_steps(session: &Session, rows: &[CaseRow], point: Point) -> Journey {
    let mut journey = Journey {
        is_ladder: !session.plan.ladder.is_empty(),
        ..Journey::default()
    };
    for planned in steps(session, point) {
        let step = step_result(session, rows, planned, &journey);
        journey.steps.push(step);
    }
    let gains: Vec<Option<&CasePair>> = journey.steps.iter().map(StepResult::gain).collect();
    let ranks = gain_ranks(&gains);
    for (step, rank) in journey.steps.iter_mut().zip(ranks) {
        step.rank = rank;
    }
    journey.remarks.extend(by_effect(&journey.steps));
    if !journey.is_ladder && journey.steps.len() > 1 {
        journey.remarks.push(ALTERNATIVES.to_owned());
    }
    let sizes = |step: &StepResult| step.case.point.batch();
    if journey
        .steps
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if sizes(a) != sizes(b)))
    {
        journey.remarks.push(
            "Steps of different batch sizes are compared by the time of an item, which is the gain in throughput; the latency of a batch grows with it.".to_owned(),
        );
    }
    if let Some(start) = journey.steps.first()
        && start.why_not_measured.is_some()
        && !start.is_waiting()
    {
        journey.remarks.push(format!(
            "{}, the baseline, was not measured, so gains vs. baseline are not known.",
            start.title
        ));
    }
    for step in &journey.steps {
        let pair = step.gain();
        let reason = pair.and_then(|pair| pair.verdict.reason.clone());
        if let Some(reason) = reason {
            let remark = format!("{}: {reason}", step.title);
            if !journey.remarks.contains(&remark) {
                journey.remarks.push(remark);
            }
        }
    }
    journey
}

/// The steps by their effect, in a sentence; nothing for fewer than two gains.
fn by_effect(steps: &[StepResult]) -> Option<String> {
    let mut gains: Vec<(&StepResult, &CasePair, f64)> = steps
        .iter()
        .filter_map(|step| {
            let pair = step.gain()?;
            Some((step, pair, pair.ratio?.speed_up))
        })
        .collect();
    if gains.len() < 2 {
        return None;
    }
    gains.sort_by(|a, b| {
        let is_open = |step: &StepResult| step.rank.is_none();
        let by_verdict = is_open(a.0).cmp(&is_open(b.0));
        by_verdict.then(b.2.total_cmp(&a.2))
    });
    let words = |(step, pair, _): &(&StepResult, &CasePair, f64)| {
        let gain = pair
            .ratio
            .map(|ratio| ratio.speed_up_text())
            .unwrap_or_default();
        match step.rank_text() {
            Some(rank) => format!("{rank}. {} ({gain}, {})", step.title, pair.verdict.call),
            None => format!("{} ({gain})", step.title),
        }
    };
    let n_ranked = gains
        .iter()
        .filter(|(step, ..)| step.rank.is_some())
        .count();
    let (ranked, open) = gains.split_at(n_ranked);
    let listed = |gains: &[_]| {
        let words: Vec<String> = gains.iter().take(MOST_NAMED).map(words).collect();
        let more = gains.len().saturating_sub(MOST_NAMED);
        let more = (more > 0).then(|| format!("and {more} more"));
        words.into_iter().chain(more).collect::<Vec<_>>().join(", ")
    };
    Some(match (ranked.is_empty(), open.is_empty()) {
        (false, true) => format!("By effect: {}.", listed(ranked)),
        (false, false) => format!(
            "By effect: {}; not settled: {}.",
            listed(ranked),
            listed(open)
        ),
        (true, _) => format!("By effect, not settled: {}.", listed(open)),
    })
}

/// The ladder, or the setups in their order.
fn steps(session: &Session, point: Point) -> Vec<OptimisationStep> {
    let plan = &session.plan;
    if !plan.ladder.is_empty() {
        return plan.ladder.clone();
    }
    let setups = 0..plan.setups.len();
    setups
        .map(|setup| OptimisationStep {
            title: session.setup_label(setup),
            case: CaseKey { setup, point },
        })
        .collect()
}

fn step_result(
    session: &Session,
    rows: &[CaseRow],
    planned: OptimisationStep,
    journey: &Journey,
) -> StepResult {
    let earlier = &journey.steps;
    let found = rows
        .iter()
        .find(|row| (row.setup, row.point) == (planned.case.setup, planned.case.point));
    let is_measured = |row: &&CaseRow| row.latency_ns.is_some() && !row.outcome.is_trouble();
    let row = found.filter(is_measured).cloned();
    let trouble = match (&row, found) {
        (Some(_), _) => None,
        (None, None) => Some("this case is not in the plan".to_owned()),
        (None, Some(row)) => Some(row.outcome.sentence().unwrap_or_else(|| NOT_YET.to_owned())),
    };
    let side = |case: CaseKey| ComparedSide {
        session,
        rows,
        setup: case.setup,
        point: Some(case.point),
    };
    let against = |other: &StepResult| {
        row.as_ref()?;
        comparison::compare_setups(&side(other.case), &side(planned.case))
            .pairs
            .pop()
    };
    let before = earlier.iter().rfind(|step| step.row.is_some());
    let before = before.filter(|_| journey.is_ladder);
    // Another step in its place would make gains look like those over the baseline.
    let start = earlier.first().filter(|step| step.row.is_some());
    let over_before = before.and_then(against);
    let cost = Cost {
        preparation_ns: row
            .as_ref()
            .and_then(|_| preparation_ns(session, planned.case)),
        memory: row.as_ref().and_then(|row| row.memory),
        break_even_runs: None,
    };
    let pays_after_runs = over_before.as_ref().zip(before).and_then(|(pair, before)| {
        pays_after(pair, before.cost.preparation_ns?, cost.preparation_ns?)
    });
    StepResult {
        accuracy: session.accuracies.get(&planned.case.setup).cloned(),
        vs_baseline: start.and_then(against),
        vs_previous: over_before,
        rank: None,
        title: planned.title,
        case: planned.case,
        row,
        why_not_measured: trouble,
        cost: Cost {
            break_even_runs: pays_after_runs,
            ..cost
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{make_ladder, measure, measure_near, session};
    use powerband_core::domain::case::CaseOpening;
    use powerband_core::domain::outcome::Outcome;
    use powerband_core::domain::point::Point;
    use powerband_core::domain::setup_report::SetupReport;

    fn compared_steps() -> Session {
        let mut session = session(&["torch:cpu", "torch:cpu,mode=compile", "ort:cpu"], &[1, 8]);
        for (setup, micros) in [(0, 8_000), (2, 2_000)] {
            measure_near(&mut session, setup, 1, micros);
        }
        measure_near(&mut session, 2, 8, 8_000);
        session.cases[2].outcome = Outcome::Unsupported {
            reason: "no C++ compiler".to_owned(),
        };
        session
    }

    /// The same as a ladder at batch 1.
    fn ladder() -> Session {
        let mut session = compared_steps();
        make_ladder(&mut session);
        session
    }

    #[test]
    fn alternatives_are_compared_with_the_first_and_have_no_break_even() {
        let mut session = compared_steps();
        with_loads(&mut session);
        let rows = case_rows::case_rows(&session);
        let journey = compare_steps(&session, &rows, Point::of_batch(1));
        assert!(!journey.is_ladder);
        let last = journey.steps.last().unwrap();
        assert_eq!(
            (&last.vs_previous, last.cost.break_even_runs),
            (&None, None)
        );
        let gain = last.gain().unwrap().ratio.unwrap().speed_up;
        assert!((gain - 4.0).abs() < 1e-3, "{gain}");
        assert!(journey.remarks.contains(&ALTERNATIVES.to_owned()));
    }

    #[test]
    fn each_step_is_compared_with_the_last_measured_one_and_with_the_start() {
        let session = ladder();
        let journey = compare_steps(
            &session,
            &case_rows::case_rows(&session),
            Point::of_batch(1),
        );
        let [first, second, third] = &journey.steps[..] else {
            panic!("{journey:?}")
        };
        assert!(first.vs_previous.is_none() && first.vs_baseline.is_none());
        assert_eq!(second.why_not_measured.as_deref(), Some("no C++ compiler"));
        assert!(second.vs_previous.is_none());
        let gain = |pair: &Option<CasePair>| pair.as_ref().unwrap().ratio.unwrap().speed_up;
        assert!((gain(&third.vs_previous) - 4.0).abs() < 1e-3);
        assert!((gain(&third.vs_baseline) - 4.0).abs() < 1e-3);
    }

    #[test]
    fn nothing_takes_the_place_of_a_start_that_failed() {
        let mut session = compared_steps();
        let step = |title: &str, setup| OptimisationStep {
            title: title.to_owned(),
            case: CaseKey {
                setup,
                point: Point::of_batch(1),
            },
        };
        session.plan.ladder = vec![step("failed", 1), step("second", 0), step("third", 2)];
        let journey = compare_steps(
            &session,
            &case_rows::case_rows(&session),
            Point::of_batch(1),
        );
        let last = journey.steps.last().unwrap();
        assert!(last.vs_previous.is_some() && last.vs_baseline.is_none());
        let told = journey.remarks.join(" ");
        assert!(
            told.contains("failed, the baseline, was not measured"),
            "{told}"
        );
    }

    #[test]
    fn a_ladder_goes_its_own_way_and_larger_batches_count_per_item() {
        let mut session = compared_steps();
        let step = |title: &str, setup, batch| OptimisationStep {
            title: title.to_owned(),
            case: CaseKey {
                setup,
                point: Point::of_batch(batch),
            },
        };
        session.plan.ladder = vec![
            step("start", 0, 1),
            step("fused", 2, 1),
            step("batch 8", 2, 8),
        ];
        let journey = compare_steps(
            &session,
            &case_rows::case_rows(&session),
            Point::of_batch(1),
        );
        let last = journey.steps.last().unwrap();
        let gain = |pair: &Option<CasePair>| pair.as_ref().unwrap().ratio.unwrap().speed_up;
        assert!(
            (gain(&last.vs_previous) - 2.0).abs() < 1e-3,
            "8 ms for 8, 2 ms for 1"
        );
        assert!((gain(&last.vs_baseline) - 8.0).abs() < 1e-3);
        assert!(journey.remarks[1].contains("time of an item"));
        assert_eq!(
            session.plan.cases().len(),
            3,
            "and only its cases are measured"
        );
    }

    #[test]
    fn gains_are_ranked_by_effect_and_open_ones_are_not() {
        let mut session = session(&["a", "b", "c", "d", "e"], &[1]);
        make_ladder(&mut session);
        for (setup, micros) in [(0, 9_000), (1, 6_000), (2, 2_000), (3, 2_500)] {
            measure_near(&mut session, setup, 1, micros);
        }
        // Rounds that fall apart.
        measure(
            &mut session,
            4,
            1,
            &[&[1_000_000; 9], &[9_000_000; 9], &[2_000_000; 9]],
        );
        let journey = compare_steps(
            &session,
            &case_rows::case_rows(&session),
            Point::of_batch(1),
        );
        let ranks = journey.steps.iter().map(StepResult::rank_text);
        let ranks: Vec<String> = ranks.map(Option::unwrap_or_default).collect();
        assert_eq!(ranks, ["", "2", "1", "3", ""], "in the order of the plan");
        let said = &journey.remarks[0];
        assert!(
            said.starts_with("By effect: 1. c:cpu (3.00 ×, faster), 2. b:cpu (1.50 ×, faster), 3. d:cpu (0.800 ×, slower); not settled: e:cpu ("),
            "{said}"
        );
    }

    /// The third takes six seconds longer to load.
    fn with_loads(session: &mut Session) {
        for (setup, load_ms) in [(0, 100), (2, 6_100)] {
            session.reports[setup] = Some(SetupReport {
                load_ns: load_ms * 1_000_000,
                ..SetupReport::default()
            });
            let case = session
                .cases
                .iter_mut()
                .find(|c| (c.setup, c.point.batch()) == (setup, 1));
            case.unwrap().opening = Some(CaseOpening::default());
        }
    }

    #[test]
    fn what_takes_longer_to_prepare_pays_after_so_many_runs() {
        let mut session = ladder();
        with_loads(&mut session);
        let journey = compare_steps(
            &session,
            &case_rows::case_rows(&session),
            Point::of_batch(1),
        );
        // Six seconds more, six milliseconds saved by each run.
        let runs = journey.steps[2].cost.break_even_runs.unwrap();
        assert!((990.0..1_010.0).contains(&runs), "{runs}");
        assert_eq!(journey.steps[0].cost.break_even_runs, None);
    }
}
