//! From a request to a run: opens the model, finds libraries, makes the plan, works out input shapes.
//!
//! Both the command line and the window come this way, so that the same request is measured the same way.
//! Blocks while Pythons are asked where their libraries are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::case_inputs::{CaseInputs, NetworkInputs};
use super::run::judging::Reference;
use super::run::{EarlierSession, PreparedRun};
use super::variants::{ChosenSetups, Variant, variants, with_runtime};
use super::{case_inputs, programs, shape_trial};
use crate::prepare_error::PrepareError;
use crate::roofs::kept;
use crate::{input_specs, precision};
use powerband_core::base::clock;
use powerband_core::domain::event::RunStart;
use powerband_core::domain::input_sizes::InputAxis;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::{ModelRef, Port};
use powerband_core::domain::plan::Plan;
use powerband_core::domain::request::ProgramTrust;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Session;
use powerband_core::domain::session_name;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::telemetry_paths::USUAL_HZ;
use powerband_devices::machine;
use powerband_onnx::batch_axis::{BatchAxes, fixed_batch};
use powerband_onnx::source::ModelFile;
use powerband_onnx::{inspect, source};
use powerband_planning::plans;
use powerband_planning::transport::SetupMachine;
use powerband_store::installation::Installation;
use powerband_store::installation::WatchRequest;
use powerband_worker::engines::{self, Engine, Requirement};
use powerband_worker::probe;
use powerband_worker::remote::files::ModelFiles;

/// Makes a request into a run.
pub fn prepare(place: &Installation, request: &RunRequest) -> Result<PreparedRun, PrepareError> {
    let request = &with_whole_paths(request);
    for setup in &request.setups {
        engines::check(setup)?;
    }
    let not_remembered = programs::check(&place.paths, &request.setups, request.programs)?;
    case_inputs::check_profiler(request.profiling, &request.setups)?;
    let model = source::open(&request.model, &place.paths.cache)?;
    let ports = inspect::inputs(&model.proto)?;
    let sizes = &request.sizes;
    let axes = BatchAxes::find(&ports, &sizes.batch_axis)?;
    let mut chosen = choose_setups(place, request)?;
    if chosen.setups.is_empty() {
        return Err(PrepareError::NoEngine(chosen.notes.join("; ")));
    }
    let rate_hz = place.watch.as_ref().map_or(USUAL_HZ, |watch| watch.rate_hz);
    let mut plan = plans::plan(request.clone(), chosen.setups.clone(), &ports, rate_hz);
    if request.seed.is_none() {
        plan.seed = clock::entropy() & 0xffff_ffff;
    }
    let variants = variants(place, &model, sizes, &mut chosen)?;
    let network = NetworkInputs {
        proto: &model.proto,
        ports: &ports,
        batch_axis: &sizes.batch_axis,
    };
    let own = variants.iter();
    let own = own.map(|(setup, variant)| (*setup, variant.network()));
    let CaseInputs { inputs, requests } = CaseInputs::find(&plan, &network, &own.collect())
        .map_err(|error| with_tried_shapes(place, &model, &ports, sizes, error))?;
    let mut warnings = notices(&ports, &axes, &plan, &chosen);
    warnings.extend(not_remembered);
    let models = (0..plan.setups.len()).map(|setup| model_files(&model, variants.get(&setup)));
    let reference = plan.judging.is_some().then(|| {
        let found = plan.setups.iter().zip(&chosen.runtimes);
        let mut places = found.map(|(setup, found)| with_runtime(place, setup, Some(found)));
        let own = places.find(|own| own.onnxruntime != place.onnxruntime);
        let (setup, runtime) = precision::reference_setup(own.as_ref().unwrap_or(place));
        Reference {
            setup,
            runtime,
            model: model_files(&model, None),
            elements: ports
                .iter()
                .map(|port| (port.name.clone(), port.element))
                .collect(),
        }
    });
    Ok(PreparedRun {
        reference,
        models: models.collect(),
        machines: chosen.machines,
        beginning: RunStart {
            variants: variants
                .iter()
                .map(|(setup, variant)| {
                    (
                        *setup,
                        model_ref(&variant.file, &variant.ports, &variant.batch_axis),
                    )
                })
                .collect(),
            roofs: kept::for_setups(place, &plan.setups),
            ..beginning(request, plan, &model, &ports, warnings)
        },
        program: place.program.clone(),
        runtimes: chosen.runtimes,
        inputs,
        requests,
        earlier: None,
        traces: Some(traces_folder(place)),
        watch: place.watch.clone().map(|watch| WatchRequest {
            for_energy: request.energy,
            ..watch
        }),
        job: None,
        settling: None,
    })
}

/// The same request, with whole paths of the files that inputs are filled from.
fn with_whole_paths(request: &RunRequest) -> RunRequest {
    RunRequest {
        sizes: InputSizes {
            fills: input_specs::with_whole_paths(&request.sizes.fills),
            ..request.sizes.clone()
        },
        ..request.clone()
    }
}

/// The same error, with shapes that were run once where some are open.
fn with_tried_shapes(
    place: &Installation,
    model: &ModelFile,
    ports: &[Port],
    sizes: &InputSizes,
    error: PrepareError,
) -> PrepareError {
    match error {
        PrepareError::Shape(error) => {
            shape_trial::with_tried_shapes(place, model, ports, sizes, error).into()
        }
        other => other,
    }
}

/// The files of a setup's model: its own, or the plan's.
pub(crate) fn model_files(model: &ModelFile, own: Option<&Variant>) -> ModelFiles {
    let file = own.map_or(model, |variant| &variant.file);
    ModelFiles {
        file: file.path.clone(),
        data: file.data.clone(),
        sha256: file.sha256.clone(),
        seen: file.seen.clone(),
    }
}

/// A folder of its own for each run's timelines.
fn traces_folder(place: &Installation) -> PathBuf {
    let name = format!("{:016x}", clock::entropy());
    place.paths.cache.join("traces").join(name)
}

/// More rounds of a session's cases: the same plan on the same model, or nothing. The session may be anyone's.
pub fn prepare_more(
    place: &Installation,
    session: Session,
    rounds: u32,
    programs: ProgramTrust,
) -> Result<PreparedRun, PrepareError> {
    let again = RunRequest {
        programs,
        ..RunRequest::from_plan(&session.plan)
    };
    let mut request = prepare(place, &again)?;
    let now = &request.beginning;
    if now.model.sha256 != session.model.sha256 {
        return Err(PrepareError::OtherModel(session.model.name));
    }
    for (setup, variant) in &now.variants {
        if session.model_of(*setup).sha256 != variant.sha256 {
            return Err(PrepareError::OtherModel(variant.name.clone()));
        }
    }
    let then = &session.environment;
    // Machines of setups are looked at when they are reached.
    let is_here = session.machines.is_empty();
    let (then, now) = (
        (&then.cpu.model, &then.kernel),
        (&now.environment.cpu.model, &now.environment.kernel),
    );
    if is_here && then != now {
        return Err(PrepareError::OtherMachine);
    }
    request.beginning.name.clone_from(&session.name);
    request.beginning.plan.clone_from(&session.plan);
    request.earlier = Some(EarlierSession {
        created: request.beginning.created.clone(),
        session,
        rounds,
    });
    Ok(request)
}

/// The setups that were asked for, with their libraries; or every engine that can run here.
fn choose_setups(place: &Installation, request: &RunRequest) -> Result<ChosenSetups, PrepareError> {
    let by_itself = request.setups.is_empty();
    let candidates = plans::candidates(request).into_iter();
    let candidates: Vec<(Setup, &dyn Engine)> = candidates
        .filter_map(|(setup, _)| {
            let engine = engines::find(&setup.engine)?;
            Some((setup, engine))
        })
        .collect();
    let places = candidates
        .iter()
        .any(|(setup, engine)| engine.needs() != Requirement::Nothing && !setup.is_elsewhere())
        .then(|| {
            let python = place.python.as_deref();
            probe::places(&place.paths, place.onnxruntime.clone(), python)
        });
    let mut chosen = ChosenSetups {
        setups: Vec::new(),
        runtimes: Vec::new(),
        made_up: false,
        notes: Vec::new(),
        machines: BTreeMap::new(),
    };
    for (setup, engine) in candidates {
        let machine =
            SetupMachine::of_setup(&setup, &place.machines).map_err(PrepareError::Machine)?;
        let is_elsewhere = machine.is_some();
        let own = machine.map(|machine| (chosen.setups.len(), machine));
        chosen.machines.extend(own);
        let runtime = match &places {
            // What is there is asked there, once the run begins.
            _ if is_elsewhere => Ok(None),
            Some(places) => probe::runtime_for(engine, &setup, places)
                .map(|found| found.map(|found| found.path)),
            None => Ok(None),
        };
        if let (true, Err(reason)) = (by_itself, &runtime) {
            chosen
                .notes
                .push(format!("{} is left out: {reason}", engine.title()));
            continue;
        }
        chosen.made_up |= !engine.is_offered();
        chosen.setups.push(setup);
        chosen.runtimes.push(runtime);
    }
    Ok(chosen)
}

fn beginning(
    request: &RunRequest,
    plan: Plan,
    model: &ModelFile,
    ports: &[Port],
    warnings: Vec<String>,
) -> RunStart {
    RunStart {
        name: (request.name.clone()).unwrap_or_else(|| session_name::of_plan(&model.name, &plan)),
        created: clock::now_utc(),
        made_up: plan
            .setups
            .iter()
            .any(|setup| engines::find(&setup.engine).is_some_and(|e| !e.is_offered())),
        plan,
        model: model_ref(model, ports, &request.sizes.batch_axis),
        environment: machine::environment(),
        warnings,
        variants: BTreeMap::new(),
        roofs: Vec::new(),
    }
}

fn model_ref(model: &ModelFile, ports: &[Port], batch_axis: &[InputAxis]) -> ModelRef {
    let summary = inspect::summarize(&model.proto, &model.name);
    ModelRef {
        name: model.name.clone(),
        file: model.path.display().to_string(),
        sha256: model.sha256.clone(),
        parameters: summary.parameters,
        macs: summary.macs,
        fixed_batch: fixed_batch(ports, batch_axis),
    }
}

fn notices(ports: &[Port], axes: &BatchAxes, plan: &Plan, chosen: &ChosenSetups) -> Vec<String> {
    let mut warnings = chosen.notes.clone();
    warnings.extend(axes.note(ports));
    if let Some(batch) = axes.fixed(ports) {
        warnings.push(format!("The model's batch size is fixed at {batch}."));
    }
    if chosen.made_up {
        warnings.push("The timings of the engine fake are made up.".to_owned());
    }
    if cfg!(debug_assertions) {
        warnings.push(
            "This Powerband was built without optimisation; rten is slower in it. Use cargo run --release.".to_owned(),
        );
    }
    if plan.setups.len() * plan.points.len() > 1 && plan.measure.rounds < 2 {
        warnings
            .push("With one round the cases do not take turns; compare them with care.".to_owned());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::base::paths::Paths;
    use powerband_core::domain::plan::SetupStyle;
    use powerband_core::domain::point::Point;
    use powerband_store::settings::Settings;

    fn prepared(request: &RunRequest) -> PreparedRun {
        let home = tempfile::tempdir().unwrap();
        let place = Installation::new(
            Paths::under(home.path()),
            &Settings::default(),
            PathBuf::from("powerband"),
        );
        prepare(&place, request).unwrap()
    }

    #[test]
    fn a_plan_can_be_requested_again() {
        let mut request = RunRequest {
            setups: vec!["fake".parse().unwrap(), "fake,noise=2".parse().unwrap()],
            looks: vec![SetupStyle {
                label: Some("calm".to_owned()),
                colour: Some(3),
            }],
            points: Some([1, 4].map(Point::of_batch).to_vec()),
            rounds: Some(2),
            timeout_s: Some(9),
            ..RunRequest::new("resnet18@cifar")
        };
        let plan = prepared(&request).beginning.plan;
        assert_eq!(plan.label(0).as_deref(), Some("calm"));
        let again = RunRequest::from_plan(&plan);
        assert!(again.rules.is_some(), "the rules were changed by hand");
        assert_eq!(prepared(&again).beginning.plan, plan);

        request.rounds = None;
        request.timeout_s = None;
        let plan = prepared(&request).beginning.plan;
        let again = RunRequest::from_plan(&plan);
        assert_eq!(again.rules, None, "the preset says it all");
        assert_eq!(prepared(&again).beginning.plan, plan);
    }

    #[test]
    fn a_wish_that_makes_no_sense_is_refused() {
        let place = Installation::new(
            Paths::under(tempfile::tempdir().unwrap().path()),
            &Settings::default(),
            PathBuf::from("powerband"),
        );
        let refusal = |request: &RunRequest| prepare(&place, request).unwrap_err().to_string();
        let unknown = RunRequest {
            setups: vec!["nonesuch".parse().unwrap()],
            ..RunRequest::new("resnet18@cifar")
        };
        assert!(refusal(&unknown).contains("no engine \"nonesuch\""));
        assert!(refusal(&RunRequest::new("nonesuch")).contains("no network"));
    }
}
