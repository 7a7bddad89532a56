//! The engine `fake`: made-up timings, a function of the case and of a seed.
//!
//! For tests and pictures of everything above it. It computes nothing and waits for nothing, is not
//! offered to users, and whatever it touches is marked as made up. Its failures are real ones.

use std::path::Path;
use std::time::Duration;

use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::{Engine, EngineError, EngineInfo, LoadRequest, LoadedInfo, LoadedModel, Runnable};
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::Tensor;
use powerband_planning::engine_options::{Fake, number, positive};

impl Engine for Fake {
    fn worker(&self, setup: &Setup, _runtime: Option<&Path>) -> Option<ProcessSpec> {
        setup.options.get("worker").map(ProcessSpec::new)
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
