//! What the nodes and modules of a network can be coloured by, and their colours.

use super::colours::Fill;
use crate::analysis::network::TimedNetwork;
use crate::analysis::network::modules::Item;

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
    /// Whether it is on the critical path by time.
    Path,
    /// How much more or less time than before, with the verdict.
    Difference,
    /// What is not as before.
    Change,
}

impl NetworkColouring {
    pub const ALL: [Self; 10] = [
        Self::Time,
        Self::Limit,
        Self::Left,
        Self::Place,
        Self::Category,
        Self::Precision,
        Self::Weights,
        Self::Path,
        Self::Difference,
        Self::Change,
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
            Self::Path => "Critical path",
            Self::Difference => "Difference",
            Self::Change => "What changed",
        }
    }

    /// Whether it says something of a network.
    pub fn is_for(self, network: &TimedNetwork) -> bool {
        match self {
            Self::Category | Self::Weights => true,
            Self::Change => network.comparison.is_some(),
            Self::Difference => network.comparison.is_some() && !network.times.is_empty(),
            _ => !network.times.is_empty(),
        }
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
    /// It takes less time than before.
    Better,
    /// It takes more time than before.
    Worse,
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
    pub(super) nodes: Vec<NodeColour>,
    pub(super) modules: Vec<NodeColour>,
    pub legend: Vec<NetworkLegendLine>,
}

impl NetworkColours {
    pub fn colour(&self, item: Item) -> NodeColour {
        let found = match item {
            Item::Node(node) => self.nodes.get(node),
            Item::Module(module) => self.modules.get(module),
        };
        found.copied().unwrap_or(NodeColour::Plain)
    }
}
