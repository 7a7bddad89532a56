//! Small files of the kernel, read as what they hold.

use std::fs;
use std::path::{Path, PathBuf};

/// The text of a file without the line break at its end; nothing where it cannot be read or is empty.
pub(super) fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The number in a file.
pub(super) fn number(path: &Path) -> Option<f64> {
    text(path)?.parse().ok()
}

/// What is in a folder, in the order of the names; empty where it cannot be read.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The last part of a path as text.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The first word after a name and a colon, in a text that has one of them a line.
pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()
}

/// The bytes in a line such as `MemTotal:       16316412 kB`.
pub(crate) fn kibibytes(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.parse::<u64>().ok()?.checked_mul(1024)
}
