//! Weights that stand in files beside the model's, as exporters write them: read, checked, and written.
//!
//! `source` asks here which files a model is made of, the rewrites have it made whole, and `file` writes what is
//! too large for one file in two. What a model says of places is not trusted: files are read from the model's own
//! folder alone, and no further than they reach.

mod contexts;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use super::pb::tensor_proto::{DataLocation, DataType};
use super::pb::{
    AttributeProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, StringStringEntryProto,
    TensorProto,
};
use super::proto;
use powerband_core::base::system;

/// Readers map files into memory by pages, for which each tensor begins at one.
const PAGE: u64 = 4096;

/// Smaller tensors stay in the model's own file.
const LEAST_APART: usize = 1024;

/// Tensor, file and model of external weights, for messages.
#[derive(Debug)]
pub struct ExternalWeights {
    pub tensor: String,
    /// The file that it is in, as the model says.
    pub location: String,
    pub model: PathBuf,
}

/// Why weights beside a model cannot be read.
#[derive(Debug, Error)]
pub enum ExternalError {
    /// A place that weights are not read from.
    #[error(
        "tensor {:?} is kept in {:?}, which is not in the folder of the model: {}. Weights are read from there \
         alone: copy the file beside the model, and export it again if it still names another folder",
        of.tensor, of.location, of.model.display()
    )]
    Outside {
        /// What is meant.
        of: Box<ExternalWeights>,
    },
    /// A compiled part of the model in a place that it is not read from.
    #[error(
        "node {:?} has its compiled form in {:?}, which is not in the folder of the model: {}. An execution provider \
         would read it, so copy the file beside the model and compile it again with a name without folders",
        of.tensor, of.location, of.model.display()
    )]
    ContextOutside {
        /// What is meant; the node in place of the tensor.
        of: Box<ExternalWeights>,
    },
    /// No such file.
    #[error(
        "the weights of the model are in {:?}, which is not beside it: {}. Copy both files together",
        of.location, of.model.display()
    )]
    Missing {
        /// What is meant.
        of: Box<ExternalWeights>,
    },
    /// Numbers beyond the end of the file, or no numbers.
    #[error(
        "tensor {:?} should be {length} bytes from byte {offset} on of {:?}, which has {size}. The file is cut \
         off or belongs to another model: download or export both again: {}",
        of.tensor, of.location, of.model.display()
    )]
    Range {
        /// What is meant.
        of: Box<ExternalWeights>,
        /// The first byte, as the model says.
        offset: String,
        /// How many, as the model says.
        length: String,
        /// Bytes that there are.
        size: u64,
    },
    /// Another number of bytes than the shape asks for.
    #[error(
        "tensor {:?} has {length} bytes in {:?}, and its shape asks for {needed}: export the model again: {}",
        of.tensor, of.location, of.model.display()
    )]
    Length {
        /// What is meant.
        of: Box<ExternalWeights>,
        /// Bytes that the model promises.
        length: u64,
        /// Bytes that the shape asks for.
        needed: u64,
    },
    /// More than the memory of the machine.
    #[error(
        "the weights beside the model have more than the {} MB of memory that this machine has: {}",
        memory / 1_000_000, model.display()
    )]
    Memory {
        model: PathBuf,
        /// Bytes of memory.
        memory: u64,
    },
    /// The operating system reported an error.
    #[error("cannot read the weights beside the model ({source}): {}", path.display())]
    Io { source: io::Error, path: PathBuf },
}

/// Whether the numbers of a tensor are in another file.
pub(crate) fn is_external(tensor: &TensorProto) -> bool {
    tensor.data_location == Some(DataLocation::External as i32)
}

/// Finds the files beside a model that hold weights, in order of name, and reads the short tensors from them.
///
/// For questions about shapes and axes, which need no weights. The model still says where they are.
///
/// # Errors
///
/// Where a file is not there, is outside of the model's folder, or is too short.
pub fn load_short_weights(
    model: &mut ModelProto,
    path: &Path,
) -> Result<Vec<PathBuf>, ExternalError> {
    let mut files = Files::for_model(path);
    visit(model, &mut |tensor| {
        if !is_external(tensor) {
            return Ok(());
        }
        let place = files.place(tensor)?;
        if proto::tensor_elements(tensor) <= proto::SHORT {
            tensor.raw_data = files.read(&place)?;
        }
        Ok(())
    })?;
    files.contexts(model)?;
    let mut found: Vec<PathBuf> = files.open.into_values().map(|open| open.path).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

/// Takes the numbers of long tensors out of a model, except integers, which say how far indices reach.
///
/// For questions about shapes and axes of a model that is kept for long.
pub(crate) fn drop_weights(model: &mut ModelProto) {
    let kept = [DataType::Int64 as i32, DataType::Int32 as i32];
    let dropped = visit(model, &mut |tensor| {
        if proto::tensor_elements(tensor) > proto::SHORT && !kept.contains(&tensor.data_type) {
            *tensor = TensorProto {
                name: std::mem::take(&mut tensor.name),
                dims: std::mem::take(&mut tensor.dims),
                data_type: tensor.data_type,
                ..TensorProto::default()
            };
        }
        Ok(())
    });
    debug_assert!(dropped.is_ok(), "nothing is read");
}

/// Reads the numbers of one tensor of a model that stand in a file beside it.
///
/// # Errors
///
/// As `fill`.
pub(crate) fn read_tensor(tensor: &TensorProto, path: &Path) -> Result<Vec<u8>, ExternalError> {
    let mut files = Files::for_model(path);
    let place = files.place(tensor)?;
    WeightBudget::new(system::memory()).take(place.length, path)?;
    files.read(&place)
}

/// Reads all weights into the model, which needs no other file then.
///
/// # Errors
///
/// As `settle`.
pub fn fill(model: &mut ModelProto, path: &Path) -> Result<(), ExternalError> {
    let mut files = Files::for_model(path);
    let mut room = WeightBudget::new(system::memory());
    files.contexts(model)?;
    visit(model, &mut |tensor| {
        if is_external(tensor) {
            let place = files.place(tensor)?;
            room.take(place.length, path)?;
            tensor.raw_data = files.read(&place)?;
            tensor.external_data.clear();
            tensor.data_location = None;
        }
        Ok(())
    })
}

/// The memory for the weights of a model. Thousands of tensors may name the same bytes, or a file that is mostly
/// a hole.
struct WeightBudget {
    memory: u64,
    left: u64,
}

impl WeightBudget {
    fn new(memory: u64) -> Self {
        Self {
            memory,
            left: memory,
        }
    }

    /// Takes the bytes of one tensor.
    fn take(&mut self, bytes: u64, model: &Path) -> Result<(), ExternalError> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| ExternalError::Memory {
            model: model.to_owned(),
            memory: self.memory,
        })?;
        Ok(())
    }
}

/// Location of a tensor's bytes in a file, checked.
struct WeightLocation {
    location: String,
    offset: u64,
    length: u64,
}

struct WeightFile {
    path: PathBuf,
    file: File,
    size: u64,
}

/// The files of weights beside a model, each opened once.
struct Files<'a> {
    model: &'a Path,
    open: BTreeMap<String, WeightFile>,
}

impl<'a> Files<'a> {
    fn for_model(model: &'a Path) -> Self {
        Self {
            model,
            open: BTreeMap::new(),
        }
    }

    /// Where a tensor's numbers are, which is within a file beside the model.
    fn place(&mut self, tensor: &TensorProto) -> Result<WeightLocation, ExternalError> {
        let said = |key: &str| {
            let entry = tensor.external_data.iter().find(|entry| entry.key == key);
            entry.map(|entry| entry.value.as_str())
        };
        let location = said("location").unwrap_or_default().to_owned();
        if !self.open.contains_key(&location) {
            let open = self.open(&tensor.name, &location)?;
            self.open.insert(location.clone(), open);
        }
        let size = self.open.get(&location).map_or(0, |open| open.size);
        let needed = proto::tensor_bytes(tensor);
        let (offset, length) = (said("offset").unwrap_or("0"), said("length"));
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let from = number(offset);
        let bytes = length.map_or(Some(needed), number);
        let of = || Box::new(self.named(&tensor.name, &location));
        let range = |length: String| ExternalError::Range {
            of: of(),
            offset: offset.to_owned(),
            length,
            size,
        };
        let (Some(from), Some(bytes)) = (from, bytes) else {
            return Err(range(length.unwrap_or("all").to_owned()));
        };
        if from.checked_add(bytes).is_none_or(|end| end > size) {
            return Err(range(bytes.to_string()));
        }
        if bytes != needed {
            return Err(ExternalError::Length {
                of: of(),
                length: bytes,
                needed,
            });
        }
        Ok(WeightLocation {
            location,
            offset: from,
            length: bytes,
        })
    }

    /// Opens the compiled forms of nodes, which an execution provider reads by itself: in the model's folder as well.
    fn contexts(&mut self, model: &ModelProto) -> Result<(), ExternalError> {
        for context in contexts::named_in(model) {
            if self.open.contains_key(&context.location) {
                continue;
            }
            let opened = self.open(&context.node, &context.location);
            let opened = opened.map_err(|error| match error {
                ExternalError::Outside { of } => ExternalError::ContextOutside { of },
                error => error,
            })?;
            self.open.insert(context.location, opened);
        }
        Ok(())
    }

    fn named(&self, tensor: &str, location: &str) -> ExternalWeights {
        ExternalWeights {
            tensor: tensor.to_owned(),
            location: location.to_owned(),
            model: self.model.to_owned(),
        }
    }

    /// Opens a file that is in the model's folder, also where a link leads to it.
    fn open(&self, tensor: &str, location: &str) -> Result<WeightFile, ExternalError> {
        let outside = || ExternalError::Outside {
            of: Box::new(self.named(tensor, location)),
        };
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let relative = Path::new(location);
        if location.is_empty() || !relative.components().all(is_plain) {
            return Err(outside());
        }
        let folder = folder_of(self.model);
        let joined = folder.join(relative);
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ExternalError::Missing {
                of: Box::new(self.named(tensor, location)),
            },
            _ => ExternalError::Io {
                source,
                path: joined.clone(),
            },
        };
        let path = fs::canonicalize(&joined).map_err(failed)?;
        // Where the model itself is a link, as downloads are kept, its own folder is where the link leads.
        let own = fs::canonicalize(self.model).ok();
        let homes = [
            fs::canonicalize(folder).ok(),
            own.map(|own| folder_of(&own).to_owned()),
        ];
        if !homes.iter().flatten().any(|home| path.starts_with(home)) {
            return Err(outside());
        }
        // Before opening: opening a pipe would wait for a writer.
        let known = fs::metadata(&path).map_err(failed)?;
        if !known.is_file() {
            return Err(outside());
        }
        let file = File::open(&path).map_err(failed)?;
        Ok(WeightFile {
            size: known.len(),
            path,
            file,
        })
    }

    fn read(&mut self, place: &WeightLocation) -> Result<Vec<u8>, ExternalError> {
        let Some(open) = self.open.get_mut(&place.location) else {
            return Ok(Vec::new());
        };
        let mut bytes = Vec::new();
        let mut fill = || {
            let length = usize::try_from(place.length).map_err(io::Error::other)?;
            bytes.try_reserve_exact(length).map_err(io::Error::other)?;
            open.file.seek(SeekFrom::Start(place.offset))?;
            let read = (&open.file).take(place.length).read_to_end(&mut bytes)?;
            if read == length {
                Ok(())
            } else {
                Err(io::Error::from(io::ErrorKind::UnexpectedEof))
            }
        };
        fill().map_err(|source| ExternalError::Io {
            source,
            path: open.path.clone(),
        })?;
        Ok(bytes)
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Function that is called for each tensor.
type TensorVisitor<'a> = dyn FnMut(&mut TensorProto) -> Result<(), ExternalError> + 'a;

/// Every tensor of a model: stored ones, and those of nodes, branches, loops and functions.
fn visit(model: &mut ModelProto, act: &mut TensorVisitor<'_>) -> Result<(), ExternalError> {
    if let Some(graph) = &mut model.graph {
        visit_graph(graph, act)?;
    }
    let functions = model.functions.iter_mut();
    visit_nodes(functions.flat_map(|function| &mut function.node), act)
}

fn visit_graph(graph: &mut GraphProto, act: &mut TensorVisitor<'_>) -> Result<(), ExternalError> {
    graph.initializer.iter_mut().try_for_each(&mut *act)?;
    let mut sparse = graph.sparse_initializer.iter_mut();
    sparse.try_for_each(|tensor| visit_sparse(tensor, act))?;
    visit_nodes(graph.node.iter_mut(), act)
}

fn visit_sparse(
    sparse: &mut SparseTensorProto,
    act: &mut TensorVisitor<'_>,
) -> Result<(), ExternalError> {
    let mut parts = sparse.values.iter_mut().chain(&mut sparse.indices);
    parts.try_for_each(act)
}

fn visit_nodes<'a>(
    nodes: impl Iterator<Item = &'a mut NodeProto>,
    act: &mut TensorVisitor<'_>,
) -> Result<(), ExternalError> {
    for attribute in nodes.flat_map(|node| &mut node.attribute) {
        visit_attribute(attribute, act)?;
    }
    Ok(())
}

fn visit_attribute(
    attribute: &mut AttributeProto,
    act: &mut TensorVisitor<'_>,
) -> Result<(), ExternalError> {
    let mut tensors = attribute.t.iter_mut().chain(&mut attribute.tensors);
    tensors.try_for_each(&mut *act)?;
    let single = attribute.sparse_tensor.iter_mut();
    let mut sparse = single.chain(&mut attribute.sparse_tensors);
    sparse.try_for_each(|tensor| visit_sparse(tensor, act))?;
    let mut graphs = attribute.g.iter_mut().chain(&mut attribute.graphs);
    graphs.try_for_each(|graph| visit_graph(graph, act))
}

/// A model in two parts: its own file, and one of weights beside it.
pub(crate) struct SplitModel<'a> {
    /// The model, which says where its weights are.
    pub model: ModelProto,
    /// The weights, with the byte that each begins at.
    weights: Vec<(u64, &'a [u8])>,
}

impl<'a> SplitModel<'a> {
    /// Takes the larger stored tensors out; `location` is the name of the file that they go to.
    pub(crate) fn new(model: &'a ModelProto, location: &str) -> Self {
        let mut weights = Vec::new();
        let mut end = 0_u64;
        let mut stub = |tensor: &'a TensorProto| {
            if tensor.raw_data.len() < LEAST_APART {
                return tensor.clone();
            }
            let offset = end.next_multiple_of(PAGE);
            let length = tensor.raw_data.len() as u64;
            end = offset + length;
            weights.push((offset, tensor.raw_data.as_slice()));
            let entry = |key: &str, value: String| StringStringEntryProto {
                key: key.to_owned(),
                value,
            };
            TensorProto {
                dims: tensor.dims.clone(),
                data_type: tensor.data_type,
                name: tensor.name.clone(),
                doc_string: tensor.doc_string.clone(),
                metadata_props: tensor.metadata_props.clone(),
                external_data: vec![
                    entry("location", location.to_owned()),
                    entry("offset", offset.to_string()),
                    entry("length", length.to_string()),
                ],
                data_location: Some(DataLocation::External as i32),
                ..Default::default()
            }
        };
        // Field by field, so that the weights are never copied.
        let graph = model.graph.as_ref().map(|graph| GraphProto {
            node: graph.node.clone(),
            name: graph.name.clone(),
            initializer: graph.initializer.iter().map(&mut stub).collect(),
            doc_string: graph.doc_string.clone(),
            input: graph.input.clone(),
            output: graph.output.clone(),
            value_info: graph.value_info.clone(),
            quantization_annotation: graph.quantization_annotation.clone(),
            sparse_initializer: graph.sparse_initializer.clone(),
            metadata_props: graph.metadata_props.clone(),
        });
        let model = ModelProto {
            ir_version: model.ir_version,
            producer_name: model.producer_name.clone(),
            producer_version: model.producer_version.clone(),
            domain: model.domain.clone(),
            model_version: model.model_version,
            doc_string: model.doc_string.clone(),
            graph,
            opset_import: model.opset_import.clone(),
            metadata_props: model.metadata_props.clone(),
            training_info: model.training_info.clone(),
            functions: model.functions.clone(),
            configuration: model.configuration.clone(),
        };
        Self { model, weights }
    }

    /// Writes the weights.
    ///
    /// # Errors
    ///
    /// Where they cannot be written.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut at = 0;
        for (offset, bytes) in &self.weights {
            io::copy(&mut io::repeat(0).take(offset - at), out)?;
            out.write_all(bytes)?;
            at = offset + bytes.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub mod testing;
