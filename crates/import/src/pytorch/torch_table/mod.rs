//! torch's `key_averages().table()`: a table of operators with units in its cells.
//!
//! A row's own time is its time without the operators within it; that is what adds up. The time with
//! them is kept as a figure.

use crate::benchmarks::common::Sums;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::reported::Reported;
use powerband_core::domain::trace::SliceKind;

#[cfg(test)]
mod tests;

pub(crate) const FORMAT: Format = Format {
    id: "torch-key-averages",
    title: "a table of torch's profiler",
    tool: "torch.profiler",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    head.any_text().is_some_and(|text| {
        text.contains("# of Calls")
            && (text.contains("Self CPU") || text.contains("Self CUDA"))
            && text.contains("-----")
    })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut table = OperatorTable::default();
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        table.line(line);
    }
    table.finish(source, into);
    Ok(())
}

/// A table, as far as it was read.
#[derive(Debug, Default)]
struct OperatorTable {
    /// From where to where each column goes, in characters, by the rule of dashes.
    spans: Vec<(usize, usize)>,
    columns: Vec<String>,
    sums: Sums,
    figures: Reported,
    rows: u64,
    unread: u64,
    own_ns: f64,
    /// The sum of own times of all operators in the last line, in nanoseconds.
    told_ns: Option<f64>,
    tables: u64,
    below: Vec<String>,
    is_named_short: bool,
}

impl OperatorTable {
    fn line(&mut self, line: &str) {
        let bare = line.trim();
        if bare.len() > 8 && bare.chars().all(|c| c == '-' || c == ' ') {
            // The rule stands above the header, below it and below the rows.
            self.spans = spans(line);
        } else if let Some((name, time)) = bare.split_once(" time total: ") {
            self.total(name, time);
        } else if bare.contains("# of Calls") {
            self.columns = self.cells(line);
            self.tables += 1;
        } else if !bare.is_empty() && !self.columns.is_empty() && !self.spans.is_empty() {
            match self.row(line) {
                Some(()) => self.rows += 1,
                // Other output may stand around the table.
                None => self.unread += u64::from(bare.contains('%')),
            }
        }
    }

    /// The cells of a line, by the rule; where the line does not fit it, by wide gaps.
    fn cells(&self, line: &str) -> Vec<String> {
        let letters: Vec<char> = line.chars().collect();
        let fits = self.spans.windows(2).all(|pair| {
            let [(_, end), (start, _)] = *pair else {
                return true;
            };
            let gap = letters.get(end..start).unwrap_or_default();
            gap.iter().all(|c| *c == ' ')
        });
        if !fits || self.spans.is_empty() {
            let parts = line.split("  ").map(str::trim);
            return parts
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect();
        }
        let cell = |(start, end): (usize, usize)| -> String {
            let end = end.min(letters.len());
            let cell: String = letters.get(start..end).unwrap_or_default().iter().collect();
            cell.trim().to_owned()
        };
        self.spans.iter().copied().map(cell).collect()
    }

    /// `Self CPU time total: 21.396ms`.
    fn total(&mut self, name: &str, time: &str) {
        let Some(total_ns) = lines::time_ns(time) else {
            return;
        };
        self.figures
            .figure(format!("{name} time total"), total_ns / 1e6, "ms");
        if name == "Self CPU" {
            self.told_ns = Some(self.told_ns.unwrap_or(0.0) + total_ns);
        }
    }

    /// An operator, or a kernel that one launched.
    fn row(&mut self, line: &str) -> Option<()> {
        let cells = self.cells(line);
        if cells.len() != self.columns.len() {
            return None;
        }
        let of = |name: &str| {
            let place = self.columns.iter().position(|column| column == name)?;
            cells.get(place).map(String::as_str)
        };
        let own = |device: &str| of(&format!("Self {device}")).and_then(lines::time_ns);
        let short = of("Name")?.to_owned();
        let calls = lines::whole_number(of("# of Calls")?)?;
        let device = ["CUDA", "XPU", "HPU", "PrivateUse1", "MTIA"]
            .into_iter()
            .find_map(|device| Some((device, own(device)?)));
        let cpu_ns = own("CPU");
        let name = match of("Input Shapes").filter(|shapes| !shapes.is_empty()) {
            Some(shapes) => format!("{short} {shapes}"),
            None => short.clone(),
        };
        // A row of a device's own has no time on the host.
        let on_device = device.filter(|(_, ns)| {
            *ns > 0.0 && cpu_ns.is_none_or(|cpu| cpu == 0.0) && !short.contains("::")
        });
        let (kind, place, own_ns) = match on_device {
            Some((device, ns)) => (device_kind(&short), device, ns),
            None => (host_kind(&short), "CPU", cpu_ns?),
        };
        if own_ns < 0.0 {
            self.below.push(format!("{short} ({} µs)", own_ns / 1e3));
        }
        if on_device.is_none() {
            self.own_ns += own_ns;
        }
        self.is_named_short |= short.ends_with("...");
        self.sums.add(Total {
            work: None,
            kind,
            op: if name == short {
                String::new()
            } else {
                short.clone()
            },
            name: name.clone(),
            place: place.to_owned(),
            calls,
            total_ns: lines::ns(own_ns, 1.0),
            min_ns: None,
            max_ns: None,
        });
        self.others(&name, &cells);
        Some(())
    }

    /// Everything in a row that is neither its own time on the host nor a share or a mean.
    fn others(&mut self, name: &str, cells: &[String]) {
        for (column, cell) in self.columns.iter().zip(cells) {
            let is_known = column.contains('%')
                || column.ends_with("avg")
                || matches!(
                    column.as_str(),
                    "Name"
                        | "Self CPU"
                        | "# of Calls"
                        | "Node ID"
                        | "Input Shapes"
                        | "Source Location"
                );
            if is_known {
                continue;
            }
            let title = format!("{name}: {column}");
            if let Some(total_ns) = lines::time_ns(cell) {
                self.figures.figure(title, total_ns / 1e6, "ms");
            } else if let Some(bytes) = bytes(cell) {
                self.figures.figure(title, bytes, "B");
            } else if let Some(number) = lines::number(cell) {
                self.figures.figure(title, number, "");
            }
        }
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        into.note_unread(self.unread, "row", &source.name());
        if self.tables > 1 {
            into.note(format!(
                "{} holds {} tables; rows of one name are added up",
                source.name(),
                self.tables
            ));
        }
        if !self.below.is_empty() {
            into.note(format!(
                "torch gives an own time below zero for {}, which counts as zero: the operators within it took longer than itself",
                self.below.join(", ")
            ));
        }
        if self.is_named_short {
            into.note("long names are cut short in the table, so different kernels may have one name; max_name_column_width makes them whole");
        }
        match self.told_ns {
            Some(told) if self.rows > 0 && self.own_ns < told * 0.99 => into.note(format!(
                "the rows hold {:.1} % of the operators' time; the rest is not in the table, which row_limit makes longer",
                self.own_ns / told * 100.0
            )),
            None => into.note(format!("{} has no line with the total; it may be cut off", source.name())),
            Some(_) => {}
        }
        into.totals.extend(self.sums.into_list());
        if !self.figures.figures.is_empty() {
            "torch.profiler".clone_into(&mut self.figures.name);
            into.reported.push(self.figures);
        }
    }
}

/// Where the runs of dashes are, in characters.
fn spans(rule: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut start = None;
    for (at, letter) in rule.chars().chain([' ']).enumerate() {
        match (letter, start) {
            ('-', None) => start = Some(at),
            (' ', Some(from)) => {
                spans.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    spans
}

/// What a row of a device is.
fn device_kind(name: &str) -> SliceKind {
    if name.starts_with("Memcpy") || name.starts_with("Copy") {
        SliceKind::Copy
    } else if name.starts_with("Memset") {
        SliceKind::Set
    } else if name.starts_with("ProfilerStep") {
        SliceKind::Range
    } else {
        SliceKind::Kernel
    }
}

/// What a row of the host is: an operator, a call into the driver, or a step.
fn host_kind(name: &str) -> SliceKind {
    let is_call = ["cuda", "hip", "cu"].iter().any(|prefix| {
        let after = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.chars().next());
        after.is_some_and(char::is_uppercase)
    });
    if name.starts_with("ProfilerStep") {
        SliceKind::Range
    } else if is_call {
        SliceKind::Call
    } else {
        SliceKind::Operator
    }
}

/// Memory as torch writes it: `-12.50 Mb`, `512 b`.
fn bytes(cell: &str) -> Option<f64> {
    let (number, unit) = cell.trim().rsplit_once(' ')?;
    let scale = match unit.to_lowercase().as_str() {
        "b" => 1.0,
        "kb" => 1024.0,
        "mb" => 1024.0 * 1024.0,
        "gb" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(lines::number(number)? * scale)
}
