//! What nvprof prints, as text or with `--csv`: the summary by kernel and call, and the traces of
//! `--print-gpu-trace` and `--print-api-trace`.

use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::{Slice, SliceKind, Track};

pub(crate) const FORMAT: Format = Format {
    id: "nvprof-text",
    title: "an output of nvprof",
    tool: "nvprof",
    name_ends: &[],
    recognises: |head: &FileHead| {
        head.any_text()
            .is_some_and(|text| text.lines().any(|line| NvprofTable::headed(line).is_some()))
    },
    read,
};

/// The columns of the summary, which follow the type where it has one.
const SUMMARY: [&str; 7] = ["time(%)", "time", "calls", "avg", "min", "max", "name"];

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut output = NvprofOutput::default();
    let n_totals = into.totals.len();
    for line in source.progress_reader(text.lines(), watch) {
        output.line(line?, into);
    }
    into.note_unread(output.unread, "row", &source.name());
    if into.totals.len() > n_totals && !into.trace.is_empty() {
        into.totals.truncate(n_totals);
        into.note("the summary is of the same run as the trace, and is left out beside it");
    }
    if output.tables == 0 {
        return Err(source.unusable_error(FORMAT.title, "it has no table of times"));
    }
    Ok(())
}

/// Columns and section of the table that is read.
#[derive(Debug)]
struct NvprofTable {
    /// Titles in small letters.
    columns: Vec<String>,
    is_csv: bool,
    is_summary: bool,
    /// The unit of each column, of a CSV.
    units: Vec<String>,
    /// What the rows are, as the last row that had it said.
    section: String,
}

impl NvprofTable {
    /// The table of which a line is the head.
    fn headed(line: &str) -> Option<Self> {
        // Most lines of most files are none.
        if !line.contains("Time(%)") && !line.contains("Duration") {
            return None;
        }
        let is_csv = line.trim_start().starts_with('"');
        let columns: Vec<String> = cells(line, is_csv)
            .iter()
            .map(|title| title.trim_end_matches('*').to_lowercase())
            .collect();
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let is_summary = names.ends_with(&SUMMARY) && names.len() <= SUMMARY.len() + 1;
        let is_trace = names.starts_with(&["start", "duration"]) && names.last() == Some(&"name");
        (is_summary || is_trace).then(|| Self {
            columns,
            is_csv,
            is_summary,
            units: Vec::new(),
            section: String::new(),
        })
    }

    fn place(&self, names: &[&str]) -> Option<usize> {
        let mut places = names.iter();
        places.find_map(|name| self.columns.iter().position(|column| column == name))
    }
}

/// The cells of a line: of text, they stand at least two blanks apart.
fn cells(line: &str, is_csv: bool) -> Vec<String> {
    if is_csv {
        return lines::fields(line, ',');
    }
    let parts = line.split("  ").map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// State of reading the output.
#[derive(Debug, Default)]
struct NvprofOutput {
    table: Option<NvprofTable>,
    tables: u64,
    unread: u64,
}

impl NvprofOutput {
    fn line(&mut self, line: &str, into: &mut Imported) {
        if let Some(table) = NvprofTable::headed(line) {
            self.tables += 1;
            self.table = Some(table);
            return;
        }
        if let Some(message) = line.trim_start().strip_prefix("==") {
            self.message(message, into);
            return;
        }
        let Some(table) = &mut self.table else {
            return;
        };
        if line.trim().is_empty() {
            return;
        }
        if table.is_csv && table.units.is_empty() {
            table.units = cells(line, true);
            return;
        }
        let is_read = if table.is_summary {
            summary_row(table, line, into)
        } else {
            trace_row(table, line, into)
        };
        if is_read.is_none() {
            // What the program itself prints may follow the table.
            let first = line.split_whitespace().next().unwrap_or_default();
            let is_row = table.is_csv || first.ends_with('%') || lines::time_ns(first).is_some();
            self.unread += u64::from(is_row);
        }
    }

    /// `==123== NVPROF is profiling process 123, command: ./a.out`.
    fn message(&mut self, message: &str, into: &mut Imported) {
        let message = message.trim_start_matches(|c: char| c == '=' || c.is_ascii_digit());
        let message = message.trim();
        if let Some((_, command)) = message.split_once("command: ") {
            into.keep_command(command);
        }
        // Calls have a head of their own in versions before 8.
        if message.starts_with("API calls")
            && let Some(table) = &mut self.table
        {
            "API calls".clone_into(&mut table.section);
        }
        if message.starts_with("Warning:") {
            into.note(format!(
                "nvprof: {}",
                message.trim_start_matches("Warning:").trim()
            ));
        }
    }
}

/// What a name is, with the title of its section.
fn kind_of(section: &str, name: &str) -> SliceKind {
    let is_call = section.starts_with("API calls") || section.is_empty() && is_call_name(name);
    match name {
        _ if is_call => SliceKind::Call,
        _ if name.starts_with("[CUDA memcpy") || name.starts_with("[Unified Memory Memcpy") => {
            SliceKind::Copy
        }
        _ if name.starts_with("[CUDA memset") => SliceKind::Set,
        _ if section.is_empty() || section.starts_with("GPU activities") => SliceKind::Kernel,
        _ => SliceKind::Other,
    }
}

/// `cudaLaunchKernel`, `cuMemAlloc`.
fn is_call_name(name: &str) -> bool {
    let rest = name
        .strip_prefix("cuda")
        .or_else(|| name.strip_prefix("cu"));
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_uppercase())
            && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// A row of the summary: `GPU activities:  94.83%  611.62ms  1  611.62ms  611.62ms  611.62ms  add(float*)`.
fn summary_row(table: &mut NvprofTable, line: &str, into: &mut Imported) -> Option<()> {
    let mut cells = cells(line, table.is_csv);
    let has_type = table.columns.len() > SUMMARY.len();
    if table.is_csv && has_type && cells.len() >= table.columns.len() {
        table.section = cells.remove(0);
    }
    if !table.is_csv {
        cells = text_cells(line, &mut table.section)?;
    }
    let [_, time, calls, _, min, max, ..] = cells.as_slice() else {
        return None;
    };
    let unit = |place: usize| {
        let place = place + usize::from(has_type);
        table.units.get(place).map_or("", |unit| unit.as_str())
    };
    let ns = |place: usize, cell: &str| {
        if table.is_csv {
            Some(lines::number(cell)? * lines::unit_ns(unit(place))?)
        } else {
            lines::time_ns(cell)
        }
    };
    let name = cells.get(6..)?.join(if table.is_csv { "," } else { "  " });
    let kind = kind_of(&table.section, &name);
    let total = Total {
        work: None,
        kind,
        name,
        op: String::new(),
        place: String::new(),
        calls: lines::whole_number(calls)?,
        total_ns: lines::ns(ns(1, time)?, 1.0),
        min_ns: ns(4, min).map(|ns| lines::ns(ns, 1.0)),
        max_ns: ns(5, max).map(|ns| lines::ns(ns, 1.0)),
    };
    into.totals.push(total);
    Some(())
}

/// The cells of a row in text, whose numbers may stand one blank apart and whose name may hold blanks.
fn text_cells(line: &str, section: &mut String) -> Option<Vec<String>> {
    let share = line.find('%')?;
    let start = line.get(..share)?.rfind([' ', ':']).map_or(0, |at| at + 1);
    let before = line.get(..start)?.trim().trim_end_matches(':');
    if !before.is_empty() {
        before.clone_into(section);
    }
    let mut rest = line.get(start..)?;
    let mut cells = Vec::new();
    for _ in 0..6 {
        let (cell, after) = rest.trim_start().split_once(' ')?;
        cells.push(cell.to_owned());
        rest = after;
    }
    cells.push(rest.trim().to_owned());
    Some(cells)
}

/// A row of a trace.
fn trace_row(table: &NvprofTable, line: &str, into: &mut Imported) -> Option<()> {
    let cells = cells(line, table.is_csv);
    if cells.len() != table.columns.len() {
        return None;
    }
    let cell = |names: &[&str]| Some(cells.get(table.place(names)?)?.as_str());
    let ns = |name: &str| {
        let place = table.place(&[name])?;
        let cell = cells.get(place)?;
        if table.is_csv {
            Some(lines::number(cell)? * lines::unit_ns(table.units.get(place)?)?)
        } else {
            lines::time_ns(cell)
        }
    };
    let (start, duration) = (ns("start")?, ns("duration")?);
    // Behind a kernel's name stands the number by which its launch is found.
    let name = cell(&["name"])?;
    let numbered = name
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once(" ["));
    let link = numbered.and_then(|(_, number)| number.parse().ok());
    let name = numbered
        .filter(|_| link.is_some())
        .map_or(name, |(name, _)| name);
    let device = cell(&["device"]);
    let section = if device.is_some() {
        "GPU activities"
    } else {
        ""
    };
    let kind = kind_of(section, name);
    let track = device.map_or_else(
        || Track {
            device: None,
            group: "CUDA".to_owned(),
            name: "calls".to_owned(),
        },
        |device| device_track(device, cell(&["stream"]).unwrap_or("0")),
    );
    let track = into.trace.track(track);
    let name = into.trace.names.number(lines::kernel_name(name));
    into.trace.push(Slice {
        link: link.unwrap_or(0),
        ..Slice::new(
            kind,
            name,
            track,
            start.round() as i64,
            lines::ns(duration, 1.0),
        )
    });
    Some(())
}

/// The stream of a device: `Tesla V100-SXM2 (1)`, or a name alone where there is one device.
fn device_track(device: &str, stream: &str) -> Track {
    let number = device
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once('('))
        .and_then(|(_, number)| number.parse().ok());
    let number = number.unwrap_or(0);
    Track {
        device: Some(number),
        group: format!("GPU {number}"),
        name: format!("Stream {stream}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, sums, totals};

    const SUMMARY_TEXT: &str = "nvprof/vector-add.summary.txt";
    const SUMMARY_CSV: &str = "nvprof/vector-add.summary.csv";
    const TRACE_TEXT: &str = "nvprof/vector-add.gpu-trace.txt";

    #[test]
    fn the_summary_of_a_real_run_is_the_same_as_text_and_as_table() {
        for file in [SUMMARY_TEXT, SUMMARY_CSV] {
            let imported = testing::fixture(file);
            assert_eq!(
                totals(&imported),
                [
                    ("ptxcall_gpu_add1__1", 1, 247_610_000),
                    ("cuEventSynchronize", 1, 247_830_000),
                    ("cuLaunchKernel", 1, 1_134_300),
                    ("cuEventRecord", 1, 4_949),
                    ("cuEventCreate", 1, 4_419),
                    ("cuCtxGetCurrent", 2, 960),
                ],
                "{file}"
            );
            assert_eq!(imported.totals[0].kind, SliceKind::Kernel);
            assert_eq!(imported.totals[5].kind, SliceKind::Call);
            assert_eq!(
                (imported.totals[5].min_ns, imported.totals[5].max_ns),
                (Some(358), Some(602))
            );
            assert!(imported.notes.is_empty(), "{:?}", imported.notes);
        }
    }

    #[test]
    fn launches_of_a_real_trace_have_their_times() {
        let imported = testing::fixture(TRACE_TEXT);
        let kernels = sums(&imported, SliceKind::Kernel);
        assert_eq!(
            kernels,
            [("ptxcall_gpu_add1__1".to_owned(), 1, 245_040_000)]
        );
        let slice = imported.trace.slice(0);
        assert_eq!((slice.start_ns, slice.link), (13_313_400_000, 34));
        assert_eq!(imported.trace.tracks[0].name, "Stream 7");
    }

    #[test]
    fn copies_and_columns_of_memory_are_read() {
        let text = "==7== NVPROF is profiling process 7, command: ./a --n 3\n==7== Profiling result:\n\
            \"Start\",\"Duration\",\"Grid X\",\"Size\",\"Device\",\"Context\",\"Stream\",\"Name\"\n\
            ms,us,,MB,,,,\n\
            1.5,2.25,,4.0,\"Tesla V100 (1)\",\"1\",\"7\",\"[CUDA memcpy HtoD]\"\n\
            2.5,3.5,1,,\"Tesla V100 (1)\",\"1\",\"7\",\"f(int, float) [9]\"\n2.5,x\n";
        let imported = testing::imported(text).unwrap();
        assert_eq!(sums(&imported, SliceKind::Copy)[0].2, 2_250);
        assert_eq!(sums(&imported, SliceKind::Kernel)[0].0, "f(int, float)");
        assert_eq!(imported.trace.tracks[0].device, Some(1));
        assert_eq!(imported.tool.command.as_deref(), Some("./a --n 3"));
        assert!(
            imported.notes[0].starts_with("1 row of"),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for file in [SUMMARY_TEXT, SUMMARY_CSV, TRACE_TEXT] {
            testing::survives(&FORMAT, &testing::raw(file));
        }
    }
}
