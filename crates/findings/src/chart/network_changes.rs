//! Colours of a network that is compared with another version: by the differences of times, or by what changed.

use std::collections::BTreeMap;

use super::colours::Fill;
use super::network_colours::{NetworkColouring, NetworkColours, NetworkLegendLine, NodeColour};
use crate::analysis::network::TimedNetwork;
use crate::analysis::network::compared::{NetworkComparison, NodeChange, NodePresence, TimeBlock};
use crate::analysis::network::modules::Item;
use crate::analysis::verdict::Call;
use powerband_core::base::humanize;
use powerband_core::domain::network::NodeKind;

/// What an item is coloured for, in the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChangeKind {
    Slower,
    Faster,
    Same,
    Unsettled,
    /// It ran after alone.
    Added,
    Removed,
    /// It is in both, and has a time after alone.
    NoTimeBefore,
    NoTimeAfter,
    Changed(NodeChange),
    Unchanged,
}

impl ChangeKind {
    fn title(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::Unsettled => "not settled",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::NoTimeBefore => "no time before",
            Self::NoTimeAfter => "no time after",
            Self::Changed(change) => match change {
                NodeChange::Operator => "another operator",
                NodeChange::Precision => "another precision",
                NodeChange::Provider => "another provider",
                NodeChange::Shape => "another shape",
                NodeChange::Settings => "other settings",
            },
            Self::Unchanged => "as before",
        }
    }

    fn colour(self) -> NodeColour {
        match self {
            Self::Slower => NodeColour::Worse,
            Self::Faster => NodeColour::Better,
            Self::Same | Self::Unchanged => NodeColour::Plain,
            Self::Unsettled | Self::Changed(NodeChange::Shape | NodeChange::Settings) => {
                NodeColour::Fill(Fill::GREY)
            }
            Self::Added | Self::NoTimeBefore => NodeColour::Fill(Fill::from_hue(0)),
            Self::Removed | Self::NoTimeAfter => NodeColour::Fill(Fill::from_hue(1)),
            Self::Changed(NodeChange::Operator) => NodeColour::Fill(Fill::from_hue(4)),
            Self::Changed(NodeChange::Precision) => NodeColour::Fill(Fill::from_hue(3)),
            Self::Changed(NodeChange::Provider) => NodeColour::Fill(Fill::from_hue(2)),
        }
    }
}

fn kind_of_block(comparison: &NetworkComparison, item: Item, block: &TimeBlock) -> ChangeKind {
    let presence = match item {
        Item::Node(node) => comparison.nodes.get(node).map(|node| node.presence),
        Item::Module(_) => None,
    };
    if block.before.is_empty() {
        return match presence {
            Some(NodePresence::Added) => ChangeKind::Added,
            _ => ChangeKind::NoTimeBefore,
        };
    }
    if block.after.is_empty() {
        return match presence {
            Some(NodePresence::Removed) => ChangeKind::Removed,
            _ => ChangeKind::NoTimeAfter,
        };
    }
    match block.starts.map(|starts| starts.call) {
        Some(Call::Slower) => ChangeKind::Slower,
        Some(Call::Faster) => ChangeKind::Faster,
        Some(Call::Same) => ChangeKind::Same,
        Some(Call::Inconclusive) | None => ChangeKind::Unsettled,
    }
}

fn kind_of_node(comparison: &NetworkComparison, node: usize) -> ChangeKind {
    let compared = comparison.nodes.get(node);
    compared.map_or(ChangeKind::Unchanged, |node| match node.presence {
        NodePresence::Added => ChangeKind::Added,
        NodePresence::Removed => ChangeKind::Removed,
        NodePresence::Both => node
            .changes
            .first()
            .map_or(ChangeKind::Unchanged, |(change, _)| {
                ChangeKind::Changed(*change)
            }),
    })
}

/// What is summed of one kind: how much it weighs, its difference, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
struct KindSum {
    weight: f64,
    difference_ns: f64,
    count: u64,
}

type Sums = BTreeMap<ChangeKind, KindSum>;

fn add(sums: &mut Sums, kind: ChangeKind, own: KindSum) {
    let sum = sums.entry(kind).or_default();
    sum.weight += own.weight;
    sum.difference_ns += own.difference_ns;
    sum.count += own.count;
}

/// The colour of most of what is in an item.
fn colour(sums: &Sums) -> NodeColour {
    let most = sums
        .iter()
        .max_by(|one, two| one.1.weight.total_cmp(&two.1.weight));
    most.map_or(NodeColour::Plain, |(kind, _)| kind.colour())
}

/// Colours by the difference of times, or by what changed.
pub(super) fn colours(
    network: &TimedNetwork,
    comparison: &NetworkComparison,
    colouring: NetworkColouring,
) -> NetworkColours {
    let is_of_times = colouring == NetworkColouring::Difference;
    let own = |item: Item| -> Option<(ChangeKind, KindSum)> {
        if is_of_times {
            let block = comparison.block(item)?;
            let difference_ns = block.difference_ns();
            let sum = KindSum {
                weight: difference_ns.abs(),
                difference_ns,
                count: 1,
            };
            return Some((kind_of_block(comparison, item, block), sum));
        }
        let Item::Node(node) = item else {
            return None;
        };
        let is_operator = network.nodes[node].node.kind == NodeKind::Operator;
        let kind = kind_of_node(comparison, node);
        // One change among many is to be seen.
        let weight = if kind == ChangeKind::Unchanged {
            1e-3
        } else {
            1.0
        };
        let sum = KindSum {
            weight,
            difference_ns: 0.0,
            count: 1,
        };
        is_operator.then_some((kind, sum))
    };
    let nodes = (0..network.nodes.len()).map(|node| {
        let own = own(Item::Node(node));
        own.map_or(NodeColour::Plain, |(kind, _)| kind.colour())
    });
    let mut modules: Vec<Sums> = vec![Sums::new(); network.tree.modules.len()];
    for module in network.tree.inside_out() {
        let mut sums = Sums::new();
        if let Some((kind, sum)) = own(Item::Module(module)) {
            add(&mut sums, kind, sum);
        }
        for child in &network.tree.modules[module].children {
            match child {
                Item::Node(_) => {
                    if let Some((kind, sum)) = own(*child) {
                        add(&mut sums, kind, sum);
                    }
                }
                Item::Module(inner) => {
                    for (kind, sum) in &modules[*inner] {
                        add(&mut sums, *kind, *sum);
                    }
                }
            }
        }
        modules[module] = sums;
    }
    let legend = modules.first().into_iter().flatten().map(|(kind, sum)| {
        let amount = if is_of_times {
            humanize::time_change(sum.difference_ns)
        } else {
            humanize::pluralised(sum.count, "node")
        };
        NetworkLegendLine {
            colour: kind.colour(),
            text: format!("{} · {amount}", kind.title()),
        }
    });
    NetworkColours {
        colouring,
        nodes: nodes.collect(),
        modules: modules.iter().map(colour).collect(),
        legend: legend.collect(),
    }
}
