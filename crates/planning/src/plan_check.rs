//! What a run of a plan would refuse, as it is shown while the plan is made.

use std::collections::BTreeMap;

use powerband_core::domain::case::CaseKey;

/// A size of a dimension by its name.
pub type NamedSize = (String, usize);

/// What a run of a plan would refuse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanCheck {
    /// Why nothing of it would be measured.
    pub whole: Option<String>,
    /// Why single cases would not be measured.
    pub cases: BTreeMap<CaseKey, String>,
    /// Sizes that could be added to its sweep and that the network does not take.
    pub sizes: BTreeMap<NamedSize, String>,
}
