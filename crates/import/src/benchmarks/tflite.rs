//! What `benchmark_model` of TensorFlow Lite (`LiteRT`) prints: times of the runs, and with `--enable_op_profiling` each
//! node's.

use crate::benchmarks::common::{self, Sums};
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::reported::Reported;
use powerband_core::domain::trace::SliceKind;

/// Where nodes run.
const PLACE: &str = "TensorFlow Lite";
/// What the table of nodes begins with; that of the set-up has the same columns.
const RUN_ORDER: &str = "= Run Order =";

pub(crate) const FORMAT: Format = Format {
    id: "tflite-benchmark",
    title: "an output of TensorFlow Lite's benchmark_model",
    tool: "benchmark_model",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    head.any_text().is_some_and(|text| {
        text.contains("Inference timings in us: Init:")
            || text.contains("Average inference timings in us:")
            || text.contains("[node type]") && text.contains("[avg ms]")
            || text.contains("Running benchmark for at least") && text.contains("count=")
    })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut output = TfliteOutput::default();
    for line in source.progress_reader(text.lines(), watch) {
        output.line(line?, into);
    }
    output.finish(source, into);
    Ok(())
}

/// Output as far as it was read.
#[derive(Debug, Default)]
struct TfliteOutput {
    result: Reported,
    graph: String,
    median_us: Option<f64>,
    mean_us: Option<f64>,
    /// Whether the rows of a table of nodes follow, which is that of the runs.
    in_nodes: bool,
    is_set_up: bool,
    nodes: Sums,
}

impl TfliteOutput {
    fn line(&mut self, line: &str, into: &mut Imported) {
        // On Android and with a logger, each line has what the system writes before it.
        let line = ["INFO: ", "tflite  : ", "tflite: "]
            .iter()
            .find_map(|mark| line.split_once(mark))
            .map_or(line, |(_, rest)| rest);
        let plain = line.trim();
        if plain.starts_with("Profiling Info for Benchmark Initialization") {
            self.is_set_up = true;
        } else if plain.starts_with("Operator-wise Profiling Info") {
            self.is_set_up = false;
        }
        if plain.contains(RUN_ORDER) {
            self.in_nodes = !self.is_set_up;
        } else if plain.starts_with("=====") || plain.is_empty() {
            self.in_nodes = false;
        } else if self.in_nodes {
            if let Some(node) = node(line) {
                self.nodes.add(node);
            }
        } else if let Some(rest) = plain.strip_prefix("count=") {
            self.statistics(rest);
        } else if let Some(rest) = plain.split_once("nference timings in us: ") {
            self.timings(rest.1);
        } else if let Some(rest) = plain.strip_prefix("Graph: ") {
            rest.trim_matches(['[', ']']).clone_into(&mut self.graph);
        } else {
            self.setting(plain, into);
        }
    }

    /// `50 first=2990275 curr=2913402 min=2727568 max=3189954 avg=2.95e+06 std=109798 p5=… median=… p95=…`: the last
    /// one is that of the runs, the one before that of the warm-up. A single run has no statistics.
    fn statistics(&mut self, rest: &str) {
        let (count, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let of_runs = rest.contains("avg=") && !rest.contains("usage=");
        if !of_runs {
            return;
        }
        self.result
            .figures
            .retain(|figure| figure.unit != "us" || is_stage(&figure.name));
        self.result.figures.retain(|figure| figure.name != "runs");
        if let Some(count) = lines::number(count) {
            self.result.figure("runs", count, "");
        }
        for (name, value) in rest
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
        {
            let Some(value) = lines::number(value) else {
                continue;
            };
            match name {
                "median" => self.median_us = Some(value),
                "avg" => self.mean_us = Some(value),
                "curr" => continue,
                _ => {}
            }
            let name = match name {
                "avg" => "mean",
                "std" => "stddev",
                other => other,
            };
            self.result.figure(name, value, "us");
        }
    }

    /// `Init: 17187, First inference: 3512391, Warmup (avg): 3.51239e+06, Inference (avg): 2.95034e+06`.
    fn timings(&mut self, rest: &str) {
        for (name, value) in rest.split(", ").filter_map(|part| part.split_once(": ")) {
            let Some(value) = lines::number(value) else {
                continue;
            };
            if matches!(name, "Inference (avg)" | "Inference") {
                self.mean_us = self.mean_us.or(Some(value));
            }
            self.result.figure(name, value, "us");
        }
    }

    fn setting(&mut self, line: &str, into: &mut Imported) {
        let Some((name, value)) = line.split_once(": ") else {
            return;
        };
        let value = value.trim_matches(['[', ']']);
        match name {
            "Num threads" | "#threads used for CPU inference" => into.fact("threads", value),
            "Use gpu" | "Use NNAPI" | "Use xnnpack" | "Use Hexagon" | "Use CoreML" => {
                into.fact(name, value);
            }
            _ if name.starts_with("Memory footprint") || name.starts_with("Peak memory") => {
                let overall = value.split("overall=").nth(1).and_then(lines::number);
                if let Some(overall) = overall {
                    self.result.figure("memory", overall, "MB");
                }
            }
            _ => {}
        }
    }

    fn finish(mut self, source: &ImportSource, into: &mut Imported) {
        let nodes = std::mem::take(&mut self.nodes).into_list();
        if !nodes.is_empty() {
            into.runs = into.runs.or(Some(1));
            into.note("times of nodes are means of a run, with the profiler at work");
            into.totals.extend(nodes);
        }
        let microseconds = self.median_us.or(self.mean_us);
        self.result.typical_ns = microseconds.map(|us| lines::ns(us, 1e3));
        if self.result.typical_ns.is_none() {
            into.note(format!("{} ends before the results", source.name()));
            return;
        }
        let file = self.graph.rsplit('/').next().unwrap_or_default();
        self.result.name = match file {
            "" => "benchmark_model".to_owned(),
            file => file.to_owned(),
        };
        self.result.set_batch(common::batch_in(&self.result.name));
        into.reported.push(self.result);
    }
}

/// Whether a figure is of a stage of the program, which the statistics of the runs do not replace.
fn is_stage(name: &str) -> bool {
    name == "Init" || name == "First inference" || name.ends_with("(avg)")
}

/// A row of the table of nodes: type, start, first, mean in milliseconds, shares, memory, times called, name. In older
/// versions it has a column less.
fn node(line: &str) -> Option<Total> {
    let cells: Vec<&str> = line
        .split('\t')
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    let [op, _, _, mean, .., name] = cells.as_slice() else {
        return None;
    };
    let mean_ms = lines::number(mean)?;
    cells.get(4)?.strip_suffix('%')?;
    // The place in the graph follows the name.
    let name = match name.rsplit_once(':') {
        Some((name, place)) if place.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    let name = name.trim_matches(['[', ']']);
    Some(Total {
        work: None,
        kind: SliceKind::Kernel,
        name: name.to_owned(),
        op: (*op).to_owned(),
        place: PLACE.to_owned(),
        calls: 1,
        total_ns: common::ms(mean_ms)?,
        min_ns: None,
        max_ns: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const FILE: &str = "tflite/mobilenet-v1-profile.txt";

    #[test]
    fn a_real_run_has_its_times_and_nodes() {
        let imported = testing::fixture(FILE);
        let one = &imported.reported[0];
        assert_eq!(one.typical_ns, Some(79_760_900));
        let figure = one
            .figures
            .iter()
            .find(|figure| figure.name == "Init")
            .unwrap();
        assert_eq!((figure.value, figure.unit.as_str()), (38_467.0, "us"));
        let convolutions = imported.totals.iter().filter(|total| total.op == "CONV_2D");
        let times: Vec<u64> = convolutions.map(|total| total.total_ns).collect();
        assert_eq!((times.len(), times.iter().sum::<u64>()), (15, 70_692_000));
        let all: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
        assert_eq!((imported.totals.len(), all), (31, 79_449_000));
        let first = &imported.totals[0];
        assert_eq!(first.name, "MobilenetV1/MobilenetV1/Conv2d_0/Relu6");
        assert_eq!(imported.runs, Some(1));
    }

    #[test]
    fn a_newer_run_has_its_median_and_no_nodes_of_the_set_up() {
        let row = "\tCONV_2D\t0.066\t87.754\t60.957\t2.066%\t2.066%\t0.000\t1\t[net/Relu6]:0\n";
        let table = format!(
            "= Run Order =\n\t[node type]\t[start]\t[first]\t[avg ms]\t[%]\t[cdf%]\t[mem KB]\t[times called]\t[Name]\n{row}\n"
        );
        let text = format!(
            "STARTING!\nNum threads: [4]\nGraph: [./mobilenet_v1.tflite]\nRunning benchmark for at least 1 iterations\n\
            count=2 first=9 curr=9 min=9 max=9 avg=9 std=0\n\n\
            count=50 first=2990275 curr=2913402 min=2727568 max=3189954 avg=2.95034e+06 std=109798\n\n\
            Inference timings in us: Init: 17187, First inference: 3512391, Warmup (avg): 3.51239e+06, Inference (avg): 2.95034e+06\n\
            Memory footprint delta from the start of the tool (MB): init=4.21094 overall=46.0859\n\
            Profiling Info for Benchmark Initialization:\n{table}\
            Operator-wise Profiling Info for Regular Benchmark Runs:\n{table}"
        );
        let imported = testing::imported(&text).unwrap();
        let one = &imported.reported[0];
        assert_eq!(
            (one.name.as_str(), one.typical_ns),
            ("mobilenet_v1.tflite", Some(2_950_340_000))
        );
        let figure = |name: &str| {
            let found = one.figures.iter().find(|figure| figure.name == name);
            found.map(|figure| (figure.value, figure.unit.as_str()))
        };
        assert_eq!(figure("min"), Some((2_727_568.0, "us")));
        assert_eq!(figure("runs"), Some((50.0, "")));
        assert_eq!(figure("memory"), Some((46.0859, "MB")));
        assert_eq!(
            (imported.totals.len(), imported.totals[0].name.as_str()),
            (1, "net/Relu6")
        );
    }

    #[test]
    fn loggers_before_lines_do_no_harm() {
        let text = "I tflite  : Graph: [a/net_batch4.tflite]\nINFO: count=1 curr=9 p5=9 median=9 p95=9\n\
            INFO: count=8 first=7 curr=6 min=5 max=9 avg=6.5 std=1 p5=5 median=6 p95=9\n";
        let imported =
            testing::imported(format!("Running benchmark for at least 1\n{text}")).unwrap();
        let one = &imported.reported[0];
        assert_eq!((one.typical_ns, one.batch()), (Some(6_000), Some(4)));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE));
    }
}
