//! Entries of the command palette beyond its commands: they depend on what is open, planned or saved.
//!
//! To add something: a line in `palette.rs` of the folder that it is about.

pub(crate) mod entry;

pub use entry::{Groups, Offered, anywhere};

use super::{
    App, compare, curves, detached, fleet, history, items, journey, kernels, library, machine,
    plan, roofs, run, sessions, shell, tables, timeline, why,
};

/// Everything that can be done now.
pub fn all_entries(app: &App) -> Vec<Offered> {
    [
        shell::palette::entries,
        machine::palette::entries,
        roofs::palette::entries,
        detached::palette::entries,
        plan::palette::entries,
        run::palette::entries,
        sessions::palette::entries,
        curves::palette::entries,
        compare::palette::entries,
        fleet::palette::entries,
        history::palette::entries,
        journey::palette::entries,
        kernels::palette::entries,
        why::palette::entries,
        timeline::palette::entries,
        library::palette::entries,
        tables::palette::entries,
        items::palette::entries,
    ]
    .into_iter()
    .flat_map(|entries| entries(app))
    .filter(|offered| offered.why_not.is_none())
    .collect()
}
