//! Versions of the built-in networks that are made here by renaming, fusing, splitting, dropping and inserting nodes,
//! matched with the networks that they were made of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::support::Home;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::network::{Network, NetworkEdge, NetworkNode, NodeKind};
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::{Profile, ProfiledStart};
use powerband_findings::analysis::network::matched_side::NodesMatchedBy;
use powerband_findings::analysis::network::matching::match_nodes;
use powerband_onnx::{network, zoo};
use powerband_store::session_file;

/// Networks of every kind: with named nodes and without, branched and in a row, with many alike layers.
const NETWORKS: [&str; 6] = [
    "resnet50",
    "densenet121",
    "mobilenet_v2",
    "bert-base",
    "gpt2",
    "unet",
];

fn graph(name: &str) -> Network {
    let model = zoo::outline(zoo::find(name).expect("a network"));
    network::at_point(&model, name, Point::of_batch(1), &InputSizes::default())
}

/// Chances that repeat.
struct Chances(u64);

impl Chances {
    fn next(&mut self, of: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % of
    }

    fn is_hit(&mut self, per_cent: u64) -> bool {
        self.next(100) < per_cent
    }
}

/// A network that is changed node by node, with the nodes before that each of its nodes stands for.
struct Changed {
    nodes: Vec<Option<NetworkNode>>,
    stands_for: Vec<BTreeSet<usize>>,
    edges: Vec<NetworkEdge>,
    /// The order of the nodes in the file.
    order: Vec<usize>,
}

impl Changed {
    fn new(network: &Network) -> Self {
        Self {
            nodes: network.nodes.iter().cloned().map(Some).collect(),
            stands_for: (0..network.nodes.len())
                .map(|node| BTreeSet::from([node]))
                .collect(),
            edges: network.edges.clone(),
            order: (0..network.nodes.len()).collect(),
        }
    }

    fn op(&self, node: usize) -> &str {
        self.nodes[node]
            .as_ref()
            .map_or("", |node| node.op.as_str())
    }

    fn readers(&self, node: usize) -> Vec<usize> {
        let edges = self.edges.iter().filter(|edge| edge.from == node);
        edges.map(|edge| edge.to).collect()
    }

    /// Whether a node reads one other node, which is as it was, and nothing was put between them.
    fn is_behind_one_that_is_kept(&self, node: usize) -> bool {
        let mut inputs = self.edges.iter().filter(|edge| edge.to == node);
        match (inputs.next(), inputs.next()) {
            (Some(only), None) => {
                let op = self.op(only.from);
                !op.starts_with("Fused") && op != "Softplus"
            }
            _ => false,
        }
    }

    /// Everything gets a name that says nothing, or none at all.
    fn rename(&mut self, (has_names, has_weights): (bool, bool)) {
        for (place, node) in self.nodes.iter_mut().enumerate() {
            let Some(node) = node.as_mut().filter(|node| node.kind == NodeKind::Operator) else {
                continue;
            };
            node.is_named = has_names;
            node.name = format!("node_{}", place * 7919 % 10_007);
            if !has_weights {
                for (number, weight) in node.weights.iter_mut().enumerate() {
                    weight.name = format!("onnx::{}", place * 31 + number);
                }
            }
        }
    }

    /// What reads a node goes on with another one.
    fn redirect(&mut self, from: usize, to: usize) {
        for edge in &mut self.edges {
            if edge.from == from {
                edge.from = to;
            }
        }
    }

    /// A node with one input goes: what reads it reads its input.
    fn drop_node(&mut self, node: usize) {
        let Some(place) = self.edges.iter().position(|edge| edge.to == node) else {
            return;
        };
        let input = self.edges.remove(place).from;
        self.redirect(node, input);
        self.nodes[node] = None;
    }

    /// A node and the only one that reads it become one.
    fn fuse(&mut self, node: usize, op: &str) {
        let reader = self.readers(node)[0];
        self.edges.retain(|edge| edge.to != reader);
        self.redirect(reader, node);
        let gone = std::mem::take(&mut self.stands_for[reader]);
        self.stands_for[node].extend(gone);
        let outputs = self.nodes[reader].take().map(|reader| reader.outputs);
        if let Some(node) = &mut self.nodes[node] {
            op.clone_into(&mut node.op);
            node.outputs = outputs.unwrap_or_default();
        }
    }

    /// A node stands behind another one, and everything that read that one reads it.
    fn insert_behind(&mut self, node: usize, op: &str, stands_for: BTreeSet<usize>) {
        let Some(model) = self.nodes[node].clone() else {
            return;
        };
        let new = self.nodes.len();
        self.redirect(node, new);
        self.edges.push(NetworkEdge {
            from: node,
            to: new,
            tensor: format!("new_{new}"),
            shape: None,
            bytes: None,
        });
        self.nodes.push(Some(NetworkNode {
            name: format!("new_{new}"),
            op: op.to_owned(),
            attributes: Vec::new(),
            weights: Vec::new(),
            ..model
        }));
        self.stands_for.push(stands_for);
        let place = self.order.iter().position(|one| *one == node);
        self.order.insert(place.map_or(0, |place| place + 1), new);
    }

    /// The network, and for each of its nodes those before that it stands for.
    fn finished(self) -> (Network, Vec<BTreeSet<usize>>) {
        let kept = self
            .order
            .iter()
            .filter(|node| self.nodes[**node].is_some());
        let place_of: BTreeMap<usize, usize> = kept
            .enumerate()
            .map(|(place, node)| (*node, place))
            .collect();
        let mut ordered: Vec<(usize, usize)> = place_of
            .iter()
            .map(|(node, place)| (*place, *node))
            .collect();
        ordered.sort_unstable();
        let nodes = ordered.iter().filter_map(|(_, node)| {
            let mut node = self.nodes[*node].clone()?;
            node.body = None;
            Some(node)
        });
        let edges = self.edges.iter().filter_map(|edge| {
            Some(NetworkEdge {
                from: *place_of.get(&edge.from)?,
                to: *place_of.get(&edge.to)?,
                ..edge.clone()
            })
        });
        let network = Network {
            nodes: nodes.collect(),
            edges: edges.collect(),
            ..Network::default()
        };
        let stands_for = ordered
            .iter()
            .map(|(_, node)| self.stands_for[*node].clone());
        (network, stands_for.collect())
    }
}

/// Makes another version: fuses a third of the products and convolutions with an activation behind them, splits some
/// `Gemm`, drops and inserts one node of fifty.
fn changed(
    network: &Network,
    seed: u64,
    renaming: Option<(bool, bool)>,
) -> (Network, Vec<BTreeSet<usize>>) {
    let mut chances = Chances(seed);
    let mut changed = Changed::new(network);
    if let Some(kept) = renaming {
        changed.rename(kept);
    }
    for node in 0..network.nodes.len() {
        if network.nodes[node].kind != NodeKind::Operator || changed.nodes[node].is_none() {
            continue;
        }
        let readers = changed.readers(node);
        let follower = readers.first().copied().filter(|_| readers.len() == 1);
        let follower = follower.map(|reader| changed.op(reader).to_owned());
        let is_pair = matches!(
            follower.as_deref(),
            Some("Relu" | "Gelu" | "Clip" | "BatchNormalization")
        );
        match changed.op(node) {
            "Conv" | "MatMul" | "Gemm" if is_pair && chances.is_hit(33) => {
                let op = format!("Fused{}", changed.op(node));
                changed.fuse(node, &op);
            }
            "Gemm" if chances.is_hit(50) => {
                changed.insert_behind(node, "Add", BTreeSet::from([node]));
                if let Some(node) = &mut changed.nodes[node] {
                    "MatMul".clone_into(&mut node.op);
                }
            }
            // One behind a node that was fused could as well have been fused with it.
            "Relu" | "Dropout" | "Transpose" | "Reshape"
                if changed.is_behind_one_that_is_kept(node) && chances.is_hit(4) =>
            {
                changed.drop_node(node);
            }
            _ if chances.is_hit(2) => changed.insert_behind(node, "Softplus", BTreeSet::new()),
            _ => {}
        }
    }
    changed.finished()
}

#[test]
fn nodes_are_found_again_in_versions_that_are_made_of_them() {
    let mut faults = Vec::new();
    for name in NETWORKS {
        let before = graph(name);
        for (renaming, seed) in [
            (None, 1),
            (None, 6),
            (None, 7),
            (Some((false, false)), 8),
            (Some((true, false)), 9),
            (Some((true, true)), 2),
            (Some((false, true)), 3),
            (Some((true, false)), 4),
            (Some((false, false)), 5),
        ] {
            let (after, stands_for) = changed(&before, seed, renaming);
            let expected: BTreeSet<(usize, usize)> = stands_for
                .iter()
                .enumerate()
                .flat_map(|(after, befores)| befores.iter().map(move |before| (*before, after)))
                .collect();
            let found = match_nodes(&before, &after);
            let sure = found.iter().filter(|pair| pair.by != NodesMatchedBy::Order);
            let sure: BTreeSet<(usize, usize)> =
                sure.map(|pair| (pair.before, pair.after)).collect();
            let wrong: Vec<String> = sure
                .difference(&expected)
                .map(|(one, two)| {
                    let (one, two) = (&before.nodes[*one], &after.nodes[*two]);
                    format!("{} {} as {} {}", one.op, one.name, two.op, two.name)
                })
                .collect();
            let n_right = sure.intersection(&expected).count();
            let share = n_right as f64 / expected.len() as f64;
            if !wrong.is_empty() || share < 0.98 {
                faults.push(format!("{name} {renaming:?}: {share}, wrong {wrong:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/sessions/resnet50-what-limits-it.ron"
);

/// The example with its first profile a second time, in which one node takes twice as long in each of four starts.
pub(crate) fn with_a_slower_version(home: &Home) -> PathBuf {
    let mut session = session_file::read(Path::new(EXAMPLE))
        .expect("the example")
        .session;
    let starts = |profile: &Profile| {
        let starts = (0..4_u64).map(|start| {
            let mut one = profile.as_start();
            for (_, total_ns) in &mut one.totals {
                *total_ns += *total_ns / 1_000 * start;
            }
            one
        });
        starts.collect::<Vec<ProfiledStart>>()
    };
    let mut slower = session.profiles[0].clone();
    "slower".clone_into(&mut slower.name);
    let node = slower.totals.iter_mut().find(|total| total.kind.is_work());
    node.expect("a node").total_ns *= 2;
    slower.starts = starts(&slower);
    session.profiles[0].starts = starts(&session.profiles[0]);
    session.profiles.insert(1, slower);
    let path = home.path("two.ron");
    session_file::write(&path, &session).expect("a session");
    path
}

#[test]
fn differences_of_two_profiles_are_written_with_verdicts() {
    let home = Home::new();
    let session = with_a_slower_version(&home);
    let session = session.to_str().expect("a path");
    let written = |name: &str, options: &[&str]| {
        let to = home.path(name);
        let to_text = to.to_str().expect("a path");
        let export = ["export", session, "--chart", "network", "--profile", "2"];
        let run = home.run(&[&export[..], options, &["--to", to_text]].concat());
        assert_eq!(run.status, Some(0), "{run:?}");
        std::fs::read_to_string(&to).expect("a file")
    };
    let drawn = written("change.svg", &["--against-profile", "1"]);
    assert!(drawn.contains("slower · +"), "{drawn}");
    let table = written("change.csv", &["--against-profile", "1"]);
    let slower: Vec<&str> = table
        .lines()
        .filter(|line| line.ends_with(",slower"))
        .collect();
    assert_eq!(slower.len(), 1, "{slower:?}");
    assert!(table.lines().filter(|line| line.ends_with(",same")).count() > 20);
    let alone = written("alone.csv", &[]);
    assert!(!alone.contains("verdict"));
    let refused = home.run(&[
        "export",
        session,
        "--chart",
        "latency",
        "--against-profile",
        "1",
        "--to",
        "x.svg",
    ]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
}

#[test]
fn two_versions_of_a_file_are_drawn_as_one() {
    let home = Home::new();
    let to = home.path("change.svg");
    let to_text = to.to_str().expect("a path");
    let run = home.run(&[
        "model",
        "resnet34",
        "--against",
        "resnet18",
        "--picture",
        to_text,
    ]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let drawn = std::fs::read_to_string(&to).expect("a picture");
    assert!(drawn.contains("added · ") && drawn.contains("as before · "));
    assert!(run.err.contains("added"), "{run:?}");
}
