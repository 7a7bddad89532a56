//! What the tests of importers share.

use std::path::{Path, PathBuf};

use super::source::{Limits, Source};
use super::watch::Watch;
use super::{ImportError, Imported, Importer};

/// Where a real file of another tool lies.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/import")
        .join(name)
}

/// A real file of another tool, as bytes.
pub fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

/// A real file of another tool, recognised and read.
pub fn fixture(name: &str) -> Imported {
    super::read(&path(name), Limits::default(), &Watch::default()).unwrap()
}

/// Some bytes as a file, recognised and read.
pub fn imported(content: impl AsRef<[u8]>) -> Result<Imported, ImportError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    super::read(file.path(), Limits::default(), &Watch::default())
}

/// Some bytes as a file, read by one importer whether it recognises them or not.
pub fn read_by(importer: &dyn Importer, content: &[u8]) -> Result<Imported, ImportError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    let source = Source::open(file.path(), Limits::default())?;
    let mut into = Imported::default();
    importer.read(&source, &Watch::default(), &mut into)?;
    Ok(into)
}

/// Cuts a file at many places and damages it at many others: whatever comes out, nothing panics.
pub fn survives(importer: &dyn Importer, content: &[u8]) {
    let step = (content.len() / 150).max(1);
    for end in (0..content.len()).step_by(step) {
        drop(read_by(importer, &content[..end]));
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
    for _ in 0..150 {
        let mut damaged = content.to_vec();
        for _ in 0..=next(4) {
            let from = next(damaged.len());
            let to = (from + next(12)).min(damaged.len());
            let word = odd[next(odd.len())];
            drop(damaged.splice(from..to, word.iter().copied()));
        }
        drop(read_by(importer, &damaged));
    }
}
