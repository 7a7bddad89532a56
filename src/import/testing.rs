//! What tests of importers have in common.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::source::Limits;
use super::watch::Watch;
use super::{ImportError, Imported, add, read};
use crate::domain::trace::SliceKind;

/// Where a fixture is.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(name)
}

/// What a fixture holds.
pub fn fixture(name: &str) -> Imported {
    fixtures(&[name])
}

/// What several fixtures of one run hold together.
pub fn fixtures(names: &[&str]) -> Imported {
    let mut imported = Imported::default();
    for name in names {
        add(
            &path(name),
            Limits::default(),
            &Watch::default(),
            &mut imported,
        )
        .unwrap();
    }
    imported
}

/// What a file with this name and these bytes holds.
pub fn bytes(name: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    read(&path, Limits::default(), &Watch::default())
}

/// What a text with this name holds.
pub fn text(name: &str, text: &str) -> Imported {
    bytes(name, text.as_bytes()).unwrap()
}

/// Reads a fixture cut after every few bytes: nothing may panic. Gives a figure of each that could be
/// read at all.
pub fn cut_everywhere<T>(name: &str, step: usize, figure: impl Fn(&Imported) -> T) -> Vec<T> {
    let whole = fs::read(path(name)).unwrap();
    let file = name.rsplit('/').next().unwrap();
    (0..whole.len())
        .step_by(step)
        .filter_map(|length| bytes(file, &whole[..length]).ok())
        .map(|imported| figure(&imported))
        .collect()
}

/// Names of one kind in the trace with their counts and times, longest first.
pub fn sums(imported: &Imported, kind: SliceKind) -> Vec<(String, u64, u64)> {
    let mut sums: Vec<(u32, u64, u64)> = Vec::new();
    for slice in imported.trace.slices().filter(|slice| slice.kind == kind) {
        match sums.iter_mut().find(|sum| sum.0 == slice.name) {
            Some(sum) => {
                sum.1 += 1;
                sum.2 += slice.duration_ns;
            }
            None => sums.push((slice.name, 1, slice.duration_ns)),
        }
    }
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.2));
    sums.into_iter()
        .map(|(name, calls, ns)| (imported.trace.names.get(name).to_owned(), calls, ns))
        .collect()
}
