//! Where the time went, as areas with names.

use super::canvas::{Canvas, Height, Pen, Side};
use crate::chart::area::Area;
use crate::chart::breakdown::{self, Tile};
use crate::chart::layout::tiles::{self, Lines};
use crate::export::text_metrics;
use powerband_core::base::humanize;

/// Draws it.
pub(super) fn draw(canvas: &mut Canvas, tiles: &[Tile], area: Area) {
    let mut tiles = tiles.to_vec();
    breakdown::lay_out(&mut tiles, area.width(), area.height());
    for tile in &tiles {
        let (left, top) = (area.left + tile.place.x, area.top + tile.place.y);
        let whole = Area::new(left, top, left + tile.place.width, top + tile.place.height);
        if whole.width() <= 2.0 || whole.height() <= 2.0 {
            continue;
        }
        let title = format!("{}: {}", tile.name, humanize::percent(tile.share));
        canvas.group("point", &title, |canvas| {
            one(canvas, tile, whole.grown(-1.0));
        });
    }
}

fn one(canvas: &mut Canvas, tile: &Tile, inner: Area) {
    let size = canvas.measures.caption;
    canvas.filled(inner, tile.colour, 0.3, 3.0);
    if !canvas.is_print {
        let colours = canvas.colours;
        let edge = colours.fill(tile.colour).towards(colours.panel, 0.3);
        canvas.outline(inner, Pen::new(edge, canvas.measures.hair), 3.0);
    }
    let Some(Lines {
        room,
        line,
        of_name,
        has_share,
    }) = tiles::lines(inner, size)
    else {
        return;
    };
    let words = canvas.caption(canvas.colours.text);
    let clean = text_metrics::clean(&tile.name);
    let lines = canvas
        .letters
        .broken(&clean, words.kind, size, room.width(), of_name);
    let words = words.at(Side::Start, Height::Top);
    let numbers = canvas.figures(canvas.colours.quiet);
    let numbers = numbers.at(Side::Start, Height::Top);
    let share = humanize::percent(tile.share);
    let has_share = has_share && canvas.width_of(&share, numbers) <= room.width();
    let rows = lines.len() + usize::from(has_share);
    if canvas.is_print {
        // Words on hatching need a ground.
        let widest = lines.iter().map(|line| canvas.width_of(line, words));
        let share = if has_share {
            canvas.width_of(&share, numbers)
        } else {
            0.0
        };
        let width = widest.fold(share, f64::max);
        let ground = Area::new(
            room.left,
            room.top,
            room.left + width,
            room.top + rows as f64 * line,
        );
        canvas.rect(ground.grown(1.5), canvas.colours.panel, 1.0, 1.5);
    }
    let mut y = room.top;
    for text in &lines {
        canvas.text((room.left, y), text, words);
        y += line;
    }
    if has_share {
        canvas.text((room.left, y), &share, numbers);
    }
}
