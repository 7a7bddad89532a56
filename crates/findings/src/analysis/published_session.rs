//! Published numbers as cases beside the measured ones, so that they are compared by the same code. They have one number
//! for each case and no rounds, so a ratio to them has no interval and no verdict.

use std::collections::BTreeMap;

use super::claims;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::claim::{ClaimMetric, ClaimedFigure, Published};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::{OptimisationStep, Plan, SetupStyle};
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::Tool;
use powerband_core::domain::reported::Stated;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;

/// The engine of setups that were published.
const PUBLISHED: &str = "published";
/// What the first step is called where the document does not name it.
const BASELINE: &str = "Baseline";

/// The session with what it publishes as further setups, and its published steps as its ladder where it has none of its
/// own; nothing where it publishes no time of a batch.
pub fn with_published_setups(session: &Session) -> Option<Session> {
    let published = session.published.as_ref()?;
    let mut whole = session.clone();
    let added = whole.cases.len();
    for curve in claims::published_curves(published) {
        let points = curve.points.iter();
        let times = points.filter_map(|point| Some((point.batch, point.latency_ns?)));
        let times: Vec<(usize, f64)> = times.collect();
        add_setup(&mut whole, &curve.label, &times);
    }
    if whole.plan.ladder.is_empty() {
        add_steps(&mut whole, published);
    }
    if whole.cases.len() == added {
        return None;
    }
    if session.plan.setups.is_empty() {
        // Nothing here was measured, so no condition of this machine belongs to it.
        whole.imported = Some(Tool {
            name: published.source.title.clone(),
            ..Tool::default()
        });
    }
    whole.plan.points.sort_unstable();
    whole.plan.points.dedup();
    Some(whole)
}

/// Adds a setup with a time for each of some batch sizes, and answers its place. A curve without times is one too, so
/// that places are those of the curves.
fn add_setup(session: &mut Session, label: &str, times: &[(usize, f64)]) -> usize {
    let setup = session.plan.setups.len();
    session.plan.looks.resize(setup, SetupStyle::default());
    session.plan.setups.push(Setup {
        engine: PUBLISHED.to_owned(),
        device: Plan::ELSEWHERE.to_owned(),
        options: BTreeMap::new(),
    });
    session.plan.looks.push(SetupStyle {
        label: Some(format!("{label}, {PUBLISHED}")),
        colour: None,
    });
    for &(batch, typical_ns) in times {
        let point = Point::of_batch(batch);
        let mut case = Case::pending(CaseKey { setup, point });
        case.outcome = Outcome::Finished;
        case.stated.push(Stated {
            typical_ns: Some(typical_ns),
            ..Stated::default()
        });
        session.cases.push(case);
        session.plan.points.push(point);
    }
    setup
}

/// The latencies that published steps came to, after that of the baseline.
fn add_steps(session: &mut Session, published: &Published) {
    let latencies = published.steps.iter().filter_map(|step| {
        let mut changes = step.changes.iter();
        let change = changes.find(|change| change.metric == ClaimMetric::Latency)?;
        let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
        // What a step came to is at the batch size that it began with, where it names none.
        let batch = after.batch.or(before.batch)?;
        Some((&step.title, batch, time_ns(before)?, time_ns(after)?))
    });
    let steps: Vec<(&String, usize, f64, f64)> = latencies.collect();
    let Some(&(_, batch, baseline_ns, _)) = steps.first() else {
        return;
    };
    let name = published.baseline.as_deref().unwrap_or(BASELINE);
    let baseline = [(name, batch, baseline_ns)].into_iter();
    let after = steps.iter();
    let after = after.map(|(title, batch, _, after_ns)| (title.as_str(), *batch, *after_ns));
    for (title, batch, time_ns) in baseline.chain(after) {
        let setup = add_setup(session, title, &[(batch, time_ns)]);
        let point = Point::of_batch(batch);
        session.plan.ladder.push(OptimisationStep {
            title: title.to_owned(),
            case: CaseKey { setup, point },
        });
    }
}

/// A figure of time in nanoseconds; nothing for a range.
fn time_ns(figure: &ClaimedFigure) -> Option<f64> {
    let scale = figure.scale().filter(|_| !figure.value.is_range())?;
    Some(figure.value.value() * scale * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows::case_rows;
    use crate::analysis::comparison::{ComparedSide, compare_setups};
    use crate::analysis::journey::compare_steps;
    use crate::analysis::testing::{measure_near, session};
    use crate::analysis::verdict::Call;
    use powerband_core::domain::claim::{ClaimedChange, ClaimedCurve, ClaimedPoint, ClaimedStep};

    fn published() -> Published {
        let figure = |value: &str, batch| ClaimedFigure {
            metric: ClaimMetric::Latency,
            subject: String::new(),
            value: value.parse().unwrap(),
            unit: "ms".to_owned(),
            batch,
            extreme: None,
            note: String::new(),
        };
        let step = |title: &str, after: &str| ClaimedStep {
            title: title.to_owned(),
            over: "the start".to_owned(),
            changes: vec![ClaimedChange {
                metric: ClaimMetric::Latency,
                subject: String::new(),
                before: Some(figure("12.5", Some(1))),
                after: Some(figure(after, None)),
                claimed: None,
            }],
        };
        Published {
            curves: vec![ClaimedCurve {
                setup: "MIGraphX".to_owned(),
                points: vec![ClaimedPoint {
                    batch: 1,
                    latency_ms: Some("4".parse().unwrap()),
                    ..ClaimedPoint::default()
                }],
                ..ClaimedCurve::default()
            }],
            steps: vec![step("fp16", "6.25"), step("Fused", "5")],
            ..Published::default()
        }
    }

    #[test]
    fn a_measured_setup_is_compared_with_a_published_one_without_a_verdict() {
        let mut own = session(&["ort:cpu"], &[1]);
        measure_near(&mut own, 0, 1, 2_000);
        own.published = Some(published());
        let whole = with_published_setups(&own).unwrap();
        assert_eq!(whole.setup_label(1), "MIGraphX, published");
        let rows = case_rows(&whole);
        let side = |setup| ComparedSide {
            session: &whole,
            rows: &rows,
            setup,
            point: None,
        };
        let found = compare_setups(&side(1), &side(0));
        let ratio = found.pairs[0].ratio.unwrap();
        assert!((ratio.speed_up - 2.0).abs() < 0.01 && ratio.ci95.is_none());
        assert_eq!(found.count(Call::Inconclusive), 1);
    }

    #[test]
    fn published_steps_are_steps_over_the_baseline() {
        let mut own = session(&[], &[]);
        own.published = Some(published());
        let whole = with_published_setups(&own).unwrap();
        let steps = compare_steps(&whole, &case_rows(&whole), Point::of_batch(1));
        let gains = steps.steps.iter().map(|step| {
            let pair = step.vs_baseline.as_ref();
            pair.map(|pair| pair.ratio.unwrap().speed_up_text())
        });
        let gain = |text: &str| Some(text.to_owned());
        assert_eq!(
            gains.collect::<Vec<_>>(),
            [None, gain("2.00 ×"), gain("2.50 ×")]
        );
        own.published = Some(Published::default());
        assert_eq!(with_published_setups(&own), None);
    }
}
