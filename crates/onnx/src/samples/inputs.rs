//! What a network is fed, out of chosen items: a tensor for each of its inputs.
//!
//! Pictures and single arrays are for a network with one input, through `batches`; an archive has an array
//! for each input, under the input's name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::batches::{append, element_of, empty, shown};
use super::npy::Header;
use super::npz::{self, NpzError};
use super::{SampleError, SampleItem, SamplePart, SampleSet};
use crate::batch_axis::BatchAxes;
use powerband_core::domain::input_sizes::{BATCH, InputAxis};
use powerband_core::domain::model::Port;
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

impl SampleSet {
    /// The same items as the inputs of a network take them: files that hold a batch are parted into their
    /// rows. Says at once where an input takes something else. The size of the batch is of no consequence.
    pub fn for_inputs(&self, specs: &[TensorSpec]) -> Result<Self, SampleError> {
        let is_archive = |item: &SampleItem| {
            matches!(item.part, SamplePart::Archive | SamplePart::ArchiveRow(_))
        };
        if !self.items.iter().any(is_archive) {
            let [spec] = specs else {
                let path = self.items.first().map(|item| item.path.clone());
                return Err(SampleError::SeveralInputs {
                    path: path.unwrap_or_default(),
                    inputs: specs.iter().map(|spec| spec.name.clone()).collect(),
                });
            };
            return self.for_input(spec);
        }
        let mut items = Vec::with_capacity(self.items.len());
        let mut others = BTreeSet::new();
        for item in &self.items {
            let headers = npz::headers(&item.path)?;
            for row in 0..rows(&item.path, &headers, specs)? {
                items.push(SampleItem {
                    part: SamplePart::ArchiveRow(row),
                    ..item.clone()
                });
            }
            let is_input = |name: &String| specs.iter().any(|spec| spec.name == *name);
            others.extend(headers.into_keys().filter(|name| !is_input(name)));
        }
        let mut notes = self.notes.clone();
        if !others.is_empty() {
            let others: Vec<String> = others.into_iter().collect();
            notes.push(format!(
                "arrays that are no inputs of the network are passed over: {}",
                others.join(", ")
            ));
        }
        Ok(Self {
            items,
            classes: self.classes.clone(),
            notes,
        })
    }

    /// The shapes of the inputs by the first archive, as `--shape` takes them; none for other kinds of files and
    /// for inputs that it has no fitting array for.
    pub fn shapes(&self, ports: &[Port], batch_axis: &[InputAxis]) -> Vec<(String, Vec<usize>)> {
        let first = self.items.first();
        let archive = first
            .filter(|item| matches!(item.part, SamplePart::Archive | SamplePart::ArchiveRow(_)));
        let (Some(item), Ok(axes)) = (archive, BatchAxes::find(ports, batch_axis)) else {
            return Vec::new();
        };
        let Ok(headers) = npz::headers(&item.path) else {
            return Vec::new();
        };
        let shape = |port: &Port| {
            let mut dims = headers.get(&port.name)?.dims.clone();
            let of_input = axes.of_input(&port.name);
            if let ([axis], true) = (of_input, dims.len() + 1 == port.dims.len()) {
                dims.insert(*axis, BATCH);
            }
            for axis in of_input {
                *dims.get_mut(*axis)? = BATCH;
            }
            (dims.len() == port.dims.len()).then(|| (port.name.clone(), dims))
        };
        ports.iter().filter_map(shape).collect()
    }

    /// Reads batches of these items, which `for_inputs` parted for the same inputs.
    pub fn reader(&self) -> BatchReader<'_> {
        BatchReader {
            set: self,
            path: PathBuf::new(),
            arrays: BTreeMap::new(),
        }
    }
}

/// Reads batches, and keeps the archive that it read last: its rows are asked for one after the other.
pub struct BatchReader<'a> {
    set: &'a SampleSet,
    path: PathBuf,
    arrays: BTreeMap<String, Tensor>,
}

impl BatchReader<'_> {
    /// One batch for each input, of the items at these places.
    pub fn tensors(
        &mut self,
        places: &[usize],
        specs: &[TensorSpec],
    ) -> Result<Vec<Tensor>, SampleError> {
        let items = places.iter().map(|&index| {
            let count = self.set.items.len();
            let item = self.set.items.get(index);
            item.ok_or(SampleError::NoItem { index, count })
        });
        let items: Vec<&SampleItem> = items.collect::<Result<_, _>>()?;
        let is_archive = |item: &&SampleItem| matches!(item.part, SamplePart::ArchiveRow(_));
        match specs {
            [spec] if !items.iter().any(is_archive) => Ok(vec![self.set.tensor(places, spec)?]),
            _ => specs.iter().map(|spec| self.input(&items, spec)).collect(),
        }
    }

    /// One input's values of these items, put together along its batch.
    fn input(&mut self, items: &[&SampleItem], spec: &TensorSpec) -> Result<Tensor, SampleError> {
        let Some(axis) = batch_axis(spec)? else {
            return self.shared(items, spec);
        };
        let batch = spec.dims.get(axis).copied().unwrap_or_default();
        if items.len() != batch {
            return Err(SampleError::Count {
                items: items.len(),
                input: spec.name.clone(),
                batch,
            });
        }
        let outer: usize = spec.dims.iter().take(axis).product();
        let inner: usize = spec.dims.iter().skip(axis + 1).product();
        // Each item's values on their own, with all that stands before the batch in rows.
        let mut parts = Vec::with_capacity(items.len());
        for item in items {
            let SamplePart::ArchiveRow(row) = item.part else {
                return Err(SampleError::Reader);
            };
            let values = self.array(&item.path, spec)?;
            let rows = values.spec.len() / (outer * inner).max(1);
            let mut part = empty(spec.element);
            for before in 0..outer {
                let start = (before * rows + row) * inner;
                let values = slice(&values.data, start, inner);
                fill(&mut part, values, &item.path, spec)?;
            }
            parts.push(part);
        }
        let mut data = empty(spec.element);
        for before in 0..outer {
            for (part, item) in parts.iter().zip(items) {
                fill(
                    &mut data,
                    slice(part, before * inner, inner),
                    &item.path,
                    spec,
                )?;
            }
        }
        Ok(Tensor {
            spec: spec.clone(),
            data,
        })
    }

    /// The values of an input without a batch, which have to be the same for all items.
    fn shared(&mut self, items: &[&SampleItem], spec: &TensorSpec) -> Result<Tensor, SampleError> {
        let mut first: Option<(&SampleItem, Tensor)> = None;
        for item in items {
            let values = self.array(&item.path, spec)?.data.clone();
            let mut data = empty(spec.element);
            fill(&mut data, values, &item.path, spec)?;
            match &first {
                Some((known, tensor)) if tensor.data != data => {
                    return Err(NpzError::Differs {
                        input: spec.name.clone(),
                        first: known.path.clone(),
                        other: item.path.clone(),
                    }
                    .into());
                }
                Some(_) => {}
                None => {
                    let spec = spec.clone();
                    first = Some((item, Tensor { spec, data }));
                }
            }
        }
        let (_, tensor) = first.ok_or(SampleError::NoItem { index: 0, count: 0 })?;
        Ok(tensor)
    }

    /// The array of an input, out of the archive that was read last where it is the same.
    fn array(&mut self, path: &Path, spec: &TensorSpec) -> Result<&Tensor, SampleError> {
        if self.path != path {
            self.arrays.clear();
            path.clone_into(&mut self.path);
        }
        if !self.arrays.contains_key(&spec.name) {
            let array = npz::read(path, &spec.name)?;
            self.arrays.insert(spec.name.clone(), array);
        }
        let array = self.arrays.get(&spec.name).ok_or(SampleError::Reader)?;
        // The file may have changed since its headers were read.
        rows_of(path, array.spec.element, &array.spec.dims, spec)?;
        Ok(array)
    }
}

/// The same values as an input of another element type takes them; nothing where it cannot hold them.
pub fn converted(tensor: Tensor, spec: &TensorSpec) -> Option<Tensor> {
    let mut data = empty(spec.element);
    let fits = tensor.spec.dims == spec.dims && append(&mut data, tensor.data);
    fits.then(|| Tensor {
        spec: spec.clone(),
        data,
    })
}

/// How many inputs an archive holds.
fn rows(
    path: &Path,
    headers: &BTreeMap<String, Header>,
    specs: &[TensorSpec],
) -> Result<usize, NpzError> {
    let mut known: Option<(&str, usize)> = None;
    for spec in specs {
        let Some(header) = headers.get(&spec.name) else {
            return Err(NpzError::Missing {
                path: path.to_owned(),
                input: spec.name.clone(),
                found: headers.keys().cloned().collect(),
            });
        };
        let Some(rows) = rows_of(path, header.element, &header.dims, spec)? else {
            continue;
        };
        match known {
            Some((first, number)) if number != rows => {
                return Err(NpzError::Rows {
                    path: path.to_owned(),
                    first: first.to_owned(),
                    rows: number,
                    other: spec.name.clone(),
                    other_rows: rows,
                });
            }
            Some(_) => {}
            None => known = Some((&spec.name, rows)),
        }
    }
    Ok(known.map_or(1, |(_, rows)| rows))
}

/// How many inputs an array holds; nothing where its input has no batch.
fn rows_of(
    path: &Path,
    element: ElementType,
    dims: &[usize],
    spec: &TensorSpec,
) -> Result<Option<usize>, NpzError> {
    let axis = batch_axis(spec)?;
    if !takes(spec.element, element) {
        return Err(NpzError::Element {
            path: path.to_owned(),
            input: spec.name.clone(),
            found: element.to_string(),
            wanted: spec.element.to_string(),
        });
    }
    let fits = |axis: usize| {
        let mut sizes = dims.iter().zip(&spec.dims).enumerate();
        dims.len() == spec.dims.len() && sizes.all(|(at, (a, b))| at == axis || a == b)
    };
    let rows = match axis {
        None if dims == spec.dims => return Ok(None),
        None => None,
        Some(axis) if fits(axis) => dims.get(axis).copied().filter(|rows| *rows > 0),
        Some(axis) => {
            let mut single = spec.dims.clone();
            single.remove(axis);
            (dims == single).then_some(1)
        }
    };
    rows.map(Some).ok_or_else(|| NpzError::Shape {
        path: path.to_owned(),
        input: spec.name.clone(),
        found: shown(dims),
        wanted: axis.map_or_else(|| shown(&spec.dims), |axis| with_batch(&spec.dims, axis)),
        has_batch: axis.is_some(),
    })
}

/// The one dimension that is the batch; nothing where the input has none.
fn batch_axis(spec: &TensorSpec) -> Result<Option<usize>, NpzError> {
    match spec.batch_axes.as_slice() {
        [] => Ok(None),
        &[axis] if axis < spec.dims.len() => Ok(Some(axis)),
        axes => Err(NpzError::BatchAxes {
            input: spec.name.clone(),
            axes: axes.len(),
        }),
    }
}

/// A shape with N for its batch.
fn with_batch(dims: &[usize], axis: usize) -> String {
    let size = |(at, dim): (usize, &usize)| {
        if at == axis {
            "N".to_owned()
        } else {
            dim.to_string()
        }
    };
    let sizes: Vec<String> = dims.iter().enumerate().map(size).collect();
    sizes.join("×")
}

/// Whether elements of a type can go into an input, as far as the types say.
fn takes(wanted: ElementType, found: ElementType) -> bool {
    use ElementType::{Bool, F16, F32, F64};
    let is_float = |element| matches!(element, F32 | F64 | F16);
    match wanted {
        Bool => found == Bool,
        _ => is_float(wanted) == is_float(found),
    }
}

/// Appends values, or says that the input cannot hold them.
fn fill(
    data: &mut TensorData,
    values: TensorData,
    path: &Path,
    spec: &TensorSpec,
) -> Result<(), NpzError> {
    let found = element_of(&values);
    if append(data, values) {
        return Ok(());
    }
    Err(NpzError::Element {
        path: path.to_owned(),
        input: spec.name.clone(),
        found: found.to_string(),
        wanted: spec.element.to_string(),
    })
}

/// Some of the values; none where there are not as many.
fn slice(data: &TensorData, start: usize, count: usize) -> TensorData {
    fn part<T: Copy>(values: &[T], start: usize, count: usize) -> Vec<T> {
        let end = start.saturating_add(count);
        values.get(start..end).unwrap_or_default().to_vec()
    }
    match data {
        TensorData::F32(v) => TensorData::F32(part(v, start, count)),
        TensorData::F64(v) => TensorData::F64(part(v, start, count)),
        TensorData::F16(v) => TensorData::F16(part(v, start, count)),
        TensorData::I8(v) => TensorData::I8(part(v, start, count)),
        TensorData::I16(v) => TensorData::I16(part(v, start, count)),
        TensorData::I32(v) => TensorData::I32(part(v, start, count)),
        TensorData::I64(v) => TensorData::I64(part(v, start, count)),
        TensorData::U8(v) => TensorData::U8(part(v, start, count)),
        TensorData::Bool(v) => TensorData::Bool(part(v, start, count)),
    }
}
