//! What the window's application asks of this machine, done by the crates that measure.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::page_contents::PageContents;
use crate::result_page;
use powerband_app::backend::{
    Backend, FileProgress, FoundEngine, InstallProgress, PageFacts, PageSource, ReadTimeline,
    ReadyRun, RunSubject, WantedRoofs,
};
use powerband_app::detached::DetachedRun;
use powerband_app::why::tally;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::paths::Paths;
use powerband_core::control::Control;
use powerband_core::domain::again::request_for;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::event::{RunStart, TimedEvent};
use powerband_core::domain::file_set::FileSet;
use powerband_core::domain::plan::{Plan, Profiler};
use powerband_core::domain::recorded_run::RecordedRun;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::telemetry::{MissingSource, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_devices::{machine, survey, version};
use powerband_findings::analysis::category::Rules;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_import::{ImportError, Imported, session};
use powerband_planning::plan_check::{NamedSize, PlanCheck};
use powerband_runner::again::prepare_again;
use powerband_runner::experiments::elsewhere::ReadyElsewhere;
use powerband_runner::experiments::{self, ExperimentMachine};
use powerband_runner::jobs::collect;
use powerband_runner::jobs::record::{self as job_record, JobRecord};
use powerband_runner::jobs::state::{self, PartState};
use powerband_runner::jobs::submit::{self, DetachOptions};
use powerband_runner::plan_check::{self, OutlineCache};
use powerband_runner::prepare::{prepare, prepare_more};
use powerband_runner::prepare_error::PrepareError;
use powerband_runner::record::{self, SessionTarget};
use powerband_runner::roofs::measuring::{self, RoofRequest, RoofsError};
use powerband_runner::roofs::{RoofProgress, devices, kept};
use powerband_runner::run::PreparedRun;
use powerband_store::installation::Installation;
use powerband_store::roofs_file::KnownRoofs;
use powerband_store::session_file;
use powerband_worker::engines::install::InstallRequest;
use powerband_worker::fetch::{self, FetchStep};
use powerband_worker::{desktop, probe, profilers};

/// This machine.
#[derive(Debug, Default)]
pub struct LocalBackend {
    outlines: Mutex<OutlineCache>,
}

impl Backend for LocalBackend {
    fn environment(&self) -> Environment {
        machine::environment()
    }

    fn devices(&self, places: &TelemetryPaths) -> (Vec<WatchedDevice>, Vec<MissingSource>) {
        let found = survey::survey(places);
        (found.devices, found.missing)
    }

    fn reports_cards(&self, source: &str) -> bool {
        let mut named = powerband_devices::ALL.iter();
        named.all(|one| one.tells_of_cards() || one.title() != source)
    }

    fn engines(&self, place: &Installation) -> Vec<FoundEngine> {
        let found = probe::survey(
            &place.paths,
            place.onnxruntime.clone(),
            place.python.as_deref(),
            &place.program,
            &place.environment_roots,
        );
        let engines = found.into_iter().map(|found| FoundEngine {
            id: found.engine.id(),
            title: found.engine.title(),
            runtime: found.runtime.map(|runtime| runtime.path),
            answer: found.answer,
            offers: found.offers,
        });
        engines.collect()
    }

    fn missing_profilers(&self) -> Vec<(Profiler, String)> {
        profilers::missing_profilers()
    }

    fn install_onnxruntime(
        &self,
        place: &Installation,
        flavor: &str,
        cancel: &CancelToken,
        tell: &mut dyn FnMut(InstallProgress),
    ) -> Result<String, String> {
        let request = InstallRequest {
            flavor: flavor.to_owned(),
            version: None,
        };
        let installed = fetch::install(
            &place.paths,
            &place.program,
            place.python.clone(),
            &request,
            cancel,
            &mut |step| {
                tell(match step {
                    FetchStep::Downloading { .. } => InstallProgress::Begins,
                    FetchStep::Downloaded { bytes, total } => {
                        InstallProgress::Downloaded { bytes, total }
                    }
                    FetchStep::Unpacking => InstallProgress::Unpacking,
                    FetchStep::Checking => InstallProgress::Checking,
                });
            },
        );
        installed.map(|installed| installed.version)
    }

    fn roof_seconds(&self, engines: usize) -> (f64, f64) {
        measuring::estimate_s(engines)
    }

    fn kept_roofs(&self, place: &Installation) -> KnownRoofs {
        let places = place.watch.as_ref().map(|watch| watch.places.clone());
        let devices = devices::all(&places.unwrap_or_else(TelemetryPaths::of_user));
        kept::read(&place.paths, &devices)
    }

    fn measure_roofs(
        &self,
        place: &Installation,
        wanted: &WantedRoofs,
        cancel: &CancelToken,
        tell: &mut dyn FnMut(String, f32),
    ) -> Result<Option<Vec<Roofs>>, String> {
        let setups = match wanted {
            WantedRoofs::Of(setup) => vec![setup.clone()],
            _ => Vec::new(),
        };
        let known = kept::for_setups(place, &setups);
        if !known.is_empty() && measuring::missing_for(&setups, &known).is_empty() {
            return Ok(Some(self.kept_roofs(place).fresh));
        }
        let request = RoofRequest {
            again: *wanted == WantedRoofs::Again,
            usual_engines: setups.is_empty(),
            setups,
        };
        let mut step = |step: RoofProgress| {
            tell(step.what, step.done as f32 / step.of.max(1) as f32);
        };
        match measuring::measure(place, &request, cancel, &mut step) {
            Ok(measured) => Ok(Some(measured.roofs)),
            Err(RoofsError::Cancelled) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn check_plan(&self, place: &Installation, plan: &Plan, offered: &[NamedSize]) -> PlanCheck {
        let outlines = self.outlines.lock();
        let mut outlines = outlines.unwrap_or_else(PoisonError::into_inner);
        plan_check::check(place, plan, offered, &mut outlines)
    }

    fn prepare(
        &self,
        place: &Installation,
        subject: RunSubject<'_>,
    ) -> Result<Box<dyn ReadyRun>, String> {
        if let RunSubject::Experiments(session, case, change, programs) = subject
            && session
                .plan
                .setups
                .get(case.setup)
                .is_some_and(Setup::is_elsewhere)
        {
            let ready = ReadyElsewhere::of_case(place, session, case, change, programs)?;
            return Ok(Box::new(RunElsewhere(ready)));
        }
        let ready = prepare_run(place, subject).map_err(|error| error.to_string())?;
        Ok(Box::new(ready))
    }

    fn detached_runs(&self, paths: &Paths) -> (Vec<DetachedRun>, Option<String>) {
        let records = job_record::all(paths);
        if records.is_empty() {
            return (Vec::new(), None);
        }
        let Some(jobs) = state::ask_slurm() else {
            return (Vec::new(), Some(state::NO_ANSWER.to_owned()));
        };
        let runs = records
            .iter()
            .map(|record| detached_run(record, &state::parts(record, &jobs)));
        (runs.collect(), None)
    }

    fn collect(&self, paths: &Paths, id: &str) -> Result<(PathBuf, Option<String>), String> {
        let record = job_record::find(paths, id)?;
        let jobs = state::ask_slurm().ok_or(state::NO_ANSWER)?;
        let collected = collect::collect(paths, &record, &state::parts(&record, &jobs))?;
        Ok((collected.path, collected.left))
    }

    fn submit(&self, place: &Installation, request: &RunRequest) -> Result<Vec<String>, String> {
        let prepared = prepare(place, request).map_err(|error| error.to_string())?;
        let detaching = DetachOptions {
            energy: request.energy,
            ..DetachOptions::default()
        };
        let record = submit::submit(&place.paths, &prepared, &detaching)?;
        Ok(record.jobs().iter().map(ToString::to_string).collect())
    }

    fn cancel_detached(&self, paths: &Paths, id: &str) -> Result<(), String> {
        let record = job_record::find(paths, id)?;
        submit::cancel(&record).map_or(Ok(()), Err)
    }

    fn file_sets(&self, files: &[PathBuf]) -> Vec<FileSet> {
        session::file_sets(files)
    }

    fn read_timeline(
        &self,
        set: &FileSet,
        progress: &FileProgress<'_>,
    ) -> Result<ReadTimeline, Option<String>> {
        let imported = read_files(set, progress)?;
        Ok(ReadTimeline {
            notes: imported.notes,
            trace: Arc::new(imported.trace),
        })
    }

    fn read_session(
        &self,
        set: &FileSet,
        progress: &FileProgress<'_>,
    ) -> Result<(Session, ReadTimeline), Option<String>> {
        let imported = read_files(set, progress)?;
        let notes = imported.notes.clone();
        let parts = vec![(session::set_title(set).unwrap_or_default(), imported)];
        let mut read = session::session(parts, version::VERSION);
        let trace = read.traces.pop().unwrap_or_default();
        Ok((read.session, ReadTimeline { trace, notes }))
    }

    fn page_facts(&self, sources: &mut [PageSource]) -> Result<PageFacts, String> {
        result_page::check_viewer().map_err(|error| error.to_string())?;
        let contents = PageContents::find(sources);
        contents.keep_timelines(sources);
        Ok(contents.facts())
    }

    fn page(
        &self,
        sources: &[PageSource],
        is_anonymous: bool,
        rules: &Rules,
    ) -> Result<String, String> {
        let bundle = PageContents::find(sources).bundle(is_anonymous);
        let page = bundle.and_then(|bundle| result_page::write(&bundle, rules));
        page.map_err(|error| format!("{error:#}"))
    }

    fn show_folder(&self, path: &Path) -> io::Result<()> {
        desktop::show_folder(path)
    }

    fn open_file(&self, path: &Path) -> io::Result<()> {
        desktop::open_file(path)
    }
}

fn read_files(set: &FileSet, progress: &FileProgress<'_>) -> Result<Imported, Option<String>> {
    let watch = ReadProgress {
        cancel: progress.cancel.clone(),
        progress: progress.bytes,
    };
    let read = session::read_leniently(set, Limits::default(), &watch, || {
        if let (Some(bytes), Some(before)) = (progress.bytes, progress.before) {
            before.fetch_add(bytes.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
    });
    read.map_err(|error| match error {
        ImportError::Cancelled => None,
        error => Some(error.in_window()),
    })
}

/// A prepared run, and where its session goes.
struct LocalRun {
    prepared: PreparedRun,
    target: SessionTarget,
}

impl ReadyRun for LocalRun {
    fn beginning(&self) -> &RunStart {
        &self.prepared.beginning
    }

    fn earlier(&self) -> Option<(Session, u32)> {
        let earlier = self.prepared.earlier.as_ref()?;
        let session = earlier.session.clone().reopened(&earlier.created);
        Some((session, earlier.rounds))
    }

    fn record(
        self: Box<Self>,
        paths: &Paths,
        control: &Control,
        observer: &mut dyn FnMut(&TimedEvent, &Session),
    ) -> RecordedRun {
        let recorded = record::record(self.prepared, paths, &self.target, control, observer);
        tally::remember(paths, &recorded.session);
        recorded
    }
}

/// Experiments that the program on another machine makes.
struct RunElsewhere(ReadyElsewhere);

impl ReadyRun for RunElsewhere {
    fn beginning(&self) -> &RunStart {
        &self.0.beginning
    }

    fn earlier(&self) -> Option<(Session, u32)> {
        None
    }

    fn record(
        self: Box<Self>,
        _paths: &Paths,
        control: &Control,
        observer: &mut dyn FnMut(&TimedEvent, &Session),
    ) -> RecordedRun {
        self.0.record(control, observer)
    }
}

fn prepare_run(place: &Installation, subject: RunSubject<'_>) -> anyhow::Result<LocalRun> {
    let mut target = SessionTarget::Library;
    let prepared = match subject {
        RunSubject::Plan(request) => prepare(place, request)?,
        RunSubject::Experiments(session, case, change, programs) => {
            let here = ExperimentMachine::now();
            let request = experiments::request_for(session, case, &here);
            let request = request.map_err(anyhow::Error::msg)?;
            let request = match change {
                Some(change) => experiments::keep_changes(request, &[change]),
                None => request,
            };
            let request = RunRequest {
                programs,
                ..request
            };
            let prepared = prepare(place, &request)?;
            experiments::check_same(session, &prepared)?;
            prepared
        }
        RunSubject::Again([before, after], programs) => {
            let request = RunRequest {
                programs,
                ..request_for(before, after).map_err(PrepareError::from)?
            };
            prepare_again(place, &request, before, after)?
        }
        RunSubject::MoreRounds {
            path,
            stamp,
            rounds,
            programs,
        } => {
            let opened = session_file::read(&path)?;
            target = SessionTarget::Again { path, stamp };
            prepare_more(place, opened.session, rounds, programs)?
        }
    };
    Ok(LocalRun { prepared, target })
}

fn detached_run(record: &JobRecord, states: &[PartState]) -> DetachedRun {
    DetachedRun {
        id: record.id().to_owned(),
        name: record.beginning.name.clone(),
        state: state::states_text(states),
        rounds: state::rounds(record, states),
        is_alive: states.iter().any(|state| state.is_alive),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_app::machine::MachineState;
    use powerband_core::domain::telemetry::DeviceKind;
    use powerband_worker::engines::install::FLAVORS;

    #[test]
    fn the_library_that_is_offered_for_a_card_can_be_fetched() {
        for kind in [DeviceKind::Host, DeviceKind::Amd, DeviceKind::Nvidia] {
            let card = WatchedDevice::new("replay", kind, 0, "0000:43:00.0", "Card");
            let machine = MachineState {
                devices: Some((vec![card], Vec::new())),
                ..MachineState::default()
            };
            let offered = machine.flavor();
            assert!(FLAVORS.iter().any(|known| known.id == offered), "{offered}");
        }
    }

    #[test]
    fn what_is_missing_of_the_processor_is_no_missing_card() {
        let backend = LocalBackend::default();
        assert!(backend.reports_cards("NVML"));
        let of_processor = powerband_devices::ALL
            .iter()
            .find(|source| !source.tells_of_cards());
        let title = of_processor.expect("a source of the processor").title();
        assert!(!backend.reports_cards(title));
    }
}
