//! The legend above a chart: a marker and a name for each series, in rows, and how many more there are.

use super::canvas::{HorizontalAnchor, Pen, SvgCanvas, VerticalAnchor, dashes};
use crate::chart::area::Area;
use crate::chart::layout::labels::OmittedLabel;
use crate::chart::layout::series::HOLLOW;
use crate::chart::spec::{ChartSpec, Series, Stroke};
use crate::export::text_metrics;
use powerband_core::base::humanize;

/// Rows at most.
const ROWS: usize = 4;
/// Height of a row, in sizes of its type.
const ROW: f64 = 1.65;
/// Characters of a name at most.
const LONGEST: usize = 44;
/// And at least, however little room there is.
const SHORTEST: usize = 12;

/// The series or kinds of a legend.
#[derive(Clone, Copy)]
pub(super) struct LegendItem<'a> {
    colour: Option<usize>,
    name: &'a str,
    is_block: bool,
    is_hollow: bool,
}

/// The names of a chart's series, with the words that have no room on the chart itself.
pub(super) struct Names<'a> {
    of_series: Vec<(&'a Series, String)>,
    others: Vec<String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(spec: &'a ChartSpec, left_out: &[OmittedLabel]) -> Self {
        let series = spec.series.iter().filter(|_| is_needed(spec));
        let name = |series: &'a Series| {
            let own = left_out.iter().filter(|one| one.series == Some(series.id));
            let words = own.map(|one| one.text.as_str());
            let name: Vec<&str> = std::iter::once(series.name.as_str()).chain(words).collect();
            (series, name.join(", "))
        };
        let of_series: Vec<(&Series, String)> = series.map(name).collect();
        let has_name =
            |one: &&OmittedLabel| of_series.iter().any(|(own, _)| Some(own.id) == one.series);
        let others = left_out.iter().filter(|one| !has_name(one));
        Self {
            others: others.map(|one| one.text.clone()).collect(),
            of_series,
        }
    }

    /// The entries of the legend.
    pub(super) fn items(&self) -> Vec<LegendItem<'_>> {
        let series = self.of_series.iter().map(|(series, name)| LegendItem {
            colour: Some(series.colour),
            name,
            is_block: false,
            is_hollow: series.stroke == Stroke::Published,
        });
        let others = self.others.iter();
        series
            .chain(others.map(|text| LegendItem::shade(None, text)))
            .collect()
    }
}

impl<'a> LegendItem<'a> {
    fn marker(&self, canvas: &mut SvgCanvas, at: (f64, f64)) {
        let radius = canvas.measures.marker * 1.1;
        canvas.marker(at, self.colour.unwrap_or_default(), radius);
        if self.is_hollow {
            canvas.circle(at, radius * HOLLOW, Some(canvas.colours.panel), None);
        }
    }

    /// Something without a marker, grey where it has no colour.
    pub(super) fn shade(colour: Option<usize>, name: &'a str) -> Self {
        Self {
            colour,
            name,
            is_block: true,
            is_hollow: false,
        }
    }
}

/// An item of the legend with its position.
struct PlacedItem<'a> {
    item: LegendItem<'a>,
    name: String,
    row: usize,
    x: f64,
}

/// Entries in rows, and how many have no room.
struct Rows<'a> {
    entries: Vec<PlacedItem<'a>>,
    rows: usize,
    more: Option<(usize, f64)>,
}

/// Whether there is more than one entry. Columns are named below the axis.
fn is_needed(spec: &ChartSpec) -> bool {
    let mut strokes = spec.series.iter().map(|series| series.stroke);
    let is_of_one = spec.series.len() == 1;
    !strokes.clone().all(|stroke| stroke == Stroke::Bars)
        && (!is_of_one || strokes.any(|stroke| matches!(stroke, Stroke::Curve | Stroke::Published)))
}

/// How high a legend is.
pub(super) fn height(canvas: &SvgCanvas, items: &[LegendItem<'_>], room: f64) -> f64 {
    let rows = rows(canvas, items, room).rows;
    if rows == 0 {
        return 0.0;
    }
    rows as f64 * canvas.measures.body * ROW + canvas.measures.body * 0.5
}

fn rows<'a>(canvas: &SvgCanvas, items: &[LegendItem<'a>], room: f64) -> Rows<'a> {
    let mut placed = Rows {
        entries: Vec::new(),
        rows: 0,
        more: None,
    };
    if items.is_empty() {
        return placed;
    }
    let words = canvas.caption(canvas.colours.text);
    let size = canvas.measures.body;
    let marker = marker_width(canvas);
    let more_width = canvas.letters.width("and 99,999 more", words.kind, size);
    let (mut x, mut row) = (0.0, 0);
    let width_of = |name: &str| canvas.letters.width(name, words.kind, size);
    let names = shortened(items, (room - marker).max(size), width_of);
    for (place, (item, name)) in items.iter().zip(names).enumerate() {
        let width = marker + width_of(&name);
        let is_last = place + 1 == items.len();
        // In the last row there has to be room to say how many more there are.
        let spare = if row + 1 == ROWS && !is_last {
            more_width + size
        } else {
            0.0
        };
        if x > 0.0 && x + width + spare > room {
            if row + 1 == ROWS {
                placed.more = Some((items.len() - place, x));
                break;
            }
            row += 1;
            x = 0.0;
        }
        placed.entries.push(PlacedItem {
            item: *item,
            name,
            row,
            x,
        });
        x += width + size * 1.3;
    }
    placed.rows = row + 1;
    placed
}

/// The names of the entries, each no wider than the room, and different ones still different.
fn shortened(items: &[LegendItem<'_>], room: f64, width_of: impl Fn(&str) -> f64) -> Vec<String> {
    let clean: Vec<String> = items
        .iter()
        .map(|item| text_metrics::clean(item.name))
        .collect();
    let clean: Vec<&str> = clean.iter().map(String::as_str).collect();
    let mut letters = LONGEST;
    loop {
        let names = humanize::shorten_apart(&clean, letters);
        if letters <= SHORTEST || names.iter().all(|name| width_of(name) <= room) {
            return names;
        }
        letters -= 2;
    }
}

fn marker_width(canvas: &SvgCanvas) -> f64 {
    canvas.measures.body * if canvas.is_print { 2.6 } else { 1.25 }
}

/// Draws one at the top of an area; the answer is what is left below.
pub(super) fn draw(canvas: &mut SvgCanvas, items: &[LegendItem<'_>], area: Area) -> Area {
    let placed = rows(canvas, items, area.width());
    let size = canvas.measures.body;
    let marker = marker_width(canvas);
    let mut words = canvas.caption(canvas.colours.text);
    words.size = size;
    let words = words
        .anchored(HorizontalAnchor::Start, VerticalAnchor::Middle)
        .class("legend");
    for entry in &placed.entries {
        let y = area.top + (entry.row as f64 + 0.5) * size * ROW;
        let x = area.left + entry.x;
        let index = entry.item.colour;
        canvas.group("", entry.item.name, |canvas| {
            let colours = canvas.colours;
            let colour = index.map_or(colours.faint, |index| colours.series(index));
            let long = marker - size * 0.4;
            if entry.item.is_block {
                let block = Area::new(x, y - size * 0.22, x + long, y + size * 0.22);
                canvas.rect(block, colour, 1.0, 1.5);
            } else if canvas.is_print {
                let pen = Pen::new(colour, canvas.measures.line);
                let pen = pen.dashed(dashes(canvas, index.unwrap_or_default()));
                canvas.line((x, y), (x + long, y), pen);
                entry.item.marker(canvas, (x + long / 2.0, y));
            } else {
                entry.item.marker(canvas, (x + size * 0.45, y));
            }
            canvas.text((x + marker, y), &entry.name, words);
        });
    }
    if let Some((more, x)) = placed.more {
        let y = area.top + (ROWS as f64 - 0.5) * size * ROW;
        let text = format!("and {} more", humanize::count(more as u64));
        let mut words = words;
        words.colour = canvas.colours.quiet;
        canvas.text((area.left + x, y), &text, words);
    }
    below(canvas, items, area)
}

/// What is left of an area below a legend.
pub(super) fn below(canvas: &SvgCanvas, items: &[LegendItem<'_>], area: Area) -> Area {
    Area {
        top: area.top + height(canvas, items, area.width()),
        ..area
    }
}
