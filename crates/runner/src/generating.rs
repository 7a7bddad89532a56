//! Which cases of a plan are requests to a language model, and what each of them asks for.
//!
//! Their setups say `task=generate`; the sizes of their points are `prompt`, `new` and `batch`, and not dimensions
//! of the network. `prepare` asks for them once the model and its variants are open.

use std::collections::BTreeMap;

use powerband_core::domain::case::CaseKey;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::tensor::{ElementType, TensorSpec};
use powerband_onnx::decoder::Decoder;
use powerband_onnx::pb::ModelProto;
use powerband_worker::engines;
use powerband_worker::engines::generate::{Generate, is_generate_task};

/// The dimension of a point with the tokens of each prompt.
pub const PROMPT: &str = "prompt";
/// The dimension of a point with the new tokens of each sequence.
pub const NEW: &str = "new";
/// Tokens of a prompt where the sweep does not say.
const USUAL_PROMPT: usize = 128;
/// New tokens where the sweep does not say.
const USUAL_NEW: usize = 32;

/// The points of a plan with the lengths of requests, where one of its setups makes tokens and the sweep does not
/// say how many.
pub(super) fn with_lengths(points: Vec<Point>, setups: &[Setup]) -> Vec<Point> {
    if !setups.iter().any(is_generate_task) {
        return points;
    }
    let usual = [(PROMPT, USUAL_PROMPT), (NEW, USUAL_NEW)];
    let completed = points.into_iter().map(|point| {
        let missing = usual.iter().filter(|(name, _)| point.get(name).is_none());
        missing.fold(point, |point, (name, size)| point.with(name, *size))
    });
    completed.collect()
}

/// What requests the cases of a plan are, or why a case cannot be one.
pub(super) fn requests<'a>(
    plan: &Plan,
    model_of: impl Fn(usize) -> &'a ModelProto,
) -> BTreeMap<CaseKey, Result<Generate, String>> {
    let mut requests = BTreeMap::new();
    let setups = plan.setups.iter().enumerate();
    for (setup, spec) in setups.filter(|(_, spec)| is_generate_task(spec)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_requests_have_their_lengths() {
        let lengths = |setup: &str, point: Point| {
            let points = with_lengths(vec![point], &[setup.parse().unwrap()]);
            points[0].to_string()
        };
        let plain = Point::of_batch(2);
        assert_eq!(lengths("ort", plain), "batch 2");
        assert_eq!(
            lengths("ort,task=generate", plain),
            "batch 2, new 32, prompt 128"
        );
        assert_eq!(
            lengths("ort,task=generate", plain.with("prompt", 7)),
            "batch 2, new 32, prompt 7"
        );
    }
}
