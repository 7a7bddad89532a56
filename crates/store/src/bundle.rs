//! Sessions with their timelines as one run of bytes: what the page of a result has in it.
//!
//! A line of JSON says how long each part is; the parts follow.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::packed_json;
use powerband_core::domain::session::Session;

/// Sessions and timelines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    pub sessions: Vec<Session>,
    /// Timelines as `packed_trace` packs them, by the names that the sessions call them.
    pub timelines: BTreeMap<String, Vec<u8>>,
}

/// How long each part is.
#[derive(Debug, Serialize, Deserialize)]
struct PartLengths {
    sessions: Vec<usize>,
    timelines: Vec<(String, usize)>,
}

impl Bundle {
    /// All of it as bytes.
    pub fn pack(&self) -> io::Result<Vec<u8>> {
        let packed = self.sessions.iter().map(packed_json::pack);
        let packed = packed.collect::<io::Result<Vec<_>>>()?;
        let timelines = self.timelines.iter();
        let lengths = PartLengths {
            sessions: packed.iter().map(Vec::len).collect(),
            timelines: timelines
                .map(|(name, bytes)| (name.clone(), bytes.len()))
                .collect(),
        };
        let mut bytes = serde_json::to_vec(&lengths)?;
        bytes.push(b'\n');
        for part in packed.iter().chain(self.timelines.values()) {
            bytes.extend_from_slice(part);
        }
        Ok(bytes)
    }

    /// What was packed; an error where the bytes were cut or are something else.
    pub fn unpack(bytes: &[u8]) -> io::Result<Self> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the sessions are damaged");
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (head, mut rest) = bytes
            .split_at_checked(end.ok_or_else(damaged)?)
            .ok_or_else(damaged)?;
        rest = rest.get(1..).unwrap_or_default();
        let lengths: PartLengths = serde_json::from_slice(head)?;
        let mut bundle = Self::default();
        let mut next = |length: usize| {
            let (part, after) = rest.split_at_checked(length).ok_or_else(damaged)?;
            rest = after;
            Ok::<_, io::Error>(part)
        };
        for length in lengths.sessions {
            bundle.sessions.push(packed_json::unpack(next(length)?)?);
        }
        for (name, length) in lengths.timelines {
            bundle.timelines.insert(name, next(length)?.to_vec());
        }
        Ok(bundle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples;

    #[test]
    fn a_bundle_comes_back_and_a_cut_one_does_not() {
        let sessions = examples::ALL.iter().map(|one| one.open().unwrap().session);
        let bundle = Bundle {
            sessions: sessions.collect(),
            timelines: BTreeMap::from([("a.1".to_owned(), vec![1, 10, 200])]),
        };
        let bytes = bundle.pack().unwrap();
        assert!(Bundle::unpack(&bytes).unwrap() == bundle);
        for length in [0, 3, 40, bytes.len() - 1] {
            assert!(Bundle::unpack(&bytes[..length]).is_err(), "{length}");
        }
        let empty = Bundle::default().pack().unwrap();
        assert!(Bundle::unpack(&empty).unwrap() == Bundle::default());
    }
}
