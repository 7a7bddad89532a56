//! What profiles, shares and columns are called.

use super::{ProfileRef, profile, profile_refs};
use crate::sessions::OpenSessions;
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::Filter;

/// Least shares that rows can be asked to have, in percent.
pub const THRESHOLDS: [f64; 5] = [0.0, 0.1, 1.0, 2.0, 5.0];

/// The name of the field for the runs of the profile that is shown.
pub const AFTER: &str = "Runs in this profile";
/// The name of the field for the runs of the profile that it is compared with.
pub const BEFORE: &str = "Runs in the profile before";

/// What a least share is called, from 0 to 1.
pub fn least_share(share: f64) -> String {
    if share == 0.0 {
        "Any share".to_owned()
    } else {
        format!("At least {} %", humanize::significant(share * 100.0, 1))
    }
}

/// The text where no row is shown.
pub fn nothing_left(filter: &Filter) -> String {
    let words = filter.words.trim();
    let share = least_share(filter.over).to_lowercase();
    if let Some(within) = &filter.within {
        return format!("No row of {} passes the filter.", within.title());
    }
    match (words.is_empty(), filter.over > 0.0) {
        (true, false) => "This profile has no times.".to_owned(),
        (true, true) => format!("No row has a share of {share}."),
        (false, false) => format!("No row has “{words}” in its names."),
        (false, true) => format!("No row has “{words}” in its names and a share of {share}."),
    }
}

/// A profile's name, with its session's where several profiles have it.
pub fn name(sessions: &OpenSessions, pick: ProfileRef) -> String {
    let Some(shown) = profile(sessions, pick) else {
        return String::new();
    };
    let picks = profile_refs(sessions);
    let called_so = |other: &&ProfileRef| {
        other.session == pick.session
            && profile(sessions, **other).is_some_and(|other| other.name == shown.name)
    };
    let mut name = shown.name.clone();
    if picks.iter().filter(called_so).count() > 1 {
        name = format!("{name}, {}", pick.profile + 1);
    }
    let Some(open) = sessions.get(pick.session) else {
        return name;
    };
    let machine = shown
        .case
        .and_then(|case| open.session.machine_of(case.setup));
    if let Some(machine) = machine.filter(|machine| !name.contains(&machine.name)) {
        name = format!("{name}, on {}", machine.name);
    }
    let is_alone = picks.iter().all(|other| other.session == pick.session);
    if is_alone || open.session.name == shown.name {
        name
    } else {
        format!("{name} · {}", sessions.name(open))
    }
}
