//! The tables that the window shows: their columns and order as the user arranged them, and the words that
//! their rows are filtered by.

pub mod action;
pub(crate) mod commands;
pub mod palette;
pub mod selection;
mod update;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::screen::Screen;
use action::TableChange;
use powerband_findings::tables::Table;
use powerband_findings::tables::view::{Sort, TableView};
use selection::Selection;

/// A table of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableKind {
    /// Names it in the settings; never changed.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The name of a row.
    pub row: &'static str,
    /// Where it is shown.
    pub screen: Screen,
    /// Whether it has a field of its own that filters it; what the screen filters has none.
    pub filters: bool,
}

const fn kind(
    id: &'static str,
    title: &'static str,
    row: &'static str,
    screen: Screen,
) -> TableKind {
    TableKind {
        id,
        title,
        row,
        screen,
        filters: !matches!(screen, Screen::Kernels | Screen::Library),
    }
}

/// Every table of the window; the first of a screen is the one that *copy the table* means.
pub const ALL: [TableKind; 33] = [
    kind("cases", "Cases", "case", Screen::Curves),
    kind("shapes", "Shape of the curves", "curve", Screen::Curves),
    kind("two-cases", "Two pinned cases", "time", Screen::Curves),
    kind("trade-off", "Speed and accuracy", "setup", Screen::Curves),
    kind(
        "patterns",
        "Graph optimisations",
        "pattern",
        Screen::Network,
    ),
    kind(
        "operators",
        "Nodes by operator",
        "operator",
        Screen::Network,
    ),
    kind("slowest", "Slowest nodes", "node", Screen::Network),
    kind(
        "providers",
        "Execution providers",
        "provider",
        Screen::Network,
    ),
    kind("metrics", "All metrics", "metric", Screen::Compare),
    kind("pairs", "Case by case", "pair", Screen::Compare),
    kind(
        "profile-changes",
        "Kernel by kernel",
        "row",
        Screen::Compare,
    ),
    kind("parts", "Setup and machine", "part", Screen::Compare),
    kind("fleet", "Machines of a case", "machine", Screen::Fleet),
    kind("fleet-effects", "Setup and machine", "part", Screen::Fleet),
    kind("machines", "Machines", "machine", Screen::Fleet),
    kind("history", "History", "session", Screen::History),
    kind("levels", "Changes of the level", "change", Screen::History),
    kind("movers", "All cases", "case", Screen::History),
    kind("steps", "Steps", "step", Screen::Journey),
    kind("kernels", "Kernels", "row", Screen::Kernels),
    kind("categories", "Categories", "category", Screen::Kernels),
    kind("changes", "Changes", "row", Screen::Kernels),
    kind("counters", "Counters", "counter", Screen::Kernels),
    kind("ranks", "Ranks", "rank", Screen::Kernels),
    kind("collectives", "Collectives", "collective", Screen::Kernels),
    kind("instances", "Instances", "instance", Screen::Kernels),
    kind("limits", "Nodes and their limits", "node", Screen::Why),
    kind("experiments", "Experiments", "change", Screen::Why),
    kind("light", "Speed of light", "step", Screen::Why),
    kind("stretch", "Slices of the stretch", "name", Screen::Timeline),
    kind("planned", "Cases of the plan", "case", Screen::Plan),
    kind("run", "Cases of the run", "case", Screen::Run),
    kind("sessions", "Sessions", "session", Screen::Library),
];

/// The kind of a table, by its id.
pub fn find(id: &str) -> Option<&'static TableKind> {
    ALL.iter().find(|kind| kind.id == id)
}

/// How the user arranged a table. Kept in the settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Arrangement {
    /// Keys of the shown columns, in order; empty for those that are shown at first.
    pub columns: Vec<String>,
    /// The column that rows are sorted by, and whether the largest comes first.
    pub sort: Option<Sort>,
    /// Widths that the user chose, by the keys of their columns.
    pub widths: BTreeMap<String, f32>,
}

/// A table as it is shown.
#[derive(Clone, Debug)]
struct ShownTable {
    /// As it was made.
    whole: TableView,
    /// As the user arranged it.
    view: TableView,
    /// How often it was made anew or arranged.
    version: u64,
    /// By what its maker knows whether it is still the same.
    mark: u64,
}

/// Every table of the window, by its id.
#[derive(Debug, Default)]
pub struct Tables {
    /// How the user arranged them.
    pub arrangements: BTreeMap<String, Arrangement>,
    words: BTreeMap<&'static str, String>,
    shown: BTreeMap<&'static str, ShownTable>,
    selections: BTreeMap<&'static str, Selection>,
    /// The table in which rows were selected last.
    active: Option<&'static str>,
    versions: u64,
}

impl Tables {
    /// Tables as they were arranged when the window was open last.
    pub fn arranged(arrangements: BTreeMap<String, Arrangement>) -> Self {
        Self {
            arrangements,
            ..Self::default()
        }
    }

    /// Replaces a table and keeps its arrangement.
    pub(crate) fn set_table(&mut self, id: &'static str, table: Table) {
        self.put_marked(id, table, 0);
    }

    /// The same, with a mark by which its maker knows whether it is still the same.
    pub(crate) fn put_marked(&mut self, id: &'static str, table: Table, mark: u64) {
        let whole = TableView::new(table);
        let known = self.selections.get_mut(id).zip(self.shown.get(id));
        if let Some((selection, before)) = known {
            selection.carry_over(&before.whole, &whole);
        }
        let shown = ShownTable {
            view: whole.clone(),
            whole,
            version: 0,
            mark,
        };
        self.shown.insert(id, shown);
        self.arrange(id);
    }

    /// Forgets a table of which there is nothing to show.
    pub(crate) fn remove(&mut self, id: &str) {
        self.shown.remove(id);
        self.selections.remove(id);
    }

    /// The selected rows, by their places in the whole table; nothing where none is.
    pub fn selected(&self, id: &str) -> Option<&BTreeSet<usize>> {
        let selection = self.selections.get(id)?;
        (!selection.rows.is_empty()).then_some(&selection.rows)
    }

    /// The same in the order in which they are shown.
    pub fn selected_in_order(&self, id: &str) -> Vec<usize> {
        let Some((view, rows)) = self.view(id).zip(self.selected(id)) else {
            return Vec::new();
        };
        let shown = (0..view.len()).filter_map(|row| view.source(row));
        shown.filter(|row| rows.contains(row)).collect()
    }

    /// The table that keys are about: the one in which rows were selected last.
    pub fn active(&self) -> Option<&'static str> {
        self.active.filter(|id| self.selected(id).is_some())
    }

    /// The table of a screen that keys are about, or its first one.
    pub(crate) fn focused_table(&self, screen: Screen) -> Option<&'static str> {
        let mut here = ALL
            .iter()
            .filter(|kind| kind.screen == screen)
            .map(|kind| kind.id)
            .filter(|id| self.view(id).is_some_and(|view| !view.is_empty()));
        let first = here.clone().next();
        here.find(|id| self.active == Some(id)).or(first)
    }

    /// A table of a screen in which rows are selected.
    pub(crate) fn selected_on(&self, screen: Screen) -> Option<&'static str> {
        let here = ALL.iter().filter(|kind| kind.screen == screen);
        here.map(|kind| kind.id)
            .find(|id| self.selected(id).is_some())
    }

    fn select(&mut self, id: &'static str, change: &TableChange) {
        let Some(shown) = self.shown.get(id) else {
            return;
        };
        let selection = self.selections.entry(id).or_default();
        self.active = Some(id);
        match change {
            TableChange::Select(row, how, from) => selection.select(&shown.view, *row, *how, *from),
            TableChange::Extend(by) => selection.extend(&shown.view, *by),
            TableChange::SelectAll => selection.all(&shown.view),
            _ => *selection = Selection::default(),
        }
    }

    /// A table as it is arranged.
    pub fn view(&self, id: &str) -> Option<&TableView> {
        self.shown.get(id).map(|shown| &shown.view)
    }

    /// The mark that it was made with; 0 for none.
    pub(crate) fn mark(&self, id: &str) -> u64 {
        self.shown.get(id).map_or(0, |shown| shown.mark)
    }

    /// A number that is another one whenever the view is.
    pub fn version(&self, id: &str) -> u64 {
        self.shown.get(id).map_or(0, |shown| shown.version)
    }

    /// The words that its rows must have.
    pub fn filter_text(&self, id: &str) -> &str {
        self.words.get(id).map_or("", String::as_str)
    }

    /// The first table of a screen whose rows are filtered.
    pub(crate) fn filtered(&self, screen: Screen) -> Option<&'static str> {
        let ids = ALL.iter().filter(|kind| kind.screen == screen);
        ids.map(|kind| kind.id)
            .find(|id| self.shown.contains_key(id) && !self.filter_text(id).is_empty())
    }

    /// The column that it is sorted by, and whether the largest comes first.
    pub fn sort(&self, id: &str) -> Option<&Sort> {
        self.arrangements.get(id)?.sort.as_ref()
    }

    /// Widths of its columns that the user chose, by their keys.
    pub fn widths(&self, id: &str) -> Option<&BTreeMap<String, f32>> {
        Some(&self.arrangements.get(id)?.widths)
    }

    /// Arranges a table otherwise.
    pub(crate) fn change(&mut self, id: &'static str, change: &TableChange) {
        if matches!(
            change,
            TableChange::Select(..)
                | TableChange::Extend(_)
                | TableChange::SelectAll
                | TableChange::SelectNone
        ) {
            return self.select(id, change);
        }
        let Some(shown) = self.shown.get(id) else {
            return;
        };
        let mut columns: Vec<String> = shown.view.heads().map(|head| head.key.to_owned()).collect();
        let arrangement = self.arrangements.entry(id.to_owned()).or_default();
        match change {
            TableChange::Sort(key) => {
                let heads = shown.view.all_heads();
                let is_number = heads.iter().any(|head| head.key == key && head.is_number);
                arrangement.sort = next_sort(arrangement.sort.take(), key, is_number);
            }
            TableChange::Column(key, true) if !columns.contains(key) => {
                columns.push(key.clone());
                arrangement.columns = columns;
            }
            TableChange::Column(key, false) if columns.len() > 1 => {
                columns.retain(|column| column != key);
                arrangement.columns = columns;
                // An order that no head shows could not be undone.
                arrangement.sort = arrangement.sort.take().filter(|(sorted, _)| sorted != key);
            }
            TableChange::Move(key, by) => {
                if let Some(place) = columns.iter().position(|column| column == key) {
                    let to = place.saturating_add_signed(isize::from(*by));
                    let column = columns.remove(place);
                    columns.insert(to.min(columns.len()), column);
                    arrangement.columns = columns;
                }
            }
            TableChange::Width(key, width) => {
                match width.filter(|width| width.is_finite()) {
                    Some(width) => arrangement.widths.insert(key.clone(), fitted(width)),
                    None => arrangement.widths.remove(key),
                };
            }
            TableChange::Reset => {
                *arrangement = Arrangement::default();
                self.words.remove(id);
            }
            TableChange::Filter(words) => {
                self.words.insert(id, words.clone());
            }
            _ => return,
        }
        if self.arrangements.get(id) == Some(&Arrangement::default()) {
            self.arrangements.remove(id);
        }
        self.arrange(id);
    }

    fn arrange(&mut self, id: &'static str) {
        let words = self.words.get(id).cloned().unwrap_or_default();
        let arrangement = self.arrangements.get(id).cloned().unwrap_or_default();
        self.versions += 1;
        if let Some(shown) = self.shown.get_mut(id) {
            let view = shown.whole.clone().columns(&arrangement.columns);
            shown.view = view.arranged(arrangement.sort.as_ref(), &words);
            shown.version = self.versions;
            if let Some(selection) = self.selections.get_mut(id) {
                selection.keep_shown(&shown.view);
            }
        }
    }
}

/// A width that a column can have.
fn fitted(width: f32) -> f32 {
    const LEAST: f32 = 36.0;
    const MOST: f32 = 1_200.0;
    width.clamp(LEAST, MOST)
}

/// Numbers from the largest, words from A; the same column again turns it round, and a third time gives the
/// rows their own order back.
fn next_sort(sort: Option<Sort>, key: &str, is_number: bool) -> Option<Sort> {
    match sort {
        Some((same, falls)) if same == key && falls == is_number => Some((same, !falls)),
        Some((same, _)) if same == key => None,
        _ => Some((key.to_owned(), is_number)),
    }
}

#[cfg(test)]
mod tests {
    use super::selection::SelectionMode;
    use super::*;
    use powerband_core::domain::profile::Counter;
    use powerband_findings::tables::counters;

    fn counter(kernel: &str, launches: u64) -> Counter {
        Counter {
            kernel: kernel.to_owned(),
            name: "Waves".to_owned(),
            unit: String::new(),
            launches,
            sum: 1.0,
        }
    }

    fn tables() -> Tables {
        let mut tables = Tables::default();
        tables.set_table("counters", some());
        tables
    }

    fn some() -> Table {
        counters::of_counters(&[counter("a", 1), counter("b", 3), counter("c", 2)])
    }

    fn kernels(tables: &Tables) -> Vec<String> {
        let view = tables.view("counters").unwrap();
        let texts = (0..view.len()).map(|row| view.value(row, "kernel").shown_text().to_owned());
        texts.collect()
    }

    #[test]
    fn a_table_stays_as_it_was_arranged_when_it_is_made_anew() {
        let mut tables = tables();
        tables.change("counters", &TableChange::Sort("launches".to_owned()));
        assert_eq!(kernels(&tables), ["b", "c", "a"]);
        tables.set_table("counters", some());
        assert_eq!(kernels(&tables), ["b", "c", "a"]);
        tables.change("counters", &TableChange::Sort("launches".to_owned()));
        assert_eq!(kernels(&tables), ["a", "c", "b"]);
        tables.change("counters", &TableChange::Sort("launches".to_owned()));
        assert_eq!(kernels(&tables), ["a", "b", "c"]);
        assert!(tables.arrangements.is_empty(), "nothing to remember");
        tables.change("counters", &TableChange::Filter("B".to_owned()));
        assert_eq!(kernels(&tables), ["b"]);
    }

    #[test]
    fn columns_come_and_go_and_move() {
        let mut tables = tables();
        let keys = |tables: &Tables| -> Vec<&'static str> {
            let view = tables.view("counters").unwrap();
            view.heads().map(|head| head.key).collect()
        };
        tables.change("counters", &TableChange::Column("sum".to_owned(), false));
        tables.change("counters", &TableChange::Move("launches".to_owned(), -1));
        assert_eq!(
            keys(&tables),
            ["kernel", "launches", "counter", "per_launch"]
        );
        tables.change("counters", &TableChange::Column("sum".to_owned(), true));
        assert_eq!(keys(&tables).last(), Some(&"sum"));
        assert!(tables.arrangements.contains_key("counters"));
        tables.change("counters", &TableChange::Reset);
        assert_eq!(keys(&tables).len(), 5);
        assert!(tables.arrangements.is_empty());
    }

    #[test]
    fn a_hidden_column_sorts_nothing_and_a_removed_table_filters_nothing() {
        let mut tables = tables();
        tables.change("counters", &TableChange::Sort("launches".to_owned()));
        tables.change(
            "counters",
            &TableChange::Column("launches".to_owned(), false),
        );
        assert_eq!(kernels(&tables), ["a", "b", "c"]);
        tables.change("counters", &TableChange::Filter("b".to_owned()));
        assert_eq!(tables.filtered(Screen::Kernels), Some("counters"));
        tables.remove("counters");
        assert_eq!(tables.filtered(Screen::Kernels), None);
    }

    fn selected(tables: &Tables) -> Vec<String> {
        let view = tables.view("counters").unwrap();
        let rows = tables.selected_in_order("counters").into_iter();
        let name = |row| view.value_of(row, "kernel").shown_text().to_owned();
        rows.map(name).collect()
    }

    #[test]
    fn rows_are_selected_one_by_one_in_ranges_and_all_at_once() {
        let mut tables = tables();
        let mut act = |change: TableChange| {
            tables.change("counters", &change);
            selected(&tables)
        };
        assert_eq!(
            act(TableChange::Select(2, SelectionMode::Toggle, Some(0))),
            ["a", "c"],
            "with the marked one"
        );
        assert_eq!(
            act(TableChange::Select(0, SelectionMode::Toggle, None)),
            ["c"]
        );
        assert_eq!(
            act(TableChange::Select(1, SelectionMode::To, None)),
            ["a", "b"],
            "from the last one"
        );
        assert_eq!(act(TableChange::Extend(1)), ["a", "b", "c"]);
        assert_eq!(act(TableChange::Extend(-1)), ["a", "b"]);
        assert_eq!(act(TableChange::Sort("launches".to_owned())), ["b", "a"]);
        assert_eq!(act(TableChange::SelectAll), ["b", "c", "a"]);
        assert_eq!(
            act(TableChange::Filter("b".to_owned())),
            ["b"],
            "what is hidden is dropped"
        );
        assert!(act(TableChange::SelectNone).is_empty());
        assert_eq!(act(TableChange::Filter(String::new())), [""; 0]);
        assert_eq!(act(TableChange::Extend(1)), ["b"], "the first row");
        assert_eq!(tables.active(), Some("counters"));
        assert_eq!(tables.selected_on(Screen::Kernels), Some("counters"));
    }

    #[test]
    fn rows_stay_selected_where_a_table_is_made_anew_with_the_same_rows() {
        let mut tables = tables();
        tables.change(
            "counters",
            &TableChange::Select(1, SelectionMode::Only, None),
        );
        tables.set_table("counters", some());
        assert_eq!(selected(&tables), ["b"]);
        let others = [counter("a", 1), counter("x", 3), counter("c", 2)];
        tables.set_table("counters", counters::of_counters(&others));
        assert_eq!(tables.selected("counters"), None);
        assert_eq!(tables.active(), None);
    }
}
