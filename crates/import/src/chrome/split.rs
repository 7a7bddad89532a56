//! A file of events cut into its events while it is read, so that only a part of the file is in memory at any time.
//!
//! Profilers write text that is nearly JSON: names with unescaped quotation marks, lists that
//! end in the middle. An event in which a line ends within a name is given up, and the next line that
//! begins with a brace is where it goes on.

use memchr::{memchr, memchr_iter, memchr3, memmem};

/// The list's key where the file is an object.
const KEY: &[u8] = b"\"traceEvents\"";
/// The longest event; what lies before and behind the list is kept up to this length.
const LONGEST: usize = 64 << 20;

/// Position of the splitter: before, within or after the list of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SplitterState {
    #[default]
    Before,
    Events,
    After,
}

/// Where events go.
pub(super) trait EventSink {
    /// Takes in the event that the bytes begin with, and returns how long it is; nothing, and takes nothing in, where
    /// its end has to be looked for first.
    fn take_first(&mut self, bytes: &[u8]) -> Option<usize>;

    /// Takes in an event whose end was looked for.
    fn take(&mut self, event: &[u8]);
}

/// How much of a buffer was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BufferProgress {
    /// So many bytes of it are done with.
    pub bytes: usize,
    /// The file has no more to read.
    pub stop: bool,
}

/// Finds the events of a file, buffer by buffer.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    place: SplitterState,
    /// What the file says besides events: everything before the list and behind it.
    around: (Vec<u8>, Vec<u8>),
    /// Events that were found, and those that were given up.
    pub events: u64,
    pub broken: u64,
    /// The line in which an event was given up has not ended.
    resync: bool,
}

impl Splitter {
    /// One that begins between two events.
    pub(super) fn between_events() -> Self {
        Self {
            place: SplitterState::Events,
            ..Self::default()
        }
    }

    /// Whether another event, or the end of the list, is what comes next.
    pub(super) fn is_between_events(&self) -> bool {
        self.place == SplitterState::Events && !self.resync
    }

    /// Goes on where a later one came to.
    pub(super) fn continue_with(&mut self, later: Self) {
        self.place = later.place;
        self.resync = later.resync;
        self.events += later.events;
        self.broken += later.broken;
        self.around.1.extend(later.around.1);
    }

    /// Whether the list came to its end.
    pub(super) fn is_complete(&self) -> bool {
        self.place == SplitterState::After
    }

    /// The file without its events, as far as it is JSON.
    pub(super) fn envelope(&self) -> serde_json::Value {
        let (before, after) = &self.around;
        for end in [after.as_slice(), b"}", b""] {
            let text = [before.as_slice(), b"[]", end].concat();
            if let Ok(value) = serde_json::from_slice(&text) {
                return value;
            }
        }
        serde_json::Value::Null
    }

    /// Finds the events in a buffer; the caller calls again with the rest and more.
    pub(super) fn take(&mut self, buffer: &[u8], events: &mut impl EventSink) -> BufferProgress {
        let mut at = 0;
        if self.place == SplitterState::Before {
            match self.find_list(buffer) {
                Ok(begin) => at = begin,
                Err(taken) => return taken,
            }
        }
        if self.place == SplitterState::Events {
            at = self.find_events(buffer, at, events);
        }
        if self.place == SplitterState::After {
            if self.around.1.len() + buffer.len() - at < LONGEST {
                self.around.1.extend_from_slice(&buffer[at..]);
            }
            at = buffer.len();
        }
        BufferProgress {
            bytes: at,
            stop: buffer.len() - at > LONGEST,
        }
    }

    /// The beginning of the list: right away, or behind its key.
    fn find_list(&mut self, buffer: &[u8]) -> Result<usize, BufferProgress> {
        let more = Err(BufferProgress {
            bytes: 0,
            stop: buffer.len() > LONGEST,
        });
        let start = if buffer.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let Some(first) = buffer[start..]
            .iter()
            .position(|b| !b.is_ascii_whitespace())
        else {
            return more;
        };
        let first = start + first;
        if buffer[first] == b'[' {
            self.place = SplitterState::Events;
            return Ok(first + 1);
        }
        for key in memmem::find_iter(&buffer[first..], KEY) {
            let behind = first + key + KEY.len();
            let mut rest = buffer[behind..]
                .iter()
                .enumerate()
                .filter(|(_, b)| !b.is_ascii_whitespace());
            match (rest.next(), rest.next()) {
                (Some((_, b':')), Some((list, b'['))) => {
                    self.place = SplitterState::Events;
                    self.around
                        .0
                        .extend_from_slice(&buffer[first..behind + list]);
                    return Ok(behind + list + 1);
                }
                (Some(_), Some(_)) => {}
                _ => return more,
            }
        }
        more
    }

    fn find_events(&mut self, buffer: &[u8], from: usize, events: &mut impl EventSink) -> usize {
        let mut at = from;
        loop {
            if self.resync {
                match line_with_brace(&buffer[at..]) {
                    Ok(skip) => at += skip,
                    Err(done) => return at + done,
                }
                self.resync = false;
            }
            let Some(skip) = buffer[at..]
                .iter()
                .position(|b| !b.is_ascii_whitespace() && *b != b',')
            else {
                return buffer.len();
            };
            at += skip;
            match buffer[at] {
                b'{' => {
                    if let Some(length) = events.take_first(&buffer[at..]) {
                        self.events += 1;
                        at += length;
                        continue;
                    }
                    match event_end(&buffer[at..]) {
                        EventEnd::At(length) => {
                            self.events += 1;
                            events.take(&buffer[at..at + length]);
                            at += length;
                        }
                        EventEnd::Broken(line) => {
                            self.broken += 1;
                            self.resync = true;
                            at += line;
                        }
                        EventEnd::More => return at,
                    }
                }
                b']' => {
                    self.place = SplitterState::After;
                    return at + 1;
                }
                // Something that is no event at all.
                _ => {
                    self.broken += 1;
                    self.resync = true;
                }
            }
        }
    }
}

/// Looks where a buffer can be parted between two events, mostly without going through them.
///
/// It is a guess, which has to be held against where the events before the cut end: what lies between two events, and
/// the first key behind it, may lie within an event too.
#[derive(Debug, Default)]
pub(super) struct CutFinder {
    /// From the end of an event to behind the first key of the next one.
    between: Vec<u8>,
    /// The list has begun before the buffer.
    is_within: bool,
}

impl CutFinder {
    /// How much of a buffer goes together; nothing where more has to be read first.
    pub(super) fn cut(&mut self, buffer: &[u8]) -> Option<usize> {
        if !self.between.is_empty()
            && let Some(end) = memmem::rfind(buffer, &self.between)
        {
            return Some(end + 1);
        }
        let mut splitter = if self.is_within {
            Splitter::between_events()
        } else {
            Splitter::default()
        };
        let mut bounds = LastEvents {
            buffer: buffer.len(),
            last: Default::default(),
        };
        splitter.take(buffer, &mut bounds);
        let [(_, end), (begin, last)] = bounds.last;
        if last == 0 {
            let is_hopeless = splitter.resync || splitter.is_complete() || buffer.len() > LONGEST;
            return is_hopeless.then_some(buffer.len());
        }
        self.is_within = true;
        if end > 0 {
            let key = memchr_iter(b'"', &buffer[begin..last]).nth(1);
            self.between = buffer[end - 1..=begin + key.unwrap_or_default()].to_vec();
        }
        Some(last)
    }
}

/// Where the two last events of a buffer begin and end.
struct LastEvents {
    /// Length of the buffer.
    buffer: usize,
    last: [(usize, usize); 2],
}

impl EventSink for LastEvents {
    fn take_first(&mut self, bytes: &[u8]) -> Option<usize> {
        let EventEnd::At(length) = event_end(bytes) else {
            return None;
        };
        let begin = self.buffer - bytes.len();
        self.last = [self.last[1], (begin, begin + length)];
        Some(length)
    }

    fn take(&mut self, _: &[u8]) {}
}

/// How far it is to the next line that begins with a brace; else what can be forgotten of the buffer.
fn line_with_brace(buffer: &[u8]) -> Result<usize, usize> {
    let mut at = 0;
    while let Some(line) = memchr(b'\n', &buffer[at..]) {
        let begin = at + line + 1;
        match buffer[begin..]
            .iter()
            .position(|b| !b.is_ascii_whitespace() && *b != b',')
        {
            Some(skip) if matches!(buffer[begin + skip], b'{' | b']') => return Ok(begin + skip),
            Some(skip) => at = begin + skip,
            None => return Err(at + line),
        }
    }
    // Not even the end of a line.
    Err(buffer.len())
}

enum EventEnd {
    /// Length of the event.
    At(usize),
    /// A line ends within a text; so far it is to that end.
    Broken(usize),
    /// The buffer ends first.
    More,
}

/// Where an object ends.
fn event_end(bytes: &[u8]) -> EventEnd {
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => match text_end(bytes, at) {
                Some(Ok(end)) => at = end,
                Some(Err(line)) => return EventEnd::Broken(line),
                None => return EventEnd::More,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return EventEnd::At(at);
                }
            }
            _ => {}
        }
    }
    EventEnd::More
}

/// Behind the mark that closes a text, or the end of the line where none does.
fn text_end(bytes: &[u8], from: usize) -> Option<Result<usize, usize>> {
    let mut at = from;
    loop {
        let found = at + memchr3(b'"', b'\\', b'\n', bytes.get(at..)?)?;
        match bytes[found] {
            b'"' => return Some(Ok(found + 1)),
            b'\n' => return Some(Err(found)),
            _ => at = found + 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl EventSink for Vec<String> {
        fn take_first(&mut self, _: &[u8]) -> Option<usize> {
            None
        }

        fn take(&mut self, event: &[u8]) {
            self.push(String::from_utf8(event.to_vec()).unwrap());
        }
    }

    /// Splits a text that comes in pieces.
    fn split(text: &str, piece: usize) -> (Vec<String>, Splitter) {
        let mut splitter = Splitter::default();
        let mut buffer = Vec::new();
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(piece) {
            buffer.extend_from_slice(piece);
            let taken = splitter.take(&buffer, &mut found);
            buffer.drain(..taken.bytes);
        }
        (found, splitter)
    }

    #[test]
    fn events_are_found_in_pieces_of_any_length() {
        let text = "{\"a\": 1, \"traceEvents\" : [\n{\"n\": \"x, {y\"}, {\"m\": [{\"k\": \"\\\"}\"}]},\n], \"b\": 2}";
        for piece in 1..text.len() {
            let (events, splitter) = split(text, piece);
            assert_eq!(
                events,
                ["{\"n\": \"x, {y\"}", "{\"m\": [{\"k\": \"\\\"}\"}]}"]
            );
            assert!(splitter.is_complete() && splitter.broken == 0);
            assert_eq!(splitter.envelope()["b"], 2);
        }
    }

    #[test]
    fn a_name_with_a_mark_costs_its_own_event() {
        let text =
            "[\n{\"name\": \"a\"b\", \"ts\": 1},\n{\n\"name\": \"c\"},\n{\"name\": \"d\"}]\n";
        for piece in 1..text.len() {
            let (events, splitter) = split(text, piece);
            assert_eq!(
                events,
                ["{\n\"name\": \"c\"}", "{\"name\": \"d\"}"],
                "{piece}"
            );
            assert_eq!(splitter.broken, 1);
        }
    }

    #[test]
    fn nothing_makes_it_panic() {
        let text =
            "{\"traceEvents\": [{\"a\": \"\\\\\"}, x, {\"b\": [1, {}]}, \n{\"c\":\"\n\"}], ]}}";
        for cut in 0..text.len() {
            for piece in [1, 3, 100] {
                split(&text[..cut], piece);
                split(&text[cut..], piece);
            }
        }
    }
}
