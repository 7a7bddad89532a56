//! Reports of `nsys stats` as CSV: sums over kernels, copies, calls and ranges, or every event with its
//! times.
//!
//! Its output holds several reports, each with a header of its own, among lines of progress. Some of them
//! hold the same data twice, and only one of these is taken.

#[cfg(test)]
mod tests;

use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::{Slice, SliceKind, Track};

/// Rows between two checks for cancelling.
const TICK: usize = 8192;

pub(crate) const FORMAT: Format = Format {
    id: "nsys-stats",
    title: "reports of nsys stats",
    tool: "nsys",
    name_ends: &[],
    recognises: |head| {
        head.plain_text()
            .is_some_and(|text| text.lines().any(|line| Header::parse(line).is_some()))
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let reports = reports(&text);
    let has_trace = |kind| {
        let mut all = reports.iter();
        all.any(|report| report.header.is_trace() && report.header.covers(kind))
    };
    let file = source.name();
    let mut left_out = 0;
    for (place, report) in reports.iter().enumerate() {
        let kind = report.header.kind;
        if !report.header.has_times() {
            continue;
        }
        if report.is_of_others() {
            into.note(format!(
                "{file} has calls into the operating system or another library, which are left out"
            ));
            continue;
        }
        let is_told_twice = if report.header.is_trace() {
            reports[..place]
                .iter()
                .any(|other| other.header.is_trace() && other.header.what == report.header.what)
        } else {
            // Sums of events that are read one by one, or of other sums.
            has_trace(kind)
                || reports[..place].iter().any(|other| {
                    !other.header.is_trace() && !other.is_of_others() && other.header.covers(kind)
                })
        };
        if is_told_twice {
            left_out += 1;
            continue;
        }
        report.read(&file, watch, into)?;
    }
    if left_out > 0 {
        into.note(format!(
            "{left_out} reports of {file} repeat others in it, and are left out"
        ));
    }
    Ok(())
}

/// Kind of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportKind {
    /// Kernels, added up.
    Kernels,
    /// Time of copies and sets.
    MemoryTime,
    /// Bytes of copies and sets.
    MemorySize,
    /// Kernels, copies and sets together, added up.
    Work,
    Calls,
    Ranges,
    /// Every kernel, copy and set.
    WorkTrace,
    /// Every call.
    CallTrace,
    /// Every kernel with its launch.
    Launches,
}

/// The header of a report.
#[derive(Clone, Debug)]
struct Header {
    what: ReportKind,
    kind: SliceKind,
    columns: Vec<String>,
    /// Nanoseconds in the unit of each column.
    units: Vec<f64>,
    separator: char,
}

/// A report: its header and its rows.
#[derive(Debug)]
struct Report<'a> {
    header: Header,
    /// Its name in nsys, where there is one.
    name: &'a str,
    rows: Vec<&'a str>,
}

/// Divides a text into reports; lines that are none, and those of reports that are not known, are left
/// out.
fn reports(text: &str) -> Vec<Report<'_>> {
    let mut reports: Vec<Report<'_>> = Vec::new();
    let (mut is_open, mut name) = (false, "");
    for line in text.lines() {
        if let Some(found) = report_name(line) {
            (is_open, name) = (false, found);
        } else if let Some(header) = Header::parse(line) {
            reports.push(Report {
                header,
                name,
                rows: Vec::new(),
            });
            is_open = true;
        } else if line.trim().is_empty() || is_message(line) {
            is_open = false;
        } else if let Some(report) = reports.last_mut().filter(|_| is_open) {
            report.rows.push(line);
        }
    }
    reports
}

/// The report that a line announces: `Processing [a.sqlite] with [/opt/nsys/reports/osrt_sum.py]...`, or
/// ` ** OS Runtime Summary (osrt_sum):`.
fn report_name(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with("Processing [") {
        let path = line.rsplit_once("with [")?.1.split(']').next()?;
        let file = path.rsplit(['/', '\\']).next()?;
        return Some(file.strip_suffix(".py").unwrap_or(file));
    }
    let (_, name) = line.strip_prefix("** ")?.rsplit_once('(')?;
    name.strip_suffix("):")
}

/// Lines between reports, and headers of other reports, whose names hold units or a share.
fn is_message(line: &str) -> bool {
    let line = line.trim_start();
    [
        "Processing [",
        "Generating ",
        "SKIPPED",
        "NOTICE",
        "WARNING",
        "ERROR",
        "** ",
        "using ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
        || line.starts_with("Time (%),")
        || line.starts_with("Time(%),")
        || line.starts_with("Start (ns),")
}

impl Header {
    fn parse(line: &str) -> Option<Self> {
        // The quick way out, since every line is asked.
        let start = line.trim_start_matches(['\u{feff}', '"', ' ']);
        let starts = [
            "Time",
            "Start",
            "Total",
            "Operation",
            "API Start",
            "Duration",
            "Kernel",
        ];
        if !starts.iter().any(|word| start.starts_with(word)) {
            return None;
        }
        let separator = if line.contains(',') { ',' } else { '\t' };
        let cells = lines::fields(line.trim_start_matches('\u{feff}'), separator);
        let columns: Vec<String> = cells.iter().map(|column| column_key(column)).collect();
        let units = cells.iter().map(|column| {
            let unit = column.rsplit_once('(').map(|(_, unit)| unit.trim());
            unit.and_then(lines::unit_ns).unwrap_or(1.0)
        });
        let has = |name: &str| columns.iter().any(|column| column == name);
        let (what, kind) = if has("start") && has("duration") && has("name") {
            if has("corrid") && (has("strm") || has("grdx") || has("device")) {
                (ReportKind::WorkTrace, SliceKind::Kernel)
            } else if has("corrid") || has("tid") {
                (ReportKind::CallTrace, SliceKind::Call)
            } else {
                return None;
            }
        } else if has("api start") && has("kernel start") {
            (ReportKind::Launches, SliceKind::Kernel)
        } else if has("total time") && has("operation") && has("category") {
            (ReportKind::Work, SliceKind::Kernel)
        } else if has("total time") && has("operation") {
            (ReportKind::MemoryTime, SliceKind::Copy)
        } else if has("total") && has("operation") {
            (ReportKind::MemorySize, SliceKind::Copy)
        } else if has("total time") && (has("range") || has("style")) {
            (ReportKind::Ranges, SliceKind::Range)
        } else if has("total time") && has("num calls") {
            (ReportKind::Calls, SliceKind::Call)
        } else if has("total time") && has("instances") && has("name") {
            (ReportKind::Kernels, SliceKind::Kernel)
        } else {
            return None;
        };
        Some(Self {
            what,
            kind,
            units: units.collect(),
            columns,
            separator,
        })
    }

    fn place(&self, names: &[&str]) -> Option<usize> {
        let mut found = names.iter();
        found.find_map(|name| self.columns.iter().position(|column| column == name))
    }

    fn is_trace(&self) -> bool {
        matches!(self.what, ReportKind::WorkTrace | ReportKind::CallTrace)
    }

    /// Whether there are times in it that nothing else covers.
    fn has_times(&self) -> bool {
        !matches!(self.what, ReportKind::MemorySize | ReportKind::Launches)
    }

    /// Whether it has this kind.
    fn covers(&self, kind: SliceKind) -> bool {
        match self.what {
            ReportKind::Work | ReportKind::WorkTrace => kind.is_work(),
            ReportKind::MemoryTime => matches!(kind, SliceKind::Copy | SliceKind::Set),
            ReportKind::MemorySize | ReportKind::Launches => false,
            _ => kind == self.kind,
        }
    }
}

/// A column's name in small letters, without its unit: `Total Time (ns)` and `Total Time`, `Med (ns)`.
fn column_key(column: &str) -> String {
    let column = column.trim().trim_matches('"').to_lowercase();
    let name = match column.split_once('(') {
        Some(("time", _)) => return "time (%)".to_owned(),
        Some((name, _)) => name.trim_end(),
        None => column.as_str(),
    };
    let name = name.trim_start_matches(':');
    match name {
        "minimum" => "min",
        "maximum" => "max",
        "average" => "avg",
        "calls" => "num calls",
        name => name,
    }
    .to_owned()
}

/// What an operation on memory is.
fn memory_kind(name: &str) -> SliceKind {
    if name.to_lowercase().contains("memset") {
        SliceKind::Set
    } else {
        SliceKind::Copy
    }
}

/// Whether something that ran is an operation on memory: `[CUDA memcpy HtoD]`.
fn work_kind(name: &str) -> SliceKind {
    if name.starts_with("[CUDA mem") || name.starts_with("[CUDA Unified Memory mem") {
        memory_kind(name)
    } else {
        SliceKind::Kernel
    }
}

impl Report<'_> {
    /// Whether it looks like a report of CUDA and is another one: all that count calls look alike.
    fn is_of_others(&self) -> bool {
        let is = |part| self.name.is_empty() || self.name.contains(part);
        match self.header.what {
            ReportKind::Kernels => !is("kern"),
            ReportKind::Calls if self.name.is_empty() => {
                let place = self.header.place(&["name"]);
                let mut names = self.rows.iter().filter_map(|row| {
                    let fields = self.fields(row)?;
                    fields.into_iter().nth(place?)
                });
                names.next().is_some_and(|name| !name.starts_with("cu"))
            }
            ReportKind::Calls => !is("cuda"),
            _ => false,
        }
    }

    fn read(
        &self,
        file: &str,
        watch: &ReadProgress<'_>,
        into: &mut Imported,
    ) -> Result<(), ImportError> {
        let mut unread = 0_u64;
        for (number, row) in self.rows.iter().enumerate() {
            if number % TICK == TICK - 1 {
                watch.tick(0)?;
            }
            let taken = match self.fields(row) {
                Some(fields) if self.header.is_trace() => self.slice(&fields, into),
                Some(fields) => self.total(&fields, into),
                None => None,
            };
            unread += u64::from(taken.is_none());
        }
        let why = "could not be read: cut off, or not only numbers";
        into.note_some(unread, "row", file, why);
        Ok(())
    }

    /// The fields of a row. An unquoted name with commas is the last one.
    fn fields(&self, row: &str) -> Option<Vec<String>> {
        let count = self.header.columns.len();
        let fields = if row.contains('"') {
            lines::fields(row, self.header.separator)
        } else {
            let fields = row.splitn(count, self.header.separator);
            fields.map(|field| field.trim().to_owned()).collect()
        };
        (fields.len() == count).then_some(fields)
    }

    /// A time in nanoseconds, whatever `--timeunit` was.
    fn time(&self, fields: &[String], names: &[&str]) -> Option<u64> {
        let place = self.header.place(names)?;
        let (cell, unit) = (fields.get(place)?, *self.header.units.get(place)?);
        if unit == 1.0 {
            return lines::whole_number(cell);
        }
        let value = lines::number(cell).filter(|value| *value >= 0.0)?;
        Some(lines::ns(value, unit))
    }

    fn total(&self, fields: &[String], into: &mut Imported) -> Option<()> {
        let header = &self.header;
        let at = |names: &[&str]| fields.get(header.place(names)?);
        let name = at(&["name", "range", "operation"])?;
        let calls = at(&["instances", "num calls", "count"])?;
        let time = |names: &[&str]| self.time(fields, names);
        let kind = match header.what {
            ReportKind::MemoryTime => memory_kind(name),
            ReportKind::Work => {
                let is_memory = at(&["category"]).is_some_and(|group| group.contains("MEM"));
                if is_memory {
                    memory_kind(name)
                } else {
                    SliceKind::Kernel
                }
            }
            _ => header.kind,
        };
        // Grids and ranges divide a kernel into several rows.
        let sizes: Option<Vec<&str>> = ["gridxyz", "blockxyz"]
            .iter()
            .map(|column| at(&[column]).map(String::as_str))
            .collect();
        let total = Total {
            work: None,
            kind,
            name: match sizes {
                Some(sizes) => format!("{} <<<{}>>>", lines::kernel_name(name), sizes.join(", ")),
                None => lines::kernel_name(name).to_owned(),
            },
            op: String::new(),
            place: String::new(),
            calls: lines::whole_number(calls)?,
            total_ns: time(&["total time"])?,
            min_ns: time(&["min"]),
            max_ns: time(&["max"]),
        };
        into.totals.push(total);
        Some(())
    }

    fn slice(&self, fields: &[String], into: &mut Imported) -> Option<()> {
        let header = &self.header;
        let at = |names: &[&str]| fields.get(header.place(names)?).map(String::as_str);
        let name = at(&["name"])?;
        let start = i64::try_from(self.time(fields, &["start"])?).ok()?;
        let duration = self.time(fields, &["duration"])?;
        let link = at(&["corrid"]).and_then(lines::whole_number).unwrap_or(0);
        let (kind, track) = if header.what == ReportKind::WorkTrace {
            let device = at(&["device"]).unwrap_or_default();
            let track = Track {
                device: Some(device_number(device)),
                group: if device.is_empty() { "GPU" } else { device }.to_owned(),
                name: format!("Stream {}", at(&["strm"]).unwrap_or("0")),
            };
            (work_kind(name), track)
        } else {
            let track = Track {
                device: None,
                group: format!("process {}", at(&["pid"]).unwrap_or("0")),
                name: format!("thread {}", at(&["tid"]).unwrap_or("0")),
            };
            (SliceKind::Call, track)
        };
        let track = into.trace.track(track);
        let number = into.trace.names.number(lines::kernel_name(name));
        into.trace.push(Slice {
            link,
            ..Slice::new(kind, number, track, start, duration)
        });
        Some(())
    }
}

/// The number in `NVIDIA H200 (0)`.
fn device_number(device: &str) -> u32 {
    let inside = device.rsplit_once('(').map(|(_, rest)| rest);
    let number = inside.and_then(|rest| rest.trim_end_matches(')').trim().parse().ok());
    number.unwrap_or(0)
}
