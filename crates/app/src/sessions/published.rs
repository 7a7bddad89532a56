//! What a session publishes, and what does not add up in it.

use std::sync::Arc;

use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::claims::{self, PublishedCurve, PublishedTable};
use powerband_findings::analysis::lint::LintFinding;
use powerband_findings::analysis::published_session;

/// What a session publishes, and what does not add up in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// The session with what it publishes as setups, for comparisons; nothing where it publishes no times.
    pub comparable: Option<ComparableSession>,
    /// Its published curves.
    pub curves: Vec<PublishedCurve>,
    /// Where its published numbers are from.
    pub head: Vec<(&'static str, String)>,
    /// The tables of its published numbers.
    pub sheets: Vec<PublishedTable>,
    /// What does not add up, in what was published and in what was measured.
    pub findings: Vec<LintFinding>,
}

/// A session with its cases in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparableSession {
    pub session: Arc<Session>,
    pub rows: Arc<Vec<CaseRow>>,
}

impl Claims {
    /// Finds everything.
    pub fn from_session(session: &Session) -> Self {
        let findings = powerband_findings::analysis::lint::lint_findings(session);
        let Some(published) = &session.published else {
            return Self {
                findings,
                ..Self::default()
            };
        };
        Self {
            comparable: published_session::with_published_setups(session).map(|session| {
                ComparableSession {
                    rows: Arc::new(case_rows::case_rows(&session)),
                    session: Arc::new(session),
                }
            }),
            curves: claims::published_curves(published),
            head: claims::source_facts(published),
            sheets: claims::published_tables(published),
            findings,
        }
    }

    /// Whether there is anything to show.
    pub fn is_empty(&self) -> bool {
        self.sheets.is_empty() && self.head.is_empty() && self.findings.is_empty()
    }
}
