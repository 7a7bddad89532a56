//! One event taken apart without building a tree: only the fields that matter are looked at, and text
//! is borrowed from the file.

use std::borrow::Cow;

use memchr::memchr2;

use crate::records::node_work;
use powerband_core::domain::slice_args::ArgsText;

/// A value as it stands in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// Not there.
    #[default]
    Missing,
    /// Between quotation marks, escapes and all.
    Text(&'a [u8]),
    /// A number, `true`, `NaN`: whatever stands there without marks.
    Bare(&'a [u8]),
    /// An object or a list.
    Nested(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The bytes between the marks, or the bare ones.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Missing => b"",
            Self::Text(bytes) | Self::Bare(bytes) | Self::Nested(bytes) => bytes,
        }
    }

    /// As text, with escapes undone.
    pub(super) fn text(self) -> Cow<'a, str> {
        let bytes = self.bytes();
        if matches!(self, Self::Text(_)) && bytes.contains(&b'\\') {
            let quoted = [b"\"", bytes, b"\""].concat();
            if let Ok(text) = serde_json::from_slice::<String>(&quoted) {
                return Cow::Owned(text);
            }
        }
        String::from_utf8_lossy(bytes)
    }

    /// A time in microseconds, as nanoseconds; digits are taken as they stand, since a float would lose
    /// some.
    pub(super) fn us_as_ns(self) -> Option<i64> {
        match self {
            Self::Text(bytes) | Self::Bare(bytes) => ns(bytes),
            _ => None,
        }
    }

    /// A whole number that is not below zero.
    pub(super) fn whole(self) -> Option<u64> {
        std::str::from_utf8(self.bytes()).ok()?.trim().parse().ok()
    }

    /// A whole number.
    pub(super) fn signed(self) -> Option<i64> {
        std::str::from_utf8(self.bytes()).ok()?.trim().parse().ok()
    }
}

/// Microseconds in decimals as nanoseconds.
fn ns(bytes: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match bytes.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, bytes),
    };
    let mut value = 0_i64;
    let mut decimals = None;
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                let digit = i64::from(byte - b'0');
                match &mut decimals {
                    None => value = value.checked_mul(10)?.checked_add(digit)?,
                    Some(count) if *count < 3 => {
                        value = value.checked_mul(10)?.checked_add(digit)?;
                        *count += 1;
                    }
                    Some(count) => {
                        // The fourth digit rounds, the rest is below a nanosecond.
                        if *count == 3 && digit >= 5 {
                            value += 1;
                        }
                        *count += 1;
                    }
                }
            }
            b'.' if decimals.is_none() => decimals = Some(0),
            _ => return float_ns(bytes),
        }
    }
    if digits.is_empty() {
        return None;
    }
    for _ in decimals.unwrap_or(0)..3 {
        value = value.checked_mul(10)?;
    }
    Some(if is_negative { -value } else { value })
}

/// The same with an exponent.
fn float_ns(bytes: &[u8]) -> Option<i64> {
    let value: f64 = std::str::from_utf8(bytes).ok()?.trim().parse().ok()?;
    let value = value * 1e3;
    (value.abs() < 9e18).then(|| value.round() as i64)
}

/// An event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Event<'a> {
    pub phase: u8,
    pub category: &'a [u8],
    pub name: Value<'a>,
    pub process: Value<'a>,
    pub thread: Value<'a>,
    pub start: Value<'a>,
    pub duration: Value<'a>,
    pub args: Args<'a>,
}

/// Its `args`, as far as they are needed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Args<'a> {
    pub correlation: Value<'a>,
    pub external_id: Value<'a>,
    pub name: Value<'a>,
    pub labels: Value<'a>,
    pub bytes: Value<'a>,
    pub device_type: Value<'a>,
    pub device_id: Value<'a>,
    pub total_allocated: Value<'a>,
    pub op_name: Value<'a>,
    pub provider: Value<'a>,
    pub input_shapes: Value<'a>,
    pub bytes_in_use: Value<'a>,
    pub output_bytes: Value<'a>,
    pub device: Value<'a>,
    pub detail: Value<'a>,
    pub hlo_op: Value<'a>,
    pub tf_op: Value<'a>,
    /// Whether the sizes or types of what went in and came out are among them.
    pub has_shapes: bool,
    /// All of them, as they stand in the file.
    whole: &'a [u8],
}

/// The text is not an object of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl<'a> Event<'a> {
    /// Takes an event apart.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Broken> {
        let mut event = Self::default();
        let mut cursor = Cursor { bytes, at: 0 };
        cursor.object(|cursor, key| {
            match key {
                b"ph" => event.phase = cursor.value()?.bytes().first().copied().unwrap_or_default(),
                b"cat" => event.category = cursor.value()?.bytes(),
                b"name" => event.name = cursor.value()?,
                b"pid" => event.process = cursor.value()?,
                b"tid" => event.thread = cursor.value()?,
                b"ts" => event.start = cursor.value()?,
                b"dur" => event.duration = cursor.value()?,
                b"args" if cursor.peek() == Some(b'{') => event.args = Args::parse(cursor)?,
                _ => drop(cursor.value()?),
            }
            Ok(())
        })?;
        Ok(event)
    }
}

impl<'a> Args<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, Broken> {
        let mut args = Self::default();
        let begin = cursor.at;
        cursor.object(|cursor, key| {
            let value = cursor.value()?;
            match key {
                b"correlation" | b"correlation_id" => args.correlation = value,
                b"External id" | b"external id" => args.external_id = value,
                b"name" => args.name = value,
                b"labels" => args.labels = value,
                b"Bytes" | b"bytes" => args.bytes = value,
                b"Device Type" => args.device_type = value,
                b"Device Id" => args.device_id = value,
                b"Total Allocated" => args.total_allocated = value,
                b"op_name" => args.op_name = value,
                b"provider" => args.provider = value,
                b"input_type_shape" | b"Input Dims" => args.input_shapes = value,
                b"device" => args.device = value,
                b"detail" => args.detail = value,
                b"output_size" => args.output_bytes = value,
                b"mem_bytes_in_use" => args.bytes_in_use = value,
                b"hlo_op" => args.hlo_op = value,
                b"tf_op" => args.tf_op = value,
                _ => {}
            }
            args.has_shapes |= node_work::is_input(key);
            Ok(())
        })?;
        args.whole = cursor.bytes.get(begin..cursor.at).unwrap_or_default();
        Ok(args)
    }

    /// Writes those with wanted keys as people read them. What has no value is left out.
    pub(super) fn write(&self, text: &mut ArgsText, is_wanted: impl Fn(&[u8]) -> bool) {
        text.clear();
        self.each(|key, value| {
            if !is_wanted(key) {
                return;
            }
            let key = String::from_utf8_lossy(key);
            match value {
                Value::Missing | Value::Bare(b"null") | Value::Nested(b"[]" | b"{}") => {}
                Value::Text(_) => text.add(&key, &value.text()),
                Value::Bare(bytes) => text.add(&key, &String::from_utf8_lossy(bytes)),
                Value::Nested(bytes) => {
                    text.add_with(&key, |text| text.push_str(&list_text(bytes)));
                }
            }
        });
    }

    /// Calls `visit` with the name and the value of each.
    pub(super) fn each(&self, mut visit: impl FnMut(&'a [u8], Value<'a>)) {
        let mut cursor = Cursor {
            bytes: self.whole,
            at: 0,
        };
        let gone_through = cursor.object(|cursor, key| {
            visit(key, cursor.value()?);
            Ok(())
        });
        // They were gone through once already, when the event was taken apart.
        debug_assert!(gone_through.is_ok() || self.whole.is_empty());
    }
}

/// A list or an object as people read it: sizes as `512×1×1`, texts without their marks.
fn list_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    let is_size = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() == 3 && parts.iter().all(is_size) && text.starts_with('[') {
        return parts.join("×");
    }
    let mut words = String::with_capacity(text.len());
    let mut is_quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted => is_quoted = false,
            // A text without letters keeps its place in the list.
            '"' if letters.peek() == Some(&'"') => {
                letters.next();
                words.push_str("\"\"");
            }
            '"' => is_quoted = true,
            '\\' if is_quoted => {
                words.push(letter);
                words.extend(letters.next());
            }
            ',' | ':' if !is_quoted => {
                words.push(letter);
                words.push(' ');
            }
            letter if !is_quoted && letter.is_whitespace() => {}
            letter => words.push(letter),
        }
    }
    words
}

/// A place in an event.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte > b' ' {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(Broken)
    }

    /// Goes through the fields of an object; the visitor has to take each value.
    fn object(
        &mut self,
        mut visit: impl FnMut(&mut Self, &'a [u8]) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        self.expect(b'{')?;
        loop {
            match self.peek().ok_or(Broken)? {
                b'"' => {
                    let key = self.text()?;
                    self.expect(b':')?;
                    visit(self, key)?;
                }
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Broken),
            }
        }
    }

    /// The bytes between two quotation marks.
    fn text(&mut self) -> Result<&'a [u8], Broken> {
        self.expect(b'"')?;
        let begin = self.at;
        let mut at = begin;
        loop {
            let rest = self.bytes.get(at..).ok_or(Broken)?;
            let found = at + memchr2(b'"', b'\\', rest).ok_or(Broken)?;
            if self.bytes[found] == b'"' {
                self.at = found + 1;
                return Ok(&self.bytes[begin..found]);
            }
            at = found + 2;
        }
    }

    /// The next value, whatever it is.
    fn value(&mut self) -> Result<Value<'a>, Broken> {
        match self.peek().ok_or(Broken)? {
            b'"' => self.text().map(Value::Text),
            b'{' | b'[' => self.nested().map(Value::Nested),
            b'}' | b']' | b',' | b':' => Err(Broken),
            _ => {
                let begin = self.at;
                let rest = &self.bytes[begin..];
                let length = rest
                    .iter()
                    .position(|byte| matches!(byte, b',' | b'}' | b']' | b'"') || *byte <= b' ')
                    .unwrap_or(rest.len());
                self.at = begin + length;
                Ok(Value::Bare(&rest[..length]))
            }
        }
    }

    /// An object or a list as a whole.
    fn nested(&mut self) -> Result<&'a [u8], Broken> {
        let begin = self.at;
        let mut depth = 0_u32;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.text()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(&self.bytes[begin..self.at]);
            }
        }
        Err(Broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_order_and_the_last_of_two_counts() {
        let text = br#"{"args": {"stream": 7, "x": [1, {"y": "}"}], "correlation" : 12}, "name": "a\"b",
            "ts": 1, "dur": 2.5, "ph": "X", "pid": 0, "tid": "stream 7", "cat": "kernel", "ts": 3}"#;
        let event = Event::parse(text).unwrap();
        assert_eq!(event.name.text(), "a\"b");
        assert_eq!(event.start.us_as_ns(), Some(3_000));
        assert_eq!(event.duration.us_as_ns(), Some(2_500));
        assert_eq!(event.args.correlation.whole(), Some(12));
        assert_eq!((event.phase, event.category), (b'X', &b"kernel"[..]));
        assert_eq!(event.thread.text(), "stream 7");
    }

    #[test]
    fn lists_are_written_as_people_read_them() {
        for (file, people) in [
            ("[25088, 1, 1]", "25088×1×1"),
            ("[[4, 3,224],[768],[]]", "[[4, 3, 224], [768], []]"),
            (
                r#"["", "ScalarList", "[16, 16]"]"#,
                r#"["", ScalarList, [16, 16]]"#,
            ),
            (r#"[{"float":[1,3]}]"#, "[{float: [1, 3]}]"),
        ] {
            assert_eq!(list_text(file.as_bytes()), people);
        }
    }

    #[test]
    fn microseconds_keep_their_digits() {
        let ns = |text: &str| super::ns(text.as_bytes());
        assert_eq!(ns("1695835535123456.789"), Some(1_695_835_535_123_456_789));
        assert_eq!(ns("-0.0015"), Some(-2));
        assert_eq!(ns("1.5e3"), Some(1_500_000));
        assert_eq!(ns("7"), Some(7_000));
        for nonsense in ["NaN", "Infinity", "", "-", "1.2.3", "99999999999999999999"] {
            assert_eq!(ns(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn nothing_makes_it_panic() {
        let text = br#"{"a": "x\\", "args": {"name": [1, {"b": "]"}], "correlation": 5}, "ts": 1}"#;
        for cut in 0..text.len() {
            assert!(Event::parse(&text[..cut]).is_err());
            assert!(
                Event::parse(&text[cut..]).is_err() || text[cut..].trim_ascii_start()[0] == b'{'
            );
        }
    }
}
