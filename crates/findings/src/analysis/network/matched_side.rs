//! One of two networks that are matched: what is compared of its nodes, and their partners in the other network.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};

use powerband_core::domain::network::{Network, NetworkNode};

/// Nodes without a match that are passed on the way to the next ones with a match.
const PASSED: usize = 24;

/// By what a node before and one after were found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodesMatchedBy {
    /// Both have the name, and neighbours that match.
    Name,
    /// They read the same weights.
    Weights,
    /// Their neighbours match, and what they compute is alike.
    Neighbours,
    /// One of them does what several do in the other network.
    Fusion,
    /// They stand at the same place of the order: uncertain.
    Order,
}

impl NodesMatchedBy {
    pub fn title(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Weights => "weights",
            Self::Neighbours => "neighbours",
            Self::Fusion => "fusion",
            Self::Order => "order alone, uncertain",
        }
    }
}

/// A node before and a node after that are the same, or parts of the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeMatch {
    pub before: usize,
    pub after: usize,
    pub by: NodesMatchedBy,
}

/// What is compared of a node, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeKey {
    /// What it computes, however the operator is called.
    pub family: u64,
    /// Zero where the file has no name for it.
    pub name: u64,
    /// Whether its name ends with a number that exporters count up.
    pub is_numbered: bool,
    /// Zero where it reads none.
    pub weight_names: u64,
    pub weight_shapes: u64,
    pub outputs: u64,
    pub attributes: u64,
}

impl NodeKey {
    fn new(node: &NetworkNode) -> Self {
        let weights = &node.weights;
        let names: Vec<&str> = weights.iter().map(|weight| weight.name.as_str()).collect();
        let shapes: Vec<&str> = weights.iter().map(|weight| dims(&weight.shape)).collect();
        let has_name = node.is_named && !node.name.is_empty();
        Self {
            family: hash(&(node.kind as u8, family(&node.op))),
            name: if has_name { hash(&node.name) } else { 0 },
            is_numbered: is_numbered(&node.name),
            weight_names: if names.is_empty() { 0 } else { hash(&names) },
            weight_shapes: hash(&shapes),
            outputs: hash(&node.outputs),
            attributes: hash(&node.attributes),
        }
    }

    /// What nodes have in common that compute the same.
    pub(super) fn work(&self) -> (u64, u64, u64, u64) {
        (
            self.family,
            self.weight_shapes,
            self.outputs,
            self.attributes,
        )
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The dimensions of a weight without its type, which another precision changes.
fn dims(shape: &str) -> &str {
    shape.rsplit(' ').next().unwrap_or(shape)
}

/// What an operator computes, without what its variants add: `QLinearConv`, `FusedConv` and `ConvInteger` are `Conv`.
fn family(op: &str) -> &str {
    const BEFORE: [&str; 8] = [
        "DynamicQuantize",
        "QLinear",
        "Fused",
        "Skip",
        "Bias",
        "Fast",
        "Quick",
        "Q",
    ];
    const AFTER: [&str; 2] = ["Integer", "NBits"];
    let mut op = op.split_once(" (").map_or(op, |(op, _)| op);
    let is_name = |rest: &&str| rest.starts_with(|letter: char| letter.is_ascii_uppercase());
    for start in BEFORE {
        op = op.strip_prefix(start).filter(is_name).unwrap_or(op);
    }
    for end in AFTER {
        op = op.strip_suffix(end).unwrap_or(op);
    }
    match op {
        "Gemm" => "MatMul",
        other => other,
    }
}

/// Whether a name ends as those do that exporters count up: `Add_3`, `12`.
fn is_numbered(name: &str) -> bool {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    stem.len() < name.len() && (stem.is_empty() || stem.ends_with(['_', '/', ':']))
}

/// One of the two networks, with what is matched of it.
pub(super) struct MatchedSide<'a> {
    pub network: &'a Network,
    pub keys: Vec<NodeKey>,
    /// The nodes that each reads, and those that read it.
    pub reads: Vec<Vec<usize>>,
    pub readers: Vec<Vec<usize>>,
    /// The node of the other network that is the same.
    pub partner: Vec<Option<usize>>,
}

impl<'a> MatchedSide<'a> {
    pub(super) fn new(network: &'a Network) -> Self {
        let n_nodes = network.nodes.len();
        let mut side = Self {
            network,
            keys: network.nodes.iter().map(NodeKey::new).collect(),
            reads: vec![Vec::new(); n_nodes],
            readers: vec![Vec::new(); n_nodes],
            partner: vec![None; n_nodes],
        };
        for edge in &network.edges {
            side.reads[edge.to].push(edge.from);
            side.readers[edge.from].push(edge.to);
        }
        side
    }

    /// The nearest matched nodes on one side of a node, beyond those without a match.
    pub(super) fn nearest(&self, node: usize, next: &[Vec<usize>]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = next[node].clone();
        while let Some(near) = open.pop() {
            if !seen.insert(near) || seen.len() > PASSED {
                continue;
            }
            if self.partner[near].is_some() {
                found.insert(near);
            } else {
                open.extend(&next[near]);
            }
        }
        found
    }

    /// The nodes with a key that no other one has.
    pub(super) fn unique<K: Ord>(&self, key: impl Fn(&NodeKey) -> Option<K>) -> BTreeMap<K, usize> {
        let mut found: BTreeMap<K, Option<usize>> = BTreeMap::new();
        for (node, one) in self.keys.iter().enumerate() {
            if let Some(key) = key(one) {
                found
                    .entry(key)
                    .and_modify(|known| *known = None)
                    .or_insert(Some(node));
            }
        }
        let found = found.into_iter();
        found.filter_map(|(key, node)| Some((key, node?))).collect()
    }
}
