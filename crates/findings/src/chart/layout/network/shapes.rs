//! The shapes of a network within a window onto it: boxes, words and edges, as many as can be told apart.

use super::{HEAD, NetworkLayout, PlacedItem, PlacedModule, Wire};
use crate::analysis::network::TimedNetwork;
use crate::analysis::network::modules::{Item, Module, ModuleKind};
use crate::chart::area::{Area, Position};
use crate::chart::heat_map::ScaleKind;
use crate::chart::layout::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::chart::network::NetworkFigure;
use crate::chart::network_colours::{NetworkColouring, NetworkLegendLine, NodeColour};
use crate::chart::sketch::{Ink, SketchShape};
use powerband_core::base::humanize;
use powerband_core::domain::network::NodeKind;

/// The scale of colours of shares.
const SCALE: ScaleKind = ScaleKind::Linear;
/// Words smaller than this are left out.
const SMALLEST_TYPE: f64 = 6.5;
/// The size of type in boxes, at their own size.
const TYPE: f64 = 11.0;
/// An open module that is less high than this is drawn as if it were closed.
const LEAST_OPEN: f64 = 14.0;
/// A box that is less high than this has no edge.
const LEAST_EDGED: f64 = 6.0;
/// Edges of pictures smaller than this are left out.
const LEAST_SCALE: f64 = 0.1;
/// Edges shorter than this are left out.
const LEAST_WIRE: f64 = 3.0;
/// Radius of the corners of boxes.
const RADIUS: f64 = 4.0;
/// Space between the edge of a box and its words.
const MARGIN: f64 = 7.0;
/// Heights in sizes of type of a legend's line, and its sample.
const LINE: f64 = 1.6;
const SAMPLE: f64 = 0.95;

/// A window onto a network: what of it is seen, and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkWindow {
    /// Where it is painted.
    pub area: Area,
    /// How many times its own size it is painted.
    pub scale: f64,
    /// Where the corner of the network is painted.
    pub origin: Position,
}

impl NetworkWindow {
    /// The window that shows all of a layout.
    pub fn of_all(layout: &NetworkLayout, area: Area) -> Self {
        let scale = (area.width().max(1.0) / layout.width.max(1.0))
            .min(area.height().max(1.0) / layout.height.max(1.0))
            .min(1.0);
        let left = area.left + (area.width() - layout.width * scale) / 2.0;
        Self {
            area,
            scale,
            origin: (left, area.top),
        }
    }

    pub fn place(&self, (x, y): Position) -> Position {
        (
            self.origin.0 + x * self.scale,
            self.origin.1 + y * self.scale,
        )
    }

    /// What of the network is at a place of the window.
    pub fn within(&self, (x, y): Position) -> Position {
        (
            (x - self.origin.0) / self.scale,
            (y - self.origin.1) / self.scale,
        )
    }

    fn area(&self, area: Area) -> Area {
        let (left, top) = self.place((area.left, area.top));
        let (right, bottom) = self.place((area.right, area.bottom));
        Area::new(left, top, right, bottom)
    }
}

/// The shapes that are seen.
pub fn shapes(
    figure: &NetworkFigure,
    window: &NetworkWindow,
    letters: &Letters<'_>,
) -> Vec<SketchShape> {
    let mut painting = Painting {
        figure,
        window,
        letters: letters.sized(TYPE * window.scale),
        shapes: Vec::new(),
        pixel: None,
    };
    painting.module(&figure.layout.whole);
    painting.shapes
}

/// The legend in a row of its own width, as many lines as it takes; and its height.
pub fn legend(
    lines: &[NetworkLegendLine],
    area: Area,
    letters: &Letters<'_>,
) -> (Vec<SketchShape>, f64) {
    let mut shapes = Vec::new();
    let step = letters.size * LINE;
    let sample = letters.size * SAMPLE;
    let (mut left, mut middle) = (area.left, area.top + step / 2.0);
    for line in lines {
        let room = area.width() - 2.0 * sample;
        let text = letters.cut(&line.text, Font::Words, room);
        let width = sample * 1.6 + letters.width(&text, Font::Words);
        if left > area.left && left + width > area.right {
            left = area.left;
            middle += step;
        }
        let square = Area::square_around((left + sample / 2.0, middle), sample / 2.0);
        shapes.extend(ground(square, line.colour, 2.0));
        let at = (left + sample * 1.6, middle);
        let at = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Middle);
        shapes.push(letters.text(at, text, Font::Words, Ink::Quiet));
        left += width + letters.size * 1.5;
    }
    let height = if lines.is_empty() {
        0.0
    } else {
        middle + step / 2.0 - area.top
    };
    (shapes, height)
}

/// The ground of a box.
fn ground(area: Area, colour: NodeColour, radius: f64) -> Vec<SketchShape> {
    let filled = |ink, strength| SketchShape::Ground {
        area,
        ink,
        strength,
        radius,
    };
    let edge = SketchShape::Edge {
        area,
        thickness: 0.5,
        ink: Ink::Divider,
        radius,
    };
    if area.height() < LEAST_EDGED {
        let ink = match colour {
            NodeColour::Plain | NodeColour::Unknown => Ink::Divider,
            NodeColour::Scale(share) => Ink::Scale(SCALE, share),
            NodeColour::Fill(fill) => Ink::Fill(fill),
            NodeColour::Better => Ink::Good,
            NodeColour::Worse => Ink::Bad,
        };
        let radius = 0.0;
        return vec![SketchShape::Ground {
            area,
            ink,
            strength: 1.0,
            radius,
        }];
    }
    let tinted = |ink| {
        vec![
            filled(Ink::Panel, 1.0),
            filled(ink, 0.32),
            SketchShape::Edge {
                area,
                thickness: 0.6,
                ink,
                radius,
            },
        ]
    };
    match colour {
        NodeColour::Plain => vec![filled(Ink::Raised, 1.0), edge],
        NodeColour::Unknown => vec![filled(Ink::Panel, 1.0), SketchShape::Hatched(area), edge],
        NodeColour::Scale(share) => vec![filled(Ink::Scale(SCALE, share), 1.0), edge],
        NodeColour::Fill(fill) => tinted(Ink::Fill(fill)),
        NodeColour::Better => tinted(Ink::Good),
        NodeColour::Worse => tinted(Ink::Bad),
    }
}

/// What can be read on a ground.
fn ink_on(colour: NodeColour, ink: Ink) -> Ink {
    match colour {
        NodeColour::Scale(share) => Ink::OnScale(SCALE, share),
        _ => ink,
    }
}

/// The words of a box.
struct BoxText {
    head: String,
    /// At the right of the head.
    number: String,
    below: String,
    tooltip: String,
}

struct Painting<'a> {
    figure: &'a NetworkFigure,
    window: &'a NetworkWindow,
    letters: Letters<'a>,
    shapes: Vec<SketchShape>,
    /// Where the last box was that is no larger than a pixel.
    pixel: Option<(i64, i64)>,
}

impl Painting<'_> {
    fn module(&mut self, module: &PlacedModule) {
        if self.window.scale >= LEAST_SCALE {
            for wire in &module.wires {
                self.wire(wire);
            }
        }
        for child in &module.children {
            let area = self.window.area(child.area);
            if !area.overlaps(self.window.area) || self.is_painted_over(area) {
                continue;
            }
            match (&child.inside, child.item) {
                (Some(inside), Item::Module(place)) if area.height() >= LEAST_OPEN => {
                    self.open_module(place, area);
                    self.module(inside);
                }
                _ => self.closed(child, area),
            }
            if self.figure.selected == Some(child.item) {
                self.shapes.push(SketchShape::Edge {
                    area: area.expanded(1.5),
                    thickness: 1.0,
                    ink: Ink::Accent,
                    radius: RADIUS * self.window.scale + 1.5,
                });
            }
        }
    }

    /// Whether a box lies within the pixel of the one before.
    fn is_painted_over(&mut self, area: Area) -> bool {
        if area.width() > 1.0 || area.height() > 1.0 {
            return false;
        }
        let pixel = Some((area.left as i64, area.top as i64));
        std::mem::replace(&mut self.pixel, pixel) == pixel
    }

    fn wire(&mut self, wire: &Wire) {
        let points: Vec<Position> = wire
            .points
            .iter()
            .map(|point| self.window.place(*point))
            .collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return;
        };
        let mut around = Area::between(*first, *last);
        for (x, _) in &points {
            around.left = around.left.min(*x);
            around.right = around.right.max(*x);
        }
        let around = around.expanded(1.0);
        if around.width() + around.height() < LEAST_WIRE + 4.0 || !around.overlaps(self.window.area)
        {
            return;
        }
        let is_lit = self
            .figure
            .selected
            .is_some_and(|selected| wire.from == Some(selected) || wire.to == Some(selected));
        let thickness = (thickness(wire.bytes) * self.window.scale).clamp(0.35, 2.5);
        let label = self.wire_label(wire, &points);
        if wire.is_backward {
            let ends = points.windows(2).map(|ends| (ends[0], ends[1]));
            let lines =
                ends.map(|ends| SketchShape::line(ends, thickness, Ink::Bad).dashed(&[4.0, 3.0]));
            self.shapes.extend(lines);
        } else {
            self.shapes.push(SketchShape::Path {
                points,
                thickness,
                ink: if is_lit { Ink::Accent } else { Ink::Faint },
                class: "edge",
            });
        }
        self.shapes.extend(label);
    }

    /// The shape of a tensor, beside an edge that runs straight down.
    fn wire_label(&self, wire: &Wire, points: &[Position]) -> Option<SketchShape> {
        let [from, to] = points else {
            return None;
        };
        let small = self.letters.sized(self.letters.size * 0.82);
        let is_read = small.size >= SMALLEST_TYPE && to.1 - from.1 > small.size * 1.15;
        if !is_read || wire.label.is_empty() {
            return None;
        }
        let room = super::NODE.0 * self.window.scale / 2.0;
        let text = small.cut(&wire.label, Font::Numbers, room);
        // Above the edges that run sideways into the row below.
        let at = (from.0 + small.size * 0.5, from.1 + small.size * 0.9);
        let at = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Middle);
        Some(small.text(at, text, Font::Numbers, Ink::Quiet))
    }

    fn open_module(&mut self, place: usize, area: Area) {
        let module = &self.figure.network.tree.modules[place];
        let colour = self.figure.colours.colour(Item::Module(place));
        let radius = RADIUS * self.window.scale;
        let is_fused = matches!(module.kind, ModuleKind::Fused(_));
        self.shapes.push(SketchShape::Ground {
            area,
            ink: Ink::Text,
            strength: 0.035,
            radius,
        });
        self.shapes.push(SketchShape::Edge {
            area,
            thickness: if is_fused { 0.7 } else { 0.5 },
            ink: if is_fused { Ink::Quiet } else { Ink::Divider },
            radius,
        });
        let head = Area::new(
            area.left,
            area.top,
            area.right,
            area.top + HEAD * self.window.scale,
        );
        // The head alone has the colour of all that is in it.
        if !matches!(colour, NodeColour::Plain) {
            self.shapes.extend(ground(head, colour, radius));
        }
        let text = self.item_text(&self.figure.network, Item::Module(place));
        self.head_line(&text, head, colour);
    }

    fn closed(&mut self, placed: &PlacedItem, area: Area) {
        let network = &self.figure.network;
        let colour = self.figure.colours.colour(placed.item);
        let radius = (RADIUS * self.window.scale).min(area.height() / 2.0);
        let mut shapes = ground(area, colour, radius);
        if self.letters.size < SMALLEST_TYPE {
            return self.shapes.append(&mut shapes);
        }
        let text = self.item_text(network, placed.item);
        let before = std::mem::replace(&mut self.shapes, shapes);
        if text.below.is_empty() {
            self.head_line(&text, area, colour);
        } else {
            let middle = f64::midpoint(area.top, area.bottom);
            let upper = Area::new(area.left, area.top, area.right, middle + 1.0);
            let lower = Area::new(area.left, middle - 1.0, area.right, area.bottom);
            self.head_line(&text, upper, colour);
            let small = self.letters.sized(self.letters.size * 0.88);
            let margin = MARGIN * self.window.scale;
            let below = small.cut(&text.below, Font::Words, area.width() - 2.0 * margin);
            let at = (area.left + margin, f64::midpoint(lower.top, lower.bottom));
            let at = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Middle);
            let ink = ink_on(colour, Ink::Quiet);
            self.shapes.push(small.text(at, below, Font::Words, ink));
        }
        let items = std::mem::replace(&mut self.shapes, before);
        self.shapes
            .push(SketchShape::group("node", text.tooltip, items));
    }

    /// The words of an item; where differences are shown, its number is that.
    fn item_text(&self, network: &TimedNetwork, item: Item) -> BoxText {
        let mut text = match item {
            Item::Node(node) => node_text(network, node),
            Item::Module(module) => module_text(network, module),
        };
        if self.figure.colours.colouring == NetworkColouring::Difference
            && let Some(comparison) = &network.comparison
        {
            let change = comparison.difference_ns(item);
            text.number = change.map_or_else(String::new, humanize::time_change);
        }
        text
    }

    /// A name with its number at the right.
    fn head_line(&mut self, text: &BoxText, area: Area, colour: NodeColour) {
        if self.letters.size < SMALLEST_TYPE {
            return;
        }
        let margin = MARGIN * self.window.scale;
        let middle = f64::midpoint(area.top, area.bottom);
        let width = self.letters.width(&text.number, Font::Numbers);
        let room = area.width() - 2.0 * margin - width - margin;
        let at = |x, side| Anchor::new((x, middle), side, VerticalAnchor::Middle);
        let ink = ink_on(colour, Ink::Text);
        let head = self.letters.cut(&text.head, Font::Words, room);
        let start = at(area.left + margin, HorizontalAnchor::Start);
        let head = self.letters.text(start, head, Font::Words, ink);
        let end = at(area.right - margin, HorizontalAnchor::End);
        let number = self
            .letters
            .text(end, text.number.clone(), Font::Numbers, ink);
        self.shapes.extend([head, number]);
    }
}

/// How thick the edge of a tensor is, in widths of a line.
fn thickness(bytes: u64) -> f64 {
    match bytes {
        0 => 0.5,
        _ => (0.5 + ((bytes as f64).log10() - 4.0) * 0.3).clamp(0.4, 1.6),
    }
}

fn node_text(network: &TimedNetwork, place: usize) -> BoxText {
    let shown = &network.nodes[place];
    let node = &shown.node;
    let shape = node.outputs.first().cloned().unwrap_or_default();
    let tooltip = node_tooltip(network, place);
    match node.kind {
        NodeKind::Operator => BoxText {
            head: node.op.clone(),
            number: network
                .time(place)
                .map_or_else(String::new, |time| humanize::duration_ns(time.time_ns)),
            below: if node.is_named {
                own_name(&node.name, &node.op).to_owned()
            } else {
                shape
            },
            tooltip,
        },
        NodeKind::Input | NodeKind::Output => BoxText {
            head: node.name.clone(),
            number: shape,
            below: String::new(),
            tooltip,
        },
    }
}

/// What of a node's name is not said by its operator and the modules around it: of `/block/conv1/Conv` it is `conv1`.
fn own_name<'a>(name: &'a str, op: &str) -> &'a str {
    let rest = name
        .strip_suffix(op)
        .and_then(|rest| rest.strip_suffix('/'));
    let rest = rest.filter(|rest| !rest.is_empty() && !op.is_empty());
    rest.map_or(name, |rest| rest.rsplit('/').next().unwrap_or(rest))
}

fn module_text(network: &TimedNetwork, place: usize) -> BoxText {
    let module = &network.tree.modules[place];
    let has_times = !network.times.is_empty();
    let number = match module.kind {
        ModuleKind::Fused(None) => String::new(),
        _ if has_times => humanize::duration_ns(module.time_ns),
        _ => String::new(),
    };
    let nodes = humanize::pluralised(module.n_nodes as u64, "node");
    let below = match module.kind {
        ModuleKind::Fused(_) => fused_operators(network, module),
        _ if has_times => {
            let share = module.time_ns / network.total_ns().max(f64::MIN_POSITIVE);
            format!("{} · {nodes}", humanize::percent(share))
        }
        _ => nodes,
    };
    let head = module.title();
    let tooltip = format!("{head}\n{below}{}", line_of(&number));
    BoxText {
        head,
        number,
        below,
        tooltip,
    }
}

fn line_of(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("\n{text}"),
    }
}

/// The operators of a group that ran as one, in their order: `Conv + Relu`.
fn fused_operators(network: &TimedNetwork, module: &Module) -> String {
    let ops = module.children.iter().filter_map(|child| match child {
        Item::Node(node) => Some(network.nodes[*node].node.op.as_str()),
        Item::Module(_) => None,
    });
    ops.collect::<Vec<&str>>().join(" + ")
}

/// What is said of a module under the pointer.
pub fn module_tooltip(network: &TimedNetwork, place: usize) -> String {
    module_text(network, place).tooltip
}

/// What is said of a node under the pointer.
pub fn node_tooltip(network: &TimedNetwork, place: usize) -> String {
    let node = &network.nodes[place].node;
    let mut lines = vec![humanize::shorten_middle(&node.name, 90)];
    if !node.op.is_empty() {
        lines.insert(0, node.op.clone());
    }
    lines.extend(node.outputs.first().cloned());
    if let Some(time) = network.time(place) {
        let share = humanize::percent(time.share);
        lines.push(format!(
            "{}, {share} of the time",
            humanize::duration_ns(time.time_ns)
        ));
        if let Ok(bound) = time.bound {
            lines.push(format!("limited by {}", bound.title()));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::own_name;

    #[test]
    fn a_name_is_without_the_operator_that_stands_above_it() {
        assert_eq!(own_name("/block/conv1/Conv", "Conv"), "conv1");
        assert_eq!(own_name("layer1.conv1", "Conv"), "layer1.conv1");
        assert_eq!(own_name("/block/Add_3", "Add"), "/block/Add_3");
        assert_eq!(own_name("Conv", "Conv"), "Conv");
        assert_eq!(own_name("/x", ""), "/x");
    }
}
