//! Lanes of time as shapes, below each other under the names of their devices.

use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor, ticks};
use crate::analysis::device_readings;
use crate::chart::area::{Area, Position};
use crate::chart::lanes::{Lane, Lanes};
use crate::chart::sketch::{Ink, SketchShape};
use crate::chart::spec::Tick;

/// Heights in sizes of type: a lane, between two lanes, the name of a device above its first lane; above the lanes
/// for the cases, and below them for the time.
const LANE: f64 = 2.7;
const BETWEEN_LANES: f64 = 0.45;
const NAME: f64 = 1.6;
const HEAD: f64 = 1.7;
const FOOT: f64 = 3.2;
/// For names and values, as a share of the width at most.
const ASIDE: f64 = 0.5;
/// A reading with as many figures as any.
const WIDEST_READING: &str = "0,000 MHz";
/// Thickness of readings, and of the line where a device stopped responding, in widths of a line.
const READINGS: f64 = 0.65;
const CUT: f64 = 0.75;
/// Half the width of a reading without neighbours.
const ALONE: f64 = 1.2;
/// Height of the colour of a case above the lanes, and how much of it lies behind them.
const CASE: (f64, f64) = (3.0, 0.10);

/// Between the words of two cases.
const BETWEEN: f64 = 4.0;

/// The place of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowPosition {
    /// Where the name of its group stands, where it is the first of it.
    pub head: Option<f64>,
    /// Where it begins.
    pub top: f64,
}

/// Puts rows of a group and a height below each other, with room for a name above the first row of each group.
/// The second part is where the last one ends.
pub fn stacked<G: PartialEq>(
    rows: impl IntoIterator<Item = (G, f64)>,
    head_height: f64,
) -> (Vec<RowPosition>, f64) {
    let mut y = 0.0;
    let mut above = None;
    let rows = rows.into_iter().map(|(group, height)| {
        let is_first = above.as_ref() != Some(&group);
        above = Some(group);
        let head = is_first.then_some(y);
        let top = if is_first { y + head_height } else { y };
        y = top + height;
        RowPosition { head, top }
    });
    (rows.collect(), y)
}

/// How lanes are shown.
#[derive(Clone, Copy)]
pub struct LanesStyle {
    /// The number beside the name of a lane.
    pub value: fn(&Lane) -> &str,
    /// Where time begins and ends, where it has to be as on another chart.
    pub time: Option<(f64, f64)>,
}

/// Lanes with everything at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedLanes {
    /// The shapes, first at the back.
    pub items: Vec<SketchShape>,
    /// Where times and values are.
    pub plot: Area,
    /// Each lane with the space below it.
    pub lanes: Vec<Area>,
}

fn rows(shown: &Lanes) -> (Vec<RowPosition>, f64) {
    let lanes = shown.lanes.iter();
    let rows = lanes.map(|lane| (lane.device.as_str(), LANE + BETWEEN_LANES));
    stacked(rows, NAME)
}

/// The height that suits lanes, in sizes of type.
pub fn height(shown: &Lanes) -> f64 {
    HEAD + rows(shown).1 + FOOT
}

/// Finds the place of everything; lanes grow with the area.
pub fn lay_out(shown: &Lanes, area: Area, look: LanesStyle, letters: &Letters<'_>) -> PlacedLanes {
    let size = letters.size;
    let widest = |text: fn(&Lane) -> &str, font| {
        let widths = shown.lanes.iter();
        let widths = widths.map(|lane| letters.width(text(lane), font));
        widths.fold(0.0, f64::max)
    };
    let names = widest(|lane| &lane.title, Font::Words);
    // No single reading is wider than this, so that nothing moves when a new one comes.
    let values =
        widest(look.value, Font::Numbers).max(letters.width(WIDEST_READING, Font::Numbers));
    let aside = names + values + size * 2.2;
    let aside = aside.min(area.width() * ASIDE);
    let usual = (area.left + aside, area.right - size * 0.8);
    let (left, right) = look.time.unwrap_or(usual);
    let (rows, high) = rows(shown);
    let room = area.height() - (HEAD + FOOT) * size;
    let mut sheet = Sheet {
        shown,
        letters,
        left: area.left,
        plot: Area::new(
            left,
            area.top + HEAD * size,
            right,
            area.bottom - FOOT * size,
        ),
        unit: (room / high.max(1.0)).max(1.0),
        items: Vec::new(),
    };
    sheet.cases();
    sheet.axis();
    let mut lanes = Vec::new();
    for (lane, row) in shown.lanes.iter().zip(&rows) {
        let place = sheet.lane(lane, row, (look.value)(lane));
        let below = BETWEEN_LANES * sheet.unit;
        lanes.push(Area {
            bottom: place.bottom + below,
            ..place
        });
    }
    sheet.cuts();
    PlacedLanes {
        items: sheet.items,
        plot: sheet.plot,
        lanes,
    }
}

struct Sheet<'a> {
    shown: &'a Lanes,
    letters: &'a Letters<'a>,
    left: f64,
    plot: Area,
    /// What a size of type is high.
    unit: f64,
    items: Vec<SketchShape>,
}

impl Sheet<'_> {
    fn x(&self, at: f64) -> f64 {
        self.plot.left + self.shown.x.share(at) * self.plot.width()
    }

    fn width(&self, text: &str, font: Font) -> f64 {
        self.letters.width(text, font)
    }

    fn hairline(&mut self, from: Position, to: Position) {
        let line = self.letters.hairline((from, to), Ink::Hairline);
        self.items.push(line);
    }

    fn add_text(
        &mut self,
        at: Position,
        (side, height): (HorizontalAnchor, VerticalAnchor),
        text: &str,
        ink: Ink,
    ) {
        let at = Anchor::new(at, side, height);
        self.items
            .push(self.letters.text(at, text, Font::Words, ink));
    }

    /// The cases behind the lanes, each in its setup's colour, with words where these fit and touch none before.
    fn cases(&mut self) {
        let mut free_from = f64::NEG_INFINITY;
        let (top, bottom) = (self.plot.top, self.plot.bottom);
        for case in &self.shown.stretches {
            let [from, to] = [case.from, case.to].map(|at| self.x(at));
            if case.from >= case.to {
                // A divider has no length.
                self.hairline((from, top), (from, bottom));
                continue;
            }
            let mut ground = |top, bottom, strength| {
                self.items.push(SketchShape::Ground {
                    area: Area::new(from, top, to, bottom),
                    ink: Ink::Series(case.colour),
                    strength,
                    radius: 0.0,
                });
            };
            ground(top, bottom, CASE.1);
            ground(top - CASE.0, top, 1.0);
            let width = self.width(&case.text, Font::Words);
            if to - from >= width && from >= free_from {
                free_from = from + width + BETWEEN;
                let at = (from + 1.0, top - CASE.0);
                self.add_text(
                    at,
                    (HorizontalAnchor::Start, VerticalAnchor::Bottom),
                    &case.text,
                    Ink::Quiet,
                );
            }
        }
    }

    fn axis(&mut self) {
        let (size, y, shown) = (self.letters.size, self.plot.bottom, self.shown);
        self.hairline((self.plot.left, y + 3.0), (self.plot.right, y + 3.0));
        let ticks = &shown.x.ticks;
        let place = |tick: &Tick| (self.x(tick.at), self.width(&tick.text, Font::Numbers));
        let places: Vec<(f64, f64)> = ticks.iter().map(place).collect();
        for index in ticks::with_room(&places, (self.plot.left, self.plot.right)) {
            let at = (places[index].0, y + size * 0.55);
            let at = Anchor::new(at, HorizontalAnchor::Middle, VerticalAnchor::Top);
            let tick = self
                .letters
                .text(at, &ticks[index].text, Font::Numbers, Ink::Quiet);
            self.items.push(tick.class("x-tick"));
        }
        let at = (self.plot.right, y + size * 1.95);
        self.add_text(
            at,
            (HorizontalAnchor::End, VerticalAnchor::Top),
            &shown.x.title,
            Ink::Quiet,
        );
    }

    fn lane(&mut self, lane: &Lane, row: &RowPosition, value: &str) -> Area {
        let top = self.plot.top + row.top * self.unit;
        let place = Area {
            top,
            bottom: top + LANE * self.unit,
            ..self.plot
        };
        if let Some(head) = row.head {
            let room = self.plot.width() * 0.6;
            let name = self.letters.cut(&lane.device, Font::Words, room);
            let at = (self.left, self.plot.top + head * self.unit + 1.0);
            self.add_text(
                at,
                (HorizontalAnchor::Start, VerticalAnchor::Top),
                &name,
                Ink::Text,
            );
        }
        let middle = f64::midpoint(place.top, place.bottom);
        let at = (self.left, middle);
        self.add_text(
            at,
            (HorizontalAnchor::Start, VerticalAnchor::Middle),
            &lane.title,
            Ink::Quiet,
        );
        let at = (place.left - self.letters.size * 0.8, middle);
        let at = Anchor::new(at, HorizontalAnchor::End, VerticalAnchor::Middle);
        self.items
            .push(self.letters.text(at, value, Font::Numbers, Ink::Text));
        self.hairline((place.left, place.bottom), (place.right, place.bottom));
        let title = lane.title.to_lowercase();
        let tooltip = format!("{} {title}: {}", lane.device, lane.range);
        let readings = self.readings(lane, place);
        self.items
            .push(SketchShape::group("lane", tooltip, readings));
        place
    }

    fn readings(&self, lane: &Lane, place: Area) -> Vec<SketchShape> {
        let at = |(at, value): &(f64, f64)| {
            let up = lane.share(*value) * (place.height() - 2.0);
            (self.x(*at), place.bottom - up)
        };
        let ink = Ink::Series(0);
        let item = |run: &[(f64, f64)]| {
            let [alone] = run else {
                let points: Vec<Position> = run.iter().map(at).collect();
                return Some(SketchShape::Path {
                    points: within(&points, (place.left, place.right)),
                    thickness: READINGS,
                    ink,
                    class: "readings",
                });
            };
            let value = device_readings::reading_text(lane.quantity, alone.1);
            let dot = SketchShape::Dot {
                at: at(alone),
                radius: ALONE,
                ink,
            };
            let tooltip = format!("{value}, {:.3} s", alone.0);
            let is_seen = place.expanded(ALONE).contains(at(alone));
            is_seen.then(|| SketchShape::group("point", tooltip, vec![dot]))
        };
        lane.runs().filter_map(item).collect()
    }

    /// A device that stopped responding, with words on the side of its line where there is more room.
    fn cuts(&mut self) {
        let plot = self.plot;
        for (at, text) in &self.shown.cuts {
            let x = self.x(*at);
            let ends = ((x, plot.top), (x, plot.bottom));
            self.items.push(SketchShape::line(ends, CUT, Ink::Bad));
            let (side, shift, room) = if x > f64::midpoint(plot.left, plot.right) {
                (HorizontalAnchor::End, -5.0, x - plot.left)
            } else {
                (HorizontalAnchor::Start, 5.0, plot.right - x)
            };
            let anchor = Anchor::new((x + shift, plot.top + 2.0), side, VerticalAnchor::Top);
            let short = self.letters.cut(text, Font::Words, room - 8.0);
            let short = self.letters.text(anchor, short, Font::Words, Ink::Bad);
            self.items
                .push(SketchShape::group("cut", text, vec![short]));
        }
    }
}

/// What of a line from left to right is between two places: it is cut where it comes from outside.
pub(super) fn within(points: &[Position], (low, high): (f64, f64)) -> Vec<Position> {
    let is_inside = |at: &Position| (low..=high).contains(&at.0);
    if points.iter().all(is_inside) {
        return points.to_vec();
    }
    let crossing =
        |a: Position, b: Position, x: f64| (x, a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0));
    let mut kept = Vec::new();
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if b.0 < low || a.0 > high || a.0 > b.0 {
            continue;
        }
        if kept.is_empty() {
            kept.push(if a.0 < low { crossing(a, b, low) } else { a });
        }
        kept.push(if b.0 > high { crossing(a, b, high) } else { b });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_group_stand_below_its_name() {
        let rows = [("a", 5.0), ("a", 5.0), ("b", 3.0), ("a", 1.0)];
        let (rows, end) = stacked(rows, 2.0);
        let rows: Vec<_> = rows.iter().map(|row| (row.head, row.top)).collect();
        assert_eq!(
            rows,
            [
                (Some(0.0), 2.0),
                (None, 7.0),
                (Some(12.0), 14.0),
                (Some(17.0), 19.0)
            ]
        );
        assert_eq!(end, 20.0);
    }

    #[test]
    fn a_line_that_comes_from_outside_is_cut_at_the_edge() {
        let points = [(0.0, 0.0), (10.0, 10.0), (20.0, 0.0)];
        assert_eq!(within(&points, (0.0, 20.0)), points);
        let cut = within(&points, (5.0, 15.0));
        assert_eq!(cut, [(5.0, 5.0), (10.0, 10.0), (15.0, 5.0)]);
        assert_eq!(within(&points, (30.0, 40.0)), []);
    }
}
