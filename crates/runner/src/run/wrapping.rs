//! Running a case once more with a profiler of its own around the worker.
//!
//! The worker does what it always does, loading, one run, warming up, measuring; the profiler writes its
//! files when the worker has ended.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ActiveRun;
use super::profiling::{MeasuredWindow, ProfilerOutput};
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_worker::engines::{PROFILE_RUNS, PROFILE_WARM_UP};
use powerband_worker::profilers::{self, Wrapper};
use powerband_worker::protocol::{MeasuredRound, Reply, Request, RoundRule};
use powerband_worker::supervisor::{self, Worker};

/// Profilers take long to begin and to write their files: so many times what a worker may take.
const PATIENCE: u32 = 4;
/// How much of what a profiler said is quoted.
const QUOTED: usize = 300;

impl ActiveRun<'_, '_> {
    /// The profiler that the plan wants around its workers, with its program; nothing for the engine's own.
    pub(super) fn wrapper(&self) -> Result<Option<(&'static dyn Wrapper, PathBuf)>, String> {
        let profiler = self.request.beginning.plan.profiling;
        let Some(wrapper) = profiler.and_then(profilers::find) else {
            return Ok(None);
        };
        Ok(Some((wrapper, profilers::program(wrapper)?)))
    }

    /// Has a profiler watch a worker that carries the case out.
    pub(super) fn wrap_case(
        &mut self,
        case: CaseKey,
        wrapper: &dyn Wrapper,
        program: &Path,
        folder: &Path,
    ) -> Result<ProfilerOutput, String> {
        let plan = &self.request.beginning.plan;
        let Some(setup) = plan.setups.get(case.setup).cloned() else {
            return Err("the plan has no such setup".to_owned());
        };
        let limits = plan.limits.clone();
        let inputs = self.inputs_of(case)?;
        let runtime = self.runtime(case.setup);
        let own = supervisor::worker_of(&setup, runtime.as_deref(), &self.request.program);
        let command = profilers::wrap_worker(wrapper, program, own, folder);
        let patient = |ms: u64| Duration::from_millis(ms) * PATIENCE;
        let stop = self.stop.clone();
        let mut worker = Worker::start_wrapped(&command, patient(limits.start_ms), &stop)
            .map_err(|error| error.to_string())?;
        let requests = [
            Request::Load {
                setup,
                model: self.model(case.setup),
                name: self.model_name(case.setup),
                runtime,
            },
            Request::Open {
                case: case.into(),
                inputs,
                seed: self.request.beginning.plan.seed,
                feed: Vec::new(),
                generate: self.requests_of(case),
            },
            Request::Measure {
                case: case.into(),
                rule: rule(),
            },
        ];
        let mut measured: Option<MeasuredRound> = None;
        for request in requests {
            let limit = patient(limits.load_ms.max(limits.measure_ms));
            let answer = worker
                .ask_while_waiting(&request, limit, &stop, &mut || self.poll_devices())
                .map_err(|error| error.to_string())?;
            if let Reply::Measured(found) = answer {
                measured = Some(found);
            }
        }
        let ending = worker.finish(patient(limits.load_ms), &stop);
        let files = profilers::files(wrapper, folder);
        if files.is_empty() {
            let said = humanize::shorten(&ending.stderr, QUOTED);
            return Err(format!(
                "{} left no file that is known here ({}; it said: {said})",
                wrapper.profiler().name(),
                ending.how
            ));
        }
        if ending.is_failure {
            self.warn_of_death(case.setup, "when its profile was written", &ending);
        }
        let samples = measured
            .as_ref()
            .map_or(0, |measured| measured.samples_ns.len() as u64);
        // Opening runs once, and the rest warms up.
        let runs = 1 + PROFILE_WARM_UP + samples;
        Ok(ProfilerOutput {
            files,
            runs: Some(runs),
            measured: Some(stretch(wrapper, measured.as_ref(), samples)),
            began_ns: measured.map(|measured| measured.started_monotonic_ns),
        })
    }
}

/// A few runs, and a few before them.
fn rule() -> RoundRule {
    let samples = PROFILE_RUNS - PROFILE_WARM_UP;
    RoundRule {
        wake_up_runs: PROFILE_WARM_UP,
        wake_up_ns: 0,
        min_samples: samples,
        min_ns: 0,
        max_ns: u64::MAX,
        max_samples: samples,
        load: Default::default(),
        seed: 0,
        starts_at_ns: None,
    }
}

/// The measured runs on the clock of the files; on a clock of its own they are nowhere.
fn stretch(wrapper: &dyn Wrapper, measured: Option<&MeasuredRound>, runs: u64) -> MeasuredWindow {
    let (start_ns, end_ns) = match measured.filter(|_| wrapper.shares_clock()) {
        Some(measured) => {
            let end = measured.started_monotonic_ns + measured.spent_ns;
            (measured.started_monotonic_ns as i64, end as i64)
        }
        None => (i64::MAX, i64::MAX),
    };
    MeasuredWindow {
        start_ns,
        end_ns,
        runs,
    }
}
