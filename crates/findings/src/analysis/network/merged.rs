//! Two versions of a network as one graph: the nodes after, and between them those before that are gone.

use std::collections::{BTreeMap, BTreeSet};

use super::matched_side::NodeMatch;
use super::modules::PathPart;
use powerband_core::domain::network::{Network, NetworkEdge, NetworkNode};

/// Two versions of a network as one graph.
#[derive(Clone, Debug, Default)]
pub(super) struct MergedNetwork {
    pub network: Network,
    /// Where each node of the merged graph comes from: its place after, else before.
    pub origins: Vec<Origin>,
}

/// Where a node of a merged graph comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    After(usize),
    /// It has no match after.
    Before(usize),
}

impl MergedNetwork {
    /// A node that is gone stands behind the one before it in the file that is not.
    pub(super) fn new(before: &Network, after: &Network, matches: &[NodeMatch]) -> Self {
        let mut match_of: BTreeMap<usize, usize> = BTreeMap::new();
        for pair in matches {
            match_of.entry(pair.before).or_insert(pair.after);
        }
        // Those that stand behind each node after; behind none of them where there is no earlier one.
        let mut gone_behind: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        let mut last = None;
        for node in 0..before.nodes.len() {
            match match_of.get(&node) {
                Some(after) => last = Some(*after),
                None => gone_behind.entry(last).or_default().push(node),
            }
        }
        let mut merged = Self::default();
        merged.add_gone(gone_behind.get(&None));
        for node in 0..after.nodes.len() {
            merged.origins.push(Origin::After(node));
            merged.add_gone(gone_behind.get(&Some(node)));
        }
        merged.fill_in(before, after, &match_of);
        merged
    }

    /// Nodes that are gone stand in the module of the node that they read, whatever their names say: in a module of their
    /// own they would be in a circle with the nodes around them.
    pub(super) fn put_gone_nodes_into_paths(
        paths: &mut [Vec<PathPart>],
        edges: &[NetworkEdge],
        gone: &BTreeSet<usize>,
    ) {
        let mut is_placed = BTreeSet::new();
        for edge in edges.iter().filter(|edge| gone.contains(&edge.to)) {
            let is_known = !gone.contains(&edge.from) || is_placed.contains(&edge.from);
            if is_known && is_placed.insert(edge.to) {
                let path = paths[edge.from].iter();
                let path = path.take_while(|part| !matches!(part, PathPart::Fused(_)));
                paths[edge.to] = path.cloned().collect();
            }
        }
    }

    fn add_gone(&mut self, nodes: Option<&Vec<usize>>) {
        let gone = nodes.into_iter().flatten();
        self.origins.extend(gone.map(|node| Origin::Before(*node)));
    }

    fn fill_in(&mut self, before: &Network, after: &Network, match_of: &BTreeMap<usize, usize>) {
        let mut place_of_after = vec![0; after.nodes.len()];
        let mut place_of_gone: BTreeMap<usize, usize> = BTreeMap::new();
        for (place, origin) in self.origins.iter().enumerate() {
            match origin {
                Origin::After(node) => place_of_after[*node] = place,
                Origin::Before(node) => {
                    place_of_gone.insert(*node, place);
                }
            }
        }
        let of_before = |node: usize| {
            let gone = place_of_gone.get(&node).copied();
            gone.or_else(|| Some(place_of_after[*match_of.get(&node)?]))
        };
        let with_owner = |node: &NetworkNode, owner: Option<usize>| {
            let mut node = node.clone();
            node.body = node.body.zip(owner).map(|((_, name), owner)| (owner, name));
            node
        };
        let nodes = self.origins.iter().map(|origin| match origin {
            Origin::After(node) => {
                let node = &after.nodes[*node];
                let owner = node.body.as_ref().map(|(owner, _)| place_of_after[*owner]);
                with_owner(node, owner)
            }
            Origin::Before(node) => {
                let node = &before.nodes[*node];
                let owner = node.body.as_ref().and_then(|(owner, _)| of_before(*owner));
                NetworkNode {
                    // Its time is that of the other side.
                    time_ns: None,
                    ..with_owner(node, owner)
                }
            }
        });
        self.network.nodes = nodes.collect();
        let moved = |edge: &NetworkEdge, from: usize, to: usize| NetworkEdge {
            from,
            to,
            ..edge.clone()
        };
        let own = after
            .edges
            .iter()
            .map(|edge| moved(edge, place_of_after[edge.from], place_of_after[edge.to]));
        let gone = before.edges.iter().filter(|edge| {
            place_of_gone.contains_key(&edge.from) || place_of_gone.contains_key(&edge.to)
        });
        let gone =
            gone.filter_map(|edge| Some(moved(edge, of_before(edge.from)?, of_before(edge.to)?)));
        self.network.edges = own.chain(gone).collect();
        self.network.edges.sort_by_key(|edge| edge.to);
        self.network.name.clone_from(&after.name);
        self.network.notes.clone_from(&after.notes);
    }
}
