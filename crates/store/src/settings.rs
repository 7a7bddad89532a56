//! What the user chose once and for all: a small RON file that may be missing.
//!
//! Several versions of the program share it: keys of a later one are named, and stay as they are.

use std::path::{Path, PathBuf};

use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};

use super::own_file;
use super::ron_keys::{self, KeyText, options};
use powerband_core::base::near_miss::near_miss;
use powerband_core::base::system::HAS_FILES;
use powerband_core::domain::machine::NamedMachine;

/// The user's choices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The ONNX Runtime library to use where a setup names none.
    pub onnxruntime: Option<PathBuf>,
    /// The Python interpreter whose pip fetches libraries.
    pub python: Option<PathBuf>,
    /// Categories of kernels and patterns for them, which come before the built-in ones.
    pub categories: Vec<(String, String)>,
    /// Machines that setups may run on, by name.
    pub machines: Vec<NamedMachine>,
}

/// Reads the settings; a missing or empty file means the defaults, a broken one is an error to be shown.
pub fn read(path: &Path) -> Result<Settings, String> {
    if !HAS_FILES {
        return Ok(Settings::default());
    }
    let text = own_file::read(path)
        .map_err(|reason| format!("cannot read the settings in {}: {reason}", path.display()))?;
    text.map_or_else(
        || Ok(Settings::default()),
        |text| {
            options().from_str(&text).map_err(|error| {
                format!("the settings in {} make no sense: {error}", path.display())
            })
        },
    )
}

/// Writes the settings, whole or not at all; the folder is made if need be. A file that cannot be read is left alone.
pub fn write(path: &Path, settings: &Settings) -> Result<(), String> {
    let cannot =
        |reason: String| format!("cannot write the settings to {}: {reason}", path.display());
    let ours = entries(settings).map_err(cannot)?;
    let there = own_file::read(path).map_err(cannot)?;
    if let Some(Err(reason)) = there.as_deref().map(ron_keys::entries) {
        return Err(cannot(format!("the file there makes no sense: {reason}")));
    }
    let all = ron_keys::merge_keys(ours, &[], &there.unwrap_or_default(), |_| true);
    let text = format!("// Settings of Powerband.\n{}\n", ron_keys::file(&all));
    own_file::write(path, &text).map_err(|error| cannot(error.to_string()))
}

/// A warning for each key of the file that this program does not know: a later version's, or a slip.
pub fn unknown_keys(path: &Path) -> Vec<String> {
    let text = own_file::read(path).ok().flatten().unwrap_or_default();
    let known = entries(&Settings::default()).unwrap_or_default();
    let known: Vec<&str> = known.iter().map(|(key, _)| key.as_str()).collect();
    let file = ron_keys::entries(&text).unwrap_or_default();
    let unknown = file.iter().map(|(key, _)| key.as_str());
    let unknown = unknown.filter(|key| !known.contains(key));
    let warning = |key: &str| {
        let meant = near_miss(key, &known).map_or_else(
            || "this version does not know it".to_owned(),
            |meant| format!("did you mean \"{meant}\"?"),
        );
        let path = path.display();
        format!("the settings in {path} have the key \"{key}\", which is not used: {meant}")
    };
    unknown.map(warning).collect()
}

/// The settings as they are written, without `Some` around a value.
fn entries(settings: &Settings) -> Result<Vec<KeyText>, String> {
    let config = PrettyConfig::new().indentor("  ").struct_names(false);
    let text = options().to_string_pretty(settings, config);
    ron_keys::entries(&text.map_err(|error| error.to_string())?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn missing_good_and_bad_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.ron");
        assert_eq!(read(&path), Ok(Settings::default()));
        fs::write(&path, "").unwrap();
        assert_eq!(read(&path), Ok(Settings::default()));
        write(&path, &Settings::default()).unwrap();
        fs::write(&path, "(onnxruntime: \"/opt/libonnxruntime.so\")").unwrap();
        assert_eq!(
            read(&path).unwrap().onnxruntime,
            Some(PathBuf::from("/opt/libonnxruntime.so"))
        );
        assert!(unknown_keys(&path).is_empty());
        fs::write(&path, "(onnxruntime: 3)").unwrap();
        assert!(read(&path).unwrap_err().contains("settings.ron"));
        fs::write(&path, "(onxruntime: \"/opt\", python: \"/py\")").unwrap();
        assert_eq!(read(&path).unwrap().python, Some(PathBuf::from("/py")));
        let warnings = unknown_keys(&path);
        assert_eq!(warnings.len(), 1);
        for word in ["\"onxruntime\"", "settings.ron", "mean \"onnxruntime\"?"] {
            assert!(warnings[0].contains(word), "{warnings:?}");
        }
    }

    #[test]
    fn keys_of_a_later_version_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.ron");
        let later = "Policy(retries: 3, on: [Night, \"a, b\"])";
        let text = format!("(python: \"/py\", cluster: {later}, // why\n mood: Dark)");
        fs::write(&path, text).unwrap();
        let mut settings = read(&path).unwrap();
        settings.python = None;
        settings.onnxruntime = Some(PathBuf::from("/ort.so"));
        write(&path, &settings).unwrap();
        assert_eq!(read(&path), Ok(settings.clone()));
        write(&path, &settings).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!("cluster: {later},")), "{text}");
        assert!(text.contains("mood: Dark,"), "{text}");
        let warnings = unknown_keys(&path);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].contains("this version does not know it"));
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
        fs::write(&path, "(python: \"/py\"").unwrap();
        let refused = write(&path, &Settings::default()).unwrap_err();
        assert!(refused.contains("makes no sense"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "(python: \"/py\"");
        fs::write(folder.path().join("file"), "").unwrap();
        let refused = write(
            &folder.path().join("file/settings.ron"),
            &Settings::default(),
        );
        assert!(refused.unwrap_err().contains("cannot write the settings"));
    }
}
