//! What Powerband promises about its own speed, as ratios of things that take turns in one run.
//!
//! `cargo bench --bench engine_room`, on a quiet machine, with `ORT_DYLIB_PATH` and
//! `POWERBAND_TEST_PYTHON` set: one release of ONNX Runtime runs in turns behind a worker and
//! in a loop in Python. Figures are printed beside their promises; nothing is asserted.

use std::env;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use powerband_onnx::pb::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto, TypeProto,
    ValueInfoProto, tensor_shape_proto, type_proto,
};
use prost::Message as _;
use tempfile::TempDir;

use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::case::Round;
use powerband_core::domain::event::RunStart;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::{Load, Plan, PresetName, WarmUpRule};
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::domain::tensor::{ElementType, TensorSpec};
use powerband_core::stats::summary::median;
use powerband_onnx::{source, zoo};
use powerband_store::session_file;
use powerband_worker::process::{ChildProcess, Incoming};
use powerband_worker::protocol::{LONGEST_LINE, Reply, Request, RoundRule, WorkerCase};
use powerband_worker::supervisor::Worker;

const LIMIT: Duration = Duration::from_mins(5);
/// Threads of ONNX Runtime spin for a moment after a run, and would take the next one's core.
const PAUSE: Duration = Duration::from_millis(50);
const ORT: &str = "ort:cpu";

fn main() -> Result<()> {
    let Some(place) = BenchEnvironment::find()? else {
        return Ok(());
    };
    say(&format!(
        "{:<58}{:>10}   promise",
        "what takes turns, or how long it takes", "figure"
    ));
    overhead(&place)?;
    for batch in [1, 8] {
        truth(&place, batch)?;
    }
    for setup in [ORT, "rten:cpu"] {
        start(&place, setup)?;
    }
    open_a_million(&place)?;
    make_resnet50()
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn say(line: &str) {
    println!("{line}");
}

/// A figure that nothing was promised about.
fn note(what: &str, figure: &str) {
    say(&format!("{what:<58}{figure:>10}"));
}

fn promise(what: &str, figure: &str, promised: &str, kept: bool) {
    let verdict = if kept { "kept" } else { "MISSED" };
    say(&format!(
        "{what:<58}{figure:>10}   {promised:<14} {verdict}"
    ));
}

fn promise_time(what: &str, times_ns: &[f64], most_ns: f64) -> Result<()> {
    let ns = middle(times_ns)?;
    let promised = format!("≤ {}", humanize::duration_ns(most_ns));
    promise(what, &humanize::duration_ns(ns), &promised, ns <= most_ns);
    Ok(())
}

fn promise_ratio(what: &str, ratio: f64, most: f64) {
    let promised = format!("≤ {most:.2}");
    promise(what, &format!("{ratio:.3}"), &promised, ratio <= most);
}

fn middle(values: &[f64]) -> Result<f64> {
    median(values).context("no values to take the median of")
}

fn middle_of(samples_ns: &[u64]) -> Result<f64> {
    let values: Vec<f64> = samples_ns.iter().map(|&ns| ns as f64).collect();
    middle(&values)
}

/// Does it so many times and returns how long each took, in nanoseconds.
fn times_ns(n: usize, mut work: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
    (0..n)
        .map(|_| {
            let start = Instant::now();
            work()?;
            Ok(start.elapsed().as_nanos() as f64)
        })
        .collect()
}

/// What is measured with, and a folder for models and sessions.
struct BenchEnvironment {
    library: PathBuf,
    python: PathBuf,
    folder: TempDir,
    cancel: CancelToken,
}

impl BenchEnvironment {
    /// Nothing, and a word about it, where a part is missing.
    fn find() -> Result<Option<Self>> {
        let file = |name| {
            env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_file())
        };
        let (Some(library), Some(python)) = (file("ORT_DYLIB_PATH"), file("POWERBAND_TEST_PYTHON"))
        else {
            say(
                "Nothing was measured: ONNX Runtime is needed, and a Python that has the same one.",
            );
            say("  python3 -m venv target/bench-venv");
            say("  target/bench-venv/bin/pip install onnxruntime numpy");
            say("  export POWERBAND_TEST_PYTHON=$PWD/target/bench-venv/bin/python");
            say(
                "  export ORT_DYLIB_PATH=$(echo $PWD/target/bench-venv/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*)",
            );
            return Ok(None);
        };
        Ok(Some(Self {
            library,
            python,
            folder: tempfile::tempdir()?,
            cancel: CancelToken::default(),
        }))
    }

    fn resnet50(&self) -> Result<PathBuf> {
        Ok(source::open("resnet50", self.folder.path())?.path)
    }

    /// A worker that has loaded the model, and what it said.
    fn load(&self, setup: &str, model: &Path) -> Result<(Worker, SetupReport)> {
        let setup: Setup = setup.parse()?;
        let program = Path::new(env!("CARGO_BIN_EXE_powerband"));
        let mut worker = Worker::start(&setup, None, program, LIMIT, &self.cancel)?;
        let request = Request::Load {
            setup,
            model: model.to_path_buf(),
            name: String::new(),
            runtime: Some(self.library.clone()),
        };
        match worker.ask(&request, LIMIT, &self.cancel)? {
            Reply::Loaded(report) => Ok((worker, report)),
            other => Err(worker.confused(&other).into()),
        }
    }
}

/// How much is measured in one turn.
#[derive(Clone, Copy)]
struct Amount {
    turns: usize,
    wake_up_runs: u64,
    min_samples: u64,
    min_ns: u64,
}

/// A model behind a worker: what Powerband measures.
struct Harness<'a> {
    worker: Worker,
    case: WorkerCase,
    cancel: &'a CancelToken,
}

impl<'a> Harness<'a> {
    fn open(place: &'a BenchEnvironment, model: &Path, input: &TensorSpec) -> Result<Self> {
        let (worker, _) = place.load(ORT, model)?;
        let case = WorkerCase {
            setup: 0,
            point: Point::of_batch(input.dims.first().copied().unwrap_or(1)),
            whole: None,
        };
        let mut harness = Self {
            worker,
            case,
            cancel: &place.cancel,
        };
        harness.ask(&Request::Open {
            case,
            inputs: vec![input.clone()],
            seed: 1,
            feed: Vec::new(),
            generate: None,
        })?;
        let rule = WarmUpRule::for_device(false);
        harness.ask(&Request::WarmUp {
            case,
            rule,
            limit: None,
        })?;
        Ok(harness)
    }

    fn ask(&mut self, request: &Request) -> Result<Reply> {
        Ok(self.worker.ask(request, LIMIT, self.cancel)?)
    }

    /// The median of one turn.
    fn turn(&mut self, amount: Amount) -> Result<f64> {
        let rule = RoundRule {
            wake_up_runs: amount.wake_up_runs,
            wake_up_ns: 0,
            min_samples: amount.min_samples,
            min_ns: amount.min_ns,
            max_ns: u64::MAX,
            max_samples: 1 << 20,
            load: Load::Closed,
            seed: 0,
            starts_at_ns: None,
        };
        let case = self.case;
        match self.ask(&Request::Measure { case, rule })? {
            Reply::Measured(measured) => middle_of(&measured.samples_ns),
            other => Err(self.worker.confused(&other).into()),
        }
    }
}

/// The same model in a loop in Python.
struct Python {
    process: ChildProcess,
}

impl Python {
    fn open(place: &BenchEnvironment, model: &Path, input: &TensorSpec) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/onnxruntime_loop.py");
        let spec = ProcessSpec::new(&place.python)
            .args([script, model.to_path_buf()])
            .args([&input.name])
            .args(input.dims.iter().map(ToString::to_string));
        let mut python = Self {
            process: ChildProcess::start(&spec, LONGEST_LINE)?,
        };
        let version: String = serde_json::from_str(&python.hear()?)?;
        let same = place
            .library
            .canonicalize()?
            .to_string_lossy()
            .contains(&version);
        ensure!(
            same,
            "Python has ONNX Runtime {version}, ORT_DYLIB_PATH is {}: they must be the same",
            place.library.display()
        );
        Ok(python)
    }

    /// The median of one turn.
    fn turn(&mut self, way: &str, amount: Amount) -> Result<f64> {
        self.process.send(&format!(
            "{way} {} {} {}",
            amount.wake_up_runs, amount.min_samples, amount.min_ns
        ))?;
        let samples: Vec<u64> = serde_json::from_str(&self.hear()?)?;
        middle_of(&samples)
    }

    fn hear(&mut self) -> Result<String> {
        match self.process.next(LIMIT) {
            Incoming::Line(line) => Ok(line),
            Incoming::Garbled(what) => bail!("Python said {what}"),
            Incoming::Silence => bail!("Python said nothing for {} s", LIMIT.as_secs()),
            Incoming::End | Incoming::Torn(_) => {
                let ending = self.process.end();
                bail!("Python ended: {}: {}", ending.how, ending.stderr)
            }
        }
    }
}

/// The median of each turn, in nanoseconds.
#[derive(Default)]
struct Turns {
    harness: Vec<f64>,
    run: Vec<f64>,
    iobinding: Vec<f64>,
}

impl Turns {
    /// Lets all three take turns, the first of which is for warming up; their order alternates.
    fn take(
        place: &BenchEnvironment,
        model: &Path,
        input: &TensorSpec,
        amount: Amount,
    ) -> Result<Self> {
        let mut harness = Harness::open(place, model, input)?;
        let mut python = Python::open(place, model, input)?;
        let mut turns = Self::default();
        for turn in 0..=amount.turns {
            let mut order = [0, 1, 2];
            if turn % 2 == 1 {
                order.reverse();
            }
            let mut medians = [0.0; 3];
            for who in order {
                thread::sleep(PAUSE);
                medians[who] = match who {
                    0 => harness.turn(amount)?,
                    1 => python.turn("run", amount)?,
                    _ => python.turn("iobinding", amount)?,
                };
            }
            if turn > 0 {
                let [harness, run, iobinding] = medians;
                turns.harness.push(harness);
                turns.run.push(run);
                turns.iobinding.push(iobinding);
            }
        }
        harness.worker.end();
        Ok(turns)
    }

    /// The median over all turns of how long the harness took, as a share of the other in the same turn.
    fn ratio_to(&self, others: &[f64]) -> Result<f64> {
        let pairs = self.harness.iter().zip(others);
        let ratios: Vec<f64> = pairs.map(|(ours, other)| ours / other).collect();
        middle(&ratios)
    }

    fn note(&self, model: &str) -> Result<()> {
        for (who, medians) in [
            ("behind a worker", &self.harness),
            ("session.run in Python", &self.run),
            ("run_with_iobinding in Python", &self.iobinding),
        ] {
            let figure = humanize::duration_ns(middle(medians)?);
            note(&format!("{model}, {who}"), &figure);
        }
        Ok(())
    }
}

/// On a model that does next to nothing, what is left is the harness.
fn overhead(place: &BenchEnvironment) -> Result<()> {
    let model = place.folder.path().join("relu.onnx");
    std::fs::write(&model, relu())?;
    let input = floats("x", &[1, 8]);
    let amount = Amount {
        turns: 15,
        wake_up_runs: 200,
        min_samples: 20_000,
        min_ns: 0,
    };
    let turns = Turns::take(place, &model, &input, amount)?;
    turns.note("one Relu")?;
    let run = turns.ratio_to(&turns.run)?;
    promise_ratio("one Relu, worker / session.run", run, 0.40);
    let iobinding = turns.ratio_to(&turns.iobinding)?;
    promise_ratio("one Relu, worker / run_with_iobinding", iobinding, 0.75);
    Ok(())
}

/// On a real network both must say the same.
fn truth(place: &BenchEnvironment, batch: usize) -> Result<()> {
    let input = floats("input", &[batch, 3, 224, 224]);
    let amount = Amount {
        turns: 10,
        wake_up_runs: 1,
        min_samples: 3,
        min_ns: 1_000_000_000,
    };
    let turns = Turns::take(place, &place.resnet50()?, &input, amount)?;
    let model = format!("resnet50, batch {batch}");
    turns.note(&model)?;
    for (who, medians) in [
        ("session.run", &turns.run),
        ("run_with_iobinding", &turns.iobinding),
    ] {
        let ratio = turns.ratio_to(medians)?;
        promise(
            &format!("{model}, worker / {who}"),
            &format!("{ratio:.3}"),
            "0.98 to 1.02",
            (ratio - 1.0).abs() <= 0.02,
        );
    }
    Ok(())
}

/// From nothing to a loaded model, without the time that the engine needs for the model itself.
fn start(place: &BenchEnvironment, setup: &str) -> Result<()> {
    let model = place.resnet50()?;
    let mut ours = Vec::new();
    // The first start reads the files from the disk and does not count.
    for n in 0..=7 {
        let begin = Instant::now();
        let (worker, report) = place.load(setup, &model)?;
        let whole_ns = begin.elapsed().as_nanos() as u64;
        worker.end();
        if n > 0 {
            ours.push(whole_ns.saturating_sub(report.load_ns) as f64);
        }
    }
    promise_time(
        &format!("a worker starts, {setup}, without loading resnet50"),
        &ours,
        150e6,
    )
}

fn open_a_million(place: &BenchEnvironment) -> Result<()> {
    let path = place.folder.path().join("million.ron");
    session_file::write(&path, &million_samples()?)?;
    let times = times_ns(5, || {
        let cases = session_file::read(&path)?.session.cases;
        let n: u64 = cases.iter().map(|case| case.n_samples()).sum();
        ensure!(n == 1_000_000, "{n} samples came back");
        Ok(())
    })?;
    promise_time("a session of a million samples is opened", &times, 300e6)
}

fn make_resnet50() -> Result<()> {
    let network = zoo::find("resnet50").context("no resnet50")?;
    let times = times_ns(3, || {
        let bytes = zoo::build(network).encode_to_vec();
        ensure!(bytes.len() > 100_000_000, "only {} bytes", bytes.len());
        Ok(())
    })?;
    promise_time("resnet50 is made and encoded", &times, 1e9)
}

/// Twenty cases of five rounds of ten thousand samples.
fn million_samples() -> Result<Session> {
    let plan = Plan {
        model: "resnet50".to_owned(),
        setups: vec![ORT.parse()?, "rten:cpu".parse()?],
        points: (0..10).map(|n| Point::of_batch(1 << n)).collect(),
        seed: 1,
        ..Plan::from_preset(PresetName::Publish)
    };
    let mut session = Session::from_start(RunStart {
        name: "a million samples".to_owned(),
        created: "2026-01-01T00:00:00Z".to_owned(),
        plan,
        model: ModelRef {
            name: "resnet50".to_owned(),
            file: "resnet50.onnx".to_owned(),
            sha256: "0".repeat(64),
            parameters: 25_557_032,
            macs: Some(4_089_184_256),
            ..ModelRef::default()
        },
        made_up: true,
        ..RunStart::default()
    });
    let mut noise: u64 = 1;
    let mut sample = || {
        noise = noise
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        6_700_000 + (noise >> 44)
    };
    for case in &mut session.cases {
        case.outcome = Outcome::Finished;
        case.rounds = (0..5)
            .map(|round| {
                let samples_ns: Vec<u64> = (0..10_000).map(|_| sample()).collect();
                Round {
                    round,
                    spent_ns: samples_ns.iter().sum(),
                    samples_ns,
                    ..Round::default()
                }
            })
            .collect();
    }
    Ok(session)
}

fn floats(name: &str, dims: &[usize]) -> TensorSpec {
    TensorSpec::new(name, ElementType::F32, dims.to_vec())
}

/// A model of one node: `y = Relu(x)` on eight floats.
fn relu() -> Vec<u8> {
    let node = NodeProto {
        op_type: "Relu".to_owned(),
        input: vec!["x".to_owned()],
        output: vec!["y".to_owned()],
        ..NodeProto::default()
    };
    let graph = GraphProto {
        name: "one-node".to_owned(),
        node: vec![node],
        input: vec![eight_floats("x")],
        output: vec![eight_floats("y")],
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto {
        domain: String::new(),
        version: 17,
    };
    let model = ModelProto {
        ir_version: 8,
        opset_import: vec![opset],
        graph: Some(graph),
        ..ModelProto::default()
    };
    model.encode_to_vec()
}

fn eight_floats(name: &str) -> ValueInfoProto {
    let dim = |size| tensor_shape_proto::Dimension {
        value: Some(tensor_shape_proto::dimension::DimensionValue::DimValue(
            size,
        )),
        ..tensor_shape_proto::Dimension::default()
    };
    let tensor = type_proto::Tensor {
        elem_type: 1, // float
        shape: Some(TensorShapeProto {
            dim: vec![dim(1), dim(8)],
        }),
    };
    let kind = TypeProto {
        value: Some(type_proto::TypeValue::TensorType(tensor)),
        ..TypeProto::default()
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(kind),
        ..ValueInfoProto::default()
    }
}
