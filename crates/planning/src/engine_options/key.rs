//! Options of a setup, as engines declare them: what each is called, what it takes, what it does.
//!
//! Checks, help, completion and the controls of *Plan* are all made of these declarations.

use powerband_core::base::near_miss::near_miss;

/// An option that a setup may carry.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// What stands before the `=`; a family of keys ends in `*`.
    pub name: &'static str,
    /// What may stand after it.
    pub takes: Takes,
    /// What it does.
    pub help: &'static str,
    /// What holds without it; empty where that depends.
    pub default: &'static str,
    /// What a control is called; empty for the name.
    title: &'static str,
    /// Whether a value runs a program, or loads a library or code; nothing where none does.
    pub runs: Option<fn(&str) -> bool>,
    /// Its place among the controls that are always shown; 0 for those behind *More*.
    pub rank: u8,
}

/// What may stand after the `=` of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// One of these words.
    One(&'static [&'static str]),
    /// One of these words, or something else that is described.
    OneOr(&'static [&'static str], &'static str),
    /// Several of these words, joined by `+`.
    Several(&'static [&'static str]),
    /// On or off, in these words.
    Switch(&'static str, &'static str),
    /// A whole number from 1 to this.
    Count(u32),
    /// A number, in this unit.
    Number(&'static str),
    /// A file, described.
    Path(&'static str),
    /// A folder, described.
    Folder(&'static str),
    /// Anything that is described, with an example.
    Text(&'static str, &'static str),
}

/// On and off.
pub(super) const ON_OFF: Takes = Takes::Switch("on", "off");
/// True and false.
pub(super) const TRUE_FALSE: Takes = Takes::Switch("true", "false");
/// What most numbers of things are limited by.
pub(super) const MOST: u32 = 4096;

impl Key {
    /// A key that stands behind *More*.
    pub const fn new(name: &'static str, takes: Takes, help: &'static str) -> Self {
        Self {
            name,
            takes,
            help,
            default: "",
            title: "",
            runs: None,
            rank: 0,
        }
    }

    /// With values that run or load something, where this says so.
    pub const fn running(self, runs: fn(&str) -> bool) -> Self {
        Self {
            runs: Some(runs),
            ..self
        }
    }

    /// With what holds without it.
    pub const fn with_default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// With a control that is always shown, at this place and under this title.
    pub const fn with_control(self, rank: u8, title: &'static str) -> Self {
        Self {
            title,
            rank,
            ..self
        }
    }

    /// With another title than its name, for a control behind *More*.
    pub const fn called(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// Whether an option's key is this one, or one of the family that it stands for.
    pub fn covers(&self, key: &str) -> bool {
        match self.family() {
            Some(family) => key.len() > family.len() && key.starts_with(family),
            None => self.name == key,
        }
    }

    /// What the keys of its family begin with; nothing for a single key.
    pub fn family(&self) -> Option<&'static str> {
        self.name.strip_suffix('*')
    }

    /// What a control of it is called.
    pub fn title(&self) -> &'static str {
        if self.title.is_empty() {
            self.name
        } else {
            self.title
        }
    }

    /// What may stand after the `=`, for help.
    pub fn values(&self) -> String {
        match self.takes {
            Takes::One(words) => words.join(", "),
            Takes::OneOr(words, or) => format!("{}, or {or}", words.join(", ")),
            Takes::Several(words) => format!("{}, joined by +", words.join(", ")),
            Takes::Switch(on, off) => format!("{on}, {off}"),
            Takes::Count(u32::MAX) => "a whole number".to_owned(),
            Takes::Count(most) => format!("1 to {most}"),
            Takes::Number("") => "a number".to_owned(),
            Takes::Number(unit) => unit.to_owned(),
            Takes::Path(what) | Takes::Folder(what) | Takes::Text(what, _) => what.to_owned(),
        }
    }

    /// What it does, and what holds without it.
    pub fn full_help(&self) -> String {
        match self.default {
            "" => self.help.to_owned(),
            default => format!("{} (default: {default})", self.help),
        }
    }

    /// The words that may stand after the `=`, as far as they are a list.
    pub fn choices(&self) -> Vec<&'static str> {
        match self.takes {
            Takes::One(words) | Takes::OneOr(words, _) | Takes::Several(words) => words.to_vec(),
            Takes::Switch(on, off) => vec![on, off],
            Takes::Count(_)
            | Takes::Number(_)
            | Takes::Path(_)
            | Takes::Folder(_)
            | Takes::Text(..) => Vec::new(),
        }
    }

    /// A value that is not the default, to try whether the key has an effect.
    pub fn example(&self) -> &'static str {
        match self.takes {
            Takes::Count(_) | Takes::Number(_) => "2",
            Takes::Path(_) | Takes::Folder(_) => "path",
            Takes::Text(_, example) => example,
            Takes::One(_) | Takes::OneOr(..) | Takes::Several(_) | Takes::Switch(..) => {
                let words = self.choices().into_iter();
                words
                    .rev()
                    .find(|word| *word != self.default)
                    .unwrap_or_default()
            }
        }
    }

    /// The word of its list that a misspelt value may mean, and the misspelt part; nothing where every
    /// part is known, or the list is open.
    pub fn near_miss_value<'a>(&self, value: &'a str) -> Option<(&'a str, &'static str)> {
        let words = self.choices();
        let parts: Vec<&str> = match self.takes {
            Takes::Several(_) => value.split('+').map(str::trim).collect(),
            _ => vec![value],
        };
        let unknown = parts.into_iter().find(|part| !words.contains(part))?;
        Some((unknown, near_miss(unknown, &words)?))
    }
}

/// True for every value.
pub(super) fn always(_value: &str) -> bool {
    true
}

/// Whether a worker is started on another machine.
pub(super) fn is_elsewhere(value: &str) -> bool {
    value.trim() != "here"
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

    #[test]
    fn a_slip_in_a_list_is_recognised_part_by_part() {
        let mode = Key::new("mode", Takes::Several(&["eager", "compile"]), "");
        assert_eq!(mode.near_miss_value("eager+compile"), None);
        assert_eq!(
            mode.near_miss_value("eager+complie"),
            Some(("complie", "compile"))
        );
        let level = Key::new("opt", Takes::One(&["none", "extended"]), "");
        assert_eq!(
            level.near_miss_value("extendd"),
            Some(("extendd", "extended"))
        );
        assert_eq!(level.near_miss_value("most"), None);
        assert_eq!(
            Key::new("threads", Takes::Count(4), "").near_miss_value("x"),
            None
        );
    }

    #[test]
    fn an_example_is_not_the_default() {
        let key = Key::new("spinning", ON_OFF, "").with_default("off");
        assert_eq!(key.example(), "on");
        assert_eq!(key.full_help(), " (default: off)");
    }
}
