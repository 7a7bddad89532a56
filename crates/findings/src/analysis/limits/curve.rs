//! What limits a setup by its curve alone, without a profile: latency = fixed + per item × batch.
//!
//! The fixed part is held against reading the weights once and against starting every node; the part of an item
//! against its operations at what the engine reaches. How sure the two parts are follows from the rounds: each
//! round has a line of its own.

use powerband_core::base::humanize;
use powerband_core::domain::point::BATCH;
use powerband_core::domain::roofs::{Roofs, numbers_of};
use powerband_core::domain::session::Session;
use powerband_core::domain::work::NumberFormat;
use powerband_core::stats::bootstrap::{self, Interval};
use powerband_core::stats::fit::LinearFit;
use powerband_core::stats::summary;
use serde::Serialize;

use super::against;
use super::bound::{Basis, Bound};
use super::finding::{self, LimitFinding};
use super::lines::References;
use super::node::{ALIKE, NEITHER_BELOW, WRONG_ABOVE};
use super::other_path::other_paths;
use crate::analysis::batch_curve::{BatchCurve, batch_curves};
use crate::analysis::case_rows::{CaseRow, case_rows};

/// A multiplication and an addition.
pub(super) const OPERATIONS_A_MAC: f64 = 2.0;
/// A part is not judged where its interval is wider than this share of it to either side.
const WIDEST: f64 = 0.5;
/// Resamples for the intervals, and their seed.
const RESAMPLES: usize = 2000;
const SEED: u64 = 38;

/// The fixed or the per-item part of the latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyPart {
    pub ns: f64,
    /// Its 95 % interval over the rounds; nothing for fewer than two.
    #[serde(rename = "ci95_ns")]
    pub ci95: Option<Interval>,
}

impl LatencyPart {
    /// Whether it is known closely enough to be judged.
    fn is_sure(self) -> bool {
        self.ns > 0.0
            && self.ci95.is_some_and(|ci| {
                ci.low >= self.ns * (1.0 - WIDEST) && ci.high <= self.ns * (1.0 + WIDEST)
            })
    }

    fn value_text(self) -> String {
        let value = humanize::duration_ns(self.ns);
        match self.ci95.filter(|_| self.ns > 0.0) {
            Some(ci) => {
                let half = (ci.high - ci.low) / 2.0 / self.ns;
                format!("{value} ± {}", humanize::uncertainty(half))
            }
            None => value,
        }
    }
}

/// What limits a setup by its curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveLimits {
    /// The setup, by its place in the plan.
    #[serde(skip)]
    pub setup: usize,
    /// What every run costs, however large its batch.
    pub fixed: LatencyPart,
    /// What each item adds.
    pub per_item: LatencyPart,
    /// Reading the weights once, in nanoseconds.
    pub weights_ns: Option<f64>,
    /// Starting every node once, in nanoseconds.
    pub launch_ns: Option<f64>,
    /// An item's operations at what the engine reaches, in nanoseconds.
    pub arithmetic_ns: Option<f64>,
    /// What was found, worst first.
    pub findings: Vec<LimitFinding>,
    /// What is not said, and why.
    pub abstained: Vec<String>,
}

/// What limits a setup by its curve over the batch, against these roofs; or why nothing can be said.
pub fn curve_limits(
    session: &Session,
    setup: usize,
    roofs: &[Roofs],
) -> Result<CurveLimits, String> {
    curve_limits_of_rows(session, &case_rows(session), setup, roofs)
}

/// The same of a session whose cases are in these rows.
pub fn curve_limits_of_rows(
    session: &Session,
    rows: &[CaseRow],
    setup: usize,
    roofs: &[Roofs],
) -> Result<CurveLimits, String> {
    let spec = session.plan.setups.get(setup);
    let spec = spec.ok_or("there is no such setup")?;
    if let Some(task) = spec.options.get("task").filter(|task| *task != "infer") {
        return Err(format!(
            "the curve of task={task} is not that of one pass per run"
        ));
    }
    let mut curves = batch_curves(rows);
    curves.retain(|curve| curve.setup == setup);
    let curve = match curves.as_slice() {
        [curve] => curve,
        [] => return Err("it has no curve over the batch size".to_owned()),
        _ => {
            return Err(
                "it has several curves over the batch size, one for each of the other sizes"
                    .to_owned(),
            );
        }
    };
    let line = curve.line.ok_or(
        "its latency is no line over the batch size, or fewer than three sizes were measured",
    )?;
    let (fixed, per_item) = parts(session, curve, &line);
    let mut limits = CurveLimits {
        setup,
        fixed,
        per_item,
        weights_ns: None,
        launch_ns: None,
        arithmetic_ns: None,
        findings: other_paths(curve),
        abstained: Vec::new(),
    };
    match against::references_for_setup(session, setup, None, roofs) {
        Ok(references) => judge(session, setup, curve, &references, &mut limits),
        Err(reason) => limits.abstained.push(format!(
            "The parts of the latency are not judged: {reason}."
        )),
    }
    finding::sort_worst_first(&mut limits.findings);
    Ok(limits)
}

/// The two parts, with intervals from the lines of the rounds.
fn parts(session: &Session, curve: &BatchCurve, line: &LinearFit) -> (LatencyPart, LatencyPart) {
    let cases: Vec<_> = curve
        .points
        .iter()
        .filter_map(|point| {
            let case = session
                .cases
                .iter()
                .find(|case| case.setup == curve.setup && case.point == point.point);
            Some((point.size as f64, case?))
        })
        .collect();
    let lines: Vec<LinearFit> = (0..session.next_round())
        .filter_map(|number| {
            let times = cases.iter().filter_map(|(size, case)| {
                let round = case.rounds.iter().find(|round| round.round == number)?;
                let samples: Vec<f64> = round.samples_ns.iter().map(|ns| *ns as f64).collect();
                Some((*size, summary::median(&samples)?))
            });
            LinearFit::through(&times.collect::<Vec<_>>())
        })
        .collect();
    let interval = |of: fn(&LinearFit) -> f64| {
        let rounds: Vec<Vec<f64>> = lines.iter().map(|line| vec![of(line)]).collect();
        bootstrap::median_interval(&rounds, RESAMPLES, SEED)
    };
    let part = |ns, ci95| LatencyPart { ns, ci95 };
    (
        part(line.fixed, interval(|line| line.fixed)),
        part(line.per_item, interval(|line| line.per_item)),
    )
}

/// Bytes of the weights of a setup's network, each counted once.
pub(super) fn weight_bytes(session: &Session, setup: usize, numbers: NumberFormat) -> u64 {
    let each = match numbers {
        NumberFormat::F64 => 8,
        NumberFormat::F32 => 4,
        NumberFormat::Bf16 | NumberFormat::F16 => 2,
        NumberFormat::Int8 => 1,
    };
    session.model_of(setup).parameters.saturating_mul(each)
}

/// Nodes of a setup's network after optimisation: those that its engine examined, else those of a profiled run.
fn node_count(session: &Session, setup: usize) -> Option<u64> {
    let examined = session
        .examinations
        .get(&setup)
        .map(|found| found.nodes.len() as u64);
    examined.filter(|nodes| *nodes > 0).or_else(|| {
        let profile = session
            .profiles
            .iter()
            .find(|profile| profile.case.is_some_and(|case| case.setup == setup))?;
        let nodes = profile.of_kind(powerband_core::domain::trace::SliceKind::Kernel);
        let calls: u64 = nodes.map(|total| total.calls).sum();
        Some(calls / profile.runs.filter(|runs| *runs > 0)?).filter(|nodes| *nodes > 0)
    })
}

fn judge(
    session: &Session,
    setup: usize,
    curve: &BatchCurve,
    references: &References<'_>,
    limits: &mut CurveLimits,
) {
    let numbers = session
        .plan
        .setups
        .get(setup)
        .map_or(NumberFormat::F32, numbers_of);
    judge_fixed(session, curve, numbers, references, limits);
    judge_item(session, curve, numbers, references, limits);
}

/// The fixed part against the weights and the launches.
fn judge_fixed(
    session: &Session,
    curve: &BatchCurve,
    numbers: NumberFormat,
    references: &References<'_>,
    limits: &mut CurveLimits,
) {
    let fixed = limits.fixed;
    if !fixed.is_sure() {
        limits.abstained.push(format!(
            "The fixed part of a run, {}, is not judged: it is not known closely enough.",
            fixed.value_text()
        ));
        return;
    }
    let bytes = weight_bytes(session, limits.setup, numbers);
    let memory = references.memory(bytes);
    if let Some(line) = memory.as_ref().filter(|line| line.is_noisy()) {
        limits.abstained.push(format!(
            "The fixed part of a run is not judged: the {} is noisy.",
            line.title
        ));
        return;
    }
    limits.weights_ns = memory.as_ref().map(|line| line.ns_of(bytes));
    let nodes = node_count(session, limits.setup);
    let launch = references.launch();
    limits.launch_ns = nodes
        .zip(launch)
        .map(|(nodes, launch)| nodes as f64 * launch.ns);
    let (weights, launches) = (
        limits.weights_ns.unwrap_or(0.0),
        limits.launch_ns.unwrap_or(0.0),
    );
    let explained = weights.max(launches);
    if explained <= 0.0 {
        limits.abstained.push("The fixed part of a run is not judged: neither a bandwidth nor the cost of a node is known.".to_owned());
        return;
    }
    let bound = cause_of_fixed(fixed.ns, weights, launches);
    let mut lines = Vec::new();
    if let Some(line) = &memory {
        lines.push(format!(
            "weights {} at the {} ({})",
            humanize::bytes(bytes),
            line.title,
            line.height()
        ));
    }
    if let (Some(nodes), Some(launch)) = (nodes, launch) {
        let nodes = humanize::pluralised(nodes, "node");
        lines.push(format!("{nodes} of {}", humanize::duration_ns(launch.ns)));
    }
    let smallest = curve.points.first().map_or(1, |point| point.size);
    let run_ns = fixed.ns + limits.per_item.ns * smallest as f64;
    let left = (fixed.ns - explained).max(0.0);
    limits.findings.push(LimitFinding {
        sentence: format!(
            "Every run costs {} whatever its batch, {} of a run at batch {smallest}: reading the weights takes {} of it, starting the nodes {}.",
            fixed.value_text(),
            humanize::percent(fixed.ns / run_ns),
            share_or_unknown(limits.weights_ns, fixed.ns),
            share_or_unknown(limits.launch_ns, fixed.ns),
        ),
        basis: Basis::Curve,
        bound: Some(bound),
        at_most_here: Some((fixed.ns / explained).max(1.0)),
        at_most_overall: Some(run_ns / (run_ns - left)),
        line: lines.join(", "),
        formula: format!(
            "fixed ÷ max(weights ÷ bandwidth, nodes × launch) = {} ÷ max({}, {})",
            humanize::duration_ns(fixed.ns),
            humanize::duration_ns(weights),
            humanize::duration_ns(launches)
        ),
        nodes: Vec::new(),
        is_whole: false,
    });
}

/// What the fixed part goes to: reading the weights, starting the nodes, or neither.
fn cause_of_fixed(fixed_ns: f64, weights_ns: f64, launches_ns: f64) -> Bound {
    let is_alike = launches_ns > 0.0 && (ALIKE.0..=ALIKE.1).contains(&(weights_ns / launches_ns));
    if weights_ns.max(launches_ns) < NEITHER_BELOW * fixed_ns {
        Bound::Neither
    } else if is_alike {
        Bound::CannotTell
    } else if weights_ns > launches_ns {
        Bound::Memory
    } else {
        Bound::Launch
    }
}

fn share_or_unknown(ns: Option<f64>, of: f64) -> String {
    ns.map_or_else(
        || "an unknown part".to_owned(),
        |ns| humanize::percent(ns / of),
    )
}

/// The part of an item against its operations.
fn judge_item(
    session: &Session,
    curve: &BatchCurve,
    numbers: NumberFormat,
    references: &References<'_>,
    limits: &mut CurveLimits,
) {
    let item = limits.per_item;
    let abstain = |reason: &str| {
        format!(
            "The part of an item, {}, is not judged: {reason}.",
            item.value_text()
        )
    };
    if !item.is_sure() {
        limits
            .abstained
            .push(abstain("it is not known closely enough"));
        return;
    }
    let Some(macs) = session.model_of(limits.setup).macs.filter(|macs| *macs > 0) else {
        limits
            .abstained
            .push(abstain("the network's operations are not known"));
        return;
    };
    let Some(line) = references.compute(numbers) else {
        limits.abstained.push(abstain(&format!(
            "no roof for {numbers} arithmetic is known"
        )));
        return;
    };
    if line.is_noisy() {
        limits
            .abstained
            .push(abstain(&format!("the {} is noisy", line.title)));
        return;
    }
    let arithmetic = 1e9 * macs as f64 * OPERATIONS_A_MAC / line.per_s;
    limits.arithmetic_ns = Some(arithmetic);
    let share = arithmetic / item.ns;
    let bound = if share > WRONG_ABOVE {
        Bound::ModelWrong
    } else if share < NEITHER_BELOW {
        Bound::Neither
    } else {
        Bound::Compute
    };
    let largest = curve.points.last().map_or(1, |point| point.size);
    let run_ns = limits.fixed.ns + item.ns * largest as f64;
    let left = (item.ns - arithmetic).max(0.0) * largest as f64;
    let is_wrong = bound == Bound::ModelWrong;
    let ending = match bound {
        Bound::ModelWrong => "the model is wrong here",
        Bound::Neither => "bytes, latency or too little that runs at once take the rest",
        _ => "arithmetic takes most of it",
    };
    limits.findings.push(LimitFinding {
        sentence: format!(
            "Each item adds {}: its operations take {} of that at the {} ({}); {ending}.",
            item.value_text(),
            humanize::percent(share),
            line.title,
            line.height()
        ),
        basis: Basis::Curve,
        bound: Some(bound),
        at_most_here: (!is_wrong).then(|| (1.0 / share).max(1.0)),
        at_most_overall: (!is_wrong).then(|| run_ns / (run_ns - left)),
        line: line.name(),
        formula: format!(
            "per item ÷ (operations ÷ what the engine reaches) = {} ÷ {}; over all at {BATCH} {largest}",
            humanize::duration_ns(item.ns),
            humanize::duration_ns(arithmetic)
        ),
        nodes: Vec::new(),
        is_whole: false,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::limits::tests::roofs;
    use crate::analysis::testing::{measure, session};
    use powerband_core::domain::examination::Examination;

    /// Rounds within 1 % of a time.
    fn times(session: &mut Session, batch: usize, micros: f64) {
        let round = |factor: f64| -> Vec<u64> {
            (0..10)
                .map(|i| (micros * 1e3 * factor) as u64 + i)
                .collect()
        };
        // In another order for each batch.
        let mut factors = [0.99, 1.0, 1.01, 1.0, 0.995];
        factors.rotate_left(batch % 5);
        let rounds: Vec<Vec<u64>> = factors.map(round).into();
        let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
        measure(session, 0, batch, &rounds);
    }

    fn line(fixed_us: f64, item_us: f64) -> Session {
        let batches = [1, 2, 4, 8];
        let mut session = session(&["ort:cpu,threads=1"], &batches);
        for batch in batches {
            times(&mut session, batch, fixed_us + item_us * batch as f64);
        }
        session
    }

    #[test]
    fn the_parts_are_held_against_weights_launches_and_operations() {
        let mut session = line(1000.0, 500.0);
        // 4 MB of weights are 0.2 ms at 20 GB/s; 600 nodes of 1 µs 0.6 ms; 16 M MACs 0.4 ms at 80 GOP/s.
        session.model.parameters = 1_000_000;
        session.model.macs = Some(16_000_000);
        let node = powerband_core::domain::examination::NodeRun {
            name: String::new(),
            op: String::new(),
            provider: String::new(),
            time_ns: 0,
        };
        let examined = Examination {
            nodes: vec![node; 600],
            ..Examination::default()
        };
        session.examinations.insert(0, examined);
        let limits = curve_limits(&session, 0, &[roofs(0.01)]).unwrap();
        let near = |value: Option<f64>, expected: f64| {
            assert!(
                value.is_some_and(|value| (value / expected - 1.0).abs() < 0.02),
                "{limits:?}"
            );
        };
        near(Some(limits.fixed.ns), 1e6);
        near(Some(limits.per_item.ns), 5e5);
        near(limits.weights_ns, 2e5);
        near(limits.launch_ns, 6e5);
        near(limits.arithmetic_ns, 4e5);
        let bounds: Vec<_> = limits
            .findings
            .iter()
            .map(|finding| finding.bound)
            .collect();
        assert!(bounds.contains(&Some(Bound::Launch)) && bounds.contains(&Some(Bound::Compute)));
        assert!(
            limits
                .findings
                .iter()
                .all(|finding| finding.basis == Basis::Curve)
        );
        let without = curve_limits(&session, 0, &[]).unwrap();
        assert!(without.findings.is_empty() && without.abstained[0].contains("powerband roofs"));
    }

    #[test]
    fn more_than_twice_the_time_for_twice_the_items_is_another_path() {
        let mut session = session(&["ort:cpu,threads=1"], &[1, 2, 4, 8]);
        for (batch, micros) in [(1, 1000.0), (2, 2600.0), (4, 5200.0), (8, 10_400.0)] {
            times(&mut session, batch, micros);
        }
        let found = curve_limits(&session, 0, &[]).unwrap().findings;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0]
                .sentence
                .contains("another path at batch 2: a run takes 2.60 ×"),
            "{found:?}"
        );
        assert!((found[0].at_most_here.unwrap() - 1.3).abs() < 0.01);
        let straight = curve_limits(&line(1000.0, 500.0), 0, &[]).unwrap();
        assert!(straight.findings.is_empty(), "{straight:?}");
    }

    #[test]
    fn what_is_no_line_is_not_judged() {
        let mut short = session(&["ort:cpu,threads=1"], &[1, 2]);
        times(&mut short, 1, 100.0);
        times(&mut short, 2, 200.0);
        assert!(
            curve_limits(&short, 0, &[])
                .unwrap_err()
                .contains("three sizes")
        );
        let train = session(&["torch:cpu,task=train"], &[1, 2, 4]);
        assert!(
            curve_limits(&train, 0, &[])
                .unwrap_err()
                .contains("task=train")
        );
        // A fixed part of nearly nothing is lost in the noise.
        let limits = curve_limits(&line(1.0, 5000.0), 0, &[roofs(0.01)]).unwrap();
        assert!(
            limits
                .abstained
                .iter()
                .any(|text| text.contains("fixed part")),
            "{limits:?}"
        );
    }
}
