//! Shortcuts as text, `Ctrl+Shift+P`, independent of the code that reads the keyboard.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Modifier keys: alone they are no shortcut.
const HELD: [&str; 8] = [
    "ShiftLeft",
    "ShiftRight",
    "ControlLeft",
    "ControlRight",
    "AltLeft",
    "AltRight",
    "SuperLeft",
    "SuperRight",
];

/// Whether a key of this name is a modifier.
pub fn is_held(key: &str) -> bool {
    HELD.contains(&key)
}

/// A key with the modifiers that go with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shortcut {
    /// Ctrl, or Command on a Mac.
    pub ctrl: bool,
    /// Shift.
    pub shift: bool,
    /// Alt.
    pub alt: bool,
    /// The key by its name: `K`, `1`, `Plus`, `F5`, `ArrowUp`.
    pub key: String,
}

impl Shortcut {
    /// Whether typing text could produce it: a plain character without Ctrl or Alt.
    pub fn is_typing(&self) -> bool {
        let is_character = self.key.chars().count() == 1 || self.key == "Questionmark";
        !self.ctrl && !self.alt && is_character
    }
}

impl Shortcut {
    /// As it stands on a keyboard: `Ctrl+→`.
    pub(crate) fn on_keyboard(&self) -> String {
        const SIGNS: [(&str, &str); 22] = [
            ("ArrowLeft", "←"),
            ("ArrowRight", "→"),
            ("ArrowUp", "↑"),
            ("ArrowDown", "↓"),
            ("Plus", "+"),
            ("Minus", "−"),
            ("Period", "."),
            ("Comma", ","),
            ("Slash", "/"),
            ("Backslash", "\\"),
            ("Pipe", "|"),
            ("Colon", ":"),
            ("Semicolon", ";"),
            ("Quote", "'"),
            ("Backtick", "`"),
            ("Equals", "="),
            ("Questionmark", "?"),
            ("Exclamationmark", "!"),
            ("OpenBracket", "["),
            ("CloseBracket", "]"),
            ("OpenCurlyBracket", "{"),
            ("CloseCurlyBracket", "}"),
        ];
        let sign = SIGNS.iter().find(|(name, _)| *name == self.key);
        let key = sign.map_or(self.key.as_str(), |(_, sign)| sign);
        let whole = self.to_string();
        let held = whole.strip_suffix(&self.key).unwrap_or_default();
        format!("{held}{key}")
    }
}

impl FromStr for Shortcut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut shortcut = Self {
            ctrl: false,
            shift: false,
            alt: false,
            key: String::new(),
        };
        for part in text.split('+').map(str::trim) {
            match part {
                "Ctrl" => shortcut.ctrl = true,
                "Shift" => shortcut.shift = true,
                "Alt" => shortcut.alt = true,
                key if !key.is_empty() && !is_held(key) && shortcut.key.is_empty() => {
                    key.clone_into(&mut shortcut.key);
                }
                _ => {
                    return Err(format!(
                        "\"{text}\" is no shortcut; write for example Ctrl+Shift+P"
                    ));
                }
            }
        }
        if shortcut.key.is_empty() {
            return Err(format!("the shortcut \"{text}\" names no key"));
        }
        Ok(shortcut)
    }
}

impl fmt::Display for Shortcut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [
            (self.ctrl, "Ctrl+"),
            (self.shift, "Shift+"),
            (self.alt, "Alt+"),
        ] {
            if held {
                f.write_str(name)?;
            }
        }
        f.write_str(&self.key)
    }
}

impl TryFrom<String> for Shortcut {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shortcut> for String {
    fn from(shortcut: Shortcut) -> Self {
        shortcut.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_come_back() {
        for text in ["Ctrl+K", "Ctrl+Shift+Z", "Alt+ArrowUp", "F5", "Slash"] {
            assert_eq!(text.parse::<Shortcut>().unwrap().to_string(), text);
        }
        for bad in ["", "Ctrl+", "K+L", "Ctrl+Shift"] {
            assert!(bad.parse::<Shortcut>().is_err(), "{bad}");
        }
        for bad in ["ControlLeft", "Alt+AltRight"] {
            assert!(bad.parse::<Shortcut>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_keyboard_has_signs() {
        let sign = |text: &str| text.parse::<Shortcut>().unwrap().on_keyboard();
        assert_eq!(
            (sign("Ctrl+ArrowUp"), sign("Ctrl+K")),
            ("Ctrl+↑".to_owned(), "Ctrl+K".to_owned())
        );
        assert_eq!(sign("Ctrl+Comma"), "Ctrl+,");
        assert_eq!(sign("Ctrl+Shift+Backslash"), "Ctrl+Shift+\\");
    }

    #[test]
    fn typing_is_told_from_commands() {
        assert!("K".parse::<Shortcut>().unwrap().is_typing());
        assert!(!"Ctrl+K".parse::<Shortcut>().unwrap().is_typing());
        assert!(!"F5".parse::<Shortcut>().unwrap().is_typing());
    }
}
