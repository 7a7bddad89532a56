//! The same network in other numbers: rewritten once, and kept beside the networks that are made here.
//!
//! For 8 bits the ranges of the values have to be known, so a worker runs the network on seeded inputs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::prepare::Place;
use crate::base::cancel::CancelToken;
use crate::domain::case::CaseKey;
use crate::domain::setup::Setup;
use crate::domain::tensor::{Tensor, TensorSpec};
use crate::engines;
use crate::onnx::file;
use crate::onnx::rewrite::fp16::{self, Fp16Options};
use crate::onnx::rewrite::int8::{self, Int8Options};
use crate::onnx::rewrite::ranges::{Method, Ranges};
use crate::onnx::rewrite::{Precision, Rewritten, observe};
use crate::onnx::source::{self, ModelFile};
use crate::onnx::{inspect, shapes};
use crate::worker::probe;
use crate::worker::protocol::{Reply, Request};
use crate::worker::supervisor::Worker;

/// Inputs that the ranges are taken from.
const CALIBRATIONS: u64 = 16;
/// Loading a network and running it a few times takes no longer.
const LIMIT: Duration = Duration::from_mins(10);
/// Raised whenever a rewrite changes what it makes, so that nothing old is taken for it.
const REVISION: u32 = 1;
/// Digits of the original's checksum in the name of the file.
const DIGITS: usize = 12;

/// A network in other numbers.
#[derive(Clone, Debug)]
pub struct Converted {
    /// Its file.
    pub file: ModelFile,
    /// What somebody who compares the two should know; empty where it was made earlier.
    pub notes: Vec<String>,
}

/// Rewrites a model, or takes what was rewritten before.
pub fn convert(
    place: &Place,
    model: &ModelFile,
    precision: Precision,
    overrides: &BTreeMap<String, Vec<usize>>,
) -> Result<Converted, String> {
    if precision == Precision::Float {
        return Ok(Converted {
            file: model.clone(),
            notes: Vec::new(),
        });
    }
    let path = path(place, model, precision);
    if let Some(file) = kept(&path, model, precision) {
        return Ok(Converted {
            file,
            notes: Vec::new(),
        });
    }
    let rewritten = if precision == Precision::Int8 {
        to_int8(place, model, overrides)?
    } else {
        fp16::rewrite(&model.proto, &Fp16Options::default()).map_err(|error| error.to_string())?
    };
    write(&path, &rewritten)?;
    let file = kept(&path, model, precision)
        .ok_or_else(|| format!("{} cannot be read back", path.display()))?;
    Ok(Converted {
        file,
        notes: rewritten.notes,
    })
}

/// Where a model is kept in other numbers.
fn path(place: &Place, model: &ModelFile, precision: Precision) -> PathBuf {
    let digits = model.sha256.get(..DIGITS).unwrap_or(&model.sha256);
    let stem: String = model
        .name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_@.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    let file = format!("{stem}-{digits}-{precision}-r{REVISION}.onnx");
    place.paths.cache.join("models").join(file)
}

/// What was written before. Files are written beside their place and moved, so that none is half there.
fn kept(path: &Path, model: &ModelFile, precision: Precision) -> Option<ModelFile> {
    if !path.is_file() {
        return None;
    }
    let mut file = source::open(&path.display().to_string(), Path::new("")).ok()?;
    file.name = format!("{} {precision}", model.name);
    Some(file)
}

fn write(path: &Path, rewritten: &Rewritten) -> Result<(), String> {
    let cannot = |reason: String| {
        format!(
            "the rewritten network cannot be kept in {}: {reason}",
            path.display()
        )
    };
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .map_err(|error| cannot(error.to_string()))?;
    file::save(path, &rewritten.model).map_err(|error| cannot(error.to_string()))
}

/// Runs the network on seeded inputs for the ranges of its values, then rewrites it.
fn to_int8(
    place: &Place,
    model: &ModelFile,
    overrides: &BTreeMap<String, Vec<usize>>,
) -> Result<Rewritten, String> {
    let options = Int8Options::default();
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let observed = observe::outputs(&model.proto, &options).map_err(|e| told(&e))?;
    let ports = inspect::inputs(&model.proto).map_err(|e| told(&e))?;
    let batch = shapes::fixed_batch(&ports).unwrap_or(1);
    let inputs = shapes::resolve(&ports, batch, overrides).map_err(|e| told(&e))?;
    let folder = tempfile::tempdir().map_err(|e| told(&e))?;
    let file = folder.path().join("observed.onnx");
    file::save(&file, &observed).map_err(|e| told(&e))?;
    let mut ranges = Ranges::new(Method::MinMax);
    observe_runs(place, &file, &inputs, batch, &mut ranges).map_err(|error| {
        format!("the network could not be run for the ranges of its values: {error}")
    })?;
    int8::rewrite(&model.proto, &ranges.finish(), &options).map_err(|e| told(&e))
}

/// Gathers the ranges of everything that the observed network tells, and of its inputs.
fn observe_runs(
    place: &Place,
    file: &Path,
    inputs: &[TensorSpec],
    batch: usize,
    ranges: &mut Ranges,
) -> Result<(), String> {
    let cancel = CancelToken::default();
    let (setup, runtime) = trusted(place);
    let mut worker = Worker::start(&setup, runtime.as_deref(), &place.program, LIMIT, &cancel)
        .map_err(|error| error.to_string())?;
    let mut ask = |request: &Request| {
        let reply = worker.ask(request, LIMIT, &cancel);
        reply.map_err(|error| error.to_string())
    };
    ask(&Request::Load {
        setup,
        model: file.to_path_buf(),
        name: String::new(),
        runtime,
    })?;
    for seed in 1..=CALIBRATIONS {
        for (number, spec) in (seed..).zip(inputs) {
            let values: Vec<f32> = Tensor::seeded(spec, number)
                .to_f64()
                .iter()
                .map(|value| *value as f32)
                .collect();
            ranges.add(&spec.name, &values);
        }
        let case = CaseKey { setup: 0, batch };
        let inputs = inputs.to_vec();
        ask(&Request::Open {
            case,
            inputs,
            seed,
            feed: Vec::new(),
        })?;
        match ask(&Request::Observe { case })? {
            Reply::Observed(observed) => {
                for one in observed {
                    ranges.add(&one.name, &[one.low, one.high]);
                }
            }
            other => return Err(format!("an answer to another question: {other:?}")),
        }
        ask(&Request::Close { case })?;
    }
    worker.end();
    Ok(())
}

/// Who is trusted with a network in floats: ONNX Runtime without rewriting the graph where it is here,
/// else the engine that always is.
pub(super) fn trusted(place: &Place) -> (Setup, Option<PathBuf>) {
    let named = |name: &str| Setup {
        engine: name.to_owned(),
        device: "cpu".to_owned(),
        options: BTreeMap::new(),
    };
    let places = probe::places(
        &place.paths,
        place.onnxruntime.clone(),
        place.python.as_deref(),
    );
    let mut ort = named("ort");
    ort.options.insert("opt".to_owned(), "none".to_owned());
    let found = engines::find("ort").map(|engine| probe::runtime_for(engine, &ort, &places));
    match found {
        Some(Ok(Some(runtime))) => (ort, Some(runtime.path)),
        _ => (named("tract"), None),
    }
}
