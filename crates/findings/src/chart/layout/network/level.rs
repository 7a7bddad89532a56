//! What is drawn in each open module: its children, and the edges between them, into it and out of it.

use std::collections::{HashMap, HashSet};

use super::{NetworkView, is_hidden};
use crate::analysis::network::TimedNetwork;
use crate::analysis::network::modules::Item;

/// The children of an open module and the edges between them.
#[derive(Debug, Default)]
pub(super) struct ModuleLevel {
    pub items: Vec<Item>,
    /// In the order of the file.
    pub edges: Vec<LevelEdge>,
}

/// An edge of a level; an end that is nothing lies outside the module.
#[derive(Debug)]
pub(super) struct LevelEdge {
    pub from: Option<usize>,
    pub to: Option<usize>,
    /// The most bytes of a tensor.
    pub bytes: u64,
    /// The shape of its tensor, where it is one.
    pub shape: String,
    /// How many tensors it stands for.
    pub tensors: usize,
}

impl LevelEdge {
    pub(super) fn label(&self) -> String {
        match self.tensors {
            1 => self.shape.clone(),
            several => format!("{several} tensors"),
        }
    }
}

/// Operators that, where they did not run, left their input as it is.
const PASSING: [&str; 7] = [
    "Identity",
    "Dropout",
    "Cast",
    "Reshape",
    "Flatten",
    "Squeeze",
    "Unsqueeze",
];

/// Makes the levels of a view.
pub(super) struct LevelBuilder<'a> {
    network: &'a TimedNetwork,
    view: &'a NetworkView,
    levels: HashMap<usize, ModuleLevel>,
    /// The place of each drawn item among its level's.
    places: HashMap<Item, usize>,
    /// The drawn item that each node is, or is in; nothing for one that is not there.
    drawn: Vec<Option<Item>>,
}

/// Ends of an edge within a level, and the level.
type EdgeKey = (usize, Option<usize>, Option<usize>);

impl<'a> LevelBuilder<'a> {
    pub(super) fn new(network: &'a TimedNetwork, view: &'a NetworkView) -> Self {
        Self {
            network,
            view,
            levels: HashMap::new(),
            places: HashMap::new(),
            drawn: vec![None; network.nodes.len()],
        }
    }

    pub(super) fn levels(mut self) -> HashMap<usize, ModuleLevel> {
        self.add_children();
        let depths = self.network.tree.depths();
        let sources = self.sources();
        let mut known: HashMap<EdgeKey, usize> = HashMap::new();
        // The same tensor that goes to several nodes of one module is one.
        let mut seen: HashSet<(EdgeKey, &str)> = HashSet::new();
        let network = self.network;
        for edge in &network.edges {
            let Some(from) = sources[edge.from] else {
                continue;
            };
            let (Some(from), Some(to)) = (self.drawn[from], self.drawn[edge.to]) else {
                continue;
            };
            for (level, from, to) in self.parts_of(from, to, &depths) {
                let key = (level, from, to);
                let Some(module) = self.levels.get_mut(&level) else {
                    continue;
                };
                let place = *known.entry(key).or_insert_with(|| {
                    module.edges.push(LevelEdge {
                        from,
                        to,
                        bytes: 0,
                        shape: edge.shape.clone().unwrap_or_default(),
                        tensors: 0,
                    });
                    module.edges.len() - 1
                });
                let drawn = &mut module.edges[place];
                drawn.bytes = drawn.bytes.max(edge.bytes.unwrap_or_default());
                if seen.insert((key, &edge.tensor)) {
                    drawn.tensors += 1;
                }
            }
        }
        self.levels
    }

    /// Adds the items of every open module.
    fn add_children(&mut self) {
        let mut open = vec![0];
        while let Some(module) = open.pop() {
            let mut items = Vec::new();
            for child in &self.network.tree.modules[module].children {
                match *child {
                    Item::Node(node) => {
                        if is_hidden(self.network, self.view, node) {
                            continue;
                        }
                        self.drawn[node] = Some(*child);
                    }
                    // Open or closed, a module with nothing to draw in it is left out.
                    Item::Module(inner) => {
                        if !self.close(inner, *child) {
                            continue;
                        }
                        if self.view.is_open(self.network, inner) {
                            open.push(inner);
                        }
                    }
                }
                self.places.insert(*child, items.len());
                items.push(*child);
            }
            let level = ModuleLevel {
                items,
                edges: Vec::new(),
            };
            self.levels.insert(module, level);
        }
    }

    /// A closed module stands for all nodes in it; whether there are any.
    fn close(&mut self, module: usize, item: Item) -> bool {
        let mut any = false;
        let mut open = vec![module];
        while let Some(module) = open.pop() {
            for child in &self.network.tree.modules[module].children {
                match *child {
                    Item::Node(node) if is_hidden(self.network, self.view, node) => {}
                    Item::Node(node) => {
                        self.drawn[node] = Some(item);
                        any = true;
                    }
                    Item::Module(inner) => open.push(inner),
                }
            }
        }
        any
    }

    /// The node whose value each node has: its own, or, where it did not run and changed nothing, that of the first it
    /// reads.
    fn sources(&self) -> Vec<Option<usize>> {
        let n_nodes = self.network.nodes.len();
        let mut first: Vec<Option<usize>> = vec![None; n_nodes];
        let mut has_input = vec![false; n_nodes];
        for edge in &self.network.edges {
            let node = &self.network.nodes[edge.to].node;
            let is_same = edge.shape.is_some() && edge.shape.as_ref() == node.outputs.first();
            let is_first = !std::mem::replace(&mut has_input[edge.to], true);
            // What was folded has no source: its value is a constant.
            if is_first && (is_same || PASSING.contains(&node.op.as_str())) {
                first[edge.to] = Some(edge.from);
            }
        }
        let mut sources: Vec<Option<usize>> = Vec::with_capacity(n_nodes);
        for (node, before) in first.iter().enumerate() {
            let source = if is_hidden(self.network, self.view, node) {
                // What a broken file has the other way round has no source.
                before.and_then(|before| sources.get(before).copied().flatten())
            } else {
                Some(node)
            };
            sources.push(source);
        }
        sources
    }

    /// An edge between two drawn items, in each module that it is drawn in.
    fn parts_of(&self, from: Item, to: Item, depths: &[usize]) -> Vec<EdgeKey> {
        let tree = &self.network.tree;
        let Some((level, outer_from, outer_to)) = tree.where_they_part(from, to, depths) else {
            return Vec::new();
        };
        let place = |item: Item| self.places.get(&item).copied();
        let mut parts = vec![(level, place(outer_from), place(outer_to))];
        let mut item = from;
        while item != outer_from {
            parts.push((tree.parent(item), place(item), None));
            item = Item::Module(tree.parent(item));
        }
        let mut item = to;
        while item != outer_to {
            parts.push((tree.parent(item), None, place(item)));
            item = Item::Module(tree.parent(item));
        }
        parts
    }
}
