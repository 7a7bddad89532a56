//! A session with a profile of a network that is larger than most: blocks of ten nodes, each with a connection around it.
//! The times are made up.

use std::path::Path;

use anyhow::{Context as _, Result};

use powerband_core::domain::case::CaseKey;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::SliceKind;
use powerband_onnx::pb::{GraphProto, ModelProto, NodeProto, ValueInfoProto};
use powerband_onnx::{file, source};

use crate::made_up;

/// Operators of a block; the last one adds what the block began with.
const BLOCK: [&str; 10] = [
    "Relu", "Neg", "Sigmoid", "Exp", "Abs", "Tanh", "Neg", "Sqrt", "Erf", "Add",
];

/// Writes the file of the network into a folder, and makes a session of it with so many nodes.
pub(crate) fn session(folder: &Path, n_nodes: usize) -> Result<Session> {
    let nodes = nodes(n_nodes);
    let totals = nodes.iter().enumerate().map(|(place, node)| Total {
        kind: SliceKind::Kernel,
        name: node.name.clone(),
        op: node.op_type.clone(),
        place: "CPUExecutionProvider".to_owned(),
        calls: 10,
        total_ns: 10_000 + (place as u64 * 7919) % 90_000,
        min_ns: None,
        max_ns: None,
        work: None,
    });
    let profile = Profile {
        name: "large".to_owned(),
        case: Some(CaseKey {
            setup: 0,
            point: Point::of_batch(1),
        }),
        runs: Some(10),
        totals: totals.collect(),
        ..Profile::default()
    };
    let path = folder.join("large.onnx");
    file::save(&path, &model(nodes))?;
    let path = path.to_str().context("a path that is no text")?;
    let mut session = made_up::session("large", 1, 2, 1, 12)?;
    session.model = ModelRef {
        name: "large".to_owned(),
        file: path.to_owned(),
        sha256: source::open(path, folder)?.sha256,
        ..ModelRef::default()
    };
    session.profiles.push(profile);
    Ok(session)
}

fn nodes(n_nodes: usize) -> Vec<NodeProto> {
    let value = |place: usize| format!("value {place}");
    let node = |place: usize| {
        let (block, step) = (place / BLOCK.len(), place % BLOCK.len());
        let op = BLOCK[step];
        let is_last = step + 1 == BLOCK.len();
        let around = is_last.then(|| value(block * BLOCK.len()));
        NodeProto {
            name: format!("layers.{block}.{}{step}", op.to_lowercase()),
            op_type: op.to_owned(),
            input: [value(place)].into_iter().chain(around).collect(),
            output: vec![value(place + 1)],
            ..NodeProto::default()
        }
    };
    (0..n_nodes).map(node).collect()
}

fn model(nodes: Vec<NodeProto>) -> ModelProto {
    let port = |name: &String| ValueInfoProto {
        name: name.clone(),
        ..ValueInfoProto::default()
    };
    let input = nodes.iter().take(1).flat_map(|node| &node.input).map(port);
    let last = nodes.iter().next_back();
    let output = last.into_iter().flat_map(|node| &node.output).map(port);
    ModelProto {
        ir_version: 8,
        graph: Some(GraphProto {
            input: input.collect(),
            output: output.collect(),
            node: nodes,
            ..GraphProto::default()
        }),
        ..ModelProto::default()
    }
}
