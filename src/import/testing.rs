//! What the tests of importers have in common.

use std::fs;
use std::path::{Path, PathBuf};

use super::source::Limits;
use super::watch::Watch;
use super::{ImportError, Imported, read};

/// Where a file of another tool lies.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(name)
}

/// What is in a file of another tool.
pub fn fixture(name: &str) -> Imported {
    read(&path(name), Limits::default(), &Watch::default()).unwrap()
}

/// What is in a file with this text.
pub fn import_text(name: &str, text: &[u8]) -> Result<Imported, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    read(&path, Limits::default(), &Watch::default())
}
