//! Where numbers come from, on a line: the network, the machine, the day.

use powerband_core::base::humanize;
use powerband_core::domain::session::Session;

/// Longer names are cut, in characters.
const LONGEST_NAME: usize = 100;

/// Of all of these sessions, each name once; empty for none.
pub fn provenance_text(sessions: &[&Session]) -> String {
    let measured = || {
        let sessions = sessions.iter().copied();
        sessions.filter(|session| !session.is_published_only())
    };
    let networks = sessions.iter().flat_map(|session| session.networks());
    let models = networks.map(|network| network.model.name.as_str());
    let machines = measured().filter(|session| session.imported.is_none());
    let machines = machines.flat_map(machine);
    let mut parts = vec![distinct(models), distinct(machines)];
    if sessions.iter().any(|session| session.is_published_only()) {
        parts.push("published, not measured".to_owned());
    }
    let mut moments: Vec<&str> = measured().map(|session| &*session.created).collect();
    moments.sort_unstable();
    if let [first, .., last] = moments.as_slice() {
        parts.push(between(first, last));
    } else {
        parts.extend(moments.first().map(|moment| humanize::utc_moment(moment)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// The processors of the machines that it ran on, and their cards.
fn machine(session: &Session) -> impl Iterator<Item = &str> {
    let setups = 0..session.plan.setups.len();
    let reached = setups.filter(|&setup| {
        session.machine_of(setup).is_some()
            || session.plan.setups[setup].machine_asked_for().is_none()
    });
    reached.flat_map(|setup| {
        let environment = session.environment_of(setup);
        let cards = environment.gpus.iter().map(|card| card.name.as_str());
        std::iter::once(environment.cpu.model.as_str()).chain(cards)
    })
}

/// Each once, in the order in which they come.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut once: Vec<String> = Vec::new();
    for name in names {
        let short = humanize::shorten(name.trim(), LONGEST_NAME);
        if !short.is_empty() && !once.contains(&short) {
            once.push(short);
        }
    }
    once.join(" · ")
}

fn between(first: &str, last: &str) -> String {
    let (first, last) = (humanize::utc_moment(first), humanize::utc_moment(last));
    if first == last {
        return first;
    }
    let day = |moment: &str| moment.split(' ').next().unwrap_or_default().to_owned();
    match (day(&first), day(&last)) {
        (one, other) if one == other => one,
        (one, other) => format!("{one} to {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use powerband_core::domain::profile::Tool;

    fn session(model: &str, machine: &str, created: &str) -> Session {
        let mut session = testing::session(&["ort:cpu"], &[1]);
        session.model.name = model.to_owned();
        session.environment.cpu.model = machine.to_owned();
        session.environment.gpus.clear();
        session.created = created.to_owned();
        session
    }

    #[test]
    fn one_session_has_its_minute() {
        let one = session("resnet50", " Example 9000 ", "2026-10-03T21:05:09Z");
        let told = "resnet50 · Example 9000 · 2026-10-03 21:05 UTC";
        assert_eq!(provenance_text(&[&one]), told);
        assert_eq!(provenance_text(&[&one, &one]), told);
        assert_eq!(provenance_text(&[]), "");
    }

    #[test]
    fn several_sessions_have_each_name_once_and_their_days() {
        let before = session("resnet50", "Example 9000", "2026-09-14T18:22:07Z");
        let mut after = session("resnet50", "Example 9000", "2026-10-02T07:41:55Z");
        let told = "resnet50 · Example 9000 · 2026-09-14 to 2026-10-02";
        assert_eq!(provenance_text(&[&after, &before]), told);
        after.model.name = "vit".to_owned();
        after.created = "2026-09-14T19:00:00Z".to_owned();
        let told = "resnet50 · vit · Example 9000 · 2026-09-14";
        assert_eq!(provenance_text(&[&before, &after]), told);
    }

    #[test]
    fn what_was_measured_elsewhere_has_no_machine() {
        let mut one = session("resnet50", "This machine", "2026-10-03T21:05:09Z");
        one.imported = Some(Tool::default());
        assert_eq!(provenance_text(&[&one]), "resnet50 · 2026-10-03 21:05 UTC");
    }
}
