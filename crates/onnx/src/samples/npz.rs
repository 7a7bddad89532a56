//! Archives of arrays: a zip with a `.npy` file for each, as `numpy.savez` writes it.
//!
//! The archive comes from the user: what its directory promises is held against each array's own header
//! before values are read, and against their check sum after. `npy` reads the arrays.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::npy::{self, Header, NpyError};
use powerband_core::base::regular_file;
use powerband_core::domain::tensor::Tensor;

/// How the files in an archive end.
const ENDING: &str = ".npy";

/// Why an archive cannot be used.
#[derive(Debug, Error)]
pub enum NpzError {
    /// The file could not be read.
    #[error("cannot read {}: {why}", path.display())]
    Read {
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// No archive, or a damaged one.
    #[error(
        "{} is no intact .npz archive: {why}. It was cut off or damaged, or is of another format: write it \
         again with numpy.savez", path.display()
    )]
    Damaged {
        path: PathBuf,
        /// What the reader says.
        why: String,
    },
    /// Packed in a way that `NumPy` does not write.
    #[error(
        "array {array:?} of {} is {how}, which cannot be read. Write it with numpy.savez or \
         numpy.savez_compressed", path.display()
    )]
    Packed {
        path: PathBuf,
        /// The array.
        array: String,
        /// How it is packed.
        how: String,
    },
    /// No arrays.
    #[error("{} holds no arrays. Write it with numpy.savez, an array for each input", path.display())]
    Empty { path: PathBuf },
    /// An array that cannot be used.
    #[error(transparent)]
    Array(#[from] NpyError),
    /// An input without an array.
    #[error(
        "{} has no array for input {input:?}; it has {}. Save each array under its input's name: \
         numpy.savez(file, {input}=…)", path.display(), found.join(", ")
    )]
    Missing {
        path: PathBuf,
        input: String,
        /// What arrays it has.
        found: Vec<String>,
    },
    /// An array of another shape than its input.
    #[error(
        "array {input:?} of {} has the wrong shape: it is {found}, and the input takes {wanted}{}",
        path.display(),
        if *has_batch { ", where N is the number of its inputs" } else { "" }
    )]
    Shape {
        path: PathBuf,
        /// The input, which is the array's name too.
        input: String,
        /// The array's shape.
        found: String,
        /// The input's shape, with N for the batch.
        wanted: String,
        /// Whether there is an N in it.
        has_batch: bool,
    },
    /// An array of other elements than its input.
    #[error(
        "array {input:?} of {} holds {found} elements, and the input takes {wanted}, which cannot hold all \
         of them. Save {input}.astype(\"{wanted}\")", path.display()
    )]
    Element {
        path: PathBuf,
        /// The input, which is the array's name too.
        input: String,
        /// What it holds.
        found: String,
        /// What the input takes.
        wanted: String,
    },
    /// Arrays of different numbers of rows.
    #[error(
        "the arrays of {} are not of equally many inputs: {first:?} has {rows}, and {other:?} has \
         {other_rows}", path.display()
    )]
    Rows {
        path: PathBuf,
        /// An array.
        first: String,
        /// How many inputs it holds.
        rows: usize,
        /// Another one.
        other: String,
        /// How many it holds.
        other_rows: usize,
    },
    /// An input that several dimensions of are the batch.
    #[error(
        "{axes} dimensions of input {input:?} are the batch, so inputs of your own cannot be put together. \
         Compare on seeded inputs instead"
    )]
    BatchAxes {
        input: String,
        /// How many.
        axes: usize,
    },
    /// An input without a batch that differs from file to file.
    #[error(
        "input {input:?} has no batch, so all inputs of a batch share it, and {} and {} differ in it. \
         Use a batch of 1", first.display(), other.display()
    )]
    Differs {
        input: String,
        /// A file.
        first: PathBuf,
        /// Another file.
        other: PathBuf,
    },
}

/// The arrays of an archive by their names.
pub(super) fn headers(path: &Path) -> Result<BTreeMap<String, Header>, NpzError> {
    let mut archive = open(path)?;
    let mut headers = BTreeMap::new();
    for index in 0..archive.len() {
        let Some(name) = array_name(path, &mut archive, index)? else {
            continue;
        };
        let entry = archive.by_index(index);
        let mut entry = entry.map_err(|why| damaged(path, &why))?;
        let size = entry.size();
        let most = (npy::MOST_HEADER_BYTES + npy::ALIGNMENT) as u64;
        let mut head = Vec::new();
        entry
            .by_ref()
            .take(most)
            .read_to_end(&mut head)
            .map_err(|why| damaged(path, &why))?;
        headers.insert(name.clone(), npy::parse(&label(path, &name), &head, size)?);
    }
    if headers.is_empty() {
        let path = path.to_owned();
        return Err(NpzError::Empty { path });
    }
    Ok(headers)
}

/// Reads one array whole.
pub(super) fn read(path: &Path, wanted: &str) -> Result<Tensor, NpzError> {
    read_at_most(path, wanted, regular_file::most_bytes())
}

/// The same with a limit for what an array unpacks to.
pub(super) fn read_at_most(path: &Path, wanted: &str, most: u64) -> Result<Tensor, NpzError> {
    let mut archive = open(path)?;
    let mut found = Vec::new();
    for index in 0..archive.len() {
        let Some(name) = array_name(path, &mut archive, index)? else {
            continue;
        };
        if name == wanted {
            let entry = archive.by_index(index);
            let mut entry = entry.map_err(|why| damaged(path, &why))?;
            // The directory may promise anything; memory is taken as values come.
            let too_large = || damaged(path, &regular_file::TooLarge { most });
            if entry.size() > most {
                return Err(too_large());
            }
            let mut bytes = Vec::new();
            // An archive may have more in it than it says.
            let read = entry.by_ref().take(most + 1).read_to_end(&mut bytes);
            if read.map_err(|why| damaged(path, &why))? as u64 > most {
                return Err(too_large());
            }
            return Ok(npy::read_bytes(&label(path, &name), wanted, &bytes)?);
        }
        found.push(name);
    }
    Err(NpzError::Missing {
        path: path.to_owned(),
        input: wanted.to_owned(),
        found,
    })
}

/// Reads an archive to its end, which compares the check sum of every array.
pub(super) fn check(path: &Path) -> Result<(), NpzError> {
    let mut archive = open(path)?;
    for index in 0..archive.len() {
        if array_name(path, &mut archive, index)?.is_some() {
            let entry = archive.by_index(index);
            let mut entry = entry.map_err(|why| damaged(path, &why))?;
            io::copy(&mut entry, &mut io::sink()).map_err(|why| damaged(path, &why))?;
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>, NpzError> {
    let file = regular_file::open(path).map_err(|why| NpzError::Read {
        path: path.to_owned(),
        why,
    })?;
    ZipArchive::new(BufReader::new(file)).map_err(|why| damaged(path, &why))
}

/// The name of the array at that place; nothing for files of another kind.
fn array_name(
    path: &Path,
    archive: &mut ZipArchive<BufReader<File>>,
    index: usize,
) -> Result<Option<String>, NpzError> {
    let entry = archive.by_index_raw(index);
    let entry = entry.map_err(|why| damaged(path, &why))?;
    let name = entry.name().map_err(|why: ZipError| damaged(path, &why))?;
    let Some(name) = name.strip_suffix(ENDING).map(str::to_owned) else {
        return Ok(None);
    };
    let how = match entry.compression() {
        _ if entry.encrypted() => "encrypted".to_owned(),
        CompressionMethod::Stored | CompressionMethod::Deflated => return Ok(Some(name)),
        other => format!("compressed with {other}"),
    };
    Err(NpzError::Packed {
        path: path.to_owned(),
        array: name,
        how,
    })
}

fn damaged(path: &Path, why: &dyn std::fmt::Display) -> NpzError {
    NpzError::Damaged {
        path: path.to_owned(),
        why: why.to_string(),
    }
}

/// What messages call an array in an archive.
fn label(path: &Path, name: &str) -> PathBuf {
    format!("array {name:?} of {}", path.display()).into()
}
