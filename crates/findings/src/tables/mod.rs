//! Every table once: its columns over the rows of a finding.
//!
//! A file of this folder is one table, written as a list of [`Column`]s. What is made of it is the same for
//! all: `view::TableView` chooses columns and orders rows, and writes them for a terminal, a spreadsheet, another
//! program or a report. The window shows the same view.

pub mod accuracies;
pub mod cases;
pub mod cell;
pub mod collectives;
pub mod counters;
pub mod engines;
pub mod experiments;
pub mod findings;
pub mod fleet;
pub mod fleet_effects;
pub mod graph;
pub mod history;
pub mod instances;
pub mod kernel_changes;
pub mod kernels;
pub mod machines;
pub mod metrics;
pub mod movers;
pub mod node_limits;
pub mod pairs;
pub mod planned;
pub mod ranks;
pub mod requests;
pub mod roofs;
pub mod scaling;
pub mod shapes;
pub mod speed_of_light;
pub mod steps;
pub mod stretch;
pub mod trade_off;
pub mod two_cases;
pub mod view;
pub mod wall;
pub mod wall_changes;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::dimensions;
use cell::Cell;
use powerband_core::domain::point::{BATCH, Point};

/// The head of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnHead {
    /// Its stable name in settings, CSV and JSON.
    pub key: &'static str,
    /// What people read.
    pub title: &'static str,
    /// The unit of its plain numbers; empty for words and counts.
    pub unit: &'static str,
    /// What it means, in a sentence; empty where the title says it.
    pub help: &'static str,
    /// Whether it holds numbers, which stand to the right.
    pub is_number: bool,
    /// Whether it is shown until other columns are chosen.
    pub is_shown: bool,
}

/// One column over rows of a kind.
pub struct Column<R> {
    head: ColumnHead,
    value: fn(&R) -> Option<Cell>,
    why_missing: fn(&R) -> String,
}

impl<R> Column<R> {
    /// A column of words.
    pub const fn text(
        key: &'static str,
        title: &'static str,
        value: fn(&R) -> Option<Cell>,
    ) -> Self {
        Self {
            head: ColumnHead {
                key,
                title,
                unit: "",
                help: "",
                is_number: false,
                is_shown: true,
            },
            value,
            why_missing: |_| String::new(),
        }
    }

    /// A column of numbers, with the unit that they have for a spreadsheet.
    pub const fn number(
        key: &'static str,
        title: &'static str,
        unit: &'static str,
        value: fn(&R) -> Option<Cell>,
    ) -> Self {
        let words = Self::text(key, title, value);
        Self {
            head: ColumnHead {
                unit,
                is_number: true,
                ..words.head
            },
            ..words
        }
    }

    /// With a sentence that explains it.
    pub const fn help(self, help: &'static str) -> Self {
        let head = ColumnHead { help, ..self.head };
        Self { head, ..self }
    }

    /// With the reason for an empty cell.
    pub const fn why(self, why_missing: fn(&R) -> String) -> Self {
        Self {
            why_missing,
            ..self
        }
    }

    /// Shown only where it is chosen.
    pub const fn hidden(self) -> Self {
        let head = ColumnHead {
            is_shown: false,
            ..self.head
        };
        Self { head, ..self }
    }

    fn cell(&self, row: &R) -> Cell {
        (self.value)(row).unwrap_or_else(|| Cell::missing((self.why_missing)(row)))
    }
}

/// A table, whatever its rows are.
pub struct Table {
    heads: Vec<ColumnHead>,
    /// The columns of dimensions beside the batch.
    dimensions: Range<usize>,
    len: usize,
    cell: Box<dyn Fn(usize, usize) -> Option<Cell> + Send + Sync>,
}

impl Table {
    /// A table of rows. Cells are made when they are asked for.
    pub fn new<R: Send + Sync + 'static>(columns: &'static [Column<R>], rows: Vec<R>) -> Self {
        Self::shared(columns, Arc::new(rows))
    }

    /// A table of rows that others have as well.
    pub(crate) fn shared<R: Send + Sync + 'static>(
        columns: &'static [Column<R>],
        rows: Arc<Vec<R>>,
    ) -> Self {
        Self {
            heads: columns.iter().map(|column| column.head).collect(),
            dimensions: 0..0,
            len: rows.len(),
            cell: Box::new(move |row, column| Some(columns.get(column)?.cell(rows.get(row)?))),
        }
    }

    /// With a column for each dimension of its rows' points beside the batch, behind that of the batch.
    #[must_use]
    pub fn with_points(mut self, points: Vec<Point>) -> Self {
        let Some(behind) = self.place(BATCH).map(|place| place + 1) else {
            return self;
        };
        let mut names: Vec<&'static str> = Vec::new();
        for dimension in dimensions::dimensions(&points) {
            if self.place(dimension.name).is_none() {
                names.push(dimension.name);
            }
        }
        let heads = names.iter().map(|name| ColumnHead {
            key: name,
            title: name,
            unit: "",
            help: "A dimension of the sweep",
            is_number: true,
            is_shown: true,
        });
        self.heads.splice(behind..behind, heads);
        let own = behind..behind + names.len();
        self.dimensions = own.clone();
        let inner = self.cell;
        self.cell = Box::new(move |row, column| {
            if own.contains(&column) {
                let size = points.get(row)?.get(names[column - own.start])?;
                return Some(Cell::count(size as u64));
            }
            let before = if column < own.start { 0 } else { names.len() };
            inner(row, column - before)
        });
        self
    }

    /// The places of a column, and of the dimensions behind that of the batch.
    pub(crate) fn places(&self, key: &str) -> impl Iterator<Item = usize> {
        let dimensions = if key == BATCH {
            self.dimensions.clone()
        } else {
            0..0
        };
        self.place(key).into_iter().chain(dimensions)
    }

    /// With these columns shown only where they are chosen.
    #[must_use]
    pub fn hiding(mut self, keys: &[&str]) -> Self {
        for head in &mut self.heads {
            head.is_shown &= !keys.contains(&head.key);
        }
        self
    }

    /// Without some columns.
    #[must_use]
    pub fn without(self, keys: &[&str]) -> Self {
        let heads = self.heads.iter().enumerate();
        let kept: Vec<usize> = heads
            .filter(|(_, head)| !keys.contains(&head.key))
            .map(|(place, _)| place)
            .collect();
        let inner = self.cell;
        Self {
            heads: kept.iter().map(|&place| self.heads[place]).collect(),
            dimensions: 0..0,
            len: self.len,
            cell: Box::new(move |row, column| inner(row, *kept.get(column)?)),
        }
    }

    /// With a column that is hidden elsewhere shown where rows differ in it.
    #[must_use]
    pub(crate) fn showing_differences(mut self, key: &str) -> Self {
        let Some(place) = self.place(key) else {
            return self;
        };
        let text = |row: usize| self.cell(row, place).text;
        let first = text(0);
        if (1..self.len()).any(|row| text(row) != first) {
            self.heads[place].is_shown = true;
        }
        self
    }

    /// With another title above a column.
    #[must_use]
    pub fn titled(mut self, key: &str, title: &'static str) -> Self {
        for head in self.heads.iter_mut().filter(|head| head.key == key) {
            head.title = title;
        }
        self
    }

    /// With another unit above the plain numbers of a column.
    #[must_use]
    pub fn with_unit(mut self, key: &str, unit: &'static str) -> Self {
        for head in self.heads.iter_mut().filter(|head| head.key == key) {
            head.unit = unit;
        }
        self
    }

    /// What stands above its columns.
    pub fn heads(&self) -> &[ColumnHead] {
        &self.heads
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A cell, by its row and column.
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        (self.cell)(row, column).unwrap_or_default()
    }

    /// The place of a column, by its key.
    pub fn place(&self, key: &str) -> Option<usize> {
        self.heads.iter().position(|head| head.key == key)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.heads.iter().map(|head| head.key).collect();
        write!(f, "Table({} rows of {})", self.len, keys.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_stand_behind_the_batch() {
        const OF: &[Column<usize>] = &[
            Column::text("label", "Setup", |row| {
                Some(Cell::text(format!("setup {row}")))
            }),
            Column::number("batch", "Batch", "", |row| Some(Cell::count(*row as u64))),
            Column::number("rounds", "Rounds", "", |_| Some(Cell::count(5))),
        ];
        let points = |lengths: [usize; 2]| {
            lengths
                .map(|length| Point::of_batch(1).with("sequence", length))
                .to_vec()
        };
        let table = Table::new(OF, vec![1, 2]).with_points(points([128, 2_048]));
        let keys: Vec<&str> = table.heads().iter().map(|head| head.key).collect();
        assert_eq!(keys, ["label", "batch", "sequence", "rounds"]);
        let row: Vec<String> = (0..4)
            .map(|column| table.cell(1, column).shown_text().to_owned())
            .collect();
        assert_eq!(row, ["setup 2", "2", "2,048", "5"]);
        let view = view::TableView::new(table).columns(&["batch", "rounds"]);
        let shown: Vec<&str> = view.heads().map(|head| head.key).collect();
        assert_eq!(shown, ["batch", "sequence", "rounds"]);
        let alone = Table::new(OF, vec![1]).with_points(vec![Point::of_batch(1)]);
        assert_eq!(alone.heads().len(), 3, "the batch has its column");
    }

    #[test]
    fn keys_name_one_column_each() {
        let all: [(&str, Vec<&str>); 29] = [
            ("accuracies", keys(accuracies::COLUMNS)),
            ("cases", keys(cases::COLUMNS)),
            ("counters", keys(counters::COLUMNS)),
            ("engines", keys(engines::COLUMNS)),
            ("experiments", keys(experiments::COLUMNS)),
            ("findings", keys(findings::COLUMNS)),
            ("fleet", keys(fleet::COLUMNS)),
            ("fleet effects", keys(fleet_effects::COLUMNS)),
            ("history", keys(history::COLUMNS)),
            ("levels", keys(history::CHANGE_COLUMNS)),
            ("movers", keys(movers::COLUMNS)),
            ("changes", keys(kernel_changes::COLUMNS)),
            ("kernels", keys(kernels::COLUMNS)),
            ("categories", keys(kernels::CATEGORY_COLUMNS)),
            ("machines", keys(machines::COLUMNS)),
            ("metrics", keys(metrics::COLUMNS)),
            ("pairs", keys(pairs::COLUMNS)),
            ("planned", keys(planned::COLUMNS)),
            ("scaling", keys(scaling::COLUMNS)),
            ("shapes", keys(shapes::COLUMNS)),
            ("speed of light", keys(speed_of_light::COLUMNS)),
            ("steps", keys(steps::COLUMNS)),
            ("stretch", keys(stretch::COLUMNS)),
            ("trade-off", keys(trade_off::COLUMNS)),
            ("operators", keys(graph::OPERATORS)),
            ("patterns", keys(graph::PATTERNS)),
            ("providers", keys(graph::PROVIDERS)),
            ("slowest", keys(graph::SLOWEST)),
            ("wall", keys(wall::COLUMNS)),
        ];
        for (table, keys) in all {
            let unique: std::collections::BTreeSet<&&str> = keys.iter().collect();
            assert_eq!(unique.len(), keys.len(), "{table}: {keys:?}");
        }
    }

    fn keys<R>(columns: &[Column<R>]) -> Vec<&'static str> {
        columns.iter().map(|column| column.head.key).collect()
    }
}
