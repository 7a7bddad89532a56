//! The cases of a session over time, those that got slower first.

use std::sync::Arc;

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::movers::Mover;

type MoverColumn = Column<Mover>;

/// The cases, in their order.
pub fn of_movers(movers: Arc<Vec<Mover>>) -> Table {
    Table::shared(COLUMNS, movers)
}

/// The columns of cases over time.
pub const COLUMNS: &[MoverColumn] = &[
    MoverColumn::text("setup", "Setup", |one| Some(Cell::text(&one.case.setup))),
    MoverColumn::text("point", "Point", |one| {
        Some(Cell::text(one.case.point.to_string()))
    }),
    MoverColumn::text("sessions", "Sessions", |one| {
        Some(Cell::text(one.history.points.len().to_string()))
    }),
    MoverColumn::number("median_ms", "Last median", "ms", |one| {
        let last = one.history.points.last()?;
        Some(Cell::time(last.row.latency_ns.as_ref()?.median).flagged(&last.row.flags))
    }),
    MoverColumn::number("since_earlier", "vs. earlier", "×", |one| {
        Some(Cell::ratio(
            one.history
                .points
                .last()?
                .vs_earlier
                .as_ref()?
                .ratio
                .speed_up,
        ))
    })
    .help("The newest session against the others at its level, or against the level before while it is one of the first three: above 1 is faster")
    .why(|_| "no session before it was measured in the same way on the same machine".to_owned()),
    MoverColumn::text("verdict", "Verdict", |one| {
        let against = one.history.points.last()?.vs_earlier.as_ref()?;
        Some(Cell::verdict(&against.verdict))
    }),
    MoverColumn::text("changes", "Changes", |one| {
        Some(Cell::text(one.history.changes.len().to_string()))
    })
    .help("How often its level changed, on the machine of the newest session"),
    MoverColumn::text("since", "Last change", |one| {
        let change = one.last_change()?;
        Some(Cell::moment(&one.history.points.get(change.place)?.created))
    })
    .why(|_| "its level did not change".to_owned()),
    MoverColumn::number("change", "By", "×", |one| {
        Some(Cell::ratio(one.last_change()?.ratio.speed_up))
    })
    .help("Mean latency of the level before, divided by that of the new level: above 1 is faster")
    .why(|_| "its level did not change".to_owned()),
];
