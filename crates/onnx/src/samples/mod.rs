//! The user's own inputs: pictures and arrays, with or without classes.
//!
//! A path goes in through `open`; what comes out is a list of items, from which `take` and `sound`
//! choose. `inputs` makes what a network is fed, with `batches` for a single input and `npz` for
//! several. `folder` and `list` find the files, `classes` numbers their classes, `picture`, `npy` and
//! `npz` read them. Nothing here knows a network.

mod batches;
mod choose;
mod classes;
mod folder;
pub mod inputs;
mod list;
pub mod npy;
pub mod npz;
pub mod picture;
mod resize;

use std::path::{Path, PathBuf};

use thiserror::Error;

use self::npy::NpyError;
use self::npz::NpzError;
use self::picture::PictureError;

/// Inputs, in an order that depends on their names only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleSet {
    /// One for each input.
    pub items: Vec<SampleItem>,
    /// What the classes are called, by their number; empty where there are none.
    pub classes: Vec<String>,
    /// What matters for the use of the result, in sentences.
    pub notes: Vec<String>,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleItem {
    pub path: PathBuf,
    /// Number of its class, from 0, where it is known.
    pub label: Option<usize>,
    /// Which part of the file it is.
    pub part: SamplePart,
}

/// Part of a file that is one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplePart {
    /// The file is a picture.
    Picture,
    /// The file is an array: one input, or a batch of them, which `SampleSet::for_input` parts.
    Array,
    /// One row of an array, counted from 0 along the first axis.
    Row(usize),
    /// The file has an array for each input, which `SampleSet::for_inputs` parts.
    Archive,
    /// One row of each array of an archive, counted from 0 along the batch of its input.
    ArchiveRow(usize),
}

/// Why there are no inputs.
#[derive(Debug, Error)]
pub enum SampleError {
    /// An input whose batch is not its first dimension.
    #[error(
        "the batch of input {input:?} is its dimension {}, and inputs of your own are put together along \
         the first. Compare on seeded inputs instead",
        axis + 1
    )]
    InputAxis {
        input: String,
        /// The dimension, from 0.
        axis: usize,
    },
    /// The file could not be read.
    #[error("cannot read {}: {why}", path.display())]
    Read {
        path: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
    /// A file of another kind.
    #[error(
        "{} holds no inputs that can be read. Give a folder of pictures, .npy or .npz files, a folder \
         with a sub-folder for each class, a .csv with file and label, a .npy or a .npz file",
        path.display()
    )]
    Kind { path: PathBuf },
    /// Nothing in it.
    #[error("{} holds neither pictures nor .npy or .npz files. Give the folder in which they lie", path.display())]
    Empty { path: PathBuf },
    /// Classes one level further down.
    #[error(
        "the inputs in {} lie two folders deep, as in {}. Give one of the folders in it", path.display(), inner.display()
    )]
    Nested {
        /// The folder.
        path: PathBuf,
        /// A folder in a folder of it.
        inner: PathBuf,
    },
    /// Two kinds of input.
    #[error(
        "{} holds {pictures} pictures, {arrays} .npy files and {archives} .npz files. Put one kind into a \
         folder of its own",
        path.display()
    )]
    Mixed {
        /// The folder or list.
        path: PathBuf,
        /// How many pictures.
        pictures: usize,
        /// How many arrays.
        arrays: usize,
        /// How many archives of arrays.
        archives: usize,
    },
    /// All of them broken.
    #[error("none of {count} files can be used. The first is {}: {why}", first.display())]
    NoneLeft {
        /// How many there were.
        count: usize,
        /// The first.
        first: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A list of files that makes no sense.
    #[error("{}, line {line}: {why}. Write a file and its label on each line, with a comma between", path.display())]
    List {
        /// The list.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A class that the list of classes does not name.
    #[error("class {label:?} is not in {}, which names {count} classes. Add it there, in the model's order", list.display())]
    UnknownClass {
        label: String,
        /// The list of classes.
        list: PathBuf,
        /// How many it names.
        count: usize,
    },
    /// A class that the list of classes names twice.
    #[error("class {label:?} is in {} more than once. Give each class a name of its own", list.display())]
    TwiceClass {
        label: String,
        /// The list of classes.
        list: PathBuf,
    },
    /// A number that is no class.
    #[error(
        "all classes are whole numbers, so they count as the model's class numbers, and {label} is \
         larger than any. Name them in classes.txt beside them, one a line, in the model's order"
    )]
    ClassNumber {
        /// The number.
        label: String,
    },
    /// A picture that cannot be used after all.
    #[error("{}: {why}. Take it out of the folder or list", path.display())]
    Picture {
        path: PathBuf,
        /// What is wrong with it.
        why: PictureError,
    },
    /// An array that cannot be used.
    #[error(transparent)]
    Array(#[from] NpyError),
    /// An archive of arrays that cannot be used.
    #[error(transparent)]
    Archive(#[from] NpzError),
    /// Files for one input where the network has several.
    #[error(
        "the network has {} inputs ({}), and {} holds files for one. Give a folder of .npz files, each with \
         an array for every input under its name: numpy.savez(file, {}=…)",
        inputs.len(),
        inputs.join(", "),
        path.display(),
        inputs.join("=…, ")
    )]
    SeveralInputs {
        /// A file of the samples.
        path: PathBuf,
        /// The network's inputs.
        inputs: Vec<String>,
    },
    /// Archives that were not parted for the network's inputs.
    #[error("an archive of arrays has to be parted for the inputs of a network first")]
    Reader,
    /// An array of another shape than the network's input.
    #[error(
        "{} has the wrong shape: it is {found}, and an item for input {input:?} is {wanted}, with or \
         without a batch in front", path.display()
    )]
    Shape {
        path: PathBuf,
        /// Its shape.
        found: String,
        input: String,
        /// The shape of one item.
        wanted: String,
    },
    /// An array of other elements than the network's input.
    #[error(
        "{} holds {found} elements, and input {input:?} takes {wanted}, which cannot hold all of them. \
         Save the array as {wanted}, scaled as the network expects", path.display()
    )]
    Element {
        path: PathBuf,
        /// What it holds.
        found: String,
        input: String,
        /// What the input takes.
        wanted: String,
    },
    /// An input that pictures do not go into.
    #[error(
        "pictures cannot be fed to input {input:?}, which takes {found}; they go into float \
         batch×3×side×side. Save what it takes as .npy files"
    )]
    NoPictures {
        input: String,
        /// Its type and shape.
        found: String,
    },
    /// More or fewer items than the batch.
    #[error("{items} items were chosen for input {input:?}, whose batch is {batch}")]
    Count {
        /// How many items.
        items: usize,
        input: String,
        /// Its batch.
        batch: usize,
    },
    /// An item that is not there.
    #[error("item {index} was chosen, and there are {count}")]
    NoItem {
        /// Which, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The user asked to stop.
    #[error("stopped while inputs were read")]
    Cancelled,
}

/// Files, the class of each as it is written, and all classes there are.
#[derive(Debug, Default)]
struct FoundFiles {
    files: Vec<(PathBuf, Option<String>)>,
    /// Classes in their order, those without files too; those of the files where it is empty.
    classes: Vec<String>,
    notes: Vec<String>,
}

/// Finds the inputs in a folder, a list, an array or a picture.
///
/// Sub-folders are classes: by their numbers where all of them are whole numbers, by the order of
/// `classes.txt` beside them where there is one, and in alphabetical order otherwise. Files that do not
/// begin as what they should be are left out, and a note says so; what is damaged further on comes to
/// light when it is read, by `sound` or by `tensor`.
pub fn open(path: &Path) -> Result<SampleSet, SampleError> {
    let failed = |why| SampleError::Read {
        path: path.to_owned(),
        why,
    };
    let is_folder = std::fs::metadata(path).map_err(failed)?.is_dir();
    if is_folder {
        return assemble(path, path, folder::find(path)?);
    }
    let beside = path.parent().unwrap_or_else(|| Path::new("."));
    if has_extension(path, "csv") {
        return assemble(path, beside, list::find(path)?);
    }
    if is_array(path) {
        return rows(path);
    }
    if !picture::is_picture(path) && !is_archive(path) {
        let path = path.to_owned();
        return Err(SampleError::Kind { path });
    }
    let found = FoundFiles {
        files: vec![(path.to_owned(), None)],
        ..Default::default()
    };
    assemble(path, beside, found)
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

fn is_array(path: &Path) -> bool {
    has_extension(path, "npy")
}

/// Several arrays in one file.
fn is_archive(path: &Path) -> bool {
    has_extension(path, "npz")
}

/// The rows of an array.
fn rows(path: &Path) -> Result<SampleSet, SampleError> {
    let header = npy::header(path)?;
    let count = header.dims.first().copied().unwrap_or(1);
    if header.dims.contains(&0) {
        let path = path.to_owned();
        return Err(SampleError::Empty { path });
    }
    let item = |row| SampleItem {
        path: path.to_owned(),
        label: None,
        part: if header.dims.is_empty() {
            SamplePart::Array
        } else {
            SamplePart::Row(row)
        },
    };
    Ok(SampleSet {
        items: (0..count).map(item).collect(),
        ..Default::default()
    })
}

/// Makes items of files: leaves out what cannot be used and numbers the classes.
fn assemble(path: &Path, beside: &Path, found: FoundFiles) -> Result<SampleSet, SampleError> {
    let mut notes = found.notes;
    let count = found.files.len();
    let of_kind =
        |is_it: fn(&Path) -> bool| found.files.iter().filter(|(file, _)| is_it(file)).count();
    let (arrays, archives) = (of_kind(is_array), of_kind(is_archive));
    if count == 0 {
        let path = path.to_owned();
        return Err(SampleError::Empty { path });
    }
    let pictures = count - arrays - archives;
    if [pictures, arrays, archives]
        .iter()
        .filter(|kind| **kind > 0)
        .count()
        > 1
    {
        return Err(SampleError::Mixed {
            path: path.to_owned(),
            pictures,
            arrays,
            archives,
        });
    }
    let numbered = classes::number(beside, &found.files, &found.classes, &mut notes)?;
    let mut broken = BrokenFiles::default();
    let mut items = Vec::with_capacity(count);
    for ((file, _), label) in found.files.into_iter().zip(numbered.labels) {
        let (part, verdict) = check_start(&file);
        match verdict {
            Ok(()) => items.push(SampleItem {
                path: file,
                label,
                part,
            }),
            Err(why) => broken.add(&file, why),
        }
    }
    if items.is_empty() {
        return Err(broken.error());
    }
    notes.extend(broken.note(count));
    Ok(SampleSet {
        items,
        classes: numbered.names,
        notes,
    })
}

/// Kind of a file, and whether its beginning is valid.
fn check_start(file: &Path) -> (SamplePart, Result<(), String>) {
    if is_archive(file) {
        let arrays = npz::headers(file).map(drop);
        return (SamplePart::Archive, arrays.map_err(|why| why.to_string()));
    }
    if is_array(file) {
        let header = npy::header(file).map(drop);
        return (SamplePart::Array, header.map_err(|why| why.to_string()));
    }
    let picture = picture::check_start(file);
    (SamplePart::Picture, picture.map_err(|why| why.to_string()))
}

/// Files that cannot be used.
#[derive(Debug, Default)]
struct BrokenFiles {
    count: usize,
    first: Option<(PathBuf, String)>,
}

impl BrokenFiles {
    fn add(&mut self, path: &Path, why: String) {
        self.count += 1;
        self.first.get_or_insert_with(|| (path.to_owned(), why));
    }

    fn note(&self, of: usize) -> Option<String> {
        let (path, why) = self.first.as_ref()?;
        Some(match self.count {
            1 => format!(
                "1 of {of} files is left out because it cannot be used, {}: {why}",
                path.display()
            ),
            count => format!(
                "{count} of {of} files are left out because they cannot be used. The first is {}: {why}",
                path.display()
            ),
        })
    }

    fn error(self) -> SampleError {
        let (first, why) = self.first.unwrap_or_default();
        SampleError::NoneLeft {
            count: self.count,
            first,
            why,
        }
    }
}

#[cfg(test)]
mod archive_tests;
#[cfg(test)]
mod tests;
