//! What watching the devices costs, and what it does to what is measured.
//!
//! `cargo bench --bench telemetry`, on a quiet machine; `-- cost` or `-- disturbance` measure that part
//! alone. Cards are simulated ones: NVIDIA's behind a library that is built here, AMD's behind the real
//! ROCm SMI, where it is installed and root may make a mount namespace. Figures are printed beside their
//! promises; nothing is asserted.

#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../tests/it/cards.rs"]
mod cards;
#[path = "../tests/it/fake_nvml.rs"]
mod fake_nvml;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::time::{ClockId, clock_gettime};

use cards::FakeAmdCards;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::plan::{Load, WarmUpRule};
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_core::domain::tensor::{ElementType, TensorSpec};
use powerband_core::stats::ratio::{self, RoundSamples};
use powerband_devices::sampler::Sampler;
use powerband_devices::source::TelemetrySource;
use powerband_devices::{ALL, host, nvml, survey};
use powerband_onnx::source;
use powerband_worker::protocol::{Reply, Request, RoundRule, WorkerCase};
use powerband_worker::supervisor::Worker;

/// Set where the simulated AMD cards are this machine's.
const INSIDE: &str = "POWERBAND_BENCH_INSIDE";
const LIMIT: Duration = Duration::from_mins(5);
/// How long each cost is measured.
const COST: Duration = Duration::from_secs(10);
/// Pairs of turns with and without sampling.
const TURNS: u32 = 60;
/// One turn.
const TURN: Duration = Duration::from_secs(1);
const CASE: WorkerCase = WorkerCase {
    setup: 0,
    point: Point::of_batch(1),
    whole: None,
};

fn main() -> Result<()> {
    if env::var_os(INSIDE).is_some() {
        return with_cards();
    }
    let wanted: Vec<String> = env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let cards = FakeAmdCards::new(1);
    let itself = env::current_exe()?;
    let itself = itself.to_str().context("a path of letters")?;
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let arguments = cards.unshared(itself, &wanted);
    let inside = run("unshare", &arguments);
    if inside.is_err() {
        say("No mount namespace can be made, so AMD's cards are left out.");
        return with_cards();
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the bench moves itself into a namespace"
)]
fn run(program: &str, arguments: &[String]) -> Result<()> {
    let status = Command::new(program)
        .args(arguments)
        .env(INSIDE, "yes")
        .status()?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

fn with_cards() -> Result<()> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    let folder = tempfile::tempdir()?;
    let places = TelemetryPaths {
        nvml: Some(fake_nvml::put(folder.path(), "gpus=1")),
        ..TelemetryPaths::default()
    };
    if is_wanted("cost") {
        costs(&places)?;
    }
    if is_wanted("disturbance") {
        disturbance(&places, folder.path())?;
    }
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn say(line: &str) {
    println!("{line}");
}

fn promise(what: &str, figure: &str, promised: &str, kept: bool) {
    let verdict = if kept { "kept" } else { "MISSED" };
    say(&format!(
        "{what:<58}{figure:>12}   {promised:<12} {verdict}"
    ));
}

/// Processor time of this whole process, in seconds.
fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The share of one core that sampling takes.
fn cost(
    sources: &[&'static dyn TelemetrySource],
    places: &TelemetryPaths,
    rate_hz: f64,
) -> Result<(f64, usize)> {
    let survey = survey::survey_sources(sources, places, Duration::from_secs(5));
    let devices = survey.devices.len();
    let mut sampler = Sampler::start(survey, rate_hz);
    thread::sleep(Duration::from_millis(500));
    sampler.fetch();
    let before = processor_s();
    let mut readings = 0;
    for _ in 0..COST.as_millis() / 500 {
        thread::sleep(Duration::from_millis(500));
        readings += sampler.fetch().readings.len();
    }
    let share = (processor_s() - before) / COST.as_secs_f64();
    let expected = rate_hz * COST.as_secs_f64() * devices as f64;
    if (readings as f64) < 0.9 * expected {
        bail!("{readings} readings came of {expected}");
    }
    Ok((share, devices))
}

fn costs(places: &TelemetryPaths) -> Result<()> {
    let (share, devices) = cost(ALL, places, 10.0)?;
    let names: Vec<&str> = ALL.iter().map(|source| source.title()).collect();
    say(&format!(
        "All sources are {}; {devices} devices were found.",
        names.join(", ")
    ));
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    promise(
        "All sources at 10 Hz, of one core",
        &percent(share),
        "≤ 1 %",
        share <= 0.01,
    );
    let single: [(&str, &'static dyn TelemetrySource); 3] = [
        ("NVML", &nvml::Nvml),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        ("ROCm SMI", &powerband_devices::rocm_smi::RocmSmi),
        ("amdgpu", &powerband_devices::amdgpu::Amdgpu),
    ];
    for (name, source) in single {
        let (share, devices) = cost(&[source], places, 100.0)?;
        let what = format!("One card through {name} at 100 Hz, of one core");
        if devices == 1 {
            promise(&what, &percent(share), "≤ 3 %", share <= 0.03);
        } else {
            say(&format!(
                "{what:<58}{devices:>12} devices, so nothing was measured"
            ));
        }
    }
    let (share, _) = cost(&[&host::Host], places, 100.0)?;
    say(&format!(
        "{:<58}{:>12}",
        "The host at 100 Hz, of one core",
        percent(share)
    ));
    Ok(())
}

/// ResNet-18 with sampling on and off, by turns.
fn disturbance(places: &TelemetryPaths, folder: &Path) -> Result<()> {
    let (mut worker, name) = worker(folder)?;
    let mut visits: [Vec<RoundSamples>; 2] = [Vec::new(), Vec::new()];
    for round in 0..TURNS {
        // Which one comes first changes from pair to pair.
        for turn in 0..2 {
            let is_on = (turn + round) % 2 == 0;
            let sampler = is_on.then(|| {
                let sampler = Sampler::start(survey::survey(places), 10.0);
                sampler.set_workers(vec![worker.pid()]);
                sampler
            });
            let samples_ns = measure(&mut worker)?;
            drop(sampler);
            let samples = samples_ns.iter().map(|ns| *ns as f64).collect();
            visits[usize::from(is_on)].push(RoundSamples {
                round,
                start: 0,
                samples,
            });
        }
    }
    let [off, on] = visits;
    let estimate = ratio::paired(&on, &off).context("two rounds and more")?;
    let (ratio, interval) = (estimate.ratio(), estimate.interval());
    let what = format!("ResNet-18 on {name}, sampling on ÷ off, {TURNS} pairs");
    let off_by = (ratio - 1.0).abs();
    promise(
        &what,
        &format!("{ratio:.4}"),
        "within 0.5 %",
        off_by <= 0.005,
    );
    say(&format!(
        "{:<58}{:>12}",
        "  95 % interval",
        format!("{:.4}–{:.4}", interval.low, interval.high)
    ));
    Ok(())
}

/// A worker that has ResNet-18 warm: on ONNX Runtime where `ORT_DYLIB_PATH` names it, else on rten.
fn worker(folder: &Path) -> Result<(Worker, &'static str)> {
    let runtime = env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    let (spec, name) = if runtime.is_some() {
        ("ort:cpu", "ONNX Runtime")
    } else {
        ("rten:cpu", "rten")
    };
    let setup: Setup = spec.parse()?;
    let cancel = CancelToken::default();
    let program = Path::new(env!("CARGO_BIN_EXE_powerband"));
    let mut worker = Worker::start(&setup, None, program, LIMIT, &cancel)?;
    let model = source::open("resnet18", folder)?.path;
    let input = TensorSpec::new("input", ElementType::F32, vec![1, 3, 224, 224]);
    let requests = [
        Request::Load {
            setup,
            model,
            name: String::new(),
            runtime,
        },
        Request::Open {
            case: CASE,
            inputs: vec![input],
            seed: 1,
            feed: Vec::new(),
            generate: None,
        },
        Request::WarmUp {
            case: CASE,
            rule: WarmUpRule::for_device(false),
            limit: None,
        },
    ];
    for request in requests {
        worker.ask(&request, LIMIT, &cancel)?;
    }
    Ok((worker, name))
}

fn measure(worker: &mut Worker) -> Result<Vec<u64>> {
    let rule = RoundRule {
        wake_up_runs: 1,
        wake_up_ns: 150_000_000,
        min_samples: 1,
        min_ns: TURN.as_nanos() as u64,
        max_ns: u64::MAX,
        max_samples: 1 << 20,
        load: Load::Closed,
        seed: 0,
        starts_at_ns: None,
    };
    let request = Request::Measure { case: CASE, rule };
    match worker.ask(&request, LIMIT, &CancelToken::default())? {
        Reply::Measured(measured) => Ok(measured.samples_ns),
        other => Err(worker.confused(&other).into()),
    }
}
