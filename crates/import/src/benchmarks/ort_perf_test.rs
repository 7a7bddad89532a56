//! The output of `onnxruntime_perf_test`, and the rows that it writes to its result file.

use crate::benchmarks::common;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::reported::Reported;

pub(crate) const FORMAT: Format = Format {
    id: "onnxruntime-perf-test",
    title: "results of onnxruntime_perf_test",
    tool: "onnxruntime_perf_test",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    head.any_text().is_some_and(|text| {
        text.contains("Number of inferences per second:")
            || text.contains("Session creation time cost:")
            || text.contains("Average inference time cost")
    }) || head
        .first_line()
        .is_some_and(|line| row(line).is_some_and(|row| row.index == 0))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let first = text.lines().find(|line| !line.trim().is_empty());
    if first.and_then(row).is_some() {
        return rows(&text, source, watch, into);
    }
    let mut result = Reported::named("onnxruntime_perf_test");
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        take(&mut result, line.trim(), into);
    }
    let of = |name: &str| {
        let found = result.figures.iter().find(|figure| figure.name == name)?;
        Some(lines::ns(found.value, lines::unit_ns(&found.unit)?))
    };
    if result.samples_ns.is_empty() {
        result.typical_ns = of("P50 Latency")
            .or_else(|| of("Average inference time cost total"))
            .or_else(|| of("Average inference time cost"));
    }
    let has_results = result
        .figures
        .iter()
        .any(|figure| figure.name.starts_with("Average inference"));
    if !has_results {
        into.note(format!("{} ends before the results", source.name()));
    }
    if !result.figures.is_empty() || !result.samples_ns.is_empty() {
        into.reported.push(result);
    }
    Ok(())
}

/// A line: `name: value unit`, a run of its own, or words about the session.
fn take(result: &mut Reported, line: &str, into: &mut Imported) {
    if let Some(seconds) = run(line) {
        result.samples_ns.extend(common::seconds(seconds));
        return;
    }
    let session = line.starts_with("Setting ")
        || line.starts_with("setting ")
        || line.starts_with("Disabling ")
        || (line.starts_with("using ") && line.ends_with("ExecutionProvider"));
    if session {
        into.fact("session", line);
        return;
    }
    let Some((name, value)) = line.split_once(':') else {
        return;
    };
    let known = name.ends_with("Latency")
        || name.ends_with("CPU usage")
        || name.contains("inference")
        || matches!(
            name,
            "Session creation time cost" | "Peak working set size" | "Runs"
        );
    let mut words = value.split_whitespace();
    let (true, Some(number)) = (known, words.next().and_then(lines::number)) else {
        return;
    };
    let unit = match (words.next(), name) {
        (Some("bytes"), _) => "B",
        (Some(unit), _) => unit,
        (None, "Number of inferences per second") => "inferences/s",
        (None, _) => "",
    };
    // Usage and peak come twice, in two spellings.
    if result.figures.iter().all(|figure| figure.name != name) {
        result.figure(name, number, unit);
    }
}

/// A run by itself: `iteration:3,time_cost:0.0123`.
fn run(line: &str) -> Option<f64> {
    let rest = line.strip_prefix("iteration:")?;
    lines::number(rest.split_once("time_cost:")?.1)
}

/// A row of the result file.
#[derive(Debug)]
struct ResultRow<'a> {
    model: &'a str,
    seconds: f64,
    peak: f64,
    cpu: f64,
    index: u64,
}

/// `model,seconds,peak,cpu,run`; the model may hold commas.
fn row(line: &str) -> Option<ResultRow<'_>> {
    let mut parts = line.trim().rsplitn(5, ',').map(str::trim);
    let index = parts.next()?.parse().ok()?;
    let cpu: u32 = parts.next()?.parse().ok()?;
    let peak: u64 = parts.next()?.parse().ok()?;
    let seconds = parts.next()?;
    let row = ResultRow {
        seconds: lines::number(seconds).filter(|_| seconds.contains(['.', 'e']))?,
        peak: peak as f64,
        cpu: f64::from(cpu),
        index,
        model: parts
            .next()
            .filter(|model| model.contains(char::is_alphabetic))?,
    };
    Some(row)
}

/// The result file: a run in each row, several models one after the other.
fn rows(
    text: &str,
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut results: Vec<Reported> = Vec::new();
    let mut unread = 0;
    for line in source.progress_reader(text.lines().filter(|line| !line.trim().is_empty()), watch) {
        let line = line?;
        let Some(row) = row(line) else {
            unread += 1;
            continue;
        };
        // Files are added to: a run that counts from 0 is another one of maybe the same model.
        let goes_on = results
            .last()
            .is_some_and(|last| last.name == row.model && row.index > 0);
        if !goes_on {
            let mut result = Reported::named(row.model);
            result.figure("Peak working set size", row.peak, "B");
            result.figure("Avg CPU usage", row.cpu, "%");
            results.push(result);
        }
        if let Some(result) = results.last_mut() {
            result.samples_ns.extend(common::seconds(row.seconds));
        }
    }
    into.note_unread(unread, "row", &source.name());
    into.reported.extend(results);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const PRINTED: &str = "Setting intra_op_num_threads to 1
Session creation time cost: 0.217932 s
First inference time cost: 196 ms
Total inference time cost: 0.49481 s
Total inference requests: 5
Average inference time cost total: 98.961997 ms
Total inference run time: 0.494854 s
Number of inferences per second: 10.104
Avg CPU usage: 11 %
Peak working set size: 271122432 bytes
Avg CPU usage:11
Peak working set size:271122432
Runs:5
Min Latency: 0.0958204 s
P50 Latency: 0.0995086 s
P999 Latency: 0.101519 s
";

    fn figure(reported: &Reported, name: &str) -> Option<(f64, String)> {
        let found = reported.figures.iter().find(|figure| figure.name == name);
        found.map(|figure| (figure.value, figure.unit.clone()))
    }

    #[test]
    fn what_is_printed_has_units() {
        let imported = testing::imported(PRINTED).unwrap();
        let result = &imported.reported[0];
        assert_eq!(result.typical_ns, Some(99_508_600));
        assert_eq!(
            figure(result, "Number of inferences per second"),
            Some((10.104, "inferences/s".into()))
        );
        assert_eq!(
            figure(result, "Peak working set size"),
            Some((271_122_432.0, "B".into()))
        );
        assert_eq!(figure(result, "Avg CPU usage"), Some((11.0, "%".into())));
        assert_eq!(
            figure(result, "P999 Latency"),
            Some((0.101_519, "s".into()))
        );
        assert_eq!(
            figure(result, "Total inference requests"),
            Some((5.0, String::new()))
        );
        assert_eq!(result.figures.len(), 13);
        assert_eq!(imported.facts[0].1, "Setting intra_op_num_threads to 1");
    }

    #[test]
    fn old_words_and_single_runs_are_read() {
        let text = "Session creation time cost: 2.7 s\niteration:0,time_cost:0.5\n\
            iteration:1,time_cost:0.25\nAverage inference time cost: 375 ms\n\
            Total CPU usage: 382 %\n";
        let imported = testing::imported(text).unwrap();
        let result = &imported.reported[0];
        assert_eq!(result.samples_ns, [500_000_000, 250_000_000]);
        assert_eq!(figure(result, "Total CPU usage"), Some((382.0, "%".into())));
        let cut = testing::imported(&PRINTED[..90]).unwrap();
        assert!(cut.notes[0].contains("ends before the results"));
    }

    #[test]
    fn the_result_file_has_every_run() {
        let text = "resnet50, v1,0.0125,1000,55,0\nresnet50, v1,0.0120,1000,55,1\n\
            other,1.5e-3,1000,55,0\nother,x,1,1,1\n";
        let imported = testing::imported(text).unwrap();
        let found: Vec<(&str, &[u64])> = imported
            .reported
            .iter()
            .map(|result| (result.name.as_str(), result.samples_ns.as_slice()))
            .collect();
        assert_eq!(
            found,
            [
                ("resnet50, v1", [12_500_000, 12_000_000].as_slice()),
                ("other", [1_500_000].as_slice()),
            ]
        );
        assert!(imported.notes[0].starts_with("1 row of"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, PRINTED.as_bytes());
        testing::survives(&FORMAT, b"a,0.5,1,2,0\na,0.5,1,2,1\nb,0.5,1,2,0\n");
    }
}
