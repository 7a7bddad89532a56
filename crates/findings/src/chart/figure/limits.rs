//! The roofline and the bar of wall time of a profile, made of its limits.

use super::make::profile;
use super::{Drawing, FigureInputs};
use crate::analysis::limits::bound::Bound;
use crate::analysis::limits::lines::LineUnit;
use crate::analysis::limits::node::NodeLimit;
use crate::analysis::limits::wall::{WallKind, WallTime};
use crate::analysis::limits::{self, Limits, findings};
use crate::chart::colours::Fill;
use crate::chart::roofline::{NodeClass, Roofline, RooflinePoint, bound_colour};
use crate::chart::wall_time::{WallBar, WallBarPart};
use powerband_core::base::humanize;

/// What the bar of wall time is called.
const WALL: &str = "Wall time";
/// The class of nodes of which nothing is said.
const UNSAID: &str = "not known";

type DrawingResult = Result<Drawing, String>;

/// Nodes below the lines that limit them.
pub(super) fn roofline(material: &FigureInputs<'_>) -> DrawingResult {
    let found = found(material)?;
    let chart = roofline_chart(&found);
    if chart.dots.is_empty() {
        let reason = found.abstained.first().map_or("", String::as_str);
        let name = &found.title;
        return Err(format!(
            "no node of {name} has a place on a roofline: {reason}"
        ));
    }
    Ok(Drawing::Roofline(Box::new(chart)))
}

/// The wall time in parts that add up.
pub(super) fn wall_time(material: &FigureInputs<'_>) -> DrawingResult {
    let found = found(material)?;
    let wall = found.wall.as_ref().map_err(Clone::clone)?;
    Ok(Drawing::WallTime(Box::new(wall_bar(wall, &found.title))))
}

fn found(material: &FigureInputs<'_>) -> Result<Limits, String> {
    profile(&material.after, material.profile)?;
    let session = material.after.session;
    let roofs = if session.roofs.is_empty() {
        material.roofs
    } else {
        &session.roofs
    };
    Ok(limits::profile_limits(session, material.profile, roofs))
}

/// The roofline of a profile's limits.
pub fn roofline_chart(found: &Limits) -> Roofline {
    let bounds = || Bound::ALL.into_iter().map(Some).chain([None]);
    let is_of = |node: &NodeLimit, bound: Option<Bound>| node.bound.as_ref().ok().copied() == bound;
    let share = |bound| {
        let nodes = found.nodes.iter().filter(|node| is_of(node, bound));
        nodes.map(|node| node.share).sum::<f64>()
    };
    let present: Vec<Option<Bound>> = bounds()
        .filter(|bound| found.nodes.iter().any(|node| is_of(node, *bound)))
        .collect();
    let classes = present.iter().map(|bound| NodeClass {
        title: bound.map_or(UNSAID, Bound::title).to_owned(),
        look: bound.and_then(bound_colour),
        share: share(*bound),
    });
    let groups = findings::alike_nodes(&found.nodes, &|_| true).into_iter();
    let dots = groups.filter_map(|nodes| {
        let node = &findings::together(found, &nodes)?;
        let class = present.iter().position(|bound| is_of(node, *bound))?;
        Some(RooflinePoint {
            held_against: held_against(found, node),
            nodes,
            name: node.short.clone(),
            class,
            intensity: node.intensity?,
            per_s: node.achieved_per_s?,
            share: node.share,
            tooltip: node_tooltip(node),
        })
    });
    let title = format!("Roofline, {}", found.title);
    let mut chart = Roofline::new(
        title,
        found.lines.clone(),
        classes.collect(),
        dots.collect(),
    );
    chart.note = note(found, &chart);
    chart
}

/// The height of the line that a node is held against, in operations a second, where the node stands.
fn held_against(found: &Limits, node: &NodeLimit) -> Option<f64> {
    let line = found.lines.iter().find(|line| line.name() == node.line)?;
    let (low, high) = node.intensity?;
    Some(match line.unit {
        LineUnit::OperationsPerS => line.per_s,
        LineUnit::BytesPerS => line.per_s * (low * high).sqrt(),
    })
}

/// The tooltip of a node: its time, class, rate and intensity, possible gain, and the formula.
fn node_tooltip(node: &NodeLimit) -> String {
    let mut lines = vec![
        humanize::shorten_middle(&node.short, 90),
        format!(
            "{}, {} of the time",
            humanize::duration_ns(node.time_ns),
            humanize::percent(node.share)
        ),
    ];
    lines.push(match &node.bound {
        Ok(bound) => humanize::capitalised(bound.title()),
        Err(reason) => format!("Not known: {reason}"),
    });
    if let (Some(per_s), Some((low, high)), Some(work)) =
        (node.achieved_per_s, node.intensity, node.work)
    {
        lines.push(format!(
            "{}, {} to {} FLOP/B",
            work.numbers.rate_text(per_s),
            humanize::value(low),
            humanize::value(high)
        ));
    }
    if let Some(share) = node.share_of_floor {
        lines.push(format!("Floor: {} of the time", humanize::percent(share)));
    }
    if let (Some(here), Some(all)) = (node.at_most_here, node.at_most_overall) {
        lines.push(format!(
            "At most {} here, {} over all",
            humanize::ratio(here),
            humanize::ratio(all)
        ));
    }
    lines.extend([&node.line, &node.formula].map(Clone::clone));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// How many nodes have no place, and how much of the time they are.
fn note(found: &Limits, chart: &Roofline) -> String {
    let is_drawn = |place: usize| chart.dots.iter().any(|dot| dot.nodes.contains(&place));
    let left = found.nodes.iter().enumerate();
    let left: Vec<&NodeLimit> = left
        .filter(|(place, _)| !is_drawn(*place))
        .map(|(_, node)| node)
        .collect();
    if left.is_empty() {
        return String::new();
    }
    let share: f64 = left.iter().map(|node| node.share).sum();
    format!(
        "Not drawn, without arithmetic or without known work: {}, {} of the time",
        humanize::pluralised(left.len() as u64, "node"),
        humanize::percent(share)
    )
}

/// The bar of a wall time.
pub fn wall_bar(wall: &WallTime, whose: &str) -> WallBar {
    let parts = wall.parts.iter().map(|part| WallBarPart {
        name: part.kind.title().to_owned(),
        help: help(part.kind).to_owned(),
        ns: part.ns,
        share: part.share,
        fill: fill(part.kind),
    });
    WallBar {
        title: format!("{WALL}, {whose}"),
        wall_ns: wall.wall_ns,
        parts: parts.collect(),
    }
}

fn fill(kind: WallKind) -> Fill {
    match kind {
        WallKind::Computing => Fill::from_hue(0),
        WallKind::Copies => Fill::from_hue(1),
        WallKind::Communication => Fill::from_hue(2),
        WallKind::LaunchedLate => Fill::from_hue(3),
        WallKind::WaitedForKernel => Fill::from_hue(4),
        WallKind::OtherGap => Fill::GREY,
    }
}

fn help(kind: WallKind) -> &'static str {
    match kind {
        WallKind::Computing => "Nodes or kernels ran",
        WallKind::Copies => "Memory was copied or set while nothing computed",
        WallKind::Communication => "Devices exchanged data while nothing computed",
        WallKind::LaunchedLate => "Nothing ran: the host launched the next kernel too late",
        WallKind::WaitedForKernel => {
            "Nothing ran although the next kernel was launched: it waited for the one before"
        }
        WallKind::OtherGap => "Nothing ran, for a reason that the profile does not show",
    }
}
