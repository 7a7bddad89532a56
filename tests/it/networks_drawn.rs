//! The picture of a network: of built-in ones, of a session with a profile, and on the command line.

use std::collections::BTreeSet;
use std::path::Path;

use super::support::Home;
use powerband_core::domain::examination::Fusions;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::network::Network;
use powerband_core::domain::point::Point;
use powerband_findings::analysis::network::modules::{Item, ModuleKind};
use powerband_findings::analysis::network::{NodeFate, NodeTimes, TimedNetwork};
use powerband_findings::chart::area::Area;
use powerband_findings::chart::layout::network::fit::{MOST_ITEMS, view_that_fits};
use powerband_findings::chart::layout::network::{NetworkLayout, NetworkView};
use powerband_onnx::{network, zoo};
use powerband_store::session_file;

const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/sessions/resnet50-what-limits-it.ron"
);

fn graph(name: &str) -> Network {
    let model = zoo::outline(zoo::find(name).expect("a network"));
    network::at_point(&model, name, Point::of_batch(1), &InputSizes::default())
}

fn without_times(graph: &Network) -> TimedNetwork {
    TimedNetwork::new(graph, NodeTimes::default()).expect("a network")
}

#[test]
fn every_built_in_network_begins_as_a_page_and_opens_whole() {
    for model in zoo::ALL {
        let graph = graph(model.id);
        let found = without_times(&graph);
        let folded = view_that_fits(&found, false, MOST_ITEMS);
        let page = NetworkLayout::new(&found, &folded);
        // Inputs, outputs and what is in no module are there in any case.
        let most = MOST_ITEMS.max(found.tree.modules[0].children.len());
        let n_items = page.items().len();
        assert!(n_items <= most + folded.open.len(), "{}", model.id);
        let open = NetworkView {
            open: (0..found.tree.modules.len()).collect(),
            is_engine: false,
        };
        let whole = NetworkLayout::new(&found, &open);
        let items: BTreeSet<Item> = whole.items().iter().map(|placed| placed.item).collect();
        let nodes = (0..graph.nodes.len()).map(Item::Node);
        assert!(
            nodes.into_iter().all(|node| items.contains(&node)),
            "{}",
            model.id
        );
        let is_backward = whole.whole.wires.iter().any(|wire| wire.is_backward);
        assert!(!is_backward, "{}", model.id);
    }
}

/// The example's first profile of ONNX Runtime, its examination's fusions, and the sum of its node times.
fn example() -> (TimedNetwork, Fusions, f64) {
    let session = session_file::read(Path::new(EXAMPLE))
        .expect("the example")
        .session;
    let place = session.profiles.iter().position(|profile| {
        let case = profile.case.expect("a case");
        session.examinations.contains_key(&case.setup)
    });
    let place = place.expect("a profile of an examined setup");
    let home = Home::new();
    let graph = network::of_profile(&session, place, &home.path("cache")).expect("its graph");
    let times = NodeTimes::of_profile(&session, place, &[]);
    let total_ns = times.nodes.iter().map(|node| node.time_ns).sum();
    let case = session.profiles[place].case.expect("a case");
    let fusions = session.examinations[&case.setup].fusions.clone();
    (
        TimedNetwork::new(&graph, times).expect("joined"),
        fusions,
        total_ns,
    )
}

#[test]
fn times_add_up_and_every_fused_group_is_drawn() {
    let (found, fusions, total_ns) = example();
    let whole = &found.tree.modules[0];
    assert!((whole.time_ns - total_ns).abs() <= total_ns * 1e-9);
    let groups = found.tree.modules.iter();
    let groups = groups.filter(|module| matches!(module.kind, ModuleKind::Fused(_)));
    let expected = fusions.became.iter().filter(|became| became.from.len() > 1);
    assert_eq!(groups.count(), expected.count());
    let removed = found
        .nodes
        .iter()
        .filter(|node| node.fate == NodeFate::Removed);
    assert_eq!(removed.count(), fusions.gone.len());
    // As the engine runs it, every node that ran is drawn once, and nothing else.
    let engine = NetworkView {
        open: (0..found.tree.modules.len()).collect(),
        is_engine: true,
    };
    let layout = NetworkLayout::new(&found, &engine);
    let items = layout.items();
    let timed = items
        .iter()
        .filter(|placed| found.own_time(placed.item).is_some());
    assert_eq!(timed.count(), found.times.len());
}

/// The network with one more node behind the node in its middle.
fn with_one_more(graph: &Network) -> Network {
    let mut more = graph.clone();
    let middle = more.nodes.len() / 2;
    let mut node = more.nodes[middle].clone();
    let outside = node
        .name
        .rsplit_once(['.', '/'])
        .map_or("", |(scope, _)| scope);
    node.name = format!("{outside}.one_more");
    "Identity".clone_into(&mut node.op);
    more.nodes.insert(middle + 1, node);
    let behind = |place: usize| place + usize::from(place > middle);
    for edge in &mut more.edges {
        edge.to = behind(edge.to);
        edge.from = if edge.from == middle {
            middle + 1
        } else {
            behind(edge.from)
        };
    }
    let mut edge = more.edges[0].clone();
    (edge.from, edge.to) = (middle, middle + 1);
    more.edges.push(edge);
    more
}

#[test]
fn one_node_more_moves_the_others_by_its_own_row_alone() {
    for name in ["resnet50", "bert-base", "unet"] {
        let graph = graph(name);
        let places = |graph: &Network| {
            let found = without_times(graph);
            let open = NetworkView {
                open: (0..found.tree.modules.len()).collect(),
                is_engine: false,
            };
            let layout = NetworkLayout::new(&found, &open);
            let items = layout.items().into_iter();
            let places = items.filter_map(|placed| match placed.item {
                Item::Node(node) => Some((found.nodes[node].node.name.clone(), placed.area)),
                Item::Module(_) => None,
            });
            (
                places.collect::<std::collections::HashMap<String, Area>>(),
                layout.height,
            )
        };
        let (before, height_before) = places(&graph);
        let (after, height_after) = places(&with_one_more(&graph));
        let is_kept = |(name, was): (&String, &Area)| {
            let is = after[name];
            // From the nearer end on: what is below the new node keeps its distance to the bottom.
            let from_top = (is.top - was.top).abs();
            let from_bottom = ((height_after - is.top) - (height_before - was.top)).abs();
            from_top.min(from_bottom) < 58.0 && (is.left - was.left).abs() < 166.0
        };
        let kept = before.iter().filter(|place| is_kept(*place)).count();
        let share = kept as f64 / before.len() as f64;
        assert!(share >= 0.95, "{name}: {kept} of {}", before.len());
    }
}

#[test]
fn a_picture_is_written_of_a_model_and_of_a_profile() {
    let home = Home::new();
    let written = |name: &str, args: &[&str], option: &str| {
        let to = home.path(name);
        let to_text = to.to_str().expect("a path");
        let run = home.run(&[args, &[option, to_text]].concat());
        assert_eq!(run.status, Some(0), "{run:?}");
        std::fs::read_to_string(&to).expect("a file")
    };
    let drawn = written("net.svg", &["model", "resnet18"], "--picture");
    assert!(drawn.contains("MaxPool") && drawn.contains("1×64×112×112"));
    let export = ["export", EXAMPLE, "--chart", "network"];
    let drawn = written("timed.svg", &export, "--to");
    assert!(drawn.contains("In no node of the file") && drawn.contains("layer1"));
    let table = written("net.csv", &export, "--to");
    let header = "module,name,operator,fate,place,share,time_ns,limit";
    assert_eq!(table.lines().next(), Some(header));
    assert!(table.lines().any(|line| line.contains(",fused,")));
}
