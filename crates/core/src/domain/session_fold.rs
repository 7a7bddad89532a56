//! A session is the fold of its events: how it begins, and what each event adds.

use std::collections::BTreeMap;

use super::case::{Case, CaseKey};
use super::device::Gpu;
use super::event::{RunEvent, RunStart, TimedEvent};
use super::machine::RemoteMachine;
use super::outcome::Outcome;
use super::session::{Completion, Session};
use super::telemetry::{Telemetry, WatchedDevice};

impl Session {
    /// A session of which only the beginning is known.
    pub fn from_start(beginning: RunStart) -> Self {
        let cases = beginning
            .plan
            .cases()
            .into_iter()
            .map(Case::pending)
            .collect();
        Self {
            name: beginning.name,
            created: beginning.created,
            completion: Completion::Interrupted,
            made_up: beginning.made_up,
            notes: String::new(),
            tags: Vec::new(),
            reports: vec![None; beginning.plan.setups.len()],
            plan: beginning.plan,
            model: beginning.model,
            published: None,
            environment: beginning.environment,
            cases,
            elapsed_ns: 0,
            warnings: beginning.warnings,
            variants: beginning.variants,
            examinations: BTreeMap::new(),
            accuracies: BTreeMap::new(),
            profiles: Vec::new(),
            reported: Vec::new(),
            imported: None,
            profiler: None,
            sittings: Vec::new(),
            telemetry: Telemetry::default(),
            roofs: beginning.roofs,
            machines: Vec::new(),
        }
    }

    /// The fold of a stream of events; nothing where the stream does not begin with a beginning.
    pub fn from_events(events: impl IntoIterator<Item = TimedEvent>) -> Option<Self> {
        let mut events = events.into_iter();
        let mut session = match events.next()?.event {
            RunEvent::Began(beginning) => Self::from_start(*beginning),
            RunEvent::WentOn { session, .. } => *session,
            _ => return None,
        };
        for event in events {
            session.apply(event);
        }
        Some(session)
    }

    /// Takes one event in. Events about cases that the plan does not have are ignored.
    pub fn apply(&mut self, stamped: TimedEvent) {
        self.elapsed_ns = self.elapsed_ns.max(stamped.at_ns);
        match stamped.event {
            RunEvent::Began(_)
            | RunEvent::WentOn { .. }
            | RunEvent::Queued { .. }
            | RunEvent::WorkerStarted { .. }
            | RunEvent::VisitBegan { .. }
            | RunEvent::Turned { .. }
            | RunEvent::RoundStarted { .. }
            | RunEvent::Paused
            | RunEvent::Resumed => {}
            RunEvent::Reached { machine } => self.take_machine(*machine),
            RunEvent::SetupReady { setup, report } => {
                // What the first start cost stands.
                if let Some(slot) = self.reports.get_mut(setup) {
                    slot.get_or_insert(report);
                }
            }
            RunEvent::Examined { setup, examination } => {
                self.examinations.insert(setup, *examination);
            }
            RunEvent::CaseOpened { case, opening } => {
                self.with_case(case, |case| {
                    case.opening.get_or_insert(opening);
                });
            }
            RunEvent::WarmedUp { case, warm_up } => {
                self.with_case(case, |case| {
                    case.warm_up.get_or_insert(warm_up);
                });
            }
            RunEvent::RoundFinished { case, round } => {
                self.with_case(case, |case| case.rounds.push(round));
            }
            RunEvent::CaseEnded { case, outcome } => {
                self.with_case(case, |case| case.outcome = outcome);
            }
            RunEvent::Watched {
                rate_hz,
                devices,
                missing,
            } => {
                self.take_cards(&devices);
                self.telemetry
                    .watch(stamped.at_ns, rate_hz, devices, missing);
            }
            RunEvent::Idled { span } => self.telemetry.idle.push(span),
            RunEvent::Read { readings } => self.telemetry.take(&readings),
            RunEvent::DeviceLost { device, lost } => self.telemetry.lose(device, lost),
            RunEvent::Judged { setup, accuracy } => {
                self.accuracies.insert(setup, *accuracy);
            }
            RunEvent::Profiled { profile } => {
                // That of one more start has those before in it.
                let is_more = !profile.starts.is_empty();
                let mut known = self.profiles.iter_mut();
                match known.find(|known| is_more && known.case == profile.case) {
                    Some(known) => *known = *profile,
                    None => self.profiles.push(*profile),
                }
            }
            RunEvent::Warned { text } | RunEvent::WorkerDied { text, .. } => {
                self.warnings.push(text);
            }
            RunEvent::TakenBack { case } => self.with_case(case, |case| {
                if case.outcome == Outcome::Cancelled {
                    case.outcome = Outcome::Pending;
                }
            }),
            RunEvent::Ended { cancelled } => {
                self.completion = if cancelled {
                    Completion::Cancelled
                } else {
                    Completion::Complete
                };
            }
        }
    }

    /// Takes in what a machine says of itself. Where all setups run on it, its circumstances are the session's.
    fn take_machine(&mut self, machine: RemoteMachine) {
        if (0..self.plan.setups.len()).all(|setup| machine.setups.contains(&setup)) {
            self.environment = self.environment.on_machine(&machine.environment);
            self.roofs.clear();
        }
        let is_of_same = |known: &RemoteMachine| {
            let mut setups = known.setups.iter();
            setups.any(|setup| machine.setups.contains(setup))
        };
        self.machines.retain(|known| !is_of_same(known));
        self.machines.push(machine);
    }

    /// Takes in the cards that each machine has, as their drivers describe them.
    fn take_cards(&mut self, devices: &[WatchedDevice]) {
        let n_setups = self.plan.setups.len();
        let cards_of = |machine: Option<&str>| {
            // Cards of another run that is played back are not there.
            let is_there = |device: &&WatchedDevice| {
                let is_own = device.machine.as_deref() == machine;
                is_own && device.kind.is_gpu() && !device.is_played_back()
            };
            let cards: Vec<Gpu> = devices
                .iter()
                .filter(is_there)
                .map(Gpu::from_watched)
                .collect();
            Some(cards).filter(|cards| !cards.is_empty())
        };
        if let Some(cards) = cards_of(None) {
            self.environment.gpus = cards;
        }
        for machine in &mut self.machines {
            let Some(cards) = cards_of(Some(&machine.name)) else {
                continue;
            };
            if machine.setups.len() == n_setups {
                self.environment.gpus.clone_from(&cards);
            }
            machine.environment.gpus = cards;
        }
    }

    fn with_case(&mut self, key: CaseKey, change: impl FnOnce(&mut Case)) {
        if let Some(case) = self.cases.iter_mut().find(|case| case.key() == key) {
            change(case);
        }
    }
}
