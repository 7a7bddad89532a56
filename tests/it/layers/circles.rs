//! Files of one crate that import each other in a circle.
//!
//! A folder's `mod.rs`, and a crate's `lib.rs`, may name its own files, which may use what stands in it: that is
//! how a trait and the list of those who implement it stand together. So what closes a circle is looked for twice:
//! without what files list of their own folder, and without what they take from a `mod.rs` above them. Tests are left
//! out.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{FileFacts, PathUse};

type Module = Vec<String>;
/// The files of a crate by module, with their paths.
type Files<'a> = BTreeMap<Module, (&'a str, &'a FileFacts)>;
/// Which modules a module uses.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

/// Names that are passed on this often are followed.
const MOST_STEPS: usize = 8;

/// The circles among the files of a crate, whose paths are below `folder`: a line each.
pub(super) fn circles(folder: &str, files: &BTreeMap<&str, &FileFacts>) -> Vec<String> {
    let files: Files<'_> = files
        .iter()
        .filter(|(path, _)| **path != "main.rs" && !is_test(path))
        .map(|(path, facts)| (module_of(path), (*path, *facts)))
        .collect();
    let uses: Uses = files
        .iter()
        .map(|(module, (_, facts))| (module.clone(), used_by(module, facts, &files)))
        .collect();
    let without_own = rings(&uses, |here, used| !used.starts_with(here));
    let without_above = rings(&uses, |here, used| !here.starts_with(used));
    let found: BTreeSet<Vec<Module>> = without_own.into_iter().chain(without_above).collect();
    found
        .iter()
        .map(|circle| {
            let names: Vec<&str> = circle.iter().map(|module| files[module].0).collect();
            format!(
                "{folder}: {} import each other in a circle: move what they share into a file that both use",
                names.join(", ")
            )
        })
        .collect()
}

/// The modules that use each other, with those uses alone that count.
fn rings(uses: &Uses, counts: impl Fn(&Module, &Module) -> bool) -> BTreeSet<Vec<Module>> {
    let counted = uses.iter().map(|(here, used)| {
        let used = used.iter().filter(|used| counts(here, used));
        (here.clone(), used.cloned().collect())
    });
    let uses: Uses = counted.collect();
    let reached: Uses = uses
        .keys()
        .map(|module| (module.clone(), reached_from(module, &uses)))
        .collect();
    let in_circle_with = |module: &Module| -> Vec<Module> {
        let back = |other: &&Module| reached[*other].contains(module);
        reached[module].iter().filter(back).cloned().collect()
    };
    reached
        .keys()
        .map(in_circle_with)
        .filter(|circle| !circle.is_empty())
        .collect()
}

/// `chrome/mod.rs` is `chrome`, `lib.rs` is the crate itself.
fn module_of(path: &str) -> Module {
    let mut module: Module = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    let is_face = |last: &String| last == "mod" || (module.len() == 1 && last == "lib");
    if module.last().is_some_and(is_face) {
        module.pop();
    }
    module
}

fn is_test(path: &str) -> bool {
    let tests = ["tests", "testing"];
    path.trim_end_matches(".rs")
        .split('/')
        .any(|part| tests.contains(&part))
}

fn used_by(here: &Module, facts: &FileFacts, files: &Files<'_>) -> BTreeSet<Module> {
    let mut used = BTreeSet::new();
    for found in &facts.paths {
        if !found.inside.iter().any(|module| is_test(module)) {
            follow(found, here, files, &mut used, MOST_STEPS);
        }
    }
    used.remove(here);
    used
}

/// Adds the modules of this crate that a path leads through: the one that it names, and where that has the name from.
fn follow(
    found: &PathUse,
    here: &Module,
    files: &Files<'_>,
    used: &mut BTreeSet<Module>,
    steps: usize,
) {
    let segments = &found.segments;
    let Some(first) = segments.first().filter(|_| steps > 0) else {
        return;
    };
    let is_up = |segment: &&String| matches!(segment.as_str(), "self" | "super");
    let place = [here.as_slice(), &found.inside].concat();
    let (file, names) = match first.as_str() {
        "crate" => deepest(&segments[1..], files),
        "self" | "super" => {
            let ups = segments.iter().take_while(is_up);
            let n_up = ups.clone().filter(|step| *step == "super").count();
            let base = &place[..place.len().saturating_sub(n_up)];
            deepest(&[base, &segments[ups.count()..]].concat(), files)
        }
        _ if files.contains_key(&[&place[..], &segments[..1]].concat()) => {
            deepest(&[&place[..], segments].concat(), files)
        }
        // What the file calls so.
        _ => (here.clone(), segments.clone()),
    };
    let Some((name, rest)) = names.split_first() else {
        used.insert(file);
        return;
    };
    let is_import = |import: &&PathUse| import.name.as_ref() == Some(name);
    if let Some(import) = files[&file].1.paths.iter().find(is_import) {
        let whole = PathUse {
            segments: [&import.segments, rest].concat(),
            ..import.clone()
        };
        follow(&whole, &file, files, used, steps - 1);
    }
    used.insert(file);
}

/// The file of a path from the crate, and the names that are left.
fn deepest(path: &[String], files: &Files<'_>) -> (Module, Module) {
    let is_file = |n: &usize| files.contains_key(&path[..*n]);
    let n = (0..=path.len()).rev().find(is_file).unwrap_or(0);
    (path[..n].to_vec(), path[n..].to_vec())
}

fn reached_from(start: &Module, uses: &Uses) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(module) = waiting.pop() {
        for next in uses.get(module).into_iter().flatten() {
            if reached.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    reached
}
