//! Long lists of numbers with gaps as one text, divided by spaces: `"215 214.5 - 216"`.
//!
//! For `#[serde(with)]`. A number is written with as few digits as bring it back exactly, a gap as `-`.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// What stands for a number that is not there.
const GAP: &str = "-";

/// Writes the numbers as one text.
pub(crate) fn serialize<S: Serializer>(
    numbers: &[Option<f64>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use fmt::Write as _;
    let mut text = String::with_capacity(numbers.len() * 6);
    for (index, number) in numbers.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        match number.filter(|number| number.is_finite()) {
            Some(number) => write!(text, "{number}").map_err(serde::ser::Error::custom)?,
            None => text.push_str(GAP),
        }
    }
    serializer.serialize_str(&text)
}

/// Reads them back.
pub fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Option<f64>>, D::Error> {
    deserializer.deserialize_str(OptionalF64ListVisitor)
}

struct OptionalF64ListVisitor;

impl Visitor<'_> for OptionalF64ListVisitor {
    type Value = Vec<Option<f64>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers divided by spaces, gaps as -")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<Option<f64>>, E> {
        let number = |word: &str| {
            if word == GAP {
                return Ok(None);
            }
            let number: f64 = word
                .parse()
                .map_err(|error| E::custom(format!("\"{word}\" is not a number: {error}")))?;
            Ok(Some(number).filter(|number| number.is_finite()))
        };
        text.split_ascii_whitespace().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] Vec<Option<f64>>);

    #[test]
    fn lists_come_back() {
        for numbers in [
            vec![],
            vec![None],
            vec![
                Some(0.1 + 0.2),
                None,
                Some(-3.0),
                Some(68_702_699_520.0),
                Some(1e-9),
            ],
        ] {
            let text = serde_json::to_string(&Holder(numbers.clone())).unwrap();
            let back = serde_json::from_str::<Holder>(&text).unwrap().0;
            assert_eq!(back, numbers, "{text}");
        }
        let odd = serde_json::to_string(&Holder(vec![Some(f64::NAN), Some(1.0)])).unwrap();
        assert_eq!(odd, "\"- 1\"");
    }

    #[test]
    fn rubbish_is_named() {
        let error = serde_json::from_str::<Holder>("\"1 x\"").unwrap_err();
        assert!(
            error.to_string().contains("\"x\" is not a number"),
            "{error}"
        );
    }
}
