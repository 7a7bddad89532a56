//! Memory snapshots of PyTorch, as `torch.cuda.memory._dump_snapshot` pickles them: segments of the allocator as they
//! were then, and the allocations before that, each with its stack.
//!
//! Frames, blocks and events become small records while the file is read, so that the whole of it never lies in memory.

mod annotations;
mod segments;
mod stacks;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufReader};

use rustc_hash::FxHashMap;

use crate::reading::head::FileHead;
use crate::reading::pickle::{
    self, Pickle, PickleContainer, PickleError, PickleReader, PickleValue,
};
use crate::reading::progress_reader::ProgressReader;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::profile::MemoryUse;
use powerband_core::domain::trace::{MemoryEvent, Names};
use segments::DeviceSegments;
use stacks::StackNames;

pub(crate) const FORMAT: Format = Format {
    id: "pytorch-memory-snapshot",
    title: "a memory snapshot of PyTorch",
    tool: "PyTorch",
    name_ends: &[],
    recognises,
    read,
};

/// Stacks that are listed with what they had at the peak; the others are added up.
const STACKS: usize = 1000;
/// Events and blocks; a snapshot of a gigabyte has a quarter of these.
const RECORDS: usize = 20_000_000;
/// Bytes read at once.
const CHUNK: usize = 1 << 20;
/// What the containers of a snapshot become.
const FRAME: u8 = 0;
const STACK: u8 = 1;
const RECORD: u8 = 2;

/// Whether it is a pickle of any protocol that has words of a snapshot.
fn recognises(head: &FileHead) -> bool {
    let bytes = head.bytes();
    let is_pickle = matches!(bytes, [0x80, 2..=5, ..] | [b'}' | b']', b'q', ..])
        || bytes.starts_with(b"(dp")
        || bytes.starts_with(b"(lp");
    let words = ["device_traces", "segment_type", "total_size"];
    is_pickle
        && words
            .iter()
            .any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some())
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut records = SnapshotRecords {
        names: &mut into.trace.names,
        stacks: StackNames::default(),
        records: Vec::new(),
    };
    let mut make = |container: &PickleContainer, texts: &Names| records.make(container, texts);
    let mut bytes = ProgressReader::new(source.stream()?, watch);
    let buffered = BufReader::with_capacity(CHUNK, &mut bytes);
    let mut reader = PickleReader::new(buffered, &mut make);
    let outcome = reader.run();
    if let Err(PickleError::Refused(reason)) = outcome {
        return Err(source.unusable_error(
            FORMAT.title,
            format!("{reason}. What torch.cuda.memory._dump_snapshot writes is plain data: take the snapshot once more, of fewer events with torch.cuda.memory._record_memory_history(max_entries=…)"),
        ));
    }
    let pickle = reader.finish();
    let records = records.records;
    if bytes.is_stopped {
        return Err(ImportError::Cancelled);
    }
    let is_cut = match outcome {
        Ok(()) => false,
        Err(PickleError::Io(error))
            if error.kind() != io::ErrorKind::UnexpectedEof && !source.is_cut(&error) =>
        {
            return Err(source.io(error));
        }
        Err(_) => true,
    };
    if is_cut {
        into.note_cut(&source.name());
    }
    if !fill(&pickle, &records, into) && is_cut {
        let reason = "it is cut off or damaged before its first segment; copy it once more";
        return Err(source.unusable_error(FORMAT.title, reason));
    }
    Ok(())
}

/// What an event of the allocator or the state of a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryAction {
    Alloc,
    /// Given back, and no stream uses it any more.
    Free,
    /// The allocator has more memory of the device, or less.
    Reserve,
    Release,
    OutOfMemory,
    /// A block that is in use, or waits for a stream to end its use.
    Active,
    Inactive,
    Other,
}

/// An event of the allocator, or a block of a segment.
#[derive(Clone, Copy, Debug)]
struct MemoryRecord {
    action: MemoryAction,
    /// The number of the stack's name.
    stack: u32,
    /// Where it begins; below zero where that is not recorded. Of an allocation that failed, what was free.
    address: i64,
    /// Of an event what was asked for, of a block all that it takes.
    size: i64,
    /// Of an event when it was, in microseconds; of a block what was asked for.
    time_or_requested: Option<i64>,
}

/// What the containers of a snapshot became.
#[derive(Debug)]
struct SnapshotRecords<'a> {
    names: &'a mut Names,
    stacks: StackNames,
    records: Vec<MemoryRecord>,
}

impl SnapshotRecords<'_> {
    fn make(&mut self, container: &PickleContainer, texts: &Names) -> Option<PickleValue> {
        if !container.is_dictionary {
            return self.stack(&container.items);
        }
        let mut action = None;
        let mut record = MemoryRecord {
            action: MemoryAction::Other,
            stack: 0,
            address: -1,
            size: 0,
            time_or_requested: None,
        };
        let (mut function, mut file, mut line) = (None, None, 0);
        for pair in container.items.chunks_exact(2) {
            let [key, value] = *pair else { continue };
            match (pickle::text_of(key, texts), value) {
                ("action" | "state", PickleValue::Text(_)) => {
                    action = Some(action_of(pickle::text_of(value, texts)));
                }
                ("addr" | "address" | "device_free", PickleValue::Int(number)) => {
                    record.address = number;
                }
                ("size", PickleValue::Int(number)) => record.size = number.max(0),
                ("time_us" | "requested_size", PickleValue::Int(number)) => {
                    record.time_or_requested = Some(number);
                }
                ("frames", PickleValue::Made(STACK, stack)) => record.stack = stack,
                ("name", PickleValue::Text(number)) => function = Some(number),
                ("filename", PickleValue::Text(number)) => file = Some(number),
                ("line", PickleValue::Int(number)) => line = number,
                _ => {}
            }
        }
        if let Some(action) = action {
            if self.records.len() >= RECORDS {
                return None;
            }
            record.action = action;
            self.records.push(record);
            return Some(PickleValue::Made(RECORD, self.records.len() as u32 - 1));
        }
        let number = self.stacks.frame((function?, file?, line), texts)?;
        Some(PickleValue::Made(FRAME, number))
    }

    /// A list of frames.
    fn stack(&mut self, items: &[PickleValue]) -> Option<PickleValue> {
        let is_frame = |item: &PickleValue| matches!(item, PickleValue::Made(FRAME, _));
        if items.is_empty() || !items.iter().all(is_frame) {
            return None;
        }
        let frames = items.iter().filter_map(|item| match item {
            PickleValue::Made(FRAME, number) => Some(*number),
            _ => None,
        });
        let name = self.stacks.name(frames, self.names);
        Some(PickleValue::Made(STACK, name))
    }
}

fn action_of(word: &str) -> MemoryAction {
    match word {
        "alloc" => MemoryAction::Alloc,
        "free_completed" => MemoryAction::Free,
        "segment_alloc" | "segment_map" => MemoryAction::Reserve,
        "segment_free" | "segment_unmap" => MemoryAction::Release,
        "oom" => MemoryAction::OutOfMemory,
        "active_allocated" | "active_pending_free" | "active_awaiting_free" => MemoryAction::Active,
        "inactive" => MemoryAction::Inactive,
        _ => MemoryAction::Other,
    }
}

/// As many of some values as are left to be looked at: lists that are shared could be looked at without end.
fn remaining<'a>(values: &'a [PickleValue], n_left: &mut usize) -> &'a [PickleValue] {
    let values = values.get(..*n_left).unwrap_or(values);
    *n_left -= values.len();
    values
}

/// The record that a value became.
fn record_of(value: PickleValue, records: &[MemoryRecord]) -> Option<MemoryRecord> {
    match value {
        PickleValue::Made(RECORD, number) => records.get(number as usize).copied(),
        _ => None,
    }
}

/// Adds up what was read, device by device; whether there was any.
fn fill(pickle: &Pickle, records: &[MemoryRecord], into: &mut Imported) -> bool {
    let mut devices: BTreeMap<u8, DeviceSegments> = BTreeMap::new();
    let mut n_left = records.len();
    let segments = pickle.items(pickle.get(pickle.root, "segments"));
    // Older programs pickle the list of segments alone.
    for segment in segments.iter().chain(pickle.items(pickle.root)) {
        let number = |key: &str| pickle.get(*segment, key).int();
        let device = u8::try_from(number("device").unwrap_or_default());
        if let (Ok(device), Some(_)) = (device, number("total_size")) {
            let blocks = pickle.items(pickle.get(*segment, "blocks"));
            let blocks = remaining(blocks, &mut n_left).iter();
            let blocks = blocks.filter_map(|block| record_of(*block, records));
            let segments = devices.entry(device).or_default();
            segments.add(number, blocks);
        }
    }
    let traces = pickle.items(pickle.get(pickle.root, "device_traces"));
    let mut traces: BTreeMap<u8, &[PickleValue]> = (0..=u8::MAX)
        .zip(traces.iter().map(|trace| pickle.items(*trace)))
        .collect();
    for (device, trace) in &traces {
        if !trace.is_empty() {
            devices.entry(*device).or_default();
        }
    }
    let has_any = !devices.is_empty();
    for (device, segments) in devices {
        let trace = remaining(traces.remove(&device).unwrap_or_default(), &mut n_left).iter();
        let trace = trace.filter_map(|event| record_of(*event, records));
        DeviceHistory::new(device, trace, &segments, into).add(&segments, into);
    }
    annotations::add(pickle, into);
    settings(pickle, into);
    has_any
}

/// How the allocator was set.
fn settings(pickle: &Pickle, into: &mut Imported) {
    let settings = pickle.get(pickle.root, "allocator_settings");
    let name = "PYTORCH_CUDA_ALLOC_CONF";
    into.fact(name, pickle.text(pickle.get(settings, name)));
    if pickle.get(settings, "expandable_segments") == PickleValue::Bool(true) {
        into.fact("expandable segments", "yes");
    }
}

/// The memory of a device over time.
#[derive(Debug, Default)]
struct DeviceHistory {
    device: u8,
    /// In the order of their times, first what was in use when the recording began. A free has the stack of what it
    /// frees, so that the sum over a stack is what it has in use.
    events: Vec<MemoryEvent>,
    /// Whether anything was recorded.
    is_recorded: bool,
    /// The most that was reserved, beyond what was at the end.
    reserved_beyond_end: i64,
    /// Allocations that failed: the largest, and what was free then.
    failed: Vec<(i64, i64)>,
    has_times: bool,
}

impl DeviceHistory {
    /// Goes through the events. What was in use before the first one follows from what is given back without an
    /// allocation, and from the blocks that are in use at the end.
    fn new(
        device: u8,
        trace: impl Iterator<Item = MemoryRecord>,
        segments: &DeviceSegments,
        into: &mut Imported,
    ) -> Self {
        let unknown = into.trace.names.number("allocated before the recording");
        let mut new = Self {
            device,
            has_times: true,
            ..Self::default()
        };
        let mut in_use: FxHashMap<i64, (i64, u32)> = FxHashMap::default();
        let mut before: Vec<(i64, u32)> = Vec::new();
        let (mut reserved, mut most_reserved) = (0_i64, 0_i64);
        let mut began = i64::MAX;
        for (place, record) in trace.enumerate() {
            new.has_times &= record.time_or_requested.is_some();
            let at_us = record.time_or_requested.unwrap_or(place as i64);
            began = began.min(at_us);
            let (size, address) = (record.size, record.address);
            match record.action {
                MemoryAction::Alloc => {
                    if let Some((size, stack)) = in_use.insert(address, (size, record.stack)) {
                        new.push(at_us, -size, stack);
                    }
                    new.push(at_us, size, record.stack);
                }
                MemoryAction::Free => {
                    let (size, stack) = in_use.remove(&address).unwrap_or_else(|| {
                        before.push((size, unknown));
                        (size, unknown)
                    });
                    new.push(at_us, -size, stack);
                }
                MemoryAction::Reserve => reserved = reserved.saturating_add(size),
                MemoryAction::Release => reserved = reserved.saturating_sub(size),
                MemoryAction::OutOfMemory => new.failed.push((size, address)),
                _ => {}
            }
            most_reserved = most_reserved.max(reserved);
        }
        new.reserved_beyond_end = most_reserved.saturating_sub(reserved);
        new.is_recorded = !new.events.is_empty();
        let blocks = segments.in_use.iter();
        let blocks = blocks.filter(|(address, ..)| !in_use.contains_key(address));
        before.extend(blocks.map(|(_, size, stack)| (*size, *stack)));
        let recorded = std::mem::take(&mut new.events);
        began = if new.is_recorded { began } else { 0 };
        for (size, stack) in before {
            // Of what was recorded, every allocation has a stack.
            let is_earlier = stack == 0 && new.is_recorded;
            new.push(began, size, if is_earlier { unknown } else { stack });
        }
        new.events.extend(recorded);
        new.events.sort_by_key(|event| event.at_ns);
        new
    }

    fn push(&mut self, at_us: i64, change: i64, stack: u32) {
        self.events.push(MemoryEvent {
            at_ns: at_us.saturating_mul(1000),
            device: Some(self.device.into()),
            change,
            total: None,
            track: None,
            op: stack,
        });
    }

    /// Adds the curve, its peak and what was in use then, and how the segments are filled.
    fn add(self, segments: &DeviceSegments, into: &mut Imported) {
        let device = format!("GPU {}", self.device);
        let (peak_bytes, at_peak) = self.peak(&into.trace.names);
        segments.facts(&device, self.reserved_beyond_end, into);
        if let Some((size, free)) = self.failed.iter().max() {
            let size = humanize::bytes(size.unsigned_abs());
            let free = humanize::bytes((*free).max(0).unsigned_abs());
            into.note(format!(
                "{device} ran out of memory: {} failed, the largest of {size} while the device had {free} free",
                humanize::pluralised(self.failed.len() as u64, "allocation")
            ));
        }
        if self.events.is_empty() {
            return;
        }
        into.fact(&format!("{device} peak"), humanize::bytes(peak_bytes));
        if !self.is_recorded {
            into.note(format!("No allocation of {device} was recorded over time: what is listed was in use when the snapshot was taken. torch.cuda.memory._record_memory_history() before the run records them"));
        } else if !self.has_times {
            into.note(format!("The snapshot has no times: memory of {device} is drawn over the number of events, each as a microsecond"));
        }
        into.memory.push(MemoryUse {
            device,
            peak_bytes,
            at_peak,
            ..MemoryUse::default()
        });
        if self.is_recorded {
            into.trace.memory.extend(self.events);
        }
    }

    /// The most that was in use, and what each stack had of it, most first.
    fn peak(&self, names: &Names) -> (u64, Vec<(String, u64)>) {
        let (mut in_use, mut peak, mut n_until) = (0_i64, 0_i64, 0);
        for (place, event) in self.events.iter().enumerate() {
            in_use = in_use.saturating_add(event.change);
            if in_use > peak {
                (peak, n_until) = (in_use, place + 1);
            }
        }
        let mut by_stack: FxHashMap<u32, i64> = FxHashMap::default();
        for event in self.events.iter().take(n_until) {
            let bytes = by_stack.entry(event.op).or_default();
            *bytes = bytes.saturating_add(event.change);
        }
        let name = |stack: u32| match names.get(stack) {
            "" => "without a stack".to_owned(),
            name => name.to_owned(),
        };
        let in_use = by_stack.into_iter().filter(|(_, bytes)| *bytes > 0);
        let mut stacks: Vec<(String, u64)> = in_use
            .map(|(stack, bytes)| (name(stack), bytes.unsigned_abs()))
            .collect();
        stacks.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        if stacks.len() > STACKS {
            let others = stacks.split_off(STACKS);
            let bytes = others
                .iter()
                .fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
            let name = humanize::pluralised(others.len() as u64, "other stack");
            stacks.push((name, bytes));
        }
        (peak.unsigned_abs(), stacks)
    }
}
