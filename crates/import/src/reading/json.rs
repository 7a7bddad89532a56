//! JSON of other programs: cut off, with numbers that are none, or longer than should be kept whole.

use serde_json::{Map, Value};

pub type Object = Map<String, Value>;

/// All of a text. Where it is cut off or damaged, everything before that, and the second value says so.
pub(crate) fn lenient(text: &str) -> Option<(Value, bool)> {
    let error = match serde_json::from_str(text) {
        Ok(value) => return Some((value, false)),
        Err(error) => error,
    };
    let plain = without_odd_numbers(text);
    let error = match serde_json::from_str(&plain) {
        Ok(value) => return Some((value, false)),
        Err(again) if plain.len() == text.len() => again,
        Err(_) => error,
    };
    let end = offset(&plain, error.line(), error.column());
    let closed = closed(&plain, end)?;
    Some((serde_json::from_str(&closed).ok()?, true))
}

/// An object by itself, with numbers that are none as nothing.
pub fn object(text: &str) -> Option<Object> {
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&without_odd_numbers(text)))
        .ok()
}

/// A number, or a text that holds one.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().filter(|value| value.is_finite()),
        Value::String(text) => crate::reading::lines::number(text),
        _ => None,
    }
}

/// A member that is a number, or a text that holds one.
pub(crate) fn number_of(object: &Object, key: &str) -> Option<f64> {
    number(object.get(key)?)
}

/// A member that is a text.
pub(crate) fn text_of<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

/// A value in one line, as a person would write it: texts without marks, lists with commas.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(value_text).collect();
            list.join(", ")
        }
        other => other.to_string(),
    }
}

/// The elements of a list, one after the other and unread.
#[derive(Debug)]
pub struct Elements<'a> {
    rest: &'a str,
    is_cut: bool,
}

/// The elements of the list that a text is.
pub fn elements(text: &str) -> Elements<'_> {
    let text = text.trim_start();
    Elements {
        rest: text.strip_prefix('[').unwrap_or(text),
        is_cut: false,
    }
}

impl Elements<'_> {
    /// Whether the list ended before its bracket; known once there are no more elements.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.rest = self
            .rest
            .trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        if self.rest.starts_with(']') {
            return None;
        }
        let Some(end) = element_end(self.rest) else {
            self.is_cut = true;
            self.rest = "";
            return None;
        };
        let (element, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(element.trim_end())
    }
}

/// Where the first element ends; nothing where it has no end.
fn element_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut scan = JsonScanner::default();
    for (at, byte) in text.bytes().enumerate() {
        if scan.is_text(byte) {
            continue;
        }
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => match depth {
                0 => return (at > 0).then_some(at),
                1 => return Some(at + 1),
                _ => depth -= 1,
            },
            b',' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Whether bytes are within a text of JSON.
#[derive(Debug, Default)]
struct JsonScanner {
    within: bool,
    escaped: bool,
}

impl JsonScanner {
    /// Whether this byte belongs to a text, its marks included.
    fn is_text(&mut self, byte: u8) -> bool {
        if !self.within {
            self.within = byte == b'"';
            return self.within;
        }
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.within = false;
        }
        true
    }
}

/// `NaN`, `Infinity` and the like are written by some programs and are no JSON.
fn without_odd_numbers(text: &str) -> String {
    const ODD: [&str; 8] = [
        "-Infinity",
        "Infinity",
        "-NaN",
        "NaN",
        "-nan",
        "nan",
        "-inf",
        "inf",
    ];
    let mut out = String::with_capacity(text.len());
    let mut scan = JsonScanner::default();
    let mut from = 0;
    let mut skip = 0;
    for (at, byte) in text.bytes().enumerate() {
        if scan.is_text(byte) || at < skip {
            continue;
        }
        if !matches!(byte, b'-' | b'I' | b'N' | b'n' | b'i') {
            continue;
        }
        let odd = text
            .get(at..)
            .and_then(|rest| ODD.iter().find(|odd| rest.starts_with(**odd)));
        if let Some(odd) = odd {
            out.push_str(text.get(from..at).unwrap_or_default());
            out.push_str("null");
            from = at + odd.len();
            skip = from;
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The place of a line and a column, counted in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    before.saturating_add(column).min(text.len())
}

/// What stands whole before a place, with every bracket closed.
fn closed(text: &str, end: usize) -> Option<String> {
    let mut open: Vec<char> = Vec::new();
    let mut whole: Option<(usize, Vec<char>)> = None;
    let mut scan = JsonScanner::default();
    for (at, byte) in text.bytes().enumerate().take(end) {
        if scan.is_text(byte) {
            continue;
        }
        match byte {
            b'{' | b'[' => {
                open.push(if byte == b'{' { '}' } else { ']' });
                whole = Some((at + 1, open.clone()));
            }
            b'}' | b']' => {
                // One that does not fit is where the damage is.
                if open.pop() != Some(byte as char) {
                    break;
                }
                whole = Some((at + 1, open.clone()));
            }
            b',' => whole = Some((at, open.clone())),
            _ => {}
        }
        if open.len() > 120 {
            break;
        }
    }
    let (at, open) = whole?;
    let mut out = text.get(..at)?.to_owned();
    out.extend(open.iter().rev());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_before_a_cut_is_kept() {
        let whole = r#"{"a": [1, {"b": "x,]", "c": 2}], "d": "é"}"#;
        assert!(!lenient(whole).unwrap().1);
        for end in 1..whole.len() {
            let Some(part) = whole.get(..end) else {
                continue;
            };
            let (value, is_cut) = lenient(part).unwrap();
            assert!(is_cut && value.is_object(), "{part}");
        }
        let (value, _) = lenient(&whole[..30]).unwrap();
        assert_eq!(value.to_string(), r#"{"a":[1,{"b":"x,]","c":2}]}"#);
    }

    #[test]
    fn damage_in_the_middle_costs_what_follows_it() {
        let (value, is_cut) = lenient(r#"{"a": 1, "b": [1, 2, ?], "c": 3}"#).unwrap();
        assert_eq!(
            (value.to_string().as_str(), is_cut),
            (r#"{"a":1,"b":[1,2]}"#, true)
        );
        assert_eq!(lenient("nonsense"), None);
    }

    #[test]
    fn numbers_that_are_none_are_nothing() {
        let (value, is_cut) =
            lenient(r#"{"a": NaN, "b": -Infinity, "c": "NaN", "d": [inf]}"#).unwrap();
        assert_eq!(
            (value.to_string().as_str(), is_cut),
            (r#"{"a":null,"b":null,"c":"NaN","d":[null]}"#, false)
        );
    }

    #[test]
    fn elements_come_one_by_one() {
        let mut list = elements(" [ {\"a\": \"}\"} , 5, [1, [2]] , \"x\"]");
        let found: Vec<&str> = list.by_ref().collect();
        assert_eq!(found, ["{\"a\": \"}\"}", "5", "[1, [2]]", "\"x\""]);
        assert!(!list.is_cut());
        let mut list = elements("[{\"a\": 1}, {\"b\"");
        assert_eq!(list.by_ref().count(), 1);
        assert!(list.is_cut());
        assert_eq!(elements("").count(), 0);
        assert_eq!(elements("}").count(), 0);
    }
}
