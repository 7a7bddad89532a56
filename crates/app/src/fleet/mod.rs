//! One setup on several machines: those of the open sessions.

pub(crate) mod action;
pub(crate) mod palette;
mod update;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::derived::Derived;
use crate::sessions::{LIVE, OpenSession, OpenSessions, Pin, SessionId, Snapshot};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::fleet::{Effects, Fleet, FleetCase, FleetMachine};
use powerband_findings::analysis::headline::Headline;
use powerband_findings::analysis::machine_lines::{self, MachineLine};
use powerband_findings::chart::fleet as chart;
use powerband_findings::chart::spec::ChartSpec;

/// Which case of a fleet is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseChoice {
    /// The name of the network.
    pub model: String,
    /// The setup, without what says where it runs.
    pub setup: String,
    /// The point of the sweep.
    pub point: Point,
}

impl CaseChoice {
    /// A case of a fleet.
    pub fn from_case(case: &FleetCase) -> Self {
        Self {
            model: case.model.clone(),
            setup: case.setup.clone(),
            point: case.point,
        }
    }
}

/// The sessions in which machines are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetRequest {
    sessions: Vec<(SessionId, String, Snapshot)>,
    each_session: bool,
}

/// The machines of some sessions.
#[derive(Debug)]
pub struct FoundFleet {
    /// What they were found in.
    pub wanted: FleetRequest,
    /// The cases that ran on several of them.
    pub fleet: Fleet,
    /// What setups bring on two machines.
    pub effects: Vec<Effects>,
    /// Every machine with its circumstances.
    pub machines: Vec<MachineLine>,
}

impl FoundFleet {
    /// The case of an open session that a machine measured.
    pub fn pin(&self, machine: &FleetMachine) -> Option<Pin> {
        let (session, ..) = self.wanted.sessions.get(machine.session)?;
        Some(Pin {
            session: *session,
            case: CaseKey {
                setup: machine.row.setup,
                point: machine.row.point,
            },
        })
    }

    /// The sessions that were compared.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.wanted
            .sessions
            .iter()
            .map(|(_, _, session)| &*session.0)
    }
}

/// The screen of machines.
#[derive(Debug, Default)]
pub struct FleetState {
    /// The case that is shown, where the user chose one.
    pub chosen: Option<CaseChoice>,
    /// The sessions whose machines are compared, by their files; nothing for all open ones.
    pub only: Option<BTreeSet<PathBuf>>,
    /// Whether each session counts as a machine; else sessions of the same hardware count as one.
    pub each_session: bool,
    /// What was found in these sessions.
    pub found: Derived<FleetRequest, Arc<FoundFleet>>,
    /// What is drawn of the case that is shown.
    pub drawn: FleetCharts,
}

/// What is drawn of a case, made when there is something new and not for each frame.
#[derive(Debug, Default)]
pub struct FleetCharts {
    /// The median of each machine.
    pub chart: ChartSpec,
    /// The answer, and what each machine has that no other has.
    pub headline: Headline,
    /// What setups bring on two machines, of this case's setup at its point.
    pub effects: Vec<Effects>,
}

impl FleetState {
    /// The case that is shown: the one chosen, else the first with an odd one out, else the first that was measured.
    pub fn shown(&self) -> Option<&FleetCase> {
        let cases = &self.found.result.as_ref()?.fleet.cases;
        let chosen = self.chosen.as_ref();
        let is_chosen = |case: &&FleetCase| chosen == Some(&CaseChoice::from_case(case));
        let is_odd = |case: &&FleetCase| case.machines.iter().any(|machine| machine.is_odd);
        let found = cases.iter().find(is_chosen);
        let found = found.or_else(|| cases.iter().find(is_odd));
        let found = found.or_else(|| cases.iter().find(|case| case.median_ns.is_some()));
        found.or_else(|| cases.first())
    }

    /// The sessions whose machines are compared now.
    pub fn wanted(&self, open: &OpenSessions) -> FleetRequest {
        let is_meant = |one: &&OpenSession| match &self.only {
            Some(only) => one.path.as_ref().is_some_and(|path| only.contains(path)),
            // A file of another tool says nothing of its machine.
            None => one.session.imported.is_none() || self.each_session,
        };
        let measured = open.iter().filter(|one| one.id != LIVE && !one.is_hollow());
        FleetRequest {
            sessions: measured
                .filter(is_meant)
                .map(|one| (one.id, open.name(one), one.snapshot()))
                .collect(),
            each_session: self.each_session,
        }
    }

    /// Whether what is shown is the run in progress.
    pub fn is_of_run(&self) -> bool {
        let found = self.found.result.as_ref();
        found.is_some_and(|found| found.wanted.sessions.iter().any(|(id, ..)| *id == LIVE))
    }

    /// The machines of the run in progress, as far as it is. They come before those of saved sessions.
    pub(crate) fn found_in_run(&self, open: &OpenSessions) -> Option<FoundFleet> {
        let live = open.get(LIVE).filter(|_| self.only.is_none())?;
        let fleet = live.findings.fleet.as_deref()?.clone();
        Some(FoundFleet {
            wanted: FleetRequest {
                sessions: vec![(LIVE, open.name(live), live.snapshot())],
                each_session: self.each_session,
            },
            fleet,
            effects: Vec::new(),
            machines: machine_lines::machine_lines(&live.session),
        })
    }

    /// Of the chosen sessions keeps those that are open; without any, the choice is over.
    pub(crate) fn drop_closed(&mut self, open: &OpenSessions) {
        let Some(only) = &mut self.only else {
            return;
        };
        only.retain(|path| open.by_path(path).is_some());
        if only.is_empty() {
            self.only = None;
            self.each_session = false;
        }
    }

    /// Draws the case that is shown.
    fn redraw(&mut self) {
        let drawn = self.shown().map(|case| {
            let effects = self.found.result.iter().flat_map(|found| &found.effects);
            let is_of_case = |effects: &&Effects| {
                effects.model == case.model
                    && effects.point == case.point
                    && effects.setups.contains(&case.setup)
            };
            FleetCharts {
                chart: chart::medians(case),
                headline: Headline::of_machines(case),
                effects: effects.filter(is_of_case).cloned().collect(),
            }
        });
        self.drawn = drawn.unwrap_or_default();
    }
}

/// What to do where no case ran on several machines.
pub fn empty_help(open: &OpenSessions, is_by_session: bool) -> &'static str {
    if open.is_empty() {
        "Open a session whose setups ran on several machines (where= in the plan), or a session from each machine."
    } else if open.iter().all(|open| open.id == LIVE) {
        "The machines of the run in progress are compared once two of them have measured a case."
    } else if is_by_session {
        "No two of these sessions have the same setup with the same model. Open a session from each machine, or add setups with where= to the plan."
    } else {
        "No case of these sessions ran on two machines with the same setup and the same model. Add setups with where= to the plan, open a session from each machine, or count each session as a machine."
    }
}
