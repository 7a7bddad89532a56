//! Two versions of a network side by side: which nodes are added, removed or changed, and which take more or less time.
//!
//! What ran for matched nodes is one block of times, however each engine fused it, so that every time of either side is
//! in one block and the differences add up to that of the totals. A block has a verdict where both sides were profiled
//! in several starts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::matched_side::{NodeMatch, NodesMatchedBy};
use super::matching::match_nodes;
use super::merged::{MergedNetwork, Origin};
use super::modules::Item;
use super::{NodeFate, NodeTimes, TimedNetwork, TimedNode};
use crate::analysis::limits::node::NodeLimit;
use crate::analysis::sampled_difference::{SampleOrder, SampledDifference};
use crate::analysis::start_times::StartTimes;
use powerband_core::domain::network::{Network, NetworkNode};

/// In which of the two versions a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodePresence {
    #[default]
    Both,
    Added,
    Removed,
}

/// What is another of a node that both versions have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeChange {
    Operator,
    Precision,
    Provider,
    Shape,
    Settings,
}

impl NodeChange {
    pub const ALL: [Self; 5] = [
        Self::Operator,
        Self::Precision,
        Self::Provider,
        Self::Shape,
        Self::Settings,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Precision => "precision",
            Self::Provider => "provider",
            Self::Shape => "shape",
            Self::Settings => "settings",
        }
    }
}

/// A node of the picture of two versions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedNode {
    pub presence: NodePresence,
    /// The nodes before that it stands for, and by what they were found.
    pub before: Vec<(usize, NodesMatchedBy)>,
    /// What changed, with its value before and after.
    pub changes: Vec<(NodeChange, [String; 2])>,
}

/// What ran for the same nodes before and after.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeBlock {
    /// Places among the times before.
    pub before: Vec<usize>,
    /// Places among the times after.
    pub after: Vec<usize>,
    pub before_ns: f64,
    pub after_ns: f64,
    /// How they differ over several starts, where these were profiled.
    pub starts: Option<SampledDifference>,
}

impl TimeBlock {
    pub fn difference_ns(&self) -> f64 {
        self.after_ns - self.before_ns
    }
}

/// The version before, and what is different.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkComparison {
    pub before: Arc<TimedNetwork>,
    /// By the nodes of the picture.
    pub nodes: Vec<ComparedNode>,
    pub blocks: Vec<TimeBlock>,
    /// The block of each item that has one: a node, or a group that ran as one. Each block is of one item.
    pub block_of: BTreeMap<Item, usize>,
    /// Why no difference has a verdict.
    pub one_start: Option<String>,
    /// What is in each module.
    pub modules: Vec<ModuleChanges>,
}

/// What is different in a module and in those within it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModuleChanges {
    pub before_ns: f64,
    pub after_ns: f64,
    /// Whether anything in it ran.
    pub has_times: bool,
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

impl ModuleChanges {
    fn add(&mut self, other: &Self) {
        self.before_ns += other.before_ns;
        self.after_ns += other.after_ns;
        self.has_times |= other.has_times;
        self.added += other.added;
        self.changed += other.changed;
        self.removed += other.removed;
    }

    fn add_block(&mut self, block: Option<&TimeBlock>) {
        if let Some(block) = block {
            self.before_ns += block.before_ns;
            self.after_ns += block.after_ns;
            self.has_times = true;
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct NetworkSide<'a> {
    pub network: &'a Network,
    pub times: NodeTimes,
    /// What each name took in each profiled start, or why that is not known.
    pub starts: Result<StartTimes, String>,
}

impl<'a> NetworkSide<'a> {
    pub fn without_times(network: &'a Network) -> Self {
        Self {
            network,
            times: NodeTimes::default(),
            starts: Err("it was not profiled".to_owned()),
        }
    }
}

impl NetworkComparison {
    /// The difference of everything in an item, in nanoseconds; nothing where nothing in it ran.
    pub fn difference_ns(&self, item: Item) -> Option<f64> {
        match item {
            Item::Node(_) => self.block(item).map(TimeBlock::difference_ns),
            Item::Module(module) => {
                let sum = self.modules.get(module).filter(|sum| sum.has_times)?;
                Some(sum.after_ns - sum.before_ns)
            }
        }
    }

    /// Adds up what is in each module, from the innermost ones outwards.
    fn add_up(&mut self, network: &TimedNetwork) {
        let mut sums = vec![ModuleChanges::default(); network.tree.modules.len()];
        for module in network.tree.inside_out() {
            let mut sum = ModuleChanges::default();
            sum.add_block(self.block(Item::Module(module)));
            for child in &network.tree.modules[module].children {
                match child {
                    Item::Module(inner) => sum.add(&sums[*inner]),
                    Item::Node(node) => {
                        sum.add_block(self.block(*child));
                        let Some(compared) = self.nodes.get(*node) else {
                            continue;
                        };
                        match compared.presence {
                            NodePresence::Added => sum.added += 1,
                            NodePresence::Removed => sum.removed += 1,
                            NodePresence::Both => {
                                sum.changed += u64::from(!compared.changes.is_empty());
                            }
                        }
                    }
                }
            }
            sums[module] = sum;
        }
        self.modules = sums;
    }

    /// Whether a node is added, removed or changed.
    pub fn is_changed(&self, node: usize) -> bool {
        let compared = self.nodes.get(node);
        compared.is_some_and(|node| node.presence != NodePresence::Both || !node.changes.is_empty())
    }

    /// Whether a node that is gone ran by itself: else nothing ran for it, or it was a part of what still runs.
    pub fn ran_alone(&self, node: usize) -> bool {
        self.block_of.contains_key(&Item::Node(node))
    }

    /// What ran for an item alone.
    pub fn block(&self, item: Item) -> Option<&TimeBlock> {
        self.blocks.get(*self.block_of.get(&item)?)
    }

    /// Gives each block how it differs over the starts of both sides.
    fn judge(&mut self, new: &TimedNetwork, starts: &[StartTimes; 2], order: SampleOrder) {
        let n_compared = self.blocks.len();
        let repeated = [
            names_of_several(&self.before.times),
            names_of_several(&new.times),
        ];
        for block in &mut self.blocks {
            let names = |network: &TimedNetwork, times: &[usize]| {
                let times = times.iter().map(|time| network.times[*time].name.clone());
                times.collect::<Vec<String>>()
            };
            let names = [names(&self.before, &block.before), names(new, &block.after)];
            // The starts have one sum for each name.
            let mut sides = names.iter().zip(&repeated);
            if sides.any(|(names, repeated)| names.iter().any(|name| repeated.contains(name))) {
                continue;
            }
            let sides = [starts[0].sums(&names[0]), starts[1].sums(&names[1])];
            if let [Some(before), Some(after)] = &sides {
                block.starts = SampledDifference::new(before, after, order, n_compared);
            }
        }
    }
}

impl TimedNetwork {
    /// A network with what is different from another version of it.
    ///
    /// # Errors
    ///
    /// Where the times of a side are those of another network.
    pub fn compared(
        before: NetworkSide<'_>,
        after: NetworkSide<'_>,
        order: SampleOrder,
    ) -> Result<Self, String> {
        let matches = match_nodes(before.network, after.network);
        let merged = MergedNetwork::new(before.network, after.network, &matches);
        let old = Self::new(before.network, before.times)?;
        let gone = gone_nodes(&merged);
        let mut new = Self::joined(&merged.network, after.times, &gone)?;
        let extras = match_extras(&old, &mut new);
        let (blocks, block_of) = blocks(&old, &new, &merged, &matches, &extras);
        let mut comparison = NetworkComparison {
            nodes: compared_nodes(&old, &new, &merged, &matches, &extras),
            blocks,
            block_of,
            one_start: None,
            modules: Vec::new(),
            before: Arc::new(old),
        };
        match (before.starts, after.starts) {
            (Ok(before), Ok(after)) => comparison.judge(&new, &[before, after], order),
            (Err(reason), _) | (_, Err(reason)) => comparison.one_start = Some(reason),
        }
        comparison.add_up(&new);
        new.comparison = Some(Arc::new(comparison));
        Ok(new)
    }
}

/// Names that several times have.
fn names_of_several(times: &[NodeLimit]) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let again = times.iter().filter(|time| !seen.insert(&time.name));
    again.map(|time| time.name.clone()).collect()
}

/// The nodes of a merged graph that are gone.
fn gone_nodes(merged: &MergedNetwork) -> BTreeSet<usize> {
    let origins = merged.origins.iter().enumerate();
    let gone = origins.filter(|(_, origin)| matches!(origin, Origin::Before(_)));
    gone.map(|(place, _)| place).collect()
}

/// Nodes that are in no file, before and after by their operator: those after by their place in the picture. One that
/// only ran before is added to the picture.
fn match_extras(old: &TimedNetwork, new: &mut TimedNetwork) -> Vec<(Vec<usize>, Vec<usize>)> {
    let by_op = |network: &TimedNetwork| {
        let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, node) in network.nodes.iter().enumerate() {
            if matches!(node.fate, NodeFate::Added | NodeFate::Unmatched) {
                found.entry(node.node.op.clone()).or_default().push(place);
            }
        }
        found
    };
    let (mut before, mut after) = (by_op(old), by_op(new));
    let ops: BTreeSet<String> = before.keys().chain(after.keys()).cloned().collect();
    let mut found = Vec::new();
    for op in ops {
        let ours = before.remove(&op).unwrap_or_default();
        let mut theirs = after.remove(&op).unwrap_or_default();
        if theirs.is_empty() {
            let gone = ours.iter().map(|place| TimedNode {
                time: None,
                fate: NodeFate::OnlyBefore,
                ..old.nodes[*place].clone()
            });
            theirs = new.add_extras(gone.collect());
        }
        found.push((ours, theirs));
    }
    found
}

fn compared_nodes(
    old: &TimedNetwork,
    new: &TimedNetwork,
    merged: &MergedNetwork,
    matches: &[NodeMatch],
    extras: &[(Vec<usize>, Vec<usize>)],
) -> Vec<ComparedNode> {
    let only_after = extras.iter().filter(|(before, _)| before.is_empty());
    let added: BTreeSet<usize> = only_after
        .flat_map(|(_, after)| after.iter().copied())
        .collect();
    let mut before_of: BTreeMap<usize, Vec<(usize, NodesMatchedBy)>> = BTreeMap::new();
    for pair in matches {
        let before = before_of.entry(pair.after).or_default();
        before.push((pair.before, pair.by));
    }
    let mut compared = Vec::with_capacity(new.nodes.len());
    for (place, node) in new.nodes.iter().enumerate() {
        compared.push(match (merged.origins.get(place), node.fate) {
            (Some(Origin::After(after)), _) => {
                let before = before_of.remove(after).unwrap_or_default();
                let changes = match before[..] {
                    [] => Vec::new(),
                    [(only, by)] if by != NodesMatchedBy::Fusion => {
                        changes((old, only), (new, place))
                    }
                    _ => other_operator(old, &before, &node.node),
                };
                let presence = if before.is_empty() {
                    NodePresence::Added
                } else {
                    NodePresence::Both
                };
                ComparedNode {
                    presence,
                    before,
                    changes,
                }
            }
            (Some(Origin::Before(_)), _) | (None, NodeFate::OnlyBefore) => ComparedNode {
                presence: NodePresence::Removed,
                ..ComparedNode::default()
            },
            (None, _) if added.contains(&place) => ComparedNode {
                presence: NodePresence::Added,
                ..ComparedNode::default()
            },
            (None, _) => ComparedNode::default(),
        });
    }
    compared
}

/// The operator of a node that stands for others, where it is not theirs.
fn other_operator(
    old: &TimedNetwork,
    before: &[(usize, NodesMatchedBy)],
    after: &NetworkNode,
) -> Vec<(NodeChange, [String; 2])> {
    let ops = before
        .iter()
        .map(|(node, _)| old.nodes[*node].node.op.as_str());
    let ops = ops.collect::<Vec<&str>>().join(" + ");
    let change = (ops != after.op).then(|| (NodeChange::Operator, [ops, after.op.clone()]));
    change.into_iter().collect()
}

/// What is another of a node.
fn changes(
    before: (&TimedNetwork, usize),
    after: (&TimedNetwork, usize),
) -> Vec<(NodeChange, [String; 2])> {
    let sides = [before, after];
    let value = |what: NodeChange| {
        sides.map(|(network, place)| {
            let node = &network.nodes[place].node;
            let time = network.time_around(place);
            match what {
                NodeChange::Operator => node.op.clone(),
                NodeChange::Precision => time
                    .and_then(|time| time.work)
                    .map_or_else(|| weight_type(node), |work| work.numbers.to_string()),
                NodeChange::Provider => time.map_or_else(String::new, |time| time.place.clone()),
                NodeChange::Shape => node.outputs.join(", "),
                NodeChange::Settings => settings(node),
            }
        })
    };
    let changes = NodeChange::ALL.map(|what| (what, value(what)));
    let is_change = |(_, [before, after]): &(NodeChange, [String; 2])| {
        before != after && !before.is_empty() && !after.is_empty()
    };
    changes.into_iter().filter(is_change).collect()
}

/// The type of the numbers that the first weight of a node has.
fn weight_type(node: &NetworkNode) -> String {
    let shape = node.weights.first().map(|weight| weight.shape.as_str());
    let kind = shape.and_then(|shape| shape.split(' ').next());
    kind.unwrap_or_default().to_owned()
}

fn settings(node: &NetworkNode) -> String {
    let settings = node.attributes.iter();
    let settings = settings.map(|(name, value)| format!("{name} {value}"));
    settings.collect::<Vec<String>>().join(", ")
}

/// Blocks of times, each with the item that it is of.
fn blocks(
    old: &TimedNetwork,
    new: &TimedNetwork,
    merged: &MergedNetwork,
    matches: &[NodeMatch],
    extras: &[(Vec<usize>, Vec<usize>)],
) -> (Vec<TimeBlock>, BTreeMap<Item, usize>) {
    let (n_before, n_after) = (old.times.len(), new.times.len());
    let [time_before, time_after] = [old, new].map(TimedNetwork::times_around);
    // Times before, times after, and nodes of the picture: what ran for the same nodes is one set.
    let n_times = n_before + n_after;
    let mut sets = DisjointSets::new(n_times + new.nodes.len());
    for (place, time) in time_after.iter().enumerate() {
        if let Some(time) = time {
            sets.join(n_before + time, n_times + place);
        }
    }
    let mut place_of_after = BTreeMap::new();
    let mut before_at: Vec<(usize, usize)> = Vec::new();
    for (place, origin) in merged.origins.iter().enumerate() {
        match origin {
            Origin::After(node) => {
                place_of_after.insert(*node, place);
            }
            Origin::Before(node) => before_at.push((*node, place)),
        }
    }
    before_at.extend(matches.iter().filter_map(|pair| {
        let place = place_of_after.get(&pair.after)?;
        Some((pair.before, *place))
    }));
    for (ours, theirs) in extras {
        let pairs = ours.iter().zip(theirs.iter().cycle());
        before_at.extend(pairs.map(|(before, place)| (*before, *place)));
        for two in theirs.windows(2) {
            sets.join(n_times + two[0], n_times + two[1]);
        }
    }
    for (before, place) in before_at {
        if let Some(time) = time_before[before] {
            sets.join(time, n_times + place);
        }
    }
    let mut found: Vec<TimeBlock> = Vec::new();
    let mut place_of: BTreeMap<usize, usize> = BTreeMap::new();
    for time in 0..n_times {
        let place = *place_of.entry(sets.find(time)).or_insert_with(|| {
            found.push(TimeBlock::default());
            found.len() - 1
        });
        let block = &mut found[place];
        if let Some(after) = time.checked_sub(n_before) {
            block.after.push(after);
            block.after_ns += new.times[after].time_ns;
        } else {
            block.before.push(time);
            block.before_ns += old.times[time].time_ns;
        }
    }
    let mut node_of: BTreeMap<usize, usize> = BTreeMap::new();
    for node in 0..new.nodes.len() {
        let set = sets.find(n_times + node);
        node_of.entry(set).or_insert(node);
    }
    let items = new.items_of_times();
    let homes = place_of.into_iter().filter_map(|(set, place)| {
        let by_time = |one: &&usize, two: &&usize| {
            let time_ns = |time: usize| new.times[time].time_ns;
            time_ns(**one).total_cmp(&time_ns(**two))
        };
        let most = found[place].after.iter().max_by(by_time);
        let home = most.and_then(|time| items[*time]);
        let home = home.or_else(|| node_of.get(&set).copied().map(Item::Node));
        Some((home?, place))
    });
    let homes = homes.collect();
    (found, homes)
}

/// Sets of numbers that are joined.
struct DisjointSets {
    parent: Vec<usize>,
}

impl DisjointSets {
    fn new(count: usize) -> Self {
        Self {
            parent: (0..count).collect(),
        }
    }

    fn find(&mut self, member: usize) -> usize {
        let mut root = member;
        while self.parent[root] != root {
            self.parent[root] = self.parent[self.parent[root]];
            root = self.parent[root];
        }
        root
    }

    fn join(&mut self, one: usize, two: usize) {
        let (one, two) = (self.find(one), self.find(two));
        self.parent[one.max(two)] = one.min(two);
    }
}
