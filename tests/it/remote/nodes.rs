//! Nodes of a real Slurm: one that goes down in the middle of a run, two plans at once on one node, and sixteen setups
//! on four nodes.

use super::bench::bench;
use super::cluster::Cluster;
use super::server::{self, program};
use super::walltime::{begin, ended};
use crate::support::Home;

fn there(fixed: u32, more: &str) -> String {
    let program = program();
    format!("fake,fixed={fixed},where=slurm:all,{more}remote_program={program}")
}

#[test]
fn a_node_that_goes_down_ends_its_case_and_keeps_what_was_measured() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let home = Home::new();
    let setups = [there(150_991, "sleep=yes,"), "fake".to_owned()];
    let child = begin(
        &cluster,
        &home,
        &bench("8", setups.iter().map(String::as_str)),
    );
    home.until_measured(2);
    let down = ["update", "nodename=n1", "state=down", "reason=test"];
    cluster.tool("scontrol", &down);
    let run = ended(child);
    let outcomes = run.outcomes();
    assert_eq!(outcomes[0].2, "lost", "{run:#?}");
    assert_eq!(outcomes[1].2, "finished", "{run:#?}");
    let case = run.json()["cases"][0].clone();
    assert!(
        case["rounds"].as_u64().is_some_and(|rounds| rounds >= 1),
        "{case:#}"
    );
    let reason = case["reason"].as_str().unwrap_or_default().to_lowercase();
    assert!(reason.contains("node"), "{reason}");
    cluster.until_given_back();
    server::until_gone("fixed=150991");
}

#[test]
fn two_plans_at_once_share_a_node() {
    let Some(cluster) = Cluster::start(1) else {
        return;
    };
    let homes = [Home::new(), Home::new()];
    let setups = [100_211, 100_223].map(|fixed| [there(fixed, "sleep=yes,")]);
    let mut children = Vec::new();
    for (home, setups) in homes.iter().zip(&setups) {
        children.push(begin(
            &cluster,
            home,
            &bench("3", setups.iter().map(String::as_str)),
        ));
    }
    for (child, fixed) in children.into_iter().zip([100.211, 100.223]) {
        let run = ended(child);
        assert_eq!(run.status, Some(0), "{run:#?}");
        let median = run.json()["cases"][0]["latency_ms"]["median"].as_f64();
        // Each has its own times, and not the other's.
        assert!(
            median.is_some_and(|median| median > fixed * 0.9),
            "{run:#?}"
        );
    }
    cluster.until_given_back();
    server::until_gone("--setup fake:cpu,fixed=1002");
}

#[test]
fn sixteen_setups_are_measured_on_four_nodes() {
    let Some(cluster) = Cluster::start(4) else {
        return;
    };
    let home = Home::new();
    let setups: Vec<String> = (0..16_u32)
        .map(|n| there(1_000 + n, &format!("slurm.nodelist=n{},", 1 + n % 4)))
        .collect();
    let run = ended(begin(
        &cluster,
        &home,
        &bench("2", setups.iter().map(String::as_str)),
    ));
    assert_eq!(run.status, Some(0), "{run:#?}");
    let outcomes = run.outcomes();
    assert_eq!(outcomes.len(), 16, "{run:#?}");
    assert!(
        outcomes.iter().all(|(_, _, outcome)| outcome == "finished"),
        "{outcomes:#?}"
    );
    let rounds = run.json()["cases"].as_array().cloned().unwrap_or_default();
    assert!(rounds.iter().all(|case| case["rounds"] == 2), "{run:#?}");
    cluster.until_given_back();
}
