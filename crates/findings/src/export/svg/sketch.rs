//! Figures that are laid out as shapes.

use super::canvas::{HorizontalAnchor, Pen, SvgCanvas, VerticalAnchor};
use crate::chart::area::Area;
use crate::chart::heat_map::HeatMap;
use crate::chart::layout::cell_words::hatching;
use crate::chart::layout::{Font, Letters, cells, heat_map, roofline, treemap, wall_time};
use crate::chart::roofline::Roofline;
use crate::chart::sketch::SketchShape;
use crate::chart::treemap::Region;
use crate::chart::wall_time::WallBar;
use crate::export::text_metrics::Typeface;

/// The dashes of a published line.
const DASHES: &str = "4 3";

/// The height that suits a bar of wall time.
pub(super) fn wall_height(canvas: &SvgCanvas, bar: &WallBar) -> f64 {
    with_letters(canvas, |letters| wall_time::height(bar, letters))
}

/// The height of the legend of a roofline.
pub(super) fn legend_height(canvas: &SvgCanvas, chart: &Roofline, room: f64) -> f64 {
    with_letters(canvas, |letters| {
        roofline::legend_height(chart, room, letters)
    })
}

/// The height that suits a heat map.
pub(super) fn map_height(canvas: &SvgCanvas, map: &HeatMap, room: f64) -> f64 {
    with_letters(canvas, |letters| cells::height(map, room, letters))
}

/// Draws a heat map.
pub(super) fn heat_map(canvas: &mut SvgCanvas, map: &HeatMap, area: Area) {
    let placed = with_letters(canvas, |letters| heat_map::lay_out(map, area, letters));
    draw(canvas, &placed.items);
}

/// Draws a treemap.
pub(super) fn treemap(canvas: &mut SvgCanvas, regions: &[Region], area: Area) {
    let placed = with_letters(canvas, |letters| treemap::lay_out(regions, area, letters));
    draw(canvas, &placed.items);
}

/// Draws a bar of wall time.
pub(super) fn wall(canvas: &mut SvgCanvas, bar: &WallBar, area: Area) {
    let (items, _) = with_letters(canvas, |letters| wall_time::lay_out(bar, area, letters));
    draw(canvas, &items);
}

/// Draws a roofline, and below it what is not on it.
pub(super) fn roofs(canvas: &mut SvgCanvas, chart: &Roofline, area: Area) {
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
        let words = words.anchored(HorizontalAnchor::Start, VerticalAnchor::Bottom);
        canvas.text((area.left, area.bottom), &text, words);
    }
}

pub(super) fn with_letters<T>(canvas: &SvgCanvas, then: impl FnOnce(&Letters<'_>) -> T) -> T {
    let measures = canvas.measures;
    let metrics = std::rc::Rc::clone(&canvas.letters);
    let width = move |text: &str, font: Font| metrics.width(text, kind(font), measures.caption);
    then(&Letters {
        size: measures.caption,
        marker: measures.marker,
        line: measures.line,
        hair: measures.hair,
        width: &width,
    })
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
    match item {
        SketchShape::Line {
            from,
            to,
            thickness,
            is_dashed,
            ink,
            class,
        } => {
            let dashes = if *is_dashed { DASHES } else { "" };
            let pen = Pen::new(ink.rgb(colours), measures.line * thickness);
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
            let pen = Pen::new(ink.rgb(colours), measures.line * thickness);
            canvas.path(points, pen.class(class));
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
            let pen = Pen::new(ink.rgb(colours), measures.line * thickness);
            canvas.outline(*area, pen, *radius);
        }
        SketchShape::Tile { area, fill } => {
            canvas.filled(*area, *fill, 0.3, 3.0);
            if !canvas.is_print {
                let edge = colours.fill(*fill).towards(colours.panel, 0.3);
                canvas.outline(*area, Pen::new(edge, measures.hair), 3.0);
            }
        }
        SketchShape::Clearing(area) => {
            if canvas.is_print {
                canvas.rect(area.expanded(1.5), colours.panel, 1.0, 1.5);
            }
        }
        SketchShape::Hatched(area) => {
            canvas.rect(*area, colours.raised, 1.0, 0.0);
            let pen = Pen::new(colours.faint, measures.hair * 0.7);
            for (from, to) in hatching(*area) {
                canvas.line(from, to, pen);
            }
        }
        SketchShape::Marker { .. } => marker(canvas, item),
        SketchShape::Text { .. } => draw_text(canvas, item),
        SketchShape::Group {
            class,
            tooltip,
            items,
        } => canvas.group(class, tooltip, |canvas| draw(canvas, items)),
    }
}

fn draw_text(canvas: &mut SvgCanvas, item: &SketchShape) {
    let SketchShape::Text {
        anchor,
        text,
        font,
        ink,
        angle,
        class,
    } = item
    else {
        return;
    };
    let mut words = canvas.caption(ink.rgb(canvas.colours)).class(class);
    words.kind = kind(*font);
    let words = words.anchored(anchor.side, anchor.height);
    canvas.turned(anchor.at, *angle, |canvas| {
        canvas.text(anchor.at, text, words);
    });
}

fn marker(canvas: &mut SvgCanvas, item: &SketchShape) {
    let SketchShape::Marker {
        at,
        shape,
        radius,
        ink,
        strength,
    } = item
    else {
        return;
    };
    if let Some(index) = shape {
        canvas.strong_marker(*at, *index, *radius, *strength);
    } else {
        let pen = Pen::new(ink.rgb(canvas.colours), canvas.measures.line * 0.75);
        canvas.circle(*at, *radius, None, Some(pen));
    }
}
