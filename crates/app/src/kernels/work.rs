//! Background work for kernels: adding profiles up, and changing the rules for categories.

use std::sync::Arc;

use super::{KernelsResult, Request};
use powerband_core::base::paths::Paths;
use powerband_findings::analysis::breakdown::{self, Breakdown, BreakdownLevel};
use powerband_findings::analysis::category::{Category, Rules};
use powerband_findings::analysis::kernel_comparison;
use powerband_findings::analysis::limits;
use powerband_findings::analysis::profile_runs::ProfileRuns;
use powerband_store::roofs_file;
use powerband_store::settings;

/// A change of the user's rules for categories.
pub(crate) enum RuleChange {
    /// One more, before the others.
    Add(Category, String),
    /// Without the one at a place.
    Forget(usize),
}

/// Adds a profile up, and compares it with another one where that is wanted.
pub(crate) fn add_up(
    (wanted, [session, before]): &Request,
    paths: &Paths,
) -> Option<KernelsResult> {
    let session = &session.as_ref()?.0;
    let before = before.as_ref().map(|before| &before.0);
    let own = settings::read(&paths.settings);
    let own = own.map(|settings| settings.categories).unwrap_or_default();
    let rules = Rules::with_user_rules(&own);
    let profile = session.profiles.get(wanted.after.profile)?;
    let [typed_before, typed] = wanted.typed_runs;
    let runs = ProfileRuns::from_profile_or_user(profile, typed);
    let roofs = roofs_file::for_session(session, paths);
    let limits = limits::profile_limits(session, wanted.after.profile, &roofs);
    let breakdowns = BreakdownLevel::ALL.map(|level| {
        let mut found = Breakdown {
            runs,
            ..breakdown::profile_breakdown(profile, &rules, level)
        };
        limits::rows::add_row_limits(&mut found, profile, &rules, &limits);
        found
    });
    let other = wanted.before.zip(before);
    let other = other.and_then(|(pick, session)| session.profiles.get(pick.profile));
    let comparison = other.map(|other| {
        let runs = [ProfileRuns::from_profile_or_user(other, typed_before), runs];
        kernel_comparison::compare_over_runs((other, profile), &rules, runs, wanted.times)
    });
    Some(KernelsResult {
        wanted: *wanted,
        breakdowns,
        comparison,
        own,
        objections: rules.errors,
        session: Arc::clone(session),
        before: before.cloned(),
    })
}

/// Changes the user's rules in the settings.
pub(crate) fn change_rules(paths: &Paths, change: RuleChange) -> Result<(), String> {
    settings::read(&paths.settings).and_then(|mut settings| {
        match change {
            RuleChange::Add(category, pattern) => {
                let rule = (category.id().to_owned(), pattern);
                settings.categories.insert(0, rule);
            }
            RuleChange::Forget(place) if place < settings.categories.len() => {
                settings.categories.remove(place);
            }
            RuleChange::Forget(_) => {}
        }
        settings::write(&paths.settings, &settings)
    })
}
