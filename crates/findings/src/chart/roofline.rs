//! A roofline: operations per byte to the right, operations per second upwards, both logarithmic. Nodes are points
//! below the lines that limit them.

use super::axis;
use super::spec::Axis;
use crate::analysis::limits::bound::Bound;
use crate::analysis::limits::lines::{LineKind, LineUnit, RoofLine};
use powerband_core::base::humanize;

/// A point has at least this share of the time to widen the axes.
const LEAST_SHARE: f64 = 1e-3;
/// Room beyond the outermost points and lines, as a factor.
const ROOM: f64 = 1.9;
/// The longest vertical axis, in decades below the highest line.
const MOST_DECADES: f64 = 6.0;
/// What axes count in.
pub const GIGA: f64 = 1e9;

/// How points of a class look, and what they have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeClass {
    pub title: String,
    /// Its palette index; nothing for a ring in grey.
    pub look: Option<usize>,
    /// Its share of the time, from 0 to 1.
    pub share: f64,
}

/// A node or a kernel, or several that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct RooflinePoint {
    /// Their places among the nodes.
    pub nodes: Vec<usize>,
    /// Its name, short.
    pub name: String,
    /// Its class, by its place in the list.
    pub class: usize,
    /// Operations per byte at the most and at the fewest bytes that it may move.
    pub intensity: (f64, f64),
    /// Operations a second.
    pub per_s: f64,
    /// Its share of the time, from 0 to 1.
    pub share: f64,
    /// Operations a second of the line that it is held against, where it stands.
    pub held_against: Option<f64>,
    /// About it, in lines.
    pub tooltip: String,
}

impl RooflinePoint {
    /// Where it stands between its fewest and its most operations per byte: halfway on a logarithmic axis.
    pub fn middle(&self) -> f64 {
        (self.intensity.0 * self.intensity.1).sqrt()
    }

    fn can_be_drawn(&self) -> bool {
        let numbers = [self.intensity.0, self.intensity.1, self.per_s];
        numbers.iter().all(|one| one.is_finite() && *one > 0.0)
    }
}

/// A roofline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roofline {
    pub title: String,
    /// Operations per byte.
    pub x: Axis,
    /// Billion operations per second.
    pub y: Axis,
    /// The lines.
    pub roofs: Vec<RoofLine>,
    /// The classes of points.
    pub classes: Vec<NodeClass>,
    /// The points, the largest first.
    pub dots: Vec<RooflinePoint>,
    /// What is not drawn, in a sentence; empty where all is.
    pub note: String,
    /// The node that is selected.
    pub selected: Option<usize>,
}

impl Roofline {
    /// Lines and points with the axes that they need.
    pub fn new(
        title: impl Into<String>,
        roofs: Vec<RoofLine>,
        classes: Vec<NodeClass>,
        dots: Vec<RooflinePoint>,
    ) -> Self {
        let roofs: Vec<RoofLine> = roofs
            .into_iter()
            .filter(|roof| roof.per_s.is_finite() && roof.per_s > 0.0)
            .collect();
        let mut dots: Vec<RooflinePoint> = dots
            .into_iter()
            .filter(RooflinePoint::can_be_drawn)
            .collect();
        dots.sort_by(|a, b| b.share.total_cmp(&a.share));
        let (x, y) = axes(&roofs, &dots);
        let is_seen = |dot: &RooflinePoint| {
            let (at, height) = (dot.middle().log10(), (dot.per_s / GIGA).log10());
            (x.low..=x.high).contains(&at) && (y.low..=y.high).contains(&height)
        };
        dots.retain(is_seen);
        Self {
            title: title.into(),
            x,
            y,
            roofs,
            classes,
            dots,
            note: String::new(),
            selected: None,
        }
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.dots.is_empty() && self.roofs.is_empty()
    }

    /// Bytes a second of the steepest slanted line, where there is one.
    pub fn steepest(&self) -> Option<f64> {
        self.highest(LineUnit::BytesPerS)
    }

    /// Operations a second of the highest level line, where there is one.
    pub fn top(&self) -> Option<f64> {
        self.highest(LineUnit::OperationsPerS)
    }

    fn highest(&self, unit: LineUnit) -> Option<f64> {
        highest(&self.roofs, unit)
    }

    /// The first of the nodes that a node is drawn with.
    pub fn drawn_as(&self, node: usize) -> Option<usize> {
        let dot = self.dots.iter().find(|dot| dot.nodes.contains(&node))?;
        dot.nodes.first().copied()
    }

    /// The tooltip of a node.
    pub fn node_text(&self, node: usize) -> Option<&str> {
        let dot = self.dots.iter().find(|dot| dot.nodes.contains(&node))?;
        Some(&dot.tooltip)
    }
}

fn highest(roofs: &[RoofLine], unit: LineUnit) -> Option<f64> {
    let those = roofs.iter().filter(|roof| roof.unit == unit);
    those.map(|roof| roof.per_s).max_by(f64::total_cmp)
}

/// Axes around the points and around where slanted lines meet level ones.
fn axes(roofs: &[RoofLine], dots: &[RooflinePoint]) -> (Axis, Axis) {
    let top = highest(roofs, LineUnit::OperationsPerS);
    let slanted = roofs.iter().filter(|roof| roof.unit == LineUnit::BytesPerS);
    let ridges = slanted.filter_map(|roof| Some(top? / roof.per_s));
    let large = || dots.iter().filter(|dot| dot.share >= LEAST_SHARE);
    let ends = large().flat_map(|dot| [dot.intensity.0, dot.intensity.1]);
    let (mut left, mut right) = span(ends.chain(ridges)).unwrap_or((0.1, 100.0));
    (left, right) = (left / ROOM, right * ROOM);
    let heights = large().map(|dot| dot.per_s);
    let (low, high) = span(heights.chain(top)).unwrap_or((GIGA, 100.0 * GIGA));
    let low = low.max(high / 10_f64.powf(MOST_DECADES));
    let x = axis::logarithmic("arithmetic intensity, FLOP/B", left, right);
    let y = axis::logarithmic("GFLOP/s", low / ROOM / GIGA, high * ROOM / GIGA);
    (x, y)
}

fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |span, value| {
        let (low, high) = span.unwrap_or((value, value));
        Some((f64::min(low, value), f64::max(high, value)))
    })
}

/// What the legend calls lines of a kind.
pub fn title_of(kind: LineKind) -> &'static str {
    match kind {
        LineKind::Published => "published peak",
        LineKind::Measured => "measured peak",
        LineKind::Engine => "what the engine reaches",
    }
}

/// The words along a line: what it is, without what the legend says of it, and its height.
pub fn line_text(roof: &RoofLine) -> String {
    let title = roof.title.trim_start_matches("measured ");
    let title = match title.rsplit_once(", ") {
        Some((before, threads)) if threads.ends_with("thread") || threads.ends_with("threads") => {
            before
        }
        _ => title,
    };
    format!("{} {}", humanize::capitalised(title), roof.height())
}

/// The palette index of a class, whose marker tells it apart without colour; nothing for a grey ring.
pub fn bound_colour(bound: Bound) -> Option<usize> {
    match bound {
        Bound::Compute => Some(0),
        Bound::Memory => Some(1),
        Bound::Launch => Some(2),
        Bound::Neither => Some(3),
        Bound::ModelWrong => Some(4),
        Bound::CannotTell => None,
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A machine of 200 billion operations and 20 GB a second, and a node on each side of its ridge.
    pub(crate) fn example() -> Roofline {
        let roof = |name: &str, kind, unit, per_s| RoofLine {
            kind,
            unit,
            title: name.to_owned(),
            per_s,
            spread: None,
            numbers: None,
        };
        let class = |title: &str, look, share| NodeClass {
            title: title.to_owned(),
            look,
            share,
        };
        let dot = |node, name: &str, class, intensity, per_s, share| RooflinePoint {
            nodes: vec![node],
            name: name.to_owned(),
            class,
            intensity,
            per_s,
            share,
            held_against: None,
            tooltip: format!("{name} in words"),
        };
        Roofline::new(
            "Roofline",
            vec![
                roof(
                    "fp32 peak",
                    LineKind::Published,
                    LineUnit::OperationsPerS,
                    3e11,
                ),
                roof(
                    "measured fp32 peak",
                    LineKind::Measured,
                    LineUnit::OperationsPerS,
                    2e11,
                ),
                roof(
                    "best fp32 GEMM",
                    LineKind::Engine,
                    LineUnit::OperationsPerS,
                    1.8e11,
                ),
                roof("memory", LineKind::Measured, LineUnit::BytesPerS, 2e10),
                roof("L2 cache", LineKind::Measured, LineUnit::BytesPerS, 1.5e11),
            ],
            vec![
                class("compute", Some(0), 0.7),
                class("memory", Some(1), 0.2),
                class("cannot tell", None, 0.1),
            ],
            vec![
                dot(1, "add", 1, (0.08, 0.12), 1.9e9, 0.2),
                dot(0, "conv", 0, (20.0, 60.0), 1.4e11, 0.7),
                dot(2, "pool", 2, (5.0, 15.0), 6e10, 0.1),
                dot(3, "shape", 2, (0.0, 0.0), 0.0, 0.0),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::testing::example;
    use super::*;

    #[test]
    fn axes_have_room_for_points_and_lines() {
        let chart = example();
        assert_eq!(chart.dots.len(), 3, "a node without work is not drawn");
        assert_eq!(chart.dots[0].name, "conv", "the largest is at the back");
        let at = |value: f64| value.log10();
        assert!(chart.x.low < at(0.08) && chart.x.high > at(60.0));
        assert!(chart.y.low < at(1.9) && chart.y.high > at(300.0));
        assert_eq!(chart.top(), Some(3e11));
        assert_eq!(chart.steepest(), Some(1.5e11));
        assert!((chart.dots[0].middle() - 1_200_f64.sqrt()).abs() < 1e-9);
        let bare = Roofline::new("bare", Vec::new(), Vec::new(), Vec::new());
        assert!(bare.is_empty());
    }
}
