//! The page on security: each line of its table names tests that there are, and nothing of ours, and no crate that we
//! build, speaks to the network.

use std::io;

use super::{assert_none, offences, read, root, source_files};

/// Crates that speak HTTP or TLS. What is fetched or measured elsewhere goes through pip, ssh, the programs of Slurm and
/// the command of `via=`, when the user asks for it.
const SPEAK: [&str; 14] = [
    "attohttpc",
    "curl",
    "h2",
    "hyper",
    "isahc",
    "minreq",
    "native-tls",
    "openssl",
    "quinn",
    "reqwest",
    "rustls",
    "tungstenite",
    "ureq",
    "websocket",
];

/// A row of the table: its line in the page, and what stands under *test*.
fn rows(page: &str) -> Vec<(usize, &str)> {
    let lines = page.lines().enumerate().map(|(at, line)| (at + 1, line));
    let rows = lines.filter(|(_, line)| line.starts_with('|') && !line.starts_with("|---"));
    let tests = rows.filter_map(|(at, line)| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        Some((at, *cells.last()?))
    });
    // The first row is the head.
    tests.skip(1).collect()
}

/// Tests that a cell names: each with the crate that is named before it, `it` where none is.
fn named(cell: &str) -> Vec<(String, String)> {
    let mut named = Vec::new();
    let mut home = "it".to_owned();
    for part in cell.split(';') {
        let mut pieces = part.split('`');
        let before = pieces.next().unwrap_or_default().trim();
        before.trim_end_matches(',').clone_into(&mut home);
        if home.is_empty() {
            "it".clone_into(&mut home);
        }
        let inside = pieces.step_by(2);
        named.extend(inside.map(|test| (home.clone(), test.to_owned())));
    }
    named
}

/// Whether a crate, or the integration tests, have a test of this path, or a module of tests.
fn is_there(files: &[(String, String)], home: &str, test: &str) -> bool {
    let folder = match home {
        "it" => "tests/it/".to_owned(),
        name => format!("crates/{name}/src/"),
    };
    let (modules, name) = test.rsplit_once("::").unwrap_or(("", test));
    let own = files.iter().filter(|(path, _)| path.starts_with(&folder));
    if modules.is_empty() && home == "it" && !test.contains('_') {
        return own
            .clone()
            .any(|(path, _)| path.contains(&format!("/{test}")));
    }
    let function = format!("fn {name}(");
    // No other function may stand between the attribute and the name.
    let is_test = |text: &str| {
        let before = text.split_once(&function).map(|(before, _)| before);
        let attribute = before.and_then(|before| before.rsplit_once("#[test]"));
        attribute.is_some_and(|(_, between)| !between.contains("fn "))
    };
    let modules = modules.split("::").filter(|module| *module != "tests");
    let in_path = |path: &str| modules.clone().all(|module| path.contains(module));
    own.into_iter()
        .any(|(path, text)| is_test(text) && in_path(path))
}

#[test]
fn each_line_of_the_page_on_security_has_its_tests() -> io::Result<()> {
    let page = read(&root().join("SECURITY.md"))?;
    let mut files = source_files("crates")?;
    files.extend(source_files("tests")?);
    files.extend(source_files("src")?);
    let rows = rows(&page);
    assert!(rows.len() > 20, "{} rows", rows.len());
    let mut missing = Vec::new();
    for (at, cell) in rows {
        let tests = named(cell);
        if tests.is_empty() {
            missing.push(format!("SECURITY.md:{at}: names no test"));
        }
        let absent = tests
            .iter()
            .filter(|(home, test)| !is_there(&files, home, test));
        missing
            .extend(absent.map(|(home, test)| {
                format!("SECURITY.md:{at}: there is no test {test} in {home}")
            }));
    }
    assert_none(&missing);
    // A checker that cannot fail is worth nothing.
    assert!(!is_there(&files, "it", "untrusted::no_such_test"));
    assert!(!is_there(
        &files,
        "core",
        "a_name_does_nothing_to_the_terminal"
    ));
    Ok(())
}

#[test]
fn nothing_speaks_to_the_network() -> io::Result<()> {
    let lock = read(&root().join("Cargo.lock"))?;
    let built: Vec<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .filter(|name| SPEAK.contains(name))
        .collect();
    assert!(built.is_empty(), "{built:?}");
    // Built from parts, so that this file is no offence.
    let words = [
        concat!("std::", "net"),
        concat!("Tcp", "Stream"),
        concat!("Udp", "Socket"),
    ];
    // It listens on this machine alone, and opens no connection itself.
    let server = "src/cli/serve.rs";
    let text = read(&root().join(server))?;
    assert!(text.contains("TcpListener::bind((Ipv4Addr::LOCALHOST,"));
    assert!(!text.contains("::connect") && !text.contains("::bind(\""));
    assert_eq!(text.matches("::bind(").count(), 1);
    assert_none(&offences(|path, text| {
        let is_ours = path.starts_with("src/") || path.starts_with("crates/");
        let is_ours = is_ours && path != server;
        let found = words.iter().filter(|word| is_ours && text.contains(**word));
        found.map(|word| format!("{path}: {word}")).collect()
    })?);
    Ok(())
}
