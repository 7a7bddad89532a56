//! Makes what a network is fed out of chosen items: one tensor for one input and one batch.

use std::path::Path;

use half::f16;

use super::npy::{self, Header};
use super::picture::Preprocess;
use super::{SampleError, SampleItem, SamplePart, SampleSet};
use powerband_core::domain::tensor::{ElementType, Tensor, TensorData, TensorSpec};

impl SampleSet {
    /// The same items as one input of a network takes them: arrays that hold a batch are parted into
    /// their rows. Says at once where the input takes something else. The batch of `spec` is of no
    /// consequence.
    pub fn for_input(&self, spec: &TensorSpec) -> Result<Self, SampleError> {
        if let Some(&axis) = spec.batch_axes.iter().find(|axis| **axis > 0) {
            return Err(SampleError::InputAxis {
                input: spec.name.clone(),
                axis,
            });
        }
        let wanted = item_dims(spec);
        let mut items = Vec::with_capacity(self.items.len());
        for item in &self.items {
            let like = |part| SampleItem {
                part,
                ..item.clone()
            };
            match item.part {
                SamplePart::Picture => {
                    square_side(spec)?;
                    items.push(item.clone());
                }
                SamplePart::Archive | SamplePart::ArchiveRow(_) => return Err(SampleError::Reader),
                // All rows together are one item: it stands for the first, and the others go.
                SamplePart::Row(row) if row > 0 && is_item_before(&items, item) => {}
                SamplePart::Array | SamplePart::Row(_) => {
                    let header = npy::header(&item.path)?;
                    match item.part {
                        _ if header.dims == wanted => items.push(like(SamplePart::Array)),
                        SamplePart::Row(_) if is_batch(&header, wanted) => items.push(item.clone()),
                        SamplePart::Array if is_batch(&header, wanted) => {
                            let rows = header.dims.first().copied().unwrap_or_default();
                            items.extend((0..rows).map(|row| like(SamplePart::Row(row))));
                        }
                        _ => return Err(wrong_shape(&item.path, &header.dims, spec)),
                    }
                }
            }
        }
        Ok(Self {
            items,
            classes: self.classes.clone(),
            notes: self.notes.clone(),
        })
    }

    /// One batch for one input, of the items at these places. Pictures are made as the networks that
    /// take their size want them; see `Preprocess::for_side`.
    pub fn tensor(&self, items: &[usize], spec: &TensorSpec) -> Result<Tensor, SampleError> {
        let side = spec.dims.last().copied().unwrap_or_default();
        self.tensor_with(items, spec, &Preprocess::for_side(side))
    }

    /// The same, with pictures made as the caller says.
    pub(crate) fn tensor_with(
        &self,
        items: &[usize],
        spec: &TensorSpec,
        preprocess: &Preprocess,
    ) -> Result<Tensor, SampleError> {
        let batch = spec.dims.first().copied().unwrap_or_default();
        if items.len() != batch {
            return Err(SampleError::Count {
                items: items.len(),
                input: spec.name.clone(),
                batch,
            });
        }
        let mut data = empty(spec.element);
        for &index in items {
            let count = self.items.len();
            let item = self
                .items
                .get(index)
                .ok_or(SampleError::NoItem { index, count })?;
            let values = match item.part {
                SamplePart::Picture => {
                    let side = square_side(spec)?;
                    let preprocess = Preprocess {
                        side,
                        ..*preprocess
                    };
                    let values = preprocess.load(&item.path);
                    TensorData::F32(values.map_err(|why| SampleError::Picture {
                        path: item.path.clone(),
                        why,
                    })?)
                }
                SamplePart::Array | SamplePart::Row(_) => array(item, spec)?,
                SamplePart::Archive | SamplePart::ArchiveRow(_) => return Err(SampleError::Reader),
            };
            let found = element_of(&values);
            if !append(&mut data, values) {
                return Err(SampleError::Element {
                    path: item.path.clone(),
                    found: found.to_string(),
                    input: spec.name.clone(),
                    wanted: spec.element.to_string(),
                });
            }
        }
        Ok(Tensor {
            spec: spec.clone(),
            data,
        })
    }
}

/// The shape of one item.
fn item_dims(spec: &TensorSpec) -> &[usize] {
    spec.dims.get(1..).unwrap_or_default()
}

fn is_batch(header: &Header, wanted: &[usize]) -> bool {
    header
        .dims
        .split_first()
        .is_some_and(|(_, rest)| rest == wanted)
}

/// Whether the whole file of a row was taken for one item already.
fn is_item_before(items: &[SampleItem], row: &SampleItem) -> bool {
    items
        .last()
        .is_some_and(|last| last.part == SamplePart::Array && last.path == row.path)
}

/// Width and height of the pictures that an input takes.
fn square_side(spec: &TensorSpec) -> Result<usize, SampleError> {
    let is_float = matches!(
        spec.element,
        ElementType::F32 | ElementType::F16 | ElementType::F64
    );
    match item_dims(spec) {
        &[3, height, width] if height == width && is_float => Ok(height),
        _ => Err(SampleError::NoPictures {
            input: spec.name.clone(),
            found: format!("{} {}", spec.element, shown(&spec.dims)),
        }),
    }
}

/// The values of one item that is an array or a row of one.
fn array(item: &SampleItem, spec: &TensorSpec) -> Result<TensorData, SampleError> {
    let wanted = item_dims(spec);
    let tensor = match item.part {
        SamplePart::Row(row) => npy::read_rows(&item.path, &spec.name, row, 1)?,
        _ => npy::read(&item.path, &spec.name)?,
    };
    let dims = tensor.spec.dims.as_slice();
    let is_one = dims
        .split_first()
        .is_some_and(|(&rows, rest)| rows == 1 && rest == wanted);
    let is_whole = matches!(item.part, SamplePart::Array) && dims == wanted;
    if is_one || is_whole {
        return Ok(tensor.data);
    }
    let header = npy::header(&item.path)?;
    Err(wrong_shape(&item.path, &header.dims, spec))
}

fn wrong_shape(path: &Path, found: &[usize], spec: &TensorSpec) -> SampleError {
    SampleError::Shape {
        path: path.to_owned(),
        found: shown(found),
        input: spec.name.clone(),
        wanted: shown(item_dims(spec)),
    }
}

pub(super) fn shown(dims: &[usize]) -> String {
    let sizes: Vec<String> = dims.iter().map(ToString::to_string).collect();
    if sizes.is_empty() {
        "a single number".to_owned()
    } else {
        sizes.join("×")
    }
}

pub(super) fn empty(element: ElementType) -> TensorData {
    match element {
        ElementType::F32 => TensorData::F32(Vec::new()),
        ElementType::F64 => TensorData::F64(Vec::new()),
        ElementType::F16 => TensorData::F16(Vec::new()),
        ElementType::I8 => TensorData::I8(Vec::new()),
        ElementType::I16 => TensorData::I16(Vec::new()),
        ElementType::I32 => TensorData::I32(Vec::new()),
        ElementType::I64 => TensorData::I64(Vec::new()),
        ElementType::U8 => TensorData::U8(Vec::new()),
        ElementType::Bool => TensorData::Bool(Vec::new()),
    }
}

pub(super) fn element_of(data: &TensorData) -> ElementType {
    match data {
        TensorData::F32(_) => ElementType::F32,
        TensorData::F64(_) => ElementType::F64,
        TensorData::F16(_) => ElementType::F16,
        TensorData::I8(_) => ElementType::I8,
        TensorData::I16(_) => ElementType::I16,
        TensorData::I32(_) => ElementType::I32,
        TensorData::I64(_) => ElementType::I64,
        TensorData::U8(_) => ElementType::U8,
        TensorData::Bool(_) => ElementType::Bool,
    }
}

/// Appends values, as the type of what is there already. Floats go into floats of any width, whole
/// numbers into whole numbers that can hold them. Whole numbers for floats are refused: they are bytes
/// of a picture as a rule, and the network wants them scaled. Says whether it was possible.
pub(super) fn append(data: &mut TensorData, more: TensorData) -> bool {
    match (data, more) {
        (TensorData::F32(data), TensorData::F32(more)) => data.extend(more),
        (TensorData::Bool(data), TensorData::Bool(more)) => data.extend(more),
        (TensorData::F32(data), more) if is_float(&more) => {
            data.extend(more_f64(more).map(|value| value as f32));
        }
        (TensorData::F64(data), more) if is_float(&more) => data.extend(more_f64(more)),
        (TensorData::F16(data), more) if is_float(&more) => {
            data.extend(more_f64(more).map(f16::from_f64));
        }
        (TensorData::I8(data), more) => return append_whole(data, more),
        (TensorData::I16(data), more) => return append_whole(data, more),
        (TensorData::I32(data), more) => return append_whole(data, more),
        (TensorData::I64(data), more) => return append_whole(data, more),
        (TensorData::U8(data), more) => return append_whole(data, more),
        _ => return false,
    }
    true
}

fn is_float(data: &TensorData) -> bool {
    matches!(
        data,
        TensorData::F32(_) | TensorData::F64(_) | TensorData::F16(_)
    )
}

fn more_f64(data: TensorData) -> impl Iterator<Item = f64> {
    let spec = TensorSpec::new("", element_of(&data), Vec::new());
    Tensor { spec, data }.to_f64().into_iter()
}

fn append_whole<T: TryFrom<i64>>(data: &mut Vec<T>, more: TensorData) -> bool {
    let values: Vec<i64> = match more {
        TensorData::I8(more) => more.into_iter().map(i64::from).collect(),
        TensorData::I16(more) => more.into_iter().map(i64::from).collect(),
        TensorData::I32(more) => more.into_iter().map(i64::from).collect(),
        TensorData::I64(more) => more,
        TensorData::U8(more) => more.into_iter().map(i64::from).collect(),
        TensorData::Bool(more) => more.into_iter().map(i64::from).collect(),
        TensorData::F32(_) | TensorData::F64(_) | TensorData::F16(_) => return false,
    };
    for value in values {
        match T::try_from(value) {
            Ok(value) => data.push(value),
            Err(_) => return false,
        }
    }
    true
}
