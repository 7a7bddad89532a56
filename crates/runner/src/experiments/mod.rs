//! Experiments on a case: setups that differ from it by one change each, to be measured in turns with it.
//!
//! What they cost is evidence of what limits the case, which `analysis/limits/answer.rs` of the findings says. To add one:
//! a variant of `ExperimentChange`, a file here, and a line in `ALL`.

mod another_engine;
mod bound_input;
mod clock_cap;
mod derivation;
mod eight_bits;
pub mod elsewhere;
mod graph_capture;
mod half_precision;
mod half_threads;
mod neighbours;
mod optimisation_off;
mod pinned_threads;
mod subject;
mod twice_batch;
mod twice_threads;
mod unspun_threads;

use self::derivation::Derivation;
pub use self::subject::ExperimentMachine;
use self::subject::ExperimentSubject;
use super::run::PreparedRun;
use crate::prepare_error::PrepareError;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::experiment::{
    Experiment, ExperimentChange, Experiments, LEFT_OUT, UnavailableExperiment,
};
use powerband_core::domain::plan::{Load, Plan, PresetName, Profiler, SetupStyle, WorkerLifetime};
use powerband_core::domain::point::Point;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_worker::engines;

/// Every experiment, in the order in which they are shown.
const ALL: &[Derivation] = &[
    half_threads::HALF_THREADS,
    twice_threads::TWICE_THREADS,
    twice_batch::TWICE_BATCH,
    neighbours::STREAMING,
    neighbours::COMPUTING,
    half_precision::HALF_PRECISION,
    eight_bits::EIGHT_BITS,
    another_engine::ANOTHER_ENGINE,
    optimisation_off::OPTIMISATION_OFF,
    graph_capture::GRAPH_CAPTURE,
    bound_input::BOUND_INPUT,
    pinned_threads::PINNED_THREADS,
    unspun_threads::UNSPUN_THREADS,
    clock_cap::CLOCK_CAP,
];

/// The experiments on a case of a session that was measured on this machine, or why there can be none.
pub fn request_for(
    session: &Session,
    case: CaseKey,
    here: &ExperimentMachine,
) -> Result<RunRequest, String> {
    let plan = &session.plan;
    let Some(setup) = plan.setups.get(case.setup) else {
        return Err("the session has no such setup".to_owned());
    };
    if setup.device == Plan::ELSEWHERE || session.is_published_only() {
        return Err(
            "another program measured this case, and its setup cannot be run here; run its model with powerband why MODEL".to_owned(),
        );
    }
    let report = session.reports.get(case.setup).and_then(Option::as_ref);
    let seen = report.and_then(|report| report.threads);
    let again = RunRequest {
        seed: None,
        rules: None,
        rounds: None,
        preset: PresetName::Quick,
        ..RunRequest::from_plan(plan)
    };
    request(again, setup, case.point, seen, here)
}

/// The experiments on one setup of a model at one point, for a request that says everything else.
pub fn request_of_model(
    begun: RunRequest,
    setup: &Setup,
    point: Point,
    here: &ExperimentMachine,
) -> Result<RunRequest, String> {
    request(begun, setup, point, None, here)
}

/// The same request with these changes alone; the others are left out, and say so.
pub fn keep_changes(request: RunRequest, changes: &[ExperimentChange]) -> RunRequest {
    let Some(mut experiments) = request.experiments.clone() else {
        return request;
    };
    let is_wanted = |tried: &Experiment| changes.contains(&tried.change);
    let (kept, left_out): (Vec<_>, Vec<_>) = experiments.tried.into_iter().partition(is_wanted);
    let mut places: Vec<usize> = vec![experiments.setup];
    places.extend(kept.iter().flat_map(|tried| [tried.control, tried.setup]));
    places.sort_unstable();
    places.dedup();
    let place = |setup: usize| {
        places
            .iter()
            .position(|own| *own == setup)
            .unwrap_or_default()
    };
    experiments
        .untried
        .extend(left_out.iter().map(|tried| UnavailableExperiment {
            change: tried.change,
            reason: LEFT_OUT.to_owned(),
        }));
    experiments.untried.sort_by_key(|untried| untried.change);
    experiments.untried.dedup_by_key(|untried| untried.change);
    experiments.tried = kept
        .into_iter()
        .map(|tried| Experiment {
            setup: place(tried.setup),
            control: place(tried.control),
            ..tried
        })
        .collect();
    experiments.setup = place(experiments.setup);
    fn pick<T: Clone>(places: &[usize], all: &[T]) -> Vec<T> {
        places
            .iter()
            .filter_map(|place| all.get(*place).cloned())
            .collect()
    }
    RunRequest {
        setups: pick(&places, &request.setups),
        looks: pick(&places, &request.looks),
        points: Some(experiments.points()),
        experiments: Some(experiments),
        ..request
    }
}

/// Refuses experiments on a model or a machine that are not those of the session.
pub fn check_same(session: &Session, prepared: &PreparedRun) -> Result<(), PrepareError> {
    let now = &prepared.beginning;
    let setup = now.plan.experiments.as_ref().map_or(0, |asked| asked.setup);
    let model = now.variants.get(&setup).unwrap_or(&now.model);
    let then = session
        .plan
        .setups
        .iter()
        .position(|own| now.plan.setups.get(setup) == Some(own));
    let then = then.map_or(&session.model, |own| session.model_of(own));
    if then.sha256 != model.sha256 {
        return Err(PrepareError::OtherModel(then.name.clone()));
    }
    let (cpu, kernel) = (&session.environment.cpu.model, &session.environment.kernel);
    if (cpu, kernel) != (&now.environment.cpu.model, &now.environment.kernel) {
        return Err(PrepareError::OtherMachine);
    }
    Ok(())
}

fn request(
    begun: RunRequest,
    setup: &Setup,
    point: Point,
    seen: Option<usize>,
    here: &ExperimentMachine,
) -> Result<RunRequest, String> {
    let engine = engines::check(setup).map_err(|error| error.to_string())?;
    if setup.is_elsewhere() {
        return Err(format!(
            "{setup} runs on another machine, and these are experiments on this one"
        ));
    }
    if setup.has_neighbour() {
        return Err(format!(
            "{setup} has a neighbour already; ask about the setup without neighbour="
        ));
    }
    let derived = derive(&ExperimentSubject::new(setup, point, seen, here));
    let experiments = Experiments {
        setup: 0,
        point,
        tried: derived.tried,
        untried: derived.untried,
        budget_s: None,
    };
    Ok(RunRequest {
        name: begun
            .name
            .clone()
            .or_else(|| Some(name(&begun.model, setup, point))),
        setups: derived.setups,
        looks: derived.looks,
        points: Some(experiments.points()),
        journey: false,
        load: Load::Closed,
        keeping: WorkerLifetime::Together,
        energy: false,
        judging: None,
        profiling: engine.profiles().then_some(Profiler::Engine),
        experiments: Some(experiments),
        ..begun
    })
}

/// What the session is called.
fn name(model: &str, setup: &Setup, point: Point) -> String {
    let model = model.rsplit('/').next().unwrap_or(model);
    format!("why {model}, {setup}, {point}")
}

/// The setups of a plan, the case itself first.
struct DerivedSetups {
    setups: Vec<Setup>,
    looks: Vec<SetupStyle>,
    tried: Vec<Experiment>,
    untried: Vec<UnavailableExperiment>,
}

impl DerivedSetups {
    /// The place of a setup; a new one is called so.
    fn place(&mut self, setup: Setup, label: &str) -> usize {
        if let Some(known) = self.setups.iter().position(|own| *own == setup) {
            return known;
        }
        self.setups.push(setup);
        self.looks.push(SetupStyle {
            label: Some(label.to_owned()),
            colour: None,
        });
        self.setups.len() - 1
    }
}

fn derive(subject: &ExperimentSubject<'_>) -> DerivedSetups {
    let mut all = DerivedSetups {
        setups: vec![subject.setup.clone()],
        looks: vec![SetupStyle::default()],
        tried: Vec::new(),
        untried: Vec::new(),
    };
    for experiment in ALL {
        let change = experiment.change;
        match (experiment.derive)(subject) {
            Ok(derived) => {
                let label = match change {
                    ExperimentChange::GraphCapture => "compiled",
                    _ => "with idle cores",
                };
                let control = derived
                    .control
                    .map_or(0, |control| all.place(control, label));
                let setup = all.place(derived.setup, change.title());
                all.tried.push(Experiment {
                    change,
                    setup,
                    control,
                    point: derived.point,
                });
            }
            Err(reason) => all.untried.push(UnavailableExperiment { change, reason }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use powerband_devices::cores::Cores;
    use powerband_planning::plans;

    fn machine(n_cores: usize) -> ExperimentMachine {
        ExperimentMachine {
            cores: Cores::under(Path::new("/nowhere"), (0..n_cores).collect(), n_cores),
            max_mhz: Some(4_000.0),
        }
    }

    fn request_of_spec(spec: &str, n_cores: usize) -> RunRequest {
        let begun = RunRequest {
            preset: PresetName::Quick,
            ..RunRequest::new("resnet18@cifar")
        };
        let setup = spec.parse().unwrap();
        request_of_model(begun, &setup, Point::of_batch(1), &machine(n_cores)).unwrap()
    }

    /// The setup of a change and that of its control; or the reason why there is none.
    fn pair(request: &RunRequest, change: ExperimentChange) -> Result<(String, String), String> {
        let all = request.experiments.as_ref().unwrap();
        if let Some(tried) = all.tried.iter().find(|tried| tried.change == change) {
            let spec = |place: usize| request.setups[place].to_string();
            return Ok((spec(tried.setup), spec(tried.control)));
        }
        let untried = all.untried.iter().find(|untried| untried.change == change);
        Err(untried.unwrap().reason.clone())
    }

    fn both(setup: &str, control: &str) -> (String, String) {
        (setup.to_owned(), control.to_owned())
    }

    #[test]
    fn every_change_is_tried_or_has_a_reason() {
        for spec in ["ort", "rten", "torch", "ort:cuda", "torch:cuda:0", "fake"] {
            for n_cores in [1, 2, 3, 8] {
                let request = request_of_spec(spec, n_cores);
                let all = request.experiments.as_ref().unwrap();
                let mut changes: Vec<ExperimentChange> =
                    all.tried.iter().map(|tried| tried.change).collect();
                changes.extend(all.untried.iter().map(|untried| untried.change));
                changes.sort_unstable();
                changes.dedup();
                assert_eq!(changes, ExperimentChange::ALL, "{spec} on {n_cores}");
                assert!(all.untried.iter().all(|untried| untried.reason.len() > 10));
                for setup in &request.setups {
                    engines::check(setup).unwrap();
                }
                assert_eq!(request.setups.len(), request.looks.len());
            }
        }
    }

    #[test]
    fn a_case_on_all_cores_is_halved_to_make_room() {
        let request = request_of_spec("ort", 2);
        let half = "ort:cpu,cores=0,threads=1";
        assert_eq!(
            pair(&request, ExperimentChange::HalfThreads).unwrap(),
            both(half, "ort:cpu")
        );
        let streams = "ort:cpu,cores=0,neighbour=stream,threads=1";
        assert_eq!(
            pair(&request, ExperimentChange::StreamingNeighbour).unwrap(),
            both(streams, half)
        );
        let computes = "ort:cpu,cores=0,neighbour=compute,threads=1";
        assert_eq!(
            pair(&request, ExperimentChange::ComputingNeighbour).unwrap(),
            both(computes, half)
        );
        let pinned = "ort:cpu,pinning=on,threads=2";
        assert_eq!(
            pair(&request, ExperimentChange::PinnedThreads).unwrap(),
            both(pinned, "ort:cpu")
        );
        let setups = request.setups.clone();
        let measure = plans::plan(request.clone(), setups, &[], 10.0).measure;
        assert_eq!((measure.rounds, measure.spacing), (6, None));
        assert_eq!(request.profiling, Some(Profiler::Engine));
    }

    #[test]
    fn a_case_that_leaves_cores_idle_keeps_its_threads() {
        let request = request_of_spec("rten,threads=4", 8);
        let control = "rten:cpu,cores=0-3,threads=4";
        let streams = "rten:cpu,cores=0-3,neighbour=stream,threads=4";
        assert_eq!(
            pair(&request, ExperimentChange::StreamingNeighbour).unwrap(),
            both(streams, control)
        );
        let half = "rten:cpu,threads=2";
        assert_eq!(
            pair(&request, ExperimentChange::HalfThreads).unwrap(),
            both(half, "rten:cpu,threads=4")
        );
        assert!(
            pair(&request, ExperimentChange::HalfPrecision)
                .unwrap_err()
                .contains("32-bit")
        );
    }

    #[test]
    fn one_thread_and_one_core_say_so() {
        let request = request_of_spec("ort,threads=1", 2);
        let said = pair(&request, ExperimentChange::HalfThreads).unwrap_err();
        assert!(said.contains("one thread"), "{said}");
        let alone = "ort:cpu,cores=0,threads=1";
        let streams = "ort:cpu,cores=0,neighbour=stream,threads=1";
        assert_eq!(
            pair(&request, ExperimentChange::StreamingNeighbour).unwrap(),
            both(streams, alone)
        );
        let twice = "ort:cpu,threads=2";
        assert_eq!(
            pair(&request, ExperimentChange::TwiceThreads).unwrap(),
            both(twice, "ort:cpu,threads=1")
        );
        let single = request_of_spec("ort", 1);
        let said = pair(&single, ExperimentChange::StreamingNeighbour).unwrap_err();
        assert!(said.contains("one core"), "{said}");
    }

    #[test]
    fn twice_the_batch_is_the_case_itself_at_another_point() {
        let all = request_of_spec("ort", 2);
        let points = [1, 2].map(Point::of_batch);
        assert_eq!(all.points.as_deref(), Some(&points[..]));
        let asked = all.experiments.clone().unwrap();
        let mut tried = asked.tried.iter();
        let twice = tried.find(|tried| tried.change == ExperimentChange::TwiceBatch);
        let twice = asked.changed_case(twice.unwrap());
        assert_eq!(
            twice,
            CaseKey {
                setup: 0,
                point: points[1]
            }
        );
        // Of the other setups nothing is measured there.
        let setups = all.setups.clone();
        let cases = plans::plan(all.clone(), setups, &[], 10.0).cases();
        let at_twice: Vec<CaseKey> = cases
            .into_iter()
            .filter(|case| case.point == points[1])
            .collect();
        assert_eq!(at_twice, [twice]);
        let few = keep_changes(all, &[ExperimentChange::HalfThreads]);
        assert_eq!(few.points.as_deref(), Some(&points[..1]));
    }

    #[test]
    fn some_changes_can_be_left_out() {
        let all = request_of_spec("ort", 2);
        let few = keep_changes(
            all.clone(),
            &[
                ExperimentChange::ComputingNeighbour,
                ExperimentChange::OptimisationOff,
            ],
        );
        let specs: Vec<String> = few.setups.iter().map(ToString::to_string).collect();
        let half = "ort:cpu,cores=0,threads=1";
        let computes = "ort:cpu,cores=0,neighbour=compute,threads=1";
        assert_eq!(specs, ["ort:cpu", half, computes, "ort:cpu,opt=none"]);
        assert_eq!(few.looks.len(), 4);
        assert_eq!(
            pair(&few, ExperimentChange::ComputingNeighbour).unwrap(),
            both(computes, half)
        );
        assert!(
            pair(&few, ExperimentChange::HalfThreads)
                .unwrap_err()
                .contains("left out")
        );
        let changes = few.experiments.unwrap();
        assert_eq!(
            changes.tried.len() + changes.untried.len(),
            ExperimentChange::ALL.len()
        );
    }

    #[test]
    fn cards_have_experiments_of_their_own() {
        let card = request_of_spec("torch:cuda:0", 2);
        assert_eq!(
            pair(&card, ExperimentChange::GraphCapture).unwrap(),
            both(
                "torch:cuda:0,compile_mode=reduce-overhead,mode=compile",
                "torch:cuda:0,mode=compile"
            )
        );
        assert_eq!(
            pair(&card, ExperimentChange::HalfPrecision).unwrap(),
            both("torch:cuda:0,mode=fp16", "torch:cuda:0")
        );
        let cap = pair(&card, ExperimentChange::ClockCap).unwrap_err();
        assert!(cap.contains("nvidia-smi -i 0 -lgc"), "{cap}");
        assert!(
            pair(&card, ExperimentChange::HalfThreads)
                .unwrap_err()
                .contains("cuda:0")
        );
        let compiled = request_of_spec("torch:cuda:0,mode=compile", 2);
        assert_eq!(
            pair(&compiled, ExperimentChange::OptimisationOff).unwrap(),
            both("torch:cuda:0,mode=eager", "torch:cuda:0,mode=compile")
        );
    }
}
