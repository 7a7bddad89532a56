//! Inputs stay where the device reads them.

use super::derivation::Derivation;
use powerband_core::domain::experiment::ExperimentChange;

/// Never derived: every engine here is measured with its inputs in place.
pub(super) const BOUND_INPUT: Derivation = Derivation {
    change: ExperimentChange::BoundInput,
    derive: |_| {
        Err(
            "inputs are bound before the first run in every setup, so no run copies them anew"
                .to_owned(),
        )
    },
};
