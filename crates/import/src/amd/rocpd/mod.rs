//! Databases of rocprofv3 and rocprof-sys, `rocpd` of schema 3 and later: kernels, copies, calls,
//! markers, counters and memory of one process or several.
//!
//! Each process has tables of its own whose names end in its identifier; the views over them are left
//! alone, since their columns changed from release to release.

mod part;
mod places;
mod process_tables;
#[cfg(test)]
mod tests;

use crate::reading::head::FileHead;
use crate::reading::read_progress::ReadProgress;
use crate::reading::rows::{OpenDatabase, Query};
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use places::Devices;
use process_tables::DatabaseProcess;

const DISPATCHES: &str = "rocpd_kernel_dispatch";
const STRINGS: &str = "rocpd_string";

pub(crate) const FORMAT: Format = Format {
    id: "rocpd",
    title: "a database of rocprofv3 (rocpd)",
    tool: "rocprofv3",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let FileHead::Sqlite(tables) = head else {
        return false;
    };
    tables.iter().any(|table| table.starts_with(DISPATCHES))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let base = OpenDatabase::open(source, into)?;
    let ends = endings(&base)?;
    if ends
        .iter()
        .all(|end| !base.has_column(&format!("{DISPATCHES}{end}"), "kernel_id"))
    {
        return Err(source.unusable_error(
            FORMAT.title,
            "its tables lack the columns of kernels; it may be of a version that is not known yet",
        ));
    }
    if ends
        .iter()
        .any(|end| base.has_column(&format!("{DISPATCHES}{end}"), "start_id"))
    {
        return Err(source.unusable_error(
            FORMAT.title,
            "it is of a version between releases that keeps times in a table of their own; write it again with a released rocprofv3",
        ));
    }
    let mut devices = Devices::default();
    let mut number = 0;
    for end in &ends {
        for guid in processes(&base, end, watch)? {
            let part = DatabaseProcess {
                base: &base,
                watch,
                end,
                guid,
                number,
            };
            part.read(&mut devices, into)?;
            number += 1;
        }
    }
    if number > 1 {
        into.note(format!(
            "{} holds {number} processes, and their times are side by side",
            source.name()
        ));
    }
    into.note_idle_device(
        &source.name(),
        ", or rocprofv3 was not asked for --kernel-trace",
    );
    Ok(())
}

/// What the names of tables end in: an identifier for each process, or nothing.
fn endings(base: &OpenDatabase<'_>) -> Result<Vec<String>, ImportError> {
    let tables = base.tables()?;
    let of = |start: &str| -> Vec<String> {
        tables
            .iter()
            .filter_map(|table| table.strip_prefix(start))
            .map(str::to_owned)
            .collect()
    };
    let mut ends = of(DISPATCHES);
    if ends.is_empty() {
        ends = of(STRINGS);
    }
    if ends.is_empty() {
        // Views alone, as over a database that is attached.
        ends.push(String::new());
    }
    Ok(ends)
}

/// The processes that share tables. Where there is one, rows need no process.
fn processes(
    base: &OpenDatabase<'_>,
    end: &str,
    watch: &ReadProgress<'_>,
) -> Result<Vec<Option<String>>, ImportError> {
    let table = format!("rocpd_info_process{end}");
    let query = Query {
        table: &table,
        columns: &["guid"],
        only: None,
    };
    let mut guids: Vec<Option<String>> = Vec::new();
    base.each(&query, watch, |row| {
        let guid = row.text(0).map(|text| text.into_owned());
        if guid.is_some() && !guids.contains(&guid) {
            guids.push(guid);
        }
        true
    })?;
    if guids.len() < 2 {
        return Ok(vec![None]);
    }
    Ok(guids)
}
