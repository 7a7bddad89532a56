//! The engine `fake`: made-up timings, a function of the case and of a seed.
//!
//! For tests and pictures of everything above it. It computes nothing and waits for nothing, is not
//! offered to users, and whatever it touches is marked as made up. Its failures are real ones.

use std::path::Path;
use std::time::Duration;

use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::key::{MOST, Takes};
use super::programs::always;
use super::{
    Engine, EngineError, EngineInfo, Key, LoadRequest, LoadedInfo, LoadedModel, Runnable, positive,
};
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::setup::{MADE_UP_ENGINE, Setup};
use powerband_core::domain::tensor::Tensor;

const FAILURES: [&str; 12] = [
    "load-error",
    "load-unsupported",
    "load-hang",
    "load-exit",
    "open-error",
    "open-memory",
    "run-error",
    "run-hang",
    "run-abort",
    "run-kill",
    "run-exit",
    "run-allocate",
];

const KEYS: &[Key] = &[
    Key::new(
        "fixed",
        Takes::Number("µs"),
        "time of a run that does not depend on the batch",
    )
    .with_default("800"),
    Key::new(
        "item",
        Takes::Number("µs"),
        "time of each item of the batch",
    )
    .with_default("200"),
    Key::new("noise", Takes::Number("%"), "spread of the times").with_default("1"),
    Key::new(
        "sleep",
        Takes::One(&["yes"]),
        "also wait as long as the time that is made up",
    ),
    Key::new("fail", Takes::One(&FAILURES), "how to fail"),
    Key::new("at", Takes::Count(MOST), "the batch size at which to fail").with_default("all"),
    Key::new(
        "worker",
        Takes::Path("a program"),
        "start this instead of our own worker",
    )
    .running(always),
];

/// The engine.
pub struct Fake;

impl Engine for Fake {
    fn id(&self) -> &'static str {
        MADE_UP_ENGINE
    }

    fn title(&self) -> &'static str {
        "made-up timings"
    }

    fn keys(&self) -> &'static [Key] {
        KEYS
    }

    fn is_offered(&self) -> bool {
        false
    }

    fn worker(&self, setup: &Setup, _runtime: Option<&Path>) -> Option<ProcessSpec> {
        setup.options.get("worker").map(ProcessSpec::new)
    }

    fn check(&self, setup: &Setup) -> Result<(), String> {
        positive(setup, "at")?;
        number(setup, "fixed", 0.0)?;
        number(setup, "item", 0.0)?;
        number(setup, "noise", 0.0)?;
        match setup.options.get("fail") {
            Some(fail) if !FAILURES.contains(&fail.as_str()) => {
                Err(format!("fail={fail} is none of {}", FAILURES.join(", ")))
            }
            _ => Ok(()),
        }
    }

    fn probe(&self, _runtime: Option<&Path>) -> Result<EngineInfo, EngineError> {
        Ok(EngineInfo::on_cpu("made-up timings".to_owned()))
    }

    fn load(&self, request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError> {
        let setup = request.setup.clone();
        match setup.options.get("fail").map(String::as_str) {
            Some("load-error") => {
                return Err(EngineError::Failed(
                    "the model would not load, as told".to_owned(),
                ));
            }
            Some("load-unsupported") => {
                return Err(EngineError::Unsupported(
                    "the operator Told is not there, as told".to_owned(),
                ));
            }
            Some("load-hang") => hang(),
            Some("load-exit") => exit_worker(),
            _ => {}
        }
        Ok(Box::new(FakeModel {
            setup,
            loaded: LoadedInfo {
                engine: "made-up timings".to_owned(),
                feeding: "nothing is fed: the times are made up",
                ..LoadedInfo::default()
            },
        }))
    }
}

struct FakeModel {
    setup: Setup,
    loaded: LoadedInfo,
}

impl LoadedModel for FakeModel {
    fn loaded(&self) -> &LoadedInfo {
        &self.loaded
    }

    fn feeds(&self) -> bool {
        false
    }

    fn open(&mut self, _inputs: &[Tensor], batch: usize) -> Result<Box<dyn Runnable>, EngineError> {
        let value =
            |key, default| number(&self.setup, key, default).map_err(EngineError::Unsupported);
        let here = positive(&self.setup, "at")
            .ok()
            .flatten()
            .is_none_or(|at| at == batch);
        let fail = self.setup.options.get("fail").filter(|_| here).cloned();
        match fail.as_deref() {
            Some("open-error") => {
                return Err(EngineError::Failed(
                    "the inputs would not bind, as told".to_owned(),
                ));
            }
            Some("open-memory") => return Err(EngineError::OutOfMemory("as told".to_owned())),
            _ => {}
        }
        Ok(Box::new(FakeTimings {
            centre_us: value("fixed", 800.0)? + value("item", 200.0)? * batch as f64,
            noise: value("noise", 1.0)? / 100.0,
            sleeps: self.setup.options.contains_key("sleep"),
            fail,
            rng: Xoshiro256PlusPlus::seed_from_u64(batch as u64),
        }))
    }
}

struct FakeTimings {
    centre_us: f64,
    noise: f64,
    sleeps: bool,
    fail: Option<String>,
    rng: Xoshiro256PlusPlus,
}

impl Runnable for FakeTimings {
    fn run(&mut self) -> Result<(), EngineError> {
        match self.fail.as_deref() {
            Some("run-error") => Err(EngineError::Failed("the run failed, as told".to_owned())),
            Some("run-hang") => hang(),
            Some("run-abort") => std::process::abort(),
            Some("run-kill") => kill_self(),
            Some("run-exit") => exit_worker(),
            Some("run-allocate") => allocate_until_killed(),
            _ => Ok(()),
        }
    }

    fn timed_run(&mut self) -> Result<u64, EngineError> {
        self.run()?;
        let spread: f64 = StandardNormal.sample(&mut self.rng);
        let nanoseconds = (self.centre_us * 1e3 * (1.0 + self.noise * spread.abs())).round() as u64;
        if self.sleeps {
            std::thread::sleep(Duration::from_nanos(nanoseconds));
        }
        Ok(nanoseconds)
    }

    fn outputs(&mut self) -> Result<Vec<Tensor>, EngineError> {
        Err(EngineError::Unsupported(
            "made-up timings have no outputs".to_owned(),
        ))
    }
}

fn number(setup: &Setup, key: &str, default: f64) -> Result<f64, String> {
    let Some(text) = setup.options.get(key) else {
        return Ok(default);
    };
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| format!("{key}={text} is not a number from zero"))
}

fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_hours(1));
    }
}

#[expect(
    clippy::exit,
    clippy::disallowed_methods,
    reason = "leaving without a word is the failure that was asked for"
)]
fn exit_worker() -> ! {
    std::process::exit(3)
}

fn kill_self() -> ! {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
        .unwrap_or_default();
    hang()
}

fn allocate_until_killed() -> ! {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(vec![1; 16 << 20]);
    }
}
