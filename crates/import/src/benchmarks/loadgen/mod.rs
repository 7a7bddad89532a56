//! Files of `MLPerf`'s `LoadGen`: `mlperf_log_summary.txt`, and the lines of its detailed log.

use crate::benchmarks::common;
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

#[cfg(test)]
mod tests;

/// What a line of the detailed log begins with.
const MARK: &str = ":::MLLOG ";
/// What the summary of a run of accuracy holds at most.
const ENDS: [&str; 2] = [
    "No warnings encountered during test.",
    "No errors encountered during test.",
];
/// Keys of the detailed log that identify the run.
const FACTS: [&str; 8] = [
    "loadgen_git_commit_date",
    "loadgen_build_date_utc",
    "sut_name",
    "qsl_name",
    "effective_scenario",
    "effective_test_mode",
    "effective_samples_per_query",
    "effective_target_qps",
];

pub(crate) const FORMAT: Format = Format {
    id: "mlperf-loadgen",
    title: "results of MLPerf's LoadGen",
    tool: "LoadGen",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    head.any_text()
        .is_some_and(|text| text.contains("MLPerf Results Summary") || text.contains(MARK))
        || head
            .first_line()
            .is_some_and(|line| ENDS.contains(&line.trim()))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut run = LoadgenSummary::default();
    let mut detail = Detail::default();
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        match line.split_once(MARK) {
            Some((_, entry)) => detail.line(entry, into),
            None => run.line(line, into),
        }
    }
    let has_summary = run.finish(into);
    let has_detail = detail.finish(source, into);
    if !has_summary && !has_detail {
        into.note(format!(
            "{} has no figures: an accuracy run, or an incomplete one",
            source.name()
        ));
    }
    Ok(())
}

/// Section of the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SummarySection {
    #[default]
    Outside,
    Results,
    Parameters,
}

/// The summary, as far as it was read.
#[derive(Debug, Default)]
struct LoadgenSummary {
    part: SummarySection,
    result: Reported,
    sut: String,
    scenario: String,
    is_invalid: bool,
    advice: Vec<String>,
}

impl LoadgenSummary {
    fn line(&mut self, line: &str, into: &mut Imported) {
        let bare = line.trim();
        match bare {
            "MLPerf Results Summary" | "Additional Stats" => self.part = SummarySection::Results,
            "Test Parameters Used" => self.part = SummarySection::Parameters,
            _ if bare.contains("encountered") && !bare.starts_with("No ") => {
                into.note(format!("LoadGen says: {bare}"));
            }
            _ => {}
        }
        if let Some(advice) = bare.strip_prefix("* ") {
            self.advice.push(advice.to_owned());
            return;
        }
        let Some((name, value)) = bare.rsplit_once(':') else {
            return;
        };
        let (name, value) = (name.trim(), value.trim());
        match self.part {
            SummarySection::Results => self.result_line(name, value, into),
            SummarySection::Parameters if !name.contains(' ') || name.ends_with(')') => {
                into.fact(name, value);
            }
            _ => {}
        }
    }

    fn result_line(&mut self, name: &str, value: &str, into: &mut Imported) {
        match name {
            "SUT name" => value.clone_into(&mut self.sut),
            "Scenario" => value.clone_into(&mut self.scenario),
            "Mode" => into.fact(name, value),
            "Result is" => self.is_invalid = value != "VALID",
            _ if name.ends_with("satisfied") => {
                if !value.eq_ignore_ascii_case("yes") {
                    self.result.objections.push(format!("{name}: {value}"));
                }
            }
            _ => {
                // Whole numbers of 64 bits are exact as text; as a figure they may lose their end.
                let Some(number) = lines::number(value) else {
                    return;
                };
                let (bare, unit) = common::unit_of(name);
                let unit = if unit.is_empty() { rate(name) } else { unit };
                if self.result.figures.iter().all(|figure| figure.name != bare) {
                    self.result.figure(bare, number, unit);
                }
            }
        }
    }

    fn finish(mut self, into: &mut Imported) -> bool {
        if self.result.figures.is_empty() {
            return false;
        }
        let names = [self.sut.as_str(), self.scenario.as_str()];
        names.join(" ").trim().clone_into(&mut self.result.name);
        if self.is_invalid {
            self.result
                .objections
                .insert(0, "the result is INVALID".to_owned());
            self.result.objections.extend(self.advice);
        } else if !self.result.objections.is_empty() {
            into.note("LoadGen accepts the result although not every condition is satisfied");
        }
        set_typical_latency(&mut self.result, &self.scenario, into);
        into.fact("Scenario", self.scenario.as_str());
        into.reported.push(self.result);
        true
    }
}

/// The latency that stands for all; in the offline scenario there is none, as all samples wait for one
/// another.
fn set_typical_latency(result: &mut Reported, scenario: &str, into: &mut Imported) {
    if scenario == "Offline" {
        into.note("in the offline scenario every sample waits for those before it, so its latencies stand for no run; the samples a second count");
        return;
    }
    let of = |names: [&str; 3]| {
        let found = result
            .figures
            .iter()
            .find(|figure| names.contains(&figure.name.as_str()));
        found.map(|figure| lines::ns(figure.value, 1.0))
    };
    result.typical_ns = of([
        "50.00 percentile latency",
        "50.0 percentile latency",
        "result_50.00_percentile_latency_ns",
    ])
    .or_else(|| of(["Mean latency", "", "result_mean_latency_ns"]));
}

/// The unit of a figure that has none in brackets.
fn rate(name: &str) -> &'static str {
    let name = name.to_lowercase();
    if name.contains("tokens") && name.contains("per") {
        "tokens/s"
    } else if name.contains("samples_per_second") || name.contains("samples per second") {
        "samples/s"
    } else if name.contains("qps") {
        "queries/s"
    } else if name.ends_with("_ns") {
        "ns"
    } else {
        ""
    }
}

/// The detailed log, as far as it was read.
#[derive(Debug, Default)]
struct Detail {
    result: Reported,
    sut: String,
    scenario: String,
    entries: u64,
    unread: u64,
    start_ms: Option<f64>,
}

impl Detail {
    fn line(&mut self, entry: &str, into: &mut Imported) {
        let Some(entry) = json::object(entry.trim()) else {
            self.unread += 1;
            return;
        };
        self.entries += 1;
        let Some(key) = json::text_of(&entry, "key") else {
            return;
        };
        let value = entry.get("value").map(json::value_text).unwrap_or_default();
        match key {
            "loadgen_version" => {
                into.name_version(value.split(' ').next().unwrap_or_default());
            }
            "effective_scenario" => self.scenario.clone_from(&value),
            "sut_name" => self.sut.clone_from(&value),
            "run_start" => self.start_ms = json::number_of(&entry, "time_ms"),
            "run_stop" => self.stop(&entry),
            _ => {}
        }
        if FACTS.contains(&key) {
            into.fact(key, value.as_str());
        }
        let about = entry
            .get("metadata")
            .and_then(|metadata| metadata.as_object());
        let is_error = about.and_then(|about| about.get("is_error")?.as_bool()) == Some(true);
        let is_warning = about.and_then(|about| about.get("is_warning")?.as_bool()) == Some(true);
        if (is_error || is_warning) && into.notes.len() < 20 {
            into.note(format!("LoadGen says: {key}: {value}"));
        }
        if let Some(name) = key.strip_prefix("result_") {
            self.take(key, name, &value);
        }
    }

    /// A result: a number, or whether a condition was met.
    fn take(&mut self, key: &str, name: &str, value: &str) {
        match (name, value) {
            ("validity", "VALID") => {}
            ("validity", _) => self
                .result
                .objections
                .insert(0, format!("the result is {value}")),
            ("invalid_reason", reason) => self.result.objections.push(reason.to_owned()),
            (_, "false") => self.result.objections.push(format!("{key}: {value}")),
            _ => {
                if let Some(number) = lines::number(value) {
                    self.result.figure(key, number, rate(key));
                }
            }
        }
    }

    /// Training has a beginning and an end in place of latencies.
    fn stop(&mut self, entry: &Object) {
        if let (Some(from), Some(to)) = (self.start_ms, json::number_of(entry, "time_ms")) {
            self.result.figure("run", (to - from) / 1e3, "s");
        }
        let status = entry
            .get("metadata")
            .and_then(|metadata| metadata.get("status"));
        let status = status.map(json::value_text).unwrap_or_default();
        if !status.is_empty() && status != "success" {
            self.result
                .objections
                .push(format!("the run ended with {status}"));
        }
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) -> bool {
        into.note_unread(self.unread, "line", &source.name());
        if self.result.figures.is_empty() && self.result.objections.is_empty() {
            return false;
        }
        let names = [self.sut.as_str(), self.scenario.as_str()];
        names.join(" ").trim().clone_into(&mut self.result.name);
        if self.result.name.is_empty() {
            "MLPerf".clone_into(&mut self.result.name);
        }
        set_typical_latency(&mut self.result, &self.scenario, into);
        into.reported.push(self.result);
        true
    }
}
