//! The modules of a network: scopes in the names of its nodes, bodies of control flow, groups that ran as one, and
//! blocks that repeat.
//!
//! The tree is made once for each network; `NetworkView` has the modules that are open.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use powerband_core::domain::network::{Network, NetworkEdge, NetworkNode, NodeKind};

use super::{FusedGroup, NodeFate, TimedNode};
use crate::analysis::limits::node::NodeLimit;

/// Scopes inside scopes that become modules; what lies deeper stands in the last.
const DEEPEST: usize = 24;

/// A step from the whole network to a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathPart {
    /// A scope of names.
    Scope(String),
    /// A node with the bodies that it holds.
    Holder(usize),
    /// A body of it.
    Body(String),
    /// A group of nodes that ran as one, by its place.
    Fused(usize),
    /// What ran and is no node of the file.
    Extra,
}

/// A node or a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    Node(usize),
    Module(usize),
}

/// What a module is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ModuleKind {
    /// The whole network.
    #[default]
    Whole,
    Scope,
    /// A node of control flow with its bodies.
    Holder,
    Body,
    /// Nodes that ran as one, by the place of the group's time.
    Fused(Option<usize>),
    /// What ran and is no node of the file.
    Extra,
    /// So many blocks, one after the other, and how many of them differ from the others.
    Repeat(usize, usize),
    /// One of these, where names do not tell them apart.
    Block,
}

/// A part of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    pub name: String,
    pub kind: ModuleKind,
    /// In an order in which each comes after what it reads, as far as there is one.
    pub children: Vec<Item>,
    pub parent: usize,
    /// Nodes in it, those that did not run among them.
    pub n_nodes: usize,
    /// The time of all that ran in it, in nanoseconds.
    pub time_ns: f64,
    /// Whether a node in it has no time that is known.
    pub has_unknown: bool,
    /// Its nodes by operator, most first.
    pub operators: Vec<(String, usize)>,
}

impl Module {
    /// Whether it is opened and closed by itself: the whole is always open, and groups that ran as one are drawn as the
    /// file or the engine has them.
    pub fn opens(&self) -> bool {
        !matches!(self.kind, ModuleKind::Whole | ModuleKind::Fused(_))
    }

    /// What it is called.
    pub fn title(&self) -> String {
        match self.kind {
            ModuleKind::Repeat(blocks, 0) => format!("{} ({blocks} alike)", self.name),
            ModuleKind::Repeat(blocks, differing) => {
                format!("{} ({} of {blocks} alike)", self.name, blocks - differing)
            }
            ModuleKind::Whole => "The whole network".to_owned(),
            _ => self.name.clone(),
        }
    }
}

/// The modules of a network; the first is the whole of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleTree {
    pub modules: Vec<Module>,
    /// The module that each node stands in.
    pub parent_of: Vec<usize>,
}

/// The way from the whole network to each node: scopes of names, and bodies.
pub fn paths(network: &Network) -> Vec<Vec<PathPart>> {
    let mut holders: BTreeSet<usize> = BTreeSet::new();
    for node in &network.nodes {
        holders.extend(node.body.as_ref().map(|(owner, _)| *owner));
    }
    let mut paths: Vec<Vec<PathPart>> = network.nodes.iter().map(scopes).collect();
    let known: HashSet<Vec<PathPart>> = paths
        .iter()
        .flat_map(|path| (1..=path.len()).map(|length| path[..length].to_vec()))
        .collect();
    // A node that is called as a scope is, such as a product beside its `product.bias`, belongs into it.
    for (path, node) in paths.iter_mut().zip(&network.nodes) {
        let own = own_scope(path, node);
        if own.as_ref().is_some_and(|own| known.contains(own)) {
            path.extend(own.and_then(|own| own.into_iter().next_back()));
        }
    }
    for holder in &holders {
        if let Some(path) = paths.get_mut(*holder) {
            path.push(PathPart::Holder(*holder));
        }
    }
    // A holder stands behind the nodes of its bodies, so that the way to it is known when theirs is made.
    for place in (0..network.nodes.len()).rev() {
        if let Some((owner, body)) = &network.nodes[place].body
            && let Some(outer) = paths.get(*owner).cloned()
            && *owner > place
        {
            let own = std::mem::replace(&mut paths[place], outer);
            paths[place].push(PathPart::Body(body.clone()));
            let mut own = own.into_iter();
            paths[place].extend(
                own.by_ref()
                    .filter(|part| matches!(part, PathPart::Holder(_))),
            );
        }
    }
    for path in &mut paths {
        path.truncate(DEEPEST);
    }
    paths
}

/// The scope that has the name of a node; nothing for one without a name.
fn own_scope(path: &[PathPart], node: &NetworkNode) -> Option<Vec<PathPart>> {
    if node.kind != NodeKind::Operator || !node.is_named || node.body.is_some() {
        return None;
    }
    let last = first_name(node)
        .rsplit(separator(node))
        .find(|part| !part.is_empty())?;
    let last = PathPart::Scope(last.to_owned());
    Some(path.iter().cloned().chain([last]).collect())
}

/// What stands between the scopes of a name.
fn separator(node: &NetworkNode) -> char {
    if first_name(node).contains('/') {
        '/'
    } else {
        '.'
    }
}

/// The name that says where a node is: of nodes that a tool names as one, `/conv/Conv + /relu/Relu`, the first.
fn first_name(node: &NetworkNode) -> &str {
    node.name.split(" + ").next().unwrap_or(&node.name)
}

/// The scopes of a node's name: all of its parts but the last.
fn scopes(node: &NetworkNode) -> Vec<PathPart> {
    if node.kind != NodeKind::Operator || !node.is_named || node.body.is_some() {
        return Vec::new();
    }
    let parts: Vec<&str> = first_name(node)
        .split(separator(node))
        .filter(|part| !part.is_empty())
        .collect();
    let scopes = parts
        .iter()
        .take(parts.len().saturating_sub(1).min(DEEPEST));
    scopes
        .map(|part| PathPart::Scope((*part).to_owned()))
        .collect()
}

/// Nodes that ran as one stand together, in the innermost module that has all of them.
pub fn put_groups_into_paths(paths: &mut [Vec<PathPart>], groups: &[FusedGroup]) {
    for (place, group) in groups.iter().enumerate() {
        let Some((first, others)) = group.members.split_first() else {
            continue;
        };
        let mut common = paths[*first].clone();
        for other in others {
            let alike = common.iter().zip(&paths[*other]);
            let n_alike = alike.take_while(|(one, two)| one == two).count();
            common.truncate(n_alike);
        }
        common.push(PathPart::Fused(place));
        for member in &group.members {
            paths[*member].clone_from(&common);
        }
    }
}

impl ModuleTree {
    pub(super) fn new(
        nodes: &[TimedNode],
        edges: &[NetworkEdge],
        paths: &[Vec<PathPart>],
        groups: &[FusedGroup],
    ) -> Self {
        let mut tree = Self {
            modules: vec![Module::default()],
            parent_of: vec![0; nodes.len()],
        };
        let mut known: HashMap<(usize, &PathPart), usize> = HashMap::new();
        for (node, path) in paths.iter().enumerate() {
            let mut module = 0;
            for part in path {
                module = *known.entry((module, part)).or_insert_with(|| {
                    let outer = tree.modules[module].name.clone();
                    tree.add(module, new_module(part, &outer, nodes, groups))
                });
            }
            tree.modules[module].children.push(Item::Node(node));
            tree.parent_of[node] = module;
        }
        tree.sort_children(edges);
        tree.skip_lonely();
        tree
    }

    fn add(&mut self, parent: usize, module: Module) -> usize {
        let place = self.modules.len();
        self.modules.push(Module { parent, ..module });
        self.modules[parent].children.push(Item::Module(place));
        place
    }

    /// The modules around an item, innermost first.
    pub fn modules_around(&self, item: Item) -> impl Iterator<Item = usize> + '_ {
        let first = self.parent(item);
        std::iter::successors(Some(first), |module| {
            (*module != 0).then(|| self.modules[*module].parent)
        })
    }

    /// The module that an item stands in; that of the whole is itself.
    pub fn parent(&self, item: Item) -> usize {
        match item {
            Item::Node(node) => self.parent_of.get(node).copied().unwrap_or_default(),
            Item::Module(module) => self.modules[module].parent,
        }
    }

    /// The names of a module and of those around it, outermost first.
    pub fn path(&self, module: usize) -> String {
        let mut names: Vec<&str> = std::iter::once(module)
            .chain(self.modules_around(Item::Module(module)))
            .map(|module| self.modules[module].name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        names.reverse();
        names.join(" / ")
    }

    /// Adds nodes to the module of those that are in no file.
    pub(super) fn add_extras(&mut self, nodes: &[usize]) {
        let known = self.modules.iter();
        let known = known
            .clone()
            .position(|module| module.kind == ModuleKind::Extra);
        let module = known.unwrap_or_else(|| {
            let module = new_module(&PathPart::Extra, "", &[], &[]);
            self.add(0, module)
        });
        let children = &mut self.modules[module].children;
        children.extend(nodes.iter().copied().map(Item::Node));
        self.parent_of.extend(nodes.iter().map(|_| module));
    }

    /// Orders the children of each module: each after what it reads, else as they come in the file.
    fn sort_children(&mut self, edges: &[NetworkEdge]) {
        let between = self.edges_between_children(edges);
        for (module, edges) in between {
            let children = &self.modules[module].children;
            let order = sorted(children.len(), &edges);
            let children = order.into_iter().map(|place| children[place]).collect();
            self.modules[module].children = children;
        }
    }

    /// For each module, which of its children read which, by their places among them.
    fn edges_between_children(
        &self,
        edges: &[NetworkEdge],
    ) -> BTreeMap<usize, BTreeSet<(usize, usize)>> {
        let mut place_of: HashMap<Item, usize> = HashMap::new();
        for module in &self.modules {
            let children = module.children.iter().enumerate();
            place_of.extend(children.map(|(place, child)| (*child, place)));
        }
        let depths = self.depths();
        let mut between: BTreeMap<usize, BTreeSet<(usize, usize)>> = BTreeMap::new();
        for edge in edges {
            if let Some((module, from, to)) =
                self.where_they_part(Item::Node(edge.from), Item::Node(edge.to), &depths)
            {
                let places = (place_of[&from], place_of[&to]);
                between.entry(module).or_default().insert(places);
            }
        }
        between
    }

    /// How many modules are around each.
    pub(crate) fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.modules.len()];
        let mut open = vec![0];
        while let Some(module) = open.pop() {
            for child in &self.modules[module].children {
                if let Item::Module(inner) = child {
                    depths[*inner] = depths[module] + 1;
                    open.push(*inner);
                }
            }
        }
        depths
    }

    /// The innermost module around two items, and its children that they stand in; nothing where one is the other or
    /// is in it.
    pub(crate) fn where_they_part(
        &self,
        mut from: Item,
        mut to: Item,
        depths: &[usize],
    ) -> Option<(usize, Item, Item)> {
        let depth = |item: Item| match item {
            Item::Node(node) => depths[self.parent_of[node]] + 1,
            Item::Module(module) => depths[module],
        };
        while depth(from) > depth(to) {
            from = Item::Module(self.parent(from));
        }
        while depth(to) > depth(from) {
            to = Item::Module(self.parent(to));
        }
        if from == to {
            return None;
        }
        while self.parent(from) != self.parent(to) {
            from = Item::Module(self.parent(from));
            to = Item::Module(self.parent(to));
        }
        Some((self.parent(from), from, to))
    }

    /// A scope with one child alone is that child, with both names.
    fn skip_lonely(&mut self) {
        for module in (0..self.modules.len()).rev() {
            let mut children = std::mem::take(&mut self.modules[module].children);
            for child in &mut children {
                if let Item::Module(inner) = *child
                    && self.modules[inner].kind == ModuleKind::Scope
                    && let [only] = self.modules[inner].children[..]
                {
                    if let Item::Module(innermost) = only
                        && self.modules[innermost].kind == ModuleKind::Scope
                    {
                        let outer = self.modules[inner].name.clone();
                        let name = &mut self.modules[innermost].name;
                        *name = joined_name(&outer, name);
                    }
                    *child = only;
                }
            }
            self.modules[module].children = children;
        }
    }

    pub(super) fn renew_parents(&mut self) {
        let mut open = vec![0];
        while let Some(module) = open.pop() {
            let children = self.modules[module].children.clone();
            for child in children {
                match child {
                    Item::Node(node) => self.parent_of[node] = module,
                    Item::Module(inner) => {
                        self.modules[inner].parent = module;
                        open.push(inner);
                    }
                }
            }
        }
    }

    /// Every module after those in it.
    pub(crate) fn inside_out(&self) -> Vec<usize> {
        let mut order = vec![0];
        let mut next = 0;
        while let Some(module) = order.get(next).copied() {
            let children = self.modules[module].children.iter();
            order.extend(children.filter_map(|child| match child {
                Item::Module(inner) => Some(*inner),
                Item::Node(_) => None,
            }));
            next += 1;
        }
        order.reverse();
        order
    }

    /// Adds up times and counts, from the innermost modules outwards.
    pub(super) fn add_up(&mut self, nodes: &[TimedNode], times: &[NodeLimit]) {
        let time_ns = |time: Option<usize>| time.map_or(0.0, |time| times[time].time_ns);
        let mut operators: Vec<BTreeMap<String, usize>> = vec![BTreeMap::new(); self.modules.len()];
        for module in self.inside_out() {
            let (mut sum, mut n_nodes, mut has_unknown) = (0.0, 0, false);
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for child in &self.modules[module].children {
                match child {
                    Item::Node(node) => {
                        let node = &nodes[*node];
                        sum += time_ns(node.time);
                        let is_operator = node.node.kind == NodeKind::Operator
                            && node.fate != NodeFate::OnlyBefore;
                        n_nodes += usize::from(is_operator);
                        has_unknown |= is_operator
                            && node.time.is_none()
                            && matches!(node.fate, NodeFate::Unknown | NodeFate::Ran);
                        if is_operator {
                            *counts.entry(node.node.op.clone()).or_default() += 1;
                        }
                    }
                    Item::Module(inner) => {
                        sum += self.modules[*inner].time_ns;
                        // What is in no node of the file is none of its nodes.
                        if self.modules[*inner].kind != ModuleKind::Extra {
                            n_nodes += self.modules[*inner].n_nodes;
                        }
                        has_unknown |= self.modules[*inner].has_unknown;
                        for (op, count) in &operators[*inner] {
                            *counts.entry(op.clone()).or_default() += count;
                        }
                    }
                }
            }
            let filled = &mut self.modules[module];
            if let ModuleKind::Fused(time) = filled.kind {
                sum += time_ns(time);
                has_unknown |= time.is_none();
            }
            (filled.time_ns, filled.n_nodes, filled.has_unknown) = (sum, n_nodes, has_unknown);
            let mut sorted: Vec<(String, usize)> = counts.clone().into_iter().collect();
            sorted.sort_by_key(|(_, count)| Reverse(*count));
            filled.operators = sorted;
            operators[module] = counts;
        }
    }
}

fn new_module(part: &PathPart, outer: &str, nodes: &[TimedNode], groups: &[FusedGroup]) -> Module {
    let is_number = |name: &str| name.chars().all(|letter| letter.is_ascii_digit());
    let (name, kind) = match part {
        PathPart::Scope(name) if is_number(name) && !outer.is_empty() => {
            (format!("{outer}.{name}"), ModuleKind::Scope)
        }
        PathPart::Scope(name) => (name.clone(), ModuleKind::Scope),
        PathPart::Holder(node) => (nodes[*node].node.name.clone(), ModuleKind::Holder),
        PathPart::Body(name) => (name.clone(), ModuleKind::Body),
        PathPart::Fused(place) => {
            let group = &groups[*place];
            (group.op.clone(), ModuleKind::Fused(group.time))
        }
        PathPart::Extra => ("In no node of the file".to_owned(), ModuleKind::Extra),
    };
    Module {
        name,
        kind,
        ..Module::default()
    }
}

/// The name of a scope within another one, which often begins with its name.
fn joined_name(outer: &str, inner: &str) -> String {
    if inner.starts_with(outer) {
        inner.to_owned()
    } else {
        format!("{outer}.{inner}")
    }
}

/// An order of so many things in which each comes after those that lead to it, and else the first comes first. A
/// circle is broken at its first.
pub(super) fn sorted(count: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut n_before = vec![0_usize; count];
    for (from, to) in edges {
        after[*from].push(*to);
        n_before[*to] += 1;
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..count)
        .filter(|place| n_before[*place] == 0)
        .map(Reverse)
        .collect();
    let mut is_done = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut first_open = 0;
    while order.len() < count {
        let place = ready.pop().map(|Reverse(place)| place).or_else(|| {
            first_open += is_done[first_open..]
                .iter()
                .take_while(|done| **done)
                .count();
            (first_open < count).then_some(first_open)
        });
        let Some(place) = place else { break };
        if std::mem::replace(&mut is_done[place], true) {
            continue;
        }
        order.push(place);
        for next in &after[place] {
            n_before[*next] = n_before[*next].saturating_sub(1);
            if n_before[*next] == 0 && !is_done[*next] {
                ready.push(Reverse(*next));
            }
        }
    }
    order
}
