//! Databases of nvprof, which look like exports of Nsight Systems and are not: names stand in
//! `StringTable`, and calls have numbers in place of names.

use std::collections::HashMap;

use crate::reading::by_id::ById;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::rows::{Cells, OpenDatabase, Query};
use crate::reading::source::ImportSource;
use crate::records::slice_buffer;
use crate::records::slice_buffer::{NameLookup, RawSlice, SliceBuffer, SliceDetail, TrackLookup};
use crate::{Format, ImportError, Imported};
use powerband_core::domain::trace::{SliceKind, Track};

/// Where kernels stand; the second one only where they were made to run one after another.
const KERNELS: [&str; 2] = [
    "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
    "CUPTI_ACTIVITY_KIND_KERNEL",
];
/// Where calls stand.
const CALLS: [&str; 2] = ["CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"];

pub(crate) const FORMAT: Format = Format {
    id: "nvprof",
    title: "a database of nvprof",
    tool: "nvprof",
    name_ends: &[],
    recognises: |head| {
        head.has_table("StringTable")
            && matches!(head, FileHead::Sqlite(tables)
                if tables.iter().any(|table| table.starts_with("CUPTI_ACTIVITY_KIND_")))
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let base = OpenDatabase::open(source, into)?;
    let strings = ById::read(&base, watch, "StringTable", ["_id_", "value"], into)?;
    let query = Query::all("CUPTI_ACTIVITY_KIND_DEVICE", &["id", "name"]);
    base.each(&query, watch, |row| {
        let name = row.int(1).and_then(|id| strings.get(id));
        if let (Some(id), Some(name)) = (row.int(0), name) {
            into.fact(&format!("GPU {id}"), name.clone());
        }
        true
    })?;
    work(&base, watch, &strings, into)?;
    calls(&base, watch, into)?;
    ranges(&base, watch, &strings, into)?;
    into.note_idle_device(&source.name(), "");
    Ok(())
}

/// A row that begins with start, end, device, stream, correlation and process.
fn raw(row: &Cells<'_, '_>, kind: SliceKind, name: i64, detail: SliceDetail) -> RawSlice {
    RawSlice {
        link: row.int(4).map_or(0, |id| id as u64),
        detail,
        ..RawSlice::from_row(row, kind, name, [2, 3])
    }
}

fn work(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    strings: &ById<String>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let stream = |key| slice_buffer::device_track("Stream", key);
    const KERNEL: [&str; 12] = [
        "start",
        "end",
        "deviceId",
        "streamId",
        "correlationId",
        "name",
        "gridX",
        "gridY",
        "gridZ",
        "blockX",
        "blockY",
        "blockZ",
    ];
    let kernel = |id: i64| {
        let name = strings.get(id).map_or("unnamed", |name| name);
        lines::kernel_name(name).to_owned()
    };
    let words: (&NameLookup<'_>, &TrackLookup<'_>) = (&kernel, &stream);
    for table in KERNELS {
        let query = Query::all(table, &KERNEL);
        slice_buffer::take(base, watch, &query, words, into, |lane, row| {
            let name = row.int(5).unwrap_or(-1);
            lane.push(&raw(
                row,
                SliceKind::Kernel,
                name,
                SliceDetail::grid(row, 6),
            ))
        })?;
    }
    const MOVED: [&str; 7] = [
        "start",
        "end",
        "deviceId",
        "streamId",
        "correlationId",
        "copyKind",
        "bytes",
    ];
    let copy = |kind: i64| match kind {
        1 => "Memcpy HtoD".to_owned(),
        2 => "Memcpy DtoH".to_owned(),
        8 => "Memcpy DtoD".to_owned(),
        9 => "Memcpy HtoH".to_owned(),
        10 => "Memcpy PtoP".to_owned(),
        _ => "Memcpy".to_owned(),
    };
    let set = |_: i64| "Memset".to_owned();
    let tables: [(&str, SliceKind, &NameLookup<'_>); 3] = [
        ("CUPTI_ACTIVITY_KIND_MEMCPY", SliceKind::Copy, &copy),
        ("CUPTI_ACTIVITY_KIND_MEMCPY2", SliceKind::Copy, &copy),
        ("CUPTI_ACTIVITY_KIND_MEMSET", SliceKind::Set, &set),
    ];
    for (table, kind, name) in tables {
        let query = Query::all(table, &MOVED);
        slice_buffer::take(base, watch, &query, (name, &stream), into, |lane, row| {
            let bytes = row.int(6).map_or(SliceDetail::None, SliceDetail::Bytes);
            lane.push(&raw(row, kind, row.int(5).unwrap_or(0), bytes))
        })?;
    }
    Ok(())
}

fn calls(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    const COLUMNS: [&str; 6] = [
        "start",
        "end",
        "processId",
        "threadId",
        "correlationId",
        "cbid",
    ];
    // The file has threads as 32 bits with a sign.
    let thread = |[process, thread, _]: [i64; 3]| {
        slice_buffer::thread_track([process, i64::from(thread as u32), 0])
    };
    let runtime = |id: i64| match id {
        13 => "cudaLaunch".to_owned(),
        211 => "cudaLaunchKernel".to_owned(),
        _ => format!("call {id} of the runtime"),
    };
    let driver = |id: i64| format!("call {id} of the driver");
    let names: [&NameLookup<'_>; 2] = [&runtime, &driver];
    let mut count = 0;
    for (table, name) in CALLS.into_iter().zip(names) {
        let query = Query::all(table, &COLUMNS);
        count += slice_buffer::take(base, watch, &query, (name, &thread), into, |lane, row| {
            let name = row.int(5).unwrap_or(-1);
            lane.push(&raw(row, SliceKind::Call, name, SliceDetail::None))
        })?;
    }
    if count > 0 {
        into.note("nvprof writes numbers in place of the names of calls: those of launches are known, others stay numbers");
    }
    Ok(())
}

/// Ranges of NVTX: a row where one begins, which has its name, and one where it ends.
fn ranges(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    strings: &ById<String>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut begun: HashMap<i64, (i64, i64)> = HashMap::new();
    let mut lane = SliceBuffer::default();
    let query = Query::all("CUPTI_ACTIVITY_KIND_MARKER", &["timestamp", "id", "name"]);
    let seen = base.each(&query, watch, |row| {
        let (Some(at), Some(id)) = (row.int(0), row.int(1)) else {
            return false;
        };
        let name = row.int(2).unwrap_or(0);
        if name != 0 {
            begun.insert(id, (at, name));
            return true;
        }
        let Some((start, name)) = begun.remove(&id) else {
            return false;
        };
        lane.push(&RawSlice {
            kind: SliceKind::Range,
            name,
            track: [0; 3],
            times: (Some(start), Some(at)),
            link: 0,
            detail: SliceDetail::None,
        })
    })?;
    seen.note_errors("CUPTI_ACTIVITY_KIND_MARKER", base.source, into);
    let name = |id: i64| strings.get(id).cloned().unwrap_or_default();
    let track = |_: [i64; 3]| Track {
        device: None,
        group: "NVTX".to_owned(),
        name: "ranges".to_owned(),
    };
    lane.write_into(&name, &track, &mut into.trace);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{database, sum, survives_as};

    const TABLES: &str = "
        create table StringTable (_id_ integer primary key autoincrement, value text not null unique);
        insert into StringTable values (1, '_Z4convPf'), (2, 'Tesla V100'), (3, 'step');
        create table CUPTI_ACTIVITY_KIND_DEVICE (_id_ integer primary key, id int, name int);
        insert into CUPTI_ACTIVITY_KIND_DEVICE values (1, 0, 2);
        create table CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ integer primary key, start int, end int, deviceId int, streamId int, correlationId int, gridX int, gridY int, gridZ int, blockX int, blockY int, blockZ int, name int);
        insert into CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL values (1, 100, 350, 0, 7, 5, 1, 2, 3, 64, 1, 1, 1), (2, 400, 390, 0, 7, 6, 1, 1, 1, 64, 1, 1, 1);
        create table CUPTI_ACTIVITY_KIND_MEMCPY (_id_ integer primary key, copyKind int, bytes int, start int, end int, deviceId int, streamId int, correlationId int);
        insert into CUPTI_ACTIVITY_KIND_MEMCPY values (1, 1, 4096, 10, 60, 0, 7, 4), (2, 2, 16, 'x', 80, 0, 7, 8);
        create table CUPTI_ACTIVITY_KIND_RUNTIME (_id_ integer primary key, cbid int, start int, end int, processId int, threadId int, correlationId int, returnValue int);
        insert into CUPTI_ACTIVITY_KIND_RUNTIME values (1, 211, 90, 95, 12, -3, 5, 0);
        create table CUPTI_ACTIVITY_KIND_MARKER (_id_ integer primary key, flags int, timestamp int, id int, objectKind int, objectId blob, name int, domain int);
        insert into CUPTI_ACTIVITY_KIND_MARKER values (1, 2, 5, 1, 2, x'00', 3, 0), (2, 4, 500, 1, 2, x'00', 0, 0);";

    #[test]
    fn kernels_have_their_names_and_launches() {
        let (_folder, path) = database(TABLES);
        let read = crate::testing::read_path(&path).unwrap();
        assert_eq!((read.format, read.tool.name.as_str()), ("nvprof", "nvprof"));
        assert_eq!(sum(&read, SliceKind::Kernel), (2, 250));
        assert_eq!(sum(&read, SliceKind::Copy), (1, 50));
        assert_eq!(sum(&read, SliceKind::Range), (1, 495));
        assert_eq!(sum(&read, SliceKind::Call), (1, 5));
        let kernel = read.trace.slice(0);
        assert_eq!(read.trace.names.get(kernel.name), "_Z4convPf");
        assert_eq!(
            read.trace.names.get(kernel.detail),
            "grid 1×2×3, block 64×1×1"
        );
        assert_eq!(kernel.link, 5);
        let notes = read.notes.join("\n");
        assert!(
            notes.contains("1 row of CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"),
            "{notes}"
        );
        assert!(
            notes.contains("1 row of CUPTI_ACTIVITY_KIND_MEMCPY"),
            "{notes}"
        );
        assert!(
            read.facts
                .contains(&("GPU 0".to_owned(), "Tesla V100".to_owned()))
        );
        survives_as("a.db", &std::fs::read(&path).unwrap(), 20);
    }
}
