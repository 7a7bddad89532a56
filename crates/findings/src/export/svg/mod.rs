//! A figure as SVG: what the window shows, without a window.
//!
//! Written by hand, because a figure needs few elements and each of them exactly. PNG and PDF are made of
//! this one, so that all three show the same.

mod axes;
mod bars;
mod canvas;
mod chart;
mod lanes;
mod legend;
mod marks;
mod sketch;
mod timeline_figure;

use self::canvas::{HorizontalAnchor, SvgCanvas, TextStyle, VerticalAnchor};
use super::style::{Preset, Style};
use super::text_metrics::Typeface;
use crate::chart::area::Area;
use crate::chart::figure::Drawing;

/// Draws a figure.
pub fn write(drawing: &Drawing, style: &Style) -> String {
    write_about(drawing, "", style)
}

/// Draws a figure that has to be understood by itself: below its title stands what it is about.
pub fn write_about(drawing: &Drawing, about: &str, style: &Style) -> String {
    let mut canvas = SvgCanvas::new(style);
    let measures = canvas.measures;
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
        .unwrap_or_else(|| natural(&canvas, drawing, style, room) + around);
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
        match drawing {
            Drawing::Chart(spec) => chart::draw(&mut canvas, spec, area),
            Drawing::Lanes(shown) => lanes::draw(&mut canvas, shown, area),
            Drawing::Bars(shown) => bars::draw(&mut canvas, &shown.bars, area),
            Drawing::Changes(shown) => bars::changes(&mut canvas, &shown.steps, area),
            Drawing::Treemap(shown) => sketch::treemap(&mut canvas, &shown.regions, area),
            Drawing::HeatMap(shown) => sketch::heat_map(&mut canvas, shown, area),
            Drawing::Timeline(shown) => timeline_figure::draw(&mut canvas, shown, area),
            Drawing::Roofline(shown) => sketch::roofs(&mut canvas, shown, area),
            Drawing::WallTime(shown) => sketch::wall(&mut canvas, shown, area),
        }
    }
    canvas.finish(drawing.title(), style.width, height)
}

/// The height that suits a figure, without title and margins.
fn natural(canvas: &SvgCanvas, drawing: &Drawing, style: &Style, room: f64) -> f64 {
    let share = match style.preset {
        Preset::Screen => 0.5,
        Preset::Column => 0.7,
        Preset::Page => 0.4,
    };
    match drawing {
        Drawing::Chart(spec) => {
            room * share + {
                let names = legend::Names::new(spec, &[]);
                legend::height(canvas, &names.items(), room)
            }
        }
        Drawing::Lanes(shown) => lanes::height(canvas, shown, room),
        Drawing::Bars(shown) => bars::height(canvas, shown.bars.len()),
        Drawing::Changes(shown) => bars::height(canvas, shown.steps.len()),
        Drawing::Treemap(_) => room * share.max(0.45),
        Drawing::HeatMap(shown) => sketch::map_height(canvas, shown, room),
        Drawing::Timeline(shown) => timeline_figure::height(canvas, shown, room),
        Drawing::Roofline(shown) => {
            room * share.max(0.5) + sketch::legend_height(canvas, shown, room)
        }
        Drawing::WallTime(shown) => sketch::wall_height(canvas, shown),
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
