//! Machines that are measured at the same time: each has a part of the run, in a thread of its own, which tells the
//! whole run what happens. Setups of one machine take turns as ever.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::{ActiveRun, PreparedRun, Rounds};
use powerband_core::control::Control;
use powerband_core::domain::event::{RunEvent, TimedEvent};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::session::Session;
use powerband_worker::remote::reached::Reached;
use powerband_worker::remote::sampling::RemoteSampler;
use powerband_worker::remote::serve;

/// How often device readings are fetched while no machine reports anything.
const LOOK: Duration = Duration::from_millis(100);

/// News that wait for the run before a part waits for it; no part has that many in a round.
const MOST_MESSAGES: usize = 4096;

/// The way from a part to its run.
#[derive(Debug)]
pub(super) struct RunLink {
    news: SyncSender<PartMessage>,
    /// The number of setups of the part.
    setups: usize,
}

/// What a part tells.
enum PartMessage {
    /// A machine is turned to.
    Begins,
    /// A machine is done.
    IsOver,
    /// Something happened.
    Event(TimedEvent),
    /// The processes that are measured on a machine, and those beside them.
    Workers(Option<String>, Vec<u32>),
    /// Whether the devices of a machine are to be read again, and how often a second.
    AskRestartRate(String, SyncSender<Option<f64>>),
    /// The devices of a machine are read again, or cannot be.
    Sampler(String, Option<RemoteSampler>),
}

impl RunLink {
    // A run that is gone needs to know nothing.
    fn tell(&self, news: PartMessage) {
        drop(self.news.send(news));
    }

    pub(super) fn workers_are(&self, machine: Option<String>, pids: Vec<u32>) {
        self.tell(PartMessage::Workers(machine, pids));
    }

    pub(super) fn reads_again(&self, machine: String, sampler: Option<RemoteSampler>) {
        self.tell(PartMessage::Sampler(machine, sampler));
    }

    /// Readings a second that a machine's devices are to be read at again, because reading them ended.
    pub(super) fn restart_rate(&self, machine: &str) -> Option<f64> {
        let (sender, answer) = mpsc::sync_channel(1);
        self.tell(PartMessage::AskRestartRate(machine.to_owned(), sender));
        answer.recv().ok().flatten()
    }
}

/// The setups of one machine, with the ways to it.
#[derive(Default)]
struct MachineSetups {
    setups: BTreeSet<usize>,
    reached: BTreeMap<String, Reached>,
}

/// What is left of a part once it is over.
struct PartEnd {
    reached: BTreeMap<String, Reached>,
    starts: BTreeMap<usize, u32>,
    peaks: BTreeMap<usize, u64>,
    queued: BTreeMap<usize, String>,
    unexamined: BTreeSet<usize>,
    changed_models: BTreeSet<PathBuf>,
}

/// What every part begins with.
struct PartStart<'a> {
    request: &'a PreparedRun,
    session: &'a Session,
    rounds: Rounds,
    began_ns: u64,
    control: &'a Control,
}

impl ActiveRun<'_, '_> {
    /// Measures the rounds: on one machine after the other in turns, or on several at the same time where the plan says
    /// so and its rounds are planned (a gate adds rounds until a comparison is settled).
    pub(super) fn measure_rounds_of_machines(&mut self) {
        let at_once = self.machines_at_once();
        if at_once < 2 || self.request.settling.is_some() {
            return self.measure_rounds();
        }
        let machines = self.take_machines();
        if machines.len() < 2 {
            for machine in machines {
                self.reached.extend(machine.reached);
            }
            return self.measure_rounds();
        }
        self.measure_at_once(machines, at_once);
    }

    /// Up to how many machines are reached and measured at the same time.
    pub(super) fn machines_at_once(&self) -> usize {
        let machines = self.request.beginning.plan.machines_at_once();
        machines.map_or(1, |machines| machines as usize)
    }

    /// How many setups take turns with each other.
    pub(super) fn setups_in_turns(&self) -> usize {
        let all = self.request.beginning.plan.setups.len();
        self.run_link.as_ref().map_or(all, |link| link.setups)
    }

    /// The setups that have something to measure by the machine that they run on. Containers of one machine, and
    /// allocations of one node, are that machine.
    fn take_machines(&mut self) -> Vec<MachineSetups> {
        let cases = self.session.cases.iter();
        let open = cases.filter(|case| !case.outcome.is_final());
        let open: BTreeSet<usize> = open.map(|case| case.setup).collect();
        let here = machine_of_boot(&serve::boot()).to_owned();
        let mut machines: BTreeMap<String, MachineSetups> = BTreeMap::new();
        for setup in open {
            let way = self.way_of(setup);
            let there = way.as_ref().and_then(|way| self.reached.get(way));
            let place = match (&way, there) {
                (None, _) => here.clone(),
                (Some(way), None) => way.clone(),
                (Some(way), Some(reached)) => {
                    let machine = machine_of_boot(&reached.described().boot);
                    if machine.is_empty() { way } else { machine }.to_owned()
                }
            };
            machines.entry(place).or_default().setups.insert(setup);
        }
        for machine in machines.values_mut() {
            for &setup in &machine.setups {
                if let Some(way) = self.way_of(setup)
                    && let Some(reached) = self.reached.remove(&way)
                {
                    machine.reached.insert(way, reached);
                }
            }
        }
        machines.into_values().collect()
    }

    fn measure_at_once(&mut self, machines: Vec<MachineSetups>, at_once: usize) {
        let threads = at_once.min(machines.len());
        let waiting = Mutex::new(VecDeque::from(machines));
        let ends: Mutex<Vec<PartEnd>> = Mutex::default();
        let (news, told) = mpsc::sync_channel(MOST_MESSAGES);
        // Each part begins with a copy of the session as it is now; this one takes in the events of all.
        let session = self.session.clone();
        let start = PartStart {
            request: &self.request.for_parts(),
            session: &session,
            rounds: self.rounds,
            began_ns: self.began_ns,
            control: self.control,
        };
        let control = self.control;
        thread::scope(|scope| {
            for _ in 0..threads {
                let (news, start, waiting, ends) = (news.clone(), &start, &waiting, &ends);
                scope.spawn(move || {
                    while !control.is_cancelled()
                        && let Some(machine) = next_machine(waiting)
                    {
                        drop(news.send(PartMessage::Begins));
                        let end = start.measure(machine, &news);
                        drop(news.send(PartMessage::IsOver));
                        ends.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(end);
                    }
                });
            }
            drop(news);
            let mut parts = PartCounts::default();
            loop {
                match told.recv_timeout(LOOK) {
                    Ok(news) => self.take_news(news, &mut parts),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                self.pass_on_events();
            }
        });
        let left = waiting.into_inner().unwrap_or_else(PoisonError::into_inner);
        for machine in left {
            self.reached.extend(machine.reached);
        }
        for end in ends.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.reached.extend(end.reached);
            self.starts.extend(end.starts);
            self.peaks.extend(end.peaks);
            self.queued.extend(end.queued);
            self.unexamined.extend(end.unexamined);
            self.changed_models.extend(end.changed_models);
        }
    }

    /// Takes in what a part tells. The run rests while all parts that go on rest.
    fn take_news(&mut self, news: PartMessage, parts: &mut PartCounts) {
        let rested = parts.all_rest();
        match news {
            PartMessage::Begins => parts.active += 1,
            PartMessage::IsOver => parts.active -= 1,
            PartMessage::Event(stamped) => match stamped.event {
                RunEvent::Paused => parts.resting += 1,
                RunEvent::Resumed => parts.resting -= 1,
                _ => self.take_in(&stamped),
            },
            PartMessage::Workers(machine, pids) => {
                if let Some(watcher) = &mut self.watcher {
                    watcher.set_workers_of(machine.as_deref(), &pids);
                }
            }
            PartMessage::AskRestartRate(machine, answer) => {
                // That reading ended may not have been noticed yet.
                self.pass_on_all_events();
                let watcher = self.watcher.as_ref();
                let rate = watcher.and_then(|watcher| watcher.restart_rate(&machine));
                answer.send(rate).unwrap_or_default();
            }
            PartMessage::Sampler(machine, sampler) => self.take_sampler(&machine, sampler),
        }
        match (rested, parts.all_rest()) {
            (false, true) => self.tell(RunEvent::Paused),
            (true, false) => self.tell(RunEvent::Resumed),
            _ => {}
        }
    }
}

/// How many parts go on, and how many of them rest.
#[derive(Default)]
struct PartCounts {
    active: usize,
    resting: usize,
}

impl PartCounts {
    fn all_rest(&self) -> bool {
        self.resting > 0 && self.resting == self.active
    }
}

/// What tells a machine from every other one, without what tells its containers apart.
fn machine_of_boot(boot: &str) -> &str {
    boot.split(' ').next().unwrap_or_default()
}

fn next_machine(waiting: &Mutex<VecDeque<MachineSetups>>) -> Option<MachineSetups> {
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.pop_front()
}

impl PartStart<'_> {
    /// Measures the setups of one machine, and ends their workers.
    fn measure(&self, machine: MachineSetups, news: &SyncSender<PartMessage>) -> PartEnd {
        let MachineSetups { setups, reached } = machine;
        let mut session = self.session.clone();
        for case in &mut session.cases {
            // The other machines' are not this part's.
            if !setups.contains(&case.setup) {
                case.outcome = Outcome::Finished;
            }
        }
        let control = self.control.for_setups(setups.clone());
        let mut observer = |stamped: &TimedEvent, _: &Session| {
            drop(news.send(PartMessage::Event(stamped.clone())));
        };
        let request = self.request.for_parts();
        let times = (self.rounds, self.began_ns);
        let mut part = ActiveRun::new(request, session, times, &control, &mut observer);
        part.reached = reached;
        part.run_link = Some(RunLink {
            news: news.clone(),
            setups: setups.len(),
        });
        part.measure_rounds();
        part.end_workers();
        let own = |setup: &usize| setups.contains(setup);
        part.starts.retain(|setup, _| own(setup));
        PartEnd {
            reached: part.reached,
            starts: part.starts,
            peaks: part.peaks,
            queued: part.queued,
            unexamined: part.unexamined,
            changed_models: part.changed_models,
        }
    }
}

impl PreparedRun {
    /// What measuring rounds needs of it: neither what is compared afterwards, nor what watches the devices.
    fn for_parts(&self) -> Self {
        Self {
            beginning: self.beginning.clone(),
            program: self.program.clone(),
            models: self.models.clone(),
            machines: self.machines.clone(),
            runtimes: self.runtimes.clone(),
            inputs: self.inputs.clone(),
            requests: self.requests.clone(),
            earlier: None,
            reference: None,
            traces: None,
            watch: None,
            job: self.job.clone(),
            settling: None,
        }
    }
}
