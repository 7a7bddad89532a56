//! Collectives of a job, and who is late for them.

use super::cell::Cell;
use super::{Column, Table};
use powerband_core::domain::ranks::{CollectiveTimes, JobTimes};

type CollectiveColumn = Column<CollectiveTimes>;

/// Those first that ranks wait longest in.
pub fn of_collectives(job: &JobTimes) -> Table {
    Table::new(COLUMNS, job.collectives.clone())
}

pub const COLUMNS: &[CollectiveColumn] = &[
    CollectiveColumn::text("collective", "Collective", |one| {
        Some(Cell::text(&one.name))
    }),
    CollectiveColumn::number("ranks", "Ranks", "", |one| {
        Some(Cell::count(one.n_ranks.into()))
    }),
    CollectiveColumn::number("calls", "Calls", "", |one| Some(Cell::count(one.calls))),
    CollectiveColumn::number("skew_ms", "Skew", "ms", |one| {
        Some(Cell::time(one.skew_ns as f64))
    })
    .help("Median time from the first rank that begins it to the last one"),
    CollectiveColumn::number("exchange_ms", "Exchange", "ms", |one| {
        Some(Cell::time(one.exchange_ns as f64))
    })
    .help("Median time from the last rank's beginning to the end on all ranks"),
    CollectiveColumn::number("waits_ms", "Waits", "ms", |one| {
        Some(Cell::time(one.waited_ns as f64))
    })
    .help("What all ranks together wait in it for the last one, over the whole recording; they may wait in several at once"),
    CollectiveColumn::text("often_last", "Most often last", |one| {
        let (rank, times) = one.often_last;
        Some(Cell::text(format!("rank {rank}, {times} of {}", one.calls)))
    }),
];
