//! Shared code of the tests of importers.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{Format, ImportError, Imported, read, read_all};
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::{ImportSource, Limits};
use powerband_core::domain::trace::SliceKind;

/// Where a fixture is.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/import")
        .join(name)
}

/// What a fixture holds.
pub fn fixture(name: &str) -> Imported {
    fixtures(&[name])
}

/// What several fixtures of one run hold together.
pub fn fixtures(names: &[&str]) -> Imported {
    let paths: Vec<PathBuf> = names.iter().map(|name| path(name)).collect();
    read_all(&paths, Limits::default(), &ReadProgress::default()).unwrap()
}

/// What a file with this name and these bytes holds.
pub fn bytes(name: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    read(&path, Limits::default(), &ReadProgress::default())
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

/// A fixture's bytes.
pub fn raw(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap()
}

/// A fixture's bytes, unpacked.
pub fn unpacked(name: &str) -> Vec<u8> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let source = ImportSource::open(&path(name), Limits::default()).unwrap();
    source.stream().unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Some bytes as a file that could be called anything, recognised and read.
pub fn imported(content: impl AsRef<[u8]>) -> Result<Imported, ImportError> {
    bytes("file", content.as_ref())
}

/// Kind, name, track, start, length and link of every slice.
pub fn slices(imported: &Imported) -> Vec<(SliceKind, &str, String, i64, u64, u64)> {
    let trace = &imported.trace;
    let slices = trace.slices();
    slices
        .map(|slice| {
            let track = &trace.tracks[slice.track as usize];
            (
                slice.kind,
                trace.names.get(slice.name),
                format!("{}/{}", track.group, track.name),
                slice.start_ns,
                slice.duration_ns,
                slice.link,
            )
        })
        .collect()
}

/// Names in the sums with their counts and times.
pub fn totals(imported: &Imported) -> Vec<(&str, u64, u64)> {
    let totals = imported.totals.iter();
    totals
        .map(|total| (total.name.as_str(), total.calls, total.total_ns))
        .collect()
}

/// Slices of a kind, and their time together.
pub fn sum(imported: &Imported, kind: SliceKind) -> (usize, u64) {
    let sums = sums(imported, kind);
    sums.iter().fold((0, 0), |(count, sum), (_, calls, ns)| {
        (count + *calls as usize, sum + ns)
    })
}

/// The share of a time, in percent with four decimals.
pub fn share(part: u64, whole: u64) -> String {
    format!("{:.4}", part as f64 * 100.0 / whole as f64)
}

/// Some bytes as a file, read as one format whether it recognises them or not.
pub fn read_by(format: &Format, content: &[u8]) -> Result<Imported, ImportError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), content).unwrap();
    let source = ImportSource::open(file.path(), Limits::default())?;
    let mut into = Imported::default();
    format.read(&source, &ReadProgress::default(), &mut into)?;
    Ok(into)
}

/// Cuts a file at many places and damages it at many others: whatever comes out, nothing panics.
pub fn survives(format: &Format, content: &[u8]) {
    damage(content, 150, |damaged| drop(read_by(format, damaged)));
}

/// The same for a file with a name, recognised first.
pub fn survives_as(name: &str, content: &[u8], times: usize) {
    damage(content, times, |damaged| drop(bytes(name, damaged)));
}

/// Cuts a file at many places and damages it at many others, and has each one read.
pub fn damage(content: &[u8], times: usize, read: impl Fn(&[u8])) {
    let step = (content.len() / times).max(1);
    for end in (0..content.len()).step_by(step) {
        read(&content[..end]);
    }
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    let odd: [&[u8]; 12] = [
        b"",
        b"\"",
        b"{",
        b"]",
        b"-",
        b"NaN",
        b"1e999",
        b"18446744073709551616",
        b"\n",
        b";;,,",
        b"\xff\xc3",
        "µ".as_bytes(),
    ];
    for _ in 0..times {
        let mut damaged = content.to_vec();
        for _ in 0..=next(4) {
            let from = next(damaged.len());
            let to = (from + next(12)).min(damaged.len());
            let word = odd[next(odd.len())];
            drop(damaged.splice(from..to, word.iter().copied()));
        }
        read(&damaged);
    }
}

/// Reads a file, with the error as text.
pub fn read_path(path: &Path) -> Result<Imported, String> {
    read(path, Limits::default(), &ReadProgress::default()).map_err(|error| error.to_string())
}

/// A database made of some SQL, in a folder that goes with it.
pub fn database(sql: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch(sql).unwrap();
    (folder, path)
}

/// The names of the nodes of a file's graph, which every time that it has is one of.
pub(crate) fn names_of_nodes(imported: &Imported) -> Vec<&str> {
    let network = imported.network.as_ref().unwrap();
    let names = network.nodes.iter().map(|node| node.name.as_str());
    let names: Vec<&str> = names.collect();
    let mut totals = imported.totals.iter();
    assert!(totals.all(|total| names.contains(&total.name.as_str())));
    names
}
