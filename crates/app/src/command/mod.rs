//! All commands: title, keys, availability and action of each.
//!
//! The palette, the shortcuts and the settings screen read this one list. To add a command: an entry in
//! `commands.rs` of the folder that it is about.

pub(crate) mod entry;
pub(crate) mod screens;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use entry::Command;

use super::find::by_words;
use super::keys::Shortcut;
use super::parts::{self, part::AppPart};
use super::shared::Shared;

/// Every command.
pub static ALL: LazyLock<Vec<Command>> = LazyLock::new(|| {
    let of_part = |part: &AppPart| {
        let commands = part.commands.iter();
        let commands = commands.map(|command| Command {
            needs_machine: part.needs_machine || command.needs_machine,
            ..*command
        });
        commands.collect::<Vec<_>>()
    };
    parts::ALL.iter().flat_map(of_part).collect()
});

/// The commands that this application offers: without a machine, those that need none.
pub fn offered(shared: &Shared) -> impl Iterator<Item = &'static Command> {
    ALL.iter().filter(|command| command.is_offered(shared))
}

/// The keys of a command: the user's, else its defaults.
pub fn keys(command: &Command, changed: &BTreeMap<String, Option<Shortcut>>) -> Option<Shortcut> {
    match changed.get(command.id) {
        Some(own) => own.clone(),
        None => command.keys.parse().ok(),
    }
}

impl Shared {
    /// The keys of a command, as words; nothing for none.
    pub fn keys_of(&self, id: &str) -> String {
        let command = ALL.iter().find(|command| command.id == id);
        let keys = command.and_then(|command| keys(command, &self.remembered.shortcuts));
        keys.map(|keys| keys.on_keyboard()).unwrap_or_default()
    }
}

/// More keys that lead to a command: none where the user changed its keys, or gave these to another.
pub fn more_keys(
    command: &Command,
    changed: &BTreeMap<String, Option<Shortcut>>,
) -> Option<Shortcut> {
    if changed.contains_key(command.id) {
        return None;
    }
    let more = command.more_keys.parse().ok()?;
    let is_taken = changed.values().flatten().any(|own| *own == more);
    (!is_taken).then_some(more)
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
