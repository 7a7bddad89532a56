//! Optimisation steps: what each one gained over the previous one and over the baseline, and what it cost.

use super::cell::{Cell, Tone};
use super::pairs::interval;
use super::{Column, Table};
use crate::analysis::case_pair::CasePair;
use crate::analysis::journey::{Journey, StepResult};
use crate::analysis::verdict::Call;
use powerband_core::base::humanize;
use powerband_core::domain::accuracy::Accuracy;

type StepColumn = Column<StepResult>;

/// Columns of a terminal's table.
pub const ON_TERMINAL: [&str; 15] = [
    "step",
    "batch",
    "median_ms",
    "throughput_per_s",
    "vs_previous",
    "vs_previous_interval",
    "verdict",
    "rank",
    "vs_baseline",
    "vs_baseline_interval",
    "setup_time_ms",
    "break_even_runs",
    "memory_bytes",
    "worst_cosine",
    "same_choice",
];
/// Columns of a report's table, where that a step was not measured is written below.
pub const IN_REPORT: [&str; 14] = [
    "step",
    "verdict",
    "rank",
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

/// Columns that alternatives do not have: nothing came before them.
const OF_STEPS: [&str; 3] = ["vs_previous", "vs_previous_interval", "break_even_runs"];

/// The optimisation steps; the setups where they are alternatives.
pub fn of_journey(journey: &Journey) -> Table {
    let table = Table::new(COLUMNS, journey.steps.clone());
    let points = journey.steps.iter().map(|step| step.case.point).collect();
    if journey.is_ladder {
        return table.with_points(points);
    }
    table
        .without(&OF_STEPS)
        .titled("step", "Setup")
        .titled("setup", "Setup in full")
        .with_points(points)
}

/// The columns of steps.
pub const COLUMNS: &[StepColumn] = &[
    StepColumn::text("step", "Step", |step| Some(Cell::text(&step.title))),
    StepColumn::text("setup", "Setup", |step| Some(Cell::text(&step.row.as_ref()?.setup_spec)))
        .why(why)
        .hidden(),
    StepColumn::number("batch", "Batch", "", |step| Some(Cell::count(step.case.point.batch() as u64))).hidden(),
    StepColumn::number("median_ms", "Median", "ms", |step| {
        let row = step.row.as_ref()?;
        let uncertainty = row.uncertainty_text();
        let note = uncertainty.map(|text| format!("± {text}, the 95 % interval"));
        let cell = Cell::time(row.latency_ns.as_ref()?.median).flagged(&row.flags);
        Some(cell.noted(note.unwrap_or_default()))
    })
    .help("Median time of a batch: half of the runs were faster")
    .why(why),
    StepColumn::number("throughput_per_s", "Throughput", "/s", |step| {
        Some(Cell::rate(step.row.as_ref()?.throughput_per_s?))
    })
    .help("Items done over time spent")
    .why(why),
    StepColumn::number("vs_previous", "vs. previous", "×", |step| {
        gain(step.vs_previous.as_ref()?)
    })
    .help("How many times as fast it is as the last step before it that was measured, by the time of an item where batch sizes differ: over the rounds, so that it may differ from the quotient of the two medians")
    .why(why_no_previous),
    StepColumn::number("vs_previous_interval", "Interval vs. previous", "×", |step| {
        interval(&step.vs_previous.as_ref()?.ratio?)
    })
    .why(why_no_previous)
    .hidden(),
    StepColumn::text("verdict", "Verdict", |step| {
        Some(match (&step.why_not_measured, step.gain()) {
            (Some(_), _) if step.is_waiting() => Cell::text("not measured yet"),
            (Some(why), _) => Cell::text("not measured").toned(Tone::Bad).noted(why),
            (None, pair) => Cell::verdict(&pair?.verdict),
        })
    })
    .help("Faster or slower than the previous step, of alternatives than the first setup, where the whole interval lies beyond the noise floor, same where it lies within, else inconclusive")
    .why(|step| why_no_gain(step, step.gain(), "there is nothing before it")),
    StepColumn::number("rank", "Rank", "", |step| {
        let first = step.rank.as_ref()?.candidates().iter().min()?;
        Some(Cell::shown(step.rank_text()?, *first as f64))
    })
    .help("Steps whose verdict holds by their gain, 1 for the largest; a range where draws of all of them do not agree on one rank")
    .why(|step| match step.gain() {
        Some(pair) if pair.ratio.is_some() => "not settled: its verdict is inconclusive".to_owned(),
        pair => why_no_gain(step, pair, "there is nothing before it"),
    })
    .hidden(),
    StepColumn::number("vs_baseline", "vs. baseline", "×", |step| {
        gain(step.vs_baseline.as_ref()?)
    })
    .help("How many times as fast it is as the first step, by the time of an item where batch sizes differ: over the rounds, so that it may differ from the quotient of the two medians")
    .why(why_no_baseline),
    StepColumn::number("vs_baseline_interval", "Interval vs. baseline", "×", |step| {
        interval(&step.vs_baseline.as_ref()?.ratio?)
    })
    .why(why_no_baseline)
    .hidden(),
    StepColumn::number("setup_time_ms", "Set-up time", "ms", |step| {
        step.cost.preparation_ns.map(Cell::time)
    })
    .help("Loading and compiling the model, and the first run")
    .why(why),
    StepColumn::number("break_even_runs", "Break-even", "runs", |step| {
        let runs = step.cost.break_even_runs?;
        Some(Cell::shown(humanize::pluralised(runs as u64, "run"), runs))
    })
    .help("Runs after which faster runs make up for a longer set-up, against the previous step")
    .why(why_no_break_even),
    StepColumn::number("memory_bytes", "Memory", "bytes", |step| Some(Cell::bytes(step.cost.memory?.bytes)))
        .help("The most memory that the step needed")
    .why(|_| "no device or worker reported it".to_owned()),
    StepColumn::number("worst_cosine", "Worst cosine", "", |step| {
        Some(Cell::cosine(step.accuracy.as_ref()?.distance?.worst_cosine))
    })
    .help("The lowest cosine between an output and that of the fp32 network: 1 is the same")
    .why(|_| "outputs were not compared; a plan that compares outputs has it".to_owned()),
    StepColumn::number("same_choice", "Same choice", "%", |step| {
        Cell::hits(step.accuracy.as_ref()?.same_choice?)
    })
    .help("Inputs for which it chooses the class that the fp32 network chooses")
    .why(|step| {
        let why = step.accuracy.as_ref().and_then(Accuracy::why_no_hits);
        why.unwrap_or_default().to_owned()
    })
    .hidden(),
    StepColumn::text("problem", "Why not measured", |step| step.why_not_measured.as_ref().map(Cell::text)).hidden(),
];

/// How many times as fast, with its interval and verdict on hover.
fn gain(pair: &CasePair) -> Option<Cell> {
    Some(Cell::ratio(pair.ratio?.speed_up).noted(gain_words(pair)))
}

fn why(step: &StepResult) -> String {
    let trouble = step.why_not_measured.clone().unwrap_or_default();
    humanize::shorten(&trouble, 160)
}

fn why_no_previous(step: &StepResult) -> String {
    why_no_gain(
        step,
        step.vs_previous.as_ref(),
        "there is no step before it",
    )
}

fn why_no_baseline(step: &StepResult) -> String {
    let none = "it is the baseline, or the baseline was not measured";
    why_no_gain(step, step.vs_baseline.as_ref(), none)
}

fn why_no_gain(step: &StepResult, pair: Option<&CasePair>, none: &str) -> String {
    match pair {
        _ if step.row.is_none() => why(step),
        None => none.to_owned(),
        Some(pair) if pair.ratio.is_some() => {
            "an interval needs two rounds on either side".to_owned()
        }
        Some(pair) => pair.verdict.reason.clone().unwrap_or_default(),
    }
}

/// A ratio in words: its interval, what it counts, and the answer.
pub fn gain_words(pair: &CasePair) -> String {
    let Some(ratio) = pair.ratio else {
        let reason = pair.verdict.reason.clone();
        return reason.unwrap_or_else(|| "these numbers must not be compared".to_owned());
    };
    let per = if pair.is_per_item() {
        format!(
            ", by the time of an item at {} and {}",
            pair.before_point, pair.after_point
        )
    } else {
        String::new()
    };
    let interval = ratio.named_interval_text();
    let interval =
        interval.unwrap_or_else(|| "an interval needs two rounds on either side".to_owned());
    let times = ratio.speed_up_text();
    format!("{times}{per}\n{interval}\n{}", pair.verdict.call)
}

fn why_no_break_even(step: &StepResult) -> String {
    let why = match &step.vs_previous {
        None => "there is no step before it",
        Some(pair) if pair.is_per_item() => "counted between steps of one batch size only",
        Some(pair) if pair.verdict.call != Call::Faster => {
            "it is not known to be faster than the previous step"
        }
        Some(_) => "its set-up takes no longer than that of the previous step, as far as is known",
    };
    why.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows::case_rows;
    use crate::analysis::journey::compare_steps;
    use crate::analysis::testing::{end_case, make_ladder, measure_near, out_of_memory, session};
    use powerband_core::domain::point::Point;

    #[test]
    fn a_missing_gain_says_which_side_is_missing() {
        let mut session = session(&["ort:cpu", "tract:cpu", "rten:cpu"], &[1]);
        make_ladder(&mut session);
        end_case(&mut session, 0, 1, out_of_memory());
        measure_near(&mut session, 1, 1, 4_000);
        measure_near(&mut session, 2, 1, 1_000);
        let table = of_journey(&compare_steps(
            &session,
            &case_rows(&session),
            Point::of_batch(1),
        ));
        let cell = |row, key| table.cell(row, table.place(key).unwrap());
        assert!(cell(0, "vs_previous").note.contains("out of memory"));
        assert!(cell(1, "vs_previous").note.contains("no step before"));
        let gain = cell(2, "vs_previous").number.unwrap();
        assert!((3.5..4.5).contains(&gain), "{gain}");
        let baseline = cell(2, "vs_baseline");
        assert_eq!(baseline.number, None);
        assert!(
            baseline.note.contains("baseline was not measured"),
            "{baseline:?}"
        );
    }
}
