//! Shapes are tried before they are suggested: sizes that look plain may not fit each other inside of a
//! network.
//!
//! The error comes from `prepare` and the command `model`, the examples from `onnx::fitting_shapes`; a worker runs
//! the network once on each, the likeliest first, until one fits.

use std::time::{Duration, Instant};

use crate::input_specs;
use crate::precision;
use crate::prepare_error::PrepareError;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::Port;
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::LAST_RESORT;
use powerband_core::domain::tensor::TensorSpec;
use powerband_onnx::batch_axis::fixed_batch;
use powerband_onnx::fitting_shapes;
use powerband_onnx::inspect;
use powerband_onnx::shape_error::InputShapes;
use powerband_onnx::shapes::{self, ShapeError};
use powerband_onnx::source::ModelFile;
use powerband_store::installation::Installation;
use powerband_worker::protocol::{Reply, Request};
use powerband_worker::supervisor::Worker;

/// A suggestion is not worth more waiting than this.
const LIMIT: Duration = Duration::from_mins(1);
/// So much is quoted of why the network does not run.
const QUOTED: usize = 200;

/// Refuses sizes and values that no run of a network could have. Sizes that stay open are no error.
pub fn check(model: &ModelFile, sizes: &InputSizes) -> Result<(), PrepareError> {
    // Inputs that cannot be fed are said by the summary.
    let Ok(ports) = inspect::inputs(&model.proto) else {
        return Ok(());
    };
    let batch = fixed_batch(&ports, &sizes.batch_axis);
    let batch = batch
        .or_else(|| shapes::given_batch(&ports, sizes))
        .unwrap_or(1);
    let values = input_specs::values(&model.proto, &ports, sizes)?;
    match input_specs::resolve(&values, &ports, Point::of_batch(batch), sizes) {
        Ok(_) | Err(PrepareError::Shape(ShapeError::Open { .. })) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The same error, with examples that were tried where sizes are open.
pub fn with_tried_shapes(
    place: &Installation,
    model: &ModelFile,
    ports: &[Port],
    sizes: &InputSizes,
    error: ShapeError,
) -> ShapeError {
    let ShapeError::Open {
        open,
        shapes,
        trial,
    } = error
    else {
        return error;
    };
    let candidates = fitting_shapes::examples(&model.proto, ports, sizes);
    let (shapes, trial) = match try_all(place, model, ports, sizes, &candidates) {
        Trial::Fits(shapes) => (shapes, " (the model was run with these once)".to_owned()),
        Trial::Refused(reason) => (
            candidates.into_iter().next().unwrap_or(shapes),
            format!(
                " with sizes that fit each other: the model does not run with these examples: {}",
                humanize::shorten(&reason, QUOTED)
            ),
        ),
        Trial::NotTried => (candidates.into_iter().next().unwrap_or(shapes), trial),
    };
    ShapeError::Open {
        open,
        shapes,
        trial,
    }
}

/// The result of trying the example shapes.
enum Trial {
    /// The network runs with these shapes.
    Fits(InputShapes),
    /// It runs with none of them; why not with the first.
    Refused(String),
    /// Nothing could be tried.
    NotTried,
}

fn try_all(
    place: &Installation,
    model: &ModelFile,
    ports: &[Port],
    sizes: &InputSizes,
    candidates: &[InputShapes],
) -> Trial {
    let cancel = CancelToken::default();
    let (setup, runtime) = precision::reference_setup(place);
    // An engine that lacks operators says nothing of shapes by refusing.
    let is_authority = setup.engine != LAST_RESORT;
    let batch = fixed_batch(ports, &sizes.batch_axis).unwrap_or(1);
    let Ok(mut worker) = Worker::start(&setup, runtime.as_deref(), &place.program, LIMIT, &cancel)
    else {
        return Trial::NotTried;
    };
    let load = Request::Load {
        setup,
        model: model.path.clone(),
        name: String::new(),
        runtime,
    };
    if worker.ask(&load, LIMIT, &cancel).is_err() {
        return Trial::NotTried;
    }
    let mut refused = None;
    let began = Instant::now();
    for (number, added) in candidates.iter().enumerate() {
        let Some(inputs) = inputs_with(model, ports, sizes, added, batch) else {
            continue;
        };
        if began.elapsed() > LIMIT {
            break;
        }
        let open = Request::Open {
            case: CaseKey {
                setup: number,
                point: Point::of_batch(batch),
            }
            .into(),
            inputs,
            seed: 0,
            feed: Vec::new(),
            generate: None,
        };
        match worker.ask(&open, LIMIT, &cancel) {
            Ok(Reply::Opened(_)) => {
                worker.end();
                return Trial::Fits(added.clone());
            }
            Ok(_) => return Trial::NotTried,
            Err(error) => {
                let is_usable = error.leaves_worker_usable();
                refused.get_or_insert_with(|| error.to_string());
                if !is_usable {
                    break;
                }
            }
        }
    }
    match refused {
        Some(reason) if is_authority => Trial::Refused(reason),
        _ => Trial::NotTried,
    }
}

fn inputs_with(
    model: &ModelFile,
    ports: &[Port],
    sizes: &InputSizes,
    added: &InputShapes,
    batch: usize,
) -> Option<Vec<TensorSpec>> {
    let mut all = sizes.clone();
    all.shapes.extend(added.clone());
    input_specs::of_model(&model.proto, ports, Point::of_batch(batch), &all).ok()
}
