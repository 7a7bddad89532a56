//! Slices on their way from a database into a trace, while their names and tracks are still numbers
//! of the database.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use super::args_plan::ArgsPlan;
use crate::reading::by_id::ById;
use crate::reading::read_progress::ReadProgress;
use crate::reading::rows::{Cells, OpenDatabase, Query};
use crate::reading::source::ImportSource;
use crate::{ImportError, Imported};
use powerband_core::domain::slice_args::{ArgsText, SliceArgs};
use powerband_core::domain::trace::{Names, Slice, SliceKind, Trace, Track};

/// A fast hash for numbers of the file itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct MixHasher(u64);

impl Hasher for MixHasher {
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

/// A hash map with the hasher above.
pub type MixMap<K, V> = HashMap<K, V, BuildHasherDefault<MixHasher>>;

/// Keys numbered in the order of their first use.
#[derive(Clone, Debug)]
pub(crate) struct KeyNumbers<K> {
    last: Option<(K, u32)>,
    places: MixMap<K, u32>,
    list: Vec<K>,
}

impl<K> Default for KeyNumbers<K> {
    fn default() -> Self {
        Self {
            last: None,
            places: MixMap::default(),
            list: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> KeyNumbers<K> {
    /// All keys, by their numbers.
    pub(crate) fn keys(&self) -> &[K] {
        &self.list
    }

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

/// Detail of a slice: the size of a launch, or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SliceDetail {
    None,
    /// Blocks or work-items, and threads in each.
    Grid([i64; 3], [i64; 3]),
    /// Bytes that were moved.
    Bytes(i64),
}

impl SliceDetail {
    /// The size of a launch, which stands in six columns from this one on; nothing where the first is empty.
    pub(crate) fn grid(row: &Cells<'_, '_>, first: usize) -> Self {
        let size = |place| row.int(first + place).unwrap_or(0);
        match row.int(first) {
            Some(x) => Self::Grid([x, size(1), size(2)], [size(3), size(4), size(5)]),
            None => Self::None,
        }
    }

    fn detail_text(self) -> String {
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
    names: KeyNumbers<i64>,
    tracks: KeyNumbers<[i64; 3]>,
    details: KeyNumbers<SliceDetail>,
    args: SliceArgs,
    text: ArgsText,
    /// Slices that end before they begin.
    pub backwards: u64,
}

/// A slice with names and tracks still as numbers of the database.
#[derive(Clone, Copy, Debug)]
pub struct RawSlice {
    pub kind: SliceKind,
    /// Its name's number in the database.
    pub name: i64,
    /// The identity of its track.
    pub track: [i64; 3],
    /// Start and end.
    pub times: (Option<i64>, Option<i64>),
    pub link: u64,
    /// More of it.
    pub detail: SliceDetail,
}

impl RawSlice {
    /// A row that begins with start and end, and has the identity of its track in these columns.
    pub(crate) fn from_row(
        row: &Cells<'_, '_>,
        kind: SliceKind,
        name: i64,
        track: [usize; 2],
    ) -> Self {
        let [first, second] = track.map(|column| row.int(column).unwrap_or(0));
        Self {
            kind,
            name,
            track: [first, second, 0],
            times: (row.int(0), row.int(1)),
            link: 0,
            detail: SliceDetail::None,
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
pub(crate) type NameLookup<'a> = dyn Fn(i64) -> String + 'a;
/// From the identity of a track to the track.
pub type TrackLookup<'a> = dyn Fn([i64; 3]) -> Track + 'a;

impl SliceBuffer {
    /// Takes a row in; false where it has no times that make sense.
    pub fn push(&mut self, raw: &RawSlice) -> bool {
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
            shapes: 0,
        });
        true
    }

    /// Gives the slice that was taken in last its arguments.
    fn put_args(&mut self, plan: &ArgsPlan<'_>, row: &Cells<'_, '_>) {
        plan.write(row, &mut self.text);
        self.args.put(self.slices.len() - 1, &self.text);
    }

    pub fn len(&self) -> usize {
        self.slices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// Adds the slices to a trace, with names and tracks looked up.
    pub fn write_into(self, name: &NameLookup<'_>, place: &TrackLookup<'_>, trace: &mut Trace) {
        let names: Vec<u32> = (self.names.list.iter())
            .map(|id| trace.names.number(&name(*id)))
            .collect();
        let tracks: Vec<u32> = (self.tracks.list.iter())
            .map(|key| trace.track(place(*key)))
            .collect();
        let details: Vec<u32> = (self.details.list.iter())
            .map(|detail| trace.names.number(&detail.detail_text()))
            .collect();
        let at = |list: &[u32], number: u32| list.get(number as usize).copied().unwrap_or_default();
        let count = self.slices.len();
        for slice in self.slices {
            trace.push(Slice {
                name: at(&names, slice.name),
                track: at(&tracks, slice.track),
                detail: at(&details, slice.detail),
                ..slice
            });
        }
        trace.append_args(&self.args, count);
    }
}

/// Reads a table into a trace, and returns its number of slices. Its other columns are the arguments of the
/// slices.
pub fn take(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    query: &Query<'_>,
    words: (&NameLookup<'_>, &TrackLookup<'_>),
    into: &mut Imported,
    each: impl Fn(&mut SliceBuffer, &Cells<'_, '_>) -> bool + Sync,
) -> Result<usize, ImportError> {
    take_with_texts(base, watch, query, &[], words, into, each)
}

/// The same where columns have numbers of texts: each with its column, what it is called, and the texts.
pub(crate) fn take_with_texts(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    query: &Query<'_>,
    texts: &[(&str, &str, &ById<String>)],
    words: (&NameLookup<'_>, &TrackLookup<'_>),
    into: &mut Imported,
    each: impl Fn(&mut SliceBuffer, &Cells<'_, '_>) -> bool + Sync,
) -> Result<usize, ImportError> {
    let known = base.columns(query.table);
    let columns = all_columns(query, &known);
    let plan = ArgsPlan::for_columns(&columns, texts);
    let query = Query {
        columns: &columns,
        ..*query
    };
    let (lanes, seen) = base.read_in_parallel(&query, watch, |lane: &mut SliceBuffer, row| {
        let before = lane.len();
        let is_read = each(lane, row);
        if lane.len() > before {
            lane.put_args(&plan, row);
        }
        is_read
    })?;
    seen.note_errors(query.table, base.source, into);
    let backwards = lanes.iter().map(|lane| lane.backwards).sum();
    note_backwards(backwards, query.table, base.source, into);
    let count = lanes.iter().map(SliceBuffer::len).sum();
    for lane in lanes {
        lane.write_into(words.0, words.1, &mut into.trace);
    }
    Ok(count)
}

/// Reads a table whose names stand in its rows into a trace, row by row.
pub(crate) fn take_named(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    query: &Query<'_>,
    place: &TrackLookup<'_>,
    into: &mut Imported,
    mut each: impl FnMut(&mut SliceBuffer, &mut Names, &Cells<'_, '_>) -> bool,
) -> Result<(), ImportError> {
    let (mut lane, mut names) = (SliceBuffer::default(), Names::default());
    let known = base.columns(query.table);
    let columns = all_columns(query, &known);
    let plan = ArgsPlan::for_columns(&columns, &[]);
    let query = Query {
        columns: &columns,
        ..*query
    };
    let seen = base.each(&query, watch, |row| {
        let before = lane.len();
        let is_read = each(&mut lane, &mut names, row);
        if lane.len() > before {
            lane.put_args(&plan, row);
        }
        is_read
    })?;
    seen.note_errors(query.table, base.source, into);
    note_backwards(lane.backwards, query.table, base.source, into);
    let name = |id: i64| u32::try_from(id).map_or("", |id| names.get(id)).to_owned();
    lane.write_into(&name, place, &mut into.trace);
    Ok(())
}

/// The columns that are asked for, and behind them those that the table has besides.
fn all_columns<'a>(query: &Query<'a>, known: &'a [String]) -> Vec<&'a str> {
    let rest = known.iter().map(String::as_str);
    let rest = rest.filter(|column| !query.columns.contains(column));
    query.columns.iter().copied().chain(rest).collect()
}

/// Notes how many rows end before they begin.
fn note_backwards(count: u64, table: &str, source: &ImportSource, into: &mut Imported) {
    let of = format!("{table} in {}", source.name());
    let fate = "had the end before the beginning; counted as 0 ns";
    into.note_some(count, "row", &of, fate);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_make_no_sense_are_told() {
        let mut lane = SliceBuffer::default();
        let mut push = |start, end| {
            lane.push(&RawSlice {
                kind: SliceKind::Kernel,
                name: 1,
                track: [0; 3],
                times: (start, end),
                link: 0,
                detail: SliceDetail::None,
            })
        };
        assert!(push(Some(5), Some(9)));
        assert!(push(Some(9), Some(5)));
        assert!(!push(None, Some(5)));
        assert!(!push(Some(i64::MIN), Some(i64::MAX)));
        assert_eq!((lane.len(), lane.backwards), (2, 1));
    }
}
