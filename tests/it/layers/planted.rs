//! Planted offenders: each rule finds its own, and leaves clean text alone.
//!
//! A checker that cannot fail is worth nothing.

use std::collections::BTreeMap;

use super::circles::circles;
use super::{names, rules};

/// Exactly one offence, which names this place and says this.
fn check_one(offences: &[String], place: &str, says: &str) {
    assert!(
        matches!(offences, [only] if only.starts_with(place) && only.contains(says)),
        "want one offence at {place} with {says:?}, got {offences:?}"
    );
}

fn check_none(offences: &[String]) {
    assert!(offences.is_empty(), "want none, got {offences:?}");
}

#[test]
fn a_missing_head_is_found() {
    check_one(
        &rules::missing_head("src/a.rs", "use std::fmt;\n//! Late."),
        "src/a.rs:1:",
        "`//!`",
    );
    check_one(
        &rules::missing_head("src/a.rs", "//!\n"),
        "src/a.rs:1:",
        "`//!`",
    );
    check_one(&rules::missing_head("src/a.rs", ""), "src/a.rs:1:", "`//!`");
    check_none(&rules::missing_head("src/a.rs", "//! What it is for.\n"));
}

#[test]
fn a_long_file_is_found() {
    check_one(
        &rules::long_file("src/a.rs", &"x\n".repeat(601)),
        "src/a.rs:601:",
        "600 lines",
    );
    check_none(&rules::long_file("src/a.rs", &"x\n".repeat(600)));
}

#[test]
fn a_function_whose_name_says_nothing_is_found() {
    let text = "impl Row {\n    /// fn of()\n    pub fn of(row: u8) -> Self {}\n}\n";
    check_one(&names::riddles("src/a.rs", text), "src/a.rs:3:", "`of`");
    check_none(&names::riddles(
        "src/a.rs",
        "fn rows_of(table: &Table) {}\n",
    ));
}

#[test]
fn a_type_name_that_is_shared_is_found() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let private = ["a", "b", "c", "d"].map(|name| {
        let path = format!("crates/core/src/{name}.rs");
        file(&path, "struct Row;\n")
    });
    check_one(&names::shared_type_names(&private), "`Row`", "4 times");
    check_none(&names::shared_type_names(&private[..3]));
    let public = [
        file("crates/core/src/a.rs", "pub(crate) enum Row {}\n"),
        file("crates/core/src/b.rs", "pub type Row = u8;\n"),
    ];
    check_one(
        &names::shared_type_names(&public),
        "`Row`",
        "2 public types of one crate",
    );
    let apart = [
        file("crates/core/src/a.rs", "pub struct Row;\n"),
        file("crates/store/src/a.rs", "pub struct Row;\n"),
        file("crates/store/src/b.rs", "impl A {\n    type Row = u8;\n}\n"),
    ];
    check_none(&names::shared_type_names(&apart));
}

#[test]
fn an_option_in_a_text_of_the_window_is_found() {
    let shown = "crates/findings/src/analysis/a.rs";
    let text = "//! --no text\nlet advice = \"give it more, for example --rounds 5\";\n";
    check_one(
        &rules::advised_option(shown, text),
        "crates/findings/src/analysis/a.rs:2:",
        "advises an option",
    );
    check_none(&rules::advised_option("src/cli/a.rs", text));
    let theirs = "const LOCK: &str = \"sudo cpupower --governor performance\";\n";
    check_none(&rules::advised_option(shown, theirs));
}

#[test]
fn a_stale_path_is_found() {
    let page = "Start at `src/gone.rs`, then `src/here.rs`.\n\n```\nsrc/here.rs   something, docs/elsewhere/\n```\n";
    let exists = |path: &str| path == "src/here.rs" || path == "docs/elsewhere/";
    check_one(
        &rules::stale_paths(page, exists),
        "ARCHITECTURE.md:1:",
        "`src/gone.rs` does not exist",
    );
    check_none(&rules::stale_paths(page, |_| true));
    assert_eq!(rules::stale_paths(page, |_| false).len(), 4);
}

/// The circles of a small crate.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let files: BTreeMap<String, String> = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    circles("crates/small/src/", &files)
}

#[test]
fn a_circle_is_found_however_its_imports_are_spelled() {
    let says = "a/one.rs, a/two.rs, b.rs import each other";
    for back in [
        "use crate::a::one::Thing;",
        "use crate::{a::{one, two::Other}};",
        "fn f() { crate::a::one::g() }",
        "use super::a::one;",
        "mod inner { use super::super::a::one; }",
    ] {
        let found = circles_of(&[
            ("lib.rs", "mod a;\nmod b;"),
            ("a/mod.rs", "mod one;\nmod two;"),
            ("a/one.rs", "use super::two::{self, Other};"),
            ("a/two.rs", "use crate::b;"),
            ("b.rs", back),
        ]);
        check_one(&found, "crates/small/src/:", says);
    }
}

#[test]
fn lists_of_a_folder_and_tests_make_no_circle() {
    check_none(&circles_of(&[
        ("lib.rs", "pub const ALL: [u8; 1] = [a::one::ONE];"),
        (
            "a/mod.rs",
            "pub trait T {}\npub const ALL: [&dyn T; 1] = [&one::One];",
        ),
        ("a/one.rs", "use super::T;\nuse crate::b;"),
        (
            "b.rs",
            "use std::fmt;\n// use crate::a::one;\nmod tests { use crate::a::one; }",
        ),
        ("b/tests.rs", "use super::*;\nuse crate::a::one;"),
        ("main.rs", "use small::a;"),
    ]));
}
