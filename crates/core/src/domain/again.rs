//! Two sessions once more, in turns: one plan with the setups of both, at the points that both have.
//!
//! What was measured at different times differs by the times as well. Each setup runs the file that its session
//! measured.

use super::plan::{MeasureRule, Plan, PresetName, SetupStyle};
use super::point::{self, Point};
use super::request::RunRequest;
use super::session::Session;
use super::setup::{MODEL_KEY, Setup};
use crate::base::humanize;

/// Why two sessions cannot be measured again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the two cannot be measured again: {0}")]
pub struct NotAgain(pub String);

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
) -> Result<RunRequest, NotAgain> {
    let refused = |reason: String| Err(NotAgain(reason));
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
    Ok(RunRequest {
        setups,
        looks,
        points: Some(points),
        sizes: first.input_sizes(),
        load: first.load,
        preset,
        rounds: (rounds > MeasureRule::from_preset(preset).rounds).then_some(rounds),
        keeping: first.keeping.more_apart(second.keeping),
        name: Some(name_of_both(before.session, after.session)),
        ..RunRequest::new(model)
    })
}

/// The setups that are compared with each other: those that are meant; the only one of each; or those that are
/// spelled alike.
pub fn setup_pairs(before: SessionPart<'_>, after: SessionPart<'_>) -> Vec<(usize, usize)> {
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
