//! Speed and accuracy of every setup that was compared, and which of them are on the Pareto front.

use super::cell::{Cell, Tone};
use super::{Column, Table};
use crate::analysis::accuracy;
use crate::analysis::trade_off::{self, ParetoRank, Speed};
use powerband_core::base::humanize;
use powerband_core::domain::accuracy::{Accuracy, HitCount};

type TradeOffColumn = Column<TradeOffLine>;

/// A row: a setup whose outputs were compared.
#[derive(Clone, Debug)]
pub struct TradeOffLine {
    /// What the setup is called.
    pub name: String,
    /// How close its outputs are.
    pub accuracy: Accuracy,
    /// How fast it is.
    pub speed: Option<Speed>,
    /// Where it stands among the others.
    pub rank: ParetoRank,
    /// The names of the setups that dominate it, or may.
    pub dominated_by: Vec<String>,
}

/// The setups, in their order.
pub fn of_setups(lines: Vec<TradeOffLine>) -> Table {
    Table::new(COLUMNS, lines)
}

/// The columns of speed and accuracy.
pub const COLUMNS: &[TradeOffColumn] = &[
    TradeOffColumn::text("label", "Setup", |line| {
        let (accuracy, name) = (&line.accuracy, &line.name);
        let note = format!("{name}\nCompared with {}, on {}", accuracy.reference, accuracy.inputs);
        Some(Cell::text(name).noted(note))
    })
    .help("One way to run the model: engine, device and options"),
    TradeOffColumn::number("batch", "Batch", "", |line| Some(Cell::count(line.speed?.point.batch() as u64)))
        .help("The batch size at which the throughput counts"),
    TradeOffColumn::number("throughput_per_s", "Throughput", "/s", |line| Some(throughput(line.speed?)))
        .help("Items done over time spent"),
    TradeOffColumn::number("same_choice", "Same choice", "%", |line| hits(line.accuracy.same_choice))
        .help("Inputs for which it chooses the class that the reference chooses; known where the output is one row of class scores for each input")
        .why(|line| why_no_hits(line, "the outputs are no choice between classes")),
    TradeOffColumn::number("top1", "Top-1", "%", |line| hits(line.accuracy.top1))
        .help("Samples whose label has the largest value; known for samples with labels")
        .why(|line| why_no_hits(line, "it takes samples with labels")),
    TradeOffColumn::number("top5", "Top-5", "%", |line| hits(line.accuracy.top5))
        .help("Samples whose label is among the five largest values; known for samples with labels")
        .why(|line| why_no_hits(line, "it takes samples with labels and more than five classes")),
    TradeOffColumn::number("worst_cosine", "Worst cosine", "", |line| {
        let distance = line.accuracy.distance?;
        let mean = accuracy::cosine(distance.mean_cosine);
        Some(Cell::cosine(distance.worst_cosine).noted(format!("{mean} on average")))
    })
    .help("The lowest cosine between the output for an input and the reference's: 1 is the same")
    .why(why_no_distance),
    TradeOffColumn::number("largest_error", "Largest error", "", |line| error(&line.accuracy))
        .help("The largest difference between a value and the reference's, in the values' own unit")
        .why(why_no_distance),
    TradeOffColumn::text("front", "Pareto front", |line| Some(front(line)))
        .help("On the front are the setups that no other setup matches in both speed and accuracy and beats in one"),
];

fn front(line: &TradeOffLine) -> Cell {
    let names: Vec<&str> = line.dominated_by.iter().map(String::as_str).collect();
    let names = humanize::or_list(&names);
    match &line.rank {
        ParetoRank::Front => Cell::text("on the front")
            .noted("On the Pareto front: no setup is at least as good in both and better in one."),
        ParetoRank::Dominated(_) => Cell::text(format!("dominated by {names}")).noted(format!(
            "Dominated by {names}, which is at least as fast and as accurate, and better in one."
        )),
        ParetoRank::NotSettled { .. } if names.is_empty() => Cell::text("not settled").noted(
            "Whether it is on the Pareto front is not settled: one round does not show how rounds differ.",
        ),
        ParetoRank::NotSettled { percent, .. } => Cell::text("not settled").noted(format!(
            "Its rounds do not settle whether it is on the Pareto front: it is in {percent} % of the draws from their intervals, else {names} dominates it."
        )),
        ParetoRank::Unknown(why) => {
            let tone = if line.accuracy.trouble.is_some() {
                Tone::Bad
            } else {
                Tone::Plain
            };
            Cell::text(why)
                .toned(tone)
                .noted(format!("Not compared: {why}."))
        }
    }
}

fn throughput(speed: Speed) -> Cell {
    let interval = speed.ci95.map_or_else(String::new, |ci95| {
        let [low, high] = [ci95.low, ci95.high].map(humanize::value);
        format!("95 % interval {low} to {high} /s")
    });
    Cell::rate(speed.per_s).noted(interval)
}

/// A share, and how many it is of, with its interval.
fn hits(hits: Option<HitCount>) -> Option<Cell> {
    let hits = hits?;
    let share = trade_off::share(hits)?;
    let [low, high] = [share.low, share.high].map(|end| humanize::value(end * 100.0));
    let note = format!(
        "{} of {}; 95 % interval {low} to {high} %",
        humanize::count(hits.hits),
        humanize::count(hits.of),
    );
    Some(Cell::hits(hits)?.noted(note))
}

fn error(accuracy: &Accuracy) -> Option<Cell> {
    let distance = accuracy.distance?;
    let mean = humanize::value(distance.mean_error);
    let note = match distance.relative_error {
        Some(relative) => format!(
            "{mean} on average; the largest is {} of the reference's largest value",
            humanize::percent(relative)
        ),
        None => format!("{mean} on average"),
    };
    Some(Cell::value(distance.max_error).noted(note))
}

fn why_no_hits(line: &TradeOffLine, missing: &str) -> String {
    format!(
        "Not known: {}.",
        line.accuracy.why_no_hits().unwrap_or(missing)
    )
}

fn why_no_distance(line: &TradeOffLine) -> String {
    let why = line.accuracy.trouble.as_deref();
    format!(
        "Not known: {}.",
        why.unwrap_or("the outputs were not compared")
    )
}
