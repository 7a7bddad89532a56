//! `rocprofv3 --memory-copy-trace`, `--memory-allocation-trace`, `--scratch-memory-trace`.

use rustc_hash::FxHashMap;

use crate::amd::common;
use crate::amd::common::{Agent, AmdEvent, Lane};
use crate::amd::event_table::{self, EventColumns};
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::table::TextTable;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::trace::{MemoryEvent, SliceKind};

pub(crate) const COPIES: Format = Format {
    id: "rocprofv3-copies",
    title: "a trace of memory copies of rocprofv3",
    tool: "rocprofv3",
    name_ends: &["_memory_copy_trace.csv"],
    recognises: |head| head.has_columns(',', &["kind", "direction", "start_timestamp"]),
    read: read_copies,
};

fn read_copies(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let table = TextTable::open(source, watch, ',', &[])?;
    let columns = EventColumns::find(&table);
    let direction = table.place(&["direction", "name"]);
    let from = table.place(&["source_agent_id"]);
    let to = table.place(&["destination_agent_id"]);
    let bytes = table.place(&["bytes", "size"]);
    event_table::read_rows(table, source, into, |row, events| {
        let (start, end) = columns.span(row)?;
        let name = row.text(direction);
        let (from, to) = (row.text(from), row.text(to));
        events.push(&AmdEvent {
            kind: SliceKind::Copy,
            name,
            lane: copy_lane(
                common::copy_agent(name, Agent::parse(from), Agent::parse(to)),
                row.whole_number(columns.stream),
            ),
            start,
            end,
            link: columns.link(row),
            detail: &copy_words(from, to, row.whole_number(bytes)),
        });
        Some(())
    })
}

/// Where a copy is shown.
pub(crate) fn copy_lane(agent: Option<u64>, stream: Option<u64>) -> Lane {
    match (agent, stream) {
        (Some(agent), Some(stream)) => Lane::Stream(agent, stream),
        (Some(agent), None) => Lane::Copies(agent),
        (None, _) => Lane::HostCopies,
    }
}

/// From where to where, and how much where that is known.
pub(crate) fn copy_words(from: &str, to: &str, bytes: Option<u64>) -> String {
    match bytes {
        Some(bytes) => format!("from {from} to {to}, {bytes} bytes"),
        None => format!("from {from} to {to}"),
    }
}

/// Memory that was taken and given back.
pub(crate) const ALLOCATIONS: Format = Format {
    id: "rocprofv3-allocations",
    title: "a trace of memory allocations of rocprofv3",
    tool: "rocprofv3",
    name_ends: &["_memory_allocation_trace.csv", "_memory_allocation.csv"],
    recognises: |head| head.has_columns(',', &["kind", "operation", "allocation_size", "address"]),
    read: read_allocations,
};

fn read_allocations(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut table = TextTable::open(source, watch, ',', &[])?;
    let operation = table.place(&["operation"]);
    let columns = EventColumns::find(&table);
    let size = table.place(&["allocation_size"]);
    let address = table.place(&["address"]);
    let mut allocations = Allocations::default();
    let mut unread = 0;
    while let Some(row) = table.next_row()? {
        let taken = Allocation::parse(
            row.text(operation),
            Agent::parse(row.text(columns.agent)),
            row.whole_number(size),
            row.text(address),
        );
        match (taken, columns.span(&row)) {
            (Some(taken), Some((_, end))) => allocations.push(end, taken),
            _ => unread += 1,
        }
    }
    allocations.finish(into);
    table.finish(unread, into);
    Ok(())
}

/// Memory that is taken or given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    address: String,
    /// Bytes and device; nothing where it is given back.
    taken: Option<(u64, Option<u32>)>,
}

impl Allocation {
    /// Reads one. A release has only an address.
    pub(crate) fn parse(
        operation: &str,
        agent: Option<Agent>,
        bytes: Option<u64>,
        address: &str,
    ) -> Option<Self> {
        let address = address.to_owned();
        let taken = if operation.ends_with("FREE") {
            None
        } else if operation.ends_with("ALLOCATE") || operation.ends_with("ALLOC") {
            let device = agent.filter(|agent| !agent.is_cpu);
            Some((bytes?, device.map(|agent| agent.number as u32)))
        } else {
            return None;
        };
        Some(Self { address, taken })
    }
}

/// Memory that was taken and given back, as it is read.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    list: Vec<(u64, Allocation)>,
}

impl Allocations {
    pub(crate) fn push(&mut self, at: u64, allocation: Allocation) {
        self.list.push((at, allocation));
    }

    /// Puts them in order, and finds out how much is given back each time.
    pub(crate) fn finish(mut self, into: &mut Imported) {
        self.list.sort_by_key(|(at, _)| *at);
        let mut held: FxHashMap<String, (u64, Option<u32>)> = FxHashMap::default();
        let mut unknown = 0;
        for (at, Allocation { address, taken }) in self.list {
            let is_free = taken.is_none();
            let known = match taken {
                Some(taken) => {
                    held.insert(address, taken);
                    Some(taken)
                }
                None => held.remove(&address),
            };
            let Some((bytes, device)) = known else {
                unknown += 1;
                continue;
            };
            let change = i64::try_from(bytes).unwrap_or(i64::MAX);
            into.trace.memory.push(MemoryEvent {
                at_ns: i64::try_from(at).unwrap_or(i64::MAX),
                device,
                change: if is_free { -change } else { change },
                total: None,
                track: None,
                op: 0,
            });
        }
        if unknown > 0 {
            into.note(format!(
                "{unknown} times memory was released that was allocated before the recording began; its size is not known"
            ));
        }
    }
}

/// Memory for what does not fit into registers.
pub(crate) const SCRATCH: Format = Format {
    id: "rocprofv3-scratch",
    title: "a trace of scratch memory of rocprofv3",
    tool: "rocprofv3",
    name_ends: &["_scratch_memory_trace.csv"],
    recognises: |head| {
        head.has_columns(
            ',',
            &["kind", "operation", "alloc_flags", "start_timestamp"],
        )
    },
    read: read_scratch,
};

fn read_scratch(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let table = TextTable::open(source, watch, ',', &[])?;
    let columns = EventColumns::find(&table);
    let operation = table.place(&["operation"]);
    event_table::read_rows(table, source, into, |row, events| {
        let (start, end) = columns.span(row)?;
        let (agent, queue) = (row.text(columns.agent), row.text(columns.queue));
        events.push(&AmdEvent {
            kind: SliceKind::Call,
            name: row.text(operation),
            lane: columns.thread(row),
            start,
            end,
            link: 0,
            detail: &format!("{agent}, queue {queue}"),
        });
        Some(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cut_everywhere, fixture, sums, text};

    #[test]
    fn copies_give_the_figures_of_the_files() {
        for (name, rows, total, top) in [
            ("docs-memory_copy_trace.csv", 4, 329_162, (2, 176_761)),
            (
                "rocm62-docs-memory_copy_trace.csv",
                2,
                1_145_680,
                (1, 581_800),
            ),
        ] {
            let imported = fixture(&format!("rocprofv3/{name}"));
            let sums = sums(&imported, SliceKind::Copy);
            assert_eq!(imported.trace.len(), rows);
            assert_eq!(sums.iter().map(|sum| sum.2).sum::<u64>(), total);
            assert_eq!(
                sums[0],
                ("MEMORY_COPY_DEVICE_TO_HOST".to_owned(), top.0, top.1)
            );
            assert!(imported.notes.is_empty(), "{:?}", imported.notes);
        }
    }

    #[test]
    fn copies_are_shown_on_the_device() {
        let imported = fixture("rocprofv3/docs-memory_copy_trace.csv");
        assert_eq!(imported.trace.tracks.len(), 1);
        let track = &imported.trace.tracks[0];
        assert_eq!(
            (track.device, track.group.as_str(), track.name.as_str()),
            (Some(4), "GPU 4", "stream 0")
        );
        let slice = imported.trace.slice(2);
        assert_eq!(slice.link, 23);
        assert_eq!(
            imported.trace.names.get(slice.detail),
            "from Agent 4 to Agent 0"
        );
        let old = fixture("rocprofv3/rocm62-docs-memory_copy_trace.csv");
        let track = &old.trace.tracks[0];
        assert_eq!((track.device, track.name.as_str()), (Some(1), "copies"));
    }

    #[test]
    fn memory_that_is_given_back_is_found_by_its_address() {
        let imported = text(
            "m.csv",
            "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\
             \"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x00000000000000aa\",3,50,60\n\
             \"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 4\",1024,\"0x00000000000000aa\",1,10,20\n\
             \"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"CPU 0\",18446744073709551615,\"0x00000000000000bb\",2,30,40\n\
             \"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x00000000000000cc\",4,50,70\n\
             \"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 4\",lots,\"0x00000000000000dd\",5,50,80\n",
        );
        let events: Vec<(i64, Option<u32>, i64)> = imported
            .trace
            .memory
            .iter()
            .map(|event| (event.at_ns, event.device, event.change))
            .collect();
        assert_eq!(
            events,
            [
                (20, Some(4), 1024),
                (40, None, i64::MAX),
                (60, Some(4), -1024)
            ]
        );
        assert_eq!(imported.notes.len(), 2, "{:?}", imported.notes);
    }

    #[test]
    fn scratch_memory_is_a_call() {
        let imported = text(
            "s.csv",
            "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\",\"Start_Timestamp\",\"End_Timestamp\"\n\
             \"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_ALLOC\",\"Agent 4\",1,77,0,100,150\n",
        );
        let slice = imported.trace.slice(0);
        assert_eq!((slice.kind, slice.duration_ns), (SliceKind::Call, 50));
        assert_eq!(imported.trace.names.get(slice.detail), "Agent 4, queue 1");
        assert_eq!(imported.trace.tracks[0].name, "thread 77");
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_read_up_to_there() {
        let lengths = cut_everywhere("rocprofv3/docs-memory_copy_trace.csv", 1, |imported| {
            imported.trace.len()
        });
        assert!(lengths.is_sorted() && lengths.contains(&3));
    }
}
