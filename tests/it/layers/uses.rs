//! Every path that a file mentions, with the place it is mentioned from.
//!
//! Reads the tokens of [`lexer`](super::lexer): `use` trees are spread into whole paths, and paths in
//! the code are taken as written. What a path leads to is worked out by [`circles`](super::circles).

use super::lexer::Token;

/// How a path is mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mention {
    /// Imported, and known by this name from there on.
    Import(String),
    /// All that is in it is imported.
    Glob,
    /// Used where it stands.
    Code,
}

/// One path as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathUse {
    /// Its segments: `crate`, `stats`, `summary`.
    pub segments: Vec<String>,
    /// How it is mentioned.
    pub mention: Mention,
    /// Its line, counted from 1.
    pub line: usize,
    /// The modules inside the file that it stands in, outermost first.
    pub inside: Vec<String>,
}

/// All paths of a file, in order.
pub(super) fn paths(tokens: &[Token<'_>]) -> Vec<PathUse> {
    let mut reader = TokenReader {
        tokens,
        at: 0,
        depth: 0,
        modules: Vec::new(),
        found: Vec::new(),
    };
    while reader.at < tokens.len() {
        reader.step();
    }
    reader.found
}

struct TokenReader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    /// Braces that are open.
    depth: usize,
    /// Modules that are open, each with the depth outside it.
    modules: Vec<(String, usize)>,
    found: Vec<PathUse>,
}

impl TokenReader<'_> {
    fn step(&mut self) {
        match self.text(0) {
            "{" => self.depth += 1,
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                let depth = self.depth;
                self.modules.retain(|(_, outside)| *outside < depth);
            }
            "mod" if self.text(2) == "{" => {
                self.modules.push((self.text(1).to_owned(), self.depth));
                self.depth += 1;
                self.at += 2;
            }
            // `impl Trait + use<'a>` imports nothing.
            "use" if self.text(1) != "<" => {
                self.at += 1;
                self.use_tree(&[]);
                return;
            }
            "extern" if self.text(1) == "crate" => {
                let name = self.text(2).to_owned();
                self.at += 2;
                self.record(vec![name.clone()], Mention::Import(name));
            }
            _ if self.begins_path() => {
                let line_at = self.at;
                let segments = self.segments();
                if segments.len() > 1 {
                    self.record_at(line_at, segments, Mention::Code);
                }
                return;
            }
            _ => {}
        }
        self.at += 1;
    }

    fn text(&self, ahead: usize) -> &str {
        self.tokens
            .get(self.at + ahead)
            .map_or("", |token| token.text)
    }

    /// Whether a path begins here, and not the next part of one, nor a method or a field.
    fn begins_path(&self) -> bool {
        let Some(token) = self.tokens.get(self.at) else {
            return false;
        };
        let before = |n: usize| self.at.checked_sub(n).and_then(|at| self.tokens.get(at));
        let goes_on = match before(1) {
            Some(sign) if sign.text == "::" => {
                // `::ort` begins at the crate names, `Vec::<T>::ort` and `foo::ort` go on.
                sign.touches && before(2).is_some_and(|t| t.is_word() || t.text == ">")
            }
            Some(sign) => sign.text == ".",
            None => false,
        };
        token.is_word() && !goes_on
    }

    /// Reads `a::b::c` and stands behind it.
    fn segments(&mut self) -> Vec<String> {
        let mut segments = vec![self.text(0).to_owned()];
        self.at += 1;
        while self.text(0) == "::" && self.tokens.get(self.at + 1).is_some_and(Token::is_word) {
            segments.push(self.text(1).to_owned());
            self.at += 2;
        }
        segments
    }

    /// Reads one branch of a `use` tree and stands behind it.
    fn use_tree(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        let start = self.at;
        while self.at < self.tokens.len() {
            match self.text(0) {
                "::" => self.at += 1,
                "*" => {
                    self.at += 1;
                    return self.record_at(start, path, Mention::Glob);
                }
                "{" => {
                    self.at += 1;
                    return self.use_group(&path);
                }
                "as" => {
                    let alias = self.text(1).to_owned();
                    self.at += 2;
                    return self.record_at(start, path, Mention::Import(alias));
                }
                word if self.tokens[self.at].is_word() => {
                    if word != "self" || path.is_empty() {
                        path.push(word.to_owned());
                    }
                    self.at += 1;
                }
                _ => break,
            }
        }
        let name = path.last().cloned().unwrap_or_default();
        self.record_at(start, path, Mention::Import(name));
    }

    fn use_group(&mut self, prefix: &[String]) {
        while self.at < self.tokens.len() && self.text(0) != "}" {
            if self.text(0) == "," {
                self.at += 1;
            } else {
                let before = self.at;
                self.use_tree(prefix);
                // Text that is no Rust must not hold us up.
                self.at = self.at.max(before + 1);
            }
        }
        self.at += 1;
    }

    fn record(&mut self, segments: Vec<String>, mention: Mention) {
        self.record_at(self.at, segments, mention);
    }

    fn record_at(&mut self, at: usize, segments: Vec<String>, mention: Mention) {
        let line = self.tokens.get(at).map_or(0, |token| token.line);
        let inside = self.modules.iter().map(|(name, _)| name.clone()).collect();
        self.found.push(PathUse {
            segments,
            mention,
            line,
            inside,
        });
    }
}

fn spelled(text: &str) -> Vec<String> {
    let code = super::lexer::code_only(text);
    let spell = |found: &PathUse| {
        let path = found.segments.join("::");
        match &found.mention {
            Mention::Import(name) if found.segments.last() == Some(name) => format!("use {path}"),
            Mention::Import(name) => format!("use {path} as {name}"),
            Mention::Glob => format!("use {path}::*"),
            Mention::Code => path,
        }
    };
    paths(&super::lexer::tokens(&code))
        .iter()
        .map(spell)
        .collect()
}

#[test]
fn use_trees_are_spread() {
    assert_eq!(spelled("use a::b;"), ["use a::b"]);
    assert_eq!(
        spelled("pub(crate) use crate::{a, b::{self, c as d, e::*}};"),
        [
            "use crate::a",
            "use crate::b",
            "use crate::b::c as d",
            "use crate::b::e::*"
        ]
    );
    assert_eq!(
        spelled("use {ort::Session, ::clap};"),
        ["use ort::Session", "use clap"]
    );
    assert_eq!(spelled("extern crate ort;"), ["use ort"]);
    assert_eq!(
        spelled("fn f<'a>() -> impl X + use<'a> { crate::a::b() }"),
        ["crate::a::b"]
    );
}

#[test]
fn paths_in_code_are_taken_as_written() {
    assert_eq!(
        spelled("let x = a::b(c.d, &::ort::E, Vec::<ort::F>::new());"),
        ["a::b", "ort::E", "ort::F"]
    );
    assert_eq!(
        spelled("x.zip(y); iter::zip(x, 0..k::N)"),
        ["iter::zip", "k::N"]
    );
    assert_eq!(
        spelled("fn f() -> ::ort::X { $crate::a!() }"),
        ["ort::X", "crate::a"]
    );
    assert_eq!(
        spelled("#[derive(clap::Parser)] struct A { ort: u8 }"),
        ["clap::Parser"]
    );
}

#[test]
fn modules_in_the_file_are_followed() {
    let code = "a::b(); mod m { fn f() { a::b() } mod n { a::b!(); } a::b!(); } a::b();";
    let inside: Vec<String> = paths(&super::lexer::tokens(code))
        .iter()
        .map(|found| found.inside.join("::"))
        .collect();
    assert_eq!(inside, ["", "m", "m::n", "m", ""]);
}
