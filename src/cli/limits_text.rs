//! What limits a case, as text: findings, the wall time, and what is not said.

use powerband_core::base::humanize;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::limits::Limits;
use powerband_findings::analysis::limits::session_limits::SessionLimits;
use powerband_findings::analysis::limits::speed_of_light::LightRow;
use powerband_findings::tables::{self, view::View};

/// Findings that are shown below a table of kernels.
const FINDINGS: usize = 3;
/// Where more of the time than this is not judged, that is said before anything that was found in the rest.
const MOSTLY: f64 = 0.5;

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

/// The worst findings of a session, against the roofs that were known when it was measured; empty where there are
/// none.
pub(super) fn of_session(session: &Session, rows: &[CaseRow]) -> String {
    let found = SessionLimits::new(session, rows, &session.roofs);
    let worst = found.worst(session, FINDINGS);
    if worst.is_empty() {
        return String::new();
    }
    let unjudged = found.profiles.iter().filter_map(|limits| {
        let (reason, share) = limits.unjudged().filter(|(_, share)| *share > MOSTLY)?;
        let share = humanize::percent(share);
        Some(format!(
            "· {}: {share} of the time is not judged: {reason}\n",
            limits.title
        ))
    });
    let said = worst
        .into_iter()
        .map(|(name, finding)| format!("· {name}: {}\n", finding.in_full()));
    let lines: Vec<String> = unjudged.chain(said).collect();
    format!("What limits it most\n{}", lines.concat())
}

/// The least times of a network as a table, with the reasons for what is not said; empty where no least time is
/// known.
pub(super) fn speed_of_light(rows: &[LightRow]) -> String {
    if rows.iter().all(|row| row.floor_ns.is_none()) {
        return String::new();
    }
    let table = View::new(tables::speed_of_light::of_rows(rows)).to_text();
    let reasons: String = rows
        .iter()
        .filter_map(|row| Some(format!("· {}: {}\n", row.title, row.reason.as_ref()?)))
        .collect();
    format!("\nSpeed of light: the least time of an item here\n{table}{reasons}")
}
