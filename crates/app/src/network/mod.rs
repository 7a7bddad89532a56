//! The network of a case as a picture: its nodes in modules, with their times and limits.

pub(crate) mod action;
pub(crate) mod commands;
pub(crate) mod palette;
mod update;
mod weights;
mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use action::Direction;

use crate::derived::Derived;
use crate::kernels::ProfileRef;
use crate::sessions::Snapshot;
use crate::why::WhySubject;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::network::NetworkWeight;
use powerband_findings::analysis::network::TimedNetwork;
use powerband_findings::analysis::network::facts::Neighbours;
use powerband_findings::analysis::network::modules::Item;
use powerband_findings::chart::layout::network::NetworkView;
use powerband_findings::chart::layout::network::fit::{MOST_ITEMS, view_that_fits};
use powerband_findings::chart::network::NetworkFigure;
use powerband_findings::chart::network_colours::NetworkColouring;
use powerband_findings::chart::weight_values::WeightFigure;

/// What a network is of: a subject with its session, and the profile that it is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSubject {
    pub(crate) subject: WhySubject,
    session: Snapshot,
    before: Option<(ProfileRef, Snapshot)>,
}

/// The network of a subject, or why there is none.
pub type NetworkResult = Result<Arc<TimedNetwork>, String>;

/// What a picture depends on: the network, which changes as a whole, what of it is open, and the colours.
#[derive(Clone, Debug)]
pub struct PictureKey {
    network: Arc<TimedNetwork>,
    view: NetworkView,
    colouring: NetworkColouring,
    category_rules: u32,
}

impl PartialEq for PictureKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.network, &other.network)
            && self.view == other.view
            && self.colouring == other.colouring
            && self.category_rules == other.category_rules
    }
}

/// A constant of the file of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightKey {
    model: ModelRef,
    pub weight: NetworkWeight,
}

/// The screen.
#[derive(Debug, Default)]
pub struct NetworkState {
    /// The network of what *Why* is about, with the session as it was then.
    pub found: Derived<NetworkSubject, NetworkResult>,
    /// The picture of it.
    pub picture: Derived<PictureKey, NetworkFigure>,
    /// The values of the largest constant of the selected node.
    pub weight: Derived<WeightKey, Result<WeightFigure, String>>,
    /// Which modules are open, and whether it is as the engine runs it.
    pub view: NetworkView,
    /// Whether the tables of what the engine made of it are shown in place of the picture.
    pub shows_tables: bool,
    pub colouring: NetworkColouring,
    pub selected: Option<Item>,
    /// What nodes are searched by.
    pub search: String,
    /// The nodes that are found, in the order of the file.
    pub matches: Vec<usize>,
    /// The nodes that the selected item reads, and those that read it.
    pub neighbours: Option<(Item, Neighbours)>,
    /// The network that was read last, and what it is of.
    shown: Option<(WhySubject, Arc<TimedNetwork>)>,
    /// What is excluded from the estimate of a run.
    pub free: BTreeSet<Item>,
    /// Whether two versions were compared in the network that was read last.
    is_compared: bool,
    /// How often something was selected that has to come into view.
    pub n_shown: u32,
    /// How often what was selected had to fill the room.
    pub n_zoomed: u32,
}

impl NetworkState {
    /// The network that is shown.
    pub fn network(&self) -> Option<&Arc<TimedNetwork>> {
        self.found.result.as_ref()?.as_ref().ok()
    }

    /// Finds the nodes of the search, by name, operator or shape, in the order of the file.
    fn search_nodes(&mut self) {
        let sought = self.search.trim().to_lowercase();
        let network = self.network().filter(|_| !sought.is_empty());
        let has = |text: &str| text.to_lowercase().contains(&sought);
        let nodes = network
            .iter()
            .flat_map(|network| network.nodes.iter().enumerate());
        let found = nodes.filter(|(_, shown)| {
            let node = &shown.node;
            has(&node.name) || has(&node.op) || node.outputs.iter().any(|shape| has(shape))
        });
        self.matches = found.map(|(place, _)| place).collect();
    }

    /// Finds the neighbours of what is selected, once for each selection.
    fn find_neighbours(&mut self) {
        if self.neighbours.as_ref().map(|(item, _)| *item) == self.selected {
            return;
        }
        let selected = self.selected.zip(self.network());
        self.neighbours = selected.map(|(item, network)| (item, network.neighbours(item)));
    }

    /// Items with a time of their own, most time first.
    pub fn slowest(&self) -> Vec<Item> {
        let Some(network) = self.network() else {
            return Vec::new();
        };
        let mut items: Vec<(f64, Item)> = Vec::new();
        let modules = (0..network.tree.modules.len()).map(Item::Module);
        let nodes = (0..network.nodes.len()).map(Item::Node);
        for item in nodes.chain(modules) {
            if let Some(time) = network.own_time(item) {
                items.push((time.time_ns, item));
            }
        }
        items.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(&two.1)));
        items.into_iter().map(|(_, item)| item).collect()
    }

    /// The item that ran under a name.
    fn item_of_time(&self, name: &str) -> Option<Item> {
        let network = self.network()?;
        let items = self.slowest();
        items.into_iter().find(|item| {
            network
                .own_time(*item)
                .is_some_and(|time| time.name == name)
        })
    }

    /// Where two versions are compared, what changed is coloured at first, and only there.
    fn colour_changes(&mut self, read: Option<&TimedNetwork>) {
        use NetworkColouring::{Change, Difference, Time};
        let is_compared = read.is_some_and(|read| read.comparison.is_some());
        let is_of_changes = matches!(self.colouring, Difference | Change);
        let was_compared = self.is_compared;
        self.is_compared = is_compared;
        let begins_or_ends = is_compared != was_compared;
        if begins_or_ends && is_compared != is_of_changes {
            let has_times = read.is_some_and(|read| Difference.is_for(read));
            self.colouring = match (is_compared, has_times) {
                (false, _) => Time,
                (true, true) => Difference,
                (true, false) => Change,
            };
        }
    }

    /// The view that a network begins with.
    fn fold(&mut self) {
        if let Some(network) = self.network().cloned() {
            self.view = view_that_fits(&network, self.view.is_engine, MOST_ITEMS);
        }
    }

    /// Opens every module around an item, so that it is drawn.
    fn uncover(&mut self, item: Item) {
        if let Some(network) = self.network().cloned() {
            self.view.open.extend(network.tree.modules_around(item));
        }
    }
}
