//! What the ranks of a job did with their time.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::last_rank::exposed_share;
use powerband_core::domain::ranks::{JobTimes, RankTimes};

type RankColumn = Column<RankTimes>;

/// By their number.
pub fn of_ranks(job: &JobTimes) -> Table {
    Table::new(COLUMNS, job.ranks.clone())
}

pub const COLUMNS: &[RankColumn] = &[
    RankColumn::number("rank", "Rank", "", |rank| Some(Cell::count(rank.rank.into()))),
    RankColumn::text("host", "Machine", |rank| rank.host.as_ref().map(Cell::text)),
    RankColumn::number("step_ms", "Step", "ms", |rank| {
        rank.step_ns.map(|ns| Cell::time(ns as f64))
    })
    .help("Median length of its steps"),
    RankColumn::number("collectives_ms", "In collectives", "ms", |rank| {
        Some(Cell::time(rank.collective_ns as f64))
    })
    .help("Time in which at least one collective ran, over the whole recording"),
    RankColumn::number("exposed_ms", "Exposed", "ms", |rank| {
        Some(Cell::time(rank.exposed_ns as f64))
    })
    .help("Time in which a collective ran and nothing computed, over the whole recording"),
    RankColumn::number("exposed_share", "Exposed share", "", |rank| {
        exposed_share(rank).map(Cell::share)
    })
    .help("Exposed time relative to the time in collectives"),
    RankColumn::number("waits_ms", "Waits", "ms", |rank| {
        (rank.matched > 0).then(|| Cell::time(rank.waited_ns as f64))
    })
    .help("Time in collectives before the last rank had begun them, over the whole recording"),
    RankColumn::number("kept_waiting_ms", "Keeps waiting", "ms", |rank| {
        (rank.matched > 0).then(|| Cell::time(rank.kept_waiting_ns as f64))
    })
    .help("What it begins later than the last but one, in collectives that it begins last, over the whole recording"),
    RankColumn::number("last", "Last", "", |rank| {
        (rank.matched > 0).then(|| Cell::count(rank.last))
    })
    .help("Collectives that it begins last")
    .hidden(),
    RankColumn::number("collectives", "Collectives", "", |rank| Some(Cell::count(rank.matched)))
        .help("Collectives that are matched with those of the other ranks")
        .hidden(),
    RankColumn::number("steps_last", "Steps last", "", |rank| {
        (rank.steps > 0).then(|| Cell::count(rank.steps_last))
    })
    .help("Steps in which it keeps the others waiting longest"),
];
