//! The log of `trtexec`: options, the performance summary of new and of old ones, and the table of
//! layers.

use crate::benchmarks::common;
use crate::nvidia::trtexec_layers::PLACE;
use crate::nvidia::trtexec_profile;
use crate::nvidia::trtexec_summary;
use crate::nvidia::trtexec_summary::{Summary, TimeStatistics, batch_of_shape};
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;

#[cfg(test)]
mod tests;

/// Options and properties that identify a run.
const FACTS: [&str; 24] = [
    "Model",
    "Precision",
    "Sparsity",
    "Input build shape",
    "Input inference shape",
    "Iterations",
    "Duration",
    "Streams",
    "Data transfers",
    "ExposeDMA",
    "Spin-wait",
    "Multithreading",
    "CUDA Graph",
    "Percentile",
    "Percentiles",
    "Selected Device",
    "Compute Capability",
    "SMs",
    "Compute Clock Rate",
    "Device Global Memory",
    "Memory Bus Width",
    "Memory Clock Rate",
    "Builder optimization level",
    "Profiling verbosity",
];

/// Times that old ones print over several lines, and what new ones call them.
const OLD: [(&str, &str); 3] = [
    ("Host Latency", "Latency"),
    ("Enqueue Time", "Enqueue Time"),
    ("GPU Compute", "GPU Compute Time"),
];

pub(crate) const FORMAT: Format = Format {
    id: "trtexec-log",
    title: "a log of trtexec",
    tool: "trtexec",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    head.any_text().is_some_and(|text| {
        text.contains("&&&& RUNNING TensorRT.trtexec")
            || text.contains("&&&& PASSED TensorRT.trtexec")
            || text.contains("&&&& FAILED TensorRT.trtexec")
            || text.contains("[I] === Performance summary ===")
            || text.contains("[I] === Model Options ===")
            || text.contains("[I] === Inference Options ===")
            || text.contains("[I] Host Latency")
            || text.contains("[I] === Profile (")
    })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut log = Log::default();
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        log.line(line, into);
    }
    log.finish(source, into);
    Ok(())
}

/// A log, as far as it was read.
#[derive(Debug, Default)]
struct Log {
    summary: Summary,
    /// The time whose lines follow, in an old log.
    old: Option<&'static str>,
    profile: Option<LayerTable>,
    layers: common::Sums,
    has_layers: bool,
    runs: Option<u64>,
    /// The total of the table, in milliseconds.
    told_ms: Option<f64>,
    unread: u64,
    is_running: bool,
    is_over: bool,
    implicit_batch: Option<usize>,
}

/// Layout of the table of layers.
#[derive(Clone, Copy, Debug, Default)]
struct LayerTable {
    iterations: u64,
    numbers: usize,
    name_first: bool,
}

impl Log {
    fn line(&mut self, line: &str, into: &mut Imported) {
        let line = line.trim_end();
        if let Some(at) = line.find("&&&& ") {
            self.take_state(line.get(at + 5..).unwrap_or_default(), into);
            return;
        }
        let Some(text) = message(line) else {
            return;
        };
        if let Some(error) = line.find("[E]").and_then(|at| line.get(at + 3..)) {
            note_error(error.trim(), into);
        }
        if self.table(text) {
            return;
        }
        let text = text.trim();
        if let Some(title) = text
            .strip_prefix("=== ")
            .and_then(|rest| rest.strip_suffix(" ==="))
        {
            self.old = None;
            self.section(title);
            return;
        }
        if let Some((_, name)) = OLD.iter().find(|(old, _)| *old == text) {
            self.old = Some(name);
            return;
        }
        self.take_setting(text, into);
        self.time(text);
    }

    /// `RUNNING`, `PASSED` or `FAILED`, with the version and the command line.
    fn take_state(&mut self, text: &str, into: &mut Imported) {
        let (state, rest) = text.split_once(' ').unwrap_or((text, ""));
        match state {
            "RUNNING" => self.is_running = true,
            "PASSED" => self.is_over = true,
            "FAILED" => {
                self.is_over = true;
                self.summary
                    .objections
                    .push("trtexec says FAILED".to_owned());
            }
            _ => return,
        }
        if let Some((_, command)) = rest.split_once(" # ") {
            into.keep_command(command);
        }
        let version = rest
            .split_once("[TensorRT v")
            .and_then(|parts| parts.1.split_once(']'));
        if let Some((digits, _)) = version {
            into.fact("TensorRT", format!("v{digits}"));
        }
    }

    /// The beginning of a section: `Profile (11 iterations )`.
    fn section(&mut self, title: &str) {
        let inner = title
            .strip_prefix("Profile (")
            .and_then(|rest| rest.split_once(' '));
        let iterations = inner.and_then(|parts| parts.0.parse().ok());
        self.profile = iterations.map(|iterations| LayerTable {
            iterations,
            ..LayerTable::default()
        });
        self.runs = self.runs.or(iterations);
    }

    /// Whether a line belongs to the table of layers.
    fn table(&mut self, text: &str) -> bool {
        let Some(mut table) = self.profile else {
            return false;
        };
        let bare = text.trim();
        if bare.starts_with("===") || bare.is_empty() {
            // A blank line ends the table once it has begun.
            if table.numbers > 0 {
                self.profile = None;
            }
            return false;
        }
        if table.numbers == 0 {
            // `Time (ms) Avg. Time (ms) Time %` or, since 8.6, `Time(ms) Avg.(ms) Time(%)`.
            table.numbers = bare.matches("(ms)").count() + bare.matches('%').count();
            table.name_first = bare.starts_with("Layer");
            if table.numbers >= 2 && bare.contains("Layer") {
                self.profile = Some(table);
            }
            return true;
        }
        match layer(bare, table) {
            Some(("Total", ms)) => {
                self.told_ms = Some(ms);
                self.profile = None;
            }
            Some((name, ms)) if ms.is_finite() => {
                self.has_layers = true;
                self.layers.add(Total {
                    work: None,
                    kind: SliceKind::Kernel,
                    name: name.to_owned(),
                    op: String::new(),
                    place: PLACE.to_owned(),
                    calls: table.iterations,
                    total_ns: lines::ns(ms, 1e6),
                    min_ns: None,
                    max_ns: None,
                });
            }
            _ => self.unread += 1,
        }
        true
    }

    /// The identity of a run: options, the device, versions, shapes.
    fn take_setting(&mut self, text: &str, into: &mut Imported) {
        let binding = text.strip_prefix("Created input binding for ");
        if let Some((_, dims)) = binding.and_then(|rest| rest.split_once(" with dimensions ")) {
            self.summary.batch = self.summary.batch.or_else(|| batch_of_shape(dims));
        }
        let Some((name, value)) = text.split_once(':') else {
            return;
        };
        let value = value.trim();
        if FACTS.contains(&name) {
            into.fact(name, value);
        }
        match name {
            "TensorRT version" => into.name_version(value),
            "Batch" => self.implicit_batch = common::batch(value),
            _ if name.starts_with("Input inference shape") => {
                self.summary.batch = self.summary.batch.or_else(|| batch_of_shape(value));
            }
            _ => {}
        }
    }

    /// A line of the performance summary, new or old.
    fn time(&mut self, text: &str) {
        let Some((name, rest)) = text.split_once(':') else {
            return;
        };
        let (name, rest) = (name.trim(), rest.trim());
        let first = rest.split(' ').next().and_then(lines::number);
        match name {
            // Old ones count queries in whole runs and print 0.
            "Throughput" | "throughput" => {
                self.summary.throughput = first.filter(|rate| *rate > 0.0);
            }
            "Total Host Walltime" | "Total GPU Compute Time" => self.add_wall_time(name, first),
            "walltime" => self.add_wall_time("Total Host Walltime", first),
            "total compute time" => self.add_wall_time("Total GPU Compute Time", first),
            "min" | "max" | "mean" | "median" | "percentile" => self.old_time(name, rest),
            _ if rest.starts_with("min = ") => {
                let values: Vec<(String, f64)> = rest.split(", ").filter_map(statistic).collect();
                self.summary.metrics.push(TimeStatistics {
                    name: name.to_owned(),
                    values,
                });
            }
            _ => {}
        }
    }

    fn add_wall_time(&mut self, name: &str, seconds: Option<f64>) {
        let seconds = seconds.map(|seconds| (name.to_owned(), seconds));
        self.summary.walls.extend(seconds);
    }

    /// `mean: 4.52 ms (end to end 4.53 ms)`, `percentile: 5.4 ms at 99% (end to end 6.1 ms at 99%)`.
    fn old_time(&mut self, name: &str, rest: &str) {
        let Some(metric) = self.old else {
            return;
        };
        let (own, whole) = rest.split_once(" (end to end ").unwrap_or((rest, ""));
        let mut add = |metric: &str, text: &str| {
            let mut words = text.trim_end_matches(')').split(' ');
            let (Some(value), Some("ms")) = (words.next().and_then(lines::number), words.next())
            else {
                return;
            };
            let name = match words.nth(1) {
                Some(share) => format!("{name}({share})"),
                None => name.to_owned(),
            };
            let metrics = &mut self.summary.metrics;
            match metrics.iter_mut().find(|known| known.name == metric) {
                Some(known) => known.values.push((name, value)),
                None => metrics.push(TimeStatistics {
                    name: metric.to_owned(),
                    values: vec![(name, value)],
                }),
            }
        };
        add(metric, own);
        add("End-to-End Host Time", whole);
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        self.summary.batch = self.summary.batch.or(self.implicit_batch);
        into.note_unread(self.unread, "row", &source.name());
        let layers = self.layers.into_list();
        let sum: u64 = layers
            .iter()
            .map(|total| total.total_ns)
            .fold(0, u64::saturating_add);
        if let Some(told) = self.told_ms {
            into.fact(
                "time of all layers as the log adds it up",
                format!("{told} ms"),
            );
            if (sum as f64 - told * 1e6).abs() > told.abs() * 1e4 {
                into.note(
                    "the layers of the table do not add up to its last row; the log is not whole",
                );
            }
        } else if self.has_layers {
            into.note("the table of layers has no last row; the log is cut off");
        }
        if self.has_layers {
            trtexec_profile::take(into, layers, self.runs);
        }
        let has_failed = !self.summary.objections.is_empty();
        let reported = self.summary.into_reported();
        if reported.is_empty() {
            if has_failed {
                into.note("trtexec reports FAILED: the log has no results");
            } else if self.has_layers {
                into.note("the log has no performance summary: trtexec leaves it out when it profiles layers without --separateProfileRun");
            } else {
                into.note("the log has no performance summary; the run may have been stopped or may only have built an engine");
            }
        } else if self.is_running && !self.is_over {
            into.note("the log does not state whether trtexec passed; it may be cut off");
        }
        trtexec_summary::take(into, reported);
    }
}

/// The first errors are worth reading; thousands of them are not.
fn note_error(text: &str, into: &mut Imported) {
    if !text.is_empty() && into.notes.len() < 20 {
        into.note(format!("trtexec reports an error: {text}"));
    }
}

/// A line without its date and level: `[10/31/2023-17:53:30] [I] text`.
fn message(line: &str) -> Option<&str> {
    ["] [I]", "] [V]", "] [W]", "] [E]"]
        .iter()
        .find_map(|level| line.split_once(level))
        .map(|parts| parts.1)
        .or_else(|| line.strip_prefix("[I]"))
}

/// `percentile(99%) = 2.0 ms`.
fn statistic(text: &str) -> Option<(String, f64)> {
    let (name, value) = text.split_once(" = ")?;
    let value = lines::number(value.trim().strip_suffix("ms")?)?;
    Some((name.trim().to_owned(), value))
}

/// A row of the table: a name, and the first of the numbers beside it.
fn layer(row: &str, table: LayerTable) -> Option<(&str, f64)> {
    let mut rest = row.trim();
    let mut numbers = Vec::new();
    for _ in 0..table.numbers {
        let (number, left) = if table.name_first {
            let (left, number) = rest.rsplit_once(char::is_whitespace)?;
            (number, left.trim_end())
        } else {
            let (number, left) = rest.split_once(char::is_whitespace)?;
            (number, left.trim_start())
        };
        numbers.push(lines::number(number.trim_end_matches('%'))?);
        rest = left;
    }
    if table.name_first {
        numbers.reverse();
    }
    (!rest.is_empty()).then_some((rest, *numbers.first()?))
}
