//! Planted offenders: each rule finds its own, and leaves clean text alone.
//!
//! A checker that cannot fail is worth nothing.

use super::page::{self, Rules};
use super::rules;

/// A page like ARCHITECTURE.md, in small.
const PAGE: &str = "\
# A page

| module | may use |
|---|---|
| `base` | outside crates only |
| `stats` `store` | base |
| `engines` | stats, base |
| `cli` | engines, stats, base |
| `main` | cli |

Some text.

| outside crate | only in |
|---|---|
| `ort` | `src/engines/onnxruntime.rs` |
| `tract_onnx` `clap` | `src/engines/tract.rs` and `src/cli/` (for types) |
| `std::process::Command` | `src/engines/process.rs` |
";

/// The rules of that page.
fn small_rules() -> Rules {
    page::rules(PAGE).unwrap_or_default()
}

fn forbidden(path: &str, text: &str) -> Vec<String> {
    rules::forbidden_uses(path, text, &small_rules())
}

fn broken(path: &str, text: &str) -> Vec<String> {
    rules::fence_breaks(path, text, &small_rules())
}

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
fn the_small_page_is_read() {
    let rules = small_rules();
    assert_eq!(rules.layers.len(), 6);
    assert_eq!(rules.layers["store"].iter().collect::<Vec<_>>(), ["base"]);
    assert!(rules.layers["base"].is_empty());
    assert_eq!(rules.fences.len(), 4);
    assert_eq!(rules.fences[3].path, ["std", "process", "Command"]);
    assert_eq!(rules.fences[2].homes, ["src/engines/tract.rs", "src/cli/"]);
}

#[test]
fn a_page_that_cannot_be_understood_is_refused() {
    let refusal = |page: &str| page::rules(page).err().unwrap_or_default();
    assert!(refusal("# Nothing").contains("no table headed `| module | may use |`"));
    assert!(refusal(&PAGE.replace("| outside crate |", "| crate |")).contains("outside crate"));
    assert!(refusal(&PAGE.replace("| stats, base |", "| most of it! |")).contains("most of it!"));
    assert!(refusal(&PAGE.replace("| stats, base |", "| stats, chart |")).contains("`chart`"));
    assert!(refusal(&PAGE.replace("| `main` |", "| `cli` |")).contains("second row"));
    assert!(refusal(&PAGE.replace("| `ort` |", "| ort |")).contains("backticks"));
}

#[test]
fn a_forbidden_layer_is_found_however_it_is_spelled() {
    let says = "`stats` may not use `cli`";
    for text in [
        "//! Head.\nuse crate::cli::args;",
        "//! Head.\nuse crate::{base, cli::{self, args}};",
        "//! Head.\nuse super::super::cli;",
        "//! Head.\nfn f() { crate::cli::run() }",
        "//! Head.\npub use crate::cli as c;",
        "//! Head.\nuse crate::cli::*;",
        "//! Head.\nuse powerband::cli;",
        "//! Head.\nmacro_rules! m { () => { $crate::cli::run() } }",
    ] {
        let offences = forbidden("src/stats/summary.rs", text);
        assert!(!offences.is_empty(), "nothing found in {text}");
        for offence in offences {
            check_one(&[offence], "src/stats/summary.rs:2:", says);
        }
    }
}

#[test]
fn super_is_followed_from_where_it_stands() {
    let text =
        "//! Head.\nmod tests {\n    use super::super::super::cli::a;\n    use super::super::b;\n}";
    check_one(
        &forbidden("src/stats/summary.rs", text),
        "src/stats/summary.rs:3:",
        "`cli`",
    );
    check_one(
        &forbidden("src/stats/mod.rs", "use super::engines::x;"),
        "src/stats/mod.rs:1:",
        "`engines`",
    );
    check_none(&forbidden("src/stats/summary.rs", "use super::engines::x;"));
}

#[test]
fn test_code_follows_the_same_rules() {
    let text = "//! Head.\n#[cfg(test)]\nmod tests {\n    use crate::engines::fake;\n}";
    check_one(
        &forbidden("src/store/journal.rs", text),
        "src/store/journal.rs:4:",
        "`engines`",
    );
}

#[test]
fn the_root_may_not_be_imported() {
    for text in [
        "use crate::*;",
        "use super::super::*;",
        "use crate as all;",
        "use crate::{self as all};",
    ] {
        check_one(
            &forbidden("src/stats/summary.rs", text),
            "src/stats/summary.rs:1:",
            "root",
        );
    }
}

#[test]
fn the_binary_goes_through_the_command_line() {
    check_one(
        &forbidden("src/main.rs", "use powerband::stats;"),
        "src/main.rs:1:",
        "`main` may not use `stats`",
    );
    check_none(&forbidden(
        "src/main.rs",
        "fn main() { powerband::cli::run() }",
    ));
    check_none(&forbidden(
        "src/lib.rs",
        "pub mod cli; pub use crate::cli::run;",
    ));
}

#[test]
fn a_module_without_a_row_is_found() {
    check_one(
        &forbidden("src/chart/bar.rs", "//! Head."),
        "src/chart/bar.rs:1:",
        "no row",
    );
}

#[test]
fn allowed_layers_pass() {
    let text = "//! See [`crate::cli`].\nuse std::fmt;\nuse crate::{base::paths, stats};\n\
                use super::mine;\nuse self::own::x;\n// use crate::cli;\n/* crate::cli::a() */\n\
                pub(in crate::engines) fn f() -> &'static str { r#\"use crate::cli;\"# }\n\
                fn g(cli: u8) { cli::local(); \"crate::cli::x\"; '\"'; }";
    check_none(&forbidden("src/engines/tract.rs", text));
}

#[test]
fn a_fenced_crate_is_found_outside_its_fence() {
    let place = "src/stats/summary.rs:1:";
    for text in [
        "use ort;",
        "use ::ort::session::Session;",
        "use {ort::session as s, std::fmt};",
        "extern crate ort;",
        "fn f() { let x = ort::init(); }",
        "#[derive(ort::Magic)] struct A;",
        "fn f(x: &::ort::Value) {}",
    ] {
        check_one(
            &broken("src/stats/summary.rs", text),
            place,
            "`ort` belongs in src/engines/onnxruntime.rs",
        );
    }
    check_one(
        &broken("src/engines/mod.rs", "use tract_onnx::prelude::*;"),
        "src/engines/mod.rs:1:",
        "tract_onnx",
    );
}

#[test]
fn starting_processes_is_found_however_it_is_spelled() {
    for text in [
        "//! Head.\nuse std::process::{Command, Stdio};",
        "//! Head.\nuse std::process::*;",
        "use std::process;\nfn f() { process::Command::new(\"ls\"); }",
        "use std::process as p;\nfn f() { p::Command::new(\"ls\"); }",
        "use std::{fmt, process::{self}};\nfn f() { process::Command::new(\"ls\"); }",
        "//! Head.\nfn f() { std::process::Command::new(\"ls\"); }",
    ] {
        let place = "src/cli/bench.rs:2:";
        check_one(
            &broken("src/cli/bench.rs", text),
            place,
            "`std::process::Command` belongs in",
        );
    }
}

#[test]
fn fenced_crates_pass_at_home_and_namesakes_pass_everywhere() {
    check_none(&broken(
        "src/engines/onnxruntime.rs",
        "use ort::session::Session; fn f() { ort::init(); }",
    ));
    check_none(&broken("src/cli/bench/args.rs", "use clap::Parser;"));
    let text = "use std::process::ExitCode; use std::process; use clap_lex::x; use crate::ort::y;\n\
                // use ort;\nfn f(ort: A) -> process::ExitCode { ort.run(\"ort::x\"); my::ort::z(); A::<u8>::ort::w() }";
    check_none(&broken("src/stats/summary.rs", text));
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
fn a_long_function_is_found() {
    let with_body = |n: usize| {
        format!(
            "struct A;\nfn f(x: [u8; 2]) {{\n{}}}\nfn g() {{}}\n",
            "    x();\n".repeat(n)
        )
    };
    check_one(
        &rules::long_functions("src/a.rs", &with_body(79)),
        "src/a.rs:2:",
        "`f` has 81 lines",
    );
    check_none(&rules::long_functions("src/a.rs", &with_body(78)));
    let nested = format!(
        "impl A {{\n    fn m(&self) {{\n{}    }}\n}}\n",
        "if a { '}'; \"}\" } // }\n".repeat(79)
    );
    check_one(
        &rules::long_functions("src/a.rs", &nested),
        "src/a.rs:2:",
        "`m` has 81 lines",
    );
    let trait_only = format!(
        "trait T {{ fn f(); type F = fn(u8); fn g() {{}} }}\n{}",
        "// x\n".repeat(100)
    );
    check_none(&rules::long_functions("src/a.rs", &trait_only));
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
    assert_eq!(page::named_paths(page).len(), 4);
}

#[test]
fn modules_and_rows_that_differ_are_found() {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let all = names(&["base", "cli", "engines", "main", "stats", "store"]);
    let lib =
        "pub mod base; pub mod cli; mod engines; pub mod stats; pub mod store; pub mod chart;";
    let differ =
        |modules: &[String], lib: &str| rules::rows_and_modules(&small_rules(), modules, lib);
    check_none(&differ(&all, lib));
    check_one(
        &differ(&all, &lib.replace("pub mod stats;", "/* pub mod stats; */")),
        "src/stats:",
        "not declared",
    );
    check_one(
        &differ(&all[1..], lib),
        "ARCHITECTURE.md:",
        "the row of `base`",
    );
    let more = [all.clone(), names(&["chart"])].concat();
    check_one(&differ(&more, lib), "src/chart:", "has no row");
}
