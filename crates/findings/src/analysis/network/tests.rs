//! Networks that are made up here, joined with times that are.

use super::modules::{Item, ModuleKind};
use super::*;
use powerband_core::domain::examination::{Fusions, NamedNode, PreparedNode};

/// Operators by name and operator, one after the other.
pub(crate) fn chain(nodes: &[(&str, &str)]) -> Network {
    let node = |(name, op): &(&str, &str)| NetworkNode {
        kind: NodeKind::Operator,
        name: (*name).to_owned(),
        is_named: true,
        op: (*op).to_owned(),
        attributes: Vec::new(),
        outputs: Vec::new(),
        weights: Vec::new(),
        body: None,
        time_ns: None,
    };
    let edges = (1..nodes.len()).map(|to| NetworkEdge {
        from: to - 1,
        to,
        tensor: format!("t{to}"),
        shape: None,
        bytes: None,
    });
    Network {
        name: "made up".to_owned(),
        nodes: nodes.iter().map(node).collect(),
        edges: edges.collect(),
        notes: Vec::new(),
    }
}

pub(super) fn took(name: &str, time_ns: u64) -> NodeLimit {
    let node = powerband_core::domain::examination::NodeRun {
        name: name.to_owned(),
        op: String::new(),
        provider: "CPU".to_owned(),
        time_ns,
    };
    NodeLimit::without_profile(&node, 100.0)
}

pub(super) fn named(name: &str) -> NamedNode {
    NamedNode {
        name: name.to_owned(),
        op: String::new(),
    }
}

/// An examination in which some nodes ran as one.
pub(crate) fn fused(name: &str, from: &[&str]) -> Examination {
    Examination {
        fusions: Fusions {
            became: vec![PreparedNode {
                node: name.to_owned(),
                op: name.to_owned(),
                from: from.iter().copied().map(named).collect(),
            }],
            ..Fusions::default()
        },
        ..Examination::default()
    }
}

fn layer(number: usize) -> Vec<(String, &'static str)> {
    [
        ("conv1", "Conv"),
        ("relu", "Relu"),
        ("conv2", "Conv"),
        ("add", "Add"),
    ]
    .map(|(name, op)| (format!("layers.{number}.{name}"), op))
    .to_vec()
}

pub(super) fn timed(
    network: &Network,
    times: Vec<NodeLimit>,
    fusions: Option<Fusions>,
) -> TimedNetwork {
    let examination = fusions.map(|fusions| Examination {
        fusions,
        ..Examination::default()
    });
    let times = NodeTimes {
        title: "a profile".to_owned(),
        nodes: times,
        examination,
        wall_ns: None,
        notes: Vec::new(),
    };
    TimedNetwork::new(network, times).unwrap()
}

#[test]
fn times_go_to_fused_groups_and_nodes_and_the_rest_to_what_was_added() {
    let network = chain(&[
        ("conv", "Conv"),
        ("bn", "BatchNormalization"),
        ("drop", "Dropout"),
        ("fc", "Gemm"),
    ]);
    let fusions = Fusions {
        became: vec![
            PreparedNode {
                node: "conv_nchwc".to_owned(),
                op: "Conv (NCHWc)".to_owned(),
                from: vec![named("conv"), named("bn")],
            },
            PreparedNode {
                node: "fc".to_owned(),
                op: "Gemm".to_owned(),
                from: vec![named("fc")],
            },
        ],
        gone: vec![named("drop")],
        added: vec![named("Reorder")],
    };
    let times = vec![took("conv_nchwc", 70), took("fc", 20), took("Reorder", 10)];
    let found = timed(&network, times, Some(fusions));
    let fates: Vec<NodeFate> = found.nodes.iter().map(|node| node.fate).collect();
    use NodeFate::{Added, Fused, Ran, Removed};
    assert_eq!(fates, [Fused, Fused, Removed, Ran, Added]);
    let group = found.tree.modules.iter().position(|module| {
        matches!(module.kind, ModuleKind::Fused(Some(0))) && module.children.len() == 2
    });
    let group = Item::Module(group.expect("a group"));
    assert_eq!(found.own_time(group).map(|time| time.time_ns), Some(70.0));
    assert!((found.tree.modules[0].time_ns - found.total_ns()).abs() < 1e-9);
    assert_eq!(found.time(3).map(|time| time.time_ns), Some(20.0));
    // Where nodes overlap, nothing follows from their sum.
    let overlapping = TimedNetwork {
        wall_ns: Some(60.0),
        ..found.clone()
    };
    assert_eq!(overlapping.without([group]), None);
    // Without the group a run takes what is left.
    let estimate = found.without([group, Item::Node(0)]).unwrap();
    assert!((estimate.gained_ns - 70.0).abs() < 1e-9);
    assert_eq!(estimate.gained_to_floor_ns, None);
    assert_eq!(estimate.facts()[0].value, "100 ns → 30.0 ns, 70.0 % less");
}

#[test]
fn times_that_nodes_have_themselves_count_before_those_by_name() {
    let mut network = chain(&[
        ("net/conv/aten::conv2d", "aten::conv2d"),
        ("net/aten::relu", ""),
    ]);
    network.nodes[0].time_ns = Some(30.0);
    network.nodes[1].time_ns = Some(10.0);
    let found = timed(&network, vec![took("aten::conv2d", 400)], None);
    assert!((found.total_ns() - 40.0).abs() < 1e-9);
    assert!((found.time(0).unwrap().share - 0.75).abs() < 1e-9);
    assert!((found.tree.modules[0].time_ns - 40.0).abs() < 1e-9);
    let net = found.item_name(found.tree.modules[0].children[0]);
    assert_eq!(net, "net");
}

#[test]
fn what_a_tool_names_as_one_is_in_the_module_of_the_first() {
    let network = chain(&[
        ("/stem/conv/Conv + /stem/relu/Relu", "CaskConvolution"),
        ("/stem/Add", ""),
    ]);
    let found = timed(&network, Vec::new(), None);
    assert_eq!(found.item_name(found.tree.modules[0].children[0]), "stem");
    assert_eq!(found.tree.modules[0].children.len(), 1);
}

#[test]
fn a_profile_of_another_network_is_refused() {
    let network = chain(&[("conv", "Conv")]);
    let times = NodeTimes {
        title: "theirs".to_owned(),
        nodes: vec![took("attention", 10)],
        ..NodeTimes::default()
    };
    let refused = TimedNetwork::new(&network, times).unwrap_err();
    assert!(refused.starts_with("the profile theirs has no node of made up"));
}

#[test]
fn alike_layers_in_a_row_are_one_module() {
    let mut nodes = vec![("stem".to_owned(), "Conv")];
    nodes.extend((0..4).flat_map(layer));
    nodes.push(("head".to_owned(), "Gemm"));
    let nodes: Vec<(&str, &str)> = nodes
        .iter()
        .map(|(name, op)| (name.as_str(), *op))
        .collect();
    let found = timed(&chain(&nodes), Vec::new(), None);
    let tree = &found.tree;
    let titles: Vec<String> = tree.modules[0]
        .children
        .iter()
        .map(|item| found.item_name(*item))
        .collect();
    assert_eq!(titles, ["stem", "layers (4 alike)", "head"]);
    let Item::Module(layers) = tree.modules[0].children[1] else {
        panic!("no module");
    };
    assert_eq!(tree.modules[layers].kind, ModuleKind::Repeat(4, 0));
    assert_eq!(tree.modules[layers].n_nodes, 16);
    assert_eq!(
        found.item_name(tree.modules[layers].children[2]),
        "layers.2"
    );
    assert_eq!(tree.path(layers), "layers");
}

#[test]
fn one_layer_that_differs_does_not_part_the_others() {
    let mut nodes: Vec<(String, &str)> = (0..9).flat_map(layer).collect();
    nodes.insert(18, ("layers.4.scale".to_owned(), "Mul"));
    let nodes: Vec<(&str, &str)> = nodes
        .iter()
        .map(|(name, op)| (name.as_str(), *op))
        .collect();
    let found = timed(&chain(&nodes), Vec::new(), None);
    let layers = found.item_name(found.tree.modules[0].children[0]);
    assert_eq!(layers, "layers (8 of 9 alike)");
}

#[test]
fn a_node_that_is_called_as_a_scope_is_in_it() {
    let network = chain(&[("head", "MatMul"), ("head.bias", "Add"), ("out", "Relu")]);
    let found = timed(&network, Vec::new(), None);
    let children = &found.tree.modules[0].children;
    let names: Vec<String> = children.iter().map(|item| found.item_name(*item)).collect();
    assert_eq!(names, ["head", "out"]);
    assert!(matches!(children[0], Item::Module(_)));
}

#[test]
fn a_circle_of_a_broken_file_ends() {
    let mut network = chain(&[("a", "Add"), ("b", "Add"), ("c", "Add")]);
    network.edges.push(NetworkEdge {
        from: 2,
        to: 0,
        ..network.edges[0].clone()
    });
    let found = timed(&network, Vec::new(), None);
    assert_eq!(found.tree.modules[0].children.len(), 3);
}

#[test]
fn the_time_of_a_node_has_the_range_of_its_calls() {
    let time_fact = |calls, call_range_ns| {
        let time = NodeLimit {
            calls,
            call_range_ns,
            ..took("conv", 657_000)
        };
        let time = NodeLimit {
            share: 0.0362,
            ..time
        };
        let found = timed(&chain(&[("conv", "Conv")]), vec![time], None);
        let facts = found.facts(Item::Node(0)).into_iter();
        let mut facts = facts.filter(|fact| fact.name == "Time");
        facts.next().unwrap().value
    };
    let time = "657 µs, 3.62 % of the time";
    let range = "600 µs to 802 µs";
    let known = Some((600_000, 802_000));
    assert_eq!(time_fact(1, known), format!("{time}; calls {range}"));
    assert_eq!(time_fact(3, known), format!("{time}; 3 calls of {range}"));
    assert_eq!(time_fact(1, Some((5, 5))), time);
    assert_eq!(time_fact(1, None), time);
}
