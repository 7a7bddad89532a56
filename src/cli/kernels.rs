//! `powerband kernels`: the time of a profile, alone or against another profile.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;

use super::args::{KernelsArgs, RowsBy};
use super::{Context, output};
use powerband_core::base::humanize;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::breakdown::{self, BreakdownLevel, Filter};
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::{kernel_comparison as comparison, limits};
use powerband_findings::export::kernels as documents;
use powerband_findings::report;
use powerband_store::roofs_file;
use powerband_store::session_file;

/// Letters of the list of other profiles.
const OTHERS: usize = 300;

/// Prints the time of a profile.
pub(super) fn run(context: &Context, args: &KernelsArgs) -> anyhow::Result<ExitCode> {
    let (session, place, others) = profile_of(&args.session, &args.profile)?;
    let profile = &session.profiles[place];
    let rules = Rules::with_user_rules(&context.settings.categories);
    for objection in &rules.errors {
        output::note(&format!("In the settings, {objection}"));
    }
    let filter = Filter {
        within: None,
        words: args.filter.clone(),
        over: args.over,
        top: args.top,
    };
    let level = args.by.map(|by| match by {
        RowsBy::Category => BreakdownLevel::Category,
        RowsBy::Operator => BreakdownLevel::Operator,
        RowsBy::Kernel => BreakdownLevel::Kernel,
    });
    if let Some(other) = &args.against {
        let (other, before, _) = profile_of(other, &args.against_profile)?;
        let before = &other.profiles[before];
        let found = match level {
            Some(level) => comparison::compare_by_level(before, profile, &rules, level),
            None => comparison::compare_profiles(before, profile, &rules),
        };
        let rows = found.shown(&filter);
        if args.json {
            output::document(&documents::comparison(&found, &rows))?;
        } else {
            let sections = report::kernels::comparison(before, profile, &found, &rows);
            output::sections(&sections)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut found = breakdown::profile_breakdown(profile, &rules, level.unwrap_or_default());
    let roofs = roofs_file::for_session(&session, &context.paths);
    let limits = limits::profile_limits(&session, place, &roofs);
    limits::rows::add_row_limits(&mut found, profile, &rules, &limits);
    let shown = found.filtered_rows(&filter);
    if args.json {
        output::document(&documents::document(profile, &found, &shown, &limits))?;
    } else {
        let most = args.top.unwrap_or(usize::MAX);
        let counters = report::kernels::counters(profile, &args.filter, most);
        let sections = report::kernels::breakdown(profile, &found, &shown, counters, &limits);
        output::sections(&sections)?;
        note_other_profiles(&others);
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists all further profiles.
fn note_other_profiles(others: &[String]) {
    if !others.is_empty() {
        let all = humanize::shorten(&others.join("; "), OTHERS);
        output::note(&format!("With --profile N there are also: {all}"));
    }
}

/// The session with the place of the chosen profile, by its number from 1 or its name, and all other
/// profiles with their numbers.
fn profile_of(path: &Path, wanted: &str) -> anyhow::Result<(Session, usize, Vec<String>)> {
    let session = session_file::read(path)?.session;
    let profiles = &session.profiles;
    if profiles.is_empty() {
        bail!(
            "{} has no profile. Make one with powerband bench --profile, or import another profiler's file with powerband import FILE",
            path.display()
        );
    }
    let by_name = profiles.iter().position(|profile| profile.name == wanted);
    let by_number = || wanted.parse::<usize>().ok()?.checked_sub(1);
    let place = by_name
        .or_else(by_number)
        .filter(|place| *place < profiles.len());
    let known = profiles.iter().enumerate();
    let mut known: Vec<String> = known
        .map(|(at, profile)| format!("{} {}", at + 1, profile.name))
        .collect();
    let Some(place) = place else {
        bail!(
            "{} has no profile {wanted}; it has {}",
            path.display(),
            known.join(", ")
        );
    };
    known.remove(place);
    Ok((session, place, known))
}
