//! The rules of one file or page: from its text to its offences.
//!
//! An offence is one line: the place, what is wrong, and what to do. Nothing here touches the disk.

/// A file that is longer holds more than one idea.
pub(super) const MAX_FILE_LINES: usize = 600;
/// Folders that a path on the page may begin with.
const ROOTS: [&str; 9] = [
    ".ci/",
    "assets/",
    "benches/",
    "crates/",
    "docs/",
    "scripts/",
    "sessions/",
    "src/",
    "tests/",
];

/// A file that does not open with a comment on what it is for.
pub(super) fn missing_head(path: &str, text: &str) -> Vec<String> {
    let first = text.lines().next().unwrap_or_default();
    if first
        .strip_prefix("//!")
        .is_some_and(|head| !head.trim().is_empty())
    {
        return Vec::new();
    }
    vec![format!(
        "{path}:1: does not open with `//!`: say what the file is for"
    )]
}

/// A file that is too long.
pub(super) fn long_file(path: &str, text: &str) -> Vec<String> {
    let n_lines = text.lines().count();
    if n_lines <= MAX_FILE_LINES {
        return Vec::new();
    }
    vec![format!(
        "{path}:{n_lines}: more than {MAX_FILE_LINES} lines: split it by idea"
    )]
}

/// Paths that the page names and that do not exist.
pub(super) fn stale_paths(page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut offences = Vec::new();
    for (index, line) in page.lines().enumerate() {
        for word in line.split(|c: char| c.is_whitespace() || "`()|,".contains(c)) {
            let path = word.trim_end_matches(['.', ':', ';']);
            if ROOTS.iter().any(|root| path.starts_with(root)) && !exists(path) {
                offences.push(format!(
                    "ARCHITECTURE.md:{}: `{path}` does not exist: correct the page, or add it",
                    index + 1
                ));
            }
        }
    }
    offences
}
