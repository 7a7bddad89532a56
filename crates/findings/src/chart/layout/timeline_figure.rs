//! A stretch of a timeline as shapes: a ruler, tracks with their slices, and below them memory and devices.

use super::lanes::{RowPosition, stacked, within};
use super::legend::{self, LegendItem};
use super::ribbon::{self, RibbonPlace};
use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::analysis::device_readings;
use crate::chart::area::{Area, Position};
use crate::chart::lanes::Lane;
use crate::chart::sketch::{Ink, SketchShape};
use crate::chart::timeline::{self, exact, ruler};
use crate::chart::timeline_figure::{
    DrawnSlice, FigureMemoryLane, FigureTrack, TimelineFigure, series,
};
use powerband_core::base::humanize;

/// Heights in sizes of the captions' type: a row, the name of a device, what is between two tracks.
const ROW: f64 = 1.6;
const HEAD: f64 = 1.9;
const BETWEEN: f64 = 0.45;
/// The ruler, with its hairline below it; a lane of memory, a lane of a device.
const RULER: f64 = 2.0;
const BELOW_RULER: f64 = 0.3;
const MEMORY: f64 = 3.0;
const LANE: f64 = 2.7;
/// The line that says how many tracks are not drawn.
const MORE: f64 = 1.8;
/// For names, as a share of the width, and in sizes of type at least.
const NAMES: f64 = 0.2;
const LEAST_NAMES: f64 = 9.5;
/// A slice has words from this width on, in sizes of type.
const WORDS_FROM: f64 = 2.6;

/// What is above the tracks, in sizes of type.
fn above_tracks(shown: &TimelineFigure) -> f64 {
    let ribbon = shown.ribbon.as_ref().map_or(0.0, |_| ribbon::HEIGHT);
    RULER + ribbon + BELOW_RULER
}

/// Where tracks are, in sizes of type below the ruler.
fn places(shown: &TimelineFigure) -> (Vec<RowPosition>, f64) {
    let height = |track: &FigureTrack| track.rows.len() as f64 * ROW + BETWEEN;
    let tracks = shown.tracks.iter();
    let rows = tracks.map(|track| (track.group.as_str(), height(track)));
    stacked(rows, HEAD)
}

/// The height of everything but the legend, in sizes of type.
fn sizes(shown: &TimelineFigure) -> f64 {
    let more = if shown.more > 0 { MORE } else { 0.0 };
    let beneath = shown.memory.len() as f64 * MEMORY + shown.lanes.len() as f64 * LANE;
    above_tracks(shown) + places(shown).1 + more + beneath
}

/// The height that suits it.
pub(crate) fn height(shown: &TimelineFigure, room: f64, letters: &Letters<'_>) -> f64 {
    sizes(shown) * letters.size + legend::height(&kinds(shown), room, letters)
}

/// What the colours mean.
fn kinds(shown: &TimelineFigure) -> Vec<LegendItem> {
    let entries = timeline::legend(shown.kinds().into_iter()).into_iter();
    entries
        .map(|(kind, words)| LegendItem::shade(series(kind), &words))
        .collect()
}

/// Finds the place of everything; rows grow with the area.
pub(crate) fn lay_out(
    shown: &TimelineFigure,
    area: Area,
    letters: &Letters<'_>,
) -> Vec<SketchShape> {
    let (items, area) = legend::lay_out(&kinds(shown), area, letters);
    let least = (letters.size * LEAST_NAMES).min(area.width() * 0.4);
    let names = (area.width() * NAMES).max(least);
    let mut sheet = Sheet {
        shown,
        letters,
        plot: Area {
            left: area.left + names,
            ..area
        },
        left: area.left,
        unit: area.height().max(1.0) / sizes(shown),
        tracks: above_tracks(shown),
        items,
    };
    sheet.time();
    sheet.ribbon();
    let (places, below) = places(shown);
    for (track, place) in shown.tracks.iter().zip(&places) {
        sheet.track(track, place);
    }
    let mut y = sheet.tracks + below;
    if shown.more > 0 {
        let more = humanize::pluralised(shown.more as u64, "more track");
        let at = (sheet.plot.left, sheet.y(y + MORE / 2.0));
        sheet.add_text(at, &format!("{more} not drawn"), Font::Words, Ink::Quiet);
        y += MORE;
    }
    for line in &shown.memory {
        sheet.memory(line, y);
        y += MEMORY;
    }
    for lane in &shown.lanes {
        sheet.readings(lane, y);
        y += LANE;
    }
    sheet.items
}

struct Sheet<'a> {
    shown: &'a TimelineFigure,
    letters: &'a Letters<'a>,
    /// Ruler, tracks and lanes, without the names.
    plot: Area,
    left: f64,
    /// What a size of type is high: less than it, where the picture is low.
    unit: f64,
    /// Where the tracks begin, in sizes of type.
    tracks: f64,
    items: Vec<SketchShape>,
}

impl Sheet<'_> {
    fn x(&self, time_ns: f64) -> f64 {
        let x = self.x_beyond(time_ns);
        x.clamp(self.plot.left, self.plot.right)
    }

    /// A time without clamping, for lines that come in from outside.
    fn x_beyond(&self, time_ns: f64) -> f64 {
        let stretch = self.shown.stretch;
        let share = (time_ns - stretch.from) / stretch.length().max(1e-9);
        self.plot.left + share * self.plot.width()
    }

    fn y(&self, sizes: f64) -> f64 {
        self.plot.top + sizes * self.unit
    }

    fn text(&self, at: Position, text: &str, font: Font, ink: Ink) -> SketchShape {
        let at = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Middle);
        self.letters.text(at, text, font, ink)
    }

    fn add_text(&mut self, at: Position, text: &str, font: Font, ink: Ink) {
        self.items.push(self.text(at, text, font, ink));
    }

    fn hairline(&mut self, from: Position, to: Position) {
        let line = self.letters.hairline((from, to), Ink::Hairline);
        self.items.push(line);
    }

    /// The ruler, with hairlines down through everything.
    fn time(&mut self) {
        let (size, plot) = (self.letters.size, self.plot);
        let ruler = ruler(self.shown.stretch, plot.width() as f32);
        let (bottom, middle) = (self.y(RULER), self.y(RULER * 0.5));
        self.hairline((self.left, bottom), (plot.right, bottom));
        for tick in &ruler.ticks {
            let x = self.x(tick.at);
            self.hairline((x, bottom - size * 0.4), (x, plot.bottom));
            let x = x + size * 0.3;
            if x + self.letters.width(&tick.text, Font::Numbers) <= plot.right {
                let tick = self.text((x, middle), &tick.text, Font::Numbers, Ink::Quiet);
                self.items.push(tick.class("x-tick"));
            }
        }
        let text = match ruler.base {
            Some(base) => format!("From {base}"),
            None => humanize::duration_ns(self.shown.stretch.length()),
        };
        self.add_text((self.left, middle), &text, Font::Numbers, Ink::Text);
    }

    /// What is different, between the ruler and the tracks.
    fn ribbon(&mut self) {
        if let Some(shown) = &self.shown.ribbon {
            let (top, bottom) = (self.y(RULER), self.y(RULER + ribbon::HEIGHT));
            let place = RibbonPlace {
                area: Area::new(self.left, top, self.plot.right, bottom),
                columns: (self.plot.left, self.plot.right),
                stretch: self.shown.stretch,
                has_tooltips: true,
            };
            self.items
                .extend(ribbon::lay_out(shown, place, self.letters));
        }
    }

    fn track(&mut self, track: &FigureTrack, place: &RowPosition) {
        if let Some(head) = place.head {
            let y = self.y(self.tracks + head + HEAD / 2.0);
            self.named(y, &track.group, self.plot.width(), Ink::Text);
        }
        let room = self.plot.left - self.left - self.letters.size;
        let y = self.y(self.tracks + place.top + ROW / 2.0);
        self.named(y, &track.name, room, Ink::Quiet);
        for (row, runs) in track.rows.iter().enumerate() {
            let top = self.y(self.tracks + place.top + row as f64 * ROW);
            let bottom = top + ROW * self.unit;
            let slices = runs
                .iter()
                .map(|run| self.slice(run, (top + 0.8, bottom - 0.8)));
            let slices: Vec<SketchShape> = slices.collect();
            self.items.extend(slices);
        }
    }

    /// A name at the left, cut to its room.
    fn named(&mut self, y: f64, name: &str, room: f64, ink: Ink) {
        let short = self.letters.cut(name, Font::Words, room);
        let short = self.text((self.left, y), &short, Font::Words, ink);
        self.items.push(SketchShape::group("", name, vec![short]));
    }

    fn slice(&self, run: &DrawnSlice, (top, bottom): (f64, f64)) -> SketchShape {
        let (left, right) = (self.x(run.from_ns), self.x(run.to_ns));
        // A gap separates neighbours where there is room for one.
        let gap = if right - left > 3.0 { 0.6 } else { 0.0 };
        let area = Area::new(left, top, (right - gap).max(left + 0.4), bottom);
        let ground = SketchShape::Ground {
            area,
            ink: Ink::Pale(series(run.kind), run.strength.into()),
            strength: 1.0,
            radius: 0.0,
        };
        let Some((short, whole)) = &run.name else {
            return ground;
        };
        let length = run.to_ns - run.from_ns;
        let duration = humanize::duration_ns(length);
        let from = exact(run.from_ns, (length / 1e3).max(1.0));
        let letters = self.letters;
        let letters = letters.sized(letters.size.min((bottom - top) * 0.8));
        let size = letters.size;
        let mut shapes = vec![ground];
        if area.width() >= size * WORDS_FROM {
            let cut = letters.cut(short, Font::Words, area.width() - size * 0.6);
            let at = (area.left + size * 0.3, f64::midpoint(top, bottom));
            let at = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Middle);
            let name = letters.text(at, cut, Font::Words, Ink::Text);
            shapes.push(name.class("slice"));
        }
        SketchShape::group("run", format!("{whole}: {duration} from {from}"), shapes)
    }

    /// Name and value of a lane, with a line above.
    fn aside(&mut self, top: f64, sizes: f64, name: &str, value: &str) {
        let y = self.y(top);
        self.hairline((self.left, y), (self.plot.right, y));
        let (letters, size) = (self.letters, self.letters.size);
        let room = self.plot.left - self.left - size;
        let value_width = letters.width(value, Font::Numbers);
        let has_both = letters.width(name, Font::Words) + value_width + size < room;
        let (name_at, value_at) = if has_both || value_width > room {
            (0.5, 0.5)
        } else {
            (0.28, 0.72)
        };
        let at = |share: f64| self.y(top + sizes * share);
        let right = (self.plot.left - size * 0.8, at(value_at));
        let right = Anchor::new(right, HorizontalAnchor::End, VerticalAnchor::Middle);
        let left = (self.left, at(name_at));
        let cut = letters.cut(name, Font::Words, room);
        self.add_text(left, &cut, Font::Words, Ink::Quiet);
        if value_width <= room {
            let value = letters.text(right, value, Font::Numbers, Ink::Text);
            self.items.push(value);
        }
    }

    fn memory(&mut self, line: &FigureMemoryLane, top: f64) {
        let most = humanize::bytes(line.highest);
        let name = format!("{} memory", line.title);
        self.aside(top, MEMORY, &name, &most);
        let (low, high) = (self.y(top + MEMORY - 0.2), self.y(top + 0.3));
        let y = |bytes: u64| low - bytes as f64 / line.highest.max(1) as f64 * (low - high);
        let edges = line.steps.iter().flat_map(|(from, to, bytes)| {
            let (left, right) = (self.x(*from as f64), self.x(*to as f64));
            [(left, y(*bytes)), (right, y(*bytes))]
        });
        let edge: Vec<Position> = edges.collect();
        let ground = SketchShape::Under {
            points: edge.clone(),
            foot: low,
            ink: Ink::Pale(Some(0), 0.22),
        };
        let line = SketchShape::Path {
            points: edge,
            thickness: 0.5,
            ink: Ink::Series(0),
            class: "memory",
        };
        let tooltip = format!("{name}, at most {most}");
        let lane = SketchShape::group("lane", tooltip, vec![ground, line]);
        self.items.push(lane);
    }

    fn readings(&mut self, lane: &Lane, top: f64) {
        let name = format!("{} {}", lane.device, lane.title.to_lowercase());
        self.aside(top, LANE, &name, &lane.range);
        let (low, high) = (self.y(top + LANE - 0.3), self.y(top + 0.3));
        let place = |(at, value): &(f64, f64)| {
            let y = low - lane.share(*value) * (low - high);
            (self.x_beyond(*at), y)
        };
        let (seen, ink) = ((self.plot.left, self.plot.right), Ink::Series(0));
        let lines = lane.runs().map(|run| {
            let points: Vec<Position> = run.iter().map(place).collect();
            SketchShape::Path {
                points: within(&points, seen),
                thickness: 0.6,
                ink,
                class: "readings",
            }
        });
        let dots = lane.points.iter().filter_map(|point| {
            let at = place(point);
            let value = device_readings::reading_text(lane.quantity, point.1);
            let tooltip = format!("{value} at {}", exact(point.0, 1e3));
            let radius = 1.3;
            let dot = SketchShape::Dot { at, radius, ink };
            let is_seen = (seen.0..=seen.1).contains(&at.0);
            is_seen.then(|| SketchShape::group("point", tooltip, vec![dot]))
        });
        let shapes = lines.chain(dots).collect();
        let tooltip = format!("{name}: {}", lane.range);
        let lane = SketchShape::group("lane", tooltip, shapes);
        self.items.push(lane);
    }
}
