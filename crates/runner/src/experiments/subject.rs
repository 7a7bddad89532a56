//! The case that experiments change, and the machine on which they are to run.

use powerband_core::domain::point::Point;
use powerband_core::domain::setup::{CORES_KEY, Setup};
use powerband_devices::cores::{Cores, spelled};
use powerband_devices::machine;
use powerband_planning::engine_options::{self, Key};
use powerband_worker::engines::{self, Engine};

/// The machine, as far as experiments depend on it.
#[derive(Clone, Debug)]
pub struct ExperimentMachine {
    /// The processors.
    pub cores: Cores,
    /// The highest clock of the processor in MHz, where the system reports it.
    pub max_mhz: Option<f64>,
}

impl ExperimentMachine {
    /// This machine. Reads a few small files.
    pub fn now() -> Self {
        Self {
            cores: Cores::here(),
            max_mhz: machine::environment().cpu.max_mhz,
        }
    }
}

/// The setup that is asked about.
#[derive(Clone, Debug)]
pub(super) struct ExperimentSubject<'a> {
    /// The setup as it was given.
    pub setup: &'a Setup,
    /// The point that is asked about.
    pub point: Point,
    /// Threads that it computes with, where they are known.
    pub threads: Option<usize>,
    /// The machine.
    pub here: &'a ExperimentMachine,
}

/// A setup with a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DerivedSetup {
    /// The setup with the change.
    pub setup: Setup,
    /// What it is compared with; nothing for the case itself.
    pub control: Option<Setup>,
    /// The point with the change, where it is another.
    pub point: Option<Point>,
}

impl DerivedSetup {
    /// A change that is compared with the case itself.
    pub(super) fn without_control(setup: Setup) -> Self {
        Self {
            setup,
            control: None,
            point: None,
        }
    }
}

impl<'a> ExperimentSubject<'a> {
    /// A setup on a machine; `seen` is how many threads its engine reported, where it ran before.
    pub(super) fn new(
        setup: &'a Setup,
        point: Point,
        seen: Option<usize>,
        here: &'a ExperimentMachine,
    ) -> Self {
        let said = setup
            .options
            .get("threads")
            .and_then(|text| text.parse().ok());
        let usual = match setup.engine.as_str() {
            "ort" | "rten" | "torch" => Some(here.cores.physical()),
            _ => None,
        };
        let stays_on = engine_options::cores(setup).unwrap_or_default().len();
        let usual = usual.map(|threads| {
            if stays_on > 0 {
                threads.min(stays_on)
            } else {
                threads
            }
        });
        Self {
            setup,
            point,
            threads: said.or(seen).or(usual),
            here,
        }
    }

    /// Whether it computes on the processor.
    pub(super) fn is_on_processor(&self) -> bool {
        self.setup.device == "cpu"
    }

    /// What its engine is called.
    pub(super) fn engine_title(&self) -> String {
        engines::find(&self.setup.engine).map_or_else(
            || self.setup.engine.clone(),
            |engine| engine.title().to_owned(),
        )
    }

    /// The value of an option.
    pub(super) fn option(&self, key: &str) -> Option<&str> {
        self.setup.options.get(key).map(String::as_str)
    }

    /// The setup with another value of an option, or why its engine has no such option.
    pub(super) fn with(&self, key: &str, value: &str) -> Result<Setup, String> {
        let setup = self.setup.clone().with(key, value);
        self.has_key(key)?;
        engines::check(&setup).map_err(|error| error.to_string())?;
        Ok(setup)
    }

    /// The setup with another precision, or why it cannot have one.
    pub(super) fn with_precision(&self, precision: &str) -> Result<DerivedSetup, String> {
        let own = self.option("precision");
        if let Some(own) = own.filter(|own| !["fp32", "float"].contains(own)) {
            return Err(format!("it computes in {own} already"));
        }
        self.with("precision", precision)
            .map(DerivedSetup::without_control)
    }

    /// Why its engine has no such option.
    pub(super) fn has_key(&self, key: &str) -> Result<(), String> {
        let has = |engine: &dyn Engine| {
            let mut keys = engine_options::keys_of(engine);
            keys.any(|one: &Key| one.covers(key))
        };
        match engines::find(&self.setup.engine) {
            Some(engine) if has(engine) => Ok(()),
            _ => Err(format!("{} has no option for it", self.engine_title())),
        }
    }

    /// Threads of the processor that the work of a run is shared among, or why that is not known.
    pub(super) fn shared_among(&self) -> Result<usize, String> {
        if !self.is_on_processor() {
            return Err(format!(
                "its work is done by {}, and threads of the processor only start it",
                self.setup.device
            ));
        }
        for key in ["copies", "streams"] {
            if let Some(number) = self.option(key).filter(|number| *number != "1") {
                return Err(format!(
                    "{key}={number} shares each batch; ask about the setup without {key}="
                ));
            }
        }
        self.has_key("threads")?;
        self.threads.ok_or_else(|| {
            "how many threads it computes with is unknown; say so with threads=".to_owned()
        })
    }

    /// The case with so many threads on processors of its own, so that at least one core is left idle; or why
    /// that cannot be.
    pub(super) fn leaving_cores(&self, threads: usize) -> Result<Setup, String> {
        if self.setup.options.contains_key(CORES_KEY) {
            let setup = self.with("threads", &threads.to_string())?;
            let taken = engine_options::cores(&setup)?;
            let idle = self.here.cores.idle_beside(&taken);
            return if idle.is_empty() {
                Err(format!("{CORES_KEY}= leaves no core idle"))
            } else {
                Ok(setup)
            };
        }
        let Some(place) = self.here.cores.place(threads) else {
            return Err(if self.here.cores.physical() < 2 {
                "there is one core, and whatever runs beside the case takes its time".to_owned()
            } else {
                format!("{threads} threads leave no core idle")
            });
        };
        let setup = self.with("threads", &threads.to_string())?;
        Ok(setup.with(CORES_KEY, spelled(&place)))
    }

    /// The case on the fewest of its threads that leave a core idle, to be compared with the same beside a
    /// neighbour: all of them, or half of them where all leave none.
    pub(super) fn with_idle_cores(&self) -> Result<Setup, String> {
        let threads = self.shared_among()?;
        let all = self.leaving_cores(threads);
        if all.is_ok() || threads < 2 {
            return all;
        }
        self.leaving_cores(threads / 2)
    }
}
