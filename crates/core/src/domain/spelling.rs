//! The text of a setup while it is typed: what can be read of it, and the part that the cursor is in.

use std::collections::BTreeMap;
use std::ops::Range;

use super::setup::Setup;

/// A text as far as it can be read. Parts that make no sense are kept, so that nothing typed is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// What can be read.
    pub setup: Setup,
    /// Parts after a comma that are no option, or one that is given already.
    pub unread: Vec<String>,
}

/// The part of a text that a cursor is in, as far as it stands before the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpellingPart {
    /// An engine.
    Engine(String),
    /// A device of the engine before it.
    Device(String),
    /// A key.
    Key(String),
    /// A value of a key.
    Value(String, String),
}

impl Spelling {
    /// Reads a text.
    pub fn parse(text: &str) -> Self {
        let parts = parts(text);
        let mut texts = parts.into_iter().map(|range| text[range].trim());
        let target = texts.next().unwrap_or_default();
        let (engine, device) = target.split_once(':').unwrap_or((target, "cpu"));
        let mut options = BTreeMap::new();
        let mut unread = Vec::new();
        for part in texts.filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some((key, value))
                    if !key.trim().is_empty() && !options.contains_key(key.trim()) =>
                {
                    options.insert(key.trim().to_owned(), unquoted(value.trim()).to_owned());
                }
                _ => unread.push(part.to_owned()),
            }
        }
        let device = if device.is_empty() { "cpu" } else { device };
        Self {
            setup: Setup {
                engine: engine.to_owned(),
                device: device.to_owned(),
                options,
            },
            unread,
        }
    }

    /// The canonical text, with what could not be read at its end.
    pub fn text(&self) -> String {
        let mut text = self.setup.to_string();
        for part in &self.unread {
            text.push(',');
            text.push_str(part);
        }
        text
    }
}

/// The part at a cursor, which is a number of bytes, and the range that another word for it replaces.
pub fn part_at(text: &str, cursor: usize) -> (SpellingPart, Range<usize>) {
    let cursor = cursor.min(text.len());
    let parts = parts(text);
    let is_at = |range: &&Range<usize>| range.start <= cursor && cursor <= range.end;
    let range = parts.iter().find(is_at).cloned().unwrap_or(0..text.len());
    let part = &text[range.clone()];
    let before = &text[range.start..cursor.clamp(range.start, range.end)];
    let blanks = before.len() - before.trim_start().len();
    let start = range.start + blanks;
    let word = |from: usize| text[from..cursor.max(from)].to_owned();
    let is_first = range.start == 0;
    let sign = if is_first { ':' } else { '=' };
    match before.find(sign).map(|place| range.start + place + 1) {
        None => {
            let end = part
                .find(sign)
                .map_or(range.end, |place| range.start + place);
            let word = word(start);
            let part = if is_first {
                SpellingPart::Engine(word)
            } else {
                SpellingPart::Key(word)
            };
            (part, start..end)
        }
        Some(from) if is_first => (SpellingPart::Device(word(from)), from..range.end),
        Some(from) => {
            let key = text[start..from - 1].trim().to_owned();
            // Of several words that are joined, the one at the cursor.
            let own = text[from..cursor]
                .rfind('+')
                .map_or(from, |place| from + place + 1);
            let end = text[cursor..range.end]
                .find('+')
                .map_or(range.end, |place| cursor + place);
            (SpellingPart::Value(key, word(own)), own..end)
        }
    }
}

/// Ranges between commas that stand outside double quotes.
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (place, c) in text.char_indices() {
        quoted ^= c == '"';
        if c == ',' && !quoted {
            parts.push(start..place);
            start = place + 1;
        }
    }
    parts.push(start..text.len());
    parts
}

fn unquoted(value: &str) -> &str {
    let inner = value.strip_prefix('"');
    inner.map_or(value, |inner| inner.strip_suffix('"').unwrap_or(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_read_is_canonical_and_nothing_is_lost() {
        for (typed, text) in [
            ("ort", "ort:cpu"),
            ("ort:cpu, threads=2,opt=none", "ort:cpu,opt=none,threads=2"),
            ("ort:cpu,thr", "ort:cpu,thr"),
            ("ort:cpu,a=1,a=2", "ort:cpu,a=1,a=2"),
            ("ort:cpu,", "ort:cpu"),
            ("ort:,a=1", "ort:cpu,a=1"),
            ("command,run=\"a, b\"", "command:cpu,run=\"a, b\""),
            ("command,run=\"a, b", "command:cpu,run=\"a, b\""),
        ] {
            assert_eq!(Spelling::parse(typed).text(), text, "{typed}");
        }
    }

    #[test]
    fn the_part_at_the_cursor_is_found() {
        let text = "ort:cuda, thre,mode=fp16+comp+x";
        let at = |words: &str| part_at(text, text.find(words).unwrap() + words.len());
        assert_eq!(at("or"), (SpellingPart::Engine("or".to_owned()), 0..3));
        assert_eq!(at("ort:cu"), (SpellingPart::Device("cu".to_owned()), 4..8));
        assert_eq!(at("thr"), (SpellingPart::Key("thr".to_owned()), 10..14));
        let value = SpellingPart::Value("mode".to_owned(), "comp".to_owned());
        assert_eq!(at("+comp"), (value, 25..29));
        assert_eq!(part_at("", 0), (SpellingPart::Engine(String::new()), 0..0));
        assert_eq!(part_at("ort,", 4), (SpellingPart::Key(String::new()), 4..4));
    }
}
