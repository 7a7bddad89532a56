//! Which text fields of the plan are shown, and the hints in them.

use super::{ArrivalMode, ModelFacts, PlanField, Planner};
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::plan::MeasureRule;
use powerband_onnx::batch_axis::BatchAxes;

impl Planner {
    /// The hint in a field that is empty: what holds without it, or how it is written.
    pub fn hint(&self, field: PlanField) -> String {
        match field {
            PlanField::Name => self.draft.model.clone(),
            PlanField::Rounds => MeasureRule::from_preset(self.draft.preset)
                .rounds
                .to_string(),
            _ => field.info().hint.to_owned(),
        }
    }

    /// Whether a field is shown.
    pub fn has_field(&self, field: PlanField) -> bool {
        match field {
            PlanField::Rate => self.draft.requests != ArrivalMode::OneByOne,
            PlanField::Samples => self.draft.accuracy,
            PlanField::Sweeps => self.has_sweeps(),
            PlanField::Shapes | PlanField::BatchAxis => self.has_shapes(),
            PlanField::Fills => self.has_fills(),
            _ => true,
        }
    }

    /// Whether there are shapes to be typed: the model leaves more open than the batch, or some are typed
    /// already.
    fn has_shapes(&self) -> bool {
        let leaves_open =
            matches!(&self.facts, ModelFacts::Known(summary) if leaves_open(&summary.inputs));
        leaves_open || !self.draft.shapes.is_empty() || !self.draft.batch_axis.is_empty()
    }

    /// Whether there is something to say of what inputs are filled with: the model has indices, masks or
    /// lengths, or something is typed already.
    fn has_fills(&self) -> bool {
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
