//! The findings of a profiled case by the model, worst first.

use powerband_core::base::humanize;

use super::bound::{Basis, Bound};
use super::case_limits::Limits;
use super::finding::{self, LimitFinding};
use super::lines;
use super::node::NodeLimit;
use super::wall::{WallKind, WallTime};

/// A cause is named only where it leads the next by so much of the time.
pub const LEADS_BY: f64 = 0.1;
/// Findings about single nodes.
const NODES: usize = 5;
/// A node with less of the time than this gets no finding of its own, and a part of the bar none.
const LEAST_SHARE: f64 = 0.02;

/// What limits the whole, what nothing runs in, and the nodes that have most to gain. `between_nodes` is whether
/// pauses are those between the nodes of a runtime: what starting nodes costs.
pub(super) fn model_findings(limits: &Limits, between_nodes: bool) -> Vec<LimitFinding> {
    let nodes = node_findings(limits);
    let mut found: Vec<LimitFinding> = leading_cause_finding(limits, between_nodes)
        .into_iter()
        .chain(pause_findings(limits, between_nodes))
        .chain(nodes)
        .collect();
    finding::sort_worst_first(&mut found);
    found
}

/// What time goes to: a class of nodes, nodes that are not judged, or a part of the bar in which nothing
/// computes.
#[derive(Clone, Copy, PartialEq)]
enum Cause {
    Class(Bound),
    NotJudged,
    Part(WallKind),
}

impl Cause {
    fn title(self) -> &'static str {
        match self {
            Self::Class(bound) => bound.title(),
            Self::NotJudged => "not judged",
            Self::Part(kind) => kind.title(),
        }
    }

    fn bound(self) -> Option<Bound> {
        match self {
            Self::Class(bound) => Some(bound),
            Self::NotJudged | Self::Part(_) => None,
        }
    }

    fn beginning(self) -> &'static str {
        match self {
            Self::Class(Bound::Compute) => "Arithmetic takes the largest part of the time",
            Self::Class(Bound::Memory) => "Moving bytes takes the largest part of the time",
            Self::Class(Bound::Launch) => "Starting nodes takes the largest part of the time",
            Self::Class(Bound::Neither) => {
                "The largest part of the time goes to latency, or too little runs at once"
            }
            Self::Class(Bound::CannotTell) | Self::NotJudged => {
                "What limits the largest part of the time cannot be told"
            }
            Self::Class(Bound::ModelWrong) => "The model is wrong for the largest part of the time",
            Self::Part(WallKind::Copies) => "Copies take the largest part of the time",
            Self::Part(WallKind::Communication) => {
                "Communication between devices takes the largest part of the time"
            }
            Self::Part(_) => "Nothing runs in the largest part of the time",
        }
    }
}

/// The cause of most of the time, where one leads.
fn leading_cause_finding(limits: &Limits, between_nodes: bool) -> Option<LimitFinding> {
    let wall = limits.wall.as_ref().ok();
    let summed: f64 = limits.nodes.iter().map(|node| node.time_ns).sum();
    let mut causes: Vec<(Cause, f64)> = Vec::new();
    let mut add = |cause: Cause, ns: f64| match causes.iter_mut().find(|(of, _)| *of == cause) {
        Some((_, sum)) => *sum += ns,
        None => causes.push((cause, ns)),
    };
    for node in &limits.nodes {
        let bound = node.bound.as_ref();
        add(
            bound.map_or(Cause::NotJudged, |bound| Cause::Class(*bound)),
            node.time_ns,
        );
    }
    if limits.nodes.iter().all(|node| node.bound.is_err()) {
        return None;
    }
    for part in wall.iter().flat_map(|wall| &wall.parts) {
        match part.kind {
            // Copies and communication are among the nodes.
            WallKind::Computing | WallKind::Copies | WallKind::Communication => {}
            WallKind::OtherGap if between_nodes => add(Cause::Class(Bound::Launch), part.ns),
            WallKind::LaunchedLate => add(Cause::Class(Bound::Launch), part.ns),
            kind => add(Cause::Part(kind), part.ns),
        }
    }
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all: f64 = causes.iter().map(|(_, ns)| ns).sum();
    let (leading, most) = *causes.first()?;
    let next = causes.get(1).map_or(0.0, |(_, ns)| *ns);
    let leads = most - next >= LEADS_BY * all;
    let each: Vec<String> = causes
        .iter()
        .filter(|(_, ns)| *ns > 0.0)
        .map(|(cause, ns)| format!("{} {}", cause.title(), humanize::percent(ns / all)))
        .collect();
    let beginning = if leads {
        leading.beginning()
    } else {
        "No single cause"
    };
    let of = if wall.is_some() {
        "wall time"
    } else {
        "time of all nodes"
    };
    let (floors, times) = limits.floors_ns();
    let left = times - floors;
    Some(LimitFinding {
        sentence: format!("{beginning}: of the {of}, {}.", each.join(", ")),
        basis: Basis::Model,
        bound: leading.bound().filter(|_| leads),
        at_most_here: (floors > 0.0).then(|| times / floors),
        at_most_overall: wall.and_then(|wall| overall_speed_up(wall, summed, left)),
        line: "the line of each node".to_owned(),
        formula: format!(
            "time of the judged nodes ÷ sum of their floors = {} ÷ {}; a cause is named where it leads the next by ten points",
            humanize::duration_ns(times),
            humanize::duration_ns(floors)
        ),
        nodes: (0..limits.nodes.len()).collect(),
        is_whole: true,
    })
}

/// How many times faster a run becomes that is left out so much of its nodes' time; nothing where the nodes overlap,
/// because time that is saved under another node saves nothing.
pub(super) fn overall_speed_up(wall: &WallTime, summed_ns: f64, left_ns: f64) -> Option<f64> {
    let rest = wall.wall_ns - left_ns;
    let overlaps = summed_ns > (1.0 + super::wall::ADDS_UP_WITHIN) * wall.wall_ns;
    (rest > 0.0 && !overlaps).then(|| wall.wall_ns / rest)
}

/// Parts of the wall time in which nothing computes.
fn pause_findings(limits: &Limits, between_nodes: bool) -> Vec<LimitFinding> {
    let Ok(wall) = &limits.wall else {
        return Vec::new();
    };
    let parts = wall.parts.iter();
    let parts = parts.filter(|part| part.kind != WallKind::Computing && part.share >= LEAST_SHARE);
    let found = parts.map(|part| {
        let (what, bound) = match part.kind {
            WallKind::OtherGap if between_nodes => {
                ("Between nodes nothing is computed", Some(Bound::Launch))
            }
            WallKind::OtherGap | WallKind::Computing => (
                "Nothing runs, for a reason that the profile does not show,",
                None,
            ),
            WallKind::Copies => (
                "Memory is copied while nothing computes",
                Some(Bound::Memory),
            ),
            WallKind::Communication => ("Devices exchange data while nothing computes", None),
            WallKind::LaunchedLate => (
                "Nothing runs because the next kernel was launched late",
                Some(Bound::Launch),
            ),
            WallKind::WaitedForKernel => (
                "Nothing runs although the next kernel was launched: it waits for the one before",
                None,
            ),
        };
        LimitFinding {
            sentence: format!(
                "{what} in {} of the wall time: {} of {}.",
                humanize::percent(part.share),
                humanize::duration_ns(part.ns),
                humanize::duration_ns(wall.wall_ns)
            ),
            basis: Basis::Model,
            bound,
            at_most_here: None,
            at_most_overall: (part.ns < wall.wall_ns)
                .then(|| wall.wall_ns / (wall.wall_ns - part.ns)),
            line: "the wall time of the profile".to_owned(),
            formula: format!(
                "wall time ÷ (wall time − {}) = {} ÷ {}",
                part.kind.title(),
                humanize::duration_ns(wall.wall_ns),
                humanize::duration_ns(wall.wall_ns - part.ns)
            ),
            nodes: Vec::new(),
            is_whole: false,
        }
    });
    found.collect()
}

/// The nodes that have most to gain over the whole run, those that are alike in one finding, and those for which the
/// model is wrong.
fn node_findings(limits: &Limits) -> Vec<LimitFinding> {
    let gain = |node: &NodeLimit| {
        node.at_most_here
            .map_or(0.0, |times| node.time_ns * (1.0 - 1.0 / times))
    };
    let is_worth_telling =
        |node: &NodeLimit| gain(node) > 0.0 || node.bound == Ok(Bound::ModelWrong);
    let mut groups = alike_nodes(&limits.nodes, &is_worth_telling);
    let sum = |group: &[usize], of: &dyn Fn(&NodeLimit) -> f64| -> f64 {
        group.iter().map(|&place| of(&limits.nodes[place])).sum()
    };
    groups.retain(|group| sum(group, &|node| node.share) >= LEAST_SHARE);
    groups.sort_by(|a, b| sum(b, &gain).total_cmp(&sum(a, &gain)));
    let found = groups.into_iter().take(NODES);
    found
        .filter_map(|group| node_finding(&together(limits, &group)?, group))
        .collect()
}

/// Whether nodes do the same: the same operator on as much work, limited alike.
fn are_alike(one: &NodeLimit, other: &NodeLimit) -> bool {
    let is_known = one.work.is_some() && !one.op.is_empty();
    is_known && (&one.op, one.work, &one.bound) == (&other.op, other.work, &other.bound)
}

/// Nodes by what they do: groups of those that are alike, by their places, in the order of their first ones.
pub fn alike_nodes(nodes: &[NodeLimit], is_wanted: &dyn Fn(&NodeLimit) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, node) in nodes.iter().enumerate().filter(|(_, node)| is_wanted(node)) {
        let same = groups
            .iter_mut()
            .find(|group| are_alike(&nodes[group[0]], node));
        match same {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

/// Nodes that are alike as one, called by the first of them; that one itself where there are no others.
pub fn together(limits: &Limits, group: &[usize]) -> Option<NodeLimit> {
    let first = limits.nodes.get(*group.first()?)?;
    if group.len() == 1 {
        return Some(first.clone());
    }
    let nodes = || group.iter().map(|&place| &limits.nodes[place]);
    let sum = |of: &dyn Fn(&NodeLimit) -> f64| nodes().map(of).sum::<f64>();
    let time_ns = sum(&|node| node.time_ns);
    let floors_ns = sum(&|node| node.share_of_floor.unwrap_or_default() * node.time_ns);
    let achieved = sum(&|node| node.achieved_per_s.unwrap_or_default() * node.time_ns);
    let left_ns = sum(&|node| {
        node.at_most_here
            .map_or(0.0, |times| node.time_ns * (1.0 - 1.0 / times))
    });
    let wall = limits.wall.as_ref().ok();
    let all_ns: f64 = limits.nodes.iter().map(|node| node.time_ns).sum();
    Some(NodeLimit {
        short: format!("{} × {}", first.short, group.len()),
        formula: format!("each: {}", first.formula),
        share: sum(&|node| node.share),
        time_ns,
        call_range_ns: None,
        share_of_floor: first.share_of_floor.map(|_| floors_ns / time_ns),
        achieved_per_s: first.achieved_per_s.map(|_| achieved / time_ns),
        at_most_here: (left_ns > 0.0).then(|| time_ns / (time_ns - left_ns)),
        at_most_overall: wall.and_then(|wall| overall_speed_up(wall, all_ns, left_ns)),
        ..first.clone()
    })
}

fn node_finding(node: &NodeLimit, places: Vec<usize>) -> Option<LimitFinding> {
    let bound = *node.bound.as_ref().ok()?;
    let floor = node.share_of_floor?;
    let name = humanize::shorten_middle(&node.short, 60);
    let share = humanize::percent(node.share);
    let sentence = match bound {
        Bound::ModelWrong => format!(
            "{name}, {share} of the time: its floor is {} of its time, measured against the {}; the model is wrong here.",
            humanize::percent(floor),
            node.line
        ),
        Bound::Launch => format!(
            "{name}, {share} of the time: starting it is {} of its time with the pause before it, by the {}.",
            humanize::percent(floor),
            node.line
        ),
        _ => format!(
            "{name}, {share} of the time, reaches {} of the {}: {}.",
            humanize::percent(floor),
            lines::without_raise(&node.line),
            bound.help().to_lowercase()
        ),
    };
    Some(LimitFinding {
        sentence,
        basis: Basis::Model,
        bound: Some(bound),
        at_most_here: node.at_most_here,
        at_most_overall: node.at_most_overall,
        line: node.line.clone(),
        formula: node.formula.clone(),
        nodes: places,
        is_whole: false,
    })
}
