//! Running each case once more, watched, after everything was measured.
//!
//! Watching costs time, so it is done by a process of its own, and nothing of it is a measurement. What
//! the engine leaves behind is read by the importers, as a file of any other program would be.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{ActiveRun, node_work};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::event::{Activity, RunEvent};
use powerband_core::domain::plan::Profiler;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace::{SliceKind, Trace};
use powerband_import as import;
use powerband_import::Imported;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_import::records::summary;
use powerband_store::trace_file;
use powerband_worker::engines::{self, PROFILE_WARM_UP};
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::supervisor::Worker;

/// Files of a profiler, and what is known of the runs in them.
pub(super) struct ProfilerOutput {
    /// Files that importers know.
    pub(super) files: Vec<PathBuf>,
    /// Runs in them, where they do not say.
    pub(super) runs: Option<u64>,
    /// When the runs after the warm-up began and ended, on the clock of the files, and how many they are.
    pub(super) measured: Option<MeasuredWindow>,
    /// When they began on the machine's monotonic clock.
    pub(super) began_ns: Option<u64>,
}

/// Time range of the measured runs, after the warm-up.
#[derive(Clone, Copy)]
pub(super) struct MeasuredWindow {
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) runs: u64,
}

/// How long after the last run something of it may still be seen: work that was put off, and clocks that
/// are not quite together.
const CLOCKS_APART_NS: i64 = 2_000_000_000;

impl ActiveRun<'_, '_> {
    /// Profiles every case that was measured and is not profiled yet; of experiments, the case that is asked
    /// about.
    pub(super) fn profile(&mut self) {
        if self.request.beginning.plan.profiling.is_none() {
            return;
        }
        let experiments = self.request.beginning.plan.experiments.as_ref();
        let asked = experiments.map(|asked| CaseKey {
            setup: asked.setup,
            point: asked.point,
        });
        let is_profiled = |case: &CaseKey| {
            self.session
                .profiles
                .iter()
                .any(|profile| profile.case == Some(*case))
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
        for case in wanted {
            if self.control.is_cancelled() {
                return;
            }
            let activity = Activity::Profiling { case };
            self.tell(RunEvent::Turned { activity });
            match self.profile_case(case) {
                Ok(profile) => self.tell(RunEvent::Profiled {
                    profile: Box::new(profile),
                }),
                Err(reason) => {
                    let label = self.session.setup_label(case.setup);
                    let text = format!("{label}, {}, could not be profiled: {reason}.", case.point);
                    self.tell(RunEvent::Warned { text });
                }
            }
        }
    }

    fn profile_case(&mut self, case: CaseKey) -> Result<Profile, String> {
        if self.is_elsewhere(case.setup) {
            return Err(
                "it ran on another machine, and profiles are made of setups on this one alone; measure it with profiles over there, and open the session"
                    .to_owned(),
            );
        }
        self.check_model(case.setup)
            .map_err(|error| error.to_string())?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let seen = match self.wrapper()? {
            Some((wrapper, program)) => self.wrap_case(case, wrapper, &program, folder.path())?,
            None => self.watch_case(case, folder.path())?,
        };
        let read = import::read_all(&seen.files, Limits::default(), &ReadProgress::default());
        let mut imported = read.map_err(|error| error.to_string())?;
        imported.runs = seen.runs.or(imported.runs);
        let anchor_ns = if let Some(measured) = seen.measured {
            keep_measured(&mut imported, measured)
        } else {
            leave_out_warm_up(&mut imported);
            first_run(&imported.trace)
        };
        let name = format!("{}, {}", self.session.setup_label(case.setup), case.point);
        let mut profile = summary::profile(&imported, &name);
        profile.case = Some(case);
        self.fill_work(case, &mut profile);
        let setup = self.request.beginning.plan.setups.get(case.setup);
        let plan = &self.request.beginning.plan;
        let own = plan.profiling == Some(Profiler::Engine);
        let engine = setup
            .filter(|_| own)
            .and_then(|setup| engines::find(&setup.engine));
        if let Some(name) = engine.and_then(|engine| engine.watcher()) {
            name.clone_into(&mut profile.tool.name);
        }
        let report = self
            .session
            .reports
            .get(case.setup)
            .and_then(Option::as_ref);
        if own {
            profile.tool.version = report.map(|report| {
                let named = report.engine.strip_prefix(&profile.tool.name);
                named.unwrap_or(&report.engine).trim().to_owned()
            });
        }
        profile.began_ns = seen
            .began_ns
            .zip(anchor_ns)
            .and_then(|(began_ns, anchor_ns)| {
                // The timeline begins with what is seen first, which is a little beside the first run.
                let (first_ns, _) = imported.trace.bounds()?;
                let since_ns = began_ns.saturating_sub(self.began_ns);
                since_ns.checked_add_signed(first_ns.saturating_sub(anchor_ns))
            });
        profile.trace_file = self.keep_trace(case, &imported);
        Ok(profile)
    }

    /// Tells the nodes of a profile their work, where its runs are runs of the whole network.
    fn fill_work(&self, case: CaseKey, profile: &mut Profile) {
        let names_nodes = profile.format == "onnxruntime" && self.requests_of(case).is_none();
        if let (true, Ok(inputs)) = (names_nodes, self.inputs_of(case)) {
            let examination = self.session.examinations.get(&case.setup);
            node_work::fill(profile, &self.model(case.setup), &inputs, examination);
        }
    }

    /// Has the engine run and watch itself.
    fn watch_case(&mut self, case: CaseKey, folder: &Path) -> Result<ProfilerOutput, String> {
        let plan = &self.request.beginning.plan;
        let Some(spec) = plan.setups.get(case.setup).cloned() else {
            return Err("the plan has no such setup".to_owned());
        };
        let engine = engines::find(&spec.engine).ok_or("there is no such engine")?;
        if !engine.profiles() {
            return Err(format!(
                "{} does not tell where its time goes",
                engine.title()
            ));
        }
        let inputs = self.inputs_of(case)?;
        let limits = plan.limits.clone();
        let runtime = self.runtime(case.setup);
        let request = Request::Profile {
            setup: spec.clone(),
            model: self.model(case.setup),
            name: self.model_name(case.setup),
            runtime: runtime.clone(),
            inputs,
            seed: plan.seed,
            folder: folder.to_path_buf(),
            generate: self.requests_of(case),
        };
        let program = self.request.program.clone();
        let start = Duration::from_millis(limits.start_ms);
        let stop = self.stop.clone();
        let mut worker = Worker::start(&spec, runtime.as_deref(), &program, start, &stop)
            .map_err(|error| error.to_string())?;
        let limit = Duration::from_millis(limits.load_ms + limits.measure_ms);
        let answer = worker.ask_while_waiting(&request, limit, &stop, &mut || self.poll_devices());
        match answer.map_err(|error| error.to_string())? {
            Reply::Profiled {
                files,
                runs,
                began_ns,
            } => {
                if let Some(ending) = worker.end() {
                    self.warn_of_death(case.setup, "when its profile was written", &ending);
                }
                Ok(ProfilerOutput {
                    files,
                    runs,
                    measured: None,
                    began_ns,
                })
            }
            other => Err(worker.confused(&other).to_string()),
        }
    }

    /// Keeps the timeline until the session has a file, and returns where.
    fn keep_trace(&mut self, case: CaseKey, imported: &Imported) -> Option<String> {
        let folder = self.request.traces.as_ref()?;
        let path = folder.join(format!(
            "{}-{}.trace.json.gz",
            case.setup,
            case.point.file_words()
        ));
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| trace_file::write(&path, &imported.trace));
        match written {
            Ok(()) => Some(path.display().to_string()),
            Err(error) => {
                let text = format!(
                    "The timeline cannot be kept in {}: {error}.",
                    path.display()
                );
                self.tell(RunEvent::Warned { text });
                None
            }
        }
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
fn leave_out_warm_up(imported: &mut Imported) {
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
    let warm_up = PROFILE_WARM_UP as usize;
    let Some(end) = warm_up.checked_sub(1).and_then(|last| ends.get(last)) else {
        return;
    };
    if ends.len() > warm_up {
        imported.trace = trace.from(*end);
        imported.runs = Some((ends.len() - warm_up) as u64);
    }
}
