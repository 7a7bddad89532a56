//! Databases of rocmProfileData (`.rpd`), which are `rocpd` of schema 2.
//!
//! Kernels of a HIP graph stand there as `Task`, and copies have no name but their kind.

use std::collections::HashSet;

use crate::reading::by_id::ById;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::rows::{Cells, OpenDatabase, Query};
use crate::reading::source::ImportSource;
use crate::records::slice_buffer;
use crate::records::slice_buffer::{NameLookup, RawSlice, SliceBuffer, TrackLookup};
use crate::{Format, ImportError, Imported};
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "rpd",
    title: "a database of rocmProfileData (RPD)",
    tool: "rocmProfileData",
    name_ends: &[],
    recognises: |head| head.has_table("rocpd_op") && head.has_table("rocpd_api"),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let base = OpenDatabase::open(source, into)?;
    let lacks = [
        ("rocpd_op", "start"),
        ("rocpd_op", "opType_id"),
        ("rocpd_string", "string"),
    ];
    if let Some((table, column)) = lacks
        .iter()
        .find(|(table, column)| !base.has_column(table, column))
    {
        return Err(source.unusable_error(
            FORMAT.title,
            format!("its table {table} is missing or lacks the column {column}"),
        ));
    }
    let file = RpdDatabase::read(base, watch, into)?;
    file.ops(into)?;
    file.calls(into)
}

/// An open database with what rows are looked up in.
struct RpdDatabase<'a> {
    base: OpenDatabase<'a>,
    watch: &'a ReadProgress<'a>,
    strings: ById<String>,
    /// The call that led to an op.
    calls: ById<i64>,
}

/// The kind that `rocpd_op` has in place of a name.
const MARKER: &str = "UserMarker";

impl<'a> RpdDatabase<'a> {
    fn read(
        base: OpenDatabase<'a>,
        watch: &'a ReadProgress<'a>,
        into: &mut Imported,
    ) -> Result<Self, ImportError> {
        let strings = ById::read(&base, watch, "rocpd_string", ["id", "string"], into)?;
        let query = Query::all("rocpd_metadata", &["tag", "value"]);
        base.each(&query, watch, |row| {
            if row.text(0).is_some_and(|tag| tag == "schema_version") {
                into.fact("Schema of rocpd", row.text(1).unwrap_or_default());
            }
            true
        })?;
        let mut calls = Vec::new();
        let query = Query::all("rocpd_api_ops", &["op_id", "api_id"]);
        base.each(&query, watch, |row| {
            calls.extend(row.int(0).zip(row.int(1)));
            true
        })?;
        Ok(Self {
            base,
            watch,
            strings,
            calls: ById::new(calls),
        })
    }

    /// What ran on devices.
    fn ops(&self, into: &mut Imported) -> Result<(), ImportError> {
        const COLUMNS: [&str; 7] = [
            "start",
            "end",
            "id",
            "gpuId",
            "queueId",
            "description_id",
            "opType_id",
        ];
        let (strings, calls) = (&self.strings, &self.calls);
        let each = |lane: &mut SliceBuffer, row: &Cells<'_, '_>| {
            let (text, kind) = (row.int(5).unwrap_or(0), row.int(6).unwrap_or(0));
            // Copies have an empty text.
            let name = if text_of(strings, text).is_empty() {
                kind
            } else {
                text
            };
            let call = row.int(2).and_then(|op| calls.get(op));
            lane.push(&RawSlice {
                link: call.map_or(0, |call| *call as u64),
                ..RawSlice::from_row(row, op_kind(text_of(strings, kind)), name, [3, 4])
            })
        };
        let place = |key| slice_buffer::device_track("Queue", key);
        let name = |id| lines::kernel_name(text_of(strings, id)).to_owned();
        let query = Query::all("rocpd_op", &COLUMNS);
        slice_buffer::take(&self.base, self.watch, &query, (&name, &place), into, each).map(|_| ())
    }

    /// Calls and marks of the host.
    fn calls(&self, into: &mut Imported) -> Result<(), ImportError> {
        let launching: HashSet<i64> = self.calls.iter().map(|(_, call)| *call).collect();
        const COLUMNS: [&str; 7] = ["start", "end", "id", "pid", "tid", "apiName_id", "args_id"];
        let strings = &self.strings;
        let each = |lane: &mut SliceBuffer, row: &Cells<'_, '_>| {
            let (mut name, args) = (row.int(5).unwrap_or(0), row.int(6).unwrap_or(0));
            let kind = call_kind(text_of(strings, name));
            if text_of(strings, name) == MARKER && !text_of(strings, args).is_empty() {
                name = args;
            }
            let id = row.int(2).filter(|id| launching.contains(id));
            lane.push(&RawSlice {
                link: id.map_or(0, |id| id as u64),
                ..RawSlice::from_row(row, kind, name, [3, 4])
            })
        };
        let place = slice_buffer::thread_track;
        let name = |id| text_of(strings, id).to_owned();
        let query = Query::all("rocpd_api", &COLUMNS);
        let texts = [("args_id", "args", strings)];
        let words: (&NameLookup<'_>, &TrackLookup<'_>) = (&name, &place);
        let (base, watch) = (&self.base, self.watch);
        slice_buffer::take_with_texts(base, watch, &query, &texts, words, into, each).map(|_| ())
    }
}

fn text_of(strings: &ById<String>, id: i64) -> &str {
    strings.get(id).map_or("", |text| text)
}

/// What an op is. A task is a kernel that a graph launched.
pub(crate) fn op_kind(name: &str) -> SliceKind {
    match name {
        "KernelExecution" | "Task" => SliceKind::Kernel,
        "FillBuffer" => SliceKind::Set,
        _ if name.starts_with("Copy") => SliceKind::Copy,
        _ => SliceKind::Other,
    }
}

/// What a call is: RPD writes its own work and the user's marks among those of the runtime.
pub(crate) fn call_kind(name: &str) -> SliceKind {
    if name.ends_with("::writeRows") || name == "rpdflush" || name == "hcc_activity_callback" {
        SliceKind::Overhead
    } else if name.starts_with("hip") || name.starts_with("hsa") || name.starts_with("roc") {
        SliceKind::Call
    } else {
        SliceKind::Range
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes, fixture, path, share, sum, sums, survives_as, unpacked};

    const SMALL: &str = "rpd/matmul_result.rpd";
    const LARGE: &str = "rpd/vllm-mytrace.rpd.gz";

    /// How often each kind of op stands there, and its time.
    fn copies(imported: &Imported) -> Vec<(String, u64, u64)> {
        let mut list = sums(imported, SliceKind::Copy);
        list.sort();
        list
    }

    #[test]
    fn figures_of_a_small_file_are_exact() {
        let read = fixture(SMALL);
        assert_eq!(read.format, "rpd");
        assert_eq!(
            copies(&read),
            [
                ("CopyDeviceToHost".to_owned(), 53, 334758),
                ("CopyHostToDevice".to_owned(), 2, 157178063)
            ]
        );
        assert_eq!(sum(&read, SliceKind::Set), (1, 5440));
        assert_eq!(sum(&read, SliceKind::Kernel), (29, 26399795));
        let top = sums(&read, SliceKind::Kernel);
        assert!(
            top[0]
                .0
                .starts_with("Cijk_Ailk_Bljk_SB_MT128x64x16_MI32x32x2x1_SN_1LDSB1")
        );
        assert_eq!(
            (top[0].1, top[0].2, share(top[0].2, 26399795).as_str()),
            (1, 26211956, "99.2885")
        );
        assert!(
            top[1]
                .0
                .starts_with("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float")
        );
        assert_eq!(
            (top[1].1, top[1].2, share(top[1].2, 26399795).as_str()),
            (6, 37119, "0.1406")
        );
        let kinds = [SliceKind::Call, SliceKind::Range, SliceKind::Overhead];
        let calls: usize = kinds.iter().map(|kind| sum(&read, *kind).0).sum();
        assert_eq!(calls, 125);
        assert!(
            read.facts
                .contains(&("Schema of rocpd".to_owned(), "2".to_owned()))
        );
    }

    #[test]
    fn kernels_of_graphs_are_kernels() {
        let read = fixture(LARGE);
        // 1228 launched one by one and 7720 by graphs.
        assert_eq!(
            sum(&read, SliceKind::Kernel),
            (1228 + 7720, 316231882 + 90905793)
        );
        assert_eq!(
            copies(&read),
            [
                ("CopyDeviceToDevice".to_owned(), 804, 6169262),
                ("CopyDeviceToHost".to_owned(), 22, 747692),
                ("CopyHostToDevice".to_owned(), 350, 2570452)
            ]
        );
        let graph = read.trace.names.find("hipGraphLaunch").unwrap();
        let links: HashSet<u64> = (read.trace.slices())
            .filter(|slice| slice.name == graph)
            .map(|slice| slice.link)
            .collect();
        let (in_graphs, alone): (Vec<_>, Vec<_>) = (read.trace.slices())
            .filter(|slice| slice.kind == SliceKind::Kernel)
            .partition(|slice| links.contains(&slice.link));
        assert_eq!((in_graphs.len(), alone.len()), (7720, 1228));
        let time: u64 = alone.iter().map(|slice| slice.duration_ns).sum();
        assert_eq!(time, 316231882);
        let mut by_name = std::collections::BTreeMap::<u32, (u64, u64)>::new();
        for slice in &alone {
            let of_name = by_name.entry(slice.name).or_default();
            *of_name = (of_name.0 + 1, of_name.1 + slice.duration_ns);
        }
        let mut longest: Vec<(u64, u64)> = by_name.into_values().collect();
        longest.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        assert_eq!(longest[..2], [(64, 111476918), (192, 93595940)]);
        assert_eq!(share(longest[0].1, time), "35.2516");
        assert_eq!(share(longest[1].1, time), "29.5972");
        let kinds = [SliceKind::Call, SliceKind::Range, SliceKind::Overhead];
        let calls: usize = kinds.iter().map(|kind| sum(&read, *kind).0).sum();
        assert_eq!(calls, 14736);
        assert!(read.trace.names.find("_run_engine").is_some());
        let is_mangled = |number| read.trace.names.get(number).starts_with("_Z");
        assert!((0..read.trace.names.len() as u32).any(is_mangled));
    }

    #[test]
    fn damage_costs_no_more_than_itself() {
        survives_as("a.rpd", &std::fs::read(path(SMALL)).unwrap(), 30);
        let packed = std::fs::read(path(LARGE)).unwrap();
        drop(bytes("a.rpd.gz", &packed[..packed.len() / 2]));
        let whole = unpacked(LARGE);
        let cut = bytes("b.rpd", &whole[..whole.len() / 2]);
        assert!(cut.is_err() || !cut.unwrap().notes.is_empty());
    }
}
