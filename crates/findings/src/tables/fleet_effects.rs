//! What a setup brings on two machines, and a machine with two setups.

use super::cell::Cell;
use super::pairs;
use super::{Column, Table};
use crate::analysis::fleet::{EffectRow, Effects};

type EffectColumn = Column<EffectRow>;

/// The parts of a difference between two setups on two machines.
pub fn effects_table(effects: &Effects) -> Table {
    Table::new(COLUMNS, effects.rows()).hiding(&["point"])
}

/// The parts of several such differences, each part once.
pub fn of_all(all: &[Effects]) -> Table {
    let mut parts: Vec<EffectRow> = Vec::new();
    for part in all.iter().flat_map(Effects::rows) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    Table::new(COLUMNS, parts)
}

/// The columns of the parts.
pub const COLUMNS: &[EffectColumn] = &[
    EffectColumn::text("change", "Change", |one| Some(Cell::text(&one.change))),
    EffectColumn::text("with", "Where", |one| Some(Cell::text(&one.with))),
    EffectColumn::text("point", "Point", |one| {
        Some(Cell::text(one.point.to_string()))
    }),
    EffectColumn::number("speed_up", "Speed-up", "×", |one| {
        Some(Cell::ratio(one.ratio.speed_up))
    })
    .help("Time before over time after: above 1 is faster. The last line is the ratio of the first two: 1 where the setup brings the same on both machines"),
    EffectColumn::number("interval", "Interval", "×", |one| pairs::interval(&one.ratio))
    .help("Paired by rounds where two setups took turns on one machine")
    .why(|_| "an interval needs two rounds on either side".to_owned()),
];
