//! The rules of the house, as tests: layers, fences, heads and lengths.
//!
//! Reads the tables of ARCHITECTURE.md and holds the files below src/ to them. Test code in a file
//! follows the same rules as the rest of it. `planted` shows that each rule finds what it should.

mod lexer;
mod page;
mod planted;
mod rules;
mod uses;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file below the root: its path with forward slashes, and its text.
type SourceFile = (String, String);

#[test]
fn layers_use_only_what_their_row_allows() -> io::Result<()> {
    let rules = rules_of_page()?;
    assert_none(&offences_in(&["src"], |path, text| {
        rules::forbidden_uses(path, text, &rules)
    })?);
    Ok(())
}

#[test]
fn fenced_crates_stay_in_their_place() -> io::Result<()> {
    let rules = rules_of_page()?;
    assert_none(&offences_in(&["src"], |path, text| {
        rules::fence_breaks(path, text, &rules)
    })?);
    Ok(())
}

#[test]
fn modules_and_rows_agree() -> io::Result<()> {
    let lib = read(&root().join("src/lib.rs"))?;
    assert_none(&rules::rows_and_modules(
        &rules_of_page()?,
        &top_modules()?,
        &lib,
    ));
    Ok(())
}

#[test]
fn fenced_crates_are_dependencies() -> io::Result<()> {
    let manifest = read(&root().join("Cargo.toml"))?;
    let names: BTreeSet<String> = manifest
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim().replace('-', "_"))
        .collect();
    for fence in rules_of_page()?.fences {
        let name = fence.path.first().cloned().unwrap_or_default();
        assert!(
            name == "std" || names.contains(&name),
            "ARCHITECTURE.md: a fence for `{name}`, which is not in Cargo.toml: correct its name, or take it off the table"
        );
    }
    Ok(())
}

#[test]
fn files_open_with_what_they_are_for() -> io::Result<()> {
    assert_none(&offences_in(
        &["src", "tests", "benches"],
        rules::missing_head,
    )?);
    Ok(())
}

#[test]
fn files_are_short() -> io::Result<()> {
    assert_none(&offences_in(
        &["src", "tests", "benches"],
        rules::long_file,
    )?);
    Ok(())
}

#[test]
fn functions_are_short() -> io::Result<()> {
    assert_none(&offences_in(
        &["src", "tests", "benches"],
        rules::long_functions,
    )?);
    Ok(())
}

#[test]
fn paths_on_the_page_exist() -> io::Result<()> {
    assert_none(&rules::stale_paths(&architecture()?, |path| {
        root().join(path).exists()
    }));
    Ok(())
}

#[test]
fn every_folder_has_a_line_on_the_page() -> io::Result<()> {
    let named: BTreeSet<String> = page::named_paths(&architecture()?)
        .into_iter()
        .map(|(_, path)| path)
        .collect();
    let folders: BTreeSet<String> = source_files("src")?
        .iter()
        .filter_map(|(path, _)| path.rsplit_once('/'))
        .map(|(folder, _)| format!("{folder}/"))
        .collect();
    for folder in folders.difference(&named) {
        assert!(
            folder == "src/",
            "{folder}: not in the tree of ARCHITECTURE.md: give it a line there"
        );
    }
    Ok(())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn architecture() -> io::Result<String> {
    read(&root().join("ARCHITECTURE.md"))
}

fn rules_of_page() -> io::Result<page::Rules> {
    page::rules(&architecture()?).map_err(io::Error::other)
}

/// What a rule finds in all Rust files of some folders.
fn offences_in(
    folders: &[&str],
    rule: impl Fn(&str, &str) -> Vec<String>,
) -> io::Result<Vec<String>> {
    let mut offences = Vec::new();
    for folder in folders {
        for (path, text) in source_files(folder)? {
            offences.extend(rule(&path, &text));
        }
    }
    Ok(offences)
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

/// The folders and files at the top of src/ that are modules, `main` among them.
fn top_modules() -> io::Result<Vec<String>> {
    let tops: BTreeSet<String> = source_files("src")?
        .iter()
        .filter_map(|(path, _)| path.split('/').nth(1))
        .map(|top| top.trim_end_matches(".rs").to_owned())
        .filter(|top| top != "lib")
        .collect();
    Ok(tops.into_iter().collect())
}

fn below_root(path: &Path) -> String {
    let below: PathBuf = path.strip_prefix(root()).unwrap_or(path).to_owned();
    below.to_string_lossy().replace('\\', "/")
}

fn assert_none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}\n", offences.join("\n"));
}
