//! Pickles of Python with plain data in them, of every protocol: whatever would be called is an error.
//!
//! A pickle is a program for a machine with a stack. Containers are held by number, so that one that is shared is held
//! once and one that contains itself ends nothing; the user of this file makes something smaller of each as soon as it
//! is put into another one, and its contents are let go.

use std::io::{self, BufRead, Read as _};
use std::mem;

use powerband_core::base::humanize;
use powerband_core::domain::trace::Names;

#[cfg(test)]
mod tests;

/// Values that are held at once. Each takes 16 bytes, and a snapshot of a gigabyte has half as many.
const MOST_VALUES: usize = 80_000_000;
/// What a container counts as beside the values in it.
const CONTAINER_VALUES: usize = 4;
/// Containers that are begun and not ended.
const MOST_DEPTH: usize = 1 << 20;
/// Bytes of a text that are kept.
const MOST_TEXT: u64 = 4096;
/// Keys of a dictionary that are looked through.
const MOST_KEYS: usize = 64;
/// Numbers of the memo that may be left out at once: pickles of Python 2 begin with 1.
const MEMO_GAP: usize = 16;

/// A value, which is copied freely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PickleValue {
    /// None, and bytes, which are not kept.
    Nothing,
    Bool(bool),
    /// A number; one of more than 64 bits is clamped.
    Int(i64),
    Float(f64),
    /// A text, by number.
    Text(u32),
    /// A container, by number.
    Container(u32),
    /// What was made of a container: its kind and number mean something to the caller alone.
    Made(u8, u32),
}

impl PickleValue {
    /// A number.
    pub(crate) fn int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            _ => None,
        }
    }
}

/// A list, a tuple, a set, or a dictionary.
#[derive(Debug)]
pub(crate) struct PickleContainer {
    pub(crate) is_dictionary: bool,
    /// Its values; of a dictionary each key before its value.
    pub(crate) items: Vec<PickleValue>,
    /// Whether it was shown to the caller already.
    was_offered: bool,
}

/// Why reading ended before the end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PickleError {
    /// The file cannot be read further, or ends too early.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no pickle from here on.
    #[error("it is damaged")]
    Damaged,
    /// It is refused: it asks for a call, or for too much.
    #[error("{0}")]
    Refused(String),
}

/// What a pickle holds.
#[derive(Debug)]
pub(crate) struct Pickle {
    /// The outermost value.
    pub(crate) root: PickleValue,
    texts: Names,
    containers: Vec<ContainerSlot>,
}

impl Pickle {
    /// The values of a container; of a dictionary each key before its value.
    pub(crate) fn items(&self, value: PickleValue) -> &[PickleValue] {
        match value {
            PickleValue::Container(number) => match self.containers.get(number as usize) {
                Some(ContainerSlot::Open(container)) => &container.items,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// The value of a key in a dictionary.
    pub(crate) fn get(&self, dictionary: PickleValue, key: &str) -> PickleValue {
        let mut pairs = self.items(dictionary).chunks_exact(2).take(MOST_KEYS);
        let found = pairs.rfind(|pair| pair.first().is_some_and(|name| self.text(*name) == key));
        let value = found.and_then(|pair| pair.get(1));
        value.copied().unwrap_or(PickleValue::Nothing)
    }

    /// A text; empty where the value is none.
    pub(crate) fn text(&self, value: PickleValue) -> &str {
        text_of(value, &self.texts)
    }
}

/// A text; empty where the value is none.
pub(crate) fn text_of(value: PickleValue, texts: &Names) -> &str {
    match value {
        PickleValue::Text(number) => texts.get(number),
        _ => "",
    }
}

/// A container, or what was made of it.
#[derive(Debug)]
enum ContainerSlot {
    Open(Box<PickleContainer>),
    Made(PickleValue),
}

/// Makes something of a container that is complete; nothing where it stays as it is.
type Maker<'a> = dyn FnMut(&PickleContainer, &Names) -> Option<PickleValue> + 'a;

/// The machine that reads a pickle.
pub(crate) struct PickleReader<'a, R> {
    bytes: R,
    make: &'a mut Maker<'a>,
    stack: Vec<PickleValue>,
    /// Where the contents of containers that are not ended begin on the stack.
    marks: Vec<usize>,
    memo: Vec<PickleValue>,
    containers: Vec<ContainerSlot>,
    texts: Names,
    /// Bytes of what is read now.
    buffer: Vec<u8>,
    /// Values in memo, containers and texts.
    n_held: usize,
}

impl<'a, R: BufRead> PickleReader<'a, R> {
    pub(crate) fn new(bytes: R, make: &'a mut Maker<'a>) -> Self {
        Self {
            bytes,
            make,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            containers: Vec::new(),
            texts: Names::default(),
            buffer: Vec::new(),
            n_held: 0,
        }
    }

    /// Reads to the end.
    pub(crate) fn run(&mut self) -> Result<(), PickleError> {
        loop {
            let [code] = self.take()?;
            if code == b'.' {
                return Ok(());
            }
            self.step(code)?;
        }
    }

    /// What was read, also where reading ended too early: what is not complete goes where it belongs.
    pub(crate) fn finish(mut self) -> Pickle {
        while let Some(mark) = self.marks.pop() {
            let contents = self.stack.get(mark..).unwrap_or_default();
            // A key, its list, and what was to come into that list.
            let is_nested = matches!(
                contents,
                [.., PickleValue::Text(_), PickleValue::Container(_), _]
            );
            if contents.len() % 2 == 1 && is_nested && self.put(self.stack.len() - 1).is_err() {
                self.stack.pop();
            }
            if self.put(mark).is_err() {
                self.stack.truncate(mark);
            }
        }
        let root = self.stack.first().copied();
        Pickle {
            root: root.unwrap_or(PickleValue::Nothing),
            texts: self.texts,
            containers: self.containers,
        }
    }

    /// Does what a byte asks for.
    fn step(&mut self, code: u8) -> Result<(), PickleError> {
        match code {
            // What has no effect: the protocol's number and the length of a frame.
            0x80 => self.take::<1>().map(drop),
            0x95 => self.take::<8>().map(drop),
            b'(' => self.mark(),
            b'0' => self.drop_top(),
            b'1' => self.end_mark().map(|from| self.stack.truncate(from)),
            b'2' => {
                let from = self.top(1)?;
                self.push_from(from)
            }
            b'N' => self.push(PickleValue::Nothing),
            0x88 => self.push(PickleValue::Bool(true)),
            0x89 => self.push(PickleValue::Bool(false)),
            b'K' => self
                .take()
                .map(u8::from_le_bytes)
                .and_then(|value| self.push_int(value)),
            b'M' => self
                .take()
                .map(u16::from_le_bytes)
                .and_then(|value| self.push_int(value)),
            b'J' => self
                .take()
                .map(i32::from_le_bytes)
                .and_then(|value| self.push_int(value)),
            0x8a | 0x8b => self.long_integer(code),
            b'I' | b'L' | b'F' => self.number_line(code),
            b'G' => {
                let value = f64::from_be_bytes(self.take()?);
                self.push(PickleValue::Float(value))
            }
            b'U' | b'T' | 0x8c | b'X' | 0x8d => {
                let length = self.length(code)?;
                self.text(length)
            }
            b'C' | b'B' | 0x8e | 0x96 => {
                let length = self.length(code)?;
                self.skip(length)?;
                self.push(PickleValue::Nothing)
            }
            b'S' | b'V' => self.text_line(code),
            b']' | b')' | 0x8f => self.container(false, self.stack.len()),
            b'}' => self.container(true, self.stack.len()),
            b'l' | b't' | 0x91 => self.end_mark().and_then(|from| self.container(false, from)),
            b'd' => self.end_mark().and_then(|from| self.container(true, from)),
            0x85..=0x87 => self
                .top(usize::from(code) - 0x84)
                .and_then(|from| self.container(false, from)),
            b'a' => self.top(2).and_then(|from| self.put(from + 1)),
            b's' => self.top(3).and_then(|from| self.put(from + 1)),
            b'e' | b'u' | 0x90 => self.end_mark().and_then(|from| self.put(from)),
            b'h' | b'j' | b'g' => self
                .memo_number(code)
                .and_then(|number| self.recall(number)),
            b'q' | b'r' | b'p' => self
                .memo_number(code)
                .and_then(|number| self.memoise(number)),
            0x94 => self.memoise(self.memo.len()),
            _ => Err(self.refusal(code)),
        }
    }

    /// The next bytes.
    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        if let Ok(buffer) = self.bytes.fill_buf()
            && let Some(bytes) = buffer.first_chunk().copied()
        {
            self.bytes.consume(N);
            return Ok(bytes);
        }
        let mut bytes = [0; N];
        self.bytes.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The length that stands before bytes or a text.
    fn length(&mut self, code: u8) -> Result<u64, PickleError> {
        Ok(match code {
            b'U' | b'C' | 0x8c => u64::from(u8::from_le_bytes(self.take()?)),
            b'T' | b'B' | b'X' => u64::from(u32::from_le_bytes(self.take()?)),
            _ => u64::from_le_bytes(self.take()?),
        })
    }

    /// The next bytes into the buffer, of very many the first ones. Nothing is allocated for what may not be there.
    fn fill(&mut self, length: u64) -> Result<(), PickleError> {
        let kept = length.min(MOST_TEXT);
        self.buffer.resize(kept as usize, 0);
        self.bytes.read_exact(&mut self.buffer)?;
        self.skip(length - kept)
    }

    fn skip(&mut self, length: u64) -> Result<(), PickleError> {
        let skipped = io::copy(&mut (&mut self.bytes).take(length), &mut io::sink())?;
        if skipped < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }

    /// The rest of a line, for the texts of protocol 0.
    fn line(&mut self) -> Result<String, PickleError> {
        self.buffer.clear();
        let mut line = (&mut self.bytes).take(MOST_TEXT);
        line.read_until(b'\n', &mut self.buffer)?;
        if self.buffer.len() as u64 == MOST_TEXT && !self.buffer.ends_with(b"\n") {
            self.bytes.skip_until(b'\n')?;
        } else if self.buffer.pop() != Some(b'\n') {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(String::from_utf8_lossy(&self.buffer).into_owned())
    }

    /// Counts values that are held from now on.
    #[inline]
    fn hold(&mut self, count: usize) -> Result<(), PickleError> {
        self.n_held += count;
        if self.n_held + self.stack.len() > MOST_VALUES {
            return Err(PickleError::Refused(format!(
                "it has more than {} values, which may be an accident or an attack",
                humanize::count(MOST_VALUES as u64)
            )));
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, value: PickleValue) -> Result<(), PickleError> {
        self.stack.push(value);
        self.hold(0)
    }

    fn push_int(&mut self, value: impl Into<i64>) -> Result<(), PickleError> {
        self.push(PickleValue::Int(value.into()))
    }

    fn push_from(&mut self, place: usize) -> Result<(), PickleError> {
        let value = self.stack.get(place).copied();
        self.push(value.ok_or(PickleError::Damaged)?)
    }

    fn mark(&mut self) -> Result<(), PickleError> {
        if self.marks.len() >= MOST_DEPTH {
            return Err(PickleError::Damaged);
        }
        self.marks.push(self.stack.len());
        Ok(())
    }

    fn end_mark(&mut self) -> Result<usize, PickleError> {
        self.marks.pop().ok_or(PickleError::Damaged)
    }

    /// Where the uppermost values begin that belong to the container begun last.
    fn top(&self, count: usize) -> Result<usize, PickleError> {
        let from = self.stack.len().checked_sub(count);
        let lowest = self.marks.last().copied().unwrap_or_default();
        from.filter(|from| *from >= lowest)
            .ok_or(PickleError::Damaged)
    }

    fn drop_top(&mut self) -> Result<(), PickleError> {
        if self.marks.last() == Some(&self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        self.top(1).map(|from| self.stack.truncate(from))
    }

    /// An integer of any length, the least byte first.
    fn long_integer(&mut self, code: u8) -> Result<(), PickleError> {
        let length = match code {
            0x8a => u64::from(u8::from_le_bytes(self.take()?)),
            _ => u64::from(u32::from_le_bytes(self.take()?)),
        };
        self.fill(length)?;
        let is_negative = self.buffer.last().is_some_and(|byte| *byte >= 0x80);
        let mut bytes = [if is_negative { 0xff } else { 0 }; 16];
        for (byte, read) in bytes.iter_mut().zip(&self.buffer) {
            *byte = *read;
        }
        let value = match (self.buffer.len(), is_negative) {
            (0..=16, _) => i128::from_le_bytes(bytes),
            (_, true) => i128::MIN,
            (_, false) => i128::MAX,
        };
        self.push(clamped(value))
    }

    /// A number in digits.
    fn number_line(&mut self, code: u8) -> Result<(), PickleError> {
        let line = self.line()?;
        let digits = line.trim_end().trim_end_matches('L');
        let value = match (code, digits) {
            (b'I', "00") => Some(PickleValue::Bool(false)),
            (b'I', "01") => Some(PickleValue::Bool(true)),
            (b'F', _) => digits.parse().ok().map(PickleValue::Float),
            _ => digits.parse().ok().map(clamped),
        };
        self.push(value.ok_or(PickleError::Damaged)?)
    }

    fn text_line(&mut self, code: u8) -> Result<(), PickleError> {
        let line = self.line()?;
        let text = match code {
            b'S' => line.trim_matches(['\'', '"']),
            _ => &line,
        };
        let number = self.text_number(text)?;
        self.push(PickleValue::Text(number))
    }

    fn text(&mut self, length: u64) -> Result<(), PickleError> {
        self.fill(length)?;
        let buffer = mem::take(&mut self.buffer);
        let number = self.text_number(&String::from_utf8_lossy(&buffer))?;
        self.buffer = buffer;
        self.push(PickleValue::Text(number))
    }

    fn text_number(&mut self, text: &str) -> Result<u32, PickleError> {
        let n_known = self.texts.len();
        let number = self.texts.number(text);
        if self.texts.len() > n_known {
            self.hold(2 + text.len() / size_of::<PickleValue>())?;
        }
        Ok(number)
    }

    #[inline]
    fn memo_number(&mut self, code: u8) -> Result<usize, PickleError> {
        Ok(match code {
            b'h' | b'q' => usize::from(u8::from_le_bytes(self.take()?)),
            b'j' | b'r' => u32::from_le_bytes(self.take()?) as usize,
            _ => self
                .line()?
                .trim()
                .parse()
                .ok()
                .ok_or(PickleError::Damaged)?,
        })
    }

    #[inline]
    fn recall(&mut self, number: usize) -> Result<(), PickleError> {
        let known = self.memo.get(number).copied();
        let value = self.resolved(known.ok_or(PickleError::Damaged)?);
        self.push(value)
    }

    #[inline]
    fn memoise(&mut self, number: usize) -> Result<(), PickleError> {
        let value = self.stack.last().copied().ok_or(PickleError::Damaged)?;
        if number > self.memo.len() + MEMO_GAP {
            return Err(PickleError::Damaged);
        }
        if number >= self.memo.len() {
            self.hold(number + 1 - self.memo.len())?;
            self.memo.resize(number + 1, PickleValue::Nothing);
        }
        if let Some(slot) = self.memo.get_mut(number) {
            *slot = value;
        }
        Ok(())
    }

    /// What a container became.
    #[inline]
    fn resolved(&self, value: PickleValue) -> PickleValue {
        match value {
            PickleValue::Container(number) => match self.containers.get(number as usize) {
                Some(ContainerSlot::Made(made)) => *made,
                _ => value,
            },
            _ => value,
        }
    }

    /// A container of the values from a place of the stack on.
    fn container(&mut self, is_dictionary: bool, from: usize) -> Result<(), PickleError> {
        self.offer(from);
        let items = self.stack.split_off(from.min(self.stack.len()));
        self.hold(items.len() + CONTAINER_VALUES)?;
        let number = self.containers.len() as u32;
        self.containers
            .push(ContainerSlot::Open(Box::new(PickleContainer {
                is_dictionary,
                items,
                was_offered: false,
            })));
        self.push(PickleValue::Container(number))
    }

    /// Puts the values from a place of the stack on into the container below them.
    fn put(&mut self, from: usize) -> Result<(), PickleError> {
        let lowest = self.marks.last().copied().unwrap_or_default();
        let below = from.checked_sub(1).filter(|below| *below >= lowest);
        let below = below.and_then(|below| self.stack.get(below)).copied();
        let Some(PickleValue::Container(number)) = below else {
            return Err(PickleError::Damaged);
        };
        self.offer(from);
        let Some(ContainerSlot::Open(container)) = self.containers.get_mut(number as usize) else {
            return Err(PickleError::Damaged);
        };
        let values = self.stack.get(from..).unwrap_or_default();
        let n_values = values.len();
        container.items.extend_from_slice(values);
        self.stack.truncate(from);
        if container.is_dictionary && container.items.len() % 2 == 1 {
            container.items.pop();
        }
        self.hold(n_values)
    }

    /// Has something made of the containers from a place of the stack on, each once.
    fn offer(&mut self, from: usize) {
        for value in self.stack.iter_mut().skip(from) {
            let PickleValue::Container(number) = *value else {
                continue;
            };
            let Some(slot) = self.containers.get_mut(number as usize) else {
                continue;
            };
            let made = match slot {
                ContainerSlot::Made(made) => *made,
                ContainerSlot::Open(container) => {
                    if mem::replace(&mut container.was_offered, true) {
                        continue;
                    }
                    let Some(made) = (self.make)(container, &self.texts) else {
                        continue;
                    };
                    let items = mem::take(&mut container.items);
                    *slot = ContainerSlot::Made(made);
                    self.n_held -= items.len() + CONTAINER_VALUES - 1;
                    self.n_held -= let_go(&mut self.containers, &items);
                    made
                }
            };
            *value = made;
        }
    }

    /// The error for a byte that asks for what is never done.
    fn refusal(&mut self, code: u8) -> PickleError {
        let name = match code {
            b'c' | b'i' => self
                .line()
                .and_then(|module| Ok(format!("{module}.{}", self.line()?))),
            0x93 => self.top(2).map(|from| {
                let names = self.stack.iter().skip(from);
                let names: Vec<&str> = names.map(|name| text_of(*name, &self.texts)).collect();
                names.join(".")
            }),
            b'o' | b'R' | b'b' | 0x81..=0x84 | 0x92 => Ok("a function or a class".to_owned()),
            b'P' | b'Q' | 0x97 | 0x98 => Ok("a function for objects outside it".to_owned()),
            _ => Err(PickleError::Damaged),
        };
        name.map_or_else(
            |error| error,
            |name| {
                let name = humanize::shorten(&name.escape_debug().to_string(), 80);
                PickleError::Refused(format!(
                    "it asks for {name} to be called, and reading it calls nothing"
                ))
            },
        )
    }
}

/// Empties the containers among some values, and returns how many values that frees. What is in them in turn stays.
fn let_go(containers: &mut [ContainerSlot], values: &[PickleValue]) -> usize {
    let mut n_freed = 0;
    for value in values {
        if let PickleValue::Container(number) = value
            && let Some(slot) = containers.get_mut(*number as usize)
            && let ContainerSlot::Open(container) = slot
        {
            n_freed += container.items.len() + CONTAINER_VALUES - 1;
            *slot = ContainerSlot::Made(PickleValue::Nothing);
        }
    }
    n_freed
}

fn clamped(value: i128) -> PickleValue {
    let value = value.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    PickleValue::Int(value as i64)
}
