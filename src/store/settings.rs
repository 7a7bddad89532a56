//! What the user chose once and for all: a small RON file that may be missing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The user's choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The ONNX Runtime library to use where a setup names none.
    pub onnxruntime: Option<PathBuf>,
    /// The Python interpreter whose pip fetches libraries.
    pub python: Option<PathBuf>,
}

/// Reads the settings; a missing file means the defaults, a broken one is an error to be shown.
pub fn read(path: &Path) -> Result<Settings, String> {
    match fs::read_to_string(path) {
        Ok(text) => ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
            .from_str(&text)
            .map_err(|error| format!("the settings in {} make no sense: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Settings::default()),
        Err(error) => Err(format!(
            "cannot read the settings in {}: {error}",
            path.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_good_and_bad_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.ron");
        assert_eq!(read(&path), Ok(Settings::default()));
        fs::write(&path, "(onnxruntime: \"/opt/libonnxruntime.so\")").unwrap();
        assert_eq!(
            read(&path).unwrap().onnxruntime,
            Some(PathBuf::from("/opt/libonnxruntime.so"))
        );
        fs::write(&path, "(onxruntime: \"/opt\")").unwrap();
        assert!(read(&path).unwrap_err().contains("onxruntime"));
    }
}
