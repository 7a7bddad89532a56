//! What an engine made of a network: rewrites of nodes, operators before and after, execution providers, and
//! the slowest nodes.

use super::cell::Cell;
use super::{Column, Table};
use crate::analysis::graph::{ExaminedGraph, OperatorCount, SlowNode};
use powerband_core::domain::examination::{FusionPattern, ProviderShare};

/// What the time of a node is, and is not.
const TIME: &str = "From a separate run that times every node, which has overhead: read the shares, not the time of a run. On a device that works asynchronously, it is the time to launch the work.";

/// What happened to the nodes of the file.
pub fn patterns(graph: &ExaminedGraph) -> Table {
    Table::new(PATTERNS, graph.patterns.clone())
}

/// Nodes by operator.
pub fn operators(graph: &ExaminedGraph) -> Table {
    Table::new(OPERATORS, graph.operators.clone())
}

/// Execution providers.
pub fn providers(graph: &ExaminedGraph) -> Table {
    Table::new(PROVIDERS, graph.providers.clone())
}

/// The slowest nodes.
pub fn slowest(graph: &ExaminedGraph) -> Table {
    Table::new(SLOWEST, graph.slowest.clone())
}

/// The columns of what happened to nodes.
pub const PATTERNS: &[Column<FusionPattern>] = &[
    Column::<FusionPattern>::number("times", "Times", "", |pattern| {
        Some(Cell::count(pattern.count))
    }),
    Column::<FusionPattern>::text("from", "In the file", |pattern| {
        Some(if pattern.from.is_empty() {
            Cell::text("added")
        } else {
            Cell::text(pattern.from.join(" + "))
        })
    })
    .help("Operators of the file, each once, in the order in which they come"),
    Column::<FusionPattern>::text("to", "Became", |pattern| {
        let to = pattern.to.as_deref().unwrap_or("removed");
        Some(Cell::text(to))
    })
    .help("The one node that they were fused into; removed: constant-folded or a no-op"),
];

/// The columns of operators.
pub const OPERATORS: &[Column<OperatorCount>] = &[
    Column::<OperatorCount>::text("operator", "Operator", |operator| {
        Some(Cell::text(&operator.name))
    }),
    Column::<OperatorCount>::number("before", "In the file", "", |operator| {
        Some(Cell::count(operator.before))
    }),
    Column::<OperatorCount>::number("after", "After", "", |operator| {
        Some(Cell::count(operator.after))
    })
    .help("Nodes that ran"),
];

/// The columns of execution providers.
pub const PROVIDERS: &[Column<ProviderShare>] = &[
    Column::<ProviderShare>::text("provider", "Provider", |share| {
        Some(Cell::text(&share.provider))
    }),
    Column::<ProviderShare>::number("nodes", "Nodes", "", |share| Some(Cell::count(share.nodes))),
    Column::<ProviderShare>::number("of_nodes", "Of nodes", "%", |share| {
        Some(Cell::share(share.share_of_nodes))
    }),
    Column::<ProviderShare>::number("of_time", "Of time", "%", |share| {
        Some(Cell::share(share.share_of_time))
    })
    .help(TIME),
];

/// The columns of slow nodes.
pub const SLOWEST: &[Column<SlowNode>] = &[
    Column::<SlowNode>::text("node", "Node", |node| Some(Cell::text(&node.name))),
    Column::<SlowNode>::text("operator", "Operator", |node| Some(Cell::text(&node.op))),
    Column::<SlowNode>::text("provider", "Provider", |node| {
        Some(Cell::text(&node.provider))
    }),
    Column::<SlowNode>::number("mean_ms", "Mean time", "ms", |node| {
        Some(Cell::time(node.time_ns as f64))
    })
    .help(TIME),
    Column::<SlowNode>::number("share", "Share", "%", |node| Some(Cell::share(node.share)))
        .help("Of the time of all nodes"),
];
