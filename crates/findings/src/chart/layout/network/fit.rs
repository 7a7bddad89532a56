//! Which modules are open at first: as many as fit on a page.

use std::collections::BTreeSet;

use super::NetworkView;
use crate::analysis::network::TimedNetwork;
use crate::analysis::network::modules::{Item, Module, ModuleKind};

/// Items of a picture that is still read as a whole.
pub const MOST_ITEMS: usize = 40;

/// So many alike blocks in a row are one box at first.
const MANY_ALIKE: usize = 6;

/// The modules to open so that about so many items are drawn: those with most time first; where two versions are
/// compared those that differ most, and without times those with most nodes.
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
    let weights = weights(network);
    let mut closed: Vec<usize> = inner_modules(&whole.children);
    loop {
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
            weights[**one]
                .total_cmp(&weights[**two])
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

/// How much speaks for opening each module.
fn weights(network: &TimedNetwork) -> Vec<f64> {
    let modules = &network.tree.modules;
    let Some(comparison) = &network.comparison else {
        let has_times = !network.times.is_empty();
        let weight = |module: &Module| {
            if has_times {
                module.time_ns
            } else {
                module.n_nodes as f64
            }
        };
        return modules.iter().map(weight).collect();
    };
    let own = |item: Item| {
        let change = comparison
            .block(item)
            .map(|block| block.difference_ns().abs());
        let is_changed = match item {
            Item::Node(node) => comparison.is_changed(node),
            Item::Module(_) => false,
        };
        change.unwrap_or_default() + f64::from(u8::from(is_changed))
    };
    let mut weights = vec![0.0; modules.len()];
    for module in network.tree.inside_out() {
        let children = modules[module].children.iter();
        let inner = children.map(|child| match child {
            Item::Node(_) => own(*child),
            Item::Module(inner) => weights[*inner],
        });
        weights[module] = own(Item::Module(module)) + inner.sum::<f64>();
    }
    weights
}

fn inner_modules(children: &[Item]) -> Vec<usize> {
    let inner = children.iter().filter_map(|child| match child {
        Item::Module(inner) => Some(*inner),
        Item::Node(_) => None,
    });
    inner.collect()
}
