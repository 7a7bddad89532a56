//! `rocprofv3 --output-format json`: everything of a run in one line, some of them of gigabytes.
//!
//! It is read record by record. Names stand before the records that use them; where a file was sorted
//! anew and they do not, it is read twice.

mod process;
mod records;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufReader};

use rustc_hash::FxHashMap;
use serde::de::DeserializeSeed as _;

use crate::amd::common;
use crate::amd::common::{Agent, AmdEvent, EventWriter, Lane};
use crate::amd::rocprofv3_agents::AgentFacts;
use crate::amd::rocprofv3_api;
use crate::amd::rocprofv3_counters::Counters;
use crate::amd::rocprofv3_memory::{Allocation, Allocations, copy_lane, copy_words};
use crate::reading::lines;
use crate::reading::progress_reader::ProgressReader;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::trace::SliceKind;
use records::{
    AgentRecord, Correlation, CounterInfo, CounterRecord, Dispatch, Metadata, Num, Record, Strings,
    Symbol,
};

pub(crate) const FORMAT: Format = Format {
    id: "rocprofv3-json",
    title: "a trace of rocprofv3",
    tool: "rocprofv3",
    name_ends: &[],
    recognises: |head| !head.is_list() && head.has_key("rocprofiler-sdk-tool"),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut reading = RocprofV3Reader {
        events: EventWriter::new(into),
        processes: Vec::new(),
        process: 0,
        pass: Pass::First,
        counters: Counters::default(),
        counted: Vec::new(),
        allocations: Allocations::default(),
        skipped: BTreeMap::new(),
        records: 0,
        unread: 0,
    };
    let mut broken = walk(source, watch, &mut reading)?;
    if reading.pass == Pass::NamesFirst {
        reading.pass = Pass::Second;
        broken = walk(source, watch, &mut reading)?;
    }
    if let (Some(broken), 0) = (&broken, reading.records) {
        return Err(
            source.unusable_error(FORMAT.title, format!("{broken}, before the first record"))
        );
    }
    reading.finish(broken, &source.name());
    Ok(())
}

/// Goes through the file once; where it breaks off, in words.
fn walk(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    reading: &mut RocprofV3Reader<'_>,
) -> Result<Option<String>, ImportError> {
    let stream = ProgressReader::new(source.stream()?, watch);
    let mut bytes = BufReader::with_capacity(1 << 18, stream);
    let mut deserializer = serde_json::Deserializer::from_reader(&mut bytes);
    let Err(error) = process::FileSeed(reading).deserialize(&mut deserializer) else {
        return Ok(None);
    };
    if bytes.get_ref().is_stopped {
        return Err(ImportError::Cancelled);
    }
    if error.is_eof() {
        return Ok(Some("it is cut off".to_owned()));
    }
    if !error.is_io() {
        let place = (error.line(), error.column());
        return Ok(Some(format!(
            "it is damaged in line {} at character {}",
            place.0, place.1
        )));
    }
    let error = io::Error::from(error);
    if source.is_cut(&error) {
        return Ok(Some("it is cut off".to_owned()));
    }
    Err(source.io(error))
}

/// Pass over the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Names come before records so far.
    First,
    /// Records came before names, and are left for the second time.
    NamesFirst,
    /// Names are known, and only records are read.
    Second,
}

/// Names of a process.
#[derive(Debug, Default)]
struct ProcessNames {
    has_strings: bool,
    has_symbols: bool,
    pid: Option<u64>,
    by_queue: bool,
    agents: FxHashMap<u64, Agent>,
    kernels: FxHashMap<u64, String>,
    kinds: Vec<(String, Vec<String>)>,
    markers: FxHashMap<u64, String>,
    renamed: FxHashMap<u64, String>,
    counters: FxHashMap<u64, String>,
}

impl ProcessNames {
    fn agent(&self, handle: Num) -> Agent {
        let known = handle.0.and_then(|handle| self.agents.get(&handle));
        known.copied().unwrap_or_else(|| Agent {
            number: handle.or_zero(),
            is_cpu: false,
        })
    }

    fn kind(&self, kind: Num) -> &str {
        let known = self.kinds.get(kind.or_zero() as usize);
        known.map_or("", |kind| kind.0.as_str())
    }

    fn operation(&self, record: &Record) -> String {
        let kind = self.kinds.get(record.kind.or_zero() as usize);
        let names = kind.map(|kind| &kind.1);
        let name = names.and_then(|names| names.get(record.operation.0? as usize));
        name.cloned().unwrap_or_else(|| {
            let operation = record.operation.or_zero();
            format!("{} {operation}", self.kind(record.kind))
                .trim()
                .to_owned()
        })
    }

    /// A kernel's name, or what the program calls the launch.
    fn kernel(&self, id: Num, correlation: Correlation) -> String {
        let renamed = correlation
            .external
            .0
            .and_then(|external| self.renamed.get(&external));
        let known = renamed.or_else(|| self.kernels.get(&id.0?));
        known.map_or_else(
            || format!("kernel {}", id.or_zero()),
            |name| lines::kernel_name(name).to_owned(),
        )
    }
}

/// State of reading a file.
#[derive(Debug)]
struct RocprofV3Reader<'a> {
    events: EventWriter<'a>,
    processes: Vec<ProcessNames>,
    process: usize,
    pass: Pass,
    counters: Counters,
    /// Launches for which counters were collected; most files have them among all launches too.
    counted: Vec<(usize, Launch)>,
    allocations: Allocations,
    skipped: BTreeMap<String, u64>,
    records: u64,
    unread: u64,
}

/// A launch with its times.
#[derive(Clone, Copy, Debug)]
struct Launch {
    dispatch: Dispatch,
    correlation: Correlation,
    stream: Num,
    start: u64,
    end: u64,
}

impl RocprofV3Reader<'_> {
    /// Goes on with a process.
    fn begin(&mut self, index: usize) {
        self.process = index;
        if self.processes.len() <= index {
            self.processes.resize_with(index + 1, ProcessNames::default);
        }
    }

    /// Whether what a key holds is read in this pass.
    fn wants(&mut self, key: &str) -> bool {
        let is_records = matches!(key, "buffer_records" | "callback_records");
        match self.pass {
            Pass::Second => is_records,
            Pass::NamesFirst => !is_records,
            Pass::First if !is_records => true,
            Pass::First => {
                let process = self.processes.get(self.process);
                let is_named =
                    process.is_some_and(|process| process.has_strings && process.has_symbols);
                // Once records came in, a second time would bring them in again.
                if !is_named && self.records == 0 {
                    self.pass = Pass::NamesFirst;
                }
                self.pass == Pass::First
            }
        }
    }

    fn names(&mut self) -> Option<&mut ProcessNames> {
        self.processes.get_mut(self.process)
    }

    fn metadata(&mut self, metadata: Metadata) {
        let command: Vec<String> = metadata.command.into_iter().map(|word| word.0).collect();
        let into = &mut *self.events.into;
        into.keep_command(&command.join(" "));
        if let Some(pid) = metadata.pid.0 {
            into.fact("process", pid.to_string());
        }
        if let Some(process) = self.names() {
            process.pid = metadata.pid.0;
            process.by_queue = metadata.config.group_by_queue;
        }
    }

    fn agent(&mut self, record: &AgentRecord) {
        let Some(handle) = record.id.0 else { return };
        let number = record.node_id.0.unwrap_or(handle);
        let is_gpu = record.r#type == Num(Some(2));
        let words = AgentFacts {
            number,
            is_gpu,
            name: &record.name.0,
            product: &record.product_name.0,
            units: record.cu_count.or_zero(),
            cores: record.cpu_cores_count.or_zero(),
        };
        words.add_fact(self.events.into);
        if let Some(process) = self.names() {
            let agent = Agent {
                number,
                is_cpu: !is_gpu,
            };
            process.agents.insert(handle, agent);
        }
    }

    fn counter_info(&mut self, info: CounterInfo) {
        if let (Some(process), Some(id)) = (self.names(), info.id.0) {
            process.counters.insert(id, info.name.0);
        }
    }

    fn strings(&mut self, strings: Strings) {
        let Some(process) = self.names() else { return };
        process.has_strings = true;
        let kinds = strings.buffer_records.into_iter();
        process.kinds = kinds
            .map(|kind| {
                let operations = kind.operations.into_iter().map(|name| name.0);
                (kind.kind.0, operations.collect())
            })
            .collect();
        let keyed = |list: Vec<records::KeyedText>| {
            let entries = list.into_iter();
            entries
                .filter_map(|entry| Some((entry.key.0?, entry.value.0)))
                .collect()
        };
        process.markers = keyed(strings.marker_api);
        process.renamed = keyed(strings.correlation_id.external);
    }

    fn symbol(&mut self, symbol: Symbol) {
        let id = symbol.kernel_id.0;
        if let (Some(process), Some(id), Some(name)) = (self.names(), id, symbol.name()) {
            process.kernels.insert(id, name);
        }
    }

    /// There are no more kernels.
    fn symbols_end(&mut self) {
        if let Some(process) = self.names() {
            process.has_symbols = true;
        }
    }

    fn skip(&mut self, domain: &str, records: u64) {
        if records > 0 {
            *self.skipped.entry(domain.to_owned()).or_default() += records;
        }
    }

    /// A record's times, where it has them.
    fn span(&mut self, start: Num, end: Num) -> Option<(u64, u64)> {
        self.records += 1;
        let span = start.0.zip(end.0);
        self.unread += u64::from(span.is_none());
        span
    }

    /// What a launch and what it launched have in common, in files with several processes too.
    fn link(&self, correlation: Correlation) -> u64 {
        let process = match self.process {
            0 => String::new(),
            index => index.to_string(),
        };
        common::link(correlation.internal.or_zero(), &process)
    }

    fn kernel(&mut self, record: &Record) {
        if let Some((start, end)) = self.span(record.start_timestamp, record.end_timestamp) {
            self.launch(&Launch {
                dispatch: record.dispatch_info,
                correlation: record.correlation_id,
                stream: record.stream_id,
                start,
                end,
            });
        }
    }

    fn launch(&mut self, launch: &Launch) {
        let Some(process) = self.processes.get(self.process) else {
            return;
        };
        let dispatch = launch.dispatch;
        let agent = process.agent(dispatch.agent_id).number;
        let lane = match launch.stream.0 {
            Some(stream) if !process.by_queue => Lane::Stream(agent, stream),
            _ => Lane::Queue(agent, dispatch.queue_id.or_zero()),
        };
        let name = process.kernel(dispatch.kernel_id, launch.correlation);
        let mut detail = format!(
            "grid {}, workgroup {}",
            dispatch.grid_size.dims_text(),
            dispatch.workgroup_size.dims_text()
        );
        for (title, size) in [
            ("LDS", dispatch.group_segment_size),
            ("scratch", dispatch.private_segment_size),
        ] {
            if size.or_zero() > 0 {
                detail.push_str(&format!(", {title} {}", size.or_zero()));
            }
        }
        let link = self.link(launch.correlation);
        self.events.push(&AmdEvent {
            kind: SliceKind::Kernel,
            name: &name,
            lane,
            start: launch.start,
            end: launch.end,
            link,
            detail: &detail,
        });
    }

    fn copy(&mut self, record: &Record) {
        let span = self.span(record.start_timestamp, record.end_timestamp);
        let (Some((start, end)), Some(process)) = (span, self.processes.get(self.process)) else {
            return;
        };
        let name = process.operation(record);
        let from = process.agent(record.src_agent_id);
        let to = process.agent(record.dst_agent_id);
        let stream = record.stream_id.0.filter(|_| !process.by_queue);
        let words = |agent: Agent| {
            let kind = if agent.is_cpu { "CPU" } else { "GPU" };
            format!("{kind} {}", agent.number)
        };
        let link = self.link(record.correlation_id);
        self.events.push(&AmdEvent {
            kind: SliceKind::Copy,
            name: &name,
            lane: copy_lane(common::copy_agent(&name, Some(from), Some(to)), stream),
            start,
            end,
            link,
            detail: &copy_words(&words(from), &words(to), record.bytes.0),
        });
    }

    fn allocation(&mut self, record: &Record) {
        let span = self.span(record.start_timestamp, record.end_timestamp);
        let (Some((_, end)), Some(process)) = (span, self.processes.get(self.process)) else {
            return;
        };
        let allocation = Allocation::parse(
            &process.operation(record),
            Some(process.agent(record.agent_id)),
            record.allocation_size.0,
            // The same address may be in use in two processes.
            &format!("{} {}", self.process, record.address.0),
        );
        match allocation {
            Some(allocation) => self.allocations.push(end, allocation),
            None => self.unread += 1,
        }
    }

    fn scratch(&mut self, record: &Record) {
        let span = self.span(record.start_timestamp, record.end_timestamp);
        let (Some((start, end)), Some(process)) = (span, self.processes.get(self.process)) else {
            return;
        };
        let agent = process.agent(record.agent_id).number;
        let queue = record.queue_id.or_zero();
        let (name, pid) = (process.operation(record), process.pid);
        self.events.push(&AmdEvent {
            kind: SliceKind::Call,
            name: &name,
            lane: Lane::Thread(pid, record.thread_id.or_zero()),
            start,
            end,
            link: 0,
            detail: &format!("GPU {agent}, queue {queue}"),
        });
    }

    fn call(&mut self, record: &Record) {
        let span = self.span(record.start_timestamp, record.end_timestamp);
        let (Some((start, end)), Some(process)) = (span, self.processes.get(self.process)) else {
            return;
        };
        let kind = rocprofv3_api::kind(process.kind(record.kind));
        let said = match (kind, record.correlation_id.internal.0) {
            (SliceKind::Range, Some(number)) => process.markers.get(&number).cloned(),
            _ => None,
        };
        let name = said.unwrap_or_else(|| process.operation(record));
        let pid = process.pid;
        let link = self.link(record.correlation_id);
        self.events.push(&AmdEvent {
            kind,
            name: &name,
            lane: Lane::Thread(pid, record.thread_id.or_zero()),
            start,
            end,
            link,
            detail: "",
        });
    }

    fn counters(&mut self, record: &CounterRecord) {
        self.records += 1;
        let Some(process) = self.processes.get(self.process) else {
            return;
        };
        let data = record.dispatch_data;
        let kernel = process.kernel(data.dispatch_info.kernel_id, data.correlation_id);
        // Every part of a device counts for itself.
        let mut sums: Vec<(u64, f64)> = Vec::new();
        for value in &record.records {
            let (Some(id), Some(value)) = (value.counter_id.0, value.value.0) else {
                continue;
            };
            match sums.iter_mut().find(|sum| sum.0 == id) {
                Some(sum) => sum.1 += value,
                None => sums.push((id, value)),
            }
        }
        for (id, sum) in sums {
            let name = process.counters.get(&id);
            let name = name.map_or_else(|| format!("counter {id}"), Clone::clone);
            self.counters.add(&kernel, &name, sum);
        }
        let span = data.start_timestamp.0.zip(data.end_timestamp.0);
        if let Some((start, end)) = span.filter(|(start, _)| *start > 0) {
            let launch = Launch {
                dispatch: data.dispatch_info,
                correlation: data.correlation_id,
                stream: record.stream_id,
                start,
                end,
            };
            self.counted.push((self.process, launch));
        }
    }

    /// Hands over gathered records, with notes on errors.
    fn finish(mut self, broken: Option<String>, file: &str) {
        let counted = std::mem::take(&mut self.counted);
        self.events.collect_known_launches();
        for (process, launch) in counted {
            self.process = process;
            self.launch(&launch);
        }
        let RocprofV3Reader {
            events,
            counters,
            allocations,
            skipped,
            records,
            unread,
            ..
        } = self;
        let into = &mut *events.into;
        counters.finish(into);
        allocations.finish(into);
        if !skipped.is_empty() {
            into.note(format!(
                "{file} holds records that are not taken: {}",
                process::skipped_words(&skipped)
            ));
        }
        let why = "could not be read: without times, or not only numbers";
        into.note_some(unread, "record", file, why);
        if let Some(broken) = broken {
            into.is_cut_off = true;
            into.note(format!(
                "{file} does not go on to its end: {broken}; what came before that was read: {}",
                humanize::pluralised(records, "record")
            ));
        }
        events.finish(file);
    }
}
