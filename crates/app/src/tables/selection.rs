//! The selected rows of a table: many at once, by clicks and by keys.

use std::collections::{BTreeMap, BTreeSet};

use powerband_findings::tables::view::TableView;

/// How a row is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionMode {
    /// Selects this row alone.
    Only,
    /// Adds or removes this row.
    Toggle,
    /// Every shown row from the one selected before to it.
    To,
}

/// Selected rows, by their places in the whole table.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    pub(super) rows: BTreeSet<usize>,
    /// Where a range begins.
    anchor: Option<usize>,
    /// Where a range ends, and is extended.
    lead: Option<usize>,
}

impl Selection {
    /// Selects a row. `from` is the row that is marked already, or where a range begins without one.
    pub(super) fn select(
        &mut self,
        view: &TableView,
        row: usize,
        how: SelectionMode,
        from: Option<usize>,
    ) {
        match how {
            SelectionMode::Only => self.rows = BTreeSet::from([row]),
            SelectionMode::Toggle => {
                if self.rows.is_empty() {
                    self.rows.extend(from.filter(|from| *from != row));
                }
                if !self.rows.remove(&row) {
                    self.rows.insert(row);
                }
            }
            SelectionMode::To => {
                let anchor = self.anchor.or(from).unwrap_or(row);
                self.anchor = Some(anchor);
                return self.range(view, anchor, row);
            }
        }
        (self.anchor, self.lead) = (Some(row), Some(row));
    }

    fn range(&mut self, view: &TableView, from: usize, to: usize) {
        let Some(end) = view.shown(to) else {
            return;
        };
        let begin = view.shown(from).unwrap_or(end);
        let places = begin.min(end)..=begin.max(end);
        self.rows = places.filter_map(|place| view.source(place)).collect();
        self.lead = Some(to);
    }

    /// Moves the end of the range by so many rows; without a range, selects the first or the last row.
    pub(super) fn extend(&mut self, view: &TableView, by: i8) {
        let Some(last) = view.len().checked_sub(1) else {
            return;
        };
        let place = self.lead.and_then(|lead| view.shown(lead));
        let Some((place, anchor)) = place.zip(self.anchor).filter(|_| !self.rows.is_empty()) else {
            let edge = view.source(if by > 0 { 0 } else { last });
            if let Some(row) = edge {
                self.select(view, row, SelectionMode::Only, None);
            }
            return;
        };
        let next = place.saturating_add_signed(isize::from(by)).min(last);
        if let Some(row) = view.source(next) {
            self.range(view, anchor, row);
        }
    }

    /// Selects every shown row.
    pub(super) fn all(&mut self, view: &TableView) {
        self.rows = (0..view.len())
            .filter_map(|place| view.source(place))
            .collect();
        self.anchor = view.source(0);
        self.lead = view.len().checked_sub(1).and_then(|last| view.source(last));
    }

    /// Drops rows that are not shown: nothing is done to a row that the user does not see.
    pub(super) fn keep_shown(&mut self, view: &TableView) {
        if !self.rows.is_empty() {
            let shown: BTreeSet<usize> =
                (0..view.len()).filter_map(|row| view.source(row)).collect();
            self.rows.retain(|row| shown.contains(row));
        }
    }

    /// Keeps the rows of a table that was made anew: those of the same file where rows are files, else those
    /// that stand where they stood and are called the same.
    pub(super) fn carry_over(&mut self, before: &TableView, after: &TableView) {
        let heads = after.all_heads();
        let words = |view: &TableView, row, key| view.value_of(row, key).shown_text().to_owned();
        let moved: BTreeMap<usize, usize> = if heads.iter().any(|head| head.key == FILE) {
            let places = (0..after.all_rows()).map(|row| (words(after, row, FILE), row));
            let places: BTreeMap<String, usize> = places.collect();
            let old = self.rows.iter().chain(&self.anchor).chain(&self.lead);
            let moved =
                old.filter_map(|row| Some((*row, *places.get(&words(before, *row, FILE))?)));
            moved.collect()
        } else {
            let name = heads
                .iter()
                .find(|head| !head.is_number)
                .map(|head| head.key);
            let is_same = |row: &usize| {
                let [old, new] = [before, after].map(|view| name.map(|key| words(view, *row, key)));
                old == new
            };
            let rows = 0..after.all_rows();
            let is_whole = before.all_rows() == after.all_rows();
            let rows = rows.filter(|row| is_whole && is_same(row));
            rows.map(|row| (row, row)).collect()
        };
        let go = |row: usize| moved.get(&row).copied();
        self.rows = self.rows.iter().filter_map(|row| go(*row)).collect();
        self.anchor = self.anchor.and_then(go);
        self.lead = self.lead.and_then(go);
    }
}

/// The column by which rows that are files are known.
const FILE: &str = "file";
