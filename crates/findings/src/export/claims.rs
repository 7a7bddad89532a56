//! The findings of `powerband check`, as text and as a JSON document.

use serde_json::{Value, json};

use crate::analysis::claims::PUBLISHED_MARK;
use crate::analysis::lint::{self, LintFinding, LintOrigin, LintSeverity};
use powerband_core::base::humanize;
use powerband_core::domain::session::Session;

/// One session with what was found in it.
pub fn checked(session: &Session, findings: &[LintFinding]) -> Value {
    json!({
        "name": session.name,
        "published": session.published.as_ref().map(|published| &published.source),
        "findings": findings,
    })
}

/// `2 contradictions, 1 doubt`.
pub fn count(findings: &[LintFinding]) -> String {
    let of = |weight: LintSeverity| {
        let number = findings
            .iter()
            .filter(|finding| finding.weight == weight)
            .count();
        (number > 0).then(|| humanize::pluralised(number as u64, weight.name()))
    };
    let words = [of(LintSeverity::Contradiction), of(LintSeverity::Doubt)];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The findings of a session, as text.
pub fn text(session: &Session, findings: &[LintFinding]) -> String {
    let mut text = match &session.published {
        Some(published) => format!("{}, {PUBLISHED_MARK}\n", published.source.title),
        None => format!("{}\n", session.name),
    };
    for (number, finding) in (1..).zip(findings) {
        let title = lint::check_by_id(finding.check).map_or("", |check| check.title);
        let origin = match finding.origin {
            LintOrigin::Published => "",
            LintOrigin::Measured => ", measured",
        };
        text.push_str(&format!(
            "\n{number}. {title}: {} ({}{origin})\n   stated   {}\n   follows  {}\n   sum      {}\n",
            finding.about,
            finding.weight.name(),
            finding.claimed,
            finding.follows,
            finding.sum
        ));
    }
    if findings.is_empty() {
        text.push_str(&format!(
            "Nothing was found: {} of the arithmetic agree with its numbers.\n",
            humanize::pluralised(lint::ALL.len() as u64, "check")
        ));
    } else {
        text.push_str(&format!("\n{}\n", count(findings)));
    }
    text
}
