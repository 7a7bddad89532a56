//! Databases that old rocprof leaves (`results.db`), with the same columns as its `results.csv`.
//!
//! The database of rocprof-compute is recognised here too, and refused: it holds metrics of counters,
//! not what ran when.

use crate::amd::rocprof_dispatches;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::rows::{OpenDatabase, Query};
use crate::reading::source::ImportSource;
use crate::reading::table::plain_name;
use crate::records::slice_buffer;
use crate::records::slice_buffer::{RawSlice, SliceDetail};
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Counter;
use powerband_core::domain::trace::{Names, SliceKind, Track};

const KERNELS: &str = "KERN";
/// A database of rocprof-compute.
pub(crate) const COMPUTE: Format = Format {
    id: "rocprof-compute",
    title: "a database of rocprof-compute",
    tool: "rocprof-compute",
    name_ends: &[],
    recognises: |head| {
        matches!(head, FileHead::Sqlite(tables)
            if tables.iter().any(|table| table.starts_with("compute_")))
    },
    read: |source, _, _| {
        Err(source.unusable_error(
            COMPUTE.title,
            "it holds metrics of rocprof-compute and no kernels with their times. Profile with rocprofv3 --kernel-trace, and import its files",
        ))
    },
};

pub(crate) const FORMAT: Format = Format {
    id: "rocprof-db",
    title: "a database of rocprof",
    tool: "rocprof",
    name_ends: &[],
    recognises: |head| head.has_table(KERNELS),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let base = OpenDatabase::open(source, into)?;
    if !base.has_column(KERNELS, "KernelName") {
        return Err(
            source.unusable_error(FORMAT.title, "its table KERN lacks the column KernelName")
        );
    }
    if base.has_column(KERNELS, "BeginNs") {
        kernels(&base, watch, into)?;
    } else {
        into.note(format!(
            "{} has no times, since rocprof was run without --timestamp on: only its counters were read",
            source.name()
        ));
    }
    counters(&base, watch, into)?;
    for (table, kind) in [
        ("COPY", SliceKind::Copy),
        ("HIP", SliceKind::Call),
        ("HSA", SliceKind::Call),
        ("KFD", SliceKind::Call),
        ("rocTX", SliceKind::Range),
    ] {
        others(&base, watch, table, kind, into)?;
    }
    Ok(())
}

fn kernels(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    const COLUMNS: [&str; 8] = [
        "BeginNs",
        "EndNs",
        "KernelName",
        "gpu-id",
        "queue-id",
        "grd",
        "wgr",
        "Index",
    ];
    let place = |key| slice_buffer::device_track("Queue", key);
    let query = Query::all(KERNELS, &COLUMNS);
    slice_buffer::take_named(base, watch, &query, &place, into, |lane, names, row| {
        let Some(name) = row.text(2) else {
            return false;
        };
        let name = names.number(lines::kernel_name(name.trim_matches('"')));
        lane.push(&RawSlice {
            detail: row.int(5).map_or(SliceDetail::None, |grid| {
                SliceDetail::Grid([grid, 1, 1], [row.int(6).unwrap_or(0), 1, 1])
            }),
            ..RawSlice::from_row(row, SliceKind::Kernel, i64::from(name), [3, 4])
        })
    })
}

/// One column for each counter, after all others.
fn counters(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let columns = base.columns(KERNELS);
    let counted: Vec<&str> = columns
        .iter()
        .map(String::as_str)
        .filter(|column| !rocprof_dispatches::is_plain(&plain_name(column)))
        .collect();
    if counted.is_empty() {
        return Ok(());
    }
    let mut wanted = vec!["KernelName"];
    wanted.extend(&counted);
    let mut names = Names::default();
    let mut sums: Vec<Vec<(u64, f64)>> = Vec::new();
    base.each(&Query::all(KERNELS, &wanted), watch, |row| {
        let Some(name) = row.text(0) else {
            return false;
        };
        let number = names.number(lines::kernel_name(name.trim_matches('"'))) as usize;
        if sums.len() <= number {
            sums.resize(number + 1, vec![(0, 0.0); counted.len()]);
        }
        let of_kernel = sums.get_mut(number).into_iter().flatten();
        for (column, sum) in of_kernel.enumerate() {
            if let Some(value) = row.real(column + 1) {
                *sum = (sum.0 + 1, sum.1 + value);
            }
        }
        true
    })?;
    for (number, of_kernel) in sums.iter().enumerate() {
        for (counter, (launches, sum)) in counted.iter().zip(of_kernel) {
            if *launches > 0 {
                into.counters.push(Counter {
                    kernel: names.get(number as u32).to_owned(),
                    name: (*counter).to_owned(),
                    unit: String::new(),
                    launches: *launches,
                    sum: *sum,
                });
            }
        }
    }
    into.note("kernels ran one after another while their counters were read: their times are longer than in a run without counters");
    Ok(())
}

/// Copies, calls and marks.
fn others(
    base: &OpenDatabase<'_>,
    watch: &ReadProgress<'_>,
    table: &str,
    kind: SliceKind,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let place = |key| match kind {
        // Copies have no device.
        SliceKind::Copy => Track {
            device: Some(0),
            group: "Copies".to_owned(),
            ..slice_buffer::thread_track(key)
        },
        _ => slice_buffer::thread_track(key),
    };
    let query = Query::all(table, &["BeginNs", "EndNs", "Name", "pid", "tid"]);
    slice_buffer::take_named(base, watch, &query, &place, into, |lane, names, row| {
        let Some(name) = row.text(2) else {
            return false;
        };
        let is_fill = kind == SliceKind::Copy && name.contains("Fill");
        let kind = if is_fill { SliceKind::Set } else { kind };
        let name = names.number(name.trim());
        lane.push(&RawSlice::from_row(row, kind, i64::from(name), [3, 4]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{database, read_path, sum, sums, survives_as};

    const TABLES: &str = r#"
        create table KERN ("Index" integer, "KernelName" text, "gpu-id" integer, "queue-id" integer, "queue-index" integer, "pid" integer, "tid" integer, "grd" integer, "wgr" integer, "sig" text, "DispatchNs" integer, "BeginNs" integer, "EndNs" integer, "CompleteNs" integer, "SQ_WAVES" integer);
        insert into KERN values (0, '"f(int, float) [clone .kd]"', 1, 0, 0, 5, 6, 256, 64, '0x0', 1, 100, 300, 310, '4.0000'), (1, '"f(int, float) [clone .kd]"', 1, 0, 1, 5, 6, 256, 64, '0x0', 1, 400, 500, 510, '6.0000');
        create table HIP ("BeginNs" integer, "EndNs" integer, "pid" integer, "tid" integer, "Name" text, "args" text, "Index" integer);
        insert into HIP values (50, 70, 5, 6, 'hipLaunchKernel', '( x)', 1);
        create table COPY ("BeginNs" integer, "EndNs" integer, "pid" integer, "tid" integer, "Name" text);
        insert into COPY values (10, 40, 5, 6, 'hcMemcpyHostToDevice');"#;

    #[test]
    fn kernels_and_counters_are_read() {
        let (_folder, path) = database(TABLES);
        let read = read_path(&path).unwrap();
        assert_eq!(read.format, "rocprof-db");
        assert_eq!(
            sums(&read, SliceKind::Kernel),
            [("f(int, float)".to_owned(), 2, 300)]
        );
        assert_eq!(sum(&read, SliceKind::Call), (1, 20));
        assert_eq!(sum(&read, SliceKind::Copy), (1, 30));
        let counter = &read.counters[0];
        assert_eq!(
            (counter.name.as_str(), counter.launches, counter.sum),
            ("SQ_WAVES", 2, 10.0)
        );
        assert_eq!(read.counters.len(), 1);
        survives_as("results.db", &std::fs::read(&path).unwrap(), 20);
    }

    #[test]
    fn files_without_times_say_so() {
        let (_folder, path) = database(
            r#"create table KERN ("Index" integer, "KernelName" text, "SQ_WAVES" integer); insert into KERN values (0, 'f.kd', 3);"#,
        );
        let read = read_path(&path).unwrap();
        assert!(read.trace.is_empty() && read.counters[0].kernel == "f");
        assert!(read.notes[0].contains("--timestamp on"), "{:?}", read.notes);
    }

    #[test]
    fn another_program_s_database_is_refused_in_words() {
        let (_folder, path) = database("create table compute_kernel (id integer, name text);");
        let refused = read_path(&path).unwrap_err();
        assert!(
            refused.contains("rocprof-compute") && refused.contains("--kernel-trace"),
            "{refused}"
        );
    }
}
