//! Entries of the command palette beyond its commands: they depend on what is open, planned or saved.
//!
//! To add something: a line in `palette.rs` of the folder that it is about. Those of the window know all commands, so
//! they stand above the parts.

pub(crate) mod entry;

pub use entry::{Groups, Offered, anywhere};

use super::{App, parts, shell};

/// Everything that can be done now.
pub fn all_entries(app: &App) -> Vec<Offered> {
    let of_parts = parts::ALL.iter().flat_map(|part| (part.palette)(app));
    shell::palette::entries(app)
        .into_iter()
        .chain(of_parts)
        .filter(|offered| offered.why_not.is_none() && app.shared.offers_all(&offered.actions))
        .collect()
}
