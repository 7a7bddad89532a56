//! Events poured into a trace: what each category means, and on which track it goes.

use memchr::memchr;
use rustc_hash::FxHashMap;

use super::event::{RawEvent, UnparsedValue};
use super::ranges::{self, RangeCounters};
use super::split::EventSink;
use super::unknown::UnknownCategories;
use super::{Dialect, rpd, xla};
use crate::reading::lines;
use powerband_core::domain::examination::only_starts_nodes;
use powerband_core::domain::slice_args::ArgsText;
use powerband_core::domain::trace::{MemoryEvent, Names, Slice, SliceKind, Trace, Track};

/// What a node's event of ONNX Runtime ends in.
const NODE: &str = "_kernel_time";

/// The length of an event without fields, as some files begin with one.
const EMPTY: usize = 2;

/// What most events on the host are, and whether they are on a device. Whatever a program calls its stretches, they
/// nest as operators do.
pub(crate) const HOST_OPERATOR: (SliceKind, bool) = (SliceKind::Operator, false);

/// One end of a slice whose two ends are events of their own.
#[derive(Clone, Debug)]
pub(super) struct SliceEdge {
    pub begins: bool,
    pub slice: Slice,
    pub args: ArgsText,
}

/// The track of the event before, which is most often that of the next one too.
#[derive(Debug)]
struct LastTrack {
    device: Option<u32>,
    process: Vec<u8>,
    thread: Vec<u8>,
    track: u32,
}

/// The events of one stretch of a file.
#[derive(Debug)]
pub(super) struct EventConverter {
    dialect: Dialect,
    keeps_args: bool,
    pub trace: Trace,
    /// Beginnings and ends, in order.
    pub edges: Vec<SliceEdge>,
    /// Names of processes and threads, by what the file calls them.
    pub process_names: Vec<(String, String)>,
    pub thread_names: Vec<((String, String), String)>,
    /// What was counted in ranges.
    pub ranges: RangeCounters,
    /// Events of categories that are not known.
    pub unknown: UnknownCategories,
    /// Runs of a network that ended.
    pub runs: u64,
    /// Whether kernels of a device are among the events of a runtime that also has its nodes.
    pub has_kernels: bool,
    /// Whether nodes are among the events that were only started on a card.
    pub has_starts: bool,
    /// Events that are no events.
    pub broken: u64,
    /// Events whose time is no time.
    pub timeless: u64,
    /// Events that take less than no time.
    pub negative: u64,
    /// Arguments of the event that is taken in.
    args: ArgsText,
    /// Those of them that its work follows from.
    shapes: ArgsText,
    places: Names,
    /// Of the host, and of devices.
    last_tracks: [Option<LastTrack>; 2],
    tracks: FxHashMap<(u32, u32, Option<u32>), u32>,
}

impl EventConverter {
    pub(super) fn new(dialect: Dialect, keeps_args: bool) -> Self {
        Self {
            dialect,
            keeps_args,
            trace: Trace::default(),
            edges: Vec::new(),
            process_names: Vec::new(),
            thread_names: Vec::new(),
            ranges: RangeCounters::default(),
            unknown: UnknownCategories::default(),
            runs: 0,
            has_kernels: false,
            has_starts: false,
            broken: 0,
            timeless: 0,
            negative: 0,
            args: ArgsText::default(),
            shapes: ArgsText::default(),
            places: Names::default(),
            last_tracks: [None, None],
            tracks: FxHashMap::default(),
        }
    }

    fn convert(&mut self, event: &RawEvent<'_>) {
        match event.phase {
            b'X' => self.slice(event),
            b'B' | b'E' => self.edge(event),
            b'M' => self.describe(event),
            b'i' | b'I' if event.name.bytes() == b"[memory]" => self.memory(event),
            0 => self.broken += 1,
            _ => {}
        }
    }

    fn slice(&mut self, event: &RawEvent<'_>) {
        if event.category == ranges::CATEGORY {
            self.ranges.take(event);
            return;
        }
        let (Some(start_ns), Some(duration)) = (event.start.us_as_ns(), event.duration.us_as_ns())
        else {
            self.timeless += 1;
            return;
        };
        if duration < 0 {
            self.negative += 1;
        }
        if self.dialect == Dialect::OnnxRuntime {
            self.node(event, start_ns, duration.max(0) as u64);
            return;
        }
        if self.dialect == Dialect::Own {
            self.own_event(event, start_ns, duration.max(0) as u64);
            return;
        }
        if self.dialect == Dialect::Xla {
            self.xla(event, start_ns, duration.max(0) as u64);
            return;
        }
        let (kind, on_device) = self.kind(event);
        if kind == SliceKind::Other && self.dialect == Dialect::PyTorch {
            self.unknown.take(event.category, duration.max(0) as u64);
        }
        let shapes = self.shapes(event);
        let slice = Slice {
            link: event.args.correlation.whole_number().unwrap_or_default(),
            shapes,
            ..Slice::new(
                kind,
                self.name(event.name),
                self.track(event.process, event.thread, on_device),
                start_ns,
                duration.max(0) as u64,
            )
        };
        self.trace.push_with(slice, &self.args);
    }

    /// An event that we wrote.
    fn own_event(&mut self, event: &RawEvent<'_>, start_ns: i64, duration_ns: u64) {
        let kinds = SliceKind::ALL.into_iter();
        let kind = kinds
            .into_iter()
            .find(|kind| kind.title().as_bytes() == event.category);
        let device = event.args.device.whole_number().map(|device| device as u32);
        let slice = Slice {
            link: event.args.correlation.whole_number().unwrap_or_default(),
            op: self.name(event.args.op_name),
            detail: self.name(event.args.detail),
            ..Slice::new(
                kind.unwrap_or(SliceKind::Other),
                self.name(event.name),
                self.track_on(event.process, event.thread, device),
                start_ns,
                duration_ns,
            )
        };
        self.trace.push_with(slice, &self.args);
    }

    /// An event of XLA. Whether its row is a device's is known when the names of all rows are.
    fn xla(&mut self, event: &RawEvent<'_>, start_ns: i64, duration_ns: u64) {
        let (name, instruction) = (event.name.text(), event.args.hlo_op.text());
        let link = event.args.correlation.whole_number();
        let operator = event.args.tf_op.text();
        let op = xla::operator(&instruction, &operator);
        let slice = Slice {
            link: link.unwrap_or_default(),
            op: self.trace.names.number(op),
            ..Slice::new(
                xla::host_kind(&name, &instruction, link),
                self.trace.names.number(lines::kernel_name(&name)),
                self.track(event.process, event.thread, false),
                start_ns,
                duration_ns,
            )
        };
        self.trace.push_with(slice, &self.args);
    }

    /// An event of ONNX Runtime.
    fn node(&mut self, event: &RawEvent<'_>, start_ns: i64, duration_ns: u64) {
        let name = event.name.text();
        let kind = match event.category {
            b"Node" => match name.strip_suffix(NODE) {
                Some(_) => SliceKind::Kernel,
                // What older versions write before and behind a node.
                None => return,
            },
            b"Kernel" => {
                self.has_kernels = true;
                SliceKind::Kernel
            }
            b"Api" => SliceKind::Call,
            _ => {
                self.runs += u64::from(name == "model_run");
                SliceKind::Range
            }
        };
        let is_node = event.category == b"Node";
        self.has_starts |= is_node && only_starts_nodes(&event.args.provider.text());
        let slice = Slice {
            op: self.name(event.args.op_name),
            detail: self.name(event.args.input_shapes),
            shapes: self.shapes(event),
            ..Slice::new(
                kind,
                self.trace
                    .names
                    .number(name.strip_suffix(NODE).unwrap_or(&name)),
                if is_node {
                    self.track(event.args.provider, event.thread, false)
                } else {
                    self.track(event.process, event.thread, event.category == b"Kernel")
                },
                start_ns,
                duration_ns,
            )
        };
        self.trace.push_with(slice, &self.args);
        if let Some(total) = event.args.bytes_in_use.whole_number() {
            self.trace.memory.push(MemoryEvent {
                at_ns: slice.end_ns(),
                device: None,
                change: event.args.output_bytes.signed().unwrap_or_default(),
                total: Some(total),
                track: None,
                op: slice.op,
            });
        }
    }

    /// A beginning or an end.
    fn edge(&mut self, event: &RawEvent<'_>) {
        let Some(start_ns) = event.start.us_as_ns() else {
            self.timeless += 1;
            return;
        };
        let (kind, on_device) = self.kind(event);
        let name = self.name(event.name);
        let track = self.track(event.process, event.thread, on_device);
        let shapes = self.shapes(event);
        self.edges.push(SliceEdge {
            begins: event.phase == b'B',
            slice: Slice {
                shapes,
                ..Slice::new(kind, name, track, start_ns, 0)
            },
            args: self.args.clone(),
        });
    }

    /// What a process or a thread is called.
    fn describe(&mut self, event: &RawEvent<'_>) {
        let process = event.process.text().into_owned();
        match event.name.bytes() {
            b"process_name" => {
                let name = event.args.name.text().into_owned();
                self.process_names.push((process, name));
            }
            b"thread_name" => {
                let thread = event.thread.text().into_owned();
                let name = event.args.name.text().into_owned();
                self.thread_names.push(((process, thread), name));
            }
            _ => {}
        }
    }

    /// Memory that PyTorch took or gave back.
    fn memory(&mut self, event: &RawEvent<'_>) {
        let (Some(at_ns), Some(change)) = (event.start.us_as_ns(), event.args.bytes.signed())
        else {
            self.timeless += 1;
            return;
        };
        let has_thread = event.thread != UnparsedValue::Missing;
        let track = has_thread.then(|| self.track(event.process, event.thread, false));
        let is_host = event.args.device_type.whole_number() == Some(0);
        let device = event.args.device_id.whole_number().filter(|_| !is_host);
        self.trace.memory.push(MemoryEvent {
            at_ns,
            device: device.map(|device| device as u32),
            change,
            total: event.args.total_allocated.whole_number(),
            track,
            op: 0,
        });
    }

    /// What an event's category means, and whether its track belongs to a device.
    fn kind(&self, event: &RawEvent<'_>) -> (SliceKind, bool) {
        if self.dialect == Dialect::Rpd {
            return rpd::kind(event);
        }
        if let Some(known) = category_kind(event.category) {
            return known;
        }
        if event.category.eq_ignore_ascii_case(b"mtia_ccp_events") {
            return (mtia_kind(&event.name.text()), true);
        }
        match (self.dialect, event.process.bytes()) {
            (Dialect::PyTorch, b"CUDA functions") => (SliceKind::Kernel, true),
            (Dialect::PyTorch, b"CPU functions") | (Dialect::Any, _) => HOST_OPERATOR,
            _ => (SliceKind::Other, false),
        }
    }

    /// The number of the arguments that its work follows from.
    fn shapes(&mut self, event: &RawEvent<'_>) -> u32 {
        if !event.args.has_shapes {
            return 0;
        }
        event.args.write_shapes(&mut self.shapes);
        self.trace.shapes_number(self.shapes.text())
    }

    fn name(&mut self, name: UnparsedValue<'_>) -> u32 {
        match name {
            UnparsedValue::Missing => 0,
            UnparsedValue::Text(bytes) if memchr(b'\\', bytes).is_none() => {
                match std::str::from_utf8(bytes) {
                    Ok(text) => self.trace.names.number(text),
                    Err(_) => self.trace.names.number(&String::from_utf8_lossy(bytes)),
                }
            }
            other => self.trace.names.number(&other.text()),
        }
    }

    fn track(
        &mut self,
        process: UnparsedValue<'_>,
        thread: UnparsedValue<'_>,
        on_device: bool,
    ) -> u32 {
        let device = on_device.then(|| process.whole_number().unwrap_or_default() as u32);
        self.track_on(process, thread, device)
    }

    fn track_on(
        &mut self,
        process: UnparsedValue<'_>,
        thread: UnparsedValue<'_>,
        device: Option<u32>,
    ) -> u32 {
        let last = usize::from(device.is_some());
        let is_last = |last: &LastTrack| {
            last.device == device
                && last.process == process.bytes()
                && last.thread == thread.bytes()
        };
        if let Some(last) = self.last_tracks[last].as_ref().filter(|last| is_last(last)) {
            return last.track;
        }
        let track = self.find_track(process, thread, device);
        self.last_tracks[last] = Some(LastTrack {
            device,
            process: process.bytes().to_vec(),
            thread: thread.bytes().to_vec(),
            track,
        });
        track
    }

    fn find_track(
        &mut self,
        process: UnparsedValue<'_>,
        thread: UnparsedValue<'_>,
        device: Option<u32>,
    ) -> u32 {
        let process_number = self
            .places
            .number(&String::from_utf8_lossy(process.bytes()));
        let thread_number = self.places.number(&String::from_utf8_lossy(thread.bytes()));
        let key = (process_number, thread_number, device);
        if let Some(&track) = self.tracks.get(&key) {
            return track;
        }
        let track = self.trace.track(Track {
            device,
            group: process.text().into_owned(),
            name: thread.text().into_owned(),
        });
        self.tracks.insert(key, track);
        track
    }
}

impl EventSink for EventConverter {
    fn take_first(&mut self, bytes: &[u8]) -> Option<usize> {
        let args = self.keeps_args.then_some(&mut self.args);
        let mut event = RawEvent::default();
        let length = event.parse_first(bytes, args).ok()?;
        if length > EMPTY {
            self.convert(&event);
        }
        Some(length)
    }

    fn take(&mut self, event: &[u8]) {
        if event.len() <= EMPTY {
            return;
        }
        let args = self.keeps_args.then_some(&mut self.args);
        match RawEvent::parse(event, args) {
            Ok(event) => self.convert(&event),
            Err(_) => self.broken += 1,
        }
    }
}

/// What a category of PyTorch's events means, and whether these are on a device; nothing where it is not known.
pub(crate) fn category_kind(category: &[u8]) -> Option<(SliceKind, bool)> {
    let is = |known: &[u8]| category.eq_ignore_ascii_case(known);
    Some(if is(b"cpu_op") || is(b"operator") {
        HOST_OPERATOR
    } else if is(b"kernel") {
        (SliceKind::Kernel, true)
    } else if is(b"cuda_runtime") || category.ends_with(b"untime") || category.ends_with(b"_driver")
    {
        // Those of every backend: Kineto has them on the host.
        (SliceKind::Call, false)
    } else if is(b"gpu_memcpy") || is(b"memcpy") {
        (SliceKind::Copy, true)
    } else if is(b"gpu_memset") || is(b"memset") {
        (SliceKind::Set, true)
    } else if is(b"user_annotation") {
        (SliceKind::Range, false)
    } else if is(b"gpu_user_annotation") {
        (SliceKind::Range, true)
    } else if is(b"python_function") {
        (SliceKind::Script, false)
    } else if is(b"cuda_sync") {
        (SliceKind::Wait, true)
    } else if is(b"overhead") {
        (SliceKind::Overhead, false)
    } else if is(b"hpu_op") {
        (SliceKind::Kernel, true)
    } else {
        return None;
    })
}

/// What an event of an MTIA accelerator's control processor is: it has waits and copies of the device among what it
/// computes.
fn mtia_kind(name: &str) -> SliceKind {
    match name {
        "event_wait" => SliceKind::Wait,
        "event_record" => SliceKind::Other,
        _ if name.starts_with("dma") => SliceKind::Copy,
        _ => SliceKind::Kernel,
    }
}
