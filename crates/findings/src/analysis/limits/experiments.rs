//! What experiments on a case say: a row for each change with what it cost, and what limits the case.
//!
//! Costs are comparisons like any other, so they have intervals and verdicts from paired rounds; the rules
//! for the conclusion stand in `rules`.

use super::bound::{Basis, Bound};
use super::finding::LimitFinding;
pub use super::rules::Conclusion;
use super::rules::{self, ChangeCost, Evidence};
use crate::analysis::case_pair::{CasePair, Ratio};
use crate::analysis::case_rows::{self, CaseRow};
use crate::analysis::comparison::{self, ComparedSide};
use crate::analysis::profile_runs::ProfileRuns;
use crate::analysis::verdict::Verdict;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::experiment::{ExperimentChange, Experiments, UnavailableExperiment};
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::SliceKind;

/// Runs shorter than this say little about the network, in nanoseconds: calling the engine and waking its
/// threads is a large part of them.
const TOO_SHORT_NS: f64 = 50e3;
const NOT_YET: &str = "not measured yet";
const TOO_WIDE: &str = "its rounds lie too far apart to say what it costs; more rounds, or a quieter machine, narrow the interval";

/// What experiments on a case say.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentAnswer {
    /// The case that is asked about.
    pub case: CaseKey,
    /// How its setup is called.
    pub label: String,
    /// Its median, in nanoseconds, where it was measured.
    pub median_ns: Option<f64>,
    /// A row for each change that was tried.
    pub rows: Vec<ExperimentRow>,
    /// What could not be tried, and why.
    pub untried: Vec<UnavailableExperiment>,
    /// What limits the case, or why that cannot be said.
    pub conclusion: Result<Conclusion, String>,
}

/// A change with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRow {
    pub change: ExperimentChange,
    /// The setup with the change, by its place in the plan.
    pub setup: usize,
    /// The setup without it.
    pub control: usize,
    /// The setup with the change as it is spelled.
    pub setup_spec: String,
    /// The setup without it as it is spelled.
    pub control_spec: String,
    /// Its median with the change, in nanoseconds.
    pub median_ns: Option<f64>,
    /// The median without it.
    pub control_median_ns: Option<f64>,
    /// Time without the change over time with it.
    pub cost: Option<Ratio>,
    /// Whether that is a change beyond the noise.
    pub verdict: Option<Verdict>,
    /// Why there is no cost, where there is none.
    pub trouble: Option<String>,
}

impl ExperimentRow {
    /// What the change costs as a share of the time without it; below zero where it saves time.
    pub fn cost_share(&self) -> Option<f64> {
        Some(self.effect()?.ratio - 1.0)
    }

    /// The 95 % interval of that share.
    pub fn cost_interval(&self) -> Option<(f64, f64)> {
        let effect = self.effect()?;
        self.cost?.ci95?;
        Some((effect.low - 1.0, effect.high - 1.0))
    }

    /// What it costs in words: `38.2 % ± 3.0`.
    pub fn cost_text(&self) -> Option<String> {
        Some(self.effect()?.cost_text())
    }

    fn effect(&self) -> Option<ChangeCost> {
        effect(self.cost?)
    }
}

/// Time with a change over time without it.
fn effect(ratio: Ratio) -> Option<ChangeCost> {
    let ci95 = ratio
        .ci95
        .filter(|interval| interval.tells_of(ratio.speed_up))?;
    Some(ChangeCost {
        ratio: 1.0 / ratio.speed_up,
        low: 1.0 / ci95.high,
        high: 1.0 / ci95.low,
    })
}

/// What the experiments of a session say; nothing where it has none.
pub fn experiment_answer(session: &Session) -> Option<ExperimentAnswer> {
    let asked = session.plan.experiments.as_ref()?;
    let all = case_rows::case_rows(session);
    let measured = ExperimentResults {
        session,
        rows: &all,
        asked,
    };
    let case = CaseKey {
        setup: asked.setup,
        point: asked.point,
    };
    let short = measured.too_short();
    let mut rows: Vec<ExperimentRow> = measured.answer_rows();
    if let Some(reason) = &short {
        for row in &mut rows {
            row.cost = None;
            row.verdict = None;
            row.trouble.get_or_insert_with(|| reason.clone());
        }
    }
    let conclusion = match (short, measured.trouble(asked.setup)) {
        (Some(reason), _) => Err(reason),
        (None, Some(trouble)) => Err(format!("the case itself was not measured: {trouble}")),
        (None, None) => rules::conclude(&measured.evidence(&rows)),
    };
    Some(ExperimentAnswer {
        case,
        label: session.setup_label(asked.setup),
        median_ns: measured.median_ns(asked.setup),
        rows,
        untried: asked.untried.clone(),
        conclusion,
    })
}

/// What the experiments on a case say, as a finding beside those of the model; nothing where there are none on
/// it, or nothing follows from them.
pub fn experiment_finding(session: &Session, case: CaseKey) -> Option<LimitFinding> {
    let asked = session.plan.experiments.as_ref()?;
    if (asked.setup, asked.point) != (case.setup, case.point) {
        return None;
    }
    let found = experiment_answer(session)?.conclusion.ok()?;
    Some(LimitFinding {
        sentence: found.sentence,
        basis: Basis::Experiment,
        bound: Some(found.bound),
        at_most_here: None,
        at_most_overall: None,
        line: "the case itself, in turns with each change".to_owned(),
        formula: found.rule,
        nodes: Vec::new(),
    })
}

/// That the experiments and the model name different causes, where they do.
pub fn disagreement(findings: &[LimitFinding]) -> Option<String> {
    let cause = |basis: Basis| {
        let of_all = |finding: &&LimitFinding| finding.basis == basis && finding.bound.is_some();
        findings.iter().find(of_all)?.bound
    };
    let (experiment, model) = (cause(Basis::Experiment)?, cause(Basis::Model)?);
    let is_open = matches!(model, Bound::CannotTell | Bound::ModelWrong);
    (experiment != model && !is_open).then(|| {
        format!(
            "By experiment the limit is {}, by the model {}. An experiment changes the run itself, so it counts for more; the model may count bytes that stay in caches, or miss work.",
            bound_text(experiment),
            bound_text(model)
        )
    })
}

fn bound_text(bound: Bound) -> &'static str {
    match bound {
        Bound::Compute => "arithmetic",
        Bound::Memory => "memory",
        Bound::Launch => "starting nodes",
        Bound::Neither => "none of arithmetic, memory and starting nodes",
        Bound::CannotTell | Bound::ModelWrong => "unknown",
    }
}

struct ExperimentResults<'a> {
    session: &'a Session,
    rows: &'a [CaseRow],
    asked: &'a Experiments,
}

impl ExperimentResults<'_> {
    fn row(&self, setup: usize) -> Option<&CaseRow> {
        let is_it = |row: &&CaseRow| row.setup == setup && row.point == self.asked.point;
        self.rows.iter().find(is_it)
    }

    fn median_ns(&self, setup: usize) -> Option<f64> {
        Some(self.row(setup)?.latency_ns.as_ref()?.median)
    }

    /// Why a setup has no times; nothing where it has some.
    fn trouble(&self, setup: usize) -> Option<String> {
        let Some(row) = self.row(setup) else {
            return Some("it is not in the plan".to_owned());
        };
        if row.outcome.is_trouble() || row.latency_ns.is_none() {
            let sentence = row.outcome.sentence();
            return Some(sentence.unwrap_or_else(|| NOT_YET.to_owned()));
        }
        None
    }

    /// Why the runs of the case are too short for experiments; nothing where they are not.
    fn too_short(&self) -> Option<String> {
        let median = self.median_ns(self.asked.setup)?;
        (median < TOO_SHORT_NS).then(|| {
            format!(
                "a run takes {}, of which calling the engine is a large part; a larger batch or size shows what limits the network",
                humanize::duration_ns(median)
            )
        })
    }

    fn side(&self, setup: usize) -> ComparedSide<'_> {
        ComparedSide {
            session: self.session,
            rows: self.rows,
            setup,
            point: Some(self.asked.point),
        }
    }

    fn pair(&self, before: usize, after: usize) -> Option<CasePair> {
        let (before, after) = (self.side(before), self.side(after));
        comparison::compare_setups(&before, &after).pairs.pop()
    }

    fn spec(&self, setup: usize) -> String {
        let spec = self.session.plan.setups.get(setup);
        spec.map(ToString::to_string).unwrap_or_default()
    }

    /// Whether a setup runs the network that is asked about, and not the one by which neighbours are seen to
    /// reach memory.
    fn is_of_case(&self, setup: usize) -> bool {
        let own = |setup: usize| {
            let spec = self.session.plan.setups.get(setup);
            spec.and_then(|spec| spec.own_model())
        };
        own(setup) == own(self.asked.setup)
    }

    /// What the streaming neighbour costs a network that streams memory.
    fn proof(&self) -> Option<ChangeCost> {
        let mut others = self.asked.tried.iter();
        let other = others.find(|tried| !self.is_of_case(tried.setup))?;
        effect(self.pair(other.control, other.setup)?.ratio?)
    }

    fn answer_rows(&self) -> Vec<ExperimentRow> {
        let tried = self.asked.tried.iter();
        let tried = tried.filter(|tried| self.is_of_case(tried.setup));
        let tried = tried.map(|tried| {
            let pair = self.pair(tried.control, tried.setup);
            let verdict = pair.as_ref().map(|pair| pair.verdict.clone());
            let cost = pair.and_then(|pair| pair.ratio);
            let trouble = self.trouble(tried.setup).or_else(|| {
                let trouble = self.trouble(tried.control)?;
                Some(format!(
                    "what it is compared with was not measured: {trouble}"
                ))
            });
            let withheld = || verdict.as_ref()?.reason.clone().filter(|_| cost.is_none());
            let too_wide = || {
                cost.filter(|ratio| effect(*ratio).is_none())
                    .map(|_| TOO_WIDE)
            };
            ExperimentRow {
                change: tried.change,
                setup: tried.setup,
                control: tried.control,
                setup_spec: self.spec(tried.setup),
                control_spec: self.spec(tried.control),
                median_ns: self.median_ns(tried.setup),
                control_median_ns: self.median_ns(tried.control),
                trouble: trouble
                    .or_else(withheld)
                    .or_else(|| Some(too_wide()?.to_owned())),
                cost,
                verdict,
            }
        });
        tried.collect()
    }

    fn evidence(&self, rows: &[ExperimentRow]) -> Evidence {
        let row = |change: ExperimentChange| rows.iter().find(|row| row.change == change);
        let seen = |change: ExperimentChange| row(change)?.effect();
        // One thread against two is half the threads of the larger setup.
        let doubled = seen(ExperimentChange::TwiceThreads).map(|effect| ChangeCost {
            ratio: 1.0 / effect.ratio,
            low: 1.0 / effect.high,
            high: 1.0 / effect.low,
        });
        let streams = row(ExperimentChange::StreamingNeighbour);
        let computes = row(ExperimentChange::ComputingNeighbour);
        let beyond = streams.zip(computes).and_then(|(streams, computes)| {
            effect(self.pair(computes.setup, streams.setup)?.ratio?)
        });
        Evidence {
            fewer_threads: seen(ExperimentChange::HalfThreads).or(doubled),
            streaming: seen(ExperimentChange::StreamingNeighbour),
            computing: seen(ExperimentChange::ComputingNeighbour),
            beyond_computing: beyond,
            proof: self.proof(),
            capture: seen(ExperimentChange::GraphCapture),
            node_ns: self.node_ns(),
        }
    }

    /// Time of a node, on average: of the nodes that the profile of the case counts, or that the engine ran
    /// when it was examined.
    fn node_ns(&self) -> Option<f64> {
        let case = CaseKey {
            setup: self.asked.setup,
            point: self.asked.point,
        };
        let mut profiles = self.session.profiles.iter();
        let profile = profiles.find(|profile| profile.case == Some(case));
        let counted = profile.and_then(|profile| {
            let runs = ProfileRuns::from_profile(profile)?.count as f64;
            let calls: u64 = profile
                .of_kind(SliceKind::Kernel)
                .map(|total| total.calls)
                .sum();
            Some(calls as f64 / runs)
        });
        let examined = self.session.examinations.get(&self.asked.setup);
        let examined = examined.map(|examined| examined.nodes.len() as f64);
        let nodes = counted.or(examined).filter(|nodes| *nodes >= 1.0)?;
        Some(self.median_ns(self.asked.setup)? / nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{end_case, measure, out_of_memory, session};
    use powerband_core::domain::experiment::Experiment;
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
                })
                .to_vec(),
            untried: vec![UnavailableExperiment {
                change: ExperimentChange::GraphCapture,
                reason: "it runs on the processor".to_owned(),
            }],
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

    fn timed(micros: [u64; 4]) -> ExperimentAnswer {
        let mut session = asked();
        for (setup, micros) in (0..).zip(micros.into_iter().chain([3_000, 4_500])) {
            near(&mut session, setup, micros);
        }
        experiment_answer(&session).unwrap()
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
        let conclusion = found.conclusion.unwrap();
        assert_eq!(conclusion.bound, Bound::Memory);
        assert!(
            conclusion.sentence.contains("38.0 %"),
            "{}",
            conclusion.sentence
        );
        assert_eq!(found.rows[1].control_spec, "ort:cpu,cores=0,threads=1");
        assert_eq!(found.untried.len(), 1);
    }

    #[test]
    fn experiment_and_model_may_disagree() {
        let finding = |basis, bound| LimitFinding {
            sentence: String::new(),
            basis,
            bound,
            at_most_here: None,
            at_most_overall: None,
            line: String::new(),
            formula: String::new(),
            nodes: Vec::new(),
        };
        let experiment = finding(Basis::Experiment, Some(Bound::Memory));
        let said = |bound| disagreement(&[experiment.clone(), finding(Basis::Model, bound)]);
        let told = said(Some(Bound::Compute)).unwrap();
        assert!(told.contains("memory, by the model arithmetic"), "{told}");
        assert_eq!(said(Some(Bound::Memory)), None);
        assert_eq!(said(None), None);
        assert_eq!(said(Some(Bound::CannotTell)), None);
    }

    #[test]
    fn the_answer_is_a_finding_on_its_own_case() {
        let mut session = asked();
        for (setup, micros) in (0..).zip([10_000, 10_400, 14_352, 10_608]) {
            near(&mut session, setup, micros);
        }
        let of = |setup| {
            let point = Point::of_batch(1);
            experiment_finding(&session, CaseKey { setup, point })
        };
        let found = of(0).unwrap();
        assert_eq!(
            (found.basis, found.bound),
            (Basis::Experiment, Some(Bound::Memory))
        );
        assert!(found.formula.contains("15 %"));
        assert_eq!(of(1), None);
    }

    #[test]
    fn computing_and_what_is_open() {
        let bound = |micros| timed(micros).conclusion.map(|found| found.bound);
        assert_eq!(bound([10_000, 19_300, 19_900, 19_500]), Ok(Bound::Compute));
        // How many nodes there are is unknown here.
        assert!(
            bound([10_000, 10_000, 10_000, 10_000])
                .unwrap_err()
                .contains("nodes")
        );
    }

    #[test]
    fn a_case_of_microseconds_gets_a_sentence_and_no_number() {
        let found = timed([20, 21, 40, 21]);
        let said = found.conclusion.unwrap_err();
        assert!(said.contains("µs"), "{said}");
        for row in &found.rows {
            assert_eq!(row.cost, None);
            assert!(row.trouble.is_some());
        }
    }

    #[test]
    fn what_was_not_measured_says_why() {
        assert_eq!(experiment_answer(&session(&["ort"], &[1])), None);
        let waiting = experiment_answer(&asked()).unwrap();
        assert!(waiting.conclusion.unwrap_err().contains(NOT_YET));
        let mut session = asked();
        for setup in [0, 2, 3] {
            near(&mut session, setup, 10_000);
        }
        end_case(&mut session, 1, 1, out_of_memory());
        let found = experiment_answer(&session).unwrap();
        let said = found.rows[1].trouble.clone().unwrap();
        assert!(
            said.contains("compared with") && said.contains("out of memory"),
            "{said}"
        );
        assert_eq!(found.rows[1].cost, None);
    }
}
