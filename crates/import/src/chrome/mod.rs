//! Chrome traces: PyTorch's profiler, ONNX Runtime's, XLA's, and other lists of events.
//!
//! Files have hundreds of megabytes, so one thread reads and cuts them where it guesses that an event ends, others
//! take the events of each piece apart, and no tree is built. A piece counts if the events before it end where it
//! begins; otherwise it is taken apart once more, together with what the piece before left.

mod event;
mod event_converter;
mod ranges;
pub(crate) mod rpd;
mod split;
#[cfg(test)]
mod tests;
mod unknown;
pub(crate) mod xla;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::{Format, ImportError, Imported};
use crate::job::{HOST_FACT, RANK_FACT};
use crate::reading::head::FileHead;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::records::nesting;
use event_converter::{EventConverter, SliceEdge};
pub(crate) use event_converter::{HOST_OPERATOR, category_kind};
use powerband_core::domain::trace::{Slice, SliceKind, Trace};
use ranges::RangeCounters;
use split::{BufferProgress, CutFinder, Splitter};
use unknown::UnknownCategories;

/// Bytes that are taken apart at once.
const PIECE: usize = 1 << 20;
/// Threads that take events apart, beside the one that reads.
const WORKERS: std::ops::RangeInclusive<usize> = 2..=4;

/// What is said of a profile of ONNX Runtime that has nodes of a card and none of its kernels.
const STARTS: &str = "The times of the nodes are the host's, for starting them: the card computes later, and this file does not have how long. A profile with nsys (NVIDIA) or rocprofv3 (AMD) has the times of its kernels";

/// Program that wrote the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Dialect {
    PyTorch,
    OnnxRuntime,
    /// XLA's: the events of devices, and rows that are derived from them.
    Xla,
    /// That of `rpd2tracing.py`.
    Rpd,
    /// Powerband's own.
    Own,
    #[default]
    Any,
}

/// `torch.profiler` and `torch.autograd.profiler`.
pub(crate) const PYTORCH: Format = Format {
    id: "pytorch",
    title: "a trace of PyTorch's profiler",
    tool: "PyTorch profiler",
    name_ends: &[],
    recognises: is_pytorch,
    read: |source, watch, into| read(source, watch, Dialect::PyTorch, PYTORCH.title, into),
};

fn is_pytorch(head: &FileHead) -> bool {
    let Some(text) = head.json() else {
        return false;
    };
    let is_legacy = head.is_list() && text.contains("CPU functions");
    let speaks = [
        "\"schemaVersion\"",
        "\"cpu_op\"",
        "\"Operator\"",
        "\"cuda_runtime\"",
    ];
    is_legacy
        || head.has_key("traceEvents") && speaks.iter().any(|word| text.contains(word))
        || head.has_key("schemaVersion") && head.has_key("deviceProperties")
}

/// ONNX Runtime with `enable_profiling`.
pub(crate) const ONNX_RUNTIME: Format = Format {
    id: "onnxruntime",
    title: "a profile of ONNX Runtime",
    tool: "ONNX Runtime profiler",
    name_ends: &[],
    recognises: is_onnx_runtime,
    read: |source, watch, into| {
        read(
            source,
            watch,
            Dialect::OnnxRuntime,
            ONNX_RUNTIME.title,
            into,
        )
    },
};

fn is_onnx_runtime(head: &FileHead) -> bool {
    let squeezed = |text: &str| -> String {
        let text = text.chars().take(4096);
        text.filter(|c| !c.is_whitespace()).collect()
    };
    head.is_list()
        && head.json().is_some_and(|text| {
            let text = squeezed(text);
            text.contains("\"cat\":\"Session\"") || text.contains("\"cat\":\"Node\"")
        })
}

/// What Powerband keeps beside a session.
pub(crate) const OWN: Format = Format {
    id: "powerband-trace",
    title: "a trace of Powerband",
    tool: "Powerband",
    name_ends: &[],
    recognises: |head| head.has_key("powerband") && head.has_key("traceEvents"),
    read: |source, watch, into| read(source, watch, Dialect::Own, OWN.title, into),
};

/// Any other.
pub(crate) const ANY: Format = Format {
    id: "chrome-trace",
    title: "a Chrome trace",
    tool: "Chrome trace",
    name_ends: &[],
    recognises: |head| head.has_key("traceEvents") || head.is_list() && head.has_key("ph"),
    read: |source, watch, into| read(source, watch, Dialect::Any, ANY.title, into),
};

/// A part of a file, most likely of whole events.
struct FilePiece {
    index: usize,
    bytes: Vec<u8>,
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    dialect: Dialect,
    title: &'static str,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let workers = thread::available_parallelism().map_or(*WORKERS.start(), NonZero::get);
    let workers = workers.clamp(*WORKERS.start(), *WORKERS.end());
    let (sender, receiver) = sync_channel::<FilePiece>(workers);
    let receiver = Mutex::new(receiver);
    let keeps_args = source.limits().keeps_args;
    let gathered = Mutex::new(PieceMerger {
        dialect,
        keeps_args,
        ..PieceMerger::default()
    });
    let is_cut = thread::scope(|scope| {
        for number in 0..workers {
            let named = thread::Builder::new().name(format!("events {number}"));
            let (receiver, gathered) = (&receiver, &gathered);
            let new = move || EventConverter::new(dialect, keeps_args);
            named
                .spawn_scoped(scope, move || take_apart(receiver, gathered, new))
                .map_err(|error| source.io(error))?;
        }
        let is_cut = read_pieces(source, watch, &sender);
        // Threads that wait for more end.
        drop(sender);
        is_cut
    })?;
    let gathered = gathered
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let about_file = gathered.splitter.envelope();
    if !collect(gathered, is_cut, (source, dialect), into) {
        return Err(source.unusable_error(title, "there is no event in it that can be read"));
    }
    take_file_facts(&about_file, into);
    nesting::name_ops(&mut into.trace);
    nesting::name_memory(&mut into.trace);
    Ok(())
}

/// Reads events that were taken out of another file, as a list.
pub(crate) fn read_list(list: Vec<u8>, source: &ImportSource, into: &mut Imported) {
    let mut merger = PieceMerger::default();
    let mut splitter = Splitter::default();
    let mut converter = EventConverter::new(Dialect::Any, source.limits().keeps_args);
    let taken = splitter.take(&list, &mut converter);
    let piece = ConvertedPiece {
        bytes: list,
        taken,
        splitter,
        converter,
    };
    merger.take(0, piece);
    collect(merger, false, (source, Dialect::Any), into);
}

/// Reads the file and parts it. Says whether a packed file ended too early.
fn read_pieces(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    sender: &SyncSender<FilePiece>,
) -> Result<bool, ImportError> {
    let mut stream = source.stream()?;
    let mut finder = CutFinder::default();
    let mut bytes: Vec<u8> = Vec::new();
    let mut index = 0;
    loop {
        watch.tick(stream.bytes_read())?;
        let before = bytes.len();
        let more = PIECE.max(before);
        bytes.reserve(more);
        let read = stream.by_ref().take(more as u64).read_to_end(&mut bytes);
        let is_cut = match read {
            Ok(_) => false,
            Err(error) if source.is_cut(&error) => true,
            Err(error) => return Err(source.io(error)),
        };
        let is_last = bytes.len() == before || is_cut;
        let cut = if is_last {
            Some(bytes.len())
        } else {
            finder.cut(&bytes)
        };
        if let Some(cut) = cut {
            let rest = bytes.get(cut..).unwrap_or_default().to_vec();
            bytes.truncate(cut);
            // The receiver is gone only at the end.
            if sender.send(FilePiece { index, bytes }).is_err() {
                return Ok(true);
            }
            bytes = rest;
            index += 1;
        }
        if is_last {
            return Ok(is_cut);
        }
    }
}

/// Takes pieces apart until there are no more.
fn take_apart(
    receiver: &Mutex<Receiver<FilePiece>>,
    gathered: &Mutex<PieceMerger>,
    new: impl Fn() -> EventConverter,
) {
    loop {
        let piece = match receiver.lock() {
            Ok(receiver) => receiver.recv(),
            Err(_) => return,
        };
        let Ok(FilePiece { index, bytes }) = piece else {
            return;
        };
        let mut splitter = if index == 0 {
            Splitter::default()
        } else {
            Splitter::between_events()
        };
        let mut converter = new();
        let taken = splitter.take(&bytes, &mut converter);
        if let Ok(mut gathered) = gathered.lock() {
            gathered.take(
                index,
                ConvertedPiece {
                    bytes,
                    taken,
                    splitter,
                    converter,
                },
            );
        }
    }
}

/// A piece with its events converted, on the guess that an event begins where the piece does.
struct ConvertedPiece {
    bytes: Vec<u8>,
    taken: BufferProgress,
    splitter: Splitter,
    converter: EventConverter,
}

/// What was converted so far, put together in the order of the file as soon as it can be, so that no name and
/// no slice is held twice.
#[derive(Default)]
struct PieceMerger {
    dialect: Dialect,
    keeps_args: bool,
    /// Pieces that wait for an earlier one.
    waiting: BTreeMap<usize, ConvertedPiece>,
    /// How many pieces are put together.
    pieces: usize,
    /// Where in the file these end.
    splitter: Splitter,
    /// Their last bytes, of which the rest comes with the next piece.
    rest: Vec<u8>,
    /// The file has no more to read.
    is_stopped: bool,
    trace: Trace,
    edges: Vec<SliceEdge>,
    names: TrackTitles,
    ranges: RangeCounters,
    broken: u64,
    timeless: u64,
    negative: u64,
    runs: u64,
    has_kernels: bool,
    has_starts: bool,
    unknown: UnknownCategories,
}

impl PieceMerger {
    fn take(&mut self, index: usize, piece: ConvertedPiece) {
        self.waiting.insert(index, piece);
        while let Some(piece) = self.waiting.remove(&self.pieces) {
            if !self.is_stopped {
                self.append_piece(piece);
            }
            self.pieces += 1;
        }
    }

    /// Takes the next piece in, once more from where the one before came to if that is not where it begins.
    fn append_piece(&mut self, mut piece: ConvertedPiece) {
        let is_right = self.splitter.is_between_events() && self.rest.is_empty();
        if self.pieces == 0 {
            self.splitter = piece.splitter;
        } else if is_right {
            self.splitter.continue_with(piece.splitter);
        } else {
            self.rest.append(&mut piece.bytes);
            piece.bytes = std::mem::take(&mut self.rest);
            piece.converter = EventConverter::new(self.dialect, self.keeps_args);
            piece.taken = self.splitter.take(&piece.bytes, &mut piece.converter);
        }
        self.rest = piece.bytes.split_off(piece.taken.bytes);
        self.is_stopped = piece.taken.stop;
        self.add_converter(piece.converter);
    }

    fn add_converter(&mut self, pour: EventConverter) {
        self.broken += pour.broken;
        self.timeless += pour.timeless;
        self.negative += pour.negative;
        self.runs += pour.runs;
        self.has_kernels |= pour.has_kernels;
        self.has_starts |= pour.has_starts;
        self.unknown.extend(pour.unknown);
        self.names.processes.extend(pour.process_names);
        self.names.threads.extend(pour.thread_names);
        self.ranges.extend(pour.ranges);
        let mapped = self.trace.append(pour.trace);
        let edges = pour.edges.into_iter().map(|edge| SliceEdge {
            slice: mapped.slice(edge.slice),
            ..edge
        });
        self.edges.extend(edges);
    }
}

/// Names the tracks and notes errors. Returns whether there was anything.
fn collect(
    gathered: PieceMerger,
    is_cut: bool,
    (source, dialect): (&ImportSource, Dialect),
    into: &mut Imported,
) -> bool {
    if gathered.splitter.events == 0 {
        return false;
    }
    let is_cut = is_cut || !gathered.splitter.is_complete();
    let broken = gathered.splitter.broken + gathered.broken;
    let PieceMerger {
        mut trace,
        edges,
        names,
        ranges,
        timeless,
        negative,
        runs,
        has_kernels,
        has_starts,
        unknown,
        ..
    } = gathered;
    let unpaired = join_edges(&mut trace, &edges);
    match dialect {
        Dialect::Own => names.name_own_tracks(&mut trace),
        Dialect::Xla => xla::sort(&mut trace, &names),
        Dialect::Rpd => {
            rpd::assign_devices(&mut trace, &names);
            names.name_tracks(&mut trace);
        }
        Dialect::PyTorch | Dialect::OnnxRuntime | Dialect::Any => names.name_tracks(&mut trace),
    }
    if has_starts && !has_kernels {
        into.note(STARTS);
    }
    if has_kernels || has_starts {
        trace.relabel(SliceKind::Operator, |slice, tracks| {
            slice.kind == SliceKind::Kernel
                && tracks
                    .get(slice.track as usize)
                    .is_some_and(|track| track.device.is_none())
        });
    }
    let file = source.name();
    let events = trace.len();
    let mut tell = |count: u64, fate: &str| into.note_some(count, "event", &file, fate);
    tell(
        broken,
        "could not be read, most likely because of quotation marks in a name; left out",
    );
    tell(timeless, "had no time that is a number; left out");
    tell(
        negative,
        "had the end before the beginning; counted as taking no time",
    );
    tell(
        unpaired,
        "had a beginning without an end, or an end without a beginning; left out",
    );
    let left_out = trace.args().left_out();
    tell(
        left_out,
        "had arguments for which there was no room; the event is here without them",
    );
    if is_cut {
        into.is_cut_off = true;
        into.note(format!(
            "{file} is cut off: the program that wrote it did not come to its end. The {events} slices before the cut are here"
        ));
    }
    if runs > 0 {
        into.runs = Some(into.runs.unwrap_or_default() + runs);
    }
    ranges.finish(&file, into);
    unknown.finish(&file, into);
    drop(into.trace.append(trace));
    true
}

/// Joins beginnings with the ends behind them; returns how many have no partner.
fn join_edges(trace: &mut Trace, edges: &[SliceEdge]) -> u64 {
    let mut open: FxHashMap<u32, Vec<&SliceEdge>> = FxHashMap::default();
    let mut alone = 0;
    for edge in edges {
        let stack = open.entry(edge.slice.track).or_default();
        if edge.begins {
            stack.push(edge);
        } else if let Some(begun) = stack.pop() {
            let took = edge.slice.start_ns.saturating_sub(begun.slice.start_ns);
            let slice = Slice {
                duration_ns: took.max(0) as u64,
                ..begun.slice
            };
            trace.push_with(slice, &begun.args);
        } else {
            alone += 1;
        }
    }
    let begun: usize = open.into_values().map(|stack| stack.len()).sum();
    alone + begun as u64
}

/// Names of processes and threads, by what the file calls them; of two names the last one counts.
#[derive(Default)]
pub(crate) struct TrackTitles {
    pub(crate) processes: FxHashMap<String, String>,
    pub(crate) threads: FxHashMap<(String, String), String>,
}

impl TrackTitles {
    /// What a process is called; empty where the file does not name it.
    fn process(&self, id: &str) -> &str {
        self.processes.get(id).map_or("", String::as_str)
    }

    /// What a thread is called; empty where the file does not name it.
    fn thread(&self, process: &str, id: &str) -> &str {
        let key = (process.to_owned(), id.to_owned());
        self.threads.get(&key).map_or("", String::as_str)
    }

    /// Gives tracks the names that we gave them when we wrote them.
    fn name_own_tracks(&self, trace: &mut Trace) {
        for track in &mut trace.tracks {
            let key = (track.group.clone(), track.name.clone());
            if let Some(name) = self.threads.get(&key) {
                track.name.clone_from(name);
            }
            if let Some(name) = self.processes.get(&key.0) {
                track.group.clone_from(name);
            }
        }
    }

    /// Gives tracks names that people understand.
    fn name_tracks(&self, trace: &mut Trace) {
        for track in &mut trace.tracks {
            let process = self.processes.get(&track.group);
            let key = (track.group.clone(), track.name.clone());
            let thread = self.threads.get(&key);
            if let Some(device) = track.device {
                // Kineto names other accelerators by what they are: `MTIA 17`.
                let kind = process.and_then(|name| name.strip_suffix(&format!(" {device}")));
                let kind = kind.filter(|kind| kind.chars().all(|c| c.is_ascii_uppercase()));
                let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or("GPU");
                track.group = format!("{kind} {device}");
                if let Some(name) = thread.filter(|_| kind != "GPU") {
                    track.name.clone_from(name);
                } else if !track.name.starts_with("stream") {
                    track.name = format!("stream {}", track.name);
                }
                continue;
            }
            if let Some(name) = thread {
                track.name.clone_from(name);
            } else if track.name.bytes().all(|byte| byte.is_ascii_digit()) {
                track.name = format!("thread {}", track.name);
            }
            if let Some(name) = process
                && !name.is_empty()
            {
                track.group = format!("{name} {}", track.group);
            }
        }
    }
}

/// Adds the file's own fields as facts.
fn take_file_facts(around: &Value, into: &mut Imported) {
    for key in [
        "cuda_runtime_version",
        "cuda_driver_version",
        "hip_runtime_version",
        "hip_driver_version",
        "record_shapes",
        "with_stack",
        "with_flops",
        "profile_memory",
    ] {
        match around.get(key) {
            Some(Value::Number(number)) => into.fact(key, number.to_string()),
            Some(Value::String(text)) => into.fact(key, text.clone()),
            _ => {}
        }
    }
    let devices = around.get("deviceProperties").and_then(Value::as_array);
    for device in devices.into_iter().flatten() {
        if let Some(name) = device.get("name").and_then(Value::as_str) {
            into.fact("device", name);
        }
    }
    if let Some(host) = around.get("host_name").and_then(Value::as_str) {
        into.fact(HOST_FACT, host);
    }
    let base = around.get("baseTimeNanoseconds").and_then(Value::as_i64);
    into.clock_base_ns = base.unwrap_or_default();
    let rank = around.pointer("/distributedInfo/rank");
    let of = around.pointer("/distributedInfo/world_size");
    if let (Some(rank), Some(of)) = (rank.and_then(Value::as_u64), of.and_then(Value::as_u64)) {
        into.fact(RANK_FACT, format!("{rank} of {of}"));
    }
}
