//! What a session had before the rounds of its jobs: theirs come after it, or are kept apart from it.

use std::path::Path;

use super::record::{JobPart, JobRecord};
use powerband_core::base::paths::Paths;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::environment::Environment;
use powerband_core::domain::machine::RemoteMachine;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::session::Session;
use powerband_store::{library, session_file};

/// What a session had before the rounds of its jobs.
pub(super) struct RoundsBefore {
    /// The number of the next round.
    pub(super) next_round: u32,
    pub(super) elapsed_ns: u64,
    /// Starts of the worker of each setup.
    starts: Vec<u32>,
    machines: Vec<RemoteMachine>,
    /// Cases that are tried again.
    pub(super) retried: Vec<CaseKey>,
}

impl RoundsBefore {
    pub(super) fn of_session(session: &Session) -> Self {
        Self {
            next_round: session.next_round(),
            elapsed_ns: session.elapsed_ns,
            starts: (0..session.plan.setups.len())
                .map(|setup| session.starts_of(setup))
                .collect(),
            machines: session.machines.clone(),
            retried: Vec::new(),
        }
    }

    /// Numbers rounds and starts of a job after those that were there.
    pub(super) fn renumber(&self, case: &mut Case, setup: usize, later_ns: u64) {
        let starts = self.starts.get(setup).copied().unwrap_or_default();
        for round in &mut case.rounds {
            round.round += self.next_round;
            round.started_ns += later_ns;
            round.start = round.start.map(|start| start + starts);
        }
    }

    /// Whether a job measured its setups on another kind of machine than each on which they were measured before.
    pub(super) fn is_other_machine(&self, part: &JobPart, now: &Environment) -> bool {
        let of_part =
            |known: &&RemoteMachine| part.setups.iter().any(|at| known.setups.contains(at));
        let mut known = self.machines.iter().filter(of_part).peekable();
        let is_same = |known: &RemoteMachine| {
            let then = &known.environment;
            (&then.cpu.model, &then.kernel) == (&now.cpu.model, &now.kernel)
        };
        known.peek().is_some() && !known.any(is_same)
    }
}

/// Saves what a job measured on another kind of machine as a session of its own; the warning that says where.
pub(super) fn save_apart(
    paths: &Paths,
    record: &JobRecord,
    part: &JobPart,
    mut measured: Session,
    machine: RemoteMachine,
) -> Result<String, String> {
    let whole = &record.beginning.plan;
    let setups = part.setups.iter();
    measured.name.clone_from(&record.beginning.name);
    measured.plan = Plan {
        setups: setups
            .filter_map(|&at| whole.setups.get(at).cloned())
            .collect(),
        points: measured.plan.points,
        measure: measured.plan.measure,
        looks: measured.plan.looks,
        ..whole.clone()
    };
    for profile in &mut measured.profiles {
        profile.trace_file = None;
    }
    let warning = |path: &Path| {
        format!(
            "Job {} ran on another machine or kernel ({}, kernel {}) than the rounds before, so its rounds were not added: they are a session of their own, {}.",
            part.label(),
            machine.environment.cpu.model,
            machine.environment.kernel,
            path.display()
        )
    };
    let path = library::new_path(paths, &measured.name, &measured.created)
        .map_err(|error| error.to_string())?;
    let warning = warning(&path);
    measured.machines = vec![RemoteMachine {
        setups: (0..part.setups.len()).collect(),
        ..machine
    }];
    session_file::write(&path, &measured).map_err(|error| error.to_string())?;
    Ok(warning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::record::testing::part;
    use crate::testing::session;

    fn environment(cpu: &str) -> Environment {
        let mut environment = Environment::default();
        cpu.clone_into(&mut environment.cpu.model);
        environment
    }

    #[test]
    fn a_setup_that_was_measured_nowhere_yet_is_measured_anywhere() {
        let machine = |setup, cpu: &str| RemoteMachine {
            setups: vec![setup],
            environment: environment(cpu),
            ..RemoteMachine::default()
        };
        let mut session = session("first", "net.onnx", &["fake", "fake"], &[1]);
        session.machines = vec![machine(0, "Xeon"), machine(0, "EPYC")];
        let base = RoundsBefore::of_session(&session);
        let is_other = |setup, cpu| base.is_other_machine(&part(&[setup]), &environment(cpu));
        assert!(!is_other(1, "Ryzen"), "its first machine");
        assert!(!is_other(0, "Xeon") && !is_other(0, "EPYC"));
        assert!(is_other(0, "Ryzen"));
    }
}
