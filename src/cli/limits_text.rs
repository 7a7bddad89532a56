//! What limits a case, as text: findings, the wall time, and what is not said.

use powerband_core::base::humanize;
use powerband_findings::analysis::limits::Limits;

/// Findings that are shown below a table of kernels.
const FINDINGS: usize = 3;

/// The worst findings of a profile with the wall time, and why others are missing; empty where no work of its
/// kernels is known.
pub(super) fn of_profile(limits: &Limits) -> String {
    if limits.nodes.iter().all(|node| node.work.is_none()) {
        return String::new();
    }
    let mut text = "\nLimits\n".to_owned();
    if let Ok(wall) = &limits.wall {
        let parts: Vec<String> = wall
            .parts
            .iter()
            .map(|part| format!("{} {}", part.kind.title(), humanize::percent(part.share)))
            .collect();
        text.push_str(&format!(
            "Wall time  {} = {}\n",
            humanize::duration_ns(wall.wall_ns),
            parts.join(" + ")
        ));
    }
    for finding in limits.findings.iter().take(FINDINGS) {
        text.push_str(&format!("· {}\n", finding.in_full()));
    }
    for reason in &limits.abstained {
        text.push_str(&format!("· {reason}\n"));
    }
    text
}
