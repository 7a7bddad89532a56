//! What a file defines, and every path that it mentions. What only macros write goes unseen.

use std::mem;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Ident, Item, ItemMod, ItemUse, MetaList, Path, Signature, UseTree, Visibility};

/// A name where it is defined.
pub(super) struct Definition {
    pub name: String,
    /// Its line, counted from 1.
    pub line: usize,
    pub is_public: bool,
}

/// One path as written; `use` trees are spread into whole paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathUse {
    /// Its segments: `crate`, `stats`, `summary`.
    pub segments: Vec<String>,
    /// The modules inside the file that it stands in, outermost first.
    pub inside: Vec<String>,
    /// The name that a `use` gives it in the file.
    pub name: Option<String>,
}

/// What rules want to know of a file, each in order.
#[derive(Default)]
pub(super) struct FileFacts {
    pub functions: Vec<Definition>,
    /// Without associated types, which are named by their trait.
    pub types: Vec<Definition>,
    pub paths: Vec<PathUse>,
    /// Modules that are open while the file is read.
    modules: Vec<String>,
}

impl FileFacts {
    pub(super) fn read(path: &str, text: &str) -> Self {
        let file = syn::parse_file(text).unwrap_or_else(|why| panic!("{path}: {why}"));
        let mut facts = Self::default();
        facts.visit_file(&file);
        facts
    }

    fn record(&mut self, segments: Vec<String>, name: Option<String>) {
        self.paths.push(PathUse {
            segments,
            inside: self.modules.clone(),
            name,
        });
    }

    /// A single word in the code is a name, and no path.
    fn record_path(&mut self, segments: Vec<String>) {
        if segments.len() > 1 {
            self.record(segments, None);
        }
    }

    fn use_tree(&mut self, mut path: Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.use_tree(path, &step.tree);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.use_tree(path.clone(), tree);
                }
            }
            UseTree::Name(name) if name.ident == "self" => {
                let name = path.last().cloned();
                self.record(path, name);
            }
            UseTree::Name(name) => {
                path.push(name.ident.to_string());
                self.record(path, Some(name.ident.to_string()));
            }
            UseTree::Rename(name) => {
                path.push(name.ident.to_string());
                self.record(path, Some(name.rename.to_string()));
            }
            UseTree::Glob(_) => self.record(path, None),
        }
    }

    /// What is given to a macro has no grammar: words joined by `::` are a path.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut n_colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if n_colons != 2 {
                        self.record_path(mem::take(&mut path));
                    }
                    path.push(word.to_string());
                    n_colons = 0;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => n_colons += 1,
                other => {
                    self.record_path(mem::take(&mut path));
                    n_colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.record_path(path);
    }
}

fn definition(name: &Ident, visibility: &Visibility) -> Definition {
    Definition {
        name: name.to_string(),
        line: name.span().start().line,
        is_public: !matches!(visibility, Visibility::Inherited),
    }
}

impl<'a> Visit<'a> for FileFacts {
    fn visit_signature(&mut self, signature: &'a Signature) {
        let function = definition(&signature.ident, &Visibility::Inherited);
        self.functions.push(function);
        visit::visit_signature(self, signature);
    }

    fn visit_item(&mut self, item: &'a Item) {
        let found = match item {
            Item::Enum(one) => Some(definition(&one.ident, &one.vis)),
            Item::Struct(one) => Some(definition(&one.ident, &one.vis)),
            Item::Trait(one) => Some(definition(&one.ident, &one.vis)),
            Item::Type(one) => Some(definition(&one.ident, &one.vis)),
            Item::Union(one) => Some(definition(&one.ident, &one.vis)),
            _ => None,
        };
        self.types.extend(found);
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        self.modules.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.modules.pop();
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.use_tree(Vec::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'a Path) {
        let words = path.segments.iter();
        self.record_path(words.map(|word| word.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }

    fn visit_meta_list(&mut self, list: &'a MetaList) {
        visit::visit_meta_list(self, list);
        self.tokens(list.tokens.clone());
    }
}

fn spelled(text: &str) -> Vec<String> {
    let found = FileFacts::read("", text).paths;
    found.iter().map(|path| path.segments.join("::")).collect()
}

#[test]
fn use_trees_are_spread() {
    assert_eq!(spelled("use a::b; use super::*;"), ["a::b", "super"]);
    assert_eq!(
        spelled("pub(crate) use crate::{a, b::{self, c as d, e::*}};"),
        ["crate::a", "crate::b", "crate::b::c", "crate::b::e"]
    );
    assert_eq!(
        spelled("fn f<'a>() -> impl X + use<'a> { crate::a::b() }"),
        ["crate::a::b"]
    );
}

#[test]
fn paths_in_code_are_taken_as_written() {
    assert_eq!(
        spelled("fn f() { let x = a::b(c.d, &::ort::E, Vec::<ort::F>::new()); }"),
        ["a::b", "ort::E", "Vec::new", "ort::F"]
    );
    assert_eq!(
        spelled("fn f() -> ::ort::X { g!(\"a::b\", x.zip(y, 0..k::N), z: c::d) } // a::b"),
        ["ort::X", "k::N", "c::d"]
    );
    assert_eq!(
        spelled("macro_rules! m { () => { $crate::a!() } }"),
        ["crate::a"]
    );
    assert_eq!(
        spelled("#[derive(clap::Parser)] struct A { ort: u8 }"),
        ["clap::Parser"]
    );
}

#[test]
fn modules_in_the_file_are_followed() {
    let code = "use a::b; mod m { fn f() { a::b() } mod n { a::b!(); } a::b!(); } a::b!();";
    let found = FileFacts::read("", code).paths;
    let inside: Vec<String> = found.iter().map(|path| path.inside.join("::")).collect();
    assert_eq!(inside, ["", "m", "m::n", "m", ""]);
}
