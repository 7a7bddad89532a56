//! What a setup brings on two machines, and a machine with two setups.

use super::cell::Cell;
use super::pairs;
use super::{Column, Table};
use crate::analysis::fleet::{Effect, Effects};

type Of = Column<Effect>;

/// The parts of a difference between two setups on two machines.
pub fn of(effects: &Effects) -> Table {
    Table::new(COLUMNS, effects.parts()).hiding(&["point"])
}

/// The parts of several such differences, each part once.
pub fn of_all(all: &[Effects]) -> Table {
    let mut parts: Vec<Effect> = Vec::new();
    for part in all.iter().flat_map(Effects::parts) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    Table::new(COLUMNS, parts)
}

/// The columns of the parts.
pub const COLUMNS: &[Of] = &[
    Of::words("change", "Change", |one| Some(Cell::words(&one.change))),
    Of::words("with", "Where", |one| Some(Cell::words(&one.with))),
    Of::words("point", "Point", |one| {
        Some(Cell::words(one.point.to_string()))
    }),
    Of::number("speed_up", "Speed-up", "×", |one| {
        Some(Cell::ratio(one.ratio.speed_up))
    })
    .help("Time before over time after: above 1 is faster. The last line is the ratio of the first two: 1 where the setup brings the same on both machines"),
    Of::number("interval", "95 % interval", "×", |one| pairs::interval(&one.ratio))
    .help("Paired by rounds where two setups took turns on one machine")
    .why(|_| "an interval needs two rounds on either side".to_owned()),
];
