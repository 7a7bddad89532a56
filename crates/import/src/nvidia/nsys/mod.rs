//! Exports of Nsight Systems (`nsys export --type sqlite`): kernels, copies, calls, waits and ranges.
//!
//! A table is there only where it has rows, and columns grow with every release, so nothing is taken
//! for granted but starts and ends.

#[cfg(test)]
mod tests;

use crate::reading::by_id::ById;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::rows::{Cells, OpenDatabase, Query};
use crate::reading::source::ImportSource;
use crate::records::graph_launches::GraphNode;
use crate::records::slice_buffer;
use crate::records::slice_buffer::{
    MixMap, NameLookup, RawSlice, SliceBuffer, SliceDetail, TrackLookup,
};
use crate::{Format, ImportError, Imported};
use powerband_core::domain::trace::{MemoryEvent, SliceKind, Track};

pub(crate) const FORMAT: Format = Format {
    id: "nsys",
    title: "an export of Nsight Systems",
    tool: "nsys",
    name_ends: &[],
    recognises: |head| head.has_table("StringIds"),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let base = OpenDatabase::open(source, into)?;
    if !base.has_column("StringIds", "value") {
        return Err(source.unusable_error(
            FORMAT.title,
            "its table of texts, StringIds, lacks the columns id and value",
        ));
    }
    let export = Export::read(base, watch, into)?;
    export.facts(into)?;
    export.kernels(into)?;
    export.copies(into)?;
    export.host(into)?;
    export.ranges(into)?;
    export.memory(into)?;
    export.graph_nodes(into)?;
    into.note_idle_device(&source.name(), ", or nsys was not asked for --trace=cuda");
    Ok(())
}

/// An open export with everything that rows are looked up in.
struct Export<'a> {
    base: OpenDatabase<'a>,
    watch: &'a ReadProgress<'a>,
    strings: ById<String>,
    copies: ById<String>,
    waits: ById<String>,
    processes: ById<String>,
    threads: ById<String>,
}

/// Kinds of copies where the export lacks their names.
const COPIES: [(i64, &str); 14] = [
    (0, "Unknown"),
    (1, "HtoD"),
    (2, "DtoH"),
    (3, "HtoA"),
    (4, "AtoH"),
    (5, "AtoA"),
    (6, "AtoD"),
    (7, "DtoA"),
    (8, "DtoD"),
    (9, "HtoH"),
    (10, "PtoP"),
    (11, "UVM HtoD"),
    (12, "UVM DtoH"),
    (13, "UVM DtoD"),
];
/// Kinds of waiting, likewise.
const WAITS: [(i64, &str); 5] = [
    (0, "Unknown sync"),
    (1, "Event sync"),
    (2, "Stream wait sync"),
    (3, "Stream sync"),
    (4, "Context sync"),
];
/// Ranges of NVTX: pushed and popped, started and ended, and marks.
const NVTX: [i64; 3] = [59, 60, 34];

impl<'a> Export<'a> {
    fn read(
        base: OpenDatabase<'a>,
        watch: &'a ReadProgress<'a>,
        into: &mut Imported,
    ) -> Result<Self, ImportError> {
        let strings = ById::read(&base, watch, "StringIds", ["id", "value"], into)?;
        let own = |list: &[(i64, &str)]| {
            ById::new(
                list.iter()
                    .map(|(id, name)| (*id, (*name).to_owned()))
                    .collect(),
            )
        };
        let mut waits = ById::read(&base, watch, "ENUM_CUPTI_SYNC_TYPE", ["id", "label"], into)?;
        if waits.is_empty() {
            waits = own(&WAITS);
        }
        let named = ById::read(&base, watch, "PROCESSES", ["globalPid", "name"], into)?;
        let processes = named.iter().map(|(id, name)| {
            let program = name.rsplit('/').next().unwrap_or(name);
            (id >> 24, program.to_owned())
        });
        let processes = ById::new(processes.collect());
        let mut threads = Vec::new();
        let query = Query::all("ThreadNames", &["globalTid", "nameId"]);
        base.each(&query, watch, |row| {
            let name = row.int(1).and_then(|id| strings.get(id));
            threads.extend(row.int(0).zip(name.cloned()));
            true
        })?;
        Ok(Self {
            copies: own(&COPIES),
            waits,
            processes,
            threads: ById::new(threads),
            strings,
            base,
            watch,
        })
    }

    /// Versions, cards and the command line.
    fn facts(&self, into: &mut Imported) -> Result<(), ImportError> {
        let mut command = Vec::new();
        self.each("META_DATA_EXPORT", &["name", "value"], |row| {
            let value = row.text(1).unwrap_or_default().into_owned();
            match row.text(0).as_deref() {
                Some("EXPORT_PRODUCT_VERSION") => into.tool.version = Some(value),
                Some("EXPORT_SCHEMA_VERSION") => into.fact("Schema of the export", value),
                _ => {}
            }
            true
        })?;
        self.each("META_DATA_CAPTURE", &["name", "value"], |row| {
            let name = row.text(0).unwrap_or_default();
            if name == "PROCESS_0:COMMAND" || name.starts_with("PROCESS_0:ARGUMENT_") {
                command.extend(row.text(1).map(|text| text.into_owned()));
            }
            true
        })?;
        into.keep_command(&command.join(" "));
        self.each("TARGET_INFO_GPU", &["id", "cuDevice", "name"], |row| {
            if let (Some(id), Some(name)) = (row.int(1).or_else(|| row.int(0)), row.text(2)) {
                into.fact(&format!("GPU {id}"), name);
            }
            true
        })?;
        self.each("TARGET_INFO_SYSTEM_ENV", &["name", "value"], |row| {
            let fact = match row.text(0).as_deref() {
                Some("NvDriverVersion") => "Driver",
                Some("CpuDescription") => "Processor",
                Some("Hostname") => "Host",
                _ => return true,
            };
            into.fact(fact, row.text(1).unwrap_or_default());
            true
        })
    }

    fn each(
        &self,
        table: &str,
        columns: &[&str],
        each: impl FnMut(&Cells<'_, '_>) -> bool,
    ) -> Result<(), ImportError> {
        let query = Query::all(table, columns);
        self.base.each(&query, self.watch, each).map(|_| ())
    }

    fn take(
        &self,
        table: &str,
        columns: &[&str],
        into: &mut Imported,
        words: (&NameLookup<'_>, &TrackLookup<'_>),
        each: impl Fn(&mut SliceBuffer, &Cells<'_, '_>) -> bool + Sync,
    ) -> Result<usize, ImportError> {
        let query = Query::all(table, columns);
        slice_buffer::take(&self.base, self.watch, &query, words, into, each)
    }

    fn kernels(&self, into: &mut Imported) -> Result<(), ImportError> {
        const KERNEL: [&str; 14] = [
            "start",
            "end",
            "deviceId",
            "streamId",
            "correlationId",
            "globalPid",
            "demangledName",
            "shortName",
            "gridX",
            "gridY",
            "gridZ",
            "blockX",
            "blockY",
            "blockZ",
        ];
        let string = |id: i64| lines::kernel_name(self.string(id)).to_owned();
        self.take(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            &KERNEL,
            into,
            (&string, &stream),
            |lane, row| {
                let name = row.int(6).or_else(|| row.int(7)).unwrap_or(-1);
                lane.push(&raw(
                    row,
                    SliceKind::Kernel,
                    name,
                    SliceDetail::grid(row, 8),
                ))
            },
        )?;
        Ok(())
    }

    /// Copies, sets, and graphs as a whole.
    fn copies(&self, into: &mut Imported) -> Result<(), ImportError> {
        const COPY: [&str; 8] = [
            "start",
            "end",
            "deviceId",
            "streamId",
            "correlationId",
            "globalPid",
            "copyKind",
            "bytes",
        ];
        let copy = |id: i64| {
            let kind = self.copies.get(id).map_or("", |kind| kind);
            format!("Memcpy {kind}").trim().to_owned()
        };
        let bytes = |row: &Cells<'_, '_>| row.int(7).map_or(SliceDetail::None, SliceDetail::Bytes);
        self.take(
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            &COPY,
            into,
            (&copy, &stream),
            |lane, row| {
                let kind = row.int(6).unwrap_or(0);
                lane.push(&raw(row, SliceKind::Copy, kind, bytes(row)))
            },
        )?;
        let set = |_: i64| "Memset".to_owned();
        self.take(
            "CUPTI_ACTIVITY_KIND_MEMSET",
            &COPY,
            into,
            (&set, &stream),
            |lane, row| lane.push(&raw(row, SliceKind::Set, 0, bytes(row))),
        )?;
        let mut graph = COPY;
        graph[6] = "graphId";
        let graph_name = |id: i64| format!("CUDA graph {id}");
        let graphs = self.take(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            &graph,
            into,
            (&graph_name, &stream),
            |lane, row| {
                let id = row.int(6).unwrap_or(0);
                lane.push(&raw(row, SliceKind::Kernel, id, SliceDetail::None))
            },
        )?;
        if graphs > 0 {
            into.note(format!(
                "{graphs} launches of CUDA graphs were recorded as a whole, without the kernels in them: profile with --cuda-graph-trace=node to see these"
            ));
        }
        Ok(())
    }

    /// Work of the host: calls, waits, and overhead of the profiler.
    fn host(&self, into: &mut Imported) -> Result<(), ImportError> {
        const CALL: [&str; 7] = [
            "start",
            "end",
            "globalTid",
            "globalTid",
            "correlationId",
            "globalTid",
            "nameId",
        ];
        let string = |id: i64| self.string(id).to_owned();
        let thread = |key: [i64; 3]| self.thread(key[0]);
        for (table, kind) in [
            ("CUPTI_ACTIVITY_KIND_RUNTIME", SliceKind::Call),
            ("CUDNN_EVENTS", SliceKind::Call),
            ("CUBLAS_EVENTS", SliceKind::Call),
            ("PROFILER_OVERHEAD", SliceKind::Overhead),
        ] {
            self.take(table, &CALL, into, (&string, &thread), |lane, row| {
                let name = row.int(6).unwrap_or(-1);
                let mut raw = raw(row, kind, name, SliceDetail::None);
                if kind != SliceKind::Call {
                    raw.link = 0;
                }
                lane.push(&raw)
            })?;
        }
        const WAIT: [&str; 7] = [
            "start",
            "end",
            "globalPid",
            "globalPid",
            "correlationId",
            "globalPid",
            "syncType",
        ];
        let wait = |id: i64| self.waits.get(id).cloned().unwrap_or_default();
        let waiting = |key: [i64; 3]| Track {
            device: None,
            group: self.process(key[0]),
            name: "waiting".to_owned(),
        };
        self.take(
            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            &WAIT,
            into,
            (&wait, &waiting),
            |lane, row| {
                let kind = row.int(6).unwrap_or(0);
                lane.push(&raw(row, SliceKind::Wait, kind, SliceDetail::None))
            },
        )?;
        Ok(())
    }

    /// Ranges and marks that the program set itself.
    fn ranges(&self, into: &mut Imported) -> Result<(), ImportError> {
        const COLUMNS: [&str; 6] = ["start", "end", "globalTid", "eventType", "textId", "text"];
        let mut open = 0_u64;
        let query = Query::all("NVTX_EVENTS", &COLUMNS);
        let track = |key: [i64; 3]| self.thread(key[0]);
        // Most texts stand in the rows themselves, and the same ones over and over.
        slice_buffer::take_named(
            &self.base,
            self.watch,
            &query,
            &track,
            into,
            |lane, own, row| {
                let kind = row.int(3).unwrap_or(NVTX[0]);
                if !NVTX.contains(&kind) {
                    return true;
                }
                let text = row.text(5);
                let known = row.int(4).and_then(|id| self.strings.get(id));
                let text = text.as_deref().or_else(|| known.map(String::as_str));
                let (start, end) = (row.int(0), row.int(1));
                if kind != NVTX[2] && end.is_none() {
                    open += 1;
                    return true;
                }
                lane.push(&RawSlice {
                    kind: SliceKind::Range,
                    name: i64::from(own.number(text.unwrap_or("range"))),
                    track: [row.int(2).unwrap_or(0), 0, 0],
                    times: (start, end.or(start)),
                    link: 0,
                    detail: SliceDetail::None,
                })
            },
        )?;
        if open > 0 {
            into.note(format!(
                "{open} ranges of NVTX never ended, and are left out"
            ));
        }
        Ok(())
    }

    /// Memory of devices, where it was followed.
    fn memory(&self, into: &mut Imported) -> Result<(), ImportError> {
        const COLUMNS: [&str; 5] = [
            "start",
            "deviceId",
            "bytes",
            "memKind",
            "memoryOperationType",
        ];
        self.each("CUDA_GPU_MEMORY_USAGE_EVENTS", &COLUMNS, |row| {
            let (Some(at_ns), Some(bytes)) = (row.int(0), row.int(2)) else {
                return false;
            };
            // Pageable and pinned memory is the host's.
            let is_host = matches!(row.int(3), Some(0 | 1));
            into.trace.memory.push(MemoryEvent {
                at_ns,
                device: row
                    .int(1)
                    .filter(|_| !is_host)
                    .and_then(|id| u32::try_from(id).ok()),
                change: match row.int(4) {
                    Some(1) => bytes.max(0).saturating_neg(),
                    _ => bytes.max(0),
                },
                total: None,
                track: None,
                op: 0,
            });
            true
        })
    }

    /// When nodes of graphs were made: captured or added, then copied into what is launched.
    fn graph_nodes(&self, into: &mut Imported) -> Result<(), ImportError> {
        const COLUMNS: [&str; 4] = ["start", "globalTid", "graphNodeId", "originalGraphNodeId"];
        let mut tracks: MixMap<i64, u32> = MixMap::default();
        self.each("CUDA_GRAPH_NODE_EVENTS", &COLUMNS, |row| {
            let (Some(at_ns), Some(thread), Some(node)) = (row.int(0), row.int(1), row.int(2))
            else {
                return false;
            };
            let track = tracks
                .entry(thread)
                .or_insert_with(|| into.trace.track(self.thread(thread)));
            into.graph_nodes.push(GraphNode {
                process: link(thread, 0) >> 32,
                node: node as u64,
                original: row.int(3).map(|original| original as u64),
                track: *track,
                at_ns,
            });
            true
        })
    }

    fn string(&self, id: i64) -> &str {
        self.strings.get(id).map_or("unnamed", |text| text)
    }

    fn process(&self, global: i64) -> String {
        let number = process(global);
        match self.processes.get(global >> 24) {
            Some(name) => format!("{name} (process {number})"),
            None => format!("process {number}"),
        }
    }

    fn thread(&self, global: i64) -> Track {
        let number = global & 0xff_ffff;
        Track {
            device: None,
            group: self.process(global),
            name: match self.threads.get(global) {
                Some(name) if !name.is_empty() => format!("{name} (thread {number})"),
                _ => format!("thread {number}"),
            },
        }
    }
}

/// A row that begins with start, end, device, stream, correlation and process.
fn raw(row: &Cells<'_, '_>, kind: SliceKind, name: i64, detail: SliceDetail) -> RawSlice {
    let process = row.int(5).unwrap_or(0);
    let id = row.int(4).filter(|id| *id != 0);
    RawSlice {
        link: id.map_or(0, |id| link(process, id)),
        detail,
        ..RawSlice::from_row(row, kind, name, [2, 3])
    }
}

/// What a call and what it launched have in common: the process in the upper half, its number for it in the lower one.
fn link(global: i64, id: i64) -> u64 {
    ((global >> 24) as u64) << 32 | (id as u64 & 0xffff_ffff)
}

fn stream(key: [i64; 3]) -> Track {
    slice_buffer::device_track("Stream", key)
}

/// The system's number of a process, or of a thread's process.
fn process(global: i64) -> i64 {
    (global >> 24) & 0xff_ffff
}
