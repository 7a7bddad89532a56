//! One event taken apart without building a tree: only the fields that matter are looked at, and text
//! is borrowed from the file.

use std::borrow::Cow;

use memchr::{memchr, memchr3};

use crate::records::node_work;
use powerband_core::domain::slice_args::ArgsText;

/// Texts up to this length are searched a word at a time.
const SHORT: usize = 32;
/// Bytes that a value without marks ends before; among them are those that begin a list or an object.
const ENDS_BARE: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        ends[byte] =
            byte <= b' ' as usize || matches!(byte as u8, b',' | b'}' | b']' | b'"' | b'{' | b'[');
        byte += 1;
    }
    ends
};

/// Value of a field as bytes of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum UnparsedValue<'a> {
    #[default]
    Missing,
    /// Between quotation marks, escapes and all.
    Text(&'a [u8]),
    /// A number, `true`, `NaN`: whatever stands there without marks.
    Bare(&'a [u8]),
    /// An object or a list.
    Nested(&'a [u8]),
}

impl<'a> UnparsedValue<'a> {
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
        if matches!(self, Self::Text(_)) && memchr(b'\\', bytes).is_some() {
            let quoted = [b"\"", bytes, b"\""].concat();
            if let Ok(text) = serde_json::from_slice::<String>(&quoted) {
                return Cow::Owned(text);
            }
        }
        lossy_text(bytes)
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
    pub(super) fn whole_number(self) -> Option<u64> {
        let bytes = self.bytes();
        // No more digits than fit for sure.
        if (1..19).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_digit) {
            let digits = bytes.iter().map(|byte| u64::from(byte - b'0'));
            return Some(digits.fold(0, |number, digit| 10 * number + digit));
        }
        std::str::from_utf8(self.bytes()).ok()?.trim().parse().ok()
    }

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

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RawEvent<'a> {
    pub phase: u8,
    pub category: &'a [u8],
    pub name: UnparsedValue<'a>,
    pub process: UnparsedValue<'a>,
    pub thread: UnparsedValue<'a>,
    pub start: UnparsedValue<'a>,
    pub duration: UnparsedValue<'a>,
    pub args: Args<'a>,
}

/// Its `args`, as far as they are needed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Args<'a> {
    pub correlation: UnparsedValue<'a>,
    pub external_id: UnparsedValue<'a>,
    pub name: UnparsedValue<'a>,
    pub labels: UnparsedValue<'a>,
    pub bytes: UnparsedValue<'a>,
    pub device_type: UnparsedValue<'a>,
    pub device_id: UnparsedValue<'a>,
    pub total_allocated: UnparsedValue<'a>,
    pub op_name: UnparsedValue<'a>,
    pub provider: UnparsedValue<'a>,
    pub input_shapes: UnparsedValue<'a>,
    pub bytes_in_use: UnparsedValue<'a>,
    pub output_bytes: UnparsedValue<'a>,
    pub device: UnparsedValue<'a>,
    pub detail: UnparsedValue<'a>,
    pub hlo_op: UnparsedValue<'a>,
    pub tf_op: UnparsedValue<'a>,
    /// Whether the sizes or types of what went in and came out are among them.
    pub has_shapes: bool,
    /// All of them, as they stand in the file.
    whole: &'a [u8],
}

/// Error: the text is no JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MalformedEvent;

impl<'a> RawEvent<'a> {
    /// Takes an event apart that ends where the bytes do.
    pub(super) fn parse(
        bytes: &'a [u8],
        text: Option<&mut ArgsText>,
    ) -> Result<Self, MalformedEvent> {
        let mut event = Self::default();
        event.read(&mut Cursor::new(bytes, false), text)?;
        Ok(event)
    }

    /// Takes the event apart that begins where the bytes do, and returns how long it is. Fails where an event with
    /// the same brackets and quotation marks might end elsewhere.
    pub(super) fn parse_first(
        &mut self,
        bytes: &'a [u8],
        text: Option<&mut ArgsText>,
    ) -> Result<usize, MalformedEvent> {
        let mut cursor = Cursor::new(bytes, true);
        self.read(&mut cursor, text)?;
        Ok(cursor.at)
    }

    /// Takes an event apart and writes its arguments.
    fn read(
        &mut self,
        cursor: &mut Cursor<'a>,
        mut text: Option<&mut ArgsText>,
    ) -> Result<(), MalformedEvent> {
        if let Some(text) = &mut text {
            text.clear();
        }
        let event = self;
        cursor.object(|cursor, key| {
            match key {
                b"ph" => event.phase = cursor.value()?.bytes().first().copied().unwrap_or_default(),
                b"cat" => event.category = cursor.value()?.bytes(),
                b"name" => event.name = cursor.value()?,
                b"pid" => event.process = cursor.value()?,
                b"tid" => event.thread = cursor.value()?,
                b"ts" => event.start = cursor.value()?,
                b"dur" => event.duration = cursor.value()?,
                b"args" if cursor.peek() == Some(b'{') => {
                    event.args.parse(cursor, text.as_deref_mut())?;
                }
                _ => drop(cursor.value()?),
            }
            Ok(())
        })
    }
}

impl<'a> Args<'a> {
    /// Takes arguments apart, and writes them as people read them.
    fn parse(
        &mut self,
        cursor: &mut Cursor<'a>,
        mut text: Option<&mut ArgsText>,
    ) -> Result<(), MalformedEvent> {
        *self = Self::default();
        let args = self;
        let begin = cursor.at;
        if let Some(text) = &mut text {
            text.clear();
        }
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
            args.has_shapes = args.has_shapes || node_work::is_input(key);
            if let Some(text) = &mut text {
                write_argument(key, value, text);
            }
            Ok(())
        })?;
        args.whole = cursor.bytes.get(begin..cursor.at).unwrap_or_default();
        Ok(())
    }

    /// Writes those that work follows from.
    pub(super) fn write_shapes(&self, text: &mut ArgsText) {
        text.clear();
        self.each(|key, value| {
            if node_work::is_input(key) {
                write_argument(key, value, text);
            }
        });
    }

    /// Calls `visit` with the name and the value of each.
    pub(super) fn each(&self, mut visit: impl FnMut(&'a [u8], UnparsedValue<'a>)) {
        let mut cursor = Cursor::new(self.whole, false);
        let gone_through = cursor.object(|cursor, key| {
            visit(key, cursor.value()?);
            Ok(())
        });
        // They were gone through once already, when the event was taken apart.
        debug_assert!(gone_through.is_ok() || self.whole.is_empty());
    }
}

/// Bytes as text. Most are one, which is found out faster than what to replace.
fn lossy_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Writes an argument as people read it. One that has no value is left out.
fn write_argument(key: &[u8], value: UnparsedValue<'_>, text: &mut ArgsText) {
    let key = lossy_text(key);
    match value {
        UnparsedValue::Missing
        | UnparsedValue::Bare(b"null")
        | UnparsedValue::Nested(b"[]" | b"{}") => {}
        UnparsedValue::Text(_) | UnparsedValue::Bare(_) => text.add(&key, &value.text()),
        UnparsedValue::Nested(bytes) => {
            text.add_with(&key, |text| text.push_str(&list_text(bytes)));
        }
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

/// Where the first quotation mark, backslash or end of a line is, if it is near.
#[inline]
fn near_mark(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk())
        && at < SHORT
    {
        let word = u64::from_le_bytes(*word);
        // The lowest high bit that is set belongs to the first byte that is one of these.
        let mark = |byte: u8| {
            let differing = word ^ (ONES * u64::from(byte));
            differing.wrapping_sub(ONES) & !differing & (ONES << 7)
        };
        let marks = mark(b'"') | mark(b'\\') | mark(b'\n');
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    None
}

/// Position within the bytes of an event.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether a bracket in a value without marks is an error: counted brackets would end elsewhere.
    is_strict: bool,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8], is_strict: bool) -> Self {
        Self {
            bytes,
            at: 0,
            is_strict,
        }
    }

    /// The next byte that is no space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte > b' ' {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), MalformedEvent> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(MalformedEvent)
    }

    /// Goes through the fields of an object; the visitor has to take each value.
    fn object(
        &mut self,
        mut visit: impl FnMut(&mut Self, &'a [u8]) -> Result<(), MalformedEvent>,
    ) -> Result<(), MalformedEvent> {
        self.expect(b'{')?;
        loop {
            match self.peek().ok_or(MalformedEvent)? {
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
                _ => return Err(MalformedEvent),
            }
        }
    }

    /// The bytes between two quotation marks, between which no line ends.
    #[inline]
    fn text(&mut self) -> Result<&'a [u8], MalformedEvent> {
        self.expect(b'"')?;
        let begin = self.at;
        let mut at = begin;
        loop {
            let rest = self.bytes.get(at..).ok_or(MalformedEvent)?;
            // Most texts are short keys, for which a longer search only begins.
            let found = near_mark(rest).or_else(|| memchr3(b'"', b'\\', b'\n', rest));
            let found = at + found.ok_or(MalformedEvent)?;
            match self.bytes[found] {
                b'"' => {
                    self.at = found + 1;
                    return Ok(&self.bytes[begin..found]);
                }
                b'\n' => return Err(MalformedEvent),
                _ => at = found + 2,
            }
        }
    }

    /// The next value, whatever it is.
    #[inline]
    fn value(&mut self) -> Result<UnparsedValue<'a>, MalformedEvent> {
        match self.peek().ok_or(MalformedEvent)? {
            b'"' => self.text().map(UnparsedValue::Text),
            b'{' | b'[' => self.nested().map(UnparsedValue::Nested),
            b'}' | b']' | b',' | b':' => Err(MalformedEvent),
            _ => {
                let begin = self.at;
                let rest = &self.bytes[begin..];
                let mut length = 0;
                while let Some(&byte) = rest.get(length) {
                    if ENDS_BARE[usize::from(byte)] {
                        match byte {
                            b'{' | b'[' if self.is_strict => return Err(MalformedEvent),
                            b'{' | b'[' => {}
                            _ => break,
                        }
                    }
                    length += 1;
                }
                self.at = begin + length;
                Ok(UnparsedValue::Bare(&rest[..length]))
            }
        }
    }

    /// An object or a list as a whole.
    fn nested(&mut self) -> Result<&'a [u8], MalformedEvent> {
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
        Err(MalformedEvent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_order_and_the_last_of_two_counts() {
        let text = br#"{"args": {"stream": 7, "x": [1, {"y": "}"}], "correlation" : 12}, "name": "a\"b",
            "ts": 1, "dur": 2.5, "ph": "X", "pid": 0, "tid": "stream 7", "cat": "kernel", "ts": 3}"#;
        let event = RawEvent::parse(text, None).unwrap();
        assert_eq!(event.name.text(), "a\"b");
        assert_eq!(event.start.us_as_ns(), Some(3_000));
        assert_eq!(event.duration.us_as_ns(), Some(2_500));
        assert_eq!(event.args.correlation.whole_number(), Some(12));
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
            assert!(RawEvent::parse(&text[..cut], None).is_err());
            assert!(
                RawEvent::parse(&text[cut..], None).is_err()
                    || text[cut..].trim_ascii_start()[0] == b'{'
            );
        }
    }
}
