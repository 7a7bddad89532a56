//! What limits a profiled case: its lines, its nodes, its wall time, and what was found.

use std::collections::BTreeMap;

use powerband_core::domain::case::CaseKey;
use serde::Serialize;

use super::bound::Bound;
use super::finding::LimitFinding;
use super::lines::{LaunchCost, RoofLine};
use super::node::NodeLimit;
use super::wall::WallTime;

/// What limits a profiled case.
#[derive(Clone, Debug, Serialize)]
pub struct Limits {
    /// The case, where the profile is of one of the session's.
    pub case: Option<CaseKey>,
    /// What the profile is called.
    #[serde(rename = "profile")]
    pub title: String,
    /// The lines that work is measured against.
    pub lines: Vec<RoofLine>,
    /// Nodes or kernels, most time first.
    #[serde(skip)]
    pub nodes: Vec<NodeLimit>,
    /// The wall time in parts that add up, or why it cannot be taken apart.
    #[serde(skip)]
    pub wall: Result<WallTime, String>,
    /// What one more node costs that does nothing, where that is known.
    #[serde(skip)]
    pub launch: Option<LaunchCost>,
    /// Whether the profiler took longer than the nodes, so that their times say nothing.
    #[serde(skip)]
    pub is_slowed: bool,
    /// Whether its nodes ran on the processor, so that pauses are those between nodes.
    #[serde(skip)]
    pub is_of_processor: bool,
    /// What was found, worst first.
    pub findings: Vec<LimitFinding>,
    /// What is not said, and why.
    pub abstained: Vec<String>,
}

impl Limits {
    /// Empty limits with a reason.
    pub(super) fn nothing(reason: &str) -> Self {
        Self {
            case: None,
            title: String::new(),
            lines: Vec::new(),
            nodes: Vec::new(),
            wall: Err(reason.to_owned()),
            launch: None,
            is_slowed: false,
            is_of_processor: false,
            findings: Vec::new(),
            abstained: vec![reason.to_owned()],
        }
    }

    /// How often nodes are started in a run.
    pub fn starts(&self) -> f64 {
        let starts = self.nodes.iter().map(|node| node.calls);
        starts.sum::<u64>() as f64
    }

    /// The share of all times whose cause is said, from 0 to 1.
    pub fn classified_share(&self) -> f64 {
        let said = self.nodes.iter().filter(|node| node.bound.is_ok());
        said.map(|node| node.share).sum()
    }

    /// The reason that leaves most time without a cause, and the share of all times without one, from 0 to 1; nothing
    /// where every cause is said.
    pub fn unjudged(&self) -> Option<(&str, f64)> {
        let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
        for node in &self.nodes {
            if let Err(reason) = &node.bound {
                *shares.entry(reason).or_default() += node.share;
            }
        }
        let all = shares.values().sum();
        let most = shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((most.0, all))
    }

    /// The floors of all nodes together, in nanoseconds, and the time of these nodes. Nodes that took less
    /// than their floor have none that counts.
    pub fn floors_ns(&self) -> (f64, f64) {
        let known = self.nodes.iter().filter(|node| {
            node.bound
                .as_ref()
                .is_ok_and(|bound| *bound != Bound::ModelWrong)
        });
        known.fold((0.0, 0.0), |(floors, times), node| {
            let floor = node.floor.map_or(0.0, |floor| floor.ns().min(node.time_ns));
            (floors + floor, times + node.time_ns)
        })
    }
}
