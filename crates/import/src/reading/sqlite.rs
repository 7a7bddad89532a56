//! Databases: opened for reading alone, whatever else is missing beside them.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// The format in words, for messages about any database.
pub(crate) const TITLE: &str = "a database of SQLite";

/// Opens a database as it stands, without waiting for pending writes of another program.
pub fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri(path), flags)
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
    use crate::reading::source::Source;

    #[test]
    fn odd_paths_are_addresses() {
        assert_eq!(
            uri(Path::new("/a b/50%?.db")),
            "file:/a%20b/50%25%3F.db?immutable=1"
        );
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
        let source = Source::open(&path, Limits::default()).unwrap();
        assert_eq!(tables(&path).unwrap(), ["t"]);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..50]).unwrap();
        let error = source.head_of(b"SQLite format 3\0").unwrap_err();
        assert!(error.to_string().contains("cut off"), "{error}");
    }
}
