//! Which case is the fastest and which change is the largest, stated where joint draws agree.

use super::case_pair::CasePair;
use super::case_rounds::{JointDraws, RoundStatistic};
use super::case_rows::CaseRow;
use super::journey::{Journey, StepResult};
use super::ranks::gain_draws;
use super::verdict::Call;
use powerband_core::base::humanize;
use powerband_core::stats::joint::{RankedValue, Statement, highest};

/// The case with the shortest median; nothing for no case that was measured.
pub fn fastest<'a>(rows: &[&'a CaseRow]) -> Option<Statement<&'a CaseRow>> {
    let median = |row: &CaseRow| Some(row.latency_ns.as_ref()?.median);
    best(rows, RoundStatistic::Median, |row| Some(-median(row)?))
}

/// The case with the highest throughput; nothing for none that is known.
pub fn busiest<'a>(rows: &[&'a CaseRow]) -> Option<Statement<&'a CaseRow>> {
    best(rows, RoundStatistic::Rate, |row| row.throughput_per_s)
}

/// The cases of one session whose figure is the best: the highest, or the lowest where what is shown is below zero.
fn best<'a>(
    rows: &[&'a CaseRow],
    figure: RoundStatistic,
    shown: impl Fn(&CaseRow) -> Option<f64>,
) -> Option<Statement<&'a CaseRow>> {
    let mut joint = JointDraws::default();
    let contenders = rows.iter().filter_map(|row| {
        let shown = shown(row)?;
        let draws = joint.draws(0, &row.by_round, figure);
        let sign = shown.signum();
        let draws = draws.map(|draws| draws.into_iter().map(|ln| sign * ln).collect());
        Some((*row, RankedValue { shown, draws }))
    });
    let (rows, contenders): (Vec<&CaseRow>, Vec<RankedValue>) = contenders.unzip();
    Some(highest(&contenders)?.map(|place| rows[place]))
}

/// The pair that changed most, in either direction, by its place; nothing for none that has a ratio.
pub fn largest_change(pairs: &[&CasePair], is_one_run: bool) -> Option<Statement<usize>> {
    largest(pairs, is_one_run, f64::abs)
}

/// The step that gained most vs. the one before it among those that are faster; nothing where none is.
pub fn largest_step(journey: &Journey) -> Option<Statement<&StepResult>> {
    let faster = journey.steps.iter().filter_map(|step| {
        let pair = step.vs_previous.as_ref()?;
        (pair.verdict.call == Call::Faster).then_some((step, pair))
    });
    let (steps, pairs): (Vec<&StepResult>, Vec<&CasePair>) = faster.unzip();
    Some(largest(&pairs, true, |ln| ln)?.map(|place| steps[place]))
}

/// Which step gained the most, in a sentence.
pub fn largest_step_sentence(journey: &Journey) -> String {
    let gain = |step: &StepResult| {
        let ratio = step.vs_previous.as_ref().and_then(|pair| pair.ratio);
        ratio.map(|ratio| ratio.speed_up_text()).unwrap_or_default()
    };
    match largest_step(journey) {
        None => no_step_sentence(journey),
        Some(Statement::Settled(step)) => {
            format!("{} gained the most, {}.", step.title, gain(step))
        }
        Some(Statement::NotSettled(steps)) => {
            let named = steps.into_iter();
            let named = named.map(|step| format!("{} ({})", step.title, gain(step)));
            let named: Vec<String> = named.collect();
            let named: Vec<&str> = named.iter().map(String::as_str).collect();
            format!(
                "Which step gained the most is not settled: {}.",
                humanize::or_list(&named)
            )
        }
    }
}

/// Why no step gained the most.
fn no_step_sentence(journey: &Journey) -> String {
    let steps = journey.steps.iter();
    let calls = steps.filter_map(|step| Some(step.vs_previous.as_ref()?.verdict.call));
    let calls: Vec<Call> = calls.collect();
    let open = calls.iter().filter(|call| **call == Call::Inconclusive);
    match (calls.len(), open.count()) {
        (0, _) => "There is no step to compare with the previous one yet.".to_owned(),
        (_, 0) => "No step is faster than the previous one.".to_owned(),
        (all, open) => format!(
            "No step is certainly faster than the previous one; {open} of {all} are inconclusive."
        ),
    }
}

fn largest(
    pairs: &[&CasePair],
    is_one_run: bool,
    size: impl Fn(f64) -> f64,
) -> Option<Statement<usize>> {
    let mut joint = JointDraws::default();
    let contenders = pairs.iter().enumerate().filter_map(|(place, pair)| {
        let shown = size(pair.ratio?.speed_up.ln());
        let draws = gain_draws(&mut joint, pair, is_one_run);
        let draws = draws.map(|draws| draws.into_iter().map(&size).collect());
        Some((place, RankedValue { shown, draws }))
    });
    let (places, contenders): (Vec<usize>, Vec<RankedValue>) = contenders.unzip();
    Some(highest(&contenders)?.map(|place| places[place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{make_ladder, measure, session};
    use crate::analysis::{case_rows, journey};
    use powerband_core::domain::point::Point;
    use powerband_core::domain::session::Session;

    /// Rounds that are restless together, with the given medians in microseconds.
    fn restless(session: &mut Session, setup: usize, batch: usize, micros: [u64; 5]) {
        let common = [100, 160, 90, 130, 210];
        let rounds: Vec<Vec<u64>> = common
            .into_iter()
            .zip(micros)
            .map(|(common, micros)| vec![common * micros * 10; 9])
            .collect();
        let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
        measure(session, setup, batch, &rounds);
    }

    fn labels(found: Option<Statement<&CaseRow>>) -> Vec<String> {
        let found = found.unwrap();
        assert_eq!(found.settled().is_some(), found.candidates().len() == 1);
        let names = found.candidates().iter().map(|row| row.setup_label.clone());
        names.collect()
    }

    #[test]
    fn a_lead_is_stated_through_what_rounds_share_and_a_tie_is_not() {
        let mut session = session(&["a", "b", "c"], &[1]);
        restless(&mut session, 0, 1, [1_000, 1_010, 995, 1_000, 1_005]);
        restless(&mut session, 1, 1, [1_100, 1_101, 1_110, 1_095, 1_100]);
        let rows = case_rows::case_rows(&session);
        let measured: Vec<&CaseRow> = rows.iter().take(2).collect();
        // The rounds lie up to a factor of two apart, the setups 10 %.
        assert_eq!(labels(fastest(&measured)), ["a:cpu"]);
        assert_eq!(labels(busiest(&measured)), ["a:cpu"]);
        restless(&mut session, 2, 1, [1_004, 990, 1_006, 1_003, 1_001]);
        let rows = case_rows::case_rows(&session);
        let measured: Vec<&CaseRow> = rows.iter().collect();
        let mut both = labels(fastest(&measured));
        both.sort();
        assert_eq!(both, ["a:cpu", "c:cpu"]);
        assert_eq!(fastest(&[]), None);
    }

    #[test]
    fn the_largest_step_is_one_whose_lead_holds() {
        let mut session = session(&["a", "b", "c", "d"], &[1]);
        make_ladder(&mut session);
        restless(&mut session, 0, 1, [1_000, 1_010, 995, 1_000, 1_005]);
        restless(&mut session, 1, 1, [500, 502, 501, 499, 500]);
        restless(&mut session, 2, 1, [400, 402, 401, 399, 400]);
        let largest = |session: &Session| {
            let rows = case_rows::case_rows(session);
            let journey = journey::compare_steps(session, &rows, Point::of_batch(1));
            let said = largest_step_sentence(&journey);
            let found = largest_step(&journey).unwrap();
            assert_eq!(
                found.settled().is_none(),
                said.contains("not settled"),
                "{said}"
            );
            let steps = found.candidates().iter();
            steps.map(|step| step.title.clone()).collect::<Vec<_>>()
        };
        assert_eq!(largest(&session), ["b:cpu"]);
        restless(&mut session, 3, 1, [200, 203, 201, 198, 199]);
        assert_eq!(largest(&session).len(), 2, "2.00 × and 2.00 ×");
    }
}
