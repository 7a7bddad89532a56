//! Figures that are laid out as shapes: a roofline, and the bar of wall time.

use super::canvas::{Canvas, Height, Pen, Side};
use crate::chart::area::Area;
use crate::chart::colours::Rgb;
use crate::chart::layout::cells::Letters;
use crate::chart::layout::{Font, roofline, wall_time};
use crate::chart::roofline::Roofline;
use crate::chart::sketch::{Ink, Item, STRENGTH};
use crate::chart::wall_time::WallBar;
use crate::export::text_metrics::Type;

/// The dashes of a published line.
const DASHES: &str = "4 3";

/// The height that suits a bar of wall time.
pub(super) fn wall_height(canvas: &Canvas, bar: &WallBar) -> f64 {
    with_letters(canvas, |letters| wall_time::height(bar, letters))
}

/// The height of the legend of a roofline.
pub(super) fn legend_height(canvas: &Canvas, chart: &Roofline, room: f64) -> f64 {
    with_letters(canvas, |letters| {
        roofline::legend_height(chart, room, letters)
    })
}

/// Draws a bar of wall time.
pub(super) fn wall(canvas: &mut Canvas, bar: &WallBar, area: Area) {
    let (items, _) = with_letters(canvas, |letters| wall_time::lay_out(bar, area, letters));
    draw(canvas, &items);
}

/// Draws a roofline, and below it what is not on it.
pub(super) fn roofs(canvas: &mut Canvas, chart: &Roofline, area: Area) {
    let note = if chart.note.is_empty() {
        0.0
    } else {
        canvas.measures.caption * 1.8
    };
    let above = Area::new(area.left, area.top, area.right, area.bottom - note);
    let placed = with_letters(canvas, |letters| roofline::lay_out(chart, above, letters));
    draw(canvas, &placed.items);
    if note > 0.0 {
        let words = canvas.caption(canvas.colours.quiet);
        let text = canvas.cut(&chart.note, words, area.width());
        let words = words.at(Side::Start, Height::Bottom);
        canvas.text((area.left, area.bottom), &text, words);
    }
}

fn with_letters<T>(canvas: &Canvas, then: impl FnOnce(&Letters<'_>) -> T) -> T {
    let size = canvas.measures.caption;
    let metrics = std::rc::Rc::clone(&canvas.letters);
    let width = move |text: &str, font: Font| metrics.width(text, kind(font), size);
    then(&Letters {
        size,
        width: &width,
    })
}

fn kind(font: Font) -> Type {
    match font {
        Font::Words => Type::Words,
        Font::Numbers => Type::Numbers,
    }
}

fn colour(canvas: &Canvas, ink: Ink) -> Rgb {
    let colours = canvas.colours;
    match ink {
        Ink::Series(index) => colours.series(index),
        Ink::Text => colours.text,
        Ink::Quiet => colours.quiet,
        Ink::Faint => colours.faint,
        Ink::Hairline => colours.line,
        Ink::Accent => colours.accent,
    }
}

fn draw(canvas: &mut Canvas, items: &[Item]) {
    for item in items {
        match item {
            Item::Line {
                from,
                to,
                thickness,
                is_dashed,
                ink,
            } => {
                let width = canvas.measures.line * thickness.times();
                let dashes = if *is_dashed { DASHES } else { "" };
                let pen = Pen::new(colour(canvas, *ink), width).dashed(dashes);
                canvas.line(*from, *to, pen);
            }
            Item::Block { area, fill, words } => {
                canvas.group("point", words, |canvas| {
                    canvas.filled(*area, *fill, 0.85, 2.0);
                });
            }
            Item::Marker {
                at,
                shape,
                radius,
                ink,
                words,
            } => {
                let colour = colour(canvas, *ink);
                let pen = Pen::new(colour, canvas.measures.line * 0.75);
                canvas.group("point", words, |canvas| match shape {
                    Some(index) => canvas.strong_marker(*at, *index, *radius, STRENGTH),
                    None => canvas.circle(*at, *radius, None, Some(pen)),
                });
            }
            Item::Words {
                anchor,
                text,
                font,
                ink,
                angle,
            } => {
                let mut words = canvas.caption(colour(canvas, *ink));
                words.kind = kind(*font);
                let words = words.at(anchor.side, anchor.height);
                canvas.turned(anchor.at, *angle, |canvas| {
                    canvas.text(anchor.at, text, words);
                });
            }
        }
    }
}
