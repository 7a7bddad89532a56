//! What the devices did: one low strip for each quantity, words at the left, one axis of time below all.

use super::canvas::{Canvas, Height, Pen, Side};
use super::legend::{self, Item};
use crate::analysis::device_readings;
use crate::chart::area::{Area, At};
use crate::chart::lanes::{Lane, Lanes};
use crate::export::text_metrics;

/// Height of a lane, in sizes of type.
const LANE: f64 = 2.7;
/// Between two lanes.
const BETWEEN: f64 = 0.45;
/// Above the first lane of a device, for its name.
const NAME: f64 = 1.6;
/// Above the lanes, for the cases.
const HEAD: f64 = 1.7;
/// Below them, for the time.
const FOOT: f64 = 3.2;

/// Where a lane is below the head, and its device's name where it is the first; in sizes of type.
fn places(shown: &Lanes) -> (Vec<(Option<f64>, f64)>, f64) {
    let mut y = 0.0;
    let mut device = "";
    let mut places = Vec::with_capacity(shown.lanes.len());
    for lane in &shown.lanes {
        let name_at = (lane.device != device).then(|| {
            device = &lane.device;
            let at = y;
            y += NAME;
            at
        });
        places.push((name_at, y));
        y += LANE + BETWEEN;
    }
    (places, y)
}

/// The height that suits it.
pub(super) fn height(canvas: &Canvas, shown: &Lanes, room: f64) -> f64 {
    (HEAD + places(shown).1 + FOOT) * canvas.measures.caption
        + legend::height_of(canvas, &entries(shown), room)
}

/// The setups, for the legend.
fn entries(shown: &Lanes) -> Vec<Item<'_>> {
    let items = shown.setups.iter();
    items
        .map(|(colour, name)| Item::block(*colour, name))
        .collect()
}

/// The lanes within an area.
struct Strip<'a> {
    shown: &'a Lanes,
    plot: Area,
    left: f64,
}

impl Strip<'_> {
    fn x(&self, at: f64) -> f64 {
        let axis = &self.shown.x;
        let share = (at - axis.low) / (axis.high - axis.low).max(1e-9);
        self.plot.left + share * self.plot.width()
    }
}

/// Draws it.
pub(super) fn draw(canvas: &mut Canvas, shown: &Lanes, area: Area) {
    let items = entries(shown);
    legend::draw_items(canvas, &items, area);
    let area = Area {
        top: area.top + legend::height_of(canvas, &items, area.width()),
        ..area
    };
    let size = canvas.measures.caption;
    let numbers = canvas.figures(canvas.colours.text);
    let words = canvas.caption(canvas.colours.quiet);
    let longest = |widths: &mut dyn Iterator<Item = f64>| widths.fold(0.0, f64::max);
    let titles = longest(
        &mut shown
            .lanes
            .iter()
            .map(|lane| canvas.width_of(&lane.title, words)),
    );
    let values = longest(
        &mut shown
            .lanes
            .iter()
            .map(|lane| canvas.width_of(&lane.range, numbers)),
    );
    let aside = (titles + values + size * 2.2).min(area.width() * 0.5);
    let (places, high) = places(shown);
    // Lanes grow with the figure.
    let room = area.height() - (HEAD + FOOT) * size;
    let unit = (room / high.max(1.0)).max(1.0);
    let strip = Strip {
        shown,
        plot: Area::new(
            area.left + aside,
            area.top + HEAD * size,
            area.right - size * 0.8,
            area.bottom - FOOT * size,
        ),
        left: area.left,
    };
    stretches(canvas, &strip);
    axis(canvas, &strip);
    for (lane, (name_at, at)) in shown.lanes.iter().zip(&places) {
        one(
            canvas,
            &strip,
            lane,
            name_at.map(|at| at * unit),
            at * unit,
            unit,
        );
    }
    cuts(canvas, &strip);
}

/// The cases behind the lanes, each in its setup's colour.
fn stretches(canvas: &mut Canvas, strip: &Strip<'_>) {
    let size = canvas.measures.caption;
    let mut free_from = f64::NEG_INFINITY;
    for stretch in &strip.shown.stretches {
        let (from, to) = (strip.x(stretch.from), strip.x(stretch.to));
        let (top, bottom) = (strip.plot.top, strip.plot.bottom);
        if stretch.from >= stretch.to {
            let pen = Pen::new(canvas.colours.line, canvas.measures.hair);
            canvas.line((from, top), (from, bottom), pen);
            continue;
        }
        let colour = canvas.colours.series(stretch.colour);
        canvas.rect(Area::new(from, top, to, bottom), colour, 0.10, 0.0);
        canvas.rect(Area::new(from, top - 3.0, to, top), colour, 1.0, 0.0);
        let words = canvas.caption(canvas.colours.quiet);
        let width = canvas.width_of(&stretch.text, words);
        if to - from >= width && from >= free_from {
            let at = (from + 1.0, top - 3.0);
            canvas.text(at, &stretch.text, words.at(Side::Start, Height::Bottom));
            free_from = from + width + size * 0.4;
        }
    }
}

fn axis(canvas: &mut Canvas, strip: &Strip<'_>) {
    let size = canvas.measures.caption;
    let y = strip.plot.bottom;
    let pen = Pen::new(canvas.colours.line, canvas.measures.hair);
    canvas.line((strip.plot.left, y + 3.0), (strip.plot.right, y + 3.0), pen);
    let numbers = canvas.figures(canvas.colours.quiet).class("x-tick");
    let numbers = numbers.at(Side::Middle, Height::Top);
    let mut free_from = f64::NEG_INFINITY;
    for tick in &strip.shown.x.ticks {
        let at = (strip.x(tick.at), y + size * 0.55);
        let place = canvas.place_of(at, &tick.text, numbers);
        if place.left > free_from {
            canvas.text(at, &tick.text, numbers);
            free_from = place.right + size * 0.5;
        }
    }
    let words = canvas.caption(canvas.colours.quiet);
    let at = (strip.plot.right, y + size * 1.95);
    canvas.text(at, &strip.shown.x.title, words.at(Side::End, Height::Top));
}

fn one(
    canvas: &mut Canvas,
    strip: &Strip<'_>,
    lane: &Lane,
    name_at: Option<f64>,
    at: f64,
    unit: f64,
) {
    let top = strip.plot.top + at;
    let rect = Area::new(strip.plot.left, top, strip.plot.right, top + LANE * unit);
    if let Some(name_at) = name_at {
        let at = (strip.left, strip.plot.top + name_at + 1.0);
        let words = canvas.caption(canvas.colours.text);
        let room = strip.plot.width() * 0.6;
        let clean = text_metrics::clean(&lane.device);
        let name = canvas.letters.cut(&clean, words.kind, words.size, room);
        canvas.text(at, &name, words.at(Side::Start, Height::Top));
    }
    let middle = f64::midpoint(rect.top, rect.bottom);
    let words = canvas.caption(canvas.colours.quiet);
    canvas.text((strip.left, middle), &lane.title, words);
    let numbers = canvas.figures(canvas.colours.text);
    let value = (strip.plot.left - words.size * 0.8, middle);
    canvas.text(value, &lane.range, numbers.at(Side::End, Height::Middle));
    let pen = Pen::new(canvas.colours.line, canvas.measures.hair);
    canvas.line((rect.left, rect.bottom), (rect.right, rect.bottom), pen);
    let title = format!(
        "{} {}: {}",
        lane.device,
        lane.title.to_lowercase(),
        lane.range
    );
    canvas.group("lane", &title, |canvas| readings(canvas, strip, lane, rect));
}

fn readings(canvas: &mut Canvas, strip: &Strip<'_>, lane: &Lane, rect: Area) {
    let y = |value: f64| {
        let share = (value - lane.low) / (lane.high - lane.low).max(1e-9);
        rect.bottom - share.clamp(0.0, 1.0) * (rect.height() - 2.0)
    };
    let colour = canvas.colours.series(0);
    let pen = Pen::new(colour, canvas.measures.line * 0.65).class("readings");
    let mut part: Vec<At> = Vec::new();
    for (index, (at, value)) in lane.points.iter().enumerate() {
        part.push((strip.x(*at), y(*value)));
        if lane.gap_after.contains(&index) || index + 1 == lane.points.len() {
            let points = std::mem::take(&mut part);
            if let [alone] = points[..] {
                let title = format!(
                    "{}, {at:.3} s",
                    device_readings::text(lane.quantity, *value)
                );
                canvas.group("point", &title, |canvas| {
                    canvas.circle(alone, 1.2, Some(colour), None);
                });
            } else {
                canvas.path(&points, pen);
            }
        }
    }
}

/// A device that stopped to answer.
fn cuts(canvas: &mut Canvas, strip: &Strip<'_>) {
    for (at, text) in &strip.shown.cuts {
        let x = strip.x(*at);
        let colour = canvas.colours.bad;
        let pen = Pen::new(colour, canvas.measures.line * 0.75);
        canvas.line((x, strip.plot.top), (x, strip.plot.bottom), pen);
        let is_right = x > f64::midpoint(strip.plot.left, strip.plot.right);
        let (side, shift, room) = if is_right {
            (Side::End, -5.0, x - strip.plot.left)
        } else {
            (Side::Start, 5.0, strip.plot.right - x)
        };
        let words = canvas.caption(colour).at(side, Height::Top);
        let clean = text_metrics::clean(text);
        let short = canvas
            .letters
            .cut(&clean, words.kind, words.size, room - 8.0);
        let at = (x + shift, strip.plot.top + 2.0);
        canvas.group("cut", text, |canvas| canvas.text(at, &short, words));
    }
}
