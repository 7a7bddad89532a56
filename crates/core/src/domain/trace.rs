//! A timeline: what ran where, from when and for how long, as a profiler saw it.
//!
//! Traces have millions of slices, so they are kept in columns and every name once.

use std::ops::Range;

pub use super::names::Names;
use super::slice_args::{ArgsText, MOST_TEXT, SliceArgs};

/// What a slice is. Times of different kinds lie over each other and are never added.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum SliceKind {
    /// Work of a network: a kernel on a device, or a node, a layer or an instruction of a runtime.
    Kernel,
    /// Memory copied.
    Copy,
    /// Memory set.
    Set,
    /// An operator of a framework, with the operators within it.
    Operator,
    /// A call into a driver or runtime: a launch, an allocation.
    Call,
    /// The host waits for a device.
    Wait,
    /// A stretch that a program or the user named: a step, a phase, a range.
    Range,
    /// A function of a script.
    Script,
    /// What the profiler itself cost.
    Overhead,
    /// Anything else.
    Other,
}

impl SliceKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Kernel,
        Self::Copy,
        Self::Set,
        Self::Operator,
        Self::Call,
        Self::Wait,
        Self::Range,
        Self::Script,
        Self::Overhead,
        Self::Other,
    ];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Copy => "copy",
            Self::Set => "set",
            Self::Operator => "operator",
            Self::Call => "call",
            Self::Wait => "wait",
            Self::Range => "range",
            Self::Script => "script",
            Self::Overhead => "overhead",
            Self::Other => "other",
        }
    }

    /// Whether it occupies a device, or the processor in place of one.
    #[inline]
    pub fn is_work(self) -> bool {
        matches!(self, Self::Kernel | Self::Copy | Self::Set)
    }

    /// Whether it only describes what runs: a named stretch lies over work and is none.
    pub fn is_annotation(self) -> bool {
        self == Self::Range
    }
}

/// A line of the timeline: a stream of a device, or a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Track {
    /// The device that it belongs to; nothing for a thread of the host.
    pub device: Option<u32>,
    /// The device or the process, in words.
    pub group: String,
    /// The stream, the queue or the thread, in words.
    pub name: String,
}

impl Track {
    /// Whether a slice of this kind keeps it busy: on a device work alone does, as in a profile's sums, and
    /// on a thread of the host whatever runs there.
    pub fn is_busy_with(&self, kind: SliceKind) -> bool {
        if self.device.is_some() {
            kind.is_work()
        } else {
            !kind.is_annotation()
        }
    }
}

/// One slice, as it is put in and taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// What it is.
    pub kind: SliceKind,
    /// Its name, by number.
    pub name: u32,
    /// Index of its track.
    pub track: u32,
    /// Start in nanoseconds, counted from wherever the file counts.
    pub start_ns: i64,
    /// Length in nanoseconds.
    pub duration_ns: u64,
    /// What a launch and what it launched have in common; 0 for nothing.
    pub link: u64,
    /// The operator that it carries out, by number; 0 where it is not known.
    pub op: u32,
    /// More of it, such as shapes or a grid, by number; 0 for nothing.
    pub detail: u32,
    /// Types and sizes of its inputs and outputs, by the number that [`Trace::shapes_number`] gave them; 0 where
    /// they were not recorded.
    pub shapes: u32,
}

impl Slice {
    /// A slice without links and details.
    pub fn new(kind: SliceKind, name: u32, track: u32, start_ns: i64, duration_ns: u64) -> Self {
        Self {
            kind,
            name,
            track,
            start_ns,
            duration_ns,
            link: 0,
            op: 0,
            detail: 0,
            shapes: 0,
        }
    }

    /// Where it ends.
    #[inline]
    pub fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add_unsigned(self.duration_ns)
    }
}

/// Memory that was taken or given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MemoryEvent {
    /// When, as slices count.
    pub at_ns: i64,
    /// The device; nothing for the host.
    pub device: Option<u32>,
    /// Bytes taken, below zero where they are given back.
    pub change: i64,
    /// Bytes in use afterwards, where the profiler reports it.
    pub total: Option<u64>,
    /// Index of the track of the thread that asked, where the profiler reports it.
    pub track: Option<u32>,
    /// The operator that asked, by number; 0 where it is not known.
    pub op: u32,
}

/// All times of a trace together stay below this, and all moments within as much of zero: a century and a
/// half in nanoseconds, so that no sum of them can be too large to be counted.
const MOST_NS: u64 = 1 << 62;

/// What ran where and when.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Names of everything.
    pub names: Names,
    /// Streams and threads.
    pub tracks: Vec<Track>,
    /// Memory, in the file's order.
    pub memory: Vec<MemoryEvent>,
    kinds: Vec<SliceKind>,
    name: Vec<u32>,
    track: Vec<u32>,
    start_ns: Vec<i64>,
    duration_ns: Vec<u64>,
    link: Vec<u64>,
    op: Vec<u32>,
    detail: Vec<u32>,
    shapes: Vec<u32>,
    /// Arguments with types and sizes, each combination once.
    shape_texts: Names,
    args: SliceArgs,
    spent_ns: u64,
    cut: u64,
}

impl Trace {
    /// The index of a track, a new one where there is none like it.
    pub fn track(&mut self, track: Track) -> u32 {
        let found = self.tracks.iter().position(|known| *known == track);
        found.unwrap_or_else(|| {
            self.tracks.push(track);
            self.tracks.len() - 1
        }) as u32
    }

    /// Takes a slice in. Times that no run can have, as damaged files have them, are cut.
    #[inline]
    pub fn push(&mut self, slice: Slice) {
        let start_ns = slice.start_ns.clamp(-(MOST_NS as i64), MOST_NS as i64);
        let duration_ns = slice.duration_ns.min(MOST_NS - self.spent_ns);
        self.spent_ns += duration_ns;
        self.cut += u64::from((start_ns, duration_ns) != (slice.start_ns, slice.duration_ns));
        self.kinds.push(slice.kind);
        self.name.push(slice.name);
        self.track.push(slice.track);
        self.start_ns.push(start_ns);
        self.duration_ns.push(duration_ns);
        self.link.push(slice.link);
        self.op.push(slice.op);
        self.detail.push(slice.detail);
        self.shapes.push(slice.shapes);
    }

    /// The same with its arguments.
    pub fn push_with(&mut self, slice: Slice, args: &ArgsText) {
        self.push(slice);
        self.put_args(args);
    }

    /// Gives the slice that was taken in last its arguments.
    pub fn put_args(&mut self, args: &ArgsText) {
        if let Some(last) = self.len().checked_sub(1) {
            self.args.put(last, args);
        }
    }

    /// Arguments of slices that are the last ones that were taken in, in their order.
    pub fn append_args(&mut self, args: &SliceArgs, count: usize) {
        self.args.append(args, self.len() - count.min(self.len()));
    }

    /// The arguments of all slices.
    pub fn args(&self) -> &SliceArgs {
        &self.args
    }

    /// The number of arguments with types and sizes; 0 where there are none, or no room for them.
    pub fn shapes_number(&mut self, args: &str) -> u32 {
        if self.shape_texts.bytes() > MOST_TEXT {
            return self.shape_texts.find(args).unwrap_or_default();
        }
        self.shape_texts.number(args)
    }

    /// Arguments with types and sizes, by their number.
    pub fn shapes(&self, number: u32) -> &str {
        self.shape_texts.get(number)
    }

    /// How many of these there are, with the empty one.
    pub(crate) fn n_shape_texts(&self) -> usize {
        self.shape_texts.len()
    }

    /// Whether types and sizes of any slice were recorded.
    pub fn has_shapes(&self) -> bool {
        !self.shape_texts.is_empty()
    }

    /// How many slices had times that no run can have.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// How many slices there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// A slice by its index, which has to be below [`Self::len`].
    #[inline]
    pub fn slice(&self, index: usize) -> Slice {
        Slice {
            kind: self.kinds[index],
            name: self.name[index],
            track: self.track[index],
            start_ns: self.start_ns[index],
            duration_ns: self.duration_ns[index],
            link: self.link[index],
            op: self.op[index],
            detail: self.detail[index],
            shapes: self.shapes[index],
        }
    }

    /// Every slice, in the file's order.
    #[inline]
    pub fn slices(&self) -> impl ExactSizeIterator<Item = Slice> + '_ {
        (0..self.len()).map(|index| self.slice(index))
    }

    /// What kind each slice is, to look for one kind.
    pub fn kinds(&self) -> &[SliceKind] {
        &self.kinds
    }

    /// The operator that a slice carries out, by number.
    pub fn op(&self, index: usize) -> u32 {
        self.op[index]
    }

    /// Makes a slice another kind.
    pub fn set_kind(&mut self, index: usize, kind: SliceKind) {
        self.kinds[index] = kind;
    }

    /// Names the operator that a slice carries out.
    pub fn set_op(&mut self, index: usize, op: u32) {
        self.op[index] = op;
    }

    /// Moves some slices in time: where each begins and where it ends.
    pub fn map_times(&mut self, slices: Range<usize>, time: &dyn Fn(i64) -> i64) {
        let limit = MOST_NS as i64;
        for index in slices {
            let slice = self.slice(index);
            let [start_ns, end_ns] =
                [slice.start_ns, slice.end_ns()].map(|at| time(at).clamp(-limit, limit));
            self.start_ns[index] = start_ns;
            self.duration_ns[index] = end_ns.saturating_sub(start_ns).max(0) as u64;
        }
    }

    /// Moves everything in time.
    pub fn shift(&mut self, by_ns: i64) {
        if by_ns == 0 {
            return;
        }
        self.map_times(0..self.len(), &|time_ns| time_ns.saturating_add(by_ns));
        for event in &mut self.memory {
            event.at_ns = event.at_ns.saturating_add(by_ns);
        }
    }

    /// Makes links others than those of traces that have another number, so that all of them can be in one.
    pub fn set_links_apart(&mut self, number: u64) {
        // An odd factor spreads numbers over all bits, and links are small or spread themselves.
        let mask = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for link in &mut self.link {
            if *link != 0 {
                *link ^= mask;
            }
        }
    }

    /// Leaves out what began before a moment.
    pub fn from(&self, moment_ns: i64) -> Self {
        let mut later = Self {
            names: self.names.clone(),
            tracks: self.tracks.clone(),
            shape_texts: self.shape_texts.clone(),
            ..Self::default()
        };
        for (index, slice) in self.slices().enumerate() {
            if slice.start_ns >= moment_ns {
                later.push_with(slice, &self.args.text_of(index));
            }
        }
        let memory = self.memory.iter().filter(|event| event.at_ns >= moment_ns);
        later.memory.extend(memory);
        later
    }

    /// The first start and the last end; nothing where there is no slice.
    pub fn extent(&self) -> Option<(i64, i64)> {
        let ends = self.start_ns.iter().zip(&self.duration_ns);
        let first = self.start_ns.iter().copied().min()?;
        let last = ends
            .map(|(start, length)| start.saturating_add_unsigned(*length))
            .max()?;
        Some((first, last))
    }

    /// The same of slices and memory events together: a timeline counts from the first of these.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let memory = self.memory.iter().map(|event| event.at_ns);
        let of_memory = memory.clone().min().zip(memory.max());
        match (self.extent(), of_memory) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        }
    }

    /// Makes slices another kind where a test says so.
    pub fn relabel(&mut self, kind: SliceKind, test: impl Fn(&Slice, &[Track]) -> bool) {
        for index in 0..self.len() {
            if test(&self.slice(index), &self.tracks) {
                self.kinds[index] = kind;
            }
        }
    }

    /// Takes another trace in, which counts its time from the same point. Its numbers of names and tracks
    /// become others, and what is returned knows which. A trace that has nothing yet becomes the other one.
    pub fn append(&mut self, other: Self) -> NumberMapping {
        let has_nothing = self.is_empty()
            && self.memory.is_empty()
            && self.names.is_empty()
            && self.tracks.is_empty();
        if has_nothing {
            *self = other;
            return NumberMapping::default();
        }
        let names = (0..other.names.len() as u32)
            .map(|number| self.names.number(other.names.get(number)))
            .collect();
        let shapes = (0..other.shape_texts.len() as u32)
            .map(|number| self.shapes_number(other.shapes(number)))
            .collect();
        let tracks = other
            .tracks
            .iter()
            .map(|track| self.track(track.clone()))
            .collect();
        let numbers = NumberMapping {
            by_old: Some([names, tracks, shapes]),
        };
        let before = self.len();
        for slice in other.slices() {
            self.push(numbers.slice(slice));
        }
        self.args.append(&other.args, before);
        let memory = other.memory.iter().map(|event| numbers.memory(*event));
        self.memory.extend(memory);
        numbers
    }
}

/// What the names and tracks of a trace became in another one.
#[derive(Clone, Debug, Default)]
pub struct NumberMapping {
    /// The new numbers of names, of tracks and of shapes, by the old ones; nothing where they stayed what they were.
    by_old: Option<[Vec<u32>; 3]>,
}

impl NumberMapping {
    /// A slice of the one as a slice of the other.
    pub fn slice(&self, slice: Slice) -> Slice {
        Slice {
            name: self.name(slice.name),
            op: self.name(slice.op),
            detail: self.name(slice.detail),
            track: self.track(slice.track),
            shapes: self.new_number(2, slice.shapes),
            ..slice
        }
    }

    fn memory(&self, event: MemoryEvent) -> MemoryEvent {
        MemoryEvent {
            op: self.name(event.op),
            track: event.track.map(|track| self.track(track)),
            ..event
        }
    }

    fn name(&self, old: u32) -> u32 {
        self.new_number(0, old)
    }

    fn track(&self, old: u32) -> u32 {
        self.new_number(1, old)
    }

    fn new_number(&self, of_what: usize, old: u32) -> u32 {
        self.by_old.as_ref().map_or(old, |lists| {
            lists[of_what]
                .get(old as usize)
                .copied()
                .unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(name: &str, start_ns: i64) -> Trace {
        let mut trace = Trace::default();
        let track = trace.track(Track {
            device: Some(0),
            group: "GPU 0".to_owned(),
            name: "stream 7".to_owned(),
        });
        let name = trace.names.number(name);
        trace.push(Slice::new(SliceKind::Kernel, name, track, start_ns, 10));
        trace
    }

    #[test]
    fn names_and_tracks_are_kept_once() {
        let mut one = trace("conv", 5);
        one.append(trace("gemm", 20));
        one.append(trace("conv", 40));
        assert_eq!((one.names.len(), one.tracks.len(), one.len()), (3, 1, 3));
        let names: Vec<&str> = one
            .slices()
            .map(|slice| one.names.get(slice.name))
            .collect();
        assert_eq!(names, ["conv", "gemm", "conv"]);
        assert_eq!(one.extent(), Some((5, 50)));
    }
}
