//! The cases of several sessions with the machines that they ran on.

use crate::analysis::case_rows::{self, CaseRow};
use crate::analysis::machine_lines::THIS_MACHINE;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::session::Session;

/// A session and what it is called beside others.
pub type NamedSession<'a> = (&'a str, &'a Session);

#[derive(Clone, Debug)]
pub(super) struct FleetRun<'a> {
    /// The place of its session among those that are compared.
    pub(super) place: usize,
    pub(super) session: &'a Session,
    pub(super) machine: MachineKey,
    pub(super) row: CaseRow,
    pub(super) setup: String,
    pub(super) model: String,
    /// Whether its machine was reached, so that something is known of it.
    pub(super) is_reached: bool,
}

/// What tells machines apart: a name and what the machine calls itself. This machine is known by its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MachineKey {
    pub(super) name: String,
    pub(super) host: String,
}

impl FleetRun<'_> {
    pub(super) fn key(&self) -> CaseKey {
        CaseKey {
            setup: self.row.setup,
            point: self.row.point,
        }
    }

    pub(super) fn is_measured(&self) -> bool {
        self.row.latency_ns.is_some() && !self.row.outcome.is_trouble()
    }

    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.setup == other.setup && self.row.point == other.row.point && self.model == other.model
    }
}

/// Every case of every session, with its machine.
pub(super) fn fleet_runs<'a>(sessions: &[NamedSession<'a>]) -> Vec<FleetRun<'a>> {
    let is_one = sessions.len() == 1;
    let mut runs = Vec::new();
    for (place, &(own_name, session)) in sessions.iter().enumerate() {
        // A copy of a session is no other machine.
        let is_copy = |other: &&NamedSession<'_>| other.1.is_of_one_run_with(session);
        let name = sessions
            .iter()
            .find(is_copy)
            .map_or(own_name, |first| first.0);
        let name = if is_one { THIS_MACHINE } else { name };
        runs.extend(session_runs(
            place,
            (name, session),
            case_rows::case_rows(session),
        ));
    }
    runs
}

/// The cases of a session, which are these rows, with their machines.
pub(super) fn session_runs(
    place: usize,
    (name, session): NamedSession<'_>,
    rows: Vec<CaseRow>,
) -> Vec<FleetRun<'_>> {
    let runs = rows.into_iter().filter_map(|row| {
        let spec = session.plan.setups.get(row.setup)?;
        let reached = session.machine_of(row.setup);
        let asked_for = spec.machine_asked_for();
        let machine = match reached {
            Some(machine) => MachineKey {
                name: machine.name.clone(),
                host: machine.host.clone(),
            },
            None => MachineKey {
                name: asked_for.unwrap_or(name).to_owned(),
                host: String::new(),
            },
        };
        let model = session.model_of(row.setup);
        Some(FleetRun {
            place,
            session,
            machine,
            setup: spec.clone().without_machine().to_string(),
            model: if model.sha256.is_empty() {
                model.name.clone()
            } else {
                model.sha256.clone()
            },
            is_reached: reached.is_some() || asked_for.is_none(),
            row,
        })
    });
    runs.collect()
}

/// One run for each case and machine: where there are several, a measured one, and of these the newest.
pub(super) fn newest_runs<'a>(
    runs: Vec<FleetRun<'a>>,
    remarks: &mut Vec<String>,
) -> Vec<FleetRun<'a>> {
    let mut kept: Vec<FleetRun<'a>> = Vec::new();
    for run in runs {
        let is_same = |one: &&mut FleetRun<'a>| one.machine == run.machine && one.is_alike(&run);
        let Some(one) = kept.iter_mut().find(is_same) else {
            kept.push(run);
            continue;
        };
        let remark = format!(
            "{} measured some cases several times; the newest of each counts.",
            run.machine.name
        );
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
        let rank = |run: &FleetRun<'a>| (run.is_measured(), run.session.created.clone());
        if rank(&run) > rank(one) {
            *one = run;
        }
    }
    kept
}

/// The machines of these runs, in their order.
pub(super) fn machines<'a>(runs: &'a [FleetRun<'_>]) -> Vec<&'a MachineKey> {
    let mut machines: Vec<&MachineKey> = Vec::new();
    for run in runs {
        if !machines.contains(&&run.machine) {
            machines.push(&run.machine);
        }
    }
    machines
}

/// The name of a machine, with what it calls itself where several have that name.
pub(super) fn shown_name(machine: &MachineKey, all: &[&MachineKey]) -> String {
    let MachineKey { name, host } = machine;
    let is_other = |other: &&&MachineKey| other.name == *name && other.host != *host;
    match all.iter().find(is_other) {
        Some(_) if !host.is_empty() => format!("{name} ({host})"),
        _ => name.clone(),
    }
}
