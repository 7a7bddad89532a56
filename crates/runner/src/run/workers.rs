//! The workers of a run: which are alive, what they need, and how they are asked.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::ActiveRun;
use crate::worker_memory_budget;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::RunEvent;
use powerband_core::domain::outcome::{Outcome, Phase};
use powerband_core::domain::setup_report::SetupReport;
use powerband_devices::{machine, process};
use powerband_planning::transport;
use powerband_worker::engines;
use powerband_worker::process::ProcessEnd;
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::supervisor::WorkerError;
use powerband_worker::worker_group::WorkerGroup;

/// The most memory that the processes of a setup had, together.
fn peak_of_all(crew: &WorkerGroup) -> Option<u64> {
    if crew.is_elsewhere() {
        return None;
    }
    crew.pids().map(process::peak_bytes).sum()
}

impl ActiveRun<'_, '_> {
    pub(super) fn ensure_worker(
        &mut self,
        setup: usize,
        phase: &mut Phase,
    ) -> Result<(), WorkerError> {
        self.notice_deaths();
        if self.workers.contains_key(&setup) {
            return Ok(());
        }
        *phase = Phase::Load;
        self.check_model(setup)?;
        *phase = Phase::Start;
        let plan = &self.request.beginning.plan;
        let Some(spec) = plan.setups.get(setup).cloned() else {
            return Err(WorkerError::Start("the plan has no such setup".to_owned()));
        };
        let limits = plan.limits.clone();
        self.control.begin_start();
        self.make_room(setup);
        self.examine(setup)?;
        let start_limit = Duration::from_millis(limits.start_ms);
        let process = self.worker_of(setup)?;
        let crew = WorkerGroup::start(&spec, &process, start_limit, &self.stop)?;
        let crew = self.with_machine_facts(setup, crew);
        *self.starts.entry(setup).or_default() += 1;
        let start_ns = crew.start_ns();
        let pids: Vec<u32> = crew.pids().collect();
        self.workers.insert(setup, crew);
        for &pid in &pids {
            self.tell(RunEvent::WorkerStarted { setup, pid });
        }
        *phase = Phase::Load;
        let request = Request::Load {
            setup: transport::over_there(&spec),
            model: self.model_of_worker(setup)?,
            name: self.model_name(setup),
            runtime: self.runtime(setup),
        };
        let loaded = self.ask(setup, &request, Duration::from_millis(limits.load_ms));
        // It may have changed while it was loaded, which is also why it may not load.
        self.check_model(setup)?;
        match loaded? {
            Reply::Loaded(mut report) => {
                self.control.end_start();
                report.start_ns = start_ns;
                self.loads_ns.insert(setup, report.load_ns);
                self.remember_peak(setup);
                if !self.is_elsewhere(setup) {
                    for pid in pids {
                        process::forget_peak(pid);
                    }
                }
                let notes = self.new_notes(setup, &report);
                self.tell(RunEvent::SetupReady { setup, report });
                for text in notes {
                    self.tell(RunEvent::Warned { text });
                }
                Ok(())
            }
            other => Err(self.confused(setup, &other)),
        }
    }

    /// What an engine has to say of a setup that it loads for the first time.
    fn new_notes(&self, setup: usize, report: &SetupReport) -> Vec<String> {
        let is_known = self.session.reports.get(setup).is_some_and(Option::is_some);
        let label = self.session.setup_label(setup);
        let notes = report.notes.iter().filter(|_| !is_known);
        notes.map(|note| format!("{label}: {note}")).collect()
    }

    /// Whether the setup's network runs in its worker, and not in a process that the worker starts.
    pub(super) fn runs_in_worker(&self, setup: usize) -> bool {
        let setup = self.request.beginning.plan.setups.get(setup);
        let engine = setup.and_then(|setup| engines::find(&setup.engine));
        engine.is_some_and(|engine| engine.stands_alone())
    }

    /// The model of a setup as the user names it: its own, or the plan's.
    pub(super) fn model_name(&self, setup: usize) -> String {
        let plan = &self.request.beginning.plan;
        let own = plan.setups.get(setup);
        let own = own.and_then(|spec| spec.own_model());
        own.unwrap_or(&plan.model).to_owned()
    }

    /// What the setup's engine needs and was found for it.
    pub(super) fn runtime(&self, setup: usize) -> Option<PathBuf> {
        let found = self.request.runtimes.get(setup).cloned();
        found.and_then(Result::ok).flatten()
    }

    pub(super) fn model(&self, setup: usize) -> PathBuf {
        self.request
            .models
            .get(setup)
            .map(|model| model.file.clone())
            .unwrap_or_default()
    }

    /// Ends the other workers where this one's would not fit beside them, or where each is to be alone.
    pub(super) fn make_room(&mut self, setup: usize) {
        if self.workers.is_empty() {
            return;
        }
        // What another machine has room for is not known here.
        if !self.alone && self.is_elsewhere(setup) {
            return;
        }
        if !self.alone {
            let model_bytes = fs::metadata(self.model(setup)).map_or(0, |model| model.len());
            let need = match self.peaks.get(&setup) {
                Some(&peak) => peak,
                None => worker_memory_budget::need(self.peaks.values().copied(), model_bytes),
            };
            let has_room = machine::memory()
                .is_none_or(|memory| worker_memory_budget::has_room(memory.available_bytes, need));
            if has_room {
                return;
            }
        }
        self.use_one_worker();
    }

    /// Ends each worker before the next one starts from here on, with a warning where memory is the reason.
    pub(super) fn use_one_worker(&mut self) {
        if !self.alone {
            self.alone = true;
            self.tell(RunEvent::Warned {
                text: worker_memory_budget::SAID.to_owned(),
            });
        }
        self.end_workers();
    }

    /// Ends the worker of a case that ran out of memory, and all others, before it is tried again.
    pub(super) fn try_alone(&mut self, case: CaseKey, error: &WorkerError) {
        let label = self.session.setup_label(case.setup);
        let text = format!(
            "{label}, {}: {error}; it is tried again without the other workers.",
            case.point
        );
        self.tell(RunEvent::Warned { text });
        self.forget_worker(case.setup);
        self.use_one_worker();
    }

    /// Whether a case that ran out of memory may do better without the other workers.
    pub(super) fn may_fit_alone(&self, case: CaseKey, error: &WorkerError, phase: Phase) -> bool {
        let is_limited = self
            .request
            .beginning
            .plan
            .setups
            .get(case.setup)
            .is_some_and(|setup| setup.options.contains_key("memory"));
        let has_company = self.workers.keys().any(|setup| *setup != case.setup);
        !self.alone
            && !is_limited
            && has_company
            && matches!(
                error.clone().into_outcome(phase),
                Outcome::OutOfMemory { .. }
            )
    }

    /// The most memory that a case's worker had until now, where that is the need of the case: nothing
    /// larger was opened in it before. A worker on another machine says it itself.
    pub(super) fn peak_of(&self, case: CaseKey, by_itself: Option<u64>) -> Option<u64> {
        let is_larger = |other: &CaseKey| {
            let is_smaller = other.point == case.point || other.point.is_within(case.point);
            other.setup == case.setup && !is_smaller
        };
        if self.opened.iter().any(is_larger) || !self.runs_in_worker(case.setup) {
            return None;
        }
        let workers = self.workers.get(&case.setup)?;
        if workers.is_elsewhere() {
            return by_itself;
        }
        peak_of_all(workers)
    }

    pub(super) fn remember_peak(&mut self, setup: usize) {
        let peak = self.workers.get(&setup).and_then(peak_of_all);
        if let Some(peak) = peak {
            let known = self.peaks.entry(setup).or_default();
            *known = peak.max(*known);
        }
    }

    pub(super) fn ask(
        &mut self,
        setup: usize,
        request: &Request,
        limit: Duration,
    ) -> Result<Reply, WorkerError> {
        let Some(mut worker) = self.workers.remove(&setup) else {
            return Err(WorkerError::Start("its worker is gone".to_owned()));
        };
        let name = |setup| self.session.machine_of(setup).map(|m| m.name.as_str());
        let beside = self
            .workers
            .iter()
            .filter(|(other, _)| name(**other) == name(setup));
        let beside = beside.flat_map(|(_, worker)| worker.pids_there());
        let pids: Vec<u32> = worker.pids_there().chain(beside).collect();
        let machine = name(setup).map(ToOwned::to_owned);
        if let Some(link) = &self.run_link {
            link.workers_are(machine, pids);
        } else if let Some(watcher) = &mut self.watcher {
            watcher.set_workers(machine.as_deref(), &pids);
        }
        let stop = self.stop.clone();
        // What happened to it while nothing was asked matters to nothing.
        worker.take_stops();
        let answer = worker.ask_while_waiting(request, limit, &stop, &mut || self.poll_devices());
        let stops = worker.take_stops();
        self.workers.insert(setup, worker);
        self.take_in_stops(setup, request, stops);
        answer
    }

    pub(super) fn confused(&mut self, setup: usize, reply: &Reply) -> WorkerError {
        match self.workers.get_mut(&setup) {
            Some(worker) => worker.confused(reply),
            None => WorkerError::Garbled("an answer without a worker".to_owned()),
        }
    }

    /// Lets the worker give back what a case holds; one that cannot even do that is of no use.
    pub(super) fn close(&mut self, case: CaseKey) {
        self.warmed.remove(&case);
        let request = Request::Close { case: case.into() };
        let limit = Duration::from_secs(10);
        if !self.opened.remove(&case) {
            return;
        }
        let Err(error) = self.ask(case.setup, &request, limit) else {
            return;
        };
        if !matches!(error, WorkerError::Cancelled) {
            let label = self.session.setup_label(case.setup);
            let text = format!(
                "{label}, {}, was not closed: {error}. The worker is started again when it is needed.",
                case.point
            );
            self.tell(RunEvent::Warned { text });
        }
        self.forget_worker(case.setup);
    }

    pub(super) fn forget_worker(&mut self, setup: usize) {
        self.opened.retain(|case| case.setup != setup);
        self.warmed.retain(|case| case.setup != setup);
        let Some(worker) = self.workers.remove(&setup) else {
            return;
        };
        for ending in worker.end() {
            self.warn_of_death(setup, &ending.sentence("when it was ended"));
        }
    }

    pub(super) fn end_workers(&mut self) {
        let living: Vec<usize> = self.workers.keys().copied().collect();
        for setup in living {
            self.forget_worker(setup);
        }
    }

    /// Tells of workers that died while nothing was asked of them. Each is started again when it is needed.
    pub(super) fn notice_deaths(&mut self) {
        let dead = self.workers.iter_mut();
        let dead = dead.filter_map(|(setup, crew)| Some((*setup, crew.death()?)));
        let dead: Vec<(usize, ProcessEnd)> = dead.collect();
        for (setup, ending) in dead {
            self.warn_of_death(
                setup,
                &ending.sentence("while it waited for its next visit"),
            );
            self.forget_worker(setup);
        }
    }

    /// A death that is no outcome of a case.
    pub(super) fn warn_of_death(&mut self, setup: usize, sentence: &str) {
        let label = self.session.setup_label(setup);
        let text = format!("{label}: {sentence}.");
        self.tell(RunEvent::WorkerDied { setup, text });
    }
}
