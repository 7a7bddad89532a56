//! Slices of a timeline as lines of a Chrome trace: from a trace to JSON, which `trace_file` packs and writes.
//!
//! Arguments of slices recur but for a few numbers, and the trace keeps them so. What they are in JSON is found out
//! once for all slices that share them, and the numbers are put in.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Number;

use powerband_core::domain::slice_args::{self, HOLE, PackedArgs, push_digits};
use powerband_core::domain::trace::{Slice, Trace};

/// An argument that slices have in common, apart from its numbers.
struct Argument {
    key: String,
    /// The key as JSON, with the colon.
    key_json: String,
    value: ArgumentValue,
}

enum ArgumentValue {
    /// The same for all slices, as JSON.
    Same(String),
    /// The number in that place.
    Number(usize),
    /// A text with numbers in it, and the place of the first of them.
    Text(String, usize),
}

/// What a slice has itself, where its arguments were in the file.
enum OwnValue<'a> {
    Number(u64),
    Text(&'a str),
}

/// Writes slices one after the other.
pub(super) struct SliceLines<'a> {
    trace: &'a Trace,
    /// The process of each track, by number.
    processes: &'a [usize],
    packed: PackedArgs<'a>,
    /// Arguments by the number of their text, sorted by key; nothing where keys have numbers in them.
    arguments: HashMap<u32, Option<Vec<Argument>>>,
}

impl<'a> SliceLines<'a> {
    /// For slices from one on.
    pub(super) fn new(trace: &'a Trace, processes: &'a [usize], from: usize) -> Self {
        Self {
            trace,
            processes,
            packed: trace.args().packed_from(from),
            arguments: HashMap::new(),
        }
    }

    /// Adds the lines of the next slices, each behind the end of the line before.
    pub(super) fn write(&mut self, slices: Range<usize>, out: &mut String) {
        for slice in slices.map(|index| self.trace.slice(index)) {
            let process = self.processes.get(slice.track as usize).copied();
            out.push_str(",\n{");
            push_time(out, "ts", slice.start_ns);
            push_time(out, "dur", slice.duration_ns as i64);
            out.push_str("\"args\":{");
            self.write_arguments(&slice, out);
            out.push_str("},\"cat\":");
            push_text(out, slice.kind.title());
            out.push_str(",\"name\":");
            push_text(out, self.trace.names.get(slice.name));
            out.push_str(",\"ph\":\"X\",\"pid\":");
            push_digits(out, process.unwrap_or_default() as u64);
            out.push_str(",\"tid\":");
            push_digits(out, slice.track.into());
            out.push('}');
        }
    }

    /// The arguments and what the slice itself has, sorted by key. Where both have one, it is the slice's.
    fn write_arguments(&mut self, slice: &Slice, out: &mut String) {
        let names = &self.trace.names;
        let name = |number: u32| (number != 0).then(|| OwnValue::Text(names.get(number)));
        let track = self.trace.tracks.get(slice.track as usize);
        let device = track.and_then(|track| track.device);
        let link = Some(slice.link).filter(|link| *link != 0);
        let own = [
            ("correlation", link.map(OwnValue::Number)),
            ("detail", name(slice.detail)),
            (
                "device",
                device.map(|device| OwnValue::Number(device.into())),
            ),
            ("op_name", name(slice.op)),
        ];
        let mut own = own
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .peekable();

        let number = self.packed.step();
        let text = self.trace.args().text_with_holes(number);
        let known = self.arguments.entry(number);
        let known = known.or_insert_with(|| arguments(text));
        let expanded;
        let (arguments, numbers) = if let Some(known) = known {
            (known.as_slice(), self.packed.numbers())
        } else {
            let mut text_of_slice = String::new();
            slice_args::fill(text, self.packed.numbers(), &mut text_of_slice);
            // Without what stands for numbers it has arguments.
            expanded = arguments(&text_of_slice).unwrap_or_default();
            (expanded.as_slice(), &[][..])
        };
        for argument in arguments {
            while let Some((key, value)) = own.next_if(|(key, _)| *key < argument.key.as_str()) {
                push_own(out, key, &value);
            }
            if own.peek().is_some_and(|(key, _)| *key == argument.key) {
                continue;
            }
            out.push_str(&argument.key_json);
            match &argument.value {
                ArgumentValue::Same(json) => out.push_str(json),
                ArgumentValue::Number(place) => {
                    push_digits(out, numbers.get(*place).copied().unwrap_or_default());
                }
                ArgumentValue::Text(text, first) => {
                    let mut value = String::new();
                    slice_args::fill(text, numbers.get(*first..).unwrap_or_default(), &mut value);
                    push_value(out, &value);
                }
            }
            out.push(',');
        }
        own.for_each(|(key, value)| push_own(out, key, &value));
        if out.ends_with(',') {
            out.pop();
        }
    }
}

/// The arguments in a text, sorted by key, the last of those with the same key; nothing where keys have numbers in
/// them.
fn arguments(text: &str) -> Option<Vec<Argument>> {
    let mut arguments: Vec<Argument> = Vec::new();
    let mut holes = 0;
    for (key, text) in slice_args::pairs(text) {
        if key.contains(HOLE) {
            return None;
        }
        let value = if !text.contains(HOLE) {
            let mut json = String::new();
            push_value(&mut json, text);
            ArgumentValue::Same(json)
        } else if text.chars().eq([HOLE]) {
            ArgumentValue::Number(holes)
        } else {
            ArgumentValue::Text(text.to_owned(), holes)
        };
        holes += text.matches(HOLE).count();
        let mut key_json = String::new();
        push_text(&mut key_json, key);
        key_json.push(':');
        arguments.retain(|known| known.key != key);
        arguments.push(Argument {
            key: key.to_owned(),
            key_json,
            value,
        });
    }
    arguments.sort_by(|a, b| a.key.cmp(&b.key));
    Some(arguments)
}

fn push_own(out: &mut String, key: &str, value: &OwnValue<'_>) {
    push_text(out, key);
    out.push(':');
    match value {
        OwnValue::Number(number) => push_digits(out, *number),
        OwnValue::Text(text) => push_text(out, text),
    }
    out.push(',');
}

/// A number as a number where it comes back as it was, and everything else as a text.
fn push_value(out: &mut String, value: &str) {
    let is_sign = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let number = value
        .bytes()
        .all(is_sign)
        .then(|| value.parse::<Number>().ok());
    let number = number.flatten().map(|number| number.to_string());
    if number.is_some_and(|number| number == value) {
        out.push_str(value);
    } else {
        push_text(out, value);
    }
}

/// A text with its quotation marks.
fn push_text(out: &mut String, text: &str) {
    let needs_escape = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
    // Many bytes are compared at once where none ends the search.
    if text
        .bytes()
        .fold(false, |found, byte| found | needs_escape(byte))
    {
        out.push_str(&serde_json::Value::from(text).to_string());
        return;
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// A time, which is written digit by digit: clocks that count from 1970 are beyond what a float can hold to the
/// nanosecond.
pub(super) fn push_time(out: &mut String, key: &str, ns: i64) {
    out.push('"');
    out.push_str(key);
    out.push_str("\":");
    if ns < 0 {
        out.push('-');
    }
    let (us, rest) = (ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
    push_digits(out, us);
    out.push('.');
    // Three digits, zeros in front included.
    out.extend([100, 10, 1].map(|unit| char::from(b'0' + (rest / unit % 10) as u8)));
    out.push(',');
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::slice_args::ArgsText;
    use powerband_core::domain::trace::{SliceKind, Track};
    use serde_json::{Map, Value, json};

    #[test]
    fn arguments_are_those_of_the_slice_sorted_by_key() {
        let mut trace = Trace::default();
        let track = trace.track(Track {
            device: Some(3),
            ..Track::default()
        });
        let (name, op) = (trace.names.number("a\"b\n"), trace.names.number("c\\d"));
        let values = [
            "7",
            "-7",
            "007",
            "12345",
            "-12345",
            "1.5",
            "1.50",
            "1724.6315789473683",
            "1e5",
            "12345e6",
            "18446744073709551615",
            "99999999999999999999",
            "[4096, 12345]",
            "4096×1×1",
            "größer",
            "a\"\\b\t",
            "null",
        ];
        for (number, value) in values.iter().enumerate() {
            let mut args = ArgsText::default();
            args.add("stream", "12345");
            args.add("z", value);
            args.add(
                ["arg10000", "correlation", "device", "a\"", "stream"][number % 5],
                value,
            );
            let slice = Slice {
                link: number as u64 % 2,
                op: op * (number as u32 % 3 % 2),
                detail: name * (number as u32 % 2),
                ..Slice::new(SliceKind::Kernel, name, track, -5, 12_345_678)
            };
            trace.push_with(slice, &args);
        }
        let mut lines = String::new();
        SliceLines::new(&trace, &[9], 0).write(0..trace.len(), &mut lines);
        for (index, line) in lines.split(",\n").skip(1).enumerate() {
            let slice = trace.slice(index);
            let mut args = Map::new();
            for (key, value) in trace.args().get(index) {
                let number = value.parse::<Number>().ok();
                let number = number.filter(|number| number.to_string() == value);
                args.insert(key, number.map_or(Value::String(value), Value::Number));
            }
            args.insert("device".to_owned(), json!(3));
            if slice.link != 0 {
                args.insert("correlation".to_owned(), json!(slice.link));
            }
            for (key, number) in [("op_name", slice.op), ("detail", slice.detail)] {
                if number != 0 {
                    args.insert(key.to_owned(), json!(trace.names.get(number)));
                }
            }
            let rest = json!({"args": args, "cat": "kernel", "name": "a\"b\n", "ph": "X", "pid": 9, "tid": 0});
            let rest = rest.to_string();
            assert_eq!(
                line,
                format!("{{\"ts\":-0.005,\"dur\":12345.678,{}", &rest[1..])
            );
        }
        assert_eq!(lines.matches(",\n").count(), values.len());
    }
}
