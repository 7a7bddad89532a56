//! Sessions that are the same on every machine and at every time, with numbers as a machine gives them.

use std::path::PathBuf;
use std::sync::Arc;

use powerband_app::detached::DetachedRun;
use powerband_app::machine::EngineState;
use powerband_app::run::LiveRun;
use powerband_app::sessions::Findings;
use powerband_core::control::Control;
use powerband_core::domain::accuracy::{Accuracy, OutputDistance};
use powerband_core::domain::case::{Case, CaseKey, CaseOpening, Round, WarmUp};
use powerband_core::domain::device::{Cpu, Gpu, MainMemory};
use powerband_core::domain::environment::Environment;
use powerband_core::domain::event::{RunEvent, RunStart, TimedEvent};
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::{MeasureRule, Plan, PresetName, SetupStyle};
use powerband_core::domain::point::Point;
use powerband_core::domain::roofs::{
    Access, ComputeRoof, EngineRoof, Level, METHOD, MeasuredValue, MemoryRoof, PROCESSOR,
    RoofConditions, Roofs,
};
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::setup_report::SetupReport;
use powerband_core::domain::telemetry::Quantity;
use powerband_core::domain::work::NumberFormat;
use powerband_findings::analysis::case_rows;
use powerband_findings::chart::lanes::Lane;
use powerband_planning::plans;

use super::devices;

/// One setup and how fast it is.
#[derive(Clone, Copy)]
pub(super) struct Speed {
    pub spec: &'static str,
    pub label: &'static str,
    /// Microseconds of a run, and of each item.
    pub fixed: f64,
    pub item: f64,
    /// Spread of the times as a share.
    pub noise: f64,
    /// The batch from which on there is no memory.
    pub out_of_memory: Option<usize>,
}

/// One setup without anything special.
pub(super) const fn speed(spec: &'static str, label: &'static str, fixed: f64, item: f64) -> Speed {
    Speed {
        spec,
        label,
        fixed,
        item,
        noise: 0.008,
        out_of_memory: None,
    }
}

/// A session to be made.
pub(super) struct SessionSpec<'a> {
    pub name: &'a str,
    pub created: &'a str,
    pub model: &'a str,
    pub speeds: &'a [Speed],
    pub batches: &'a [usize],
    pub rounds: u32,
    pub samples: usize,
}

impl SessionSpec<'_> {
    /// The session, finished.
    pub(super) fn session(&self) -> Session {
        let mut session = Session::from_start(self.beginning());
        session.completion = Completion::Complete;
        session.tags = vec!["nightly".to_owned(), "laptop".to_owned()];
        "On mains, lid open, nothing else running.".clone_into(&mut session.notes);
        for (setup, speed) in self.speeds.iter().enumerate() {
            session.reports[setup] = Some(report(speed));
        }
        session.cases = self.cases();
        session.elapsed_ns = end_ns(&session.cases);
        session.telemetry = devices::watched(&session.cases, session.elapsed_ns);
        session
    }

    /// Every case, its rounds in turns with those of the others.
    fn cases(&self) -> Vec<Case> {
        let keys = self.plan().cases().into_iter();
        let mut cases: Vec<Case> = keys.map(|key| self.case(key)).collect();
        let mut now_ns = 3_000_000_000;
        for round in 0..self.rounds as usize {
            for case in &mut cases {
                if let Some(round) = case.rounds.get_mut(round) {
                    round.started_ns = now_ns;
                    now_ns += round.spent_ns + 40_000_000;
                }
            }
        }
        cases
    }

    /// The run in its middle: the first two rounds of all cases, and the third of some.
    pub(super) fn live(&self) -> LiveRun {
        let mut run = LiveRun::new(self.name.to_owned(), Control::default());
        run.begin(self.beginning(), 0);
        let mut at_ns = 400_000_000;
        let mut tell = |run: &mut LiveRun, event| {
            at_ns += 350_000_000;
            run.apply_event(TimedEvent { at_ns, event }, None);
        };
        let cases = self.cases();
        for (setup, speed) in self.speeds.iter().enumerate() {
            let pid = 41_200 + setup as u32;
            tell(&mut run, RunEvent::WorkerStarted { setup, pid });
            let report = report(speed);
            tell(&mut run, RunEvent::SetupReady { setup, report });
        }
        for round in 0..3 {
            for (place, whole) in cases.iter().enumerate() {
                let case = whole.key();
                if round == 0
                    && let (Some(opening), Some(warm_up)) = (&whole.opening, &whole.warm_up)
                {
                    let opening = opening.clone();
                    tell(&mut run, RunEvent::CaseOpened { case, opening });
                    let warm_up = warm_up.clone();
                    tell(&mut run, RunEvent::WarmedUp { case, warm_up });
                }
                let Some(measured) = whole.rounds.get(round as usize) else {
                    if round == 0 {
                        let outcome = whole.outcome.clone();
                        tell(&mut run, RunEvent::CaseEnded { case, outcome });
                    }
                    continue;
                };
                tell(&mut run, RunEvent::RoundStarted { case, round });
                if round == 2 && place == cases.len() / 2 {
                    break;
                }
                let round = measured.clone();
                tell(&mut run, RunEvent::RoundFinished { case, round });
            }
        }
        let rows = run
            .session
            .as_deref()
            .map(case_rows::case_rows)
            .unwrap_or_default();
        let text = "The processor's clock was lowered for 4 s.".to_owned();
        let warned = RunEvent::Warned { text };
        let told_ns = run
            .session
            .as_ref()
            .map_or(0, |session| end_ns(&session.cases));
        if let Some(session) = &mut run.session {
            Arc::make_mut(session).telemetry = devices::watched(&cases, told_ns);
        }
        let last = TimedEvent {
            at_ns: told_ns.max(at_ns) + 1,
            event: warned,
        };
        run.apply_event(last, Some(Findings::of_rows(rows)));
        run.redraw_lanes();
        run
    }

    fn beginning(&self) -> RunStart {
        RunStart {
            name: self.name.to_owned(),
            created: self.created.to_owned(),
            plan: self.plan(),
            model: ModelRef {
                name: self.model.to_owned(),
                file: format!("{}.onnx", self.model),
                sha256: "5a1f".repeat(16),
                parameters: 25_557_032,
                macs: Some(4_089_184_256),
                ..ModelRef::default()
            },
            environment: environment(),
            ..RunStart::default()
        }
    }

    fn plan(&self) -> Plan {
        let look = |speed: &Speed| SetupStyle {
            label: Some(speed.label.to_owned()).filter(|label| !label.is_empty()),
            colour: None,
        };
        Plan {
            model: self.model.to_owned(),
            setups: self
                .speeds
                .iter()
                .map(|speed| speed.spec.parse().expect("a setup"))
                .collect(),
            looks: self.speeds.iter().map(look).collect(),
            points: self.batches.iter().copied().map(Point::of_batch).collect(),
            measure: MeasureRule {
                rounds: self.rounds,
                spacing: None,
                ..MeasureRule::from_preset(PresetName::Standard)
            },
            seed: 1,
            ..Plan::from_preset(PresetName::Standard)
        }
    }

    fn case(&self, key: CaseKey) -> Case {
        let speed = self.speeds[key.setup];
        let mut case = Case::pending(key);
        if speed
            .out_of_memory
            .is_some_and(|from| key.point.batch() >= from)
        {
            case.outcome = Outcome::OutOfMemory {
                reason: "the engine wanted 3.2 GB more than there is".to_owned(),
            };
            return case;
        }
        // Past 64 items the caches are too small.
        let beyond = key.point.batch().saturating_sub(64) as f64;
        let centre = 1e3 * (speed.fixed + speed.item * (key.point.batch() as f64 + 0.12 * beyond));
        let mut dice = DataRng(key.point.batch() as u64 * 7919 + key.setup as u64 * 104_729 + 17);
        case.outcome = Outcome::Finished;
        case.opening = Some(CaseOpening {
            open_ns: 1_200_000,
            first_run_ns: (centre * 1.9) as u64,
            feeding: "buffers that are written once".to_owned(),
            peak_bytes: Some(310_000_000 + 9_600_000 * key.point.batch() as u64),
        });
        case.warm_up = Some(WarmUp {
            runs: 40,
            spent_ns: 520_000_000,
            settled: true,
        });
        for round in 0..self.rounds {
            let shift = 1.0 + 0.3 * speed.noise * dice.normal();
            let samples_ns: Vec<u64> = (0..self.samples)
                .map(|_| {
                    let tail = if dice.unit() > 0.985 { 1.12 } else { 1.0 };
                    (centre * shift * tail * (1.0 + speed.noise * dice.normal().abs())) as u64
                })
                .collect();
            let spent_ns = samples_ns.iter().sum::<u64>() * 101 / 100;
            case.rounds.push(Round {
                round,
                start: Some(round),
                spent_ns,
                samples_ns,
                ..Round::default()
            });
        }
        case
    }
}

/// A journey of four steps and two larger batches; the third step cannot be made.
pub(super) fn journey() -> Session {
    let mut session = SessionSpec {
        name: "ResNet-50 case study",
        created: "2026-10-04T06:12:30Z",
        model: "resnet50",
        speeds: &[
            speed("torch:cpu", "Baseline: PyTorch", 3_100.0, 38_400.0),
            speed(
                "torch:cpu,mode=amp-bf16",
                "Mixed precision",
                3_000.0,
                21_900.0,
            ),
            speed(
                "torch:cpu,mode=compile",
                "Fused operators",
                2_800.0,
                17_300.0,
            ),
            Speed {
                noise: 0.03,
                ..speed("ort:cpu,precision=int8", "8-bit integers", 1_900.0, 9_700.0)
            },
        ],
        batches: &[1, 8, 32],
        rounds: 5,
        samples: 60,
    }
    .session();
    let plan = &mut session.plan;
    plan.ladder = plans::ladder(&plan.setups, &plan.looks, &plan.points);
    let keys = plan.cases();
    session.cases.retain(|case| keys.contains(&case.key()));
    for case in session.cases.iter_mut().filter(|case| case.setup == 2) {
        let reason = "torch.compile wants a C++ compiler, and there is none on this machine; install one, for example the package g++";
        *case = Case::pending(case.key());
        case.outcome = Outcome::Unsupported {
            reason: reason.to_owned(),
        };
    }
    for (setup, load_ms) in [(0, 410), (1, 430), (3, 2_960)] {
        if let Some(report) = &mut session.reports[setup] {
            report.load_ns = load_ms * 1_000_000;
        }
    }
    for (setup, worst_cosine) in [(0, 1.0), (1, 0.999_988), (3, 0.999_81)] {
        let distance = Some(OutputDistance {
            worst_cosine,
            ..OutputDistance::default()
        });
        let accuracy = Accuracy {
            distance,
            ..Accuracy::default()
        };
        session.accuracies.insert(setup, accuracy);
    }
    session
}

/// When the last round ended.
fn end_ns(cases: &[Case]) -> u64 {
    let rounds = cases.iter().flat_map(|case| &case.rounds);
    let ends = rounds.map(|round| round.started_ns + round.spent_ns);
    ends.max().unwrap_or(0) + 300_000_000
}

fn report(speed: &Speed) -> SetupReport {
    SetupReport {
        engine: if speed.spec.starts_with("ort") {
            "onnxruntime 1.30.1".to_owned()
        } else if speed.spec.starts_with("torch") {
            "PyTorch 2.9.0".to_owned()
        } else {
            "rten 0.27.0".to_owned()
        },
        library: None,
        threads: Some(8),
        start_ns: 21_000_000,
        library_ns: 9_000_000,
        load_ns: 183_000_000,
        empty_run_ns: 900,
        clock_ns: 25,
        own_weights: false,
        notes: Vec::new(),
    }
}

/// A machine that nobody has.
pub(super) fn environment() -> Environment {
    Environment {
        project_commit: None,
        program: "0.1.0".to_owned(),
        commit: None,
        optimised_build: true,
        os: "Debian GNU/Linux 13".to_owned(),
        kernel: "6.12.48".to_owned(),
        arch: "x86_64".to_owned(),
        cpu: Cpu {
            model: "AMD Ryzen 7 7840U w/ Radeon 780M Graphics".to_owned(),
            cores: Some(8),
            threads: 16,
            features: ["avx2", "avx512f", "avx512_vnni", "fma"]
                .map(ToOwned::to_owned)
                .into(),
            governor: Some("performance".to_owned()),
            boost: Some(true),
            max_mhz: Some(5_132.0),
        },
        memory: MainMemory {
            total_bytes: 33_500_000_000,
            available_bytes: 27_100_000_000,
        },
        gpus: Vec::<Gpu>::new(),
        load_before: Some(0.03),
    }
}

/// Engines that are ready; without ONNX Runtime where it is not wanted.
pub(super) fn engines(with_onnxruntime: bool) -> Vec<EngineState> {
    let engine = |id, title: &str, words: &str, is_ready| EngineState {
        id,
        title: title.to_owned(),
        words: words.to_owned(),
        is_ready,
        is_first: true,
        runtime: words
            .split_once(" · /")
            .map(|(_, rest)| PathBuf::from(format!("/{rest}"))),
        info: None,
        offers: Vec::new(),
    };
    let rten = engine("rten", "rten 0.27.0", "cpu · built in", true);
    if with_onnxruntime {
        let words = "cpu · /home/you/.local/share/powerband/runtimes/onnxruntime-cpu-1.30.1/libonnxruntime.so.1.30.1";
        vec![engine("ort", "onnxruntime 1.30.1", words, true), rten]
    } else {
        let words = "no library was found; Install fetches it with pip";
        let pytorch = "no Python with the package torch was found (asked: /usr/bin/python3); `/usr/bin/python3 -m pip install torch torchvision` installs it, or name another with python=";
        vec![
            rten,
            engine("ort", "ONNX Runtime", words, false),
            engine("pytorch", "PyTorch", pytorch, false),
        ]
    }
}

/// A seeded random number generator.
pub(super) struct DataRng(pub u64);

impl DataRng {
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// What a card did meanwhile, over the time of a short trace.
pub(super) fn lanes() -> Vec<Lane> {
    let wave = |n: u64| (n as f64 * 0.7).sin();
    let lane = |title: &str, quantity: Quantity, (low, high): (f64, f64), range: &str| Lane {
        device: "GPU 0".to_owned(),
        title: title.to_owned(),
        newest: String::new(),
        range: range.to_owned(),
        low,
        high,
        points: (0..22)
            .map(|n| (n as f64 * 1e5, low + (high - low) * (0.8 + 0.12 * wave(n))))
            .collect(),
        gap_after: vec![14],
        quantity,
    };
    vec![
        lane("Utilisation", Quantity::Busy, (0.0, 100.0), "68 to 92 %"),
        lane("Power", Quantity::Power, (0.0, 400.0), "272 to 368 W"),
        lane("Clock", Quantity::Clock, (0.0, 1_410.0), "959 to 1,297 MHz"),
    ]
}

/// What a machine reaches that is not this one.
pub(super) fn roofs(are_measured: bool) -> Vec<Roofs> {
    let measured = |value: f64, spread: f64| MeasuredValue {
        value,
        low: value * (1.0 - spread),
        high: value,
        repetitions: 5,
    };
    let compute = |threads, value| ComputeRoof {
        numbers: NumberFormat::F32,
        threads,
        vector_bits: 512,
        code: "AVX-512".to_owned(),
        per_s: measured(value, 0.008),
    };
    let copy = |threads, value| MemoryRoof {
        level: Level::Memory,
        access: Access::Copy,
        threads,
        working_set_bytes: 1 << 30,
        code: "AVX, non-temporal".to_owned(),
        per_s: measured(value, 0.012),
    };
    let engine = |engine: &str, version: &str, product, spread| EngineRoof {
        engine: engine.to_owned(),
        version: version.to_owned(),
        setup: format!("{engine}:cpu"),
        threads: 8,
        numbers: NumberFormat::F32,
        product_per_s: Some(measured(product, spread)),
        copy_per_s: Some(measured(41.2e9, 0.02)),
        launch_ns: Some(measured(812.0, 0.02)),
    };
    let roofs = Roofs {
        device: PROCESSOR.to_owned(),
        name: "AMD Ryzen 7 7840U w/ Radeon 780M Graphics".to_owned(),
        card: None,
        measured: "2026-10-04T08:12:00Z".to_owned(),
        conditions: RoofConditions {
            method: METHOD,
            threads: 16,
            ..RoofConditions::default()
        },
        clock_mhz: Some(4_550.0),
        temperature_c: Some(71.0),
        compute: vec![compute(1, 150.4e9), compute(8, 1.127e12)],
        memory: vec![copy(1, 38.1e9), copy(4, 44.9e9)],
        engines: vec![
            engine("ort", "ONNX Runtime 1.31.0", 1.0e12, 0.011),
            engine("rten", "rten 0.27.0", 0.642e12, 0.081),
        ],
        notes: Vec::new(),
    };
    if are_measured {
        vec![roofs]
    } else {
        Vec::new()
    }
}

/// Two detached runs, of which the first has ended.
pub(super) fn detached_runs() -> Vec<DetachedRun> {
    let run = |id: &str, state: &str, done, is_alive| DetachedRun {
        id: id.to_owned(),
        name: "resnet50".to_owned(),
        state: state.to_owned(),
        rounds: (done, 4),
        is_alive,
    };
    vec![
        run("4711", "finished", 4, false),
        run("4712", "running: on n1 since 09:12", 1, true),
    ]
}
