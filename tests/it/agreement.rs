//! The engines compute the same: outputs of rten and ONNX Runtime on the same inputs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::point::Point;
use powerband_core::domain::tensor::TensorSpec;
use powerband_onnx::{inspect, shapes, source};
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::supervisor::Worker;

use crate::support;

/// Most that two engines may differ, relative to the largest output.
const TOLERANCE: f64 = 1e-3;
pub(crate) const BATCH: usize = 2;

pub(crate) fn outputs(
    setup: &str,
    runtime: Option<PathBuf>,
    model: &Path,
    inputs: &[TensorSpec],
) -> Vec<f64> {
    outputs_at(BATCH, setup, runtime, model, inputs)
}

fn outputs_at(
    batch: usize,
    setup: &str,
    runtime: Option<PathBuf>,
    model: &Path,
    inputs: &[TensorSpec],
) -> Vec<f64> {
    let cancel = CancelToken::default();
    let limit = Duration::from_mins(5);
    let setup = setup.parse().expect("a setup");
    let program = Path::new(env!("CARGO_BIN_EXE_powerband"));
    let mut worker = Worker::start(&setup, None, program, limit, &cancel).expect("a worker");
    let case = CaseKey {
        setup: 0,
        point: Point::of_batch(batch),
    };
    let model = model.to_path_buf();
    let requests = [
        Request::Load {
            setup,
            model,
            name: String::new(),
            runtime,
        },
        Request::Open {
            case: case.into(),
            inputs: inputs.to_vec(),
            seed: 11,
            feed: Vec::new(),
            generate: None,
        },
        Request::Outputs { case: case.into() },
    ];
    let mut last = None;
    for request in requests {
        last = Some(worker.ask(&request, limit, &cancel).expect("an answer"));
    }
    worker.end();
    match last {
        Some(Reply::Outputs(mut outputs)) => outputs.remove(0).values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rten_and_onnxruntime_agree_on_every_built_in_network() {
    agree_with_onnxruntime("rten", &[2, 8]);
}

fn agree_with_onnxruntime(setup: &str, batches: &[usize]) {
    let Some(library) = support::onnxruntime() else {
        return;
    };
    let cache = tempfile::tempdir().expect("a folder");
    let networks = ["resnet18", "resnet34", "resnet50", "densenet121"];
    let cases = networks
        .iter()
        .flat_map(|name| batches.iter().map(move |batch| (*name, *batch)));
    for (name, batch) in cases {
        let model = source::open(name, cache.path()).expect("a model");
        let ports = inspect::inputs(&model.proto).expect("inputs");
        let inputs = shapes::resolve(&ports, Point::of_batch(batch), &InputSizes::default())
            .expect("shapes");
        let runtime = Some(library.clone());
        let reference = outputs_at(batch, "ort:cpu", runtime, &model.path, &inputs);
        let ours = outputs_at(batch, setup, None, &model.path, &inputs);
        let expected = 1000 * batch;
        assert_eq!(
            (reference.len(), ours.len()),
            (expected, expected),
            "{name}"
        );
        let scale = reference
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        let worst = reference
            .iter()
            .zip(&ours)
            .fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(
            scale > 0.1 && worst / scale < TOLERANCE,
            "{name}: {worst} of {scale}"
        );
        assert_ne!(
            reference[..1000],
            reference[1000..2000],
            "{name}: two images, two answers"
        );
    }
}
