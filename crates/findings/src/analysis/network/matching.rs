//! Which nodes of a network are those of another version of it: by their names and those of their weights, by their
//! place among their neighbours, and by what was fused or split.
//!
//! Names alone prove little, because exporters number nodes anew. Both lists of nodes are therefore aligned as a whole;
//! what equal weights and full names settle divides them. Each match says by what it was found, and one that has no
//! more for it than the order of the file is called uncertain.

use std::collections::{BTreeMap, BTreeSet};

use super::fusing;
use super::matched_side::{MatchedSide, NodeKey, NodeMatch, NodesMatchedBy};
use crate::analysis::alignment;
use powerband_core::domain::network::Network;

/// The matches of two networks; of each node at most one, but for those of fusions.
pub fn match_nodes(before: &Network, after: &Network) -> Vec<NodeMatch> {
    let mut matching = Matching::new(before, after);
    let certain = matching.certain();
    let [first, second] = &matching.sides;
    let score = |one: usize, two: usize| score(&first.keys[one], &second.keys[two]);
    let lengths = (first.keys.len(), second.keys.len());
    let pairs = alignment::align(lengths, &certain, &score);
    for (one, two) in pairs.into_iter().chain(certain) {
        matching.join(one, two);
    }
    let by_neighbours = matching.spread();
    let shifting = matching.could_be_shifted();
    let mut found: Vec<NodeMatch> = matching
        .pairs()
        .map(|(before, after)| {
            let is_sure = by_neighbours.contains(&before) || !shifting.contains(&before);
            let by = matching.ground(before, after, is_sure);
            NodeMatch { before, after, by }
        })
        .collect();
    found.extend(fusing::matches(&matching.sides));
    found.sort_unstable();
    found
}

/// How much speaks for two nodes being one; nothing where they cannot be.
fn score(before: &NodeKey, after: &NodeKey) -> Option<f32> {
    let has_name = before.name != 0 && before.name == after.name;
    let is_known_by_name = has_name && !before.is_numbered;
    if before.family != after.family && !is_known_by_name {
        return None;
    }
    let agrees = |is_so: bool, by: f32| if is_so { by } else { -by };
    let name = match (has_name, before.is_numbered) {
        (true, false) => 2.0,
        (true, true) => 0.5,
        (false, _) => 0.0,
    };
    let weights = match (before.weight_names, after.weight_names) {
        (0, 0) => 0.0,
        (one, two) if one == two => 3.0,
        (0, _) | (_, 0) => -0.5,
        _ => agrees(before.weight_shapes == after.weight_shapes, 1.0),
    };
    let outputs = agrees(before.outputs == after.outputs, 0.5);
    let attributes = agrees(before.attributes == after.attributes, 0.2);
    Some(1.0 + name + weights + outputs + attributes).filter(|score| *score > 0.0)
}

/// Two networks that are matched.
struct Matching<'a> {
    sides: [MatchedSide<'a>; 2],
}

impl<'a> Matching<'a> {
    fn new(before: &'a Network, after: &'a Network) -> Self {
        Self {
            sides: [before, after].map(MatchedSide::new),
        }
    }

    /// Nodes with the same weights, or with a name that no exporter counts up, which only one node has on either side.
    fn certain(&self) -> Vec<(usize, usize)> {
        let weights =
            |key: &NodeKey| (key.weight_names != 0).then_some((key.family, key.weight_names));
        let names =
            |key: &NodeKey| (key.name != 0 && !key.is_numbered).then_some((key.family, key.name));
        let [before, after] = &self.sides;
        let mut found: BTreeMap<usize, usize> = BTreeMap::new();
        let mut is_taken: BTreeSet<usize> = BTreeSet::new();
        for key in [&weights as &dyn Fn(&NodeKey) -> Option<(u64, u64)>, &names] {
            let theirs = after.unique(key);
            for (key, one) in before.unique(key) {
                let Some(two) = theirs.get(&key) else {
                    continue;
                };
                let is_possible = score(&before.keys[one], &after.keys[*two]).is_some();
                if is_possible && !found.contains_key(&one) && is_taken.insert(*two) {
                    found.insert(one, *two);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Makes two nodes one, unless one of them has a partner.
    fn join(&mut self, before: usize, after: usize) -> bool {
        let [one, two] = &mut self.sides;
        let (one, two) = (&mut one.partner[before], &mut two.partner[after]);
        let is_free = one.is_none() && two.is_none();
        if is_free {
            (*one, *two) = (Some(after), Some(before));
        }
        is_free
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let partners = self.sides[0].partner.iter().enumerate();
        partners.filter_map(|(before, after)| Some((before, (*after)?)))
    }

    /// Matches neighbours of matches that compute the same, where there is one of them on either side; returns those
    /// before.
    fn spread(&mut self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<(usize, usize)> = self.pairs().collect();
        while let Some((before, after)) = open.pop() {
            for way in [
                |side: &MatchedSide<'_>, node: usize| side.reads[node].clone(),
                |side: &MatchedSide<'_>, node: usize| side.readers[node].clone(),
            ] {
                let [ours, theirs] = [(0, before), (1, after)]
                    .map(|(side, node)| self.unmatched(side, way(&self.sides[side], node)));
                for (work, one) in ours {
                    let two = theirs.get(&work).copied().flatten();
                    if let (Some(one), Some(two)) = (one, two)
                        && self.join(one, two)
                    {
                        found.insert(one);
                        open.push((one, two));
                    }
                }
            }
        }
        found
    }

    /// Of some nodes those without a match by what they compute; nothing where several compute the same.
    fn unmatched(
        &self,
        side: usize,
        nodes: Vec<usize>,
    ) -> BTreeMap<(u64, u64, u64, u64), Option<usize>> {
        let side = &self.sides[side];
        let mut found = BTreeMap::new();
        for node in nodes {
            if side.partner[node].is_none() {
                found
                    .entry(side.keys[node].work())
                    .and_modify(|known: &mut Option<usize>| {
                        *known = known.filter(|known| *known == node);
                    })
                    .or_insert(Some(node));
            }
        }
        found
    }

    /// Nodes before of which it is not known whether they or others like them have no match.
    fn could_be_shifted(&self) -> BTreeSet<usize> {
        let [ours, theirs] = &self.sides;
        let is_alike = |side: usize, one: usize, two: usize| {
            let keys = &self.sides[side].keys;
            keys[one].work() == keys[two].work()
        };
        alignment::could_be_shifted([&ours.partner, &theirs.partner], &is_alike)
    }

    /// By what two nodes are one; `is_sure` says whether they could not as well be others of the same kind.
    fn ground(&self, before: usize, after: usize, is_sure: bool) -> NodesMatchedBy {
        let [ours, theirs] = &self.sides;
        let (one, two) = (&ours.keys[before], &theirs.keys[after]);
        let has_name = one.name != 0 && one.name == two.name;
        if one.weight_names != 0 && one.weight_names == two.weight_names {
            return if has_name {
                NodesMatchedBy::Name
            } else {
                NodesMatchedBy::Weights
            };
        }
        let is_supported = self.has_matched_neighbours(before, after);
        if has_name && (is_supported || !one.is_numbered) {
            NodesMatchedBy::Name
        } else if is_supported && is_sure {
            NodesMatchedBy::Neighbours
        } else {
            NodesMatchedBy::Order
        }
    }

    /// Whether the nearest matched nodes before or behind both are each other's, and none of them contradicts it.
    fn has_matched_neighbours(&self, before: usize, after: usize) -> bool {
        let [ours, theirs] = &self.sides;
        let ways = [
            (&ours.reads, &theirs.reads),
            (&ours.readers, &theirs.readers),
        ];
        let agree = ways.map(|(our, their)| {
            let near = ours.nearest(before, our);
            let expected: BTreeSet<usize> = near
                .into_iter()
                .filter_map(|node| ours.partner[node])
                .collect();
            let near = theirs.nearest(after, their);
            let is_end = expected.is_empty() && near.is_empty();
            (is_end, expected.intersection(&near).next().is_some())
        });
        match agree {
            [(true, _), (_, agrees)] | [(_, agrees), (true, _)] => agrees,
            [(_, read), (_, are_read)] => read && are_read,
        }
    }
}
