//! What a network is fed, the same for every command that takes a network: `--shape`, `--input`, `--batch-axis`.

use powerband_core::domain::fill::parse_input;
use powerband_core::domain::input_sizes::InputAxis;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_onnx::shapes::parse_override;

/// Shapes and values of inputs.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct InputArgs {
    /// The whole shape of an input whose dimensions the model leaves open; N is the batch.
    #[arg(long = "shape", value_name = "NAME=Nx128")]
    shapes: Vec<String>,
    /// What an input is filled with: zeros, ones, a number, range (counts up), random:LOW..HIGH (HIGH is not
    /// among them) or the values of a NumPy file [default: by its use in the network; powerband model says how].
    #[arg(long = "input", value_name = "NAME=FILL|NAME=FILE.npy")]
    inputs: Vec<String>,
    /// The dimension that is the batch: its name, or an input and its place counted from 0 [default: the
    /// one that is called batch or N, else the one that a recurrent layer takes for it, else the first].
    #[arg(long, value_name = "NAME|INPUT=INDEX", value_delimiter = ',')]
    batch_axis: Vec<InputAxis>,
}

impl InputArgs {
    /// Whether anything is said.
    pub(crate) fn is_given(&self) -> bool {
        !(self.shapes.is_empty() && self.inputs.is_empty() && self.batch_axis.is_empty())
    }

    /// What is said.
    pub(crate) fn sizes(&self) -> anyhow::Result<InputSizes> {
        let shapes = self.shapes.iter().map(|text| parse_override(text));
        let fills = self.inputs.iter().map(|text| parse_input(text));
        Ok(InputSizes {
            shapes: shapes.collect::<Result<_, _>>()?,
            fills: fills.collect::<Result<_, _>>()?,
            batch_axis: self.batch_axis.clone(),
            ..InputSizes::default()
        })
    }
}
