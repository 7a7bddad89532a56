//! The rules themselves: one function each, from the text of a file to its offences.
//!
//! An offence is one line: the place, what is wrong, and what to do. Nothing here touches the disk.

use super::lexer::{Token, code_only, tokens};
use super::page::{Fence, Rules};
use super::uses::{Mention, PathUse, paths};

/// A file that is longer holds more than one idea.
pub const MAX_FILE_LINES: usize = 600;
/// A function that is longer does not fit on a screen.
pub const MAX_FUNCTION_LINES: usize = 80;
/// What the program calls its library.
const LIBRARY: &str = "powerband";

/// Uses of a layer that the file's own module may not use.
pub fn forbidden_uses(path: &str, text: &str, rules: &Rules) -> Vec<String> {
    let here = module_of(path);
    let Some(own) = here.first() else {
        // lib.rs holds the list of modules and nothing else.
        return Vec::new();
    };
    let Some(allowed) = rules.layers.get(own) else {
        return vec![format!(
            "{path}:1: `{own}` has no row in ARCHITECTURE.md: say there what it may use"
        )];
    };
    let code = code_only(text);
    let mut offences = Vec::new();
    for found in paths(&tokens(&code)) {
        let Some(target) = inside_crate(&found, &here) else {
            continue;
        };
        let line = found.line;
        match target.first() {
            Some(top) if top == own || allowed.contains(top) => {}
            Some(top) => offences.push(format!(
                "{path}:{line}: `{own}` may not use `{top}`: move the code, \
                 or change the table in ARCHITECTURE.md and say why"
            )),
            None if found.mention == Mention::Code => {}
            None => offences.push(format!(
                "{path}:{line}: imports the crate's root, which hides what is used: name the module"
            )),
        }
    }
    offences
}

/// Uses of a fenced crate outside its fence.
pub fn fence_breaks(path: &str, text: &str, rules: &Rules) -> Vec<String> {
    let code = code_only(text);
    let found = paths(&tokens(&code));
    let mut offences = Vec::new();
    for fence in rules.fences.iter().filter(|fence| !is_home(path, fence)) {
        for used in found
            .iter()
            .filter(|used| breaks(used, &found, &fence.path))
        {
            offences.push(format!(
                "{path}:{}: `{}` belongs in {}: ask that code to do it, or change the table in ARCHITECTURE.md",
                used.line,
                fence.path.join("::"),
                fence.homes.join(" and "),
            ));
        }
    }
    offences
}

/// A file that does not open with a comment on what it is for.
pub fn missing_head(path: &str, text: &str) -> Vec<String> {
    let first = text.lines().next().unwrap_or_default();
    if first
        .strip_prefix("//!")
        .is_some_and(|head| !head.trim().is_empty())
    {
        return Vec::new();
    }
    vec![format!(
        "{path}:1: does not open with `//!`: say what the file is for"
    )]
}

/// A file that is too long.
pub fn long_file(path: &str, text: &str) -> Vec<String> {
    let n_lines = text.lines().count();
    if n_lines <= MAX_FILE_LINES {
        return Vec::new();
    }
    vec![format!(
        "{path}:{n_lines}: more than {MAX_FILE_LINES} lines: split it by idea"
    )]
}

/// Functions that are too long, from the line of `fn` to the closing brace.
pub fn long_functions(path: &str, text: &str) -> Vec<String> {
    let code = code_only(text);
    let tokens = tokens(&code);
    let mut offences = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        // `fn(u8)` is a type.
        if keyword.text != "fn" || !name.is_word() {
            continue;
        }
        let n_lines = last_line(&tokens[at..]).map_or(0, |last| last - keyword.line + 1);
        if n_lines > MAX_FUNCTION_LINES {
            offences.push(format!(
                "{path}:{}: `{}` has {n_lines} lines, more than {MAX_FUNCTION_LINES}: take a step out of it",
                keyword.line, name.text
            ));
        }
    }
    offences
}

/// Paths that the page names and that do not exist.
pub fn stale_paths(page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    super::page::named_paths(page)
        .into_iter()
        .filter(|(_, path)| !exists(path))
        .map(|(line, path)| {
            format!("ARCHITECTURE.md:{line}: `{path}` does not exist: correct the page, or add it")
        })
        .collect()
}

/// Modules without a row, rows without a module, and modules that lib.rs does not declare.
pub fn rows_and_modules(rules: &Rules, modules: &[String], lib: &str) -> Vec<String> {
    let mut offences = Vec::new();
    let code = code_only(lib);
    let tokens = tokens(&code);
    for module in modules {
        if !rules.layers.contains_key(module) {
            offences.push(format!(
                "src/{module}: has no row in ARCHITECTURE.md: say there what it may use"
            ));
        }
        let declares = |pair: &[Token<'_>]| pair[0].text == "mod" && pair[1].text == module;
        if module != "main" && !tokens.windows(2).any(declares) {
            offences.push(format!(
                "src/{module}: not declared in src/lib.rs: declare it, or delete it"
            ));
        }
    }
    for row in rules.layers.keys().filter(|row| !modules.contains(row)) {
        offences.push(format!(
            "ARCHITECTURE.md: the row of `{row}` has no src/{row}: take it off the table"
        ));
    }
    offences
}

/// The module that a file is: `src/engines/tract.rs` is `engines`, `tract`.
fn module_of(path: &str) -> Vec<String> {
    let stem = path
        .strip_prefix("src/")
        .unwrap_or(path)
        .trim_end_matches(".rs");
    let mut module: Vec<String> = stem.split('/').map(str::to_owned).collect();
    if module
        .last()
        .is_some_and(|last| last == "mod" || (module.len() == 1 && last == "lib"))
    {
        module.pop();
    }
    module
}

/// Where a path leads inside our own crate, if it leads there.
fn inside_crate(found: &PathUse, here: &[String]) -> Option<Vec<String>> {
    let segments = &found.segments;
    let first = segments.first()?;
    let mut target = match first.as_str() {
        "crate" | LIBRARY => return Some(segments[1..].to_vec()),
        "self" | "super" => [here, &found.inside].concat(),
        _ => return None,
    };
    let n_steps = segments
        .iter()
        .take_while(|s| matches!(s.as_str(), "self" | "super"))
        .count();
    let n_up = segments[..n_steps].iter().filter(|s| *s == "super").count();
    target.truncate(target.len().saturating_sub(n_up));
    target.extend_from_slice(&segments[n_steps..]);
    Some(target)
}

fn is_home(path: &str, fence: &Fence) -> bool {
    fence
        .homes
        .iter()
        .any(|home| path == home || (home.ends_with('/') && path.starts_with(home)))
}

/// Whether a path reaches what is fenced, as written or through an import of a part of the way.
fn breaks(used: &PathUse, all: &[PathUse], fenced: &[String]) -> bool {
    let segments = &used.segments;
    if used.mention == Mention::Glob && fenced.starts_with(segments) {
        return true;
    }
    if segments.starts_with(fenced) {
        return true;
    }
    let Some((first, rest)) = segments.split_first() else {
        return false;
    };
    all.iter().any(|import| {
        let part_way = fenced.starts_with(&import.segments) && import.segments.len() < fenced.len();
        let named = matches!(&import.mention, Mention::Import(name) if name == first);
        part_way && named && [&import.segments, rest].concat().starts_with(fenced)
    })
}

/// The line of the brace that closes a function, which begins at `fn`; none where it has no body.
fn last_line(tokens: &[Token<'_>]) -> Option<usize> {
    let (mut brackets, mut braces) = (0_usize, 0_usize);
    for token in tokens {
        match token.text {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            ";" if brackets == 0 && braces == 0 => return None,
            "{" => braces += 1,
            "}" => {
                braces = braces.saturating_sub(1);
                if braces == 0 && brackets == 0 {
                    return Some(token.line);
                }
            }
            _ => {}
        }
    }
    None
}
