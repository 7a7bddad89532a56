//! Two sessions once more, in turns: one plan with the setups of both, at the points that both have.
//!
//! What was measured at different times differs by the times as well. `bench --again` and the window's *Measure both
//! again, in turns* come this way. Each setup runs the file that its session measured, or nothing is measured.

use super::prepare::prepare;
use super::run::PreparedRun;
use crate::prepare_error::PrepareError;
use powerband_core::base::humanize;
use powerband_core::domain::plan::{MeasureRule, Plan, PresetName, SetupStyle, WorkerLifetime};
use powerband_core::domain::point::{self, Point};
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::{MODEL_KEY, Setup};
use powerband_store::installation::Installation;

/// One of the two: a session, and what of it is meant.
#[derive(Clone, Copy, Debug)]
pub struct SessionPart<'a> {
    /// The session.
    pub session: &'a Session,
    /// One of its setups; nothing for those that both have.
    pub setup: Option<usize>,
    /// One of its points; nothing for those that both have.
    pub point: Option<Point>,
}

impl<'a> SessionPart<'a> {
    /// All of a session.
    pub fn all(session: &'a Session) -> Self {
        Self {
            session,
            setup: None,
            point: None,
        }
    }

    fn plan(&self) -> &'a Plan {
        &self.session.plan
    }
}

/// The request that measures both in turns, or why there can be none. Its setups are pairs: each of the session
/// before is followed by the one of the session after that it is compared with.
pub fn request_for(
    before: SessionPart<'_>,
    after: SessionPart<'_>,
) -> Result<RunRequest, PrepareError> {
    let refused = |reason: String| Err(PrepareError::NotAgain(reason));
    for part in [before, after] {
        if part.session.imported.is_some() || !part.plan().can_run() {
            return refused(format!(
                "{} was measured by another program, and its setups cannot be run here",
                part.session.name
            ));
        }
    }
    if before.session.is_of_one_run_with(after.session) {
        return refused("both are of one run, in which they took turns already".to_owned());
    }
    let pairs = setup_pairs(before, after);
    if pairs.is_empty() {
        return refused("the two sessions have no setup in common; name one of each".to_owned());
    }
    let points = points_of_both(before, after);
    if points.is_empty() {
        return refused(format!(
            "the two sessions have no point in common: {} and {}",
            point::list(before.plan().points.iter().copied()),
            point::list(after.plan().points.iter().copied())
        ));
    }
    let (first, second) = (before.plan(), after.plan());
    if !are_fed_alike(first, second) {
        return refused(
            "the two sessions gave their networks other inputs, or requests at another rate"
                .to_owned(),
        );
    }
    let model = &first.model;
    let sides = pairs.iter().flat_map(|&(b, a)| {
        let names = labels((before.session, b), (after.session, a));
        [(first, b), (second, a)].into_iter().zip(names)
    });
    let (setups, looks) = sides
        .filter_map(|((plan, setup), label)| {
            let look = SetupStyle {
                label: Some(label),
                colour: None,
            };
            Some((with_model(plan, plan.setups.get(setup)?, model), look))
        })
        .unzip();
    let preset = more_careful(first.preset, second.preset);
    let rounds = first.measure.rounds.max(second.measure.rounds);
    let is_alone = [first, second].map(|plan| plan.keeping == WorkerLifetime::OneAtATime);
    Ok(RunRequest {
        setups,
        looks,
        points: Some(points),
        sizes: first.input_sizes(),
        load: first.load,
        preset,
        rounds: (rounds > MeasureRule::from_preset(preset).rounds).then_some(rounds),
        keeping: if is_alone.contains(&true) {
            WorkerLifetime::OneAtATime
        } else {
            WorkerLifetime::Together
        },
        name: Some(name_of_both(before.session, after.session)),
        ..RunRequest::new(model)
    })
}

/// Makes that request into a run, where each setup can run here on the file that its session measured.
pub fn prepare_again(
    place: &Installation,
    request: &RunRequest,
    before: SessionPart<'_>,
    after: SessionPart<'_>,
) -> Result<PreparedRun, PrepareError> {
    let prepared = prepare(place, request).map_err(|error| match error {
        PrepareError::Model(error) => PrepareError::NotAgain(error.to_string()),
        other => other,
    })?;
    let pairs = setup_pairs(before, after).into_iter();
    let sources = pairs.flat_map(|(b, a)| [(before.session, b), (after.session, a)]);
    for (number, (session, setup)) in sources.enumerate() {
        if let Some(Err(reason)) = prepared.runtimes.get(number) {
            let label = session.setup_label(setup);
            return Err(PrepareError::NotAgain(format!("{label}: {reason}")));
        }
        let then = session.model_of(setup);
        let beginning = &prepared.beginning;
        let now = beginning.variants.get(&number);
        if now.unwrap_or(&beginning.model).is_same_file(then) == Some(false) {
            return Err(PrepareError::NotAgain(format!(
                "{} is not the file any more that {} measured",
                then.file, session.name
            )));
        }
    }
    Ok(prepared)
}

/// The setups that are compared with each other: those that are meant; the only one of each; or those that are
/// spelled alike.
fn setup_pairs(before: SessionPart<'_>, after: SessionPart<'_>) -> Vec<(usize, usize)> {
    let (mine, theirs) = (&before.plan().setups, &after.plan().setups);
    let only = |setups: &[Setup]| (setups.len() == 1).then_some(0);
    let meant = (
        before.setup.or_else(|| only(mine)),
        after.setup.or_else(|| only(theirs)),
    );
    if let (Some(b), Some(a)) = meant {
        return vec![(b, a)];
    }
    let is_meant = |one: Option<usize>, setup: usize| one.is_none_or(|one| one == setup);
    let alike = mine.iter().enumerate().filter_map(|(b, spec)| {
        let a = theirs.iter().position(|other| other == spec)?;
        Some((b, a))
    });
    alike
        .filter(|&(b, a)| is_meant(before.setup, b) && is_meant(after.setup, a))
        .collect()
}

/// The points that both have; the two that are meant, where those are two.
fn points_of_both(before: SessionPart<'_>, after: SessionPart<'_>) -> Vec<Point> {
    let meant: Vec<Point> = before.point.into_iter().chain(after.point).collect();
    if meant.len() == 2 {
        return meant;
    }
    let theirs = &after.plan().points;
    let mine = before.plan().points.iter().copied();
    mine.filter(|point| theirs.contains(point))
        .filter(|point| meant.is_empty() || meant.contains(point))
        .collect()
}

fn are_fed_alike(first: &Plan, second: &Plan) -> bool {
    first.load == second.load && first.input_sizes() == second.input_sizes()
}

/// A setup that runs the model of its plan also in a plan of another one.
fn with_model(plan: &Plan, setup: &Setup, model: &str) -> Setup {
    match setup.own_model() {
        None if plan.model != model => setup.clone().with(MODEL_KEY, &plan.model),
        _ => setup.clone(),
    }
}

/// What the two are called beside each other.
fn labels(before: (&Session, usize), after: (&Session, usize)) -> [String; 2] {
    let [first, second] = [before, after].map(|(session, setup)| session.setup_label(setup));
    if first != second {
        return [first, second];
    }
    let [own, other] = [before, after].map(|(session, _)| session.name.clone());
    if own == other {
        return ["before", "after"].map(|side| format!("{first}, {side}"));
    }
    [own, other].map(|name| format!("{first}, {name}"))
}

fn name_of_both(before: &Session, after: &Session) -> String {
    let mut names = vec![before.name.as_str(), after.name.as_str()];
    names.dedup();
    format!("{}, in turns", humanize::list(&names))
}

fn more_careful(one: PresetName, other: PresetName) -> PresetName {
    let care = |preset| PresetName::ALL.iter().position(|known| *known == preset);
    if care(other) > care(one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::planning;
    use powerband_core::domain::environment::Environment;
    use powerband_core::domain::event::RunStart;
    use powerband_core::domain::model::ModelRef;
    use powerband_core::domain::profile::Tool;

    fn session(name: &str, model: &str, setups: &[&str], batches: &[usize]) -> Session {
        let setups: Vec<Setup> = setups.iter().map(|spec| spec.parse().unwrap()).collect();
        let request = RunRequest {
            points: Some(batches.iter().copied().map(Point::of_batch).collect()),
            preset: PresetName::Quick,
            ..RunRequest::new(model)
        };
        Session::from_start(RunStart {
            name: name.to_owned(),
            // Of another run than each other session.
            created: name.to_owned(),
            plan: planning::plan(request, setups, &[], 10.0),
            model: ModelRef {
                name: model.to_owned(),
                file: model.to_owned(),
                sha256: model.to_owned(),
                parameters: 1,
                macs: None,
                fixed_batch: None,
            },
            environment: Environment::default(),
            made_up: true,
            warnings: Vec::new(),
            variants: BTreeMap::new(),
            roofs: Vec::new(),
        })
    }

    fn both(before: &Session, after: &Session) -> Result<RunRequest, String> {
        let parts = [before, after].map(SessionPart::all);
        request_for(parts[0], parts[1]).map_err(|error| error.to_string())
    }

    fn specs(request: &RunRequest) -> Vec<String> {
        request.setups.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_one_setup_of_each_takes_turns_on_its_own_model() {
        let before = session("old", "v1.onnx", &["ort"], &[1, 8]);
        let after = session("new", "v2.onnx", &["rten"], &[8, 16]);
        let request = both(&before, &after).unwrap();
        assert_eq!(request.model, "v1.onnx");
        assert_eq!(specs(&request), ["ort:cpu", "rten:cpu,model=v2.onnx"]);
        assert_eq!(request.points, Some(vec![Point::of_batch(8)]));
        assert_eq!(request.name.as_deref(), Some("old and new, in turns"));
        assert_eq!(request.preset, PresetName::Quick);
    }

    #[test]
    fn setups_in_common_are_pairs_and_are_told_apart() {
        let before = session("old", "net", &["ort", "rten", "tract"], &[1]);
        let after = session("new", "net", &["tract", "ort"], &[1]);
        let request = both(&before, &after).unwrap();
        let expected = ["ort:cpu", "ort:cpu", "tract:cpu", "tract:cpu"];
        assert_eq!(specs(&request), expected);
        let labels = request.looks.iter().filter_map(|look| look.label.clone());
        let labels: Vec<String> = labels.collect();
        assert_eq!(labels[..2], ["ort:cpu, old", "ort:cpu, new"]);
        let picked = |setup| SessionPart {
            setup: Some(setup),
            ..SessionPart::all(&before)
        };
        let other = SessionPart {
            setup: Some(1),
            ..SessionPart::all(&after)
        };
        let request = request_for(picked(1), other).unwrap();
        assert_eq!(specs(&request), ["rten:cpu", "ort:cpu"]);
    }

    #[test]
    fn rounds_of_a_plan_are_kept_where_they_are_more() {
        let before = session("old", "net", &["ort"], &[1]);
        let mut after = session("new", "net", &["ort"], &[1]);
        assert_eq!(both(&before, &after).unwrap().rounds, None);
        after.plan.measure.rounds = 40;
        assert_eq!(both(&before, &after).unwrap().rounds, Some(40));
        after.plan.preset = PresetName::Standard;
        let request = both(&before, &after).unwrap();
        assert_eq!(request.preset, PresetName::Standard);
    }

    #[test]
    fn what_cannot_take_turns_is_refused_with_the_reason() {
        let before = session("old", "net", &["ort", "rten"], &[1]);
        let refused = |after: &Session| both(&before, after).unwrap_err();
        let other = session("new", "net", &["tract"], &[1]);
        assert!(refused(&other).contains("no setup in common"));
        let points = session("new", "net", &["ort"], &[4]);
        assert!(refused(&points).contains("no point in common: batch 1 and batch 4"));
        assert!(refused(&before).contains("took turns already"));
        let mut fed = session("new", "net", &["ort"], &[1]);
        fed.plan.shapes.insert("x".to_owned(), vec![1, 3]);
        assert!(refused(&fed).contains("other inputs"));
        let mut imported = session("new", "net", &["ort"], &[1]);
        imported.imported = Some(Tool::default());
        assert!(refused(&imported).contains("another program"));
    }
}
