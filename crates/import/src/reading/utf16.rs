//! Text in UTF-16 as UTF-8, while it is read. What does not begin with a byte order mark of UTF-16 comes through
//! as it is.

use std::io::{self, Read};

/// Read at once.
const CHUNK: usize = 64 * 1024;

/// Bytes that are UTF-8 where they were UTF-16.
#[derive(Debug)]
pub(crate) struct Utf8<R> {
    bytes: R,
    kind: Encoding,
    /// What was made and not handed out yet, and how much of it was handed out.
    ready: (Vec<u8>, usize),
}

/// The encoding of the bytes.
#[derive(Debug)]
enum Encoding {
    /// The first two bytes were not read yet.
    Unread,
    /// Anything but UTF-16.
    Other,
    /// UTF-16 in this order, and bytes of a character whose rest was not read yet.
    Utf16(Order, Vec<u8>),
}

/// Which byte of a unit comes first.
#[derive(Clone, Copy, Debug)]
enum Order {
    Little,
    Big,
}

impl<R: Read> Utf8<R> {
    /// Begins at the first byte.
    pub(crate) fn new(bytes: R) -> Self {
        Self {
            bytes,
            kind: Encoding::Unread,
            ready: (Vec::new(), 0),
        }
    }

    /// Looks at the byte order mark. Whatever else is there is handed out unchanged.
    fn begin(&mut self) -> io::Result<()> {
        let mut first = Vec::with_capacity(2);
        if let Err(error) = (&mut self.bytes).take(2).read_to_end(&mut first)
            && first.is_empty()
        {
            return Err(error);
        }
        self.kind = match first.as_slice() {
            [0xff, 0xfe] => Encoding::Utf16(Order::Little, Vec::new()),
            [0xfe, 0xff] => Encoding::Utf16(Order::Big, Vec::new()),
            _ => {
                self.ready = (first, 0);
                Encoding::Other
            }
        };
        Ok(())
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let (ready, at) = &mut self.ready;
            if *at < ready.len() {
                let n = (&ready[*at..]).read(into)?;
                *at += n;
                return Ok(n);
            }
            match &mut self.kind {
                Encoding::Unread => self.begin()?,
                Encoding::Other => return self.bytes.read(into),
                Encoding::Utf16(order, left) => {
                    let n_left = left.len();
                    left.resize(n_left + CHUNK, 0);
                    let read = self.bytes.read(&mut left[n_left..]);
                    left.truncate(n_left + read.as_ref().map_or(0, |n| *n));
                    let is_end = read? == 0;
                    if is_end && left.is_empty() {
                        return Ok(0);
                    }
                    self.ready = (decode(*order, left, is_end), 0);
                }
            }
        }
    }
}

/// The whole characters of some bytes. What is left of them is half a character, unless they end here.
fn decode(order: Order, bytes: &mut Vec<u8>, is_end: bool) -> Vec<u8> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let unit = |pair: &[u8; 2]| match order {
        Order::Little => u16::from_le_bytes(*pair),
        Order::Big => u16::from_be_bytes(*pair),
    };
    let mut units: Vec<u16> = pairs.iter().map(unit).collect();
    let mut n_left = odd.len();
    if !is_end && units.pop_if(|last| is_first_half(*last)).is_some() {
        n_left += 2;
    }
    let characters = char::decode_utf16(units);
    let mut text: String = characters
        .map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    if is_end && n_left > 0 {
        text.push(char::REPLACEMENT_CHARACTER);
        n_left = 0;
    }
    bytes.drain(..bytes.len() - n_left);
    text.into_bytes()
}

/// Whether a unit is the first half of a character of two.
fn is_first_half(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, so that characters are cut in the middle.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(into.len());
            self.0.read(&mut into[..n])
        }
    }

    fn read(bytes: &[u8], at_once: usize) -> Vec<u8> {
        let mut out = Vec::new();
        Utf8::new(Trickle(bytes, at_once))
            .read_to_end(&mut out)
            .unwrap();
        out
    }

    #[test]
    fn both_orders_come_out_as_utf8_wherever_they_are_cut() {
        let text = "a µ 😀 z\r\n";
        let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for at_once in 1..9 {
            assert_eq!(read(&little, at_once), text.as_bytes(), "{at_once}");
            assert_eq!(read(&big, at_once), text.as_bytes(), "{at_once}");
        }
        // What is cut in the middle of a character ends in the sign for that.
        let cut = &little[..little.len() - 1];
        assert!(read(cut, 3).ends_with("\r\u{fffd}".as_bytes()));
    }

    #[test]
    fn anything_else_comes_through_as_it_is() {
        for bytes in [
            &b""[..],
            b"a",
            b"\xff",
            b"plain",
            b"\xef\xbb\xbfmark",
            b"\x00\xff",
        ] {
            for at_once in 1..4 {
                assert_eq!(read(bytes, at_once), bytes);
            }
        }
    }
}
