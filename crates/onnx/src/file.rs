//! ONNX files on the disk: read with care, written whole or not at all.
//!
//! Paths come from `source`; the decoded model goes back to it. The first bytes are looked at
//! before the rest is read, and every way in which a file can be wrong has its own sentence,
//! because "failed to decode" does not help after a mistyped path.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::external;
use crate::pb::ModelProto;
use prost::Message as _;
use thiserror::Error;

use powerband_core::base::regular_file::{self, NotRegular};
use powerband_core::base::{atomic_file, humanize};

/// Protobuf lengths are 31 bits, so that no single ONNX file can be larger.
const LARGEST: u64 = 1 << 31;

/// How much is looked at before the file is believed to be ONNX.
const HEAD: usize = 4096;

/// Why a model file could not be read or written.
#[derive(Debug, Error)]
pub enum ModelFileError {
    /// Nothing is there.
    #[error("no such model file: {}. Check the spelling and the folder", path.display())]
    Missing { path: PathBuf },
    /// A folder, a pipe or a device.
    #[error("not a model file but {what}: {}. Name the .onnx file itself", path.display())]
    NotAFile {
        /// What it is instead, with its article.
        what: &'static str,
        path: PathBuf,
    },
    /// No bytes at all.
    #[error("the model file is empty: {}. Export or download it again", path.display())]
    Empty { path: PathBuf },
    /// More than a protobuf can hold.
    #[error(
        "too large for an ONNX file ({size}, the format allows 2 GiB): {}. Large models keep their \
         weights in a second file", path.display()
    )]
    TooLarge {
        /// How large it is, for people.
        size: String,
        path: PathBuf,
    },
    /// Something else altogether.
    #[error("not an ONNX model but {what}: {}. {advice}", path.display())]
    NotOnnx {
        /// What it looks like.
        what: &'static str,
        /// What to do about it.
        advice: &'static str,
        path: PathBuf,
    },
    /// Starts like a model, then ends too soon.
    #[error(
        "the model file is cut off or damaged: only {found} bytes are there, and at least {missing} \
         more should follow: {}. Download or export it again", path.display()
    )]
    Truncated {
        /// Bytes in the file.
        found: u64,
        /// Bytes that its own lengths promise beyond its end.
        missing: u64,
        path: PathBuf,
    },
    /// Whole by its lengths, wrong inside.
    #[error(
        "the model file is damaged: its {found} bytes do not decode ({source}): {}. Download or \
         export it again", path.display()
    )]
    Damaged {
        /// Bytes in the file.
        found: u64,
        /// What the decoder says.
        source: prost::DecodeError,
        path: PathBuf,
    },
    /// Decodes, but there is nothing to run.
    #[error("the model file holds {lack}: {}. Check that the export finished", path.display())]
    Hollow {
        /// What is not there.
        lack: &'static str,
        path: PathBuf,
    },
    /// The operating system reported an error.
    #[error("cannot {action} the model file ({source}): {}", path.display())]
    Io {
        /// `read` or `write`.
        action: &'static str,
        source: io::Error,
        path: PathBuf,
    },
}

/// Reads and checks a model.
pub fn load(path: &Path) -> Result<ModelProto, ModelFileError> {
    decode(path, &read(path)?)
}

/// Writes a model, whole or not at all: what is too large for one file keeps its weights in a second one, which
/// has `.data` behind its name. Gives the bytes that were written.
pub fn save(path: &Path, model: &ModelProto) -> Result<u64, ModelFileError> {
    save_within(path, model, LARGEST)
}

fn save_within(path: &Path, model: &ModelProto, most: u64) -> Result<u64, ModelFileError> {
    if (model.encoded_len() as u64) < most {
        let bytes = model.encode_to_vec();
        save_bytes(path, &bytes)?;
        return Ok(bytes.len() as u64);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let location = format!("{name}.data");
    let apart = external::SplitModel::new(model, &location);
    let length = apart.model.encoded_len() as u64;
    if length >= most {
        return Err(ModelFileError::TooLarge {
            size: humanize::bytes(length),
            path: path.to_owned(),
        });
    }
    let beside = path.with_file_name(&location);
    let written = atomic_file::write(&beside, |out| apart.write(out)).and_then(|()| {
        let known = std::fs::metadata(&beside)?;
        Ok(known.len())
    });
    let written = written.map_err(|source| ModelFileError::Io {
        action: "write",
        source,
        path: beside,
    })?;
    // Last: a model without its weights would be worth nothing.
    save_bytes(path, &apart.model.encode_to_vec())?;
    Ok(length + written)
}

/// Writes a model that is encoded already.
pub(crate) fn save_bytes(path: &Path, bytes: &[u8]) -> Result<(), ModelFileError> {
    atomic_file::write(path, |out| out.write_all(bytes)).map_err(|source| ModelFileError::Io {
        action: "write",
        source,
        path: path.to_owned(),
    })
}

/// Reads a file's bytes once its first ones look like a model.
pub fn read(path: &Path) -> Result<Vec<u8>, ModelFileError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ModelFileError::Missing {
            path: path.to_owned(),
        },
        _ => match NotRegular::in_error(&source) {
            Some(NotRegular { what }) => ModelFileError::NotAFile {
                what,
                path: path.to_owned(),
            },
            None => ModelFileError::Io {
                action: "read",
                source,
                path: path.to_owned(),
            },
        },
    };
    let file = regular_file::open(path).map_err(failed)?;
    let known = file.metadata().map_err(failed)?;
    if known.len() == 0 {
        return Err(ModelFileError::Empty {
            path: path.to_owned(),
        });
    }
    let mut head = file.take(HEAD as u64);
    let mut bytes = Vec::new();
    head.read_to_end(&mut bytes).map_err(failed)?;
    if let Some((what, advice)) = other_format(&bytes) {
        return Err(ModelFileError::NotOnnx {
            what,
            advice,
            path: path.to_owned(),
        });
    }
    if known.len() >= LARGEST {
        let size = humanize::bytes(known.len());
        return Err(ModelFileError::TooLarge {
            size,
            path: path.to_owned(),
        });
    }
    bytes.reserve_exact((known.len() as usize).saturating_sub(bytes.len()));
    // The limit holds for a file that grows while it is read, too.
    head.into_inner()
        .take(LARGEST)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(bytes)
}

/// Decodes and checks a model's bytes; the path is for messages.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<ModelProto, ModelFileError> {
    let path_buf = || path.to_owned();
    if bytes.is_empty() {
        return Err(ModelFileError::Empty { path: path_buf() });
    }
    if let Some((what, advice)) = other_format(&bytes[..bytes.len().min(HEAD)]) {
        return Err(ModelFileError::NotOnnx {
            what,
            advice,
            path: path_buf(),
        });
    }
    let found = bytes.len() as u64;
    match walk(bytes) {
        Walk::Whole => {}
        Walk::Short { missing } => {
            return Err(ModelFileError::Truncated {
                found,
                missing,
                path: path_buf(),
            });
        }
        Walk::Foreign => {
            let (what, advice) = UNKNOWN_FORMAT;
            return Err(ModelFileError::NotOnnx {
                what,
                advice,
                path: path_buf(),
            });
        }
    }
    let model = ModelProto::decode(bytes).map_err(|source| ModelFileError::Damaged {
        found,
        source,
        path: path_buf(),
    })?;
    let lack = match &model.graph {
        None => "no graph",
        Some(graph) if graph.node.is_empty() => "a graph without a single node",
        Some(_) => return Ok(model),
    };
    Err(ModelFileError::Hollow {
        lack,
        path: path_buf(),
    })
}

const UNKNOWN_FORMAT: (&str, &str) = (
    "a file of another format",
    "Export the network to ONNX and name that file",
);

/// What the first bytes say the file is, where that is not ONNX.
fn other_format(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const EXPORT: &str = "Export the network to ONNX and name that file";
    if head.starts_with(b"version https://git-lfs") {
        return Some(("a Git LFS pointer", "Fetch the real file with git lfs pull"));
    }
    if head.starts_with(b"PK\x03\x04") {
        return Some(("a zip archive, such as a PyTorch checkpoint", EXPORT));
    }
    if head.starts_with(b"\x1f\x8b") {
        return Some(("a gzip archive", "Unpack it first"));
    }
    if head.starts_with(b"\x89HDF") {
        return Some(("an HDF5 file, such as a Keras model", EXPORT));
    }
    if head.starts_with(b"GGUF") {
        return Some(("a GGUF file", EXPORT));
    }
    if is_text(head) {
        return Some(("a text file", EXPORT));
    }
    field(head).is_none().then_some(UNKNOWN_FORMAT)
}

/// Whether the bytes are text. A protobuf is full of control characters from its first lengths on.
fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A letter may be cut in two at the end of what was read.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && !text.contains(|c: char| c.is_control() && !c.is_whitespace())
}

/// Result of walking over the outermost fields.
enum Walk {
    /// They fill the file exactly.
    Whole,
    /// The last one reaches past the end.
    Short {
        /// By how much, at least.
        missing: u64,
    },
    /// A field that no model has.
    Foreign,
}

/// Walks over the outermost fields without decoding them.
fn walk(bytes: &[u8]) -> Walk {
    let mut rest = bytes;
    while !rest.is_empty() {
        let Some((counted, after)) = field(rest) else {
            // A lone first half of a two-byte tag is a cut, not another format.
            let cut = rest.len() == 1 && rest[0] >= 0x80 && rest.len() < bytes.len();
            return if cut {
                Walk::Short { missing: 1 }
            } else {
                Walk::Foreign
            };
        };
        let Some((value, after)) = varint(after) else {
            return if after.len() < 10 {
                Walk::Short { missing: 1 }
            } else {
                Walk::Foreign
            };
        };
        let length = if counted { value } else { 0 };
        if length > after.len() as u64 {
            return Walk::Short {
                missing: length - after.len() as u64,
            };
        }
        rest = &after[length as usize..];
    }
    Walk::Whole
}

/// Reads the tag of one of a model's outermost fields: whether a length follows, and the rest.
fn field(bytes: &[u8]) -> Option<(bool, &[u8])> {
    let (tag, rest) = varint(bytes)?;
    match (tag >> 3, tag & 7) {
        (1 | 5, 0) => Some((false, rest)),
        // 26 is newer than our protobuf types, which skip it.
        (2..=4 | 6..=8 | 14 | 20 | 25 | 26, 2) => Some((true, rest)),
        _ => None,
    }
}

/// Reads a variable-length integer.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value: u64 = 0;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb::{GraphProto, NodeProto, TensorProto};

    fn tiny() -> ModelProto {
        let node = NodeProto {
            op_type: "Relu".to_owned(),
            ..Default::default()
        };
        let graph = GraphProto {
            node: vec![node; 40],
            ..Default::default()
        };
        ModelProto {
            ir_version: 8,
            graph: Some(graph),
            ..Default::default()
        }
    }

    /// Writes the bytes and returns what reading them complains about.
    fn complaint(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.onnx");
        std::fs::write(&path, bytes).unwrap();
        let message = load(&path).unwrap_err().to_string();
        assert!(message.contains(&path.display().to_string()), "{message}");
        message
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.onnx");
        save(&path, &tiny()).unwrap();
        assert_eq!(load(&path).unwrap(), tiny());
    }

    #[test]
    fn what_is_too_large_for_one_file_becomes_two() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.onnx");
        let mut large = tiny();
        let tensor = |name: &str, length: usize| TensorProto {
            name: name.to_owned(),
            dims: vec![length as i64],
            data_type: 2,
            raw_data: (0..length).map(|index| index as u8).collect(),
            ..Default::default()
        };
        let tensors = [("a", 5000), ("b", 7), ("c", 9000)];
        let graph = large.graph.as_mut().unwrap();
        graph.initializer = tensors.map(|(name, length)| tensor(name, length)).to_vec();
        let written = save_within(&path, &large, 10_000).unwrap();
        let sizes = ["net.onnx", "net.onnx.data"]
            .map(|name| std::fs::metadata(folder.path().join(name)).unwrap().len());
        assert_eq!((sizes[0] + sizes[1], sizes[1]), (written, 8192 + 9000));
        let mut light = load(&path).unwrap();
        let far = |model: &ModelProto| {
            let tensors = &model.graph.as_ref().unwrap().initializer;
            tensors
                .iter()
                .map(external::is_external)
                .collect::<Vec<_>>()
        };
        assert_eq!(far(&light), [true, false, true]);
        external::fill(&mut light, &path).unwrap();
        assert_eq!(light, large);
        // Nodes cannot go elsewhere.
        let message = save_within(&path, &large, 100).unwrap_err().to_string();
        assert!(message.starts_with("too large"), "{message}");
    }

    #[test]
    fn every_wrong_file_has_its_own_sentence() {
        let whole = tiny().encode_to_vec();
        let no_nodes = ModelProto {
            graph: Some(GraphProto::default()),
            ir_version: 8,
            ..Default::default()
        };
        let no_graph = ModelProto {
            ir_version: 8,
            ..Default::default()
        };
        let noise: Vec<u8> = (0..2000_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let mut inner = whole.clone();
        // The first node's length now points past its graph.
        inner[5] = 0x7f;
        inner[6] = 0xff;
        let cases: &[(&[u8], &str)] = &[
            (b"", "is empty"),
            (b"hello, this is a readme\nwith two lines\n", "a text file"),
            (
                b"Brackets and lengths: text may start like a field\n",
                "a text file",
            ),
            ("\"größer\" is text too".as_bytes(), "a text file"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
                "git lfs pull",
            ),
            (b"PK\x03\x04\x00\x00", "zip archive"),
            (b"\x1f\x8b\x08\x00", "gzip"),
            (&noise, "another format"),
            (&[0x08, 0x08, 0xff, 0xff, 0xff], "another format"),
            (&inner, "damaged"),
            (&no_nodes.encode_to_vec(), "without a single node"),
            (&no_graph.encode_to_vec(), "no graph"),
        ];
        for (bytes, expect) in cases {
            let message = complaint(bytes);
            assert!(message.contains(expect), "{message}");
        }
    }

    #[test]
    fn cut_files_say_how_much_was_there() {
        let whole = tiny().encode_to_vec();
        for length in 3..whole.len() {
            let message = complaint(&whole[..length]);
            assert!(
                message.contains("cut off") && message.contains(&format!("{length} bytes")),
                "{message}"
            );
        }
    }

    #[test]
    fn damage_anywhere_is_never_a_panic() {
        let whole = tiny().encode_to_vec();
        for index in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[index] ^= 0xff;
            drop(decode(Path::new("net.onnx"), &bytes));
        }
    }

    #[test]
    fn missing_files_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        let missing = load(&folder.path().join("none.onnx"))
            .unwrap_err()
            .to_string();
        assert!(
            missing.starts_with("no such model file") && missing.contains("none.onnx"),
            "{missing}"
        );
        let message = load(folder.path()).unwrap_err().to_string();
        assert!(message.contains("but a folder"), "{message}");
        let unwritable = save(&folder.path().join("no/such/folder.onnx"), &tiny()).unwrap_err();
        assert!(
            unwritable.to_string().starts_with("cannot write"),
            "{unwritable}"
        );
    }
}
