//! In the command palette: the sentence about each device whose roofs are kept.

use crate::App;
use crate::action::{Action, Shell};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;
use powerband_findings::tables::roofs::of_roofs;
use powerband_findings::tables::view::TableView;

/// Copies all figures of a device.
pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let kept = app.settings.roofs.kept.iter().flatten();
    kept.map(|roofs| {
        let title = format!("Copy the roofs of {}", roofs.name);
        let text = TableView::new(of_roofs(roofs)).to_tsv();
        seen_on(Screen::Home, title, Action::Shell(Shell::Copy(text)))
    })
    .collect()
}
