//! What an engine says of itself once it is loaded.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use powerband_core::domain::setup::Setup;

/// What an engine says of itself once it is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineInfo {
    /// Name and version.
    pub version: String,
    /// The library behind it, where it is one that was found at run time.
    pub library: Option<PathBuf>,
    /// Devices that a setup may name.
    pub devices: Vec<String>,
    /// Ways to execute that the library was built with.
    pub providers: Vec<String>,
    /// Which of them computes on a kind of device where a setup names none; for engines that have several.
    #[serde(default)]
    pub usual_providers: BTreeMap<String, String>,
    /// What a setup cannot ask for here, as `key=value`, and why.
    #[serde(default)]
    pub lacks: BTreeMap<String, String>,
}

impl EngineInfo {
    /// An engine that runs on the processor alone.
    pub fn on_cpu(version: String) -> Self {
        Self {
            version,
            devices: vec!["cpu".to_owned()],
            ..Self::default()
        }
    }

    /// Why it cannot run a setup, as far as it can be known before it is tried; nothing where it may.
    pub fn missing_reason(&self, setup: &Setup) -> Option<String> {
        let kind = setup.device.split(':').next().unwrap_or_default();
        let device = format!("device={kind}");
        let options = setup.options.iter().flat_map(|(key, value)| {
            value
                .split('+')
                .map(move |word| format!("{key}={}", word.trim()))
        });
        // A setup that names its provider, or the library of one, does not ask for the usual one.
        let names_one = |key: &str| setup.options.contains_key(key);
        let usual = self.usual_providers.get(kind);
        let usual = usual.filter(|_| !names_one("provider") && !names_one("library"));
        let usual = usual.map(|word| format!("provider={word}"));
        let mut asked = options.chain([device]).chain(usual);
        asked.find_map(|asked| self.lacks.get(&asked).cloned())
    }
}

/// An environment that has an engine and is not searched by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedEnvironment {
    /// What is used: the interpreter, or the library of ONNX Runtime.
    pub path: PathBuf,
    /// The environment, as people write it: `~/miniconda3/envs/llm`.
    pub folder: String,
    /// The engine's version, where the name of a file or folder says it.
    pub version: Option<String>,
}
