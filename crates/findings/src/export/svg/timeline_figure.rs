//! A stretch of a timeline: a ruler, tracks with their slices, and below them memory and devices.

use super::canvas::{HorizontalAnchor, Pen, SvgCanvas, VerticalAnchor};
use super::sketch;
use crate::analysis::device_readings;
use crate::chart::area::{Area, Position};
use crate::chart::lanes::Lane;
use crate::chart::layout::Letters;
use crate::chart::layout::lanes::{RowPosition, stacked};
use crate::chart::layout::legend::{self, LegendItem};
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
const TRACKS: f64 = RULER + 0.3;
const MEMORY: f64 = 3.0;
const LANE: f64 = 2.7;
/// The line that says how many tracks are not drawn.
const MORE: f64 = 1.8;
/// For names, as a share of the width, and in sizes of type at least.
const NAMES: f64 = 0.2;
const LEAST_NAMES: f64 = 9.5;
/// A slice has words from this width on, in sizes of type.
const WORDS_FROM: f64 = 2.6;

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
    TRACKS + places(shown).1 + more + beneath
}

/// The height that suits it.
pub(super) fn height(shown: &TimelineFigure, room: f64, letters: &Letters<'_>) -> f64 {
    sizes(shown) * letters.size + legend::height(&kinds(shown), room, letters)
}

/// What the colours mean.
fn kinds(shown: &TimelineFigure) -> Vec<LegendItem> {
    let entries = timeline::legend(shown.kinds().into_iter()).into_iter();
    entries
        .map(|(kind, words)| LegendItem::shade(series(kind), &words))
        .collect()
}

/// Where time and tracks are.
struct TimelineField<'a> {
    shown: &'a TimelineFigure,
    /// Ruler, tracks and lanes, without the names.
    plot: Area,
    left: f64,
    /// What a size of type is high: less than it, where the picture is low.
    unit: f64,
}

impl TimelineField<'_> {
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
}

/// Draws it.
pub(super) fn draw(
    canvas: &mut SvgCanvas,
    letters: &Letters<'_>,
    shown: &TimelineFigure,
    area: Area,
) {
    let (legend, area) = legend::lay_out(&kinds(shown), area, letters);
    sketch::draw(canvas, &legend);
    let least = (canvas.measures.caption * LEAST_NAMES).min(area.width() * 0.4);
    let names = (area.width() * NAMES).max(least);
    let field = TimelineField {
        shown,
        plot: Area {
            left: area.left + names,
            ..area
        },
        left: area.left,
        unit: area.height().max(1.0) / sizes(shown),
    };
    let (places, below) = places(shown);
    time(canvas, &field);
    for (track, place) in shown.tracks.iter().zip(&places) {
        if let Some(head) = place.head {
            let y = field.y(TRACKS + head + HEAD / 2.0);
            named(canvas, &field, (field.left, y), &track.group, true);
        }
        let y = field.y(TRACKS + place.top + ROW / 2.0);
        named(canvas, &field, (field.left, y), &track.name, false);
        for (row, runs) in track.rows.iter().enumerate() {
            let top = field.y(TRACKS + place.top + row as f64 * ROW);
            let bottom = top + ROW * field.unit;
            for run in runs {
                slice(canvas, &field, run, (top + 0.8, bottom - 0.8));
            }
        }
    }
    let mut y = TRACKS + below;
    if shown.more > 0 {
        let more = humanize::pluralised(shown.more as u64, "more track");
        let words = canvas.caption(canvas.colours.quiet);
        let at = (field.plot.left, field.y(y + MORE / 2.0));
        canvas.text(at, &format!("{more} not drawn"), words);
        y += MORE;
    }
    for line in &shown.memory {
        memory(canvas, &field, line, y);
        y += MEMORY;
    }
    for lane in &shown.lanes {
        readings(canvas, &field, lane, y);
        y += LANE;
    }
}

/// The ruler, with hairlines down through everything.
fn time(canvas: &mut SvgCanvas, field: &TimelineField<'_>) {
    let size = canvas.measures.caption;
    let ruler = ruler(field.shown.stretch, field.plot.width() as f32);
    let hair = Pen::new(canvas.colours.line, canvas.measures.hair);
    let bottom = field.y(RULER);
    canvas.line((field.left, bottom), (field.plot.right, bottom), hair);
    let numbers = canvas.figures(canvas.colours.quiet).class("x-tick");
    for tick in &ruler.ticks {
        let x = field.x(tick.at);
        canvas.line((x, bottom - size * 0.4), (x, field.plot.bottom), hair);
        let at = (x + size * 0.3, field.y(RULER * 0.5));
        if at.0 + canvas.width_of(&tick.text, numbers) <= field.plot.right {
            canvas.text(at, &tick.text, numbers);
        }
    }
    let (words, value) = match ruler.base {
        Some(base) => ("From ", base),
        None => ("", humanize::duration_ns(field.shown.stretch.length())),
    };
    let at = (field.left, field.y(RULER * 0.5));
    let text = format!("{words}{value}");
    canvas.text(at, &text, canvas.figures(canvas.colours.text));
}

/// A name at the left, cut to its column.
fn named(
    canvas: &mut SvgCanvas,
    field: &TimelineField<'_>,
    at: Position,
    name: &str,
    is_head: bool,
) {
    let (colour, room) = if is_head {
        (canvas.colours.text, field.plot.width())
    } else {
        let room = field.plot.left - field.left - canvas.measures.caption;
        (canvas.colours.quiet, room)
    };
    let words = canvas.caption(colour);
    let short = canvas.cut(name, words, room);
    canvas.group("", name, |canvas| canvas.text(at, &short, words));
}

fn slice(
    canvas: &mut SvgCanvas,
    field: &TimelineField<'_>,
    run: &DrawnSlice,
    (top, bottom): (f64, f64),
) {
    let (left, right) = (field.x(run.from_ns), field.x(run.to_ns));
    // A gap separates neighbours where there is room for one.
    let gap = if right - left > 3.0 { 0.6 } else { 0.0 };
    let rect = Area::new(left, top, (right - gap).max(left + 0.4), bottom);
    let colours = canvas.colours;
    let colour = series(run.kind).map_or(colours.faint, |index| colours.series(index));
    let colour = colours.panel.towards(colour, f64::from(run.strength));
    let Some((short, whole)) = &run.name else {
        canvas.rect(rect, colour, 1.0, 0.0);
        return;
    };
    let length = run.to_ns - run.from_ns;
    let step = (length / 1e3).max(1.0);
    let title = format!(
        "{whole}: {} from {}",
        humanize::duration_ns(length),
        exact(run.from_ns, step)
    );
    let mut words = canvas.caption(colours.text).class("slice");
    words.size = words.size.min((bottom - top) * 0.8);
    let room = rect.width() - words.size * 0.6;
    let at = (rect.left + words.size * 0.3, f64::midpoint(top, bottom));
    canvas.group("run", &title, |canvas| {
        canvas.rect(rect, colour, 1.0, 0.0);
        if rect.width() >= words.size * WORDS_FROM {
            let cut = canvas.cut(short, words, room);
            canvas.text(at, &cut, words);
        }
    });
}

/// Name and value of a lane, with a line above.
fn aside(
    canvas: &mut SvgCanvas,
    field: &TimelineField<'_>,
    top: f64,
    sizes: f64,
    words: (&str, &str),
) {
    let hair = Pen::new(canvas.colours.line, canvas.measures.hair);
    let y = field.y(top);
    canvas.line((field.left, y), (field.plot.right, y), hair);
    let size = canvas.measures.caption;
    let (name, value) = words;
    let numbers = canvas.figures(canvas.colours.text);
    let room = field.plot.left - field.left - size;
    let (name_width, value_width) = (
        canvas.width_of(name, canvas.caption(canvas.colours.quiet)),
        canvas.width_of(value, numbers),
    );
    let at = |share: f64| field.y(top + sizes * share);
    let has_both = name_width + value_width + size < room;
    let (name_at, value_at) = if has_both || value_width > room {
        (at(0.5), at(0.5))
    } else {
        (at(0.28), at(0.72))
    };
    let quiet = canvas.caption(canvas.colours.quiet);
    let cut = canvas.cut(name, quiet, room);
    canvas.text((field.left, name_at), &cut, quiet);
    if value_width <= room {
        let right = (field.plot.left - size * 0.8, value_at);
        canvas.text(
            right,
            value,
            numbers.anchored(HorizontalAnchor::End, VerticalAnchor::Middle),
        );
    }
}

fn memory(canvas: &mut SvgCanvas, field: &TimelineField<'_>, line: &FigureMemoryLane, top: f64) {
    let most = humanize::bytes(line.highest);
    let name = format!("{} memory", line.title);
    aside(canvas, field, top, MEMORY, (&name, &most));
    let (low, high) = (field.y(top + MEMORY - 0.2), field.y(top + 0.3));
    let colours = canvas.colours;
    let fill = colours.panel.towards(colours.series(0), 0.22);
    let pen = Pen::new(colours.series(0), canvas.measures.line * 0.5).class("memory");
    let y = |bytes: u64| low - bytes as f64 / line.highest.max(1) as f64 * (low - high);
    let title = format!("{name}, at most {most}");
    canvas.group("lane", &title, |canvas| {
        let edges = line.steps.iter().flat_map(|(from, to, bytes)| {
            let (left, right) = (field.x(*from as f64), field.x(*to as f64));
            [(left, y(*bytes)), (right, y(*bytes))]
        });
        let edge: Vec<Position> = edges.collect();
        if let (Some(first), Some(last)) = (edge.first(), edge.last()) {
            let mut whole = vec![(first.0, low)];
            whole.extend(&edge);
            whole.push((last.0, low));
            canvas.area(&whole, fill, 1.0);
        }
        canvas.path(&edge, pen);
    });
}

fn readings(canvas: &mut SvgCanvas, field: &TimelineField<'_>, lane: &Lane, top: f64) {
    let name = format!("{} {}", lane.device, lane.title.to_lowercase());
    aside(canvas, field, top, LANE, (&name, &lane.range));
    let (low, high) = (field.y(top + LANE - 0.3), field.y(top + 0.3));
    let place = |(at, value): &(f64, f64)| {
        let y = low - lane.share(*value) * (low - high);
        (field.x_beyond(*at), y)
    };
    let colour = canvas.colours.series(0);
    let pen = Pen::new(colour, canvas.measures.line * 0.6).class("readings");
    let title = format!("{name}: {}", lane.range);
    canvas.group("lane", &title, |canvas| {
        canvas.clipped(field.plot, |canvas| {
            for run in lane.runs() {
                let points: Vec<Position> = run.iter().map(place).collect();
                canvas.path(&points, pen);
            }
        });
        for (at, value) in &lane.points {
            let place = place(&(*at, *value));
            if (field.plot.left..=field.plot.right).contains(&place.0) {
                let title = format!(
                    "{} at {}",
                    device_readings::reading_text(lane.quantity, *value),
                    exact(*at, 1e3)
                );
                canvas.group("point", &title, |canvas| {
                    canvas.circle(place, 1.3, Some(colour), None);
                });
            }
        }
    });
}
