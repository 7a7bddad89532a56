//! A heat map: its legend, and a field of cells for each setup.

use super::canvas::{Canvas, Height, Pen, Side};
use crate::chart::area::Area;
use crate::chart::colours::Rgb;
use crate::chart::heat_map::{Cell, Content, HeatMap, Panel, Scale, colours};
use crate::chart::layout::Font;
use crate::chart::layout::cell_words::{self, Written};
use crate::chart::layout::cells::{self, Field, Item, Letters, MARKS, NO_VALUE};
use crate::export::text_metrics::Type;

/// Pieces of the bar in the legend.
const PIECES: usize = 64;
/// Between cells.
const GAP: f64 = 0.5;
/// Width of the line of the limit, in widths of other lines.
const LIMIT: f64 = 1.1;

/// The height that suits it.
pub(super) fn height(canvas: &Canvas, map: &HeatMap, room: f64) -> f64 {
    with_letters(canvas, |letters| cells::height(map, room, letters))
}

fn with_letters<T>(canvas: &Canvas, then: impl FnOnce(&Letters<'_>) -> T) -> T {
    let size = canvas.measures.caption;
    let metrics = std::rc::Rc::clone(&canvas.letters);
    let width = move |text: &str, font: Font| {
        let kind = match font {
            Font::Words => Type::Words,
            Font::Numbers => Type::Numbers,
        };
        metrics.width(text, kind, size)
    };
    then(&Letters {
        size,
        width: &width,
    })
}

/// Draws it.
pub(super) fn draw(canvas: &mut Canvas, map: &HeatMap, area: Area) {
    let places = with_letters(canvas, |letters| cells::lay_out(map, area, letters));
    for item in &places.legend {
        legend(canvas, &map.scale, item);
    }
    for (panel, field) in map.panels.iter().zip(&places.fields) {
        one(canvas, map, panel, field);
    }
}

fn legend(canvas: &mut Canvas, scale: &Scale, item: &Item) {
    let colours = canvas.colours;
    let quiet = canvas.caption(colours.quiet);
    match item {
        Item::Bar { words, bar, labels } => {
            canvas.text(*words, &scale.title, quiet);
            let step = bar.width() / PIECES as f64;
            for piece in 0..PIECES {
                let share = (piece as f64 + 0.5) / PIECES as f64;
                let left = bar.left + piece as f64 * step;
                // A little over its neighbour, so that no seam shines through.
                let right = (left + step + 0.4).min(bar.right);
                let colour = colours::of_share(colours, scale.kind, share);
                canvas.rect(
                    Area::new(left, bar.top, right, bar.bottom),
                    colour,
                    1.0,
                    0.0,
                );
            }
            let numbers = canvas
                .figures(colours.quiet)
                .at(Side::Middle, Height::Middle);
            for (at, text) in labels {
                canvas.text(*at, text, numbers.class("scale"));
            }
        }
        Item::Sample {
            share,
            sample,
            text,
            words,
        } => {
            let colour = colours::of_share(colours, scale.kind, *share);
            canvas.rect(*sample, colour, 1.0, 1.5);
            canvas.text(*words, text, quiet);
        }
        Item::Limit { line, text, words } => {
            let pen = Pen::new(colours.accent, canvas.measures.line * LIMIT);
            canvas.line(line.0, line.1, pen);
            canvas.text(*words, text, quiet);
        }
        Item::Missing { sample, words } => {
            hatched(canvas, *sample);
            canvas.text(*words, NO_VALUE, quiet);
        }
        Item::Marks { words } => canvas.text(*words, MARKS, quiet),
    }
}

fn hatched(canvas: &mut Canvas, area: Area) {
    let colours = canvas.colours;
    canvas.rect(area, colours.raised, 1.0, 0.0);
    let pen = Pen::new(colours.faint, canvas.measures.hair * 0.7);
    for (from, to) in cell_words::hatching(area) {
        canvas.line(from, to, pen);
    }
}

fn one(canvas: &mut Canvas, map: &HeatMap, panel: &Panel, field: &Field) {
    let colours = canvas.colours;
    let size = canvas.measures.caption;
    if !panel.name.is_empty() {
        let (left, y) = field.name;
        let mut from = left;
        if let Some(colour) = panel.colour {
            canvas.marker((left + size * 0.5, y), colour, canvas.measures.marker);
            from += size * 1.4;
        }
        let words = canvas.caption(colours.text);
        let room = field.cells.right - from;
        let short = canvas.cut(&panel.name, words, room);
        canvas.group("", &panel.name, |canvas| {
            canvas.text((from, y), &short, words);
        });
    }
    let faint = canvas.caption(colours.faint);
    canvas.text(field.y_title, &map.y.name, faint);
    let end = faint.at(Side::End, Height::Middle);
    canvas.text(field.x_title, &map.x.name, end);
    let (below, beside) = with_letters(canvas, |letters| {
        (
            field.x_labels(&map.x, letters),
            field.y_labels(&map.y, letters),
        )
    });
    let numbers = canvas.figures(colours.quiet);
    for (at, text) in below {
        let middle = numbers.at(Side::Middle, Height::Middle);
        canvas.text(at, &text, middle.class("x-tick"));
    }
    for (at, text) in beside {
        let end = numbers.at(Side::End, Height::Middle);
        canvas.text(at, &text, end.class("y-tick"));
    }
    let columns = map.x.sizes.len().max(1);
    for (number, cell) in panel.cells.iter().enumerate() {
        let place = (number % columns, number / columns);
        let title = format!("{}, {}", panel.name, map.words(panel, place));
        if cell.content != Content::Outside {
            canvas.group("cell", &title, |canvas| {
                self::cell(canvas, &map.scale, cell, field.cell(place));
            });
        }
    }
    iso_line(canvas, map, panel, field);
}

fn cell(canvas: &mut Canvas, scale: &Scale, cell: &Cell, whole: Area) {
    let area = whole.grown(-GAP);
    let (ink, ground) = if let Content::Value(value) = cell.content {
        let ground = colours::of_value(canvas.colours, scale, value);
        canvas.rect(area, ground, 1.0, 0.0);
        (colours::ink(ground), None)
    } else {
        hatched(canvas, area);
        (canvas.colours.quiet, Some(canvas.colours.raised))
    };
    if cell.is_pinned {
        let pen = Pen::new(ink, canvas.measures.line);
        canvas.outline(area.grown(-canvas.measures.line), pen, 0.0);
    }
    let written = with_letters(canvas, |letters| {
        cell_words::words_in(cell, scale, area, letters)
    });
    for words in written {
        put(canvas, &words, ink, ground);
    }
}

/// Words in a cell; on hatching they need a ground.
fn put(canvas: &mut Canvas, words: &Written, ink: Rgb, ground: Option<Rgb>) {
    let style = match words.font {
        Font::Words => canvas.caption(ink),
        Font::Numbers => canvas.figures(ink),
    };
    if let Some(ground) = ground {
        let (x, y) = words.at;
        let half = canvas.width_of(&words.text, style) / 2.0 + 2.0;
        let high = style.size * 0.65;
        canvas.rect(
            Area::new(x - half, y - high, x + half, y + high),
            ground,
            1.0,
            0.0,
        );
    }
    let style = style.at(Side::Middle, Height::Middle).class("value");
    canvas.text(words.at, &words.text, style);
}

/// The line of the limit, on a ground that sets it apart from every colour below it.
fn iso_line(canvas: &mut Canvas, map: &HeatMap, panel: &Panel, field: &Field) {
    let width = canvas.measures.line * LIMIT;
    let pens = [
        Pen::new(canvas.colours.panel, width * 2.2),
        Pen::new(canvas.colours.accent, width).class("limit"),
    ];
    let edges = map.iso_line(panel);
    for pen in pens {
        for (from, to) in &edges {
            canvas.line(field.corner(*from), field.corner(*to), pen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::verdict::Call;
    use crate::chart::figure::Drawing;
    use crate::chart::heat_map::Side;
    use crate::export::style::{Preset, Style, Theme};
    use crate::export::{figure_data, svg, tree};
    use powerband_core::domain::point::Point;

    /// Latency of two setups over batch and sequence, with a limit; the last point of the second does not fit.
    fn latencies() -> HeatMap {
        let (batches, lengths) = ([1, 2, 4, 8, 16], [32, 128, 512, 2_048]);
        let limit = 40.0;
        let panel = |setup: usize| {
            let cell = |batch: usize, length: usize| {
                let ms = (0.8 + 0.004 * (batch * length) as f64) * (1.0 + setup as f64 * 0.6);
                if setup == 1 && batch * length > 20_000 {
                    return Cell::missing("out of memory", "out of memory: 9 GiB were wanted");
                }
                Cell {
                    content: Content::Value(ms),
                    is_within: Some(ms <= limit),
                    is_pinned: setup == 0 && batch == 2 && length == 128,
                    ..Cell::default()
                }
            };
            let rows = lengths.into_iter();
            Panel {
                name: ["ort:cpu", "tract:cpu, 4 threads"][setup].to_owned(),
                colour: Some(setup),
                tag: setup as u64,
                cells: rows
                    .flat_map(|length| batches.map(|batch| cell(batch, length)))
                    .collect(),
            }
        };
        let panels = vec![panel(0), panel(1)];
        let values = panels.iter().flat_map(|panel| &panel.cells);
        HeatMap {
            title: "Latency".to_owned(),
            x: Side {
                name: "batch".to_owned(),
                sizes: batches.to_vec(),
            },
            y: Side {
                name: "sequence".to_owned(),
                sizes: lengths.to_vec(),
            },
            fixed: "past 0".to_owned(),
            at: Some(Point::new([("batch", 1), ("past", 0), ("sequence", 32)])),
            scale: Scale::of("ms per batch", values.filter_map(Cell::value)),
            limit: Some(format!("limit {limit:.1} ms")),
            panels,
        }
    }

    fn ratios() -> HeatMap {
        let mut map = latencies();
        map.title = "Speed-up".to_owned();
        map.limit = None;
        map.panels.truncate(1);
        let panel = &mut map.panels[0];
        (panel.name, panel.colour) = (String::new(), None);
        for (place, cell) in panel.cells.iter_mut().enumerate() {
            let (ratio, call) = match place % 4 {
                0 => (1.8 - 0.02 * place as f64, Call::Faster),
                1 => (1.002, Call::Same),
                2 => (0.7 - 0.01 * place as f64, Call::Slower),
                _ => (1.04, Call::Inconclusive),
            };
            *cell = Cell {
                content: Content::Value(ratio),
                call: Some(call),
                ..Cell::default()
            };
        }
        let values: Vec<f64> = map.panels[0].cells.iter().filter_map(Cell::value).collect();
        map.scale = Scale::of_ratios("times as fast", values);
        map
    }

    fn written(map: HeatMap, style: &Style) -> String {
        svg::write(&Drawing::HeatMap(Box::new(map)), style)
    }

    #[test]
    fn every_cell_is_a_cell_with_its_words() {
        let svg = written(latencies(), &Style::default());
        assert_eq!(svg.matches("<g class=\"cell\">").count(), 40);
        assert!(
            svg.contains("tract:cpu, 4 threads, batch 16, sequence 2,048: out of memory: 9 GiB")
        );
        assert!(svg.contains("batch 1, sequence 32: 0.928 ms per batch, within the limit 40.0 ms"));
        assert!(svg.contains(">0.928</text>"));
        assert_eq!(svg.matches("class=\"scale\"").count(), 5);
        assert!(svg.contains("class=\"limit\"") && svg.contains(">no value</text>"));
        let print = written(ratios(), &Style::new(Preset::Column, Theme::Light));
        assert!(print.contains(">▲</text>") && print.contains(">1.00 ×</text>"));
    }

    #[test]
    fn it_is_a_picture_in_every_look_and_size() {
        for map in [latencies(), ratios(), HeatMap::default()] {
            for preset in Preset::ALL {
                for style in [
                    Style::new(preset, Theme::Dark),
                    Style::new(preset, Theme::Light).sized(1.0, 1.0),
                    Style::new(preset, Theme::Light).sized(300.0, 4_000.0),
                ] {
                    let svg = written(map.clone(), &style);
                    assert!(!svg.contains("NaN") && !svg.contains("inf"));
                    tree::rgba(&svg, 1.0).unwrap();
                }
            }
        }
    }

    #[test]
    fn its_numbers_are_a_table_with_a_column_for_each_dimension() {
        let drawing = Drawing::HeatMap(Box::new(latencies()));
        let table = figure_data::table(&drawing);
        let head = "setup,batch,sequence,past,ms per batch,verdict,within_limit,note";
        let csv = table.to_csv();
        assert_eq!(csv.lines().next(), Some(head));
        assert_eq!(csv.lines().nth(1), Some("ort:cpu,1,32,0,0.928,,yes,"));
        assert!(
            csv.ends_with(
                "\"tract:cpu, 4 threads\",16,2048,0,,,,out of memory: 9 GiB were wanted\n"
            )
        );
        let document = figure_data::document(&drawing, "");
        assert_eq!(
            document["rows"][39]["note"],
            "out of memory: 9 GiB were wanted"
        );
        assert_eq!(document["limit"], "limit 40.0 ms");
    }
}
