//! Long lists of whole numbers as one text, divided by spaces: `"6751234 6749012 …"`.
//!
//! For `#[serde(with)]`. A million samples are read ten times faster so than as a list, they stay on
//! one line of a readable file, and numpy reads them with `np.fromstring(text, sep=" ")`.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// Writes the numbers as one text.
pub fn serialize<S: Serializer>(numbers: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    use fmt::Write as _;
    let mut text = String::with_capacity(numbers.len() * 9);
    for (index, number) in numbers.iter().enumerate() {
        let divider = if index == 0 { "" } else { " " };
        write!(text, "{divider}{number}").map_err(serde::ser::Error::custom)?;
    }
    serializer.serialize_str(&text)
}

/// Reads them back.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    deserializer.deserialize_str(U64ListVisitor)
}

struct U64ListVisitor;

impl Visitor<'_> for U64ListVisitor {
    type Value = Vec<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("whole numbers divided by spaces")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u64>, E> {
        let number = |word: &str| {
            word.parse()
                .map_err(|error| E::custom(format!("\"{word}\" is not a whole number: {error}")))
        };
        text.split_ascii_whitespace().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] Vec<u64>);

    #[test]
    fn lists_come_back() {
        for numbers in [vec![], vec![7], vec![1, 0, u64::MAX]] {
            let text = serde_json::to_string(&Holder(numbers.clone())).unwrap();
            assert_eq!(
                serde_json::from_str::<Holder>(&text).unwrap().0,
                numbers,
                "{text}"
            );
        }
    }

    #[test]
    fn rubbish_is_named() {
        let error = serde_json::from_str::<Holder>("\"1 -2\"")
            .unwrap_err()
            .to_string();
        assert!(error.contains("\"-2\" is not a whole number"), "{error}");
    }
}
