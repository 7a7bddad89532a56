//! What ARCHITECTURE.md rules: its two tables, and the paths it names.
//!
//! The tables are found by their heading rows. A table that is missing or says something that cannot be
//! understood is an error, so that no slip on the page silently switches a rule off.

use std::collections::{BTreeMap, BTreeSet};

/// Heading of the table of who may use whom.
const LAYERS_HEADING: [&str; 2] = ["module", "may use"];
/// Heading of the table of fenced crates.
const FENCES_HEADING: [&str; 2] = ["outside crate", "only in"];
/// What a module without a layer below it has in its second cell.
const NOTHING_BELOW: &str = "outside crates only";
/// Folders that a path on the page may begin with.
const ROOTS: [&str; 9] = [
    ".ci/",
    "assets/",
    "benches/",
    "crates/",
    "docs/",
    "examples/",
    "sessions/",
    "src/",
    "tests/",
];

/// The rules of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What each module may use, besides itself.
    pub layers: BTreeMap<String, BTreeSet<String>>,
    /// What may be used in some places only.
    pub fences: Vec<Fence>,
}

/// One crate, or one item of a crate, that stays in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Its path: `ort`, or `std`, `process`, `Command`.
    pub path: Vec<String>,
    /// Files, and folders with a slash at the end, where it may be used.
    pub homes: Vec<String>,
}

/// Reads both tables.
pub fn rules(page: &str) -> Result<Rules, String> {
    let mut rules = Rules::default();
    for (line, [modules, below]) in table(page, LAYERS_HEADING)? {
        let below =
            modules_below(&below).map_err(|why| format!("ARCHITECTURE.md:{line}: {why}"))?;
        for module in quoted(&modules) {
            if rules.layers.insert(module.clone(), below.clone()).is_some() {
                return Err(format!(
                    "ARCHITECTURE.md:{line}: a second row for `{module}`: keep one"
                ));
            }
        }
    }
    for (line, [crates, homes]) in table(page, FENCES_HEADING)? {
        let homes = quoted(&homes);
        if homes.is_empty() || quoted(&crates).is_empty() {
            return Err(format!(
                "ARCHITECTURE.md:{line}: put the crate and its places in backticks"
            ));
        }
        let paths = quoted(&crates)
            .into_iter()
            .map(|path| path.split("::").map(str::to_owned).collect());
        rules.fences.extend(paths.map(|path| Fence {
            path,
            homes: homes.clone(),
        }));
    }
    let unknown = rules
        .layers
        .values()
        .flatten()
        .find(|used| !rules.layers.contains_key(*used));
    match unknown {
        Some(name) => Err(format!(
            "ARCHITECTURE.md: a module may use `{name}`, which has no row: add it"
        )),
        None => Ok(rules),
    }
}

/// Every path that the page names, with its line: words that begin with one of our folders.
pub fn named_paths(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in page.lines().enumerate() {
        for word in line.split(|c: char| c.is_whitespace() || "`()|,".contains(c)) {
            let word = word.trim_end_matches(['.', ':', ';']);
            if ROOTS.iter().any(|root| word.starts_with(root)) {
                found.push((index + 1, word.to_owned()));
            }
        }
    }
    found
}

/// Rows of the table under this heading, with their lines.
fn table(page: &str, heading: [&str; 2]) -> Result<Vec<(usize, [String; 2])>, String> {
    let numbered = || (1..).zip(page.lines());
    let missing = || {
        format!(
            "ARCHITECTURE.md: no table headed `| {} |`: put it back",
            heading.join(" | ")
        )
    };
    let (start, _) = numbered()
        .find(|(_, line)| cells(line).is_some_and(|row| row == heading))
        .ok_or_else(missing)?;
    let mut rows = Vec::new();
    // The row of dashes comes first.
    for (line, text) in numbered()
        .skip(start + 1)
        .take_while(|(_, text)| text.starts_with('|'))
    {
        let row = cells(text)
            .ok_or_else(|| format!("ARCHITECTURE.md:{line}: not two cells: `{text}`"))?;
        rows.push((line, row));
    }
    if rows.is_empty() {
        Err(missing())
    } else {
        Ok(rows)
    }
}

/// The cells of a table row, where it has two.
fn cells(line: &str) -> Option<[String; 2]> {
    let (left, right) = line
        .trim()
        .strip_prefix('|')?
        .strip_suffix('|')?
        .split_once('|')?;
    (!right.contains('|')).then(|| [left.trim().to_owned(), right.trim().to_owned()])
}

fn modules_below(cell: &str) -> Result<BTreeSet<String>, String> {
    if cell == NOTHING_BELOW {
        return Ok(BTreeSet::new());
    }
    let names: BTreeSet<String> = cell.split(',').map(|name| name.trim().to_owned()).collect();
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_lowercase())
    };
    if names.iter().all(is_name) {
        Ok(names)
    } else {
        Err(format!(
            "write module names with commas between them, or `{NOTHING_BELOW}`, not `{cell}`"
        ))
    }
}

/// What stands in backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}
