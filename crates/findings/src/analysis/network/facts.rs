//! What is said of a node or module of a network: the lines of its card, and what it would bring to make it faster.

use std::collections::BTreeSet;

use super::modules::{Item, Module, ModuleKind};
use super::{NodeFate, TimedNetwork};
use crate::analysis::limits::node::NodeLimit;
use powerband_core::base::humanize;

/// Constants of a node that are listed.
const WEIGHTS: usize = 6;
/// Operators of a module that are listed.
const OPERATORS: usize = 8;

/// Nodes overlap where the wall time is less than this share of their sum.
const ADDS_UP: f64 = 0.99;

/// The nodes around an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// Those that it reads.
    pub reads: Vec<usize>,
    /// Those that read it.
    pub readers: Vec<usize>,
}

/// A line of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub name: String,
    pub value: String,
}

impl Fact {
    pub(super) fn new(name: &str, value: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
        }
    }
}

impl TimedNetwork {
    /// What a node or module is called.
    pub fn item_name(&self, item: Item) -> String {
        match item {
            Item::Node(node) => self.nodes[node].node.name.clone(),
            Item::Module(module) => self.tree.modules[module].title(),
        }
    }

    /// What ran for an item: of a module, everything in it.
    pub fn times_of_item(&self, item: Item) -> Vec<usize> {
        let mut times = Vec::new();
        let mut open = vec![item];
        while let Some(item) = open.pop() {
            match item {
                Item::Node(node) => times.extend(self.nodes[node].time),
                Item::Module(module) => {
                    let module = &self.tree.modules[module];
                    if let ModuleKind::Fused(time) = module.kind {
                        times.extend(time);
                    }
                    open.extend(&module.children);
                }
            }
        }
        times.sort_unstable();
        times
    }

    /// What ran for an item alone, where it is one node of the engine.
    pub fn own_time(&self, item: Item) -> Option<&NodeLimit> {
        self.times.get(self.place_of_own_time(item)?)
    }

    /// The place of that among the times.
    pub fn place_of_own_time(&self, item: Item) -> Option<usize> {
        match item {
            Item::Node(node) => self.nodes.get(node)?.time,
            Item::Module(module) => match self.tree.modules.get(module)?.kind {
                ModuleKind::Fused(time) => time,
                _ => None,
            },
        }
    }

    /// The lines of an item's card.
    pub fn facts(&self, item: Item) -> Vec<Fact> {
        let mut facts = match item {
            Item::Node(node) => self.node_facts(node),
            Item::Module(module) => module_facts(&self.tree.modules[module]),
        };
        if let Some(time) = self.own_time(item) {
            facts.extend(time_facts(time));
        } else if let Item::Module(module) = item
            && !self.times.is_empty()
        {
            let time_ns = self.tree.modules[module].time_ns;
            facts.push(Fact::new("Time", self.time_text(time_ns)));
        }
        if let Some(comparison) = &self.comparison {
            facts.extend(comparison.facts(self, item));
        }
        facts
    }

    fn time_text(&self, time_ns: f64) -> String {
        let share = time_ns / self.total_ns().max(f64::MIN_POSITIVE);
        format!(
            "{}, {} of the time",
            humanize::duration_ns(time_ns),
            humanize::percent(share)
        )
    }

    fn node_facts(&self, place: usize) -> Vec<Fact> {
        let shown = &self.nodes[place];
        let node = &shown.node;
        let mut facts = Vec::new();
        if !node.op.is_empty() {
            facts.push(Fact::new("Operator", node.op.clone()));
        }
        if shown.fate != NodeFate::Unknown {
            facts.push(Fact::new("In the engine", shown.fate.title()));
        }
        let shapes = node.outputs.join(", ");
        if !shapes.is_empty() {
            facts.push(Fact::new("Output", shapes));
        }
        let settings = node.attributes.iter();
        facts.extend(settings.map(|(name, value)| Fact::new(name, value.clone())));
        for weight in node.weights.iter().take(WEIGHTS) {
            let bytes = humanize::bytes(weight.bytes);
            facts.push(Fact::new(
                &weight.name,
                format!("{} · {bytes}", weight.shape),
            ));
        }
        let n_more = node.weights.len().saturating_sub(WEIGHTS);
        if n_more > 0 {
            let more = humanize::pluralised(n_more as u64, "more constant");
            facts.push(Fact::new("Weights", more));
        }
        facts
    }

    /// The nodes outside of an item that it reads, and those that read it.
    pub fn neighbours(&self, item: Item) -> Neighbours {
        let is_in = |node: usize| match item {
            Item::Node(only) => node == only,
            Item::Module(module) => self
                .tree
                .modules_around(Item::Node(node))
                .any(|around| around == module),
        };
        let (mut reads, mut readers) = (BTreeSet::new(), BTreeSet::new());
        for edge in &self.edges {
            match (is_in(edge.from), is_in(edge.to)) {
                (false, true) => reads.insert(edge.from),
                (true, false) => readers.insert(edge.to),
                _ => false,
            };
        }
        Neighbours {
            reads: reads.into_iter().collect(),
            readers: readers.into_iter().collect(),
        }
    }

    /// The time of a run if these items took no time, or the time of their floors; nothing where they have no time, or
    /// where nodes overlap, so that their times do not add up to that of a run.
    pub fn without(&self, items: impl IntoIterator<Item = Item>) -> Option<WhatIf> {
        let mut times: Vec<usize> = items
            .into_iter()
            .flat_map(|item| self.times_of_item(item))
            .collect();
        times.sort_unstable();
        times.dedup();
        let total_ns = match self.wall_ns {
            Some(wall_ns) if wall_ns < self.total_ns() * ADDS_UP => return None,
            Some(wall_ns) => wall_ns,
            None => self.total_ns(),
        };
        let gained_ns: f64 = times.iter().map(|time| self.times[*time].time_ns).sum();
        let to_floor = times.iter().map(|time| {
            let time = &self.times[*time];
            let share = time.share_of_floor?;
            Some(time.time_ns * (1.0 - share).max(0.0))
        });
        (gained_ns > 0.0).then(|| WhatIf {
            total_ns,
            gained_ns,
            gained_to_floor_ns: to_floor.sum(),
        })
    }
}

/// What it would bring to make a part of a network faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WhatIf {
    /// The wall time of a run where it is known, else the times of all nodes.
    pub total_ns: f64,
    /// Those of the part.
    pub gained_ns: f64,
    /// What of them is above the floors; nothing where one is not known.
    pub gained_to_floor_ns: Option<f64>,
}

impl WhatIf {
    /// The estimates, with how they are computed.
    pub fn facts(self) -> Vec<Fact> {
        let estimate = |gained_ns: f64| {
            let left_ns = (self.total_ns - gained_ns).max(0.0);
            format!(
                "{} → {}, {} less",
                humanize::duration_ns(self.total_ns),
                humanize::duration_ns(left_ns),
                humanize::percent(gained_ns / self.total_ns.max(f64::MIN_POSITIVE)),
            )
        };
        let mut facts = vec![Fact::new("Without it", estimate(self.gained_ns))];
        if let Some(gained_ns) = self.gained_to_floor_ns {
            facts.push(Fact::new("At its floor", estimate(gained_ns)));
        }
        facts
    }

    /// How the estimates are computed.
    pub const FORMULA: &'static str = "An estimate: the wall time of a run (where it is not known, the sum of the times of all nodes), less the times of this part, or less what they take above their floors. What the change does to its neighbours is not in it. There is none where nodes overlap.";
}

fn module_facts(module: &Module) -> Vec<Fact> {
    let nodes = humanize::pluralised(module.n_nodes as u64, "node");
    let operators = module.operators.iter().take(OPERATORS);
    let operators = operators.map(|(op, count)| format!("{count} × {op}"));
    let operators = operators.collect::<Vec<String>>().join(", ");
    vec![Fact::new("Nodes", nodes), Fact::new("Operators", operators)]
}

/// The shortest and the longest call, which together with others may be the time of a run.
fn call_range_text(time: &NodeLimit) -> String {
    let range = time.call_range_ns.filter(|(least, most)| least < most);
    range.map_or_else(String::new, |(least, most)| {
        let calls = match time.calls {
            0 | 1 => "calls".to_owned(),
            calls => format!("{} calls of", humanize::count(calls)),
        };
        let duration = |ns: u64| humanize::duration_ns(ns as f64);
        format!("; {calls} {} to {}", duration(least), duration(most))
    })
}

fn time_facts(time: &NodeLimit) -> Vec<Fact> {
    let mut facts = vec![Fact::new(
        "Time",
        format!(
            "{}, {} of the time{}",
            humanize::duration_ns(time.time_ns),
            humanize::percent(time.share),
            call_range_text(time)
        ),
    )];
    facts.push(match &time.bound {
        Ok(bound) => Fact::new("Limited by", bound.title()),
        Err(reason) => Fact::new("Limited by", format!("not known: {reason}")),
    });
    if let Some(floor) = time.floor {
        let share = time.share_of_floor.map_or_else(String::new, |share| {
            format!(", {} of the time", humanize::percent(share))
        });
        let floor_ns = humanize::duration_ns(floor.ns());
        facts.push(Fact::new("Floor", format!("{floor_ns}{share}")));
        facts.push(Fact::new("Line", time.line.clone()));
    }
    if let Some((least, most)) = time.intensity {
        let text = format!(
            "{} to {} FLOP/B",
            humanize::value(least),
            humanize::value(most)
        );
        facts.push(Fact::new("Intensity", text));
    }
    if !time.place.is_empty() {
        facts.push(Fact::new("Ran on", time.place.clone()));
    }
    facts
}
