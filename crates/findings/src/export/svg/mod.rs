//! A figure as SVG: what the window shows, without a window.
//!
//! Written by hand, because a figure needs few elements and each of them exactly. PNG and PDF are made of
//! this one, so that all three show the same.

mod axes;
mod canvas;
mod chart;
mod sketch;

use self::canvas::{SvgCanvas, TextStyle};
use super::style::{Preset, Style};
use super::text_metrics::Typeface;
use crate::chart::area::Area;
use crate::chart::figure::Drawing;
use crate::chart::lanes::Lanes;
use crate::chart::layout::bars::{self, BarRow};
use crate::chart::layout::lanes::{self, LanesStyle};
use crate::chart::layout::legend::{self, LegendItem};
use crate::chart::layout::network::shapes::{self as network, NetworkWindow};
use crate::chart::layout::{
    Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor, cells, heat_map, roofline,
    timeline_figure, treemap, wall_time,
};
use crate::chart::network::NetworkFigure;
use crate::chart::roofline::Roofline;
use crate::chart::sketch::{Ink, SketchShape};

/// Nothing above the numbers of bars.
const NO_HEADS: [String; 2] = [String::new(), String::new()];

/// Draws a figure.
pub fn write(drawing: &Drawing, style: &Style) -> String {
    write_about(drawing, "", style)
}

/// Draws a figure that has to be understood by itself: below its title stands what it is about.
pub fn write_about(drawing: &Drawing, about: &str, style: &Style) -> String {
    let mut canvas = SvgCanvas::new(style);
    let measures = canvas.measures;
    let measure = sketch::measure(&canvas);
    let letters = sketch::letters(&canvas, &measure);
    let about_height = if about.is_empty() {
        0.0
    } else {
        measures.caption * 1.6
    };
    let title_height = if style.title {
        measures.title * 1.9 + about_height
    } else {
        0.0
    };
    let room = style.width - 2.0 * measures.margin;
    let around = title_height + 2.0 * measures.margin;
    let height = style
        .height
        .unwrap_or_else(|| natural(&letters, drawing, style, room) + around);
    let area = Area::new(
        measures.margin,
        measures.margin + title_height,
        style.width - measures.margin,
        height - measures.margin,
    );
    if style.title {
        title(&mut canvas, drawing.title(), area);
        let top = measures.margin + measures.title * 1.4;
        self::draw_subtitle(&mut canvas, about, area, top);
    }
    if drawing.is_empty() {
        nothing(&mut canvas, area);
    } else {
        draw(&mut canvas, &letters, drawing, area);
    }
    canvas.finish(drawing.title(), style.width, height)
}

fn draw(canvas: &mut SvgCanvas, letters: &Letters<'_>, drawing: &Drawing, area: Area) {
    let items = match drawing {
        Drawing::Chart(spec) => return chart::draw(canvas, letters, spec, area),
        Drawing::Lanes(shown) => lanes_below_legend(shown, area, letters),
        Drawing::Bars(shown) => {
            let rows = BarRow::of_bars(&shown.bars);
            bars::lay_out(&rows, &NO_HEADS, area, letters).items
        }
        Drawing::Changes(shown) => {
            let rows = BarRow::of_changes(&shown.steps);
            bars::lay_out(&rows, &NO_HEADS, area, letters).items
        }
        Drawing::Treemap(shown) => treemap::lay_out(&shown.regions, area, letters).items,
        Drawing::HeatMap(shown) => heat_map::lay_out(shown, area, letters).items,
        Drawing::Timeline(shown) => timeline_figure::lay_out(shown, area, letters),
        Drawing::Network(shown) => network_below_legend(shown, area, letters),
        Drawing::Roofline(shown) => roofline_with_note(shown, area, letters),
        Drawing::WallTime(shown) => wall_time::lay_out(shown, area, letters).0,
    };
    sketch::draw(canvas, &items);
}

/// The setups of lanes, for their legend.
fn setups(shown: &Lanes) -> Vec<LegendItem> {
    let setups = shown.setups.iter();
    setups
        .map(|(colour, name)| LegendItem::shade(Some(*colour), name))
        .collect()
}

fn lanes_below_legend(shown: &Lanes, area: Area, letters: &Letters<'_>) -> Vec<SketchShape> {
    let (mut items, below) = legend::lay_out(&setups(shown), area, letters);
    let style = LanesStyle {
        value: |lane| &lane.range,
        time: None,
    };
    items.extend(lanes::lay_out(shown, below, style, letters).items);
    items
}

/// A network below the legend of its colours.
fn network_below_legend(
    shown: &NetworkFigure,
    area: Area,
    letters: &Letters<'_>,
) -> Vec<SketchShape> {
    let (mut items, height) = network::legend(&shown.colours.legend, area, letters);
    let below = Area::new(
        area.left,
        area.top + height + letters.size,
        area.right,
        area.bottom,
    );
    let window = NetworkWindow::of_all(&shown.layout, below);
    items.extend(network::shapes(shown, &window, letters));
    items
}

/// The height in which a network has its own size, or the size that its width leaves.
fn network_height(shown: &NetworkFigure, room: f64, letters: &Letters<'_>) -> f64 {
    let area = Area::new(0.0, 0.0, room, room);
    let (_, height) = network::legend(&shown.colours.legend, area, letters);
    let scale = (room / shown.layout.width.max(1.0)).min(1.0);
    height + letters.size + shown.layout.height * scale
}

/// A roofline, and below it what is not on it.
fn roofline_with_note(chart: &Roofline, area: Area, letters: &Letters<'_>) -> Vec<SketchShape> {
    if chart.note.is_empty() {
        return roofline::lay_out(chart, area, letters).items;
    }
    let bottom = area.bottom - letters.size * 1.8;
    let above = Area::new(area.left, area.top, area.right, bottom);
    let mut items = roofline::lay_out(chart, above, letters).items;
    let note = letters.cut(&chart.note, Font::Words, area.width());
    let at = (area.left, area.bottom);
    let at = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Bottom);
    items.push(letters.text(at, note, Font::Words, Ink::Quiet));
    items
}

/// The height that suits a figure, without title and margins.
fn natural(letters: &Letters<'_>, drawing: &Drawing, style: &Style, room: f64) -> f64 {
    let share = match style.preset {
        Preset::Screen => 0.5,
        Preset::Column => 0.7,
        Preset::Page => 0.4,
    };
    match drawing {
        Drawing::Chart(spec) => {
            let items = LegendItem::of_chart(spec, &[]);
            room * share + legend::height(&items, room, letters)
        }
        Drawing::Lanes(shown) => {
            lanes::height(shown) * letters.size + legend::height(&setups(shown), room, letters)
        }
        Drawing::Bars(shown) => bars::height(shown.bars.len(), &NO_HEADS, letters),
        Drawing::Changes(shown) => bars::height(shown.steps.len(), &NO_HEADS, letters),
        Drawing::Treemap(_) => room * share.max(0.45),
        Drawing::HeatMap(shown) => cells::height(shown, room, letters),
        Drawing::Timeline(shown) => timeline_figure::height(shown, room, letters),
        Drawing::Network(shown) => network_height(shown, room, letters),
        Drawing::Roofline(shown) => {
            room * share.max(0.5) + roofline::legend_height(shown, room, letters)
        }
        Drawing::WallTime(shown) => wall_time::height(shown, letters),
    }
}

fn title(canvas: &mut SvgCanvas, title: &str, area: Area) {
    let words = TextStyle {
        kind: Typeface::Title,
        size: canvas.measures.title,
        ..canvas.caption(canvas.colours.text)
    };
    let short = canvas.cut(title, words, area.width());
    let at = (area.left, canvas.measures.margin);
    let words = words
        .anchored(HorizontalAnchor::Start, VerticalAnchor::Top)
        .class("title");
    canvas.group("", title, |canvas| canvas.text(at, &short, words));
}

fn draw_subtitle(canvas: &mut SvgCanvas, about: &str, area: Area, top: f64) {
    let words = canvas.caption(canvas.colours.quiet);
    let short = canvas.cut(about, words, area.width());
    let words = words
        .anchored(HorizontalAnchor::Start, VerticalAnchor::Top)
        .class("about");
    canvas.text((area.left, top), &short, words);
}

fn nothing(canvas: &mut SvgCanvas, area: Area) {
    let middle = (
        f64::midpoint(area.left, area.right),
        f64::midpoint(area.top, area.bottom),
    );
    let words = canvas.caption(canvas.colours.quiet);
    canvas.text(
        middle,
        "Nothing to show",
        words.anchored(HorizontalAnchor::Middle, VerticalAnchor::Middle),
    );
}

#[cfg(test)]
mod heat_map_tests;
#[cfg(test)]
mod tests;
