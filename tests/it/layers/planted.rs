//! Planted offenders: each rule finds its own, and leaves clean text alone.
//!
//! A checker that cannot fail is worth nothing.

use std::collections::BTreeMap;

use super::circles::circles;
use super::facts::FileFacts;
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
    let riddles = |text| names::riddles("src/a.rs", &FileFacts::read("src/a.rs", text));
    let text = "impl Row {\n    /// fn of()\n    pub fn of(row: u8) -> Self {}\n}\n";
    check_one(&riddles(text), "src/a.rs:3:", "`of`");
    check_none(&riddles("fn rows_of(table: &Table) {}\n"));
}

#[test]
fn a_type_name_that_is_shared_is_found() {
    let shared = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(path, text)| {
            let path = format!("crates/{path}.rs");
            let facts = FileFacts::read(&path, text);
            (path, facts)
        });
        names::shared_type_names(&files.collect())
    };
    let private = ["a", "b", "c", "d"].map(|name| format!("core/src/{name}"));
    let private: Vec<_> = private
        .iter()
        .map(|path| (path.as_str(), "struct Row;"))
        .collect();
    check_one(&shared(&private), "`Row`", "4 times");
    check_none(&shared(&private[..3]));
    let public = [
        ("core/src/a", "pub(crate) enum Row {}"),
        ("core/src/b", "pub type Row = u8;"),
    ];
    check_one(&shared(&public), "`Row`", "2 public types of one crate");
    check_none(&shared(&[
        ("core/src/a", "pub struct Row;"),
        ("store/src/a", "pub struct Row;"),
        ("store/src/b", "impl A {\n    type Row = u8;\n}"),
    ]));
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
    let facts: Vec<_> = files
        .iter()
        .map(|(path, text)| (*path, FileFacts::read(path, text)))
        .collect();
    let files: BTreeMap<&str, &FileFacts> =
        facts.iter().map(|(path, facts)| (*path, facts)).collect();
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
        "use crate::a;\nfn f() { a::one::g() }",
        "use crate::a as other;\nfn f() { other::one::g() }",
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
fn a_circle_through_a_folder_and_back_is_found() {
    for list in [
        "mod one;\nuse one::One;\npub struct Thing(One);",
        "mod one;\npub use self::one::One;\npub struct Thing;",
        "mod one;\npub struct Thing(one::One);",
    ] {
        let found = circles_of(&[
            ("lib.rs", "mod a;\nmod b;"),
            ("a/mod.rs", list),
            ("a/one.rs", "use crate::b::Other;\npub struct One(Other);"),
            ("b.rs", "use crate::a::Thing;\npub struct Other(Thing);"),
        ]);
        let says = "a/mod.rs, a/one.rs, b.rs import each other";
        check_one(&found, "crates/small/src/:", says);
    }
}

#[test]
fn names_that_a_folder_passes_on_lead_to_where_they_stand() {
    let list = "mod one;\nmod two;\npub use one::One;\npub use two::Two as Second;";
    let found = circles_of(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", list),
        ("a/one.rs", "use super::Second;"),
        ("a/two.rs", "use super::One;"),
    ]);
    let says = "a/one.rs, a/two.rs import each other";
    check_one(&found, "crates/small/src/:", says);
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
