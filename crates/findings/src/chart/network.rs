//! The picture of a network: its nodes in modules, coloured by time, limit, provider and others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::breakdown::category_fill;
use super::colours::Fill;
use super::layout::network::{NetworkLayout, NetworkView};
use super::roofline::bound_colour;
use crate::analysis::category::Rules;
use crate::analysis::limits::node::NodeLimit;
use crate::analysis::network::modules::{Item, ModuleKind};
use crate::analysis::network::{NodeFate, TimedNetwork};
use powerband_core::base::humanize;
use powerband_core::domain::network::NodeKind;

/// What the nodes of a network are coloured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NetworkColouring {
    /// The share of the time.
    #[default]
    Time,
    /// What limits each.
    Limit,
    /// The time above the floor, as a share of all time.
    Left,
    /// The provider or device that ran it.
    Place,
    /// The kind of operator.
    Category,
    /// The numbers that it computes with.
    Precision,
    /// Bytes of the constants that it reads, as a share of all.
    Weights,
}

impl NetworkColouring {
    pub const ALL: [Self; 7] = [
        Self::Time,
        Self::Limit,
        Self::Left,
        Self::Place,
        Self::Category,
        Self::Precision,
        Self::Weights,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Time => "Time",
            Self::Limit => "Limit",
            Self::Left => "Time above the floor",
            Self::Place => "Provider",
            Self::Category => "Category",
            Self::Precision => "Precision",
            Self::Weights => "Weights",
        }
    }

    /// Whether it says nothing where there are no times.
    pub fn needs_times(self) -> bool {
        !matches!(self, Self::Category | Self::Weights)
    }
}

/// The colour of a node or module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NodeColour {
    /// Nothing is to be shown of it.
    Plain,
    /// What is to be shown is not known.
    Unknown,
    /// A share of the colour scale, from 0 to 1.
    Scale(f64),
    /// What it is, by hue.
    Fill(Fill),
}

/// A line of the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkLegendLine {
    pub colour: NodeColour,
    pub text: String,
}

/// The colours of a network's nodes and modules, with their legend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkColours {
    pub colouring: NetworkColouring,
    nodes: Vec<NodeColour>,
    modules: Vec<NodeColour>,
    pub legend: Vec<NetworkLegendLine>,
}

impl NetworkColours {
    pub fn new(network: &TimedNetwork, colouring: NetworkColouring, rules: &Rules) -> Self {
        let colouring = match colouring {
            wanted if wanted.needs_times() && network.times.is_empty() => {
                NetworkColouring::Category
            }
            wanted => wanted,
        };
        match colouring {
            NetworkColouring::Time | NetworkColouring::Left | NetworkColouring::Weights => {
                by_share(network, colouring)
            }
            _ => by_kind(network, colouring, rules),
        }
    }

    pub fn colour(&self, item: Item) -> NodeColour {
        let found = match item {
            Item::Node(node) => self.nodes.get(node),
            Item::Module(module) => self.modules.get(module),
        };
        found.copied().unwrap_or(NodeColour::Plain)
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
        let colours = NetworkColours::new(&network, colouring, rules);
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
        let operators = network.nodes.iter();
        let operators = operators.filter(|shown| shown.node.kind == NodeKind::Operator);
        let nodes = humanize::pluralised(operators.count() as u64, "node");
        let times = match network.times.is_empty() {
            true => "without times".to_owned(),
            false => format!(
                "{} of node time in {}",
                humanize::duration_ns(network.total_ns()),
                network.times_of
            ),
        };
        format!("{} has {nodes}: {times}.", network.title)
    }

    pub fn is_empty(&self) -> bool {
        self.layout.whole.children.is_empty()
    }
}

/// Items of a picture that is still read as a whole.
pub const MOST_ITEMS: usize = 40;

/// So many alike blocks in a row are one box at first.
const MANY_ALIKE: usize = 6;

/// The modules to open so that about so many items are drawn: those with most time first, and without times those
/// with most nodes.
pub fn view_that_fits(network: &TimedNetwork, is_engine: bool, most: usize) -> NetworkView {
    let mut view = NetworkView {
        open: BTreeSet::new(),
        is_engine,
    };
    let modules = &network.tree.modules;
    let Some(whole) = modules.first() else {
        return view;
    };
    let size = |module: usize| match modules[module].kind {
        ModuleKind::Fused(_) if is_engine => 1,
        ModuleKind::Fused(_) => modules[module].children.len(),
        _ => 1,
    };
    let drawn = |children: &[Item]| -> usize {
        let each = children.iter().map(|child| match child {
            Item::Node(_) => 1,
            Item::Module(inner) => size(*inner),
        });
        each.sum()
    };
    let mut n_drawn = drawn(&whole.children);
    let has_times = !network.times.is_empty();
    let mut closed: Vec<usize> = inner_modules(&whole.children);
    loop {
        let weight = |module: &usize| match has_times {
            true => modules[*module].time_ns,
            false => modules[*module].n_nodes as f64,
        };
        let fits = |module: &&usize| n_drawn + drawn(&modules[**module].children) <= most;
        let is_scope = |module: &&usize| {
            match modules[**module].kind {
                ModuleKind::Fused(_) | ModuleKind::Extra => false,
                // Many alike blocks say no more than one of them.
                ModuleKind::Repeat(blocks, _) => blocks < MANY_ALIKE,
                _ => true,
            }
        };
        let candidates = closed.iter().filter(is_scope).filter(fits);
        let best = candidates.max_by(|one, two| {
            weight(one)
                .total_cmp(&weight(two))
                .then_with(|| two.cmp(one))
        });
        let Some(best) = best.copied() else {
            return view;
        };
        view.open.insert(best);
        n_drawn += drawn(&modules[best].children);
        closed.retain(|module| *module != best);
        closed.extend(inner_modules(&modules[best].children));
    }
}

fn inner_modules(children: &[Item]) -> Vec<usize> {
    let inner = children.iter().filter_map(|child| match child {
        Item::Module(inner) => Some(*inner),
        Item::Node(_) => None,
    });
    inner.collect()
}

/// The amount of a node by which it is coloured, and the amount of what is not known.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    known: f64,
    unknown: f64,
}

/// Colours by shares of a sum.
fn by_share(network: &TimedNetwork, colouring: NetworkColouring) -> NetworkColours {
    let of_time = |time: &NodeLimit| -> Amount {
        match (colouring, time.share_of_floor) {
            (NetworkColouring::Time, _) => Amount {
                known: time.time_ns,
                unknown: 0.0,
            },
            (_, Some(share)) => Amount {
                known: time.time_ns * (1.0 - share).clamp(0.0, 1.0),
                unknown: 0.0,
            },
            (_, None) => Amount {
                known: 0.0,
                unknown: time.time_ns,
            },
        }
    };
    let is_weights = colouring == NetworkColouring::Weights;
    let nodes: Vec<Amount> = (0..network.nodes.len())
        .map(|node| match is_weights {
            true => Amount {
                known: network.nodes[node].node.weight_bytes() as f64,
                unknown: 0.0,
            },
            false => network.time(node).map_or_else(Amount::default, of_time),
        })
        .collect();
    let mut modules = vec![Amount::default(); network.tree.modules.len()];
    for module in network.tree.inside_out() {
        let shown = &network.tree.modules[module];
        let mut sum = Amount::default();
        if let (ModuleKind::Fused(Some(time)), false) = (shown.kind, is_weights) {
            sum = of_time(&network.times[time]);
        }
        for child in &shown.children {
            let amount = match child {
                Item::Node(node) => nodes[*node],
                Item::Module(inner) => modules[*inner],
            };
            sum.known += amount.known;
            sum.unknown += amount.unknown;
        }
        modules[module] = sum;
    }
    let whole = modules.first().copied().unwrap_or_default();
    let total = match colouring {
        NetworkColouring::Left => network.total_ns(),
        _ => whole.known,
    };
    let total = total.max(f64::MIN_POSITIVE);
    let colour = |amount: Amount| {
        if amount.unknown > amount.known {
            NodeColour::Unknown
        } else {
            NodeColour::Scale(scale_share(amount.known / total))
        }
    };
    let node_colour = |node: usize| {
        let shown = &network.nodes[node];
        let has_own = is_weights || shown.time.is_some();
        match (shown.node.kind, shown.fate) {
            (NodeKind::Operator, _) if has_own => colour(nodes[node]),
            (NodeKind::Operator, NodeFate::Unknown | NodeFate::Ran) => NodeColour::Unknown,
            _ => NodeColour::Plain,
        }
    };
    let module_colour = |module: usize| {
        let shown = &network.tree.modules[module];
        if shown.has_unknown && modules[module].known <= 0.0 && !is_weights {
            NodeColour::Unknown
        } else {
            colour(modules[module])
        }
    };
    let amount_text = |share: f64| match colouring {
        NetworkColouring::Weights => humanize::bytes((share * total) as u64),
        _ => humanize::duration_ns(share * total),
    };
    let mut legend: Vec<NetworkLegendLine> = SHARES
        .iter()
        .map(|share| NetworkLegendLine {
            colour: NodeColour::Scale(scale_share(*share)),
            text: format!("{} · {}", humanize::percent(*share), amount_text(*share)),
        })
        .collect();
    if whole.unknown > 0.0 {
        let share = whole.unknown / (whole.known + whole.unknown);
        legend.push(NetworkLegendLine {
            colour: NodeColour::Unknown,
            text: format!("not known: {} of the time", humanize::percent(share)),
        });
    } else if network
        .tree
        .modules
        .first()
        .is_some_and(|whole| whole.has_unknown)
        && !is_weights
    {
        legend.push(NetworkLegendLine {
            colour: NodeColour::Unknown,
            text: "no time of its own is known".to_owned(),
        });
    }
    NetworkColours {
        colouring,
        nodes: (0..nodes.len()).map(node_colour).collect(),
        modules: (0..modules.len()).map(module_colour).collect(),
        legend,
    }
}

/// Shares that the legend names.
const SHARES: [f64; 5] = [0.001, 0.01, 0.05, 0.2, 1.0];

/// Where a share of the sum is on the scale of colours: small shares are told apart, too.
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
            let (kind, amount) = kinds.of_time(&network.times[time]);
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
        let amount = match kinds.has_times {
            true => humanize::duration_ns(sum),
            false => humanize::pluralised(sum as u64, "node"),
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
    known: Vec<Kind>,
}

impl<'a> Kinds<'a> {
    fn new(network: &'a TimedNetwork, colouring: NetworkColouring, rules: &'a Rules) -> Self {
        Self {
            network,
            colouring,
            rules,
            has_times: !network.times.is_empty(),
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
        if let Some(time) = self.network.time(node) {
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

    fn of_time(&mut self, time: &NodeLimit) -> (usize, f64) {
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
