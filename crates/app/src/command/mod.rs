//! Every command by name: what it is called, which keys it has, when it can be given, and what it does.
//!
//! The palette, the shortcuts and the settings screen read this one list. To add a command: an entry in the
//! file of what it is about.

mod compare;
mod curves;
mod figures;
mod kernels;
mod library;
mod machine;
mod plan;
mod run;
mod screens;
mod sessions;
mod timeline;
mod window;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::App;
use super::action::Action;
use super::find::by_words;
use super::keys::Shortcut;

/// A command.
#[derive(Clone, Copy)]
pub struct Command {
    /// Its name in the settings file; never changed.
    pub id: &'static str,
    /// What people read.
    pub title: &'static str,
    /// The keys that it is delivered with; empty for none.
    pub keys: &'static str,
    /// What it does now, or why it cannot be done.
    pub act: fn(&App) -> Result<Action, &'static str>,
}

const fn command(
    id: &'static str,
    title: &'static str,
    keys: &'static str,
    act: fn(&App) -> Result<Action, &'static str>,
) -> Command {
    Command {
        id,
        title,
        keys,
        act,
    }
}

/// Every command.
pub static ALL: LazyLock<Vec<Command>> = LazyLock::new(|| {
    [
        screens::ALL,
        window::ALL,
        machine::ALL,
        sessions::ALL,
        run::ALL,
        plan::ALL,
        curves::ALL,
        compare::ALL,
        figures::ALL,
        kernels::ALL,
        timeline::ALL,
        library::ALL,
    ]
    .concat()
});

/// The keys of a command: the user's, else those it is delivered with.
pub fn keys(command: &Command, changed: &BTreeMap<String, Option<Shortcut>>) -> Option<Shortcut> {
    match changed.get(command.id) {
        Some(own) => own.clone(),
        None => command.keys.parse().ok(),
    }
}

/// The command that has those keys already.
pub fn holder(
    keys_wanted: &Shortcut,
    changed: &BTreeMap<String, Option<Shortcut>>,
) -> Option<&'static Command> {
    ALL.iter()
        .find(|command| keys(command, changed).as_ref() == Some(keys_wanted))
}

/// Commands whose titles have the words, the closest first.
pub fn find(words: &str) -> Vec<&'static Command> {
    by_words(ALL.iter().collect(), |command| command.title, words)
}

#[cfg(test)]
mod tests;
