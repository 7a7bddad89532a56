//! Device telemetry: one low strip for each quantity, words at the left, one axis of time below all.

use super::canvas::{Canvas, Height, Pen, Side};
use super::legend::{self, Item};
use crate::analysis::device_readings;
use crate::chart::area::{Area, At};
use crate::chart::lanes::{Lane, Lanes};
use crate::chart::layout::lanes::{Row, Strip, stacked};

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

/// Where lanes are below the head, in sizes of type.
fn places(shown: &Lanes) -> (Vec<Row>, f64) {
    let lanes = shown.lanes.iter();
    let rows = lanes.map(|lane| (lane.device.as_str(), LANE + BETWEEN));
    stacked(rows, NAME)
}

/// The height that suits it.
pub(super) fn height(canvas: &Canvas, shown: &Lanes, room: f64) -> f64 {
    (HEAD + places(shown).1 + FOOT) * canvas.measures.caption
        + legend::height(canvas, &entries(shown), room)
}

/// The setups, for the legend.
fn entries(shown: &Lanes) -> Vec<Item<'_>> {
    let items = shown.setups.iter();
    items
        .map(|(colour, name)| Item::shade(Some(*colour), name))
        .collect()
}

/// Draws it.
pub(super) fn draw(canvas: &mut Canvas, shown: &Lanes, area: Area) {
    let area = legend::draw(canvas, &entries(shown), area);
    let size = canvas.measures.caption;
    let numbers = canvas.figures(canvas.colours.text);
    let words = canvas.caption(canvas.colours.quiet);
    let widths = shown.lanes.iter().map(|lane| {
        let title = canvas.width_of(&lane.title, words);
        (title, canvas.width_of(&lane.range, numbers))
    });
    let (titles, values) = widths.fold((0.0_f64, 0.0_f64), |most, own| {
        (most.0.max(own.0), most.1.max(own.1))
    });
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
    };
    stretches(canvas, strip);
    axis(canvas, strip);
    for (lane, row) in shown.lanes.iter().zip(places) {
        let row = Row {
            head: row.head.map(|at| at * unit),
            top: row.top * unit,
        };
        one(canvas, strip, area.left, lane, row, LANE * unit);
    }
    cuts(canvas, strip);
}

/// The cases behind the lanes, each in its setup's colour.
fn stretches(canvas: &mut Canvas, strip: Strip<'_>) {
    let words = canvas.caption(canvas.colours.quiet);
    let (top, bottom) = (strip.plot.top, strip.plot.bottom);
    for case in strip.cases(|text| canvas.width_of(text, words)) {
        let (from, to) = (case.from, case.to);
        if case.is_divider() {
            let pen = Pen::new(canvas.colours.line, canvas.measures.hair);
            canvas.line((from, top), (from, bottom), pen);
            continue;
        }
        let colour = canvas.colours.series(case.stretch.colour);
        canvas.rect(Area::new(from, top, to, bottom), colour, 0.10, 0.0);
        canvas.rect(Area::new(from, top - 3.0, to, top), colour, 1.0, 0.0);
        if case.has_words {
            let words = words.at(Side::Start, Height::Bottom);
            canvas.text((from + 1.0, top - 3.0), &case.stretch.text, words);
        }
    }
}

fn axis(canvas: &mut Canvas, strip: Strip<'_>) {
    let size = canvas.measures.caption;
    let y = strip.plot.bottom;
    let pen = Pen::new(canvas.colours.line, canvas.measures.hair);
    canvas.line((strip.plot.left, y + 3.0), (strip.plot.right, y + 3.0), pen);
    let numbers = canvas.figures(canvas.colours.quiet).class("x-tick");
    let numbers = numbers.at(Side::Middle, Height::Top);
    for (x, text) in strip.ticks(|text| canvas.width_of(text, numbers)) {
        canvas.text((x, y + size * 0.55), text, numbers);
    }
    let words = canvas.caption(canvas.colours.quiet);
    let at = (strip.plot.right, y + size * 1.95);
    canvas.text(at, &strip.shown.x.title, words.at(Side::End, Height::Top));
}

fn one(canvas: &mut Canvas, strip: Strip<'_>, left: f64, lane: &Lane, row: Row, height: f64) {
    let top = strip.plot.top + row.top;
    let rect = Area::new(strip.plot.left, top, strip.plot.right, top + height);
    if let Some(head) = row.head {
        let words = canvas.caption(canvas.colours.text);
        let name = canvas.cut(&lane.device, words, strip.plot.width() * 0.6);
        let at = (left, strip.plot.top + head + 1.0);
        canvas.text(at, &name, words.at(Side::Start, Height::Top));
    }
    let middle = f64::midpoint(rect.top, rect.bottom);
    let words = canvas.caption(canvas.colours.quiet);
    canvas.text((left, middle), &lane.title, words);
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

fn readings(canvas: &mut Canvas, strip: Strip<'_>, lane: &Lane, rect: Area) {
    let place = |(at, value): &(f64, f64)| {
        let up = lane.share(*value) * (rect.height() - 2.0);
        (strip.x(*at), rect.bottom - up)
    };
    let colour = canvas.colours.series(0);
    let pen = Pen::new(colour, canvas.measures.line * 0.65).class("readings");
    for run in lane.runs() {
        if let [alone] = run {
            let value = device_readings::text(lane.quantity, alone.1);
            let title = format!("{value}, {:.3} s", alone.0);
            canvas.group("point", &title, |canvas| {
                canvas.circle(place(alone), 1.2, Some(colour), None);
            });
        } else {
            let points: Vec<At> = run.iter().map(place).collect();
            canvas.path(&points, pen);
        }
    }
}

/// A device that stopped responding.
fn cuts(canvas: &mut Canvas, strip: Strip<'_>) {
    for (at, text) in &strip.shown.cuts {
        let x = strip.x(*at);
        let colour = canvas.colours.bad;
        let pen = Pen::new(colour, canvas.measures.line * 0.75);
        canvas.line((x, strip.plot.top), (x, strip.plot.bottom), pen);
        let (anchor, room) = strip.cut_words(x);
        let words = canvas.caption(colour).at(anchor.side, anchor.height);
        let short = canvas.cut(text, words, room);
        canvas.group("cut", text, |canvas| canvas.text(anchor.at, &short, words));
    }
}
