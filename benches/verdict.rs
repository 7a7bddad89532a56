//! Whether verdicts can be trusted: comparisons of which the answer is known, on a real engine.
//!
//! `cargo bench --bench verdict`, on a quiet machine, with `ORT_DYLIB_PATH` set, and
//! `POWERBAND_TEST_PYTHON` naming a Python with scipy for one of the figures. `-- simulated` leaves the
//! engine out, `-- levels` all but changes of the level over time, `-- 10` makes so many comparisons of each kind in place of 50 and 100, and `-- planted`
//! leaves all out but differences that are there. Figures are printed beside their promises; nothing is
//! asserted.

mod simulated;

use std::env;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use prost::Message as _;
use rand_distr::{Distribution as _, StandardNormal, Uniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use powerband_core::base::paths::Paths;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::control::Control;
use powerband_core::domain::plan::PresetName;
use powerband_core::domain::point::Point;
use powerband_core::domain::request::RunRequest;
use powerband_core::stats::bootstrap::{self, Interval};
use powerband_core::stats::ratio::{self, RoundSamples};
use powerband_core::stats::summary::median;
use powerband_findings::analysis::comparison::{self, CasePair, Comparison};
use powerband_findings::analysis::{case_rows, verdict::Call};
use powerband_onnx::zoo::builder::{Conv, GraphBuilder};
use powerband_runner::prepare;
use powerband_runner::run;
use powerband_store::installation::Installation;
use powerband_store::settings::Settings;
use powerband_worker::process::{ChildProcess, Incoming};

/// How a process is told that it is to load a core from time to time.
const COMPANY: &str = "--company";
const SIMULATIONS: usize = 2_000;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == COMPANY) {
        keep_company();
        return Ok(());
    }
    say(&format!("{:<70}{:>16}   promise", "what", "figure"));
    if arguments.iter().any(|argument| argument == "levels") {
        simulated::levels::judge();
        return Ok(());
    }
    if !arguments.iter().any(|argument| argument == "planted") {
        simulate();
        simulated::levels::judge();
        simulated::judge();
        time_the_bootstrap()?;
    }
    if arguments.iter().any(|argument| argument == "simulated") {
        return Ok(());
    }
    let asked = arguments.iter().find_map(|argument| argument.parse().ok());
    measure(asked)
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
        "{what:<70}{figure:>16}   {promised:<20} {verdict}"
    ));
}

/// A machine that does not exist: how its rounds scatter.
struct RestlessMachine {
    name: &'static str,
    rounds: usize,
    /// Scatter from round to round, as a share.
    between: f64,
    /// Scatter within a round.
    within: f64,
    /// Correlation of a sample with the one before.
    memory: f64,
    /// Change from the first to the last round.
    drift: f64,
    /// How many samples take up to twice as long.
    outliers: f64,
}

const MACHINES: [RestlessMachine; 5] = [
    RestlessMachine {
        name: "quiet, 5 rounds",
        rounds: 5,
        between: 0.003,
        within: 0.01,
        memory: 0.5,
        drift: 0.0,
        outliers: 0.02,
    },
    RestlessMachine {
        name: "drift, outliers, 5 rounds",
        rounds: 5,
        between: 0.01,
        within: 0.01,
        memory: 0.7,
        drift: 0.01,
        outliers: 0.05,
    },
    RestlessMachine {
        name: "restless rounds, 5",
        rounds: 5,
        between: 0.03,
        within: 0.01,
        memory: 0.7,
        drift: 0.0,
        outliers: 0.05,
    },
    RestlessMachine {
        name: "drift, outliers, 10 rounds",
        rounds: 10,
        between: 0.01,
        within: 0.02,
        memory: 0.9,
        drift: 0.01,
        outliers: 0.05,
    },
    RestlessMachine {
        name: "long memory, 20 rounds",
        rounds: 20,
        between: 0.01,
        within: 0.02,
        memory: 0.95,
        drift: 0.01,
        outliers: 0.1,
    },
];

impl RestlessMachine {
    /// The rounds of one case. What a round does to everybody is given.
    fn rounds(&self, rng: &mut Xoshiro256PlusPlus, common: &[f64]) -> Vec<Vec<f64>> {
        let uniform = Uniform::new(0.0, 1.0).ok();
        let last = (self.rounds - 1).max(1) as f64;
        let mut rounds = Vec::new();
        for (round, common) in common.iter().enumerate() {
            let base = common
                + self.between * sample_normal(rng)
                + self.drift * (round as f64 / last - 0.5);
            let mut state = sample_normal(rng);
            let mut samples = Vec::new();
            for _ in 0..40 {
                state =
                    self.memory * state + (1.0 - self.memory.powi(2)).sqrt() * sample_normal(rng);
                let mut draw = || uniform.map_or(0.5, |uniform| uniform.sample(rng));
                let slow = if draw() < self.outliers {
                    1.0 + draw()
                } else {
                    1.0
                };
                samples.push((base + self.within * state).exp() * slow);
            }
            rounds.push(samples);
        }
        rounds
    }
}

fn simulate() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(20);
    for machine in &MACHINES {
        let quiet = vec![0.0; machine.rounds];
        let all: Vec<f64> = (0..400)
            .flat_map(|_| machine.rounds(&mut rng, &quiet).concat())
            .collect();
        let truth = median(&all).unwrap_or(f64::NAN);
        let mut held = 0;
        let mut held_ratio = 0;
        for seed in 0..SIMULATIONS {
            let rounds = machine.rounds(&mut rng, &quiet);
            let interval = bootstrap::median_interval(&rounds, 500, seed as u64);
            held += usize::from(holds(interval, truth));
            // Rounds that are slow for everybody, by a tenth.
            let common: Vec<f64> = (0..machine.rounds)
                .map(|_| 0.1 * sample_normal(&mut rng))
                .collect();
            let before = visits(machine.rounds(&mut rng, &common), 1.03);
            let after = visits(machine.rounds(&mut rng, &common), 1.0);
            let estimate = ratio::paired(&before, &after);
            held_ratio += usize::from(holds(estimate.map(|found| found.interval()), 1.03));
        }
        // The planned look at a ratio leaves later ones their share of what may be wrong.
        for (what, held, (least, most)) in [
            ("median", held, (93, 97)),
            ("paired ratio", held_ratio, (95, 99)),
        ] {
            let share = held as f64 / SIMULATIONS as f64;
            promise(
                &format!("coverage of the 95 % interval, {what}: {}", machine.name),
                &format!("{:.1} %", share * 100.0),
                &format!("{least} to {most} %"),
                (f64::from(least) / 100.0..=f64::from(most) / 100.0).contains(&share),
            );
        }
    }
}

fn sample_normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(rng)
}

fn holds(interval: Option<Interval>, truth: f64) -> bool {
    interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high)
}

fn visits(rounds: Vec<Vec<f64>>, times: f64) -> Vec<RoundSamples> {
    (0..)
        .zip(rounds)
        .map(|(round, samples)| RoundSamples {
            round,
            start: round,
            samples: samples.iter().map(|sample| sample * times).collect(),
        })
        .collect()
}

/// scipy has no bootstrap of rounds; its plain one over as many samples is what users have.
const SCIPY: &str = "
import json, time, numpy, scipy.stats
samples = numpy.random.default_rng(1).lognormal(0, .02, 1000)
times = []
for _ in range(3):
    start = time.perf_counter()
    scipy.stats.bootstrap((samples,), numpy.median, n_resamples=10000, method='percentile', vectorized=True)
    times.append(time.perf_counter() - start)
print(json.dumps(min(times)))
";

fn time_the_bootstrap() -> Result<()> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let rounds: Vec<Vec<f64>> = (0..5)
        .map(|_| {
            (0..200)
                .map(|_| sample_normal(&mut rng).abs() + 10.0)
                .collect()
        })
        .collect();
    let mut times = Vec::new();
    for seed in 0..9 {
        let start = Instant::now();
        bootstrap::median_interval(&rounds, 10_000, seed);
        times.push(start.elapsed().as_secs_f64());
    }
    let ours = median(&times).context("nine times have a median")?;
    promise(
        "bootstrap of 10,000 resamples over 5 × 200 samples",
        &format!("{:.1} ms", ours * 1e3),
        "≤ 30 ms",
        ours <= 0.03,
    );
    let Some(python) = env::var_os("POWERBAND_TEST_PYTHON").map(PathBuf::from) else {
        say("scipy's bootstrap: POWERBAND_TEST_PYTHON names no Python");
        return Ok(());
    };
    let spec = ProcessSpec::new(&python).args(["-c", SCIPY]);
    let mut process = ChildProcess::start(&spec, 1 << 16)?;
    let Incoming::Line(line) = process.next(Duration::from_mins(2)) else {
        say("scipy's bootstrap: this Python has no scipy");
        return Ok(());
    };
    process.end();
    let theirs: f64 = serde_json::from_str(&line)?;
    promise(
        "scipy's time for 10,000 resamples of 1,000 samples over ours",
        &format!("{:.0} ×", theirs / ours),
        "≥ 10 ×",
        theirs / ours >= 10.0,
    );
    Ok(())
}

/// What is compared, and how carefully.
struct How<'a> {
    setups: [&'a str; 2],
    preset: PresetName,
}

/// Where comparisons are made, and of what.
struct Ground {
    place: Installation,
    folder: tempfile::TempDir,
}

impl Ground {
    /// A network of so many convolutions one after the other.
    fn stack(&self, layers: usize) -> Result<PathBuf> {
        let mut graph = GraphBuilder::default();
        let conv = Conv {
            channels: 32,
            kernel: 3,
            stride: 1,
        };
        let mut x = graph.conv("stem", &GraphBuilder::image(), conv);
        for layer in 0..layers {
            x = graph.conv(&format!("layer{layer}"), &x, conv);
            x = graph.relu(&format!("relu{layer}"), &x);
        }
        let pooled = graph.average_pool("pool", &x);
        let logits = graph.classify("fc", &pooled, 10);
        let name = format!("stack{layers}");
        let path = self.folder.path().join(format!("{name}.onnx"));
        std::fs::write(&path, graph.finish(&name, 32, &logits).encode_to_vec())?;
        Ok(path)
    }

    /// One comparison of two setups, as a user makes it.
    fn compare(&self, model: &Path, how: &How<'_>, seed: u64) -> Result<CasePair> {
        let request = RunRequest {
            setups: how
                .setups
                .iter()
                .map(|spec| spec.parse())
                .collect::<Result<_, _>>()?,
            points: Some(vec![Point::of_batch(1)]),
            // The standard preset adds rounds by itself.
            rounds: (how.preset == PresetName::Quick).then_some(5),
            seed: Some(seed),
            preset: how.preset,
            ..RunRequest::new(&model.display().to_string())
        };
        let request = prepare::prepare(&self.place, &request)?;
        let (session, _) = run::run(request, None, &Control::default(), &mut |_, _| {});
        let rows = case_rows::case_rows(&session);
        let pairs: Option<Comparison> = comparison::comparisons_with_first(&session, &rows)
            .into_iter()
            .next();
        let pair = pairs.and_then(|comparison| comparison.pairs.into_iter().next());
        pair.with_context(|| format!("nothing was measured: {:?}", session.warnings))
    }

    /// Many of them, and how each was called.
    fn many(&self, model: &Path, how: &How<'_>, times: usize) -> Result<Calls> {
        let mut calls = Calls::default();
        for seed in 0..times {
            let pair = self.compare(model, how, seed as u64)?;
            match pair.verdict.call {
                Call::Faster => calls.faster += 1,
                Call::Slower => calls.slower += 1,
                Call::Same => calls.same += 1,
                Call::Inconclusive => calls.inconclusive += 1,
            }
            calls.ratios.extend(pair.ratio.map(|ratio| ratio.speed_up));
            if matches!(pair.verdict.call, Call::Faster | Call::Slower) {
                calls.sure.push(grounds(&pair));
            }
        }
        Ok(calls)
    }
}

#[derive(Default)]
struct Calls {
    faster: usize,
    slower: usize,
    same: usize,
    inconclusive: usize,
    ratios: Vec<f64>,
    /// The grounds of each that was called a change.
    sure: Vec<String>,
}

/// What a verdict rests on: ratio, interval, floor.
fn grounds(pair: &CasePair) -> String {
    let ratio = pair.ratio.map_or(f64::NAN, |ratio| ratio.speed_up);
    let ends = pair.ratio.and_then(|ratio| ratio.ci95);
    let ends = ends.map_or_else(String::new, |ci| format!("{:.4} to {:.4}", ci.low, ci.high));
    let floor = pair.verdict.floor.unwrap_or(f64::NAN);
    format!("{ratio:.4}, {ends}, floor {:.2} %", floor * 100.0)
}

impl Calls {
    fn summary_text(&self) -> String {
        let mut sorted = self.ratios.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
            sorted.get(place).copied().unwrap_or(f64::NAN)
        };
        format!(
            "    {} faster, {} slower, {} same, {} inconclusive; ratio {:.3}, middle 80 % {:.3} to {:.3}",
            self.faster,
            self.slower,
            self.same,
            self.inconclusive,
            at(0.5),
            at(0.1),
            at(0.9)
        )
    }
}

fn measure(asked: Option<usize>) -> Result<()> {
    if env::var_os("ORT_DYLIB_PATH").is_none() {
        say("Nothing was measured: ORT_DYLIB_PATH does not name ONNX Runtime's library.");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let program = PathBuf::from(env!("CARGO_BIN_EXE_powerband"));
    let ground = Ground {
        place: Installation::new(Paths::under(folder.path()), &Settings::default(), program),
        folder,
    };
    let is_planted_alone = env::args().any(|argument| argument == "planted");
    let itself = asked.unwrap_or(50);
    let planted = asked.unwrap_or(100);
    for with_company in [false, true] {
        if is_planted_alone {
            continue;
        }
        let _company = with_company.then(CpuContention::start).transpose()?;
        let network = PathBuf::from("resnet18");
        let how = How {
            setups: ["ort:cpu", "ort:cpu"],
            preset: PresetName::Quick,
        };
        let calls = ground.many(&network, &how, itself)?;
        let wrong = calls.faster + calls.slower;
        promise(
            &format!(
                "ResNet-18 against itself, {itself} times{}: wrong",
                with(with_company)
            ),
            &wrong.to_string(),
            "0",
            wrong == 0,
        );
        say(&calls.summary_text());
        for grounds in &calls.sure {
            say(&format!("    wrong: {grounds}"));
        }
    }
    for (with_company, layers, least, preset) in [
        (false, [34, 33], 0.90, PresetName::Standard),
        (true, [33, 30], 0.95, PresetName::Quick),
    ] {
        let _company = with_company.then(CpuContention::start).transpose()?;
        let [before, after] = [ground.stack(layers[0])?, ground.stack(layers[1])?];
        let spec = format!("ort:cpu,threads=1,model={}", after.display());
        let how = How {
            setups: ["ort:cpu,threads=1", &spec],
            preset,
        };
        let calls = ground.many(&before, &how, planted)?;
        let share = calls.faster as f64 / planted as f64;
        promise(
            &format!(
                "{} convolutions against {}, {preset}, {planted} times{}: found",
                layers[0],
                layers[1],
                with(with_company)
            ),
            &calls.faster.to_string(),
            &format!("≥ {:.0}, 0 wrong way", least * planted as f64),
            share >= least && calls.slower == 0,
        );
        say(&calls.summary_text());
    }
    Ok(())
}

fn with(company: bool) -> &'static str {
    if company { ", with company" } else { "" }
}

/// Another process that loads one core from time to time.
struct CpuContention(ChildProcess);

impl CpuContention {
    fn start() -> Result<Self> {
        let spec = ProcessSpec::new(&env::current_exe()?).args([COMPANY]);
        Ok(Self(ChildProcess::start(&spec, 1 << 10)?))
    }
}

impl Drop for CpuContention {
    fn drop(&mut self) {
        self.0.kill();
    }
}

/// Busy for a tenth to six tenths of a second, then idle for half a second to three.
fn keep_company() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut draw = |low: u64, high: u64| {
        Uniform::new(low, high).map_or(low, |uniform| uniform.sample(&mut rng))
    };
    let end = Instant::now() + Duration::from_hours(2);
    while Instant::now() < end {
        let busy = Duration::from_millis(draw(100, 600));
        let start = Instant::now();
        while start.elapsed() < busy {
            std::hint::spin_loop();
        }
        thread::sleep(Duration::from_millis(draw(500, 3_000)));
    }
}
