//! A network with the times of its nodes: which of them the engine fused, folded or added, what each takes and what
//! limits it, in modules that open and fold.
//!
//! The graph comes from `onnx`, times and limits from a profile of the session. `chart` lays it out. The times of all
//! nodes add up to the total of the profile: what belongs to no node of the file is in a module of its own.

pub mod compared;
#[cfg(test)]
mod compared_tests;
mod comparison_facts;
pub mod facts;
mod fusing;
pub mod matched_side;
pub mod matching;
mod merged;
pub mod modules;
pub mod path;
mod repeats;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use compared::NetworkComparison;
use merged::MergedNetwork;
use modules::{Item, ModuleKind, ModuleTree, PathPart};
use powerband_core::domain::examination::Examination;
use powerband_core::domain::network::{Network, NetworkEdge, NetworkNode, NodeKind};
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;

use super::examined;
use super::limits::{self, node::NodeLimit};

/// What the engine did with a node of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeFate {
    /// Not known: the engine's graph was not compared with the file.
    #[default]
    Unknown,
    /// It ran as it is, or as another operator.
    Ran,
    /// It ran in one with others.
    Fused,
    /// Nothing ran for it: folded into a constant, or a no-op.
    Removed,
    /// The engine added it.
    Added,
    /// It ran, and is no node of the file by its name.
    Unmatched,
    /// The version before alone has it.
    OnlyBefore,
}

impl NodeFate {
    pub fn title(self) -> &'static str {
        match self {
            Self::Unknown => "not known",
            Self::Ran => "ran",
            Self::Fused => "fused",
            Self::Removed => "constant-folded or no-op",
            Self::Added => "added by the engine",
            Self::Unmatched => "in no node of the file",
            Self::OnlyBefore => "only before",
        }
    }
}

/// A node of the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedNode {
    pub node: NetworkNode,
    /// Its place among the times; nothing where none is its own.
    pub time: Option<usize>,
    pub fate: NodeFate,
}

/// A network with times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimedNetwork {
    pub title: String,
    /// What the times are of; empty where there are none.
    pub times_of: String,
    /// The nodes of the file, then those that the engine added.
    pub nodes: Vec<TimedNode>,
    pub edges: Vec<NetworkEdge>,
    /// What ran, with its time in a run and what limits it.
    pub times: Vec<NodeLimit>,
    /// The wall time of a run, where it is known.
    pub wall_ns: Option<f64>,
    pub tree: ModuleTree,
    pub notes: Vec<String>,
    /// What is different from another version of it.
    pub comparison: Option<Arc<NetworkComparison>>,
}

/// Times of what an engine ran, and what it made of the file's nodes.
#[derive(Clone, Debug, Default)]
pub struct NodeTimes {
    /// What they are of.
    pub title: String,
    pub nodes: Vec<NodeLimit>,
    /// The wall time of a run, where it is known.
    pub wall_ns: Option<f64>,
    pub examination: Option<Examination>,
    pub notes: Vec<String>,
}

impl NodeTimes {
    /// Those of a profile of a session, against these roofs.
    pub fn of_profile(session: &Session, profile: usize, roofs: &[Roofs]) -> Self {
        let limits = limits::profile_limits(session, profile, roofs);
        let examination = limits
            .case
            .and_then(|case| session.examinations.get(&case.setup));
        Self {
            wall_ns: limits.wall.as_ref().ok().map(|wall| wall.wall_ns),
            title: limits.title,
            nodes: limits.nodes,
            examination: examination.cloned(),
            notes: limits.abstained,
        }
    }

    /// Those that were taken when the engine's graph of a setup was compared with the file; none where it was not.
    pub fn of_examination(session: &Session, setup: usize) -> Self {
        let Some(timed) = examined::timed_examination(session, setup) else {
            return Self::default();
        };
        let examination = timed.examination.into_owned();
        let total_ns = (examination.total_ns() as f64).max(f64::MIN_POSITIVE);
        let nodes = examination.nodes.iter().filter(|node| node.time_ns > 0);
        let nodes = nodes.map(|node| NodeLimit::without_profile(node, total_ns));
        Self {
            title: session.setup_label(setup),
            nodes: nodes.collect(),
            wall_ns: None,
            examination: Some(examination.clone()),
            notes: Vec::new(),
        }
    }
}

impl NodeTimes {
    /// The times that the nodes of a graph have themselves, where they have some: names of a trace are those of many
    /// nodes. The wall time stays out, since it is that of the whole trace.
    fn replaced_by_own(self, network: &Network) -> Self {
        let own = network.nodes.iter();
        let own = own.filter_map(|node| Some((node, node.time_ns?)));
        let total_ns: f64 = own.clone().map(|(_, time_ns)| time_ns).sum();
        let nodes: Vec<NodeLimit> = own
            .map(|(node, time_ns)| {
                NodeLimit::with_time_alone(&node.name, &node.op, time_ns, total_ns)
            })
            .collect();
        if nodes.is_empty() {
            return self;
        }
        Self {
            title: self.title,
            nodes,
            ..Self::default()
        }
    }
}

impl TimedNetwork {
    /// Joins a graph with times; none for the graph alone. Times that the nodes of the graph have themselves count
    /// before others.
    ///
    /// # Errors
    ///
    /// Where the times are those of another network: no node of it is in the file.
    pub fn new(network: &Network, times: NodeTimes) -> Result<Self, String> {
        Self::joined(network, times, &BTreeSet::new())
    }

    /// The same for a graph in which some nodes are those of another version.
    fn joined(network: &Network, times: NodeTimes, gone: &BTreeSet<usize>) -> Result<Self, String> {
        let times = times.replaced_by_own(network);
        let joined = JoinedNodes::new(network, &times, gone);
        if !times.nodes.is_empty() && joined.n_joined == 0 {
            return Err(format!(
                "the profile {} has no node of {}: it is of another network, or its engine gives nodes names of its own",
                times.title, network.name
            ));
        }
        let mut nodes: Vec<TimedNode> = network
            .nodes
            .iter()
            .zip(&joined.fates)
            .enumerate()
            .map(|(place, (node, fate))| TimedNode {
                node: node.clone(),
                time: joined.time_of.get(&place).copied(),
                fate: *fate,
            })
            .collect();
        let mut paths = modules::paths(network);
        modules::put_groups_into_paths(&mut paths, &joined.groups);
        MergedNetwork::put_gone_nodes_into_paths(&mut paths, &network.edges, gone);
        for time in &joined.added {
            nodes.push(extra_node(&times, *time));
            paths.push(vec![PathPart::Extra]);
        }
        let mut timed = Self {
            title: network.name.clone(),
            times_of: times.title,
            nodes,
            edges: network.edges.clone(),
            times: times.nodes,
            wall_ns: times.wall_ns,
            tree: ModuleTree::default(),
            notes: network.notes.iter().chain(&times.notes).cloned().collect(),
            comparison: None,
        };
        timed.tree = ModuleTree::new(&timed.nodes, &timed.edges, &paths, &joined.groups);
        repeats::fold(&mut timed.tree, &timed.nodes);
        timed.tree.renew_parents();
        timed.tree.add_up(&timed.nodes, &timed.times);
        Ok(timed)
    }

    /// Adds nodes that are in no file; returns their places.
    fn add_extras(&mut self, nodes: Vec<TimedNode>) -> Vec<usize> {
        let first = self.nodes.len();
        self.nodes.extend(nodes);
        let places: Vec<usize> = (first..self.nodes.len()).collect();
        self.tree.add_extras(&places);
        places
    }

    /// What ran for each node: alone, or as one with others.
    fn times_around(&self) -> Vec<Option<usize>> {
        let places = 0..self.nodes.len();
        places.map(|place| self.place_of_time(place)).collect()
    }

    /// What ran for a node: alone, or as one with others.
    pub fn time_around(&self, node: usize) -> Option<&NodeLimit> {
        self.times.get(self.place_of_time(node)?)
    }

    fn place_of_time(&self, node: usize) -> Option<usize> {
        let own = self.nodes[node].time;
        let mut around = self.tree.modules_around(Item::Node(node));
        own.or_else(|| {
            around.find_map(|module| match self.tree.modules[module].kind {
                ModuleKind::Fused(time) => time,
                _ => None,
            })
        })
    }

    /// The node or group that each time is of.
    fn items_of_times(&self) -> Vec<Option<Item>> {
        let mut items = vec![None; self.times.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            if let Some(time) = node.time {
                items[time] = Some(Item::Node(place));
            }
        }
        for (place, module) in self.tree.modules.iter().enumerate() {
            if let ModuleKind::Fused(Some(time)) = module.kind {
                items[time] = Some(Item::Module(place));
            }
        }
        items
    }

    /// The time of all that ran, in nanoseconds.
    pub fn total_ns(&self) -> f64 {
        self.times.iter().map(|time| time.time_ns).sum()
    }

    /// What ran for a node.
    pub fn time(&self, node: usize) -> Option<&NodeLimit> {
        self.times.get(self.nodes.get(node)?.time?)
    }
}

/// Which times are which node's.
struct JoinedNodes {
    fates: Vec<NodeFate>,
    /// Times by the node of the file that alone they are of.
    time_of: HashMap<usize, usize>,
    /// Nodes that ran as one.
    groups: Vec<FusedGroup>,
    /// Times that belong to no node of the file.
    added: Vec<usize>,
    /// Times that belong to some.
    n_joined: usize,
}

/// Nodes of the file that ran as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusedGroup {
    /// What the engine calls it.
    pub name: String,
    /// The operator that ran.
    pub op: String,
    /// Places of the nodes of the file.
    pub members: Vec<usize>,
    /// Its place among the times.
    pub time: Option<usize>,
}

impl JoinedNodes {
    fn new(network: &Network, times: &NodeTimes, gone: &BTreeSet<usize>) -> Self {
        let mut joined = Self {
            fates: vec![NodeFate::Unknown; network.nodes.len()],
            time_of: HashMap::new(),
            groups: Vec::new(),
            added: Vec::new(),
            n_joined: 0,
        };
        for place in gone {
            joined.fates[*place] = NodeFate::OnlyBefore;
        }
        let mut places: HashMap<&str, usize> = HashMap::new();
        let own = network.nodes.iter().enumerate();
        let own = own.filter(|(place, _)| !gone.contains(place));
        let mut own: Vec<(usize, &NetworkNode)> = own.collect();
        // Nodes of functions and bodies may have names of nodes of the main graph, by which engines know only these.
        own.sort_by_key(|(_, node)| node.body.is_some());
        for (place, node) in own {
            // The names that bodies are given are those of other nodes of the main graph.
            if node.kind == NodeKind::Operator && (node.is_named || node.body.is_none()) {
                places.entry(&node.name).or_insert(place);
            }
        }
        let mut first_of_name: HashMap<&str, usize> = HashMap::new();
        for (place, node) in times.nodes.iter().enumerate() {
            first_of_name.entry(&node.name).or_insert(place);
        }
        let mut waiting = first_of_name.clone();
        if let Some(examination) = &times.examination {
            joined.by_fusions(examination, &places, &mut waiting);
        }
        // What was not compared goes by its name.
        for (place, time) in times.nodes.iter().enumerate() {
            let is_open = waiting.get(time.name.as_str()) == Some(&place);
            let node = places.get(time.name.as_str());
            let node = node.filter(|node| joined.fates[**node] == NodeFate::Unknown);
            if let (true, Some(node)) = (is_open, node) {
                waiting.remove(time.name.as_str());
                joined.time_of.insert(*node, place);
                joined.fates[*node] = NodeFate::Ran;
            }
        }
        // A second time of one name has no node of its own.
        let is_added = |place: &usize| {
            let name = times.nodes[*place].name.as_str();
            waiting.contains_key(name) || first_of_name[name] != *place
        };
        joined.added = (0..times.nodes.len()).filter(is_added).collect();
        joined.n_joined = times.nodes.len() - joined.added.len();
        joined
    }

    /// Joins by the fused, kept and removed nodes of an examination.
    fn by_fusions(
        &mut self,
        examination: &Examination,
        places: &HashMap<&str, usize>,
        waiting: &mut HashMap<&str, usize>,
    ) {
        for prepared in &examination.fusions.became {
            let members = prepared.from.iter();
            let mut members: Vec<usize> = members
                .filter_map(|node| places.get(node.name.as_str()).copied())
                .filter(|place| self.fates[*place] == NodeFate::Unknown)
                .collect();
            members.sort_unstable();
            members.dedup();
            let time = if members.is_empty() {
                None
            } else {
                waiting.remove(prepared.node.as_str())
            };
            match members[..] {
                [] => {}
                [only] => {
                    self.fates[only] = NodeFate::Ran;
                    self.time_of.extend(time.map(|time| (only, time)));
                }
                _ => {
                    for member in &members {
                        self.fates[*member] = NodeFate::Fused;
                    }
                    self.groups.push(FusedGroup {
                        name: prepared.node.clone(),
                        op: prepared.op.clone(),
                        members,
                        time,
                    });
                }
            }
        }
        for gone in &examination.fusions.gone {
            if let Some(place) = places.get(gone.name.as_str()) {
                self.fates[*place] = NodeFate::Removed;
            }
        }
    }
}

/// A node that is in the profile and not in the file.
fn extra_node(times: &NodeTimes, place: usize) -> TimedNode {
    let time = &times.nodes[place];
    let mut added = times.examination.iter().flat_map(|one| &one.fusions.added);
    TimedNode {
        node: NetworkNode {
            kind: NodeKind::Operator,
            name: time.name.clone(),
            is_named: true,
            op: if time.op.is_empty() {
                time.short.clone()
            } else {
                time.op.clone()
            },
            attributes: Vec::new(),
            outputs: Vec::new(),
            weights: Vec::new(),
            body: None,
            time_ns: None,
        },
        time: Some(place),
        fate: if added.any(|node| node.name == time.name) {
            NodeFate::Added
        } else {
            NodeFate::Unmatched
        },
    }
}
