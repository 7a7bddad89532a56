//! Files that are a list of messages of protobuf, read message by message.
//!
//! A length counts only once that many bytes were read, so one that is made up costs no memory.

use std::io::{self, BufRead, BufReader, Read as _};

use super::progress_reader::ProgressReader;
use super::protobuf::{FieldError, MOST_BYTES, MOST_DIGITS, WireKind, tag, varint};
use super::read_progress::ReadProgress;
use super::source::ImportSource;
use crate::{ImportError, Imported};

/// Read at once.
const CHUNK: usize = 1 << 18;

/// How a file of messages ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessagesEnd {
    /// With its last message.
    Complete,
    /// Within a message.
    Cut,
    /// At this byte is something that is no field.
    Damaged(u64),
}

impl MessagesEnd {
    /// Notes where the file breaks off, if it does.
    pub(crate) fn note(self, file: &str, into: &mut Imported) {
        match self {
            Self::Complete => {}
            Self::Cut => {
                into.is_cut_off = true;
                into.note_cut(file);
            }
            Self::Damaged(place) => into.note(format!(
                "{file} is damaged at byte {place}; what stands before that was read"
            )),
        }
    }
}

/// Calls `take` with each message of a file, with the number of its field.
pub(crate) fn read_messages(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    take: impl FnMut(u32, &[u8]),
) -> Result<MessagesEnd, ImportError> {
    let stream = ProgressReader::new(source.stream()?, watch);
    let mut bytes = BufReader::with_capacity(CHUNK, stream);
    match each_message(&mut bytes, take) {
        Ok(end) => Ok(end),
        Err(_) if bytes.get_ref().is_stopped => Err(ImportError::Cancelled),
        Err(error) if source.is_cut(&error) => Ok(MessagesEnd::Cut),
        Err(error) => Err(source.io(error)),
    }
}

fn each_message(
    bytes: &mut impl BufRead,
    mut take: impl FnMut(u32, &[u8]),
) -> io::Result<MessagesEnd> {
    let mut message = Vec::new();
    let mut place = 0;
    loop {
        let begin = place;
        if bytes.fill_buf()?.is_empty() {
            return Ok(MessagesEnd::Complete);
        }
        let header = match next_header(bytes, &mut place)? {
            Ok(header) => header,
            Err(FieldError::Cut) => return Ok(MessagesEnd::Cut),
            Err(FieldError::Malformed) => return Ok(MessagesEnd::Damaged(begin)),
        };
        let (field, length) = header;
        message.clear();
        // The memory grows with what comes.
        let read = bytes.by_ref().take(length).read_to_end(&mut message)?;
        place += read as u64;
        if (read as u64) < length {
            return Ok(MessagesEnd::Cut);
        }
        take(field, &message);
    }
}

/// The number of the field that comes next and the length of its message, which is what comes then. A number in place
/// of a message is passed over, as a message without content.
fn next_header(
    bytes: &mut impl BufRead,
    place: &mut u64,
) -> io::Result<Result<(u32, u64), FieldError>> {
    let mut number = || -> io::Result<Result<u64, FieldError>> {
        let mut digits = [0; MOST_DIGITS as usize];
        for n_digits in 0..digits.len() {
            let Some(&byte) = bytes.fill_buf()?.first() else {
                return Ok(Err(FieldError::Cut));
            };
            bytes.consume(1);
            *place += 1;
            digits[n_digits] = byte;
            if byte & 0x80 == 0 {
                return Ok(varint(&mut &digits[..=n_digits]));
            }
        }
        Ok(Err(FieldError::Malformed))
    };
    let header = match number()?.and_then(tag) {
        Ok((field, WireKind::Bytes)) => number()?.map(|length| (field, length)),
        Ok((field, WireKind::Varint)) => number()?.map(|_| (field, 0)),
        Ok((_, WireKind::Fixed64 | WireKind::Fixed32)) => Err(FieldError::Malformed),
        Err(error) => Err(error),
    };
    let is_short = |header: &(u32, u64)| header.1 <= MOST_BYTES;
    Ok(header.and_then(|header| Some(header).filter(is_short).ok_or(FieldError::Malformed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(bytes: &[u8]) -> (usize, MessagesEnd) {
        let mut count = 0;
        let end = each_message(&mut &bytes[..], |_, _| count += 1).unwrap();
        (count, end)
    }

    #[test]
    fn files_end_where_they_are_cut_or_damaged() {
        let list = b"\x0a\x02\x08\x01\x0a\x01\x08\x10\x05\x0a\0";
        assert_eq!(ends(list), (4, MessagesEnd::Complete));
        assert_eq!(ends(&list[..6]), (1, MessagesEnd::Cut));
        assert_eq!(ends(b""), (0, MessagesEnd::Complete));
        assert_eq!(ends(b"\x0a\0\x0b"), (1, MessagesEnd::Damaged(2)));
        let long = b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01";
        assert_eq!(ends(long), (0, MessagesEnd::Damaged(0)));
        assert_eq!(ends(&long[..4]), (0, MessagesEnd::Cut));
        assert_eq!(ends(b"\x0a\xff\xff\xff\xff\x07a"), (0, MessagesEnd::Cut));
    }
}
