//! Notes on an open trace, which one is edited, and whether they are kept.

use std::path::PathBuf;

use powerband_store::trace_notes::{Note, TraceNotes};

/// What the field of a note's text is called.
pub const NOTE: &str = "Text of the note";

/// Notes on an open trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notebook {
    /// The notes, the earliest first.
    pub notes: Vec<Note>,
    /// The one whose text is edited.
    pub editing: Option<usize>,
    /// Their file; nothing for a trace without one.
    pub path: Option<PathBuf>,
    /// Why they are not kept.
    pub trouble: Option<String>,
    /// Whether the file must not be written, because it could not be read.
    pub(crate) is_sealed: bool,
    /// Whether the file is being written.
    pub(crate) is_writing: bool,
    /// Whether something changed since that began.
    pub(crate) is_changed: bool,
}

impl Notebook {
    /// What was read beside a trace.
    pub(crate) fn from_notes(path: Option<PathBuf>, read: &Result<TraceNotes, String>) -> Self {
        let notes = read.as_ref().map(|read| read.notes.clone());
        let mut notes = notes.unwrap_or_default();
        notes.sort_by_key(|note| note.at_ns);
        Self {
            notes,
            path,
            trouble: read.as_ref().err().cloned(),
            is_sealed: read.is_err(),
            ..Self::default()
        }
    }

    /// Puts a note where its time belongs, and returns its place.
    pub(crate) fn add(&mut self, note: Note) -> usize {
        let place = self
            .notes
            .partition_point(|known| known.at_ns <= note.at_ns);
        self.notes.insert(place, note);
        place
    }

    /// The note after a time, or before it; the first or the last where there is none further on.
    pub(crate) fn next(&self, from_ns: f64, apart_ns: f64, forward: bool) -> Option<usize> {
        let middle = |note: &Note| {
            let (from, to) = note.times();
            f64::midpoint(from, to)
        };
        let all = self.notes.iter().enumerate();
        let mut sorted: Vec<(f64, usize)> =
            all.map(|(place, note)| (middle(note), place)).collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        let found = if forward {
            let mut later = sorted.iter();
            later
                .find(|(at, _)| *at > from_ns + apart_ns)
                .or_else(|| sorted.first())
        } else {
            let mut earlier = sorted.iter().rev();
            earlier
                .find(|(at, _)| *at < from_ns - apart_ns)
                .or_else(|| sorted.last())
        };
        found.map(|(_, place)| *place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(at_ns: i64) -> Note {
        Note {
            at_ns,
            ..Note::default()
        }
    }

    #[test]
    fn notes_stand_by_their_time_and_are_gone_through_in_turn() {
        let mut book = Notebook::default();
        assert_eq!(book.next(0.0, 1.0, true), None);
        assert_eq!(book.add(note(500)), 0);
        assert_eq!(book.add(note(100)), 0);
        assert_eq!(book.add(note(900)), 2);
        assert_eq!(book.next(100.0, 1.0, true), Some(1));
        assert_eq!(book.next(500.0, 1.0, false), Some(0));
        assert_eq!(book.next(900.0, 1.0, true), Some(0), "round again");
        assert_eq!(book.next(50.0, 1.0, false), Some(2));
    }
}
