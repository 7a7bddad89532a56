//! Running a case once more with a profiler of its own around the worker.
//!
//! The worker does what it always does, loading, one run, warming up, measuring; the profiler writes its
//! files when the worker has ended.

use std::path::Path;
use std::time::Duration;

use super::{CaseWatch, MeasuredWindow, ProfilerOutput};
use powerband_core::base::humanize;
use powerband_worker::engines::watched_runs::{WATCHED_RUNS, WATCHED_WARM_UP};
use powerband_worker::profilers::{self, Wrapper};
use powerband_worker::protocol::{MeasuredRound, Reply, Request, RoundRule};
use powerband_worker::supervisor::{self, Worker};

/// Profilers take long to begin and to write their files: so many times what a worker may take.
const PATIENCE: u32 = 4;
/// How much of what a profiler said is quoted.
const QUOTED: usize = 300;

/// Has a profiler watch a worker that carries the case out.
pub(super) fn watch(
    asked: &mut CaseWatch<'_>,
    wrapper: &dyn Wrapper,
    program: &Path,
    folder: &Path,
) -> Result<ProfilerOutput, String> {
    let order = asked.order;
    let (case, limits) = (order.case, &order.limits);
    let own = supervisor::worker_of(&order.setup, order.runtime.as_deref(), asked.program);
    let command = profilers::wrap_worker(wrapper, program, own, folder);
    let patient = |ms: u64| Duration::from_millis(ms) * PATIENCE;
    let mut worker = Worker::start_wrapped(&command, patient(limits.start_ms), asked.stop)
        .map_err(|error| error.to_string())?;
    let requests = [
        Request::Load {
            setup: order.setup.clone(),
            model: order.model.clone(),
            name: order.name.clone(),
            runtime: order.runtime.clone(),
        },
        Request::Open {
            case,
            inputs: order.inputs.clone(),
            seed: order.seed,
            feed: Vec::new(),
            generate: order.generate.clone(),
        },
        Request::Measure { case, rule: rule() },
    ];
    let mut measured: Option<MeasuredRound> = None;
    for request in requests {
        let limit = patient(limits.load_ms.max(limits.measure_ms));
        let answer = worker
            .ask_while_waiting(&request, limit, asked.stop, asked.while_waiting)
            .map_err(|error| error.to_string())?;
        if let Reply::Measured(found) = answer {
            measured = Some(found);
        }
    }
    let ending = worker.finish(patient(limits.load_ms), asked.stop);
    let files = profilers::files(wrapper, folder);
    if files.is_empty() {
        let said = humanize::shorten(&ending.stderr, QUOTED);
        return Err(format!(
            "{} left no file that is known here ({}; it said: {said})",
            wrapper.profiler().name(),
            ending.how
        ));
    }
    let samples = measured
        .as_ref()
        .map_or(0, |measured| measured.samples_ns.len() as u64);
    // Opening runs once, and the rest warms up.
    let runs = 1 + WATCHED_WARM_UP + samples;
    Ok(ProfilerOutput {
        files,
        runs: Some(runs),
        warm_up: WATCHED_WARM_UP,
        measured: Some(stretch(wrapper, measured.as_ref(), samples)),
        began_ns: measured.map(|measured| measured.started_monotonic_ns),
        death: Some(ending).filter(|ending| ending.is_failure),
    })
}

/// A few runs, and a few before them.
fn rule() -> RoundRule {
    RoundRule {
        wake_up_runs: WATCHED_WARM_UP,
        wake_up_ns: 0,
        min_samples: 2,
        min_ns: 20_000_000_000,
        max_ns: u64::MAX,
        max_samples: WATCHED_RUNS,
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
