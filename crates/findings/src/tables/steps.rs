//! Optimisation steps: what each one gained over the previous one and over the baseline, and what it cost.

use super::cell::{Cell, Tone};
use super::pairs::interval;
use super::{Column, Table};
use crate::analysis::case_pair::{Pair, Ratio};
use crate::analysis::journey::{Journey, StepResult};
use crate::analysis::verdict::Call;
use powerband_core::base::humanize;
use powerband_core::domain::accuracy::Accuracy;

type Of = Column<StepResult>;

/// Columns of a terminal's table.
pub const ON_TERMINAL: [&str; 14] = [
    "step",
    "batch",
    "median_ms",
    "throughput_per_s",
    "vs_previous",
    "vs_previous_interval",
    "verdict",
    "vs_baseline",
    "vs_baseline_interval",
    "setup_time_ms",
    "break_even_runs",
    "memory_bytes",
    "worst_cosine",
    "same_choice",
];
/// Columns of a report's table, where that a step was not measured is written below.
pub const IN_REPORT: [&str; 13] = [
    "step",
    "verdict",
    "batch",
    "median_ms",
    "throughput_per_s",
    "vs_previous",
    "vs_baseline",
    "vs_baseline_interval",
    "setup_time_ms",
    "break_even_runs",
    "memory_bytes",
    "worst_cosine",
    "same_choice",
];

/// The optimisation steps.
pub fn of_journey(journey: &Journey) -> Table {
    Table::new(COLUMNS, journey.steps.clone())
}

/// The columns of steps.
pub const COLUMNS: &[Of] = &[
    Of::words("step", "Step", |step| Some(Cell::words(&step.title))),
    Of::words("setup", "Setup", |step| Some(Cell::words(&step.row.as_ref()?.setup_spec)))
        .why(why)
        .hidden(),
    Of::number("batch", "Batch", "", |step| Some(Cell::count(step.case.batch as u64))).hidden(),
    Of::number("median_ms", "Median", "ms", |step| {
        let row = step.row.as_ref()?;
        let uncertainty = row.uncertainty_words();
        let note = uncertainty.map(|text| format!("± {text}, the 95 % interval"));
        let cell = Cell::time(row.latency_ns.as_ref()?.median).flagged(&row.flags);
        Some(cell.noted(note.unwrap_or_default()))
    })
    .help("Median time of a batch: half of the runs were faster")
    .why(why),
    Of::number("throughput_per_s", "Throughput", "/s", |step| {
        Some(Cell::rate(step.row.as_ref()?.throughput_per_s?))
    })
    .help("Items done over time spent")
    .why(why),
    Of::number("vs_previous", "vs. previous", "×", |step| {
        let pair = step.over_before.as_ref()?;
        Some(Cell::ratio(pair.ratio?.speed_up).noted(gain_words(pair)))
    })
    .help("How many times as fast it is as the last step before it that was measured, by the time of an item where batch sizes differ: over the rounds, so that it may differ from the quotient of the two medians")
    .why(why_no_gain),
    Of::number("vs_previous_interval", "vs. previous, 95 %", "×", |step| {
        interval(&ratio(step.over_before.as_ref())?)
    })
    .why(why_no_gain)
    .hidden(),
    Of::words("verdict", "Verdict", |step| {
        Some(match (&step.trouble, &step.over_before) {
            (Some(_), _) if step.is_waiting() => Cell::words("not measured yet"),
            (Some(why), _) => Cell::words("not measured").toned(Tone::Bad).noted(why),
            (None, pair) => Cell::verdict(&pair.as_ref()?.verdict),
        })
    })
    .help("Faster or slower than the previous step where the whole 95 % interval lies beyond the noise floor, same where it lies within, else inconclusive")
    .why(why_no_gain),
    Of::number("vs_baseline", "vs. baseline", "×", |step| {
        let pair = step.over_start.as_ref()?;
        Some(Cell::ratio(pair.ratio?.speed_up).noted(gain_words(pair)))
    })
    .help("How many times as fast it is as the first step, by the time of an item where batch sizes differ: over the rounds, so that it may differ from the quotient of the two medians")
    .why(why_no_gain),
    Of::number("vs_baseline_interval", "vs. baseline, 95 %", "×", |step| {
        interval(&ratio(step.over_start.as_ref())?)
    })
    .why(why_no_gain)
    .hidden(),
    Of::number("setup_time_ms", "Set-up time", "ms", |step| {
        step.cost.preparation_ns.map(Cell::time)
    })
    .help("Loading and compiling the model, and the first run")
    .why(why),
    Of::number("break_even_runs", "Break-even", "runs", |step| {
        let runs = step.cost.pays_after_runs?;
        Some(Cell::shown(humanize::of_many(runs as u64, "run"), runs))
    })
    .help("Runs after which faster runs make up for a longer set-up, against the previous step")
    .why(why_no_break_even),
    Of::number("memory_bytes", "Memory", "bytes", |step| Some(Cell::bytes(step.cost.memory?.bytes)))
        .help("The most memory that the step needed")
    .why(|_| "no device or worker reported it".to_owned()),
    Of::number("worst_cosine", "Worst cosine", "", |step| {
        Some(Cell::cosine(step.accuracy.as_ref()?.distance?.worst_cosine))
    })
    .help("The lowest cosine between an output and that of the network in floats: 1 is the same")
    .why(|_| "outputs were not compared; Plan and bench --accuracy ask for it".to_owned()),
    Of::number("same_choice", "Same choice", "%", |step| {
        Cell::hits(step.accuracy.as_ref()?.same_choice?)
    })
    .help("Inputs for which it chooses the class that the network in floats chooses")
    .why(|step| {
        let why = step.accuracy.as_ref().and_then(Accuracy::why_no_hits);
        why.unwrap_or_default().to_owned()
    })
    .hidden(),
    Of::words("problem", "Why not measured", |step| step.trouble.as_ref().map(Cell::words)).hidden(),
];

fn ratio(pair: Option<&Pair>) -> Option<Ratio> {
    pair?.ratio
}

fn why(step: &StepResult) -> String {
    let trouble = step.trouble.clone().unwrap_or_default();
    humanize::shorten(&trouble, 160)
}

fn why_no_gain(step: &StepResult) -> String {
    match (&step.row, &step.over_before) {
        (None, _) => why(step),
        (Some(_), None) => "there is no step before it".to_owned(),
        (Some(_), Some(pair)) => pair.verdict.reason.clone().unwrap_or_default(),
    }
}

/// A ratio in words: its interval, what it counts, and the answer.
pub fn gain_words(pair: &Pair) -> String {
    let Some(ratio) = pair.ratio else {
        let reason = pair.verdict.reason.clone();
        return reason.unwrap_or_else(|| "these numbers must not be compared".to_owned());
    };
    let per = if pair.is_per_item() {
        format!(
            ", by the time of an item of batch {} and batch {}",
            pair.before_batch, pair.after_batch
        )
    } else {
        String::new()
    };
    let interval = ratio.interval_words().map_or_else(
        || "an interval needs two rounds on either side".to_owned(),
        |words| format!("95 % interval {words}"),
    );
    let times = ratio.words();
    format!("{times}{per}\n{interval}\n{}", pair.verdict.call)
}

fn why_no_break_even(step: &StepResult) -> String {
    let why = match &step.over_before {
        None => "there is no step before it",
        Some(pair) if pair.is_per_item() => "counted between steps of one batch size only",
        Some(pair) if pair.verdict.call != Call::Faster => {
            "it is not known to be faster than the previous step"
        }
        Some(_) => "its set-up takes no longer than that of the previous step, as far as is known",
    };
    why.to_owned()
}
