//! Where the nodes and modules of a network stand: in rows from top to bottom, each below what it reads.
//!
//! A module that is open is laid out by itself and is one box among its neighbours, so that what happens inside of it
//! moves them as a whole. A child stands below the first that it reads, or right of what stands there already; crossings
//! are not minimised, because then one node more moves all others. Edges that pass rows run in lanes at the right.
//! Every step takes time in proportion to nodes and edges.

pub mod fit;
mod level;
mod rows;
pub mod shapes;
mod skyline;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use level::{LevelBuilder, ModuleLevel};

use crate::analysis::network::modules::{Item, ModuleKind};
use crate::analysis::network::{NodeFate, TimedNetwork};
use crate::chart::area::{Area, Position};
use powerband_core::domain::network::NodeKind;

/// Width and height of a node.
pub(crate) const NODE: (f64, f64) = (148.0, 36.0);
/// Those of a closed module.
pub(crate) const CLOSED: (f64, f64) = (176.0, 48.0);
/// Those of an input or output.
pub(crate) const PORT: (f64, f64) = (132.0, 22.0);
/// Height of the head of an open module.
pub(crate) const HEAD: f64 = 22.0;
/// Between an open module's edge and what is in it.
const PADDING: f64 = 10.0;
/// The least width of an open module.
const NARROWEST: f64 = 160.0;

/// Which modules are open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkView {
    /// Modules that are open; the whole network always is, and groups that ran as one are as `is_engine` says.
    pub open: BTreeSet<usize>,
    /// As the engine runs it: groups are one node, and what did not run is not there.
    pub is_engine: bool,
}

impl NetworkView {
    pub fn is_open(&self, network: &TimedNetwork, module: usize) -> bool {
        match network.tree.modules[module].kind {
            ModuleKind::Whole => true,
            ModuleKind::Fused(_) => !self.is_engine,
            _ => self.open.contains(&module),
        }
    }
}

/// An item at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedItem {
    pub item: Item,
    pub area: Area,
    /// What is in it, where it is an open module.
    pub inside: Option<PlacedModule>,
}

/// What is in an open module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacedModule {
    pub children: Vec<PlacedItem>,
    pub wires: Vec<Wire>,
}

/// The edge between two items, or between an item and the edge of the module around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Wire {
    pub points: Vec<Position>,
    /// The item that it comes from; nothing where it comes from outside the module.
    pub from: Option<Item>,
    /// The item that it leads to; nothing where it leads out of the module.
    pub to: Option<Item>,
    /// The most bytes of a tensor that it stands for.
    pub bytes: u64,
    /// The shape of its tensor; of several, how many there are.
    pub label: String,
    /// Whether it runs against the order of the rows.
    pub is_backward: bool,
}

/// A network at its places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkLayout {
    pub width: f64,
    pub height: f64,
    pub whole: PlacedModule,
}

impl NetworkLayout {
    /// Lays a network out.
    pub fn new(network: &TimedNetwork, view: &NetworkView) -> Self {
        if network.tree.modules.is_empty() {
            return Self::default();
        }
        let levels = LevelBuilder::new(network, view).levels();
        let (mut whole, width, height) = place(network, &levels, 0);
        move_by(&mut whole, (0.0, 0.0));
        Self {
            width,
            height,
            whole: whole.inside,
        }
    }

    /// The innermost item at a position.
    pub fn item_at(&self, at: Position) -> Option<&PlacedItem> {
        let mut found = None;
        let mut module = Some(&self.whole);
        while let Some(placed) = module {
            let child = placed.children.iter().find(|child| child.area.contains(at));
            found = child.or(found);
            module = child.and_then(|child| child.inside.as_ref());
        }
        found
    }

    /// Every item that is drawn, modules before what is in them.
    pub fn items(&self) -> Vec<&PlacedItem> {
        let mut items = Vec::new();
        let mut open = vec![&self.whole];
        while let Some(module) = open.pop() {
            for child in &module.children {
                items.push(child);
                open.extend(&child.inside);
            }
        }
        items
    }

    /// Where an item stands, or the closed module that it is in.
    pub fn area_of(&self, network: &TimedNetwork, item: Item) -> Option<Area> {
        let places: HashMap<Item, Area> = self
            .items()
            .into_iter()
            .map(|placed| (placed.item, placed.area))
            .collect();
        let around = network.tree.modules_around(item).map(Item::Module);
        std::iter::once(item)
            .chain(around)
            .find_map(|item| places.get(&item).copied())
    }
}

/// Whether an item has a place in a view.
pub(crate) fn is_hidden(network: &TimedNetwork, view: &NetworkView, node: usize) -> bool {
    let ran = match network.nodes[node].fate {
        NodeFate::Removed => false,
        NodeFate::OnlyBefore => {
            let comparison = network.comparison.as_ref();
            comparison.is_some_and(|comparison| comparison.ran_alone(node))
        }
        _ => true,
    };
    view.is_engine && !ran
}

/// A module laid out from its own corner on, with the ends of what leads into it and out of it.
struct LaidOutModule {
    inside: PlacedModule,
    /// Where edges from outside come in and where edges leave, from the left edge on.
    ports: (f64, f64),
}

fn place(
    network: &TimedNetwork,
    levels: &HashMap<usize, ModuleLevel>,
    module: usize,
) -> (LaidOutModule, f64, f64) {
    let empty = ModuleLevel::default();
    let level = levels.get(&module).unwrap_or(&empty);
    let mut boxes = Vec::with_capacity(level.items.len());
    let mut inner = Vec::with_capacity(level.items.len());
    for item in &level.items {
        let laid_out = match item {
            Item::Module(open) if levels.contains_key(open) => {
                let (mut laid_out, width, height) = place(network, levels, *open);
                let shift = (
                    PADDING + ((NARROWEST - width).max(0.0)) / 2.0,
                    HEAD + PADDING,
                );
                move_by(&mut laid_out, shift);
                let size = (
                    width.max(NARROWEST) + 2.0 * PADDING,
                    height + HEAD + 2.0 * PADDING,
                );
                Some((laid_out, size))
            }
            _ => None,
        };
        let (size, ports) = if let Some((laid_out, size)) = &laid_out {
            (*size, laid_out.ports)
        } else {
            let size = closed_size(network, *item);
            (size, (size.0 / 2.0, size.0 / 2.0))
        };
        boxes.push(rows::SizedBox {
            width: size.0,
            height: size.1,
            ports,
            is_open: laid_out.is_some(),
        });
        inner.push(laid_out.map(|(laid_out, _)| laid_out.inside));
    }
    let placed = rows::place(level, &boxes);
    let children = level.items.iter().zip(placed.areas).zip(inner);
    let children = children
        .map(|((item, area), inside)| {
            let mut inside = inside.map(|inside| LaidOutModule {
                inside,
                ports: (0.0, 0.0),
            });
            if let Some(inside) = &mut inside {
                move_by(inside, (area.left, area.top));
            }
            PlacedItem {
                item: *item,
                area,
                inside: inside.map(|inside| inside.inside),
            }
        })
        .collect();
    let laid_out = LaidOutModule {
        inside: PlacedModule {
            children,
            wires: placed.wires,
        },
        ports: placed.ports,
    };
    (laid_out, placed.width, placed.height)
}

/// Moves a module with all that is in it.
fn move_by(module: &mut LaidOutModule, by: Position) {
    module.ports.0 += by.0;
    module.ports.1 += by.0;
    if by == (0.0, 0.0) {
        return;
    }
    let mut open = vec![&mut module.inside];
    while let Some(module) = open.pop() {
        for wire in &mut module.wires {
            for point in &mut wire.points {
                *point = (point.0 + by.0, point.1 + by.1);
            }
        }
        for child in &mut module.children {
            let area = child.area;
            child.area = Area::new(
                area.left + by.0,
                area.top + by.1,
                area.right + by.0,
                area.bottom + by.1,
            );
            open.extend(&mut child.inside);
        }
    }
}

fn closed_size(network: &TimedNetwork, item: Item) -> (f64, f64) {
    match item {
        Item::Node(node) if network.nodes[node].node.kind != NodeKind::Operator => PORT,
        Item::Node(_) => NODE,
        Item::Module(module) => match network.tree.modules[module].kind {
            ModuleKind::Fused(_) => NODE,
            _ => CLOSED,
        },
    }
}
