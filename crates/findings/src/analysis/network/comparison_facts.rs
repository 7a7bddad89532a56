//! What is said of a node or module that is compared with another version: the lines of its card.

use super::TimedNetwork;
use super::compared::{NetworkComparison, NodePresence, TimeBlock};
use super::facts::Fact;
use super::modules::Item;
use crate::analysis::verdict::Call;
use powerband_core::base::humanize;

/// Nodes before that are listed.
const LISTED: usize = 6;

impl NetworkComparison {
    /// The lines of an item's card that say what is different.
    pub(super) fn facts(&self, network: &TimedNetwork, item: Item) -> Vec<Fact> {
        let mut facts = match item {
            Item::Node(node) => self.node_facts(node),
            Item::Module(module) => self.module_facts(module),
        };
        if let Some(block) = self.block(item) {
            facts.extend(self.block_facts(network, item, block));
        } else if let Item::Module(module) = item
            && let Some(sum) = self.modules.get(module).filter(|sum| sum.has_times)
        {
            let before = humanize::duration_ns(sum.before_ns);
            facts.push(Fact::new("Time before", before));
            let change = change_text(sum.before_ns, sum.after_ns);
            facts.push(Fact::new("Difference", change));
        }
        if let Some(home) = self.counted_with(network, item) {
            let text = format!("counted with {}", network.item_name(home));
            facts.push(Fact::new("Difference", text));
        }
        facts
    }

    /// The item that has the difference of another one, where both ran as one on the other side.
    fn counted_with(&self, network: &TimedNetwork, item: Item) -> Option<Item> {
        let own = network.place_of_own_time(item)?;
        let mut homes = self.block_of.iter();
        let (home, _) = homes.find(|(_, block)| self.blocks[**block].after.contains(&own))?;
        (*home != item).then_some(*home)
    }

    /// The nodes before that a node stands for, and by what they were found; empty where there are none.
    pub fn names_before(&self, item: Item) -> (String, &'static str) {
        let compared = match item {
            Item::Node(node) => self.nodes.get(node),
            Item::Module(_) => None,
        };
        let Some((compared, (_, by))) = compared.and_then(|one| Some((one, one.before.first()?)))
        else {
            return (String::new(), "");
        };
        let names = compared.before.iter().take(LISTED).map(|(before, _)| {
            let node = &self.before.nodes[*before].node;
            let name = if node.is_named { &node.name } else { &node.op };
            name.as_str()
        });
        let mut names = names.collect::<Vec<&str>>().join(", ");
        let n_more = compared.before.len().saturating_sub(LISTED);
        if n_more > 0 {
            names = format!("{names}, {n_more} more");
        }
        (names, by.title())
    }

    fn node_facts(&self, node: usize) -> Vec<Fact> {
        let Some(compared) = self.nodes.get(node) else {
            return Vec::new();
        };
        let mut facts = Vec::new();
        match compared.presence {
            NodePresence::Added => facts.push(Fact::new("Before", "not there")),
            NodePresence::Removed => facts.push(Fact::new("After", "not there")),
            NodePresence::Both => {
                let (names, by) = self.names_before(Item::Node(node));
                if !by.is_empty() {
                    facts.push(Fact::new("Before", names));
                    facts.push(Fact::new("Matched by", by));
                }
            }
        }
        let changes = compared.changes.iter();
        facts.extend(changes.map(|(what, [before, after])| {
            let name = format!("Another {}", what.title());
            Fact::new(&name, format!("{before} → {after}"))
        }));
        facts
    }

    fn module_facts(&self, module: usize) -> Vec<Fact> {
        let changed = self.changed_nodes(module);
        let fact = (!changed.is_empty()).then(|| Fact::new("Against before", changed));
        fact.into_iter().collect()
    }

    /// How many nodes of a module are added, changed and removed; empty where none is.
    pub fn changed_nodes(&self, module: usize) -> String {
        let Some(sum) = self.modules.get(module) else {
            return String::new();
        };
        let counts = [
            (sum.added, "added"),
            (sum.changed, "changed"),
            (sum.removed, "removed"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let texts = counts.map(|(count, word)| format!("{} {word}", humanize::count(count)));
        texts.collect::<Vec<String>>().join(", ")
    }

    fn block_facts(&self, network: &TimedNetwork, item: Item, block: &TimeBlock) -> Vec<Fact> {
        let mut facts = vec![Fact::new(
            "Time before",
            humanize::duration_ns(block.before_ns),
        )];
        let own = network.own_time(item).map_or(0.0, |time| time.time_ns);
        if (own - block.after_ns).abs() > 0.5 && !block.after.is_empty() {
            let text = format!(
                "{}, of {} that ran for the same nodes",
                humanize::duration_ns(block.after_ns),
                block.after.len()
            );
            facts.push(Fact::new("Time after", text));
        }
        let change = change_text(block.before_ns, block.after_ns);
        facts.push(Fact::new("Difference", change));
        if block.before.is_empty() || block.after.is_empty() {
            return facts;
        }
        let verdict = match (&block.starts, &self.one_start) {
            (Some(starts), _) => {
                let interval = format!(
                    "{} to {} of the time before",
                    humanize::percent(starts.interval.0),
                    humanize::percent(starts.interval.1)
                );
                match (starts.call, starts.samples_needed) {
                    (Call::Inconclusive, Some(needed)) => format!(
                        "not settled: {interval}; about {} of each side would settle it",
                        humanize::pluralised(needed, "start")
                    ),
                    (Call::Inconclusive, None) => format!("not settled: {interval}"),
                    (call, _) => format!("{call}: {interval}"),
                }
            }
            (None, Some(reason)) => format!("not known whether it is noise: {reason}"),
            (None, None) => {
                "not known whether it is noise: not every start has it under its own name"
                    .to_owned()
            }
        };
        facts.push(Fact::new("Verdict", verdict));
        facts
    }
}

fn change_text(before_ns: f64, after_ns: f64) -> String {
    let change = humanize::time_change(after_ns - before_ns);
    if before_ns > 0.0 {
        let share = humanize::percent(after_ns / before_ns - 1.0);
        let sign = if after_ns > before_ns { "+" } else { "" };
        format!("{change}, {sign}{share}")
    } else {
        change
    }
}
