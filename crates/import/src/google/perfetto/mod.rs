//! Traces of Perfetto in their binary form (`.pftrace`, `.perfetto-trace`), as rocprofv3, ROCm Systems Profiler, Chrome
//! and every program with Perfetto's library write them.
//!
//! A trace is a list of packets. Each belongs to a sequence, whose packets leave texts, defaults and clocks to the ones
//! behind them. The slices of programs are read; what other sources record, such as ftrace, is counted and left out.

mod slices;
mod state;
#[cfg(test)]
mod tests;
mod tracks;

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::ZlibDecoder;
use rustc_hash::FxHashMap;

use crate::reading::head::FileHead;
use crate::reading::messages;
use crate::reading::protobuf::{self, FieldValue, Fields};
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::records::nesting;
use crate::{Format, ImportError, Imported};
use slices::PerfettoSlices;
use state::{PacketSequence, TraceClocks};

/// Packets in one that is packed are no more bytes than this.
const MOST_UNPACKED: u64 = 64 << 20;
/// Fields of packets that describe the trace and hold nothing of what ran.
const ABOUT_TRACE: [u32; 25] = [
    2, 3, 33, 34, 35, 36, 43, 44, 45, 46, 51, 67, 69, 72, 78, 79, 82, 87, 89, 98, 107, 124, 126,
    128, 130,
];
/// What other packets hold, by their fields.
#[rustfmt::skip]
const OTHER_SOURCES: [(u32, &str); 12] = [
    (1, "ftrace"), (7, "statistics of the system"), (9, "statistics of processes"),
    (37, "heap profiles"), (38, "power"), (40, "power"), (39, "logs"), (52, "GPU counters"),
    (53, "GPU stages"), (54, "sampled stacks"), (66, "sampled stacks"), (133, "packets in zstd"),
];
/// All others.
const OTHER_SOURCE: &str = "other sources";

/// `rocprofv3 --output-format pftrace`, and Perfetto's own recorder.
pub(crate) const FORMAT: Format = Format {
    id: "perfetto",
    title: "a trace of Perfetto",
    tool: "",
    name_ends: &[],
    recognises,
    read,
};

/// Its packets have a sequence, a time or a marker, which lists of other messages do not have in these fields.
fn recognises(head: &FileHead) -> bool {
    let mut packets = protobuf::first_messages(head.messages().unwrap_or_default());
    packets.any(|(field, packet)| {
        let mut fields = Fields::new(packet);
        field == 1
            && fields.any(|(field, value)| {
                matches!(
                    (field, value),
                    (3 | 8 | 10, FieldValue::Varint(_)) | (36 | 50, FieldValue::Bytes(_))
                )
            })
    })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let limits = source.limits();
    let mut trace = PerfettoTrace {
        slices: PerfettoSlices::new(limits.keeps_args, into),
        sequences: FxHashMap::default(),
        clocks: TraceClocks::default(),
        left_out: BTreeMap::new(),
        room: limits.unpacked,
        n_packets: 0,
        unread: 0,
        incomplete: 0,
        timeless: 0,
    };
    let end = messages::read_messages(source, watch, |field, message| {
        if field == 1 {
            trace.packet(message, true);
        }
    })?;
    if trace.n_packets == 0 {
        return Err(source.unusable_error(FORMAT.title, "there is no whole packet in it"));
    }
    let file = source.name();
    trace.finish(&file);
    end.note(&file, into);
    nesting::name_ops(&mut into.trace);
    Ok(())
}

/// State of reading a trace.
struct PerfettoTrace<'a> {
    slices: PerfettoSlices<'a>,
    sequences: FxHashMap<u64, PacketSequence>,
    clocks: TraceClocks,
    /// Packets of other sources.
    left_out: BTreeMap<&'static str, u64>,
    /// Bytes that packets may still unpack to.
    room: u64,
    n_packets: u64,
    unread: u64,
    /// Packets that refer to what was lost.
    incomplete: u64,
    timeless: u64,
}

/// The fields of a packet that matter.
#[derive(Default)]
struct RawPacket<'a> {
    sequence: u64,
    time: Option<u64>,
    clock: Option<u64>,
    flags: u64,
    is_after_loss: bool,
    pid: Option<u64>,
    texts: &'a [u8],
    defaults: &'a [u8],
    event: Option<&'a [u8]>,
    track: &'a [u8],
    snapshot: &'a [u8],
    packed: &'a [u8],
    /// What it holds besides.
    other: Option<u32>,
}

/// What is known of a packet from those before it.
const CLEARED: u64 = 1;
/// It refers to what packets before it have.
const REFERS: u64 = 2;

impl<'a> RawPacket<'a> {
    /// Nothing where it is no message.
    fn parse(message: &'a [u8]) -> Option<Self> {
        let mut packet = Self::default();
        let mut fields = Fields::new(message);
        for (field, value) in fields.by_ref() {
            match field {
                6 => packet.snapshot = value.bytes(),
                8 => packet.time = Some(value.number()),
                10 => packet.sequence = value.number(),
                11 => packet.event = Some(value.bytes()),
                12 => packet.texts = value.bytes(),
                13 => packet.flags |= value.number(),
                41 => packet.flags |= value.number() & CLEARED,
                42 => packet.is_after_loss = value.number() != 0,
                50 => packet.packed = value.bytes(),
                58 => packet.clock = Some(value.number()),
                59 => packet.defaults = value.bytes(),
                60 => packet.track = value.bytes(),
                79 => packet.pid = Some(value.number()),
                _ if ABOUT_TRACE.contains(&field) => {}
                _ => packet.other = Some(field),
            }
        }
        (!fields.is_damaged()).then_some(packet)
    }
}

impl PerfettoTrace<'_> {
    fn packet(&mut self, message: &[u8], may_be_packed: bool) {
        self.n_packets += 1;
        let Some(packet) = RawPacket::parse(message) else {
            self.unread += 1;
            return;
        };
        if !packet.packed.is_empty() && may_be_packed {
            self.unpack(packet.packed);
        }
        let sequence = self.sequences.entry(packet.sequence).or_default();
        if packet.flags & CLEARED != 0 {
            *sequence = PacketSequence::default();
            sequence.is_whole = true;
        } else if packet.is_after_loss {
            sequence.is_whole = false;
        }
        sequence.take_defaults(packet.defaults);
        sequence.take_texts(packet.texts, &mut self.slices.texts);
        if !packet.snapshot.is_empty() {
            self.clocks.take_snapshot(packet.sequence, packet.snapshot);
        }
        if !packet.track.is_empty() {
            self.slices.tracks.take(packet.track);
        }
        if packet.flags & REFERS != 0 && !sequence.is_whole {
            self.incomplete += 1;
            return;
        }
        let clock = packet.clock.or(sequence.clock);
        // A clock that counts from packet to packet needs the times of all of them.
        let time = packet.time.and_then(|time| {
            let clocks = &mut self.clocks;
            clocks.time_ns(packet.sequence, clock, time)
        });
        if let Some(event) = packet.event {
            let ids = (packet.sequence, packet.pid);
            let is_timed = self.slices.take(sequence, ids, time, event);
            self.timeless += u64::from(!is_timed);
        }
        if let Some(field) = packet.other {
            let known = OTHER_SOURCES.iter().find(|(known, _)| *known == field);
            let title = known.map_or(OTHER_SOURCE, |(_, title)| title);
            *self.left_out.entry(title).or_default() += 1;
        }
    }

    /// Reads packets that are packed in one; they hold no packed ones themselves.
    fn unpack(&mut self, packed: &[u8]) {
        let mut bytes = Vec::new();
        let room = self.room.min(MOST_UNPACKED);
        let read = ZlibDecoder::new(packed).take(room).read_to_end(&mut bytes);
        let n_bytes = bytes.len() as u64;
        self.room -= n_bytes;
        let mut fields = Fields::new(&bytes);
        for (field, value) in fields.by_ref() {
            if field == 1 {
                self.packet(value.bytes(), false);
            }
        }
        if read.is_err() || fields.is_damaged() || n_bytes == room {
            self.unread += 1;
        }
    }

    fn finish(self, file: &str) {
        let mut left_out = self.left_out;
        left_out.extend(self.slices.left_out());
        let related = self.clocks.related;
        let into = self.slices.finish(file);
        into.note_unread(self.unread, "packet", file);
        let fate = "refer to packets before them that were dropped; left out";
        into.note_some(self.incomplete, "packet", file, fate);
        into.note_some(self.timeless, "event", file, "had no time; left out");
        if related > 0 {
            let fate = "are of a clock that the file does not relate to the others; they stand as they are";
            into.note_some(self.clocks.unrelated, "time", file, fate);
        }
        let counts = left_out.iter().filter(|(_, count)| **count > 0);
        let counts: Vec<String> = counts
            .map(|(title, count)| format!("{count} of {title}"))
            .collect();
        if !counts.is_empty() {
            into.note(format!(
                "{file} also has packets that are left out, since slices alone are read: {}",
                counts.join(", ")
            ));
        }
    }
}
