//! The arguments of `powerband model`.

use std::path::PathBuf;

use super::plan::{FieldOptions, InputFields};
use powerband_findings::export::style::Theme;
use powerband_onnx::rewrite::Precision;

/// Arguments of `model`.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    /// A built-in network or an ONNX file.
    pub model: String,
    /// Write the network to a file.
    #[arg(long, value_name = "FILE.onnx")]
    pub write: Option<PathBuf>,
    /// Draw the graph in modules: FILE.svg, .png or .pdf.
    #[arg(long, value_name = "FILE", conflicts_with = "export_from")]
    pub picture: Option<PathBuf>,
    /// Draw what is different from another version of it: a built-in network or an ONNX file.
    #[arg(long, value_name = "MODEL", requires = "picture")]
    pub against: Option<String>,
    /// Colours of the picture: light or dark.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "light",
        requires = "picture"
    )]
    pub theme: Theme,
    /// Have another engine write its own network of this name, with the same weights where they fit:
    /// torch, or torch,module=nets:tiny. Needs --write.
    #[arg(long, value_name = "SETUP", requires = "write", conflicts_with_all = ["precision", "fixed_batch", "shape", "input", "batch-axis", "calibration", "ranges", "keep_float"])]
    pub export_from: Option<String>,
    /// Precision: fp32, fp16 or int8 (calibrated on 16 seeded inputs, or on --calibration).
    #[arg(long, value_name = "NAME", default_value_t = Precision::Float)]
    pub precision: Precision,
    /// With this batch size written into it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub fixed_batch: Option<u32>,
    #[command(flatten)]
    pub fed: FieldOptions<InputFields>,
    /// Inputs of your own to calibrate on: pictures, a CSV, .npy files, or a folder of .npz files.
    #[arg(long, value_name = "PATH")]
    pub calibration: Option<PathBuf>,
    /// How ranges follow from the calibration: minmax, percentile, or percentile:99.9.
    #[arg(long, value_name = "HOW", default_value = "minmax")]
    pub ranges: String,
    /// Operators or nodes that stay in floats.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub keep_float: Vec<String>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}
