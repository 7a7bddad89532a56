//! Setups of a run that are measured on other machines: these are reached before anything is measured, and what
//! their workers need goes there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use super::ActiveRun;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::event::{Activity, RunEvent};
use powerband_core::domain::outcome::Phase;
use powerband_core::domain::queue::QueueState;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::TensorSpec;
use powerband_planning::transport::SetupMachine;
use powerband_worker::protocol::Request;
use powerband_worker::remote::reached::Reached;
use powerband_worker::remote::{RemoteError, RemoteEvent, UploadProgress};
use powerband_worker::supervisor::{self, WorkerError};
use powerband_worker::worker_group::WorkerGroup;

/// News of machines that are connected to that wait to be told, before a connection waits for it.
const MOST_MESSAGES: usize = 256;
/// Progress is told in so many steps, and not more often.
const STEPS: u64 = 20;

impl ActiveRun<'_, '_> {
    /// Connects to every machine of the plan, brings the program there and finds the libraries of the setups. A
    /// machine that cannot be used ends its setups, and no others.
    pub(super) fn reach_machines(&mut self) {
        let mut machines: BTreeMap<String, (SetupMachine, Vec<usize>)> = BTreeMap::new();
        for (&setup, machine) in &self.request.machines {
            let key = key(machine);
            let entry = machines.entry(key);
            let (_, setups) = entry.or_insert_with(|| (machine.clone(), Vec::new()));
            setups.push(setup);
        }
        let machines: Vec<_> = machines.into_iter().collect();
        for together in machines.chunks(self.machines_at_once().max(1)) {
            if self.control.is_cancelled() {
                return;
            }
            let connected = self.connect(together);
            for ((key, (machine, setups)), reached) in together.iter().zip(connected) {
                let taken = reached.and_then(|reached| self.take(reached, key, machine, setups));
                if let Err(error) = taken {
                    self.end_setups(setups, machine, error);
                }
            }
        }
    }

    /// Connects to machines at the same time, and brings the program to each of them.
    fn connect(
        &mut self,
        machines: &[(String, (SetupMachine, Vec<usize>))],
    ) -> Vec<Result<Reached, RemoteError>> {
        let program = self.request.program.clone();
        let stop = self.stop.clone();
        let (news, told) = mpsc::sync_channel(MOST_MESSAGES);
        thread::scope(|scope| {
            let mut reaching = Vec::new();
            for (place, (_, (machine, setups))) in machines.iter().enumerate() {
                if let Some(&setup) = setups.first() {
                    let activity = Activity::Connecting { setup };
                    self.tell(RunEvent::Turned { activity });
                }
                let (news, program, stop) = (news.clone(), &program, &stop);
                reaching.push(scope.spawn(move || {
                    // A run that is gone needs to know nothing.
                    let mut tell = |event| drop(news.send((place, event)));
                    Reached::reach(machine, program, stop, &mut tell)
                }));
            }
            drop(news);
            let mut shown = BTreeMap::<usize, LastProgress>::new();
            for (place, event) in told {
                let (_, setups) = &machines[place].1;
                match (event, setups.first()) {
                    (RemoteEvent::Sending(progress), Some(&setup)) => {
                        self.tell_progress(setup, progress, shown.entry(place).or_default());
                    }
                    (RemoteEvent::Queued(state), _) => self.tell_queue(setups, state),
                    (RemoteEvent::Sending(_), None) => {}
                }
            }
            let reached = reaching.into_iter().map(|thread| {
                let panicked = |_| Err(RemoteError::Lost("it could not be reached".to_owned()));
                thread.join().unwrap_or_else(panicked)
            });
            reached.collect()
        })
    }

    /// Takes in a machine that answers: its libraries, its name, what it says of itself.
    fn take(
        &mut self,
        mut reached: Reached,
        key: &str,
        machine: &SetupMachine,
        setups: &[usize],
    ) -> Result<(), RemoteError> {
        let Some(&setup) = setups.first() else {
            return Ok(());
        };
        let stop = self.stop.clone();
        self.queued.retain(|setup, _| !setups.contains(setup));
        let known = self.session.machine_of(setup);
        let now = &reached.described().environment;
        if let Some(other) = known
            .map(|known| &known.environment)
            .filter(|then| (&then.cpu.model, &then.kernel) != (&now.cpu.model, &now.kernel))
        {
            return Err(RemoteError::Unfit(format!(
                "rounds were measured on another machine or kernel ({}, kernel {}), so none are added; measure it anew",
                other.cpu.model, other.kernel
            )));
        }
        let specs = setups
            .iter()
            .filter_map(|&setup| self.request.beginning.plan.setups.get(setup).cloned());
        let specs: Vec<Setup> = specs.collect();
        let located = reached.locate(&specs, &stop)?;
        for (&setup, located) in setups.iter().zip(located) {
            // A reason that is known already, such as a model that cannot be rewritten, stays.
            if let Some(slot @ Ok(_)) = self.request.runtimes.get_mut(setup) {
                *slot = located;
            }
        }
        if known.is_none()
            && let Some(twin) = self.twin_of(machine, &reached)
        {
            self.join(&twin, &machine.name, setups);
            return Ok(());
        }
        reached.name = match known {
            Some(known) => known.name.clone(),
            None => self.free_name(&machine.name, &reached.described().host),
        };
        let mut record = Box::new(reached.record(setups.to_vec()));
        record.roofs = reached.roofs(&specs, &stop);
        self.tell(RunEvent::Reached { machine: record });
        self.reached.insert(key.to_owned(), reached);
        Ok(())
    }

    /// The machine that is there already and that ssh reaches by this name, too. What a command of the user's reaches is
    /// what that says.
    fn twin_of(&self, machine: &SetupMachine, reached: &Reached) -> Option<SetupMachine> {
        if machine.transport.id() != "ssh" {
            return None;
        }
        let way = |one: &SetupMachine| {
            let program = one.remote_program.clone();
            (
                one.transport.id(),
                one.before.clone(),
                program,
                one.options.clone(),
            )
        };
        let is_twin = |other: &&SetupMachine| {
            let there = self.reached.get(&key(other)).map(Reached::described);
            way(other) == way(machine)
                && there.is_some_and(|there| there.is_same_place(reached.described()))
        };
        self.request.machines.values().find(is_twin).cloned()
    }

    /// Has setups run on a machine that is there already, over its connection and under its name.
    fn join(&mut self, twin: &SetupMachine, name: &str, setups: &[usize]) {
        let joining = setups.iter().map(|setup| (*setup, twin.clone()));
        self.request.machines.extend(joining);
        let there = key(twin);
        let machines = self.request.machines.iter();
        let all = machines.filter(|(_, one)| key(one) == there);
        let all: Vec<usize> = all.map(|(setup, _)| *setup).collect();
        let plan = &self.request.beginning.plan;
        let specs = all.iter().filter_map(|&setup| plan.setups.get(setup));
        let specs: Vec<Setup> = specs.cloned().collect();
        let stop = self.stop.clone();
        let Some(reached) = self.reached.get_mut(&there) else {
            return;
        };
        let text = format!(
            "{} and {name} are one machine, {}: their setups count as of {}.",
            reached.name,
            reached.described().host,
            reached.name
        );
        let mut machine = Box::new(reached.record(all));
        machine.roofs = reached.roofs(&specs, &stop);
        self.tell(RunEvent::Warned { text });
        self.tell(RunEvent::Reached { machine });
    }

    /// What the session calls a machine: two allocations of one scheduler differ by their hosts.
    fn free_name(&self, name: &str, host: &str) -> String {
        let is_free = |name: &String| {
            let mut known = self.session.machines.iter();
            !known.any(|known| known.name == *name)
        };
        let more = (2..).map(|number| format!("{name}, {host}, {number}"));
        [name.to_owned(), format!("{name}, {host}")]
            .into_iter()
            .chain(more)
            .find(is_free)
            .unwrap_or_default()
    }

    /// Tells what a scheduler says, and remembers it for cases whose node never comes.
    fn tell_queue(&mut self, setups: &[usize], state: QueueState) {
        let Some(&setup) = setups.first() else {
            return;
        };
        if self.queued.is_empty() {
            let activity = Activity::Queued { setup };
            self.tell(RunEvent::Turned { activity });
        }
        let words = state.to_string();
        let waiting = setups.iter().map(|setup| (*setup, words.clone()));
        self.queued.extend(waiting);
        self.tell(RunEvent::Queued {
            setups: setups.to_vec(),
            state,
        });
    }

    /// The schedulers' jobs of machines that are ready, each with its setups.
    pub(super) fn jobs(&self) -> Vec<(String, Vec<usize>)> {
        let jobs = self.reached.iter().filter_map(|(name, reached)| {
            let own = self.request.machines.iter();
            let own = own.filter(|(_, machine)| key(machine) == *name);
            Some((
                reached.link().job()?,
                own.map(|(setup, _)| *setup).collect(),
            ))
        });
        jobs.collect()
    }

    /// Ends every case of setups whose machine cannot be used.
    fn end_setups(&mut self, setups: &[usize], machine: &SetupMachine, error: RemoteError) {
        let error = match error {
            RemoteError::Cancelled => return,
            RemoteError::Lost(reason) => RemoteError::Lost(format!("{}: {reason}", machine.name)),
            RemoteError::Unfit(reason) => RemoteError::Unfit(format!("{}: {reason}", machine.name)),
            ended @ RemoteError::Ended(_) => ended,
        };
        let outcome = WorkerError::from(error).into_outcome(Phase::Start);
        for case in self.request.beginning.plan.cases() {
            if setups.contains(&case.setup) && !self.is_over(case) {
                let outcome = outcome.clone();
                self.tell(RunEvent::CaseEnded { case, outcome });
            }
        }
    }

    /// A lost connection with the reason in the words of what carried it; and where a scheduler ended the job, that
    /// is the cause, whether the connection broke first or the worker's end was still reported.
    pub(super) fn connection_error(
        &self,
        setup: usize,
        phase: Phase,
        error: WorkerError,
    ) -> WorkerError {
        match (error, self.request.machines.get(&setup)) {
            (WorkerError::Died(ending), Some(machine))
                if ending.is_lost || ending.is_by_someone_else() =>
            {
                let reached = self.reached.get(&key(machine));
                let ended = reached.and_then(|reached| {
                    reached
                        .link()
                        .ended_by_scheduler(phase, &ending.stderr, &self.stop)
                });
                if let Some(outcome) = ended {
                    return WorkerError::Ended(outcome);
                }
                if !ending.is_lost {
                    return WorkerError::Died(ending);
                }
                let SetupMachine {
                    transport, target, ..
                } = machine;
                WorkerError::Lost(transport.trouble(target, &ending.stderr))
            }
            (error, _) => error,
        }
    }

    /// Whether a setup runs on another machine.
    pub(super) fn is_elsewhere(&self, setup: usize) -> bool {
        self.request.machines.contains_key(&setup)
    }

    /// What starts a worker of a setup. A connection that is gone is opened again first.
    pub(super) fn worker_of(&mut self, setup: usize) -> Result<ProcessSpec, WorkerError> {
        let Some(spec) = self.request.beginning.plan.setups.get(setup).cloned() else {
            return Err(WorkerError::Start("the plan has no such setup".to_owned()));
        };
        let runtime = self.runtime(setup);
        let stop = self.stop.clone();
        match self.reached_of(setup)? {
            None => Ok(supervisor::worker_of(
                &spec,
                runtime.as_deref(),
                &self.request.program,
            )),
            Some(reached) => {
                reached.again(&stop)?;
                let worker = reached.worker(&spec, runtime.as_deref());
                self.sample_again(setup);
                Ok(worker)
            }
        }
    }

    /// A setup's workers, with what is known of the machine that they run on.
    pub(super) fn with_machine_facts(&mut self, setup: usize, crew: WorkerGroup) -> WorkerGroup {
        match self.reached_of(setup) {
            Ok(Some(reached)) => {
                let threads = reached.described().environment.cpu.threads;
                crew.elsewhere(reached.clock, threads)
            }
            _ => crew,
        }
    }

    /// The model of a setup as its worker finds it.
    pub(super) fn model_of_worker(&mut self, setup: usize) -> Result<PathBuf, WorkerError> {
        if !self.is_elsewhere(setup) {
            return Ok(self.model(setup));
        }
        let files = self.request.models.get(setup).cloned().unwrap_or_default();
        self.sending(setup, |reached, stop, told| {
            reached.model(&files, stop, told)
        })
    }

    /// The inputs of a case as its worker finds them: values out of files lie on its machine.
    pub(super) fn inputs_of_worker(
        &mut self,
        setup: usize,
        inputs: Vec<TensorSpec>,
    ) -> Result<Vec<TensorSpec>, WorkerError> {
        if !self.is_elsewhere(setup) {
            return Ok(inputs);
        }
        self.sending(setup, |reached, stop, told| {
            reached.inputs(inputs, stop, told)
        })
    }

    /// A request to examine a setup, with the files as its worker finds them.
    pub(super) fn sent_examination(
        &mut self,
        setup: usize,
        request: Request,
    ) -> Result<Request, WorkerError> {
        match request {
            Request::Examine {
                setup: spec,
                runtime,
                inputs,
                seed,
                generate,
                ..
            } => Ok(Request::Examine {
                setup: spec,
                model: self.model_of_worker(setup)?,
                runtime,
                inputs: self.inputs_of_worker(setup, inputs)?,
                seed,
                generate,
            }),
            other => Ok(other),
        }
    }

    /// Has a machine be sent something, and tells how far it is.
    fn sending<T>(
        &mut self,
        setup: usize,
        send: impl FnOnce(
            &mut Reached,
            &powerband_core::base::cancel::CancelToken,
            &mut dyn FnMut(UploadProgress),
        ) -> Result<T, RemoteError>,
    ) -> Result<T, WorkerError> {
        let Some(machine) = self.request.machines.get(&setup) else {
            return Err(gone());
        };
        let key = key(machine);
        // It is lent while it is told of.
        let mut reached = self.reached.remove(&key).ok_or_else(gone)?;
        let stop = self.stop.clone();
        let mut shown = LastProgress::default();
        let sent = send(&mut reached, &stop, &mut |progress| {
            self.tell_progress(setup, progress, &mut shown);
        });
        self.reached.insert(key, reached);
        Ok(sent?)
    }

    /// Which of the ways to machines a setup takes; nothing for this machine.
    pub(super) fn way_of(&self, setup: usize) -> Option<String> {
        self.request.machines.get(&setup).map(key)
    }

    /// The machine of a setup; nothing for this one.
    pub(super) fn reached_of(&mut self, setup: usize) -> Result<Option<&mut Reached>, WorkerError> {
        let Some(machine) = self.request.machines.get(&setup) else {
            return Ok(None);
        };
        let reached = self.reached.get_mut(&key(machine));
        reached.map(Some).ok_or_else(gone)
    }

    fn tell_progress(&mut self, setup: usize, progress: UploadProgress, shown: &mut LastProgress) {
        let step = (progress.done_bytes * STEPS)
            .checked_div(progress.total_bytes)
            .unwrap_or(STEPS);
        let now = (progress.total_bytes, step);
        if shown.0 == Some(now) {
            return;
        }
        shown.0 = Some(now);
        let activity = Activity::Sending {
            setup,
            what: progress.what,
            done_bytes: progress.done_bytes,
            total_bytes: progress.total_bytes,
        };
        self.tell(RunEvent::Turned { activity });
    }
}

/// The last reported upload progress.
#[derive(Default)]
struct LastProgress(Option<(u64, u64)>);

fn gone() -> WorkerError {
    WorkerError::Lost("its machine was not reached".to_owned())
}

/// Setups with equal ones share a connection.
fn key(machine: &SetupMachine) -> String {
    let own = machine.remote_program.as_deref().unwrap_or_default();
    let options = machine.options.iter();
    let options = options.map(|(key, value)| format!("{key}={value}"));
    let options: Vec<String> = options.collect();
    format!("{} {own} {}", machine.name, options.join(" "))
}
