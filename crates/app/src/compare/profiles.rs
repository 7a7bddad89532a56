//! Profiles as the sides of a comparison: a profile itself, or that of a setup.

use std::sync::Arc;

use super::{CompareState, SideChoice};
use crate::kernels::{self, KernelsRequest, ProfileRef};
use crate::sessions::{OpenSession, OpenSessions};
use powerband_core::base::paths::Paths;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::conditions;
use powerband_findings::analysis::headline::Headline;
use powerband_findings::analysis::kernel_comparison::KernelComparison;
use powerband_findings::analysis::profile_runs::Times;

/// What the kernels of two profiles differ by.
#[derive(Clone, Debug)]
pub struct ComparedProfiles {
    /// The two profiles, before and after.
    pub sides: [ProfileRef; 2],
    /// A row for each kernel that both have, or one.
    pub comparison: KernelComparison,
    /// The answer, and what changed.
    pub headline: Headline,
}

impl SideChoice {
    /// The profile of this side: itself, or that of its setup.
    pub fn profile_in(self, open: &OpenSessions) -> Option<ProfileRef> {
        let session = self.session;
        match self.profile {
            Some(profile) => Some(ProfileRef { session, profile }),
            None if self.whole => None,
            None => profile_of(open.get(session)?, self.setup, self.point),
        }
    }
}

/// The profile of a setup: of this case where there is one, else of any.
pub(crate) fn profile_of(
    open: &OpenSession,
    setup: usize,
    point: Option<Point>,
) -> Option<ProfileRef> {
    let exact = point.and_then(|point| profile_of_case(open, CaseKey { setup, point }));
    exact.or_else(|| profile_where(open, |case| case.setup == setup))
}

/// The profile of exactly this case.
pub(crate) fn profile_of_case(open: &OpenSession, key: CaseKey) -> Option<ProfileRef> {
    profile_where(open, |case| case == key)
}

fn profile_where(open: &OpenSession, is_it: impl Fn(CaseKey) -> bool) -> Option<ProfileRef> {
    let mut profiles = open.session.profiles.iter();
    let profile = profiles.position(|profile| profile.case.is_some_and(&is_it))?;
    Some(ProfileRef {
        session: open.id,
        profile,
    })
}

/// A profile as a side.
pub fn side_of_profile(open: &OpenSessions, pick: ProfileRef) -> SideChoice {
    let case = kernels::profile(open, pick).and_then(|profile| profile.case);
    SideChoice {
        profile: Some(pick.profile),
        ..SideChoice::of_setup(pick.session, case.map_or(0, |case| case.setup))
    }
}

/// The first and the last profile of what is open, where there are two.
pub(super) fn first_and_last(open: &OpenSessions) -> (Option<SideChoice>, Option<SideChoice>) {
    let known = kernels::profile_refs(open);
    let ends = known.first().zip(known.last());
    let ends = ends.filter(|(first, last)| first != last);
    ends.map(|(first, last)| (side_of_profile(open, *first), side_of_profile(open, *last)))
        .unzip()
}

/// Another profile than the one that was chosen, of another session where there is one.
pub(super) fn other_profile(open: &OpenSessions, chosen: SideChoice) -> Option<SideChoice> {
    let chosen = chosen.profile_in(open)?;
    let known = kernels::profile_refs(open);
    let elsewhere = known.iter().find(|pick| pick.session != chosen.session);
    let other = elsewhere.or_else(|| known.iter().find(|pick| **pick != chosen));
    other.map(|pick| side_of_profile(open, *pick))
}

impl CompareState {
    /// Whether a side is a profile, so that the profiles of both are compared.
    pub fn compares_profiles(&self) -> bool {
        let sides = [self.before, self.after].into_iter().flatten();
        sides.into_iter().any(|side| side.profile.is_some())
    }

    /// The two profiles that are compared, where both sides have one.
    pub fn profile_sides(&self, open: &OpenSessions) -> Option<[ProfileRef; 2]> {
        let (before, after) = self.before.zip(self.after)?;
        Some([before.profile_in(open)?, after.profile_in(open)?])
    }

    /// Drops what was found of other profiles than those of the sides.
    pub(super) fn drop_other_profiles(&mut self, open: &OpenSessions) {
        let sides = self.profile_sides(open);
        let sides = sides.filter(|_| self.compares_profiles());
        self.profiles
            .keep_if(|(wanted, _)| sides == wanted.before.map(|before| [before, wanted.after]));
    }

    /// The profiles that ought to be compared and are not yet. `rules` counts the changes of the categories' rules.
    pub(super) fn wanted_profiles(
        &self,
        open: &OpenSessions,
        rules: u32,
    ) -> Option<kernels::Request> {
        if !self.compares_profiles() {
            return None;
        }
        let [before, after] = self.profile_sides(open)?;
        let wanted = KernelsRequest {
            after,
            before: Some(before),
            rules,
            typed_runs: [None, None],
            times: Times::PerRun,
        };
        let snapshot = |pick: ProfileRef| open.get(pick.session).map(OpenSession::snapshot);
        let request = (wanted, [after, before].map(snapshot));
        self.profiles.needs(&request).then_some(request)
    }
}

/// Compares two profiles, with what differs between their sessions.
pub(super) fn compare(request: &kernels::Request, paths: &Paths) -> Option<ComparedProfiles> {
    let found = kernels::add_up(request, paths)?;
    let before = found.before.as_ref()?;
    let comparison = found.comparison?;
    let pick = found.wanted.before?;
    let sides: [(&Arc<Session>, &Profile); 2] = [
        (before, before.profiles.get(pick.profile)?),
        (
            &found.session,
            found.session.profiles.get(found.wanted.after.profile)?,
        ),
    ];
    let setups = sides.map(|(session, profile)| {
        let setup = profile.case.map_or(0, |case| case.setup);
        (setup < session.plan.setups.len()).then_some((&**session, setup))
    });
    let differences = match setups {
        [Some(before), Some(after)] => conditions::differences(before, after),
        _ => Vec::new(),
    };
    let names = sides.map(|(_, profile)| profile.name.as_str());
    Some(ComparedProfiles {
        sides: [pick, found.wanted.after],
        headline: Headline::of_profiles(&comparison, names, &differences),
        comparison,
    })
}
