//! Which cases of a plan are requests to a language model, and what each of them asks for.
//!
//! Their setups say `task=generate`; the sizes of their points are `prompt`, `new` and `batch`, and not dimensions
//! of the network. `prepare` asks for them once the model and its variants are open.

use std::collections::BTreeMap;

use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::tensor::{ElementType, TensorSpec};
use powerband_onnx::decoder::Decoder;
use powerband_onnx::pb::ModelProto;
use powerband_planning::lengths::{NEW, PROMPT, USUAL_NEW, USUAL_PROMPT};
use powerband_worker::engines;
use powerband_worker::engines::generate::Generate;

/// What requests the cases of a plan are, or why a case cannot be one.
pub(super) fn requests<'a>(
    plan: &Plan,
    model_of: impl Fn(usize) -> &'a ModelProto,
) -> BTreeMap<CaseKey, Result<Generate, String>> {
    let mut requests = BTreeMap::new();
    let setups = plan.setups.iter().enumerate();
    for (setup, spec) in setups.filter(|(_, spec)| spec.is_generate_task()) {
        let runs_files = engines::find(&spec.engine).is_some_and(|engine| engine.takes_files());
        let decoder = runs_files.then(|| Decoder::find(model_of(setup)));
        let decoder = decoder.transpose().map_err(|error| error.to_string());
        for case in plan.cases() {
            if case.setup != setup {
                continue;
            }
            let request = decoder.clone().and_then(|decoder| {
                let generate = Generate {
                    batch: case.point.batch(),
                    prompt: case.point.get(PROMPT).unwrap_or(USUAL_PROMPT),
                    new: case.point.get(NEW).unwrap_or(USUAL_NEW),
                    decoder,
                };
                generate.check().map(|()| generate)
            });
            requests.insert(case, request);
        }
    }
    requests
}

/// The tokens of the prompts, as the input that stands for a request.
pub(super) fn prompt_input(generate: &Generate) -> TensorSpec {
    let tokens = generate.decoder.as_ref().map(|decoder| &decoder.tokens);
    let element = tokens.map_or(ElementType::I64, |tokens| tokens.element);
    let name = tokens.map_or("input_ids", |tokens| tokens.name.as_str());
    TensorSpec {
        batch_axes: vec![0],
        ..TensorSpec::new(name, element, vec![generate.batch, generate.prompt])
    }
}
