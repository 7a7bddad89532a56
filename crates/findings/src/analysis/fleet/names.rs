//! What the machines of sessions are called that were measured without `where=`: a session does not say which
//! machine it was measured on, only what that machine has.

use super::runs::NamedSession;
use crate::analysis::machine_lines::THIS_MACHINE;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::session::Session;

/// A name for each session, no two the same: each session counts as a machine.
pub fn names_by_session(sessions: &[NamedSession<'_>]) -> Vec<String> {
    if sessions.len() == 1 {
        return vec![THIS_MACHINE.to_owned()];
    }
    let mut names: Vec<String> = Vec::new();
    for (name, _) in sessions {
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut all = std::iter::once((*name).to_owned()).chain(numbered);
        names.extend(all.find(|name| !names.contains(name)));
    }
    names
}

/// A name for each session, the same for those whose machines have the same hardware: these are taken for one
/// machine.
pub fn names_by_hardware(sessions: &[NamedSession<'_>]) -> Vec<String> {
    let all = names_by_session(sessions);
    let mut names: Vec<String> = Vec::new();
    for (place, (_, session)) in sessions.iter().enumerate() {
        let same = sessions[..place].iter().position(|(_, other)| {
            runs_here(other) && has_same_hardware(&session.environment, &other.environment)
        });
        let name = same.map_or_else(|| all[place].clone(), |same| names[same].clone());
        names.push(name);
    }
    let here = sessions.iter().zip(&names);
    let mut here = here.filter(|((_, session), _)| runs_here(session));
    let first = here.next().map(|(_, name)| name.clone());
    if here.all(|(_, name)| Some(name) == first.as_ref()) {
        return names.iter().map(|_| THIS_MACHINE.to_owned()).collect();
    }
    names
}

/// Whether a setup of it ran on the machine that Powerband itself ran on.
fn runs_here(session: &Session) -> bool {
    let mut setups = 0..session.plan.setups.len();
    setups.any(|setup| {
        session.machine_of(setup).is_none()
            && session.plan.setups[setup].machine_asked_for().is_none()
    })
}

/// Whether processor and cards are the same. Drivers and kernels change on one machine.
fn has_same_hardware(one: &Environment, other: &Environment) -> bool {
    let hardware = |environment: &Environment| {
        let cpu = &environment.cpu;
        let cards = environment.gpus.iter();
        let cards: Vec<String> = cards.map(|card| card.name.clone()).collect();
        (cpu.model.clone(), cpu.cores, cpu.threads, cards)
    };
    hardware(one) == hardware(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::session;

    fn on(model: &str) -> Session {
        let mut session = session(&["ort:cpu"], &[1]);
        session.environment.cpu.model = model.to_owned();
        session
    }

    #[test]
    fn sessions_of_one_machine_share_its_name() {
        let sessions = [on("Example 9654"), on("Example 9654"), on("Example 7313P")];
        let named: Vec<NamedSession<'_>> = ["a", "b", "c"].into_iter().zip(&sessions).collect();
        assert_eq!(names_by_hardware(&named), ["a", "a", "c"]);
        assert_eq!(
            names_by_hardware(&named[..2]),
            ["this machine", "this machine"]
        );
        assert_eq!(names_by_session(&named), ["a", "b", "c"]);
    }

    #[test]
    fn two_files_of_one_name_stay_apart() {
        let sessions = [on("x"), on("x"), on("x")];
        let named: Vec<NamedSession<'_>> = sessions.iter().map(|session| ("a", session)).collect();
        assert_eq!(names_by_session(&named), ["a", "a (2)", "a (3)"]);
    }

    #[test]
    fn sessions_of_other_machines_alone_name_none_here() {
        let mut there = on("x");
        there.plan.setups = vec!["ort:cpu,where=rack".parse().unwrap()];
        let here = on("y");
        let named = [("there", &there), ("here", &here)];
        assert_eq!(names_by_hardware(&named), ["this machine", "this machine"]);
    }
}
