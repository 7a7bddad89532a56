//! Rows of databases: read in the order in which they lie, by number of column, in a few threads.
//!
//! A column that a table lacks reads as nothing, and a table that is damaged in the middle gives what
//! stands before the damage.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::thread;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{ImportError, Imported};
use powerband_core::base::humanize;

/// Rows between two checks for cancelling.
const TICK: u64 = 8192;
/// Tables with fewer rows than this are read by one thread.
const WORTH_SPLITTING: i64 = 50_000;
/// More threads than this wait for memory rather than read.
const MAX_THREADS: usize = 4;

/// A database that is open.
#[derive(Debug)]
pub struct OpenDatabase<'a> {
    pub source: &'a ImportSource,
    database: Connection,
}

/// What is wanted of a table.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub table: &'a str,
    /// Its columns, which are numbered from zero in this order.
    pub columns: &'a [&'a str],
    /// Rows with this text in this column alone.
    pub only: Option<(&'a str, &'a str)>,
}

impl<'a> Query<'a> {
    /// Columns of every row of a table.
    pub fn all(table: &'a str, columns: &'a [&'a str]) -> Self {
        Self {
            table,
            columns,
            only: None,
        }
    }
}

/// Counts of rows that were read and not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadTally {
    /// Rows that were read.
    pub rows: u64,
    /// Rows of them that could not be read.
    pub unread: u64,
    /// Why reading ended too early.
    pub broken: Option<String>,
}

#[derive(Debug)]
pub struct Cells<'a, 'b>(&'a Row<'b>);

impl<'a> OpenDatabase<'a> {
    /// Opens a database. Rows that its program has not written into it yet get a note.
    pub fn open(source: &'a ImportSource, into: &mut Imported) -> Result<Self, ImportError> {
        let database = source.open_database()?;
        let mut log = source.path().as_os_str().to_owned();
        log.push("-wal");
        if std::fs::metadata(&log).is_ok_and(|about| about.len() > 0) {
            into.note(format!(
                "{}-wal lies beside the database with rows that are not in it yet, and these are not read: let the program that writes it end first",
                source.name()
            ));
        }
        Ok(Self { source, database })
    }

    /// The names of its tables, without its views.
    pub fn tables(&self) -> Result<Vec<String>, ImportError> {
        let mut names = Vec::new();
        self.raw(
            "select name from sqlite_master where type = 'table' order by name",
            &mut |row| names.extend(row.text(0).map(Cow::into_owned)),
        )
        .map_err(|error| self.source.sqlite_error(&error))?;
        Ok(names)
    }

    /// The columns of a table or a view; none where there is no such table.
    pub fn columns(&self, table: &str) -> Vec<String> {
        let mut names = Vec::new();
        let asked = format!("pragma table_info({})", quoted(table));
        // A view of something that is gone has no columns either.
        match self.raw(&asked, &mut |row| {
            names.extend(row.text(1).map(Cow::into_owned));
        }) {
            Ok(()) => names,
            Err(_) => Vec::new(),
        }
    }

    /// Whether there is a table or a view with this column.
    pub fn has_column(&self, table: &str, column: &str) -> bool {
        self.columns(table).iter().any(|name| name == column)
    }

    /// Runs a query of any kind.
    fn raw(&self, sql: &str, each: &mut dyn FnMut(&Cells<'_, '_>)) -> rusqlite::Result<()> {
        let mut statement = self.database.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            each(&Cells(row));
        }
        Ok(())
    }

    /// Reads a table; `each` returns whether it could read a row. A table that is missing
    /// has no rows.
    pub fn each(
        &self,
        query: &Query<'_>,
        watch: &ReadProgress<'_>,
        mut each: impl FnMut(&Cells<'_, '_>) -> bool,
    ) -> Result<ReadTally, ImportError> {
        let Some(sql) = self.sql(query, None) else {
            return Ok(ReadTally::default());
        };
        run(
            (&self.database, self.query_limit()),
            &sql,
            &|_| watch.tick(0),
            &mut each,
        )
    }

    /// Reads a large table in a few threads, each of which takes a stretch of it; what they made of
    /// their rows comes back in the order of the rows.
    pub fn read_in_parallel<T: Default + Send>(
        &self,
        query: &Query<'_>,
        watch: &ReadProgress<'_>,
        each: impl Fn(&mut T, &Cells<'_, '_>) -> bool + Sync,
    ) -> Result<(Vec<T>, ReadTally), ImportError> {
        let threads = thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS));
        let stretches = self.row_ranges(query, threads);
        if stretches.len() < 2 {
            let mut made = T::default();
            let seen = self.each(query, watch, |row| each(&mut made, row))?;
            return Ok((vec![made], seen));
        }
        let (bytes, most) = (self.source.bytes(), self.query_limit());
        let read = |index: usize, (from, to): (i64, i64), sql: &str, database: &Connection| {
            let mut made = T::default();
            let expected = to.saturating_sub(from).unsigned_abs().max(1);
            let tick = |rows: u64| match index {
                // All advance alike, so one of them reports for all.
                0 => watch.tick(bytes.min(rows.saturating_mul(bytes / expected))),
                _ if watch.cancel.is_cancelled() => Err(ImportError::Cancelled),
                _ => Ok(()),
            };
            let seen = run((database, most), sql, &tick, &mut |row| {
                each(&mut made, row)
            })?;
            Ok((made, seen))
        };
        let mut tasks = Vec::with_capacity(stretches.len());
        for (index, stretch) in stretches.into_iter().enumerate() {
            let sql = self.sql(query, Some(stretch)).unwrap_or_default();
            tasks.push((index, stretch, sql, self.source.open_database()?));
        }
        let results: Vec<Result<(T, ReadTally), ImportError>> = thread::scope(|scope| {
            let read = &read;
            let started: Vec<_> = tasks
                .into_iter()
                .map(|(index, stretch, sql, database)| {
                    let thread = thread::Builder::new().name("import".to_owned());
                    let text = sql.clone();
                    let task = move || read(index, stretch, &text, &database);
                    (index, stretch, sql, thread.spawn_scoped(scope, task).ok())
                })
                .collect();
            let joined = started.into_iter().map(|(index, stretch, sql, thread)| {
                let done = thread.and_then(|thread| thread.join().ok());
                // A thread that could not be started is no reason to lose its rows.
                done.unwrap_or_else(|| read(index, stretch, &sql, &self.database))
            });
            joined.collect()
        });
        let mut all = Vec::with_capacity(results.len());
        let mut seen = ReadTally::default();
        for result in results {
            let (made, part) = result?;
            all.push(made);
            seen.add(part);
        }
        Ok((all, seen))
    }

    /// Limit of the rows and the text of a query.
    fn query_limit(&self) -> QueryLimit {
        let place = self.source.database().ok();
        let about = place.and_then(|place| std::fs::metadata(place).ok());
        QueryLimit::for_bytes(about.map_or(0, |about| about.len()))
    }

    /// Ranges of row numbers, about equally long, one for each thread.
    fn row_ranges(&self, query: &Query<'_>, threads: usize) -> Vec<(i64, i64)> {
        let asked = format!("select min(rowid), max(rowid) from {}", quoted(query.table));
        let mut ends = None;
        // Views and tables without row numbers are read at one go.
        let found = self.raw(&asked, &mut |row| ends = row.int(0).zip(row.int(1)));
        let (Ok(()), Some((first, last)), None) = (found, ends, query.only) else {
            return Vec::new();
        };
        let span = last.saturating_sub(first);
        if span < WORTH_SPLITTING || threads < 2 {
            return Vec::new();
        }
        let step = span / threads as i64 + 1;
        (0..threads as i64)
            .map(|part| {
                let from = first.saturating_add(step.saturating_mul(part));
                (from, from.saturating_add(step - 1).min(last))
            })
            .collect()
    }

    /// The question for a table that is there.
    fn sql(&self, query: &Query<'_>, stretch: Option<(i64, i64)>) -> Option<String> {
        let known = self.columns(query.table);
        if known.is_empty() {
            return None;
        }
        let has = |column: &str| known.iter().any(|name| name == column);
        let wanted: Vec<String> = query
            .columns
            .iter()
            .map(|column| match *column {
                "rowid" => "rowid".to_owned(),
                column if has(column) => quoted(column),
                _ => "null".to_owned(),
            })
            .collect();
        let mut sql = format!("select {} from {}", wanted.join(", "), quoted(query.table));
        if let Some((from, to)) = stretch {
            sql += &format!(" where rowid between {from} and {to}");
        } else if let Some((column, text)) = query.only.filter(|(column, _)| has(column)) {
            let text = text.replace('\'', "''");
            sql += &format!(" where {} = '{text}'", quoted(column));
        }
        Some(sql)
    }
}

/// A name as SQL has it, so that `end` is a column and not a word of the language.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Rows that a view may make for each byte of the file: a table has fewer.
const ROWS_FOR_A_BYTE: u64 = 1;
/// Bytes of text that may come out of any file, and more for each byte: joined tables repeat their names.
const TEXT_FOR_ALL: u64 = 1 << 30;
const TEXT_FOR_A_BYTE: u64 = 32;

/// Limit of the rows and the text of a query, so that a view does not fill the memory.
#[derive(Clone, Copy, Debug)]
struct QueryLimit {
    rows: u64,
    text: u64,
}

impl QueryLimit {
    fn for_bytes(bytes: u64) -> Self {
        Self {
            rows: bytes.saturating_mul(ROWS_FOR_A_BYTE),
            text: TEXT_FOR_ALL.saturating_add(bytes.saturating_mul(TEXT_FOR_A_BYTE)),
        }
    }

    /// Whether a row is beyond it; counts its text.
    fn is_reached(&mut self, rows: u64, row: &Row<'_>, columns: usize) -> bool {
        let length = |column: usize| match row.get_ref(column) {
            Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len() as u64,
            _ => 0,
        };
        let text: u64 = (0..columns).map(length).sum();
        let left = self.text.checked_sub(text);
        self.text = left.unwrap_or(0);
        rows > self.rows || left.is_none()
    }
}

/// Steps through the rows of a question.
fn run(
    (database, mut most): (&Connection, QueryLimit),
    sql: &str,
    tick: &dyn Fn(u64) -> Result<(), ImportError>,
    each: &mut dyn FnMut(&Cells<'_, '_>) -> bool,
) -> Result<ReadTally, ImportError> {
    let mut seen = ReadTally::default();
    let mut step = || -> rusqlite::Result<Result<Option<String>, ImportError>> {
        let mut statement = database.prepare(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if most.is_reached(seen.rows + 1, row, columns) {
                let why = "more comes out of it than the file can hold";
                return Ok(Ok(Some(why.to_owned())));
            }
            seen.rows += 1;
            if !each(&Cells(row)) {
                seen.unread += 1;
            }
            if seen.rows.is_multiple_of(TICK)
                && let Err(stopped) = tick(seen.rows)
            {
                return Ok(Err(stopped));
            }
        }
        Ok(Ok(None))
    };
    match step() {
        Ok(stopped) => seen.broken = stopped?,
        Err(error) => seen.broken = Some(error.to_string()),
    }
    Ok(seen)
}

impl ReadTally {
    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.unread += other.unread;
        self.broken = self.broken.take().or(other.broken);
    }

    /// Notes errors of a table.
    pub fn note_errors(&self, table: &str, source: &ImportSource, into: &mut Imported) {
        let of = format!("{table} in {}", source.name());
        let fate = "could not be read: not only times and numbers";
        into.note_some(self.unread, "row", &of, fate);
        if let Some(reason) = &self.broken {
            into.note(format!(
                "{table} in {} is damaged or cut off after {} ({reason}): what stands before that was read",
                source.name(),
                humanize::pluralised(self.rows, "row")
            ));
        }
    }
}

impl Cells<'_, '_> {
    /// A whole number; text and floats that are one count too.
    pub fn int(&self, column: usize) -> Option<i64> {
        match self.0.get_ref(column).ok()? {
            ValueRef::Integer(value) => Some(value),
            ValueRef::Real(value) if value.is_finite() => Some(value.round() as i64),
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    pub fn real(&self, column: usize) -> Option<f64> {
        let value = match self.0.get_ref(column).ok()? {
            ValueRef::Integer(value) => value as f64,
            ValueRef::Real(value) => value,
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok()?,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }

    /// Writes what stands there behind a text; nothing for what is no text and no number.
    pub fn write(&self, column: usize, text: &mut String) {
        match self.0.get_ref(column) {
            Ok(ValueRef::Text(words)) => text.push_str(&String::from_utf8_lossy(words)),
            // A text takes everything.
            Ok(ValueRef::Integer(value)) => drop(write!(text, "{value}")),
            Ok(ValueRef::Real(value)) => drop(write!(text, "{value}")),
            _ => {}
        }
    }

    /// A text that is not empty; numbers are written out.
    pub fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        let text = match self.0.get_ref(column).ok()? {
            ValueRef::Text(text) => String::from_utf8_lossy(text),
            ValueRef::Integer(value) => Cow::Owned(value.to_string()),
            ValueRef::Real(value) => Cow::Owned(value.to_string()),
            ValueRef::Null | ValueRef::Blob(_) => return None,
        };
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::limits::Limits;

    #[test]
    fn a_view_gives_no_more_than_the_file_can_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let database = Connection::open(&path).unwrap();
        database.execute_batch("create table t (x); begin").unwrap();
        for number in 0..300 {
            database
                .execute("insert into t values (?)", [number])
                .unwrap();
        }
        database
            .execute_batch("commit; create view v as select a.x as x from t a, t b, t c;")
            .unwrap();
        drop(database);
        let source = ImportSource::open(&path, Limits::default()).unwrap();
        let base = OpenDatabase::open(&source, &mut Imported::default()).unwrap();
        let read = |table: &str| {
            let query = Query::all(table, &["x"]);
            base.each(&query, &ReadProgress::default(), |_| true)
                .unwrap()
        };
        assert_eq!((read("t").rows, read("t").broken), (300, None));
        let seen = read("v");
        assert!(seen.rows <= source.bytes(), "{seen:?}");
        assert!(seen.broken.unwrap().contains("than the file can hold"));
    }

    #[test]
    fn text_out_of_nothing_ends() {
        let mut most = QueryLimit::for_bytes(1000);
        most.text = 10;
        let database = Connection::open_in_memory().unwrap();
        let mut statement = database.prepare("select 'seven s' as a, 1 as b").unwrap();
        let mut rows = statement.query([]).unwrap();
        let row = rows.next().unwrap().unwrap();
        assert!(!most.is_reached(1, row, 2));
        assert!(most.is_reached(2, row, 2), "fourteen letters");
    }
}
