//! What changes to a case cost: a row for each that was tried, and why the others were not.
//!
//! Costs are comparisons like any other, so they have intervals and verdicts from paired turns. What limits the case
//! follows from them and from what else is known of it, in `answer`.

use super::hypotheses::Effect;
use super::run_parts::{self, TriedPart};
use crate::analysis::case_pair::{CasePair, Ratio};
use crate::analysis::case_rows::{self, CaseRow};
use crate::analysis::comparison::{self, ComparedSide};
use crate::analysis::side::case_visits;
use crate::analysis::verdict::{Call, Verdict};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::experiment::{
    Experiment, ExperimentChange, Experiments, LEFT_OUT, UnavailableExperiment,
};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::session::{Completion, Session};
use powerband_core::stats::ratio;

/// Runs shorter than this are mostly the call of the engine, in nanoseconds: what changes cost them says nothing of
/// the network.
const TOO_SHORT_NS: f64 = 20e3;
const NOT_YET: &str = "not measured yet";
const TOO_WIDE: &str = "its turns lie too far apart to say what it costs; more of them, or a quieter machine, narrow the interval";

/// What was tried on a case.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedExperiments {
    /// The case that is asked about.
    pub case: CaseKey,
    /// How its setup is called.
    pub label: String,
    /// Its median, in nanoseconds, where it was measured.
    pub median_ns: Option<f64>,
    /// A row for each change that was tried.
    pub rows: Vec<ExperimentRow>,
    /// What was not tried, and why.
    pub untried: Vec<UnavailableExperiment>,
    /// Of these the changes that can be tried: no time was left for them, or the user wanted others.
    pub possible: Vec<ExperimentChange>,
    /// Beside a load that streams memory against beside one that computes.
    pub beyond_computing: Option<Effect>,
    /// Parts of its runs, and what changes cost these.
    pub parts: Vec<TriedPart>,
    /// Why the case itself was not measured, where it was not.
    pub trouble: Option<String>,
}

impl TriedExperiments {
    /// The changes that were tried to make the case faster, and whether they did, where that is settled.
    pub fn brought(&self) -> impl Iterator<Item = (ExperimentChange, bool)> + '_ {
        let rows = self.rows.iter().filter(|row| !row.change.is_probe());
        rows.filter_map(|row| {
            row.known_cost()?;
            let call = row.verdict.as_ref()?.call;
            (call != Call::Inconclusive).then_some((row.change, call == Call::Faster))
        })
    }

    /// Says of each change that can still be tried on how many other cases it was tried, and on how many of them it held.
    pub fn add_counts(&mut self, count: &dyn Fn(ExperimentChange) -> (usize, usize)) {
        let possible = &self.possible;
        let open = self.untried.iter_mut();
        for untried in open.filter(|one| possible.contains(&one.change)) {
            let (tried, held) = count(untried.change);
            if tried > 0 && !untried.change.is_probe() {
                let cases = humanize::pluralised(tried as u64, "other case");
                let counts = format!("; it made {held} of {cases} faster");
                untried.reason.push_str(&counts);
            }
        }
    }
}

/// A change with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRow {
    pub change: ExperimentChange,
    /// The case with the change.
    pub case: CaseKey,
    /// The case without it.
    pub control: CaseKey,
    /// The setup with the change as it is spelled.
    pub setup_spec: String,
    /// The setup without it as it is spelled.
    pub control_spec: String,
    /// Its median with the change, in nanoseconds; of as many items as without it.
    pub median_ns: Option<f64>,
    /// The median without it.
    pub control_median_ns: Option<f64>,
    /// Time without the change over time with it.
    pub cost: Option<Ratio>,
    /// The same as evidence of what limits the case.
    pub effect: Option<Effect>,
    /// Whether that is a change beyond the noise.
    pub verdict: Option<Verdict>,
    /// Why there is no cost, where there is none.
    pub trouble: Option<String>,
}

impl ExperimentRow {
    /// What the change costs as a share of the time without it; below zero where it saves time.
    pub fn cost_share(&self) -> Option<f64> {
        Some(1.0 / self.known_cost()?.speed_up - 1.0)
    }

    /// The 95 % interval of that share.
    pub fn cost_interval(&self) -> Option<(f64, f64)> {
        let ci95 = self.known_cost()?.ci95?;
        Some((1.0 / ci95.high - 1.0, 1.0 / ci95.low - 1.0))
    }

    /// The cost, where its interval says anything.
    fn known_cost(&self) -> Option<Ratio> {
        self.cost.filter(|ratio| says_something(*ratio))
    }
}

fn says_something(ratio: Ratio) -> bool {
    ratio
        .ci95
        .is_some_and(|interval| interval.tells_of(ratio.speed_up))
}

/// What was tried on the case that a session asks about; nothing where it has no experiments.
pub fn tried_experiments(session: &Session) -> Option<TriedExperiments> {
    let asked = session.plan.experiments.as_ref()?;
    let all = case_rows::case_rows(session);
    let measured = MeasuredChanges {
        session,
        rows: &all,
        asked,
    };
    let case = asked.case();
    let (left_out, rows): (Vec<_>, Vec<_>) = measured
        .all_rows()
        .into_iter()
        .partition(|row| measured.is_left_out(row));
    let mut rows: Vec<ExperimentRow> = rows;
    if let Some(reason) = measured.too_short() {
        for row in &mut rows {
            row.cost = None;
            row.effect = None;
            row.verdict = None;
            row.trouble.get_or_insert_with(|| reason.clone());
        }
    }
    let mut untried = asked.untried.clone();
    untried.extend(left_out.iter().map(|row| UnavailableExperiment {
        change: row.change,
        reason: out_of_time(session, asked),
    }));
    let (refused, rows): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|row| measured.why_refused(row).is_some());
    untried.extend(refused.iter().filter_map(|row| {
        let reason = measured.why_refused(row)?;
        let change = row.change;
        Some(UnavailableExperiment { change, reason })
    }));
    untried.sort_by_key(|untried| untried.change);
    let is_short = measured.too_short().is_some();
    let has_effect = |tried: &&Experiment| {
        let mut rows = rows.iter();
        rows.any(|row| row.change == tried.change && row.effect.is_some())
    };
    let with_effect: Vec<Experiment> = asked.tried.iter().filter(has_effect).copied().collect();
    let unwanted = asked.untried.iter();
    let unwanted = unwanted.filter(|untried| untried.reason == LEFT_OUT);
    let possible = left_out.iter().map(|row| row.change);
    let possible = possible.chain(unwanted.map(|untried| untried.change));
    Some(TriedExperiments {
        case,
        label: session.setup_label(asked.setup),
        median_ns: measured.median_ns(case),
        beyond_computing: measured.beyond_computing(&rows).filter(|_| !is_short),
        parts: run_parts::tried_parts(session, case, &with_effect),
        rows,
        untried,
        possible: possible.collect(),
        trouble: measured.trouble(case),
    })
}

/// That no time was left for a change.
fn out_of_time(session: &Session, asked: &Experiments) -> String {
    match asked
        .budget_s
        .filter(|_| session.completion == Completion::Complete)
    {
        Some(seconds) => format!(
            "the {seconds} s for experiments went to what tells more; a longer preset has time for it, too"
        ),
        None => "the run was stopped before it".to_owned(),
    }
}

struct MeasuredChanges<'a> {
    session: &'a Session,
    rows: &'a [CaseRow],
    asked: &'a Experiments,
}

impl MeasuredChanges<'_> {
    fn row(&self, case: CaseKey) -> Option<&CaseRow> {
        let is_it = |row: &&CaseRow| (row.setup, row.point) == (case.setup, case.point);
        self.rows.iter().find(is_it)
    }

    /// The median time of as many items as the case that is asked about has.
    fn median_ns(&self, case: CaseKey) -> Option<f64> {
        let items = self.asked.point.batch() as f64 / case.point.batch() as f64;
        Some(items * self.row(case)?.latency_ns.as_ref()?.median)
    }

    /// Why a case has no times; nothing where it has some.
    fn trouble(&self, case: CaseKey) -> Option<String> {
        let Some(row) = self.row(case) else {
            return Some("it is not in the plan".to_owned());
        };
        if row.outcome.is_trouble() || row.latency_ns.is_none() {
            let sentence = row.outcome.sentence();
            return Some(sentence.unwrap_or_else(|| NOT_YET.to_owned()));
        }
        None
    }

    /// Whether a change was left out for want of time, or because the run was stopped before it.
    fn is_left_out(&self, row: &ExperimentRow) -> bool {
        let is_unmeasured = |case| {
            let row = self.row(case);
            row.is_some_and(|row| row.outcome == Outcome::Cancelled && row.latency_ns.is_none())
        };
        let has_control = self.trouble(row.control).is_none() || is_unmeasured(row.control);
        is_unmeasured(row.case) && has_control
    }

    /// Why an engine refused a change, in its first line; nothing where it did not.
    fn why_refused(&self, row: &ExperimentRow) -> Option<String> {
        match &self.row(row.case)?.outcome {
            Outcome::Unsupported { reason } => reason.lines().next().map(ToOwned::to_owned),
            _ => None,
        }
    }

    /// Why the runs of the case are too short for experiments; nothing where they are not.
    fn too_short(&self) -> Option<String> {
        let median = self.median_ns(self.asked.case())?;
        (median < TOO_SHORT_NS).then(|| {
            format!(
                "a run takes {}, of which calling the engine is a large part; a larger batch or size shows what limits the network",
                humanize::duration_ns(median)
            )
        })
    }

    fn side(&self, case: CaseKey) -> ComparedSide<'_> {
        ComparedSide {
            session: self.session,
            rows: self.rows,
            setup: case.setup,
            point: Some(case.point),
        }
    }

    fn pair(&self, before: CaseKey, after: CaseKey) -> Option<CasePair> {
        let (before, after) = (self.side(before), self.side(after));
        comparison::compare_setups(&before, &after).pairs.pop()
    }

    /// Time of an item with a change over that without it.
    fn effect(&self, before: CaseKey, after: CaseKey) -> Option<Effect> {
        let visits = |case| Some(case_visits(self.session, self.session.case(case)?));
        let estimate = ratio::paired(&visits(before)?, &visits(after)?)?;
        let effect = Effect::from_estimate(&estimate);
        let items = after.point.batch() as f64 / before.point.batch() as f64;
        let ln = effect.ln - items.ln();
        Some(Effect { ln, ..effect })
    }

    fn beyond_computing(&self, rows: &[ExperimentRow]) -> Option<Effect> {
        let case = |change| {
            let row = rows.iter().find(|row| row.change == change);
            row.filter(|row| row.trouble.is_none()).map(|row| row.case)
        };
        let streams = case(ExperimentChange::StreamingNeighbour)?;
        let computes = case(ExperimentChange::ComputingNeighbour)?;
        self.effect(computes, streams)
    }

    fn spec(&self, setup: usize) -> String {
        let spec = self.session.plan.setups.get(setup);
        spec.map(ToString::to_string).unwrap_or_default()
    }

    /// Whether a setup runs the network that is asked about: older sessions have another one beside it.
    fn is_of_case(&self, setup: usize) -> bool {
        let own = |setup: usize| {
            let spec = self.session.plan.setups.get(setup);
            spec.and_then(|spec| spec.own_model())
        };
        own(setup) == own(self.asked.setup)
    }

    fn all_rows(&self) -> Vec<ExperimentRow> {
        let tried = self.asked.tried.iter();
        let tried = tried.filter(|tried| self.is_of_case(tried.setup));
        let tried = tried.map(|tried| {
            let case = self.asked.changed_case(tried);
            let control = self.asked.case_of(tried.control);
            let pair = self.pair(control, case);
            let verdict = pair.as_ref().map(|pair| pair.verdict.clone());
            let cost = pair.and_then(|pair| pair.ratio);
            let trouble = self.trouble(case).or_else(|| {
                let trouble = self.trouble(control)?;
                Some(format!(
                    "what it is compared with was not measured: {trouble}"
                ))
            });
            let withheld = || verdict.as_ref()?.reason.clone().filter(|_| cost.is_none());
            let too_wide = || {
                cost.filter(|ratio| !says_something(*ratio))
                    .map(|_| TOO_WIDE.to_owned())
            };
            ExperimentRow {
                change: tried.change,
                case,
                control,
                setup_spec: self.spec(tried.setup),
                control_spec: self.spec(tried.control),
                median_ns: self.median_ns(case),
                control_median_ns: self.median_ns(control),
                effect: self.effect(control, case).filter(|_| trouble.is_none()),
                trouble: trouble.or_else(withheld).or_else(too_wide),
                cost,
                verdict,
            }
        });
        tried.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{end_case, measure, out_of_memory, session};
    use powerband_core::domain::point::Point;

    const SETUPS: [&str; 6] = [
        "ort",
        "ort,cores=0,threads=1",
        "ort,cores=0,neighbour=stream,threads=1",
        "ort,cores=0,neighbour=compute,threads=1",
        "ort,cores=0,model=probe-add-s,threads=1",
        "ort,cores=0,model=probe-add-s,neighbour=stream,threads=1",
    ];

    fn asked() -> Session {
        let mut session = session(&SETUPS, &[1]);
        let tried = [
            (ExperimentChange::HalfThreads, 1, 0),
            (ExperimentChange::StreamingNeighbour, 2, 1),
            (ExperimentChange::ComputingNeighbour, 3, 1),
            (ExperimentChange::StreamingNeighbour, 5, 4),
        ];
        session.plan.experiments = Some(Experiments {
            setup: 0,
            point: Point::of_batch(1),
            tried: tried
                .map(|(change, setup, control)| Experiment {
                    change,
                    setup,
                    control,
                    point: None,
                })
                .to_vec(),
            untried: vec![UnavailableExperiment {
                change: ExperimentChange::GraphCapture,
                reason: "it runs on the processor".to_owned(),
            }],
            budget_s: None,
        });
        session
    }

    /// Five rounds near a time, each a little off.
    fn near(session: &mut Session, setup: usize, micros: u64) {
        let rounds: Vec<Vec<u64>> = (0..5)
            .map(|round| {
                (0..10)
                    .map(|i| micros * 1_000 + round * micros / 5 + i % 3)
                    .collect()
            })
            .collect();
        let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
        measure(session, setup, 1, &rounds);
    }

    fn timed(micros: [u64; 4]) -> TriedExperiments {
        let mut session = asked();
        for (setup, micros) in (0..).zip(micros.into_iter().chain([3_000, 4_500])) {
            near(&mut session, setup, micros);
        }
        tried_experiments(&session).unwrap()
    }

    #[test]
    fn costs_are_against_each_ones_control() {
        let found = timed([10_000, 10_400, 14_352, 10_608]);
        let costs: Vec<f64> = found
            .rows
            .iter()
            .map(|row| row.cost_share().unwrap())
            .collect();
        for (cost, expected) in costs.iter().zip([0.04, 0.38, 0.02]) {
            assert!((cost - expected).abs() < 0.001, "{costs:?}");
        }
        let beyond = found.beyond_computing.unwrap();
        assert!(
            (beyond.ln.exp() - 14_352.0 / 10_608.0).abs() < 0.001,
            "{beyond:?}"
        );
        // An older session has the loads beside another network, too, which is no row.
        assert_eq!(found.rows.len(), 3);
        assert_eq!(found.rows[1].control_spec, "ort:cpu,cores=0,threads=1");
        assert_eq!(found.untried.len(), 1);
    }

    #[test]
    fn twice_the_batch_is_compared_by_the_time_of_an_item() {
        let mut session = session(&["ort"], &[1, 2]);
        session.plan.experiments = Some(Experiments {
            setup: 0,
            point: Point::of_batch(1),
            tried: vec![Experiment {
                change: ExperimentChange::TwiceBatch,
                setup: 0,
                control: 0,
                point: Some(Point::of_batch(2)),
            }],
            untried: Vec::new(),
            budget_s: None,
        });
        for (batch, micros) in [(1, 10_000), (2, 15_000)] {
            let rounds: Vec<[u64; 10]> = (0..5).map(|round| [1_000 * micros + round; 10]).collect();
            let rounds: Vec<&[u64]> = rounds.iter().map(<[u64; 10]>::as_slice).collect();
            measure(&mut session, 0, batch, &rounds);
        }
        let found = tried_experiments(&session).unwrap();
        let row = &found.rows[0];
        assert!((row.cost_share().unwrap() + 0.25).abs() < 0.001, "{row:?}");
        assert!((row.effect.unwrap().ln - 0.75_f64.ln()).abs() < 0.001);
        let near = |ns: Option<f64>, ms: f64| (ns.unwrap() / 1e6 - ms).abs() < 0.001;
        assert!(near(row.median_ns, 7.5) && near(row.control_median_ns, 10.0));
    }

    #[test]
    fn a_change_that_can_still_be_tried_says_how_often_it_held() {
        let mut found = timed([10_000, 10_400, 14_352, 10_608]);
        assert_eq!(found.brought().count(), 0, "probes are no suggestions");
        found.untried = [ExperimentChange::EightBits, ExperimentChange::GraphCapture]
            .map(|change| UnavailableExperiment {
                change,
                reason: LEFT_OUT.to_owned(),
            })
            .to_vec();
        found.possible = vec![ExperimentChange::EightBits];
        found.add_counts(&|_| (4, 3));
        let reasons: Vec<&str> = found
            .untried
            .iter()
            .map(|one| one.reason.as_str())
            .collect();
        assert_eq!(
            reasons,
            [
                "it was left out; it made 3 of 4 other cases faster",
                LEFT_OUT
            ]
        );
    }

    #[test]
    fn a_case_of_microseconds_gets_no_number() {
        let found = timed([10, 11, 20, 11]);
        assert_eq!(found.beyond_computing, None);
        for row in &found.rows {
            assert_eq!((row.cost, row.effect), (None, None));
            assert!(row.trouble.as_ref().is_some_and(|said| said.contains("µs")));
        }
    }

    #[test]
    fn what_was_not_measured_says_why() {
        assert_eq!(tried_experiments(&session(&["ort"], &[1])), None);
        let waiting = tried_experiments(&asked()).unwrap();
        assert!(waiting.trouble.unwrap().contains(NOT_YET));
        let mut session = asked();
        for setup in [0, 2, 3] {
            near(&mut session, setup, 10_000);
        }
        end_case(&mut session, 1, 1, out_of_memory());
        let found = tried_experiments(&session).unwrap();
        let said = found.rows[1].trouble.clone().unwrap();
        assert!(
            said.contains("compared with") && said.contains("out of memory"),
            "{said}"
        );
        assert_eq!(found.rows[1].cost, None);
    }

    #[test]
    fn what_no_time_was_left_for_is_not_tried() {
        let mut session = asked();
        for setup in [0, 1] {
            near(&mut session, setup, 10_000);
        }
        for setup in [2, 3] {
            end_case(&mut session, setup, 1, Outcome::Cancelled);
        }
        if let Some(asked) = &mut session.plan.experiments {
            asked.budget_s = Some(24);
        }
        session.completion = Completion::Complete;
        let found = tried_experiments(&session).unwrap();
        let changes: Vec<ExperimentChange> = found.rows.iter().map(|row| row.change).collect();
        assert_eq!(changes, [ExperimentChange::HalfThreads]);
        let said = &found.untried[0];
        assert_eq!(said.change, ExperimentChange::StreamingNeighbour);
        assert!(said.reason.contains("24 s"), "{said:?}");
    }
}
