//! Actions on a table.

use std::path::PathBuf;

use super::selection::SelectionMode;

/// A change of a table, or a copy of it.
#[derive(Clone, Debug, PartialEq)]
pub enum TableChange {
    /// Sorts by a column; the same again turns it round.
    Sort(String),
    /// Shows or hides a column.
    Column(String, bool),
    /// Moves a column to the left (below 0) or to the right.
    Move(String, i8),
    /// The width of a column; nothing for the one that suits it.
    Width(String, Option<f32>),
    /// Columns and rows as they are at first.
    Reset,
    /// Shows rows with these words only.
    Filter(String),
    /// Selects a row, by its place in the whole table; the last is the row that is marked already.
    Select(usize, SelectionMode, Option<usize>),
    /// Moves the end of the selection by so many rows.
    Extend(i8),
    /// Selects every shown row.
    SelectAll,
    /// Selects none.
    SelectNone,
    /// Copies its selected rows, or all of them, tab-separated.
    Copy,
    /// Writes it to a file; without a path it asks for one.
    Export(Option<PathBuf>),
}
