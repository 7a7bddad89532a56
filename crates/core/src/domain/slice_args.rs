//! Arguments of slices, as a profiler wrote them: pairs of a key and a value, packed.
//!
//! A trace has millions of slices and every slice a dozen arguments, most of which recur: a kernel has the same
//! registers at each launch, and only its correlation is new. So the text of all arguments of a slice is kept
//! once for all slices that share it, without its large numbers, and a slice keeps the number of its text and
//! the large numbers, in a few bytes. The text comes back letter for letter.

use super::names::Names;

/// Between a key and its value.
const VALUE: char = '\u{1f}';
/// Between two arguments.
const NEXT: char = '\u{1e}';
/// Stands for a number that the slice itself keeps.
pub const HOLE: char = '\u{1a}';
/// Numbers with so many digits are kept by the slice: shorter ones recur.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=18;
/// So many slices share one entry of the table that finds them.
const EVERY: usize = 32;
/// Most bytes of texts. A file whose every slice has a long text of its own must not fill the memory.
pub(super) const MOST_TEXT: usize = 256 << 20;

/// Arguments of a slice on their way in, to be used again for the next slice.
#[derive(Clone, Debug, Default)]
pub struct ArgsText(String);

impl ArgsText {
    /// All of it, which [`pairs`] takes apart.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Forgets what it has.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds an argument; one without a value is left out.
    pub fn add(&mut self, key: &str, value: &str) {
        self.add_with(key, |text| text.push_str(value));
    }

    /// Adds an argument whose value `write` writes behind what is there; one without a value is left out.
    pub fn add_with(&mut self, key: &str, write: impl FnOnce(&mut String)) {
        let before = self.0.len();
        if before > 0 {
            self.0.push(NEXT);
        }
        push_plain(&mut self.0, key);
        self.0.push(VALUE);
        let from = self.0.len();
        write(&mut self.0);
        let value = self.0.get(from..).unwrap_or_default();
        let begins_visibly = value
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_graphic());
        if !begins_visibly && value.trim().is_empty() {
            self.0.truncate(before);
        } else if has_mark(value) {
            let value = value.to_owned();
            self.0.truncate(from);
            push_plain(&mut self.0, &value);
        }
    }
}

/// Keys and values of a text of arguments.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = text.split(NEXT);
    pairs.filter_map(|pair| pair.split_once(VALUE))
}

/// Signs that stand for something here.
fn is_mark(sign: char) -> bool {
    matches!(sign, VALUE | NEXT | HOLE)
}

fn has_mark(text: &str) -> bool {
    // All of them are single bytes, and no other sign has these in it. Many bytes are compared at once where none
    // ends the search.
    let bytes = text.bytes();
    bytes.fold(false, |found, byte| found | is_mark(char::from(byte)))
}

fn push_plain(text: &mut String, added: &str) {
    if has_mark(added) {
        text.extend(added.chars().filter(|sign| !is_mark(*sign)));
    } else {
        text.push_str(added);
    }
}

/// Arguments of the slices of a trace, by the index of the slice.
#[derive(Clone, Debug, Default)]
pub struct SliceArgs {
    /// Texts without their large numbers.
    texts: Names,
    /// How many numbers each text lacks.
    holes: Vec<u16>,
    /// For each slice the number of its text and the numbers that the text lacks, seven bits a byte.
    bytes: Vec<u8>,
    /// Where the bytes of every 32nd slice begin.
    starts: Vec<usize>,
    /// How many slices are there; later ones have no arguments.
    len: usize,
    /// Slices whose arguments had no room.
    left_out: u64,
    /// Room for taking a text apart.
    scratch: (String, Vec<u64>),
}

impl SliceArgs {
    /// Takes the arguments of a slice in. Slices come in order; those that were passed over have none.
    pub fn put(&mut self, slice: usize, text: &ArgsText) {
        if text.0.is_empty() || slice < self.len {
            return;
        }
        let (mut template, mut numbers) = std::mem::take(&mut self.scratch);
        take_apart(&text.0, &mut template, &mut numbers);
        self.pad(slice);
        self.entry(&template, &numbers);
        self.scratch = (template, numbers);
    }

    /// Takes in the arguments of slices that were put behind the first `offset` slices.
    pub fn append(&mut self, other: &Self, offset: usize) {
        if other.len == 0 || offset < self.len {
            return;
        }
        self.left_out += other.left_out;
        let texts: Vec<u32> = (0..other.texts.len() as u32)
            .map(|number| self.text_number(other.texts.get(number)))
            .collect();
        self.pad(offset);
        let mut at = 0;
        for _ in 0..other.len {
            self.begin();
            let (old, begin) = number_at(&other.bytes, at);
            let new = texts.get(old as usize).copied().unwrap_or_default();
            push_number(&mut self.bytes, new.into());
            at = begin;
            for _ in 0..other.holes_of(old as u32) {
                let (number, next) = number_at(&other.bytes, at);
                if new != 0 {
                    push_number(&mut self.bytes, number);
                }
                at = next;
            }
            self.left_out += u64::from(new == 0 && old != 0);
        }
    }

    /// The arguments of a slice, in the order of the file.
    pub fn get(&self, slice: usize) -> Vec<(String, String)> {
        pairs(&self.text(slice))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    /// The same, ready to be put into another trace.
    pub fn text_of(&self, slice: usize) -> ArgsText {
        ArgsText(self.text(slice))
    }

    /// Which slices have an argument with these words in it, as in `stream 7`: keys, a blank, values. Upper
    /// and lower case are the same.
    pub fn find(&self, words: &str) -> SliceMatches {
        let wanted = words.trim().to_lowercase();
        let mut found = SliceMatches::default();
        if wanted.is_empty() || self.len == 0 {
            return found;
        }
        let has_digits = wanted.contains(|sign: char| sign.is_ascii_digit());
        let all = 0..self.texts.len() as u32;
        let by_text: Vec<bool> = all
            .map(|number| readable(self.texts.get(number)).contains(&wanted))
            .collect();
        let mut text = String::new();
        let mut packed = self.packed_from(0);
        found.slices = (0..self.len)
            .map(|_| {
                let number = packed.step();
                let is_found = by_text.get(number as usize).copied().unwrap_or_default();
                if !has_digits || is_found || number == 0 {
                    return is_found;
                }
                text.clear();
                fill(self.text_with_holes(number), packed.numbers(), &mut text);
                readable(&text).contains(&wanted)
            })
            .collect();
        found
    }

    /// Whether no slice has any.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many slices had arguments for which there was no room.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Bytes that all of it takes.
    pub fn bytes(&self) -> usize {
        self.texts.bytes() + self.holes.len() * 2 + self.bytes.len() + self.starts.len() * 8
    }

    fn text(&self, slice: usize) -> String {
        let mut packed = self.packed_from(slice);
        let number = packed.step();
        let mut text = String::new();
        fill(self.text_with_holes(number), packed.numbers(), &mut text);
        text
    }

    /// The arguments as they are kept, from those of a slice on.
    pub fn packed_from(&self, slice: usize) -> PackedArgs<'_> {
        let start = self.starts.get(slice / EVERY).copied();
        let mut packed = PackedArgs {
            args: self,
            slice: slice / EVERY * EVERY,
            at: start.unwrap_or(self.bytes.len()),
            numbers: Vec::new(),
        };
        while packed.slice < slice.min(self.len) {
            packed.step();
        }
        packed
    }

    /// The text with a number, as [`fill`] takes it.
    pub fn text_with_holes(&self, number: u32) -> &str {
        self.texts.get(number)
    }

    fn holes_of(&self, text: u32) -> u16 {
        self.holes.get(text as usize).copied().unwrap_or_default()
    }

    fn pad(&mut self, slice: usize) {
        while self.len < slice {
            self.begin();
            self.bytes.push(0);
        }
    }

    /// Begins the next slice.
    fn begin(&mut self) {
        if self.len.is_multiple_of(EVERY) {
            self.starts.push(self.bytes.len());
        }
        self.len += 1;
    }

    fn entry(&mut self, template: &str, numbers: &[u64]) {
        self.begin();
        let text = self.text_number(template);
        push_number(&mut self.bytes, text.into());
        if text == 0 {
            self.left_out += 1;
            return;
        }
        for number in numbers {
            push_number(&mut self.bytes, *number);
        }
    }

    /// The number of a text; 0 where there is no room for it.
    fn text_number(&mut self, template: &str) -> u32 {
        if self.texts.bytes() > MOST_TEXT && self.texts.find(template).is_none() {
            return 0;
        }
        let number = self.texts.number(template);
        if self.holes.len() <= number as usize {
            self.holes.resize(number as usize, 0);
            let holes = template.matches(HOLE).count();
            self.holes.push(holes as u16);
        }
        number
    }
}

/// Goes through the arguments of slices as they are kept.
#[derive(Clone, Debug)]
pub struct PackedArgs<'a> {
    args: &'a SliceArgs,
    slice: usize,
    at: usize,
    numbers: Vec<u64>,
}

impl PackedArgs<'_> {
    /// Goes on to the next slice, and returns the number of its text; 0 where it has no arguments.
    pub fn step(&mut self) -> u32 {
        self.numbers.clear();
        if self.slice >= self.args.len {
            return 0;
        }
        self.slice += 1;
        let (text, mut at) = number_at(&self.args.bytes, self.at);
        for _ in 0..self.args.holes_of(text as u32) {
            let (number, next) = number_at(&self.args.bytes, at);
            self.numbers.push(number);
            at = next;
        }
        self.at = at;
        text as u32
    }

    /// The numbers that the text of that slice lacks.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }
}

/// Writes a text with its numbers.
pub fn fill(text: &str, numbers: &[u64], out: &mut String) {
    let mut parts = text.split(HOLE);
    out.push_str(parts.next().unwrap_or_default());
    for (part, number) in parts.zip(numbers) {
        push_digits(out, *number);
        out.push_str(part);
    }
}

/// Slices that were found by their arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceMatches {
    slices: Vec<bool>,
}

impl SliceMatches {
    /// Whether a slice is one of them.
    pub fn contains(&self, slice: usize) -> bool {
        self.slices.get(slice).copied().unwrap_or_default()
    }

    /// Whether there is one.
    pub fn is_any(&self) -> bool {
        self.slices.contains(&true)
    }
}

/// A text as people read and type it.
fn readable(text: &str) -> String {
    text.replace(VALUE, " ").to_lowercase()
}

/// Puts the large numbers of a text aside. One that begins with a zero stays, because it would lose that.
fn take_apart(text: &str, template: &mut String, numbers: &mut Vec<u64>) {
    template.clear();
    numbers.clear();
    // Everything up to here is in the template.
    let mut done = 0;
    let mut bytes = text.bytes().enumerate();
    while let Some((begin, _)) = bytes.find(|(_, byte)| byte.is_ascii_digit()) {
        let end = bytes.find(|(_, byte)| !byte.is_ascii_digit());
        let end = end.map_or(text.len(), |(end, _)| end);
        let digits = text.get(begin..end).unwrap_or_default();
        if DIGITS.contains(&digits.len())
            && !digits.starts_with('0')
            && numbers.len() < usize::from(u16::MAX)
            && let Ok(number) = digits.parse()
        {
            template.push_str(text.get(done..begin).unwrap_or_default());
            template.push(HOLE);
            numbers.push(number);
            done = end;
        }
    }
    template.push_str(text.get(done..).unwrap_or_default());
}

/// Writes a number, seven bits a byte, the low ones first.
fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The number at a byte, and where the next one begins.
fn number_at(bytes: &[u8], at: usize) -> (u64, usize) {
    let mut number = 0;
    for (place, byte) in bytes.iter().skip(at).take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * place).min(63);
        if byte & 0x80 == 0 {
            return (number, at + place + 1);
        }
    }
    (number, bytes.len())
}

/// Writes a number.
pub fn push_digits(text: &mut String, mut number: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend(digits.iter().skip(at).map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pairs: &[(&str, &str)]) -> ArgsText {
        let mut text = ArgsText::default();
        for (key, value) in pairs {
            text.add(key, value);
        }
        text
    }

    fn pairs(args: &SliceArgs, slice: usize) -> Vec<(String, String)> {
        args.get(slice)
    }

    #[test]
    fn arguments_come_back_letter_for_letter() {
        let values = [
            "7",
            "1000",
            "0000123456",
            "[16, 0, 4096]",
            "1724.6315789473683",
            "18446744073709551615",
            "-999999999999999999",
            "0x7f00deadbeef12345",
            "größer als 12345€",
            "a\nb",
        ];
        let mut args = SliceArgs::default();
        for (slice, value) in values.iter().enumerate() {
            args.put(slice * 40, &text(&[("first", value), ("second", "12345")]));
        }
        for (slice, value) in values.iter().enumerate() {
            let wanted = [("first", *value), ("second", "12345")];
            let wanted = wanted.map(|(key, value)| (key.to_owned(), value.to_owned()));
            assert_eq!(pairs(&args, slice * 40), wanted);
            assert!(pairs(&args, slice * 40 + 1).is_empty());
        }
        assert!(pairs(&args, 100_000).is_empty());
    }

    #[test]
    fn what_has_no_value_is_left_out_and_signs_of_ours_too() {
        let kept = text(&[("a", ""), ("b", " "), ("c\u{1f}", "x\u{1a}\u{1e}y")]);
        let mut args = SliceArgs::default();
        args.put(0, &kept);
        assert_eq!(pairs(&args, 0), [("c".to_owned(), "xy".to_owned())]);
        args.put(1, &ArgsText::default());
        assert!(pairs(&args, 1).is_empty());
    }

    #[test]
    fn traces_are_put_behind_each_other() {
        let mut one = SliceArgs::default();
        one.put(1, &text(&[("stream", "7"), ("correlation", "10001")]));
        let mut other = SliceArgs::default();
        other.put(0, &text(&[("stream", "9")]));
        other.put(2, &text(&[("stream", "7"), ("correlation", "99999")]));
        one.append(&other, 5);
        assert_eq!(one.get(1)[1].1, "10001");
        assert_eq!(one.get(5), [("stream".to_owned(), "9".to_owned())]);
        assert!(one.get(6).is_empty());
        assert_eq!(one.get(7)[1].1, "99999");
    }

    #[test]
    fn words_are_found_as_they_are_read() {
        let mut args = SliceArgs::default();
        for slice in 0..100 {
            let id = (20_000 + slice).to_string();
            let stream = (slice % 8).to_string();
            args.put(
                slice,
                &text(&[("Stream", &stream), ("id", &id), ("kind", "Dispatch")]),
            );
        }
        let found = |words: &str| -> Vec<usize> {
            let found = args.find(words);
            (0..101).filter(|slice| found.contains(*slice)).collect()
        };
        assert_eq!(found("dispatch").len(), 100);
        assert_eq!(found("stream 7").len(), 12);
        assert_eq!(found("20042"), [42]);
        assert_eq!(found("id 2004").len(), 10);
        assert!(found("nothing").is_empty() && !args.find("nothing").is_any());
    }

    #[test]
    fn a_slice_costs_a_few_bytes() {
        let mut args = SliceArgs::default();
        for slice in 0..10_000_usize {
            let id = (1_000_000 + slice).to_string();
            let grid = format!("{}×1×1", 1 + slice % 50);
            args.put(
                slice,
                &text(&[("correlation", &id), ("registers", "32"), ("grid", &grid)]),
            );
        }
        let bytes = args.bytes() as f64 / 10_000.0;
        assert!(bytes < 8.0, "{bytes}");
    }
}
