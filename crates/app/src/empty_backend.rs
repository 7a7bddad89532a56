//! A backend on which there is nothing: no devices, no engines, no programs. It has the timelines that it was given.
//!
//! A page of a browser has it, and so have tests of the application alone.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::{
    Backend, FileProgress, FoundEngine, InstallProgress, PageFacts, PageSource, ReadTimeline,
    ReadyRun, RunSubject, WantedRoofs,
};
use crate::detached::DetachedRun;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::paths::Paths;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::file_set::{FileSet, ProcessFiles};
use powerband_core::domain::plan::{Plan, Profiler};
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::{MissingSource, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_findings::analysis::category::Rules;
use powerband_planning::plan_check::{NamedSize, PlanCheck};
use powerband_store::installation::Installation;
use powerband_store::packed_trace;
use powerband_store::roofs_file::KnownRoofs;

const NOTHING: &str = "there is no machine here";

/// Nothing but timelines.
#[derive(Debug, Default)]
pub struct EmptyBackend {
    /// Whether the application behaves as on a machine, on which nothing is found.
    pub has_machine: bool,
    /// Packed timelines, by the names that their sessions call them.
    pub timelines: BTreeMap<String, Vec<u8>>,
}

/// A machine on which nothing is found, for tests of the application alone.
#[cfg(test)]
pub(crate) fn for_tests() -> Arc<dyn Backend> {
    Arc::new(EmptyBackend {
        has_machine: true,
        ..EmptyBackend::default()
    })
}

impl Backend for EmptyBackend {
    fn has_machine(&self) -> bool {
        self.has_machine
    }

    fn timeline_path(&self, _: Option<&Path>, name: &str) -> Option<PathBuf> {
        self.timelines
            .contains_key(name)
            .then(|| PathBuf::from(name))
    }

    fn environment(&self) -> Environment {
        Environment::default()
    }

    fn devices(&self, _: &TelemetryPaths) -> (Vec<WatchedDevice>, Vec<MissingSource>) {
        (Vec::new(), Vec::new())
    }

    fn reports_cards(&self, _: &str) -> bool {
        false
    }

    fn engines(&self, _: &Installation) -> Vec<FoundEngine> {
        Vec::new()
    }

    fn missing_profilers(&self) -> Vec<(Profiler, String)> {
        Vec::new()
    }

    fn install_onnxruntime(
        &self,
        _: &Installation,
        _: &str,
        _: &CancelToken,
        _: &mut dyn FnMut(InstallProgress),
    ) -> Result<String, String> {
        Err(NOTHING.to_owned())
    }

    fn roof_seconds(&self, _: usize) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn kept_roofs(&self, _: &Installation) -> KnownRoofs {
        KnownRoofs::default()
    }

    fn measure_roofs(
        &self,
        _: &Installation,
        _: &WantedRoofs,
        _: &CancelToken,
        _: &mut dyn FnMut(String, f32),
    ) -> Result<Option<Vec<Roofs>>, String> {
        Err(NOTHING.to_owned())
    }

    fn check_plan(&self, _: &Installation, _: &Plan, _: &[NamedSize]) -> PlanCheck {
        PlanCheck::default()
    }

    fn prepare(&self, _: &Installation, _: RunSubject<'_>) -> Result<Box<dyn ReadyRun>, String> {
        Err(NOTHING.to_owned())
    }

    fn detached_runs(&self, _: &Paths) -> (Vec<DetachedRun>, Option<String>) {
        (Vec::new(), None)
    }

    fn collect(&self, _: &Paths, _: &str) -> Result<(PathBuf, Option<String>), String> {
        Err(NOTHING.to_owned())
    }

    fn submit(&self, _: &Installation, _: &RunRequest) -> Result<Vec<String>, String> {
        Err(NOTHING.to_owned())
    }

    fn cancel_detached(&self, _: &Paths, _: &str) -> Result<(), String> {
        Err(NOTHING.to_owned())
    }

    fn file_sets(&self, files: &[PathBuf]) -> Vec<FileSet> {
        let set = |path: &PathBuf| {
            FileSet::of_process(ProcessFiles {
                named: vec![path.clone()],
                ..ProcessFiles::default()
            })
        };
        files.iter().map(set).collect()
    }

    fn read_timeline(
        &self,
        set: &FileSet,
        _: &FileProgress<'_>,
    ) -> Result<ReadTimeline, Option<String>> {
        let name = set.named().next().and_then(Path::to_str);
        let packed = name.and_then(|name| self.timelines.get(name));
        let packed = packed.ok_or_else(|| Some(NOTHING.to_owned()))?;
        let trace = packed_trace::unpack(packed).map_err(|error| Some(error.to_string()))?;
        Ok(ReadTimeline {
            trace: Arc::new(trace),
            notes: Vec::new(),
        })
    }

    fn read_session(
        &self,
        _: &FileSet,
        _: &FileProgress<'_>,
    ) -> Result<(Session, ReadTimeline), Option<String>> {
        Err(Some(NOTHING.to_owned()))
    }

    fn page_facts(&self, _: &mut [PageSource]) -> Result<PageFacts, String> {
        Err(NOTHING.to_owned())
    }

    fn page(&self, _: &[PageSource], _: bool, _: &Rules) -> Result<String, String> {
        Err(NOTHING.to_owned())
    }

    fn show_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn open_file(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}
