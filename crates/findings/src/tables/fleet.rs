//! One case on several machines.

use super::cell::{Cell, Tone};
use super::{Column, Table};
use crate::analysis::fleet::{FleetCase, FleetMachine, Peculiarity};

type FleetColumn = Column<FleetMachine>;

/// The machines of a case.
pub fn of_case(case: &FleetCase) -> Table {
    Table::new(COLUMNS, case.machines.clone())
}

/// The columns of a fleet.
pub const COLUMNS: &[FleetColumn] = &[
    FleetColumn::text("machine", "Machine", |one| Some(Cell::text(&one.name))),
    FleetColumn::number("median_ms", "Median", "ms", |one| {
        Some(Cell::time(one.row.latency_ns.as_ref()?.median).flagged(&one.row.flags))
    })
    .help("Half of the runs were faster")
    .why(why_not_measured),
    FleetColumn::number("uncertainty", "± 95 %", "%", |one| {
        let text = one.row.uncertainty_text()?;
        Some(Cell::shown(text, one.row.ci95_rel()? * 100.0))
    })
    .help("Measured again, the median would most likely lie within; from resampling whole starts, or rounds where there was one, with Student's t for their small number")
    .why(|_| "an interval needs two rounds".to_owned()),
    FleetColumn::number("ratio", "vs. fleet", "×", |one| Some(Cell::ratio(one.ratio?)))
        .help("The machine's median over the median of all machines: above 1 is slower")
        .why(why_not_measured),
    FleetColumn::text("odd", "Odd one out", |one| {
        one.is_odd.then(|| Cell::text("odd one out").toned(Tone::Bad))
    })
    .help("Further from the fleet's median than three times the machines' usual distance from it, by their median absolute deviation, by more than 1 %, and with the fleet's median outside its interval; of three machines or more"),
    FleetColumn::text("differs", "What differs", |one| {
        let names: Vec<&str> = one.differs.iter().map(|differing| differing.what).collect();
        let details: Vec<String> = one.differs.iter().map(Peculiarity::full_text).collect();
        Some(Cell::text(names.join(", ")).noted(details.join("\n")))
    })
    .help("What was recorded of this machine that no other machine has"),
];

fn why_not_measured(one: &FleetMachine) -> String {
    one.row
        .outcome
        .sentence()
        .unwrap_or_else(|| "it was not measured".to_owned())
}
