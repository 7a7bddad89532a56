//! From a request to a plan: which setups, batch sizes, rounds and steps it has.
//!
//! `prepare` makes the plan of a run here, with the model open; the window makes it here for the estimate,
//! with what it knows of the model and of the machine. So the window shows what a run measures. Does no I/O.

use super::engine_options::{self, EngineOptions};
use super::lengths;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::experiment::Experiments;
use powerband_core::domain::fill::Fill;
use powerband_core::domain::model::Port;
use powerband_core::domain::plan::{OptimisationStep, Plan, SetupStyle, TimeLimits};
use powerband_core::domain::point::{DEFAULT_BATCHES, Point};
use powerband_core::domain::request::{RunRequest, preset_rules};
use powerband_core::domain::setup::Setup;
use powerband_core::schedule::alternation;
use powerband_onnx::batch_axis::{BatchAxes, fixed_batch};
use powerband_onnx::{shapes, zoo};

/// The dimensions of built-in networks for text.
const SEQUENCE: &str = "sequence";
const PAST: &str = "past";
/// Tokens where nothing says how many.
const USUAL_LENGTH: usize = 128;

/// The setups that a request names, with their engines; where it names none, one of each engine that can
/// run its model, whether or not the engine is installed here.
pub fn candidates(request: &RunRequest) -> Vec<(Setup, &'static dyn EngineOptions)> {
    if !request.setups.is_empty() {
        let named = request.setups.iter().cloned();
        return named
            .filter_map(|setup| {
                let engine = engine_options::find(&setup.engine)?;
                Some((setup, engine))
            })
            .collect();
    }
    let is_built_in = zoo::find(&request.model).is_some_and(|network| !network.is_probe());
    engine_options::ALL
        .iter()
        .copied()
        .filter(|engine| engine.is_offered() && engine.stands_alone())
        .filter(|engine| engine.takes_files() || is_built_in)
        .filter_map(|engine| Some((engine.id().parse().ok()?, engine)))
        .collect()
}

/// The plan of a request on these setups, which are [`candidates`].
///
/// `inputs` are those of the model, or empty while they are not known; `rate_hz` is how often devices are
/// read. Without a seed in the request the seed is 0.
pub fn plan(request: RunRequest, setups: Vec<Setup>, inputs: &[Port], rate_hz: f64) -> Plan {
    let completed = |points| {
        let points = lengths::with_lengths(points, &setups);
        with_usual_lengths(points, &request, inputs)
    };
    let points = completed(points(&request, inputs));
    // Experiments are on a case of the plan, so their point has the sizes that it has there.
    let of_plan = |point| completed(vec![point]).first().copied().unwrap_or(point);
    let experiments = request.experiments.clone().map(|asked| Experiments {
        // A number of turns that the user gives is exact, however long it takes.
        budget_s: match (&request.rules, request.rounds) {
            (Some(_), None) => asked.budget_s,
            (None, None) => Some(alternation::budget_s(request.preset)),
            (_, Some(_)) => None,
        },
        ..asked.at_points(of_plan)
    });
    let is_of_experiments = request.experiments.is_some();
    let keeps_rules = request.rules.is_some();
    let mut rules = request
        .rules
        .unwrap_or_else(|| preset_rules(request.preset, &setups));
    // Rules that a plan brings along are those of turns already.
    let has_turns = keeps_rules && request.rounds.is_none();
    if is_of_experiments && !has_turns {
        // What they compare lies within a round, which is a turn of some tenths of a second.
        rules.measure = alternation::turn_rule(request.preset, request.rounds, &rules.measure);
        rules.warm_up = alternation::turn_warm_up(&rules.warm_up);
    } else if let Some(rounds) = request.rounds.filter(|_| !is_of_experiments) {
        // A number of rounds that the user gives is exact, however wide the interval stays.
        rules.measure.rounds = rounds;
        rules.measure.target_ci95_rel = None;
    }
    rules.measure.spacing = request
        .spacing
        .filter(|_| !is_of_experiments)
        .or(rules.measure.spacing);
    if request.blocks {
        rules.measure.lengthen_visits();
    }
    if request.energy {
        rules.measure.allow_for_energy(rate_hz);
    }
    if let Some(seconds) = request.timeout_s {
        let ms = seconds.saturating_mul(1000);
        rules.limits = TimeLimits {
            start_ms: ms,
            load_ms: ms,
            warm_up_ms: ms,
            measure_ms: ms,
        };
    }
    // Looks belong to the setups that the request names, in their order.
    let looks = if request.setups.is_empty() {
        Vec::new()
    } else {
        request.looks
    };
    Plan {
        model: request.model,
        ladder: if request.journey {
            ladder(&setups, &looks, &points)
        } else {
            Vec::new()
        },
        setups,
        looks,
        points,
        shapes: request.sizes.shapes,
        batch_axis: request.sizes.batch_axis,
        dims: request.sizes.dims,
        inputs: request.sizes.fills,
        preset: request.preset,
        measure: rules.measure,
        warm_up: rules.warm_up,
        limits: rules.limits,
        seed: request.seed.unwrap_or_default(),
        load: request.load,
        keeping: request.keeping,
        judging: request.judging,
        profiling: request.profiling,
        profile_starts: request.profile_starts,
        experiments,
    }
}

/// The steps of a journey: every setup at the first point, then the last setup at the others.
pub fn ladder(setups: &[Setup], looks: &[SetupStyle], points: &[Point]) -> Vec<OptimisationStep> {
    let Some((&first, larger)) = points.split_first() else {
        return Vec::new();
    };
    let label = |setup: usize| looks.get(setup).and_then(|look| look.label.clone());
    let compared_steps = setups
        .iter()
        .enumerate()
        .map(|(setup, spec)| OptimisationStep {
            title: label(setup).unwrap_or_else(|| spec.to_string()),
            case: CaseKey {
                setup,
                point: first,
            },
        });
    let grown = larger.iter().map(|&point| OptimisationStep {
        title: humanize::capitalised(&point.to_string()),
        case: CaseKey {
            setup: setups.len().saturating_sub(1),
            point,
        },
    });
    compared_steps.chain(grown).collect()
}

/// The points of a plan, ascending: those of the request; or the batch size that the model or a shape fixes, 1
/// where no input has a batch; or the usual ones.
fn points(request: &RunRequest, inputs: &[Port]) -> Vec<Point> {
    let mut points = request.points.clone().unwrap_or_default();
    points.sort_unstable();
    points.dedup();
    if points.is_empty() {
        let sizes = &request.sizes;
        let one = fixed_batch(inputs, &sizes.batch_axis);
        let one = one.or_else(|| shapes::given_batch(inputs, sizes));
        // Of a model that was not looked at, nothing is known.
        let axes = BatchAxes::find(inputs, &sizes.batch_axis).ok();
        let axes = axes.filter(|axes| axes.is_absent() && !inputs.is_empty());
        let one = one.or_else(|| axes.map(|_| 1));
        let batches = one.map_or_else(|| DEFAULT_BATCHES.to_vec(), |batch| vec![batch]);
        return batches.into_iter().map(Point::of_batch).collect();
    }
    points
}

/// The points with lengths that built-in networks are run at where nothing says them: a text of 128 tokens, or a
/// step beside a cache of 128. Of other networks it is not known what lengths they take.
fn with_usual_lengths(points: Vec<Point>, request: &RunRequest, inputs: &[Port]) -> Vec<Point> {
    let sizes = &request.sizes;
    let has_file = sizes
        .fills
        .values()
        .any(|fill| matches!(fill, Fill::File(_)));
    let is_said = !sizes.shapes.is_empty() || !sizes.dims.is_empty() || has_file;
    if zoo::find(&request.model).is_none()
        || is_said
        || request.setups.iter().any(Setup::is_generate_task)
    {
        return points;
    }
    let open = shapes::free_dimensions(inputs);
    let has = |name: &str| open.iter().any(|dim| dim == name);
    let usual = |point: Point| {
        let is_open = |name: &str| has(name) && point.get(name).is_none();
        match (is_open(PAST), is_open(SEQUENCE)) {
            (true, true) => point.with(PAST, USUAL_LENGTH),
            (true, false) => point.with(PAST, 0),
            (false, true) if !has(PAST) => point.with(SEQUENCE, USUAL_LENGTH),
            _ => point,
        }
    };
    points.into_iter().map(usual).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::model::Dim;
    use powerband_core::domain::tensor::ElementType;

    #[test]
    fn a_model_with_a_fixed_batch_has_one_batch_size() {
        let request = RunRequest::new("mine.onnx");
        let input = |batch| Port {
            name: "x".to_owned(),
            element: ElementType::F32,
            dims: vec![batch, Dim::Fixed(3)],
            recurrent: None,
        };
        let sizes = |request: &RunRequest, inputs: &[Port]| {
            let points = plan(request.clone(), Vec::new(), inputs, 10.0).points;
            points.into_iter().map(Point::batch).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&request, &[]), DEFAULT_BATCHES);
        assert_eq!(sizes(&request, &[input(Dim::Fixed(8))]), [8]);
        let named = RunRequest {
            points: Some([4, 1, 4].map(Point::of_batch).to_vec()),
            ..request
        };
        assert_eq!(sizes(&named, &[input(Dim::Fixed(8))]), [1, 4]);
    }

    #[test]
    fn built_in_networks_for_text_have_usual_lengths() {
        let points = |request: &RunRequest, dims: &[&str]| {
            let input = Port {
                name: "input_ids".to_owned(),
                element: ElementType::I64,
                dims: dims.iter().map(|&dim| Dim::Named(dim.to_owned())).collect(),
                recurrent: None,
            };
            let points = plan(request.clone(), Vec::new(), &[input], 10.0).points;
            points.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let at = |model: &str, point: Point| RunRequest {
            points: Some(vec![point]),
            ..RunRequest::new(model)
        };
        let one = Point::of_batch(1);
        let (text, step) = (
            ["batch", "sequence"],
            ["batch", "sequence", "past + sequence"],
        );
        assert_eq!(
            points(&at("bert-base", one), &text),
            ["batch 1, sequence 128"]
        );
        assert_eq!(points(&at("gpt2-past", one), &step), ["batch 1, past 128"]);
        assert_eq!(
            points(&at("gpt2-past", one.with("sequence", 64)), &step),
            ["batch 1, past 0, sequence 64"]
        );
        assert_eq!(points(&at("mine.onnx", one), &text), ["batch 1"]);
    }

    #[test]
    fn experiments_are_on_the_point_that_the_plan_measures() {
        let input = Port {
            name: "input_ids".to_owned(),
            element: ElementType::I64,
            dims: ["batch", "sequence"]
                .map(|dim| Dim::Named(dim.to_owned()))
                .to_vec(),
            recurrent: None,
        };
        let point = Point::of_batch(4);
        let request = RunRequest {
            points: Some(vec![point]),
            experiments: Some(Experiments {
                setup: 0,
                point,
                tried: Vec::new(),
                untried: Vec::new(),
                budget_s: None,
            }),
            ..RunRequest::new("minilm")
        };
        let plan = plan(request, Vec::new(), &[input], 10.0);
        let measured = Point::of_batch(4).with(SEQUENCE, USUAL_LENGTH);
        assert_eq!(plan.points, [measured]);
        assert_eq!(plan.experiments.map(|asked| asked.point), Some(measured));
    }

    #[test]
    fn looks_belong_to_setups_that_are_named() {
        let look = SetupStyle {
            label: Some("calm".to_owned()),
            colour: None,
        };
        let unnamed = RunRequest {
            looks: vec![look],
            ..RunRequest::new("resnet18@cifar")
        };
        let setups: Vec<Setup> = candidates(&unnamed).into_iter().map(|(s, _)| s).collect();
        assert!(setups.iter().any(|setup| setup.engine == "rten"));
        assert!(plan(unnamed.clone(), setups, &[], 10.0).looks.is_empty());
        let named = RunRequest {
            setups: vec!["fake".parse().unwrap()],
            ..unnamed
        };
        assert_eq!(plan(named.clone(), named.setups, &[], 10.0).looks.len(), 1);
    }
}
