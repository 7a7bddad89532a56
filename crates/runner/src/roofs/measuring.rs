//! Measuring roofs: of every device what is not known yet or no longer holds, and keeping it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::devices::{self, RoofDevice};
use super::engines::{self, EngineFigures, EngineRoofError, SpareWorker};
use super::processor::cores;
use super::readings::Readings;
use super::{RoofError, RoofProgress, cards, kept, measure_processor};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::domain::roofs::{EngineRoof, PROCESSOR, Roofs, is_here, roof_setup};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_planning::engine_options::EngineInfo;
use powerband_store::installation::Installation;
use powerband_store::roofs_file;
use powerband_worker::engines::runtimes;
use powerband_worker::engines::{self as all_engines, Engine};
use powerband_worker::probe;

/// Steps that an engine counts for beside those of the processor: each takes about as long as two of these.
const STEPS_OF_ENGINE: usize = 2;

/// What the loops of our own take with each number of threads, in seconds: on a quiet machine, and on a loaded one.
const PER_COUNT_S: (f64, f64) = (6.0, 20.0);
/// The same of a setup of an engine, its start included.
const PER_SETUP_S: (f64, f64) = (5.0, 15.0);

/// How many numbers of threads are tried, and the most threads; looked up once.
static COUNTS: LazyLock<(usize, usize)> = LazyLock::new(|| {
    let root = Path::new("/");
    let cores = cores::here(root);
    (cores::thread_counts(root, &cores).len(), cores.len())
});

/// What is to be measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoofRequest {
    /// Whether what still holds is measured again.
    pub again: bool,
    /// Whether every engine that is here is measured, with one thread and with all.
    pub usual_engines: bool,
    /// Setups whose engines are measured as well.
    pub setups: Vec<Setup>,
}

/// The roofs, and what the user should know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredRoofs {
    /// Of each device, the processor's first.
    pub roofs: Vec<Roofs>,
    /// Why something was measured again, or not at all.
    pub notes: Vec<String>,
    /// Figures that were measured now, and not read: of the processor, of cards and of engines.
    pub n_measured: usize,
}

/// Why roofs were not measured.
#[derive(Debug, thiserror::Error)]
pub enum RoofsError {
    /// The processor's.
    #[error(transparent)]
    Processor(RoofError),
    /// They were measured and cannot be kept.
    #[error("{0}")]
    Kept(String),
    /// The user wants to stop; nothing was kept of the device that was being measured.
    #[error("cancelled")]
    Cancelled,
}

/// How long measuring this processor and so many engines takes, in seconds: on a quiet machine, and on a loaded one.
pub fn estimate_s(engines: usize) -> (f64, f64) {
    let (counts, threads) = *COUNTS;
    let setups = engines * if threads > 1 { 2 } else { 1 };
    let of = |count: f64, setup: f64| count * counts as f64 + setup * setups as f64;
    (
        of(PER_COUNT_S.0, PER_SETUP_S.0),
        of(PER_COUNT_S.1, PER_SETUP_S.1),
    )
}

/// The setups of which nothing was measured yet; each as it would be measured.
pub fn missing_for(setups: &[Setup], roofs: &[Roofs]) -> Vec<Setup> {
    let mut missing: Vec<Setup> = Vec::new();
    for setup in setups.iter().filter(|setup| is_here(setup)) {
        let wanted = roof_setup(setup);
        let spelled = wanted.to_string();
        let device = roofs.iter().find(|roofs| roofs.device == wanted.device);
        let is_known =
            device.is_some_and(|roofs| roofs.engines.iter().any(|roof| roof.setup == spelled));
        if !is_known && !missing.contains(&wanted) {
            missing.push(wanted);
        }
    }
    missing
}

/// Measures what is missing and keeps it, a file for each device.
pub fn measure(
    place: &Installation,
    request: &RoofRequest,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(RoofProgress),
) -> Result<MeasuredRoofs, RoofsError> {
    let places = place.watch.as_ref().map(|watch| watch.places.clone());
    let places = places.unwrap_or_else(TelemetryPaths::of_user);
    let devices = devices::all(&places);
    let mut kept = kept::read(&place.paths, &devices);
    let mut work = Work {
        place,
        request,
        cancel,
        progress,
        places,
        found: Engines::new(place),
        steps: (0, 0),
        spare: SpareWorker::default(),
        done: MeasuredRoofs {
            notes: std::mem::take(&mut kept.warnings),
            ..MeasuredRoofs::default()
        },
    };
    for (roofs, reason) in &kept.stale {
        let name = &roofs.name;
        work.done.notes.push(format!(
            "{name}: roofs are measured again, because {reason}."
        ));
    }
    for device in &devices {
        let known = kept.fresh.iter().find(|roofs| device.is_of(roofs));
        let result = work.device(device, known.filter(|_| !request.again), known);
        work.spare.end();
        result?;
    }
    Ok(work.done)
}

/// The engines of this machine, looked for once.
struct Engines {
    places: runtimes::RuntimePlaces,
    /// What each library says of itself, asked when it is needed.
    asked: BTreeMap<String, Result<EngineInfo, String>>,
}

impl Engines {
    fn new(place: &Installation) -> Self {
        let python = place.python.as_deref();
        Self {
            places: probe::places(&place.paths, place.onnxruntime.clone(), python),
            asked: BTreeMap::new(),
        }
    }
}

struct Work<'a> {
    place: &'a Installation,
    request: &'a RoofRequest,
    cancel: &'a CancelToken,
    progress: &'a mut dyn FnMut(RoofProgress),
    places: TelemetryPaths,
    found: Engines,
    /// Steps that are done, and steps in all as far as they are known.
    steps: (usize, usize),
    /// A worker that may serve the next setup as well.
    spare: SpareWorker,
    done: MeasuredRoofs,
}

impl Work<'_> {
    /// One device: what is kept of it, with what is missing.
    /// `before` is what is kept and may be better than what is measured again.
    fn device(
        &mut self,
        device: &RoofDevice,
        known: Option<&Roofs>,
        before: Option<&Roofs>,
    ) -> Result<(), RoofsError> {
        let setups = self.setups_of(device);
        let is_processor = device.device == PROCESSOR;
        let n_measured = self.done.n_measured;
        let readings = match (&device.card, known) {
            (Some(card), None) => Readings::begin(&self.places, card),
            _ => None,
        };
        let mut roofs = match known {
            Some(known) => known.clone(),
            None if is_processor => self.processor(device, setups.len())?,
            None => device.unmeasured(),
        };
        for setup in setups {
            self.engine(&mut roofs, &setup)?;
        }
        if !is_processor && known.is_none() {
            cards::add_clpeak(&mut roofs, self.cancel);
        }
        if self.cancel.is_cancelled() {
            return Err(RoofsError::Cancelled);
        }
        if let Some(readings) = readings {
            let read = readings.finish();
            (roofs.clock_mhz, roofs.temperature_c) = (read.clock_mhz, read.temperature_c);
        }
        if let Some(before) = before.filter(|_| known.is_none()) {
            kept::keep_better_of(&mut roofs, before);
        }
        if !is_processor {
            cards::take_best(&mut roofs);
        }
        let has_new = self.done.n_measured > n_measured || known.is_none();
        let has_any = is_processor || !roofs.engines.is_empty() || !roofs.compute.is_empty();
        if has_new && has_any {
            roofs_file::write(&self.place.paths.roofs, &roofs).map_err(RoofsError::Kept)?;
        }
        if has_any {
            self.done.roofs.push(roofs);
        }
        Ok(())
    }

    /// The setups that are measured on a device, each once.
    fn setups_of(&self, device: &RoofDevice) -> Vec<Setup> {
        let mut setups: Vec<Setup> = Vec::new();
        if self.request.usual_engines {
            setups = if device.device == PROCESSOR {
                usual_setups(device.conditions.threads)
            } else {
                cards::usual_setups(&device.device)
            };
        }
        let asked = self
            .request
            .setups
            .iter()
            .filter(|setup| is_here(setup))
            .map(roof_setup);
        for setup in asked.filter(|setup| setup.device == device.device) {
            if !setups.contains(&setup) {
                setups.push(setup);
            }
        }
        setups
    }

    fn processor(&mut self, device: &RoofDevice, engines: usize) -> Result<Roofs, RoofsError> {
        let behind = engines * STEPS_OF_ENGINE;
        let (progress, steps) = (&mut self.progress, &mut self.steps);
        let mut tell = |step: RoofProgress| {
            *steps = (step.done, step.of + behind);
            progress(RoofProgress {
                of: step.of + behind,
                ..step
            });
        };
        let measured = measure_processor(&self.place.program, self.cancel, &mut tell);
        let measured = measured.map_err(|error| match error {
            RoofError::Cancelled => RoofsError::Cancelled,
            other => RoofsError::Processor(other),
        })?;
        self.done.n_measured += measured.compute.len() + measured.memory.len();
        self.steps.0 = self.steps.1.saturating_sub(behind);
        // What they hold for is what is asked when they are read again.
        Ok(Roofs {
            name: device.name.clone(),
            conditions: device.conditions.clone(),
            ..measured
        })
    }

    /// One engine, unless its roofs are kept and of its present version.
    fn engine(&mut self, roofs: &mut Roofs, setup: &Setup) -> Result<(), RoofsError> {
        if self.cancel.is_cancelled() {
            return Err(RoofsError::Cancelled);
        }
        self.steps.1 = self.steps.1.max(self.steps.0 + STEPS_OF_ENGINE);
        let spelled = setup.to_string();
        (self.progress)(RoofProgress {
            done: self.steps.0,
            of: self.steps.1,
            what: format!("what {spelled} reaches"),
        });
        self.steps.0 += STEPS_OF_ENGINE;
        let runtime = match self.runtime(setup) {
            Ok(runtime) => runtime,
            Err(reason) => {
                self.left_out(&spelled, &reason);
                return Ok(());
            }
        };
        let known = roofs.engines.iter().find(|roof| roof.setup == spelled);
        let then = known.map(|roof| roof.version.clone());
        // A processor's engine says itself what it cannot do, once it is asked to do it.
        if then.is_some() || setup.device != PROCESSOR {
            let info = match self.info(setup, runtime.as_deref()) {
                Ok(info) => info,
                Err(reason) => {
                    self.left_out(&spelled, &reason);
                    return Ok(());
                }
            };
            if then.as_ref() == Some(&info.version) {
                return Ok(());
            }
            if let Some(then) = then {
                let now = info.version;
                self.done.notes.push(format!(
                    "{spelled} is measured again, because it was {then} and is {now}."
                ));
            }
        }
        match engines::measure(
            self.place,
            setup,
            runtime.as_deref(),
            &mut self.spare,
            self.cancel,
        ) {
            Ok(EngineFigures { roof, notes }) => {
                self.done.n_measured += 1;
                replace(&mut roofs.engines, roof);
                roofs.measured = clock::now_utc();
                roofs
                    .notes
                    .retain(|note| !note.starts_with(&format!("{spelled}:")));
                roofs.notes.extend(notes);
                Ok(())
            }
            Err(EngineRoofError::Cancelled) => Err(RoofsError::Cancelled),
            Err(EngineRoofError::Failed(reason)) => {
                self.left_out(&spelled, &reason);
                Ok(())
            }
        }
    }

    fn left_out(&mut self, setup: &str, reason: &str) {
        let end = if reason.ends_with('.') { "" } else { "." };
        self.done
            .notes
            .push(format!("{setup} was not measured: {reason}{end}"));
    }

    /// The library of a setup, or what is missing.
    fn runtime(&self, setup: &Setup) -> Result<Option<PathBuf>, String> {
        let engine = all_engines::find(&setup.engine)
            .ok_or_else(|| format!("there is no engine {}", setup.engine))?;
        let found = probe::runtime_for(engine, setup, &self.found.places)?;
        Ok(found.map(|found| found.path))
    }

    /// What the engine of a setup says of itself, or why it cannot run the setup here.
    fn info(&mut self, setup: &Setup, runtime: Option<&Path>) -> Result<EngineInfo, String> {
        let engine = all_engines::find(&setup.engine)
            .ok_or_else(|| format!("there is no engine {}", setup.engine))?;
        let key = format!("{} {runtime:?}", setup.engine);
        let program = &self.place.program;
        let asked = self.found.asked.entry(key);
        let info = asked.or_insert_with(|| probe::engine(program, engine, runtime));
        let info = info.clone()?;
        if let Some(lack) = info.missing_reason(setup) {
            return Err(lack);
        }
        // ONNX Runtime names providers, not cards.
        let names_cards = setup.engine == "torch" && setup.device != PROCESSOR;
        if names_cards && !info.devices.contains(&setup.device) {
            return Err(format!("{} has no {}", info.version, setup.device));
        }
        Ok(info)
    }
}

/// Every engine that can run here by its name alone, with the threads that it takes by itself and with one.
fn usual_setups(threads: usize) -> Vec<Setup> {
    let engines = all_engines::ALL.iter();
    let engines = engines.filter(|engine| engine.is_offered() && engine.stands_alone());
    let bare = engines.filter_map(|engine: &&dyn Engine| engine.id().parse::<Setup>().ok());
    bare.flat_map(|setup| {
        let mut single = setup.clone();
        single.options.insert("threads".to_owned(), "1".to_owned());
        let single = (threads > 1).then_some(single);
        [Some(setup), single].into_iter().flatten()
    })
    .collect()
}

/// An engine's figures in place of those of the same setup.
fn replace(engines: &mut Vec<EngineRoof>, roof: EngineRoof) {
    match engines.iter_mut().find(|known| known.setup == roof.setup) {
        Some(known) => *known = roof,
        None => engines.push(roof),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::work::NumberFormat;

    fn roof(setup: &str) -> EngineRoof {
        EngineRoof {
            engine: "ort".to_owned(),
            version: "ONNX Runtime 1.31.0".to_owned(),
            setup: setup.to_owned(),
            threads: 2,
            numbers: NumberFormat::F32,
            product_per_s: None,
            copy_per_s: None,
            launch_ns: None,
        }
    }

    #[test]
    fn what_is_missing_is_named_once() {
        let mut roofs = RoofDevice::processor().unmeasured();
        roofs.engines.push(roof("ort:cpu,threads=2"));
        let setups = [
            "ort,threads=2,opt=none",
            "ort,threads=1",
            "ort,threads=1,copies=2",
            "torch:cuda",
            "rten,where=ssh:host",
        ];
        let setups: Vec<Setup> = setups.iter().map(|spec| spec.parse().unwrap()).collect();
        let missing = missing_for(&setups, &[roofs]);
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        assert_eq!(missing, ["ort:cpu,threads=1", "torch:cuda:0,tf32=on"]);
    }

    #[test]
    fn usual_setups_have_one_thread_and_all() {
        let spelled = |threads| {
            let setups = usual_setups(threads);
            setups.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(spelled(2).contains(&"ort:cpu,threads=1".to_owned()));
        assert!(spelled(1).iter().all(|setup| !setup.contains("threads")));
        let mut engines = vec![roof("ort:cpu")];
        let newer = EngineRoof {
            threads: 4,
            ..roof("ort:cpu")
        };
        replace(&mut engines, newer.clone());
        assert_eq!(engines, [newer]);
    }

    #[test]
    fn more_engines_take_longer_and_a_loaded_machine_longest() {
        let (alone, loaded) = estimate_s(0);
        let (quiet, most) = estimate_s(3);
        assert!(
            0.0 < alone && alone < loaded && loaded < most,
            "{alone} {loaded} {most}"
        );
        assert!(alone < quiet && quiet < most, "{quiet}");
    }
}
