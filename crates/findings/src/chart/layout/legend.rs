//! The legend above an exported figure as shapes: a marker and a name for each series, in rows, and how many more
//! there are.

use super::labels::OmittedLabel;
use super::series::HOLLOW;
use super::{Anchor, Font, HorizontalAnchor, Letters, VerticalAnchor};
use crate::chart::area::{Area, Position};
use crate::chart::palette;
use crate::chart::sketch::{Ink, SketchShape};
use crate::chart::spec::{ChartSpec, Series, SeriesId, Stroke};
use powerband_core::base::humanize;

/// Rows at most.
const ROWS: usize = 4;
/// Height of a row, in sizes of its type.
const ROW: f64 = 1.65;
/// Characters of a name at most.
const LONGEST: usize = 44;
/// And at least, however little room there is.
const SHORTEST: usize = 12;

/// What stands before a name.
#[derive(Clone, Copy)]
enum Sample {
    /// The marker of a palette index, open where its series was published.
    Marker { index: usize, is_hollow: bool },
    /// A block, grey without a colour.
    Block(Option<usize>),
}

/// An entry of a legend.
pub(crate) struct LegendItem {
    sample: Sample,
    name: String,
    /// The series that it names.
    series: Option<SeriesId>,
}

impl LegendItem {
    /// Something without a marker, grey where it has no colour.
    pub(crate) fn shade(colour: Option<usize>, name: &str) -> Self {
        Self {
            sample: Sample::Block(colour),
            name: name.to_owned(),
            series: None,
        }
    }

    /// The series of a chart, with the words that have no room on the chart itself.
    pub(crate) fn of_chart(spec: &ChartSpec, left_out: &[OmittedLabel]) -> Vec<Self> {
        let series: &[Series] = if is_needed(spec) { &spec.series } else { &[] };
        let is_of = |one: &OmittedLabel, series: &Series| one.series == Some(series.id);
        let entry = |series: &Series| {
            let own = left_out.iter().filter(|one| is_of(one, series));
            let words = own.map(|one| one.text.as_str());
            let name: Vec<&str> = std::iter::once(series.name.as_str()).chain(words).collect();
            Self {
                sample: Sample::Marker {
                    index: series.colour,
                    is_hollow: series.stroke == Stroke::Published,
                },
                name: name.join(", "),
                series: Some(series.id),
            }
        };
        let others = left_out
            .iter()
            .filter(|one| !series.iter().any(|series| is_of(one, series)));
        let others = others.map(|one| Self::shade(None, &one.text));
        series.iter().map(entry).chain(others).collect()
    }
}

/// The place of an entry.
struct PlacedItem {
    /// Its name, shortened.
    name: String,
    row: usize,
    x: f64,
}

/// Entries in rows, and how many have no room.
#[derive(Default)]
struct Rows {
    entries: Vec<PlacedItem>,
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
pub(crate) fn height(items: &[LegendItem], room: f64, letters: &Letters<'_>) -> f64 {
    match rows(items, room, letters.sized(letters.body)).rows {
        0 => 0.0,
        rows => rows as f64 * letters.body * ROW + letters.body * 0.5,
    }
}

fn rows(items: &[LegendItem], room: f64, letters: Letters<'_>) -> Rows {
    let mut placed = Rows::default();
    if items.is_empty() {
        return placed;
    }
    let size = letters.size;
    let marker = marker_width(letters);
    let width_of = |name: &str| letters.width(name, Font::Words);
    let more_width = width_of("and 99,999 more");
    let (mut x, mut row) = (0.0, 0);
    let names = shortened(items, (room - marker).max(size), width_of);
    for (place, name) in names.into_iter().enumerate() {
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
        placed.entries.push(PlacedItem { name, row, x });
        x += width + size * 1.3;
    }
    placed.rows = row + 1;
    placed
}

/// The names of the entries, each no wider than the room, and different ones still different.
fn shortened(items: &[LegendItem], room: f64, width_of: impl Fn(&str) -> f64) -> Vec<String> {
    let whole: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
    let mut letters = LONGEST;
    loop {
        let names = humanize::shorten_apart(&whole, letters);
        if letters <= SHORTEST || names.iter().all(|name| width_of(name) <= room) {
            return names;
        }
        letters -= 2;
    }
}

fn marker_width(letters: Letters<'_>) -> f64 {
    letters.size * if letters.is_print { 2.6 } else { 1.25 }
}

/// The shapes of a legend at the top of an area, and what is left below.
pub(crate) fn lay_out(
    items: &[LegendItem],
    area: Area,
    letters: &Letters<'_>,
) -> (Vec<SketchShape>, Area) {
    let body = letters.sized(letters.body);
    let placed = rows(items, area.width(), body);
    let marker = marker_width(body);
    let middle = |row: usize| area.top + (row as f64 + 0.5) * body.size * ROW;
    let text = |x: f64, row: usize, text: &str, ink| {
        let at = (area.left + x, middle(row));
        let at = Anchor::new(at, HorizontalAnchor::Start, VerticalAnchor::Middle);
        body.text(at, text, Font::Words, ink).class("legend")
    };
    let entries = items.iter().zip(&placed.entries).map(|(item, entry)| {
        let at = (area.left + entry.x, middle(entry.row));
        let mut shapes = sample(item.sample, at, body);
        shapes.push(text(entry.x + marker, entry.row, &entry.name, Ink::Text));
        let entry = SketchShape::group("", &item.name, shapes);
        match item.series {
            Some(series) => entry.class("entry").of_series(series),
            None => entry,
        }
    });
    let mut shapes: Vec<SketchShape> = entries.collect();
    if let Some((more, x)) = placed.more {
        let more = format!("and {} more", humanize::count(more as u64));
        shapes.push(text(x, ROWS - 1, &more, Ink::Quiet));
    }
    (shapes, below(items, area, letters))
}

fn sample(sample: Sample, (x, y): Position, letters: Letters<'_>) -> Vec<SketchShape> {
    let size = letters.size;
    let long = marker_width(letters) - size * 0.4;
    let (index, is_hollow) = match sample {
        Sample::Marker { index, is_hollow } => (index, is_hollow),
        Sample::Block(colour) => {
            return vec![SketchShape::Ground {
                area: Area::new(x, y - size * 0.22, x + long, y + size * 0.22),
                ink: colour.map_or(Ink::Faint, Ink::Series),
                strength: 1.0,
                radius: 1.5,
            }];
        }
    };
    let (radius, ink) = (letters.marker * 1.1, Ink::Series(index));
    let mut at = (x + size * 0.45, y);
    let mut shapes = Vec::new();
    if letters.is_print {
        let line = SketchShape::line(((x, y), (x + long, y)), 1.0, ink);
        shapes.push(line.dashed(palette::dashes(index, true)));
        at.0 = x + long / 2.0;
    }
    shapes.push(SketchShape::Marker {
        at,
        shape: index,
        radius,
        ink,
        strength: 1.0,
    });
    if is_hollow {
        shapes.push(SketchShape::Dot {
            at,
            radius: radius * HOLLOW,
            ink: Ink::Panel,
        });
    }
    shapes
}

/// What is left of an area below a legend.
pub(crate) fn below(items: &[LegendItem], area: Area, letters: &Letters<'_>) -> Area {
    Area {
        top: area.top + height(items, area.width(), letters),
        ..area
    }
}
