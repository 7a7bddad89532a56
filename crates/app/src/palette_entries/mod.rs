//! Entries of the command palette beyond its commands: they depend on what is open, planned or saved.
//!
//! To add something: a line in `palette.rs` of the folder that it is about.

pub(crate) mod entry;

pub use entry::{Groups, Offered, anywhere};

use super::{App, parts};

/// Everything that can be done now.
pub fn all_entries(app: &App) -> Vec<Offered> {
    parts::ALL
        .iter()
        .flat_map(|part| (part.palette)(app))
        .filter(|offered| offered.why_not.is_none())
        .collect()
}
