//! What can be done with the tables of the screen that is shown.

use super::action::TableChange;
use super::{ALL, TableKind};
use crate::App;
use crate::action::Action;
use crate::palette_entries::entry::{Offered, seen_on, typed_on};
use powerband_findings::tables::view::TableView;

/// What a step makes a column wider.
const STEP: f32 = 24.0;
/// The width that the first step of a column begins with.
const USUAL: f32 = 120.0;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let here = ALL.iter().filter(|kind| app.shared.shows(kind.screen));
    let clear = app.shared.tables.selected_on(app.shared.screen).map(|id| {
        let none = Action::Table(id, TableChange::SelectNone);
        seen_on(app.shared.screen, "Clear the selection of rows", none)
    });
    here.filter_map(|kind| Some((kind, app.shared.tables.view(kind.id)?)))
        .flat_map(|(kind, view)| of_table(app, kind, view))
        .chain(clear)
        .collect()
}

fn of_table(app: &App, kind: &TableKind, view: &TableView) -> Vec<Offered> {
    let widths = app.shared.tables.widths(kind.id);
    let offer = |what: &str, change: TableChange| {
        let title = format!("{}: {what}", kind.title);
        seen_on(kind.screen, title, Action::Table(kind.id, change))
    };
    let shown: Vec<&str> = view.heads().map(|head| head.key).collect();
    let filter = format!("{}: filter the table", kind.title);
    let filter = typed_on(kind.screen, &filter, &filter_name(kind));
    let mut offers: Vec<Offered> = kind.filters.then_some(filter).into_iter().collect();
    offers.extend([
        offer("copy the table", TableChange::Copy),
        offer("select one row more", TableChange::Extend(1)),
        offer("select one row less", TableChange::Extend(-1)),
        offer("export the table", TableChange::Export(None)),
        offer("reset columns and rows", TableChange::Reset),
    ]);
    for head in view.all_heads() {
        let (title, key) = (head.title, head.key.to_owned());
        let is_shown = shown.contains(&head.key);
        let width = widths.and_then(|widths| widths.get(&key));
        let width = width.copied().unwrap_or(USUAL);
        if is_shown {
            offers.extend([
                offer(&format!("sort by {title}"), TableChange::Sort(key.clone())),
                offer(
                    &format!("move {title} to the left"),
                    TableChange::Move(key.clone(), -1),
                ),
                offer(
                    &format!("move {title} to the right"),
                    TableChange::Move(key.clone(), 1),
                ),
                offer(
                    &format!("{title} wider"),
                    TableChange::Width(key.clone(), Some(width + STEP)),
                ),
                offer(
                    &format!("{title} narrower"),
                    TableChange::Width(key.clone(), Some(width - STEP)),
                ),
            ]);
        }
        let doing = if is_shown { "hide" } else { "show" };
        let column = TableChange::Column(key, !is_shown);
        offers.push(offer(&format!("{doing} column {title}"), column));
    }
    offers
}

/// What the field is called that filters a table.
pub fn filter_name(kind: &TableKind) -> String {
    format!("Filter {}", kind.title)
}
