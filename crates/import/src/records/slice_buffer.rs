//! Slices on their way from a database into a trace, while their names and tracks are still numbers
//! of the database.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::reading::read_progress::ReadProgress;
use crate::reading::rows::{Base, Cells, Query};
use crate::reading::source::Source;
use crate::{ImportError, Imported};
use powerband_core::domain::trace::{Names, Slice, SliceKind, Trace, Track};

/// A fast hash for numbers of the file itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(part) {
                *to = *from;
            }
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_i64(&mut self, value: i64) {
        self.write_u64(value as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// A table of numbers.
pub type Table<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Keys, each with a number in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Keyed<K> {
    last: Option<(K, u32)>,
    places: Table<K, u32>,
    list: Vec<K>,
}

impl<K> Default for Keyed<K> {
    fn default() -> Self {
        Self {
            last: None,
            places: Table::default(),
            list: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> Keyed<K> {
    /// The number of a key.
    pub(crate) fn number(&mut self, key: K) -> u32 {
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let number = *self.places.entry(key).or_insert_with(|| {
            self.list.push(key);
            self.list.len() as u32 - 1
        });
        self.last = Some((key, number));
        number
    }
}

/// More about a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Nothing.
    None,
    /// Blocks or work-items, and threads in each.
    Grid([i64; 3], [i64; 3]),
    /// Bytes that were moved.
    Bytes(i64),
}

impl Detail {
    /// The size of a launch, which stands in six columns from this one on; nothing where the first is empty.
    pub(crate) fn grid(row: &Cells<'_, '_>, first: usize) -> Self {
        let size = |place| row.int(first + place).unwrap_or(0);
        match row.int(first) {
            Some(x) => Self::Grid([x, size(1), size(2)], [size(3), size(4), size(5)]),
            None => Self::None,
        }
    }

    fn words(self) -> String {
        let times = |[x, y, z]: [i64; 3]| format!("{x}×{y}×{z}");
        match self {
            Self::None => String::new(),
            Self::Grid(grid, block) => format!("grid {}, block {}", times(grid), times(block)),
            Self::Bytes(1) => "1 byte".to_owned(),
            Self::Bytes(bytes) => format!("{bytes} bytes"),
        }
    }
}

/// Slices of one table, or of a stretch of it.
#[derive(Clone, Debug, Default)]
pub struct SliceBuffer {
    slices: Vec<Slice>,
    names: Keyed<i64>,
    tracks: Keyed<[i64; 3]>,
    details: Keyed<Detail>,
    /// Slices that end before they begin.
    pub backwards: u64,
}

/// A row as a database has it.
#[derive(Clone, Copy, Debug)]
pub struct Raw {
    /// What it is.
    pub kind: SliceKind,
    /// Its name's number in the database.
    pub name: i64,
    /// The identity of its track.
    pub track: [i64; 3],
    /// Start and end.
    pub times: (Option<i64>, Option<i64>),
    /// Its link.
    pub link: u64,
    /// More of it.
    pub detail: Detail,
}

impl Raw {
    /// A row that begins with start and end, and has the identity of its track in these columns.
    pub(crate) fn of(row: &Cells<'_, '_>, kind: SliceKind, name: i64, track: [usize; 2]) -> Self {
        let [first, second] = track.map(|column| row.int(column).unwrap_or(0));
        Self {
            kind,
            name,
            track: [first, second, 0],
            times: (row.int(0), row.int(1)),
            link: 0,
            detail: Detail::None,
        }
    }
}

/// The track of a stream or a queue of a device.
pub(crate) fn device_track(what: &str, [device, number, _]: [i64; 3]) -> Track {
    Track {
        device: u32::try_from(device).ok(),
        group: format!("GPU {device}"),
        name: format!("{what} {number}"),
    }
}

/// The track of a thread of a process.
pub(crate) fn thread_track([process, thread, _]: [i64; 3]) -> Track {
    Track {
        device: None,
        group: format!("process {process}"),
        name: format!("thread {thread}"),
    }
}

/// From the number of a name in a database to the name.
pub(crate) type Naming<'a> = dyn Fn(i64) -> String + 'a;
/// From the identity of a track to the track.
pub type Placing<'a> = dyn Fn([i64; 3]) -> Track + 'a;

impl SliceBuffer {
    /// Takes a row in; false where it has no times that make sense.
    pub fn push(&mut self, raw: &Raw) -> bool {
        let (Some(start), Some(end)) = raw.times else {
            return false;
        };
        let Some(duration) = end.checked_sub(start) else {
            return false;
        };
        self.backwards += u64::from(duration < 0);
        self.slices.push(Slice {
            kind: raw.kind,
            name: self.names.number(raw.name),
            track: self.tracks.number(raw.track),
            start_ns: start,
            duration_ns: duration.max(0) as u64,
            link: raw.link,
            op: 0,
            detail: self.details.number(raw.detail),
        });
        true
    }

    /// How many slices there are.
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// Puts the slices into a trace.
    pub fn pour(self, name: &Naming<'_>, place: &Placing<'_>, trace: &mut Trace) {
        let names: Vec<u32> = (self.names.list.iter())
            .map(|id| trace.names.number(&name(*id)))
            .collect();
        let tracks: Vec<u32> = (self.tracks.list.iter())
            .map(|key| trace.track(place(*key)))
            .collect();
        let details: Vec<u32> = (self.details.list.iter())
            .map(|detail| trace.names.number(&detail.words()))
            .collect();
        let at = |list: &[u32], number: u32| list.get(number as usize).copied().unwrap_or_default();
        for slice in self.slices {
            trace.push(Slice {
                name: at(&names, slice.name),
                track: at(&tracks, slice.track),
                detail: at(&details, slice.detail),
                ..slice
            });
        }
    }
}

/// Reads a table into a trace, and returns its number of slices.
pub fn take(
    base: &Base<'_>,
    watch: &ReadProgress<'_>,
    query: &Query<'_>,
    words: (&Naming<'_>, &Placing<'_>),
    into: &mut Imported,
    each: impl Fn(&mut SliceBuffer, &Cells<'_, '_>) -> bool + Sync,
) -> Result<usize, ImportError> {
    let (lanes, seen) = base.parts(query, watch, each)?;
    seen.tell(query.table, base.source, into);
    let backwards = lanes.iter().map(|lane| lane.backwards).sum();
    tell_backwards(backwards, query.table, base.source, into);
    let count = lanes.iter().map(SliceBuffer::len).sum();
    for lane in lanes {
        lane.pour(words.0, words.1, &mut into.trace);
    }
    Ok(count)
}

/// Reads a table whose names stand in its rows into a trace, row by row.
pub(crate) fn take_named(
    base: &Base<'_>,
    watch: &ReadProgress<'_>,
    query: &Query<'_>,
    place: &Placing<'_>,
    into: &mut Imported,
    mut each: impl FnMut(&mut SliceBuffer, &mut Names, &Cells<'_, '_>) -> bool,
) -> Result<(), ImportError> {
    let (mut lane, mut names) = (SliceBuffer::default(), Names::default());
    let seen = base.each(query, watch, |row| each(&mut lane, &mut names, row))?;
    seen.tell(query.table, base.source, into);
    tell_backwards(lane.backwards, query.table, base.source, into);
    let name = |id: i64| u32::try_from(id).map_or("", |id| names.get(id)).to_owned();
    lane.pour(&name, place, &mut into.trace);
    Ok(())
}

/// Notes how many rows end before they begin.
fn tell_backwards(count: u64, table: &str, source: &Source, into: &mut Imported) {
    let of = format!("{table} in {}", source.name());
    let fate = "had the end before the beginning; counted as 0 ns";
    into.note_some(count, "row", &of, fate);
}

/// Values by the number of their row; most files count without gaps.
#[derive(Clone, Debug)]
pub(crate) struct ById<T> {
    rows: Vec<(i64, T)>,
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl ById<String> {
    /// A table of numbers and texts.
    pub(crate) fn read(
        base: &Base<'_>,
        watch: &ReadProgress<'_>,
        table: &str,
        columns: [&str; 2],
        into: &mut Imported,
    ) -> Result<Self, ImportError> {
        let mut found = Vec::new();
        let seen = base.each(&Query::all(table, &columns), watch, |row| {
            let text = row.text(1).map(|text| text.into_owned());
            found.extend(row.int(0).map(|id| (id, text.unwrap_or_default())));
            true
        })?;
        seen.tell(table, base.source, into);
        Ok(Self::new(found))
    }
}

impl<T> ById<T> {
    /// Takes values in, in any order; of two with the same number the first one counts.
    pub(crate) fn new(mut rows: Vec<(i64, T)>) -> Self {
        if !rows.is_sorted_by_key(|row| row.0) {
            rows.sort_by_key(|row| row.0);
        }
        Self { rows }
    }

    /// The value with a number.
    pub(crate) fn get(&self, id: i64) -> Option<&T> {
        let first = self.rows.first()?.0;
        let guess = usize::try_from(id.checked_sub(first)?).ok()?;
        if let Some((found, value)) = self.rows.get(guess)
            && *found == id
        {
            return Some(value);
        }
        let place = self.rows.partition_point(|row| row.0 < id);
        let (found, value) = self.rows.get(place)?;
        (*found == id).then_some(value)
    }

    /// Every number and value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(i64, T)> {
        self.rows.iter()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_gaps_are_found() {
        let rows = ById::new(vec![(7, 'c'), (2, 'a'), (3, 'b'), (i64::MAX, 'd')]);
        let found: Vec<Option<&char>> = [2, 3, 4, 7, i64::MAX, i64::MIN]
            .map(|id| rows.get(id))
            .to_vec();
        assert_eq!(
            found,
            [Some(&'a'), Some(&'b'), None, Some(&'c'), Some(&'d'), None]
        );
    }

    #[test]
    fn times_that_make_no_sense_are_told() {
        let mut lane = SliceBuffer::default();
        let mut push = |start, end| {
            lane.push(&Raw {
                kind: SliceKind::Kernel,
                name: 1,
                track: [0; 3],
                times: (start, end),
                link: 0,
                detail: Detail::None,
            })
        };
        assert!(push(Some(5), Some(9)));
        assert!(push(Some(9), Some(5)));
        assert!(!push(None, Some(5)));
        assert!(!push(Some(i64::MIN), Some(i64::MAX)));
        assert_eq!((lane.len(), lane.backwards), (2, 1));
    }
}
