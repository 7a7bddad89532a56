//! Files of one crate that import each other in a circle.
//!
//! A folder's `mod.rs`, and a crate's `lib.rs`, may name its own files, which may use what stands in it: that is
//! how a trait and the list of those who implement it stand together. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{FileFacts, PathUse};

type Module = Vec<String>;
/// Which modules a module uses.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

/// The circles among the files of a crate, whose paths are below `folder`: a line each.
pub(super) fn circles(folder: &str, files: &BTreeMap<&str, &FileFacts>) -> Vec<String> {
    let by_module: BTreeMap<Module, (&str, &FileFacts)> = files
        .iter()
        .filter(|(path, _)| **path != "main.rs" && !is_test(path))
        .map(|(path, facts)| (module_of(path), (*path, *facts)))
        .collect();
    let uses: Uses = by_module
        .iter()
        .map(|(module, (_, facts))| (module.clone(), used_by(module, facts, &by_module)))
        .collect();
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
        .collect::<BTreeSet<Vec<Module>>>()
        .iter()
        .map(|circle| {
            let names = circle.iter().map(|module| by_module[module].0);
            let names: Vec<&str> = names.collect();
            format!(
                "{folder}: {} import each other in a circle: move what they share into a file that both use",
                names.join(", ")
            )
        })
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

fn used_by<T>(here: &Module, facts: &FileFacts, modules: &BTreeMap<Module, T>) -> BTreeSet<Module> {
    facts
        .paths
        .iter()
        .filter(|found| !found.inside.iter().any(|module| is_test(module)))
        .filter_map(|found| target(found, here, modules))
        // Its own files, of which it has the list.
        .filter(|target| !target.starts_with(here))
        .collect()
}

/// The module of this crate that a path leads into, if it leads into one.
fn target<T>(found: &PathUse, here: &Module, modules: &BTreeMap<Module, T>) -> Option<Module> {
    let segments = &found.segments;
    let is_up = |segment: &&String| matches!(segment.as_str(), "self" | "super");
    let mut target: Module = match segments.first()?.as_str() {
        "crate" => segments[1..].to_vec(),
        "self" | "super" => {
            let steps = segments.iter().take_while(is_up);
            let n_up = steps.clone().filter(|step| *step == "super").count();
            let mut base = [here.as_slice(), &found.inside].concat();
            base.truncate(base.len().saturating_sub(n_up));
            base.extend_from_slice(&segments[steps.count()..]);
            base
        }
        _ => return None,
    };
    while !modules.contains_key(&target) {
        target.pop()?;
    }
    Some(target)
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
