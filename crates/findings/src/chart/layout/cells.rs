//! Where the parts of a heat map stand: its legend above, and below it a field of cells for each setup.

use super::{Anchor, Font, HorizontalAnchor as End, Letters, VerticalAnchor, ticks};
use crate::chart::area::{Area, Position};
use crate::chart::heat_map::{CellIndex, HeatMap, MapAxis, ScaleKind};
use crate::chart::sketch::{Ink, SketchShape};

/// Height of a line of words, in sizes of type.
const LINE: f64 = 1.5;
/// Length of the bar with the colours, in sizes of type, and its height.
const BAR: (f64, f64) = (20.0, 0.95);
/// Between the parts of the legend.
const ASIDE: f64 = 2.0;
/// Between a sample in the legend and its words.
const TO_WORDS: f64 = 0.6;
/// Pieces of that bar, and how far each reaches over its neighbour, so that no seam shines through.
const PIECES: u32 = 64;
const OVER: f64 = 0.4;
/// Width of a sample in the legend.
const SAMPLE: f64 = 1.8;
/// The line of the limit, in widths of a line.
pub(super) const LIMIT: f64 = 1.1;
/// Between the legend and the fields, and between fields.
const BETWEEN: f64 = 1.2;
/// Room of a cell that holds a number.
const ROOMY: f64 = 5.2;
/// With so many columns, cells of several fields beside each other need no room for numbers.
const MANY: usize = 8;
/// Least width of a cell where there are that many.
const NARROW: f64 = 1.5;
/// Most width of a cell.
const WIDEST: f64 = 14.0;
/// Height of a cell as a share of its width, and the least and the most of it in sizes of type.
const SHAPE: (f64, f64, f64) = (0.55, 1.5, 3.2);

/// The words beside the hatching.
const NO_VALUE: &str = "no value";
/// The words about the marks of verdicts.
const MARKS: &str = "▲ faster, ▼ slower, = same, ? inconclusive";
/// What the two colours of the limit mean.
const WITHIN: [&str; 2] = ["within the limit", "beyond it"];

/// The cells of a panel, and what stands around them.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelLayout {
    /// Left edge and middle height of its name.
    pub name: Position,
    /// Left edge and middle height of what the side `y` is called.
    pub y_title: Position,
    /// Right edge and middle height of what the side `x` is called.
    pub x_title: Position,
    /// All of its cells.
    pub cells: Area,
    columns: usize,
    rows: usize,
    label_room: f64,
    line: f64,
}

/// The label of a column or a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// Of a column, by its place.
    Column(usize),
    /// Of a row, counted from the bottom.
    Row(usize),
}

/// A legend and its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMapLayout {
    pub legend: Vec<SketchShape>,
    /// A field for each panel.
    pub fields: Vec<PanelLayout>,
}

/// How fields stand beside and below each other.
struct Grid {
    across: usize,
    down: usize,
    cell: f64,
    field: f64,
    labels: f64,
}

/// The height that suits a map of a width.
pub fn height(map: &HeatMap, width: f64, letters: &Letters<'_>) -> f64 {
    let (_, legend) = legend(map, (0.0, 0.0), width, letters);
    let grid = grid(map, width, letters);
    let (share, least, most) = SHAPE;
    let cell = (grid.cell * share).clamp(least * letters.size, most * letters.size);
    let field = cell * map.y.sizes.len() as f64 + height_around_cells(map, letters);
    let between = BETWEEN * letters.size;
    legend + grid.down as f64 * (field + between)
}

/// Puts everything into an area.
pub fn lay_out(map: &HeatMap, area: Area, letters: &Letters<'_>) -> HeatMapLayout {
    let (items, below) = legend(map, (area.left, area.top), area.width(), letters);
    let grid = grid(map, area.width(), letters);
    let (columns, rows) = (map.x.sizes.len(), map.y.sizes.len());
    let between = BETWEEN * letters.size;
    let line = LINE * letters.size;
    let share = (area.height() - below) / grid.down.max(1) as f64;
    let cells_height = (share - between - height_around_cells(map, letters)).max(1.0);
    let field = |place: usize| {
        let (across, down) = (place % grid.across, place / grid.across);
        let left = area.left + across as f64 * (grid.field + between);
        let top = area.top + below + between + down as f64 * share;
        let named = if has_names(map) { line } else { 0.0 };
        let cells = Area::new(
            left + grid.labels,
            top + named + line,
            left + grid.labels + grid.cell * columns as f64,
            top + named + line + cells_height,
        );
        PanelLayout {
            name: (left, top + line / 2.0),
            y_title: (left, top + named + line / 2.0),
            x_title: (cells.right, cells.bottom + 1.5 * line),
            cells,
            columns,
            rows,
            label_room: grid.labels,
            line,
        }
    };
    HeatMapLayout {
        legend: items,
        fields: (0..map.panels.len()).map(field).collect(),
    }
}

/// Whether each field says whose it is.
fn has_names(map: &HeatMap) -> bool {
    map.panels.iter().any(|panel| !panel.name.is_empty())
}

/// What a field has above and below its cells.
fn height_around_cells(map: &HeatMap, letters: &Letters<'_>) -> f64 {
    let lines = if has_names(map) { 4.0 } else { 3.0 };
    lines * LINE * letters.size
}

fn grid(map: &HeatMap, width: f64, letters: &Letters<'_>) -> Grid {
    let (columns, panels) = (map.x.sizes.len().max(1), map.panels.len().max(1));
    let label = |size: &usize| letters.width(&size_text(*size), Font::Numbers);
    let labels = map.y.sizes.iter().map(label).fold(0.0, f64::max);
    let labels = labels + 0.7 * letters.size;
    let least = if columns > MANY { NARROW } else { ROOMY };
    let least = labels + columns as f64 * least * letters.size;
    let between = BETWEEN * letters.size;
    let across = ((width + between) / (least + between)) as usize;
    let across = across.clamp(1, panels);
    let field = (width - (across - 1) as f64 * between) / across as f64;
    let cell = (field - labels) / columns as f64;
    Grid {
        across,
        down: panels.div_ceil(across),
        cell: cell.clamp(1.0, WIDEST * letters.size),
        field,
        labels,
    }
}

/// A size as it stands at a side.
pub fn size_text(size: usize) -> String {
    powerband_core::base::humanize::count(size as u64)
}

/// The legend, from left to right and in as many rows as that needs, and how high it is.
fn legend(
    map: &HeatMap,
    (left, top): Position,
    width: f64,
    letters: &Letters<'_>,
) -> (Vec<SketchShape>, f64) {
    let size = letters.size;
    let row = 2.0 * LINE * size;
    let (mut x, mut y) = (left, top + LINE * size / 2.0);
    let mut items = Vec::new();
    // Where the next part begins that is so wide.
    let mut next = |wide: f64| {
        if x > left && x + wide > left + width {
            (x, y) = (left, y + row);
        }
        let at = (x, y);
        x += wide + ASIDE * size;
        at
    };
    let words = |text: &str| letters.width(text, Font::Words);
    let to_words = (SAMPLE + TO_WORDS) * size;
    let sample = |(x, y): Position| {
        let half = BAR.1 * size / 2.0;
        Area::new(x, y - half, x + SAMPLE * size, y + half)
    };
    let ground = |area, share, radius| SketchShape::Ground {
        area,
        ink: Ink::Scale(map.scale.kind, share),
        strength: 1.0,
        radius,
    };
    let beside = |(x, y): Position, aside: f64, text: &str| {
        let anchor = Anchor::new((x + aside, y), End::Start, VerticalAnchor::Middle);
        letters.text(anchor, text, Font::Words, Ink::Quiet)
    };
    if map.scale.kind == ScaleKind::Limit {
        for (share, text) in [(0.0, WITHIN[0]), (1.0, WITHIN[1])] {
            let at = next(to_words + words(text));
            items.push(ground(sample(at), share, 1.5));
            items.push(beside(at, to_words, text));
        }
    } else {
        let title = words(&map.scale.title) + TO_WORDS * size;
        let at = next(title + BAR.0 * size);
        let half = BAR.1 * size / 2.0;
        let from = at.0 + title;
        let bar = Area::new(from, at.1 - half, from + BAR.0 * size, at.1 + half);
        items.push(beside(at, 0.0, &map.scale.title));
        let step = bar.width() / f64::from(PIECES);
        items.extend((0..PIECES).map(f64::from).map(|piece| {
            let left = bar.left + piece * step;
            let right = (left + step + OVER).min(bar.right);
            let share = (piece + 0.5) / f64::from(PIECES);
            ground(Area::new(left, bar.top, right, bar.bottom), share, 0.0)
        }));
        let below = bar.bottom + LINE * size / 2.0;
        items.extend(map.scale.ticks().into_iter().map(|(share, text)| {
            let at = (bar.left + share * bar.width(), below);
            let anchor = Anchor::new(at, End::Middle, VerticalAnchor::Middle);
            letters
                .text(anchor, text, Font::Numbers, Ink::Quiet)
                .class("scale")
        }));
    }
    if let Some(limit) = &map.limit {
        let at = next(to_words + words(limit));
        let ends = (at, (at.0 + SAMPLE * size, at.1));
        items.push(SketchShape::line(ends, LIMIT, Ink::Accent));
        items.push(beside(at, to_words, limit));
    }
    if map.scale.kind == ScaleKind::Ratio {
        let at = next(words(MARKS));
        items.push(beside(at, 0.0, MARKS));
    }
    if map.has_missing() {
        let at = next(to_words + words(NO_VALUE));
        items.push(SketchShape::Hatched(sample(at)));
        items.push(beside(at, to_words, NO_VALUE));
    }
    let height = y - top + 2.0 * size;
    (items, height)
}

impl PanelLayout {
    /// Where a cell is.
    pub fn cell(&self, (column, row): CellIndex) -> Area {
        let (wide, high) = self.step();
        let left = self.cells.left + column as f64 * wide;
        let bottom = self.cells.bottom - row as f64 * high;
        Area::new(left, bottom - high, left + wide, bottom)
    }

    fn step(&self) -> (f64, f64) {
        let (columns, rows) = (self.columns.max(1), self.rows.max(1));
        (
            self.cells.width() / columns as f64,
            self.cells.height() / rows as f64,
        )
    }

    /// Where a corner of cells is, counted from the lower left one.
    pub fn corner(&self, (column, row): (usize, usize)) -> Position {
        let (wide, high) = self.step();
        (
            self.cells.left + column as f64 * wide,
            self.cells.bottom - row as f64 * high,
        )
    }

    /// The cell at a place.
    pub fn cell_at(&self, at: Position) -> Option<CellIndex> {
        let (x, y) = at;
        let (wide, high) = self.step();
        if !self.cells.contains(at) || wide <= 0.0 || high <= 0.0 {
            return None;
        }
        let column = ((x - self.cells.left) / wide) as usize;
        let row = ((self.cells.bottom - y) / high) as usize;
        (self.columns > 0 && self.rows > 0)
            .then(|| (column.min(self.columns - 1), row.min(self.rows - 1)))
    }

    /// The labels of the columns.
    fn column_heads(&self) -> Area {
        let cells = self.cells;
        Area::new(
            cells.left,
            cells.bottom,
            cells.right,
            cells.bottom + self.line,
        )
    }

    /// The labels of the rows.
    fn row_heads(&self) -> Area {
        let cells = self.cells;
        Area::new(
            cells.left - self.label_room,
            cells.top,
            cells.left,
            cells.bottom,
        )
    }

    /// The column whose label is at a place.
    fn column_at(&self, at: Position) -> Option<usize> {
        let heads = self.column_heads();
        let (x, y) = at;
        let inside = self.cells.bottom - 1e-6;
        let is_label = heads.contains(at) && y >= self.cells.bottom;
        is_label
            .then(|| self.cell_at((x, inside)))?
            .map(|place| place.0)
    }

    /// The row whose label is at a place.
    fn row_at(&self, at: Position) -> Option<usize> {
        let heads = self.row_heads();
        let (x, y) = at;
        let inside = self.cells.left + 1e-6;
        let is_label = heads.contains(at) && x < self.cells.left;
        is_label
            .then(|| self.cell_at((inside, y)))?
            .map(|place| place.1)
    }

    /// The label of a column or a row at a place.
    pub fn head_at(&self, at: Position) -> Option<Head> {
        let column = self.column_at(at).map(Head::Column);
        column.or_else(|| self.row_at(at).map(Head::Row))
    }

    /// Where the label of a column or a row stands.
    pub fn header_anchor(&self, head: Head, letters: &Letters<'_>) -> Anchor {
        let (at, side) = match head {
            Head::Column(column) => {
                let cell = self.cell((column, 0));
                let middle = f64::midpoint(cell.left, cell.right);
                ((middle, self.cells.bottom + self.line / 2.0), End::Middle)
            }
            Head::Row(row) => {
                let cell = self.cell((0, row));
                let middle = f64::midpoint(cell.top, cell.bottom);
                ((self.cells.left - 0.6 * letters.size, middle), End::End)
            }
        };
        Anchor::new(at, side, VerticalAnchor::Middle)
    }

    /// The cells with the labels beside and below them.
    pub fn area_with_headers(&self) -> Area {
        let (beside, below) = (self.row_heads(), self.column_heads());
        Area::new(beside.left, beside.top, below.right, below.bottom)
    }

    /// The labels of the columns that have room, by their middle.
    pub fn x_labels(&self, side: &MapAxis, letters: &Letters<'_>) -> Vec<(Position, String)> {
        let texts: Vec<String> = side.sizes.iter().map(|size| size_text(*size)).collect();
        let at = |column: usize| self.header_anchor(Head::Column(column), letters).at;
        let places = texts.iter().enumerate();
        let places: Vec<(f64, f64)> = places
            .map(|(column, text)| (at(column).0, letters.width(text, Font::Numbers)))
            .collect();
        let ends = (self.cells.left, self.cells.right);
        let kept = ticks::with_room(&places, ends).into_iter();
        kept.map(|place| (at(place), texts[place].clone()))
            .collect()
    }

    /// The labels of the rows that have room, by their right edge and middle height; the largest size always.
    pub fn y_labels(&self, side: &MapAxis, letters: &Letters<'_>) -> Vec<(Position, String)> {
        let (_, high) = self.step();
        let every = (1.15 * letters.size / high.max(1e-9)).ceil().max(1.0) as usize;
        let last = side.sizes.len().saturating_sub(1);
        let sizes = side.sizes.iter().enumerate();
        let shown = sizes.filter(|(row, _)| (last - row).is_multiple_of(every));
        shown
            .map(|(row, size)| {
                (
                    self.header_anchor(Head::Row(row), letters).at,
                    size_text(*size),
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::heat_map::{ColourScale, MapCell, Panel};
    use crate::chart::layout::letters;

    fn map(columns: usize, rows: usize, panels: usize) -> HeatMap {
        let sizes = |count: usize| (1..=count).collect();
        let panel = |place: usize| Panel {
            name: format!("setup {place}"),
            cells: vec![MapCell::default(); columns * rows],
            ..Panel::default()
        };
        HeatMap {
            x: MapAxis {
                name: "batch".to_owned(),
                sizes: sizes(columns),
            },
            y: MapAxis {
                name: "sequence".to_owned(),
                sizes: sizes(rows),
            },
            scale: ColourScale::from_values("ms per batch", [1.0, 2.0]),
            limit: Some("limit 10.0 ms".to_owned()),
            panels: (0..panels).map(panel).collect(),
            ..HeatMap::default()
        }
    }

    #[test]
    fn cells_fill_their_field_and_are_found_again() {
        let map = map(4, 3, 1);
        let letters = letters();
        let high = height(&map, 600.0, &letters);
        let area = Area::new(20.0, 10.0, 620.0, 10.0 + high);
        let places = lay_out(&map, area, &letters);
        let field = &places.fields[0];
        assert!(area.expanded(1e-6).contains_area(field.cells), "{field:?}");
        for place in [(0, 0), (3, 0), (1, 2)] {
            let cell = field.cell(place);
            let middle = (
                f64::midpoint(cell.left, cell.right),
                f64::midpoint(cell.top, cell.bottom),
            );
            assert_eq!(field.cell_at(middle), Some(place));
        }
        // The smallest size is at the bottom.
        assert!(field.cell((0, 0)).top > field.cell((0, 2)).top);
        assert_eq!(field.cell_at((0.0, 0.0)), None);
        let below = (field.cell((2, 0)).left + 3.0, field.cells.bottom + 4.0);
        assert_eq!(
            (field.column_at(below), field.row_at(below)),
            (Some(2), None)
        );
        let beside = (field.cells.left - 4.0, field.cell((0, 1)).top + 2.0);
        assert_eq!(
            (field.column_at(beside), field.row_at(beside)),
            (None, Some(1))
        );
        assert!(field.x_title.1 < area.bottom);
    }

    #[test]
    fn fields_of_many_columns_stand_beside_each_other_where_there_is_room() {
        let letters = letters();
        for (width, across) in [(1_100.0, 3), (500.0, 1)] {
            let map = map(20, 20, 5);
            let area = Area::new(0.0, 0.0, width, height(&map, width, &letters));
            let fields = lay_out(&map, area, &letters).fields;
            let tops = fields
                .iter()
                .filter(|field| field.name.1 == fields[0].name.1);
            assert_eq!(tops.count(), across, "{width}");
            for (place, field) in fields.iter().enumerate() {
                assert!(area.expanded(1e-6).contains_area(field.cells));
                for other in &fields[..place] {
                    assert!(!field.cells.overlaps(other.cells));
                }
            }
        }
    }

    #[test]
    fn labels_touch_none_and_the_legend_stays_within_its_width() {
        let letters = letters();
        let map = map(40, 40, 2);
        let area = Area::new(0.0, 0.0, 320.0, 400.0);
        let places = lay_out(&map, area, &letters);
        let rows = places.fields[0].y_labels(&map.y, &letters);
        for pair in rows.windows(2) {
            assert!((pair[0].0.1 - pair[1].0.1).abs() >= letters.size);
        }
        assert_eq!(rows.last().unwrap().1, "40");
        let columns = places.fields[0].x_labels(&map.x, &letters);
        assert!(columns.len() < 40 && columns.iter().any(|(_, text)| text == "40"));
        for item in &places.legend {
            if let SketchShape::Ground { area: piece, .. } = item {
                assert!(piece.right <= area.right);
            }
        }
    }
}
