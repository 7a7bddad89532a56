//! `rocprof --hip-trace`, `--hsa-trace`, `--sys-trace`: a trace in the form that Chrome shows.
//!
//! Its times in microseconds are rounded down and stand in text; those in nanoseconds are among the
//! arguments. What an event is depends on its process alone: copies, calls and each card have one.

#[cfg(test)]
mod tests;

use std::io::BufReader;

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::amd::common::{AmdEvent, EventWriter, Lane};
use crate::reading::chunks::{Chunk, Chunks};
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::progress_reader::ProgressReader;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "rocprof-json",
    title: "a trace of rocprof",
    tool: "rocprof",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    if head.is_list() || !head.has_key("traceEvents") {
        return false;
    }
    let start = head.json().unwrap_or_default().chars().take(1 << 16);
    let plain: String = start.filter(|c| !c.is_whitespace()).collect();
    // Only this program begins with an empty element, or names processes so.
    plain.contains("\"traceEvents\":[{},")
        || plain.contains("\"traceEvents\":[{}]")
        || (plain.contains("process_name")
            && ["\"CPUHIPAPI\"", "\"CPUHSAAPI\""]
                .iter()
                .any(|name| plain.contains(name)))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let stream = ProgressReader::new(source.stream()?, watch);
    let mut chunks = Chunks::new(BufReader::with_capacity(1 << 18, stream));
    let mut reading = RocprofTrace::default();
    let mut is_cut = false;
    loop {
        match chunks.next_object() {
            Ok(Chunk::Whole) => reading.event(chunks.chunk()),
            Ok(Chunk::Damaged) => reading.unread += 1,
            Ok(Chunk::End) => break,
            Ok(Chunk::Cut) => {
                is_cut = true;
                break;
            }
            Err(_) if chunks.inner().get_ref().is_stopped => {
                return Err(ImportError::Cancelled);
            }
            Err(error) if source.is_cut(&error) => {
                is_cut = true;
                break;
            }
            Err(error) => return Err(source.io(error)),
        }
    }
    reading.finish(&source.name(), is_cut, into);
    Ok(())
}

/// Role of a process in the trace: what its events are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Markers,
    Copies,
    Calls,
    Kernels(u64),
    Barriers(u64),
    Other,
}

impl Role {
    /// By the name of a process.
    fn named(name: &str) -> Self {
        let name = name.trim();
        let number = |prefix: &str| name.strip_prefix(prefix)?.trim().parse().ok();
        if let Some(card) = number("GPU Barriers") {
            Self::Barriers(card)
        } else if let Some(card) = number("GPU") {
            Self::Kernels(card)
        } else if name == "COPY" {
            Self::Copies
        } else if name.starts_with("CPU ") && name.ends_with("API") {
            Self::Calls
        } else if name == "Markers and Ranges" {
            Self::Markers
        } else {
            Self::Other
        }
    }

    /// By the number of a process that has no name.
    fn numbered(pid: u64) -> Self {
        match pid {
            0 => Self::Markers,
            1 => Self::Copies,
            2..=4 => Self::Calls,
            6..518 => Self::Kernels(pid - 6),
            518.. => Self::Barriers(pid - 518),
            5 => Self::Other,
        }
    }
}

/// An event with a duration.
#[derive(Debug)]
struct DurationEvent {
    name: u32,
    detail: u32,
    pid: u64,
    tid: u64,
    /// The process of the program, as the arguments have it.
    process: Option<u64>,
    /// The queue or the thread, as the arguments have it.
    lane: u64,
    /// Microseconds, by which arrows find it.
    ts: u64,
    start: u64,
    end: u64,
    link: u64,
}

/// Where an arrow begins or ends: process, thread and microsecond.
type ArrowEnd = (u64, u64, u64);

/// State of reading a trace.
#[derive(Debug, Default)]
struct RocprofTrace {
    roles: FxHashMap<u64, Role>,
    names: powerband_core::domain::trace::Names,
    spans: Vec<DurationEvent>,
    arrows: FxHashMap<u64, (Option<ArrowEnd>, Option<ArrowEnd>)>,
    unread: u64,
}

/// A number that may stand in text.
fn whole_number(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::Number(number) => number.as_u64().or_else(|| {
            let value = number.as_f64()?;
            (value >= 0.0).then_some(value as u64)
        }),
        Value::String(text) => lines::whole_number(text),
        _ => None,
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

impl RocprofTrace {
    fn event(&mut self, bytes: &[u8]) {
        let Ok(Value::Object(event)) = serde_json::from_slice::<Value>(bytes) else {
            self.unread += 1;
            return;
        };
        let args = event.get("args");
        let arg = |name: &str| args.and_then(|args| args.get(name));
        let pid = whole_number(event.get("pid"));
        let tid = whole_number(event.get("tid")).unwrap_or(0);
        let ts = whole_number(event.get("ts"));
        match (text(event.get("ph")), pid) {
            ("M", Some(pid)) if text(event.get("name")) == "process_name" => {
                self.roles.insert(pid, Role::named(text(arg("name"))));
            }
            ("X", Some(pid)) => {
                let Some((start, end)) = span(&event, args) else {
                    self.unread += 1;
                    return;
                };
                let detail = text(arg("args"));
                self.spans.push(DurationEvent {
                    name: self
                        .names
                        .number(lines::kernel_name(text(event.get("name")))),
                    detail: self.names.number(detail),
                    pid,
                    tid,
                    process: whole_number(arg("pid")),
                    lane: whole_number(arg("queue-id"))
                        .or_else(|| whole_number(arg("tid")))
                        .unwrap_or(tid),
                    ts: ts.unwrap_or(start / 1000),
                    start,
                    end,
                    link: 0,
                });
            }
            ("s" | "t" | "f", Some(pid)) => {
                let (Some(id), Some(ts)) = (whole_number(event.get("id")), ts) else {
                    return;
                };
                let arrow = self.arrows.entry(id).or_default();
                let point = Some((pid, tid, ts));
                if text(event.get("ph")) == "s" {
                    arrow.0 = point;
                } else {
                    arrow.1 = point;
                }
            }
            _ => {}
        }
    }

    fn role(&self, pid: u64) -> Role {
        let named = self.roles.get(&pid).copied();
        // A file whose beginning is lost has no names at all.
        named.unwrap_or_else(|| {
            if self.roles.is_empty() {
                Role::numbered(pid)
            } else {
                Role::Other
            }
        })
    }

    /// Follows the arrows from calls to what they started.
    fn follow(&mut self) {
        let mut calls: FxHashMap<ArrowEnd, usize> = FxHashMap::default();
        let mut work: FxHashMap<(u64, u64), usize> = FxHashMap::default();
        for (index, span) in self.spans.iter().enumerate() {
            match self.role(span.pid) {
                Role::Calls => {
                    // Calls that only prepare a launch may begin in the same microsecond.
                    let name = self.names.get(span.name);
                    let starts = ["Launch", "Memcpy", "Memset", "memory_async"];
                    if starts.iter().any(|part| name.contains(part)) {
                        calls.entry((span.pid, span.tid, span.ts)).or_insert(index);
                    }
                }
                Role::Kernels(_) | Role::Copies => {
                    work.entry((span.pid, span.ts)).or_insert(index);
                }
                _ => {}
            }
        }
        let mut links: Vec<(u64, usize, usize)> = Vec::new();
        let mut arrows: Vec<_> = self.arrows.drain().collect();
        arrows.sort_unstable();
        for (id, ends) in arrows {
            let (Some(from), Some((pid, _, ts))) = ends else {
                continue;
            };
            if let (Some(&call), Some(&run)) = (calls.get(&from), work.get(&(pid, ts))) {
                links.push((id, call, run));
            }
        }
        for (id, call, run) in links {
            // A call that starts several things has one link with all of them.
            let known = self.spans.get(call).map_or(0, |span| span.link);
            let link = if known > 0 {
                known
            } else {
                id.saturating_add(1)
            };
            for index in [call, run] {
                if let Some(span) = self.spans.get_mut(index) {
                    span.link = link;
                }
            }
        }
    }

    fn finish(mut self, file: &str, is_cut: bool, into: &mut Imported) {
        self.follow();
        let mut events = EventWriter::new(into);
        for span in &self.spans {
            let name = self.names.get(span.name);
            let thread = Lane::Thread(span.process, span.lane);
            let (kind, lane) = match self.role(span.pid) {
                Role::Markers => (SliceKind::Range, thread),
                Role::Calls => (SliceKind::Call, thread),
                Role::Kernels(card) => (SliceKind::Kernel, Lane::Queue(card, span.lane)),
                Role::Barriers(card) => (SliceKind::Other, Lane::Barriers(card)),
                Role::Copies => (copy_kind(name), Lane::HostCopies),
                Role::Other => (SliceKind::Other, thread),
            };
            events.push(&AmdEvent {
                kind,
                name,
                lane,
                start: span.start,
                end: span.end,
                link: span.link,
                detail: self.names.get(span.detail),
            });
        }
        events.finish(file);
        let why = "could not be read: damaged, or without times";
        into.note_some(self.unread, "event", file, why);
        if is_cut {
            into.is_cut_off = true;
            into.note(format!(
                "{file} is cut off; what came before the cut was read: {}",
                humanize::pluralised(self.spans.len() as u64, "event")
            ));
        }
    }
}

/// When an event begins and ends, in nanoseconds where it has them.
fn span(event: &serde_json::Map<String, Value>, args: Option<&Value>) -> Option<(u64, u64)> {
    let arg = |name: &str| whole_number(args.and_then(|args| args.get(name)));
    if let Some(start) = arg("BeginNs") {
        let length = arg("DurationNs").map(|length| start.saturating_add(length));
        return Some((start, arg("EndNs").or(length)?));
    }
    let start = whole_number(event.get("ts"))?.saturating_mul(1000);
    let length = whole_number(event.get("dur"))?.saturating_mul(1000);
    Some((start, start.saturating_add(length)))
}

/// What an event among the copies is.
fn copy_kind(name: &str) -> SliceKind {
    if name.contains("Fill") || name.contains("memset") {
        SliceKind::Set
    } else if name.contains("Barrier") || name.contains("Marker") {
        SliceKind::Other
    } else {
        SliceKind::Copy
    }
}
