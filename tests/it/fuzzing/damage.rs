//! What happens to files: cut, stirred, mixed with others, filled with numbers that are none.

use std::ops::Range;

/// A seeded random number generator.
pub(super) struct DamageRng(u64);

impl DamageRng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    pub(super) fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn stretch(&mut self, bytes: &[u8], longest: usize) -> Range<usize> {
        let from = self.below(bytes.len() + 1);
        from..(from + self.below(longest)).min(bytes.len())
    }
}

/// What is put into files.
const WORDS: [&[u8]; 22] = [
    b"",
    b"\"",
    b"\"\"",
    b"\\",
    b"\\u",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\n",
    b"\r\n",
    b",,;;",
    b"\t",
    b"|",
    b"%",
    b"\0",
    b"\xff\xfe\x00",
    b"\xef\xbb\xbf",
    "µs".as_bytes(),
    b"/*",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

/// What is put in place of numbers.
const NUMBERS: [&[u8]; 18] = [
    b"0",
    b"-0",
    b"-1",
    b"1",
    b"0.5",
    b"1e308",
    b"-1e308",
    b"1e-320",
    b"NaN",
    b"-Infinity",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"4294967296",
    b"1,234,567",
    b"0x7fffffffffffffff",
    b"",
];

/// Changes a file once, somewhere.
pub(super) fn damage(bytes: &mut Vec<u8>, other: &[u8], dice: &mut DamageRng) {
    match dice.below(12) {
        0 => bytes.truncate(dice.below(bytes.len())),
        1 => {
            let piece = other[dice.stretch(other, 400)].to_vec();
            let place = dice.stretch(bytes, 40);
            drop(bytes.splice(place, piece));
        }
        2 => {
            let place = dice.stretch(bytes, 400);
            let piece = bytes[place.clone()].to_vec();
            drop(bytes.splice(place.end..place.end, piece));
        }
        3 => {
            let place = dice.stretch(bytes, 400);
            drop(bytes.drain(place));
        }
        4 => {
            let at = dice.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = dice.below(256) as u8;
            }
        }
        5 => {
            let at = dice.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        6 | 7 => {
            let place = dice.stretch(bytes, 12);
            let word = *dice.one_of(&WORDS);
            drop(bytes.splice(place, word.iter().copied()));
        }
        8 | 9 => {
            let place = number_near(bytes, dice);
            let number = *dice.one_of(&NUMBERS);
            drop(bytes.splice(place, number.iter().copied()));
        }
        10 => move_line(bytes, dice),
        _ => swap_fields(bytes, dice),
    }
}

/// A number of the text, found from somewhere on.
fn number_near(bytes: &[u8], dice: &mut DamageRng) -> Range<usize> {
    let from = dice.below(bytes.len());
    let is_part = |byte: &u8| byte.is_ascii_digit() || b".-+eE".contains(byte);
    let rest = &bytes[from.min(bytes.len())..];
    let start = from + rest.iter().position(u8::is_ascii_digit).unwrap_or_default();
    let long = bytes[start..]
        .iter()
        .take_while(|byte| is_part(byte))
        .count();
    start..start + long
}

/// Takes a line away and puts it, once or twice, before another.
fn move_line(bytes: &mut Vec<u8>, dice: &mut DamageRng) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let line = lines.remove(dice.below(lines.len()));
    for _ in 0..dice.below(3) {
        let place = dice.below(lines.len() + 1);
        lines.insert(place, line);
    }
    *bytes = lines.concat();
}

/// Swaps what stands between two pairs of separators.
fn swap_fields(bytes: &mut Vec<u8>, dice: &mut DamageRng) {
    let separator = *dice.one_of(b",:\t |\n{\"");
    let mut fields: Vec<&[u8]> = bytes.split(|byte| *byte == separator).collect();
    let (one, other) = (dice.below(fields.len()), dice.below(fields.len()));
    fields.swap(one, other);
    *bytes = fields.join(&separator);
}
