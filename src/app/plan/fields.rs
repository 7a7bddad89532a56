//! What is typed of a plan: which fields there are, and what each is called.

use super::{ModelFacts, Planner};
use crate::domain::model::{Dim, Port};

/// The field of a setup's spelling, by its place.
pub fn of_setup(place: usize) -> String {
    format!("Setup {}", place + 1)
}

/// The field of a setup's name, by its place.
pub fn of_name(place: usize) -> String {
    format!("Name of setup {}", place + 1)
}

impl Planner {
    /// Whether there are shapes to be typed: the model leaves some open, or some are typed already.
    pub fn has_shapes(&self) -> bool {
        let leaves_open =
            matches!(&self.facts, ModelFacts::Known(summary) if summary.inputs.iter().any(is_open));
        leaves_open || !self.draft.shapes.is_empty()
    }
}

/// Whether a size is open beside the first, which is the batch.
fn is_open(port: &Port) -> bool {
    let named = |dim: &Dim| matches!(dim, Dim::Named(_));
    port.dims.iter().skip(1).any(named)
}
