//! Nodes that do together what others do in another version of a network: one that was fused of several, or split.
//!
//! What has no match of its own lies between nodes that have one. Where both networks have such a stretch between the
//! same nodes, one stands for the other; where only one has, it belongs to a neighbour of which the other side has a
//! variant that does more.

use std::collections::{BTreeMap, BTreeSet};

use super::matched_side::{MatchedSide, NodeMatch, NodesMatchedBy};
use powerband_core::domain::network::NodeKind;

/// Operators that change numbers and no values: they are added and removed by themselves.
const CONVERSIONS: [&str; 4] = [
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "Cast",
];

/// So many nodes one other can stand for.
const MOST_FUSED: usize = 24;

/// Connected nodes without a match, and the matched nodes around them.
struct UnmatchedNodes {
    nodes: Vec<usize>,
    /// The matched nodes that it reads, and those that read it.
    reads: BTreeSet<usize>,
    readers: BTreeSet<usize>,
}

/// The matches of fused and split nodes.
pub(super) fn matches(sides: &[MatchedSide<'_>; 2]) -> Vec<NodeMatch> {
    let [ours, theirs] = [0, 1].map(|side| stretches(&sides[side]));
    let mut place_of: BTreeMap<(BTreeSet<usize>, BTreeSet<usize>), Option<usize>> = BTreeMap::new();
    for (place, stretch) in theirs.iter().enumerate() {
        place_of
            .entry((stretch.reads.clone(), stretch.readers.clone()))
            .and_modify(|known| *known = None)
            .or_insert(Some(place));
    }
    let mut found = Vec::new();
    let mut is_taken = BTreeSet::new();
    for stretch in &ours {
        let around = (
            partners(&sides[0], &stretch.reads),
            partners(&sides[0], &stretch.readers),
        );
        let place = place_of.get(&around).copied().flatten();
        let place = place.filter(|place| is_replaced_by(stretch, &theirs[*place]));
        if let Some(place) = place.filter(|place| is_taken.insert(*place)) {
            found.extend(all_pairs(&stretch.nodes, &theirs[place].nodes));
        } else if stretch.nodes.len() <= MOST_FUSED
            && let Some(node) = belongs_to(&sides[0], &sides[1], stretch)
        {
            let node = sides[0].partner[node];
            found.extend(
                node.iter()
                    .flat_map(|node| all_pairs(&stretch.nodes, &[*node])),
            );
        }
    }
    for (place, stretch) in theirs.iter().enumerate() {
        if !is_taken.contains(&place)
            && stretch.nodes.len() <= MOST_FUSED
            && let Some(node) = belongs_to(&sides[1], &sides[0], stretch)
        {
            let node = sides[1].partner[node];
            found.extend(
                node.iter()
                    .flat_map(|node| all_pairs(&[*node], &stretch.nodes)),
            );
        }
    }
    found
}

/// Whether one stretch stands for another between the same nodes: one node for one, or for several. What has no matched
/// nodes on both of its sides may be anything.
fn is_replaced_by(before: &UnmatchedNodes, after: &UnmatchedNodes) -> bool {
    let sizes = [before.nodes.len(), after.nodes.len()];
    let has_ends = !before.reads.is_empty() && !before.readers.is_empty();
    has_ends && sizes.contains(&1) && sizes.iter().all(|size| *size <= MOST_FUSED)
}

fn partners(side: &MatchedSide<'_>, nodes: &BTreeSet<usize>) -> BTreeSet<usize> {
    nodes
        .iter()
        .filter_map(|node| side.partner[*node])
        .collect()
}

fn all_pairs(before: &[usize], after: &[usize]) -> Vec<NodeMatch> {
    let pairs = before
        .iter()
        .flat_map(|before| after.iter().map(|after| (*before, *after)));
    pairs
        .map(|(before, after)| NodeMatch {
            before,
            after,
            by: NodesMatchedBy::Fusion,
        })
        .collect()
}

fn stretches(side: &MatchedSide<'_>) -> Vec<UnmatchedNodes> {
    let is_open = |node: usize| {
        let shown = &side.network.nodes[node];
        let is_conversion = CONVERSIONS.contains(&shown.op.as_str());
        side.partner[node].is_none() && shown.kind == NodeKind::Operator && !is_conversion
    };
    let mut is_seen = vec![false; side.partner.len()];
    let mut found = Vec::new();
    for first in 0..side.partner.len() {
        if is_seen[first] || !is_open(first) {
            continue;
        }
        let mut stretch = UnmatchedNodes {
            nodes: Vec::new(),
            reads: BTreeSet::new(),
            readers: BTreeSet::new(),
        };
        is_seen[first] = true;
        let mut open = vec![first];
        while let Some(node) = open.pop() {
            stretch.nodes.push(node);
            for near in side.reads[node].iter().chain(&side.readers[node]) {
                if is_open(*near) && !std::mem::replace(&mut is_seen[*near], true) {
                    open.push(*near);
                }
            }
            stretch.reads.extend(side.nearest(node, &side.reads));
            stretch.readers.extend(side.nearest(node, &side.readers));
        }
        stretch.nodes.sort_unstable();
        found.push(stretch);
    }
    found
}

/// The one node that a stretch reads of which the other side has an operator that does more.
fn belongs_to(
    own: &MatchedSide<'_>,
    other: &MatchedSide<'_>,
    stretch: &UnmatchedNodes,
) -> Option<usize> {
    let does_more = |node: &&usize| {
        let op = own.network.nodes[**node].op.as_str();
        let theirs = own.partner[**node].map(|node| other.network.nodes[node].op.as_str());
        theirs.is_some_and(|theirs| theirs.len() > op.len() && theirs.contains(op))
    };
    let mut found = stretch.reads.iter().filter(does_more);
    let only = found.next()?;
    found.next().is_none().then_some(*only)
}
