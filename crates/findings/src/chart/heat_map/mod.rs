//! A heat map as a value: a cell for each pair of sizes of two dimensions, for one setup or several beside each
//! other, with one scale of colours for all of them.
//!
//! `cases` makes one of the cases of sessions and `ratios` one of a comparison; `colours` says what a value
//! looks like, and `layout::cells` where everything stands.

pub mod cases;
pub mod colours;
pub mod ratios;
pub mod scale;

use crate::analysis::verdict::Call;
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;

pub use self::scale::{ColourScale, ScaleKind};

/// One dimension along a side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapAxis {
    /// What it is called: `batch`, `sequence`.
    pub name: String,
    /// Its sizes, ascending: left to right, or bottom to top.
    pub sizes: Vec<usize>,
}

/// The content of a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Content {
    /// The sweep has no such point.
    #[default]
    Outside,
    /// A number, in the unit of the scale.
    Value(f64),
    /// No number, and why.
    Missing {
        /// In a word or two, for the cell: `out of memory`.
        word: String,
        /// In a sentence.
        reason: String,
    },
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapCell {
    pub content: Content,
    /// The verdict of a ratio.
    pub call: Option<Call>,
    /// Whether the latency is within the limit, with 95 % confidence; nothing without a limit or a latency.
    pub is_within: Option<bool>,
    /// Whether it is pinned.
    pub is_pinned: bool,
}

impl MapCell {
    /// A cell without a number.
    pub fn missing(word: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            content: Content::Missing {
                word: word.into(),
                reason: reason.into(),
            },
            ..Self::default()
        }
    }

    /// Its number.
    pub fn value(&self) -> Option<f64> {
        match self.content {
            Content::Value(value) => Some(value),
            Content::Outside | Content::Missing { .. } => None,
        }
    }
}

/// The cells of one setup or one pair of setups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Whose.
    pub name: String,
    /// The palette index of its series; nothing for a comparison.
    pub colour: Option<usize>,
    /// The caller's number of the setup.
    pub tag: u64,
    /// Row by row, the smallest size of the side `y` first.
    pub cells: Vec<MapCell>,
}

/// The index of a cell: its column, and its row counted from the bottom.
pub type CellIndex = (usize, usize);

/// A line between two corners of cells, in columns and rows counted from the lower left corner.
pub type Edge = ((usize, usize), (usize, usize));

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// What it is called.
    pub title: String,
    /// Left to right.
    pub x: MapAxis,
    /// Bottom to top.
    pub y: MapAxis,
    /// The sizes of all other dimensions, in words; empty where there are no others.
    pub fixed: String,
    /// A point of the sweep whose other dimensions have these sizes.
    pub at: Option<Point>,
    /// What the colours mean.
    pub scale: ColourScale,
    /// The latency limit in words, where there is one: `limit 10.0 ms`.
    pub limit: Option<String>,
    /// The cells, setup by setup.
    pub panels: Vec<Panel>,
}

impl HeatMap {
    /// Whether no cell has a value.
    pub fn is_empty(&self) -> bool {
        let mut cells = self.panels.iter().flat_map(|panel| &panel.cells);
        !cells.any(|cell| cell.value().is_some())
    }

    /// Whether a cell has no value although its point is in the sweep.
    pub fn has_missing(&self) -> bool {
        let mut cells = self.panels.iter().flat_map(|panel| &panel.cells);
        cells.any(|cell| matches!(cell.content, Content::Missing { .. }))
    }

    /// A cell of a panel.
    pub fn cell<'a>(&self, panel: &'a Panel, (column, row): CellIndex) -> Option<&'a MapCell> {
        let columns = self.x.sizes.len();
        panel
            .cells
            .get(row * columns + column)
            .filter(|_| column < columns)
    }

    /// The point of the sweep that a cell stands for.
    pub fn point(&self, (column, row): CellIndex) -> Option<Point> {
        let (x, y) = (self.x.sizes.get(column)?, self.y.sizes.get(row)?);
        let at = self.at.unwrap_or(Point::of_batch(1));
        Some(at.with(&self.x.name, *x).with(&self.y.name, *y))
    }

    /// The cell that a point of the sweep stands in.
    pub fn cell_of_point(&self, point: Point) -> Option<CellIndex> {
        let along = |side: &MapAxis| {
            let size = point.get(&side.name)?;
            side.sizes.iter().position(|one| *one == size)
        };
        let place = (along(&self.x)?, along(&self.y)?);
        (self.point(place) == Some(point)).then_some(place)
    }

    /// The tooltip of a cell: `batch 4, sequence 128: 12.3 ms per batch, within the limit`.
    pub fn cell_text(&self, panel: &Panel, place: CellIndex) -> String {
        let (Some(cell), Some(x), Some(y)) = (
            self.cell(panel, place),
            self.x.sizes.get(place.0),
            self.y.sizes.get(place.1),
        ) else {
            return String::new();
        };
        let count = |size: usize| humanize::count(size as u64);
        let at = format!(
            "{} {}, {} {}",
            self.x.name,
            count(*x),
            self.y.name,
            count(*y)
        );
        match &cell.content {
            Content::Outside => format!("{at}: not in the sweep"),
            Content::Missing { reason, .. } => format!("{at}: {reason}"),
            Content::Value(value) => {
                let call = cell.call.map(|call| format!(", {call}"));
                let within = cell.is_within.map(|is_within| {
                    let where_it_is = if is_within { "within" } else { "beyond" };
                    format!(", {where_it_is} the {}", self.limit_name())
                });
                format!(
                    "{at}: {}{}{}",
                    self.scale.text_with_unit(*value),
                    call.unwrap_or_default(),
                    within.unwrap_or_default()
                )
            }
        }
    }

    fn limit_name(&self) -> &str {
        self.limit.as_deref().unwrap_or("limit")
    }

    /// The borders between cells within the limit and cells beyond it, pieces in one line joined.
    pub fn iso_line(&self, panel: &Panel) -> Vec<Edge> {
        let (columns, rows) = (self.x.sizes.len(), self.y.sizes.len());
        let within = |place: CellIndex| self.cell(panel, place)?.is_within;
        let differ = |a: CellIndex, b: CellIndex| {
            let both = within(a).zip(within(b));
            both.is_some_and(|(a, b)| a != b)
        };
        let mut edges: Vec<Edge> = Vec::new();
        for column in 1..columns {
            let split = |row: usize| differ((column - 1, row), (column, row));
            let lines = joined((0..rows).filter(|row| split(*row)));
            edges.extend(lines.map(|(from, to)| ((column, from), (column, to))));
        }
        for row in 1..rows {
            let split = |column: usize| differ((column, row - 1), (column, row));
            let lines = joined((0..columns).filter(|column| split(*column)));
            edges.extend(lines.map(|(from, to)| ((from, row), (to, row))));
        }
        edges
    }

    /// Marks the cell of a point in the panel of a tag as pinned.
    pub fn pin(&mut self, tag: u64, point: Point) {
        let Some((column, row)) = self.cell_of_point(point) else {
            return;
        };
        let columns = self.x.sizes.len();
        let panels = self.panels.iter_mut().filter(|panel| panel.tag == tag);
        for panel in panels {
            if let Some(cell) = panel.cells.get_mut(row * columns + column) {
                cell.is_pinned = true;
            }
        }
    }
}

/// Neighbouring places joined to lines: from the first place to behind the last.
fn joined(places: impl Iterator<Item = usize>) -> impl Iterator<Item = (usize, usize)> {
    let mut lines: Vec<(usize, usize)> = Vec::new();
    for place in places {
        match lines.last_mut() {
            Some((_, to)) if *to == place => *to = place + 1,
            _ => lines.push((place, place + 1)),
        }
    }
    lines.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(value: f64, is_within: bool) -> MapCell {
        MapCell {
            content: Content::Value(value),
            is_within: Some(is_within),
            ..MapCell::default()
        }
    }

    /// Three batches by two lengths; the largest point does not fit.
    fn map() -> HeatMap {
        let side = |name: &str, sizes: &[usize]| MapAxis {
            name: name.to_owned(),
            sizes: sizes.to_vec(),
        };
        let cells = vec![
            value(1.0, true),
            value(2.0, true),
            value(11.0, false),
            value(4.0, true),
            value(12.0, false),
            MapCell::missing("out of memory", "out of memory: 2 GiB were wanted"),
        ];
        HeatMap {
            title: "Latency".to_owned(),
            x: side("batch", &[1, 2, 4]),
            y: side("sequence", &[128, 1_024]),
            at: Some(Point::new([("batch", 1), ("sequence", 128)])),
            scale: ColourScale::from_values("ms per batch", [1.0, 12.0]),
            limit: Some("limit 10.0 ms".to_owned()),
            panels: vec![Panel {
                name: "ort:cpu".to_owned(),
                cells,
                ..Panel::default()
            }],
            ..HeatMap::default()
        }
    }

    #[test]
    fn the_iso_line_runs_along_borders_and_not_to_cells_without_a_value() {
        let map = map();
        let edges = map.iso_line(&map.panels[0]);
        assert_eq!(
            edges,
            [
                ((1, 1), (1, 2)),
                ((2, 0), (2, 1)),
                // Over the second column alone: over the third, nothing is known above.
                ((1, 1), (2, 1)),
            ]
        );
    }

    #[test]
    fn pieces_in_one_line_are_one() {
        let lines: Vec<_> = joined([0, 1, 2, 5, 7, 8].into_iter()).collect();
        assert_eq!(lines, [(0, 3), (5, 6), (7, 9)]);
    }

    #[test]
    fn cells_and_points_find_each_other() {
        let mut map = map();
        let point = Point::new([("batch", 4), ("sequence", 128)]);
        assert_eq!(map.cell_of_point(point), Some((2, 0)));
        assert_eq!(map.point((2, 0)), Some(point));
        assert_eq!(
            map.cell_of_point(point.with("past", 7)),
            None,
            "another slice"
        );
        map.pin(0, point);
        let panel = &map.panels[0];
        assert!(map.cell(panel, (2, 0)).unwrap().is_pinned);
        assert!(map.cell(panel, (3, 0)).is_none());
    }

    #[test]
    fn a_cell_reads_as_a_sentence() {
        let map = map();
        let words = |place| map.cell_text(&map.panels[0], place);
        assert_eq!(
            words((2, 0)),
            "batch 4, sequence 128: 11.0 ms per batch, beyond the limit 10.0 ms"
        );
        assert_eq!(
            words((2, 1)),
            "batch 4, sequence 1,024: out of memory: 2 GiB were wanted"
        );
        assert!(!map.is_empty() && map.has_missing());
    }
}
