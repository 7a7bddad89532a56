//! What limits each node of a profile, a row for each.

use std::collections::BTreeSet;

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::limits::bound::Bound;
use crate::analysis::limits::node::NodeLimit;
use powerband_core::base::humanize;

type NodeLimitColumn = Column<NodeLimit>;

/// Nodes in their order.
pub fn of_nodes(nodes: &[NodeLimit]) -> Table {
    let table = Table::new(COLUMNS, nodes.to_vec()).showing_differences("place");
    let names: BTreeSet<&str> = nodes.iter().map(|node| node.short.as_str()).collect();
    if names.len() == nodes.len() {
        return table;
    }
    // One kernel carries out several operators.
    table.showing_differences("op")
}

fn why_not(node: &NodeLimit) -> String {
    node.bound.as_ref().err().cloned().unwrap_or_default()
}

fn why_no_gain(node: &NodeLimit) -> String {
    match &node.bound {
        Err(reason) => reason.clone(),
        Ok(Bound::ModelWrong) => Bound::ModelWrong.help().to_lowercase(),
        Ok(_) => "the wall time of the run cannot be taken apart".to_owned(),
    }
}

pub const COLUMNS: &[NodeLimitColumn] = &[
    NodeLimitColumn::text("name", "Node", |node| {
        Some(Cell::text(&node.short).for_programs(&node.name))
    }),
    NodeLimitColumn::text("op", "Operator", |node| Some(Cell::text(&node.op))).hidden(),
    NodeLimitColumn::text("place", "Where", |node| Some(Cell::text(&node.place))).hidden(),
    NodeLimitColumn::number("time_ms", "Time", "ms", |node| {
        Some(Cell::time(node.time_ns))
    })
    .help("Of one run where the number of runs is known, else of the whole profile"),
    NodeLimitColumn::number("share", "Share", "%", |node| Some(Cell::share(node.share)))
        .help("Of all times that are added up"),
    NodeLimitColumn::text("bound", "Bound", |node| {
        let bound = node.bound.as_ref().ok()?;
        Some(Cell::text(bound.title()).noted(bound.help()))
    })
    .help("What limits it, by the model: its work against what was measured on this machine")
    .why(why_not),
    NodeLimitColumn::number("floor_share", "Minimum", "%", |node| {
        let share = node.share_of_floor?;
        Some(Cell::share(share).noted(node.formula.clone()))
    })
    .help("The least time for its work, as a share of its time; above 100 % the model is wrong")
    .why(why_not),
    NodeLimitColumn::number("left", "Node at most", "×", |node| {
        Some(Cell::ratio(node.at_most_here?).noted(node.formula.clone()))
    })
    .help("How many times faster it can become at most: its time ÷ its floor")
    .why(why_no_gain),
    NodeLimitColumn::number("left_overall", "Run at most", "×", |node| {
        Some(Cell::ratio(node.at_most_overall?))
    })
    .help("How many times faster the run then becomes: wall time ÷ (wall time − time + floor)")
    .why(why_no_gain),
    NodeLimitColumn::text("line", "Line", |node| {
        (!node.line.is_empty()).then(|| Cell::text(&node.line))
    })
    .help("What its greatest floor is measured against")
    .why(why_not),
    NodeLimitColumn::number("gop_s", "Reached", "GFLOP/s", |node| {
        let per_s = node.achieved_per_s?;
        let numbers = node.work?.numbers;
        Some(Cell::shown(numbers.rate_text(per_s), per_s / 1e9))
    })
    .why(|_| "its arithmetic is not known".to_owned())
    .hidden(),
    NodeLimitColumn::number("intensity_low", "FLOP/B, fewest", "", |node| {
        let (low, _) = node.intensity?;
        Some(Cell::shown(humanize::value(low), low))
    })
    .help("Arithmetic intensity where every tensor is written and read")
    .why(|_| "its arithmetic or its bytes are not known".to_owned())
    .hidden(),
    NodeLimitColumn::number("intensity_high", "FLOP/B, most", "", |node| {
        let (_, high) = node.intensity?;
        Some(Cell::shown(humanize::value(high), high))
    })
    .help("Arithmetic intensity where inputs, weights and outputs move once")
    .why(|_| "its arithmetic or its bytes are not known".to_owned())
    .hidden(),
    NodeLimitColumn::number("calls", "Calls", "", |node| Some(Cell::count(node.calls))).hidden(),
];
