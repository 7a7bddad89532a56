//! What limits the cases of a session: its profiles by the model, its setups by their curves.

use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;

use super::case_limits::Limits;
use super::curve::{self, CurveLimits};
use super::finding::LimitFinding;
use crate::analysis::case_rows::CaseRow;

/// What limits the cases of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionLimits {
    /// Each profile, in the session's order.
    pub profiles: Vec<Limits>,
    /// Each setup whose curve says something.
    pub curves: Vec<CurveLimits>,
}

impl SessionLimits {
    /// What limits a session whose cases are in these rows, against these roofs.
    pub fn new(session: &Session, rows: &[CaseRow], roofs: &[Roofs]) -> Self {
        let profiles = 0..session.profiles.len();
        let setups = 0..session.plan.setups.len();
        Self {
            profiles: profiles
                .map(|profile| super::profile_limits(session, profile, roofs))
                .collect(),
            curves: setups
                .filter_map(|setup| curve::curve_limits_of_rows(session, rows, setup, roofs).ok())
                .filter(|curve| !curve.findings.is_empty())
                .collect(),
        }
    }

    /// The findings that leave most over all, each with the name of its profile or setup; of profiles those alone
    /// whose nodes have known work.
    pub fn worst(&self, session: &Session, most: usize) -> Vec<(String, &LimitFinding)> {
        let has_work = |limits: &&Limits| limits.nodes.iter().any(|node| node.work.is_some());
        let profiles = self.profiles.iter().filter(has_work).flat_map(|limits| {
            let findings = limits.findings.iter();
            findings.map(|finding| (limits.title.clone(), finding))
        });
        let curves = self.curves.iter().flat_map(|curve| {
            let findings = curve.findings.iter();
            findings.map(|finding| (session.setup_label(curve.setup), finding))
        });
        let mut all: Vec<(String, &LimitFinding)> = profiles.chain(curves).collect();
        let left = |finding: &LimitFinding| finding.at_most_overall.unwrap_or(0.0);
        all.sort_by(|a, b| left(b.1).total_cmp(&left(a.1)));
        all.truncate(most);
        all
    }
}
