//! What each case of a plan is fed, and what of a plan cannot be fed at all.
//!
//! `prepare` asks with the whole networks before a run, `plan_check` with their outlines while a plan is typed, so
//! that both refuse the same in the same words. Requests to a language model are in `generating`.

use std::collections::BTreeMap;
use std::path::Path;

use super::generating;
use crate::input_specs;
use crate::prepare_error::PrepareError;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::input_sizes::InputAxis;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::Port;
use powerband_core::domain::plan::{AccuracyCheck, Plan, Profiler};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::TensorSpec;
use powerband_onnx::pb::ModelProto;
use powerband_onnx::samples;
use powerband_worker::engines::generate::Generate;
use powerband_worker::profilers;

/// A network as far as its inputs go.
#[derive(Clone, Copy)]
pub(super) struct NetworkInputs<'a> {
    /// Its graph.
    pub proto: &'a ModelProto,
    /// Its inputs.
    pub ports: &'a [Port],
    /// Which dimensions of its inputs are the batch, as the user would say it.
    pub batch_axis: &'a [InputAxis],
}

/// The inputs of each case, or why there are none.
pub(super) type Inputs = BTreeMap<CaseKey, Result<Vec<TensorSpec>, String>>;

/// What the cases of a plan are fed.
pub(super) struct CaseInputs {
    /// The inputs of each case, or why it cannot be measured.
    pub inputs: Inputs,
    /// The cases that are requests to a language model.
    pub requests: BTreeMap<CaseKey, Generate>,
}

impl CaseInputs {
    /// The inputs of every case of a plan; `own` are the networks of setups that run another one than the plan's.
    ///
    /// # Errors
    ///
    /// Where no case can be measured, or the samples of the plan do not fit.
    pub(super) fn find(
        plan: &Plan,
        network: &NetworkInputs<'_>,
        own: &BTreeMap<usize, NetworkInputs<'_>>,
    ) -> Result<Self, PrepareError> {
        let mut inputs = resolve_inputs(plan, network, own)?;
        let requests = take_requests(&mut inputs, plan, |setup| {
            own.get(&setup).unwrap_or(network).proto
        })?;
        check_samples(plan.judging.as_ref(), &inputs)?;
        Ok(Self { inputs, requests })
    }
}

/// Whether the profiler that is wanted is here, before anything is measured here. On another machine it is looked for
/// when that is reached.
pub(super) fn check_profiler(
    wanted: Option<Profiler>,
    setups: &[Setup],
) -> Result<(), PrepareError> {
    let is_for_here = setups.is_empty() || setups.iter().any(|setup| !setup.is_elsewhere());
    match wanted.filter(|_| is_for_here).and_then(profilers::find) {
        Some(wrapper) => profilers::program(wrapper)
            .map(|_| ())
            .map_err(PrepareError::Profiler),
        None => Ok(()),
    }
}

/// Whether the inputs for comparing outputs are there and fit, before anything is measured.
fn check_samples(judging: Option<&AccuracyCheck>, inputs: &Inputs) -> Result<(), PrepareError> {
    let samples = judging.and_then(|judging| judging.samples.as_ref());
    let specs = inputs
        .iter()
        .find_map(|(case, specs)| Some((case, specs.as_ref().ok()?)));
    let (Some(samples), Some((case, specs))) = (samples, specs) else {
        return Ok(());
    };
    let refused = |error: samples::SampleError| PrepareError::Samples(error.to_string());
    let set = samples::open(Path::new(samples)).map_err(refused)?;
    let set = set.for_inputs(specs).map_err(refused)?;
    if set.items.len() < case.point.batch() {
        let found = humanize::pluralised(set.items.len() as u64, "input");
        return Err(PrepareError::Samples(format!(
            "{samples} holds {found}, fewer than one batch of {}",
            case.point.batch()
        )));
    }
    Ok(())
}

/// Each case's inputs. Where none fits, the run would measure nothing, which is an error.
fn resolve_inputs(
    plan: &Plan,
    network: &NetworkInputs<'_>,
    own: &BTreeMap<usize, NetworkInputs<'_>>,
) -> Result<Inputs, PrepareError> {
    let mut inputs = Inputs::new();
    let mut first_error = None;
    let sizes = plan.input_sizes();
    let usual = input_specs::values(network.proto, network.ports, &sizes);
    let makes_tokens = plan.setups.iter().any(Setup::is_generate_task);
    for (setup, spec) in plan.setups.iter().enumerate() {
        // The sizes of requests are not dimensions of the network.
        if spec.is_generate_task() {
            continue;
        }
        let other = own.get(&setup);
        // A network that was rewritten is fed as it was before.
        let others = other.filter(|_| spec.own_model().is_some());
        let others = others.map(|other| input_specs::values(other.proto, other.ports, &sizes));
        let values = others.as_ref().unwrap_or(&usual);
        let fed = other.unwrap_or(network);
        let sizes = InputSizes {
            batch_axis: fed.batch_axis.to_vec(),
            ..sizes.clone()
        };
        for &point in &plan.points {
            let resolved = match values {
                Ok(values) => {
                    input_specs::resolve(values, fed.ports, point, &sizes).map_err(|error| {
                        let text = error.to_string();
                        first_error.get_or_insert(error);
                        text
                    })
                }
                Err(error) => Err(error.to_string()),
            };
            inputs.insert(CaseKey { setup, point }, resolved);
        }
    }
    // Requests to a language model may be cases yet.
    if makes_tokens || inputs.values().any(Result::is_ok) {
        return Ok(inputs);
    }
    match (first_error, usual) {
        (Some(error), _) | (None, Err(error)) => Err(error),
        (None, Ok(_)) => Ok(inputs),
    }
}

/// What requests to a language model the cases are; what stands for them, or why there are none, goes into
/// `inputs`. Where nothing at all can be measured for that reason, it is an error.
fn take_requests<'a>(
    inputs: &mut Inputs,
    plan: &Plan,
    model_of: impl Fn(usize) -> &'a ModelProto,
) -> Result<BTreeMap<CaseKey, Generate>, PrepareError> {
    let mut requests = BTreeMap::new();
    let mut first_error = None;
    for (case, request) in generating::requests(plan, model_of) {
        let input = request.map(|generate| {
            let input = generating::prompt_input(&generate);
            requests.insert(case, generate);
            vec![input]
        });
        if let Err(reason) = &input {
            first_error.get_or_insert_with(|| reason.clone());
        }
        inputs.insert(case, input);
    }
    match first_error {
        Some(reason) if inputs.values().all(Result::is_err) => Err(PrepareError::Requests(reason)),
        _ => Ok(requests),
    }
}
