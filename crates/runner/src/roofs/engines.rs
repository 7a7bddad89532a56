//! What an engine reaches: a large product, a large copy, and the cost of one more node.
//!
//! Through the worker of the setup, with its threads, its loop and its clock, in short rounds. The networks come
//! from `zoo::roofs`; PyTorch, which takes no files, has the same ones in its worker.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::contention::OthersCpuTime;
use crate::precision;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_core::domain::fill::Fill;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::plan::Load;
use powerband_core::domain::point::Point;
use powerband_core::domain::roofs::{EngineRoof, MeasuredValue, PROCESSOR, numbers_of, roof_setup};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::domain::tensor::{ElementType, TensorSpec};
use powerband_core::stats::summary::median;
use powerband_devices::machine;
use powerband_onnx::pb::ModelProto;
use powerband_onnx::zoo::roofs as networks;
use powerband_onnx::{file, source};
use powerband_planning::engine_options;
use powerband_store::installation::Installation;
use powerband_worker::engines::{self, Engine};
use powerband_worker::protocol::{Reply, Request, RoundRule, WorkerCase};
use powerband_worker::supervisor::{Worker, WorkerError};

/// Rows and columns of the product on a processor.
const SIDE: usize = 2048;
/// The same on a card, which has done the smaller one before it is well under way.
const CARD_SIDE: usize = 8192;
/// The same for an engine that reads it from a file, which holds a quarter of a GiB at the larger side.
const CARD_FILE_SIDE: usize = 4096;
/// Fewest and most bytes that a copy reads and writes together.
const COPY_BYTES: (u64, u64) = (128 << 20, 1 << 30);
/// What a copy on a card moves.
const CARD_COPY_BYTES: u64 = 1 << 30;
/// A copy goes through at least so many times the last cache.
const CACHES: u64 = 4;
/// Nodes of the two chains whose difference is the cost of a node.
const CHAINS: (usize, usize) = (500, 1000);
/// Groups that the samples of a round are divided into. The faster half of them counts, because whatever else
/// runs at the same time can only slow an engine down.
const GROUPS: usize = 5;
/// A round whose repetitions differ by more than this is measured again.
const CALM: f64 = 0.05;
/// Rounds at most.
const ROUNDS: usize = 2;
/// No round is measured again once a setup's rounds have taken so long.
const PATIENCE: Duration = Duration::from_secs(1);
/// A worker that says nothing for so long is given up.
const LIMIT: Duration = Duration::from_mins(1);
/// How much of a wrong answer is quoted.
const QUOTED: usize = 80;
/// Raised whenever a network changes, so that no old file is taken for it.
const REVISION: u32 = 1;

/// What was measured of an engine, and what could not be.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineFigures {
    /// The figures.
    pub roof: EngineRoof,
    /// What could not be measured, and why.
    pub notes: Vec<String>,
}

/// Why an engine's roofs were not measured.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineRoofError {
    /// The engine is not installed, or cannot run this network.
    #[error("{0}")]
    Failed(String),
    /// The user wants to stop.
    #[error("cancelled")]
    Cancelled,
}

impl From<WorkerError> for EngineRoofError {
    fn from(error: WorkerError) -> Self {
        match error {
            WorkerError::Cancelled => Self::Cancelled,
            other => Self::Failed(other.to_string()),
        }
    }
}

/// A network whose run time gives a figure of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoofNetwork {
    Product(usize),
    Copy(usize),
    Chain(usize),
}

impl RoofNetwork {
    fn name(self) -> String {
        match self {
            Self::Product(side) => format!("roof-product-{side}"),
            Self::Copy(elements) => format!("roof-copy-{elements}"),
            Self::Chain(nodes) => format!("roof-chain-{nodes}"),
        }
    }

    fn build(self) -> ModelProto {
        match self {
            Self::Product(side) => networks::product(side),
            Self::Copy(elements) => networks::copy(elements),
            Self::Chain(nodes) => networks::chain(nodes),
        }
    }

    fn input(self) -> TensorSpec {
        let (dims, fill) = match self {
            Self::Product(side) => {
                let spread = Fill::Random {
                    low: -0.5,
                    high: 0.5,
                };
                (vec![side, side], spread)
            }
            // Memory that was never written is no memory yet, so it is not left at zero.
            Self::Copy(elements) => (vec![elements], Fill::Ones),
            Self::Chain(_) => (vec![16], Fill::Ones),
        };
        TensorSpec {
            fill,
            ..TensorSpec::new(networks::INPUT, ElementType::F32, dims)
        }
    }
}

/// A PyTorch worker for reuse; starting one takes seconds.
#[derive(Debug, Default)]
pub struct SpareWorker(Option<(PathBuf, Worker)>);

impl SpareWorker {
    /// The worker of an interpreter, for a setup that sets everything that the one before may have set.
    fn take(&mut self, setup: &Setup, runtime: Option<&Path>) -> Option<Worker> {
        let (interpreter, worker) = self.0.take()?;
        let sets_all = setup.device == PROCESSOR && setup.options.contains_key("threads");
        if sets_all && Some(interpreter.as_path()) == runtime {
            return Some(worker);
        }
        worker.end();
        None
    }

    /// Ends it.
    pub fn end(&mut self) {
        if let Some((_, worker)) = self.0.take() {
            worker.end();
        }
    }
}

/// Measures what the engine of a setup reaches; takes two to four seconds on a processor.
pub fn measure(
    place: &Installation,
    setup: &Setup,
    runtime: Option<&Path>,
    spare: &mut SpareWorker,
    cancel: &CancelToken,
) -> Result<EngineFigures, EngineRoofError> {
    let setup = roof_setup(setup);
    let engine = engines::find(&setup.engine)
        .ok_or_else(|| EngineRoofError::Failed(format!("there is no engine {}", setup.engine)))?;
    engines::check(&setup).map_err(|error| EngineRoofError::Failed(error.to_string()))?;
    let mut timing = Timing {
        place,
        engine,
        setup: without_fallback(&setup),
        runtime,
        worker: spare
            .take(&setup, runtime)
            .filter(|_| !engine.takes_files()),
        cancel,
        report: None,
        measured: Duration::ZERO,
        beside: OthersCpuTime::default(),
    };
    let result = timing.figures(&setup);
    match (runtime, timing.worker.take()) {
        (Some(runtime), Some(worker)) if !engine.takes_files() && setup.device == PROCESSOR => {
            spare.0 = Some((runtime.to_path_buf(), worker));
        }
        (_, Some(worker)) => {
            worker.end();
        }
        (_, None) => {}
    }
    result
}

/// The setup as it is loaded: what a provider cannot do must not be measured on the processor in its place.
fn without_fallback(setup: &Setup) -> Setup {
    let mut loaded = setup.clone();
    let has_provider = ["provider", "library"]
        .iter()
        .any(|key| setup.options.contains_key(*key));
    let is_plain = setup
        .options
        .get("provider")
        .is_some_and(|name| name == PROCESSOR);
    if setup.engine == "ort" && !is_plain && (has_provider || setup.device != PROCESSOR) {
        loaded
            .options
            .insert("strict".to_owned(), "true".to_owned());
    }
    // The rewritten network says in which numbers it computes.
    loaded.options.remove("precision");
    loaded
}

/// Times one network after the other, in a worker each, or in one where starting it takes seconds.
struct Timing<'a> {
    place: &'a Installation,
    engine: &'static dyn Engine,
    /// As it is loaded.
    setup: Setup,
    runtime: Option<&'a Path>,
    worker: Option<Worker>,
    cancel: &'a CancelToken,
    /// What the engine said of itself when it loaded the first network.
    report: Option<SetupReport>,
    /// What all rounds took so far.
    measured: Duration,
    /// What others used during all rounds.
    beside: OthersCpuTime,
}

impl Timing<'_> {
    fn figures(&mut self, setup: &Setup) -> Result<EngineFigures, EngineRoofError> {
        let on_card = setup.device != PROCESSOR;
        let side = match (on_card, self.engine.takes_files()) {
            (false, _) => SIDE,
            (true, true) => CARD_FILE_SIDE,
            (true, false) => CARD_SIDE,
        };
        let operations = 2.0 * (side as f64).powi(3);
        let times = self.quietest_round(RoofNetwork::Product(side), Some(setup))?;
        let product_per_s = rate(operations, &times);
        let mut notes = Vec::new();
        let elements = copy_elements(on_card);
        let bytes = elements as f64 * 2.0 * bytes_of_element(setup);
        let copied = self.quietest_round(RoofNetwork::Copy(elements), None);
        let copy_per_s = self.known(copied, "copy", &mut notes)?;
        let copy_per_s = copy_per_s.and_then(|times| rate(bytes, &times));
        let launch = self.launch();
        let launch_ns = self.known(launch, "cost of a node", &mut notes)?.flatten();
        let report = self.report.take().unwrap_or_default();
        if launch_ns.is_none() && notes.is_empty() {
            notes.push(format!(
                "{setup}: a chain of {} nodes takes no longer than one of {}, so a node costs less than can be measured, or the engine joins them.",
                CHAINS.1, CHAINS.0
            ));
        }
        let threads = if on_card {
            0
        } else {
            report.threads.unwrap_or_else(usual_threads)
        };
        let marked = |figure| self.beside.marked(figure, threads);
        let (product_per_s, copy_per_s) = (product_per_s.map(marked), copy_per_s.map(marked));
        let roof = EngineRoof {
            engine: setup.engine.clone(),
            version: report.engine,
            setup: setup.to_string(),
            threads,
            numbers: numbers_of(setup),
            product_per_s,
            copy_per_s,
            launch_ns,
        };
        Ok(EngineFigures { roof, notes })
    }

    /// A figure, or a note on why there is none.
    fn known<T>(
        &self,
        result: Result<T, EngineRoofError>,
        what: &str,
        notes: &mut Vec<String>,
    ) -> Result<Option<T>, EngineRoofError> {
        match result {
            Ok(figure) => Ok(Some(figure)),
            Err(EngineRoofError::Cancelled) => Err(EngineRoofError::Cancelled),
            Err(EngineRoofError::Failed(reason)) => {
                notes.push(format!(
                    "{}: the {what} was not measured: {reason}",
                    self.setup
                ));
                Ok(None)
            }
        }
    }

    /// What one more node costs, from repetitions of two chains.
    fn launch(&mut self) -> Result<Option<MeasuredValue>, EngineRoofError> {
        let short = self.quietest_round(RoofNetwork::Chain(CHAINS.0), None)?;
        let long = self.quietest_round(RoofNetwork::Chain(CHAINS.1), None)?;
        let nodes = (CHAINS.1 - CHAINS.0) as f64;
        let short = median(&short).unwrap_or_default();
        let costs: Vec<f64> = long.iter().map(|long| (long - short) / nodes).collect();
        Ok(measured(&costs).filter(|cost| cost.low > 0.0))
    }

    /// The repetitions of the calmest of a few rounds, in nanoseconds; `rewritten` is a setup whose precision the
    /// network is rewritten to.
    fn quietest_round(
        &mut self,
        network: RoofNetwork,
        rewritten: Option<&Setup>,
    ) -> Result<Vec<f64>, EngineRoofError> {
        let case = self.open(network, rewritten)?;
        let mut calmest: Option<Vec<f64>> = None;
        for _ in 0..ROUNDS {
            let request = Request::Measure {
                case,
                rule: round(self.setup.device != PROCESSOR),
            };
            let began = Instant::now();
            let samples = match self.ask(&request)? {
                Reply::Measured(measured) => {
                    self.beside.add(measured.company);
                    measured.samples_ns
                }
                other => return Err(confused(&other)),
            };
            self.measured += began.elapsed();
            let times = repetitions(&samples);
            if calmest
                .as_ref()
                .is_none_or(|known| spread(&times) < spread(known))
            {
                calmest = Some(times);
            }
            let is_calm = calmest.as_ref().is_some_and(|times| spread(times) <= CALM);
            if is_calm || self.measured >= PATIENCE {
                break;
            }
        }
        match self.ask(&Request::Close { case })? {
            Reply::Closed => Ok(calmest.unwrap_or_default()),
            other => Err(confused(&other)),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, EngineRoofError> {
        let Some(worker) = &mut self.worker else {
            return Err(EngineRoofError::Failed("there is no worker".to_owned()));
        };
        let answer = worker.ask(request, LIMIT, self.cancel);
        if let Err(error) = &answer
            && !error.leaves_worker_usable()
        {
            self.end();
        }
        Ok(answer?)
    }

    fn end(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.end();
        }
    }

    /// A worker that has loaded nothing, but for PyTorch, which takes seconds to start and can load again.
    fn start(&mut self) -> Result<(), EngineRoofError> {
        if self.engine.takes_files() {
            self.end();
        }
        if self.worker.is_none() {
            let program = &self.place.program;
            let worker = Worker::start(&self.setup, self.runtime, program, LIMIT, self.cancel)?;
            self.worker = Some(worker);
        }
        Ok(())
    }

    /// Loads a network in place of the one before, and binds its input.
    fn open(
        &mut self,
        network: RoofNetwork,
        rewritten: Option<&Setup>,
    ) -> Result<WorkerCase, EngineRoofError> {
        let model = if self.engine.takes_files() {
            file_of(self.place, network, rewritten).map_err(EngineRoofError::Failed)?
        } else {
            PathBuf::new()
        };
        let load = Request::Load {
            setup: self.setup.clone(),
            model,
            name: network.name(),
            runtime: self.runtime.map(Path::to_path_buf),
        };
        self.start()?;
        match self.ask(&load)? {
            Reply::Loaded(report) => {
                self.report.get_or_insert(report);
            }
            other => return Err(confused(&other)),
        }
        let case = WorkerCase {
            setup: 0,
            point: Point::of_batch(1),
            whole: None,
        };
        let open = Request::Open {
            case,
            inputs: vec![network.input()],
            seed: 1,
            feed: Vec::new(),
            generate: None,
        };
        match self.ask(&open)? {
            Reply::Opened(_) => Ok(case),
            other => Err(confused(&other)),
        }
    }
}

fn confused(reply: &Reply) -> EngineRoofError {
    let reply = humanize::shorten(&format!("{reply:?}"), QUOTED);
    EngineRoofError::Failed(format!("an answer to another question: {reply}"))
}

/// A round of about a second at most: warmed up by time, because a launch may be short or long.
fn round(on_card: bool) -> RoundRule {
    RoundRule {
        wake_up_runs: 1,
        wake_up_ns: if on_card { 500_000_000 } else { 50_000_000 },
        min_samples: GROUPS as u64,
        min_ns: 100_000_000,
        max_ns: 2_000_000_000,
        max_samples: 2_000,
        load: Load::Closed,
        seed: 0,
        starts_at_ns: None,
    }
}

/// The median of each of a few groups of samples that follow each other, the fastest first, without the slower half.
fn repetitions(samples_ns: &[u64]) -> Vec<f64> {
    let size = samples_ns.len().div_ceil(GROUPS).max(1);
    let groups = samples_ns.chunks(size);
    let groups = groups.map(|group| group.iter().map(|ns| *ns as f64).collect::<Vec<f64>>());
    let mut medians: Vec<f64> = groups.filter_map(|group| median(&group)).collect();
    medians.sort_by(f64::total_cmp);
    medians.truncate(medians.len().div_ceil(2));
    medians
}

/// How far times lie apart, as a share of the shortest.
fn spread(times: &[f64]) -> f64 {
    let low = times.iter().copied().fold(f64::INFINITY, f64::min);
    let high = times.iter().copied().fold(0.0, f64::max);
    if low > 0.0 && low.is_finite() {
        (high - low) / low
    } else {
        f64::INFINITY
    }
}

/// An amount divided by each of these times; the figure is the median.
fn rate(amount: f64, times_ns: &[f64]) -> Option<MeasuredValue> {
    let rates = times_ns.iter().map(|ns| amount * 1e9 / ns);
    let rates: Vec<f64> = rates.filter(|rate| rate.is_finite()).collect();
    measured(&rates)
}

fn measured(figures: &[f64]) -> Option<MeasuredValue> {
    Some(MeasuredValue {
        value: median(figures)?,
        low: figures.iter().copied().reduce(f64::min)?,
        high: figures.iter().copied().reduce(f64::max)?,
        repetitions: figures.len() as u32,
    })
}

/// Elements of the copied tensor: beyond every cache, and within the memory that is free.
fn copy_elements(on_card: bool) -> usize {
    let bytes = if on_card {
        CARD_COPY_BYTES
    } else {
        let wanted = (CACHES * last_cache_bytes()).clamp(COPY_BYTES.0, COPY_BYTES.1);
        let free = machine::memory().map_or(u64::MAX, |memory| memory.available_bytes);
        wanted.min(free / 8)
    };
    // As much is written as is read. Whole MiB, so that files of a few sizes are kept.
    ((bytes / 2) >> 20 << 20) as usize / size_of::<f32>()
}

/// The last cache of the first core as Linux reports it; nothing where it does not.
fn last_cache_bytes() -> u64 {
    let sizes = (0..5).filter_map(|index| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = fs::read_to_string(path).ok()?;
        let kib: u64 = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kib << 10)
    });
    sizes.max().unwrap_or_default()
}

/// Bytes of an element of inputs, which a network in 16 bits throughout is fed with as well.
fn bytes_of_element(setup: &Setup) -> f64 {
    let mode = setup.options.get("mode").map_or("", String::as_str);
    let is_half = mode
        .split('+')
        .any(|word| ["fp16", "bf16"].contains(&word.trim()));
    if is_half { 2.0 } else { 4.0 }
}

/// Threads that an engine takes which does not say it: one a physical core.
fn usual_threads() -> usize {
    let usable = thread::available_parallelism().map_or(1, usize::from);
    usable.min(num_cpus::get_physical()).max(1)
}

/// The file of a network, written once, and rewritten to a setup's precision where it asks for one.
fn file_of(
    place: &Installation,
    network: RoofNetwork,
    rewritten: Option<&Setup>,
) -> Result<PathBuf, String> {
    let folder = place.paths.cache.join("models");
    let path = folder.join(format!("{}-r{REVISION}.onnx", network.name()));
    if !path.is_file() {
        let cannot = |reason: String| format!("{} cannot be written: {reason}", path.display());
        fs::create_dir_all(&folder).map_err(|error| cannot(error.to_string()))?;
        file::save(&path, &network.build()).map_err(|error| cannot(error.to_string()))?;
    }
    let Some(setup) = rewritten else {
        return Ok(path);
    };
    let recipe = engine_options::rewrite_recipe(setup)?;
    if recipe.is_plain() {
        return Ok(path);
    }
    let name = path.display().to_string();
    let model = source::open(&name, &place.paths.cache).map_err(|error| error.to_string())?;
    let sizes = InputSizes::default();
    precision::convert(place, &model, &recipe, &sizes).map(|converted| converted.file.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_repetitions() {
        let samples: Vec<u64> = (1..=15).collect();
        assert_eq!(repetitions(&samples), [2.0, 5.0, 8.0]);
        assert_eq!(repetitions(&[3, 1]), [1.0]);
        assert!(repetitions(&[]).is_empty());
        assert!(spread(&[]).is_infinite() && spread(&[0.0]).is_infinite());
        let rate = rate(100.0, &[1e9, 2e9, 4e9]).unwrap();
        assert_eq!((rate.value, rate.low, rate.high), (50.0, 25.0, 100.0));
        assert_eq!(super::rate(1.0, &[]), None);
    }

    #[test]
    fn a_provider_does_not_leave_nodes_to_the_processor() {
        let of = |spec: &str| without_fallback(&spec.parse().unwrap()).to_string();
        assert_eq!(of("ort:cpu,threads=1"), "ort:cpu,threads=1");
        assert_eq!(of("ort:cuda:0"), "ort:cuda:0,strict=true");
        assert_eq!(
            of("ort:cpu,provider=openvino"),
            "ort:cpu,provider=openvino,strict=true"
        );
        assert_eq!(of("ort:cpu,provider=cpu"), "ort:cpu,provider=cpu");
        assert_eq!(of("ort:cpu,precision=int8"), "ort:cpu");
        assert_eq!(of("torch:cuda:0"), "torch:cuda:0");
    }

    #[test]
    fn a_copy_goes_beyond_the_caches() {
        let bytes = copy_elements(false) as u64 * 8;
        assert!(bytes <= COPY_BYTES.1 && bytes > 0);
        assert_eq!(copy_elements(true) as u64 * 8, CARD_COPY_BYTES);
        let half = bytes_of_element(&"torch,mode=bf16".parse().unwrap());
        let mixed = bytes_of_element(&"torch,mode=amp-bf16".parse().unwrap());
        assert_eq!((half, mixed), (2.0, 4.0));
    }
}
