//! What the tests of importers share.

use std::path::{Path, PathBuf};

use super::source::{Limits, Source};
use super::watch::Watch;
use super::{Imported, read};
use crate::domain::trace::SliceKind;

/// Where a fixture is.
pub(super) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(name)
}

/// A fixture, read.
pub(super) fn fixture(name: &str) -> Imported {
    read(&path(name), Limits::default(), &Watch::default()).unwrap()
}

/// Reads some bytes as a file of this name.
pub(super) fn bytes(name: &str, bytes: &[u8]) -> Result<Imported, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    at(&path)
}

/// Reads a file.
pub(super) fn at(path: &Path) -> Result<Imported, String> {
    read(path, Limits::default(), &Watch::default()).map_err(|error| error.to_string())
}

/// A database made of some SQL, in a folder that goes with it.
pub(super) fn database(sql: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch(sql).unwrap();
    (folder, path)
}

/// A fixture's bytes, unpacked.
pub(super) fn unpacked(name: &str) -> Vec<u8> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let source = Source::open(&path(name), Limits::default()).unwrap();
    source.stream().unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Slices of a kind, and their time together.
pub(super) fn sum(imported: &Imported, kind: SliceKind) -> (usize, u64) {
    let of_kind = imported.trace.slices().filter(|slice| slice.kind == kind);
    of_kind.fold((0, 0), |(count, sum), slice| {
        (count + 1, sum + slice.duration_ns)
    })
}

/// The names of a kind with how often they are there and their time, longest first.
pub(super) fn top(imported: &Imported, kind: SliceKind) -> Vec<(String, u64, u64)> {
    let mut found: std::collections::BTreeMap<u32, (u64, u64)> = Default::default();
    for slice in imported.trace.slices().filter(|slice| slice.kind == kind) {
        let of_name = found.entry(slice.name).or_default();
        of_name.0 += 1;
        of_name.1 += slice.duration_ns;
    }
    let mut list: Vec<(String, u64, u64)> = found
        .into_iter()
        .map(|(name, (count, sum))| (imported.trace.names.get(name).to_owned(), count, sum))
        .collect();
    list.sort_by_key(|row| std::cmp::Reverse(row.2));
    list
}

/// The share of a time, in percent with four decimals.
pub(super) fn share(part: u64, whole: u64) -> String {
    format!("{:.4}", part as f64 * 100.0 / whole as f64)
}

/// Damages a file in many ways, none of which may do more than cost what is damaged.
pub(super) fn survives(name: &str, whole: &[u8], steps: usize) {
    for step in 0..=steps {
        let cut = whole.len() * step / steps;
        drop(bytes(name, &whole[..cut]));
        let mut noise = whole.to_vec();
        // Some bytes change at places that differ from step to step.
        let mut seed = step as u64 * 7919 + 1;
        for _ in 0..40 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let place = (seed >> 20) as usize % noise.len().max(1);
            if let Some(byte) = noise.get_mut(place) {
                *byte = (seed >> 8) as u8;
            }
        }
        drop(bytes(name, &noise));
    }
}
