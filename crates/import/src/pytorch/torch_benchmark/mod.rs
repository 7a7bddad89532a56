//! The output of torch.utils.benchmark: measurements one by one, and tables that compare them.

use crate::benchmarks::common;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

#[cfg(test)]
mod tests;

pub(crate) const FORMAT: Format = Format {
    id: "torch-utils-benchmark",
    title: "results of torch.utils.benchmark",
    tool: "torch.utils.benchmark",
    name_ends: &[],
    recognises: |head| {
        head.any_text().is_some_and(|text| {
            text.contains("Measurement object at 0x")
                || text.contains("\nTimes are in ") && text.contains(" threads: ---")
        })
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut reader = TorchBenchmarkReader::default();
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        reader.line(line, into);
    }
    reader.finish(source, into);
    Ok(())
}

/// A measurement whose lines follow.
#[derive(Debug, Default)]
struct Measurement {
    title: Vec<String>,
    threads: String,
    result: Reported,
    warnings: Vec<String>,
}

/// A cell of a table, whose unit comes at the table's end.
#[derive(Debug)]
struct TableCell {
    name: String,
    value: f64,
}

/// The file, as far as it was read.
#[derive(Debug, Default)]
struct TorchBenchmarkReader {
    now: Option<Measurement>,
    results: Vec<Reported>,
    label: Option<String>,
    columns: Vec<String>,
    threads: String,
    cells: Vec<TableCell>,
    unread: u64,
    repeats: bool,
}

impl TorchBenchmarkReader {
    fn line(&mut self, line: &str, into: &mut Imported) {
        let bare = line.trim();
        if bare.contains("Measurement object at 0x") {
            self.close(into);
            self.now = Some(Measurement::default());
        } else if let Some(label) = label(bare) {
            self.close(into);
            self.label = Some(label);
            self.columns.clear();
        } else if self.label.is_some() {
            self.table(line);
        } else if let Some(now) = &mut self.now {
            now.line(bare);
        }
    }

    /// A line of a table.
    fn table(&mut self, line: &str) {
        let bare = line.trim();
        if let Some(unit) = bare.strip_prefix("Times are in ") {
            self.take_cell_unit(unit.split(' ').next().unwrap_or_default());
        } else if let Some((threads, _)) = bare.split_once(" threads: -") {
            threads.clone_into(&mut self.threads);
        } else if let Some((name, values)) = line.split_once('|') {
            let values: Vec<&str> = values.split('|').map(str::trim).collect();
            if self.columns.is_empty() {
                self.columns = values.iter().map(|value| (*value).to_owned()).collect();
                return;
            }
            let label = self.label.as_deref().unwrap_or_default();
            for (column, value) in self.columns.iter().zip(values) {
                if value.is_empty() {
                    continue;
                }
                // Behind a value there may be a mark of its spread: `12.5 (! 8%)`.
                match value.split(' ').next().and_then(lines::number) {
                    Some(value) => self.cells.push(TableCell {
                        name: name_of(
                            &[&format!("{label}: {}", name.trim()), column],
                            &self.threads,
                        ),
                        value,
                    }),
                    None => self.unread += 1,
                }
            }
        }
    }

    /// The unit is known: the cells are times. Those that were measured above are there already.
    fn take_cell_unit(&mut self, unit: &str) {
        self.label = None;
        let Some(scale) = lines::unit_ns(unit) else {
            self.unread += self.cells.len() as u64;
            self.cells.clear();
            return;
        };
        for cell in self.cells.drain(..) {
            let known = self
                .results
                .iter_mut()
                .find(|result| result.name == cell.name);
            if let Some(known) = known {
                known.figure("in the comparison", cell.value, short(unit));
                self.repeats = true;
                continue;
            }
            let mut result = Reported::named(&cell.name);
            result.set_batch(common::batch_in(&cell.name));
            result.typical_ns = Some(lines::ns(cell.value, scale));
            result.figure("median", cell.value, short(unit));
            self.results.push(result);
        }
    }

    /// The measurement is over.
    fn close(&mut self, into: &mut Imported) {
        let Some(now) = self.now.take() else {
            return;
        };
        let mut result = now.result;
        if result.typical_ns.is_none() {
            self.unread += 1;
            return;
        }
        let title: Vec<&str> = now.title.iter().map(String::as_str).collect();
        result.name = name_of(&title, &now.threads);
        result.set_batch(common::batch_in(&result.name));
        if !now.warnings.is_empty() {
            into.note(format!(
                "torch warns about {}: {}",
                result.name,
                now.warnings.join(" ")
            ));
        }
        self.results.push(result);
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        self.close(into);
        self.unread += self.cells.len() as u64;
        into.note_unread(self.unread, "measurement", &source.name());
        if self.repeats {
            into.note(
                "the comparison repeats measurements that are printed above it; they count once",
            );
        }
        into.reported.extend(self.results);
    }
}

impl Measurement {
    fn line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("Median: ") {
            self.time(rest);
        } else if let Some(rest) = line.strip_prefix("IQR:") {
            self.spread(rest.trim());
        } else if let Some(warning) = line.strip_prefix("WARNING: ") {
            self.warnings.push(warning.to_owned());
        } else if !self.warnings.is_empty() {
            // A warning goes on over lines.
            if !line.is_empty() {
                self.warnings.push(line.to_owned());
            }
        } else if self.count(line) {
        } else if self.result.typical_ns.is_none() && !line.is_empty() {
            // A single measurement has its time without a word before it.
            match lines::time_ns(line).filter(|_| !self.title.is_empty()) {
                Some(_) => self.time(line),
                None => self.title.push(line.to_owned()),
            }
        }
    }

    fn time(&mut self, text: &str) {
        let mut words = text.split_whitespace();
        let (value, unit) = (words.next().and_then(lines::number), words.next());
        let (Some(value), Some(unit)) = (value, unit) else {
            return;
        };
        if let Some(scale) = lines::unit_ns(unit) {
            self.result.typical_ns = Some(lines::ns(value, scale));
            self.result.figure("median", value, unit);
        }
    }

    /// `36.04 us (597.99 to 634.03)`.
    fn spread(&mut self, text: &str) {
        let mut words = text.split_whitespace();
        let (Some(value), Some(unit)) = (words.next().and_then(lines::number), words.next()) else {
            return;
        };
        self.result.figure("interquartile range", value, unit);
        for (name, word) in [("25 %", words.next()), ("75 %", words.nth(1))] {
            let word = word.map(|word| word.trim_matches(['(', ')']));
            if let Some(value) = word.and_then(lines::number) {
                self.result.figure(name, value, unit);
            }
        }
    }

    /// `162 measurements, 1 runs per measurement, 2 threads`.
    fn count(&mut self, line: &str) -> bool {
        if !line.contains(" measurement") || !line.contains(" thread") {
            return false;
        }
        for part in line.split(',') {
            let mut words = part.split_whitespace();
            let (Some(count), Some(what)) = (words.next(), words.next()) else {
                continue;
            };
            match (what, lines::number(count)) {
                ("thread" | "threads", _) => count.clone_into(&mut self.threads),
                ("measurement" | "measurements", Some(value)) => {
                    self.result.figure("measurements", value, "");
                }
                ("runs" | "run", Some(value)) => {
                    self.result.figure("runs per measurement", value, "");
                }
                _ => {}
            }
        }
        true
    }
}

/// What was measured, with its threads.
fn name_of(parts: &[&str], threads: &str) -> String {
    let parts = parts.iter().filter(|part| !part.is_empty());
    let mut name: Vec<String> = parts.map(|part| (*part).to_owned()).collect();
    if !threads.is_empty() {
        let plural = if threads == "1" { "" } else { "s" };
        name.push(format!("{threads} thread{plural}"));
    }
    name.join(", ")
}

/// The label of a table: `[------ conv net ------]`.
fn label(line: &str) -> Option<String> {
    let inner = line.strip_prefix("[-")?.strip_suffix("-]")?;
    Some(inner.trim_matches('-').trim().to_owned())
}

/// A unit as measurements have it.
fn short(unit: &str) -> &'static str {
    match unit {
        "nanoseconds" => "ns",
        "microseconds" => "us",
        "milliseconds" => "ms",
        _ => "s",
    }
}
