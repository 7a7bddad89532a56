//! Where the time of a profile went, a row for each category, operator or kernel.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::breakdown::{Breakdown, BreakdownLevel, BreakdownRow};
use crate::analysis::profile_runs::RunsFrom;

type KernelColumn = Column<KernelLine>;

/// A row, with its time per run where the profile's number of runs is known.
#[derive(Clone, Debug)]
pub struct KernelLine {
    row: BreakdownRow,
    per_run_ns: Option<f64>,
}

impl KernelLine {
    fn new(breakdown: &Breakdown, row: &BreakdownRow) -> Self {
        Self {
            per_run_ns: breakdown.per_run(row.total_ns as f64),
            row: row.clone(),
        }
    }
}

/// Some rows of a breakdown, by their places, in that order.
pub fn of_breakdown(breakdown: &Breakdown, places: &[usize]) -> Table {
    let rows = places.iter().filter_map(|place| breakdown.rows.get(*place));
    let lines = rows.map(|row| KernelLine::new(breakdown, row)).collect();
    let (table, title) = match breakdown.level {
        BreakdownLevel::Category => (Table::new(CATEGORY_COLUMNS, lines), "Category"),
        BreakdownLevel::Operator => (Table::new(COLUMNS, lines), "Operator"),
        BreakdownLevel::Kernel => (Table::new(COLUMNS, lines), "Kernel"),
    };
    let table = table.titled("name", title).showing_differences("devices");
    let is_limited =
        |row: &BreakdownRow| row.limit.as_ref().is_some_and(|limit| limit.bound.is_ok());
    let table = if breakdown.rows.iter().any(is_limited) {
        table
    } else {
        table.hiding(&["bound", "left"])
    };
    match breakdown.runs.map(|runs| runs.from) {
        Some(RunsFrom::Marks) => table.titled("per_run_ms", "Per step"),
        _ => table,
    }
}

const NAME: KernelColumn = KernelColumn::text("name", "Kernel", |line| {
    Some(Cell::text(&line.row.short).for_programs(&line.row.name))
});
const SHARE: KernelColumn = KernelColumn::number("share", "Share", "%", |line| {
    Some(Cell::share(line.row.share))
})
.help("Of all times that are added up");
const TOTAL: KernelColumn = KernelColumn::number("total_ms", "Total", "ms", |line| {
    Some(Cell::time(line.row.total_ns as f64))
})
.help("All calls together");
const PER_RUN: KernelColumn = KernelColumn::number("per_run_ms", "Per run", "ms", |line| {
    line.per_run_ns.map(Cell::time)
})
.help("All calls of one run of the network, or of one step, together: the total divided by the number of runs")
.why(|_| "the number of runs in the profile is not known".to_owned());
const CALLS: KernelColumn = KernelColumn::number("calls", "Calls", "", |line| {
    Some(Cell::count(line.row.calls))
});
const MEAN: KernelColumn = KernelColumn::number("mean_ms", "Mean", "ms", |line| {
    line.row.mean_ns().map(Cell::time)
})
.help("Of a call");
const SHORTEST: KernelColumn = KernelColumn::number("min_ms", "Shortest", "ms", |line| {
    Some(Cell::time(line.row.min_ns? as f64))
})
.why(|_| "the file does not state it".to_owned());
const LONGEST: KernelColumn = KernelColumn::number("max_ms", "Longest", "ms", |line| {
    Some(Cell::time(line.row.max_ns? as f64))
})
.why(|_| "the file does not state it".to_owned());
const BOUND: KernelColumn = KernelColumn::text("bound", "Bound", |line| {
    let limit = line.row.limit.as_ref()?;
    let bound = limit.bound.as_ref().ok()?;
    Some(Cell::text(bound.title()).noted(format!("{}\n{}", bound.help(), limit.formula)))
})
.help("What limits it, by the model: its work against roofs that were measured on this machine")
.why(why_no_limit);
const LEFT: KernelColumn = KernelColumn::number("left", "Left", "×", |line| {
    Some(Cell::ratio(line.row.limit.as_ref()?.max_speed_up?))
})
.help("How many times faster it can become at most: its time ÷ its floor, which is the least time for its operations at the engine's best GEMM, its bytes at the measured bandwidth, and its launches")
.why(why_no_limit);
const PLACES: KernelColumn = KernelColumn::text("devices", "Where", |line| {
    Some(Cell::text(line.row.places.join(", ")))
})
.hidden();

/// The columns of categories.
pub const CATEGORY_COLUMNS: &[KernelColumn] = &[
    KernelColumn::text("name", "Category", |line| Some(Cell::text(&line.row.short))),
    KernelColumn::number("kernels", "Kernels", "", |line| {
        Some(Cell::count(line.row.names as u64))
    })
    .help("How many different names it has"),
    SHARE,
    TOTAL,
    PER_RUN,
    BOUND,
    LEFT,
    CALLS,
    MEAN,
    SHORTEST,
    LONGEST,
    PLACES,
];

/// The columns of operators and of kernels.
pub const COLUMNS: &[KernelColumn] = &[
    NAME,
    KernelColumn::text("category", "Category", |line| {
        Some(Cell::text(line.row.category.title()).noted(line.row.ops.join("\n")))
    }),
    KernelColumn::text("operators", "Operators", |line| {
        Some(Cell::text(line.row.ops.join(", ")))
    })
    .hidden(),
    SHARE,
    TOTAL,
    PER_RUN,
    BOUND,
    LEFT,
    CALLS,
    MEAN,
    SHORTEST,
    LONGEST,
    PLACES,
];

fn why_no_limit(line: &KernelLine) -> String {
    let limit = line.row.limit.as_ref();
    let reason = limit.and_then(|limit| limit.bound.as_ref().err());
    let usual = || {
        "no roofs of its device are known; Measure roofs in the window, or powerband roofs, measures them".to_owned()
    };
    reason.cloned().unwrap_or_else(usual)
}
