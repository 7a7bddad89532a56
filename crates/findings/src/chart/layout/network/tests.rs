//! Networks that are made up here, laid out.

use std::collections::BTreeSet;

use super::*;
use crate::analysis::network::NodeTimes;
use powerband_core::domain::network::{Network, NetworkEdge, NetworkNode};

/// A network of nodes by name, and edges by place.
fn network(names: &[String], edges: &[(usize, usize)]) -> TimedNetwork {
    let node = |name: &String| NetworkNode {
        kind: NodeKind::Operator,
        name: name.clone(),
        is_named: true,
        op: "Add".to_owned(),
        attributes: Vec::new(),
        outputs: Vec::new(),
        weights: Vec::new(),
        body: None,
        time_ns: None,
    };
    let edge = |(from, to): &(usize, usize)| NetworkEdge {
        from: *from,
        to: *to,
        tensor: format!("t{from}"),
        shape: None,
        bytes: Some(1_000),
    };
    let network = Network {
        name: "made up".to_owned(),
        nodes: names.iter().map(node).collect(),
        edges: edges.iter().map(edge).collect(),
        notes: Vec::new(),
    };
    TimedNetwork::new(&network, NodeTimes::default()).unwrap()
}

fn all_open(network: &TimedNetwork) -> NetworkView {
    NetworkView {
        open: (0..network.tree.modules.len()).collect(),
        is_engine: false,
    }
}

/// Siblings lie apart and within their module, and every edge ends at its boxes.
fn check(network: &TimedNetwork, layout: &NetworkLayout) {
    let whole = Area::new(0.0, 0.0, layout.width, layout.height);
    let mut open = vec![(whole, &layout.whole)];
    while let Some((around, module)) = open.pop() {
        for (place, child) in module.children.iter().enumerate() {
            assert!(
                around.expanded(1e-6).contains_area(child.area),
                "{:?}",
                child.item
            );
            for other in &module.children[..place] {
                assert!(
                    !other.area.expanded(-1e-6).overlaps(child.area),
                    "{} over {}",
                    network.item_name(child.item),
                    network.item_name(other.item)
                );
            }
            open.extend(child.inside.iter().map(|inside| (child.area, inside)));
        }
        for wire in &module.wires {
            let area = |item: Option<Item>| {
                let child = module
                    .children
                    .iter()
                    .find(|child| Some(child.item) == item);
                child.map(|child| child.area)
            };
            if let (Some(area), Some((x, y))) = (area(wire.from), wire.points.first()) {
                assert!((area.bottom - y).abs() < 1e-6 && area.left <= *x && *x <= area.right);
            }
            if let (Some(area), Some((x, y))) = (area(wire.to), wire.points.last()) {
                assert!((area.top - y).abs() < 1e-6 && area.left <= *x && *x <= area.right);
            }
        }
    }
}

#[test]
fn each_node_stands_below_what_it_reads_and_long_edges_pass_at_the_right() {
    let names: Vec<String> = ["in", "left", "right", "sum", "out"]
        .map(str::to_owned)
        .to_vec();
    let network = network(&names, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (0, 4)]);
    let layout = NetworkLayout::new(&network, &NetworkView::default());
    check(&network, &layout);
    let areas: Vec<Area> = layout
        .whole
        .children
        .iter()
        .map(|child| child.area)
        .collect();
    assert!((areas[1].top - areas[2].top).abs() < 1e-9 && areas[1].right < areas[2].left);
    assert!(areas[0].bottom < areas[1].top && areas[2].bottom < areas[3].top);
    // The edge from the first to the last passes right of all rows between them.
    let long = layout
        .whole
        .wires
        .iter()
        .find(|wire| wire.from == Some(Item::Node(0)) && wire.to == Some(Item::Node(4)));
    let long = long.unwrap();
    let lane = long.points.iter().map(|point| point.0).fold(0.0, f64::max);
    assert!(lane > areas[2].right && !long.is_backward);
}

#[test]
fn a_circle_is_drawn_backwards() {
    let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let network = network(&names, &[(0, 1), (1, 2), (2, 0)]);
    let layout = NetworkLayout::new(&network, &NetworkView::default());
    let n_backward = layout.whole.wires.iter().filter(|wire| wire.is_backward);
    assert_eq!(n_backward.count(), 1);
}

#[test]
fn random_networks_have_no_box_over_another() {
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below.max(1)
    };
    for _ in 0..60 {
        let count = 2 + random(40);
        let names: Vec<String> = (0..count)
            .map(|node| format!("m{}.s{}.n{node}", random(4), random(3)))
            .collect();
        let edges: BTreeSet<(usize, usize)> = (0..count * 2)
            .map(|_| (random(count), random(count)))
            .filter(|(from, to)| from != to)
            .collect();
        let edges: Vec<(usize, usize)> = edges.into_iter().collect();
        let network = network(&names, &edges);
        let open: BTreeSet<usize> = (0..network.tree.modules.len())
            .filter(|_| random(2) == 0)
            .collect();
        for view in [
            all_open(&network),
            NetworkView {
                open,
                is_engine: true,
            },
        ] {
            check(&network, &NetworkLayout::new(&network, &view));
        }
    }
}

#[test]
fn names_and_nothing_at_all_are_laid_out() {
    let names = vec!["x".repeat(2_000), String::new()];
    let network = network(&names, &[(0, 1)]);
    check(&network, &NetworkLayout::new(&network, &all_open(&network)));
    let nothing = TimedNetwork::default();
    let layout = NetworkLayout::new(&nothing, &NetworkView::default());
    assert!(layout.whole.children.is_empty() && layout.height == 0.0);
}
