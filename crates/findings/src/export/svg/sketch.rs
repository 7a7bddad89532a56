//! Figures that are laid out as shapes.

use std::rc::Rc;

use super::canvas::{Pen, SvgCanvas};
use crate::chart::layout::cell_words::hatching;
use crate::chart::layout::{Font, Letters};
use crate::chart::sketch::{Ink, SketchShape};
use crate::export::text_metrics::{self, Typeface};

/// How wide words are in a picture.
pub(super) fn measure(canvas: &SvgCanvas) -> impl Fn(&str, Font, f64) -> f64 + use<> {
    let metrics = Rc::clone(&canvas.letters);
    move |text, font, size| metrics.width(&text_metrics::clean(text), kind(font), size)
}

/// The sizes of a picture.
pub(super) fn letters<'a>(
    canvas: &SvgCanvas,
    measure: &'a dyn Fn(&str, Font, f64) -> f64,
) -> Letters<'a> {
    let measures = canvas.measures;
    Letters {
        size: measures.caption,
        body: measures.body,
        marker: measures.marker,
        line: measures.line,
        hair: measures.hair,
        is_print: canvas.is_print,
        measure,
    }
}

fn kind(font: Font) -> Typeface {
    match font {
        Font::Words => Typeface::Words,
        Font::Numbers => Typeface::Numbers,
    }
}

/// Draws shapes.
pub(super) fn draw(canvas: &mut SvgCanvas, items: &[SketchShape]) {
    for item in items {
        draw_item(canvas, item);
    }
}

fn draw_item(canvas: &mut SvgCanvas, item: &SketchShape) {
    let (colours, measures) = (canvas.colours, canvas.measures);
    let pen = |ink: Ink, thickness: f64| Pen::new(ink.rgb(colours), measures.line * thickness);
    match item {
        SketchShape::Line {
            from,
            to,
            thickness,
            dashes,
            ink,
            class,
        } => {
            let pen = pen(*ink, *thickness);
            canvas.line(*from, *to, pen.dashed(dashes).class(class));
        }
        SketchShape::Block { area, fill } => canvas.filled(*area, *fill, 0.85, 2.0),
        SketchShape::Ground {
            area,
            ink,
            strength,
            radius,
        } => canvas.rect(*area, ink.rgb(colours), *strength, *radius),
        SketchShape::Path {
            points,
            thickness,
            ink,
            class,
        } => {
            let pen = pen(*ink, *thickness);
            canvas.path(points, pen.class(class));
        }
        SketchShape::Under { points, foot, ink } => {
            if let (Some(first), Some(last)) = (points.first(), points.last()) {
                let outline = [&[(first.0, *foot)], &points[..], &[(last.0, *foot)]].concat();
                canvas.area(&outline, ink.rgb(colours), 1.0);
            }
        }
        SketchShape::Dot { at, radius, ink } => {
            canvas.circle(*at, *radius, Some(ink.rgb(colours)), None);
        }
        SketchShape::Edge {
            area,
            thickness,
            ink,
            radius,
        } => {
            let pen = pen(*ink, *thickness);
            canvas.outline(*area, pen, *radius);
        }
        SketchShape::Tile { .. } | SketchShape::Clearing(_) | SketchShape::Hatched(_) => {
            draw_surface(canvas, item);
        }
        SketchShape::Ring {
            at,
            radius,
            ground,
            thickness,
            ink,
            class,
        } => {
            let pen = pen(*ink, *thickness);
            let ground = ground.map(|ground| ground.rgb(colours));
            canvas.circle(*at, *radius, ground, Some(pen.class(class)));
        }
        SketchShape::Marker {
            at,
            shape,
            radius,
            strength,
            ..
        } => canvas.strong_marker(*at, *shape, *radius, *strength),
        SketchShape::Text { .. } => draw_text(canvas, item),
        SketchShape::OfSeries { series, items } => {
            canvas.series(*series, |canvas| draw(canvas, items));
        }
        SketchShape::Group {
            class,
            tooltip,
            items,
        } => canvas.group(class, tooltip, |canvas| draw(canvas, items)),
    }
}

/// Surfaces that look different on paper.
fn draw_surface(canvas: &mut SvgCanvas, item: &SketchShape) {
    let (colours, measures) = (canvas.colours, canvas.measures);
    match item {
        SketchShape::Tile { area, fill } => {
            canvas.filled(*area, *fill, 0.3, 3.0);
            if !canvas.is_print {
                let edge = colours.fill(*fill).towards(colours.panel, 0.3);
                canvas.outline(*area, Pen::new(edge, measures.hair), 3.0);
            }
        }
        SketchShape::Clearing(area) if canvas.is_print => {
            canvas.rect(area.expanded(1.5), colours.panel, 1.0, 1.5);
        }
        SketchShape::Hatched(area) => {
            canvas.rect(*area, colours.raised, 1.0, 0.0);
            let pen = Pen::new(colours.faint, measures.hair * 0.7);
            for (from, to) in hatching(*area) {
                canvas.line(from, to, pen);
            }
        }
        _ => {}
    }
}

fn draw_text(canvas: &mut SvgCanvas, item: &SketchShape) {
    let SketchShape::Text {
        anchor,
        text,
        font,
        size,
        ink,
        angle,
        class,
    } = item
    else {
        return;
    };
    let mut words = canvas.caption(ink.rgb(canvas.colours)).class(class);
    (words.kind, words.size) = (kind(*font), *size);
    let words = words.anchored(anchor.side, anchor.height);
    canvas.turned(anchor.at, *angle, |canvas| {
        canvas.text(anchor.at, text, words);
    });
}
