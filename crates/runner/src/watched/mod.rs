//! Running a case once more, watched, and reading what was seen: here, or on another machine by the agent there.
//!
//! Watching costs time, so it is done by a process of its own, and nothing of it is a measurement. What a profiler
//! leaves behind is read by the importers, as a file of any other program would be.

mod wrapped;

use std::path::{Path, PathBuf};
use std::time::Duration;

use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::plan::Profiler;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace::{SliceKind, Trace};
use powerband_import as import;
use powerband_import::Imported;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_import::records::summary;
use powerband_worker::engines;
use powerband_worker::process::ProcessEnd;
use powerband_worker::profilers;
use powerband_worker::protocol::{Reply, Request, WatchOrder, WatchedProfile};
use powerband_worker::supervisor::Worker;

/// A case that is to be watched, and what may end that.
pub(crate) struct CaseWatch<'a> {
    pub order: &'a WatchOrder,
    /// This program.
    pub program: &'a Path,
    pub stop: &'a CancelToken,
    /// Something small that is done a few times a second.
    pub while_waiting: &'a mut dyn FnMut(),
}

/// Files of a profiler, and what is known of the runs in them.
struct ProfilerOutput {
    /// Files that importers know.
    files: Vec<PathBuf>,
    /// Runs in them, where they do not say.
    runs: Option<u64>,
    /// The first runs in them, which only warm up.
    warm_up: u64,
    /// When the runs after the warm-up began and ended, on the clock of the files, and how many they are.
    measured: Option<MeasuredWindow>,
    /// When they began on the machine's monotonic clock.
    began_ns: Option<u64>,
    /// How the worker ended, where it did so badly.
    death: Option<ProcessEnd>,
}

/// Time range of the measured runs, after the warm-up.
#[derive(Clone, Copy)]
struct MeasuredWindow {
    start_ns: i64,
    end_ns: i64,
    runs: u64,
}

/// How long after the last run something of it may still be seen: work that was put off, and clocks that
/// are not quite together.
const CLOCKS_APART_NS: i64 = 2_000_000_000;

/// Has a case run once more, watched, and reads what was seen: its profile and its timeline.
pub(crate) fn watch(asked: &mut CaseWatch<'_>) -> Result<(WatchedProfile, Trace), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let seen = match asked.order.profiler.and_then(profilers::find) {
        Some(wrapper) => {
            let program = profilers::program(wrapper)?;
            wrapped::watch(asked, wrapper, &program, folder.path())?
        }
        None => watched_by_engine(asked, folder.path())?,
    };
    let read = import::read_all(&seen.files, Limits::default(), &ReadProgress::default());
    let mut imported = read.map_err(|error| error.to_string())?;
    if imported.is_cut_off {
        // The profile covers an unknown part of the runs.
        let disk = folder.path().parent().unwrap_or_else(|| folder.path());
        return Err(format!(
            "what was written of it below {} is cut off; is that disk full?",
            disk.display()
        ));
    }
    imported.runs = seen.runs.or(imported.runs);
    let anchor_ns = if let Some(measured) = seen.measured {
        keep_measured(&mut imported, measured)
    } else {
        leave_out_warm_up(&mut imported, seen.warm_up as usize);
        first_run(&imported.trace)
    };
    let profile = named(asked.order, summary::profile(&imported, ""));
    let begins_ns = seen.began_ns.zip(anchor_ns);
    let begins_ns = begins_ns.and_then(|(began_ns, anchor_ns)| {
        // The timeline begins with what is seen first, which is a little beside the first run.
        let (first_ns, _) = imported.trace.bounds()?;
        began_ns.checked_add_signed(first_ns.saturating_sub(anchor_ns))
    });
    let death = seen
        .death
        .map(|ending| ending.sentence("when its profile was written"));
    let watched = WatchedProfile {
        profile,
        begins_ns,
        death,
    };
    Ok((watched, imported.trace))
}

/// The profile with the name of the engine's own profiler, where that is what watched.
fn named(order: &WatchOrder, mut profile: Profile) -> Profile {
    let engine = engines::find(&order.setup.engine);
    let engine = engine.filter(|_| order.profiler == Some(Profiler::Engine));
    if let Some(name) = engine.and_then(|engine| engine.watcher()) {
        name.clone_into(&mut profile.tool.name);
    }
    profile
}

/// Has the engine run and watch itself.
fn watched_by_engine(asked: &mut CaseWatch<'_>, folder: &Path) -> Result<ProfilerOutput, String> {
    let order = asked.order;
    let engine = engines::find(&order.setup.engine).ok_or("there is no such engine")?;
    if !engine.profiles() {
        return Err(format!(
            "{} does not tell where its time goes",
            engine.title()
        ));
    }
    let request = Request::Profile {
        setup: order.setup.clone(),
        model: order.model.clone(),
        name: order.name.clone(),
        runtime: order.runtime.clone(),
        inputs: order.inputs.clone(),
        seed: order.seed,
        folder: folder.to_path_buf(),
        generate: order.generate.clone(),
    };
    let start = Duration::from_millis(order.limits.start_ms);
    let runtime = order.runtime.as_deref();
    let mut worker = Worker::start(&order.setup, runtime, asked.program, start, asked.stop)
        .map_err(|error| error.to_string())?;
    let limit = Duration::from_millis(order.limits.load_ms + order.limits.measure_ms);
    let answer = worker.ask_while_waiting(&request, limit, asked.stop, asked.while_waiting);
    match answer.map_err(|error| error.to_string())? {
        Reply::Profiled {
            files,
            runs,
            began_ns,
            warm_up,
        } => Ok(ProfilerOutput {
            files,
            runs,
            warm_up: warm_up.unwrap_or(0),
            measured: None,
            began_ns,
            death: worker.end(),
        }),
        other => Err(worker.confused(&other).to_string()),
    }
}

/// Leaves out what was before the measured runs, where the trace goes on through all of them. Then their
/// beginning is known on the trace's clock.
fn keep_measured(imported: &mut Imported, measured: MeasuredWindow) -> Option<i64> {
    let reaches = |(first, last): (i64, i64)| first < measured.start_ns && last > measured.start_ns;
    let ends_within =
        |(_, last): (i64, i64)| last <= measured.end_ns.saturating_add(CLOCKS_APART_NS);
    let extent = imported.trace.extent();
    if extent.is_some_and(|extent| reaches(extent) && ends_within(extent)) {
        imported.trace = imported.trace.from(measured.start_ns);
        imported.runs = Some(measured.runs);
        Some(measured.start_ns)
    } else {
        imported.note(
            "the first runs and the loading of the network are in it, as the profiler does not say when they ended"
                .to_owned(),
        );
        None
    }
}

/// When the first run of a trace begins: the slice that is called so, or the first of all.
fn first_run(trace: &Trace) -> Option<i64> {
    let named = trace.names.find("run 1");
    let starts = trace.slices().filter(|slice| Some(slice.name) == named);
    let named = starts.map(|slice| slice.start_ns).min();
    named.or_else(|| Some(trace.extent()?.0))
}

/// Leaves out the first runs, where the file says when runs ended.
fn leave_out_warm_up(imported: &mut Imported, warm_up: usize) {
    let trace = &imported.trace;
    let Some(name) = trace.names.find("model_run") else {
        return;
    };
    let mut ends: Vec<i64> = trace
        .slices()
        .filter(|slice| slice.kind == SliceKind::Range && slice.name == name)
        .map(|slice| slice.end_ns())
        .collect();
    ends.sort_unstable();
    let Some(end) = warm_up.checked_sub(1).and_then(|last| ends.get(last)) else {
        return;
    };
    if ends.len() > warm_up {
        imported.trace = trace.from(*end);
        imported.runs = Some((ends.len() - warm_up) as u64);
    }
}
