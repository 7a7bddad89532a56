//! The picture of a network: its nodes in modules, coloured by time, limit, provider and others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::breakdown::category_fill;
use super::colours::Fill;
use super::layout::network::NetworkLayout;
use super::layout::network::fit::{MOST_ITEMS, view_that_fits};
use super::network_changes;
use super::network_colours::{NetworkColouring, NetworkColours, NetworkLegendLine, NodeColour};
use super::roofline::bound_colour;
use crate::analysis::category::Rules;
use crate::analysis::limits::node::NodeLimit;
use crate::analysis::network::modules::{Item, ModuleKind};
use crate::analysis::network::{NodeFate, TimedNetwork};
use powerband_core::base::humanize;
use powerband_core::domain::network::NodeKind;

/// The colours of a network; by time where it has nothing of what is asked for.
pub fn coloured(
    network: &TimedNetwork,
    colouring: NetworkColouring,
    rules: &Rules,
) -> NetworkColours {
    let others = [colouring, NetworkColouring::Time];
    let colouring = others.into_iter().find(|one| one.is_for(network));
    let colouring = colouring.unwrap_or(NetworkColouring::Category);
    if let Some(comparison) = &network.comparison
        && matches!(
            colouring,
            NetworkColouring::Difference | NetworkColouring::Change
        )
    {
        return network_changes::colours(network, comparison, colouring);
    }
    match colouring {
        NetworkColouring::Time | NetworkColouring::Left | NetworkColouring::Weights => {
            by_share(network, colouring)
        }
        _ => by_kind(network, colouring, rules),
    }
}

/// The picture of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkFigure {
    pub title: String,
    pub network: Arc<TimedNetwork>,
    pub layout: Arc<NetworkLayout>,
    pub colours: Arc<NetworkColours>,
    pub selected: Option<Item>,
}

impl NetworkFigure {
    /// The picture of a network with the modules open that fit on a page.
    pub fn that_fits(
        network: Arc<TimedNetwork>,
        colouring: NetworkColouring,
        rules: &Rules,
        is_engine: bool,
    ) -> Self {
        let view = view_that_fits(&network, is_engine, MOST_ITEMS);
        let colours = coloured(&network, colouring, rules);
        Self {
            title: network.title.clone(),
            layout: Arc::new(NetworkLayout::new(&network, &view)),
            colours: Arc::new(colours),
            network,
            selected: None,
        }
    }

    /// What is drawn, in a sentence.
    pub fn sentence(&self) -> String {
        let network = &self.network;
        let whole = network.tree.modules.first();
        let n_nodes = whole.map_or(0, |whole| whole.n_nodes);
        let nodes = humanize::pluralised(n_nodes as u64, "node");
        let times = if network.times.is_empty() {
            "without times".to_owned()
        } else {
            format!(
                "{} of node time in {}",
                humanize::duration_ns(network.total_ns()),
                network.times_of
            )
        };
        let sentence = format!("{} has {nodes}: {times}", network.title);
        let Some(comparison) = &network.comparison else {
            return format!("{sentence}.");
        };
        let changed = match comparison.changed_nodes(0) {
            none if none.is_empty() => "no node is another one".to_owned(),
            changed => format!("nodes: {changed}"),
        };
        let before = &comparison.before;
        if network.times.is_empty() {
            return format!("{sentence}; against {} {changed}.", before.title);
        }
        let change = humanize::time_change(network.total_ns() - before.total_ns());
        format!(
            "{sentence}, {change} against {}; {changed}.",
            before.times_of
        )
    }

    pub fn is_empty(&self) -> bool {
        self.layout.whole.children.is_empty()
    }
}

/// The amount of a node by which it is coloured, and the amount of what is not known.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    known: f64,
    unknown: f64,
}

/// Colours by shares of a sum.
fn by_share(network: &TimedNetwork, colouring: NetworkColouring) -> NetworkColours {
    let shares = Shares::new(network, colouring);
    NetworkColours {
        colouring,
        nodes: (0..network.nodes.len())
            .map(|node| shares.node_colour(node))
            .collect(),
        modules: (0..network.tree.modules.len())
            .map(|module| shares.module_colour(module))
            .collect(),
        legend: shares.legend(),
    }
}

/// The amounts of nodes and modules, and their sum.
struct Shares<'a> {
    network: &'a TimedNetwork,
    colouring: NetworkColouring,
    nodes: Vec<Amount>,
    modules: Vec<Amount>,
    total: f64,
}

impl<'a> Shares<'a> {
    fn new(network: &'a TimedNetwork, colouring: NetworkColouring) -> Self {
        let mut shares = Self {
            network,
            colouring,
            nodes: Vec::new(),
            modules: vec![Amount::default(); network.tree.modules.len()],
            total: 0.0,
        };
        let nodes = (0..network.nodes.len()).map(|node| shares.of_node(node));
        shares.nodes = nodes.collect();
        for module in network.tree.inside_out() {
            shares.modules[module] = shares.of_module(module);
        }
        shares.total = match colouring {
            NetworkColouring::Left => network.total_ns(),
            _ => shares.sum_of_all().known,
        };
        shares.total = shares.total.max(f64::MIN_POSITIVE);
        shares
    }

    fn is_weights(&self) -> bool {
        self.colouring == NetworkColouring::Weights
    }

    fn sum_of_all(&self) -> Amount {
        self.modules.first().copied().unwrap_or_default()
    }

    fn of_time(&self, time: &NodeLimit) -> Amount {
        let known = |known: f64| Amount {
            known,
            unknown: 0.0,
        };
        match (self.colouring, time.share_of_floor) {
            (NetworkColouring::Time, _) => known(time.time_ns),
            (_, Some(share)) => known(time.time_ns * (1.0 - share).clamp(0.0, 1.0)),
            (_, None) => Amount {
                known: 0.0,
                unknown: time.time_ns,
            },
        }
    }

    fn of_node(&self, node: usize) -> Amount {
        if self.is_weights() {
            return Amount {
                known: self.network.nodes[node].node.weight_bytes() as f64,
                unknown: 0.0,
            };
        }
        let time = self.network.time(node);
        time.map_or_else(Amount::default, |time| self.of_time(time))
    }

    /// What is in a module, once that of the modules in it is known.
    fn of_module(&self, module: usize) -> Amount {
        let shown = &self.network.tree.modules[module];
        let mut sum = match shown.kind {
            ModuleKind::Fused(Some(time)) if !self.is_weights() => {
                self.of_time(&self.network.times[time])
            }
            _ => Amount::default(),
        };
        for child in &shown.children {
            let amount = match child {
                Item::Node(node) => self.nodes[*node],
                Item::Module(inner) => self.modules[*inner],
            };
            sum.known += amount.known;
            sum.unknown += amount.unknown;
        }
        sum
    }

    fn colour(&self, amount: Amount) -> NodeColour {
        if amount.unknown > amount.known {
            NodeColour::Unknown
        } else {
            NodeColour::Scale(scale_share(amount.known / self.total))
        }
    }

    fn node_colour(&self, node: usize) -> NodeColour {
        let shown = &self.network.nodes[node];
        let has_own = self.is_weights() || shown.time.is_some();
        match (shown.node.kind, shown.fate) {
            (NodeKind::Operator, _) if has_own => self.colour(self.nodes[node]),
            (NodeKind::Operator, NodeFate::Unknown | NodeFate::Ran) => NodeColour::Unknown,
            _ => NodeColour::Plain,
        }
    }

    fn module_colour(&self, module: usize) -> NodeColour {
        let has_unknown = self.network.tree.modules[module].has_unknown;
        if has_unknown && self.modules[module].known <= 0.0 && !self.is_weights() {
            NodeColour::Unknown
        } else {
            self.colour(self.modules[module])
        }
    }

    fn legend(&self) -> Vec<NetworkLegendLine> {
        let amount_text = |share: f64| match self.colouring {
            NetworkColouring::Weights => humanize::bytes((share * self.total) as u64),
            _ => humanize::duration_ns(share * self.total),
        };
        let line = |share: &f64| NetworkLegendLine {
            colour: NodeColour::Scale(scale_share(*share)),
            text: format!("{} · {}", humanize::percent(*share), amount_text(*share)),
        };
        let mut legend: Vec<NetworkLegendLine> = SHARES.iter().map(line).collect();
        let whole = self.sum_of_all();
        let first = self.network.tree.modules.first();
        let unknown = if whole.unknown > 0.0 {
            let share = whole.unknown / (whole.known + whole.unknown);
            Some(format!(
                "not known: {} of the time",
                humanize::percent(share)
            ))
        } else {
            let has_unknown = first.is_some_and(|whole| whole.has_unknown) && !self.is_weights();
            has_unknown.then(|| "no time of its own is known".to_owned())
        };
        legend.extend(unknown.map(|text| NetworkLegendLine {
            colour: NodeColour::Unknown,
            text,
        }));
        legend
    }
}

/// Shares that the legend names.
const SHARES: [f64; 5] = [0.001, 0.01, 0.05, 0.2, 1.0];

/// The position of a share on the colour scale: a power below one spreads small shares.
fn scale_share(share: f64) -> f64 {
    share.clamp(0.0, 1.0).powf(0.4)
}

/// Colours by what nodes are: the hue of a module is that of most of its time, or of most of its nodes.
fn by_kind(network: &TimedNetwork, colouring: NetworkColouring, rules: &Rules) -> NetworkColours {
    let mut kinds = Kinds::new(network, colouring, rules);
    let nodes: Vec<Option<(usize, f64)>> = (0..network.nodes.len())
        .map(|node| kinds.of_node(node))
        .collect();
    let mut modules: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); network.tree.modules.len()];
    for module in network.tree.inside_out() {
        let shown = &network.tree.modules[module];
        let mut sums = BTreeMap::new();
        if let ModuleKind::Fused(Some(time)) = shown.kind {
            let (kind, amount) = kinds.of_time(time);
            sums.insert(kind, amount);
        }
        for child in &shown.children {
            match child {
                Item::Node(node) => {
                    if let Some((kind, amount)) = nodes[*node] {
                        *sums.entry(kind).or_default() += amount;
                    }
                }
                Item::Module(inner) => {
                    for (kind, amount) in &modules[*inner] {
                        *sums.entry(*kind).or_default() += amount;
                    }
                }
            }
        }
        modules[module] = sums;
    }
    let whole = modules.first().cloned().unwrap_or_default();
    kinds.give_hues(&whole);
    let colour = |sums: &BTreeMap<usize, f64>| {
        let most = sums.iter().max_by(|one, two| one.1.total_cmp(two.1));
        most.map_or(NodeColour::Plain, |(kind, _)| kinds.known[*kind].colour)
    };
    let total: f64 = whole.values().sum();
    let mut sums: Vec<(usize, f64)> = whole.iter().map(|(kind, sum)| (*kind, *sum)).collect();
    sums.sort_by(|one, two| two.1.total_cmp(&one.1));
    let legend = sums.into_iter().map(|(kind, sum)| {
        let share = humanize::percent(sum / total.max(f64::MIN_POSITIVE));
        let amount = if kinds.has_times {
            humanize::duration_ns(sum)
        } else {
            humanize::pluralised(sum as u64, "node")
        };
        NetworkLegendLine {
            colour: kinds.known[kind].colour,
            text: format!("{} · {amount} · {share}", kinds.known[kind].name),
        }
    });
    NetworkColours {
        colouring,
        legend: legend.collect(),
        nodes: nodes
            .iter()
            .enumerate()
            .map(|(place, node)| match node {
                Some((kind, _)) => kinds.known[*kind].colour,
                None if kinds.is_unknown(place) => NodeColour::Unknown,
                None => NodeColour::Plain,
            })
            .collect(),
        modules: modules.iter().map(colour).collect(),
    }
}

fn path_times(network: &TimedNetwork) -> BTreeSet<usize> {
    let items = network.critical_path().items.into_iter();
    items.flat_map(|item| network.times_of_item(item)).collect()
}

struct Kind {
    name: String,
    colour: NodeColour,
}

/// What nodes are, as they are met.
struct Kinds<'a> {
    network: &'a TimedNetwork,
    colouring: NetworkColouring,
    rules: &'a Rules,
    has_times: bool,
    /// Places of the times on the critical path, where it is coloured by it.
    on_path: BTreeSet<usize>,
    known: Vec<Kind>,
}

impl<'a> Kinds<'a> {
    fn new(network: &'a TimedNetwork, colouring: NetworkColouring, rules: &'a Rules) -> Self {
        Self {
            network,
            colouring,
            rules,
            has_times: !network.times.is_empty(),
            on_path: match colouring {
                NetworkColouring::Path => path_times(network),
                _ => BTreeSet::new(),
            },
            known: Vec::new(),
        }
    }

    fn place(&mut self, name: &str, colour: NodeColour) -> usize {
        let known = self.known.iter().position(|kind| kind.name == name);
        known.unwrap_or_else(|| {
            self.known.push(Kind {
                name: name.to_owned(),
                colour,
            });
            self.known.len() - 1
        })
    }

    fn of_node(&mut self, node: usize) -> Option<(usize, f64)> {
        if let Some(time) = self.network.nodes[node].time {
            return Some(self.of_time(time));
        }
        let shown = &self.network.nodes[node];
        if self.has_times || shown.node.kind != NodeKind::Operator {
            return None;
        }
        let category = self.rules.category_of_names(&shown.node.op, "");
        let colour = NodeColour::Fill(category_fill(category));
        Some((self.place(category.title(), colour), 1.0))
    }

    fn of_time(&mut self, place: usize) -> (usize, f64) {
        let time = &self.network.times[place];
        let unknown = ("not known", NodeColour::Unknown);
        let numbers = time.work.map(|work| work.numbers.to_string());
        let (name, colour) = match self.colouring {
            NetworkColouring::Limit => match time.bound {
                Ok(bound) => {
                    let fill = bound_colour(bound).map_or(Fill::GREY, Fill::from_hue);
                    (bound.title(), NodeColour::Fill(fill))
                }
                Err(_) => unknown,
            },
            NetworkColouring::Path if self.on_path.contains(&place) => {
                ("on the critical path", NodeColour::Fill(Fill::from_hue(0)))
            }
            NetworkColouring::Path => ("not on it", NodeColour::Fill(Fill::GREY)),
            NetworkColouring::Place if time.place.is_empty() => unknown,
            NetworkColouring::Place => (time.place.as_str(), NodeColour::Plain),
            NetworkColouring::Precision => match &numbers {
                Some(numbers) => (numbers.as_str(), NodeColour::Plain),
                None => unknown,
            },
            _ => {
                let category = self.rules.category_of_names(&time.op, &time.name);
                (category.title(), NodeColour::Fill(category_fill(category)))
            }
        };
        (self.place(name, colour), time.time_ns)
    }

    /// Kinds without a hue of their own have the hues in turns, the one with most time first.
    fn give_hues(&mut self, sums: &BTreeMap<usize, f64>) {
        let mut order: Vec<usize> = (0..self.known.len()).collect();
        let sum = |kind: &usize| sums.get(kind).copied().unwrap_or_default();
        order.sort_by(|one, two| sum(two).total_cmp(&sum(one)));
        let plain = order
            .into_iter()
            .filter(|kind| self.known[*kind].colour == NodeColour::Plain);
        for (hue, kind) in plain.collect::<Vec<usize>>().into_iter().enumerate() {
            self.known[kind].colour = NodeColour::Fill(Fill::from_hue(hue));
        }
    }

    fn is_unknown(&self, node: usize) -> bool {
        let shown = &self.network.nodes[node];
        self.has_times
            && shown.node.kind == NodeKind::Operator
            && matches!(shown.fate, NodeFate::Unknown | NodeFate::Ran)
    }
}
