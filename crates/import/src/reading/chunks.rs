//! The elements of the list in a trace of Chrome's form, one after the other, without reading the whole.

use std::io::{self, BufRead};

/// No element is longer.
const MOST_BYTES: usize = 16 << 20;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// An object of the list, to be had with [`Chunks::chunk`].
    Whole,
    /// An object that does not end before the next one begins.
    Damaged,
    /// The list ends.
    End,
    /// The file ends, and the list does not.
    Cut,
}

/// Splits `{"traceEvents": [{…}, {…}, …], …}` into its elements.
///
/// Some tools write names with unescaped quotation marks. The damage of that ends
/// at the line's end, as no text goes over it.
#[derive(Debug)]
pub(crate) struct Chunks<R> {
    bytes: R,
    chunk: Vec<u8>,
    /// The list has begun.
    is_inside: bool,
    /// Waits for a byte that was read already.
    held: Option<u8>,
}

impl<R: BufRead> Chunks<R> {
    /// Begins before the list.
    pub(crate) fn new(bytes: R) -> Self {
        Self {
            bytes,
            chunk: Vec::new(),
            is_inside: false,
            held: None,
        }
    }

    /// What it reads from.
    pub(crate) fn inner(&self) -> &R {
        &self.bytes
    }

    /// The element that was read last.
    pub(crate) fn chunk(&self) -> &[u8] {
        &self.chunk
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        loop {
            match self.bytes.fill_buf() {
                Ok([]) => return Ok(None),
                Ok([first, ..]) => {
                    let first = *first;
                    self.bytes.consume(1);
                    return Ok(Some(first));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Goes to the list; whether there is one.
    fn enter(&mut self) -> io::Result<bool> {
        const KEY: &[u8] = b"\"traceEvents\"";
        let mut matched = 0;
        while let Some(byte) = self.byte()? {
            if matched == KEY.len() {
                match byte {
                    b'[' => {
                        self.is_inside = true;
                        return Ok(true);
                    }
                    b':' | b' ' | b'\n' | b'\r' | b'\t' => continue,
                    _ => {}
                }
            }
            matched = if matched < KEY.len() && KEY.get(matched) == Some(&byte) {
                matched + 1
            } else {
                usize::from(byte == b'"')
            };
        }
        Ok(false)
    }

    /// The next element.
    pub(crate) fn next_object(&mut self) -> io::Result<Chunk> {
        if !self.is_inside && !self.enter()? {
            return Ok(Chunk::Cut);
        }
        loop {
            match self.byte()? {
                None => return Ok(Chunk::Cut),
                Some(b']') => return Ok(Chunk::End),
                Some(b'{') => break,
                Some(_) => {}
            }
        }
        self.object()
    }

    /// An element after its first brace.
    fn object(&mut self) -> io::Result<Chunk> {
        self.chunk.clear();
        self.chunk.push(b'{');
        let (mut depth, mut in_text, mut is_escaped) = (1_u32, false, false);
        // The two bytes before: elements of some tools begin lines with a comma.
        let mut before = [0, 0];
        while depth > 0 {
            let Some(byte) = self.byte()? else {
                return Ok(Chunk::Cut);
            };
            if before == [b'\n', b','] && byte == b'{' {
                self.held = Some(b'{');
                return Ok(Chunk::Damaged);
            }
            before = [before[1], byte];
            if self.chunk.len() < MOST_BYTES {
                self.chunk.push(byte);
            }
            match byte {
                b'\n' => (in_text, is_escaped) = (false, false),
                _ if is_escaped => is_escaped = false,
                b'\\' if in_text => is_escaped = true,
                b'"' => in_text = !in_text,
                b'{' if !in_text => depth = depth.saturating_add(1),
                b'}' if !in_text => depth -= 1,
                _ => {}
            }
        }
        Ok(Chunk::Whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut chunks = Chunks::new(text.as_bytes());
        let mut found = Vec::new();
        loop {
            match chunks.next_object().unwrap() {
                Chunk::Whole => found.push(String::from_utf8_lossy(chunks.chunk()).into_owned()),
                Chunk::Damaged => found.push("damaged".to_owned()),
                Chunk::End => {
                    found.push("end".to_owned());
                    return found;
                }
                Chunk::Cut => {
                    found.push("cut".to_owned());
                    return found;
                }
            }
        }
    }

    #[test]
    fn elements_come_one_by_one() {
        assert_eq!(
            all(r#"{"a":"traceEvents", "traceEvents" : [{}, {"x": {"y": "}\"]"}} ], "z": {}}"#),
            ["{}", r#"{"x": {"y": "}\"]"}}"#, "end"]
        );
        assert_eq!(all("{\"traceEvents\":[{}\n,{\"a\":"), ["{}", "cut"]);
        assert_eq!(all("{}"), ["cut"]);
    }

    #[test]
    fn damage_ends_where_the_next_element_begins() {
        assert_eq!(
            all("{\"traceEvents\":[{}\n,{\"a\":\"say \"{\"\",\n\"b\":{\n}\n,{\"c\":1}\n]}"),
            ["{}", "damaged", "{\"c\":1}", "end"]
        );
    }
}
