//! Actions on the picture of a network.

use powerband_findings::analysis::network::modules::Item;
use powerband_findings::chart::network_colours::NetworkColouring;

/// Actions on the picture of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// As the engine runs it, or as the file has it.
    Engine(bool),
    /// The tables of what the engine made of it, in place of the picture.
    Tables(bool),
    /// What nodes are coloured by.
    Colouring(NetworkColouring),
    /// Opens a module, or closes it.
    Toggle(usize),
    /// Opens every module.
    OpenAll,
    /// The modules that are open at first.
    Fold,
    /// Selects a node or module: on *Kernels*, on *Why* and on the timeline, too, where it has a time.
    Select(Option<Item>),
    /// Selects the node that takes most time after the selected one, or before it.
    Slowest(Direction),
    /// Shows what is selected as large as the room allows.
    Zoom,
    /// What nodes are searched by.
    Search(String),
    /// Selects the next node that is found, or the one before.
    Found(Direction),
    /// Excludes a node or module from the estimate of a run, or includes it again.
    Free(Item),
    /// Includes everything in the estimate.
    FreeNothing,
}

/// Which way to go through a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Next,
    Previous,
}
