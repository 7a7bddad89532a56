//! What an engine made of a network, as tables: rewrites of nodes, operators before and after, execution
//! providers, and the slowest nodes.

use std::collections::{BTreeMap, BTreeSet};

use super::examined;
use powerband_core::base::humanize;
use powerband_core::domain::examination::{Examination, FusionPattern, ProviderShare};
use powerband_core::domain::session::Session;

/// Nodes that are among the slowest.
pub const SLOWEST: usize = 10;

/// What an engine made of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExaminedGraph {
    /// In a line.
    pub in_short: String,
    /// What the times are means of: `10 runs of the profile ort:cpu, batch 1`.
    pub times_of: String,
    /// Rewrites of nodes of the file, the most frequent first.
    pub patterns: Vec<FusionPattern>,
    /// Nodes that stayed what they were.
    pub unchanged: u64,
    /// Nodes by operator, the most frequent first.
    pub operators: Vec<OperatorCount>,
    /// Execution providers, most nodes first.
    pub providers: Vec<ProviderShare>,
    /// Copies between devices, and their share of the time.
    pub copies: (u64, f64),
    /// Changes of the order in which values lie in memory, and their share of the time.
    pub layout_changes: (u64, f64),
    /// The slowest nodes, slowest first.
    pub slowest: Vec<SlowNode>,
    /// The fallback: what ran on the processor in place of the chosen provider, where it matters.
    pub fallback: Option<String>,
    /// Notes on what is not known.
    pub notes: Vec<String>,
}

/// How many nodes there are of one operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorCount {
    pub name: String,
    /// In the file.
    pub before: u64,
    /// Once the engine has prepared it.
    pub after: u64,
}

/// One of the slowest nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowNode {
    /// What the engine calls it.
    pub name: String,
    /// Its operator.
    pub op: String,
    /// Its execution provider.
    pub provider: String,
    /// Its mean time in a run, in nanoseconds.
    pub time_ns: u64,
    /// Of the time of all nodes, between 0 and 1.
    pub share: f64,
}

/// Makes the tables of a setup whose graph was looked at.
pub fn graph_of_setup(session: &Session, setup: usize) -> Option<ExaminedGraph> {
    let timed = examined::timed_examination(session, setup)?;
    let mut graph = graph_of_examination(&timed.examination);
    if let Some(profile) = timed.profile {
        graph
            .times_of
            .push_str(&format!(" of the profile {}", profile.name));
    }
    Some(graph)
}

fn graph_of_examination(examination: &Examination) -> ExaminedGraph {
    let total = examination.total_ns();
    let share = |time: u64| {
        if total == 0 {
            0.0
        } else {
            time as f64 / total as f64
        }
    };
    let told = |nodes: Vec<&powerband_core::domain::examination::NodeRun>| {
        let time = nodes.iter().map(|node| share(node.time_ns)).sum();
        (nodes.len() as u64, time)
    };
    let mut slowest: Vec<SlowNode> = examination
        .nodes
        .iter()
        .filter(|node| node.time_ns > 0)
        .map(|node| SlowNode {
            name: node.name.clone(),
            op: node.op.clone(),
            provider: node.provider.clone(),
            time_ns: node.time_ns,
            share: share(node.time_ns),
        })
        .collect();
    slowest.sort_by_key(|node| std::cmp::Reverse(node.time_ns));
    slowest.truncate(SLOWEST);
    ExaminedGraph {
        in_short: examined::examination_text(examination),
        times_of: humanize::pluralised(u64::from(examination.runs), "run"),
        patterns: patterns(examination),
        unchanged: examination.fusions.unchanged(),
        operators: operators(&examination.before, &examination.after()),
        providers: examination.providers(),
        copies: told(examination.copies()),
        layout_changes: told(examination.layout_changes()),
        slowest,
        fallback: examined::fallback_sentence(examination),
        notes: examination.notes.clone(),
    }
}

/// Rewrites of nodes of the file, and nodes that were added.
fn patterns(examination: &Examination) -> Vec<FusionPattern> {
    let mut patterns = examination.fusions.patterns();
    let added = examination.fusions.added_by_op().into_iter();
    patterns.extend(added.map(|(op, count)| FusionPattern {
        from: Vec::new(),
        to: Some(op),
        count,
    }));
    patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.count));
    patterns
}

fn operators(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> Vec<OperatorCount> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let count = |counts: &BTreeMap<String, u64>, name: &String| counts.get(name).copied();
    let mut operators: Vec<OperatorCount> = names
        .into_iter()
        .map(|name| OperatorCount {
            before: count(before, name).unwrap_or_default(),
            after: count(after, name).unwrap_or_default(),
            name: name.clone(),
        })
        .collect();
    operators.sort_by_key(|operator| std::cmp::Reverse(operator.before.max(operator.after)));
    operators
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::examination::{Fusions, NamedNode, NodeRun, PreparedNode};

    fn node(op: &str, provider: &str, time_ns: u64) -> NodeRun {
        NodeRun {
            name: format!("{op}_{time_ns}"),
            op: op.to_owned(),
            provider: provider.to_owned(),
            time_ns,
        }
    }

    fn origin(op: &str) -> NamedNode {
        NamedNode {
            name: op.to_lowercase(),
            op: op.to_owned(),
        }
    }

    #[test]
    fn nodes_are_told_before_and_after_with_the_slowest_first() {
        let mut nodes: Vec<NodeRun> = (1..=12).map(|i| node("Conv", "CUDA", i * 10)).collect();
        nodes.push(node("NonZero", "CPU", 200));
        nodes.push(node("MemcpyToHost", "CUDA", 20));
        let graph = graph_of_examination(&Examination {
            asked: "CUDA".to_owned(),
            runs: 5,
            before: [
                ("Conv".to_owned(), 12),
                ("Relu".to_owned(), 12),
                ("NonZero".to_owned(), 1),
            ]
            .into(),
            nodes,
            fusions: Fusions {
                became: vec![PreparedNode {
                    node: "c".to_owned(),
                    op: "FusedConv".to_owned(),
                    from: vec![origin("Conv"), origin("Relu")],
                }],
                gone: Vec::new(),
                added: vec![origin("MemcpyToHost"), origin("MemcpyToHost")],
            },
            notes: Vec::new(),
        });
        assert_eq!(graph.slowest.len(), SLOWEST);
        assert_eq!(
            (graph.slowest[0].op.as_str(), graph.slowest[0].share),
            ("NonZero", 0.2)
        );
        assert_eq!(graph.slowest[1].name, "Conv_120");
        let counts: Vec<(&str, u64, u64)> = graph
            .operators
            .iter()
            .map(|operator| (operator.name.as_str(), operator.before, operator.after))
            .collect();
        assert_eq!(
            counts,
            [
                ("Conv", 12, 12),
                ("Relu", 12, 0),
                ("MemcpyToHost", 0, 1),
                ("NonZero", 1, 1)
            ]
        );
        assert_eq!(graph.copies, (1, 0.02));
        assert_eq!(graph.patterns[0].to.as_deref(), Some("MemcpyToHost"));
        assert!(graph.patterns[0].from.is_empty());
        assert!(graph.fallback.unwrap().contains("1 × NonZero"));
    }

    #[test]
    fn nothing_looked_at_is_nothing_found() {
        let graph = graph_of_examination(&Examination::default());
        assert!(graph.slowest.is_empty() && graph.operators.is_empty());
        assert_eq!((graph.copies, graph.fallback), ((0, 0.0), None));
    }
}
