//! The controls of a setup: its engine, its device, and each key that the engine declares.

use std::ops::Range;

use powerband_planning::engine_options::{Key, Takes};

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// What stands in the text; empty for what holds without it.
    pub value: String,
    /// What people read.
    pub title: String,
    /// More about it; may be empty.
    pub help: String,
    /// Why it cannot be chosen here; nothing where it can.
    pub why_not: Option<String>,
}

/// What can stand at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The bytes that a proposal replaces.
    pub range: Range<usize>,
    /// Proposals, the likeliest first, those that cannot be chosen last.
    pub proposals: Vec<Alternative>,
}

/// The control of a key.
#[derive(Clone, Debug)]
pub struct Control {
    /// The key.
    pub key: &'static Key,
    /// What the text has; empty where the default holds.
    pub value: String,
    /// Why it has no effect in this setup; nothing where it has.
    pub why_not: Option<String>,
}

impl Control {
    /// The value of a switch.
    pub fn is_on(&self) -> bool {
        let Takes::Switch(on, _) = self.key.takes else {
            return false;
        };
        let value = if self.value.is_empty() {
            self.key.default
        } else {
            &self.value
        };
        [on, "on", "true", "yes", "1"].contains(&value)
    }

    /// What the text has after the switch was turned.
    pub fn toggled_value(&self) -> &'static str {
        match self.key.takes {
            Takes::Switch(on, off) => {
                if self.is_on() {
                    off
                } else {
                    on
                }
            }
            _ => "",
        }
    }

    /// Whether a word of several is chosen; the default where none is.
    pub fn has_word(&self, word: &str) -> bool {
        let mut words = self.value.split('+').map(str::trim);
        let is_given = words.any(|given| given == word);
        is_given || (self.value.is_empty() && word == self.key.default)
    }

    /// The value with a word of several added, or taken out.
    pub fn with_word(&self, word: &str) -> String {
        if word == self.key.default {
            return String::new();
        }
        let all = self.key.choices().into_iter();
        let wanted = all.filter(|one| *one != self.key.default);
        let wanted = wanted.filter(|one| self.has_word(one) != (*one == word));
        wanted.collect::<Vec<_>>().join("+")
    }
}
