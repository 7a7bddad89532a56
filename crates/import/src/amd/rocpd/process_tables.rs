//! The tables of one process of a database.

use crate::ImportError;
use crate::reading::by_id::ById;
use crate::reading::read_progress::ReadProgress;
use crate::reading::rows::{Cells, OpenDatabase, Query, ReadTally};

/// One process of a database.
#[derive(Debug)]
pub(super) struct DatabaseProcess<'a> {
    pub(super) base: &'a OpenDatabase<'a>,
    pub(super) watch: &'a ReadProgress<'a>,
    /// What the names of its tables end in.
    pub(super) end: &'a str,
    /// What its rows are marked with, where tables hold several processes.
    pub(super) guid: Option<String>,
    /// Its number in the file.
    pub(super) number: u64,
}

impl DatabaseProcess<'_> {
    /// The table of a thing, or the view over all processes where it has none of its own.
    pub(super) fn table(&self, thing: &str) -> String {
        let own = format!("rocpd_{thing}{}", self.end);
        if self.base.columns(&own).is_empty() {
            return format!("rocpd_{thing}");
        }
        own
    }

    /// Reads a table of this process.
    pub(super) fn each(
        &self,
        thing: &str,
        columns: &[&str],
        each: impl FnMut(&Cells<'_, '_>) -> bool,
    ) -> Result<ReadTally, ImportError> {
        let table = self.table(thing);
        self.base
            .each(&self.query(&table, columns), self.watch, each)
    }

    pub(super) fn query<'q>(&'q self, table: &'q str, columns: &'q [&'q str]) -> Query<'q> {
        Query {
            table,
            columns,
            only: self.guid.as_deref().map(|guid| ("guid", guid)),
        }
    }

    /// The texts of a column by the row's number.
    pub(super) fn texts(&self, thing: &str, column: &str) -> Result<ById<String>, ImportError> {
        let mut found = Vec::new();
        self.each(thing, &["id", column], |row| {
            let Some(id) = row.int(0) else { return false };
            let text = row.text(1).map(|text| text.into_owned());
            found.push((id, text.unwrap_or_default()));
            true
        })?;
        Ok(ById::new(found))
    }
}
