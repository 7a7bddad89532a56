//! Files to begin with: real ones of every format, a few made ones, and databases as scripts, which are
//! damaged as text so that what comes out is still a database.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use powerband_core::domain::trace::Trace;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::{ImportSource, Limits};
use powerband_import::{self as import, Imported};
use powerband_store::trace_file;

/// Packed files may not grow beyond this.
pub(super) const LIMITS: Limits = Limits {
    unpacked: 10_000_000,
    keeps_args: true,
};
/// Of larger files the beginning is taken: the rest is only the same again.
const LARGEST: u64 = 200_000;
/// The first line of a script that makes a database.
const SCRIPT: &[u8] = b"-- a database\n";
/// Rows of each table that a script has.
const ROWS: usize = 30;

/// Files with the identifier of their format, below the folder of the tests; empty for those that nobody knows.
pub(super) fn all(tests: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let mut paths = Vec::new();
    files_below(&tests.join("fixtures/import"), &mut paths);
    files_below(&tests.join("it/fuzzing/seeds"), &mut paths);
    paths.sort();
    let mut found: Vec<(&str, Vec<u8>)> = Vec::new();
    for path in &paths {
        for bytes in versions(path) {
            found.push((format_of(&bytes), bytes));
        }
    }
    let own = own_trace(&found);
    found.push((format_of(&own), own));
    found
}

pub(super) fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// A file unpacked, and as a script where it is a database.
fn versions(path: &Path) -> Vec<Vec<u8>> {
    if path.extension().is_some_and(|ending| ending == "sql") {
        return vec![[SCRIPT, &fs::read(path).unwrap()].concat()];
    }
    let source = ImportSource::open(path, LIMITS).unwrap();
    let mut bytes = Vec::new();
    let mut stream = source.stream().unwrap().take(LARGEST);
    stream.read_to_end(&mut bytes).unwrap();
    if bytes.starts_with(b"SQLite format 3") {
        let whole = source.database().unwrap();
        let mut versions = vec![script(whole)];
        if whole.metadata().unwrap().len() <= LARGEST {
            versions.push(bytes);
        }
        versions
    } else {
        vec![bytes]
    }
}

/// What makes the tables of a database and a few rows of each, a statement a line.
fn script(path: &Path) -> Vec<u8> {
    let database = Connection::open(path).unwrap();
    let mut made = database
        .prepare("select sql, name, type from sqlite_master where sql is not null order by rowid")
        .unwrap();
    let mut rows = made.query([]).unwrap();
    let mut script = String::from_utf8_lossy(SCRIPT).into_owned();
    while let Some(row) = rows.next().unwrap() {
        let (sql, name, what): (String, String, String) =
            (row.get_unwrap(0), row.get_unwrap(1), row.get_unwrap(2));
        if name.starts_with("sqlite_") {
            continue;
        }
        let lines = sql
            .lines()
            .map(|line| line.split("--").next().unwrap_or_default());
        script.push_str(&lines.collect::<Vec<&str>>().join(" "));
        script.push_str(";\n");
        if what == "table" {
            script.push_str(&inserts(&database, &name));
        }
    }
    script.into_bytes()
}

fn inserts(database: &Connection, table: &str) -> String {
    let mut statement = database
        .prepare(&format!("select * from \"{table}\" limit {ROWS}"))
        .unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut lines = String::new();
    while let Some(row) = rows.next().unwrap() {
        let values: Vec<String> = (0..columns)
            .map(|column| match row.get_ref_unwrap(column) {
                ValueRef::Null => "null".to_owned(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Real(number) => number.to_string(),
                ValueRef::Text(text) | ValueRef::Blob(text) => {
                    let text = String::from_utf8_lossy(text);
                    format!("'{}'", text.replace('\'', "''").replace('\n', " "))
                }
            })
            .collect();
        lines.push_str(&format!(
            "insert into \"{table}\" values ({});\n",
            values.join(", ")
        ));
    }
    lines
}

/// A timeline as the program itself keeps it.
fn own_trace(found: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (_, profile) = found.iter().find(|(id, _)| *id == "onnxruntime").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    fs::write(&from, &profile[..20_000]).unwrap();
    let trace: Trace = import::read(&from, LIMITS, &ReadProgress::default()).map_or_else(
        |error| panic!("{error}"),
        |imported: Imported| imported.trace,
    );
    let to = folder.path().join("to.json.gz");
    trace_file::write(&to, &trace).unwrap();
    versions(&to).remove(0)
}

fn format_of(bytes: &[u8]) -> &'static str {
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.path(), bytes);
    let source = ImportSource::open(file.path(), LIMITS).unwrap();
    import::sniff(&source).map_or("", |format| format.id)
}

/// Writes a file; a script is carried out, as far as each of its lines can be.
pub(super) fn write(path: &Path, bytes: &[u8]) {
    if !bytes.starts_with(SCRIPT) {
        fs::write(path, bytes).unwrap();
        return;
    }
    if path.exists() {
        fs::remove_file(path).unwrap();
    }
    let database = Connection::open(path).unwrap();
    let quick =
        "pragma journal_mode = memory; pragma synchronous = off; pragma foreign_keys = off; begin;";
    database.execute_batch(quick).unwrap();
    for line in String::from_utf8_lossy(bytes).lines() {
        drop(database.execute_batch(line));
    }
    drop(database.execute_batch("commit;"));
}
