//! Published numbers and what is wrong with numbers, as text on a terminal.

use crate::analysis::claims::{self, MARK, Sheet};
use crate::analysis::lint::{self, Finding, Origin, Weight};
use crate::base::humanize;
use crate::domain::claim::Published;
use crate::domain::session::Session;

/// Where the numbers are from, and the tables of them.
pub fn published(published: &Published) -> String {
    let mut text = String::new();
    for (what, words) in claims::head(published) {
        text.push_str(&format!("{what:<9}{words}\n"));
    }
    for sheet in claims::sheets(published) {
        text.push_str(&format!("\n{}, {MARK}\n{}", sheet.title, table(&sheet)));
    }
    text
}

fn table(sheet: &Sheet) -> String {
    let header: Vec<&str> = sheet.columns.iter().map(String::as_str).collect();
    humanize::table(&header, &sheet.rows, sheet.words)
}

/// How many findings there are, in a line; nothing for none.
pub fn in_short(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    format!(
        "! These numbers do not all agree: {}. powerband check goes through them.\n",
        count(findings)
    )
}

/// `2 contradictions, 1 doubt`.
fn count(findings: &[Finding]) -> String {
    let of = |weight: Weight| {
        let number = findings
            .iter()
            .filter(|finding| finding.weight == weight)
            .count();
        (number > 0).then(|| humanize::of_many(number as u64, weight.name()))
    };
    let words = [of(Weight::Contradiction), of(Weight::Doubt)];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Everything that was found in a session, one after the other.
pub fn findings(session: &Session, findings: &[Finding]) -> String {
    let mut text = match &session.published {
        Some(published) => format!("{}, {MARK}\n", published.source.title),
        None => format!("{}\n", session.name),
    };
    for (number, finding) in (1..).zip(findings) {
        let title = lint::check(finding.check).map_or("", |check| check.title);
        let origin = match finding.origin {
            Origin::Published => "",
            Origin::Measured => ", measured",
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
            humanize::of_many(lint::ALL.len() as u64, "check")
        ));
    } else {
        text.push_str(&format!("\n{}\n", count(findings)));
    }
    text
}
