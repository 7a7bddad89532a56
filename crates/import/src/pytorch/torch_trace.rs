//! Logs of `torch.compile` as `TORCH_TRACE` has them written: lines of JSON, each with a text of lines further in.
//!
//! Among the texts are events of a Chrome trace: the timeline of compiling. Others say which functions were compiled,
//! and why they were broken up, compiled again, or not compiled at all.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use crate::job::RANK_FACT;
use crate::reading::head::FileHead;
use crate::reading::json::{self, Object};
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported, chrome};
use powerband_core::base::humanize;
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "torch-trace",
    title: "a log of torch.compile",
    tool: "torch.compile",
    name_ends: &[],
    recognises: |head: &FileHead| {
        let text = head.plain_text().unwrap_or_default();
        text.lines().take(100).any(|line| record(line).is_some())
    },
    read,
};

/// Functions and reasons of one kind that are named.
const NAMED: usize = 40;
/// Letters of a reason that are kept.
const REASON: usize = 300;

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut log = CompileLog::default();
    for line in source.progress_reader(text.lines(), watch) {
        log.line(line?, into);
    }
    log.end_payload(into);
    log.finish(source, into);
    Ok(())
}

/// The JSON of a line such as `V0401 12:34:56.789000 123 torch/_dynamo/utils.py:12] {"…`.
fn record(line: &str) -> Option<&str> {
    let (day, rest) = line.strip_prefix('V')?.split_once(' ')?;
    let has_day = day.len() == 4 && day.bytes().all(|byte| byte.is_ascii_digit());
    let (_, record) = rest.split_once("] ").filter(|_| has_day)?;
    record.starts_with("{\"").then_some(record)
}

/// What the text below a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LogPayload {
    /// Graphs, code, and whatever else is not kept.
    #[default]
    Unused,
    Event,
    Version,
    GraphBreak,
    Recompilation,
}

/// A function that was compiled.
#[derive(Debug)]
struct CompiledFunction {
    name: String,
    /// How long that took; nothing where the log does not have it.
    ns: Option<u64>,
    text: String,
}

/// The log as far as it was read.
#[derive(Debug, Default)]
struct CompileLog {
    payload: LogPayload,
    text: String,
    /// Events of the timeline, as a list without its end.
    events: Vec<u8>,
    functions: Vec<CompiledFunction>,
    /// Reasons by what they are of, each with its number.
    reasons: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// Looks into caches, by what came of them.
    caches: BTreeMap<String, u64>,
    unread: u64,
}

impl CompileLog {
    fn line(&mut self, line: &str, into: &mut Imported) {
        if let Some(text) = line.strip_prefix('\t') {
            if self.payload != LogPayload::Unused {
                self.text.push_str(text);
                self.text.push('\n');
            }
            return;
        }
        self.end_payload(into);
        if let Some(record) = record(line) {
            self.record(record, into);
        }
    }

    fn record(&mut self, record: &str, into: &mut Imported) {
        let kind = record.split('"').nth(1).unwrap_or_default();
        if kind == "chromium_event" {
            self.payload = LogPayload::Event;
            return;
        }
        if !matches!(kind, "artifact" | "compilation_metrics") {
            return;
        }
        let Some(fields) = json::object(record) else {
            self.unread += 1;
            return;
        };
        if let Some(rank) = fields.get("rank").map(json::value_text) {
            into.fact(RANK_FACT, rank);
        }
        let Some(content) = fields.get(kind).and_then(|content| content.as_object()) else {
            return;
        };
        if kind == "compilation_metrics" {
            self.function(content, &fields);
            return;
        }
        let name = json::text_of(content, "name").unwrap_or_default();
        self.payload = match name {
            "torch_version" => LogPayload::Version,
            "dynamo_graph_break_reason" => LogPayload::GraphBreak,
            "recompile_reasons" => LogPayload::Recompilation,
            _ => LogPayload::Unused,
        };
        let is_look = ["_hit", "_miss", "_bypass"]
            .iter()
            .any(|end| name.ends_with(end));
        if is_look && name.contains("cache") {
            *self.caches.entry(name.replace('_', " ")).or_default() += 1;
        }
    }

    /// A function was compiled, or could not be.
    fn function(&mut self, metrics: &Object, fields: &Object) {
        let text = |key: &str| json::text_of(metrics, key).unwrap_or_default();
        let number = |key: &str| json::number_of(metrics, key);
        let name = match text("co_name") {
            "" => "a graph",
            name => name,
        };
        let id = |key: &str| fields.get(key).map(json::value_text).unwrap_or_default();
        let id = format!("{}/{}", id("frame_id"), id("frame_compile_id"));
        let mut what = format!("{name} ({id})");
        let line = metrics.get("co_firstlineno").map(json::value_text);
        if let Some(line) = line.filter(|_| !text("co_filename").is_empty()) {
            what = format!("{name} ({}:{line}, {id})", text("co_filename"));
        }
        let ns = number("entire_frame_compile_time_s").map(|s| lines::ns(s, 1e9));
        // Some versions have this in its place.
        let ns = ns.or_else(|| Some(lines::ns(number("dynamo_cumulative_compile_time_us")?, 1e3)));
        let counts = [("graph_op_count", "operation"), ("guard_count", "guard")];
        let counts = counts.iter().filter_map(|(key, of_what)| {
            Some(humanize::pluralised(number(key)?.max(0.0) as u64, of_what))
        });
        let time = ns.map(|ns| humanize::duration_ns(ns as f64));
        let parts: Vec<String> = time.into_iter().chain(counts).collect();
        self.functions.push(CompiledFunction {
            text: format!("{what}: {}", parts.join(", ")),
            name: what.clone(),
            ns,
        });
        if !text("fail_reason").is_empty() {
            let reason = format!("{what}: {}", first_lines(text("fail_reason")));
            self.add_reason("not compiled", &reason);
        }
        let restarts = metrics
            .get("restart_reasons")
            .and_then(|list| list.as_array());
        for reason in restarts.into_iter().flatten() {
            self.add_reason("started again", &first_lines(&json::value_text(reason)));
        }
    }

    /// Takes the text in that ends here.
    fn end_payload(&mut self, into: &mut Imported) {
        let text = std::mem::take(&mut self.text);
        match std::mem::take(&mut self.payload) {
            LogPayload::Unused => {}
            // One that is cut off would make those behind it a part of itself.
            LogPayload::Event if serde_json::from_str::<IgnoredAny>(&text).is_ok() => {
                self.events
                    .push(if self.events.is_empty() { b'[' } else { b',' });
                self.events.extend_from_slice(text.as_bytes());
            }
            LogPayload::Event => self.unread += 1,
            LogPayload::Version => {
                let version = json::object(&text).unwrap_or_default();
                into.name_version(json::text_of(&version, "pytorch_version").unwrap_or_default());
            }
            LogPayload::GraphBreak => {
                let reason = first_lines(&text);
                let reason = reason.strip_prefix("Graph break in user code at ");
                let reason = reason.map_or_else(|| first_lines(&text), str::to_owned);
                self.add_reason("graph break", &reason);
            }
            LogPayload::Recompilation => self.add_reason("compiled again", &first_lines(&text)),
        }
    }

    fn add_reason(&mut self, of_what: &'static str, reason: &str) {
        let reasons = self.reasons.entry(of_what).or_default();
        if !reason.is_empty() {
            *reasons.entry(reason.to_owned()).or_default() += 1;
        }
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        into.note_unread(self.unread, "record", &source.name());
        if self.events.is_empty() {
            into.note("the log has no events with times, as later versions of PyTorch write them: there are functions with their times, and no timeline");
            let timed = self
                .functions
                .iter()
                .filter_map(|function| Some((function, function.ns?)));
            into.totals.extend(timed.map(|(function, ns)| Total {
                work: None,
                kind: SliceKind::Operator,
                name: function.name.clone(),
                op: String::new(),
                place: String::new(),
                calls: 1,
                total_ns: ns,
                min_ns: None,
                max_ns: None,
            }));
        } else {
            self.events.push(b']');
            chrome::read_list(self.events, source, into);
            // Phases lie in each other, so that the time of each is its own.
            into.trace.relabel(SliceKind::Operator, |_, _| true);
            for track in &mut into.trace.tracks {
                "torch.compile".clone_into(&mut track.group);
            }
        }
        self.functions
            .sort_by_key(|function| std::cmp::Reverse(function.ns));
        let n_more = self.functions.len().saturating_sub(NAMED);
        for function in self.functions.into_iter().take(NAMED) {
            into.fact("compiled", function.text);
        }
        if n_more > 0 {
            into.fact("compiled", format!("{n_more} more"));
        }
        for (of_what, reasons) in self.reasons {
            for (reason, count) in reasons.into_iter().take(NAMED) {
                let times = if count > 1 {
                    format!(" ({count} times)")
                } else {
                    String::new()
                };
                into.fact(of_what, format!("{reason}{times}"));
            }
        }
        for (look, count) in self.caches {
            into.fact(&look, count.to_string());
        }
    }
}

/// The beginning of a reason in one line: what follows are hints, links and the stack.
fn first_lines(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines
        .take_while(|line| !line.starts_with(' ') && !line.starts_with("User code traceback"))
        .take(3)
        .map(str::trim)
        .collect();
    humanize::shorten(&lines.join("; "), REASON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::summary;
    use crate::testing;

    const RECENT: &str = "torch-trace/two-functions-torch2.15.log.gz";
    const FAILURES: &str = "torch-trace/failures-torch2.15.log.gz";

    fn facts<'a>(imported: &'a Imported, name: &str) -> Vec<&'a str> {
        let facts = imported.facts.iter().filter(|fact| fact.0 == name);
        facts.map(|fact| fact.1.as_str()).collect()
    }

    #[test]
    fn compiling_has_a_timeline_and_its_reasons() {
        let imported = testing::fixture(RECENT);
        assert_eq!(imported.trace.len(), 236);
        assert_eq!(imported.tool.version.as_deref(), Some("2.15.0+cu132"));
        assert_eq!(imported.trace.tracks[0].group, "torch.compile");
        // Phases in phases count once: together they are the four compilations.
        let profile = summary::profile(&imported, "");
        let sum = profile.summed_ns(SliceKind::Operator);
        assert_eq!(sum, 18_892_296_700);
        let compiled = facts(&imported, "compiled");
        assert_eq!(compiled.len(), 4);
        assert_eq!(
            compiled[0],
            "f (tt.py:2, 0/0): 16.3 s, 3 operations, 13 guards"
        );
        let breaks = facts(&imported, "graph break");
        assert_eq!(breaks.len(), 1);
        assert!(
            breaks[0].starts_with("tt.py:4; Graph Break Reason: "),
            "{breaks:?}"
        );
        assert!(breaks[0].ends_with("Call to `torch._dynamo.graph_break()` (2 times)"));
        let again = "0/0: tensor 'x' size mismatch at index 0. expected 64, actual 32";
        assert_eq!(facts(&imported, "compiled again")[0], again);
        assert_eq!(facts(&imported, "fx graph cache miss"), ["4"]);
        assert_eq!(facts(&imported, "started again").len(), 1);
        assert!(imported.notes.is_empty(), "{:?}", imported.notes);
    }

    #[test]
    fn a_function_that_is_not_compiled_says_why() {
        let imported = testing::fixture(FAILURES);
        assert_eq!(imported.trace.len(), 142);
        let why = [
            "refused (compiles.py:27, 4/0): backend='refusing' raised:; RuntimeError: no such backend here",
            "whole (compiles.py:12, 3/0): Call to `torch._dynamo.graph_break()`",
        ];
        assert_eq!(facts(&imported, "not compiled"), why);
        let breaks = ["compiles.py:7; Graph Break Reason: Data-dependent branching"];
        assert_eq!(facts(&imported, "graph break"), breaks);
        let again = ["2/0: tensor 'x' size mismatch at index 0. expected 4, actual 6"];
        assert_eq!(facts(&imported, "compiled again"), again);
        let compiled = facts(&imported, "compiled");
        assert_eq!(compiled.len(), 6);
        assert_eq!(
            compiled[0],
            "branches (compiles.py:4, 0/0): 3.78 s, 5 operations, 11 guards"
        );
        assert!(imported.notes.is_empty(), "{:?}", imported.notes);
    }

    #[test]
    fn a_log_without_events_has_the_times_of_its_functions() {
        // As earlier versions write it: without events and their texts.
        let log = String::from_utf8(testing::unpacked(FAILURES)).unwrap();
        let mut is_event = false;
        let lines = log.lines().filter(|line| {
            if !line.starts_with('\t') {
                is_event = line.contains("{\"chromium_event\"");
            }
            !is_event
        });
        let lines: Vec<&str> = lines.collect();
        let imported = testing::imported(lines.join("\n")).unwrap();
        assert!(imported.trace.is_empty());
        let totals = testing::totals(&imported);
        assert_eq!(totals.len(), 6);
        assert_eq!(
            totals[0],
            ("branches (compiles.py:4, 0/0)", 1, 3_777_512_000)
        );
        let sum: u64 = totals.iter().map(|total| total.2).sum();
        assert_eq!(sum, 4_756_868_000);
        assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for file in [RECENT, FAILURES] {
            testing::damage(&testing::unpacked(file), 30, |damaged| {
                drop(testing::read_by(&FORMAT, damaged));
            });
        }
    }
}
