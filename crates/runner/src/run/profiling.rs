//! Profiling: each case is run once more, watched, after everything was measured.

use std::path::Path;

use super::{ActiveRun, node_work};
use crate::agent::Agent;
use crate::watched::{self, CaseWatch};
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{Activity, RunEvent};
use powerband_core::domain::experiment::Experiments;
use powerband_core::domain::machine::ClockOffset;
use powerband_core::domain::plan::{MOST_PROFILE_STARTS, Profiler};
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace::Trace;
use powerband_planning::transport;
use powerband_store::trace_file;
use powerband_worker::protocol::WatchOrder;
use powerband_worker::supervisor::WorkerError;

/// What happens to the timeline of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimelineUse {
    Kept,
    None,
}

impl ActiveRun<'_, '_> {
    /// Profiles every case that was measured and is not profiled yet; of experiments, the case that is asked
    /// about.
    pub(super) fn profile(&mut self) {
        if self.request.beginning.plan.profiling.is_none() {
            return;
        }
        let experiments = self.request.beginning.plan.experiments.as_ref();
        let asked = experiments.map(Experiments::case);
        let n_starts = self.request.beginning.plan.profile_starts.unwrap_or(1);
        let n_starts = n_starts.min(MOST_PROFILE_STARTS) as usize;
        let is_profiled = |case: &CaseKey| {
            self.session.profiles.iter().any(|profile| {
                profile.case == Some(*case) && profile.starts.len().max(1) >= n_starts
            })
        };
        let measured = self
            .session
            .cases
            .iter()
            .filter(|case| !case.rounds.is_empty() && !case.outcome.is_trouble());
        let wanted: Vec<CaseKey> = measured
            .map(|case| case.key())
            .filter(|case| !is_profiled(case))
            .filter(|case| asked.is_none_or(|asked| asked == *case))
            .collect();
        if wanted.is_empty() {
            return;
        }
        // The others would only be in the way.
        self.end_workers();
        if n_starts > 1 {
            return self.profile_in_turns(&wanted, n_starts);
        }
        for case in wanted {
            if let Some(profile) = self.try_to_profile(case, TimelineUse::Kept) {
                self.tell(RunEvent::Profiled { profile });
            }
        }
    }

    /// Profiles each case in so many starts; a case that cannot be profiled is left out of later turns.
    fn profile_in_turns(&mut self, wanted: &[CaseKey], n_starts: usize) {
        let mut profiles: Vec<(CaseKey, Box<Profile>)> = Vec::new();
        for case in wanted {
            if let Some(mut profile) = self.try_to_profile(*case, TimelineUse::Kept) {
                profile.starts = vec![profile.as_start()];
                self.tell(RunEvent::Profiled {
                    profile: profile.clone(),
                });
                profiles.push((*case, profile));
            }
        }
        for _ in 1..n_starts {
            profiles.retain_mut(|(case, profile)| {
                let again = self.try_to_profile(*case, TimelineUse::None);
                let is_there = again.is_some();
                profile.starts.extend(again.map(|again| again.as_start()));
                if is_there {
                    self.tell(RunEvent::Profiled {
                        profile: profile.clone(),
                    });
                }
                is_there
            });
        }
    }

    /// Profiles a case, or says why it could not be; nothing once the run is cancelled.
    fn try_to_profile(&mut self, case: CaseKey, timeline: TimelineUse) -> Option<Box<Profile>> {
        if self.control.is_cancelled() {
            return None;
        }
        let activity = Activity::Profiling { case };
        self.tell(RunEvent::Turned { activity });
        match self.profile_case(case, timeline) {
            Ok(profile) => Some(Box::new(profile)),
            Err(reason) => {
                let label = self.session.setup_label(case.setup);
                let text = format!("{label}, {}, could not be profiled: {reason}.", case.point);
                self.tell(RunEvent::Warned { text });
                None
            }
        }
    }

    fn profile_case(&mut self, case: CaseKey, timeline: TimelineUse) -> Result<Profile, String> {
        self.check_model(case.setup)
            .map_err(|error| error.to_string())?;
        let order = self.watch_order(case)?;
        let (program, stop) = (self.request.program.clone(), self.stop.clone());
        let traces = self.request.traces.as_ref();
        let traces = traces.filter(|_| timeline == TimelineUse::Kept);
        let kept = traces.map(|folder| folder.join(trace_name(case)));
        let there = self.agent_there(case.setup)?;
        let (watched, has_trace) = if let Some((agent, _)) = &there {
            let mut poll = || self.poll_devices();
            let mut agent = Agent::start(agent, &order.limits, &stop, &mut poll)?;
            let watched = agent.watch(&order)?;
            let fetched = kept.as_deref().map(|path| agent.fetch_timeline(path));
            drop(agent);
            if let Some(Err(reason)) = &fetched {
                let text = format!("A timeline cannot be kept: {reason}.");
                self.tell(RunEvent::Warned { text });
            }
            (watched, matches!(fetched, Some(Ok(()))))
        } else {
            let (watched, trace) = watched::watch(&mut CaseWatch {
                order: &order,
                program: &program,
                stop: &stop,
                while_waiting: &mut || self.poll_devices(),
            })?;
            let has_trace = kept
                .as_ref()
                .is_some_and(|path| self.keep_trace(path, &trace));
            (watched, has_trace)
        };
        if let Some(death) = watched.death {
            self.warn_of_death(case.setup, &death);
        }
        let own = self.request.beginning.plan.profiling == Some(Profiler::Engine);
        let reports = self.session.reports.get(case.setup);
        let report = reports.and_then(Option::as_ref).filter(|_| own);
        let mut profile = watched.profile;
        profile.name = format!("{}, {}", self.session.setup_label(case.setup), case.point);
        profile.case = Some(case);
        self.fill_work(case, &mut profile);
        if own {
            profile.tool.version = report.map(|report| {
                let named = report.engine.strip_prefix(&profile.tool.name);
                named.unwrap_or(&report.engine).trim().to_owned()
            });
        }
        let clock = there.map(|(_, clock)| clock);
        profile.began_ns = watched.begins_ns.map(|begins_ns| {
            let here_ns = clock.map_or(begins_ns, |clock| clock.to_local(begins_ns));
            here_ns.saturating_sub(self.began_ns)
        });
        profile.trace_file = kept
            .filter(|_| has_trace)
            .map(|path| path.display().to_string());
        Ok(profile)
    }

    /// The order to profile a case, with paths of its machine.
    fn watch_order(&mut self, case: CaseKey) -> Result<WatchOrder, String> {
        let plan = &self.request.beginning.plan;
        let setup = plan.setups.get(case.setup).cloned();
        let setup = setup.ok_or("the plan has no such setup")?;
        let (profiler, seed, limits) = (plan.profiling, plan.seed, plan.limits.clone());
        let inputs = self.inputs_of(case)?;
        let failed = |error: WorkerError| error.to_string();
        Ok(WatchOrder {
            case: case.into(),
            profiler,
            setup: if self.is_elsewhere(case.setup) {
                transport::over_there(&setup)
            } else {
                setup
            },
            model: self.model_of_worker(case.setup).map_err(failed)?,
            name: self.model_name(case.setup),
            runtime: self.runtime(case.setup),
            inputs: self.inputs_of_worker(case.setup, inputs).map_err(failed)?,
            seed,
            generate: self.requests_of(case),
            limits,
        })
    }

    /// What starts the agent on the machine of a setup, with the clock over there; nothing for this machine.
    pub(super) fn agent_there(
        &mut self,
        setup: usize,
    ) -> Result<Option<(ProcessSpec, ClockOffset)>, String> {
        let stop = self.stop.clone();
        let Some(reached) = self.reached_of(setup).map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        reached.again(&stop).map_err(|error| error.to_string())?;
        Ok(Some((reached.agent(), reached.clock)))
    }

    /// Tells the nodes of a profile their work, where its runs are runs of the whole network.
    fn fill_work(&self, case: CaseKey, profile: &mut Profile) {
        let names_nodes = profile.format == "onnxruntime" && self.requests_of(case).is_none();
        if let (true, Ok(inputs)) = (names_nodes, self.inputs_of(case)) {
            let examination = self.session.examinations.get(&case.setup);
            node_work::fill(profile, &self.model(case.setup), &inputs, examination);
        }
    }

    /// Keeps the timeline until the session has a file; says whether it could.
    fn keep_trace(&mut self, path: &Path, trace: &Trace) -> bool {
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        let written = std::fs::create_dir_all(folder).and_then(|()| trace_file::write(path, trace));
        if let Err(error) = &written {
            let path = path.display();
            let text = format!("The timeline cannot be kept in {path}: {error}.");
            self.tell(RunEvent::Warned { text });
        }
        written.is_ok()
    }
}

/// What the timeline of a case is called until the session has a file.
fn trace_name(case: CaseKey) -> String {
    format!("{}-{}.trace.json.gz", case.setup, case.point.file_words())
}
