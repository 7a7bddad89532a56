//! The tables of one process.

use super::places::{Devices, ProcessTracks, TRACK};
use super::process_tables::DatabaseProcess;
use crate::reading::by_id::ById;
use crate::reading::lines;
use crate::reading::rows::Cells;
use crate::records::slice_buffer;
use crate::records::slice_buffer::{
    MixMap, NameLookup, RawSlice, SliceBuffer, SliceDetail, TrackLookup,
};
use crate::{ImportError, Imported};
use powerband_core::domain::profile::Counter;
use powerband_core::domain::trace::{MemoryEvent, SliceKind};

/// An event: its category, and what it has in common with others.
#[derive(Clone, Copy, Debug, Default)]
struct RocpdEvent {
    category: i64,
    link: u64,
}

/// Lookup tables of one process: names, kinds and events by number.
#[derive(Debug)]
struct ProcessLookups {
    places: ProcessTracks,
    strings: ById<String>,
    kernels: ById<String>,
    kinds: ById<SliceKind>,
    events: ById<RocpdEvent>,
    /// What markers say, by event.
    messages: ById<String>,
}

impl DatabaseProcess<'_> {
    /// Reads the process.
    pub(super) fn read(
        &self,
        devices: &mut Devices,
        into: &mut Imported,
    ) -> Result<(), ImportError> {
        self.each("metadata", &["tag", "value"], |row| {
            if row.text(0).is_some_and(|tag| tag == "schema_version") {
                let version = row.text(1).unwrap_or_default();
                into.fact("Schema of rocpd", version.into_owned());
            }
            true
        })?;
        let known = self.known(devices, into)?;
        self.kernels(&known, into)?;
        self.copies(&known, into)?;
        self.regions(&known, into)?;
        self.marks(&known, into)?;
        self.counters(&known, into)?;
        self.memory(&known, into)
    }

    /// Reads a large table into slices.
    fn take(
        &self,
        thing: &str,
        columns: &[&str],
        words: (&NameLookup<'_>, &TrackLookup<'_>),
        into: &mut Imported,
        each: impl Fn(&mut SliceBuffer, &Cells<'_, '_>) -> bool + Sync,
    ) -> Result<(), ImportError> {
        let table = self.table(thing);
        let query = self.query(&table, columns);
        slice_buffer::take(self.base, self.watch, &query, words, into, each).map(|_| ())
    }

    fn known(
        &self,
        devices: &mut Devices,
        into: &mut Imported,
    ) -> Result<ProcessLookups, ImportError> {
        let places = ProcessTracks::read(self, devices, into)?;
        let strings = self.texts("string", "string")?;
        let mut symbols = Vec::new();
        self.each(
            "info_kernel_symbol",
            &["id", "display_name", "kernel_name"],
            |row| {
                let Some(id) = row.int(0) else { return false };
                let name = row.text(1).or_else(|| row.text(2)).unwrap_or_default();
                symbols.push((id, lines::kernel_name(&name).to_owned()));
                true
            },
        )?;
        let named = self.texts("info_category", "name")?;
        let categories = if named.is_empty() { &strings } else { &named };
        let kinds = categories.iter().map(|(id, name)| (*id, kind(name)));
        let kinds = ById::new(kinds.collect());
        let events = self.events()?;
        let messages = self.messages(&kinds, &events)?;
        Ok(ProcessLookups {
            places,
            strings,
            kernels: ById::new(symbols),
            kinds,
            events,
            messages,
        })
    }

    fn events(&self) -> Result<ById<RocpdEvent>, ImportError> {
        let table = self.table("event");
        let columns = ["id", "category_id", "stack_id", "correlation_id"];
        let query = self.query(&table, &columns);
        let number = self.number;
        type EventRows = Vec<(i64, RocpdEvent)>;
        let (parts, _) =
            self.base
                .read_in_parallel(&query, self.watch, |found: &mut EventRows, row| {
                    let Some(id) = row.int(0) else { return false };
                    // The second one is the user's own, and counts only where the tool gave none.
                    let common = [2, 3]
                        .iter()
                        .find_map(|column| row.int(*column).filter(|id| *id != 0));
                    let event = RocpdEvent {
                        category: row.int(1).unwrap_or(-1),
                        link: common.map_or(0, |common| (common as u64) ^ (number << 48)),
                    };
                    found.push((id, event));
                    true
                })?;
        Ok(ById::new(parts.concat()))
    }

    /// What markers say, which stands in another column than what calls are called.
    fn messages(
        &self,
        kinds: &ById<SliceKind>,
        events: &ById<RocpdEvent>,
    ) -> Result<ById<String>, ImportError> {
        let is_range = |category: i64| kinds.get(category) == Some(&SliceKind::Range);
        let mut found = Vec::new();
        if !events.iter().any(|(_, event)| is_range(event.category)) {
            return Ok(ById::default());
        }
        self.each("event", &["id", "category_id", "extdata"], |row| {
            let (Some(id), Some(category)) = (row.int(0), row.int(1)) else {
                return true;
            };
            if is_range(category)
                && let Some(text) = row.text(2).filter(|text| text.len() > 2)
                && let Ok(serde_json::Value::Object(more)) = serde_json::from_str(&text)
                && let Some(message) = more.get("message").and_then(|message| message.as_str())
            {
                found.push((id, message.to_owned()));
            }
            true
        })?;
        Ok(ById::new(found))
    }

    fn kernels(&self, known: &ProcessLookups, into: &mut Imported) -> Result<(), ImportError> {
        const COLUMNS: [&str; 14] = [
            "start",
            "end",
            "kernel_id",
            "event_id",
            "agent_id",
            "queue_id",
            "stream_id",
            "track_id",
            "grid_size_x",
            "grid_size_y",
            "grid_size_z",
            "workgroup_size_x",
            "workgroup_size_y",
            "workgroup_size_z",
        ];
        let name = |id: i64| match known.kernels.get(id) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("kernel {id}"),
        };
        let place = |key| known.places.stream(key);
        let words: (&NameLookup<'_>, &TrackLookup<'_>) = (&name, &place);
        self.take("kernel_dispatch", &COLUMNS, words, into, |lane, row| {
            lane.push(&RawSlice {
                kind: SliceKind::Kernel,
                name: row.int(2).unwrap_or(0),
                track: track(row, [4, 5, 6], 7),
                times: (row.int(0), row.int(1)),
                link: known.link(row.int(3)),
                detail: SliceDetail::grid(row, 8),
            })
        })
    }

    fn copies(&self, known: &ProcessLookups, into: &mut Imported) -> Result<(), ImportError> {
        const COLUMNS: [&str; 9] = [
            "start",
            "end",
            "name_id",
            "event_id",
            "src_agent_id",
            "dst_agent_id",
            "queue_id",
            "stream_id",
            "size",
        ];
        let name = |id: i64| known.string(id, "copy").to_owned();
        let place = |key| known.places.stream(key);
        let words: (&NameLookup<'_>, &TrackLookup<'_>) = (&name, &place);
        self.take("memory_copy", &COLUMNS, words, into, |lane, row| {
            // A copy to the host belongs to the GPU that it comes from.
            let to = row.int(5).filter(|agent| !known.places.is_cpu(*agent));
            let agent = to.or_else(|| row.int(4)).or_else(|| row.int(5));
            lane.push(&RawSlice {
                kind: SliceKind::Copy,
                name: row.int(2).unwrap_or(0),
                track: [
                    agent.unwrap_or(0),
                    row.int(6).unwrap_or(0),
                    row.int(7).unwrap_or(0),
                ],
                times: (row.int(0), row.int(1)),
                link: known.link(row.int(3)),
                detail: row.int(8).map_or(SliceDetail::None, SliceDetail::Bytes),
            })
        })
    }

    fn regions(&self, known: &ProcessLookups, into: &mut Imported) -> Result<(), ImportError> {
        let columns = [
            "start", "end", "name_id", "event_id", "pid", "tid", "track_id",
        ];
        let name = |id: i64| known.name_text(id).to_owned();
        let place = |key| known.places.thread(key);
        let words: (&NameLookup<'_>, &TrackLookup<'_>) = (&name, &place);
        self.take("region", &columns, words, into, |lane, row| {
            let event = row.int(3);
            lane.push(&RawSlice {
                kind: known.kind(event),
                name: known.name(event, row.int(2)),
                track: track(row, [4, 5, 5], 6),
                times: (row.int(0), row.int(1)),
                link: known.link(event),
                detail: SliceDetail::None,
            })
        })
    }

    /// Marks of the program.
    fn marks(&self, known: &ProcessLookups, into: &mut Imported) -> Result<(), ImportError> {
        if known.messages.is_empty() {
            return Ok(());
        }
        let columns = ["timestamp", "track_id", "event_id", "name_id"];
        let name = |id: i64| known.name_text(id).to_owned();
        let place = |key| known.places.thread(key);
        let words: (&NameLookup<'_>, &TrackLookup<'_>) = (&name, &place);
        self.take("sample", &columns, words, into, |lane, row| {
            let event = row.int(2);
            if known.kind(event) != SliceKind::Range {
                return true;
            }
            lane.push(&RawSlice {
                kind: SliceKind::Range,
                name: known.name(event, row.int(3)),
                track: [TRACK, row.int(1).unwrap_or(0), 0],
                times: (row.int(0), row.int(0)),
                link: 0,
                detail: SliceDetail::None,
            })
        })
    }

    fn counters(&self, known: &ProcessLookups, into: &mut Imported) -> Result<(), ImportError> {
        let mut counted: MixMap<(i64, i64), (u64, f64, i64)> = MixMap::default();
        let mut order = Vec::new();
        let mut launched = Vec::new();
        let mut events = Vec::new();
        let columns = ["event_id", "pmc_id", "value"];
        self.each("pmc_event", &columns, |row| {
            let (Some(event), Some(pmc), Some(value)) = (row.int(0), row.int(1), row.real(2))
            else {
                return false;
            };
            events.push((event, pmc, value));
            true
        })?
        .note_errors("rocpd_pmc_event", self.base.source, into);
        if events.is_empty() {
            return Ok(());
        }
        self.each("kernel_dispatch", &["event_id", "kernel_id"], |row| {
            launched.extend(row.int(0).zip(row.int(1)));
            true
        })?;
        let launched = ById::new(launched);
        for (event, pmc, value) in events {
            // Counters of the system's own events belong to no kernel.
            let Some(kernel) = launched.get(event) else {
                continue;
            };
            let key = (*kernel, pmc);
            let of_key = counted.entry(key).or_insert_with(|| {
                order.push(key);
                (0, 0.0, i64::MIN)
            });
            // One launch may have a row for each part of the chip.
            of_key.0 += u64::from(of_key.2 != event);
            of_key.1 += value;
            of_key.2 = event;
        }
        if order.is_empty() {
            return Ok(());
        }
        into.note("kernels ran one after another while their counters were read: their times are longer than in a run without counters");
        let names = self.texts("info_pmc", "name")?;
        let symbols = self.texts("info_pmc", "symbol")?;
        let units = self.texts("info_pmc", "units")?;
        let text = |texts: &ById<String>, id: i64| texts.get(id).cloned().unwrap_or_default();
        for key in order {
            let Some((launches, sum, _)) = counted.get(&key) else {
                continue;
            };
            let mut name = text(&names, key.1);
            if name.is_empty() {
                name = text(&symbols, key.1);
            }
            add_counter(
                Counter {
                    kernel: text(&known.kernels, key.0),
                    name,
                    unit: text(&units, key.1),
                    launches: *launches,
                    sum: *sum,
                },
                into,
            );
        }
        Ok(())
    }

    fn memory(&self, known: &ProcessLookups, into: &mut Imported) -> Result<(), ImportError> {
        let mut taken: MixMap<i64, (i64, Option<u32>)> = MixMap::default();
        const COLUMNS: [&str; 7] = [
            "start", "type", "level", "agent_id", "address", "size", "track_id",
        ];
        let seen = self.each("memory_allocate", &COLUMNS, |row| {
            let (Some(at_ns), Some(kind)) = (row.int(0), row.text(1)) else {
                return false;
            };
            // Addresses that are set aside take no memory.
            if row.text(2).is_some_and(|level| level != "REAL") {
                return true;
            }
            let address = row.int(4).unwrap_or(0);
            let (change, device) = match &*kind {
                "ALLOC" => {
                    let size = row.int(5).unwrap_or(0).max(0);
                    let device = row.int(3).and_then(|agent| known.places.device(agent));
                    taken.insert(address, (size, device));
                    (size, device)
                }
                "FREE" => match taken.remove(&address) {
                    Some((size, device)) => (-size, device),
                    None => return true,
                },
                _ => return true,
            };
            into.trace.memory.push(MemoryEvent {
                at_ns,
                device,
                change,
                total: None,
                track: None,
                op: 0,
            });
            true
        })?;
        seen.note_errors("rocpd_memory_allocate", self.base.source, into);
        Ok(())
    }
}

impl ProcessLookups {
    fn link(&self, event: Option<i64>) -> u64 {
        let event = event.and_then(|id| self.events.get(id));
        event.map_or(0, |event| event.link)
    }

    fn kind(&self, event: Option<i64>) -> SliceKind {
        let event = event.and_then(|id| self.events.get(id));
        let kind = event.and_then(|event| self.kinds.get(event.category));
        kind.copied().unwrap_or(SliceKind::Call)
    }

    /// The number of an event's name; negative for the message of a marker, where there is one.
    fn name(&self, event: Option<i64>, text: Option<i64>) -> i64 {
        let said = event.filter(|id| *id >= 0 && self.messages.get(*id).is_some());
        said.map_or_else(|| text.unwrap_or(0).max(0), |event| -1 - event)
    }

    /// The text of a name number: negative numbers are messages of markers.
    fn name_text(&self, name: i64) -> &str {
        if name >= 0 {
            return self.string(name, "region");
        }
        let event = -1 - name;
        self.messages.get(event).map_or("", |message| message)
    }

    fn string<'a>(&'a self, id: i64, otherwise: &'a str) -> &'a str {
        match self.strings.get(id) {
            Some(text) if !text.is_empty() => text,
            _ => otherwise,
        }
    }
}

/// The identity of a track: three columns, or the number of a track where there is one.
fn track(row: &Cells<'_, '_>, columns: [usize; 3], track: usize) -> [i64; 3] {
    match row.int(track) {
        Some(track) => [TRACK, track, 0],
        None => columns.map(|column| row.int(column).unwrap_or(0)),
    }
}

/// Adds to the counter of the same kernel and name: each card has its own.
fn add_counter(counter: Counter, into: &mut Imported) {
    let same = |known: &&mut Counter| {
        known.kernel == counter.kernel && known.name == counter.name && known.unit == counter.unit
    };
    match into.counters.iter_mut().find(same) {
        Some(known) => {
            known.launches += counter.launches;
            known.sum += counter.sum;
        }
        None => into.counters.push(counter),
    }
}

/// What the rows of a category are: `HIP_RUNTIME_API_EXT`, `MARKER_CORE_API`, `rocm_hip_api`, `python`.
fn kind(category: &str) -> SliceKind {
    let category = category.to_ascii_lowercase();
    let has = |part: &str| category.contains(part);
    if has("marker") {
        SliceKind::Range
    } else if has("python") {
        SliceKind::Script
    } else if has("kfd") || has("sampling") {
        SliceKind::Other
    } else if has("api") || has("hip") || has("hsa") || has("rccl") || has("mpi") || has("pthread")
    {
        SliceKind::Call
    } else if has("user") || has("host") {
        SliceKind::Range
    } else {
        SliceKind::Other
    }
}
