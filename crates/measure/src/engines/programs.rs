//! Which options of a setup run a program, or load a library or code: those that are asked for where a plan is from
//! a file. Each key says it of itself.

use super::{find, keys_of};
use powerband_core::domain::setup::Setup;

/// The options of a setup that run or load something, as `key=value`, in the order of their keys.
pub fn programs(setup: &Setup) -> Vec<String> {
    let Some(engine) = find(&setup.engine) else {
        return Vec::new();
    };
    let runs = |key: &str, value: &str| {
        let known = keys_of(engine).find(|known| known.covers(key));
        known
            .and_then(|known| known.runs)
            .is_some_and(|runs| runs(value))
    };
    let options = setup.options.iter();
    options
        .filter(|(key, value)| runs(key, value))
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

/// Whatever it is.
pub(super) fn always(_value: &str) -> bool {
    true
}

/// Whether it is more than a number or a single word, so that it may name a file.
pub(super) fn may_name_a_file(value: &str) -> bool {
    let is_number = value.parse::<f64>().is_ok();
    let is_word =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | ':');
    !is_number && !value.chars().all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{ALL, MODEL_KEY, Takes};

    #[test]
    fn every_key_that_names_a_file_says_whether_it_runs() {
        // Networks and pictures are read, and nothing in them is run.
        let read = [MODEL_KEY];
        for engine in ALL {
            for key in keys_of(*engine) {
                let names_file = matches!(key.takes, Takes::Path(_));
                let is_covered = key.runs.is_some() || read.contains(&key.name);
                assert!(!names_file || is_covered, "{} of {}", key.name, engine.id());
            }
        }
        assert!(!may_name_a_file("CPU") && !may_name_a_file("0.5") && !may_name_a_file("GPU:0"));
        assert!(may_name_a_file("/a") && may_name_a_file("a.so") && may_name_a_file("a b"));
    }
}
