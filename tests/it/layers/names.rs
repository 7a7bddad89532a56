//! Names that say nothing without their neighbours, and names that several types share.

use std::collections::BTreeMap;

use super::facts::FileFacts;

/// No function is called only this: each says what it returns or does.
const BANNED: [&str; 14] = [
    "about", "around", "at", "beside", "has", "head", "look", "most", "of", "one", "plain", "told",
    "whole", "words",
];
/// A type's name is defined at most this often in the workspace.
const MAX_DEFINITIONS: usize = 3;

/// Functions of a file whose name is one of the words that say nothing.
pub(super) fn riddles(path: &str, facts: &FileFacts) -> Vec<String> {
    let functions = facts.functions.iter();
    functions
        .filter(|function| BANNED.contains(&function.name.as_str()))
        .map(|function| {
            format!(
                "{path}:{}: a function is called `{}`: say what it returns or does",
                function.line, function.name
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
pub(super) fn shared_type_names(files: &BTreeMap<String, FileFacts>) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<TypeDefinition>> = BTreeMap::new();
    for (path, facts) in files {
        for one in &facts.types {
            by_name.entry(&one.name).or_default().push(TypeDefinition {
                place: format!("{path}:{}", one.line),
                crate_folder: crate_folder(path).to_owned(),
                is_public: one.is_public,
            });
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
