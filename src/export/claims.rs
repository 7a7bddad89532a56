//! What was found by checking numbers, as a JSON document: what `check --json` prints.

use serde_json::{Value, json};

use crate::analysis::lint::{ALL, Finding, Origin};
use crate::domain::session::Session;

/// One session with what was found in it.
pub fn checked(session: &Session, findings: &[Finding]) -> Value {
    json!({
        "name": session.name,
        "published": session.published.as_ref().map(|published| &published.source),
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

/// One finding.
pub fn finding(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "weight": finding.weight.name(),
        "origin": match finding.origin {
            Origin::Published => "published",
            Origin::Measured => "measured",
        },
        "about": finding.about,
        "stated": finding.claimed,
        "follows": finding.follows,
        "sum": finding.sum,
    })
}

/// Every check there is.
pub fn checks() -> Vec<Value> {
    let check = |check: &crate::analysis::lint::Check| json!({ "id": check.id, "title": check.title, "sentence": check.sentence });
    ALL.iter().map(check).collect()
}
