//! Text fields of a plan, and their names.

use super::{ModelFacts, Planner};
use powerband_core::domain::model::{Dim, Port};
use powerband_onnx::batch_axis::BatchAxes;
use powerband_worker::engines::Key;

/// The field of a setup's spelling, by its place.
pub fn of_setup(place: usize) -> String {
    format!("Setup {}", place + 1)
}

/// The field of a setup's name, by its place.
pub fn of_name(place: usize) -> String {
    format!("Name of setup {}", place + 1)
}

/// The control of a setup's engine, by the setup's place.
pub fn of_engine(place: usize) -> String {
    format!("Engine of setup {}", place + 1)
}

/// The control of a setup's device, by the setup's place.
pub fn of_device(place: usize) -> String {
    format!("Device of setup {}", place + 1)
}

/// The control of a key of a setup, by the setup's place.
pub fn of_key(place: usize, key: &Key) -> String {
    format!("{} of setup {}", key.title(), place + 1)
}

/// The field of a row of the matrix, by its title.
pub fn of_matrix(title: &str) -> String {
    format!("Values of {title}")
}

impl Planner {
    /// Whether there are shapes to be typed: the model leaves more open than the batch, or some are typed
    /// already.
    pub fn has_shapes(&self) -> bool {
        let leaves_open =
            matches!(&self.facts, ModelFacts::Known(summary) if leaves_open(&summary.inputs));
        leaves_open || !self.draft.shapes.is_empty() || !self.draft.batch_axis.is_empty()
    }

    /// Whether there is something to say of what inputs are filled with: the model has indices, masks or
    /// lengths, or something is typed already.
    pub fn has_fills(&self) -> bool {
        let has_uses =
            matches!(&self.facts, ModelFacts::Known(summary) if !summary.fills.is_empty());
        has_uses || !self.draft.fills.is_empty()
    }
}

/// Whether sizes are open beside the batch.
fn leaves_open(inputs: &[Port]) -> bool {
    let Ok(axes) = BatchAxes::find(inputs, &[]) else {
        return false;
    };
    let is_open = |port: &Port| {
        let mut dims = port.dims.iter().enumerate();
        dims.any(|(index, dim)| matches!(dim, Dim::Named(_)) && !axes.takes(&port.name, index))
    };
    inputs.iter().any(is_open)
}
