//! Inputs whose values the user has in a NumPy file, and the tensors of all others.
//!
//! The file is checked against an input's type and sizes before a run, and read by the worker. The batch is
//! the one size that may differ: the items of the file are repeated or cut to it.

use std::path::Path;

use thiserror::Error;

use super::roles::dim_name;
use crate::samples::npy::{self, NpyError};
use powerband_core::base::humanize;
use powerband_core::domain::fill::Fill;
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

/// Elements of a file that are looked at before a run; larger ones are left to the engine.
const MOST_LOOKED_AT: usize = 1 << 24;

/// Why a file cannot be an input.
#[derive(Debug, Error)]
pub enum ArrayError {
    /// It cannot be read.
    #[error("--input {input}={}: {why}", path)]
    Read {
        input: String,
        path: String,
        /// Why not.
        why: NpyError,
    },
    /// Elements of another kind.
    #[error(
        "--input {input}={path}: the file holds {found}, and {input} takes {wanted}; save \
         array.astype(numpy.{wanted})"
    )]
    Element {
        input: String,
        path: String,
        /// What it holds.
        found: ElementType,
        /// What the input takes.
        wanted: ElementType,
    },
    /// Another number of dimensions.
    #[error("--input {input}={path}: the file holds {found}, and {input} is {wanted}")]
    Rank {
        input: String,
        path: String,
        found: String,
        /// Type and shape of the input.
        wanted: String,
    },
    /// Another size of some dimensions.
    #[error("--input {input}={path}: the file holds {sizes}: {differences}")]
    Sizes {
        input: String,
        path: String,
        /// Its sizes, the names of the dimensions, and the sizes of the point.
        sizes: String,
        /// Each size that differs, by the name of its dimension.
        differences: String,
    },
}

/// The values of an input: from its file, or made from the seed as its fill says.
///
/// # Errors
///
/// Where the file cannot be read, or does not fit.
pub fn tensor(spec: &TensorSpec, seed: u64) -> Result<Tensor, ArrayError> {
    let Fill::File(path) = &spec.fill else {
        return Ok(Tensor::seeded(spec, seed));
    };
    let port = Port {
        name: spec.name.clone(),
        element: spec.element,
        dims: spec.dims.iter().map(|size| Dim::Fixed(*size)).collect(),
        recurrent: None,
    };
    open(path, &port)?.check_sizes(&port, spec)?;
    let read = npy::read(Path::new(path), &spec.name).map_err(failed(path, &spec.name))?;
    let values = read.to_f64();
    let places = (0..spec.len()).map(|place| source(place, &read.spec.dims, spec));
    let data = match (&read.data, read.spec.element == spec.element) {
        // A 64-bit integer may be more than a 64-bit float holds.
        (TensorData::I64(own), true) => TensorData::I64(places.map(|place| own[place]).collect()),
        _ => TensorData::of_numbers(spec.element, places.map(|place| values[place])),
    };
    Ok(Tensor {
        spec: spec.clone(),
        data,
    })
}

/// A file that an input is filled from.
#[derive(Clone, Debug)]
pub(super) struct Array {
    path: String,
    /// Its sizes.
    pub dims: Vec<usize>,
    /// Its least and greatest number, of whole numbers; not known of large files.
    pub reach: Option<(i64, i64)>,
}

/// Looks at a file; refuses one that fits at no point: unreadable, of another type, or of another number of
/// dimensions.
pub(super) fn open(path: &str, port: &Port) -> Result<Array, ArrayError> {
    let header = npy::header(Path::new(path)).map_err(failed(path, &port.name))?;
    if header.element.is_float() != port.element.is_float() {
        return Err(ArrayError::Element {
            input: port.name.clone(),
            path: path.to_owned(),
            found: header.element,
            wanted: port.element,
        });
    }
    if header.dims.len() != port.dims.len() {
        let found = match &*header.dims {
            [] => "a single number".to_owned(),
            dims => format!(
                "{} ({})",
                humanize::pluralised(dims.len() as u64, "dimension"),
                sizes(dims)
            ),
        };
        return Err(ArrayError::Rank {
            input: port.name.clone(),
            path: path.to_owned(),
            found,
            wanted: port.describe(),
        });
    }
    let elements: usize = header.dims.iter().product();
    let is_short = !header.element.is_float() && elements <= MOST_LOOKED_AT;
    let read = is_short.then(|| npy::read(Path::new(path), &port.name));
    let read = read.transpose().map_err(failed(path, &port.name))?;
    let values = read.map(|tensor| tensor.to_f64()).unwrap_or_default();
    let least = values.iter().copied().reduce(f64::min);
    let greatest = values.iter().copied().reduce(f64::max);
    let reach = least.zip(greatest);
    Ok(Array {
        path: path.to_owned(),
        dims: header.dims,
        reach: reach.map(|(low, high)| (low as i64, high as i64)),
    })
}

impl Array {
    /// Refuses a file whose sizes, the batch apart, are others than those of a point.
    pub(super) fn check_sizes(&self, port: &Port, spec: &TensorSpec) -> Result<(), ArrayError> {
        let pairs = self.dims.iter().zip(&spec.dims).enumerate();
        let differences: Vec<String> = pairs
            .filter(|(axis, (found, wanted))| {
                let is_batch = spec.batch_axes.contains(axis) && **found > 0;
                found != wanted && !is_batch
            })
            .map(|(axis, (found, wanted))| {
                let name = dim_name(port, axis);
                format!("{name} is {found} in the file and {wanted} here")
            })
            .collect();
        if differences.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = port.dims.iter().map(ToString::to_string).collect();
        Err(ArrayError::Sizes {
            input: port.name.clone(),
            path: self.path.clone(),
            sizes: format!(
                "{} for {}, and this point has {}",
                sizes(&self.dims),
                names.join("×"),
                sizes(&spec.dims)
            ),
            differences: differences.join(", "),
        })
    }
}

fn failed<'a>(path: &'a str, input: &'a str) -> impl Fn(NpyError) -> ArrayError + 'a {
    move |why| ArrayError::Read {
        input: input.to_owned(),
        path: path.to_owned(),
        why,
    }
}

/// Where an element stands in the file: items along the batch repeat.
fn source(mut place: usize, dims: &[usize], spec: &TensorSpec) -> usize {
    let (mut found, mut step) = (0, 1);
    for (size, own) in spec.dims.iter().zip(dims).rev() {
        found += (place % size) % own * step;
        place /= size;
        step *= own;
    }
    found
}

fn sizes(dims: &[usize]) -> String {
    let sizes: Vec<String> = dims.iter().map(ToString::to_string).collect();
    sizes.join("×")
}
