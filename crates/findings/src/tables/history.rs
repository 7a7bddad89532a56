//! One case through the sessions of the library.

use std::sync::Arc;

use super::cell::Cell;
use super::pairs::interval;
use super::{Column, Table};
use crate::analysis::history::{History, HistoryPoint};

type HistoryColumn = Column<HistoryPoint>;

/// The points of a history.
pub fn of_history(history: &History) -> Table {
    Table::shared(COLUMNS, Arc::clone(&history.points))
}

/// The columns of a history.
pub const COLUMNS: &[HistoryColumn] = &[
    HistoryColumn::text("session", "Session", |point| Some(Cell::text(&point.name))),
    HistoryColumn::text("created", "When", |point| Some(Cell::moment(&point.created))),
    HistoryColumn::number("median_ms", "Median", "ms", |point| {
        Some(Cell::time(point.row.latency_ns.as_ref()?.median).flagged(&point.row.flags))
    })
    .help("Half of the runs were faster")
    .why(|_| "it was not measured".to_owned()),
    HistoryColumn::number("uncertainty", "± 95 %", "%", |point| {
        let text = point.row.uncertainty_text()?;
        Some(Cell::shown(text, point.row.ci95_rel()? * 100.0))
    })
    .help("Measured again, the median would most likely lie within; from resampling whole starts, or rounds where there was one, with Student's t for their small number")
    .why(|_| "an interval needs two rounds".to_owned()),
    HistoryColumn::number("since_earlier", "vs. earlier", "×", |point| {
        Some(Cell::ratio(point.vs_earlier.as_ref()?.ratio.speed_up))
    })
    .help("The mean of the earlier sessions that were measured in the same way on the same machine, divided by this one: above 1 is faster. Sessions are not interleaved, so it includes any change of the machine")
    .why(why_no_earlier),
    HistoryColumn::number("since_earlier_interval", "Interval", "×", |point| {
        interval(&point.vs_earlier.as_ref()?.ratio)
    })
    .help("As wide as the earlier sessions differ from each other, at 99 %; or as is assumed where they are fewer than five")
    .why(why_no_earlier)
    .hidden(),
    HistoryColumn::text("verdict", "Verdict", |point| {
        Some(Cell::verdict(&point.vs_earlier.as_ref()?.verdict))
    })
    .help("Against the mean of the earlier sessions: faster or slower where the whole interval lies beyond the noise floor")
    .why(why_no_earlier),
    HistoryColumn::number("since_last", "vs. previous", "×", |point| {
        Some(Cell::ratio(point.vs_previous.as_ref()?.ratio?.speed_up))
    })
    .help("Latency in the session before divided by this one: above 1 is faster. The sessions were not interleaved, so it includes any change of the machine; it is over the rounds, and may differ from the quotient of the two medians")
    .why(why_no_ratio)
    .hidden(),
    HistoryColumn::number("since_last_interval", "Interval vs. previous", "×", |point| {
        interval(&point.vs_previous.as_ref()?.ratio?)
    })
    .why(why_no_ratio)
    .hidden(),
    HistoryColumn::number("since_first", "vs. first", "×", |point| {
        Some(Cell::ratio(point.vs_first.as_ref()?.ratio?.speed_up))
    })
    .why(why_no_ratio)
    .hidden(),
    HistoryColumn::text("changed", "What changed", |point| {
        let names: Vec<&str> = point.changed.iter().map(|changed| changed.what).collect();
        let details = point.changed.iter().map(|changed| {
            format!("{}: {} → {}", changed.what, changed.before, changed.after)
        });
        let details = details.collect::<Vec<_>>().join("\n");
        Some(Cell::text(names.join(", ")).noted(details))
    }),
];

fn why_no_earlier(_: &HistoryPoint) -> String {
    "no session before it was measured in the same way on the same machine".to_owned()
}

fn why_no_ratio(point: &HistoryPoint) -> String {
    match &point.vs_previous {
        None => "no session before it has this case".to_owned(),
        Some(pair) => pair.verdict.reason.clone().unwrap_or_default(),
    }
}
