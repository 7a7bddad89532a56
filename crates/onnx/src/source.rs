//! From what the user names to a model: a network of the zoo, or a file.
//!
//! Names come from the command line. Networks of the zoo are made once and kept in the cache
//! folder; workers load that file, so that every engine sees the same bytes. The hash is of the
//! bytes that were decoded, which are read once, and of the weights that stand in files beside them.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::pb::ModelProto;
use prost::Message as _;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use super::external::{self, ExternalError};
use super::file::{self, ModelFileError};
use super::seen_file::SeenFiles;
use super::zoo::{self, ZooModel};
use powerband_core::base::{atomic_file, regular_file};

/// A model with the file it is in.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The file that workers load.
    pub path: PathBuf,
    /// What to call it: the name in the zoo, or the file's stem.
    pub name: String,
    /// Its contents; weights in files beside it are not among them, except the short ones.
    pub proto: ModelProto,
    /// The files beside it that hold weights, in order of name.
    pub data: Vec<PathBuf>,
    /// SHA-256 of the file, with those beside it one after the other behind it, in hexadecimal.
    pub sha256: String,
    /// The files as they were before they were read.
    pub seen: SeenFiles,
}

impl ModelFile {
    /// Its contents with all weights.
    ///
    /// # Errors
    ///
    /// Where weights beside it cannot be read.
    pub fn with_weights(&self) -> Result<ModelProto, ExternalError> {
        let mut proto = self.proto.clone();
        external::fill(&mut proto, &self.path)?;
        Ok(proto)
    }

    /// Writes it to another place, as one file where that can hold it. Gives the bytes that were written.
    ///
    /// # Errors
    ///
    /// Where it cannot be read or written.
    pub fn copy_to(&self, target: &Path) -> Result<u64, SourceError> {
        if self.data.is_empty() {
            let bytes = file::read(&self.path)?;
            file::save_bytes(target, &bytes)?;
            return Ok(bytes.len() as u64);
        }
        Ok(file::save(target, &self.with_weights()?)?)
    }
}

/// Why there is no model.
#[derive(Debug, Error)]
pub enum SourceError {
    /// Neither a network that we make nor a file.
    #[error(
        "no network is called {name:?}, and no such file exists{}",
        advice(name, true)
    )]
    Unknown {
        /// What the user typed.
        name: String,
    },
    /// The file is there, but no model.
    #[error(transparent)]
    File(#[from] ModelFileError),
    /// Its weights are in other files, which cannot be read.
    #[error(transparent)]
    Data(#[from] ExternalError),
    /// A network was made and could not be kept.
    #[error("cannot write the network into the cache ({source}): {}. Free some space, or set POWERBAND_HOME to a folder that can be written", path.display())]
    Cache {
        /// What the system says.
        source: io::Error,
        /// The file that should have been written.
        path: PathBuf,
    },
}

impl SourceError {
    /// The same for a window, which lists the networks below the field.
    pub fn in_window(&self) -> String {
        match self {
            Self::Unknown { name } => format!(
                "no network is called {name:?}, and no such file exists{}",
                advice(name, false)
            ),
            other => other.to_string(),
        }
    }
}

/// What helps where a name is not known: the network that may be meant, and where `lists` those that there are.
fn advice(name: &str, lists: bool) -> String {
    let meant = zoo::meant(name).map(|meant| format!("; did you mean {}?", meant.id));
    let all = format!("Give the path of an .onnx file, or one of {}", zoo_names());
    match (meant, lists) {
        (Some(meant), true) => format!("{meant} {all}"),
        (None, true) => format!(". {all}"),
        (meant, false) => meant.unwrap_or_default(),
    }
}

/// Opens a network by its name, or a file by its path. Names go first: a file that happens to be
/// called `resnet50` can be had as `./resnet50`.
pub fn open(name_or_path: &str, cache_dir: &Path) -> Result<ModelFile, SourceError> {
    if let Some(model) = zoo::find(name_or_path) {
        return open_zoo(model, cache_dir);
    }
    let decoded = decode_file(name_or_path)?;
    let path = Path::new(name_or_path);
    let name = path.file_stem().map_or_else(
        || name_or_path.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let (bytes, data) = (decoded.bytes, decoded.data);
    Ok(ModelFile {
        path: path.to_owned(),
        name,
        proto: decoded.proto,
        sha256: sha256_with(&bytes, &data)
            .map_err(|(path, source)| ExternalError::Io { source, path })?,
        data,
        seen: decoded.seen,
    })
}

/// A file of the user's as it was read, without weights that stand in files beside it.
pub(crate) struct DecodedFile {
    bytes: Vec<u8>,
    pub proto: ModelProto,
    data: Vec<PathBuf>,
    pub seen: SeenFiles,
}

/// Reads a file by its path.
pub(crate) fn decode_file(name_or_path: &str) -> Result<DecodedFile, SourceError> {
    let path = Path::new(name_or_path);
    if is_bare_word(name_or_path) && !path.exists() {
        return Err(SourceError::Unknown {
            name: name_or_path.to_owned(),
        });
    }
    let seen = SeenFiles::now([path]);
    let bytes = file::read(path)?;
    let mut proto = file::decode(path, &bytes)?;
    let data = external::load_short_weights(&mut proto, path)?;
    let seen = seen.merged_with(SeenFiles::now(data.iter().map(PathBuf::as_path)));
    Ok(DecodedFile {
        bytes,
        proto,
        data,
        seen,
    })
}

/// Where a network of the zoo is kept, or what belongs to it.
fn kept(model: &ZooModel, cache_dir: &Path, extension: &str) -> PathBuf {
    let name = format!("{}-v{}.{extension}", model.id, zoo::REVISION);
    cache_dir.join("models").join(name)
}

/// Whether a file is one that is made of a built-in network, by its name.
pub(crate) fn is_made(model: &ZooModel, file: &str) -> bool {
    Path::new(file).file_name() == kept(model, Path::new(""), "onnx").file_name()
}

/// Whether the text looks like a name and not like a path.
fn is_bare_word(text: &str) -> bool {
    let is_onnx = Path::new(text)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"));
    !is_onnx && !text.contains(['/', '\\'])
}

/// The names that the zoo knows, for messages.
fn zoo_names() -> String {
    let names: Vec<&str> = zoo::ALL.iter().map(|model| model.id).collect();
    names.join(", ")
}

/// A network of the zoo: from the cache if it is whole there, otherwise made and kept.
fn open_zoo(model: &ZooModel, cache_dir: &Path) -> Result<ModelFile, SourceError> {
    let path = kept(model, cache_dir, "onnx");
    let beside = kept(model, cache_dir, "sha256");
    let name = model.id.to_owned();
    let seen = SeenFiles::now([path.as_path()]);
    if let Some((proto, sha256)) = cached(&path, &beside) {
        return Ok(ModelFile {
            path,
            name,
            proto,
            data: Vec::new(),
            sha256,
            seen,
        });
    }
    let proto = zoo::build(model);
    let bytes = proto.encode_to_vec();
    let sha256 = sha256(&bytes);
    std::fs::create_dir_all(cache_dir.join("models"))
        .and_then(|()| atomic_file::write_bytes(&path, &bytes))
        // Last: a hash without its model would be worth nothing.
        .and_then(|()| atomic_file::write_bytes(&beside, sha256.as_bytes()))
        .map_err(|source| SourceError::Cache {
            source,
            path: path.clone(),
        })?;
    Ok(ModelFile {
        seen: SeenFiles::now([path.as_path()]),
        path,
        name,
        proto,
        data: Vec::new(),
        sha256,
    })
}

/// What the cache holds, if it is what was once written there. Whatever is wrong with it, the
/// answer is to make the network again, so that no error is worth telling.
fn cached(path: &Path, beside: &Path) -> Option<(ModelProto, String)> {
    let expected = std::fs::read_to_string(beside).ok()?;
    let bytes = file::read(path).ok()?;
    let sha256 = sha256(&bytes);
    if sha256 != expected.trim() {
        return None;
    }
    Some((file::decode(path, &bytes).ok()?, sha256))
}

/// The hash of a model's files as they are now: the ONNX file first, then those with weights in their order.
///
/// # Errors
///
/// Where one of them cannot be read: the system's word, with the file.
pub fn hash_of<P: AsRef<Path>>(files: impl IntoIterator<Item = P>) -> io::Result<String> {
    sha256_with(&[], files).map_err(|(path, error)| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    })
}

/// The hash of bytes and of the files that go with them, as text.
fn sha256_with<P: AsRef<Path>>(
    bytes: &[u8],
    files: impl IntoIterator<Item = P>,
) -> Result<String, (PathBuf, io::Error)> {
    let mut hash = Sha256::new();
    hash.update(bytes);
    let mut part = vec![0; 1 << 20];
    for path in files {
        let failed = |error| (path.as_ref().to_owned(), error);
        let mut file = regular_file::open(path.as_ref()).map_err(failed)?;
        loop {
            let read = file.read(&mut part).map_err(failed)?;
            if read == 0 {
                break;
            }
            hash.update(&part[..read]);
        }
    }
    Ok(text(&hash.finalize()))
}

/// The hash as text.
pub(super) fn sha256(bytes: &[u8]) -> String {
    text(&Sha256::digest(bytes))
}

fn text(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            // Writing into a string cannot fail.
            write!(text, "{byte:02x}").unwrap_or_default();
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb::{GraphProto, NodeProto};

    fn message(name: &str, cache: &Path) -> String {
        open(name, cache).unwrap_err().to_string()
    }

    #[test]
    fn networks_are_made_once_and_mended() {
        let cache = tempfile::tempdir().unwrap();
        let first = open("ResNet18@cifar", cache.path()).unwrap();
        assert_eq!(first.name, "resnet18@cifar");
        assert_eq!(
            first.path,
            cache.path().join("models/resnet18@cifar-v2.onnx")
        );
        let whole = std::fs::read(&first.path).unwrap();
        assert_eq!(first.sha256, sha256(&whole));
        let written = || std::fs::metadata(&first.path).unwrap().modified().unwrap();
        let before = written();
        let again = open("resnet18@cifar", cache.path()).unwrap();
        assert_eq!(
            (again.sha256, again.proto == first.proto),
            (first.sha256.clone(), true)
        );
        assert_eq!(written(), before);

        let mut flipped = whole.clone();
        flipped[1000] ^= 1;
        for damaged in [&whole[..1000], &flipped, b""] {
            std::fs::write(&first.path, damaged).unwrap();
            let mended = open("resnet18@cifar", cache.path()).unwrap();
            assert_eq!(mended.sha256, first.sha256);
            assert!(std::fs::read(&first.path).unwrap() == whole);
        }
    }

    #[test]
    fn files_go_by_their_stem() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my.net.onnx");
        let node = NodeProto {
            op_type: "Relu".to_owned(),
            ..Default::default()
        };
        let graph = GraphProto {
            node: vec![node],
            ..Default::default()
        };
        let proto = ModelProto {
            ir_version: 8,
            graph: Some(graph),
            ..Default::default()
        };
        file::save(&path, &proto).unwrap();
        let opened = open(path.to_str().unwrap(), folder.path()).unwrap();
        assert_eq!(
            (opened.name.as_str(), &opened.path, &opened.proto),
            ("my.net", &path, &proto)
        );
        assert_eq!(opened.sha256, sha256(&std::fs::read(&path).unwrap()));
    }

    #[test]
    fn wrong_names_say_what_there_is() {
        let cache = tempfile::tempdir().unwrap();
        let word = message("resnet51", cache.path());
        assert!(
            word.contains("\"resnet51\"") && word.contains("; did you mean resnet50? Give"),
            "{word}"
        );
        assert!(word.contains("densenet121"), "{word}");
        assert!(message("bert", cache.path()).contains("did you mean bert-base?"));
        let word = message("alexnet", cache.path());
        assert!(word.contains("no such file"), "{word}");
        let unknown = SourceError::Unknown {
            name: "alexnet".to_owned(),
        };
        assert!(unknown.in_window().ends_with("no such file exists"));
        let near = SourceError::Unknown {
            name: "bert".to_owned(),
        };
        assert!(near.in_window().ends_with("did you mean bert-base?"));
        assert!(
            word.contains("resnet50, densenet121, mobilenetv2"),
            "{word}"
        );
        assert!(message("nets/resnet51", cache.path()).starts_with("no such model file"));
        assert!(message("resnet51.onnx", cache.path()).starts_with("no such model file"));
        assert!(message("", cache.path()).contains("no network is called"));
    }

    #[test]
    fn a_cache_that_cannot_be_written_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("file");
        std::fs::write(&blocked, b"in the way").unwrap();
        let message = message("resnet18@cifar", &blocked);
        assert!(
            message.starts_with("cannot write the network into the cache"),
            "{message}"
        );
    }

    #[test]
    fn hashes_are_in_hexadecimal() {
        assert_eq!(
            sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
