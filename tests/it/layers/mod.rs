//! The rules of the house that no compiler holds: heads, lengths, circles of files, paths on the page.
//!
//! Who may use whom is in the Cargo.toml of each crate. `planted` shows that each rule finds what it should.

mod circles;
mod facts;
mod names;
mod planted;
mod rules;
mod security;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use facts::FileFacts;

/// A file below the root: its path with forward slashes, and its text.
type SourceFile = (String, String);

#[test]
fn files_open_with_what_they_are_for() -> io::Result<()> {
    assert_none(&offences(rules::missing_head)?);
    Ok(())
}

#[test]
fn files_are_short() -> io::Result<()> {
    assert_none(&offences(rules::long_file)?);
    Ok(())
}

#[test]
fn functions_say_what_they_return_or_do() {
    let found = FACTS
        .iter()
        .flat_map(|(path, facts)| names::riddles(path, facts));
    assert_none(&found.collect::<Vec<_>>());
}

#[test]
fn types_are_understood_without_their_module() {
    assert_none(&names::shared_type_names(&FACTS));
}

#[test]
fn texts_of_the_window_advise_no_options() -> io::Result<()> {
    assert_none(&offences(rules::advised_option)?);
    Ok(())
}

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    let mut crates: BTreeMap<String, BTreeMap<&str, &FileFacts>> = BTreeMap::new();
    for (path, facts) in FACTS.iter() {
        if let Some((folder, file)) = path.split_once("src/") {
            let files = crates.entry(format!("{folder}src/")).or_default();
            files.insert(file, facts);
        }
    }
    assert!(crates.len() > 8, "{} crates", crates.len());
    let found: Vec<String> = crates
        .iter()
        .flat_map(|(folder, files)| circles::circles(folder, files))
        .collect();
    assert_none(&found);
}

#[test]
fn paths_on_the_page_exist() -> io::Result<()> {
    let page = read(&root().join("ARCHITECTURE.md"))?;
    assert_none(&rules::stale_paths(&page, |path| {
        root().join(path).exists()
    }));
    Ok(())
}

#[test]
fn every_crate_has_a_line_on_the_page() -> io::Result<()> {
    let page = read(&root().join("ARCHITECTURE.md"))?;
    let crates: BTreeSet<String> = source_files("crates")?
        .iter()
        .filter_map(|(path, _)| path.split('/').nth(1))
        .map(|name| format!("`crates/{name}/`"))
        .collect();
    for name in crates {
        assert!(
            page.contains(&name),
            "{name}: not in the table of ARCHITECTURE.md: give it a line there"
        );
    }
    Ok(())
}

/// What the application and the findings stand on starts no process, reads no device and opens no database, so that
/// both can be shown where there are none.
#[test]
fn the_application_stands_on_nothing_that_measures() -> io::Result<()> {
    for name in ["app", "findings", "window"] {
        let mut below = BTreeSet::from([name.to_owned()]);
        let mut unread = vec![name.to_owned()];
        while let Some(name) = unread.pop() {
            let manifest = read(&root().join(format!("crates/{name}/Cargo.toml")))?;
            let used = manifest
                .split("[dev-dependencies]")
                .next()
                .unwrap_or_default();
            let used = used
                .lines()
                .filter_map(|line| line.strip_prefix("powerband-")?.split('.').next());
            let fresh = used.filter(|used| below.insert((*used).to_owned()));
            unread.extend(fresh.map(ToOwned::to_owned));
        }
        assert!(below.contains("core"), "{name}: {below:?}");
        let measures = ["devices", "worker", "runner", "import"].map(ToOwned::to_owned);
        let found: Vec<_> = below
            .intersection(&BTreeSet::from(measures))
            .cloned()
            .collect();
        assert!(found.is_empty(), "{name} stands on {found:?}");
    }
    Ok(())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What stands in each of our Rust files, read once for all rules.
static FACTS: LazyLock<BTreeMap<String, FileFacts>> = LazyLock::new(|| {
    let files = all_files().expect("our files can be read");
    let facts = files.into_iter().map(|(path, text)| {
        let facts = FileFacts::read(&path, &text);
        (path, facts)
    });
    facts.collect()
});

/// What a rule finds in all of our Rust files.
fn offences(rule: impl Fn(&str, &str) -> Vec<String>) -> io::Result<Vec<String>> {
    let files = all_files()?;
    Ok(files
        .iter()
        .flat_map(|(path, text)| rule(path, text))
        .collect())
}

fn all_files() -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    for folder in ["src", "crates", "tests", "benches"] {
        files.extend(source_files(folder)?);
    }
    Ok(files)
}

/// A file's text, or an error that names the file.
fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map_err(|why| io::Error::other(format!("{}: {why}", path.display())))
}

/// All Rust files of a folder, by path; none where there is no such folder.
fn source_files(folder: &str) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut waiting = vec![root().join(folder)];
    while let Some(folder) = waiting.pop().filter(|folder| folder.is_dir()) {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push((below_root(&path), read(&path)?));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn below_root(path: &Path) -> String {
    let below: PathBuf = path.strip_prefix(root()).unwrap_or(path).to_owned();
    below.to_string_lossy().replace('\\', "/")
}

fn assert_none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}\n", offences.join("\n"));
}
