//! Two setups, of one session or of two, case by case: how much faster, how sure, and the verdict.

use super::case_pair;
pub use super::case_pair::{CasePair, Ratio};
use super::case_rows::CaseRow;
use super::closing_in::RoundRatio;
use super::comparison_warnings;
use super::conditions::{self, Difference};
use super::earlier_sessions::EarlierSessions;
use super::fleet::{self, Effects};
use super::limits::difference::TimeDifference;
use super::metrics;
pub use super::metrics::{Better, ComparedMetric};
use super::modes;
pub use super::side::ComparedSide;
use super::verdict::Call;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::{self, Point};
use powerband_core::domain::session::Session;
use powerband_core::stats::prediction::MoreRounds;

/// Two setups compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Cases measured on both sides, ascending by point.
    pub pairs: Vec<CasePair>,
    /// Points measured before only.
    pub only_before: Vec<Point>,
    /// Points measured after only.
    pub only_after: Vec<Point>,
    /// Geometric mean of the speed-ups.
    pub overall: Option<Ratio>,
    /// The numbers side by side.
    pub metrics: Vec<ComparedMetric>,
    /// The conditions side by side.
    pub differences: Vec<Difference>,
    pub remarks: Vec<String>,
    /// The warning that the sides ran different networks, where they did: there is a ratio, but no verdict.
    pub networks: Option<String>,
    /// Where the differences come from, of pairs that are faster or slower and were profiled on both sides.
    pub time_differences: Vec<TimeDifference>,
    /// The parts of setup and machine in the difference, where both setups ran on both machines.
    pub effects: Vec<Effects>,
    /// The ratio of each pair by round, in the order of the pairs; empty where no chart of it is drawn.
    pub by_round: Vec<Vec<RoundRatio>>,
    /// Why there is nothing to compare, where there is nothing.
    pub nothing: Option<String>,
}

/// Compares two sides.
///
/// Cases match by point. Where both sides pick one point, those two are a pair whatever their
/// sizes; where one side does, both are held to that point.
pub fn compare_setups(before: &ComparedSide<'_>, after: &ComparedSide<'_>) -> Comparison {
    compare_setups_with_earlier(before, after, &EarlierSessions::default())
}

/// The same with earlier sessions, which show how much sessions differ where nothing was changed.
pub fn compare_setups_with_earlier(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    earlier: &EarlierSessions,
) -> Comparison {
    let mut remarks = conditions::condition_warnings(
        (before.session, before.setup),
        (after.session, after.setup),
    );
    let (mine, theirs) = match (before.point, after.point) {
        (None, Some(point)) | (Some(point), None) => {
            (before.measured(Some(point)), after.measured(Some(point)))
        }
        (mine, theirs) => (before.measured(mine), after.measured(theirs)),
    };
    let both_pinned = before.point.is_some() && after.point.is_some();
    let matches = |a: &CaseRow, b: &CaseRow| both_pinned || a.point == b.point;
    let mut pairs = Vec::new();
    for first in &mine {
        if let Some(second) = theirs.iter().find(|second| matches(first, second)) {
            let pair = case_pair::compare_cases(before, after, first, second, earlier);
            pairs.push(pair);
        }
    }
    let lone = |rows: &[&CaseRow], others: &[&CaseRow]| -> Vec<Point> {
        rows.iter()
            .filter(|row| !others.iter().any(|other| matches(row, other)))
            .map(|row| row.point)
            .collect()
    };
    remarks.extend(self_comparison_text(before, after, &pairs));
    remarks.extend(comparison_warnings::pair_warnings(&pairs));
    remarks.extend(pairs.iter().filter_map(|pair| {
        let visits = (
            before.visits(pair.before_point),
            after.visits(pair.after_point),
        );
        modes::pair_text(pair, &visits.0, &visits.1)
    }));
    let networks = conditions::different_networks(
        (before.session, before.setup),
        (after.session, after.setup),
    );
    let (only_before, only_after) = (lone(&mine, &theirs), lone(&theirs, &mine));
    remarks.extend(after.failures(&only_before));
    remarks.extend(before.failures(&only_after));
    let nothing = pairs.is_empty().then(|| nothing_in_common(&mine, &theirs));
    Comparison {
        nothing,
        time_differences: time_differences(before, after, &pairs),
        overall: case_pair::mean_speed_up(&pairs),
        metrics: metrics::compared_metrics(before, after, &pairs),
        differences: conditions::differences(
            (before.session, before.setup),
            (after.session, after.setup),
        ),
        only_before,
        only_after,
        pairs,
        remarks,
        networks,
        effects: fleet::effects_between(before, after),
        by_round: Vec::new(),
    }
}

/// Compares two sessions setup by setup: those that are spelled alike are matched, each as [`compare_setups`] does.
/// The setups of the sides are left out of account.
pub fn compare_sessions(before: &ComparedSide<'_>, after: &ComparedSide<'_>) -> Comparison {
    compare_sessions_with_earlier(before, after, &EarlierSessions::default())
}

/// The same with earlier sessions, which show how much sessions differ where nothing was changed.
pub fn compare_sessions_with_earlier(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    earlier: &EarlierSessions,
) -> Comparison {
    let specs = &after.session.plan.setups;
    let mut whole = Comparison::nothing();
    for (setup, spec) in before.session.plan.setups.iter().enumerate() {
        let label = before.session.setup_label(setup);
        let Some(other) = specs.iter().position(|other| other == spec) else {
            whole
                .remarks
                .push(format!("{label} is in the session before only."));
            continue;
        };
        let sides = (before.with_setup(setup), after.with_setup(other));
        let one = compare_setups_with_earlier(&sides.0, &sides.1, earlier);
        whole.merge(&label, one);
    }
    for (setup, spec) in specs.iter().enumerate() {
        if !before.session.plan.setups.contains(spec) {
            let label = after.session.setup_label(setup);
            whole
                .remarks
                .push(format!("{label} is in the session after only."));
        }
    }
    if whole.differences.is_empty() {
        // No setup is on both sides: the sessions still have their machines.
        let (one, other) = (before.session, after.session);
        whole.differences = conditions::differences_of_sessions(one, other, (0, 0));
    }
    whole.overall = case_pair::mean_speed_up(&whole.pairs);
    whole.nothing = whole.pairs.is_empty().then(|| {
        "The two sessions have no case in common: no identical setup was measured at the same point. Pick a setup of each.".to_owned()
    });
    whole
}

/// Compares two sessions as they belong together: the setups where each has one, however they are
/// spelled, else those that are spelled alike. The setups of the sides are left out of account.
pub fn compare_sides(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    earlier: &EarlierSessions,
) -> Comparison {
    let has_one = |side: &ComparedSide<'_>| side.session.plan.setups.len() == 1;
    if has_one(before) && has_one(after) {
        return compare_setups_with_earlier(&before.with_setup(0), &after.with_setup(0), earlier);
    }
    compare_sessions_with_earlier(before, after, earlier)
}

/// Why two sides have no case in common.
fn nothing_in_common(before: &[&CaseRow], after: &[&CaseRow]) -> String {
    let points = |rows: &[&CaseRow]| point::list(rows.iter().map(|row| row.point));
    match (before.is_empty(), after.is_empty()) {
        (true, true) => "Nothing was measured on either side.".to_owned(),
        (true, false) => "Nothing was measured before.".to_owned(),
        (false, true) => "Nothing was measured after.".to_owned(),
        (false, false) => format!(
            "No case in common: {} before and {} after. Pick one of each to compare them per item.",
            points(before),
            points(after)
        ),
    }
}

/// The first setup of a session against each later one.
pub fn comparisons_with_first(session: &Session, rows: &[CaseRow]) -> Vec<Comparison> {
    let side = |setup| ComparedSide {
        session,
        rows,
        setup,
        point: None,
    };
    (1..session.plan.setups.len())
        .map(|other| compare_setups(&side(0), &side(other)))
        .collect()
}

impl Comparison {
    fn nothing() -> Self {
        Self {
            pairs: Vec::new(),
            only_before: Vec::new(),
            only_after: Vec::new(),
            overall: None,
            metrics: Vec::new(),
            differences: Vec::new(),
            remarks: Vec::new(),
            networks: None,
            time_differences: Vec::new(),
            effects: Vec::new(),
            by_round: Vec::new(),
            nothing: None,
        }
    }

    /// How many pairs got this verdict.
    pub fn count(&self, call: Call) -> usize {
        let such = |pair: &&CasePair| pair.verdict.call == call;
        self.pairs.iter().filter(such).count()
    }

    /// The geometric mean of the speed-ups with its interval: `geometric mean of the speed-ups of 3 cases: 3.21 ×, 95 %
    /// interval 3.100 to 3.320`; nothing where there are not several.
    pub fn overall_text(&self) -> Option<String> {
        let overall = self.overall.filter(|_| self.pairs.len() > 1)?;
        let pairs = self.pairs.iter().filter(|pair| pair.ratio.is_some());
        let cases = humanize::pluralised(pairs.count() as u64, "case");
        let interval = overall.named_interval_text();
        let interval = interval.map_or_else(String::new, |text| format!(", {text}"));
        Some(format!(
            "geometric mean of the speed-ups of {cases}: {}{interval}",
            overall.speed_up_text()
        ))
    }

    /// Where the differences come from, a sentence for each pair that was profiled on both sides.
    pub fn time_texts(&self) -> Vec<String> {
        let has_several = self.pairs.len() > 1;
        let each = self.time_differences.iter().map(|difference| {
            let sentence = difference.sentence();
            if has_several {
                format!(
                    "{}, {}: {sentence}",
                    difference.label, difference.before_point
                )
            } else {
                sentence
            }
        });
        each.collect()
    }

    /// Why verdicts are inconclusive or need care, each reason once; where there are several, with its first
    /// point and the number of others.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<(Point, u64, &str)> = Vec::new();
        for pair in &self.pairs {
            let Some(reason) = pair.verdict.reason.as_deref() else {
                continue;
            };
            match reasons.iter_mut().find(|(_, _, known)| *known == reason) {
                Some((_, others, _)) => *others += 1,
                None => reasons.push((pair.before_point, 0, reason)),
            }
        }
        let has_several = reasons.len() > 1;
        let texts = reasons
            .into_iter()
            .map(|(point, others, reason)| match others {
                _ if !has_several => reason.to_owned(),
                0 => format!("{point}: {reason}"),
                others => format!("{point} and {} more: {reason}", humanize::count(others)),
            });
        texts.collect()
    }

    /// What more rounds promise for the pair that needs most of them; nothing where they would settle none.
    pub fn more_rounds(&self) -> Option<MoreRounds> {
        let wanted = self
            .pairs
            .iter()
            .filter_map(|pair| pair.verdict.more_rounds);
        wanted.max_by(|a, b| {
            let by_rounds = a.rounds.cmp(&b.rounds);
            by_rounds.then(b.probability.total_cmp(&a.probability))
        })
    }

    /// Adds one setup's comparison, its metrics under its name, and what is not said yet.
    fn merge(&mut self, label: &str, one: Self) {
        self.networks = self.networks.take().or(one.networks);
        self.pairs.extend(one.pairs);
        self.time_differences.extend(one.time_differences);
        self.effects.extend(one.effects);
        self.only_before.extend(one.only_before);
        self.only_after.extend(one.only_after);
        self.metrics
            .extend(one.metrics.into_iter().map(|metric| ComparedMetric {
                name: format!("{label}: {}", metric.name),
                ..metric
            }));
        for difference in one.differences {
            if !self.differences.contains(&difference) {
                self.differences.push(difference);
            }
        }
        for remark in one.remarks {
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
    }
}

/// Where the differences of pairs come from, of those that were profiled on both sides.
fn time_differences(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    pairs: &[CasePair],
) -> Vec<TimeDifference> {
    let key = |setup, point| CaseKey { setup, point };
    // What is not settled needs no cause.
    let settled = |pair: &&CasePair| matches!(pair.verdict.call, Call::Faster | Call::Slower);
    let each = pairs.iter().filter(settled).filter_map(|pair| {
        TimeDifference::between(
            (before.session, key(before.setup, pair.before_point)),
            (after.session, key(after.setup, pair.after_point)),
        )
    });
    each.collect()
}

/// A session against itself, or against a copy of it, is the same whatever it holds.
fn self_comparison_text(
    before: &ComparedSide<'_>,
    after: &ComparedSide<'_>,
    pairs: &[CasePair],
) -> Option<String> {
    let setup = before.setup;
    let is_same = |pair: &CasePair| {
        let key = |point| CaseKey { setup, point };
        before.session.case(key(pair.before_point)) == after.session.case(key(pair.after_point))
    };
    let same_run = setup == after.setup && before.session.is_of_one_run_with(after.session);
    (same_run && !pairs.is_empty() && pairs.iter().all(is_same))
        .then(|| "Both sides are the same measurements.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{end_case, measure, measure_near, out_of_memory, session};
    use powerband_core::domain::plan::Load;

    fn side<'a>(
        session: &'a Session,
        rows: &'a [CaseRow],
        setup: usize,
        batch: Option<usize>,
    ) -> ComparedSide<'a> {
        ComparedSide {
            session,
            rows,
            setup,
            point: batch.map(Point::of_batch),
        }
    }

    /// The second setup is twice, then four times as fast; batch 8 does not fit into its memory.
    fn example() -> Session {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 4, 8]);
        for (batch, micros) in [(1, 1_000), (4, 4_000), (8, 8_000)] {
            measure_near(&mut session, 0, batch, micros);
        }
        measure_near(&mut session, 1, 1, 500);
        measure_near(&mut session, 1, 4, 1_000);
        measure_near(&mut session, 1, 8, 1_000);
        end_case(&mut session, 1, 8, out_of_memory());
        session
    }

    #[test]
    fn sessions_are_matched_setup_by_setup() {
        let before = example();
        let mut after = session(&["tract:cpu", "tract:cpu,threads=1"], &[1, 4]);
        measure_near(&mut after, 0, 1, 250);
        measure_near(&mut after, 0, 4, 500);
        measure_near(&mut after, 1, 1, 900);
        let (rows, others) = (case_rows::case_rows(&before), case_rows::case_rows(&after));
        let whole = compare_sessions(
            &side(&before, &rows, 0, None),
            &side(&after, &others, 0, None),
        );
        let pairs: Vec<(&str, usize)> = whole
            .pairs
            .iter()
            .map(|pair| (pair.before.setup_label.as_str(), pair.before_point.batch()))
            .collect();
        assert_eq!(pairs, [("tract:cpu", 1), ("tract:cpu", 4)]);
        assert!((whole.overall.unwrap().speed_up - 2.0).abs() < 0.01);
        assert!(whole.metrics[0].name.starts_with("tract:cpu: "));
        for lone in [
            "ort:cpu is in the session before only.",
            "tract:cpu,threads=1 is in the session after only.",
        ] {
            assert!(
                whole.remarks.iter().any(|remark| remark == lone),
                "{:?}",
                whole.remarks
            );
        }
    }

    #[test]
    fn batches_are_matched_and_the_rest_is_named() {
        let session = example();
        let rows = case_rows::case_rows(&session);
        let comparison = compare_setups(
            &side(&session, &rows, 0, None),
            &side(&session, &rows, 1, None),
        );
        let speed_ups: Vec<f64> = comparison
            .pairs
            .iter()
            .map(|pair| pair.ratio.unwrap().speed_up)
            .collect();
        assert_eq!(comparison.pairs.len(), 2);
        assert!((speed_ups[0] - 2.0).abs() < 1e-4 && (speed_ups[1] - 4.0).abs() < 1e-4);
        let overall = comparison.overall.unwrap();
        assert!((overall.speed_up - 8_f64.sqrt()).abs() < 1e-4);
        // No more certain than its pairs are on average.
        let width = |ratio: Ratio| ratio.ci95.map(|ci| (ci.high / ci.low).ln()).unwrap();
        let widths: Vec<f64> = comparison
            .pairs
            .iter()
            .map(|pair| width(pair.ratio.unwrap()))
            .collect();
        assert!((width(overall) - widths[0].midpoint(widths[1])).abs() < 1e-12);
        assert_eq!(comparison.count(Call::Faster), 2);
        assert_eq!(comparison.only_before, [Point::of_batch(8)]);
        assert!(comparison.only_after.is_empty());
        let told = comparison.remarks.join(" ");
        assert!(told.contains("tract:cpu batch 8: out of memory"), "{told}");
    }

    #[test]
    fn what_is_compared_with_itself_is_told() {
        let session = example();
        let rows = case_rows::case_rows(&session);
        let told = |batch: Option<usize>, other: Option<usize>| {
            let found = compare_setups(
                &side(&session, &rows, 0, batch),
                &side(&session, &rows, 0, other),
            );
            found
                .remarks
                .contains(&"Both sides are the same measurements.".to_owned())
        };
        assert!(told(None, None));
        assert!(told(Some(4), Some(4)));
        assert!(!told(Some(1), Some(4)));
    }

    #[test]
    fn batches_picked_by_hand_are_compared_per_item() {
        let session = example();
        let rows = case_rows::case_rows(&session);
        let comparison = compare_setups(
            &side(&session, &rows, 0, Some(8)),
            &side(&session, &rows, 1, Some(4)),
        );
        // 1 ms an item before; 1 ms for four items after.
        let ratio = comparison.pairs[0].ratio.unwrap();
        assert!((ratio.speed_up - 4.0).abs() < 1e-4, "{ratio:?}");
        let interval = ratio.ci95.unwrap();
        assert!((interval.low - 4.0).abs() < 0.01 && (interval.high - 4.0).abs() < 0.01);
        assert!(
            comparison
                .remarks
                .iter()
                .any(|text| text.contains("per item"))
        );
        let one = compare_setups(
            &side(&session, &rows, 0, Some(4)),
            &side(&session, &rows, 1, None),
        );
        assert_eq!((one.pairs.len(), one.only_after.len()), (1, 0));
    }

    #[test]
    fn one_round_gives_a_ratio_without_an_interval() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1]);
        measure(&mut session, 0, 1, &[&[100, 100, 100]]);
        measure(&mut session, 1, 1, &[&[50, 50, 50], &[50, 50, 50]]);
        let rows = case_rows::case_rows(&session);
        let comparison = compare_setups(
            &side(&session, &rows, 0, None),
            &side(&session, &rows, 1, None),
        );
        let ratio = comparison.pairs[0].ratio.unwrap();
        assert_eq!((ratio.speed_up, ratio.ci95), (2.0, None));
        let verdict = &comparison.pairs[0].verdict;
        assert_eq!(verdict.call, Call::Inconclusive);
        assert!(verdict.reason.as_ref().unwrap().contains("one round"));
    }

    #[test]
    fn what_cannot_be_compared_is_a_sentence_and_no_number() {
        let told = |change: fn(&mut Session)| {
            let before = example();
            let mut after = example();
            after.created = "2031-01-01T00:00:00Z".to_owned();
            change(&mut after);
            let (rows, others) = (case_rows::case_rows(&before), case_rows::case_rows(&after));
            let comparison = compare_setups(
                &side(&before, &rows, 0, None),
                &side(&after, &others, 0, None),
            );
            match comparison.pairs.first() {
                Some(pair) => {
                    assert_eq!(pair.verdict.call, Call::Inconclusive);
                    assert_eq!(pair.verdict.more_rounds, None);
                    pair.verdict.reason.clone().unwrap()
                }
                None => comparison.nothing.unwrap(),
            }
        };
        let other_file = told(|after| after.model.sha256 = "ff".to_owned());
        assert!(other_file.contains("not the same file"), "{other_file}");
        let profiled = told(|after| after.profiler = Some("rocprof".to_owned()));
        assert!(profiled.contains("rocprof"), "{profiled}");
        let loaded = told(|after| after.plan.load = Load::Constant { per_s: 5.0 });
        assert!(loaded.contains("closed loop"), "{loaded}");
        let zeros = told(|after| {
            for case in &mut after.cases {
                for round in &mut case.rounds {
                    round.samples_ns.fill(0);
                }
            }
        });
        assert!(zeros.contains("zero"), "{zeros}");
        let nothing = told(|after| after.cases.clear());
        assert!(nothing.contains("Nothing was measured after"), "{nothing}");
        let others = told(|after| {
            for case in &mut after.cases {
                case.point = Point::of_batch(case.point.batch() + 100);
            }
        });
        assert!(others.contains("No case in common"), "{others}");
    }

    #[test]
    fn rounds_that_took_turns_are_paired() {
        // All cases were slow in the second and fourth round.
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1]);
        let rounds = |base: u64| [1, 3, 1, 2, 1].map(|slow| vec![base * slow; 9]);
        for (setup, base) in [(0, 1_100_000), (1, 1_000_000)] {
            let rounds = rounds(base);
            let slices: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
            measure(&mut session, setup, 1, &slices);
        }
        let rows = case_rows::case_rows(&session);
        let sides = [
            side(&session, &rows, 0, None),
            side(&session, &rows, 1, None),
        ];
        let pair = compare_setups(&sides[0], &sides[1]).pairs.remove(0);
        assert_eq!(pair.verdict.call, Call::Faster, "{:?}", pair.verdict);
        // The same rounds an hour apart are not paired.
        let mut later = session.clone();
        later.created = "2031-01-01T00:00:00Z".to_owned();
        let after = side(&later, &rows, 1, None);
        let pair = compare_setups(&sides[0], &after).pairs.remove(0);
        assert_eq!(pair.verdict.call, Call::Inconclusive, "{:?}", pair.verdict);
    }
}
