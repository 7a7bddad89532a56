//! Looks a setup over before anything is started: its engine, keys and values, and what a slip may mean.

use super::key::{Key, Takes};
use super::{ALL, COMMON_KEYS, EngineOptions, common, find};
use powerband_core::base::humanize;
use powerband_core::base::near_miss::near_miss;
use powerband_core::domain::setup::Setup;

/// Why a setup cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// No such engine.
    #[error("there is no engine \"{name}\"; {help}")]
    Engine {
        /// What was asked for.
        name: String,
        /// The one that may be meant, or those there are.
        help: String,
    },
    /// An option that the engine does not know.
    #[error("the engine {engine} does not know the key \"{key}\"; {help}")]
    Key {
        /// The engine.
        engine: &'static str,
        /// What was asked for.
        key: String,
        /// The one that may be meant, or those there are.
        help: String,
    },
    /// An option whose value makes no sense.
    #[error("in the setup {setup}: {reason}")]
    Value {
        /// The setup.
        setup: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Every key that a setup of an engine may have, its own before the common ones.
pub fn keys_of(engine: &dyn EngineOptions) -> impl Iterator<Item = &'static Key> + use<> {
    engine.keys().iter().chain(COMMON_KEYS)
}

/// Looks a setup over before anything is started: engine, keys, values.
pub fn check(setup: &Setup) -> Result<&'static dyn EngineOptions, CheckError> {
    let engine = find(&setup.engine).ok_or_else(|| CheckError::Engine {
        name: setup.engine.clone(),
        help: match setup.engine.as_str() {
            "tract" => "earlier builds had it; rten runs the same networks".to_owned(),
            id => suggestion_or(id, &offered_ids().collect::<Vec<_>>(), "there are"),
        },
    })?;
    let known = || keys_of(engine);
    if let Some(key) = setup
        .options
        .keys()
        .find(|key| !known().any(|k| k.covers(key)))
    {
        let names: Vec<&str> = known().map(|key| key.name).collect();
        return Err(CheckError::Key {
            engine: engine.id(),
            key: key.clone(),
            help: suggestion_or(key, &names, "it knows"),
        });
    }
    common::check(setup)
        .and_then(|()| engine.check(setup))
        .map_err(|reason| CheckError::Value {
            setup: setup.to_string(),
            reason: misspelt(setup, engine).unwrap_or(reason),
        })?;
    Ok(engine)
}

/// What makes no sense about a setup, without the setup's text before it.
pub fn setup_fault(setup: &Setup) -> Option<String> {
    match check(setup).err()? {
        CheckError::Value { reason, .. } => Some(reason),
        other => Some(other.to_string()),
    }
}

/// Why a key has no effect in a setup, or cannot be there; nothing where it can.
pub fn key_conflict(setup: &Setup, key: &Key) -> Option<String> {
    if setup.options.keys().any(|given| key.covers(given)) {
        return None;
    }
    let name = key
        .family()
        .map_or_else(|| key.name.to_owned(), |family| format!("{family}x"));
    why_not_value(setup, &name, key.example())
}

/// Why a key cannot have a value in a setup that is valid without it; nothing where it can.
pub fn why_not_value(setup: &Setup, key: &str, value: &str) -> Option<String> {
    let mut with = setup.clone();
    with.options.insert(key.to_owned(), value.to_owned());
    match check(&with) {
        Err(CheckError::Value { reason, .. }) => {
            let mut without = setup.clone();
            without.options.remove(key);
            check(&without).is_ok().then_some(reason)
        }
        _ => None,
    }
}

/// Identifiers of the engines that users see in lists.
pub fn offered_ids() -> impl Iterator<Item = &'static str> {
    let offered = ALL.iter().filter(|engine| engine.is_offered());
    offered.map(|engine| engine.id())
}

/// Of a setup with a fault: the word from a list that one of its values is almost written like.
fn misspelt(setup: &Setup, engine: &dyn EngineOptions) -> Option<String> {
    let given = setup.options.iter();
    let mut slips = given.filter_map(|(name, value)| {
        let key = keys_of(engine).find(|key| key.covers(name))?;
        let is_closed = !matches!(key.takes, Takes::OneOr(..));
        let (unknown, meant) = key.near_miss_value(value).filter(|_| is_closed)?;
        let known = humanize::or_list(&key.choices());
        Some(format!(
            "{name}={unknown} is not known, only {known}; did you mean {meant}?"
        ))
    });
    slips.next()
}

fn suggestion_or(word: &str, known: &[&str], otherwise: &str) -> String {
    match near_miss(word, known) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("{otherwise} {}", known.join(", ")),
    }
}
