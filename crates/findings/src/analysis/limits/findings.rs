//! The findings of a profiled case by the model, worst first.

use std::collections::BTreeMap;

use powerband_core::base::humanize;

use super::bound::{Basis, Bound};
use super::case_limits::Limits;
use super::finding::Finding;
use super::node::NodeLimit;
use super::wall::WallKind;

/// A cause is named only where it leads the next by so much of the time.
pub const LEADS_BY: f64 = 0.1;
/// Findings about single nodes.
const NODES: usize = 5;
/// A node with less of the time than this gets no finding of its own.
const LEAST_SHARE: f64 = 0.02;

/// What limits the whole, then the nodes that have most to gain.
pub(super) fn of_limits(limits: &Limits) -> Vec<Finding> {
    let nodes = of_nodes(limits);
    whole(limits)
        .into_iter()
        .chain(gaps(limits))
        .chain(nodes)
        .collect()
}

/// The cause of most of the time, where one leads.
fn whole(limits: &Limits) -> Option<Finding> {
    let mut shares: BTreeMap<Bound, f64> = BTreeMap::new();
    for node in &limits.nodes {
        if let Ok(bound) = node.bound {
            *shares.entry(bound).or_default() += node.share;
        }
    }
    let mut shares: Vec<(Bound, f64)> = shares.into_iter().collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (bound, share) = *shares.first()?;
    let next = shares.get(1).map_or(0.0, |(_, share)| *share);
    let each: Vec<String> = shares
        .iter()
        .map(|(bound, share)| format!("{} {}", bound.title(), humanize::percent(*share)))
        .collect();
    let (floors, times) = limits.floors_ns();
    let (bound, beginning) = if share - next < LEADS_BY {
        (None, "No single cause".to_owned())
    } else {
        (Some(bound), cause(bound))
    };
    let here = (floors > 0.0).then(|| times / floors);
    let wall = limits.wall.as_ref().ok().map(|wall| wall.wall_ns);
    Some(Finding {
        sentence: format!("{beginning}: of the nodes' time, {}.", each.join(", ")),
        basis: Basis::Model,
        bound,
        at_most_here: here,
        at_most_overall: wall
            .filter(|_| here.is_some())
            .map(|wall| wall / (wall - times + floors)),
        line: "the line of each node".to_owned(),
        formula: format!(
            "time of the judged nodes ÷ sum of their floors = {} ÷ {}",
            humanize::duration_ns(times),
            humanize::duration_ns(floors)
        ),
        nodes: (0..limits.nodes.len()).collect(),
    })
}

fn cause(bound: Bound) -> String {
    match bound {
        Bound::Compute => "Arithmetic takes most of the time",
        Bound::Memory => "Moving bytes takes most of the time",
        Bound::Launch => "Starting nodes takes most of the time",
        Bound::Neither => "Most of the time goes to latency, or too little runs at once",
        Bound::CannotTell => "What limits most of the time cannot be told",
        Bound::ModelWrong => "The model is wrong for most of the time",
    }
    .to_owned()
}

/// Time in which nothing ran.
fn gaps(limits: &Limits) -> Option<Finding> {
    let wall = limits.wall.as_ref().ok()?;
    let idle = wall.parts.iter().filter(|part| {
        matches!(
            part.kind,
            WallKind::LaunchedLate | WallKind::WaitedForKernel | WallKind::OtherGap
        )
    });
    let idle: f64 = idle.map(|part| part.ns).sum();
    let share = idle / wall.wall_ns;
    (share >= LEAST_SHARE).then(|| Finding {
        sentence: format!(
            "Nothing runs in {} of the wall time: {} of {}.",
            humanize::percent(share),
            humanize::duration_ns(idle),
            humanize::duration_ns(wall.wall_ns)
        ),
        basis: Basis::Model,
        bound: None,
        at_most_here: None,
        at_most_overall: Some(wall.wall_ns / (wall.wall_ns - idle)),
        line: "the wall time of the profile".to_owned(),
        formula: "wall time ÷ (wall time − gaps)".to_owned(),
        nodes: Vec::new(),
    })
}

/// The nodes that have most to gain over the whole run.
fn of_nodes(limits: &Limits) -> Vec<Finding> {
    let gain = |node: &NodeLimit| match node.floor {
        Some(floor) if node.at_most_here.is_some() => node.time_ns - floor.ns(),
        _ => 0.0,
    };
    let mut places: Vec<usize> = (0..limits.nodes.len()).collect();
    places.retain(|&place| {
        let node = limits.nodes.get(place);
        node.is_some_and(|node| {
            node.share >= LEAST_SHARE && (gain(node) > 0.0 || node.bound == Ok(Bound::ModelWrong))
        })
    });
    let gain_at = |place: &usize| limits.nodes.get(*place).map_or(0.0, gain);
    places.sort_by(|a, b| gain_at(b).total_cmp(&gain_at(a)));
    let found = places.into_iter().take(NODES);
    found
        .filter_map(|place| of_node(limits.nodes.get(place)?, place))
        .collect()
}

fn of_node(node: &NodeLimit, place: usize) -> Option<Finding> {
    let bound = *node.bound.as_ref().ok()?;
    let floor = node.share_of_floor?;
    let sentence = match bound {
        Bound::ModelWrong => format!(
            "{} took less than its floor, {} of it: the model is wrong here.",
            node.short,
            humanize::percent(1.0 / floor)
        ),
        _ => format!(
            "{} ({} of the time) is at {} of its floor's line: {}.",
            node.short,
            humanize::percent(node.share),
            humanize::percent(floor),
            bound.help().to_lowercase()
        ),
    };
    Some(Finding {
        sentence,
        basis: Basis::Model,
        bound: Some(bound),
        at_most_here: node.at_most_here,
        at_most_overall: node.at_most_overall,
        line: node.line.clone(),
        formula: node.formula.clone(),
        nodes: vec![place],
    })
}
