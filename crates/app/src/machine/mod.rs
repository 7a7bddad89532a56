//! Devices and engines of this machine, as far as known: searched after the first frame.

pub(crate) mod action;
pub(crate) mod commands;
pub(crate) mod palette;
mod update;
mod work;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::backend::{Backend, FoundEngine};
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::plan::{Plan, Profiler};
use powerband_core::domain::setup::{LAST_RESORT, Setup};
use powerband_core::domain::telemetry::{DeviceKind, MissingSource, WatchedDevice};
use powerband_planning::engine_options::EngineInfo;
use powerband_planning::engine_options::OfferedEnvironment;
use powerband_planning::ladders::LadderMachine;
use powerband_store::installation::Installation;
use powerband_store::settings::Settings;

/// The build of ONNX Runtime that runs on any processor.
pub(crate) const EVERYWHERE: &str = "cpu";

/// An engine, as the home screen shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineState {
    /// What a setup calls it.
    pub id: &'static str,
    /// Name, with its version where known.
    pub title: String,
    /// Its location, or why it is missing.
    pub words: String,
    /// Whether it runs.
    pub is_ready: bool,
    /// The library or interpreter that it is loaded from; nothing where it is built in or none was found.
    pub runtime: Option<PathBuf>,
    /// Whether it is the default of its engine.
    pub is_first: bool,
    /// Its own description, where it runs.
    pub info: Option<EngineInfo>,
    /// Environments that have it and need the user's choice, the likeliest first.
    pub offers: Vec<OfferedEnvironment>,
}

impl EngineState {
    /// The location that the user can set; `None` for a built-in engine.
    pub fn pointed(&self) -> Option<PathSetting> {
        let mut all = PathSetting::ALL.into_iter();
        all.find(|pointed| pointed.engine() == self.id)
    }

    /// The name of the button that uses an offer.
    pub fn use_title(&self, offer: &OfferedEnvironment) -> String {
        format!("Use {} of {}", self.title, offer.folder)
    }

    /// Its line on *Home*: the environment that is offered, else its location or why it is missing.
    pub fn line(&self) -> String {
        let Some(offer) = self.offers.first() else {
            return self.words.clone();
        };
        let version = offer.version.as_deref().unwrap_or("Unknown version");
        format!("{version} in {}", offer.folder)
    }

    /// The command that installs it, where its reason names one.
    pub fn command(&self) -> Option<&str> {
        let is_missing = !self.is_ready;
        self.words.split('`').nth(1).filter(|_| is_missing)
    }
}

/// A location that the user can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSetting {
    /// The library of ONNX Runtime.
    OnnxRuntime,
    /// The interpreter that has PyTorch.
    Python,
}

impl PathSetting {
    /// Both.
    pub const ALL: [Self; 2] = [Self::OnnxRuntime, Self::Python];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::OnnxRuntime => "ONNX Runtime",
            Self::Python => "Python",
        }
    }

    /// What is loaded from it, as setups call it.
    fn engine(self) -> &'static str {
        match self {
            Self::OnnxRuntime => "ort",
            Self::Python => "torch",
        }
    }

    /// Its configured location; `None` for the first one found.
    pub fn chosen(self, place: &Installation) -> Option<&Path> {
        match self {
            Self::OnnxRuntime => place.onnxruntime.as_deref(),
            Self::Python => place.python.as_deref(),
        }
    }

    /// The same, to be changed.
    pub fn of_place(self, place: &mut Installation) -> &mut Option<PathBuf> {
        match self {
            Self::OnnxRuntime => &mut place.onnxruntime,
            Self::Python => &mut place.python,
        }
    }

    /// The same of the settings.
    pub(crate) fn of_settings(self, settings: &mut Settings) -> &mut Option<PathBuf> {
        match self {
            Self::OnnxRuntime => &mut settings.onnxruntime,
            Self::Python => &mut settings.python,
        }
    }
}

/// Progress of installing ONNX Runtime.
#[derive(Clone, Debug)]
pub struct Installing {
    /// The current step.
    pub step: String,
    /// Share done, where it is known.
    pub share: Option<f32>,
    /// Ends it.
    pub cancel: CancelToken,
}

/// Devices and engines of this machine.
#[derive(Debug, Default)]
pub struct MachineState {
    /// Processor, memory, system.
    pub environment: Option<Environment>,
    /// Devices with telemetry, and the sources that have none; `None` until the search ends.
    pub devices: Option<(Vec<WatchedDevice>, Vec<MissingSource>)>,
    /// Engines, best first; nothing until they were looked up.
    pub engines: Option<Vec<EngineState>>,
    /// Profilers that are programs of their own, and what is missing of each; those not named are here.
    pub missing_profilers: Vec<(Profiler, String)>,
    /// Whether a search is in progress.
    pub is_looking: bool,
    /// Whether another search follows.
    pub looks_again: bool,
    /// The installation in progress.
    pub installing: Option<Installing>,
}

impl MachineState {
    /// Why a profiler cannot be used here; nothing where it can.
    pub fn missing_profiler(&self, profiler: Profiler) -> Option<&str> {
        let mut missing = self.missing_profilers.iter();
        let found = missing.find(|(absent, _)| *absent == profiler)?;
        Some(&found.1)
    }

    /// Which build of ONNX Runtime suits this machine, as far as its devices are known.
    pub fn flavor(&self) -> &'static str {
        let devices = self.devices.iter().flat_map(|(found, _)| found);
        let of_card = devices.filter_map(|device| match device.kind {
            DeviceKind::Nvidia => Some("cuda"),
            DeviceKind::Amd => Some("migraphx"),
            DeviceKind::Host | DeviceKind::Package => None,
        });
        of_card.min().unwrap_or(EVERYWHERE)
    }

    /// Why a setup cannot run here; nothing where it can, or where that is not known yet.
    pub fn refusal(&self, setup: &Setup) -> Option<String> {
        // What another machine has is not known here.
        if setup.is_elsewhere() {
            return None;
        }
        let engines = self.engines.as_ref()?;
        let own: Vec<&EngineState> = engines
            .iter()
            .filter(|engine| engine.id == setup.engine)
            .collect();
        if own.is_empty() {
            return None;
        }
        let mut ready = own.iter().filter(|engine| engine.is_ready).peekable();
        if ready.peek().is_none() {
            return own.first().map(|engine| engine.words.clone());
        }
        // One of several libraries may be able to do what another cannot.
        let lacks = ready.map(|engine| engine.info.as_ref()?.missing_reason(setup));
        lacks.collect::<Option<Vec<String>>>()?.into_iter().next()
    }

    /// The setups of a plan that cannot run here, by their places.
    pub fn refused(&self, plan: &Plan) -> BTreeSet<usize> {
        let setups = plan.setups.iter().enumerate();
        let refused = setups.filter(|(_, setup)| self.refusal(setup).is_some());
        refused.map(|(place, _)| place).collect()
    }

    /// What is added to a plan that has these setups: the best engine that it does not have yet, else
    /// another device of one, else the best engine once more.
    pub fn next_setup<'a>(&self, planned: impl Iterator<Item = &'a str>) -> String {
        let planned: Vec<Setup> = planned.filter_map(|spec| spec.parse().ok()).collect();
        let has_engine = |id: &str| planned.iter().any(|setup| setup.engine == id);
        let has = |id: &str, device: &str| {
            // The first of several devices needs no number.
            let names = [device, device.trim_end_matches(":0")];
            let mut of_engine = planned.iter().filter(|setup| setup.engine == id);
            of_engine.any(|setup| names.contains(&setup.device.as_str()))
        };
        let other_device = |engine: &EngineState| {
            let info = engine.info.as_ref()?;
            let device = info.devices.iter().find(|device| !has(engine.id, device))?;
            Some(format!("{}:{device}", engine.id))
        };
        let fresh = self.ready().find(|engine| !has_engine(engine.id));
        let fresh = fresh.map(|engine| format!("{}:cpu", engine.id));
        let fresh = fresh.or_else(|| self.ready().find_map(other_device));
        let best = self.ready().next().map_or(LAST_RESORT, |engine| engine.id);
        fresh.unwrap_or_else(|| format!("{best}:cpu"))
    }

    /// Whether the search found no engine that runs.
    pub fn has_none(&self) -> bool {
        self.engines.is_some() && self.ready().next().is_none()
    }

    /// Why no GPU was found, by every source that reports GPUs; `None` where one was found.
    pub fn missing_cards(&self, backend: &dyn Backend) -> Vec<&MissingSource> {
        let Some((devices, missing)) = &self.devices else {
            return Vec::new();
        };
        if devices.iter().any(|device| device.kind.is_gpu()) {
            return Vec::new();
        }
        let missing = missing.iter();
        missing
            .filter(|missing| backend.reports_cards(&missing.source))
            .collect()
    }

    /// Engines that are ready, best first.
    pub fn ready(&self) -> impl Iterator<Item = &EngineState> + Clone {
        let engines = self.engines.iter().flatten();
        engines.filter(|engine| engine.is_ready)
    }

    /// How many engines are ready; nothing before they were looked for.
    pub fn n_engines(&self) -> Option<usize> {
        self.engines.as_ref()?;
        let ids: BTreeSet<&str> = self.ready().map(|engine| engine.id).collect();
        Some(ids.len())
    }

    /// Whether a run that names no setups takes this engine: it is built in, or a library of it was found.
    pub(crate) fn has_engine(&self, id: &str) -> bool {
        let mut own = self.engines.iter().flatten().filter(|state| state.id == id);
        own.any(|state| state.is_ready || state.runtime.is_some())
    }

    /// Which file is used; nothing where there is none, or none is known yet.
    pub fn used_path(&self, pointed: PathSetting) -> Option<&Path> {
        let mut first = self.engines.iter().flatten().filter(|state| state.is_first);
        first
            .find(|state| state.id == pointed.engine())?
            .runtime
            .as_deref()
    }

    /// Facts of the machine that built-in plans need.
    pub fn ladder_machine(&self) -> LadderMachine {
        let ready = self.ready();
        let engines = ready.filter_map(|engine| Some((engine.id, engine.info.clone()?)));
        LadderMachine {
            engines: engines.collect(),
        }
    }

    /// The first engine that is ready.
    pub fn best(&self) -> Option<&EngineState> {
        self.engines.as_ref()?.iter().find(|engine| engine.is_ready)
    }
}

/// The results of the search, as text.
pub fn describe(found: &[FoundEngine]) -> Vec<EngineState> {
    let mut seen = BTreeSet::new();
    let mut states: Vec<EngineState> = found
        .iter()
        .map(|found| {
            let is_first = seen.insert(found.id);
            let runtime = found.runtime.clone();
            match &found.answer {
                Ok(info) => EngineState {
                    id: found.id,
                    title: info.version.clone(),
                    words: ready_words(info, runtime.as_deref()),
                    is_ready: true,
                    runtime,
                    is_first,
                    info: Some(info.clone()),
                    offers: found.offers.clone(),
                },
                Err(reason) => EngineState {
                    id: found.id,
                    title: found.title.to_owned(),
                    words: missing_words(reason, runtime.as_deref()),
                    is_ready: false,
                    runtime,
                    is_first,
                    info: None,
                    offers: found.offers.clone(),
                },
            }
        })
        .collect();
    states.sort_by_key(|state| !state.is_ready);
    states
}

/// Why an engine is missing. Of several libraries it has to be said which one it is.
fn missing_words(reason: &str, runtime: Option<&Path>) -> String {
    let path = runtime.map(|path| path.display().to_string());
    match path {
        Some(path) if !reason.contains(&path) => format!("{path}: {reason}"),
        _ => reason.to_owned(),
    }
}

fn ready_words(info: &EngineInfo, runtime: Option<&Path>) -> String {
    let place = runtime.map_or_else(|| "built in".to_owned(), |path| path.display().to_string());
    format!("{} · {place}", info.devices.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(kind: DeviceKind) -> WatchedDevice {
        WatchedDevice::new("replay", kind, 0, "0000:43:00.0", "Card")
    }

    fn ready(id: &'static str, devices: &[&str]) -> EngineState {
        EngineState {
            id,
            title: id.to_owned(),
            words: String::new(),
            is_ready: true,
            runtime: None,
            is_first: true,
            info: Some(EngineInfo {
                devices: devices.iter().map(|&device| device.to_owned()).collect(),
                ..EngineInfo::default()
            }),
            offers: Vec::new(),
        }
    }

    #[test]
    fn what_is_used_is_the_first_that_was_found() {
        let from = |path: &str, is_first| EngineState {
            runtime: Some(PathBuf::from(path)),
            is_first,
            ..ready("ort", &["cpu"])
        };
        let mut machine = MachineState::default();
        assert_eq!(machine.used_path(PathSetting::OnnxRuntime), None);
        machine.engines = Some(vec![
            ready("rten", &["cpu"]),
            from("/second.so", false),
            from("/first.so", true),
        ]);
        let used = machine.used_path(PathSetting::OnnxRuntime);
        assert_eq!(used, Some(Path::new("/first.so")));
        assert_eq!(machine.used_path(PathSetting::Python), None);
    }

    #[test]
    fn what_is_added_is_not_there_yet_where_anything_is_left() {
        let machine = MachineState {
            engines: Some(vec![
                ready("torch", &["cpu", "cuda:0"]),
                ready("rten", &["cpu"]),
            ]),
            ..MachineState::default()
        };
        let next = |planned: &[&str]| machine.next_setup(planned.iter().copied());
        assert_eq!(next(&[]), "torch:cpu");
        assert_eq!(next(&["torch:cpu"]), "rten:cpu");
        assert_eq!(next(&["torch:cpu", "rten"]), "torch:cuda:0");
        for card in ["torch:cuda:0", "torch:cuda,mode=compile"] {
            assert_eq!(next(&["torch:cpu", "rten", card]), "torch:cpu");
        }
        let nothing = MachineState::default();
        assert_eq!(nothing.next_setup(std::iter::empty()), "rten:cpu");
    }

    #[test]
    fn setups_that_cannot_run_are_told_from_the_others() {
        let mut ort = ready("ort", &["cpu"]);
        if let Some(info) = &mut ort.info {
            info.usual_providers = [("cuda".to_owned(), "cuda".to_owned())].into();
            info.lacks = [("provider=cuda".to_owned(), "no CUDA".to_owned())].into();
        }
        let mut machine = MachineState::default();
        let plan = powerband_findings::analysis::testing::plan(&["ort:cpu", "ort:cuda"], &[1]);
        assert!(machine.refused(&plan).is_empty(), "nothing is known yet");
        machine.engines = Some(vec![ort]);
        assert_eq!(machine.refused(&plan), BTreeSet::from([1]));
    }

    #[test]
    fn what_is_fetched_suits_the_card() {
        let flavor = |kinds: &[DeviceKind]| {
            let machine = MachineState {
                devices: Some((kinds.iter().map(|kind| card(*kind)).collect(), Vec::new())),
                ..MachineState::default()
            };
            machine.flavor()
        };
        assert_eq!(MachineState::default().flavor(), EVERYWHERE);
        assert_eq!(flavor(&[DeviceKind::Host, DeviceKind::Package]), EVERYWHERE);
        assert_eq!(flavor(&[DeviceKind::Host, DeviceKind::Amd]), "migraphx");
        assert_eq!(flavor(&[DeviceKind::Nvidia, DeviceKind::Host]), "cuda");
        assert_eq!(flavor(&[DeviceKind::Amd, DeviceKind::Nvidia]), "cuda");
    }
}
