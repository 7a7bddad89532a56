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

/// Where texts come from that the window shows.
const SHOWN: [&str; 5] = [
    "crates/app/src/",
    "crates/findings/src/analysis/",
    "crates/findings/src/chart/",
    "crates/findings/src/tables/",
    "crates/window/src/",
];
/// Files below them that make or take commands as a whole.
const OF_COMMANDS: [&str; 2] = [
    "crates/app/src/option_names.rs",
    "crates/findings/src/analysis/repeat.rs",
];

/// Texts of the window that advise an option of the command line. Commands that are copied as a whole have theirs.
pub(super) fn advised_option(path: &str, text: &str) -> Vec<String> {
    let is_shown = SHOWN.iter().any(|folder| path.starts_with(folder));
    let is_test = path.contains("tests") || path.contains("testing");
    if !is_shown || is_test || OF_COMMANDS.contains(&path) {
        return Vec::new();
    }
    let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
    let advises = |line: &str| {
        let text = line.trim_start();
        let is_comment = text.starts_with("//");
        let is_command = text.starts_with("\"powerband ") || text.contains("sudo ");
        let mut dashes = line.match_indices("--");
        let is_option = |(at, _): (usize, &str)| {
            let before = line[..at].chars().next_back();
            let after = line[at + 2..].chars().next();
            before != Some('-') && after.is_some_and(|c| c.is_ascii_lowercase())
        };
        !is_comment && !is_command && dashes.any(is_option)
    };
    code.enumerate()
        .filter(|(_, line)| advises(line))
        .map(|(index, _)| {
            format!(
                "{path}:{}: advises an option in a text of the window: say what to do there",
                index + 1
            )
        })
        .collect()
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
