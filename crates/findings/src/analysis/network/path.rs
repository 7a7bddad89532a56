//! The critical path of a network: the chain of what ran, each waiting for the one before, with the most time.
//!
//! The graph and the times come from a `TimedNetwork`; `chart` colours by it. Fused groups are one, and what did not run
//! only passes values on.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{self, Item, ModuleKind};
use super::{NodeFate, TimedNetwork};

/// The chain of nodes that wait for each other with the most time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriticalPath {
    /// Nodes and fused groups with a time, in the order in which they run.
    pub items: Vec<Item>,
    /// Their times together, in nanoseconds.
    pub time_ns: f64,
}

impl TimedNetwork {
    /// The critical path by time. Edges that lead back, as those of a broken file, are not followed.
    pub fn critical_path(&self) -> CriticalPath {
        let mut units: Vec<Item> = Vec::new();
        let mut places: BTreeMap<Item, usize> = BTreeMap::new();
        let mut unit_of = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let unit = self.unit(node);
            let place = *places.entry(unit).or_insert_with(|| {
                units.push(unit);
                units.len() - 1
            });
            unit_of.push(place);
        }
        let is_there = |node: usize| self.nodes[node].fate != NodeFate::OnlyBefore;
        let edges = self.edges.iter();
        let edges = edges.filter(|edge| is_there(edge.from) && is_there(edge.to));
        let edges: BTreeSet<(usize, usize)> = edges
            .map(|edge| (unit_of[edge.from], unit_of[edge.to]))
            .filter(|(from, to)| from != to)
            .collect();
        let order = modules::sorted(units.len(), &edges);
        let mut position = vec![0; units.len()];
        for (place, unit) in order.iter().enumerate() {
            position[*unit] = place;
        }
        let mut read_by: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
        for (from, to) in edges {
            if position[from] < position[to] {
                read_by[to].push(from);
            }
        }
        let own_ns = |unit: usize| self.own_time(units[unit]).map_or(0.0, |time| time.time_ns);
        // The time of the longest chain up to each, and the one before it there.
        let mut longest: Vec<(f64, Option<usize>)> = vec![(0.0, None); units.len()];
        for unit in &order {
            let before = read_by[*unit].iter().copied();
            let before = before.max_by(|one, two| longest[*one].0.total_cmp(&longest[*two].0));
            let waits_ns = before.map_or(0.0, |before| longest[before].0);
            longest[*unit] = (waits_ns + own_ns(*unit), before);
        }
        let last = order
            .into_iter()
            .max_by(|one, two| longest[*one].0.total_cmp(&longest[*two].0));
        let chain = std::iter::successors(last, |unit| longest[*unit].1);
        let timed = chain.map(|unit| units[unit]);
        let timed = timed.filter(|item| self.own_time(*item).is_some());
        let mut items: Vec<Item> = timed.collect();
        items.reverse();
        CriticalPath {
            items,
            time_ns: last.map_or(0.0, |last| longest[last].0),
        }
    }

    /// What a node ran in: its fused group, else itself.
    fn unit(&self, node: usize) -> Item {
        let item = Item::Node(node);
        let is_fused =
            |module: &usize| matches!(self.tree.modules[*module].kind, ModuleKind::Fused(_));
        let group = self.tree.modules_around(item).find(is_fused);
        let group = group.filter(|_| self.nodes[node].time.is_none());
        group.map_or(item, Item::Module)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chain, named, timed, took};
    use super::*;
    use powerband_core::domain::examination::{Fusions, PreparedNode};
    use powerband_core::domain::network::{Network, NetworkEdge};

    /// Nodes of one letter each with edges between them, written `ab`.
    fn graph(nodes: &str, edges: &[&str]) -> Network {
        let names: Vec<String> = nodes.chars().map(String::from).collect();
        let named: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "Add")).collect();
        let mut network = chain(&named);
        let place = |edge: &str, end: usize| nodes.find(&edge[end..=end]).unwrap();
        let edges = edges.iter().map(|edge| NetworkEdge {
            from: place(edge, 0),
            to: place(edge, 1),
            tensor: (*edge).to_owned(),
            shape: None,
            bytes: None,
        });
        network.edges = edges.collect();
        network
    }

    fn path(found: &TimedNetwork) -> (String, f64) {
        let path = found.critical_path();
        let names = path.items.iter().map(|item| found.item_name(*item));
        (names.collect::<Vec<String>>().join(" "), path.time_ns)
    }

    #[test]
    fn of_two_branches_the_longer_is_on_the_path() {
        let network = graph("abcd", &["ab", "ac", "bd", "cd"]);
        let times = vec![took("a", 10), took("b", 20), took("c", 30), took("d", 5)];
        let found = timed(&network, times, None);
        assert_eq!(path(&found), ("a c d".to_owned(), 45.0));
        let nothing = timed(&network, Vec::new(), None).critical_path();
        assert_eq!(nothing, CriticalPath::default());
    }

    #[test]
    fn a_fused_group_waits_for_all_that_its_nodes_read() {
        // The group begins before the branch that its second node reads.
        let network = graph("abcde", &["ab", "bd", "ac", "cd", "be"]);
        let fusions = Fusions {
            became: vec![PreparedNode {
                node: "b+d".to_owned(),
                op: "Fused".to_owned(),
                from: vec![named("b"), named("d")],
            }],
            ..Fusions::default()
        };
        let times = vec![took("a", 1), took("b+d", 40), took("c", 7), took("e", 2)];
        let found = timed(&network, times, Some(fusions));
        assert_eq!(path(&found), ("a c Fused e".to_owned(), 50.0));
    }

    #[test]
    fn the_path_of_a_circle_ends() {
        let network = graph("abc", &["ab", "bc", "ca"]);
        let times = vec![took("a", 1), took("b", 2), took("c", 4)];
        let found = timed(&network, times, None);
        assert_eq!(path(&found), ("a b c".to_owned(), 7.0));
    }
}
