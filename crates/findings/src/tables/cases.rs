//! Cases: measurements, device telemetry and outcome of each.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::batch_curve::{BatchCurve, Efficiency, Statistic};
use crate::analysis::case_rows::CaseRow;
use crate::analysis::device_readings::{self, CaseReadings};
use powerband_core::domain::plan::p99_samples;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::Quantity;
use powerband_core::stats::percentiles::ELIGIBLE;
use powerband_core::stats::summary::Summary;

use powerband_core::base::humanize;

type CaseColumn = Column<CaseLine>;

/// Columns of a terminal's table.
pub const ON_TERMINAL: [&str; 11] = [
    "label",
    "batch",
    "median_ms",
    "uncertainty",
    "min_ms",
    "p90_ms",
    "p99_ms",
    "throughput_per_s",
    "of_best",
    "samples",
    "flags_and_outcome",
];
/// Columns of a report's table.
pub const IN_REPORT: [&str; 10] = [
    "label",
    "batch",
    "median_ms",
    "uncertainty",
    "p90_ms",
    "p99_ms",
    "throughput_per_s",
    "of_best",
    "samples",
    "problems",
];
/// A setup's batch sizes, as a case study has them.
pub const BATCHES: [&str; 5] = [
    "batch",
    "median_ms",
    "throughput_per_s",
    "of_best",
    "scaling",
];
/// What the devices read, and what that cost.
pub const DEVICES: [&str; 10] = [
    "label",
    "batch",
    "utilisation",
    "power_w",
    "clock_mhz",
    "temperature_c",
    "peak_memory_bytes",
    "energy_j_per_item",
    "net_j_per_item",
    "items_per_j",
];
/// Columns of the exported file.
pub(crate) const IN_FILE: [&str; 21] = [
    "setup",
    "label",
    "batch",
    "outcome",
    "rounds",
    "samples",
    "min_ms",
    "median_ms",
    "mean_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "max_ms",
    "std_ms",
    "ci95_low_ms",
    "ci95_high_ms",
    "throughput_per_s",
    "peak_memory_bytes",
    "energy_j_per_item",
    "flags",
    "reason",
];

/// What is drawn of cases: the columns *Latency* and *Efficiency* follow it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrawnNumbers {
    /// The number that stands for a case's latency.
    pub statistic: Statistic,
    /// Which efficiency is drawn.
    pub efficiency: Efficiency,
}

/// A row: a case, under the name that its setup has beside others.
#[derive(Clone, Debug)]
pub struct CaseLine {
    row: CaseRow,
    name: String,
    drawn: DrawnNumbers,
    latency_ns: Option<f64>,
    efficiency: Option<f64>,
    scaling: Option<f64>,
    readings: [Option<f64>; 3],
}

/// What is read of devices, in the order of a row.
const READ: [Quantity; 3] = [Quantity::Power, Quantity::Clock, Quantity::Temperature];

impl CaseLine {
    /// A case of a session, with the curve of its setup where that was made.
    pub fn new(
        session: &Session,
        row: &CaseRow,
        curve: Option<&BatchCurve>,
        name: &str,
        drawn: DrawnNumbers,
    ) -> Self {
        let points = curve.map_or(&[][..], |curve| &curve.points);
        let point = points.iter().find(|point| point.point == row.point);
        let own = device_readings::devices_of_setup(session, row.setup);
        let mean = |quantity: Quantity| {
            let of_own = |device: &&CaseReadings| own.contains(&device.device);
            let mut devices = row.device_readings.iter().filter(of_own);
            devices.find_map(|device| Some(device.extent(quantity)?.mean))
        };
        let mut readings = READ.map(mean);
        // A case that ended badly has no point, and what was measured of it until then stands all the same.
        let median = row.latency_ns.as_ref().map(|times| times.median);
        let energy = row.energy.as_ref().ok();
        readings[0] = energy.map(|energy| energy.mean_w()).or(readings[0]);
        Self {
            name: name.to_owned(),
            latency_ns: point
                .and_then(|point| point.latency_ns(drawn.statistic))
                .or_else(|| median.filter(|_| drawn.statistic == Statistic::Median)),
            efficiency: point.and_then(|point| point.efficiency(drawn.efficiency)),
            scaling: point.and_then(|point| point.scaling),
            row: row.clone(),
            drawn,
            readings,
        }
    }

    fn times(&self) -> Option<&Summary> {
        self.row.latency_ns.as_ref()
    }

    fn time(&self, pick: fn(&Summary) -> Option<f64>) -> Option<Cell> {
        self.times().and_then(pick).map(Cell::time)
    }

    fn reading(&self, place: usize) -> Option<Cell> {
        Some(Cell::reading(READ[place], self.readings[place]?))
    }

    fn tokens_after(&self) -> Option<&Summary> {
        self.row.requests.as_ref()?.later_token_ns.as_ref()
    }

    fn uncertainty(&self) -> Option<Cell> {
        let text = self.row.uncertainty_text()?;
        Some(Cell::shown(text, self.row.ci95_rel()? * 100.0))
    }
}

/// The cases of a session, by setup and batch.
pub fn of_session(session: &Session, rows: &[CaseRow], curves: &[BatchCurve]) -> Table {
    let lines = rows.iter().map(|row| {
        let has_row = |curve: &&BatchCurve| {
            curve.setup == row.setup && curve.others == row.point.without(curve.along)
        };
        let curve = curves.iter().find(has_row);
        CaseLine::new(
            session,
            row,
            curve,
            &row.setup_label,
            DrawnNumbers::default(),
        )
    });
    of_lines(lines.collect())
}

/// The table of some cases; the column of the efficiency that is drawn has its name.
pub fn of_lines(lines: Vec<CaseLine>) -> Table {
    let points = lines.iter().map(|line| line.row.point).collect();
    let drawn = lines.first().map(|line| line.drawn).unwrap_or_default();
    Table::new(COLUMNS, lines)
        .with_points(points)
        .titled("efficiency", drawn.efficiency.title())
}

/// The columns of cases.
pub const COLUMNS: &[CaseColumn] = &[
    CaseColumn::text("label", "Setup", |line| Some(Cell::text(&line.name)))
        .help("One way to run the model: engine, device and options"),
    CaseColumn::text("setup", "Setup in full", |line| Some(Cell::text(&line.row.setup_spec))).hidden(),
    CaseColumn::number("batch", "Batch", "", |line| Some(Cell::count(line.row.point.batch() as u64)))
        .help("Items that go through the network in one run"),
    CaseColumn::number("latency_ms", "Latency", "ms", |line| {
        Some(Cell::time(line.latency_ns?))
    })
    .help("The latency that is drawn: of the median, half of all runs were faster")
    .why(why_no_latency),
    CaseColumn::number("uncertainty", "± 95 %", "as % of it", |line| {
        let is_median = line.drawn.statistic == Statistic::Median;
        line.uncertainty().filter(|_| is_median)
    })
    .help("Half the 95 % interval of the median as a share of it: measured again, the median would most likely lie within. Mean, p90 and p99 have none")
    .why(why_no_interval),
    CaseColumn::number("median_ms", "Median", "ms", |line| line.time(|times| Some(times.median)))
        .help("Half of all runs were faster")
        .why(why_not_reported)
        .hidden(),
    CaseColumn::number("min_ms", "Min", "ms", |line| line.row.min_ns().map(Cell::time))
        .help("The fastest run")
        .why(why_not_reported),
    CaseColumn::number("mean_ms", "Mean", "ms", |line| line.row.mean_ns().map(Cell::time))
        .why(why_not_reported)
        .hidden(),
    CaseColumn::number("p90_ms", "p90", "ms", |line| line.time(|times| times.p90))
        .help("90 of 100 runs were faster")
        .why(|line| why_no_percentile(line, 90.0))
        .hidden(),
    CaseColumn::number("p95_ms", "p95", "ms", |line| line.time(|times| times.p95))
        .help("95 of 100 runs were faster")
        .why(|line| why_no_percentile(line, 95.0))
        .hidden(),
    CaseColumn::number("p99_ms", "p99", "ms", |line| line.time(|times| times.p99))
        .help(concat!(
            "99 of 100 runs were faster; shown from ",
            p99_samples!(),
            " samples on, because fewer cannot carry it"
        ))
        .why(|line| why_no_percentile(line, 99.0)),
    CaseColumn::number("max_ms", "Max", "ms", |line| line.row.max_ns().map(Cell::time))
        .help("The slowest run")
        .why(why_not_reported)
        .hidden(),
    CaseColumn::number("iqr_ms", "IQR", "ms", |line| {
        line.time(|times| Some(times.q3 - times.q1))
    })
    .help("Interquartile range: how wide the middle half of all runs is")
    .why(why_not_reported)
    .hidden(),
    CaseColumn::number("std_ms", "Std. dev.", "ms", |line| line.time(|times| times.std))
        .why(why_not_reported)
        .hidden(),
    CaseColumn::number("ci95_low_ms", "95 % from", "ms", |line| {
        Some(Cell::time(line.row.ci95_ns?.low))
    })
    .why(why_no_interval)
    .hidden(),
    CaseColumn::number("ci95_high_ms", "95 % to", "ms", |line| {
        Some(Cell::time(line.row.ci95_ns?.high))
    })
    .why(why_no_interval)
    .hidden(),
    CaseColumn::number("throughput_per_s", "Throughput", "/s", |line| {
        line.row.throughput_per_s.map(Cell::rate)
    })
    .help("Items done over time spent")
    .why(why_not_reported),
    CaseColumn::number("efficiency", "Efficiency", "%", |line| line.efficiency.map(Cell::share))
        .help("How well a batch is used, by the definition chosen above; the title has its name")
        .why(why_no_efficiency),
    CaseColumn::number("of_best", "Of best", "%", |line| line.row.of_best.map(Cell::share))
        .help("Throughput as a share of the best of the setup's batch sizes")
        .why(why_not_of_best)
        .hidden(),
    CaseColumn::number("scaling", "Scaling", "%", |line| line.scaling.map(Cell::share))
        .help("Throughput as a share of batch × throughput at batch 1, or at the smallest batch that was measured")
        .why(why_no_scaling)
        .hidden(),
    CaseColumn::number("samples", "Samples", "", |line| Some(Cell::count(line.row.samples)))
        .help("Runs that were timed, over all rounds"),
    CaseColumn::number("rounds", "Rounds", "", |line| Some(Cell::count(line.row.rounds as u64))).hidden(),
    CaseColumn::text("flags_and_outcome", "Outcome", |line| {
        let row = &line.row;
        let is_trouble = row.outcome.is_trouble();
        let remarks = remarks(row).join("\n\n");
        Some(Cell::flags(Some(row.outcome.name()), &row.flags, is_trouble).noted(remarks))
    })
    .help("How the case ended, and its flags"),
    CaseColumn::text("problems", "Remarks", |line| {
        let row = &line.row;
        let outcome = row.outcome.sentence().map(|_| row.outcome.name());
        Some(Cell::flags(outcome, &row.flags, row.outcome.is_trouble()))
    })
    .hidden(),
    CaseColumn::text("outcome", "How it ended", |line| {
        Some(Cell::text(line.row.outcome.name()))
    })
    .hidden(),
    CaseColumn::text("flags", "Flags", |line| {
        let flags: Vec<&str> = line.row.flags.iter().map(|flag| flag.name).collect();
        Some(Cell::text(flags.join("; ")))
    })
    .hidden(),
    CaseColumn::text("reason", "Reason", |line| line.row.outcome.sentence().map(Cell::text)).hidden(),
    CaseColumn::number("utilisation", "Utilisation", "%", |line| line.row.busy.map(Cell::share))
        .help("Share of the time in which the device that it ran on was busy, as the device reports it")
        .why(why_no_reading)
        .hidden(),
    CaseColumn::number("power_w", "Power", "W", |line| line.reading(0)).why(why_no_reading).hidden(),
    CaseColumn::number("clock_mhz", "Clock", "MHz", |line| line.reading(1)).why(why_no_reading).hidden(),
    CaseColumn::number("temperature_c", "Temperature", "°C", |line| line.reading(2))
        .why(why_no_reading)
        .hidden(),
    CaseColumn::number("peak_memory_bytes", "Memory", "bytes", |line| {
        Some(Cell::bytes(line.row.memory?.bytes))
    })
    .help("The most memory that the case needed")
    .why(|_| "the device and the worker report no memory".to_owned())
    .hidden(),
    CaseColumn::number("energy_j_per_item", "Energy per item", "J", |line| {
        Some(Cell::joules(line.row.energy.as_ref().ok()?.gross_j_per_item()))
    })
    .why(why_no_energy)
    .hidden(),
    CaseColumn::number("net_j_per_item", "Net of idle", "J", |line| {
        Some(Cell::joules(line.row.energy.as_ref().ok()?.net_j_per_item()?))
    })
    .help("Energy per item without that of the idle machine")
    .why(why_no_energy)
    .hidden(),
    CaseColumn::number("items_per_j", "Items per joule", "/J", |line| {
        Some(Cell::value(line.row.energy.as_ref().ok()?.items_per_j()))
    })
    .why(why_no_energy)
    .hidden(),
    CaseColumn::number("first_token_ms", "First token", "ms", |line| {
        Some(Cell::time(line.row.requests.as_ref()?.first_token_ns.as_ref()?.median))
    })
    .help("Median time to the first token of a request to a language model")
    .why(why_no_tokens)
    .hidden(),
    CaseColumn::number("token_ms", "Per token", "ms", |line| {
        Some(Cell::time(line.tokens_after()?.median))
    })
    .help("Median time from each token of a request to the next")
    .why(why_no_tokens)
    .hidden(),
    CaseColumn::number("token_p99_ms", "Per token p99", "ms", |line| {
        line.tokens_after()?.p99.map(Cell::time)
    })
    .help("99 of 100 tokens after the first came faster")
    .why(why_no_tokens)
    .hidden(),
    CaseColumn::number("prefill_tokens_per_s", "Prefill", "tokens/s", |line| {
        line.row.requests.as_ref()?.prefill_per_s.map(Cell::rate)
    })
    .help("Tokens of the prompts ÷ time to first token, of the whole batch")
    .why(why_no_tokens)
    .hidden(),
    CaseColumn::number("decode_tokens_per_s", "Decode", "tokens/s", |line| {
        line.row.requests.as_ref()?.decode_per_s.map(Cell::rate)
    })
    .help("Tokens after the first ÷ the time that they took, of the whole batch")
    .why(why_no_tokens)
    .hidden(),
    CaseColumn::number("decode_of_one_tokens_per_s", "Decode of one", "tokens/s", |line| {
        line.row.requests.as_ref()?.decode_of_one_per_s().map(Cell::rate)
    })
    .help("The same of one sequence")
    .why(why_no_tokens)
    .hidden(),
    CaseColumn::number("cache_bytes", "Cache", "bytes", |line| {
        Some(Cell::bytes(line.row.requests.as_ref()?.cache_bytes? as f64))
    })
    .help("Keys and values that are kept when the last token of a request is made")
    .why(why_no_tokens)
    .hidden(),
    CaseColumn::number("j_per_token", "Energy per token", "J", |line| {
        let energy = line.row.energy.as_ref().ok()?;
        let joules = line.row.requests.as_ref()?.joules_per_token(energy)?;
        Some(Cell::joules(joules))
    })
    .help("Energy of a request ÷ its new tokens; the prompt's share is in it")
    .why(|line| match line.row.requests {
        Some(_) => why_no_energy(line),
        None => why_no_tokens(line),
    })
    .hidden(),
];

fn why_no_tokens(line: &CaseLine) -> String {
    match line.row.requests {
        None if is_measured(line) => {
            "its runs are no requests to a language model; task=generate makes them".to_owned()
        }
        None => why_not(&line.row),
        Some(_) => {
            "the requests have too few tokens for it, or the engine does not report it".to_owned()
        }
    }
}

/// Why it ended as it did, and what is suspicious, in sentences.
fn remarks(row: &CaseRow) -> Vec<String> {
    let flags = row
        .flags
        .iter()
        .map(crate::analysis::flags::Flag::full_text);
    row.outcome.sentence().into_iter().chain(flags).collect()
}

fn is_measured(line: &CaseLine) -> bool {
    line.row.latency_ns.is_some() || line.row.throughput_per_s.is_some()
}

/// Why a case has no times.
pub fn why_not(row: &CaseRow) -> String {
    row.outcome.sentence().map_or_else(
        || "not measured yet".to_owned(),
        |sentence| humanize::shorten(&sentence, 160),
    )
}

fn why_not_of_best(line: &CaseLine) -> String {
    if line.row.throughput_per_s.is_some() && !line.row.outcome.is_trouble() {
        "no other batch size of the setup was measured".to_owned()
    } else {
        why_not_reported(line)
    }
}

fn why_no_scaling(line: &CaseLine) -> String {
    if is_measured(line) && !line.row.outcome.is_trouble() {
        "no smaller batch size was measured".to_owned()
    } else {
        why_not(&line.row)
    }
}

fn why_not_reported(line: &CaseLine) -> String {
    if is_measured(line) && !line.row.outcome.is_trouble() {
        "the imported file does not state it".to_owned()
    } else {
        why_not(&line.row)
    }
}

fn why_no_interval(line: &CaseLine) -> String {
    match line.drawn.statistic {
        _ if !is_measured(line) => why_not(&line.row),
        Statistic::Median => "one round does not show how rounds differ".to_owned(),
        Statistic::Mean | Statistic::P90 | Statistic::P99 => {
            "only the median has an interval".to_owned()
        }
    }
}

fn why_no_latency(line: &CaseLine) -> String {
    match line.drawn.statistic {
        Statistic::P90 => why_no_percentile(line, 90.0),
        Statistic::P99 => why_no_percentile(line, 99.0),
        Statistic::Mean | Statistic::Median => why_not_reported(line),
    }
}

fn why_no_percentile(line: &CaseLine, percent: f64) -> String {
    if !is_measured(line) || line.row.samples == 0 {
        return why_not_reported(line);
    }
    let needed = ELIGIBLE.iter().find(|(of, _)| (of - percent).abs() < 1e-9);
    needed.map_or_else(String::new, |(_, needed)| {
        format!("p{percent:.0} needs {} samples", humanize::count(*needed))
    })
}

fn why_no_efficiency(line: &CaseLine) -> String {
    if !is_measured(line) || line.row.outcome.is_trouble() {
        return why_not(&line.row);
    }
    match line.drawn.efficiency {
        Efficiency::OfBest => return why_not_of_best(line),
        Efficiency::Scaling => "scaling compares batch sizes, and no smaller one was measured",
        Efficiency::Busy => "no device reports its utilisation",
        Efficiency::OfPeak => "the peak of the device, or the work of the network, is not known",
    }
    .to_owned()
}

fn why_no_reading(line: &CaseLine) -> String {
    if is_measured(line) {
        "no device that it ran on reports it".to_owned()
    } else {
        why_not(&line.row)
    }
}

fn why_no_energy(line: &CaseLine) -> String {
    line.row.energy.as_ref().err().cloned().unwrap_or_default()
}
