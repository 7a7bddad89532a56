//! A table as it is looked at: which columns in which order, which rows in which order; and the same written
//! for a terminal, a spreadsheet, another program and a report.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::cell::{Cell, SortKey};
use super::{ColumnHead, Table};
use crate::export::csv;
use crate::report::document;
use powerband_core::base::humanize;

/// By which column rows are sorted, and whether the largest comes first.
pub type Sort = (String, bool);

/// A table with chosen columns and rows.
#[derive(Clone, Debug)]
pub struct TableView {
    table: Arc<Table>,
    /// Columns that are shown at first.
    first: Vec<usize>,
    columns: Vec<usize>,
    rows: Vec<usize>,
    /// Letters of the longest words that text and reports show.
    longest: usize,
}

impl TableView {
    /// The columns that are shown at first, and every row in its order.
    pub fn new(table: Table) -> Self {
        let heads = table.heads().iter().enumerate();
        let shown = heads.filter(|(_, head)| head.is_shown);
        let first: Vec<usize> = shown.map(|(place, _)| place).collect();
        Self {
            columns: first.clone(),
            first,
            rows: (0..table.len()).collect(),
            table: Arc::new(table),
            longest: usize::MAX,
        }
    }

    /// These columns in this order. A key that the table does not have is passed over; where none is left,
    /// the columns stay.
    #[must_use]
    pub fn columns<S: AsRef<str>>(mut self, keys: &[S]) -> Self {
        let places: Vec<usize> = keys
            .iter()
            .flat_map(|key| self.table.places(key.as_ref()))
            .collect();
        if !places.is_empty() {
            self.columns = places;
        }
        self
    }

    /// Rows that have all the words in a shown column, sorted; without a column to sort by, in their order.
    #[must_use]
    pub fn arranged(mut self, sort: Option<&Sort>, words: &str) -> Self {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        self.rows = (0..self.table.len())
            .filter(|row| words.is_empty() || self.has_words(*row, &words))
            .collect();
        let place = sort.and_then(|(key, _)| self.table.place(key));
        if let (Some(place), Some((_, falls))) = (place, sort) {
            let cells: Vec<Cell> = (0..self.table.len())
                .map(|row| self.table.cell(row, place))
                .collect();
            self.rows
                .sort_by(|&a, &b| order(&cells[a], &cells[b], *falls));
        }
        self
    }

    /// Those of the shown rows that are among these rows of the table.
    #[must_use]
    pub fn only(mut self, sources: &BTreeSet<usize>) -> Self {
        self.rows.retain(|row| sources.contains(row));
        self
    }

    fn has_words(&self, row: usize, words: &[String]) -> bool {
        let cells = self
            .columns
            .iter()
            .map(|&place| self.table.cell(row, place));
        let text: Vec<String> = cells
            .map(|cell| format!("{} {}", cell.shown_text(), cell.plain_text()))
            .collect();
        let text = text.join(" ").to_lowercase();
        words.iter().all(|word| text.contains(word))
    }

    /// The heads of the shown columns.
    pub fn heads(&self) -> impl ExactSizeIterator<Item = &ColumnHead> {
        self.columns.iter().map(|&place| &self.table.heads()[place])
    }

    /// Every head that can be chosen.
    pub fn all_heads(&self) -> &[ColumnHead] {
        self.table.heads()
    }

    /// How many rows are shown.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none is shown.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows there are, shown or not.
    pub fn all_rows(&self) -> usize {
        self.table.len()
    }

    /// The row of the table behind a shown row.
    pub fn source(&self, row: usize) -> Option<usize> {
        self.rows.get(row).copied()
    }

    /// The shown row of a row of the table.
    pub fn shown(&self, source: usize) -> Option<usize> {
        self.rows.iter().position(|row| *row == source)
    }

    /// A shown cell.
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        match (self.rows.get(row), self.columns.get(column)) {
            (Some(&row), Some(&column)) => self.table.cell(row, column),
            _ => Cell::default(),
        }
    }

    /// A row of the table, shown or not: each column that is shown at first, with its cell.
    pub fn row(&self, source: usize) -> Vec<(ColumnHead, Cell)> {
        let columns = self.first.iter();
        columns
            .map(|&place| (self.table.heads()[place], self.table.cell(source, place)))
            .collect()
    }

    /// A cell of a shown row by the key of its column, shown or not.
    pub fn value(&self, row: usize, key: &str) -> Cell {
        let source = self.source(row);
        source.map_or_else(Cell::default, |source| self.value_of(source, key))
    }

    /// The same of a row of the table, shown or not.
    pub fn value_of(&self, source: usize, key: &str) -> Cell {
        let place = self.table.place(key);
        place.map_or_else(Cell::default, |place| self.table.cell(source, place))
    }

    /// Without columns in which no row has a value.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let (table, rows) = (&self.table, &self.rows);
        let says = |cell: Cell| cell.text.is_some_and(|text| !text.is_empty());
        let has_value = |place: &usize| rows.iter().any(|row| says(table.cell(*row, *place)));
        let kept: Vec<usize> = self.columns.iter().copied().filter(has_value).collect();
        self.columns = kept;
        self
    }

    /// With long words shortened in text and reports.
    #[must_use]
    pub fn shortened(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    /// Lines for a terminal, aligned. Empty without rows.
    pub fn to_text(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let heads: Vec<(&str, bool)> = self
            .heads()
            .map(|head| (head.title, head.is_number))
            .collect();
        let lines: Vec<Vec<String>> = (0..self.len())
            .map(|row| {
                let cells = self.columns.iter().enumerate();
                cells
                    .map(|(column, _)| {
                        humanize::shorten(self.cell(row, column).shown_text(), self.longest)
                    })
                    .collect()
            })
            .collect();
        humanize::aligned(&heads, &lines)
    }

    /// Text with tabs, as spreadsheets take it from the clipboard: plain numbers, units in the heads.
    pub fn to_tsv(&self) -> String {
        let heads = self.heads().map(|head| match head.unit {
            "" => head.title.to_owned(),
            unit => format!("{} {unit}", head.title),
        });
        let mut lines = vec![heads.collect::<Vec<_>>().join("\t")];
        lines.extend((0..self.len()).map(|row| self.row_tsv(row)));
        lines.join("\n") + "\n"
    }

    /// A shown row, with tabs.
    pub fn row_tsv(&self, row: usize) -> String {
        let cells = self.csv_row(row).into_iter().map(|cell| cell.to_tsv());
        cells.collect::<Vec<_>>().join("\t")
    }

    /// A file with commas: keys as heads, plain numbers.
    pub fn to_csv(&self) -> String {
        let heads: Vec<&str> = self.heads().map(|head| head.key).collect();
        let mut table = csv::CsvTable::new(&heads);
        table.rows = (0..self.len()).map(|row| self.csv_row(row)).collect();
        table.to_csv()
    }

    /// A list of objects with the keys of the columns.
    pub fn to_json(&self) -> Value {
        let object = |row: usize| {
            let keys = self.heads().map(|head| head.key.to_owned());
            let values = self.csv_row(row).into_iter().map(|cell| cell.value());
            Value::Object(keys.zip(values).collect::<Map<String, Value>>())
        };
        (0..self.len()).map(object).collect()
    }

    fn csv_row(&self, row: usize) -> Vec<csv::CsvCell> {
        let columns = self.columns.iter().enumerate();
        columns
            .map(|(column, _)| {
                let cell = self.cell(row, column);
                match (cell.number, cell.plain_text()) {
                    (Some(number), _) => csv::CsvCell::Number(number),
                    (None, "") => csv::CsvCell::Empty,
                    (None, text) => csv::CsvCell::text(text),
                }
            })
            .collect()
    }

    /// A table of a report: at most so many rows, then how many more there are and where.
    pub fn to_document(&self, most: usize, what: &str, elsewhere: &str) -> document::ReportTable {
        let columns = self.heads().map(document::ReportColumn::of_head).collect();
        let rows = (0..self.len()).map(|row| {
            let cells = self.columns.iter().enumerate();
            cells
                .map(|(column, _)| self.document_cell(row, column))
                .collect::<Vec<_>>()
        });
        document::ReportTable {
            columns,
            ..document::ReportTable::default()
        }
        .filled(rows, most, what, elsewhere)
    }
}

impl TableView {
    /// The whole table as a piece of a document.
    pub fn to_block(&self) -> document::Block {
        document::Block::Table(self.to_document(usize::MAX, "", ""))
    }

    fn document_cell(&self, row: usize, column: usize) -> document::ReportCell {
        let mut cell = self.cell(row, column);
        cell.text = cell.text.map(|text| humanize::shorten(&text, self.longest));
        cell.into()
    }
}

/// Numbers by size, then words by their letters; what is missing last, whichever way.
fn order(a: &Cell, b: &Cell, falls: bool) -> Ordering {
    let is_missing = |cell: &Cell| cell.text.as_ref().is_none_or(String::is_empty);
    let order = match (is_missing(a), is_missing(b)) {
        (false, false) => match (rank(a), rank(b)) {
            (Ok(a), Ok(b)) => a.total_cmp(&b),
            (Err(a), Err(b)) => a.cmp(&b),
            (a, b) => a.is_err().cmp(&b.is_err()),
        },
        (a, b) => return a.cmp(&b),
    };
    if falls { order.reverse() } else { order }
}

/// What a cell is sorted by: a number, or else words.
fn rank(cell: &Cell) -> Result<f64, String> {
    match &cell.rank {
        Some(SortKey::Number(number)) => Ok(*number),
        Some(SortKey::Words(words)) => Err(words.clone()),
        None => cell.number.ok_or_else(|| cell.shown_text().to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Column;

    struct TestRow(&'static str, Option<f64>);

    type TestColumn = Column<TestRow>;

    const COLUMNS: &[TestColumn] = &[
        TestColumn::text("name", "Name", |row| Some(Cell::text(row.0))),
        TestColumn::number("time_ms", "Time", "ms", |row| row.1.map(Cell::time))
            .why(|_| "not measured".to_owned()),
        TestColumn::text("note", "Note", |_| None).hidden(),
    ];

    fn view() -> TableView {
        let rows = vec![
            TestRow("ort:cpu", Some(2e6)),
            TestRow("b", None),
            TestRow("a, b", Some(1e6)),
        ];
        TableView::new(Table::new(COLUMNS, rows))
    }

    #[test]
    fn a_view_is_written_for_each_reader() {
        let view = view();
        assert_eq!(
            view.to_text(),
            "Name        Time\nort:cpu  2.00 ms\nb              –\na, b     1.00 ms\n"
        );
        assert_eq!(view.to_tsv(), "Name\tTime ms\nort:cpu\t2\nb\t\na, b\t1\n");
        assert_eq!(view.to_csv(), "name,time_ms\nort:cpu,2\nb,\n\"a, b\",1\n");
        assert_eq!(view.to_json()[1]["time_ms"], Value::Null);
        let document = view.to_document(2, "case", "see x.ron");
        assert_eq!(document.rows.len(), 2);
        assert_eq!(document.reasons(), ["not measured"]);
    }

    #[test]
    fn rows_are_sorted_and_found_and_columns_chosen() {
        let names = |view: &TableView| -> Vec<String> {
            (0..view.len())
                .map(|row| view.value(row, "name").shown_text().to_owned())
                .collect()
        };
        let by_time = ("time_ms".to_owned(), true);
        assert_eq!(
            names(&view().arranged(Some(&by_time), "")),
            ["ort:cpu", "a, b", "b"]
        );
        let rising = ("time_ms".to_owned(), false);
        assert_eq!(
            names(&view().arranged(Some(&rising), "B")),
            ["a, b", "b"],
            "what is missing stands last"
        );
        let chosen = view().columns(&["note", "name", "no such column"]);
        let keys: Vec<&str> = chosen.heads().map(|head| head.key).collect();
        assert_eq!(keys, ["note", "name"]);
        assert_eq!(chosen.without_empty_columns().heads().len(), 1);
        assert_eq!(view().arranged(None, "a").source(0), Some(2));
    }

    #[test]
    fn numbers_stand_before_words_and_a_rank_before_both() {
        let mut cells = [
            Cell::text("16 → 8"),
            Cell::count(9),
            Cell::missing("none"),
            Cell::text("b").ranked(SortKey::Words("2026".to_owned())),
            Cell::text("2.1 to 3").ranked(SortKey::Number(2.1)),
            Cell::text("a").ranked(SortKey::Words("2027".to_owned())),
        ];
        cells.sort_by(|a, b| order(a, b, false));
        let texts: Vec<&str> = cells.iter().map(Cell::shown_text).collect();
        assert_eq!(texts, ["2.1 to 3", "9", "16 → 8", "b", "a", "–"]);
    }
}
