//! Events of programs in a trace of Perfetto, put together to slices.
//!
//! A beginning and its end are two events of the same track. Both come from the same sequence as a rule, in their order;
//! where another sequence ends a slice, the order in the file says nothing, and times decide at the end.

use super::state::{InternedTable, PacketSequence, number_of};
use super::tracks::DescribedTracks;
use crate::Imported;
use crate::amd::common::EventWriter;
use crate::amd::rocprof_perfetto::{self, RocprofSlice};
use crate::chrome::{HOST_OPERATOR, category_kind};
use crate::reading::protobuf::{FieldValue, Fields};
use crate::records::slice_buffer::KeyNumbers;
use powerband_core::domain::slice_args::ArgsText;
use powerband_core::domain::trace::{Names, Slice, Trace};

/// Types of events.
const BEGIN: u64 = 1;
const END: u64 = 2;
const COUNTER: u64 = 4;

/// Slices on their way into an import.
pub(super) struct PerfettoSlices<'a> {
    keeps_args: bool,
    pub texts: Names,
    pub tracks: DescribedTracks,
    /// Those of AMD's profilers, which know their devices.
    amd: EventWriter<'a>,
    tool: &'static str,
    /// All others.
    trace: Trace,
    /// Their tracks: number in the file, and whether it is one of a device.
    placed: KeyNumbers<(u64, bool)>,
    /// Sequences with their tracks, and what has begun on each.
    writers: KeyNumbers<(u64, u64)>,
    open: Vec<Vec<OpenSlice>>,
    /// Ends whose beginning is in another sequence, with their tracks.
    lone_ends: Vec<(u64, i64)>,
    first_pid: Option<u64>,
    backwards: u64,
    unpaired: u64,
    instants: u64,
    counters: u64,
}

/// A slice that has begun.
struct OpenSlice {
    start_ns: i64,
    name: u32,
    category: u32,
    pid: Option<u64>,
    args: ArgsText,
}

/// The fields of an event that matter.
#[derive(Default)]
struct RawTrackEvent<'a> {
    kind: u64,
    name: Option<FieldValue<'a>>,
    category: Option<FieldValue<'a>>,
    track: Option<u64>,
    /// Of events as Chrome wrote them before.
    legacy: &'a [u8],
    time_us: Option<u64>,
}

impl<'a> RawTrackEvent<'a> {
    fn parse(message: &'a [u8]) -> Self {
        let mut event = Self::default();
        for (field, value) in Fields::new(message) {
            match field {
                3 | 22 if event.category.is_none() => event.category = Some(value),
                6 => event.legacy = value.bytes(),
                9 => event.kind = value.number(),
                10 | 23 => event.name = Some(value),
                11 => event.track = Some(value.number()),
                16 => event.time_us = Some(value.number()),
                _ => {}
            }
        }
        event
    }
}

impl<'a> PerfettoSlices<'a> {
    pub(super) fn new(keeps_args: bool, into: &'a mut Imported) -> Self {
        Self {
            keeps_args,
            texts: Names::default(),
            tracks: DescribedTracks::default(),
            amd: EventWriter::new(into),
            tool: "Perfetto",
            trace: Trace::default(),
            placed: KeyNumbers::default(),
            writers: KeyNumbers::default(),
            open: Vec::new(),
            lone_ends: Vec::new(),
            first_pid: None,
            backwards: 0,
            unpaired: 0,
            instants: 0,
            counters: 0,
        }
    }

    /// Takes an event of a sequence and a process in; false where it has no time.
    pub(super) fn take(
        &mut self,
        sequence: &PacketSequence,
        (id, pid): (u64, Option<u64>),
        time_ns: Option<i64>,
        message: &[u8],
    ) -> bool {
        let event = RawTrackEvent::parse(message);
        let track = event.track.or(sequence.track).unwrap_or_default();
        let legacy_ns = event.time_us.map(|us| (us as i64).saturating_mul(1000));
        let Some(time_ns) = time_ns.or(legacy_ns) else {
            return false;
        };
        let phase = u8::try_from(number_of(event.legacy, 2)).unwrap_or_default();
        match (event.kind, phase) {
            (BEGIN, _) | (0, b'B' | b'X') => {
                let begun = self.begun(sequence, &event, message, time_ns, pid);
                if phase == b'X' {
                    let took_us = number_of(event.legacy, 3) as i64;
                    let end_ns = time_ns.saturating_add(took_us.saturating_mul(1000));
                    self.push(&begun, track, end_ns);
                } else {
                    self.open_slices(id, track).push(begun);
                }
            }
            (END, _) | (0, b'E') => match self.open_slices(id, track).pop() {
                Some(mut begun) => {
                    if self.keeps_args {
                        write_args(message, sequence, &self.texts, &mut begun.args);
                    }
                    self.push(&begun, track, time_ns);
                }
                None => self.lone_ends.push((track, time_ns)),
            },
            (COUNTER, _) => self.counters += 1,
            _ => self.instants += 1,
        }
        true
    }

    fn begun(
        &mut self,
        sequence: &PacketSequence,
        event: &RawTrackEvent<'_>,
        message: &[u8],
        start_ns: i64,
        pid: Option<u64>,
    ) -> OpenSlice {
        let text = |value: Option<FieldValue<'_>>, table: InternedTable, texts: &mut Names| {
            let Some(FieldValue::Varint(number)) = value else {
                return texts.number(&value.map(FieldValue::text).unwrap_or_default());
            };
            sequence.number(table, number)
        };
        let category = text(event.category, InternedTable::Categories, &mut self.texts);
        let is_amd = rocprof_perfetto::kind(self.texts.get(category)).is_some();
        let mut args = ArgsText::default();
        if self.keeps_args || is_amd {
            write_args(message, sequence, &self.texts, &mut args);
        }
        OpenSlice {
            start_ns,
            name: text(event.name, InternedTable::EventNames, &mut self.texts),
            category,
            pid,
            args,
        }
    }

    /// What has begun on a track, of what a sequence wrote.
    fn open_slices(&mut self, sequence: u64, track: u64) -> &mut Vec<OpenSlice> {
        let place = self.writers.number((sequence, track)) as usize;
        if place >= self.open.len() {
            self.open.resize_with(place + 1, Vec::new);
        }
        &mut self.open[place]
    }

    fn push(&mut self, begun: &OpenSlice, track: u64, end_ns: i64) {
        self.backwards += u64::from(end_ns < begun.start_ns);
        let end_ns = end_ns.max(begun.start_ns);
        let category = self.texts.get(begun.category);
        let name = self.texts.get(begun.name);
        if let Some(kind) = rocprof_perfetto::kind(category) {
            self.tool = rocprof_perfetto::tool(category);
            self.first_pid = self.first_pid.or(begun.pid);
            let slice = RocprofSlice {
                kind,
                name,
                args: &begun.args,
                track: self.tracks.name(track),
                thread: self.tracks.thread(track),
                process: begun.pid,
                is_later_process: begun.pid != self.first_pid,
                start_ns: begun.start_ns,
                end_ns,
            };
            if slice.write(&mut self.amd) && self.keeps_args {
                self.amd.put_args(&begun.args);
            }
            return;
        }
        let (kind, is_device) = category_kind(category.as_bytes()).unwrap_or(HOST_OPERATOR);
        let place = self.placed.number((track, is_device));
        let name = self.trace.names.number(name);
        let took_ns = end_ns.abs_diff(begun.start_ns);
        let slice = Slice::new(kind, name, place, begun.start_ns, took_ns);
        self.trace.push_with(slice, &begun.args);
    }

    /// Joins what began in one sequence and ended in another, by time.
    fn join_sequences(&mut self) {
        let mut ends: Vec<(u64, i64, Option<OpenSlice>)> = Vec::new();
        let open = std::mem::take(&mut self.open);
        for ((_, track), open) in self.writers.keys().iter().zip(open) {
            let begun = open.into_iter();
            ends.extend(begun.map(|begun| (*track, begun.start_ns, Some(begun))));
        }
        let lone_ends = std::mem::take(&mut self.lone_ends);
        ends.extend(lone_ends.into_iter().map(|(track, at)| (track, at, None)));
        ends.sort_by_key(|(track, at, begun)| (*track, *at, begun.is_none()));
        let mut open: Vec<(u64, OpenSlice)> = Vec::new();
        for (track, at, begun) in ends {
            let is_other = open.last().is_some_and(|(other, _)| *other != track);
            if is_other {
                self.unpaired += open.len() as u64;
                open.clear();
            }
            match begun {
                Some(begun) => open.push((track, begun)),
                None => match open.pop() {
                    Some((_, begun)) => self.push(&begun, track, at),
                    None => self.unpaired += 1,
                },
            }
        }
        self.unpaired += open.len() as u64;
    }

    /// Events that are no slices.
    pub(super) fn left_out(&self) -> [(&'static str, u64); 2] {
        [("counters", self.counters), ("instants", self.instants)]
    }

    /// Names the tracks and hands everything over.
    pub(super) fn finish(mut self, file: &str) -> &'a mut Imported {
        self.join_sequences();
        let placed = self.placed.keys().iter();
        let titled = placed.map(|(number, is_device)| self.tracks.titled(*number, *is_device));
        self.trace.tracks = titled.collect();
        let into = self.amd.finish_into(file);
        into.name_tool(self.tool);
        drop(into.trace.append(self.trace));
        let fate = "had the end before the beginning; counted as taking no time";
        into.note_some(self.backwards, "event", file, fate);
        let fate = "had a beginning without an end, or an end without a beginning; left out";
        into.note_some(self.unpaired, "event", file, fate);
        into
    }
}

/// Adds the arguments of an event. Those that are lists or dictionaries are left out.
fn write_args(message: &[u8], sequence: &PacketSequence, texts: &Names, args: &mut ArgsText) {
    for (_, annotation) in Fields::new(message).filter(|(field, _)| *field == 4) {
        let (mut key, mut value) = (FieldValue::Varint(0), (0, FieldValue::Varint(0)));
        for (field, found) in Fields::new(annotation.bytes()) {
            match field {
                1 | 10 => key = found,
                _ => value = (field, found),
            }
        }
        let key = match key {
            FieldValue::Varint(number) => {
                sequence.text(InternedTable::ArgNames, number, texts).into()
            }
            key => key.text(),
        };
        match value {
            (2, found) => args.add(&key, if found.number() == 0 { "false" } else { "true" }),
            (3, found) => args.add(&key, &found.number().to_string()),
            (4, found) => args.add(&key, &(found.number() as i64).to_string()),
            (5, found) => args.add(&key, &f64::from_bits(found.number()).to_string()),
            (6 | 9, found) => args.add(&key, &found.text()),
            (7, found) => args.add(&key, &format!("{:#x}", found.number())),
            (17, found) => {
                args.add(
                    &key,
                    sequence.text(InternedTable::ArgTexts, found.number(), texts),
                );
            }
            _ => {}
        }
    }
}
