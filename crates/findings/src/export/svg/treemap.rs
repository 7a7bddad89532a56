//! Where the time went, as areas with names.

use super::canvas::{Canvas, Height, Pen, Side};
use crate::chart::area::Area;
use crate::chart::colours::Fill;
use crate::chart::layout::tiles::{self, Lines};
use crate::chart::treemap::{self, Rectangle, Region, Tile};
use crate::export::text_metrics;
use powerband_core::base::humanize;

/// In sizes of type: the height of a region's head, and from its edge to its words.
const HEAD: f64 = 1.6;
const ASIDE: f64 = 0.5;

/// Draws it.
pub(super) fn draw(canvas: &mut Canvas, regions: &[Region], area: Area) {
    let mut regions = regions.to_vec();
    let head = canvas.measures.caption * HEAD;
    treemap::lay_out(&mut regions, area.width(), area.height(), head);
    for region in &regions {
        let whole = placed(area, region.place);
        if region.head > 0.0 {
            head_of(canvas, region, whole.grown(-1.0));
        }
        for tile in &region.tiles {
            let place = placed(area, tile.place);
            if place.width() <= 2.0 || place.height() <= 2.0 {
                continue;
            }
            let (category, share) = (region.category.title(), humanize::percent(tile.share));
            let title = format!("{}, {category}: {share}", tile.name);
            canvas.group("point", &title, |canvas| {
                one(canvas, tile, region.colour, place.grown(-1.0));
            });
        }
    }
}

fn placed(area: Area, place: Rectangle) -> Area {
    let (left, top) = (area.left + place.x, area.top + place.y);
    Area::new(left, top, left + place.width, top + place.height)
}

/// The edge of a region, its name, and its share where there is room.
fn head_of(canvas: &mut Canvas, region: &Region, whole: Area) {
    let size = canvas.measures.caption;
    let edge = canvas.colours.fill(region.colour);
    canvas.outline(whole, Pen::new(edge, canvas.measures.hair), 3.0);
    let words = canvas.caption(canvas.colours.text);
    let words = words.at(Side::Start, Height::Top);
    let name = region.category.title();
    let both = format!("{name}  {}", humanize::percent(region.share));
    let room = whole.width() - 2.0 * size * ASIDE;
    let at = (whole.left + size * ASIDE, whole.top + size * 0.3);
    if canvas.width_of(&both, words) <= room {
        canvas.text(at, &both, words);
        return;
    }
    let lines = canvas.letters.broken(name, words.kind, size, room, 1);
    for line in lines.iter().take(1) {
        canvas.text(at, line, words);
    }
}

fn one(canvas: &mut Canvas, tile: &Tile, colour: Fill, inner: Area) {
    let size = canvas.measures.caption;
    canvas.filled(inner, colour, 0.3, 3.0);
    if !canvas.is_print {
        let colours = canvas.colours;
        let edge = colours.fill(colour).towards(colours.panel, 0.3);
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
