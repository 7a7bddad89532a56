//! Two made-up versions of a network, whose times are compared.

use super::compared::{NetworkSide, NodePresence};
use super::modules::Item;
use super::tests::{chain, fused, took};
use super::*;
use crate::analysis::sampled_difference::SampleOrder;
use crate::analysis::start_times::StartTimes;
use crate::analysis::verdict::Call;
use powerband_core::domain::profile::{Profile, ProfiledStart};

/// A side that was profiled in one start.
fn side(network: &Network, times: NodeTimes) -> NetworkSide<'_> {
    NetworkSide {
        network,
        times,
        starts: Err("one start".to_owned()),
    }
}

fn times(title: &str, nodes: Vec<NodeLimit>, examination: Option<Examination>) -> NodeTimes {
    NodeTimes {
        title: title.to_owned(),
        nodes,
        examination,
        ..NodeTimes::default()
    }
}

/// A convolution that ran as one with its activation before, and apart from it after, where a node is new and another
/// one gone.
fn versions() -> (Network, Network) {
    let before = chain(&[
        ("conv", "Conv"),
        ("relu", "Relu"),
        ("drop", "Dropout"),
        ("fc", "Gemm"),
    ]);
    let after = chain(&[
        ("conv", "Conv"),
        ("relu", "Relu"),
        ("fc", "Gemm"),
        ("softmax", "Softmax"),
    ]);
    (before, after)
}

fn compared() -> TimedNetwork {
    let (before, after) = versions();
    let fusions = fused("conv_relu", &["conv", "relu"]);
    let old = vec![
        took("conv_relu", 80),
        took("drop", 5),
        took("fc", 20),
        took("Reorder", 7),
    ];
    let new = vec![
        took("conv", 60),
        took("relu", 10),
        took("fc", 25),
        took("softmax", 4),
    ];
    let before = side(&before, times("old", old, Some(fusions)));
    let after = side(&after, times("new", new, None));
    TimedNetwork::compared(before, after, SampleOrder::InTurns).unwrap()
}

#[test]
fn differences_add_up_to_that_of_the_totals() {
    let found = compared();
    let comparison = found.comparison.as_ref().unwrap();
    let total = comparison.difference_ns(Item::Module(0)).unwrap();
    assert!((total - (99.0 - 112.0)).abs() < 1e-9, "{total}");
    let differences: f64 = comparison
        .blocks
        .iter()
        .map(|block| block.difference_ns())
        .sum();
    assert!((total - differences).abs() < 1e-9);
    // What ran before alone is not in the times after.
    assert!((found.tree.modules[0].time_ns - 99.0).abs() < 1e-9);
    assert_eq!(found.tree.modules[0].n_nodes, 4);
}

#[test]
fn what_ran_as_one_is_compared_with_its_parts() {
    let found = compared();
    let comparison = found.comparison.as_ref().unwrap();
    let conv = Item::Node(
        found
            .nodes
            .iter()
            .position(|node| node.node.op == "Conv")
            .unwrap(),
    );
    let block = comparison.block(conv).unwrap();
    assert_eq!((block.before_ns, block.after_ns), (80.0, 70.0));
    assert_eq!((block.before.len(), block.after.len()), (1, 2));
    let facts = found.facts(conv);
    let value = |name: &str| {
        let fact = facts.iter().find(|fact| fact.name == name);
        fact.map(|fact| fact.value.as_str())
    };
    assert_eq!(value("Matched by"), Some("name"));
    assert_eq!(value("Difference"), Some("−10.0 ns, −12.5 %"));
    assert!(value("Verdict").unwrap().contains("one start"));
}

#[test]
fn what_has_no_difference_of_its_own_says_with_what_it_is_counted() {
    let found = compared();
    let relu = found.nodes.iter().position(|node| node.node.op == "Relu");
    let facts = found.facts(Item::Node(relu.unwrap()));
    let difference = facts.iter().find(|fact| fact.name == "Difference");
    assert_eq!(difference.unwrap().value, "counted with conv");
}

#[test]
fn a_part_that_is_gone_of_what_still_runs_did_not_run_alone() {
    let before = chain(&[
        ("conv", "Conv"),
        ("bn", "BatchNormalization"),
        ("drop", "Dropout"),
    ]);
    let after = chain(&[("conv", "Conv")]);
    let fusions = fused("conv_bn", &["conv", "bn"]);
    let old = vec![took("conv_bn", 80), took("drop", 5)];
    let before = side(&before, times("old", old, Some(fusions)));
    let after = side(&after, times("new", vec![took("conv", 60)], None));
    let found = TimedNetwork::compared(before, after, SampleOrder::InTurns).unwrap();
    let comparison = found.comparison.as_ref().unwrap();
    let ran_alone = |op: &str| {
        let node = found.nodes.iter().position(|node| node.node.op == op);
        comparison.ran_alone(node.unwrap())
    };
    assert!(!ran_alone("BatchNormalization") && ran_alone("Dropout"));
    let total = comparison.difference_ns(Item::Module(0));
    assert_eq!(total, Some(60.0 - 85.0));
}

#[test]
fn added_and_removed_nodes_are_in_the_picture() {
    let found = compared();
    let comparison = found.comparison.as_ref().unwrap();
    let presence = |op: &str| {
        let place = found.nodes.iter().position(|node| node.node.op == op);
        comparison.nodes[place.unwrap()].presence
    };
    assert_eq!(presence("Softmax"), NodePresence::Added);
    assert_eq!(presence("Dropout"), NodePresence::Removed);
    assert_eq!(presence("Relu"), NodePresence::Both);
    let reorder = found.nodes.iter().find(|node| node.node.name == "Reorder");
    assert_eq!(reorder.map(|node| node.fate), Some(NodeFate::OnlyBefore));
    // The removed node stands between those that it stood between.
    let ops: Vec<&str> = found
        .nodes
        .iter()
        .map(|node| node.node.op.as_str())
        .collect();
    let place = |op: &str| ops.iter().position(|one| *one == op);
    assert!(place("Relu") < place("Dropout") && place("Dropout") < place("Gemm"));
}

#[test]
fn a_difference_has_a_verdict_where_both_sides_were_profiled_in_several_starts() {
    let (before, after) = versions();
    let profile = |conv_ns: u64| {
        let starts = (0..8).map(|start| {
            let noise = start % 3;
            let totals = [("conv", conv_ns), ("relu", 50), ("fc", 90)];
            let totals = totals.map(|(name, time_ns)| (name.to_owned(), 10 * (time_ns + noise)));
            ProfiledStart {
                runs: 10,
                totals: totals.to_vec(),
            }
        });
        Profile {
            starts: starts.collect(),
            ..Profile::default()
        }
    };
    let nodes = |conv_ns: u64| vec![took("conv", conv_ns), took("relu", 51), took("fc", 91)];
    let sides = [(&before, 1000), (&after, 1100)].map(|(network, conv_ns)| NetworkSide {
        network,
        times: times("a profile", nodes(conv_ns), None),
        starts: StartTimes::of_profile(&profile(conv_ns)),
    });
    let [one, two] = sides;
    let found = TimedNetwork::compared(one, two, SampleOrder::InTurns).unwrap();
    let comparison = found.comparison.as_ref().unwrap();
    let call = |op: &str| {
        let node = found
            .nodes
            .iter()
            .position(|node| node.node.op == op)
            .unwrap();
        let starts = comparison.block(Item::Node(node)).unwrap().starts;
        starts.map(|starts| starts.call)
    };
    assert_eq!(call("Conv"), Some(Call::Slower));
    assert_ne!(call("Relu"), Some(Call::Slower));
    assert_ne!(call("Relu"), Some(Call::Faster));
}

#[test]
fn profiles_of_one_start_have_no_verdict() {
    let reason = StartTimes::of_profile(&Profile::default()).unwrap_err();
    assert!(reason.contains("in one start"), "{reason}");
}
