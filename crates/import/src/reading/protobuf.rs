//! Reads the fields of a protobuf message one by one, without copying and without recursion.
//!
//! A nested message is returned as bytes; the importer of the format decides whether to read it.

use std::borrow::Cow;
use std::iter;

/// No message is longer, whichever library writes it.
pub(super) const MOST_BYTES: u64 = (1 << 31) - 1;
/// A number has no more bytes than this.
pub(super) const MOST_DIGITS: u32 = 10;

/// Value of a field as it stands in the message; what the number is for, only the format knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValue<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// A text, a message, or a list of numbers.
    Bytes(&'a [u8]),
}

impl<'a> FieldValue<'a> {
    /// The number; 0 where it is none.
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Varint(number) | Self::Fixed64(number) => number,
            Self::Fixed32(number) => number.into(),
            Self::Bytes(_) => 0,
        }
    }

    /// The bytes; none where it is a number.
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Varint(_) | Self::Fixed64(_) | Self::Fixed32(_) => &[],
        }
    }

    /// The bytes as text.
    pub(crate) fn text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes())
    }
}

/// The fields of a message: each with its number, up to the end or to what cannot be a field.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    is_damaged: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self {
            rest: message,
            is_damaged: false,
        }
    }

    /// Whether it ended at what is no field.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// The next field; an error where what follows is none, and whether it might be if the message went on.
    fn next_field(&mut self) -> Result<(u32, FieldValue<'a>), FieldError> {
        let (field, kind) = tag(varint(&mut self.rest)?)?;
        let value = match kind {
            WireKind::Varint => FieldValue::Varint(varint(&mut self.rest)?),
            WireKind::Fixed64 => FieldValue::Fixed64(u64::from_le_bytes(self.array()?)),
            WireKind::Fixed32 => FieldValue::Fixed32(u32::from_le_bytes(self.array()?)),
            WireKind::Bytes => {
                let length = varint(&mut self.rest)?;
                if length > MOST_BYTES {
                    return Err(FieldError::Malformed);
                }
                let split = self.rest.split_at_checked(length as usize);
                let (bytes, rest) = split.ok_or(FieldError::Cut)?;
                self.rest = rest;
                FieldValue::Bytes(bytes)
            }
        };
        Ok((field, value))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FieldError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(FieldError::Cut)?;
        self.rest = rest;
        Ok(*bytes)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u32, FieldValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.is_damaged {
            return None;
        }
        let field = self.next_field();
        self.is_damaged = field.is_err();
        field.ok()
    }
}

/// The bytes of one field of a message; none where it has none. Of several the last one counts.
pub(crate) fn field_bytes(message: &[u8], wanted: u32) -> &[u8] {
    let fields = Fields::new(message).filter(|(field, _)| *field == wanted);
    fields.last().map_or(&[], |(_, value)| value.bytes())
}

/// The messages that a file begins with, each with the number of its field and as much of it as is there.
pub(crate) fn first_messages(beginning: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = beginning;
    iter::from_fn(move || {
        next_message(&mut rest)
            .ok()
            .map(|next| (next.field, next.bytes))
    })
}

/// Whether a file that begins so is a list of messages, of which the first one is field 1. Text is none: a message has
/// bytes that no text has. Damage behind the first message is a matter of reading.
pub(crate) fn is_message_list(beginning: &[u8]) -> bool {
    let mut rest = beginning;
    let Ok(first) = next_message(&mut rest) else {
        return false;
    };
    let mut fields = Fields::new(first.bytes);
    let mut each = iter::from_fn(|| (!fields.rest.is_empty()).then(|| fields.next_field()));
    let is_message = match each.find_map(Result::err) {
        None => true,
        Some(FieldError::Cut) => first.is_cut,
        Some(FieldError::Malformed) => false,
    };
    let has_no_text = |byte: &u8| matches!(byte, 0..=8 | 14..=26);
    first.field == 1 && is_message && beginning.iter().any(has_no_text)
}

/// A message of a file, of which only the beginning is there.
struct FirstMessage<'a> {
    field: u32,
    bytes: &'a [u8],
    is_cut: bool,
}

fn next_message<'a>(rest: &mut &'a [u8]) -> Result<FirstMessage<'a>, FieldError> {
    let (field, kind) = tag(varint(rest)?)?;
    let length = varint(rest)?;
    if kind != WireKind::Bytes || length > MOST_BYTES {
        return Err(FieldError::Malformed);
    }
    let is_cut = length > rest.len() as u64;
    let (bytes, after) = rest.split_at(rest.len().min(length as usize));
    *rest = after;
    Ok(FirstMessage {
        field,
        bytes,
        is_cut,
    })
}

/// How the bytes of a value are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireKind {
    Varint,
    Fixed64,
    Bytes,
    Fixed32,
}

/// Why something is no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldError {
    /// It does not end before the bytes do.
    Cut,
    Malformed,
}

/// The number of a field and the layout of its value.
pub(super) fn tag(tag: u64) -> Result<(u32, WireKind), FieldError> {
    let kind = match tag & 7 {
        0 => WireKind::Varint,
        1 => WireKind::Fixed64,
        2 => WireKind::Bytes,
        5 => WireKind::Fixed32,
        _ => return Err(FieldError::Malformed),
    };
    match u32::try_from(tag >> 3) {
        Ok(field @ 1..) => Ok((field, kind)),
        _ => Err(FieldError::Malformed),
    }
}

/// The number that some bytes begin with, seven bits a byte.
#[inline]
pub(super) fn varint(rest: &mut &[u8]) -> Result<u64, FieldError> {
    let mut number = 0;
    for digit in 0..MOST_DIGITS {
        let (byte, after) = rest.split_first().ok_or(FieldError::Cut)?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << (7 * digit);
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(FieldError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_with_their_numbers() {
        let message = b"\x08\x96\x01\x12\x03abc\x19\x01\0\0\0\0\0\0\0\x25\x02\0\0\0\xa2\x06\0";
        let fields: Vec<(u32, FieldValue<'_>)> = Fields::new(message).collect();
        let expected = [
            (1, FieldValue::Varint(150)),
            (2, FieldValue::Bytes(b"abc")),
            (3, FieldValue::Fixed64(1)),
            (4, FieldValue::Fixed32(2)),
            (100, FieldValue::Bytes(b"")),
        ];
        assert_eq!(fields, expected);
        assert_eq!(field_bytes(message, 2), b"abc");
    }

    #[test]
    fn what_is_no_field_ends_the_message() {
        let cases: [&[u8]; 8] = [
            // Numbers of eleven bytes, and one that does not end.
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x08\xff",
            // A length of 2^63, and one that is longer than what is there.
            b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
            b"\x0a\x05abc",
            // Field 0, a group, and half a number.
            b"\x02\0",
            b"\x0b\x0c",
            b"\x09\0\0",
        ];
        for bytes in cases {
            let mut fields = Fields::new(bytes);
            assert_eq!(fields.by_ref().count(), 0, "{bytes:?}");
            assert!(fields.is_damaged(), "{bytes:?}");
        }
        // The largest number has ten bytes.
        let largest = b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        let field = Fields::new(largest).next();
        assert_eq!(field, Some((1, FieldValue::Varint(u64::MAX))));
    }

    #[test]
    fn lists_of_messages_are_no_text() {
        assert!(is_message_list(b"\x0a\x02\x08\x01\x0a\x02\x08\x01"));
        assert!(is_message_list(b"\x0a\x7f\x08\x01\x12\x09/host:CPU"));
        assert!(is_message_list(b"\x0a\x02\x08\x01\x22\x02vm"));
        for other in [
            &b""[..],
            b"\n",
            b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
            b"\nName,Calls\na,1\n",
            b"\x0a\x05\0",
            b"\x08\x08\x12\x07pytorch\0",
            b"\x0a\x02\x0b\x01",
        ] {
            assert!(!is_message_list(other), "{other:?}");
        }
    }
}
