//! Completion of a setup's text while it is typed: engines, devices, keys and values.

use std::collections::BTreeSet;

use super::built_in;
use super::form::{Alternative, Completion};
use crate::shared::Shared;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::spelling::{Spelling, SpellingPart, part_at};
use powerband_planning::engine_options;
use powerband_planning::engine_options::{Key, Takes};
use powerband_planning::form::respell;

/// Most proposals.
const MOST: usize = 10;

impl Shared {
    /// What can stand at a cursor, which is a number of bytes; nothing where the word there is complete.
    pub fn complete_setup(&self, text: &str, cursor: usize) -> Option<Completion> {
        let (part, range) = part_at(text, cursor);
        let mut setup = Spelling::parse(text).setup;
        let (word, all) = match part {
            SpellingPart::Engine(word) => {
                let engines = self.engine_choices("").into_iter();
                let by_id = engines.map(|choice| Alternative {
                    title: choice.value.clone(),
                    help: choice.title,
                    ..choice
                });
                (word, by_id.collect())
            }
            SpellingPart::Device(word) => {
                "cpu".clone_into(&mut setup.device);
                (word, self.device_choices(&setup))
            }
            SpellingPart::Key(word) => {
                let has_value = text[range.end..].starts_with('=');
                (word, Self::keys_for(&setup, has_value))
            }
            SpellingPart::Value(key, word) => {
                let key = respell::key_of(&setup.engine, &key)?;
                setup.options.remove(key.name);
                let choices = self.value_choices(&setup, key);
                let named = choices
                    .into_iter()
                    .filter(|choice| !choice.value.is_empty());
                (
                    word,
                    named.map(|choice| with_default(choice, key)).collect(),
                )
            }
        };
        let proposals = ranked(all, word.trim());
        // A word that is complete needs none, and a list would be in the way of Enter.
        let is_complete = |choice: &Alternative| {
            choice.value == word.trim() && text[range.clone()].trim() == word.trim()
        };
        let is_needed = !proposals.is_empty() && !proposals.first().is_some_and(is_complete);
        is_needed.then_some(Completion { range, proposals })
    }

    /// The networks that a model's name may become: the built-in ones, and files of the open sessions. Nothing where it
    /// is one.
    pub fn complete_model(&self, text: &str) -> Option<Completion> {
        let word = text.trim();
        let of_files = self
            .sessions
            .iter()
            .filter(|open| open.session.plan.can_run());
        let files: BTreeSet<&str> = of_files
            .map(|open| open.session.plan.model.as_str())
            .filter(|model| built_in().all(|(id, _)| id != *model))
            .collect();
        let alternative = |value: &str, help: &str| Alternative {
            value: value.to_owned(),
            title: value.to_owned(),
            help: help.to_owned(),
            why_not: None,
        };
        let files = files
            .into_iter()
            .map(|path| alternative(path, "a file of an open session"));
        let all: Vec<Alternative> = built_in()
            .map(|(id, title)| alternative(id, title))
            .chain(files)
            .collect();
        if all.iter().any(|known| known.value == word) {
            return None;
        }
        let proposals = ranked(all, word);
        (!proposals.is_empty()).then_some(Completion {
            range: 0..text.len(),
            proposals,
        })
    }

    /// Keys that a setup does not have yet.
    fn keys_for(setup: &Setup, has_value: bool) -> Vec<Alternative> {
        let Some(engine) = engine_options::find(&setup.engine) else {
            return Vec::new();
        };
        let is_given = |key: &&Key| setup.options.contains_key(key.name);
        engine_options::keys_of(engine)
            .filter(|key| has_value || !is_given(key))
            .map(|key| {
                let name = key.family().unwrap_or(key.name);
                let sign = if has_value || key.family().is_some() {
                    ""
                } else {
                    "="
                };
                Alternative {
                    value: format!("{name}{sign}"),
                    title: format!("{name}{sign}"),
                    help: match key.takes {
                        Takes::Path(_) | Takes::Folder(_) | Takes::Text(..) => key.full_help(),
                        _ => format!("{}: {}", key.full_help(), key.values()),
                    },
                    why_not: engine_options::key_conflict(setup, key),
                }
            })
            .collect()
    }
}

fn with_default(choice: Alternative, key: &Key) -> Alternative {
    let help = if choice.value == key.default {
        "default".to_owned()
    } else {
        choice.help
    };
    Alternative { help, ..choice }
}

/// Those that begin with a word, then those that have it; what cannot be chosen comes last.
fn ranked(all: Vec<Alternative>, word: &str) -> Vec<Alternative> {
    let word = word.to_lowercase();
    let place = |choice: &Alternative| {
        let value = choice.value.to_lowercase();
        let is_title = choice.title.to_lowercase().contains(&word);
        let place = match (value.starts_with(&word), value.contains(&word) || is_title) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => return None,
        };
        Some((choice.why_not.is_some(), place))
    };
    let found = all.into_iter();
    let mut found: Vec<((bool, i32), Alternative)> = found
        .filter_map(|choice| Some((place(&choice)?, choice)))
        .collect();
    found.sort_by_key(|(place, _)| *place);
    found
        .into_iter()
        .take(MOST)
        .map(|(_, choice)| choice)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::EngineState;
    use crate::plan::matrix_setups::tests::empty_bench;
    use powerband_planning::engine_options::EngineInfo;

    fn titles(shared: &Shared, text: &str) -> Vec<String> {
        let found = shared.complete_setup(text, text.len());
        let found = found.into_iter().flat_map(|found| found.proposals);
        found.map(|one| one.title).collect()
    }

    #[test]
    fn what_is_typed_is_completed_where_it_stands() {
        let (_, shared) = empty_bench();
        assert_eq!(titles(&shared, "to"), ["torch"]);
        assert_eq!(titles(&shared, "ort:cpu,prec"), ["precision="]);
        assert_eq!(
            titles(&shared, "ort:cpu,precision="),
            ["fp32", "fp16", "int8"]
        );
        assert_eq!(titles(&shared, "torch,mode=fp16+com"), ["compile"]);
        assert_eq!(titles(&shared, "ort:cpu,opt=none"), [""; 0], "complete");
        assert_eq!(titles(&shared, "ort:cpu,threads=2"), [""; 0], "a number");
        assert!(!titles(&shared, "ort:cpu,opt=none,o").contains(&"opt=".to_owned()));
        let found = shared.complete_setup("ort:cpu,pre=int8", 11).unwrap();
        assert_eq!(found.range, 8..11);
        assert_eq!(found.proposals[0].value, "precision", "it has its value");
    }

    #[test]
    fn the_name_of_a_network_is_completed() {
        let (_, shared) = empty_bench();
        let proposed = |text: &str| {
            let found = shared.complete_model(text).into_iter();
            let values = found.flat_map(|found| found.proposals).map(|one| one.value);
            values.collect::<Vec<_>>()
        };
        assert_eq!(proposed("bert"), ["bert-base"]);
        assert!(proposed("resnet").contains(&"resnet18@cifar".to_owned()));
        assert_eq!(proposed("resnet50"), [""; 0], "complete");
        assert_eq!(proposed("nets/own.onnx"), [""; 0], "a path");
    }

    #[test]
    fn what_is_not_here_comes_last_with_its_reason() {
        let (_, mut shared) = empty_bench();
        shared.machine.engines = Some(vec![EngineState {
            id: "ort",
            title: "ONNX Runtime 1.30".to_owned(),
            words: String::new(),
            is_ready: true,
            runtime: None,
            is_first: true,
            info: Some(EngineInfo {
                devices: vec!["cpu".to_owned()],
                usual_providers: [("cuda".to_owned(), "cuda".to_owned())].into(),
                lacks: [("provider=cuda".to_owned(), "no CUDA".to_owned())].into(),
                ..EngineInfo::default()
            }),
            offers: Vec::new(),
        }]);
        let found = shared.complete_setup("ort:c", 5).unwrap();
        let of = |place: usize| {
            let one = &found.proposals[place];
            (one.value.as_str(), one.why_not.as_deref())
        };
        assert_eq!(of(0), ("cpu", None));
        assert_eq!(of(1), ("cuda", Some("no CUDA")));
        let keys = shared.complete_setup("ort:cpu,inter", 13).unwrap();
        let why = keys.proposals[0].why_not.clone().unwrap_or_default();
        assert!(why.contains("parallel=on"), "{why}");
    }
}
