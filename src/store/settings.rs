//! What the user chose once and for all: a small RON file that may be missing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};

use crate::base::{atomic_file, regular_file};

/// The user's choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The ONNX Runtime library to use where a setup names none.
    pub onnxruntime: Option<PathBuf>,
    /// The Python interpreter whose pip fetches libraries.
    pub python: Option<PathBuf>,
    /// Categories of kernels and patterns for them, which come before the built-in ones.
    pub categories: Vec<(String, String)>,
}

/// Reads the settings; a missing file means the defaults, a broken one is an error to be shown.
pub fn read(path: &Path) -> Result<Settings, String> {
    match regular_file::read_to_string(path) {
        Ok(text) => options()
            .from_str(&text)
            .map_err(|error| format!("the settings in {} make no sense: {error}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Settings::default()),
        Err(error) => Err(format!(
            "cannot read the settings in {}: {error}",
            path.display()
        )),
    }
}

/// Writes the settings, whole or not at all; the folder is made if need be.
pub fn write(path: &Path, settings: &Settings) -> Result<(), String> {
    let cannot =
        |reason: String| format!("cannot write the settings to {}: {reason}", path.display());
    let config = PrettyConfig::new().indentor("  ").struct_names(false);
    let text = options()
        .to_string_pretty(settings, config)
        .map_err(|error| cannot(error.to_string()))?;
    let text = format!("// Settings of Powerband.\n{text}\n");
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| atomic_file::write_bytes(path, text.as_bytes()))
        .map_err(|error| cannot(error.to_string()))
}

/// A value is written as it is, without `Some` around it.
fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
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

    #[test]
    fn settings_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deeper/settings.ron");
        for settings in [
            Settings::default(),
            Settings {
                onnxruntime: Some(PathBuf::from("/opt/an ORT/libonnxruntime.so")),
                categories: vec![("gemm".to_owned(), "*my_kernel*".to_owned())],
                ..Settings::default()
            },
        ] {
            write(&path, &settings).unwrap();
            assert_eq!(read(&path), Ok(settings));
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("onnxruntime: \"/opt/an ORT"), "{text}");
        fs::write(folder.path().join("file"), "").unwrap();
        let refused = write(
            &folder.path().join("file/settings.ron"),
            &Settings::default(),
        );
        assert!(refused.unwrap_err().contains("cannot write the settings"));
    }
}
