//! The plan of a gate, as a file that is checked in: `powerband.ron`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use ron::extensions::Extensions;
use serde::Deserialize;

use powerband_core::base::regular_file;

/// The file. What it does not say is said on the command line, or is as usual.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename = "plan")]
pub struct GatePlanFile {
    /// A built-in network or an ONNX file.
    pub model: Option<String>,
    /// The side before: a setup or a command.
    pub base: Option<String>,
    /// The side after.
    pub new: Option<String>,
    /// What is measured of each commit.
    pub setup: Option<String>,
    /// Builds a commit.
    pub build: Option<String>,
    /// Batch sizes, as `bench` has them.
    pub batch: Option<String>,
    /// Inputs on which outputs are compared, as `bench` has them.
    pub samples: Option<PathBuf>,
    /// Rounds before the first look.
    pub rounds: Option<u32>,
    /// How long measuring may take, as in `5min`.
    pub budget: Option<String>,
    /// Limits in per cent, by the names of their metrics.
    pub limits: BTreeMap<String, f64>,
}

/// Reads it. What is wrong in it is said with its line.
pub fn read(path: &Path) -> io::Result<GatePlanFile> {
    let text = regular_file::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    options.from_str(&text).map_err(|error| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{} is no plan of a gate: {error}", path.display()),
        )
    })
}
