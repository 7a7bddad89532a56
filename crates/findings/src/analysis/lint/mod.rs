//! Whether numbers agree with each other: the arithmetic and the plausibility of what a session says,
//! published or measured. One file for each kind of check, and [`ALL`] lists them.
//!
//! A check compares what is stated with what follows from other stated numbers, and grants each number
//! the rounding of its digits. Flags of a measured case are not repeated here.

mod accuracy;
mod batches;
mod best;
mod devices;
mod efficiency;
mod gains;
mod measured;
mod networks;
mod phases;
mod promises;
mod rankings;
mod rates;
mod shares;
#[cfg(test)]
mod tests;
mod time_and_rate;
mod twins;
mod units;
mod values;
mod worst;

use powerband_core::base::humanize;
use powerband_core::domain::claim::{ClaimedFigure, PlacedFigure, Published};
use powerband_core::domain::session::Session;
use powerband_core::domain::written::WrittenBounds;
use serde::Serialize;

/// Beyond what the digits leave open, two numbers may differ by so much: a median and a mean do.
const LEEWAY: f64 = 0.02;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LintSeverity {
    /// It may be right, but the stated numbers do not show it.
    Doubt,
    /// Both cannot be right.
    Contradiction,
}

impl LintSeverity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Doubt => "doubt",
            Self::Contradiction => "contradiction",
        }
    }
}

/// Where the numbers of a finding are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LintOrigin {
    /// A document.
    Published,
    /// This session's own measurements.
    Measured,
}

/// A contradiction or a doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LintFinding {
    /// The identifier of the check that found it.
    pub check: &'static str,
    pub weight: LintSeverity,
    /// Where its numbers are from.
    pub origin: LintOrigin,
    /// Subject.
    pub about: String,
    /// What is stated.
    #[serde(rename = "stated")]
    pub claimed: String,
    /// What follows from the rest of the numbers.
    pub follows: String,
    /// The arithmetic, to be checked by the reader.
    pub sum: String,
}

impl LintFinding {
    fn contradiction(about: impl Into<String>) -> Self {
        Self {
            check: "",
            weight: LintSeverity::Contradiction,
            origin: LintOrigin::Published,
            about: about.into(),
            claimed: String::new(),
            follows: String::new(),
            sum: String::new(),
        }
    }

    fn doubt(about: impl Into<String>) -> Self {
        Self {
            weight: LintSeverity::Doubt,
            ..Self::contradiction(about)
        }
    }

    fn claimed(self, claimed: impl Into<String>) -> Self {
        Self {
            claimed: claimed.into(),
            ..self
        }
    }

    fn follows(self, follows: impl Into<String>) -> Self {
        Self {
            follows: follows.into(),
            ..self
        }
    }

    fn sum(self, sum: impl Into<String>) -> Self {
        Self {
            sum: sum.into(),
            ..self
        }
    }
}

/// One kind of check.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LintCheck {
    /// Its identifier, the same everywhere.
    pub id: &'static str,
    pub title: &'static str,
    /// What it looks at, in a sentence.
    pub sentence: &'static str,
    #[serde(skip)]
    find: fn(&Published) -> Vec<LintFinding>,
}

/// Every check, in the order of findings.
pub const ALL: &[LintCheck] = &[
    batches::CHECK,
    gains::CHECK,
    promises::CHECK,
    rankings::CHECK,
    rates::CHECK,
    units::CHECK,
    efficiency::CHECK,
    best::CHECK,
    worst::CHECK,
    devices::CHECK,
    phases::CHECK,
    shares::CHECK,
    twins::CHECK,
    values::CHECK,
    networks::CHECK,
    accuracy::CHECK,
];

/// The check of an identifier.
pub fn check_by_id(id: &str) -> Option<&'static LintCheck> {
    ALL.iter().find(|check| check.id == id)
}

/// Everything that does not add up in a session.
pub fn lint_findings(session: &Session) -> Vec<LintFinding> {
    let published = session.published.iter().flat_map(published_findings);
    let measured = published_findings(&measured::measured_as_published(session))
        .into_iter()
        .map(|finding| LintFinding {
            origin: LintOrigin::Measured,
            ..finding
        });
    published.chain(measured).collect()
}

/// Everything that does not add up in a document.
pub fn published_findings(published: &Published) -> Vec<LintFinding> {
    let mut findings: Vec<LintFinding> = Vec::new();
    for check in ALL {
        for finding in (check.find)(published) {
            let finding = LintFinding {
                check: check.id,
                ..finding
            };
            // Documents repeat themselves.
            let is_known = |known: &LintFinding| {
                known.check == finding.check
                    && known.about == finding.about
                    && known.sum == finding.sum
            };
            if !findings.iter().any(is_known) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// A number in seconds, items a second, bytes, shares or ones; nothing where its unit is not known.
fn base_bounds(figure: &ClaimedFigure) -> Option<WrittenBounds> {
    Some(figure.value.bounds().times(figure.scale()?))
}

/// The same without what its digits leave open.
fn base_value(figure: &ClaimedFigure) -> Option<f64> {
    Some(figure.value.value() * figure.scale()?)
}

/// A number of a sum.
fn number(value: f64) -> String {
    humanize::significant(value, 3)
}

/// A share in percent.
fn percent(share: f64) -> String {
    format!("{} %", humanize::significant(share * 100.0, 2))
}

/// A time.
fn time(seconds: f64) -> String {
    humanize::duration_ns(seconds * 1e9)
}

/// What a figure is about: `ResNet-34 at batch 32`.
fn subject_text(figure: &ClaimedFigure) -> String {
    let batch = figure.batch.map(|batch| format!("batch {batch}"));
    match (figure.subject.is_empty(), batch) {
        (true, None) => figure.metric.title().to_owned(),
        (true, Some(batch)) => batch,
        (false, None) => figure.subject.clone(),
        (false, Some(batch)) => format!("{} at {batch}", figure.subject),
    }
}

/// The same with the table where it stands.
fn placed_subject_text(placed: &PlacedFigure) -> String {
    let about = subject_text(&placed.figure);
    if placed.place.is_empty() || placed.place == placed.figure.subject {
        about
    } else {
        format!("{about}, {}", placed.place)
    }
}
