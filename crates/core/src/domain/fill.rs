//! What an input is filled with.
//!
//! It is the user's choice, as `--input` takes it, or what its use in the network asks for, which the crate
//! `onnx` finds. It travels to workers in `TensorSpec`, and `Tensor::seeded` makes the values.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::element::ElementType;
use crate::base::humanize;

/// What an input is filled with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Fill {
    /// Normal floats; zeros and ones for integers and booleans.
    #[default]
    Usual,
    /// Zero everywhere.
    Zeros,
    /// One everywhere.
    Ones,
    /// The same number everywhere, such as a length.
    Number(f64),
    /// Counts up along the last dimension that is not the batch.
    Range {
        /// The first number.
        from: i64,
    },
    /// Seeded numbers, all equally likely: whole ones for integers.
    Random {
        /// The least.
        low: f64,
        /// What none of them reaches.
        high: f64,
    },
    /// The values of a NumPy file.
    File(String),
}

/// The numbers are read from text or worked out from sizes, and so none is NaN.
impl Eq for Fill {}

/// The ways to fill an input, for messages and help.
pub const WAYS: &str = "zeros, ones, a number, range, random:LOW..HIGH or FILE.npy";

/// A fill that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the input {text:?}: {reason}. Write it as NAME={WAYS}")]
pub struct FillError {
    text: String,
    reason: String,
}

impl Fill {
    /// Whether it is what inputs are filled with unless something is known of them.
    pub fn is_usual(&self) -> bool {
        *self == Self::Usual
    }

    /// What it is, for people: `0…30,521`, `ones`, `normal floats`.
    pub fn describe(&self, element: ElementType) -> String {
        match self {
            Self::Usual if element.is_float() => "normal floats".to_owned(),
            Self::Usual => "zeros and ones".to_owned(),
            Self::Range { from } => format!("counts up from {}", number(*from as f64)),
            Self::Random { low, high } if element.is_float() => {
                format!("{} to {}", number(*low), number(*high))
            }
            Self::Random { low, high } => {
                format!("{}…{}", number(low.ceil()), number(high.ceil() - 1.0))
            }
            Self::Number(value) => number(*value),
            Self::File(path) => {
                let name = Path::new(path).file_name();
                name.map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned())
            }
            Self::Zeros | Self::Ones => self.to_string(),
        }
    }

    /// The least and the greatest number that it makes of so many elements in a row; nothing where that is
    /// not known from it alone.
    pub fn bounds(&self, element: ElementType, in_a_row: usize) -> Option<(i64, i64)> {
        match self {
            Self::Usual if element.is_float() => None,
            Self::Usual => Some((0, 1)),
            Self::Zeros => Some((0, 0)),
            Self::Ones => Some((1, 1)),
            Self::Number(value) => Some((*value as i64, *value as i64)),
            Self::Range { from } => {
                let steps = i64::try_from(in_a_row.saturating_sub(1)).unwrap_or(i64::MAX);
                Some((*from, from.saturating_add(steps)))
            }
            Self::Random { low, high } => Some((low.floor() as i64, high.ceil() as i64 - 1)),
            Self::File(_) => None,
        }
    }

    /// Why an input of this type cannot be filled so.
    pub fn refusal(&self, element: ElementType) -> Option<String> {
        let (low, high) = match self {
            Self::Number(value) => (*value, *value),
            Self::Range { from } => (*from as f64, *from as f64),
            Self::Random { low, high } => (*low, *high),
            Self::Usual | Self::Zeros | Self::Ones | Self::File(_) => return None,
        };
        let (least, greatest) = element.whole_numbers()?;
        if low.fract() != 0.0 || high.fract() != 0.0 {
            return Some(format!("it is {element}, which holds whole numbers only"));
        }
        let last = if matches!(self, Self::Random { .. }) {
            high - 1.0
        } else {
            high
        };
        (low < least || last > greatest).then(|| {
            format!(
                "it is {element}, which holds {} to {}",
                number(least),
                number(greatest)
            )
        })
    }
}

/// As `--input` takes it.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual => f.write_str("usual"),
            Self::Zeros => f.write_str("zeros"),
            Self::Ones => f.write_str("ones"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Range { from: 0 } => f.write_str("range"),
            Self::Range { from } => write!(f, "range:{from}"),
            Self::Random { low, high } => write!(f, "random:{low}..{high}"),
            Self::File(path) => f.write_str(path),
        }
    }
}

impl FromStr for Fill {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "usual" => return Ok(Self::Usual),
            "zeros" => return Ok(Self::Zeros),
            "ones" => return Ok(Self::Ones),
            "range" => return Ok(Self::Range { from: 0 }),
            _ => {}
        }
        if Path::new(text)
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
        {
            return Ok(Self::File(text.to_owned()));
        }
        let finite = |text: &str| {
            let value = text.trim().parse::<f64>().ok();
            value.filter(|value| value.is_finite())
        };
        if let Some(bounds) = text.strip_prefix("random:") {
            let parted = bounds
                .split_once("..")
                .and_then(|(low, high)| Some((finite(low)?, finite(high)?)));
            let (low, high) =
                parted.ok_or_else(|| format!("{bounds:?} is not LOW..HIGH, as in 0..30522"))?;
            if low >= high {
                return Err(format!(
                    "no number lies from {low} up to, but not including, {high}"
                ));
            }
            return Ok(Self::Random { low, high });
        }
        if let Some(from) = text.strip_prefix("range:") {
            let from = from.trim().parse().ok().map(|from| Self::Range { from });
            return from.ok_or_else(|| "range:FROM takes a whole number".to_owned());
        }
        finite(text)
            .map(Self::Number)
            .ok_or_else(|| format!("{text:?} is no way to fill an input"))
    }
}

/// Reads one `--input` option: `input_ids=random:0..30522`.
pub fn parse_input(text: &str) -> Result<(String, Fill), FillError> {
    let wrong = |reason: String| FillError {
        text: text.to_owned(),
        reason,
    };
    let (name, fill) = text
        .split_once('=')
        .ok_or_else(|| wrong("there is no = in it".to_owned()))?;
    let name = Some(name.trim()).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| wrong("there is no input name before the =".to_owned()))?;
    let fill = fill.trim();
    if fill.is_empty() {
        return Err(wrong("there is nothing after the =".to_owned()));
    }
    Ok((name.to_owned(), fill.parse().map_err(wrong)?))
}

fn number(value: f64) -> String {
    if value.fract() != 0.0 || value.abs() >= 9e15 {
        return value.to_string();
    }
    let digits = humanize::count(value.abs() as u64);
    if value < 0.0 {
        format!("−{digits}")
    } else {
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_are_read_as_they_are_written() {
        for text in [
            "zeros",
            "ones",
            "range",
            "range:12",
            "128",
            "-0.5",
            "random:0..30522",
            "random:-1..0.5",
            "a=b/ids.NPY",
        ] {
            let (name, fill) = parse_input(&format!("input:0 = {text}")).unwrap();
            assert_eq!(
                (name.as_str(), fill.to_string().as_str()),
                ("input:0", text)
            );
            let stored = serde_json::to_string(&fill).unwrap();
            assert_eq!(serde_json::from_str::<Fill>(&stored).unwrap(), fill);
        }
    }

    #[test]
    fn what_cannot_be_read_says_what_can() {
        for (text, expect) in [
            ("ids", "no = in it"),
            ("=ones", "no input name"),
            ("ids=", "nothing after the ="),
            ("ids=twos", "\"twos\" is no way"),
            ("ids=ids.txt", "\"ids.txt\" is no way"),
            ("ids=random:5", "\"5\" is not LOW..HIGH"),
            ("ids=random:0..nan", "is not LOW..HIGH"),
            ("ids=random:5..5", "no number lies from 5"),
            ("ids=range:x", "a whole number"),
        ] {
            let message = parse_input(text).unwrap_err().to_string();
            assert!(
                message.contains(expect) && message.contains("random:LOW..HIGH or FILE.npy"),
                "{message}"
            );
        }
    }

    #[test]
    fn what_a_type_cannot_hold_is_refused() {
        let refusal = |text: &str, element| text.parse::<Fill>().unwrap().refusal(element);
        assert_eq!(refusal("random:0..30522", ElementType::I64), None);
        assert_eq!(refusal("random:0..256", ElementType::U8), None);
        assert_eq!(refusal("random:0..0.5", ElementType::F16), None);
        let small = refusal("random:0..30522", ElementType::I8).unwrap();
        assert_eq!(small, "it is int8, which holds −128 to 127");
        let whole = refusal("0.5", ElementType::I32).unwrap();
        assert!(whole.contains("whole numbers only"), "{whole}");
        assert!(refusal("2", ElementType::Bool).is_some());
    }

    #[test]
    fn descriptions_have_the_numbers() {
        let words = |text: &str, element| text.parse::<Fill>().unwrap().describe(element);
        assert_eq!(words("random:0..30522", ElementType::I64), "0…30,521");
        assert_eq!(words("random:0..0.5", ElementType::F32), "0 to 0.5");
        assert_eq!(words("/a/b/ids.npy", ElementType::I64), "ids.npy");
        assert_eq!(words("1024", ElementType::I64), "1,024");
        assert_eq!(words("range:7", ElementType::I64), "counts up from 7");
        assert_eq!(words("usual", ElementType::F32), "normal floats");
        assert_eq!(words("usual", ElementType::I32), "zeros and ones");
    }
}
