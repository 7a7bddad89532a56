//! What a plan will measure: each case with its estimate.

use super::cell::{Cell, SortKey, Tone};
use super::{Column, Table};
use crate::analysis::plan_estimate::CaseEstimate;
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;

/// A case that is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCase {
    /// What its setup is called.
    pub setup: String,
    /// The setup's text.
    pub spec: String,
    /// Items that go through the network in one run.
    pub point: Point,
    /// How often it is visited.
    pub rounds: u32,
    /// How long it will take, or why it cannot run here.
    pub estimate: Result<CaseEstimate, String>,
}

type PlannedColumn = Column<PlannedCase>;

/// The cases of a plan, in its order.
pub fn of_plan(cases: Vec<PlannedCase>) -> Table {
    let points = cases.iter().map(|case| case.point).collect();
    Table::new(COLUMNS, cases).with_points(points)
}

/// The columns of planned cases.
pub const COLUMNS: &[PlannedColumn] = &[
    PlannedColumn::text("setup", "Setup", |case| {
        let cell = Cell::text(&case.setup);
        Some(match &case.estimate {
            Ok(_) => cell,
            Err(reason) => cell.noted(format!("cannot run here: {reason}")),
        })
    }),
    PlannedColumn::text("spec", "Options", |case| Some(Cell::text(&case.spec)))
        .help("Engine, device and options")
        .hidden(),
    PlannedColumn::number("batch", "Batch", "", |case| Some(Cell::count(case.point.batch() as u64)))
        .help("Items that go through the network in one run"),
    PlannedColumn::number("rounds", "Rounds", "", |case| {
        Some(Cell::count(u64::from(case.rounds)))
    })
    .help("How often the case is visited, in turns with the others; a case that is still unsure may get more"),
    PlannedColumn::number("estimate_s", "Estimate", "s", |case| {
        let estimate = case.estimate.as_ref().ok()?;
        let cell = Cell::shown(estimate.to_string(), estimate.high_s);
        Some(cell.ranked(SortKey::Number(estimate.high_s)))
    })
    .help("The least and the most time that the case takes; the first case of a setup starts its worker and loads the model. A plain number is the most")
    .why(why),
    PlannedColumn::number("least_s", "At least", "s", |case| seconds(case, |estimate| estimate.low_s))
        .why(why)
        .hidden(),
    PlannedColumn::text("grounds", "Based on", |case| {
        Some(match &case.estimate {
            Ok(estimate) if estimate.is_known => Cell::text("earlier sessions"),
            Ok(estimate) if estimate.is_compiled => {
                Cell::text("limits of the preset").noted("compiled first, which can take minutes more")
            }
            Ok(_) => Cell::text("limits of the preset"),
            Err(reason) => Cell::text("cannot run here").noted(reason).toned(Tone::Bad),
        })
    })
    .help("Where the estimate comes from: sessions of this setup on this machine, or the least and the most time of the preset"),
];

fn seconds(case: &PlannedCase, of: fn(&CaseEstimate) -> f64) -> Option<Cell> {
    let seconds = of(case.estimate.as_ref().ok()?);
    Some(Cell::shown(humanize::clock_time(seconds), seconds))
}

fn why(case: &PlannedCase) -> String {
    let reason = case.estimate.as_ref().err();
    reason.map_or_else(String::new, |reason| format!("cannot run here: {reason}"))
}
