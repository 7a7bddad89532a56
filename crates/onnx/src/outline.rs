//! A network without the values of its weights, for questions about its inputs.
//!
//! Names come from the plan as it is typed; `measure` asks after each change of the plan which of its points the
//! network cannot take, so that an outline is kept and read again only where its file changed.

use crate::external;
use crate::pb::ModelProto;
use crate::seen_file::SeenFiles;
use crate::source::{self, SourceError};
use crate::zoo;

/// A network without the values of its weights.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Its graph.
    pub proto: ModelProto,
    /// Its files as they were before they were read; none for a network of the zoo.
    seen: SeenFiles,
}

impl Outline {
    /// The outline of a network of the zoo by its name, or of a file by its path.
    ///
    /// # Errors
    ///
    /// As [`source::open`].
    pub fn read(name_or_path: &str) -> Result<Self, SourceError> {
        if let Some(model) = zoo::find(name_or_path) {
            return Ok(Self {
                proto: zoo::outline(model),
                seen: SeenFiles::default(),
            });
        }
        let file = source::decode_file(name_or_path)?;
        let mut proto = file.proto;
        external::drop_weights(&mut proto);
        Ok(Self {
            proto,
            seen: file.seen,
        })
    }

    /// Whether its files are those that were read.
    pub fn is_current(&self) -> bool {
        self.seen.are_untouched()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect;
    use prost::Message as _;

    #[test]
    fn an_outline_asks_as_the_network_does_and_is_small() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.onnx");
        let network = zoo::build(zoo::find("resnet18@cifar").unwrap());
        std::fs::write(&path, network.encode_to_vec()).unwrap();
        let outline = Outline::read(path.to_str().unwrap()).unwrap();
        assert_eq!(
            inspect::inputs(&outline.proto).unwrap(),
            inspect::inputs(&network).unwrap()
        );
        let (small, whole) = (outline.proto.encoded_len(), network.encoded_len());
        assert!(small * 20 < whole, "{small} of {whole} bytes");
        assert!(outline.is_current());
        std::fs::write(&path, "another").unwrap();
        assert!(!outline.is_current());
        assert!(Outline::read(path.to_str().unwrap()).is_err());
        assert!(Outline::read("nonesuch").is_err());
    }
}
