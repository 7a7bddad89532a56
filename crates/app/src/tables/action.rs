//! Actions on a table.

use std::path::PathBuf;

/// A change of a table, or a copy of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
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
    /// Copies it, tab-separated.
    Copy,
    /// Writes it to a file; without a path it asks for one.
    Export(Option<PathBuf>),
}
