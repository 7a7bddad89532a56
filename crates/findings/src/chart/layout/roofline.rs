//! Where everything on a roofline stands: its legend, axes, lines with their words along them, and points.

use super::ticks::with_room;
use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::analysis::limits::lines::{LineKind, LineUnit, RoofLine};
use crate::chart::area::{Area, Position};
use crate::chart::roofline::{GIGA, NodeClass, Roofline, RooflinePoint, line_text, title_of};
use crate::chart::sketch::{HAIR, Ink, STRENGTH, SketchShape};
use powerband_core::base::humanize;

/// Sizes in those of type: a line of words, a sample in the legend, room between its entries.
const LINE: f64 = 1.7;
const SAMPLE: f64 = 1.9;
const BETWEEN: f64 = 1.5;
/// Half the width of a point that has all of the time, and of the smallest.
const LARGEST: f64 = 2.3;
const SMALLEST: f64 = 0.3;
/// Points that get their names, at least with this share of the time.
const NAMED: usize = 6;
const LEAST_NAMED: f64 = 0.02;
/// Letters of a name.
const NAME: usize = 26;
/// Between a line and the words along it, in sizes of type.
const ASIDE: f64 = 0.35;
/// Thickness of intervals and published lines, of lines of engines, and of rings, in widths of a line.
const THIN: f64 = 0.6;
const THICK: f64 = 2.0;
const RING: f64 = 0.75;
/// Places along a line that are tried for its words.
const STEPS: u32 = 12;

/// A point as a target of the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeTarget {
    /// Index of the node, or of the first of those that are alike.
    pub node: usize,
    /// Its middle.
    pub at: Position,
    /// Half its width.
    pub radius: f64,
    /// The place above or below it on the line that it is held against.
    pub held_against: Option<Position>,
}

/// The layout of a roofline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RooflineLayout {
    /// The shapes, first at the back.
    pub items: Vec<SketchShape>,
    /// The points, the largest first.
    pub spots: Vec<NodeTarget>,
    /// The area within the axes.
    pub inner: Area,
}

impl RooflineLayout {
    /// The node at a place: the smallest of the points that it is in, or the nearest within reach.
    pub fn node_at(&self, (x, y): Position, reach: f64) -> Option<usize> {
        let distance = |spot: &NodeTarget| (spot.at.0 - x).hypot(spot.at.1 - y);
        let inside = self.spots.iter().filter(|one| distance(one) <= one.radius);
        let smallest = inside.min_by(|a, b| a.radius.total_cmp(&b.radius));
        let near = || {
            let within = self.spots.iter();
            let within = within.filter(|one| distance(one) <= one.radius + reach);
            within.min_by(|a, b| distance(a).total_cmp(&distance(b)))
        };
        smallest.or_else(near).map(|spot| spot.node)
    }
}

/// The height of the legend over a width.
pub fn legend_height(chart: &Roofline, width: f64, letters: &Letters<'_>) -> f64 {
    let mut sheet = RooflineBuilder::new(chart, Area::new(0.0, 0.0, width, 0.0), letters);
    sheet.legend()
}

/// Lays out a roofline.
pub fn lay_out(chart: &Roofline, area: Area, letters: &Letters<'_>) -> RooflineLayout {
    let mut sheet = RooflineBuilder::new(chart, area, letters);
    let legend = sheet.legend();
    sheet.axes(area.top + legend);
    for roof in &chart.roofs {
        sheet.roof(roof);
    }
    for dot in &chart.dots {
        sheet.interval(dot);
    }
    for dot in &chart.dots {
        sheet.dot(dot);
    }
    let mut by_weight: Vec<&RoofLine> = chart.roofs.iter().collect();
    by_weight.sort_by_key(|roof| std::cmp::Reverse(roof.kind));
    for roof in by_weight {
        sheet.words_along(roof);
    }
    for dot in &chart.dots {
        sheet.name(dot);
    }
    RooflineLayout {
        items: sheet.items,
        spots: sheet.spots,
        inner: sheet.inner,
    }
}

/// Room for words along a line.
struct LineLabelSpace {
    anchor: Anchor,
    angle: f64,
    covers: Vec<Area>,
}

struct RooflineBuilder<'a> {
    chart: &'a Roofline,
    area: Area,
    inner: Area,
    letters: &'a Letters<'a>,
    items: Vec<SketchShape>,
    spots: Vec<NodeTarget>,
    taken: Vec<Area>,
    lines: Vec<(Position, Position)>,
    named: usize,
}

impl<'a> RooflineBuilder<'a> {
    fn new(chart: &'a Roofline, area: Area, letters: &'a Letters<'a>) -> Self {
        Self {
            chart,
            area,
            inner: area,
            letters,
            items: Vec::new(),
            spots: Vec::new(),
            taken: Vec::new(),
            lines: Vec::new(),
            named: 0,
        }
    }

    fn width(&self, text: &str, font: Font) -> f64 {
        self.letters.width(text, font)
    }

    fn place(&self, x: f64, y: f64) -> Position {
        let inner = self.inner;
        (
            inner.left + self.chart.x.share(x) * inner.width(),
            inner.bottom - self.chart.y.share(y) * inner.height(),
        )
    }

    /// The kinds of lines and the classes that there are; the answer is its height.
    fn legend(&mut self) -> f64 {
        let size = self.letters.size;
        let (mut x, mut row) = (self.area.left, 0.0);
        let kinds = [LineKind::Published, LineKind::Measured, LineKind::Engine];
        let has = |kind: &LineKind| self.chart.roofs.iter().any(|roof| roof.kind == *kind);
        let kinds: Vec<LineKind> = kinds.into_iter().filter(has).collect();
        let mut room = |sheet: &Self, text: &str| {
            let width = size * (SAMPLE + 0.5) + sheet.width(text, Font::Words);
            if x > sheet.area.left && x + width > sheet.area.right {
                (x, row) = (sheet.area.left, row + 1.0);
            }
            let at = (x, sheet.area.top + (row + 0.5) * size * LINE);
            x += width + size * BETWEEN;
            at
        };
        for kind in kinds {
            let at = room(self, title_of(kind));
            let to = (at.0 + size * SAMPLE, at.1);
            self.items.push(line(at, to, kind));
            self.legend_text(at, title_of(kind));
        }
        for class in &self.chart.classes {
            let text = entry(class);
            let at = room(self, &text);
            let middle = (at.0 + size * SAMPLE / 2.0, at.1);
            let marker = marker(class.look, middle, size * 0.42, ink(class));
            self.items
                .push(SketchShape::group("point", "", vec![marker]));
            self.legend_text(at, &text);
        }
        if self.items.is_empty() {
            return 0.0;
        }
        (row + 1.0) * size * LINE + size * 0.6
    }

    fn legend_text(&mut self, (x, y): Position, text: &str) {
        let at = (x + self.letters.size * (SAMPLE + 0.5), y);
        let anchor = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Middle);
        let entry = self.letters.text(anchor, text, Font::Words, Ink::Quiet);
        self.items.push(entry);
    }

    /// The area within the axes, hairlines and the words at them.
    fn axes(&mut self, top: f64) {
        let size = self.letters.size;
        let (x, y) = (&self.chart.x, &self.chart.y);
        let ticks = y
            .ticks
            .iter()
            .map(|tick| self.width(&tick.text, Font::Numbers));
        let beside = ticks.fold(size, f64::max) + size * 0.9;
        self.inner = Area::new(
            self.area.left + beside,
            top + size * LINE,
            self.area.right - size * 2.0,
            self.area.bottom - size * 3.1,
        );
        let inner = self.inner;
        let at = Anchor::new(
            (self.area.left, top),
            HorizontalAnchor::Start,
            VerticalAnchor::Top,
        );
        self.items
            .push(self.letters.text(at, &y.title, Font::Words, Ink::Faint));
        for tick in &y.ticks {
            let height = self.place(x.low, tick.at).1;
            let ends = ((inner.left, height), (inner.right, height));
            self.items
                .push(SketchShape::line(ends, HAIR, Ink::Hairline));
            let at = (inner.left - size * 0.7, height);
            let at = Anchor::new(at, HorizontalAnchor::End, VerticalAnchor::Middle);
            self.items
                .push(self.letters.text(at, &tick.text, Font::Numbers, Ink::Quiet));
        }
        let middles: Vec<(f64, f64)> = x
            .ticks
            .iter()
            .map(|tick| {
                let middle = self.place(tick.at, y.low).0;
                (middle, self.width(&tick.text, Font::Numbers))
            })
            .collect();
        for place in with_room(&middles, (inner.left, inner.right)) {
            let at = (middles[place].0, inner.bottom + size * 0.6);
            let at = Anchor::new(at, HorizontalAnchor::Middle, VerticalAnchor::Top);
            let text = &x.ticks[place].text;
            self.items
                .push(self.letters.text(at, text, Font::Numbers, Ink::Quiet));
        }
        let at = (inner.right, self.area.bottom);
        let at = Anchor::new(at, HorizontalAnchor::End, VerticalAnchor::Bottom);
        self.items
            .push(self.letters.text(at, &x.title, Font::Words, Ink::Faint));
    }

    /// Where a line begins and ends, in coordinates; nothing where none of it is on the chart.
    fn ends(&self, roof: &RoofLine) -> Option<(Position, Position)> {
        let (x, y) = (&self.chart.x, &self.chart.y);
        let height = (roof.per_s / GIGA).log10();
        let (from, to) = match roof.unit {
            LineUnit::OperationsPerS => {
                let steepest = self.chart.steepest();
                let ridge = steepest.map_or(x.low, |bytes| (roof.per_s / bytes).log10());
                ((ridge.max(x.low), height), (x.high, height))
            }
            LineUnit::BytesPerS => {
                let top = self.chart.top();
                let top = top.map_or(y.high, |top| (top / GIGA).log10()).min(y.high);
                let left = x.low.max(y.low - height);
                let right = x.high.min(top - height);
                ((left, left + height), (right, right + height))
            }
        };
        let is_seen = to.0 > from.0 && (y.low..=y.high).contains(&to.1);
        is_seen.then(|| (self.place(from.0, from.1), self.place(to.0, to.1)))
    }

    fn roof(&mut self, roof: &RoofLine) {
        if let Some((from, to)) = self.ends(roof) {
            self.items.push(line(from, to, roof.kind));
            self.lines.push((from, to));
        }
    }

    /// Words along a line, where they meet no others.
    fn words_along(&mut self, roof: &RoofLine) {
        let Some(ends) = self.ends(roof) else {
            return;
        };
        let text = line_text(roof);
        let width = self.width(&text, Font::Words);
        let Some(room) = self.room_along(roof.unit, ends, width) else {
            return;
        };
        self.taken.extend(room.covers);
        self.items.push(SketchShape::Text {
            anchor: room.anchor,
            text,
            font: Font::Words,
            size: self.letters.size,
            ink: if roof.kind == LineKind::Engine {
                Ink::Text
            } else {
                Ink::Quiet
            },
            angle: room.angle,
            class: "",
        });
    }

    /// Free room along a line: above level ones, from their right end on; at slanted ones from their foot on.
    fn room_along(
        &self,
        unit: LineUnit,
        (from, to): (Position, Position),
        width: f64,
    ) -> Option<LineLabelSpace> {
        let size = self.letters.size;
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (angle, room) = (dy.atan2(dx), dx.hypot(dy) - width);
        if room < 0.0 {
            return None;
        }
        let is_level = unit == LineUnit::OperationsPerS;
        let rows: &[f64] = if is_level { &[0.0, 1.3, 2.6] } else { &[0.0] };
        let sides: &[f64] = if is_level { &[-1.0] } else { &[-1.0, 1.0] };
        let steps = (0..STEPS).map(|step| room * f64::from(step) / f64::from(STEPS));
        let begins = steps.map(|step| match unit {
            LineUnit::OperationsPerS => room - step,
            LineUnit::BytesPerS => step + size.min(room - step),
        });
        let begins: Vec<f64> = begins.collect();
        let along = rows
            .iter()
            .flat_map(|row| begins.iter().map(move |begin| (*row, *begin)));
        let mut places =
            along.flat_map(|(row, begin)| sides.iter().map(move |side| (row, begin, *side)));
        let frame = self.inner.expanded(size * 0.4);
        places.find_map(|(row, begin, side)| {
            let at = |along: f64, aside: f64| {
                let aside = side * size * (ASIDE + row + aside);
                (
                    from.0 + along * angle.cos() - aside * angle.sin(),
                    from.1 + along * angle.sin() + aside * angle.cos(),
                )
            };
            let pieces = (width / size).ceil().max(1.0) as u32;
            let covers: Vec<Area> = (0..=pieces)
                .map(|piece| begin + width * f64::from(piece) / f64::from(pieces))
                .map(|along| Area::square_around(at(along, 0.6), size * 0.55))
                .collect();
            let is_free = |area: &Area| {
                let mut others = self.lines.iter().filter(|line| **line != (from, to));
                let is_crossed = others.any(|line| area.crosses_line(*line));
                let is_taken = self.taken.iter().any(|other| other.overlaps(*area));
                frame.contains_area(*area) && !is_taken && !is_crossed
            };
            let height = if side < 0.0 {
                VerticalAnchor::Bottom
            } else {
                VerticalAnchor::Top
            };
            covers.iter().all(is_free).then(|| LineLabelSpace {
                anchor: Anchor::new(at(begin, 0.0), HorizontalAnchor::Start, height),
                angle,
                covers,
            })
        })
    }

    fn node_target(&self, dot: &RooflinePoint) -> NodeTarget {
        let size = self.letters.size;
        let radius = (size * LARGEST * dot.share.max(0.0).sqrt()).max(size * SMALLEST);
        let at = |per_s: f64| self.place(dot.middle().log10(), (per_s / GIGA).log10());
        NodeTarget {
            node: dot.nodes.first().copied().unwrap_or_default(),
            at: at(dot.per_s),
            radius,
            held_against: dot.held_against.map(at),
        }
    }

    fn ink(&self, dot: &RooflinePoint) -> Ink {
        self.chart.classes.get(dot.class).map_or(Ink::Quiet, ink)
    }

    /// From the fewest to the most operations per byte.
    fn interval(&mut self, dot: &RooflinePoint) {
        let at = self.node_target(dot).at;
        let end = |value: f64| {
            let x = self.place(value.log10(), 0.0).0;
            (x.clamp(self.inner.left, self.inner.right), at.1)
        };
        let (from, to) = (end(dot.intensity.0), end(dot.intensity.1));
        self.lines.push((from, to));
        let line = SketchShape::line((from, to), THIN, self.ink(dot));
        self.items.push(line);
    }

    fn dot(&mut self, dot: &RooflinePoint) {
        let spot = self.node_target(dot);
        let class = self.chart.classes.get(dot.class);
        let look = class.and_then(|class| class.look);
        let point = vec![marker(look, spot.at, spot.radius, self.ink(dot))];
        self.items
            .push(SketchShape::group("point", &dot.tooltip, point));
        if self
            .chart
            .selected
            .is_some_and(|node| dot.nodes.contains(&node))
        {
            let ring = vec![marker(None, spot.at, spot.radius + 3.0, Ink::Accent)];
            self.items.push(SketchShape::group("point", "", ring));
        }
        self.taken
            .push(Area::square_around(spot.at, spot.radius * 0.8));
        self.spots.push(spot);
    }

    /// The names of the largest points, where there is room beside them.
    fn name(&mut self, dot: &RooflinePoint) {
        if dot.share < LEAST_NAMED || self.named >= NAMED {
            return;
        }
        let size = self.letters.size;
        let spot = self.node_target(dot);
        let text = humanize::shorten_middle(&dot.name, NAME);
        let extent = (self.width(&text, Font::Words), size * 1.2);
        let away = spot.radius + size * 0.4;
        let (x, y) = spot.at;
        let anchors = [
            Anchor::new(
                (x + away, y),
                HorizontalAnchor::Start,
                VerticalAnchor::Middle,
            ),
            Anchor::new((x - away, y), HorizontalAnchor::End, VerticalAnchor::Middle),
            Anchor::new((x, y + away), HorizontalAnchor::Middle, VerticalAnchor::Top),
            Anchor::new(
                (x, y - away),
                HorizontalAnchor::Middle,
                VerticalAnchor::Bottom,
            ),
            Anchor::new(
                (x + away, y + size),
                HorizontalAnchor::Start,
                VerticalAnchor::Top,
            ),
            Anchor::new(
                (x - away, y + size),
                HorizontalAnchor::End,
                VerticalAnchor::Top,
            ),
        ];
        let fits = |anchor: &&Anchor| {
            let area = anchor.area(extent);
            let is_crossed = self.lines.iter().any(|line| area.crosses_line(*line));
            let is_taken = self.taken.iter().any(|other| other.overlaps(area));
            self.inner.contains_area(area) && !is_taken && !is_crossed
        };
        let Some(anchor) = anchors.iter().find(fits) else {
            return;
        };
        self.named += 1;
        self.taken.push(anchor.area(extent));
        let name = self.letters.text(*anchor, text, Font::Words, Ink::Text);
        self.items.push(name);
    }
}

/// The marker of a palette index, or a ring.
fn marker(shape: Option<usize>, at: Position, radius: f64, ink: Ink) -> SketchShape {
    match shape {
        Some(shape) => SketchShape::Marker {
            at,
            shape,
            radius,
            ink,
            strength: STRENGTH,
        },
        None => SketchShape::Ring {
            at,
            radius,
            ground: None,
            thickness: RING,
            ink,
            class: "",
        },
    }
}

/// A line as its kind is drawn.
fn line(from: Position, to: Position, kind: LineKind) -> SketchShape {
    let ends = (from, to);
    match kind {
        LineKind::Published => SketchShape::line(ends, THIN, Ink::Quiet).dashed(&[4.0, 3.0]),
        LineKind::Measured => SketchShape::line(ends, 1.0, Ink::Quiet),
        LineKind::Engine => SketchShape::line(ends, THICK, Ink::Text),
    }
}

fn entry(class: &NodeClass) -> String {
    format!("{} {}", class.title, humanize::percent(class.share))
}

fn ink(class: &NodeClass) -> Ink {
    class.look.map_or(Ink::Quiet, Ink::Series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::layout::letters;
    use crate::chart::roofline::testing::example;

    fn placed() -> (Roofline, RooflineLayout) {
        let chart = example();
        let letters = Letters {
            size: 11.0,
            ..letters()
        };
        let area = Area::new(0.0, 0.0, 760.0, 420.0);
        let placed = lay_out(&chart, area, &letters);
        (chart, placed)
    }

    #[test]
    fn points_stand_below_their_lines_and_are_found_again() {
        let (chart, placed) = placed();
        assert_eq!(placed.spots.len(), chart.dots.len());
        for spot in &placed.spots {
            assert!(placed.inner.contains(spot.at), "{spot:?}");
            assert_eq!(placed.node_at(spot.at, 4.0), Some(spot.node));
        }
        assert_eq!(
            placed.node_at((placed.inner.left, placed.inner.top), 4.0),
            None
        );
        let [conv, add, _] = placed.spots[..] else {
            panic!("three points");
        };
        let areas = (conv.radius / add.radius).powi(2);
        assert!(
            (areas - 0.7 / 0.2).abs() < 1e-6,
            "areas are shares: {areas}"
        );
    }

    #[test]
    fn every_line_has_its_words_and_slanted_ones_have_them_along() {
        let (chart, placed) = placed();
        for roof in &chart.roofs {
            let along = line_text(roof);
            let angle = placed.items.iter().find_map(|item| match item {
                SketchShape::Text { text, angle, .. } if *text == along => Some(*angle),
                _ => None,
            });
            let angle = angle.unwrap_or_else(|| panic!("no words: {along}"));
            assert_eq!(angle < 0.0, roof.unit == LineUnit::BytesPerS, "{along}");
        }
        let thick = placed
            .items
            .iter()
            .any(|item| matches!(item, SketchShape::Line { thickness, .. } if *thickness == THICK));
        assert!(thick, "the engine's line");
    }

    #[test]
    fn the_legend_takes_more_lines_where_there_is_less_room() {
        let chart = example();
        let letters = Letters {
            size: 11.0,
            ..letters()
        };
        let height = |width| legend_height(&chart, width, &letters);
        assert!(height(300.0) > height(900.0));
    }
}
