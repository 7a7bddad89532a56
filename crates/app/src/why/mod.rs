//! Why a case is slow, and how much is left: by the model, by the curve, by experiment.

pub(crate) mod action;
mod ask;
pub(crate) mod commands;
pub(crate) mod palette;
pub mod tally;
mod update;
mod work;

pub(crate) use ask::can_be_asked;
pub use ask::case_to_ask;

use crate::derived::Derived;
use crate::kernels;
use crate::sessions::{LIVE, OpenSession, OpenSessions, SessionId, Snapshot};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::experiment::Experiments;
use powerband_findings::analysis::limits::Limits;
use powerband_findings::analysis::limits::answer::CaseAnswer;
use powerband_findings::analysis::limits::bound::Bound;
use powerband_findings::analysis::limits::experiments::TriedExperiments;
use powerband_findings::analysis::limits::finding::LimitFinding;
use powerband_findings::analysis::limits::speed_of_light::LightRow;
use powerband_findings::chart::roofline::Roofline;
use powerband_findings::chart::wall_time::WallBar;

/// The subject of *Why*: a profile of an open session, or a session without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WhySubject {
    /// Which session.
    pub session: SessionId,
    /// The place of the profile in it.
    pub profile: Option<usize>,
}

impl WhySubject {
    /// Its profile as the kernels screen knows it.
    pub fn profile_ref(self) -> Option<kernels::ProfileRef> {
        let session = self.session;
        self.profile
            .map(|profile| kernels::ProfileRef { session, profile })
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct WhyResult {
    /// What was asked about.
    pub looking: WhySubject,
    /// The limits of its profile.
    pub limits: Option<Limits>,
    /// The nodes below their lines.
    pub roofline: Roofline,
    /// The wall time in parts, or why it cannot be taken apart.
    pub wall: Result<WallBar, String>,
    /// What limits it, and how sure that is.
    pub answer: Option<CaseAnswer>,
    /// What was tried, where the session has experiments on this case.
    pub tried: Option<TriedExperiments>,
    /// What was found, worst first, whatever it is known by.
    pub findings: Vec<LimitFinding>,
    /// The least time of an item for each step that was and was not taken.
    pub light: Vec<LightRow>,
    /// What is not said, and why.
    pub abstained: Vec<String>,
    /// Whether roofs of its device are known.
    pub has_roofs: bool,
}

impl WhyResult {
    /// What limits the profile in one line: the answer where it is settled, else the finding about the whole, else the
    /// worst one.
    pub fn headline(&self) -> Option<LimitHeadline> {
        if let Some(answer) = self.answer.as_ref().filter(|answer| answer.is_settled()) {
            return Some(LimitHeadline {
                sentence: answer.sentence.clone(),
                details: answer.sentence.clone(),
                basis: answer.certainty_text(),
                bound: answer.limits.first().map(|limit| limit.bound()),
            });
        }
        let mut findings = self.findings.iter();
        let whole = findings.find(|finding| finding.is_whole);
        let finding = whole.or_else(|| self.findings.first())?;
        Some(LimitHeadline {
            sentence: finding.sentence.clone(),
            details: finding.full_text(),
            basis: finding.basis.title().to_owned(),
            bound: finding.bound,
        })
    }

    /// The findings beside the answer, by their places: the one about the whole says the same as an answer.
    pub fn findings_beside_answer(&self) -> impl Iterator<Item = (usize, &LimitFinding)> {
        let is_said = self.answer.as_ref().is_some_and(CaseAnswer::is_settled);
        let all = self.findings.iter().enumerate();
        all.filter(move |(_, finding)| !(is_said && finding.is_whole))
    }
}

/// What limits a profile in one line.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitHeadline {
    pub sentence: String,
    /// The sentence with all that belongs to it.
    pub details: String,
    /// How it is known.
    pub basis: String,
    pub bound: Option<Bound>,
}

/// The screen.
#[derive(Debug, Default)]
pub struct WhyState {
    /// What is asked about.
    pub looking: Option<WhySubject>,
    /// Whether the user chose it; until then it is what the kernels screen shows.
    pub is_chosen: bool,
    /// The answer, with the session as it was then.
    pub found: Derived<(WhySubject, Snapshot), WhyResult>,
    /// The node that is selected, by its place.
    pub selected: Option<usize>,
}

/// Everything that can be asked about: each profile, and each session that has cases and no profile.
pub fn subjects(open: &OpenSessions) -> Vec<WhySubject> {
    let saved = open.iter().filter(|open| open.id != LIVE);
    let of = |open: &OpenSession| {
        let session = open.id;
        let profiles = 0..open.session.profiles.len();
        let has_cases = !open.session.cases.is_empty() && open.session.plan.can_run();
        // Experiments on a case that was not profiled have no other place.
        let asked = open.session.plan.experiments.as_ref();
        let is_bare = |asked: &Experiments| {
            let profiles = open.session.profiles.iter();
            let cases = profiles.filter_map(|profile| profile.case);
            !cases.into_iter().any(|case| case.setup == asked.setup)
        };
        let is_asked = asked.is_some_and(is_bare);
        let alone = has_cases && (is_asked || open.session.profiles.is_empty());
        let alone = alone.then_some(WhySubject {
            session,
            profile: None,
        });
        let profiles = profiles.map(move |profile| WhySubject {
            session,
            profile: Some(profile),
        });
        profiles.chain(alone).collect::<Vec<WhySubject>>()
    };
    saved.flat_map(of).collect()
}

/// What it is called.
pub fn name(open: &OpenSessions, looking: WhySubject) -> String {
    match looking.profile_ref() {
        Some(pick) => kernels::words::name(open, pick),
        None => open
            .get(looking.session)
            .map_or_else(String::new, |session| open.name(session)),
    }
}

/// What to do where nothing that is open can be asked about.
pub fn what_helps(open: &OpenSessions) -> &'static str {
    if open.is_empty() {
        "Open a session with a profile, or measure one: what limits each node follows from its work and from what this machine reaches."
    } else {
        "What is open has no profile and no case that was measured here. Profile a run, or import a profiler's file."
    }
}

impl WhyState {
    /// Keeps to what is there: what was chosen, else the profile that the kernels screen shows, else the first.
    pub(crate) fn drop_missing_subject(
        &mut self,
        open: &OpenSessions,
        kernels: Option<kernels::ProfileRef>,
    ) {
        let subjects = subjects(open);
        let chosen = self.looking.filter(|looking| subjects.contains(looking));
        self.is_chosen &= chosen.is_some();
        let shown = kernels.map(|pick| WhySubject {
            session: pick.session,
            profile: Some(pick.profile),
        });
        self.looking = chosen
            .filter(|_| self.is_chosen)
            .or_else(|| shown.filter(|shown| subjects.contains(shown)))
            .or_else(|| subjects.first().copied());
        self.found.keep_if(|(of, _)| Some(*of) == self.looking);
    }

    /// What ought to be computed now.
    pub(crate) fn wanted(&self, open: &OpenSessions) -> Option<(WhySubject, Snapshot)> {
        let looking = self.looking?;
        let key = (looking, open.get(looking.session)?.snapshot());
        self.found.needs(&key).then_some(key)
    }

    /// The case that an experiment would be about.
    pub fn case(&self, open: &OpenSessions) -> Option<CaseKey> {
        let looking = self.looking?;
        let session = &open.get(looking.session)?.session;
        let profile = looking
            .profile
            .and_then(|place| session.profiles.get(place));
        let asked = session.plan.experiments.as_ref().map(Experiments::case);
        let first = || session.cases.first().map(|case| case.key());
        let known = profile.map_or_else(first, |profile| profile.case);
        asked.or(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::profile::Profile;
    use powerband_findings::analysis::testing::{measure_near, session};

    fn put(open: &mut OpenSessions, id: u64, profiles: usize) {
        let mut session = session(&["ort:cpu"], &[1]);
        measure_near(&mut session, 0, 1, 1_000);
        session.profiles = vec![Profile::default(); profiles];
        open.put(OpenSession::from_session(SessionId(id), session));
    }

    #[test]
    fn profiles_and_bare_sessions_are_asked_about() {
        let mut open = OpenSessions::default();
        let mut state = WhyState::default();
        state.drop_missing_subject(&open, None);
        assert_eq!(state.looking, None);
        assert!(what_helps(&open).starts_with("Open a session"));
        put(&mut open, 1, 2);
        put(&mut open, 2, 0);
        let all = subjects(&open);
        let profiles: Vec<Option<usize>> = all.iter().map(|one| one.profile).collect();
        assert_eq!(profiles, [Some(0), Some(1), None]);
        // Until the user chooses, it is what the kernels screen shows.
        let pick = all[1].profile_ref();
        state.drop_missing_subject(&open, pick);
        assert_eq!(state.looking, Some(all[1]));
        (state.looking, state.is_chosen) = (Some(all[2]), true);
        state.drop_missing_subject(&open, pick);
        assert_eq!(state.looking, Some(all[2]));
        assert_eq!(state.wanted(&open).map(|key| key.0), Some(all[2]));
        assert_eq!(state.case(&open).map(|case| case.setup), Some(0));
        open.close(SessionId(2));
        state.drop_missing_subject(&open, pick);
        assert_eq!(state.looking, Some(all[1]));
    }
}
