//! The keys of a RON file with the text of their values, for files that several versions of the program share.
//!
//! An older program reads what it knows of such a file and writes the rest back as it was.

use std::fmt;

use ron::extensions::Extensions;
use ron::value::RawValue;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

/// A key and the text of its value.
pub type KeyText = (String, String);

/// What is written without `Some` around it is read as well.
pub fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

/// The keys of the struct that a file holds, in their order.
pub fn entries(text: &str) -> Result<Vec<KeyText>, String> {
    let entries: Entries = options()
        .from_str(text)
        .map_err(|error| error.to_string())?;
    Ok(entries.0)
}

/// A file with these keys.
pub fn file(entries: &[KeyText]) -> String {
    let lines = entries
        .iter()
        .map(|(key, value)| format!("  {key}: {value},\n"));
    format!("(\n{})", lines.collect::<String>())
}

/// Our keys beside what a file has that is to stay: keys that we lack, and values that cannot be read where ours is
/// the usual one.
pub fn merge_keys(
    mut ours: Vec<KeyText>,
    usual: &[KeyText],
    text: &str,
    is_readable: impl Fn(&KeyText) -> bool,
) -> Vec<KeyText> {
    for entry in entries(text).unwrap_or_default() {
        match ours.iter_mut().find(|(key, _)| *key == entry.0) {
            None => ours.push(entry),
            Some(own) if !is_readable(&entry) && usual.contains(own) => own.1 = entry.1,
            Some(_) => {}
        }
    }
    ours
}

struct Entries(Vec<KeyText>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(file: D) -> Result<Self, D::Error> {
        // The name stands in no file; a struct without one is read all the same.
        file.deserialize_struct("File", &[], EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values in parentheses")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries: Vec<KeyText> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(de::Error::custom(format!("{key} stands there twice")));
            }
            let value: Box<RawValue> = map.next_value()?;
            entries.push((key, value.trim().get_ron().to_owned()));
        }
        Ok(Entries(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_with_their_text() {
        let text =
            "// A comment.\n(a: 3, b: Some(Point(x: [1, 2], y: \"), c\")), // why\n  later: Dark)";
        let found = entries(text).unwrap();
        let expected = [
            ("a", "3"),
            ("b", "Some(Point(x: [1, 2], y: \"), c\"))"),
            ("later", "Dark"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(found, expected);
        assert_eq!(entries(&file(&found)).unwrap(), found);
        assert_eq!(entries("()").unwrap(), []);
        for broken in ["", "(a: ", "[1]", "(a: 1, a: 2)"] {
            assert!(entries(broken).is_err(), "{broken}");
        }
    }
}
