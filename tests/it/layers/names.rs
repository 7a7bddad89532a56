//! Names that say nothing without their neighbours, and names that several types share.

use std::collections::BTreeMap;

use super::lexer::{code_only, tokens};

/// No function is called only this: each says what it returns or does.
const BANNED: [&str; 14] = [
    "about", "around", "at", "beside", "has", "head", "look", "most", "of", "one", "plain", "told",
    "whole", "words",
];
/// A type's name is defined at most this often in the workspace.
const MAX_DEFINITIONS: usize = 3;

/// Functions of a file whose name is one of the words that say nothing.
pub(super) fn riddles(path: &str, text: &str) -> Vec<String> {
    let code = code_only(text);
    let tokens = tokens(&code);
    let functions = tokens.windows(2).filter(|pair| pair[0].text == "fn");
    functions
        .filter(|pair| BANNED.contains(&pair[1].text))
        .map(|pair| {
            format!(
                "{path}:{}: a function is called `{}`: say what it returns or does",
                pair[1].line, pair[1].text
            )
        })
        .collect()
}

/// A type where it is defined.
struct TypeDefinition {
    place: String,
    crate_folder: String,
    is_public: bool,
}

/// Names of types that are defined too often, and public ones that a crate has twice.
pub(super) fn shared_type_names(files: &[(String, String)]) -> Vec<String> {
    let mut by_name: BTreeMap<String, Vec<TypeDefinition>> = BTreeMap::new();
    for (path, text) in files {
        for (name, definition) in definitions(path, text) {
            by_name.entry(name).or_default().push(definition);
        }
    }
    by_name
        .iter()
        .filter_map(|(name, definitions)| offence(name, definitions))
        .collect()
}

fn offence(name: &str, definitions: &[TypeDefinition]) -> Option<String> {
    let places = |definitions: &[&TypeDefinition]| {
        let places: Vec<&str> = definitions.iter().map(|one| one.place.as_str()).collect();
        places.join(", ")
    };
    if definitions.len() > MAX_DEFINITIONS {
        let all: Vec<&TypeDefinition> = definitions.iter().collect();
        return Some(format!(
            "`{name}` is defined {} times: say whose each is: {}",
            all.len(),
            places(&all)
        ));
    }
    definitions.iter().find_map(|one| {
        let same: Vec<&TypeDefinition> = definitions
            .iter()
            .filter(|other| other.is_public && other.crate_folder == one.crate_folder)
            .collect();
        (one.is_public && same.len() > 1).then(|| {
            format!(
                "`{name}` names {} public types of one crate: {}",
                same.len(),
                places(&same)
            )
        })
    })
}

fn crate_folder(path: &str) -> &str {
    let (folder, _) = path
        .split_once("src/")
        .or_else(|| path.split_once('/'))
        .unwrap_or((path, ""));
    folder
}

/// The types that a file defines. Associated types are indented, and named by their trait.
fn definitions(path: &str, text: &str) -> Vec<(String, TypeDefinition)> {
    let code = code_only(text);
    let lines = code.lines().enumerate();
    let found = lines.filter_map(|(number, line)| {
        let (visibility, rest) = match line.trim_start().strip_prefix("pub") {
            Some(rest) => ("pub", rest.trim_start_matches(|c| c != ' ')),
            None => ("", line),
        };
        let mut words = rest.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let mut words = words.by_ref().filter(|word| !word.is_empty());
        let kind = words.next()?;
        let is_type = match kind {
            "struct" | "enum" | "trait" | "union" => true,
            "type" => !line.starts_with(' '),
            _ => false,
        };
        let name = words.next().filter(|_| is_type)?;
        let definition = TypeDefinition {
            place: format!("{path}:{}", number + 1),
            crate_folder: crate_folder(path).to_owned(),
            is_public: !visibility.is_empty(),
        };
        Some((name.to_owned(), definition))
    });
    found.collect()
}
