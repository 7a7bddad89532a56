//! The same network rewritten, in other numbers or with a fixed batch: once, and kept beside the networks
//! that are made here.
//!
//! For 8 bits the ranges of the values have to be known, so a worker runs the network on inputs, seeded
//! ones or the user's own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::input_specs;
use powerband_core::base::cancel::CancelToken;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::input_sizes::BATCH;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::{LAST_RESORT, Setup};
use powerband_core::domain::tensor::{Tensor, TensorSpec};
use powerband_onnx::batch_axis::{BatchAxes, fixed_batch};
use powerband_onnx::file;
use powerband_onnx::input_values;
use powerband_onnx::pb::ModelProto;
use powerband_onnx::rewrite::batch;
use powerband_onnx::rewrite::fp16::{self, Fp16Options};
use powerband_onnx::rewrite::int8::{self, Int8Options};
use powerband_onnx::rewrite::ranges::{Method, Ranges};
use powerband_onnx::rewrite::recipe::Recipe;
use powerband_onnx::rewrite::{Precision, Rewritten, left, observe};
use powerband_onnx::samples::{self, SampleSet, npy};
use powerband_onnx::source::{self, ModelFile};
use powerband_onnx::{inspect, shapes};
use powerband_store::installation::Installation;
use powerband_worker::engines;
use powerband_worker::probe;
use powerband_worker::protocol::{Reply, Request, WorkerCase};
use powerband_worker::supervisor::Worker;

/// Seeded inputs that the ranges are taken from.
const CALIBRATIONS: u64 = 16;
/// Inputs of the user's own that are taken at most, spread over all there are.
const MOST_SAMPLES: usize = 256;
/// The size of a dimension that the model leaves open and that is not given.
const USUAL_SIZE: usize = 32;
/// Loading a network and running it a few times takes no longer.
const LIMIT: Duration = Duration::from_mins(10);
/// Raised whenever a rewrite changes what it makes, so that nothing old is taken for it.
const REVISION: u32 = 3;
/// Digits of the original's checksum in the name of the file.
const DIGITS: usize = 12;

/// A network converted to another precision.
#[derive(Clone, Debug)]
pub struct ConvertedModel {
    /// Its file.
    pub file: ModelFile,
    /// What matters when the two are compared: what stays in floats among it.
    pub notes: Vec<String>,
}

/// Rewrites a model, or takes what was rewritten before.
pub fn convert(
    place: &Installation,
    model: &ModelFile,
    recipe: &Recipe,
    sizes: &InputSizes,
) -> Result<ConvertedModel, String> {
    let as_it_is = |file| ConvertedModel {
        file,
        notes: Vec::new(),
    };
    if recipe.is_plain() {
        return Ok(as_it_is(model.clone()));
    }
    let calibration = calibration(model, recipe, sizes)?;
    let path = path(place, model, recipe, sizes, calibration.as_ref());
    if let Some(converted) = cached_model(&path, model, recipe) {
        return Ok(converted);
    }
    let mut notes = Vec::new();
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let mut proto = model.with_weights().map_err(|error| told(&error))?;
    match recipe.precision {
        Precision::Float => {}
        Precision::Fp16 => {
            let options = Fp16Options {
                leave_out: recipe.leave_out.clone(),
                ..Fp16Options::default()
            };
            let rewritten = fp16::rewrite(&proto, &options).map_err(|error| told(&error))?;
            (proto, notes) = (rewritten.model, rewritten.notes);
        }
        Precision::Int8 => {
            let rewritten = to_int8(place, &proto, recipe, calibration.as_ref(), sizes)?;
            (proto, notes) = (rewritten.model, rewritten.notes);
        }
    }
    if let Some(size) = recipe.batch {
        let rewritten =
            batch::rewrite(&proto, size, &sizes.batch_axis).map_err(|error| told(&error))?;
        proto = rewritten.model;
        notes.extend(rewritten.notes);
    }
    left::keep_notes(&mut proto, &notes);
    write(&path, |path| file::save(path, &proto).map(drop))?;
    cached_model(&path, model, recipe)
        .ok_or_else(|| format!("{} cannot be read back", path.display()))
}

/// The user's own inputs for finding ranges, and how the network takes them.
struct UserSamples {
    set: SampleSet,
    inputs: Vec<TensorSpec>,
}

/// The user's own inputs for finding ranges, some of them where there are many. They say themselves how large
/// the network's inputs are where nothing else does.
fn calibration(
    model: &ModelFile,
    recipe: &Recipe,
    sizes: &InputSizes,
) -> Result<Option<UserSamples>, String> {
    let Some(path) = &recipe.calibration else {
        return Ok(None);
    };
    let told = |error: samples::SampleError| error.to_string();
    let ports = inspect::inputs(&model.proto).map_err(|error| error.to_string())?;
    let batch = fixed_batch(&ports, &sizes.batch_axis).unwrap_or(1);
    let set = samples::open(path).map_err(told)?;
    let inputs = shapes::resolve(&ports, Point::of_batch(batch), sizes).or_else(|error| {
        let mut sizes = sizes.clone();
        for (name, dims) in set.shapes(&ports, &sizes.batch_axis) {
            sizes.shapes.entry(name).or_insert(dims);
        }
        shapes::resolve(&ports, Point::of_batch(batch), &sizes).or(Err(error))
    });
    let inputs = inputs.map_err(|error| error.to_string())?;
    let set = set.for_inputs(&inputs).map_err(told)?;
    let cancel = CancelToken::default();
    let set = set.take_readable(MOST_SAMPLES, &cancel).map_err(told)?;
    Ok(Some(UserSamples { set, inputs }))
}

/// Where a model is kept rewritten: a recipe, sizes and inputs of the user's own have their checksum in
/// the name.
fn path(
    place: &Installation,
    model: &ModelFile,
    recipe: &Recipe,
    sizes: &InputSizes,
    own: Option<&UserSamples>,
) -> PathBuf {
    let digits = model.sha256.get(..DIGITS).unwrap_or(&model.sha256);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_@.".contains(c);
    let tidy = |text: &str| text.replace(|c| !plain(c), "_");
    let is_usual = recipe.leave_out.is_empty()
        && recipe.calibration.is_none()
        && recipe.ranges == Method::MinMax
        && *sizes == InputSizes::default();
    let particulars = if is_usual {
        String::new()
    } else {
        format!("-{}", checksum(recipe, sizes, own.map(|own| &own.set)))
    };
    let (stem, what) = (tidy(&model.name), tidy(&recipe.to_string()));
    let file = format!("{stem}-{digits}-{what}{particulars}-r{REVISION}.onnx");
    place.paths.cache.join("models").join(file)
}

/// Of everything that the rewritten network depends on beside the original.
fn checksum(recipe: &Recipe, sizes: &InputSizes, set: Option<&SampleSet>) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{recipe:?} {sizes:?}"));
    for item in set.iter().flat_map(|set| &set.items) {
        // A file that was changed has another time or size.
        let about = fs::metadata(&item.path);
        let about = about.map(|about| (about.len(), about.modified().ok()));
        hash.update(format!("{} {:?} {about:?}", item.path.display(), item.part));
    }
    let digest = hash.finalize();
    digest
        .iter()
        .take(DIGITS / 2)
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat()
}

/// The model that an earlier conversion wrote. Files are moved into place when complete, so none is partial.
fn cached_model(path: &Path, model: &ModelFile, recipe: &Recipe) -> Option<ConvertedModel> {
    if !path.is_file() {
        return None;
    }
    let mut file = source::open(&path.display().to_string(), Path::new("")).ok()?;
    file.name = format!("{} {recipe}", model.name);
    let notes = left::kept_notes(&file.proto);
    Some(ConvertedModel { file, notes })
}

/// Writes a file, with the folder that it belongs in.
fn write<E: std::fmt::Display>(
    path: &Path,
    save: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), String> {
    let cannot = |reason: String| {
        format!(
            "the rewritten network cannot be kept in {}: {reason}",
            path.display()
        )
    };
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .map_err(|error| cannot(error.to_string()))?;
    save(path).map_err(|error| cannot(error.to_string()))
}

/// Runs the network for the ranges of its values, then rewrites it.
fn to_int8(
    place: &Installation,
    model: &ModelProto,
    recipe: &Recipe,
    own: Option<&UserSamples>,
    sizes: &InputSizes,
) -> Result<Rewritten, String> {
    let options = Int8Options {
        leave_out: recipe.leave_out.clone(),
        ..Int8Options::default()
    };
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let observed = observe::outputs(model, &options).map_err(|e| told(&e))?;
    let ports = inspect::inputs(model).map_err(|e| told(&e))?;
    let batch = fixed_batch(&ports, &sizes.batch_axis).unwrap_or(1);
    let (inputs, note) = match own {
        Some(own) => (own.inputs.clone(), None),
        None => with_usual_sizes(model, &ports, batch, sizes)?,
    };
    let folder = tempfile::tempdir().map_err(|e| told(&e))?;
    let file = folder.path().join("observed.onnx");
    file::save(&file, &observed).map_err(|e| told(&e))?;
    let mut observer = Observer {
        folder: folder.path(),
        method: recipe.ranges,
        ranges: Ranges::new(recipe.ranges),
        outputs: inspect::outputs(&observed),
        case: CaseKey {
            setup: 0,
            point: Point::of_batch(batch),
        }
        .into(),
    };
    observer.run(place, &file, &inputs, own).map_err(|error| {
        format!("the network could not be run for the ranges of its values: {error}")
    })?;
    let rewritten = int8::rewrite(model, &observer.ranges.finish(), &options);
    let mut rewritten = rewritten.map_err(|e| told(&e))?;
    rewritten.notes.extend(note);
    Ok(rewritten)
}

/// The inputs that ranges are found with. Sizes that nothing is known of are usual ones, which a note says.
fn with_usual_sizes(
    model: &ModelProto,
    ports: &[Port],
    batch: usize,
    sizes: &InputSizes,
) -> Result<(Vec<TensorSpec>, Option<String>), String> {
    let point = Point::of_batch(batch);
    let asked = match input_specs::of_model(model, ports, point, sizes) {
        Ok(inputs) => return Ok((inputs, None)),
        Err(error) => error,
    };
    let Ok(axes) = BatchAxes::find(ports, &sizes.batch_axis) else {
        return Err(asked);
    };
    let mut usual = sizes.clone();
    let mut names = BTreeSet::new();
    for port in ports {
        let shape = port.dims.iter().enumerate().map(|(index, dim)| match dim {
            _ if axes.takes(&port.name, index) => Some(BATCH),
            Dim::Fixed(size) => Some(*size),
            // A sum of others follows from them.
            Dim::Named(name) if name.contains(['+', '-', '*', '/']) || name.contains("total") => {
                None
            }
            Dim::Named(name) => {
                names.insert(name.clone());
                Some(USUAL_SIZE)
            }
        });
        if let Some(shape) = shape.collect::<Option<Vec<usize>>>() {
            usual.shapes.entry(port.name.clone()).or_insert(shape);
        }
    }
    let inputs = input_specs::of_model(model, ports, point, &usual).map_err(|_usual| asked)?;
    let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let note = format!(
        "The ranges of the values were found with {} = {USUAL_SIZE}, which the model leaves open",
        names.join(" = ")
    );
    Ok((inputs, (!names.is_empty()).then_some(note)))
}

/// Gathers the ranges of all outputs of the observed network, and of its inputs.
struct Observer<'a> {
    folder: &'a Path,
    method: Method,
    ranges: Ranges,
    /// The outputs of the observed network, in its order.
    outputs: Vec<String>,
    case: WorkerCase,
}

impl Observer<'_> {
    fn run(
        &mut self,
        place: &Installation,
        file: &Path,
        inputs: &[TensorSpec],
        own: Option<&UserSamples>,
    ) -> Result<(), String> {
        let cancel = CancelToken::default();
        let (setup, runtime) = reference_setup(place);
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
        let batch = self.case.point.batch();
        let visits = own.map_or(CALIBRATIONS, |own| (own.set.items.len() / batch) as u64);
        if visits == 0 {
            return Err(format!("the samples are fewer than one batch of {batch}"));
        }
        let mut reader = own.map(|own| own.set.reader());
        for visit in 0..visits {
            let tensors: Vec<Tensor> = if let Some(reader) = &mut reader {
                let first = visit as usize * batch;
                let places: Vec<usize> = (first..first + batch).collect();
                let tensors = reader.tensors(&places, inputs);
                tensors.map_err(|error| error.to_string())?
            } else {
                let numbered = (visit + 1..).zip(inputs);
                let tensors = numbered.map(|(seed, spec)| input_values::tensor(spec, seed));
                let tensors: Result<_, _> = tensors.collect();
                tensors.map_err(|error| error.to_string())?
            };
            self.visit(&tensors, &mut ask)?;
        }
        worker.end();
        Ok(())
    }

    /// One run on these inputs.
    fn visit(
        &mut self,
        tensors: &[Tensor],
        ask: &mut impl FnMut(&Request) -> Result<Reply, String>,
    ) -> Result<(), String> {
        let case = self.case;
        let mut feed = Vec::with_capacity(tensors.len());
        for (place, tensor) in tensors.iter().enumerate() {
            self.ranges.add(&tensor.spec.name, &floats(tensor));
            let file = self.folder.join(format!("input-{place}.npy"));
            fs::write(&file, npy::write(tensor)).map_err(|error| error.to_string())?;
            feed.push(file);
        }
        ask(&Request::Open {
            case,
            inputs: tensors.iter().map(|tensor| tensor.spec.clone()).collect(),
            seed: 0,
            feed,
            generate: None,
        })?;
        let observed = match self.method {
            Method::MinMax => ask(&Request::Observe { case })?,
            // A percentile needs every value.
            Method::Percentile(_) => ask(&Request::Save {
                case,
                folder: self.folder.to_path_buf(),
            })?,
        };
        match observed {
            Reply::Observed(observed) => {
                for one in observed {
                    self.ranges.add(&one.name, &[one.low, one.high]);
                }
            }
            Reply::Saved(files) => {
                for (file, name) in files.iter().zip(&self.outputs) {
                    let tensor = npy::read(file, name).map_err(|error| error.to_string())?;
                    self.ranges.add(name, &floats(&tensor));
                }
            }
            other => return Err(format!("an answer to another question: {other:?}")),
        }
        ask(&Request::Close { case }).map(drop)
    }
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    tensor.to_f64().iter().map(|value| *value as f32).collect()
}

/// Who is trusted with a network in floats: ONNX Runtime without rewriting the graph where it is here,
/// else the engine that always is.
pub(super) fn reference_setup(place: &Installation) -> (Setup, Option<PathBuf>) {
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
        _ => (named(LAST_RESORT), None),
    }
}
