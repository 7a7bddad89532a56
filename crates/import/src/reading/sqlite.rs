//! Databases: opened for reading alone, whatever else is missing beside them.
//!
//! A database may bring views of its own under the names of the tables that are asked for, so what a question
//! may do is limited: known functions, no recursion, so many steps for the size of the file.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

/// The format in words, for messages about any database.
pub(crate) const TITLE: &str = "a database of SQLite";

/// Functions that views of profilers use, and those of our own questions. None makes much out of little.
const FUNCTIONS: &[&str] = &[
    "->",
    "->>",
    "abs",
    "avg",
    "coalesce",
    "count",
    "ifnull",
    "iif",
    "instr",
    "json_extract",
    "length",
    "like",
    "lower",
    "ltrim",
    "max",
    "min",
    "nullif",
    "round",
    "rtrim",
    "substr",
    "substring",
    "sum",
    "total",
    "trim",
    "typeof",
    "upper",
];
/// Bytes that one value may have.
const LONGEST_VALUE: i32 = 64 << 20;
/// Steps of the database's machine between two looks at how many there were.
const STEPS_AT_ONCE: i32 = 1_000_000;
/// Steps that any file may take.
const STEPS_FOR_ALL: u64 = 2_000_000_000;
/// Steps more for each byte; a row takes dozens, and has dozens of bytes.
const STEPS_FOR_A_BYTE: u64 = 50;

/// Opens a database as it stands, without waiting for pending writes of another program.
pub fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
    let database = Connection::open_with_flags(uri(path), flags)?;
    limit(database, bytes)
}

/// Has a database do no more than reading asks for.
fn limit(mut database: Connection, bytes: u64) -> rusqlite::Result<Connection> {
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    database.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    database.authorizer(Some(allow))?;
    let most = STEPS_FOR_ALL.saturating_add(bytes.saturating_mul(STEPS_FOR_A_BYTE));
    let mut steps = 0_u64;
    database.progress_handler(
        STEPS_AT_ONCE,
        Some(move || {
            steps += STEPS_AT_ONCE as u64;
            steps > most
        }),
    )?;
    Ok(database)
}

fn allow(context: AuthContext<'_>) -> Authorization {
    let is_allowed = match context.action {
        AuthAction::Select | AuthAction::Read { .. } => true,
        AuthAction::Pragma { pragma_name, .. } => pragma_name == "table_info",
        AuthAction::Function { function_name } => {
            let name = function_name.to_ascii_lowercase();
            FUNCTIONS.contains(&name.as_str())
        }
        _ => false,
    };
    if is_allowed {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

/// The names of its tables and views.
pub fn tables(path: &Path) -> rusqlite::Result<Vec<String>> {
    let database = open(path)?;
    let mut rows = database
        .prepare("select name from sqlite_master where type in ('table', 'view') order by name")?;
    rows.query_map([], |row| row.get(0))?.collect()
}

/// A path as an address. `immutable` does without a log beside the file and without locks.
fn uri(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::limits::Limits;
    use crate::reading::source::ImportSource;

    #[test]
    fn odd_paths_are_addresses() {
        assert_eq!(
            uri(Path::new("/a b/50%?.db")),
            "file:/a%20b/50%25%3F.db?immutable=1"
        );
    }

    #[test]
    fn a_view_does_nothing_but_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("views.db");
        let database = Connection::open(&path).unwrap();
        database
            .execute_batch(
                "create table t (x); insert into t values (7), (8), (9);
                 create view plain as select max(x, 1) as x, lower('A') as word from t;
                 create view endless as with recursive n(x) as (select 1 union all select x + 1 from n)
                     select x from n;
                 create view large as select zeroblob(1000000000) as x;
                 create view long as select printf('%1000000d', x) as x from t;
                 create view file as select load_extension('/tmp/a.so') as x;",
            )
            .unwrap();
        drop(database);
        let database = open(&path).unwrap();
        let read = |table: &str| {
            let mut statement = database.prepare(&format!("select x from {table}"))?;
            let rows = statement.query_map([], |row| row.get::<_, i64>(0))?;
            rows.collect::<rusqlite::Result<Vec<i64>>>()
        };
        assert_eq!(read("t").unwrap(), [7, 8, 9]);
        assert_eq!(read("plain").unwrap(), [7, 8, 9]);
        for table in ["endless", "large", "long", "file"] {
            assert!(read(table).is_err(), "{table}");
        }
        for sql in [
            "attach 'other.db' as b",
            "pragma writable_schema = on",
            "insert into t values (1)",
        ] {
            assert!(database.execute_batch(sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn a_view_ends_however_much_it_would_count() {
        let database = Connection::open_in_memory().unwrap();
        database
            .execute_batch(
                "create table t (x); insert into t values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10);
                 create view v as select count(*) as x from t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k;",
            )
            .unwrap();
        // As for a file that was opened, with its steps nearly used up.
        let database = limit(database, 0).unwrap();
        let counted = database.query_row("select x from v", [], |row| row.get::<_, i64>(0));
        let error = counted.unwrap_err().to_string();
        assert!(error.contains("interrupted"), "{error}");
    }

    #[test]
    fn a_database_that_is_cut_off_is_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b?.db");
        let database = Connection::open(&path).unwrap();
        database
            .execute_batch("create table t (x); insert into t values (zeroblob(90000));")
            .unwrap();
        drop(database);
        let source = ImportSource::open(&path, Limits::default()).unwrap();
        assert_eq!(tables(&path).unwrap(), ["t"]);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..50]).unwrap();
        let error = source.head_of(b"SQLite format 3\0").unwrap_err();
        assert!(error.to_string().contains("cut off"), "{error}");
    }
}
