//! The output of `migraphx-driver perf`, of every age: instructions with their times, a summary by
//! instruction, and the time of whole runs.

use std::borrow::Cow;

use crate::benchmarks::common;
use crate::benchmarks::common::Sums;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::profile::Total;
use powerband_core::domain::reported::Reported;
use powerband_core::domain::trace::SliceKind;

mod listing;
#[cfg(test)]
mod tests;

use listing::InstructionGraph;

/// Where instructions run.
const PLACE: &str = "MIGraphX";
/// No row is longer, on however many lines.
const LONGEST_ROW: usize = 16 * 1024;
/// Sums of the same times differ by their digits; by more than this share, something is missing.
const SAME: f64 = 0.01;

pub(crate) const FORMAT: Format = Format {
    id: "migraphx-driver-perf",
    title: "a performance report of migraphx-driver",
    tool: "migraphx-driver",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    head.any_text().is_some_and(|text| {
        text.contains("Running performance report")
            || text.contains("Total instructions time:") && text.contains("Rate:")
            || text.contains("[ MIGraphX Version:")
    })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut report = PerfReport::default();
    for line in source.progress_reader(text.lines(), watch) {
        report.line(plain_marks(line?).trim(), into);
    }
    report.finish(source, into);
    Ok(())
}

/// A report, as far as it was read.
#[derive(Debug, Default)]
struct PerfReport {
    instructions: Sums,
    groups: Sums,
    graph: InstructionGraph,
    has_instructions: bool,
    has_groups: bool,
    in_summary: bool,
    result: Reported,
    model: Option<String>,
    mean_ms: Option<f64>,
    median_ms: Option<f64>,
    /// *Total instructions time* of all reports together, in nanoseconds.
    stated_ns: Option<u64>,
    reports: u64,
    is_negative: bool,
    /// The beginning of a row that goes on in the next line, as a terminal of 80 columns or a page breaks it.
    begun: String,
}

impl PerfReport {
    fn line(&mut self, line: &str, into: &mut Imported) {
        if line.starts_with("Running performance report") {
            self.reports += 1;
            self.in_summary = false;
        } else if line == "Summary:" {
            self.in_summary = true;
        } else if let Some((_, rest)) = line.split_once("[ MIGraphX Version: ") {
            let (version, rest) = rest.split_once(" ]").unwrap_or((rest, ""));
            into.name_version(version);
            let command = rest.split_once(": ").map_or("", |parts| parts.1);
            into.keep_command(command);
        } else if let Some(model) = line.strip_prefix("Reading: ") {
            self.model = Some(model.trim().to_owned());
        } else if line.is_empty() || self.figure(line) {
            self.begun.clear();
        } else {
            self.row_part(line);
        }
    }

    /// A row, or a part of one: what follows an unfinished row belongs to it, unless it begins an instruction.
    fn row_part(&mut self, line: &str) {
        let begins = begins_instruction(line);
        if begins {
            self.begun.clear();
        } else if self.begun.is_empty() && !self.in_summary {
            return;
        }
        self.begun.push_str(line);
        let is_finished = timed(&self.begun).is_some();
        if is_finished || self.begun.len() > LONGEST_ROW {
            let row = std::mem::take(&mut self.begun);
            self.row(&row);
        }
    }

    /// A line about whole runs.
    fn figure(&mut self, line: &str) -> bool {
        let Some((name, value)) = line.split_once(':') else {
            return false;
        };
        let value = value.trim();
        match name {
            "Batch size" => self.result.set_batch(common::batch(value)),
            "Rate" => {
                let (rate, unit) = value.split_once(['/', ' ']).unwrap_or((value, ""));
                let items = if unit.contains("inferences") {
                    "items/s"
                } else {
                    "/s"
                };
                self.number("Rate", rate, items);
            }
            "Total time" => self.total_time(value),
            "Total instructions time" => {
                let ms = self.number(name, value, "ms");
                if let Some(ns) = ms.and_then(common::ms) {
                    self.stated_ns = Some(self.stated_ns.unwrap_or(0).saturating_add(ns));
                }
            }
            "Overhead time" => self.pair(name, value, "ms"),
            "Overhead" => self.pair(name, value, "%"),
            _ if name.starts_with("Percentiles (") => {
                let shares = name
                    .trim_start_matches("Percentiles (")
                    .trim_end_matches(')');
                let values = value.trim_matches(['(', ')']);
                for (share, value) in shares.split(", ").zip(values.split(", ")) {
                    self.number(&format!("percentile({share})"), value, "ms");
                }
            }
            _ => return false,
        }
        true
    }

    fn number(&mut self, name: &str, text: &str, unit: &str) -> Option<f64> {
        let value = lines::number(text.trim().trim_end_matches("ms").trim_end_matches('%'))?;
        self.result.figure(name, value, unit);
        Some(value)
    }

    /// Two numbers: by the time of whole runs, and by that of instructions.
    fn pair(&mut self, name: &str, value: &str, unit: &str) {
        for (nth, part) in value.split(", ").enumerate() {
            let name = match nth {
                0 => name.to_owned(),
                _ => format!("{name} by instructions"),
            };
            self.number(&name, part, unit);
        }
    }

    /// `0.0127ms (Min: 0.0098ms, Max: 0.03ms, Mean: 0.0128ms, Median: 0.013ms)`; only the first in
    /// reports before the end of 2024.
    fn total_time(&mut self, value: &str) {
        let (total, rest) = value.split_once('(').unwrap_or((value, ""));
        self.mean_ms = self.number("Total time", total, "ms");
        for part in rest.trim_end_matches(')').split(", ") {
            let Some((name, value)) = part.split_once(": ") else {
                continue;
            };
            let found = self.number(&name.to_lowercase(), value, "ms");
            if name == "Median" {
                self.median_ms = found;
            }
        }
    }

    /// A timed instruction, or a group of the summary.
    fn row(&mut self, line: &str) {
        let Some((text, ms)) = timed(line) else {
            return;
        };
        self.is_negative |= ms < 0.0;
        let Some(total_ns) = common::ms(ms) else {
            return;
        };
        let total = |name: &str, op: &str, calls: u64, total_ns: u64| Total {
            work: None,
            kind: kind(op),
            name: name.to_owned(),
            op: op.to_owned(),
            place: PLACE.to_owned(),
            calls,
            total_ns,
            min_ns: None,
            max_ns: None,
        };
        if let (false, Some((label, op))) = (self.in_summary, instruction(text)) {
            self.has_instructions = true;
            self.graph.add(label, &op, text);
            self.instructions
                .add(total(&format!("{label} {op}"), &op, 1, total_ns));
        } else if self.in_summary {
            // `gpu::gemm` with the sum behind it, or `gpu::gemm: 0.5ms / 2` with the mean.
            let counted = text.rsplit_once(" / ").and_then(|(left, count)| {
                let (name, sum) = left.rsplit_once(':')?;
                let sum = lines::number(sum.trim().strip_suffix("ms")?)?;
                Some((name, lines::whole_number(count)?, common::ms(sum)?))
            });
            let (name, calls, sum) = counted.unwrap_or((text, 1, total_ns));
            self.has_groups = true;
            self.groups.add(total(name, name, calls, sum));
        }
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        if self.reports > 1 {
            into.note(format!(
                "{} holds {} reports; instructions of one name are added up, and the last totals count",
                source.name(),
                self.reports
            ));
        }
        if self.is_negative {
            into.note("some times lie below zero and count as zero");
        }
        let (instructions, groups) = (
            std::mem::take(&mut self.instructions).into_list(),
            std::mem::take(&mut self.groups).into_list(),
        );
        if self.sums(instructions, groups, into) {
            let graph = std::mem::take(&mut self.graph).into_network();
            into.network = into.network.take().or(graph);
        }
        self.result.typical_ns = self.median_ms.or(self.mean_ms).and_then(common::ms);
        if self.result.figures.is_empty() {
            into.note(format!(
                "{} has no totals; the run was stopped or the file is cut off",
                source.name()
            ));
            return;
        }
        self.result.name = self
            .model
            .unwrap_or_else(|| "migraphx-driver perf".to_owned());
        into.reported.push(self.result);
    }
}

impl PerfReport {
    /// Takes the instructions, or the groups of the summary where those are more of what the report states: a listing
    /// of thousands of instructions is often cut, and then the summary below it still has them all. Returns whether it
    /// took the instructions.
    fn sums(&self, instructions: Vec<Total>, groups: Vec<Total>, into: &mut Imported) -> bool {
        let (listed_ns, grouped_ns) = (sum(&instructions), sum(&groups));
        let stated_ns = self.stated_ns.unwrap_or(grouped_ns);
        let are_all = |ns: u64| is_same(ns, stated_ns) || ns >= stated_ns;
        let time = |ns: u64| humanize::duration_ns(ns as f64);
        let is_cut = self.has_instructions && !are_all(listed_ns);
        let takes_groups = is_cut && grouped_ns > listed_ns;
        let (taken_ns, whose) = if takes_groups {
            into.note(format!(
                "the listing of instructions is cut: those in it take {} of {}, so the sums of the Summary are shown",
                time(listed_ns),
                time(stated_ns)
            ));
            into.totals.extend(groups);
            (grouped_ns, "the Summary has")
        } else if self.has_instructions {
            into.totals.extend(instructions);
            into.note("instructions are timed one by one with synchronisation, so together they take longer than a run");
            (listed_ns, "the listing of instructions has")
        } else if self.has_groups {
            into.totals.extend(groups);
            into.note(
                "the file has sums by instruction alone, without the instructions themselves",
            );
            (grouped_ns, "the Summary has")
        } else {
            return false;
        };
        into.runs = into.runs.or_else(|| Some(self.reports.max(1)));
        if let Some(stated_ns) = self.stated_ns.filter(|stated| !is_same(taken_ns, *stated)) {
            into.note(format!(
                "{whose} {} in all, and Total instructions time states {}",
                time(taken_ns),
                time(stated_ns)
            ));
        }
        self.has_instructions && !takes_groups
    }
}

fn sum(totals: &[Total]) -> u64 {
    let times = totals.iter().map(|total| total.total_ns);
    times.fold(0, u64::saturating_add)
}

/// Whether two sums are of the same times.
fn is_same(a: u64, b: u64) -> bool {
    a.abs_diff(b) as f64 <= SAME * a.max(b) as f64
}

/// A line with the marks that a keyboard of Chinese or Japanese makes of `,:()%` put back: reports that are passed on
/// as text have them.
fn plain_marks(line: &str) -> Cow<'_, str> {
    const MARKS: [(char, &str); 5] = [
        ('，', ", "),
        ('：', ": "),
        ('（', "("),
        ('）', ")"),
        ('％', "%"),
    ];
    let mut line = Cow::Borrowed(line);
    for (wide, plain) in MARKS {
        if line.contains(wide) {
            line = Cow::Owned(line.replace(wide, plain));
        }
    }
    line
}

/// Whether a line begins an instruction: with its label.
fn begins_instruction(line: &str) -> bool {
    line.split_once(" = ")
        .is_some_and(|(label, _)| !label.contains(char::is_whitespace))
}

/// A line that ends in a time and a share: what stands before them, and the time in milliseconds.
fn timed(line: &str) -> Option<(&str, f64)> {
    let (rest, share) = line.rsplit_once(',')?;
    lines::number(share.trim().strip_suffix('%')?)?;
    let rest = rest.trim().strip_suffix("ms")?;
    // A group with a count has its mean after a sign.
    let at = rest.rfind([':', '='])?;
    let value = lines::number(rest.get(at + 1..)?)?;
    Some((rest.get(..at)?.trim_end(), value))
}

/// The label and the operator: `@5 = gpu::gemm[alpha=1](@4) -> float_type, {1}, {1}`.
fn instruction(text: &str) -> Option<(&str, String)> {
    let (label, rest) = text.split_once(" = ")?;
    let end = rest.find(['[', '(']).or_else(|| rest.find("->"));
    let op = rest.get(..end.unwrap_or(rest.len()))?.trim();
    let symbol = rest
        .split_once("symbol_name=")
        .filter(|_| op.ends_with("code_object"))
        .and_then(|parts| parts.1.split([',', ']']).next());
    let op = match symbol {
        Some(symbol) => format!("{op}::{symbol}"),
        // Parameters carry their own name, as in `@param:main:#output_0`.
        None if op.starts_with("@param") => "@param".to_owned(),
        None => op.to_owned(),
    };
    Some((label.trim(), op))
}

/// Copies are copies; everything else is work of the network, or its bookkeeping.
fn kind(op: &str) -> SliceKind {
    let name = op.strip_prefix("hip::").unwrap_or_default();
    if name.starts_with("copy") || name.starts_with("hip_copy") {
        SliceKind::Copy
    } else {
        SliceKind::Kernel
    }
}
